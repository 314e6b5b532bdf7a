import { setTimeout as pause } from 'node:timers/promises'
import { noteRecord } from '../audit/notes.js'
import type { AuditRecord } from '../core/audit-entry.js'
import { DEGRADED_CHUNK_RECORDS_MAX, DEGRADED_MARK_END_TIMEOUT_MS, DEGRADED_MARK_INTERVAL_MS } from '../core/limits.js'
import type { Observe } from '../observe/observation.js'
import { DegradedRecords, type DegradedTime } from './degraded-records.js'
import { GapMark, type MarkedGap } from './gap-mark.js'

export interface DegradedTrailDeps {
  readonly observe: Observe
  /** Unix milliseconds. */
  readonly wallMs: () => number
  /** What takes entries when all is well, as the entry about the gap names it. */
  readonly sink: 'buffer' | 'file' | 'stdout'
  /** Where the note about a gap lies; absent without a buffer. */
  readonly markPath: string | undefined
  /** Hands records to the audit thread; `done` runs once. */
  readonly append: (records: AuditRecord[], done: (durable: boolean) => void) => void
}

/**
 * What becomes of records while the trail takes none and calls are served all the same: they wait in memory, are appended in order when
 * the trail is back, and one entry says from when to when that was, how many calls were served, and how many entries are lost.
 */
export class DegradedTrail {
  readonly #deps: DegradedTrailDeps
  readonly #records = new DegradedRecords()
  #begun = false
  #mark: GapMark | undefined
  /** What an earlier process could not tell of. */
  #left: MarkedGap | undefined
  #markTimer: NodeJS.Timeout | undefined
  #draining = false
  #resumedAtMs = 0
  #waits: (() => void)[] = []

  constructor(deps: DegradedTrailDeps) {
    this.#deps = deps
  }

  /** Not before the trail has taken entries once: until then the buffer, and the note beside it, may be another gateway's. */
  #begin(): void {
    if (this.#begun) return
    this.#begun = true
    const { markPath } = this.#deps
    const opened = markPath === undefined ? undefined : GapMark.open(markPath)
    this.#mark = opened?.mark
    this.#left = opened?.left
  }

  keep(record: AuditRecord, reason: string): void {
    this.#records.keep(record, this.#deps.wallMs(), reason)
    if (this.#markTimer !== undefined) return
    this.#putMark()
    this.#markTimer = setInterval(() => this.#putMark(), DEGRADED_MARK_INTERVAL_MS).unref()
  }

  /** The trail takes entries again: what waits goes there. Settles when it has, or cannot after all. */
  resume(): Promise<void> {
    this.#begin()
    if (!this.#draining) {
      this.#draining = true
      this.#resumedAtMs = this.#deps.wallMs()
      this.#next()
    }
    if (!this.#draining) return Promise.resolve()
    return new Promise((resolve) => this.#waits.push(resolve))
  }

  /** The process ends: what still waits is lost, and told of by the next one. */
  async end(): Promise<void> {
    clearInterval(this.#markTimer)
    const gap = this.#gapNow()
    const lost = gap === undefined ? 0 : gap.lost + gap.waiting
    if (gap !== undefined && lost > 0) {
      this.#deps.observe({ kind: 'audit.lost', entries: lost, from: new Date(gap.fromMs).toISOString() })
    }
    if (this.#mark === undefined) return
    const hangs = new AbortController()
    // A disk that hangs holds up no stop.
    const timeout = pause(DEGRADED_MARK_END_TIMEOUT_MS, undefined, { signal: hangs.signal }).catch(() => {})
    await Promise.race([this.#mark.end(gap ?? this.#left), timeout])
    hangs.abort()
  }

  #next(): void {
    const records = this.#records.take(DEGRADED_CHUNK_RECORDS_MAX)
    if (records.length === 0) return this.#tell()
    this.#deps.append(records, (durable) => {
      if (durable) return this.#next()
      this.#records.putBack(records)
      this.#pause()
    })
  }

  /** Everything that waited is kept, so that the entry about the time can say what is missing. */
  #tell(): void {
    const left = this.#left
    if (left !== undefined) {
      const lost = left.lost + left.waiting
      return this.#append({ ...left, lost }, left.toMs, 'process_ended', () => {
        this.#left = undefined
        this.#putMark()
        this.#tell()
      })
    }
    const { time } = this.#records
    if (time === undefined) return this.#pause()
    this.#append(time, this.#resumedAtMs, 'recovered', () => {
      this.#records.end(time, this.#deps.wallMs())
      clearInterval(this.#markTimer)
      this.#markTimer = undefined
      this.#putMark()
      this.#pause()
    })
  }

  #append(time: DegradedTime, toMs: number, ended: 'recovered' | 'process_ended', done: () => void): void {
    const { observe, wallMs, sink } = this.#deps
    const { fromMs, calls, lost, reason } = time
    const [from, to] = [new Date(fromMs).toISOString(), new Date(Math.max(fromMs, toMs)).toISOString()]
    const detail = { sink, from, to, calls, lost, ended, reason }
    const record = noteRecord({ id: `gap-${sink}-${fromMs}`, timeMs: wallMs(), tool: 'gap', detail })
    this.#deps.append([record], (durable) => {
      if (!durable) return this.#pause()
      observe({ kind: 'audit.gap', from, to, calls, lost })
      done()
    })
  }

  #pause(): void {
    this.#draining = false
    const waits = this.#waits
    this.#waits = []
    for (const wake of waits) wake()
  }

  #gapNow(): MarkedGap | undefined {
    const { time, size } = this.#records
    return time && { ...time, toMs: this.#deps.wallMs(), waiting: size }
  }

  #putMark(): void {
    this.#mark?.put(this.#gapNow())
  }
}
