import { type AuditRecord, OUTCOME_LOST } from '../core/audit-entry.js'
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

/** What an intent is kept in: its columns, and the record as `intentText` wrote it. */
export interface KeptIntent {
  readonly id: string
  readonly timeMs: number
  readonly body: unknown
}

/** What an intent may say of its call. Who could write the buffer without the key could write anything into it. */
function toldBy(body: unknown): Partial<AuditRecord> {
  try {
    // Written by `intentText`, or by somebody else.
    const found = JSON.parse(String(body)) as Partial<AuditRecord> | null
    const { connector, epoch, request_id, trace_id, identity, key_id, roles } = found ?? {}
    const { client, address, tool, operation, target, plan, result_keys, duration_ms } = found ?? {}
    const told = { connector, epoch, request_id, trace_id, identity, key_id, roles, client, address }
    // Members without a value are left out.
    return JSON.parse(JSON.stringify({ ...told, tool, operation, target, plan, result_keys, duration_ms }))
  } catch {
    return {}
  }
}

/**
 * The entry of an intent whose outcome is not known any more: whatever the intent says, that nobody knows is all that is said of the
 * call's end. Its values were kept as configured when it was written. An intent that makes no entry leaves one that names it alone.
 */
export function sealIntent(options: SealOptions, head: ChainHead, { id, timeMs, body }: KeptIntent): SealedEntry {
  const kept = { ...options, keeping: { filters: 'full', writes: 'full', resultKeys: 'full' } } as const
  const end = {
    id,
    // A column holds whatever somebody puts there.
    time: new Date(Number.isSafeInteger(timeMs) && Math.abs(timeMs) <= TIME_MAX_MS ? timeMs : 0).toISOString(),
    decision: 'errored',
    code: 'DB_EFFECT_UNKNOWN',
    reason: OUTCOME_LOST,
    effect: 'unknown',
  } as const
  const bare = { operation: 'unknown', ...end, duration_ms: { total: 0 } } as const
  try {
    return sealRecord(kept, head, { ...bare, ...toldBy(body), ...end })
  } catch {
    return sealRecord(kept, head, bare)
  }
}

/** The last moment that a date can hold. */
const TIME_MAX_MS = 8_640_000_000_000_000

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
