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
  readonly key: readonly string[]
  readonly operations: ReadonlyMap<TableOperation, EffectiveOperation>
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
  const named = [...tables.values()].map(
    (table) => [qualifiedName(table.access.table.ref), effectiveTable(table, parentOf)] as const,
  )
  const procedures = rights.procedures.map((procedure) => {
    const { routine, tool, effect, dryRun, fields = [], setColumns = [], limits } = procedure
    const columns = [...fields.map(({ name }) => String(name)), ...setColumns]
    return [`${qualifiedName(routine.ref)}(${routine.signature})`, { tool, effect, dryRun, columns, limits }] as const
  })
  return { tables: new Map(named), procedures: new Map(procedures) }
}

function effectiveTable(table: CallerTable, parentOf: CallerRights['parentOf']): EffectiveTable {
  const { access } = table
  // What is not offered as a tool is no right, whatever the policy grants.
  const operations = tableTargets(access).map(
    ({ operation }) => [operation, effectiveOperation(table, operation, parentOf)] as const,
  )
  return { toolBase: access.toolBase, key: names(access.key), operations: new Map(operations) }
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
