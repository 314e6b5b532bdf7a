import Database from 'better-sqlite3'
import { unreachable } from '../../core/assert.js'
import { SHIP_ANSWER_BYTES_MAX, SHIP_ANSWER_ITEM_BYTES_MAX, SHIP_BATCH_CHARS_MAX } from '../../core/limits.js'
import type { Result } from '../../core/result.js'
import type { Observation } from '../../observe/observation.js'
import type { ShipperSettings } from '../../threads/messages.js'
import { judge, type Verdict } from './answers.js'
import type { Deliver } from './deliver.js'
import { batchId, CONTENT_TYPES, documentIds, type ShipFacts, type ShipItem, writeBody } from './formats.js'
import type { ShipHeaders } from './ship-headers.js'
import type { NewBatch, ShipBatch, ShipChange, ShipState } from './ship-messages.js'
import type { ShipReader } from './ship-reader.js'

/** Has the buffer's owner write what was settled and what is sent next, in one transaction; gives the latter as it was written. */
export type KeepShipping = (
  change: Omit<ShipChange, 'batch'>,
  batch: NewBatch | ShipBatch | undefined,
) => Promise<Result<ShipBatch | undefined, string>>

export interface ShipStepsDeps {
  readonly settings: ShipperSettings
  readonly instance: string
  readonly state: ShipState
  readonly reader: ShipReader
  readonly headers: ShipHeaders
  readonly deliver: Deliver
  readonly keep: KeepShipping
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly observe: (observation: Observation) => void
}

/** What one step did. */
export type Step =
  /** There is nothing to do. */
  | { readonly kind: 'idle' }
  /**
   * So many entries were taken; none where there was only something to write down. `pauseMs`: how long the destination is to be
   * left alone before what it did not take is sent again; 0 where that can be at once.
   */
  | { readonly kind: 'moved'; readonly entries: number; readonly pauseMs: number }
  /** `pauseMs`: how long the destination asked to be left alone. `progress`: the attempt was not in vain, all the same. */
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly pauseMs: number | undefined
      readonly progress: boolean
    }

const IDLE: Step = { kind: 'idle' }

function moved(entries: number, pauseMs = 0): Step {
  return { kind: 'moved', entries, pauseMs }
}

function failedStep(reason: string, pauseMs?: number, progress = false): Step {
  return { kind: 'failed', reason, pauseMs, progress }
}

/** A line ends in its own hash. */
function hashOf(line: string): string {
  return line.slice(-66, -2)
}

function charsOf(items: readonly ShipItem[]): number {
  return items.reduce((sum, { line }) => sum + line.length, 0)
}

function newBatch(items: readonly ShipItem[]): NewBatch | undefined {
  const first = items[0]
  const last = items.at(-1)
  return first === undefined || last === undefined
    ? undefined
    : { from: first.seq, to: last.seq, hash: hashOf(last.line) }
}

interface Unkept {
  readonly change: Omit<ShipChange, 'batch'>
  readonly batch: NewBatch | ShipBatch | undefined
}

/**
 * Shipping, one step at a time: one request, and what is written before and after it. The batch under way is on disk before it is first
 * sent, and stays what it is until each of its entries is settled.
 */
export class ShipSteps {
  readonly #deps: ShipStepsDeps
  #position: number
  #batch: ShipBatch | undefined
  /** What is to be written before anything else happens. */
  #unkept: Unkept | undefined
  /** Smaller once the destination said that a batch is too large. */
  #charsMax = SHIP_BATCH_CHARS_MAX
  /** The last of the refused entries that this round has sent again; undefined while there is no round. */
  #refusedDone: number | undefined = 0
  /** Whether the next step is one of that round, so that neither waits for the other. */
  #refusedNext = false

  constructor(deps: ShipStepsDeps) {
    this.#deps = deps
    this.#position = deps.state.position
    this.#batch = deps.state.batch
  }

  /** Every entry up to it is delivered, or refused for good. */
  get position(): number {
    return this.#position
  }

  /** Whether a step has something to do, whatever new entries there are. */
  get busy(): boolean {
    return this.#batch !== undefined || this.#unkept !== undefined || this.#refusedDone !== undefined
  }

  /** Begins to send again what was refused one by one. */
  retryRefused(): void {
    this.#refusedDone ??= 0
  }

  /** `whole`: a batch is begun with as many entries as go into one, not with fewer. */
  async step(whole: boolean, signal: AbortSignal): Promise<Step> {
    try {
      if (this.#unkept !== undefined) {
        const kept = await this.#keep(this.#unkept)
        if (!kept.ok) return failedStep(kept.error)
      }
      const refusedFirst = this.#refusedNext
      this.#refusedNext = false
      if (refusedFirst) {
        const again = await this.#sendRefused(signal)
        if (again.kind !== 'idle') return again
      }
      const sent = await this.#send(whole, signal)
      if (sent.kind === 'idle') return refusedFirst ? IDLE : await this.#sendRefused(signal)
      this.#refusedNext = this.#refusedDone !== undefined
      return sent
    } catch (error) {
      if (error instanceof Database.SqliteError) return failedStep(`the audit buffer cannot be read (${error.code})`)
      throw error
    }
  }

  async #keep(unkept: Unkept): Promise<Result<ShipBatch | undefined, string>> {
    this.#unkept = unkept
    const kept = await this.#deps.keep(unkept.change, unkept.batch)
    if (!kept.ok) return kept
    this.#unkept = undefined
    this.#position = unkept.change.position ?? this.#position
    this.#batch = kept.value
    return kept
  }

  /** The bounds of the next batch, or undefined where there is not enough for one. */
  #next(afterSeq: number, whole: boolean): NewBatch | undefined {
    const { items, full } = this.#deps.reader.after(afterSeq, this.#deps.settings.batchMax, this.#charsMax)
    return whole && !full ? undefined : newBatch(items)
  }

  async #send(whole: boolean, signal: AbortSignal): Promise<Step> {
    if (this.#batch === undefined) {
      const batch = this.#next(this.#position, whole)
      if (batch === undefined) return IDLE
      const kept = await this.#keep({ change: {}, batch })
      if (!kept.ok) return failedStep(kept.error)
    }
    const batch = this.#batch
    if (batch === undefined) return IDLE
    const settled = new Set(batch.settled)
    const items = this.#deps.reader.between(batch.from, batch.to).filter(({ seq }) => !settled.has(seq))
    // Somebody removed them from the buffer: verification says so, and the rest still goes out.
    if (items.length === 0) return this.#settle(batch, [], 0)
    const { from, to, round, head } = batch
    const { instance } = this.#deps
    const verdict = await this.#post(
      { id: batchId(instance, from, to, round), instance, from, to, head },
      items,
      signal,
    )
    return this.#conclude(batch, items, verdict)
  }

  async #post(facts: ShipFacts, items: readonly ShipItem[], signal: AbortSignal): Promise<Verdict> {
    const { settings, headers, deliver, nowMs } = this.#deps
    const list = headers.list()
    if (!list.ok) {
      return { kind: 'failed', reason: list.error, unauthorized: true, pauseMs: undefined, progress: false }
    }
    const { url, format, gzip, timeoutMs } = settings
    const perItem = format === 'elastic_bulk' ? SHIP_ANSWER_ITEM_BYTES_MAX * items.length : 0
    const attempt = await deliver(
      {
        url,
        headers: list.value,
        contentType: CONTENT_TYPES[format],
        id: facts.id,
        body: writeBody(format, facts, items),
        gzip,
        timeoutMs,
        answerBytesMax: SHIP_ANSWER_BYTES_MAX + perItem,
      },
      signal,
    )
    const sent = { entries: items.length, ids: documentIds(facts, items) }
    const verdict = judge(format, attempt, sent, nowMs())
    if (verdict.kind === 'failed' && verdict.unauthorized) headers.forget()
    return verdict
  }

  async #conclude(batch: ShipBatch, items: readonly ShipItem[], verdict: Verdict): Promise<Step> {
    switch (verdict.kind) {
      case 'taken':
        // What it took in one piece it may take a little more of.
        this.#charsMax = Math.min(SHIP_BATCH_CHARS_MAX, this.#charsMax + Math.ceil(this.#charsMax / 64))
        return this.#settle(batch, [], items.length)
      case 'parted':
        return this.#part(batch, items, verdict)
      case 'too_large':
        return this.#halve(batch, items)
      case 'failed':
        return failedStep(verdict.reason, verdict.pauseMs, verdict.progress)
      default:
        return unreachable(verdict)
    }
  }

  /** Every entry of the batch is delivered or refused: the next one takes its place in the same transaction. */
  async #settle(batch: ShipBatch, refused: readonly number[], entries: number): Promise<Step> {
    const kept = await this.#keep({ change: { position: batch.to, refused }, batch: this.#next(batch.to, true) })
    return kept.ok ? moved(entries) : failedStep(kept.error)
  }

  async #part(
    batch: ShipBatch,
    items: readonly ShipItem[],
    { refused, left, refusal, pauseMs }: Extract<Verdict, { kind: 'parted' }>,
  ): Promise<Step> {
    const refusedSeqs = refused.flatMap((place) => items[place]?.seq ?? [])
    const entries = items.length - refusedSeqs.length - left.length
    this.#tellRefused(
      refusedSeqs,
      refused.length > refusedSeqs.length ? `${refusal}, also of the chain's head` : refusal,
    )
    if (left.length === 0) return this.#settle(batch, refusedSeqs, entries)
    const open = new Set(left)
    const settled = [...batch.settled, ...items.flatMap(({ seq }, place) => (open.has(place) ? [] : [seq]))]
    const rest = { ...batch, round: batch.round + 1, settled }
    const kept = await this.#keep({ change: { refused: refusedSeqs }, batch: rest })
    if (!kept.ok) return failedStep(kept.error)
    return moved(entries, pauseMs)
  }

  #tellRefused(seqs: readonly number[], detail: string): void {
    const [firstSeq] = seqs
    if (firstSeq === undefined) return
    this.#deps.observe({ kind: 'audit.ship_refused', entries: seqs.length, firstSeq, detail })
  }

  /** Nothing of it was taken, so that its bounds may change: its first half is a batch, and the rest comes after it. */
  async #halve(batch: ShipBatch, items: readonly ShipItem[]): Promise<Step> {
    if (items.length === 1) {
      const refused = items.map(({ seq }) => seq)
      this.#tellRefused(refused, 'the destination answers that it is too large (HTTP 413)')
      return this.#settle(batch, refused, 0)
    }
    this.#charsMax = Math.ceil(charsOf(items) / 2)
    let count = 1
    for (let chars = charsOf(items.slice(0, 1)); count < items.length - 1; count++) {
      chars += items[count]?.line.length ?? 0
      if (chars > this.#charsMax) break
    }
    const kept = await this.#keep({ change: {}, batch: newBatch(items.slice(0, count)) })
    return kept.ok ? moved(0) : failedStep(kept.error)
  }

  /** Sends some of the refused entries again: together where the destination tells of each, else one by one. */
  async #sendRefused(signal: AbortSignal): Promise<Step> {
    if (this.#refusedDone === undefined) return IDLE
    const { reader, settings, instance } = this.#deps
    const countMax = settings.format === 'elastic_bulk' ? settings.batchMax : 1
    const { items } = reader.refusedAfter(this.#refusedDone, countMax, this.#charsMax)
    const bounds = newBatch(items)
    if (bounds === undefined) {
      this.#refusedDone = undefined
      return IDLE
    }
    const { from, to } = bounds
    const facts = { id: batchId(instance, from, to, 0), instance, from, to, head: undefined }
    const verdict = await this.#post(facts, items, signal)
    if (verdict.kind === 'failed') return failedStep(verdict.reason, verdict.pauseMs)
    this.#refusedDone = to
    const accepted = takenOf(items, verdict)
    const [firstSeq] = accepted
    if (firstSeq === undefined) return moved(0)
    const kept = await this.#keep({ change: { accepted }, batch: this.#batch })
    if (!kept.ok) return failedStep(kept.error)
    this.#deps.observe({ kind: 'audit.ship_accepted', entries: accepted.length, firstSeq })
    return moved(accepted.length)
  }
}

function takenOf(items: readonly ShipItem[], verdict: Exclude<Verdict, { kind: 'failed' }>): readonly number[] {
  switch (verdict.kind) {
    case 'taken':
      return items.map(({ seq }) => seq)
    case 'parted': {
      const not = new Set([...verdict.refused, ...verdict.left])
      return items.flatMap(({ seq }, place) => (not.has(place) ? [] : [seq]))
    }
    case 'too_large':
      return []
    default:
      return unreachable(verdict)
  }
}
