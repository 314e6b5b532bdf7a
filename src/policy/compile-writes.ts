import type { WriteOperation } from '../core/access.js'
import type { Column, Identifier, Table, TableKind } from '../core/schema-model.js'
import { areUnique, insertKey, isCountedUp } from '../core/table-keys.js'
import { filterOpsFor } from '../core/tool-grammar.js'
import { type ColumnResolver, type Rule, within } from './column-resolver.js'
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
  const readOnly = readOnlyReason(resolver.table)
  if (readOnly !== undefined) {
    notWritable(resolver, readOnly)
    return { operations: {}, ...softDelete }
  }
  const keyed = usableKey(resolver, policy, ground)
  const created = create && compileCreate(resolver, create, ground.shown)
  const shared = keyed ? sharedKey(resolver, ground) : undefined
  const compiled = update && compileWrite(resolver, 'update', update, ground.shown)
  const updated = compiled && shared ? withoutKey(resolver, compiled, shared) : compiled
  const operations = {
    ...(created === undefined ? {} : { create: created }),
    ...(updated !== undefined && keyed ? { update: updated } : {}),
    ...(marked !== undefined && keyed && shared === undefined ? { soft_delete: marked.write } : {}),
  }
  if (marked !== undefined && shared !== undefined) {
    const text = `${quoted(resolver.name)} can have no soft_delete, because ${SHARED_KEY}.`
    resolver.findings.warn({ kind: 'write_without_key', table: resolver.name, text })
  }
  return { operations, ...softDelete }
}

const SHARED_KEY =
  'several rows may share its key, and the database returns no changed row: read back by such a key it could not be told from the others'

/**
 * The positions of a key that changed rows are read back by although only the policy says that it is one. A changed key, or
 * the mark of a deleted row, would then make other rows count as changed, and what comes of that tells that they exist.
 */
function sharedKey({ table }: ColumnResolver, { key }: Ground): ReadonlySet<number> | undefined {
  const names = new Set(key.flatMap((position) => table.columns[position]?.name ?? []))
  return table.updateReadBack === undefined || areUnique(table, names) ? undefined : new Set(key)
}

/** An update that leaves the key as it is; undefined where a preset changes it. */
function withoutKey(
  { name, table, findings }: ColumnResolver,
  write: CompiledWrite,
  key: ReadonlySet<number>,
): CompiledWrite | undefined {
  const names = new Set([...key].flatMap((position) => table.columns[position]?.name ?? []))
  const preset = write.presets.find(({ column }) => names.has(column.name))
  if (preset !== undefined) {
    const text = `${quoted(name)} can have no update: its preset for ${quoted(preset.column.name)} would change the key, and ${SHARED_KEY}.`
    findings.warn({ kind: 'write_without_key', table: name, text })
    return undefined
  }
  for (const position of key) {
    const column = table.columns[position]
    if (write.columns[position] !== true || column === undefined) continue
    const text = `update.columns names key column ${quoted(column.name)} of ${quoted(name)}; it is void, because ${SHARED_KEY}.`
    findings.warn({ kind: 'column_not_writable', table: name, column: column.name, text })
  }
  return { ...write, columns: write.columns.map((settable, position) => settable && !key.has(position)) }
}

/** Why nothing of the table is ever written; a change that cannot be undone could not be refused once it was made. */
function readOnlyReason({ kind, notTransactional, memoryOptimized }: Table): string | undefined {
  if (!WRITABLE_KINDS.has(kind)) return `is a ${kind.replace('_', ' ')}, which is read-only`
  if (memoryOptimized === true) return 'is read-only, because its rows are kept in memory and cannot be locked'
  return notTransactional === true ? 'is read-only, because its storage engine cannot undo a change' : undefined
}

function notWritable({ name, findings }: ColumnResolver, why: string): void {
  const text = `${quoted(name)} ${why}; its create, update and soft_delete are void.`
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
  const presets = compilePresets(resolver, policy, resolver.rule(operation, 'preset'))
  const preset = new Set<string>(presets.map(({ column }) => column.name))
  const rule = resolver.rule(operation, 'columns')
  const listed = resolver.listed(policy.columns, rule)
  for (const position of listed) refuseGenerated(resolver, position, rule)
  const columns = table.columns.map(
    (column, position) =>
      listed.has(position) && shown[position] === true && isWritable(column) && !preset.has(column.name),
  )
  const required = table.columns.flatMap((column, position) =>
    operation === 'update' || isFilledByDatabase(column) || preset.has(column.name) ? [] : [position],
  )
  return { columns, required, presets }
}

/** Undefined where no row could be made, or none that could be given back. */
function compileCreate(
  resolver: ColumnResolver,
  policy: WritePolicy,
  shown: readonly boolean[],
): CompiledWrite | undefined {
  const write = compileWrite(resolver, 'create', policy, shown)
  const key = resolver.table.insertReadBack === 'by_key' ? readBackKey(resolver, write.presets) : []
  if (key === undefined) return undefined
  const complete = { ...write, required: withoutRepeats([...write.required, ...key]) }
  return isComplete(resolver, complete, key) ? complete : undefined
}

function withoutRepeats(positions: readonly number[]): readonly number[] {
  return [...new Set(positions)].sort((a, b) => a - b)
}

/**
 * The columns that a caller must give where a new row can only be read back by its key: whatever a default put there would
 * not be known. Undefined where the key would not be known even so.
 */
function readBackKey(resolver: ColumnResolver, presets: readonly Preset[]): readonly number[] | undefined {
  const { name, table, findings } = resolver
  const key = insertKey(table)
  if (key === undefined) {
    const text = `${quoted(name)} can have no create: the database returns no new row, and without a primary key or a unique key of columns that are never NULL it cannot be read back.`
    findings.warn({ kind: 'write_without_key', table: name, text })
    return undefined
  }
  const preset = new Map(presets.map(({ column, source }) => [column.name, source]))
  const clocked = key.find((column) => preset.get(column.name)?.kind === 'now')
  if (clocked !== undefined) {
    const text = `${quoted(name)} can have no create: the database returns no new row, and by a key whose column ${quoted(clocked.name)} is preset to now it cannot be read back.`
    findings.void({ kind: 'preset_unusable', table: name, column: clocked.name, text })
    return undefined
  }
  const given = key.filter((column) => !isCountedUp(column) && !preset.has(column.name))
  return given.flatMap((column) => resolver.byName.get(column.name) ?? [])
}

function compilePresets(resolver: ColumnResolver, policy: WritePolicy, rule: Rule): readonly Preset[] {
  const presets: Preset[] = []
  for (const [name, source] of Object.entries(policy.preset ?? {})) {
    const at = within(rule, name)
    const column = resolver.confirmedColumn(name, at)
    if (column === undefined) continue
    const preset = compilePreset(source, column)
    if (preset.ok) presets.push(preset.value)
    else resolver.unusable('preset_unusable', column, at, preset.error)
  }
  return presets
}

function isWritable({ generated, type }: Column): boolean {
  return (generated === 'no' || generated === 'by_default') && type.readOnly !== true
}

const KEEPS_TYPES = 'which is never written, because each of its values has a type of its own'

function refuseGenerated(
  { name, table, findings }: ColumnResolver,
  position: number,
  { text: rule, path }: Rule,
): void {
  const column = table.columns[position]
  if (column === undefined || isWritable(column)) return
  const why = column.type.readOnly === true ? KEEPS_TYPES : 'whose values the database generates'
  const text = `${rule} names column ${quoted(column.name)} of ${quoted(name)}, ${why}; it is void.`
  findings.void({ kind: 'column_not_writable', table: name, column: column.name, path, text })
}

/** Whether a row can be made at all by whoever sees everything that the table shows. `key`: what it is read back by. */
function isComplete({ name, table, findings }: ColumnResolver, write: CompiledWrite, key: readonly number[]): boolean {
  const missing = write.required.filter((position) => write.columns[position] !== true)
  if (missing.length === 0) return true
  const names = missing.map((position) => quoted(table.columns[position]?.name ?? '')).join(', ')
  const why = missing.every((position) => key.includes(position))
    ? 'must have a value, since the new row is read back by it, and has'
    : 'must have a value and has no default,'
  const text = `No row of ${quoted(name)} can be created: ${names} ${why} no preset, and is not a column that a caller may set.`
  findings.warn({ kind: 'create_incomplete', table: name, text })
  return false
}

/** Undefined where the table is withheld. The write has no column of the caller's: the mark is all that is written. */
function compileSoftDelete(
  resolver: ColumnResolver,
  policy: SoftDeletePolicy,
): { readonly softDelete: SoftDelete; readonly write: CompiledWrite } | undefined {
  const rule = resolver.rule('soft_delete')
  const column = resolver.confirmedColumn(policy.column, within(rule, 'column'))
  if (column === undefined) return undefined
  const preset = compilePreset(policy.value, column)
  if (!preset.ok) {
    resolver.unusable('soft_delete_unusable', column, within(rule, 'value'), preset.error)
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
    resolver.unusable('soft_delete_unusable', column, resolver.rule('soft_delete'), text)
    return undefined
  }
  if (!filterOpsFor(column.type).includes('eq')) {
    const text = `its type ${column.type.native} cannot be compared, so deleted rows cannot be told from others`
    resolver.unusable('soft_delete_unusable', column, resolver.rule('soft_delete'), text)
    return undefined
  }
  if (column.nullable) {
    const text = `Column ${quoted(name)} of ${quoted(resolver.name)} marks deleted rows and may be NULL; a row where it is NULL counts as deleted and is not shown.`
    resolver.findings.warn({ kind: 'soft_delete_nullable', table: resolver.name, column: name, text })
  }
  if (column.type.logical === 'boolean' && (value === 'true' || value === 'false')) {
    return { kind: 'fixed', filter: { column: name, op: 'eq', value: value === 'true' ? 'false' : 'true' } }
  }
  return { kind: 'fixed', filter: { column: name, op: 'neq', value } }
}
