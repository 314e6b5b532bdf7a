import type { GatewayError } from '../../core/errors.js'
import { type Stopped, stoppedError, tooLargeError } from './stoppable.js'

/** A statement that gave no answer, as every engine's wire tells of it. */
export type Unanswered =
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'too_large' }
  | Stopped<unknown>

/** What a single statement without an answer failed with. `statementError`: what the engine's own errors mean. */
export function errorOfEnd(
  end: Unanswered,
  limits: { readonly timeoutMs: number; readonly bytesMax: number },
  statementError: (error: unknown) => GatewayError,
): GatewayError {
  if (end.kind === 'failed') return statementError(end.error)
  return end.kind === 'too_large' ? tooLargeError(limits.bytesMax) : stoppedError(end.code, limits.timeoutMs)
}

/** Whether the session of a single statement may serve another: it answered, and no cancel can be on its way to it. */
export function mayServeAgain(
  end: { readonly kind: 'done' } | Unanswered,
  statementError: (error: unknown) => GatewayError,
): boolean {
  if (end.kind === 'done') return true
  return end.kind === 'failed' && statementError(end.error).code !== 'CONNECTOR_UNAVAILABLE'
}
