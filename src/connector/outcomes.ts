import type { Operation, PlanSummary } from '../core/audit-entry.js'
import { ERRORS, type ErrorCode, type GatewayError, gatewayError, publicText } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import type { CompiledStatement } from '../core/statement.js'
import { encodeError } from '../core/tool-result.js'
import type { Dialect, Driver, SessionContext } from '../engines/engine.js'
import type { PolicyEngine } from '../policy/policy-engine.js'
import type { CallMessage, IntentMessage, IntentVerdict, OutcomeMessage } from '../threads/messages.js'

/** What a call needs of the thread it runs on. */
export interface CallSurroundings {
  readonly policy: PolicyEngine
  readonly dialect: Dialect
  readonly driver: Driver
  readonly acquireTimeoutMs: number
  /** Whether callers are handed to the database. */
  readonly sessionContext: boolean
  /** Monotonic milliseconds on the clock that stamped `sentAtMs`. */
  readonly nowMs: () => number
  /** Tells the operator what the database said of a failure. */
  readonly observe: (code: ErrorCode, detail: string) => void
  /** Says that a writing call is about to reach the database, and waits for leave. Always settles. */
  readonly announce: (intent: IntentMessage) => Promise<IntentVerdict>
}

/** The parts of an outcome that depend on how far the call came. */
export interface Progress {
  readonly operation: Operation
  readonly target?: string
  readonly plan?: PlanSummary
  readonly queueMs: number
  readonly dbMs: number
}

type Effect = OutcomeMessage['effect']

/** A refusal where the engine would not take one of the statements: it must not be sent. */
export function tooLarge(statements: readonly (CompiledStatement | undefined)[]): GatewayError | undefined {
  const expected = statements.find((statement) => statement?.tooLarge !== undefined)?.tooLarge
  return expected === undefined ? undefined : gatewayError('ARGUMENT_LIMIT', { expected })
}

/** A call that failed or was refused. Where nobody knows whether it took effect, that is all that is said of it. */
export function refusal(
  call: CallMessage,
  progress: Progress,
  failure: GatewayError,
  effect: Effect = 'none',
): OutcomeMessage {
  const error = effect === 'none' ? failure : effectUnknown(failure)
  const spec = ERRORS[error.code]
  return {
    kind: 'outcome',
    callId: call.callId,
    decision: spec.decision,
    code: error.code,
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    effect,
    ...progress,
    body: spec.reply.kind === 'tool' ? encodeError(error) : Buffer.from(publicText(error)),
  }
}

function effectUnknown({ code, reason }: GatewayError): GatewayError {
  // The other code that says so already.
  if (code === 'IDEMPOTENCY_UNKNOWN') return gatewayError(code)
  return gatewayError('DB_EFFECT_UNKNOWN', { reason: reason === undefined ? code : `${code}: ${reason}` })
}

export interface Success {
  readonly body: Uint8Array
  /** Rows given. */
  readonly rows: number
  readonly effect?: Effect
  readonly affected?: number
  readonly keys?: NonNullable<OutcomeMessage['keys']>
  readonly resultKeys?: NonNullable<OutcomeMessage['resultKeys']>
  readonly reason?: string
}

export function success(call: CallMessage, progress: Progress, given: Success): OutcomeMessage {
  return {
    kind: 'outcome',
    callId: call.callId,
    decision: 'allowed',
    code: 'OK',
    effect: 'none',
    ...progress,
    ...given,
  }
}

/** The caller as the database may know it. */
export function contextOf(
  { sessionContext }: CallSurroundings,
  { name, roles, claims }: Identity,
): { readonly context?: SessionContext } {
  if (!sessionContext) return {}
  const context = {
    identity: name,
    roles: JSON.stringify(roles),
    claims: JSON.stringify(Object.fromEntries(claims)),
  }
  return { context }
}
