import type { TableAccess } from '../core/access.js'
import { pathOf, readEach, readList, readObject } from '../core/arguments.js'
import { unreachable } from '../core/assert.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { ORDER_COLUMNS_MAX } from '../core/limits.js'
import type { GetPlan, Order, Plan, SearchPlan } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, Identifier } from '../core/schema-model.js'
import { keyArguments, type PlanTarget } from '../core/tool-grammar.js'
import { buildAggregate } from './build-aggregate.js'
import {
  readColumn,
  readColumns,
  readDirection,
  readFilters,
  readLimit,
  readValue,
  type VisibleColumns,
} from './coerce.js'

/**
 * A tool call's arguments to a plan. Names are looked up among the caller's own columns of the operation and nowhere else.
 * Every refusal is an ARGUMENT_* with the path of the argument, what was expected, and the nearest valid name if one is near.
 */
export function buildPlan(target: PlanTarget, args: unknown): Result<Plan, GatewayError> {
  // A client may leave `arguments` out altogether.
  const given = args === undefined ? {} : args
  switch (target.operation) {
    case 'get':
      return buildGet(target.access, given)
    case 'search':
      return buildSearch(target.access, given)
    case 'aggregate':
      return buildAggregate(target.access, given)
    default:
      return unreachable(target.operation)
  }
}

function nameOf(column: Column): Identifier {
  return column.name
}

/** The selected columns; all the caller may see where none are named. */
function readSelection(columns: VisibleColumns, raw: unknown): Result<readonly Identifier[], GatewayError> {
  if (raw === undefined) return ok(Array.from(columns.values(), nameOf))
  const selected = readColumns(columns, raw, 'columns', columns.size, false)
  return selected.ok ? ok((selected.value ?? []).map(nameOf)) : selected
}

function buildGet(access: TableAccess, args: unknown): Result<GetPlan, GatewayError> {
  const key = keyArguments(access.key)
  const entries = readObject(args, '', [...key.map(({ argument }) => argument), 'columns'])
  if (!entries.ok) return entries
  const equalities = readEach(key, 'key', ({ argument, column }) => {
    const value = readValue(column, entries.value.get(argument), argument)
    return value.ok ? ok({ column: column.name, op: 'eq' as const, value: value.value }) : value
  })
  if (!equalities.ok) return equalities
  const columns = readSelection(access.columns.get, entries.value.get('columns'))
  if (!columns.ok) return columns
  return ok({ kind: 'get', table: access.table.ref, key: equalities.value, columns: columns.value })
}

const SEARCH_NAMES = ['filters', 'columns', 'order_by', 'limit'] as const

function buildSearch(access: TableAccess, args: unknown): Result<SearchPlan, GatewayError> {
  const visible = access.columns.search
  const entries = readObject(args, '', SEARCH_NAMES)
  if (!entries.ok) return entries
  const filters = readFilters(visible, entries.value.get('filters'))
  if (!filters.ok) return filters
  const columns = readSelection(visible, entries.value.get('columns'))
  if (!columns.ok) return columns
  const order = readOrder(visible, entries.value.get('order_by'))
  if (!order.ok) return order
  const limit = readLimit(access, entries.value.get('limit'))
  if (!limit.ok) return limit
  return ok({
    kind: 'search',
    table: access.table.ref,
    columns: columns.value,
    filters: filters.value,
    order: order.value,
    limit: limit.value,
  })
}

const ORDER_NAMES = ['column', 'direction'] as const

function readOrder(columns: VisibleColumns, raw: unknown): Result<readonly Order[], GatewayError> {
  const list = readList(raw, 'order_by', ORDER_COLUMNS_MAX)
  if (!list.ok) return list
  const seen = new Set<Column>()
  return readEach(list.value ?? [], 'order_by', (item, path) => {
    const entries = readObject(item, path, ORDER_NAMES)
    if (!entries.ok) return entries
    const column = readColumn(columns, entries.value.get('column'), pathOf(path, 'column'))
    if (!column.ok) return column
    const refusal = orderRefusal(column.value, pathOf(path, 'column'), seen)
    if (refusal !== undefined) return fail(refusal)
    const direction = readDirection(entries.value.get('direction'), pathOf(path, 'direction'))
    return direction.ok ? ok({ column: column.value.name, direction: direction.value }) : direction
  })
}

function orderRefusal(column: Column, path: string, seen: Set<Column>): GatewayError | undefined {
  if (!column.type.ordered) {
    const expected = `a column that has an order; ${column.agentName} (${column.type.logical}) has none`
    return gatewayError('ARGUMENT_VALUE', { field: path, expected })
  }
  if (seen.has(column)) return gatewayError('ARGUMENT_VALUE', { field: path, expected: 'each column once' })
  seen.add(column)
  return undefined
}
