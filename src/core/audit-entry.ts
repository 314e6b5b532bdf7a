import type { Decision, OutcomeCode } from './errors.js'
import type { AggregateFn, Direction, FilterOp } from './plan.js'

export type Operation =
  | 'get'
  | 'search'
  | 'aggregate'
  | 'create'
  | 'update'
  | 'soft_delete'
  | 'call'
  | 'schema_overview'
  | 'unknown'
  | 'request'
  | 'admin'
  /** The gateway itself: a start, a stop, a reload, the death of a thread. */
  | 'gateway'
  /** The trail itself: entries that were deleted, could not be kept, or are missing from a file. */
  | 'audit'
export type Effect = 'none' | 'committed' | 'unknown'

/** What was asked, in the entry's terms. Names are agent-facing and visible to the caller; values are kept as configured. */
export interface PlanSummary {
  readonly columns?: readonly string[]
  readonly filters?: readonly { readonly column: string; readonly op: FilterOp; readonly values?: readonly string[] }[]
  readonly metrics?: readonly { readonly fn: AggregateFn; readonly column?: string }[]
  readonly group_by?: readonly string[]
  readonly order?: readonly { readonly by: string; readonly direction: Direction }[]
  readonly page?: { readonly limit: number }
  /** Mutations and calls: what was written or passed, kept as `audit.values.writes` says; presets are not the caller's. */
  readonly values?: readonly { readonly column: string; readonly values?: readonly string[] }[]
  readonly expected?: readonly { readonly column: string; readonly values?: readonly string[] }[]
  readonly dry_run?: true
  readonly idempotency_key?: string
  /** Set by the audit worker where parts were left out to keep the entry within its size. */
  readonly cut?: true
}

/** Which rows of one table a call returned or changed, by their keys as the caller saw them. */
export interface ResultKeys {
  /** `schema.table`. */
  readonly table: string
  /**
   * One text a row: the key's value as tools show it, or for a key of several columns a JSON array of such texts in key order.
   * The audit worker replaces them as `audit.values.result_keys` says.
   */
  readonly keys: readonly string[]
}

/** The `reason` of an entry whose call ended with the process. */
export const OUTCOME_LOST = 'the process ended before the outcome was known'

/**
 * One call as the front thread knows it when it ends. The audit worker adds `seq`, `instance`, `prev_hash` and `hash` and
 * replaces values and keys as `audit.values` says. Absent means without a value: never null, never an empty string.
 */
export interface AuditRecord {
  /** Made by the front thread; an insert with a known id is ignored, so a batch may be sent twice. */
  readonly id: string
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string
  readonly connector?: string
  readonly epoch?: number
  readonly request_id?: string
  readonly trace_id?: string
  readonly identity?: string
  readonly key_id?: string
  readonly roles?: readonly string[]
  readonly client?: string
  readonly address?: string
  readonly tool?: string
  readonly operation: Operation
  readonly target?: string
  readonly plan?: PlanSummary
  readonly decision: Decision
  readonly code: OutcomeCode
  readonly reason?: string
  readonly effect: Effect
  readonly rows?: number
  readonly affected?: number
  /** Absent where no rows were given, or the table has no key that the caller may see. */
  readonly result_keys?: readonly ResultKeys[]
  /** Of an administrative change: more of what was changed, such as a policy's version. Never a secret, never a claim's value. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>
  /** For folded refusals: how many this entry stands for. */
  readonly count?: number
  readonly duration_ms: { readonly total: number; readonly queue?: number; readonly db?: number }
}

/** An entry as written: the record, its place in the instance's gap-free order, and its link in the keyed hash chain. */
export interface AuditEntry extends AuditRecord {
  readonly seq: number
  readonly instance: string
  readonly prev_hash: string
  readonly hash: string
}
