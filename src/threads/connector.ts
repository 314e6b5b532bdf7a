import { ERRORS, type ErrorCode } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import { encodeError } from '../core/tool-result.js'
import type { IntentMessage, IntentVerdict, OutcomeMessage } from './messages.js'
import type { ListListener } from './tool-lists.js'

export interface CallRequest {
  readonly auditId: string
  readonly identity: Identity
  readonly tool: string
  readonly args: unknown
}

/** What becomes of a call. */
export interface CallListener {
  /**
   * At most once, for a call that writes: nothing reaches the database until `answer` was called with `go`. An answer that
   * comes when the call has ended is ignored.
   */
  announced(intent: IntentMessage, epoch: number, answer: (verdict: IntentVerdict) => void): void
  /** Exactly once. The epoch is the one that judged the call; absent when no snapshot existed. */
  ended(outcome: OutcomeMessage, epoch: number | undefined): void
}

/** A connector as the front's path sees it, whether it works or not. */
export interface Connector {
  readonly id: string
  call(request: CallRequest, listener: CallListener): number
  cancel(callId: number): void
  list(identity: Identity, listener: ListListener): void
  /** One request more has come to it, or one less is left, for what must not end while a request may still call. */
  visited?(change: 1 | -1): void
}

/** How far a call had come: whether it was announced, and whether it was told to go. */
export interface Announced {
  readonly intent?: IntentMessage
  readonly released?: boolean
}

/** The outcome of a call that nothing was heard of: a call that was told to go may have taken effect. */
export function lostOutcome(
  callId: number,
  code: ErrorCode,
  reason: string,
  { intent, released = false }: Announced = {},
): OutcomeMessage {
  const told: ErrorCode = released ? 'DB_EFFECT_UNKNOWN' : code
  return {
    kind: 'outcome',
    callId,
    decision: ERRORS[told].decision,
    code: told,
    reason,
    effect: released ? 'unknown' : 'none',
    operation: intent?.operation ?? 'unknown',
    ...(intent === undefined ? {} : { target: intent.target }),
    ...(intent?.plan === undefined ? {} : { plan: intent.plan }),
    queueMs: 0,
    dbMs: 0,
    body: encodeError({ code: told }),
  }
}

/** A connector that serves nothing, such as one whose configuration has a fault: every call to it is answered, and has its entry. */
export function disabledConnector(id: string, reason = 'the configuration of the connector has a fault'): Connector {
  return {
    id,
    call: (_request, listener) => {
      listener.ended(lostOutcome(0, 'CONNECTOR_UNAVAILABLE', reason), undefined)
      return 0
    },
    cancel: () => {},
    list: (_identity, listener) => listener(undefined),
  }
}
