import { SHIP_REFUSAL_NOTICE_INTERVAL_MS } from '../../core/limits.js'
import type { Observation, Observe } from '../../observe/observation.js'

type Refused = Extract<Observation, { kind: 'audit.ship_refused' }>

/**
 * Passes observations on, but those of refused entries at most once in `SHIP_REFUSAL_NOTICE_INTERVAL_MS`: the first at once, then how
 * many came since. A destination that refuses all it gets would else fill the log with what it refuses.
 */
export class RefusalNotices {
  readonly #observe: Observe
  /** Runs while another one is not told at once. */
  #timer: NodeJS.Timeout | undefined
  #untold: Refused | undefined

  constructor(observe: Observe) {
    this.#observe = observe
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'audit.ship_refused') return this.#observe(observation)
    if (this.#timer === undefined) return this.#tell(observation)
    const entries = (this.#untold?.entries ?? 0) + observation.entries
    this.#untold = { ...observation, entries, firstSeq: this.#untold?.firstSeq ?? observation.firstSeq }
  }

  #tell(refused: Refused): void {
    this.#untold = undefined
    this.#observe(refused)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#untold !== undefined) this.#tell(this.#untold)
    }, SHIP_REFUSAL_NOTICE_INTERVAL_MS).unref()
  }

  /** Tells what was not told yet. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#untold !== undefined) this.#observe(this.#untold)
    this.#untold = undefined
  }
}
