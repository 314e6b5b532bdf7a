import { runStoppable, type Stopped } from '../driver/stoppable.js'
import type { Cancellation } from '../engine.js'
import { type BatchOutcome, WireQuery, type WireStatement } from './wire-query.js'

/** How a batch ended. After `stopped` and `too_large` a cancel may still be on its way, so the session must not be reused. */
export type BatchEnd = BatchOutcome | Stopped<BatchOutcome>

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

/** Runs a batch and settles when the server is done with it, or was told to stop it. */
export function runBatch(session: WireSession, batch: Batch, cancellation: Cancellation): Promise<BatchEnd> {
  return runStoppable<BatchOutcome>(
    {
      timeoutMs: batch.timeoutMs,
      start: (settle) =>
        session.submit(
          new WireQuery(batch.statements, batch.bytesMax, (outcome) => {
            // The server streams on until the connection goes, but a statement that has yet to compute would not notice that.
            if (outcome.kind === 'too_large') session.cancel()
            settle(outcome)
          }),
        ),
      cancel: () => session.cancel(),
      // Whoever holds the session closes it.
      giveUp: () => {},
    },
    cancellation,
  )
}
