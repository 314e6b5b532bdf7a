import type { AuditRecord } from '../core/audit-entry.js'
import { ok, type Result } from '../core/result.js'
import type { ValueKeeping } from '../threads/messages.js'
import { type ChainHead, type ChainKeys, digestFilterValue, GENESIS, type SealedEntry, sealEntry } from './chain.js'
import { recordMembers } from './entry-text.js'

/** Where records become entries: gives each its place in the instance's order and its link in the chain. */
export interface Ledger {
  readonly instance: string
  readonly head: ChainHead
  /**
   * Appends the records that are not there yet, all or none, and gives the new entries in order. A failure is a sentence,
   * and leaves order and chain as they were.
   */
  append(records: readonly AuditRecord[]): Result<readonly SealedEntry[], string>
  /** Whether an append could succeed now, found out by trying to write. */
  probe(): Result<void, string>
  close(): void
}

export interface SealOptions {
  readonly keys: ChainKeys
  readonly instance: string
  readonly keeping: ValueKeeping
}

/** The entry of one record as the successor of `head`. */
export function sealRecord(
  { keys, instance, keeping }: SealOptions,
  head: ChainHead,
  record: AuditRecord,
): SealedEntry {
  const digest = (column: string, value: string) =>
    digestFilterValue(keys, { connector: record.connector, target: record.target, column }, value)
  return sealEntry(keys, head, recordMembers(record, instance, keeping, digest))
}

/**
 * The order of one process that keeps no buffer. Durability is the sink's alone, and ids are not remembered: what a dead
 * worker wrote but did not acknowledge is written again by the next one, which is an instance of its own.
 */
export class MemoryLedger implements Ledger {
  readonly #options: SealOptions
  #head: ChainHead = GENESIS

  constructor(options: SealOptions) {
    this.#options = options
  }

  get instance(): string {
    return this.#options.instance
  }

  get head(): ChainHead {
    return this.#head
  }

  append(records: readonly AuditRecord[]): Result<readonly SealedEntry[], string> {
    const sealed: SealedEntry[] = []
    let head = this.#head
    for (const record of records) {
      const entry = sealRecord(this.#options, head, record)
      sealed.push(entry)
      head = entry
    }
    this.#head = { seq: head.seq, hash: head.hash }
    return ok(sealed)
  }

  probe(): Result<void, string> {
    return ok(undefined)
  }

  close(): void {}
}
