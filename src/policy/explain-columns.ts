import type { TableOperation, WriteOperation } from '../core/access.js'
import type { Column } from '../core/schema-model.js'
import type { CompiledRole, CompiledTable } from './compiled-policy.js'
import { presetWords } from './effective-rights.js'
import { pathText } from './policy-tree.js'
import type { RulePlaces } from './rule-places.js'

/** Whether the caller may name a column in the operation, and by which rules. */
export interface ColumnReason {
  readonly column: string
  readonly usable: boolean
  readonly why: string
  /** Places in the document, such as `tables.public.customers.mask[0]`; empty where it is the catalog that decides. */
  readonly rules: readonly string[]
}

/** What decides about the columns of one operation of one caller on one table. */
export interface ColumnGround {
  readonly places: RulePlaces
  readonly table: CompiledTable
  readonly operation: TableOperation
  /** The caller's roles that grant the operation. */
  readonly granting: readonly CompiledRole[]
  /** By agent name, as the policy engine gives them. */
  readonly usable: ReadonlyMap<string, Column>
}

type Why = Pick<ColumnReason, 'why' | 'rules'>

/** A reason for each column of the table, in table order. `usable` is the engine's word; the reasons only say where it is from. */
export function explainColumns(ground: ColumnGround): readonly ColumnReason[] {
  return ground.table.table.columns.map((column, position) => {
    const usable = ground.usable.has(column.agentName)
    return { column: column.name, usable, ...(usable ? shownBy(ground, position) : hiddenBy(ground, column, position)) }
  })
}

function masks(table: CompiledTable, role: CompiledRole, position: number): boolean {
  return role.masks.get(table)?.has(position) === true
}

function shownBy({ places, table, operation, granting }: ColumnGround, position: number): Why {
  const showing = granting.filter((role) => !masks(table, role, position))
  const whole = showing.filter((role) => !role.filters.has(table))
  const by = whole.length > 0 && showing.length < granting.length ? whole : showing
  const rules = by.flatMap((role) => places.grants(role, table, operation))
  const names = by.map((role) => role.name).join(', ')
  const why =
    showing.length < granting.length
      ? `shown by ${names}, for all rows, although another role masks it`
      : `shown by ${names}`
  return { why, rules }
}

function hiddenBy(ground: ColumnGround, column: Column, position: number): Why {
  const { operation } = ground
  const ofTable = hiddenFromAll(ground, column, position)
  if (ofTable !== undefined) return ofTable
  if (operation === 'create' || operation === 'update' || operation === 'soft_delete') {
    const section = notSettable(ground, column, position, operation)
    if (section !== undefined) return section
  }
  return hiddenByRoles(ground, column, position)
}

/** What holds for every caller: the table's own mask, allow list and aggregates, and what changed since it was confirmed. */
function hiddenFromAll({ places, table, operation }: ColumnGround, column: Column, position: number): Why | undefined {
  const { policy } = places.table(table)
  const masked = places.tableMasks(table, column.name)
  if (masked.length > 0) return { why: 'masked for everybody', rules: masked }
  if (policy.columns?.includes(column.name) === false) {
    return { why: 'not among the columns that the table shows', rules: [places.ofTable(table, 'columns')] }
  }
  if (table.shown[position] !== true) {
    return { why: 'new or changed since the policy was applied; it is hidden until it is applied again', rules: [] }
  }
  const limited = typeof policy.aggregate === 'object' && !policy.aggregate.columns.includes(column.name)
  if (operation === 'aggregate' && limited) {
    return { why: 'not among the columns of aggregates', rules: [places.ofTable(table, 'aggregate', 'columns')] }
  }
  return undefined
}

function notSettable(
  { places, table }: ColumnGround,
  column: Column,
  position: number,
  operation: WriteOperation,
): Why | undefined {
  const write = table.writes[operation]
  const preset = write?.presets.find((each) => each.column.name === column.name)
  if (preset !== undefined) {
    const source = presetWords(preset)
    if (operation === 'soft_delete') {
      return { why: `set to ${source} as the mark of a deleted row`, rules: [places.ofTable(table, operation)] }
    }
    return { why: `always set to ${source}`, rules: [places.ofTable(table, operation, 'preset', column.name)] }
  }
  if (write?.columns[position] === true) return undefined
  const rules = [places.ofTable(table, operation, ...(operation === 'soft_delete' ? [] : ['columns']))]
  if (operation === 'soft_delete') return { why: 'a soft delete sets nothing but its mark', rules }
  const { policy } = places.table(table)
  return policy[operation]?.columns.includes(column.name) === true
    ? { why: 'listed, but the database or the key of the table does not let it be set', rules }
    : { why: `not among the columns of ${operation}`, rules }
}

function hiddenByRoles({ places, table, granting }: ColumnGround, column: Column, position: number): Why {
  const hiding = granting.filter((role) => masks(table, role, position))
  const rules = hiding.flatMap((role) => places.roleMasks(role, table, column.name))
  const names = hiding.map((role) => role.name).join(', ')
  if (hiding.length === granting.length) return { why: `masked by ${names}`, rules }
  const showing = granting.filter((role) => !masks(table, role, position))
  const filters = showing.map((role) => pathText(['roles', role.name, 'row_filter', places.table(table).name]))
  return {
    why: `masked by ${names}; ${showing.map((role) => role.name).join(', ')} shows it for some rows only, which are not told from the others`,
    rules: [...rules, ...filters],
  }
}
