import { chmodSync, existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { invariant } from '../core/assert.js'
import type { AuditRecord } from '../core/audit-entry.js'
import { AUDIT_BUSY_TIMEOUT_MS, AUDIT_PROBE_BYTES, AUDIT_WAL_BYTES_KEPT_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { SqliteFiles } from '../storage/sqlite-files.js'
import {
  type ChainHead,
  type ChainKeys,
  type EntryLine,
  GENESIS,
  openHead,
  type SealedEntry,
  sealHead,
} from './chain.js'
import type { Keeping } from './entry-text.js'
import { intentText, type Ledger, type SealOptions, sealIntent, sealRecord } from './ledger.js'
import { acquireProcessLock, ensurePrivateFile, type ProcessLock } from './process-lock.js'

/**
 * The buffer: SQLite in WAL mode, written by one connection of one process. `entries.body` is the entry's line, byte for
 * byte what the sinks write. `meta` holds `instance`, `created_ms`, `head` (the sealed head of the chain, moved in the
 * transaction that appends) and `position.<sink>` (the last `seq` that sink has written). `intents` holds writing calls
 * whose outcome has not come yet, each as the record of the entry that says so: it has no `seq` until it becomes one.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
  CREATE TABLE entries (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time_ms INTEGER NOT NULL, body TEXT NOT NULL);
  `,
  `
  CREATE TABLE intents (id TEXT PRIMARY KEY, time_ms INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  `,
]
const SCHEMA_VERSION = MIGRATIONS.length

export interface OutboxOptions {
  readonly path: string
  readonly durability: 'full' | 'normal'
  readonly keys: ChainKeys
  readonly keeping: Keeping
  /** Whether intents that are found belong to calls that can have no outcome any more. */
  readonly intentsAreLost: boolean
  readonly nowMs: () => number
  /** Names the instance of a new buffer. */
  readonly newInstance: () => string
}

function sentence(error: unknown): string {
  if (error instanceof Database.SqliteError) return `${error.message} (${error.code})`
  if (error instanceof Error) return error.message
  return String(error)
}

/** A buffer that must not be used, for a reason the operator has to decide on. */
class Unusable extends Error {}

function prepareStatements(db: Database.Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    insert: db.prepare<[number, string, number, string]>(
      'INSERT INTO entries (seq, id, time_ms, body) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
    ),
    // Sent again after its outcome was kept, an intent must not come back.
    announce: db.prepare<[string, number, string, string]>(
      `INSERT INTO intents (id, time_ms, body) SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM entries WHERE id = ?)
       ON CONFLICT (id) DO NOTHING`,
    ),
    fulfil: db.prepare<[string]>('DELETE FROM intents WHERE id = ?'),
    intentsLeft: db.prepare<[], { readonly id: string; readonly time_ms: number; readonly body: string }>(
      'SELECT id, time_ms, body FROM intents ORDER BY time_ms, id',
    ),
    after: db.prepare<[number, number], EntryLine>(
      'SELECT seq, body AS line FROM entries WHERE seq > ? ORDER BY seq LIMIT ?',
    ),
    lastSeq: db.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM entries').pluck(),
    get: db.prepare<[string], unknown>('SELECT value FROM meta WHERE key = ?').pluck(),
    put: db.prepare<[string, string | number | Buffer]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)'),
    drop: db.prepare<[string]>('DELETE FROM meta WHERE key = ?'),
  }
}

type Statements = ReturnType<typeof prepareStatements>

function connect(path: string, durability: 'full' | 'normal'): Database.Database {
  ensurePrivateFile(path)
  // Left behind by a crash under another mode, perhaps; SQLite keeps the mode of those it finds.
  for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) chmodSync(path + suffix, 0o600)
  const db = new Database(path, { timeout: AUDIT_BUSY_TIMEOUT_MS })
  try {
    db.pragma('journal_mode = WAL')
    db.pragma(`synchronous = ${durability.toUpperCase()}`)
    // Only macOS knows the difference between a sync and a full one.
    db.pragma(`fullfsync = ${durability === 'full' ? 'ON' : 'OFF'}`)
    db.pragma(`journal_size_limit = ${AUDIT_WAL_BYTES_KEPT_MAX}`)
    migrate(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function migrate(db: Database.Database): void {
  const version = Number(db.pragma('user_version', { simple: true }))
  if (version === SCHEMA_VERSION) return
  if (version > SCHEMA_VERSION) throw new Unusable('it was written by a newer version of the gateway')
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_master').pluck().get())
  if (version === 0 && tables > 0) throw new Unusable('it is another SQLite database, not an audit buffer')
  db.transaction(() => {
    for (const sql of MIGRATIONS.slice(version)) db.exec(sql)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}

/**
 * The head to go on from. It is the sealed one, also when later entries than the last that is there were removed: then
 * their numbers stay missing for every check to see.
 */
function readHead(statements: Statements, keys: ChainKeys, instance: string): ChainHead {
  const lastSeq = statements.lastSeq.get() ?? 0
  const sealed = statements.get.get('head')
  const head = typeof sealed === 'string' ? openHead(keys, instance, sealed) : undefined
  if (head === undefined) {
    throw new Unusable('its entries were made with another chain key, or its head was changed: put the key back')
  }
  if (lastSeq > head.seq) throw new Unusable('another program has added entries to it')
  return head
}

function readInstance(db: Database.Database, statements: Statements, options: OutboxOptions): string {
  const found = statements.get.get('instance')
  if (typeof found === 'string') return found
  const instance = options.newInstance()
  db.transaction(() => {
    statements.put.run('instance', instance)
    statements.put.run('created_ms', options.nowMs())
    statements.put.run('head', sealHead(options.keys, instance, GENESIS))
  })()
  return instance
}

function timeMsOf(record: AuditRecord): number {
  const timeMs = Date.parse(record.time)
  invariant(!Number.isNaN(timeMs), 'a record has a time in ISO 8601')
  return timeMs
}

/** Whether a buffer has been started at this path, so that the key of its entries must exist. */
export function bufferExists(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

export class Outbox implements Ledger {
  readonly #path: string
  readonly #db: Database.Database
  readonly #statements: Statements
  readonly #lock: ProcessLock
  readonly #options: OutboxOptions
  readonly #seal: SealOptions
  readonly #files: SqliteFiles
  #head: ChainHead
  /** Ids in `intents`. */
  #announced: ReadonlySet<string> = new Set()

  private constructor(path: string, db: Database.Database, lock: ProcessLock, options: OutboxOptions) {
    this.#path = path
    this.#db = db
    this.#lock = lock
    this.#options = options
    this.#statements = prepareStatements(db)
    const instance = readInstance(db, this.#statements, options)
    this.#seal = { keys: options.keys, keeping: options.keeping, instance }
    this.#head = readHead(this.#statements, options.keys, instance)
    // Shows at start, not at the first call, that the folder or the file cannot be written.
    this.#statements.put.run('opened_ms', options.nowMs())
    this.#files = new SqliteFiles(path)
    if (options.intentsAreLost) this.#endLostIntents()
    this.#announced = new Set(this.#statements.intentsLeft.all().map(({ id }) => id))
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
      const locked = acquireProcessLock(`${path}.lock`)
      if (!locked.ok) return fail(`${named} is in use by another running gateway: each needs a buffer of its own`)
      lock = locked.value
      db = connect(path, options.durability)
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
    return this.#head
  }

  append(
    records: readonly AuditRecord[],
    intents: readonly AuditRecord[] = [],
  ): Result<readonly SealedEntry[], string> {
    const { insert, announce, fulfil, put } = this.#statements
    const sealed: SealedEntry[] = []
    const announced = new Set(this.#announced)
    let head = this.#head
    const done = this.#write(() => {
      for (const intent of intents) {
        const { changes } = announce.run(intent.id, timeMsOf(intent), intentText(this.#seal, intent), intent.id)
        if (changes > 0) announced.add(intent.id)
      }
      for (const record of records) {
        // First, so that the space of the intent is there for its outcome. Most records have none, and are not made to pay.
        if (announced.delete(record.id)) fulfil.run(record.id)
        const entry = sealRecord(this.#seal, head, record)
        const timeMs = timeMsOf(record)
        // A known id changes nothing and takes no number: the batch came twice, and its entry is there.
        if (insert.run(entry.seq, record.id, timeMs, entry.line).changes === 0) continue
        sealed.push(entry)
        head = entry
      }
      if (sealed.length > 0) put.run('head', sealHead(this.#seal.keys, this.instance, head))
    })
    if (!done.ok) return done
    this.#announced = announced
    this.#head = { seq: head.seq, hash: head.hash }
    return ok(sealed)
  }

  /** What no process can tell any more becomes an entry that says so; a failure leaves all of it for the next start. */
  #endLostIntents(): void {
    const { insert, fulfil, intentsLeft, put } = this.#statements
    let head = this.#head
    const done = this.#write(() => {
      for (const { id, time_ms: timeMs, body } of intentsLeft.all()) {
        const entry = sealIntent(this.#seal, head, body)
        fulfil.run(id)
        if (insert.run(entry.seq, id, timeMs, entry.line).changes > 0) head = entry
      }
      if (head !== this.#head) put.run('head', sealHead(this.#seal.keys, this.instance, head))
    })
    if (!done.ok) throw new Unusable(done.error)
    this.#head = { seq: head.seq, hash: head.hash }
  }

  /** Writes more than any page at hand can take and removes it again, so that a full disk is not taken for a free one. */
  probe(): Result<void, string> {
    const written = this.#write(() => this.#statements.put.run('probe', Buffer.alloc(AUDIT_PROBE_BYTES)))
    return written.ok ? this.#write(() => this.#statements.drop.run('probe')) : written
  }

  /** Entries after `seq`, oldest first, at most `linesMax`. */
  linesAfter(seq: number, linesMax: number): Result<readonly EntryLine[], string> {
    try {
      return ok(this.#statements.after.all(seq, linesMax))
    } catch (error) {
      return fail(sentence(error))
    }
  }

  position(sink: string): number | undefined {
    const value = this.#statements.get.get(`position.${sink}`)
    return typeof value === 'number' ? value : undefined
  }

  storePosition(sink: string, seq: number): Result<void, string> {
    return this.#write(() => this.#statements.put.run(`position.${sink}`, seq))
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
