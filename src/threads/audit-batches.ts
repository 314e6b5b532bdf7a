import type { AuditRecord } from '../core/audit-entry.js'

export type OnDurable = (durable: boolean) => void

/**
 * `intents`: may be refused for want of space for their outcomes, while entries are taken. `outcomes`: of announced calls alone, which
 * a full buffer takes although it takes nothing else. `waited`: of records that waited while the trail took none.
 */
export type BatchKind = 'calls' | 'intents' | 'outcomes' | 'waited'

/** Records of one event-loop turn with their listeners, which stay on this thread. */
export interface Batch {
  readonly kind: BatchKind
  readonly records: AuditRecord[]
  readonly intents: AuditRecord[]
  readonly onRecords: OnDurable[]
  readonly onIntents: OnDurable[]
  readonly deadlineMs: number
}

/** Numbered as it is sent: an acknowledgement covers everything that was sent before. */
export interface SentBatch extends Batch {
  readonly number: number
}

export function newBatch(kind: BatchKind, deadlineMs: number): Batch {
  return { kind, records: [], intents: [], onRecords: [], onIntents: [], deadlineMs }
}

/** Batches on their way to the audit thread: those that this turn fills, and those that are not answered yet. */
export class AuditBatches {
  /** At most one of a kind. */
  readonly #open: Batch[] = []
  #sent: SentBatch[] = []
  #count = 0

  /** Sent or to be sent, oldest first. */
  get unanswered(): readonly SentBatch[] {
    return this.#sent
  }

  /** Whether nothing is on its way. */
  get idle(): boolean {
    return this.#open.length === 0 && this.#sent.length === 0
  }

  /** Whether this turn has filled any. */
  get filling(): boolean {
    return this.#open.length > 0
  }

  /** The batch of this turn for records of a kind. */
  openOf(kind: BatchKind, deadlineMs: number): Batch {
    const open = this.#open.find((batch) => batch.kind === kind)
    if (open !== undefined) return open
    const batch = newBatch(kind, deadlineMs)
    this.#open.push(batch)
    return batch
  }

  /** Ends the turn: what it filled is to be sent. */
  takeOpen(): readonly Batch[] {
    return this.#open.splice(0)
  }

  number(batch: Batch): SentBatch {
    this.#count += 1
    const sent = { ...batch, number: this.#count }
    this.#sent.push(sent)
    return sent
  }

  /** Takes out the oldest for as long as they are of those. */
  takeWhile(belongs: (batch: SentBatch) => boolean): readonly SentBatch[] {
    const end = this.#sent.findIndex((batch) => !belongs(batch))
    return this.#sent.splice(0, end === -1 ? this.#sent.length : end)
  }

  takeNumber(number: number): readonly SentBatch[] {
    const index = this.#sent.findIndex((batch) => batch.number === number)
    return index === -1 ? [] : this.#sent.splice(index, 1)
  }
}
