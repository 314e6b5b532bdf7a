import { CANCEL_GRACE_MS, CANCEL_REPEAT_MS } from '../../core/limits.js'
import type { Param } from '../../core/statement.js'
import type { Cancellation } from '../engine.js'
import type { NamedUse } from './named-statements.js'
import { type ReadOutcome, ReadQuery } from './read-query.js'

export type StopCode = 'TIMEOUT' | 'CANCELLED'

/** How a read ended. After `stopped` and `too_large` a cancel may still be on its way, so the session must not be reused. */
export type ReadEnd = ReadOutcome | { readonly kind: 'stopped'; readonly code: StopCode }

export interface ReadRequest {
  readonly text: string
  readonly params: readonly Param[]
  /** Absent: an unnamed statement. */
  readonly named: NamedUse | undefined
  readonly timeoutMs: number
  readonly bytesMax: number
}

export interface ReadSession {
  submit(query: ReadQuery): void
  /** Asks the server to interrupt what this session runs. Returns at once and never throws. */
  cancel(): void
}

/**
 * Runs one statement and settles when the server is done with it. On the deadline or a cancellation it cancels on the
 * server, again and again (a cancel that overtakes its statement is lost), and waits for the server to obey; when it does
 * not within `CANCEL_GRACE_MS`, the read is given up.
 */
export function runRead(session: ReadSession, request: ReadRequest, cancellation: Cancellation): Promise<ReadEnd> {
  return new Promise((resolve) => {
    let stopped: StopCode | undefined
    let repeat: NodeJS.Timeout | undefined
    let grace: NodeJS.Timeout | undefined
    const end = (outcome: ReadEnd): void => {
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
    const query = new ReadQuery(request, request.bytesMax, (outcome) => {
      // The server streams on until the connection goes, but a statement that has yet to compute would not notice that.
      if (outcome.kind === 'too_large') session.cancel()
      end(stopped === undefined ? outcome : { kind: 'stopped', code: stopped })
    })
    const deadline = setTimeout(() => stop('TIMEOUT'), request.timeoutMs)
    session.submit(query)
    cancellation.listen(() => stop(cancellation.reason ?? 'CANCELLED'))
  })
}
