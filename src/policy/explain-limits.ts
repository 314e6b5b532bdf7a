import type { CallLimits } from '../core/plan.js'
import type { CompiledPolicy, CompiledRole } from './compiled-policy.js'
import type { PolicyLimits } from './policy-document.js'
import { pathText } from './policy-tree.js'

/** One limit in force, and where its value is from. */
export interface LimitReason {
  readonly limit: string
  readonly value: number
  /** A place in the document; absent where nothing in it says so. */
  readonly rule?: string
}

/** Each limit of a call, as a policy spells it. */
export const LIMIT_NAMES: Readonly<Record<keyof CallLimits, keyof PolicyLimits>> = {
  rowCap: 'row_cap',
  pageSize: 'page_size',
  queryTimeoutMs: 'query_timeout_ms',
  responseCharsMax: 'response_chars_max',
  cellCharsMax: 'cell_chars_max',
  maxAffectedRows: 'max_affected_rows',
  minGroupSize: 'min_group_size',
  indexRequiredAboveRows: 'require_index_above_rows',
}

export interface LimitGround {
  readonly policy: CompiledPolicy
  /** The place of the table or procedure, and what it says. */
  readonly object: { readonly path: readonly string[]; readonly limits: PolicyLimits }
  readonly granting: readonly CompiledRole[]
  readonly identity: string
}

/** The values are the engine's; the first place, from the most specific on, that says the same is where each is from. */
export function explainLimits(limits: CallLimits, ground: LimitGround): readonly LimitReason[] {
  // The keys of the table are those of the limits, which its type sees to.
  return (Object.keys(LIMIT_NAMES) as (keyof CallLimits)[]).map((name) => {
    const limit = LIMIT_NAMES[name]
    const value = limits[name]
    const place = placesOf(ground).find(([, given]) => given[limit] === value)
    return { limit, value, ...(place === undefined ? {} : { rule: pathText([...place[0], limit]) }) }
  })
}

function placesOf({ policy, object, granting, identity }: LimitGround) {
  const override = policy.identities.get(identity)
  const places: (readonly [readonly string[], PolicyLimits])[] = [
    ...(override === undefined ? [] : [[['identities', identity], override.limits] as const]),
    ...granting.map(({ name, limits }) => [['roles', name], limits] as const),
    [object.path, object.limits],
    [['defaults'], policy.defaults],
  ]
  return places
}
