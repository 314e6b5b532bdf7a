import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { Cancellation, ExecuteOptions } from '../engine.js'
import { ReadQueue } from './read-queue.js'

/** A connection that one call may use. */
export interface Lease<S> {
  readonly session: S
  /**
   * Gives the connection back to its source, which closes it when it is not reusable. What it returns settles, and never
   * fails, when the place of the connection is free; nothing, when it is free already.
   */
  readonly giveBack: (reusable: boolean) => Promise<void> | undefined
}

/** Where connections come from: an engine's own pool. */
export interface LeaseSource<S> {
  /** Gives an idle connection or a new one. Calls back once, now or later, and never throws. */
  connect(connected: (lease: Result<Lease<S>, GatewayError>) => void): void
}

export interface LeaseLimits {
  readonly max: number
  /** An older connection is not handed on. */
  readonly lifetimeMaxMs: number
}

/** What a wait for a connection is waiting for. */
type Phase = 'queued' | 'connecting' | 'over'

/** Hands connections out in the order they were asked for, never more than the pool may have. */
export class LeasePool<S extends { readonly openedMs: number }> {
  readonly #source: LeaseSource<S>
  readonly #limits: LeaseLimits
  readonly #nowMs: () => number
  readonly #queue: ReadQueue<Lease<S>>
  #connecting = 0
  #closed = false

  /** `nowMs`: monotonic milliseconds, by the clock that `openedMs` was read from. */
  constructor(source: LeaseSource<S>, limits: LeaseLimits, nowMs: () => number) {
    this.#source = source
    this.#limits = limits
    this.#nowMs = nowMs
    this.#queue = new ReadQueue(limits.max)
  }

  /** Waits for a place, then for a connection. The two have one deadline and different answers. */
  acquire({ acquireTimeoutMs, cancellation }: ExecuteOptions): Promise<Result<Lease<S>, GatewayError>> {
    return new Promise((resolve) => {
      const wait: { phase: Phase; deadline?: NodeJS.Timeout } = { phase: 'queued' }
      const settle = (result: Result<Lease<S>, GatewayError>): void => {
        wait.phase = 'over'
        clearTimeout(wait.deadline)
        cancellation.listen(undefined)
        resolve(result)
      }
      const leave = this.#queue.enter((handed) => {
        if (handed !== undefined) return settle(ok(handed))
        wait.phase = 'connecting'
        this.#connect((connected) => {
          // Whoever gave up meanwhile held the place until here, so that the source is never asked for more than it has.
          if (wait.phase !== 'over') settle(connected)
          else if (connected.ok) this.release(connected.value, true)
        })
      })
      const giveUp = (error: GatewayError): void => {
        if (wait.phase === 'queued') leave()
        settle(fail(error))
      }
      if (wait.phase === 'over') return
      wait.deadline = setTimeout(() => giveUp(this.#waitedTooLong(wait.phase)), acquireTimeoutMs)
      cancellation.listen(() => giveUp(this.#cancelled(cancellation)))
    })
  }

  /** Hands the connection to the call that has waited longest, or back to its source, which knows when to close it. */
  release(lease: Lease<S>, reusable: boolean): void {
    if (reusable && this.#queue.waiting > 0 && !this.#closed) {
      if (this.#nowMs() - lease.session.openedMs < this.#limits.lifetimeMaxMs) {
        this.#queue.release(lease)
        return
      }
    }
    const freed = lease.giveBack(reusable)
    if (freed === undefined) this.#queue.release()
    else void freed.then(() => this.#queue.release())
  }

  /** From now on a wait that ends does so because the driver was closed, and no connection is handed on. */
  refuse(): void {
    this.#closed = true
  }

  #connect(connected: (lease: Result<Lease<S>, GatewayError>) => void): void {
    this.#connecting += 1
    this.#source.connect((lease) => {
      this.#connecting -= 1
      if (!lease.ok) this.#queue.release()
      connected(lease)
    })
  }

  #cancelled(cancellation: Cancellation): GatewayError {
    return this.#closed ? closedError() : gatewayError(cancellation.reason ?? 'CANCELLED')
  }

  #waitedTooLong(phase: Phase): GatewayError {
    if (phase === 'connecting' || this.#connecting === this.#limits.max) {
      return gatewayError('CONNECTOR_UNAVAILABLE', { reason: 'connecting took longer than the pool wait' })
    }
    const reason = `pool wait: all ${this.#limits.max} connections busy, ${this.#queue.waiting} calls waiting`
    return gatewayError('OVERLOADED', { reason })
  }
}

export function closedError(): GatewayError {
  return gatewayError('CONNECTOR_UNAVAILABLE', { reason: 'the driver was closed' })
}
