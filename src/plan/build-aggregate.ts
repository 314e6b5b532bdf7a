import type { TableAccess } from '../core/access.js'
import { choices, pathOf, readEach, readList, readObject, readWord, suggest } from '../core/arguments.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { GROUP_COLUMNS_MAX, METRICS_MAX, ORDER_COLUMNS_MAX } from '../core/limits.js'
import { PROPERTY_KEY } from '../core/names.js'
import { AGGREGATE_FNS, type AggregateFn, type AggregatePlan, type Metric } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column } from '../core/schema-model.js'
import { aggregateFns, aggregateFnsFor, defaultMetricName } from '../core/tool-grammar.js'
import { readColumn, readColumns, readDirection, readFilters, readLimit, type VisibleColumns } from './coerce.js'

const AGGREGATE_NAMES = ['metrics', 'group_by', 'filters', 'order_by', 'limit'] as const

export function buildAggregate(access: TableAccess, args: unknown): Result<AggregatePlan, GatewayError> {
  const visible = access.columns.aggregate
  const entries = readObject(args, '', AGGREGATE_NAMES)
  if (!entries.ok) return entries
  const groups = readGroups(visible, entries.value.get('group_by'))
  if (!groups.ok) return groups
  const ground = { columns: visible, fns: aggregateFns(access.limits) }
  const metrics = readMetrics(ground, groups.value, entries.value.get('metrics'))
  if (!metrics.ok) return metrics
  const filters = readFilters(visible, entries.value.get('filters'))
  if (!filters.ok) return filters
  const order = readOrder(metrics.value, groups.value, entries.value.get('order_by'))
  if (!order.ok) return order
  const limit = readLimit(access, entries.value.get('limit'))
  if (!limit.ok) return limit
  return ok({
    kind: 'aggregate',
    table: access.table.ref,
    metrics: metrics.value,
    groupBy: groups.value.map((column) => column.name),
    filters: filters.value,
    order: order.value,
    limit: limit.value,
  })
}

function readGroups(columns: VisibleColumns, raw: unknown): Result<readonly Column[], GatewayError> {
  const groups = readColumns(columns, raw, 'group_by', GROUP_COLUMNS_MAX, true)
  if (!groups.ok) return groups
  const unfit = groups.value?.findIndex((column) => !column.type.equality) ?? -1
  if (unfit < 0) return ok(groups.value ?? [])
  const expected = 'a column whose values can be compared for equality'
  return fail(gatewayError('ARGUMENT_VALUE', { field: `group_by[${unfit}]`, expected }))
}

/** What metrics are made of. A function that is none of the caller's is refused by the policy, which says why. */
interface MetricGround {
  readonly columns: VisibleColumns
  readonly fns: readonly AggregateFn[]
}

function readMetrics(
  ground: MetricGround,
  groups: readonly Column[],
  raw: unknown,
): Result<readonly Metric[], GatewayError> {
  const list = readList(raw, 'metrics', METRICS_MAX)
  if (!list.ok) return list
  if (list.value === undefined || list.value.length === 0) {
    const code = list.value === undefined ? 'ARGUMENT_MISSING' : 'ARGUMENT_VALUE'
    return fail(gatewayError(code, { field: 'metrics', expected: 'at least one metric such as {"fn":"count"}' }))
  }
  const taken = new Set(groups.map((column) => column.agentName))
  return readEach(list.value, 'metrics', (item, path) => readMetric(ground, taken, item, path))
}

const METRIC_NAMES = ['fn', 'column', 'as'] as const

function readMetric(
  ground: MetricGround,
  taken: Set<string>,
  raw: unknown,
  path: string,
): Result<Metric, GatewayError> {
  const entries = readObject(raw, path, METRIC_NAMES)
  if (!entries.ok) return entries
  const fn = readFn(ground, entries.value.get('fn'), pathOf(path, 'fn'))
  if (!fn.ok) return fn
  const column = readMetricColumn(ground, fn.value, entries.value.get('column'), path)
  if (!column.ok) return column
  const named = entries.value.get('as')
  const as =
    named === undefined ? ok(defaultMetricName(fn.value, column.value?.agentName)) : readMetricName(named, path)
  if (!as.ok) return as
  if (taken.has(as.value)) {
    const expected = `a name in "as" that no other metric or group has; "${as.value}" is taken`
    return fail(gatewayError('ARGUMENT_VALUE', { field: pathOf(path, 'as'), expected }))
  }
  taken.add(as.value)
  return ok({ fn: fn.value, ...(column.value === undefined ? {} : { column: column.value.name }), as: as.value })
}

function readFn({ fns }: MetricGround, raw: unknown, path: string): Result<AggregateFn, GatewayError> {
  const known = AGGREGATE_FNS.find((fn) => fn === raw)
  return known === undefined ? readWord(raw, path, fns) : ok(known)
}

function readMetricColumn(
  { columns, fns }: MetricGround,
  fn: AggregateFn,
  raw: unknown,
  metricPath: string,
): Result<Column | undefined, GatewayError> {
  if (raw === undefined && fn === 'count') return ok(undefined)
  const column = readColumn(columns, raw, pathOf(metricPath, 'column'))
  if (!column.ok) return column
  if (aggregateFnsFor(column.value.type).includes(fn)) return column
  const expected = `${choices(aggregateFnsFor(column.value.type, fns))} for a column of type ${column.value.type.logical}`
  return fail(gatewayError('ARGUMENT_OPERATOR', { field: pathOf(metricPath, 'fn'), expected }))
}

/** A result name is a property key of the result, so it obeys what clients take as one. */
function readMetricName(raw: unknown, metricPath: string): Result<string, GatewayError> {
  if (typeof raw === 'string' && PROPERTY_KEY.test(raw) && raw !== '__proto__') return ok(raw)
  const expected = 'a result name of 1 to 64 letters, digits, "_", "." or "-"'
  const code = typeof raw === 'string' ? 'ARGUMENT_VALUE' : 'ARGUMENT_TYPE'
  return fail(gatewayError(code, { field: pathOf(metricPath, 'as'), expected }))
}

const ORDER_NAMES = ['by', 'direction'] as const
type AggregateOrder = AggregatePlan['order'][number]

function readOrder(
  metrics: readonly Metric[],
  groups: readonly Column[],
  raw: unknown,
): Result<readonly AggregateOrder[], GatewayError> {
  const list = readList(raw, 'order_by', ORDER_COLUMNS_MAX)
  if (!list.ok) return list
  const seen = new Set<unknown>()
  return readEach(list.value ?? [], 'order_by', (item, path) => {
    const entries = readObject(item, path, ORDER_NAMES)
    if (!entries.ok) return entries
    const name = entries.value.get('by')
    const by = readBy(metrics, groups, name, pathOf(path, 'by'))
    if (!by.ok) return by
    if (seen.has(name)) {
      return fail(gatewayError('ARGUMENT_VALUE', { field: pathOf(path, 'by'), expected: 'each name once' }))
    }
    seen.add(name)
    const direction = readDirection(entries.value.get('direction'), pathOf(path, 'direction'))
    return direction.ok ? ok({ by: by.value, direction: direction.value }) : direction
  })
}

/** Only what this call returns can order it: a metric by its result name, or a group. */
function readBy(
  metrics: readonly Metric[],
  groups: readonly Column[],
  raw: unknown,
  path: string,
): Result<AggregateOrder['by'], GatewayError> {
  const names = [...metrics.map((metric) => metric.as), ...groups.map((column) => column.agentName)]
  const expected = `a metric or group of this call: ${choices(names)}`
  if (raw === undefined) return fail(gatewayError('ARGUMENT_MISSING', { field: path, expected }))
  if (typeof raw !== 'string') return fail(gatewayError('ARGUMENT_TYPE', { field: path, expected }))
  const index = names.indexOf(raw)
  if (index < 0) {
    return fail(gatewayError('ARGUMENT_COLUMN', { field: path, expected, ...suggest(raw, names), refused: raw }))
  }
  if (index < metrics.length) return ok({ kind: 'metric', index })
  const group = groups[index - metrics.length]
  if (group !== undefined && !group.type.ordered) {
    const ordered = `a group that has an order; ${group.agentName} (${group.type.logical}) has none`
    return fail(gatewayError('ARGUMENT_VALUE', { field: path, expected: ordered }))
  }
  return ok({ kind: 'group', index: index - metrics.length })
}
