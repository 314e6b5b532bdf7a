import { choices, suggest } from '../core/arguments.js'
import { unreachable } from '../core/assert.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import {
  FILTERS_MAX,
  GROUP_COLUMNS_MAX,
  IN_VALUES_MAX,
  METRICS_MAX,
  ORDER_COLUMNS_MAX,
  VALUE_CHARS_MAX,
} from '../core/limits.js'
import { PROPERTY_KEY } from '../core/names.js'
import {
  AGGREGATE_FNS,
  type AggregatePlan,
  type CallLimits,
  type Filter,
  type GetPlan,
  type Metric,
  type QueryPlan,
  type SearchPlan,
} from '../core/plan.js'
import type { Column, Identifier } from '../core/schema-model.js'
import { aggregateFns, aggregateFnsFor, filterOpsFor } from '../core/tool-grammar.js'
import type { ColumnView } from './compiled-policy.js'

/** What a plan is judged by, for one caller and one operation. */
export interface PlanGround {
  readonly view: ColumnView
  readonly key: readonly Column[]
  readonly limits: CallLimits
}

/** A refusal, or undefined where everything holds. */
export type Check = GatewayError | undefined

/**
 * Checks every name, operator and count of a plan, trusting nothing about how it was built. A hidden column is refused
 * exactly like one that does not exist: the checks see nothing but the caller's own view.
 */
export function checkPlan(plan: QueryPlan, ground: PlanGround): GatewayError | undefined {
  switch (plan.kind) {
    case 'get':
      return checkGet(plan, ground)
    case 'search':
      return checkSearch(plan, ground)
    case 'aggregate':
      return checkAggregate(plan, ground)
    default:
      return unreachable(plan)
  }
}

function checkGet(plan: GetPlan, ground: PlanGround): Check {
  return checkKey(plan.key, ground.key) ?? checkSelection(plan.columns, ground)
}

/** One equality for each column of the key, in key order, and nothing else. */
export function checkKey(given: GetPlan['key'], key: readonly Column[]): Check {
  const complete =
    given.length === key.length && given.every((part, index) => part.op === 'eq' && part.column === key[index]?.name)
  if (!complete) {
    const expected = `one value for each of ${key.map((column) => column.agentName).join(', ')}`
    return gatewayError('ARGUMENT_MISSING', { expected })
  }
  return first(given, (part, index) => checkValue(part.value, key[index]?.agentName ?? 'key'))
}

function checkSearch(plan: SearchPlan, ground: PlanGround): Check {
  return (
    checkSelection(plan.columns, ground) ??
    checkFilters(plan.filters, ground) ??
    checkCount(plan.order.length, ORDER_COLUMNS_MAX, 'order_by') ??
    first(plan.order, (order, index) => checkOrderColumn(order.column, `order_by[${index}].column`, ground)) ??
    checkLimit(plan.limit, ground)
  )
}

function checkAggregate(plan: AggregatePlan, ground: PlanGround): Check {
  const names = new Set<string>()
  return (
    checkNotEmpty(plan.metrics, 'metrics', 'at least one metric') ??
    checkCount(plan.metrics.length, METRICS_MAX, 'metrics') ??
    checkCount(plan.groupBy.length, GROUP_COLUMNS_MAX, 'group_by') ??
    first(plan.groupBy, (column, index) => checkGroup(column, `group_by[${index}]`, names, ground)) ??
    first(plan.metrics, (metric, index) => checkMetric(metric, `metrics[${index}]`, names, ground)) ??
    checkFilters(plan.filters, ground) ??
    checkCount(plan.order.length, ORDER_COLUMNS_MAX, 'order_by') ??
    first(plan.order, (order, index) => checkAggregateOrder(plan, order.by, `order_by[${index}].by`, ground)) ??
    checkLimit(plan.limit, ground)
  )
}

export function first<T>(items: readonly T[], check: (item: T, index: number) => Check): Check {
  for (const [index, item] of items.entries()) {
    const refusal = check(item, index)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

export function checkNotEmpty(items: readonly unknown[], field: string, expected: string): Check {
  return items.length > 0 ? undefined : gatewayError('ARGUMENT_MISSING', { field, expected })
}

function checkCount(count: number, max: number, field: string): Check {
  return count <= max ? undefined : gatewayError('ARGUMENT_LIMIT', { field, expected: `at most ${max}` })
}

function checkLimit(limit: number, { limits }: PlanGround): Check {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= limits.rowCap) return undefined
  return gatewayError('ARGUMENT_LIMIT', { field: 'limit', expected: `a whole number from 1 to ${limits.rowCap}` })
}

export function unknownColumn(name: string, field: string, view: ColumnView): GatewayError {
  const visible = [...view.byAgentName.keys()]
  return gatewayError('ARGUMENT_COLUMN', {
    field,
    expected: choices(visible),
    ...suggest(name, visible),
    refused: name,
  })
}

/** Runs a check on the column of this name, when the caller may use it. */
function withColumn(name: Identifier, field: string, ground: PlanGround, check: (column: Column) => Check): Check {
  const column = ground.view.byName.get(name)
  return column === undefined ? unknownColumn(name, field, ground.view) : check(column)
}

function checkSelection(columns: readonly Identifier[], ground: PlanGround): Check {
  return (
    checkNotEmpty(columns, 'columns', 'at least one column') ??
    first(columns, (column, index) => withColumn(column, `columns[${index}]`, ground, () => undefined)) ??
    (new Set(columns).size === columns.length
      ? undefined
      : gatewayError('ARGUMENT_VALUE', { field: 'columns', expected: 'each column once' }))
  )
}

function checkFilters(filters: readonly Filter[], ground: PlanGround): Check {
  return (
    checkCount(filters.length, FILTERS_MAX, 'filters') ??
    first(filters, (filter, index) => checkFilter(filter, `filters[${index}]`, ground))
  )
}

function checkFilter(filter: Filter, field: string, ground: PlanGround): Check {
  return withColumn(filter.column, `${field}.column`, ground, ({ type }) => {
    const fitting = filterOpsFor(type)
    if (!fitting.includes(filter.op)) {
      return gatewayError('ARGUMENT_OPERATOR', { field: `${field}.op`, expected: choices(fitting) })
    }
    return checkOperand(filter, field)
  })
}

function checkOperand(filter: Filter, field: string): Check {
  switch (filter.op) {
    case 'is_null':
    case 'not_null':
      return undefined
    case 'in':
      return (
        checkCount(filter.values.length, IN_VALUES_MAX, `${field}.values`) ??
        first(filter.values, (value, index) => checkValue(value, `${field}.values[${index}]`))
      )
    default:
      return checkValue(filter.value, `${field}.value`)
  }
}

export function checkValue(value: unknown, field: string, charsMax = VALUE_CHARS_MAX): Check {
  if (typeof value === 'string' && value.length <= charsMax) return undefined
  return gatewayError('ARGUMENT_VALUE', { field, expected: `a value of at most ${charsMax} characters` })
}

function checkOrderColumn(name: Identifier, field: string, ground: PlanGround): Check {
  return withColumn(name, field, ground, ({ type }) =>
    type.ordered ? undefined : gatewayError('ARGUMENT_VALUE', { field, expected: 'a column whose type has an order' }),
  )
}

function checkGroup(name: Identifier, field: string, names: Set<string>, ground: PlanGround): Check {
  return withColumn(name, field, ground, ({ type, agentName }) => {
    if (!type.equality) {
      return gatewayError('ARGUMENT_VALUE', { field, expected: 'a column whose type has equality' })
    }
    return claimName(agentName, field, names)
  })
}

function checkMetric(metric: Metric, field: string, names: Set<string>, ground: PlanGround): Check {
  const { fn, column, as } = metric
  if (!AGGREGATE_FNS.includes(fn)) {
    return gatewayError('ARGUMENT_OPERATOR', { field: `${field}.fn`, expected: choices(aggregateFns(ground.limits)) })
  }
  const extreme = checkExtreme(fn, field, ground)
  if (extreme !== undefined) return extreme
  if (!PROPERTY_KEY.test(as) || as === '__proto__') {
    return gatewayError('ARGUMENT_VALUE', { field: `${field}.as`, expected: '1 to 64 of a-z, A-Z, 0-9, _, . and -' })
  }
  return checkMeasured(fn, column, field, ground) ?? claimName(as, `${field}.as`, names)
}

/** An extreme is the value of one row, however large its group is. */
function checkExtreme(fn: Metric['fn'], field: string, { limits }: PlanGround): Check {
  const given = aggregateFns(limits)
  if (given.includes(fn)) return undefined
  const { minGroupSize } = limits
  return gatewayError('POLICY_DENIED', {
    field: `${field}.fn`,
    expected: `${choices(given)}, since every value given stands for at least ${minGroupSize} rows`,
    reason: `min_group_size ${minGroupSize} leaves no ${fn}`,
  })
}

function checkMeasured(fn: Metric['fn'], name: Identifier | undefined, field: string, ground: PlanGround): Check {
  if (name === undefined) {
    if (fn === 'count') return undefined
    return gatewayError('ARGUMENT_MISSING', { field: `${field}.column`, expected: `the column to take ${fn} of` })
  }
  return withColumn(name, `${field}.column`, ground, ({ type }) => {
    const fitting = aggregateFnsFor(type, aggregateFns(ground.limits))
    if (fitting.includes(fn)) return undefined
    return gatewayError('ARGUMENT_OPERATOR', { field: `${field}.fn`, expected: choices(fitting) })
  })
}

/** Groups and metrics share one row, so each needs a name of its own in it. */
function claimName(name: string, field: string, names: Set<string>): Check {
  if (names.has(name))
    return gatewayError('ARGUMENT_VALUE', { field, expected: 'a name that nothing else in the result has' })
  names.add(name)
  return undefined
}

function checkAggregateOrder(
  plan: AggregatePlan,
  by: AggregatePlan['order'][number]['by'],
  field: string,
  ground: PlanGround,
): Check {
  if (by.kind === 'group') {
    const name = plan.groupBy[by.index]
    if (name !== undefined) return checkOrderColumn(name, field, ground)
  } else if (plan.metrics[by.index] !== undefined) {
    return undefined
  }
  return gatewayError('ARGUMENT_VALUE', { field, expected: 'a metric or a group of this call' })
}
