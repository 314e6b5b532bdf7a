import { invariant } from '../core/assert.js'
import type { AuditRecord } from '../core/audit-entry.js'
import { ERRORS } from '../core/errors.js'
import { AUDIT_ENTRY_OVERHEAD_BYTES } from '../core/limits.js'
import type { Statements, Withheld } from './buffer-file.js'
import { type ChainHead, type SealedEntry, sealHead } from './chain.js'
import { intentText, type KeptIntent, type SealOptions, sealIntent, sealRecord } from './ledger.js'

/** What the owner of an open buffer knows of it. A transaction makes another one of it, which counts when it is committed. */
export interface BufferState {
  readonly head: ChainHead
  /** Where the chain begins: the last entry that was deleted. */
  readonly first: ChainHead
  /** Ids in `intents`. */
  readonly announced: ReadonlySet<string>
  /** What entries of whoever has no identity take. */
  readonly strangerBytes: number
}

/** A refusal of somebody whom nobody knows: the only entries that anybody at all can cause. */
export function isStranger({ identity, operation }: AuditRecord): boolean {
  return identity === undefined && (operation === 'request' || operation === 'admin')
}

function timeMsOf(record: AuditRecord): number {
  const timeMs = Date.parse(record.time)
  invariant(!Number.isNaN(timeMs), 'a record has a time in ISO 8601')
  return timeMs
}

/** The entry of refusals that were counted without entries of their own. */
export function withheldRecord(
  { connector, operation, code, count, since_ms: sinceMs }: Withheld,
  id: string,
  nowMs: number,
): AuditRecord {
  return {
    id,
    time: new Date(nowMs).toISOString(),
    ...(connector !== '' && { connector }),
    operation,
    decision: code === 'OK' ? 'allowed' : ERRORS[code].decision,
    code,
    effect: 'none',
    detail: { since: new Date(sinceMs).toISOString() },
    count,
    duration_ms: { total: 0 },
  }
}

/** One transaction's additions to a buffer. */
export class Appending {
  readonly #statements: Statements
  readonly #seal: SealOptions
  readonly #before: BufferState
  readonly #strangerBytesMax: number
  readonly #announced: Set<string>
  readonly #sealed: SealedEntry[] = []
  #head: ChainHead
  #strangerBytes: number
  #bytes = 0

  constructor(statements: Statements, seal: SealOptions, before: BufferState, strangerBytesMax: number) {
    this.#statements = statements
    this.#seal = seal
    this.#before = before
    this.#strangerBytesMax = strangerBytesMax
    this.#announced = new Set(before.announced)
    this.#head = before.head
    this.#strangerBytes = before.strangerBytes
  }

  /** What it adds, about. */
  get bytes(): number {
    return this.#bytes
  }

  announce(intent: AuditRecord): void {
    const text = intentText(this.#seal, intent)
    const { changes } = this.#statements.announce.run(intent.id, timeMsOf(intent), text, intent.id)
    if (changes === 0) return
    this.#announced.add(intent.id)
    this.#bytes += text.length
  }

  append(record: AuditRecord): void {
    // First, so that the space of the intent is there for its outcome. Most records have none, and are not made to pay.
    if (this.#announced.delete(record.id)) this.#statements.fulfil.run(record.id)
    const stranger = isStranger(record)
    if (stranger && this.#strangerBytes >= this.#strangerBytesMax) return this.#withhold(record)
    const bytes = this.#insert(sealRecord(this.#seal, this.#head, record), record.id, timeMsOf(record))
    if (!stranger || bytes === 0) return
    this.#statements.addStranger.run(this.#head.seq, bytes)
    this.#strangerBytes += bytes
  }

  /** What no process can tell any more becomes an entry that says so. */
  endIntent(intent: KeptIntent): void {
    const { id, timeMs } = intent
    this.#announced.delete(id)
    this.#statements.fulfil.run(id)
    this.#insert(sealIntent(this.#seal, this.#head, intent), id, timeMs)
  }

  /** Counted instead of kept, which lasts as well as an entry, and takes no room however many come. */
  #withhold(record: AuditRecord): void {
    if (this.#statements.known.get(record.id) !== undefined) return
    const { connector = '', operation, code, count = 1 } = record
    this.#statements.withhold.run(connector, operation, code, count, timeMsOf(record))
  }

  /** A known id changes nothing and takes no number: the batch came twice, and its entry is there. Gives the bytes that it takes. */
  #insert(entry: SealedEntry, id: string, timeMs: number): number {
    if (this.#statements.insert.run(entry.seq, id, timeMs, entry.line).changes === 0) return 0
    this.#sealed.push(entry)
    this.#head = entry
    const bytes = entry.line.length + 2 * id.length + AUDIT_ENTRY_OVERHEAD_BYTES
    this.#bytes += bytes
    return bytes
  }

  /** Writes what goes with the entries, and gives them and the state to go on from once the transaction is committed. */
  finish(): { readonly sealed: readonly SealedEntry[]; readonly state: BufferState } {
    const { put } = this.#statements
    const { keys, instance } = this.#seal
    const { seq, hash } = this.#head
    if (this.#sealed.length > 0) put.run('head', sealHead(keys, instance, { seq, hash }))
    if (this.#strangerBytes !== this.#before.strangerBytes) put.run('strangers', this.#strangerBytes)
    return {
      sealed: this.#sealed,
      state: {
        head: { seq, hash },
        first: this.#before.first,
        announced: this.#announced,
        strangerBytes: this.#strangerBytes,
      },
    }
  }
}
