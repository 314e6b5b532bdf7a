import type { EffectiveRights, ReadOperation, TableAccess } from './access.js'
import { metricType } from './metric-type.js'
import { nameHash, PROPERTY_KEY } from './names.js'
import { AGGREGATE_FNS, type AggregateFn, FILTER_OPS, type FilterOp } from './plan.js'
import type { Column, LogicalType, ValueType } from './schema-model.js'

/**
 * What a tool lets a caller say of which column. The schemas that announce it and the plans that hold callers to it both
 * read it here, so that they cannot come to differ.
 */

/** What a call of a tool is about, for one caller. */
export type ToolTarget =
  | { readonly operation: 'schema_overview'; readonly rights: EffectiveRights }
  | { readonly operation: ReadOperation; readonly access: TableAccess }

/** A target that a plan can be built for. */
export type PlanTarget = Extract<ToolTarget, { readonly access: TableAccess }>

/** Names that tools use for themselves, now or in a later version, so that a key column's argument never has to be renamed. */
const CONTROL_ARGUMENTS: ReadonlySet<string> = new Set([
  'any_of',
  'cell',
  'columns',
  'cursor',
  'dry_run',
  'expand',
  'expected',
  'filters',
  'group_by',
  'having',
  'idempotency_key',
  'key',
  'limit',
  'metrics',
  'order_by',
  'related',
  'table',
  'time_bucket',
  'values',
])

export interface KeyArgument {
  readonly argument: string
  readonly column: Column
}

/** The argument for each key column, in key order: its own name, or `<name>_key` where a control argument has that name. */
export function keyArguments(key: readonly Column[]): readonly KeyArgument[] {
  const taken = new Set(key.map((column) => column.agentName))
  return key.map((column) => {
    if (!CONTROL_ARGUMENTS.has(column.agentName)) return { argument: column.agentName, column }
    let argument = `${column.agentName}_key`
    while (taken.has(argument)) argument += '_key'
    taken.add(argument)
    return { argument, column }
  })
}

/** Types without a text form that a caller could send and the engine could compare. */
function comparable(type: ValueType): boolean {
  return type.logical !== 'json' && type.logical !== 'array'
}

const EQUALITY_OPS: ReadonlySet<FilterOp> = new Set(['eq', 'neq', 'in'])
const RANGE_OPS: ReadonlySet<FilterOp> = new Set(['gt', 'gte', 'lt', 'lte'])

function opFits(op: FilterOp, type: ValueType): boolean {
  if (op === 'ilike') return type.logical === 'text'
  if (EQUALITY_OPS.has(op)) return type.equality && comparable(type)
  return RANGE_OPS.has(op) ? type.ordered && comparable(type) : true
}

export function filterOpsFor(type: ValueType): readonly FilterOp[] {
  return FILTER_OPS.filter((op) => opFits(op, type))
}

/** The functions that take a column of this type. */
export function aggregateFnsFor(type: ValueType): readonly AggregateFn[] {
  return AGGREGATE_FNS.filter((fn) => metricType(fn, type) !== undefined)
}

/** The result name of a metric that was given none: `count`, `sum_total`; a hash ends what would be too long for a key. */
export function defaultMetricName(fn: AggregateFn, column: string | undefined): string {
  if (column === undefined) return fn
  const name = `${fn}_${column}`
  return PROPERTY_KEY.test(name) ? name : `${name.slice(0, 55)}_${nameHash(name)}`
}

/** How a value too long to be given appears: its first characters, or null. A `whole` value is always short enough. */
export type CutForm = 'whole' | 'shortened' | 'withheld'

const CUT_FORMS: Readonly<Record<LogicalType, CutForm>> = {
  integer: 'whole',
  bigint: 'whole',
  float: 'whole',
  boolean: 'whole',
  timestamp: 'whole',
  date: 'whole',
  time: 'whole',
  interval: 'whole',
  uuid: 'whole',
  enum: 'whole',
  text: 'shortened',
  decimal: 'withheld',
  json: 'withheld',
  bytes: 'withheld',
  array: 'withheld',
  unknown: 'withheld',
}

export function cutForm(type: ValueType): CutForm {
  return CUT_FORMS[type.logical]
}

/** The columns a caller may use in any of its operations on the table, in table order. */
export function visibleColumns(access: TableAccess): readonly Column[] {
  const visible: Column[] = []
  for (const { agentName } of access.table.columns) {
    for (const operation of access.operations) {
      const column = access.columns[operation].get(agentName)
      if (column === undefined) continue
      visible.push(column)
      break
    }
  }
  return visible
}
