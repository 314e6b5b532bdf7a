import type { TableOperation } from '../core/access.js'
import type { CallLimits } from '../core/plan.js'
import { type Column, qualifiedName } from '../core/schema-model.js'
import { tableTargets } from '../tools/tool-target.js'
import type { CallerRights, CallerTable } from './caller-rights.js'
import type { Preset } from './preset.js'
import { type RowSet, rowSet } from './row-sets.js'

/** What a caller's rights come to, object by object, in the catalog's names and in an order that two policies can be compared in. */
export interface EffectiveObjects {
  /** By `schema.table`. */
  readonly tables: ReadonlyMap<string, EffectiveTable>
  /** By `schema.name(signature)`. */
  readonly procedures: ReadonlyMap<string, EffectiveProcedure>
}

export interface EffectiveTable {
  readonly toolBase: string
  /** The columns by which one row is asked for; empty where none is. */
  readonly key: readonly string[]
  readonly relations: EffectiveRelations
  readonly operations: ReadonlyMap<TableOperation, EffectiveOperation>
}

/** In words that are the same for the same relation. */
export interface EffectiveRelations {
  /** Those that the caller may know of. */
  readonly shown: ReadonlySet<string>
  /** Every one that there is, of the catalog and of the policy. */
  readonly declared: ReadonlySet<string>
}

export interface EffectiveOperation {
  /** What the operation may name: to read for a read, to set for a mutation. */
  readonly columns: readonly string[]
  /** What a mutation gives back. */
  readonly returned: readonly string[]
  readonly rows: RowSet
  /** What is written whatever the caller says, by column. */
  readonly presets: ReadonlyMap<string, string>
  readonly limits: CallLimits
}

export interface EffectiveProcedure {
  readonly tool: string
  readonly effect: 'read' | 'write'
  readonly dryRun: boolean
  /** Columns of its result that are let through. */
  readonly columns: readonly string[]
  readonly limits: CallLimits
}

export function effectiveObjects({ rights, tables, parentOf }: CallerRights): EffectiveObjects {
  const byName = new Map([...tables.values()].map((table) => [qualifiedName(table.access.table.ref), table] as const))
  const named = [...byName].map(([name, table]) => {
    return [name, { ...effectiveTable(table, parentOf), relations: relationsOf(table, byName) }] as const
  })
  const procedures = rights.procedures.map((procedure) => {
    const { routine, tool, effect, dryRun, fields = [], setColumns = [], limits } = procedure
    const columns = [...fields.map(({ name }) => String(name)), ...setColumns]
    return [`${qualifiedName(routine.ref)}(${routine.signature})`, { tool, effect, dryRun, columns, limits }] as const
  })
  return { tables: new Map(named), procedures: new Map(procedures) }
}

function effectiveTable(table: CallerTable, parentOf: CallerRights['parentOf']): Omit<EffectiveTable, 'relations'> {
  const { access } = table
  // What is not offered as a tool is no right, whatever the policy grants.
  const operations = tableTargets(access).map(
    ({ operation }) => [operation, effectiveOperation(table, operation, parentOf)] as const,
  )
  // Who changes rows without reading them asks for them by a key all the same.
  const keys = [access.key, access.writes.update?.key ?? [], access.writes.soft_delete?.key ?? []]
  const key = keys.find((columns) => columns.length > 0) ?? []
  return { toolBase: access.toolBase, key: names(key), operations: new Map(operations) }
}

function relationsOf(
  { access: { table }, views }: CallerTable,
  tables: ReadonlyMap<string, CallerTable>,
): EffectiveRelations {
  const shown = new Set<string>()
  const declared = new Set<string>()
  for (const { columns, references, referencedColumns } of table.foreignKeys) {
    const target = qualifiedName(references)
    const words = `${columns.join(', ')} to ${referencedColumns.join(', ')} of ${target}`
    declared.add(words)
    const seen = tables.get(target)?.views.search.byName
    const isShown =
      columns.every((column) => views.search.byName.has(column)) &&
      referencedColumns.every((column) => seen?.has(column) === true)
    if (isShown) shown.add(words)
  }
  return { shown, declared }
}

function effectiveOperation(
  table: CallerTable,
  operation: TableOperation,
  parentOf: CallerRights['parentOf'],
): EffectiveOperation {
  const { access, filters, groups } = table
  if (operation === 'get' || operation === 'search' || operation === 'aggregate') {
    return {
      columns: names(access.columns[operation].values()),
      returned: [],
      rows: rowSet(filters.existing, groups[operation], parentOf),
      presets: new Map(),
      limits: access.limits,
    }
  }
  const write = table.writes[operation]
  return {
    columns: names(write?.access.columns.values() ?? []),
    returned: names(write?.access.returning ?? []),
    rows: rowSet(operation === 'create' ? filters.created : filters.existing, write?.groups, parentOf),
    presets: new Map((write?.presets ?? []).map((preset) => [preset.column.name, presetWords(preset)])),
    limits: write?.limits ?? access.limits,
  }
}

function names(columns: Iterable<Column>): readonly string[] {
  return Array.from(columns, ({ name }) => String(name))
}

/** Where a preset's value comes from. */
export function presetWords({ source }: Preset): string {
  switch (source.kind) {
    case 'now':
      return 'now'
    case 'claim':
      return `claim ${JSON.stringify(source.claim)}`
    default:
      return JSON.stringify(source.value)
  }
}
