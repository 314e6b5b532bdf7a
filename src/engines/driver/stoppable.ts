import { type GatewayError, gatewayError } from '../../core/errors.js'
import { CANCEL_GRACE_MS, CANCEL_REPEAT_MS } from '../../core/limits.js'
import type { Cancellation, ExecuteOptions } from '../engine.js'

export type StopCode = 'TIMEOUT' | 'CANCELLED'

/** `outcome` is what the server said after it was asked to stop; absent when it said nothing in time. */
export interface Stopped<O> {
  readonly kind: 'stopped'
  readonly code: StopCode
  readonly outcome?: O
}

/** Something that runs on the server. */
export interface Stoppable<O> {
  readonly timeoutMs: number
  /** Sends it; `settle` is called once, when the server is done with it. */
  start(settle: (outcome: O) => void): void
  /** Asks the server to interrupt it. Returns at once and never throws. */
  cancel(): void
  /** The server did not obey in time. */
  giveUp(): void
}

/**
 * Settles when the server is done. On the deadline or a cancellation it cancels on the server, again and again (a cancel
 * that overtakes its statement is lost), and waits for the server to obey; when it does not within `CANCEL_GRACE_MS`, it is
 * given up. A cancel may still be on its way after `stopped`, so the session must not be reused.
 */
export function runStoppable<O>(running: Stoppable<O>, cancellation: Cancellation): Promise<O | Stopped<O>> {
  return new Promise((resolve) => {
    let stopped: StopCode | undefined
    let repeat: NodeJS.Timeout | undefined
    let grace: NodeJS.Timeout | undefined
    let lastLook: NodeJS.Immediate | undefined
    const end = (outcome: O | Stopped<O>): void => {
      clearTimeout(deadline)
      clearTimeout(grace)
      clearImmediate(lastLook)
      clearInterval(repeat)
      cancellation.listen(undefined)
      resolve(outcome)
    }
    const stop = (code: StopCode): void => {
      if (stopped !== undefined) return
      stopped = code
      clearTimeout(deadline)
      running.cancel()
      repeat = setInterval(() => running.cancel(), CANCEL_REPEAT_MS)
      grace = setTimeout(() => {
        // What the server answered while this thread stood still is read first: it may have obeyed long ago.
        lastLook = setImmediate(() => {
          running.giveUp()
          end({ kind: 'stopped', code })
        })
      }, CANCEL_GRACE_MS)
    }
    const deadline = setTimeout(() => stop('TIMEOUT'), running.timeoutMs)
    running.start((outcome) => end(stopped === undefined ? outcome : { kind: 'stopped', code: stopped, outcome }))
    cancellation.listen(() => stop(cancellation.reason ?? 'CANCELLED'))
  })
}

/** The time that a call has for a transaction as a whole. */
export class TransactionClock {
  readonly #options: Pick<ExecuteOptions, 'timeoutMs' | 'cancellation'>
  readonly #nowMs: () => number
  readonly #startedMs: number

  /** Starts now. `nowMs`: monotonic milliseconds. */
  constructor(options: Pick<ExecuteOptions, 'timeoutMs' | 'cancellation'>, nowMs: () => number) {
    this.#options = options
    this.#nowMs = nowMs
    this.#startedMs = nowMs()
  }

  /** Why nothing more may be sent; undefined while something may. */
  get stopped(): GatewayError | undefined {
    const { reason } = this.#options.cancellation
    if (reason !== undefined) return gatewayError(reason)
    return this.leftMs > 0 ? undefined : this.errorOf('TIMEOUT')
  }

  get leftMs(): number {
    return Math.max(0, this.#options.timeoutMs - (this.#nowMs() - this.#startedMs))
  }

  errorOf(code: StopCode): GatewayError {
    if (code === 'CANCELLED') return gatewayError('CANCELLED')
    return gatewayError('TIMEOUT', { reason: `the transaction ran longer than ${this.#options.timeoutMs} ms` })
  }
}

/** Of a single statement that was stopped. */
export function stoppedError(code: StopCode, timeoutMs: number): GatewayError {
  if (code === 'CANCELLED') return gatewayError('CANCELLED')
  return gatewayError('TIMEOUT', { reason: `the statement ran longer than ${Math.round(timeoutMs)} ms` })
}

export function tooLargeError(bytesMax: number): GatewayError {
  return gatewayError('RESULT_TOO_LARGE', { reason: `the result passed ${bytesMax} bytes` })
}
