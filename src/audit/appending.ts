import { invariant } from '../core/assert.js'
import type { AuditRecord } from '../core/audit-entry.js'
import { ERRORS } from '../core/errors.js'
import { AUDIT_ENTRY_OVERHEAD_BYTES } from '../core/limits.js'
import { countName, type KeptCount, type ProvenBeside } from './beside-chain.js'
import type { Statements, Withheld } from './buffer-file.js'
import { type ChainHead, type SealedEntry, sealHead } from './chain.js'
import { intentText, type KeptIntent, type SealOptions, sealIntent, sealRecord } from './ledger.js'
import { addTo, type Seals } from './seals.js'

/** What the owner of an open buffer knows of it. A transaction makes another one of it, which counts when it is committed. */
export interface BufferState {
  readonly head: ChainHead
  /** Where the chain begins: the last entry that was deleted. */
  readonly first: ChainHead
  /** What the set of intents is made of, by id. */
  readonly announced: ReadonlyMap<string, Buffer>
  /** Rows of `withheld`, which nobody else may change. */
  readonly counts: ReadonlyMap<string, KeptCount>
  /** Entries that the shipper's destination refused. */
  readonly undelivered: number
  /** Of what intents, counts and those entries are made of. */
  readonly sum: Uint8Array
  /** Names of sinks that have a position. */
  readonly sinks: ReadonlySet<string>
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
function withheldRecord(
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

/** A buffer's chain, and the seals of what is kept beside it. */
export interface SealedBuffer extends SealOptions {
  readonly seals: Seals
}

/** The head of a buffer as it is stored. */
export function headText({ keys, instance, seals }: SealedBuffer, state: BufferState): string {
  const { head, announced, counts, undelivered, sinks, sum } = state
  return sealHead(keys, instance, {
    ...head,
    beside: {
      nonce: seals.nonce(),
      announced: announced.size,
      withheld: counts.size,
      undelivered,
      sinks: [...sinks].sort(),
      sum,
    },
  })
}

/** One transaction's additions to a buffer. */
export class Appending {
  readonly #statements: Statements
  readonly #seal: SealedBuffer
  readonly #before: BufferState
  readonly #strangerBytesMax: number
  readonly #announced: Map<string, Buffer>
  #counts: ReadonlyMap<string, KeptCount>
  readonly #sum: Uint8Array
  /** Counts that are to be written, by name. */
  readonly #counted = new Map<string, Withheld>()
  /** Whether the head that is stored is not of what there is now. */
  #moved = false
  readonly #sealed: SealedEntry[] = []
  #head: ChainHead
  #strangerBytes: number
  #bytes = 0

  constructor(statements: Statements, seal: SealedBuffer, before: BufferState, strangerBytesMax: number) {
    this.#statements = statements
    this.#seal = seal
    this.#before = before
    this.#strangerBytesMax = strangerBytesMax
    this.#announced = new Map(before.announced)
    this.#counts = before.counts
    this.#sum = Uint8Array.from(before.sum)
    this.#head = before.head
    this.#strangerBytes = before.strangerBytes
  }

  /** What it adds, about. */
  get bytes(): number {
    return this.#bytes
  }

  announce(intent: AuditRecord): void {
    const text = intentText(this.#seal, intent)
    const { id } = intent
    const timeMs = timeMsOf(intent)
    const { mac, element } = this.#seal.seals.intent(id, timeMs, text)
    const { changes } = this.#statements.announce.run(id, timeMs, text, mac, id)
    if (changes === 0) return
    this.#announced.set(id, element)
    addTo(this.#sum, element)
    this.#moved = true
    this.#bytes += text.length
  }

  #fulfil(id: string): void {
    const element = this.#announced.get(id)
    if (element === undefined) return
    this.#announced.delete(id)
    addTo(this.#sum, element)
    this.#moved = true
    this.#statements.fulfil.run(id)
  }

  append(record: AuditRecord): void {
    // First, so that the space of the intent is there for its outcome. Most records have none, and are not made to pay.
    this.#fulfil(record.id)
    const stranger = isStranger(record)
    if (stranger && this.#strangerBytes >= this.#strangerBytesMax) return this.#withhold(record)
    const bytes = this.#insert(sealRecord(this.#seal, this.#head, record), record.id, timeMsOf(record))
    if (!stranger || bytes === 0) return
    this.#statements.addStranger.run(this.#head.seq, bytes)
    this.#strangerBytes += bytes
  }

  /** What no process can tell any more becomes an entry that says so. */
  endIntent(intent: KeptIntent): void {
    this.#fulfil(intent.id)
    this.#insert(sealIntent(this.#seal, this.#head, intent), intent.id, intent.timeMs)
  }

  /** Counted instead of kept, which lasts as well as an entry, and takes no room however many come. */
  #withhold(record: AuditRecord): void {
    if (this.#statements.known.get(record.id) !== undefined) return
    const { connector = '', operation, code, count = 1 } = record
    const row = { connector, operation, code, count, since_ms: timeMsOf(record) }
    const name = countName(row)
    const before = this.#counted.get(name) ?? this.#counts.get(name)?.row
    const kept = before === undefined ? row : { ...before, count: before.count + count }
    this.#counted.set(name, kept)
  }

  /** What a row comes to is sealed once, at the end. */
  #sealCounts(): void {
    if (this.#counted.size === 0) return
    const counts = new Map(this.#counts)
    for (const [name, row] of this.#counted) {
      const before = counts.get(name)
      const { mac, element } = this.#seal.seals.withheld(row)
      if (before !== undefined) addTo(this.#sum, before.element)
      addTo(this.#sum, element)
      counts.set(name, { row, element })
      this.#statements.withhold.run(row.connector, row.operation, row.code, row.count, row.since_ms, mac)
    }
    this.#counts = counts
    this.#counted.clear()
    this.#moved = true
  }

  /** Refusals that were counted only become entries. */
  endWithheld(nowMs: number): void {
    const rows = [...this.#counts.values()]
    this.#forgetCounts()
    const { seq } = this.#head
    for (const [i, { row }] of rows.entries()) {
      this.append(withheldRecord(row, `${this.#seal.instance}-withheld-${seq}-${i}`, nowMs))
    }
  }

  #forgetCounts(): void {
    for (const { element } of this.#counts.values()) addTo(this.#sum, element)
    this.#counts = new Map()
    this.#counted.clear()
    this.#moved = true
    this.#statements.clearWithheld.run()
  }

  /** Leaves of what is kept beside the chain what is genuine, sealed as it is now. */
  settle({ lost, forged, unproven, sinks, positions, batch }: ProvenBeside): void {
    const { fulfil, sealIntent: seal, forgetLine, forgetUndelivered, put, drop } = this.#statements
    const { seals } = this.#seal
    for (const { id } of forged) fulfil.run(id)
    for (const seq of unproven) if (forgetLine.run(seq).changes === 0) forgetUndelivered.run(seq)
    for (const { id, time_ms: timeMs, body } of lost) seal.run(seals.intent(id, timeMs, String(body)).mac, id)
    const counts = [...this.#counts]
    this.#forgetCounts()
    for (const [name, { row }] of counts) this.#counted.set(name, row)
    for (const sink of sinks)
      put.run(`position.${sink}`, seals.position(sink, positions.get(sink) ?? this.#before.first.seq))
    if (batch === undefined) drop.run('ship.batch')
    else put.run('ship.batch', seals.batch(batch))
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
    const { seq, hash } = this.#head
    this.#sealCounts()
    const state: BufferState = {
      head: { seq, hash },
      first: this.#before.first,
      announced: this.#announced,
      counts: this.#counts,
      undelivered: this.#before.undelivered,
      sum: this.#sum,
      sinks: this.#before.sinks,
      strangerBytes: this.#strangerBytes,
    }
    if (this.#sealed.length > 0 || this.#moved) put.run('head', headText(this.#seal, state))
    if (this.#strangerBytes !== this.#before.strangerBytes) put.run('strangers', this.#strangerBytes)
    return { sealed: this.#sealed, state }
  }
}
