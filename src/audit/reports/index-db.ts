import { chmodSync, existsSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { REPORT_INDEX_BUSY_TIMEOUT_MS } from '../../core/limits.js'
import { ensurePrivateFile } from '../process-lock.js'
import { fileFault } from './index-fault.js'

/**
 * The index's file. `meta` holds `of` (which buffer it is of, and with which key), `made` (drawn when it was made: seals are of one
 * index) and `state`. `shapes` has the shapes that came with one step, as JSON, by the number of the first. `pairs` has the digests
 * of one block, `parts` those of a node of level 1, sorted, in pieces. All blobs are sealed, see `IndexSeal`; `seal` covers numbers
 * and times of the row.
 */
const SCHEMA_VERSION = 2
const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
  CREATE TABLE shapes (first INTEGER PRIMARY KEY, names BLOB NOT NULL);
  CREATE TABLE blocks (block INTEGER PRIMARY KEY, min_ms REAL NOT NULL, max_ms REAL NOT NULL, seal BLOB NOT NULL,
    body BLOB NOT NULL);
  CREATE TABLE nodes (level INTEGER NOT NULL, node INTEGER NOT NULL, min_ms REAL NOT NULL, max_ms REAL NOT NULL,
    seal BLOB NOT NULL, unit_ms INTEGER NOT NULL, marks BLOB NOT NULL, sums BLOB NOT NULL, steps BLOB NOT NULL,
    slice_sums BLOB NOT NULL, slice_steps BLOB NOT NULL, PRIMARY KEY (level, node));
  CREATE TABLE runs (node INTEGER PRIMARY KEY, measures BLOB NOT NULL, places BLOB NOT NULL);
  CREATE TABLE pairs (block INTEGER PRIMARY KEY, body BLOB NOT NULL);
  CREATE TABLE parts (id INTEGER PRIMARY KEY, node INTEGER NOT NULL, part INTEGER NOT NULL, after INTEGER NOT NULL,
    last INTEGER NOT NULL, body BLOB NOT NULL);
  CREATE INDEX parts_by_last ON parts (node, last, part);
`
/** A block then lies on one page or two. */
const PAGE_BYTES = 16_384
const SUFFIXES = ['', '-wal', '-shm'] as const

/** A row of blocks or nodes, without what it holds. */
export interface PieceRow {
  readonly minMs: number
  readonly maxMs: number
  readonly seal: Uint8Array
}

export interface PartRow {
  readonly part: number
  /** The upper half of the last digest of the part before, −1 of the first. */
  readonly after: number
  readonly last: number
  readonly body: Uint8Array
}

export function prepareStatements(db: Database.Database) {
  const ofNode = (column: string) =>
    db.prepare<[number, number], Uint8Array>(`SELECT ${column} FROM nodes WHERE level = ? AND node = ?`).pluck()
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    beginRead: db.prepare('BEGIN'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    get: db.prepare<[string], unknown>('SELECT value FROM meta WHERE key = ?').pluck(),
    put: db.prepare<[string, string | Uint8Array]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)'),
    shapesFrom: db.prepare<[number], { readonly first: number; readonly names: Uint8Array }>(
      'SELECT first, names FROM shapes WHERE first >= ? ORDER BY first',
    ),
    putShapes: db.prepare<[number, Uint8Array]>('INSERT INTO shapes (first, names) VALUES (?, ?)'),
    blockPiece: db.prepare<[number], PieceRow>(
      'SELECT min_ms AS minMs, max_ms AS maxMs, seal FROM blocks WHERE block = ?',
    ),
    block: db.prepare<[number], Uint8Array>('SELECT body FROM blocks WHERE block = ?').pluck(),
    putBlock: db.prepare<[number, number, number, Uint8Array, Uint8Array]>(
      'INSERT OR REPLACE INTO blocks (block, min_ms, max_ms, seal, body) VALUES (?, ?, ?, ?, ?)',
    ),
    dropBlocks: db.prepare<[number, number]>('DELETE FROM blocks WHERE block >= ? AND block <= ?'),
    measures: db.prepare<[number], Uint8Array>('SELECT measures FROM runs WHERE node = ?').pluck(),
    places: db.prepare<[number], Uint8Array>('SELECT places FROM runs WHERE node = ?').pluck(),
    putRuns: db.prepare<[number, Uint8Array, Uint8Array]>(
      'INSERT OR REPLACE INTO runs (node, measures, places) VALUES (?, ?, ?)',
    ),
    forgetRuns: db.prepare<[number, number]>(
      'DELETE FROM runs WHERE node IN (SELECT node FROM runs WHERE node < ? ORDER BY node LIMIT ?)',
    ),
    firstRuns: db.prepare<[], number | null>('SELECT min(node) FROM runs').pluck(),
    nodePiece: db.prepare<[number, number], PieceRow>(
      'SELECT min_ms AS minMs, max_ms AS maxMs, seal FROM nodes WHERE level = ? AND node = ?',
    ),
    marks: ofNode('marks'),
    sums: ofNode('sums'),
    steps: ofNode('steps'),
    sliceUnit: db.prepare<[number, number], number>('SELECT unit_ms FROM nodes WHERE level = ? AND node = ?').pluck(),
    sliceSums: ofNode('slice_sums'),
    sliceSteps: ofNode('slice_steps'),
    putNode: db.prepare<[number, number, number, number, Uint8Array, number, ...Uint8Array[]]>(
      'INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    pairs: db.prepare<[number], Uint8Array>('SELECT body FROM pairs WHERE block = ?').pluck(),
    putPairs: db.prepare<[number, Uint8Array]>('INSERT OR REPLACE INTO pairs (block, body) VALUES (?, ?)'),
    dropPairs: db.prepare<[number, number]>('DELETE FROM pairs WHERE block >= ? AND block <= ?'),
    putPart: db.prepare<[number, number, number, number, Uint8Array]>(
      'INSERT INTO parts (node, part, after, last, body) VALUES (?, ?, ?, ?, ?)',
    ),
    partsFrom: db.prepare<[number, number], PartRow>(
      'SELECT part, after, last, body FROM parts WHERE node = ? AND last >= ? ORDER BY last, part',
    ),
    firstBlock: db.prepare<[], number | null>('SELECT min(block) FROM blocks').pluck(),
    forgetBlocks: db.prepare<[number]>('DELETE FROM blocks WHERE block < ?'),
    forgetPairs: db.prepare<[number]>('DELETE FROM pairs WHERE block < ?'),
    forgetNodes: db.prepare<[number, number, number, number]>(
      `DELETE FROM nodes WHERE level = ? AND node IN
         (SELECT node FROM nodes WHERE level = ? AND node < ? ORDER BY node LIMIT ?)`,
    ),
    forgetParts: db.prepare<[number, number]>(
      'DELETE FROM parts WHERE id IN (SELECT id FROM parts WHERE node < ? LIMIT ?)',
    ),
  }
}

export type IndexStatements = ReturnType<typeof prepareStatements>

/** Opens or makes the file. Throws what SQLite throws, or an index fault where it is of another version. */
export function connectIndex(path: string): Database.Database {
  ensurePrivateFile(path)
  for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) chmodSync(path + suffix, 0o600)
  const db = new Database(path, { timeout: REPORT_INDEX_BUSY_TIMEOUT_MS })
  try {
    db.pragma(`page_size = ${PAGE_BYTES}`)
    db.pragma('journal_mode = WAL')
    // A crash may cost the last steps: they are read from the buffer again.
    db.pragma('synchronous = NORMAL')
    makeTables(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function makeTables(db: Database.Database): void {
  const version = () => Number(db.pragma('user_version', { simple: true }))
  if (version() === SCHEMA_VERSION) return
  db.transaction(() => {
    // Another process may have made them while this one waited.
    if (version() === SCHEMA_VERSION) return
    const tables = Number(db.prepare('SELECT count(*) FROM sqlite_master').pluck().get())
    if (version() !== 0 || tables > 0) throw fileFault('it is of another version')
    db.exec(SCHEMA)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  }).immediate()
}

/** Removes an index with all that SQLite keeps beside it. */
export function removeIndex(path: string): void {
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true })
}
