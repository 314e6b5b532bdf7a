import type { WriteOperation } from '../core/access.js'
import type { Column, Identifier, TableKind } from '../core/schema-model.js'
import { filterOpsFor } from '../core/tool-grammar.js'
import type { ColumnResolver } from './column-resolver.js'
import type { CompiledWrite } from './compiled-policy.js'
import type { SoftDeletePolicy, TablePolicy, WritePolicy } from './policy-document.js'
import { quoted } from './policy-finding.js'
import { compilePreset, holdsTime, type Preset } from './preset.js'
import type { RowFilter } from './row-filter.js'

/** What a policy says of changing one table, resolved. */
export interface TableWrites {
  readonly operations: Readonly<Partial<Record<WriteOperation, CompiledWrite>>>
  /** Present where rows can be marked as deleted. */
  readonly softDelete?: SoftDelete
}

export interface SoftDelete {
  readonly column: Identifier
  /** What a row that is not deleted satisfies; absent where the policy shows deleted rows. */
  readonly notDeleted?: RowFilter
}

/** What the table shows by position, and the positions of its key. */
interface Ground {
  readonly shown: readonly boolean[]
  readonly key: readonly number[]
}

const WRITABLE_KINDS: ReadonlySet<TableKind> = new Set(['table', 'partitioned_table'])

/**
 * Resolves the sections `create`, `update` and `soft_delete`. An operation that cannot be does not exist, and the
 * operator is told why; a preset or a soft-delete column that does not hold as written withholds the table.
 */
export function compileWrites(resolver: ColumnResolver, policy: TablePolicy, ground: Ground): TableWrites {
  const { create, update, soft_delete } = policy
  if (create === undefined && update === undefined && soft_delete === undefined) return { operations: {} }
  const marked = soft_delete === undefined ? undefined : compileSoftDelete(resolver, soft_delete)
  const softDelete = marked === undefined ? {} : { softDelete: marked.softDelete }
  if (!WRITABLE_KINDS.has(resolver.table.kind)) {
    readOnlyKind(resolver)
    return { operations: {}, ...softDelete }
  }
  const keyed = usableKey(resolver, policy, ground)
  const written = {
    create: create && compileWrite(resolver, 'create', create, ground.shown),
    update: update && compileWrite(resolver, 'update', update, ground.shown),
  }
  const operations = {
    ...(written.create !== undefined && isComplete(resolver, written.create) ? { create: written.create } : {}),
    ...(written.update !== undefined && keyed ? { update: written.update } : {}),
    ...(marked !== undefined && keyed ? { soft_delete: marked.write } : {}),
  }
  return { operations, ...softDelete }
}

function readOnlyKind({ name, table, findings }: ColumnResolver): void {
  const kind = table.kind.replace('_', ' ')
  const text = `${quoted(name)} is a ${kind}, which is read-only; its create, update and soft_delete are void.`
  findings.void({ kind: 'table_not_writable', table: name, text })
}

/** Both operations find their row by its key, so the whole of it has to be something that a caller can name. */
function usableKey({ name, findings }: ColumnResolver, policy: TablePolicy, { shown, key }: Ground): boolean {
  if (policy.update === undefined && policy.soft_delete === undefined) return false
  if (key.length > 0 && key.every((position) => shown[position] === true)) return true
  const why = key.length === 0 ? 'it has no key that can be compared' : 'a column of its key is hidden from everybody'
  const text = `${quoted(name)} can have no update and no soft_delete, because ${why}.`
  findings.warn({ kind: 'write_without_key', table: name, text })
  return false
}

function isFilledByDatabase(column: Column): boolean {
  return column.nullable || column.hasDefault || column.generated !== 'no'
}

function compileWrite(
  resolver: ColumnResolver,
  operation: 'create' | 'update',
  policy: WritePolicy,
  shown: readonly boolean[],
): CompiledWrite {
  const { table } = resolver
  const presets = compilePresets(resolver, policy, `${operation}.preset`)
  const preset = new Set<string>(presets.map(({ column }) => column.name))
  const listed = resolver.listed(policy.columns, `${operation}.columns`)
  for (const position of listed) refuseGenerated(resolver, position, `${operation}.columns`)
  const columns = table.columns.map(
    (column, position) =>
      listed.has(position) && shown[position] === true && isWritable(column) && !preset.has(column.name),
  )
  const required = table.columns.flatMap((column, position) =>
    operation === 'update' || isFilledByDatabase(column) || preset.has(column.name) ? [] : [position],
  )
  return { columns, required, presets }
}

function compilePresets(resolver: ColumnResolver, policy: WritePolicy, rule: string): readonly Preset[] {
  const presets: Preset[] = []
  for (const [name, source] of Object.entries(policy.preset ?? {})) {
    const column = resolver.confirmedColumn(name, rule)
    if (column === undefined) continue
    const preset = compilePreset(source, column)
    if (preset.ok) presets.push(preset.value)
    else resolver.unusable('preset_unusable', column, rule, preset.error)
  }
  return presets
}

function isWritable(column: Column): boolean {
  return column.generated === 'no' || column.generated === 'by_default'
}

function refuseGenerated({ name, table, findings }: ColumnResolver, position: number, rule: string): void {
  const column = table.columns[position]
  if (column === undefined || isWritable(column)) return
  const text = `${rule} names column ${quoted(column.name)} of ${quoted(name)}, whose values the database generates; it is void.`
  findings.void({ kind: 'column_not_writable', table: name, column: column.name, text })
}

/** Whether a row can be made at all by whoever sees everything that the table shows. */
function isComplete({ name, table, findings }: ColumnResolver, write: CompiledWrite): boolean {
  const missing = write.required.filter((position) => write.columns[position] !== true)
  if (missing.length === 0) return true
  const names = missing.map((position) => quoted(table.columns[position]?.name ?? '')).join(', ')
  const text = `No row of ${quoted(name)} can be created: ${names} must have a value and has no default, no preset, and is not a column that a caller may set.`
  findings.warn({ kind: 'create_incomplete', table: name, text })
  return false
}

/** Undefined where the table is withheld. The write has no column of the caller's: the mark is all that is written. */
function compileSoftDelete(
  resolver: ColumnResolver,
  policy: SoftDeletePolicy,
): { readonly softDelete: SoftDelete; readonly write: CompiledWrite } | undefined {
  const rule = 'soft_delete'
  const column = resolver.confirmedColumn(policy.column, rule)
  if (column === undefined) return undefined
  const preset = compilePreset(policy.value, column)
  if (!preset.ok) {
    resolver.unusable('soft_delete_unusable', column, rule, preset.error)
    return undefined
  }
  const { source } = preset.value
  const write = { columns: resolver.table.columns.map(() => false), required: [], presets: [preset.value] }
  if (policy.reads_include_deleted === true) return { softDelete: { column: column.name }, write }
  const value = source.kind === 'value' ? source.value : null
  const notDeleted = notDeletedFilter(resolver, column, value)
  return notDeleted === undefined ? undefined : { softDelete: { column: column.name, notDeleted }, write }
}

/**
 * Filters know no "is not true": a time is told by being absent, a flag by its other value, anything else by differing
 * from the mark. NULL satisfies neither of the last two, so such a row counts as deleted.
 */
function notDeletedFilter(resolver: ColumnResolver, column: Column, value: string | null): RowFilter | undefined {
  const { name } = column
  if (holdsTime(column) || value === null) {
    if (column.nullable) return { kind: 'fixed', filter: { column: name, op: 'is_null' } }
    const text = 'it is never NULL, so every row would count as deleted'
    resolver.unusable('soft_delete_unusable', column, 'soft_delete', text)
    return undefined
  }
  if (!filterOpsFor(column.type).includes('eq')) {
    const text = `its type ${column.type.native} cannot be compared, so deleted rows cannot be told from others`
    resolver.unusable('soft_delete_unusable', column, 'soft_delete', text)
    return undefined
  }
  if (column.nullable) {
    const text = `Column ${quoted(name)} of ${quoted(resolver.name)} marks deleted rows and may be NULL; a row where it is NULL counts as deleted and is not shown.`
    resolver.findings.warn({ kind: 'soft_delete_nullable', table: resolver.name, column: name, text })
  }
  if (column.type.logical === 'boolean') {
    return { kind: 'fixed', filter: { column: name, op: 'eq', value: value === 'true' ? 'false' : 'true' } }
  }
  return { kind: 'fixed', filter: { column: name, op: 'neq', value } }
}
