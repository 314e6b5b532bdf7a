import type { Place } from '../../core/float-value.js'
import type { PlanValue } from '../../core/plan.js'

/** Operators whose operand may be a value that the column cannot hold. */
export type Comparison = 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte'

/** What the comparison comes to with a value that the column can hold, or that no value or every one but NULL satisfies it. */
export function settle(
  op: Comparison,
  place: Place,
): { readonly op: Comparison; readonly value: PlanValue } | 'none' | 'all' {
  const greater = op === 'gt' || op === 'gte'
  if (place.kind === 'at') return { op, value: place.value }
  if (op === 'eq') return 'none'
  if (op === 'neq') return 'all'
  // What is greater than a value between two is greater than the one before it, and what is less is at most that one.
  if (place.kind === 'above') return { op: greater ? 'gt' : 'lte', value: place.value }
  return greater === (place.kind === 'under') ? 'all' : 'none'
}
