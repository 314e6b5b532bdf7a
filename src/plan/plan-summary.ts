import type { TableAccess } from '../core/access.js'
import { unreachable } from '../core/assert.js'
import type { PlanSummary } from '../core/audit-entry.js'
import type { Filter, Plan } from '../core/plan.js'
import type { Identifier } from '../core/schema-model.js'

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

/** What a plan asks, in the terms of its audit entry. Filter values are as sent: whoever stores them hashes them first. */
export function summarize(plan: Plan, access: TableAccess): PlanSummary {
  const agentName = namesOf(access)
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
