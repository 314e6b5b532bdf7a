import { chmodSync, existsSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Operation } from '../core/audit-entry.js'
import type { OutcomeCode } from '../core/errors.js'
import { AUDIT_BUSY_TIMEOUT_MS, AUDIT_WAL_BYTES_KEPT_MAX, AUDIT_WAL_RESTART_TIMEOUT_MS } from '../core/limits.js'
import type { EntryLine } from './chain.js'
import { ensurePrivateFile } from './process-lock.js'

/**
 * The buffer's file: SQLite in WAL mode, written by one connection of one process; readers have connections of their own.
 *
 * `entries.body` is the entry's line, byte for byte what the sinks write. Entries are deleted from the oldest on alone.
 * `intents` holds writing calls whose outcome has not come yet, each as the record of the entry that says so: it has no `seq` until
 * it becomes one. `undelivered` names entries that the shipper's destination refused one by one; an entry that is deleted leaves its
 * line there in `body`, so that none of them is ever forgotten. `strangers` names the entries of whoever had no identity, with what
 * they take, and `withheld` counts refusals of theirs that got no entry because those take as much as they may.
 *
 * `meta` holds `instance`, `created_ms`, `opened_ms`, `head` (the sealed head of the chain, moved in the transaction that appends),
 * `checkpoint` (sealed: where the chain begins since entries were deleted; moved in the transaction that deletes) and
 * `checkpoint.noted` (the `seq` up to which an entry tells of deletions), `undelivered.forgotten` (what went of `undelivered` and no
 * entry tells of yet), `strangers` (bytes), `position.<sink>` (the last `seq` that
 * sink has written or delivered) and `ship.batch`, which is the shipper's.
 *
 * Intents, rows of `withheld`, positions and the batch have macs, see `Seals`; the head says how many intents, rows and refused entries
 * there are, and which, so that it is written anew whenever one comes or goes. A head that does not say so is of a buffer from before there were macs.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
  CREATE TABLE entries (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time_ms INTEGER NOT NULL, body TEXT NOT NULL);
  `,
  `
  CREATE TABLE intents (id TEXT PRIMARY KEY, time_ms INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  `,
  `
  CREATE TABLE undelivered (seq INTEGER PRIMARY KEY, body TEXT);
  CREATE TABLE strangers (seq INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
  CREATE TABLE withheld (
    connector TEXT NOT NULL, operation TEXT NOT NULL, code TEXT NOT NULL, count INTEGER NOT NULL, since_ms INTEGER NOT NULL,
    PRIMARY KEY (connector, operation, code)
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE intents ADD COLUMN mac TEXT;
  ALTER TABLE withheld ADD COLUMN mac TEXT;
  `,
]
const SCHEMA_VERSION = MIGRATIONS.length

/** A buffer that must not be used, for a reason the operator has to decide on. */
export class Unusable extends Error {}

export function sentence(error: unknown): string {
  if (error instanceof Database.SqliteError) return `${error.message} (${error.code})`
  if (error instanceof Error) return error.message
  return String(error)
}

/** Whether a buffer has been started at this path, so that the key of its entries must exist. */
export function bufferExists(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Opens or makes the file, for the one connection that writes. Throws what SQLite or the file system says, or `Unusable`. */
export function connectBuffer(path: string, durability: 'full' | 'normal'): Database.Database {
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
 * SQLite writes the WAL from its beginning again only when no reader needs it. Readers that follow each other closely would let it
 * grow without end, so that those of the moment are waited for, shortly.
 */
export function restartWal(db: Database.Database): void {
  try {
    db.pragma(`busy_timeout = ${AUDIT_WAL_RESTART_TIMEOUT_MS}`)
    db.pragma('wal_checkpoint(RESTART)')
  } catch (error) {
    // A full disk, perhaps; it is tried again at the next look.
    if (!(error instanceof Database.SqliteError)) throw error
  } finally {
    db.pragma(`busy_timeout = ${AUDIT_BUSY_TIMEOUT_MS}`)
  }
}

/** An entry that may have to go. What its columns say is nothing to go by: only its line is sealed. */
export interface OldEntry {
  readonly seq: number
  readonly body: unknown
}

/** Refusals of strangers that have no entry. */
export interface Withheld {
  readonly connector: string
  readonly operation: Operation
  readonly code: OutcomeCode
  readonly count: number
  readonly since_ms: number
}

export function prepareStatements(db: Database.Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    insert: db.prepare<[number, string, number, string]>(
      'INSERT INTO entries (seq, id, time_ms, body) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
    ),
    // Sent again after its outcome was kept, an intent must not come back.
    announce: db.prepare<[string, number, string, string, string]>(
      `INSERT INTO intents (id, time_ms, body, mac) SELECT ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM entries WHERE id = ?)
       ON CONFLICT (id) DO NOTHING`,
    ),
    fulfil: db.prepare<[string]>('DELETE FROM intents WHERE id = ?'),
    sealIntent: db.prepare<[string, string]>('UPDATE intents SET mac = ? WHERE id = ?'),
    after: db.prepare<[number, number], EntryLine>(
      'SELECT seq, body AS line FROM entries WHERE seq > ? ORDER BY seq LIMIT ?',
    ),
    lastSeq: db.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM entries').pluck(),
    firstSeq: db.prepare<[], number>('SELECT coalesce(min(seq), 0) FROM entries').pluck(),
    timeAfter: db.prepare<[number], number>('SELECT time_ms FROM entries WHERE seq > ? ORDER BY seq LIMIT 1').pluck(),
    known: db.prepare<[string], number>('SELECT 1 FROM entries WHERE id = ?').pluck(),
    get: db.prepare<[string], unknown>('SELECT value FROM meta WHERE key = ?').pluck(),
    put: db.prepare<[string, string | number | Buffer]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)'),
    drop: db.prepare<[string]>('DELETE FROM meta WHERE key = ?'),
    oldest: db.prepare<[number], OldEntry>('SELECT seq, body FROM entries ORDER BY seq LIMIT ?'),
    deleteUpTo: db.prepare<[number]>('DELETE FROM entries WHERE seq <= ?'),
    rescueUndelivered: db.prepare<[number]>(
      `UPDATE undelivered SET body = (SELECT body FROM entries WHERE entries.seq = undelivered.seq)
       WHERE seq <= ? AND body IS NULL`,
    ),
    forgetLine: db.prepare<[number]>(
      'UPDATE undelivered SET body = NULL WHERE seq = ? AND EXISTS (SELECT 1 FROM entries e WHERE e.seq = undelivered.seq)',
    ),
    oldestUndelivered: db
      .prepare<[number], number>('SELECT seq FROM undelivered WHERE body IS NOT NULL ORDER BY seq LIMIT ?')
      .pluck(),
    forgetUndelivered: db.prepare<[number]>('DELETE FROM undelivered WHERE seq = ?'),
    addStranger: db.prepare<[number, number]>('INSERT INTO strangers (seq, bytes) VALUES (?, ?)'),
    strangersUpTo: db.prepare<[number], number>('SELECT total(bytes) FROM strangers WHERE seq <= ?').pluck(),
    deleteStrangersUpTo: db.prepare<[number]>('DELETE FROM strangers WHERE seq <= ?'),
    withhold: db.prepare<[string, string, string, number, number, string]>(
      'INSERT OR REPLACE INTO withheld (connector, operation, code, count, since_ms, mac) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    clearWithheld: db.prepare('DELETE FROM withheld'),
    usedPages: db
      .prepare<[], number>(
        'SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count)',
      )
      .pluck(),
  }
}

export type Statements = ReturnType<typeof prepareStatements>
