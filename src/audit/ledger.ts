import type { AuditRecord } from '../core/audit-entry.js'
import { fail, ok, type Result } from '../core/result.js'
import {
  type ChainHead,
  type ChainKeys,
  digestFilterValue,
  digestRowKey,
  GENESIS,
  type SealedEntry,
  sealEntry,
} from './chain.js'
import { type Digests, type Keeping, keptRecord, recordMembers } from './entry-text.js'

/** Where records become entries: gives each its place in the instance's order and its link in the chain. */
export interface Ledger {
  readonly instance: string
  readonly head: ChainHead
  /**
   * Keeps the intents, then appends the records that are not there yet, each in the place of its intent; all or none. Gives
   * the new entries in order. A failure is a sentence, and leaves order and chain as they were.
   */
  append(records: readonly AuditRecord[], intents?: readonly AuditRecord[]): Result<readonly SealedEntry[], string>
  /** Whether an append could succeed now, found out by trying to write. */
  probe(): Result<void, string>
  close(): void
}

export interface SealOptions {
  readonly keys: ChainKeys
  readonly instance: string
  readonly keeping: Keeping
}

function digestsFor({ keys }: SealOptions, record: AuditRecord): Digests {
  const { connector, target } = record
  return {
    value: (column, value) => digestFilterValue(keys, { connector, target, column }, value),
    rowKey: (table, key) => digestRowKey(keys, { connector, table }, key),
  }
}

/** The entry of one record as the successor of `head`. */
export function sealRecord(options: SealOptions, head: ChainHead, record: AuditRecord): SealedEntry {
  const { keys, instance, keeping } = options
  return sealEntry(keys, head, recordMembers(record, instance, keeping, digestsFor(options, record)))
}

/** An intent as text: the record its entry is made of when no outcome ever comes, values kept as configured. */
export function intentText(options: SealOptions, record: AuditRecord): string {
  return JSON.stringify(keptRecord(record, options.keeping, digestsFor(options, record)))
}

/** The entry of an intent whose outcome is not known any more. Its values were kept as configured when it was written. */
export function sealIntent(options: SealOptions, head: ChainHead, text: string): SealedEntry {
  // Written by `intentText` alone.
  const record = JSON.parse(text) as AuditRecord
  return sealRecord({ ...options, keeping: { filters: 'full', writes: 'full', resultKeys: 'full' } }, head, record)
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

  append(
    records: readonly AuditRecord[],
    intents: readonly AuditRecord[] = [],
  ): Result<readonly SealedEntry[], string> {
    if (intents.length > 0) return fail('intents need an audit buffer')
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
