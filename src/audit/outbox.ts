import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { AuditRecord } from '../core/audit-entry.js'
import {
  AUDIT_DELETE_STEP_MAX_ROWS,
  AUDIT_MAKE_ROOM_MAX_MS,
  AUDIT_OUTCOME_BYTES,
  AUDIT_PROBE_BYTES,
  AUDIT_STRANGERS_FOLD_RATIO,
  AUDIT_STRANGERS_RATIO,
  AUDIT_UNDELIVERED_RATIO,
  AUDIT_WAL_RESTART_BYTES,
} from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { SqliteFiles } from '../storage/sqlite-files.js'
import type { BufferSettings } from '../threads/messages.js'
import { Appending, type BufferState, headText, type SealedBuffer } from './appending.js'
import type { Tampering } from './beside-chain.js'
import { connectBuffer, prepareStatements, restartWal, type Statements, sentence, Unusable } from './buffer-file.js'
import { BufferRoom } from './buffer-room.js'
import { type OpenedState, readInstance, readState } from './buffer-state.js'
import type { ChainHead, ChainKeys, EntryLine, SealedEntry } from './chain.js'
import type { Keeping } from './entry-text.js'
import type { Ledger } from './ledger.js'
import { forgottenNote, noteRecord, tamperedNotes } from './notes.js'
import { acquireProcessLock, type ProcessLock } from './process-lock.js'
import { Retention } from './retention.js'
import { addTo, Seals } from './seals.js'
import { ShipBook } from './ship/ship-book.js'

export interface OutboxOptions extends BufferSettings {
  readonly keys: ChainKeys
  readonly keeping: Keeping
  /** Whether intents that are found belong to calls that can have no outcome any more. */
  readonly intentsAreLost: boolean
  /** Whether a shipper delivers the entries, so that none goes before it is delivered. Default: no. */
  readonly ships?: boolean
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Monotonic milliseconds; `performance.now` by default. */
  readonly monotonicMs?: () => number
  /** What the disk would still take; as the file system says, by default. */
  readonly freeBytes?: (folder: string) => number | undefined
  /** Names the instance of a new buffer. */
  readonly newInstance: () => string
}

/** The durable buffer, of one owner: entries in their chain, intents, and what the sinks have come to. */
export class Outbox implements Ledger {
  readonly #path: string
  readonly #db: Database.Database
  readonly #statements: Statements
  readonly #lock: ProcessLock
  readonly #options: OutboxOptions
  readonly #monotonicMs: () => number
  readonly #seal: SealedBuffer
  /** What somebody without the key had changed beside the chain when the buffer was opened. Each has a note. */
  readonly tampered: readonly Tampering[]
  readonly #files: SqliteFiles
  readonly #retention: Retention
  readonly #room: BufferRoom
  #state: BufferState
  /** Whether deletion for room is under way: it goes on to a lower mark than the one it begins at. */
  #makingRoom = false
  /** Whether its chain began when it was opened. */
  readonly isNew: boolean

  private constructor(path: string, db: Database.Database, lock: ProcessLock, options: OutboxOptions) {
    this.#path = path
    this.#db = db
    this.#lock = lock
    this.#options = options
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now())
    const statements = prepareStatements(db)
    this.#statements = statements
    const { keys, keeping, retainMs, onFull, ships = false } = options
    this.isNew = statements.get.get('instance') === undefined
    const instance = readInstance(db, statements, options)
    this.#seal = { keys, keeping, instance, seals: new Seals({ keys, instance }) }
    this.#retention = new Retention(statements, this.#seal, { retainMs, onFull, ships }, this.#monotonicMs)
    const opened = readState(db, statements, this.#seal, this.#retention.readFirst())
    this.#state = opened.state
    this.tampered = opened.found.tampered
    // Shows at start, not at the first call, that the folder or the file cannot be written.
    statements.put.run('opened_ms', options.nowMs())
    this.#files = new SqliteFiles(path)
    this.#room = new BufferRoom({
      path,
      onFull,
      bytesMax: options.bytesMax,
      pageBytes: Number(db.pragma('page_size', { simple: true })),
      usedPages: () => statements.usedPages.get() ?? 0,
      ...(options.freeBytes && { freeBytes: options.freeBytes }),
    })
    this.#settle(opened)
  }

  /** Opens or makes the buffer. Fails with one sentence: in use, not writable, not a buffer, made with another key. */
  static open(options: OutboxOptions): Result<Outbox, string> {
    const named = `audit.buffer.path "${options.path}"`
    let lock: ProcessLock | undefined
    let db: Database.Database | undefined
    try {
      // Two names of one file are one buffer, so the lock stands beside the real one.
      const path = existsSync(options.path)
        ? realpathSync(options.path)
        : join(realpathSync(dirname(options.path)), basename(options.path))
      const names = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1
      if (names > 1) {
        return fail(
          `${named} has ${names} names (hard links), and SQLite keeps a log beside each of them: remove the others, or make a copy and use that`,
        )
      }
      const locked = acquireProcessLock(`${path}.lock`)
      if (!locked.ok) return fail(`${named} is in use by another running gateway: each needs a buffer of its own`)
      lock = locked.value
      db = connectBuffer(path, options.durability)
      return ok(new Outbox(path, db, lock, options))
    } catch (error) {
      db?.close()
      lock?.release()
      return fail(`${named} cannot be used: ${sentence(error)}`)
    }
  }

  get instance(): string {
    return this.#seal.instance
  }

  get head(): ChainHead {
    return this.#state.head
  }

  /** The last entry that was deleted, where the chain begins. */
  get first(): ChainHead {
    return this.#state.first
  }

  /** Entries that are there. */
  get entries(): number {
    const firstSeq = this.#statements.firstSeq.get() ?? 0
    return firstSeq === 0 ? 0 : this.head.seq - firstSeq + 1
  }

  /** Whether the disk has so little left that only some calls that write are let go, or none. */
  get spaceLow(): boolean {
    return this.#room.spaceLow
  }

  get fillRatio(): number {
    return this.#room.fillRatio(this.#reservedBytes)
  }

  /** Whether refusals of strangers take nearly as much as they may, and are to be folded from the first on. */
  get strangersFull(): boolean {
    return this.#state.strangerBytes >= this.#strangerBytesMax * AUDIT_STRANGERS_FOLD_RATIO
  }

  get #strangerBytesMax(): number {
    return this.#room.capacityBytes * AUDIT_STRANGERS_RATIO
  }

  /** What the outcomes of announced calls may take; a buffer is full when no more than that is left. */
  get #reservedBytes(): number {
    return this.#state.announced.size * AUDIT_OUTCOME_BYTES
  }

  /** Whether there is nothing but outcomes of calls that were announced, which are always taken. */
  owes(records: readonly AuditRecord[], intents: readonly AuditRecord[]): boolean {
    return intents.length === 0 && records.length > 0 && records.every(({ id }) => this.#state.announced.has(id))
  }

  /**
   * A buffer at its bound makes room where it may, and else takes nothing more, but for outcomes of calls that were announced: a
   * change that was let go always has its entry.
   */
  append(
    records: readonly AuditRecord[],
    intents: readonly AuditRecord[] = [],
  ): Result<readonly SealedEntry[], string> {
    const owed = this.owes(records, intents)
    if (!owed && !this.#hasRoom(records.length, intents.length)) return fail(this.#room.fullSentence)
    const announceable = this.mayAnnounce(intents.length)
    if (!announceable.ok) return announceable
    const body = (appending: Appending) => {
      for (const intent of intents) appending.announce(intent)
      for (const record of records) appending.append(record)
    }
    const appended = this.#append(body)
    return appended.ok || !owed || !this.#room.releaseReserve() ? appended : this.#append(body)
  }

  /** Whether there is space for the outcomes of so many more announced calls, should the disk be full by then. */
  mayAnnounce(calls: number): Result<void, string> {
    if (calls === 0 || this.#room.canAnnounce(this.#state.announced.size + calls)) return ok(undefined)
    return fail(this.#room.lowSentence)
  }

  #append(body: (appending: Appending) => void): Result<readonly SealedEntry[], string> {
    const appending = new Appending(this.#statements, this.#seal, this.#state, this.#strangerBytesMax)
    let sealed: readonly SealedEntry[] = []
    let state = this.#state
    const done = this.#write(() => {
      body(appending)
      ;({ sealed, state } = appending.finish())
    })
    if (!done.ok) return done
    this.#state = state
    this.#room.added(appending.bytes)
    return ok(sealed)
  }

  /**
   * Whether there is room for more. Where entries may go, so many go that the group fits, within `AUDIT_MAKE_ROOM_MAX_MS`; where none may,
   * the group that meets the bound passes it.
   */
  #hasRoom(records: number, intents: number): boolean {
    const reserved = this.#reservedBytes + intents * AUDIT_OUTCOME_BYTES
    const expected = (records + intents) * this.#room.entryBytes(this.#entriesAbout)
    if (!this.#room.isFull(reserved + expected)) return true
    this.#room.measureUsed()
    const endsAtMs = this.#monotonicMs() + AUDIT_MAKE_ROOM_MAX_MS
    while (this.#room.isFull(reserved + expected) && this.#monotonicMs() < endsAtMs) {
      if (this.#deleteStep(reserved + expected) === 0) break
    }
    return !this.#room.isFull(reserved)
  }

  /** Unlike `entries` it costs nothing, and counts those that somebody removed. */
  get #entriesAbout(): number {
    return this.head.seq - this.first.seq
  }

  /**
   * What no process can tell any more becomes an entry that says so, and what somebody changed beside the chain a note; a failure leaves all
   * of it for the next start.
   */
  #settle({ found, unsettled }: OpenedState): void {
    const { intentsAreLost, nowMs } = this.#options
    const lost = intentsAreLost ? found.lost : []
    if (lost.length === 0 && !unsettled) return
    const { seq } = this.head
    const done = this.#append((appending) => {
      if (unsettled) appending.settle(found)
      for (const note of tamperedNotes(found.tampered, { instance: this.instance, seq, timeMs: nowMs() })) {
        appending.append(note)
      }
      for (const { id, time_ms: timeMs, body } of lost) appending.endIntent({ id, timeMs, body })
    })
    if (!done.ok) throw new Unusable(done.error)
  }

  /** Writes more than any page at hand can take and removes it again, so that a full disk is not taken for a free one. */
  probe(): Result<void, string> {
    if (!this.#hasRoom(1, 0)) return fail(this.#room.fullSentence)
    const written = this.#write(() => this.#statements.put.run('probe', Buffer.alloc(AUDIT_PROBE_BYTES)))
    return written.ok ? this.#write(() => this.#statements.drop.run('probe')) : written
  }

  /**
   * One short step of what is to be done from time to time: old entries go, room is made, counted refusals become entries. Says
   * whether there is more to do at once, and gives entries that it made.
   */
  upkeep(): { readonly more: boolean; readonly sealed: readonly SealedEntry[] } {
    this.#room.measure()
    this.#room.fillReserve()
    const deleted = this.#deleteStep(this.#reservedBytes)
    if (deleted > 0) return { more: true, sealed: [] }
    if (this.#room.walBytes >= AUDIT_WAL_RESTART_BYTES) restartWal(this.#db)
    return { more: false, sealed: this.#endWithheld() }
  }

  /** Gives how many entries went. `neededBytes`: what is to fit in. */
  #deleteStep(neededBytes: number): number {
    const excess = this.#retention.prunes ? this.#room.excessBytes(neededBytes, this.#makingRoom) : 0
    this.#makingRoom = excess > 0
    const rowsForRoom = Math.ceil(excess / Math.max(1, this.#room.entryBytes(this.#entriesAbout)))
    const nowMs = this.#options.nowMs()
    const forgotten = excess > 0 ? this.#forgetUndelivered(rowsForRoom) : 0
    if (forgotten > 0) return forgotten
    if (!this.#retention.isDue(this.#state, nowMs, rowsForRoom)) return 0
    let next: ReturnType<Retention['step']> = { state: this.#state, deleted: 0 }
    const done = this.#write(() => {
      next = this.#retention.step(this.#state, nowMs, rowsForRoom)
    })
    if (!done.ok) return 0
    this.#state = next.state
    this.#room.measureUsed()
    return next.deleted
  }

  /**
   * Where room is made, entries that the destination refused may not take all of it: of those that are there for nothing but that, the
   * oldest go. Gives how many went.
   */
  #forgetUndelivered(rows: number): number {
    const { undelivered } = this.#state
    if (undelivered <= AUDIT_UNDELIVERED_RATIO * (this.#entriesAbout + undelivered)) return 0
    const { oldestUndelivered, forgetUndelivered } = this.#statements
    let forgotten = 0
    const done = this.#change(() => {
      const seqs = oldestUndelivered.all(Math.min(rows, AUDIT_DELETE_STEP_MAX_ROWS))
      for (const seq of seqs) {
        forgetUndelivered.run(seq)
        this.#countUndelivered(seq, -1)
      }
      this.#retention.forgot(seqs)
      forgotten = seqs.length
    })
    if (!done.ok) return 0
    this.#room.measureUsed()
    return forgotten
  }

  /** The entries about what was deleted since the last ones, where anything was. */
  noteDeleted(): readonly SealedEntry[] {
    return [...this.#noteForgotten(), ...this.#noteCheckpoint()]
  }

  #noteForgotten(): readonly SealedEntry[] {
    const forgotten = this.#retention.forgotten()
    if (forgotten === undefined) return []
    const chain = { instance: this.instance, seq: this.head.seq, timeMs: this.#options.nowMs() }
    const kept = this.#append((appending) => {
      appending.append(forgottenNote(forgotten, chain))
      this.#retention.forgottenNoted()
    })
    return kept.ok ? kept.value : []
  }

  #noteCheckpoint(): readonly SealedEntry[] {
    const deleted = this.#retention.unnoted()
    if (deleted === undefined) return []
    const { fromSeq, toSeq, reason, missing } = deleted
    const nowMs = this.#options.nowMs()
    const record = noteRecord({
      id: `${this.instance}-checkpoint-${toSeq}`,
      timeMs: nowMs,
      tool: 'checkpoint',
      detail: { from_seq: fromSeq, to_seq: toSeq, reason, ...(missing > 0 && { missing }) },
    })
    const kept = this.#append((appending) => {
      appending.append(record)
      this.#retention.noted(deleted)
    })
    return kept.ok ? kept.value : []
  }

  /** Refusals that were counted only become entries when there is room for strangers again. */
  #endWithheld(): readonly SealedEntry[] {
    if (this.strangersFull) return []
    if (this.#state.counts.size === 0) return []
    const kept = this.#append((appending) => appending.endWithheld(this.#options.nowMs()))
    return kept.ok ? kept.value : []
  }

  /** Entries after `seq`, oldest first, at most `linesMax`. */
  linesAfter(seq: number, linesMax: number): Result<readonly EntryLine[], string> {
    try {
      return ok(this.#statements.after.all(seq, linesMax))
    } catch (error) {
      return fail(sentence(error))
    }
  }

  /** When the first entry after `seq` was made, in Unix milliseconds; undefined without one. */
  timeAfter(seq: number): number | undefined {
    return this.#statements.timeAfter.get(seq)
  }

  /** Undefined where the sink has none yet. One that was not made with the key is where the entries begin. */
  position(sink: string): number | undefined {
    if (!this.#state.sinks.has(sink)) return undefined
    return this.#seal.seals.openPosition(sink, this.#statements.get.get(`position.${sink}`)) ?? this.first.seq
  }

  storePosition(sink: string, seq: number): Result<void, string> {
    return this.#change(() => this.#putPosition(sink, seq))
  }

  /** Within `#change`. That a sink has a position is sealed too, so that one which is removed does not pass for one that never was. */
  #putPosition(sink: string, seq: number): void {
    this.#statements.put.run(`position.${sink}`, this.#seal.seals.position(sink, seq))
    const { sinks } = this.#state
    if (!sinks.has(sink)) this.#state = { ...this.#state, sinks: new Set([...sinks, sink]) }
  }

  /** Within `#change`. */
  #countUndelivered(seq: number, change: 1 | -1): void {
    const sum = Uint8Array.from(this.#state.sum)
    addTo(sum, this.#seal.seals.undelivered(seq))
    this.#state = { ...this.#state, sum, undelivered: this.#state.undelivered + change }
  }

  /** One transaction that may change the state: as it was where it fails. */
  #change(body: () => void): Result<void, string> {
    const before = this.#state
    const done = this.#write(() => {
      body()
      if (this.#state !== before) this.#statements.put.run('head', headText(this.#seal, this.#state))
    })
    if (!done.ok) this.#state = before
    return done
  }

  /** Where shipping stands, for whoever ships. */
  shipBook(): ShipBook {
    return new ShipBook(this.#db, {
      instance: this.instance,
      seals: this.#seal.seals,
      write: (body) => this.#change(body),
      putPosition: (seq) => this.#putPosition('shipper', seq),
      undelivered: (seq, change) => this.#countUndelivered(seq, change),
    })
  }

  close(): void {
    try {
      // Copies what is still in the WAL into the file, also when the WAL was removed from its folder.
      this.#db.close()
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error
    }
    this.#lock.release()
  }

  /** One transaction: all of it is on disk when this gives ok, none of it otherwise. */
  #write(body: () => void): Result<void, string> {
    // A removed file would go on taking entries that nobody can ever read.
    const disturbed = this.#files.disturbed()
    if (disturbed !== undefined) {
      const what = disturbed === this.#path ? 'the audit buffer' : 'a file of the audit buffer,'
      return fail(`${what} "${disturbed}" was removed or replaced while in use: put it back or restart`)
    }
    try {
      this.#statements.begin.run()
      body()
      this.#statements.commit.run()
      return ok(undefined)
    } catch (error) {
      if (this.#db.inTransaction) this.#statements.rollback.run()
      return fail(`the audit buffer "${this.#options.path}" takes no entries: ${sentence(error)}`)
    }
  }
}
