import { CANCEL_GRACE_MS, CANCEL_REPEAT_MS } from '../../core/limits.js'
import type { Cancellation } from '../engine.js'
import { type BatchOutcome, WireQuery, type WireStatement } from './wire-query.js'

export type StopCode = 'TIMEOUT' | 'CANCELLED'

/**
 * How a batch ended. After `stopped` and `too_large` a cancel may still be on its way, so the session must not be reused.
 * `outcome` is what the server said after it was asked to stop; absent when it said nothing in time.
 */
export type BatchEnd =
  | BatchOutcome
  | { readonly kind: 'stopped'; readonly code: StopCode; readonly outcome?: BatchOutcome }

export interface Batch {
  readonly statements: readonly WireStatement[]
  readonly timeoutMs: number
  readonly bytesMax: number
}

export interface WireSession {
  submit(query: WireQuery): void
  /** Asks the server to interrupt what this session runs. Returns at once and never throws. */
  cancel(): void
}

/**
 * Runs a batch and settles when the server is done with it. On the deadline or a cancellation it cancels on the server,
 * again and again (a cancel that overtakes its statement is lost), and waits for the server to obey; when it does not
 * within `CANCEL_GRACE_MS`, the batch is given up.
 */
export function runBatch(session: WireSession, batch: Batch, cancellation: Cancellation): Promise<BatchEnd> {
  return new Promise((resolve) => {
    let stopped: StopCode | undefined
    let repeat: NodeJS.Timeout | undefined
    let grace: NodeJS.Timeout | undefined
    const end = (outcome: BatchEnd): void => {
      clearTimeout(deadline)
      clearTimeout(grace)
      clearInterval(repeat)
      cancellation.listen(undefined)
      resolve(outcome)
    }
    const stop = (code: StopCode): void => {
      if (stopped !== undefined) return
      stopped = code
      clearTimeout(deadline)
      session.cancel()
      repeat = setInterval(() => session.cancel(), CANCEL_REPEAT_MS)
      grace = setTimeout(() => end({ kind: 'stopped', code }), CANCEL_GRACE_MS)
    }
    const query = new WireQuery(batch.statements, batch.bytesMax, (outcome) => {
      // The server streams on until the connection goes, but a statement that has yet to compute would not notice that.
      if (outcome.kind === 'too_large') session.cancel()
      end(stopped === undefined ? outcome : { kind: 'stopped', code: stopped, outcome })
    })
    const deadline = setTimeout(() => stop('TIMEOUT'), batch.timeoutMs)
    session.submit(query)
    cancellation.listen(() => stop(cancellation.reason ?? 'CANCELLED'))
  })
}
