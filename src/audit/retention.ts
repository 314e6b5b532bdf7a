import { AUDIT_DELETE_STEP_MAX_ROWS, AUDIT_DELETE_STEP_MIN_ROWS, AUDIT_DELETE_STEP_MS } from '../core/limits.js'
import type { BufferState } from './appending.js'
import type { Statements } from './buffer-file.js'
import {
  type ChainHead,
  type ChainKeys,
  type Checkpoint,
  GENESIS,
  openCheckpoint,
  readLink,
  sealCheckpoint,
} from './chain.js'
import type { ForgottenEntries } from './notes.js'
import type { Seals } from './seals.js'

export interface RetentionRules {
  readonly retainMs: number
  readonly onFull: 'prune' | 'block'
  /** Entries are delivered somewhere: none goes before it is. */
  readonly ships: boolean
}

/** What deletions since the last entry about them come to. */
export interface DeletedEntries {
  readonly fromSeq: number
  readonly toSeq: number
  readonly reason: Checkpoint['reason']
  /** Entries that were gone already when their turn came: somebody else had removed them. */
  readonly missing: number
}

const TIME = /^\{"seq":\d{1,15},"id":"(?:[^"\\]|\\.)*","time":"([^"\\]{1,40})"/

/** An entry that was made with the key and stands where it was written, with the time that is sealed in it. */
interface ProvenEntry extends ChainHead {
  readonly timeMs: number
}

interface ToGo {
  /** Absent where nothing may go. */
  readonly last: ProvenEntry | undefined
  readonly reason: Checkpoint['reason']
}

/**
 * What may leave a buffer, from its oldest entry on: entries that are older than they are to be kept, or as many as make room; with a
 * shipper none that it has not delivered. None goes that was not made with the key or does not follow from the one before it: the
 * checkpoint that is sealed over it would vouch for what somebody else did. An entry that its destination refused leaves its line behind in `undelivered`.
 */
export class Retention {
  readonly #statements: Statements
  readonly #keys: ChainKeys
  readonly #seals: Seals
  readonly #instance: string
  readonly #rules: RetentionRules
  readonly #monotonicMs: () => number
  #rows = AUDIT_DELETE_STEP_MIN_ROWS

  constructor(
    statements: Statements,
    chain: { readonly keys: ChainKeys; readonly instance: string; readonly seals: Seals },
    rules: RetentionRules,
    monotonicMs: () => number,
  ) {
    this.#statements = statements
    this.#keys = chain.keys
    this.#seals = chain.seals
    this.#instance = chain.instance
    this.#rules = rules
    this.#monotonicMs = monotonicMs
  }

  /** Where the chain begins as the buffer says it; undefined when it says something that was not made with its keys. */
  readFirst(): Pick<Checkpoint, 'seq' | 'hash'> | undefined {
    const sealed = this.#statements.get.get('checkpoint')
    if (sealed === undefined) return GENESIS
    return typeof sealed === 'string' ? openCheckpoint(this.#keys, this.#instance, sealed) : undefined
  }

  /** Whether entries may go for nothing but room. */
  get prunes(): boolean {
    return this.#rules.onFull === 'prune'
  }

  /** Whether a step would delete anything: looks at the oldest entry alone. */
  isDue({ first }: BufferState, nowMs: number, rowsForRoom: number): boolean {
    return this.#lastToGo(this.#proven(first, 1), nowMs, rowsForRoom).last !== undefined
  }

  /**
   * Deletes some of the oldest entries that may go, as many as take about `AUDIT_DELETE_STEP_MS`, within the caller's transaction, and
   * moves the checkpoint. `rowsForRoom`: how many may go although they are young enough. Gives the state to go on from and how many went: none when none may.
   */
  step(
    state: BufferState,
    nowMs: number,
    rowsForRoom: number,
  ): { readonly state: BufferState; readonly deleted: number } {
    const startMs = this.#monotonicMs()
    const { last: end, reason } = this.#lastToGo(this.#proven(state.first, this.#rows), nowMs, rowsForRoom)
    if (end === undefined) return { state, deleted: 0 }
    const { rescueUndelivered, deleteUpTo, strangersUpTo, deleteStrangersUpTo, put } = this.#statements
    const { seq: last, hash } = end
    rescueUndelivered.run(last)
    const deleted = deleteUpTo.run(last).changes
    const strangerBytes = Math.max(0, state.strangerBytes - (strangersUpTo.get(last) ?? 0))
    deleteStrangersUpTo.run(last)
    if (strangerBytes !== state.strangerBytes) put.run('strangers', strangerBytes)
    const time = new Date(nowMs).toISOString()
    put.run('checkpoint', sealCheckpoint(this.#keys, { instance: this.#instance, seq: last, hash, time, reason }))
    const missing = last - state.first.seq - deleted
    if (missing > 0) put.run('checkpoint.missing', this.#missing() + missing)
    this.#adapt(this.#monotonicMs() - startMs)
    return { state: { ...state, first: { seq: last, hash }, strangerBytes }, deleted }
  }

  /** The oldest entries, up to the first that is not what the gateway wrote there. One that is missing is counted when it is passed. */
  #proven(first: ChainHead, rowsMax: number): readonly ProvenEntry[] {
    const proven: ProvenEntry[] = []
    let before = first
    for (const { seq, body } of this.#statements.oldest.all(rowsMax)) {
      const { link } = typeof body === 'string' ? readLink(this.#keys, body) : {}
      if (link === undefined || typeof body !== 'string') break
      const follows = link.seq > before.seq + 1 || (link.seq === before.seq + 1 && link.prevHash === before.hash)
      if (link.seq !== seq || link.instance !== this.#instance || !follows) break
      const { hash } = link
      proven.push({ seq, hash, timeMs: Date.parse(TIME.exec(body)?.[1] ?? '') })
      before = { seq, hash }
    }
    return proven
  }

  #lastToGo(oldest: readonly ProvenEntry[], nowMs: number, rowsForRoom: number): ToGo {
    const { ships, retainMs } = this.#rules
    const toSeq = ships ? this.#delivered() : Number.POSITIVE_INFINITY
    const tooYoung = oldest.findIndex(({ seq, timeMs }) => seq > toSeq || !(timeMs < nowMs - retainMs))
    const old = tooYoung === -1 ? oldest.length : tooYoung
    if (old > 0) return { last: oldest[old - 1], reason: ships ? 'delivered' : 'retention' }
    const kept = oldest.findIndex(({ seq }) => seq > toSeq)
    const rows = Math.min(rowsForRoom, kept === -1 ? oldest.length : kept)
    return { last: oldest[rows - 1], reason: 'room' }
  }

  #delivered(): number {
    return this.#seals.openPosition('shipper', this.#statements.get.get('position.shipper')) ?? 0
  }

  #missing(): number {
    const missing = this.#statements.get.get('checkpoint.missing')
    return typeof missing === 'number' ? missing : 0
  }

  /** A step costs what the disk and the size of entries make it cost, so that its length is learnt. */
  #adapt(tookMs: number): void {
    if (tookMs > AUDIT_DELETE_STEP_MS) this.#rows = Math.max(AUDIT_DELETE_STEP_MIN_ROWS, Math.floor(this.#rows / 2))
    else if (tookMs < AUDIT_DELETE_STEP_MS / 3) this.#rows = Math.min(AUDIT_DELETE_STEP_MAX_ROWS, this.#rows * 2)
  }

  /** Entries that were refused went for good, within the caller's transaction. */
  forgot(seqs: readonly number[]): void {
    const [first] = seqs
    if (first === undefined) return
    const before = this.forgotten()
    const forgotten: ForgottenEntries = {
      fromSeq: Math.min(first, before?.fromSeq ?? first),
      toSeq: Math.max(...seqs, before?.toSeq ?? 0),
      entries: seqs.length + (before?.entries ?? 0),
    }
    this.#statements.put.run('undelivered.forgotten', JSON.stringify(forgotten))
  }

  /** What of that no entry tells of yet. */
  forgotten(): ForgottenEntries | undefined {
    const text = this.#statements.get.get('undelivered.forgotten')
    if (typeof text !== 'string') return undefined
    try {
      // Written by `forgot`, or by somebody else.
      const { fromSeq, toSeq, entries } = JSON.parse(text) as Partial<ForgottenEntries>
      if (typeof fromSeq !== 'number' || typeof toSeq !== 'number' || typeof entries !== 'number') return undefined
      return { fromSeq, toSeq, entries }
    } catch {
      return undefined
    }
  }

  /** Within the transaction that keeps the entry about them. */
  forgottenNoted(): void {
    this.#statements.drop.run('undelivered.forgotten')
  }

  /** Deletions that no entry tells of yet. */
  unnoted(): DeletedEntries | undefined {
    const { get } = this.#statements
    const sealed = get.get('checkpoint')
    const checkpoint = typeof sealed === 'string' ? openCheckpoint(this.#keys, this.#instance, sealed) : undefined
    const noted = get.get('checkpoint.noted')
    const from = typeof noted === 'number' ? noted : 0
    if (checkpoint === undefined || checkpoint.seq <= from) return undefined
    return { fromSeq: from + 1, toSeq: checkpoint.seq, reason: checkpoint.reason, missing: this.#missing() }
  }

  /** Within the transaction that keeps the entry about them. */
  noted({ toSeq }: DeletedEntries): void {
    this.#statements.put.run('checkpoint.noted', toSeq)
    this.#statements.drop.run('checkpoint.missing')
  }
}
