import { type CallListener, lostOutcome } from './connector.js'
import type { Lane } from './connector-pool.js'
import type { IntentMessage, OutcomeMessage } from './messages.js'

interface SentCall {
  readonly lane: Lane
  readonly epoch: number
  /** Monotonic milliseconds. */
  readonly sentAtMs: number
  readonly listener: CallListener
  /** Set when the call was announced. */
  intent?: IntentMessage
  /** Whether it was told to go: from then on it may take effect. */
  released?: true
}

/** Calls that threads have and have not answered, in the order they were sent. Each ends once, whatever becomes of its thread. */
export class SentCalls {
  readonly #calls = new Map<number, SentCall>()
  readonly #onEmpty: () => void

  /** `onEmpty` is called when the last of them has ended. */
  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty
  }

  get size(): number {
    return this.#calls.size
  }

  add(callId: number, call: Pick<SentCall, 'lane' | 'epoch' | 'sentAtMs' | 'listener'>): void {
    this.#calls.set(callId, { ...call })
  }

  /** The call's thread is asked to stop it; its outcome still comes. Unknown ids are calls that have ended. */
  cancel(callId: number): void {
    this.#calls.get(callId)?.lane.tell({ kind: 'cancel', callId })
  }

  announced(lane: Lane, intent: IntentMessage): void {
    const { callId } = intent
    const call = this.#calls.get(callId)
    if (call === undefined) return
    call.intent = intent
    call.listener.announced(intent, call.epoch, (verdict) => {
      // Whoever waited for it is gone when the call has been answered as lost.
      if (this.#calls.get(callId) !== call) return
      if (verdict.kind === 'go') call.released = true
      lane.tell({ kind: 'proceed', callId, verdict })
    })
  }

  /** False: it has ended before. */
  ended(outcome: OutcomeMessage): boolean {
    const call = this.#calls.get(outcome.callId)
    if (call === undefined) return false
    this.#calls.delete(outcome.callId)
    call.listener.ended(outcome, call.epoch)
    return true
  }

  /** Answers those of a thread, or all, as lost, and tells how many they were. */
  lose(lane: Lane | 'all', reason: string): number {
    let lost = 0
    for (const [callId, call] of this.#calls) {
      if (lane !== 'all' && call.lane !== lane) continue
      this.#calls.delete(callId)
      call.listener.ended(lostOutcome(callId, 'CONNECTOR_UNAVAILABLE', reason, call), call.epoch)
      lost += 1
    }
    this.tellEmpty()
    return lost
  }

  tellEmpty(): void {
    if (this.#calls.size === 0) this.#onEmpty()
  }

  /** Threads that have had a call since before this moment. The first call that is young enough ends the look-over. */
  lanesSentBefore(atMs: number): readonly Lane[] {
    const lanes: Lane[] = []
    for (const { lane, sentAtMs } of this.#calls.values()) {
      if (sentAtMs > atMs) break
      lanes.push(lane)
    }
    return lanes
  }
}
