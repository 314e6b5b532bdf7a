import type { InstanceRun, InstanceStore } from './admin/admin-store.js'
import { reloadReportText } from './admin/reload-report.js'
import { BACKOFF_MAX_MS, RELOAD_RETRY_MIN_MS } from './core/limits.js'
import { reloadShown } from './reload-answer.js'
import type { ReloadReport } from './reloads.js'
import type { ConnectorState } from './threads/fleet-report.js'

export interface PresenceSurroundings {
  readonly store: InstanceStore
  readonly self: InstanceRun
  /** Of every configured connector, as of now. */
  readonly states: () => readonly ConnectorState[]
  /** Told when the store fails. */
  readonly onFailed: (error: unknown) => void
}

/** A report that the store does not have yet. */
interface OwedReport {
  readonly request: number
  readonly text: string
}

/**
 * Tells the admin store that this instance serves it, and what came of requests to reload, so that whoever asked can wait for all instances.
 * Its writes come one after the other: nothing of it is written behind its end. Never rejects.
 */
export class Presence {
  readonly #surroundings: PresenceSurroundings
  #turn: Promise<void> = Promise.resolve()
  /** The newest alone: it covers what was asked before. */
  #owed: OwedReport | undefined
  /** The request of the last report. */
  #reported: number | undefined
  #failures = 0
  #retryTimer: NodeJS.Timeout | undefined
  #ended = false

  constructor(surroundings: PresenceSurroundings) {
    this.#surroundings = surroundings
  }

  /** Says that the instance serves, and what is owed. */
  seen(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#ended) await this.#write()
    })
  }

  /** Reports, unless nobody has asked since the last report. */
  reloaded(report: ReloadReport): void {
    const { request } = report
    if (request === undefined || request === this.#reported || this.#ended) return
    this.#reported = request
    this.#owed = { request, text: reloadReportText(reloadShown(report, this.#surroundings.states())) }
    void this.seen()
  }

  /** Says that nobody is to wait for this instance any more. Safe to call twice. */
  end(): Promise<void> {
    const { store, self } = this.#surroundings
    const first = !this.#ended
    this.#ended = true
    clearTimeout(this.#retryTimer)
    return this.#inTurn(async () => {
      if (first) await store.forgetInstance(self.run)
    })
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(act).catch((error: unknown) => {
      this.#surroundings.onFailed(error)
      this.#retryLater()
    })
    return this.#turn
  }

  async #write(): Promise<void> {
    const { store, self } = this.#surroundings
    const owed = this.#owed
    if (owed === undefined) await store.noteInstance(self)
    else await store.reportReload(self, owed.request, owed.text)
    if (this.#owed === owed) this.#owed = undefined
    this.#failures = 0
    clearTimeout(this.#retryTimer)
  }

  /** Sooner than it would be said anyway: somebody may wait for it. */
  #retryLater(): void {
    if (this.#ended) return
    const pauseMs = Math.min(BACKOFF_MAX_MS, RELOAD_RETRY_MIN_MS * 2 ** this.#failures)
    this.#failures += 1
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(() => void this.seen(), pauseMs).unref()
  }
}
