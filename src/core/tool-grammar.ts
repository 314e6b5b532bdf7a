import {
  type EffectiveRights,
  type ProcedureAccess,
  READ_OPERATIONS,
  type ReadOperation,
  type TableAccess,
  WRITE_OPERATIONS,
  type WriteAccess,
  type WriteOperation,
} from './access.js'
import { metricType } from './metric-type.js'
import { nameHash, PROPERTY_KEY } from './names.js'
import { AGGREGATE_FNS, type AggregateFn, type CallLimits, FILTER_OPS, type FilterOp } from './plan.js'
import type { Column, LogicalType, RoutineParameter, ValueType } from './schema-model.js'

/**
 * What a tool lets a caller say of which column. The schemas that announce it and the plans that hold callers to it both
 * read it here, so that they cannot come to differ.
 */

export interface ReadTarget {
  readonly operation: ReadOperation
  readonly access: TableAccess
}

export interface WriteTarget {
  readonly operation: WriteOperation
  readonly access: TableAccess
  /** `access.writes` of the operation. */
  readonly write: WriteAccess
}

export interface CallTarget {
  readonly operation: 'call'
  readonly procedure: ProcedureAccess
}

/** A target that a plan can be built for. */
export type PlanTarget = ReadTarget | WriteTarget | CallTarget

/** What a call of a tool is about, for one caller. */
export type ToolTarget = PlanTarget | { readonly operation: 'schema_overview'; readonly rights: EffectiveRights }

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

/** Names of `values` and `expected` are columns' own; those beside them may be renamed. */
function argumentNames(names: readonly string[]): readonly string[] {
  const own = new Set(names)
  const given = new Set<string>()
  return names.map((name) => {
    let argument = CONTROL_ARGUMENTS.has(name) || given.has(name) ? `${name}_key` : name
    while (argument !== name && (own.has(argument) || given.has(argument))) argument += '_key'
    given.add(argument)
    return argument
  })
}

export interface KeyArgument {
  readonly argument: string
  readonly column: Column
}

/** The argument for each key column, in key order: its own name, or `<name>_key` where a control argument has that name. */
export function keyArguments(key: readonly Column[]): readonly KeyArgument[] {
  const names = argumentNames(key.map((column) => column.agentName))
  return key.map((column, i) => ({ argument: names[i] ?? column.agentName, column }))
}

export interface ParameterArgument {
  readonly argument: string
  readonly parameter: RoutineParameter
  /** Among the parameters that take a value. */
  readonly position: number
}

/** The argument for each parameter of a procedure, in order, named by the same rule as those of a key. */
export function parameterArguments(procedure: ProcedureAccess): readonly ParameterArgument[] {
  const names = argumentNames(procedure.parameters.map((parameter) => parameter.agentName))
  return procedure.parameters.map((parameter, position) => {
    return { argument: names[position] ?? parameter.agentName, parameter, position }
  })
}

/**
 * `rows`: as many as there are, with fields. `sets`: result sets with rows each, and outputs beside them. `value`: one.
 * `nothing`: that it ended well is all there is to say.
 */
export type ProcedureResult = 'rows' | 'sets' | 'value' | 'nothing'

export function procedureResult({ routine, fields, setColumns }: ProcedureAccess): ProcedureResult {
  const { result } = routine
  if (result.kind === 'scalar') return result.set ? 'rows' : 'value'
  if (result.kind === 'sets') return setColumns === undefined && (fields ?? []).length === 0 ? 'nothing' : 'sets'
  return result.kind === 'void' || fields === undefined ? 'nothing' : 'rows'
}

/** The name of the value, or of the one column, that a procedure without fields gives; statements call it so too. */
export const RESULT_NAME = 'result'

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

/** The functions that a caller has: of groups that stand for several rows, `min` and `max` would show the value of one. */
export function aggregateFns({ minGroupSize }: Pick<CallLimits, 'minGroupSize'>): readonly AggregateFn[] {
  return minGroupSize > 1 ? AGGREGATE_FNS.filter((fn) => fn !== 'min' && fn !== 'max') : AGGREGATE_FNS
}

/** Those of `fns` that take a column of this type. */
export function aggregateFnsFor(type: ValueType, fns: readonly AggregateFn[] = AGGREGATE_FNS): readonly AggregateFn[] {
  return fns.filter((fn) => metricType(fn, type) !== undefined)
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
  const visible = new Map<string, Column>()
  const show = (columns: Iterable<Column>): void => {
    for (const column of columns) if (!visible.has(column.agentName)) visible.set(column.agentName, column)
  }
  for (const operation of READ_OPERATIONS) {
    if (access.operations.has(operation)) show(access.columns[operation].values())
  }
  for (const operation of WRITE_OPERATIONS) {
    const write = access.operations.has(operation) ? access.writes[operation] : undefined
    if (write === undefined) continue
    show(write.columns.values())
    show(write.key)
    show(write.returning)
  }
  return access.table.columns.flatMap(({ agentName }) => visible.get(agentName) ?? [])
}
