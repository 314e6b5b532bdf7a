import { choices } from '../core/arguments.js'
import { ENGINE_CAPABILITIES } from '../core/engine-capabilities.js'
import { gatewayError } from '../core/errors.js'
import type { AggregatePlan, CallLimits, FilterOp, Scope, ScopeTerm, SearchPlan } from '../core/plan.js'
import type { Column, EngineName, Identifier, Table } from '../core/schema-model.js'
import { filterOpsFor } from '../core/tool-grammar.js'
import type { ColumnView } from './compiled-policy.js'
import type { Check } from './plan-checks.js'

/** What the rule is judged by, for one caller. */
export interface IndexGround {
  readonly engine: EngineName
  readonly table: Table
  readonly view: ColumnView
  /** The caller's row scope, without what it says of the column that marks deleted rows: hardly a row is left out by that. */
  readonly scope: Scope
  readonly limits: CallLimits
}

/** Comparisons that find their rows in an index by its first column. `neq` and `not_null` leave nearly all of them. */
const SERVED: ReadonlySet<FilterOp> = new Set(['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'is_null'])

/**
 * Refuses what would read a large table from end to end: a search or an aggregate without a filter on the first column of an
 * index or key, in the call or in the caller's own row scope, and, of a search, without an order that begins with one. A table
 * whose rows were never counted is not refused. The text names columns that the caller sees, and nothing else depends on others.
 */
export function checkIndexed(plan: SearchPlan | AggregatePlan, ground: IndexGround): Check {
  const { table, limits, scope } = ground
  if (table.rowEstimate === undefined || table.rowEstimate <= limits.indexRequiredAboveRows) return undefined
  const leading = leadingColumns(table)
  // That a parent is in scope finds no rows by an index of this table.
  const served = (terms: readonly ScopeTerm[]) =>
    terms.some((term) => term.op !== 'parent' && leading.has(term.column) && SERVED.has(term.op))
  if (served(plan.filters) || served(scope.all) || scope.any?.every(served) === true) return undefined
  const [first] = plan.kind === 'search' ? plan.order : []
  const ordered = first && ground.view.byName.get(first.column)
  if (ordered !== undefined && leading.has(ordered.name) && ordersByIndex(ordered, ground)) return undefined
  return gatewayError('ARGUMENT_UNINDEXED', { field: 'filters', expected: expectation(plan, leading, ground) })
}

/** Partial indexes hold some rows only, and whether those are the ones asked for is the planner's to find out. */
function leadingColumns(table: Table): ReadonlySet<Identifier> {
  const whole = table.indexes.filter(({ partial }) => !partial).map(({ columns }) => columns)
  const lists = [table.primaryKey, ...table.uniqueKeys, ...whole]
  return new Set(lists.flatMap((columns) => columns.slice(0, 1)))
}

/** NULLs have one place on every engine, and only some keep them there in an index. */
function ordersByIndex(column: Column, { engine }: IndexGround): boolean {
  return !column.nullable || ENGINE_CAPABILITIES[engine].nullsInIndexOrder
}

function expectation(plan: SearchPlan | AggregatePlan, leading: ReadonlySet<Identifier>, ground: IndexGround): string {
  const usable = [...ground.view.byName.values()].filter(({ name }) => leading.has(name))
  const names = (columns: readonly Column[]) => choices(columns.map(({ agentName }) => agentName))
  const filterable = usable.filter(({ type }) => filterOpsFor(type).includes('eq'))
  const orderable =
    plan.kind === 'search' ? usable.filter((column) => column.type.ordered && ordersByIndex(column, ground)) : []
  const ways = [
    ...(filterable.length === 0 ? [] : [`a filter by eq, in, gt, gte, lt, lte or is_null on ${names(filterable)}`]),
    ...(orderable.length === 0 ? [] : [`an order_by that begins with ${names(orderable)}`]),
  ]
  if (ways.length > 0) return ways.join(', or ')
  return 'an indexed column, of which you have none here: ask the operator of the gateway'
}
