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
}

/** Calls that wait until it is known by what they are judged. */
export class HeldCalls {
  readonly #held = new Map<number, Held>()
  readonly #waitMs: number
  readonly #listener: HeldCallsListener

  /** `waitMs`: how long each may wait. */
  constructor(waitMs: number, listener: HeldCallsListener) {
    this.#waitMs = waitMs
    this.#listener = listener
  }

  get size(): number {
    return this.#held.size
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
  release(send: (callId: number, request: CallRequest, listener: CallListener) => void): void {
    const all = [...this.#held]
    this.#held.clear()
    for (const [callId, { request, listener, timer }] of all) {
      clearTimeout(timer)
      send(callId, request, listener)
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
