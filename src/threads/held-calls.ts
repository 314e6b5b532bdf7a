import type { ErrorCode } from '../core/errors.js'
import type { CallListener, CallRequest } from './connector.js'

interface Held {
  readonly request: CallRequest
  readonly listener: CallListener
  readonly timer: NodeJS.Timeout
}

export interface HeldCallsListener {
  /** It has waited long enough, or nobody wants it any more: it ends without having begun. */
  ended(callId: number, listener: CallListener, code: ErrorCode, reason: string): void
  /** It need not wait any more. */
  released(callId: number, request: CallRequest, listener: CallListener): void
}

/** Calls that wait until it is known by what they are judged. */
export class HeldCalls {
  readonly #held = new Map<number, Held>()
  readonly #waitMs: number
  readonly #listener: HeldCallsListener
  /** For how many reasons calls wait. */
  #reasons = 0
  #stale: Promise<void> | undefined

  /** `waitMs`: how long each may wait. */
  constructor(waitMs: number, listener: HeldCallsListener) {
    this.#waitMs = waitMs
    this.#listener = listener
  }

  get size(): number {
    return this.#held.size
  }

  /** Whether calls are to wait. */
  get waiting(): boolean {
    return this.#reasons > 0
  }

  /** Whether what is in force must not serve, so that lists wait too. */
  get stale(): boolean {
    return this.#stale !== undefined
  }

  /** Calls wait until this settles, and for whatever else they wait for. */
  waitFor(prepared: Promise<unknown>): void {
    this.#reasons += 1
    void prepared.then(() => {
      this.#reasons -= 1
      if (this.#reasons === 0) this.release()
    })
  }

  /** What is in force must not serve until this settles. */
  waitForOther(prepared: Promise<unknown>): void {
    const stale = prepared.then(() => {
      if (this.#stale === stale) this.#stale = undefined
    })
    this.#stale = stale
    this.waitFor(stale)
  }

  /** Waits as long as a call does while what is in force must not serve. False: it still must not. */
  async whenFresh(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#waitMs)
    })
    await Promise.race([this.#stale, late])
    clearTimeout(timer)
    return !this.stale
  }

  hold(callId: number, request: CallRequest, listener: CallListener): void {
    const timer = setTimeout(() => this.#end(callId, 'CONNECTOR_UNAVAILABLE', 'not prepared in time'), this.#waitMs)
    this.#held.set(callId, { request, listener, timer })
  }

  /** False: it does not wait here. */
  cancel(callId: number): boolean {
    return this.#end(callId, 'CANCELLED', 'cancelled while the connector was prepared')
  }

  /** In the order they came. */
  release(): void {
    const all = [...this.#held]
    this.#held.clear()
    for (const [callId, { request, listener, timer }] of all) {
      clearTimeout(timer)
      this.#listener.released(callId, request, listener)
    }
  }

  #end(callId: number, code: ErrorCode, reason: string): boolean {
    const held = this.#held.get(callId)
    if (held === undefined) return false
    this.#held.delete(callId)
    clearTimeout(held.timer)
    this.#listener.ended(callId, held.listener, code, reason)
    return true
  }
}
