import type { EffectiveRights, TableAccess } from '../core/access.js'
import type { Operation, PlanSummary } from '../core/audit-entry.js'
import { ERRORS, type ErrorCode, type GatewayError, publicText } from '../core/errors.js'
import { RESULT_BYTES_MAX } from '../core/limits.js'
import type { Plan, ValidatedPlan } from '../core/plan.js'
import { qualifiedName } from '../core/schema-model.js'
import { encodeError } from '../core/tool-result.js'
import type { Cancellation, Dialect, Driver } from '../engines/engine.js'
import { buildPlan } from '../plan/build-plan.js'
import { summarize } from '../plan/plan-summary.js'
import type { PolicyEngine } from '../policy/policy-engine.js'
import type { CallMessage, OutcomeMessage } from '../threads/messages.js'
import { schemaOverview } from '../tools/schema-overview.js'
import { resolveTarget } from '../tools/tool-target.js'
import { encodeObject, encodeRows } from './encode-result.js'

/** What a call needs of the thread it runs on. */
export interface CallSurroundings {
  readonly policy: PolicyEngine
  readonly dialect: Dialect
  readonly driver: Driver
  readonly acquireTimeoutMs: number
  /** Monotonic milliseconds on the clock that stamped `sentAtMs`. */
  readonly nowMs: () => number
  /** Tells the operator what the database said of a failure. */
  readonly observe: (code: ErrorCode, detail: string) => void
}

/** The parts of an outcome that depend on how far the call came. */
interface Progress {
  readonly operation: Operation
  readonly target?: string
  readonly plan?: PlanSummary
  readonly queueMs: number
  readonly dbMs: number
}

function refusal(call: CallMessage, progress: Progress, error: GatewayError): OutcomeMessage {
  const spec = ERRORS[error.code]
  return {
    kind: 'outcome',
    callId: call.callId,
    decision: spec.decision,
    code: error.code,
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    effect: 'none',
    ...progress,
    body: spec.reply.kind === 'tool' ? encodeError(error) : Buffer.from(publicText(error)),
  }
}

function success(call: CallMessage, progress: Progress, body: Uint8Array, rows: number): OutcomeMessage {
  return {
    kind: 'outcome',
    callId: call.callId,
    decision: 'allowed',
    code: 'OK',
    effect: 'none',
    ...progress,
    rows,
    body,
  }
}

/** Tells a masked column from a missing one, for the entry alone: the caller got the same answer for both. */
function withReason(
  error: GatewayError,
  call: CallMessage,
  policy: PolicyEngine,
  access: TableAccess,
  operation: 'get' | 'search' | 'aggregate',
): GatewayError {
  if (error.refused === undefined || error.reason !== undefined) return error
  const hidden = policy.hiddenReason(call.identity, access.table.ref, operation, error.refused)
  return { ...error, reason: error.field === undefined ? hidden : `${hidden} at ${error.field}` }
}

/** Agent names of the columns that say which row or group it is, and where it stands in the order: never cut. */
function neverCut(validated: ValidatedPlan, access: TableAccess): ReadonlySet<string> {
  const { plan, visible } = validated
  const names = new Set(access.key.map((column) => column.agentName))
  const more =
    plan.kind === 'search' ? plan.order.map(({ column }) => column) : plan.kind === 'aggregate' ? plan.groupBy : []
  for (const identifier of more) {
    const column = visible.get(identifier)
    if (column !== undefined) names.add(column.agentName)
  }
  return names
}

async function runPlan(
  call: CallMessage,
  surroundings: CallSurroundings,
  access: TableAccess,
  plan: Plan,
  progress: Progress,
  cancellation: Cancellation,
): Promise<OutcomeMessage> {
  const { policy, dialect, driver, acquireTimeoutMs } = surroundings
  const validated = policy.validate(plan, call.identity)
  if (!validated.ok) return refusal(call, progress, withReason(validated.error, call, policy, access, plan.kind))
  const statement = dialect.compile(validated.value)
  const { limits } = validated.value
  const answer = await driver.execute(statement, {
    timeoutMs: limits.queryTimeoutMs,
    acquireTimeoutMs,
    bytesMax: RESULT_BYTES_MAX,
    cancellation,
  })
  const measured = { ...progress, queueMs: progress.queueMs + answer.queueMs, dbMs: answer.dbMs }
  if (!answer.outcome.ok) {
    const { error } = answer.outcome
    if (error.detail !== undefined) surroundings.observe(error.code, error.detail)
    return refusal(call, measured, error)
  }
  const rows = answer.outcome.value
  if (plan.kind === 'get' && rows.length === 0) return refusal(call, { ...measured }, { code: 'ROW_NOT_FOUND' })
  const encoded = encodeRows({
    columns: statement.columns,
    rows,
    dialect,
    keyColumns: neverCut(validated.value, access),
    responseCharsMax: limits.responseCharsMax,
    ...(plan.kind === 'get' ? {} : { limit: plan.limit }),
  })
  return success(call, measured, encoded.body, encoded.rows)
}

/** The worker's part of the one path: tool call → plan → validated plan → statement → rows → outcome. Never throws for input. */
export async function executeCall(
  call: CallMessage,
  surroundings: CallSurroundings,
  cancellation: Cancellation,
): Promise<OutcomeMessage> {
  const queueMs = Math.max(0, surroundings.nowMs() - call.sentAtMs)
  const unresolved: Progress = { operation: 'unknown', queueMs, dbMs: 0 }
  const rights: EffectiveRights = surroundings.policy.rights(call.identity)
  const target = resolveTarget(rights, call.tool)
  if (target === undefined) return refusal(call, unresolved, { code: 'TOOL_UNKNOWN' })
  if (target.operation === 'schema_overview') {
    const progress: Progress = { operation: 'schema_overview', queueMs, dbMs: 0 }
    const overview = schemaOverview(rights, call.args)
    return overview.ok
      ? success(call, progress, encodeObject(overview.value), 0)
      : refusal(call, progress, overview.error)
  }
  const { operation, access } = target
  const progress: Progress = { operation, target: qualifiedName(access.table.ref), queueMs, dbMs: 0 }
  const plan = buildPlan(target, call.args)
  if (!plan.ok) return refusal(call, progress, withReason(plan.error, call, surroundings.policy, access, operation))
  const planned = { ...progress, plan: summarize(plan.value, access) }
  return runPlan(call, surroundings, access, plan.value, planned, cancellation)
}
