import type { TableAccess } from '../core/access.js'
import { pathOf, readEach, readList, readObject } from '../core/arguments.js'
import { unreachable } from '../core/assert.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { ORDER_COLUMNS_MAX } from '../core/limits.js'
import type { GetPlan, MutationPlan, Order, Plan, ProcedureCallPlan, QueryPlan, SearchPlan } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, Identifier } from '../core/schema-model.js'
import {
  type CallTarget,
  keyArguments,
  type PlanTarget,
  type ReadTarget,
  type WriteTarget,
} from '../core/tool-grammar.js'
import { buildAggregate } from './build-aggregate.js'
import { buildCall } from './build-call.js'
import { buildMutation } from './build-mutation.js'
import {
  readColumn,
  readColumns,
  readDirection,
  readFilters,
  readKey,
  readLimit,
  type VisibleColumns,
} from './coerce.js'

/** A plan, and beside it the key under which it is to happen at most once, where a caller gave one. */
export interface BuiltPlan<P extends Plan = Plan> {
  readonly plan: P
  /** 1 to 128 printable ASCII characters. Only for mutations and calls that are no dry run. */
  readonly idempotencyKey?: string
}

export type BuildResult<P extends Plan = Plan> = Result<BuiltPlan<P>, GatewayError>

/**
 * A tool call's arguments to a plan. Names are looked up among the caller's own columns of the operation and nowhere else.
 * Every refusal is an ARGUMENT_* with the path of the argument, what was expected, and the nearest valid name if one is near.
 */
export function buildPlan(target: ReadTarget, args: unknown): BuildResult<QueryPlan>
export function buildPlan(target: WriteTarget, args: unknown): BuildResult<MutationPlan>
export function buildPlan(target: CallTarget, args: unknown): BuildResult<ProcedureCallPlan>
export function buildPlan(target: PlanTarget, args: unknown): BuildResult
export function buildPlan(target: PlanTarget, args: unknown): BuildResult {
  // A client may leave `arguments` out altogether.
  const given = args === undefined ? {} : args
  switch (target.operation) {
    case 'get':
    case 'search':
    case 'aggregate': {
      const plan = READERS[target.operation](target.access, given)
      return plan.ok ? ok({ plan: plan.value }) : plan
    }
    case 'create':
    case 'update':
    case 'soft_delete':
      return buildMutation(target, given)
    case 'call':
      return buildCall(target, given)
    default:
      return unreachable(target)
  }
}

type ReadBuild = (access: TableAccess, args: unknown) => Result<QueryPlan, GatewayError>

const READERS: Readonly<Record<ReadTarget['operation'], ReadBuild>> = {
  get: buildGet,
  search: buildSearch,
  aggregate: buildAggregate,
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
  const equalities = readKey(key, entries.value)
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
