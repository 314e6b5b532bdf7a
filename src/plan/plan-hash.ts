import type { MutationPlan, ProcedureCallPlan } from '../core/plan.js'

/**
 * What a call of a tool comes to, as text for the caller to hash: equal for two calls exactly when they ask the same of the
 * same tool, however their arguments were ordered or spelt.
 */
export function planHash(tool: string, plan: MutationPlan | ProcedureCallPlan): string {
  return canonical([tool, plan])
}

/** JSON with the members of every object in one order. Plans hold text, numbers, booleans, null, lists and objects alone. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}
