import { unreachable } from '../../core/assert.js'
import { SHIP_REFUSED_RETRY_INTERVAL_MS } from '../../core/limits.js'
import { backOffMs } from './back-off.js'
import type { ShipSteps } from './ship-steps.js'

export interface ShipLoopDeps {
  readonly steps: Pick<ShipSteps, 'step' | 'busy' | 'position' | 'retryRefused'>
  readonly batchMax: number
  readonly intervalMs: number
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** From 0 to 1. */
  readonly random: () => number
  /** Attempts that failed so far, and why the last one did: undefined once something got through. */
  readonly onStatus: (failures: number, failing: string | undefined) => void
}

/** Takes one step after the other for as long as there is something to ship, and waits for more, or after a failure. */
export class ShipLoop {
  readonly #deps: ShipLoopDeps
  readonly #abort = new AbortController()
  #lastSeq = 0
  /** Up to here there was nothing to send, although there are said to be entries: somebody removed them. */
  #nothingUpTo = 0
  /** Since when fewer entries than a batch have been waiting. */
  #waitingSinceMs: number | undefined
  #stopping = false
  #failures = 0
  #failing: string | undefined
  /** Whether anything was told yet: an earlier thread may have told of an outage. */
  #told = false
  #failuresInRow = 0
  /** A pause that the destination needs, which new entries do not cut short. */
  #backingOff = false
  #refusedDueMs: number
  #wake: () => void = () => {}

  constructor(deps: ShipLoopDeps) {
    this.#deps = deps
    this.#refusedDueMs = deps.nowMs() + SHIP_REFUSED_RETRY_INTERVAL_MS
  }

  /** There are entries up to `lastSeq`. */
  appended(lastSeq: number): void {
    if (lastSeq <= this.#lastSeq) return
    this.#lastSeq = lastSeq
    this.#waitingSinceMs ??= this.#deps.nowMs()
    if (!this.#backingOff) this.#wake()
  }

  /** Tries once more what is there, and gives up after so long. */
  stop(withinMs: number): void {
    if (this.#stopping) return
    this.#stopping = true
    setTimeout(() => this.#abort.abort(), withinMs).unref()
    this.#wake()
  }

  /** Settles once it was stopped and nothing is left or nothing gets through. Rejects on a bug alone. */
  async run(): Promise<void> {
    const { steps, nowMs } = this.#deps
    while (!this.#abort.signal.aborted) {
      if (nowMs() >= this.#refusedDueMs) {
        this.#refusedDueMs = nowMs() + SHIP_REFUSED_RETRY_INTERVAL_MS
        steps.retryRefused()
      }
      const pauseMs = this.#untilDueMs()
      if (!this.#stopping && !steps.busy && pauseMs > 0) {
        await this.#pause(pauseMs)
        continue
      }
      const last = this.#stopping
      if ((await this.#step(pauseMs > 0)) === 'end' && last) return
    }
  }

  /** How long until new entries are to be sent, in milliseconds: 0 when they are. */
  #untilDueMs(): number {
    const { steps, batchMax, intervalMs, nowMs } = this.#deps
    const untilRefusedMs = Math.max(0, this.#refusedDueMs - nowMs())
    if (this.#stopping || this.#lastSeq - Math.max(steps.position, this.#nothingUpTo) >= batchMax) return 0
    if (this.#waitingSinceMs === undefined) return untilRefusedMs
    return Math.min(untilRefusedMs, Math.max(0, this.#waitingSinceMs + intervalMs - nowMs()))
  }

  /** Gives `end` when there was nothing to do, or what was tried failed. */
  async #step(whole: boolean): Promise<'go on' | 'end'> {
    const { steps, nowMs } = this.#deps
    const startedMs = nowMs()
    const lastSeq = this.#lastSeq
    const step = await steps.step(whole, this.#abort.signal)
    switch (step.kind) {
      case 'idle':
        if (!whole) {
          this.#nothingUpTo = lastSeq
          this.#waitingSinceMs = this.#lastSeq > lastSeq ? startedMs : undefined
        }
        return 'end'
      case 'moved':
        this.#failuresInRow = 0
        this.#tell(undefined)
        this.#waitingSinceMs = steps.position < this.#lastSeq ? startedMs : undefined
        if (step.pauseMs === 0) return 'go on'
        if (!this.#stopping) await this.#leaveAlone(step.pauseMs)
        return 'end'
      case 'failed':
        this.#failures += 1
        this.#failuresInRow = step.progress ? 1 : this.#failuresInRow + 1
        this.#tell(step.reason)
        if (!this.#stopping) {
          await this.#leaveAlone(Math.max(backOffMs(this.#failuresInRow, this.#deps.random()), step.pauseMs ?? 0))
        }
        return 'end'
      default:
        return unreachable(step)
    }
  }

  async #leaveAlone(pauseMs: number): Promise<void> {
    this.#backingOff = true
    await this.#pause(pauseMs)
    this.#backingOff = false
  }

  #tell(failing: string | undefined): void {
    if (failing === undefined && this.#failing === undefined && this.#told) return
    this.#told = true
    this.#failing = failing
    this.#deps.onStatus(this.#failures, failing)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
