import type { AuditRecord } from '../core/audit-entry.js'
import { DEGRADED_CHARS_MAX, DEGRADED_RECORDS_MAX, DEGRADED_STRANGERS_MAX } from '../core/limits.js'

/** A time in which calls were served although no entries were kept. */
export interface DegradedTime {
  /** Unix milliseconds. */
  readonly fromMs: number
  readonly reason: string
  /** Calls and requests that were answered. */
  readonly calls: number
  /** Of them those whose entries did not fit in memory, and never will be. */
  readonly lost: number
}

/**
 * Records that the trail could not take while calls that read were served: in memory, in order, as many as it has room for. They are
 * kept as text, which is what they come to, and takes less than objects do.
 */
export class DegradedRecords {
  #texts: string[] = []
  #chars = 0
  #strangers = 0
  #time: { fromMs: number; reason: string; calls: number; lost: number } | undefined

  /** The time that no entry tells of yet. */
  get time(): DegradedTime | undefined {
    return this.#time && { ...this.#time }
  }

  /** Records that wait. */
  get size(): number {
    return this.#texts.length
  }

  /** Keeps one, or counts it where there is no room. `nowMs`: Unix milliseconds. */
  keep(record: AuditRecord, nowMs: number, reason: string): void {
    this.#time ??= { fromMs: nowMs, reason, calls: 0, lost: 0 }
    this.#time.calls += 1
    const stranger = record.identity === undefined
    const text = JSON.stringify(record)
    const full = this.#texts.length >= DEGRADED_RECORDS_MAX || this.#chars + text.length > DEGRADED_CHARS_MAX
    if (full || (stranger && this.#strangers >= DEGRADED_STRANGERS_MAX)) {
      this.#time.lost += 1
      return
    }
    if (stranger) this.#strangers += 1
    this.#texts.push(text)
    this.#chars += text.length
  }

  /** Takes the oldest out, at most so many. */
  take(recordsMax: number): AuditRecord[] {
    const texts = this.#texts.splice(0, recordsMax)
    // Written by `keep` alone.
    const records = texts.map((text) => JSON.parse(text) as AuditRecord)
    for (const text of texts) this.#chars -= text.length
    this.#strangers -= records.filter(({ identity }) => identity === undefined).length
    return records
  }

  /** Puts back, before all others, what was taken and could not be kept all the same. */
  putBack(records: readonly AuditRecord[]): void {
    const texts = records.map((record) => JSON.stringify(record))
    this.#texts = [...texts, ...this.#texts]
    for (const text of texts) this.#chars += text.length
    this.#strangers += records.filter(({ identity }) => identity === undefined).length
  }

  /** An entry tells of `told`. What came after it was made is a time of its own. */
  end(told: DegradedTime, nowMs: number): void {
    const time = this.#time
    if (time === undefined) return
    const calls = time.calls - told.calls
    this.#time = calls === 0 ? undefined : { ...time, fromMs: nowMs, calls, lost: time.lost - told.lost }
  }
}
