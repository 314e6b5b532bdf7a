import type { TableAccess } from '../core/access.js'
import { invariant, unreachable } from '../core/assert.js'
import type { PlanSummary } from '../core/audit-entry.js'
import { agentColumnName } from '../core/names.js'
import type { Assignment, Filter, MutationPlan, PlanValue, ProcedureCallPlan, QueryPlan } from '../core/plan.js'
import type { Identifier } from '../core/schema-model.js'
import { type CallTarget, type PlanTarget, parameterArguments, type WriteTarget } from '../core/tool-grammar.js'
import type { BuiltPlan } from './build-plan.js'

type AgentName = (name: Identifier) => string

/** One map a table and snapshot: rights live as long as the epoch they were worked out for. */
const agentNames = new WeakMap<TableAccess, ReadonlyMap<string, string>>()

function namesOf(access: TableAccess): AgentName {
  let names = agentNames.get(access)
  if (names === undefined) {
    names = new Map(access.table.columns.map((column) => [column.name, column.agentName]))
    agentNames.set(access, names)
  }
  const known = names
  return (name) => known.get(name) ?? name
}

type FilterSummary = NonNullable<PlanSummary['filters']>[number]

function filterSummary(filter: Filter, agentName: AgentName): FilterSummary {
  const column = agentName(filter.column)
  if ('values' in filter) return { column, op: filter.op, values: filter.values }
  return 'value' in filter ? { column, op: filter.op, values: [filter.value] } : { column, op: filter.op }
}

function filtersOf(filters: readonly Filter[], agentName: AgentName): Pick<PlanSummary, 'filters'> {
  return filters.length === 0 ? {} : { filters: filters.map((filter) => filterSummary(filter, agentName)) }
}

type ValueSummary = NonNullable<PlanSummary['values']>[number]

/** NULL is a column without values: an entry holds no null. */
function valueSummary(column: string, value: PlanValue | null): ValueSummary {
  return value === null ? { column } : { column, values: [value] }
}

function valuesOf(assignments: readonly Assignment[], agentName: AgentName): readonly ValueSummary[] {
  return assignments.map(({ column, value }) => valueSummary(agentName(column), value))
}

const ONE_TARGET = 'a plan is summarized for the target that it was built for'

/**
 * What a call asks, in the terms of its audit entry. Values are as sent: whoever stores them hashes them first, and keeps
 * none of a call that is refused (`withoutValues`).
 */
export function summarize(target: PlanTarget, { plan, idempotencyKey }: BuiltPlan): PlanSummary {
  const key = idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }
  switch (plan.kind) {
    case 'get':
    case 'search':
    case 'aggregate':
      invariant('access' in target, ONE_TARGET)
      return querySummary(plan, namesOf(target.access))
    case 'create':
    case 'update':
    case 'soft_delete':
      invariant('write' in target, ONE_TARGET)
      return { ...mutationSummary(target, plan), ...key }
    case 'call':
      invariant(target.operation === 'call', ONE_TARGET)
      return { ...callSummary(target, plan), ...key }
    default:
      return unreachable(plan)
  }
}

/** The summary of a call that the policy or the gateway refused: what it named, and nothing of what it held. */
export function withoutValues(summary: PlanSummary): PlanSummary {
  const { filters, values, expected, ...rest } = summary
  return {
    ...rest,
    ...(filters === undefined ? {} : { filters: filters.map(({ column, op }) => ({ column, op })) }),
    ...(values === undefined ? {} : { values: values.map(({ column }) => ({ column })) }),
    ...(expected === undefined ? {} : { expected: expected.map(({ column }) => ({ column })) }),
  }
}

function querySummary(plan: QueryPlan, agentName: AgentName): PlanSummary {
  switch (plan.kind) {
    case 'get':
      return { columns: plan.columns.map(agentName), ...filtersOf(plan.key, agentName) }
    case 'search':
      return {
        columns: plan.columns.map(agentName),
        ...filtersOf(plan.filters, agentName),
        ...(plan.order.length === 0
          ? {}
          : { order: plan.order.map(({ column, direction }) => ({ by: agentName(column), direction })) }),
        page: { limit: plan.limit },
      }
    case 'aggregate': {
      const groups = plan.groupBy.map(agentName)
      const order = plan.order.map(({ by, direction }) => ({
        by: (by.kind === 'metric' ? plan.metrics[by.index]?.as : groups[by.index]) ?? '',
        direction,
      }))
      return {
        metrics: plan.metrics.map(({ fn, column }) =>
          column === undefined ? { fn } : { fn, column: agentName(column) },
        ),
        ...(groups.length === 0 ? {} : { group_by: groups }),
        ...filtersOf(plan.filters, agentName),
        ...(order.length === 0 ? {} : { order }),
        page: { limit: plan.limit },
      }
    }
    default:
      return unreachable(plan)
  }
}

function mutationSummary({ access, write }: WriteTarget, plan: MutationPlan): PlanSummary {
  const agentName = namesOf(access)
  const values = plan.kind === 'soft_delete' ? [] : valuesOf(plan.values, agentName)
  const expected = plan.kind === 'create' ? [] : valuesOf(plan.expected, agentName)
  const columns = write.returning.map((column) => column.agentName)
  return {
    ...(columns.length === 0 ? {} : { columns }),
    ...(plan.kind === 'create' ? {} : filtersOf(plan.key, agentName)),
    ...(values.length === 0 ? {} : { values }),
    ...(expected.length === 0 ? {} : { expected }),
    ...(plan.dryRun ? { dry_run: true } : {}),
  }
}

/** Parameters stand where columns do, by the names of their arguments. */
function callSummary({ procedure }: CallTarget, plan: ProcedureCallPlan): PlanSummary {
  const names = parameterArguments(procedure).map(({ argument }) => argument)
  const { fields = [], setColumns = [] } = procedure
  const columns = [...fields.map((field) => field.agentName), ...setColumns.map(agentColumnName)]
  const values = plan.args.map(({ position, value }) => valueSummary(names[position] ?? '', value))
  return {
    ...(columns.length === 0 ? {} : { columns }),
    ...(values.length === 0 ? {} : { values }),
    ...(plan.dryRun ? { dry_run: true } : {}),
  }
}
