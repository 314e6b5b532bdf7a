import { ConnectorPool, type Lane } from './connector-pool.js'
import type { Connections, ConnectorSettings, FromConnector } from './messages.js'

export interface LanesListener {
  onMessage(lane: Lane, message: FromConnector): void
  /** A thread is gone unasked: what it has not answered, it never will. */
  onLost(lane: Lane, reason: string): void
}

/**
 * The serving threads of one connector: opens them on demand, up to the configured number; stops those that were idle for
 * the configured time, down to the configured number; keeps none of the dead ones.
 */
export class Lanes {
  readonly #settings: ConnectorSettings
  readonly #listener: LanesListener
  readonly #nowMs: () => number
  #pool: ConnectorPool
  #poolBroken = false
  #closed = false
  #open: Lane[] = []
  readonly #stopping = new Set<Lane>()
  #allGone: (() => void) | undefined

  constructor(settings: ConnectorSettings, listener: LanesListener, nowMs: () => number) {
    this.#settings = settings
    this.#listener = listener
    this.#nowMs = nowMs
    this.#pool = this.#newPool()
  }

  /** Threads that take calls, by whether they are up yet. */
  get counts(): { readonly starting: number; readonly serving: number } {
    const serving = this.#open.filter((lane) => lane.serving).length
    return { starting: this.#open.length - serving, serving }
  }

  /** The threads that take calls and are up. */
  get serving(): readonly Lane[] {
    return this.#open.filter((lane) => lane.serving)
  }

  /** Database connections of all threads, as they last told. */
  get connections(): Connections {
    const all = [...this.#open, ...this.#stopping].map((lane) => lane.connections)
    return {
      idle: all.reduce((sum, { idle }) => sum + idle, 0),
      busy: all.reduce((sum, { busy }) => sum + busy, 0),
    }
  }

  /** The lane with the least to do; a new one where there is none, or where all are busy and another may be opened. */
  take(): Lane | undefined {
    if (this.#closed) return undefined
    let best: Lane | undefined
    for (const lane of this.#open) if (best === undefined || lane.unanswered < best.unanswered) best = lane
    const { threadsMax, pool } = this.#settings
    if (best !== undefined && (best.unanswered < pool.max || this.#open.length >= threadsMax)) return best
    return this.#openLane()
  }

  /** Stops lanes that have had nothing to do for this long, down to the number that always stays. */
  stopIdle(idleMs: number): void {
    const now = this.#nowMs()
    for (const lane of [...this.#open]) {
      if (this.#open.length <= this.#settings.threadsMin) return
      if (lane.unanswered === 0 && lane.idleForMs(now) >= idleMs) this.#retire(lane)
    }
  }

  /** Stops every lane by agreement, busy or not; calls that come now open new ones. */
  stopNow(): void {
    for (const lane of [...this.#open]) this.#retire(lane)
  }

  /** It takes no more, and ends when it has answered what it took. */
  #retire(lane: Lane): void {
    this.#open = this.#open.filter((other) => other !== lane)
    this.#stopping.add(lane)
    lane.stop()
  }

  /** Opens what must always be there. */
  fill(): void {
    while (!this.#closed && this.#open.length < this.#settings.threadsMin) this.#openLane()
  }

  /** Ends one thread at once; `onLost` follows. */
  kill(lane: Lane): void {
    this.#pool.kill(lane)
  }

  /** Ends one serving thread at once, as a crash would: for tests of what then happens. */
  killAny(): void {
    const lane = this.#open.find((each) => each.serving)
    if (lane !== undefined) this.#pool.kill(lane)
  }

  /** Stops all by agreement within the deadline, then by force. */
  async close(deadlineMs: number): Promise<void> {
    this.#closed = true
    this.stopNow()
    let timer: NodeJS.Timeout | undefined
    if (this.#stopping.size > 0) {
      await new Promise<void>((resolve) => {
        this.#allGone = resolve
        timer = setTimeout(resolve, deadlineMs)
      })
      clearTimeout(timer)
    }
    await this.#pool.close()
  }

  #openLane(): Lane {
    if (this.#poolBroken) {
      const old = this.#pool
      this.#pool = this.#newPool()
      this.#poolBroken = false
      void old.close()
    }
    const lane = this.#pool.openLane(this.#nowMs())
    this.#open.push(lane)
    return lane
  }

  #newPool(): ConnectorPool {
    return new ConnectorPool(this.#settings, {
      onMessage: (lane, message) => this.#listener.onMessage(lane, message),
      onExit: (lane, reason) => this.#exited(lane, reason),
    })
  }

  #exited(lane: Lane, reason: string): void {
    const agreed = this.#stopping.delete(lane)
    this.#open = this.#open.filter((other) => other !== lane)
    // After a thread that never came up, the pool itself may be unusable.
    if (!lane.served) this.#poolBroken = true
    if (!agreed || lane.unanswered > 0) this.#listener.onLost(lane, reason)
    if (this.#stopping.size === 0) this.#allGone?.()
  }
}
