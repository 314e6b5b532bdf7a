import { chmodSync, existsSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { REPORT_INDEX_BUSY_TIMEOUT_MS } from '../../core/limits.js'
import { SqliteFiles } from '../../storage/sqlite-files.js'
import { ensurePrivateFile } from '../process-lock.js'
import { fileFault } from './index-fault.js'
import { type Block, loadBlock, type StoredBlock, storeBlock } from './layout.js'
import { type Shape, ShapeBook } from './shapes.js'

/**
 * The index's file. `meta` holds `of` (which buffer it is of, and with which key), `position` (the last `seq` that was read),
 * `hash` (that entry's) and `full_since`. `pairs` has the digests of one block, `parts` those of a node of level 1, sorted, in pieces.
 */
const SCHEMA_VERSION = 1
const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
  CREATE TABLE shapes (shape INTEGER PRIMARY KEY, connector TEXT, identity TEXT, key_id TEXT, tool TEXT,
    operation TEXT NOT NULL, target TEXT, decision TEXT NOT NULL, code TEXT NOT NULL);
  CREATE TABLE blocks (block INTEGER PRIMARY KEY, min_ms REAL NOT NULL, max_ms REAL NOT NULL, shapes BLOB NOT NULL,
    times BLOB NOT NULL, measures BLOB NOT NULL);
  CREATE TABLE nodes (level INTEGER NOT NULL, node INTEGER NOT NULL, min_ms REAL NOT NULL, max_ms REAL NOT NULL,
    sums BLOB NOT NULL, steps BLOB NOT NULL, PRIMARY KEY (level, node));
  CREATE TABLE pairs (block INTEGER PRIMARY KEY, body BLOB NOT NULL);
  CREATE TABLE parts (part INTEGER PRIMARY KEY, node INTEGER NOT NULL, last INTEGER NOT NULL, body BLOB NOT NULL);
  CREATE INDEX parts_by_last ON parts (node, last, part);
`
/** A block then lies on few pages. */
const PAGE_BYTES = 16_384
const SUFFIXES = ['', '-wal', '-shm'] as const

export interface IndexPosition {
  /** The last entry that was read; 0 before the first. */
  readonly seq: number
  /** Its hash, so that another history under the same numbers shows. */
  readonly hash: string
}

/** A block or node, with the times of its entries. */
export interface Piece {
  readonly number: number
  readonly minMs: number
  readonly maxMs: number
}

interface ShapeRow {
  readonly connector: string | null
  readonly identity: string | null
  readonly key_id: string | null
  readonly tool: string | null
  readonly operation: string
  readonly target: string | null
  readonly decision: string
  readonly code: string
}

function prepareStatements(db: Database.Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    beginRead: db.prepare('BEGIN'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    get: db.prepare<[string], unknown>('SELECT value FROM meta WHERE key = ?').pluck(),
    put: db.prepare<[string, string | number]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)'),
    shapesAfter: db.prepare<[number], ShapeRow>(
      'SELECT connector, identity, key_id, tool, operation, target, decision, code FROM shapes WHERE shape > ? ORDER BY shape',
    ),
    putShape: db.prepare<[number, ...(string | null)[]]>('INSERT INTO shapes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    blockUpTo: db.prepare<[number], Piece>(
      `SELECT block AS number, min_ms AS minMs, max_ms AS maxMs FROM blocks WHERE block <= ?
       ORDER BY block DESC LIMIT 1`,
    ),
    shapesOf: db.prepare<[number], Uint8Array>('SELECT shapes FROM blocks WHERE block = ?').pluck(),
    block: db.prepare<[number], StoredBlock>('SELECT shapes, times, measures FROM blocks WHERE block = ?'),
    putBlock: db.prepare<[number, number, number, Uint8Array, Uint8Array, Uint8Array]>(
      'INSERT OR REPLACE INTO blocks (block, min_ms, max_ms, shapes, times, measures) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    node: db.prepare<[number, number], Piece>(
      'SELECT node AS number, min_ms AS minMs, max_ms AS maxMs FROM nodes WHERE level = ? AND node = ?',
    ),
    nodeSums: db.prepare<[number, number], Uint8Array>('SELECT sums FROM nodes WHERE level = ? AND node = ?').pluck(),
    nodeSteps: db.prepare<[number, number], Uint8Array>('SELECT steps FROM nodes WHERE level = ? AND node = ?').pluck(),
    putNode: db.prepare<[number, number, number, number, Uint8Array, Uint8Array]>(
      'INSERT OR REPLACE INTO nodes (level, node, min_ms, max_ms, sums, steps) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    pairs: db.prepare<[number], Uint8Array>('SELECT body FROM pairs WHERE block = ?').pluck(),
    pairsBelow: db.prepare<[number], number>('SELECT block FROM pairs WHERE block < ? ORDER BY block DESC').pluck(),
    partsBelow: db.prepare<[number], number | null>('SELECT max(node) FROM parts WHERE node < ?').pluck(),
    putPairs: db.prepare<[number, Uint8Array]>('INSERT OR REPLACE INTO pairs (block, body) VALUES (?, ?)'),
    dropPairs: db.prepare<[number, number]>('DELETE FROM pairs WHERE block >= ? AND block <= ?'),
    putPart: db.prepare<[number, number, Uint8Array]>('INSERT INTO parts (node, last, body) VALUES (?, ?, ?)'),
    partsFrom: db
      .prepare<[number, number], Uint8Array>('SELECT body FROM parts WHERE node = ? AND last >= ? ORDER BY last, part')
      .pluck(),
    firstBlock: db.prepare<[], number | null>('SELECT min(block) FROM blocks').pluck(),
    forgetBlocks: db.prepare<[number, number]>(
      'DELETE FROM blocks WHERE block IN (SELECT block FROM blocks WHERE block < ? ORDER BY block LIMIT ?)',
    ),
    forgetPairs: db.prepare<[number]>('DELETE FROM pairs WHERE block < ?'),
    forgetNodes: db.prepare<[number, number]>('DELETE FROM nodes WHERE level = ? AND node < ?'),
    forgetParts: db.prepare<[number, number]>(
      'DELETE FROM parts WHERE part IN (SELECT part FROM parts WHERE node < ? LIMIT ?)',
    ),
  }
}

function connect(path: string): Database.Database {
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
    if (version() !== 0 || tables > 0) throw fileFault('an index of another version')
    db.exec(SCHEMA)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  }).immediate()
}

function rowOf({ connector, identity, keyId, tool, operation, target, decision, code }: Shape): (string | null)[] {
  return [connector, identity, keyId, tool, operation, target, decision, code].map((text) => text ?? null)
}

function shapeOf(row: ShapeRow): Shape {
  const { connector, identity, key_id: keyId, tool, target } = row
  const named = (text: string | null) => text ?? undefined
  return {
    connector: named(connector),
    identity: named(identity),
    keyId: named(keyId),
    tool: named(tool),
    target: named(target),
    // Written by `rowOf` alone, of a shape.
    operation: row.operation as Shape['operation'],
    decision: row.decision as Shape['decision'],
    code: row.code as Shape['code'],
  }
}

/** Removes an index with all that SQLite keeps beside it. */
export function removeIndex(path: string): void {
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true })
}

/** An open index. Every read and write happens inside `reading` or `writing`: one state of the file, whoever else writes. */
export class IndexStore {
  readonly #db: Database.Database
  readonly #files: SqliteFiles
  readonly #shapes: ShapeBook
  readonly statements: ReturnType<typeof prepareStatements>

  /** Opens or makes the file. Throws what SQLite throws; `isFileFault` says whether making it anew helps. */
  constructor(path: string, shapesMax: number) {
    this.#shapes = new ShapeBook(shapesMax)
    this.#db = connect(path)
    this.statements = prepareStatements(this.#db)
    this.#files = new SqliteFiles(path)
  }

  /** Whether the file has been removed or replaced: what is open here, nobody else will see. */
  get disturbed(): boolean {
    return this.#files.disturbed() !== undefined
  }

  get shapes(): ShapeBook {
    return this.#shapes
  }

  get position(): IndexPosition {
    const seq = this.statements.get.get('position')
    const hash = this.statements.get.get('hash')
    return { seq: typeof seq === 'number' ? seq : 0, hash: typeof hash === 'string' ? hash : '' }
  }

  set position({ seq, hash }: IndexPosition) {
    this.statements.put.run('position', seq)
    this.statements.put.run('hash', hash)
  }

  /** The entry with which the shapes reached their limit; undefined while there is room. */
  get fullSince(): number | undefined {
    const seq = this.statements.get.get('full_since')
    return typeof seq === 'number' ? seq : undefined
  }

  set fullSince(seq: number) {
    this.statements.put.run('full_since', seq)
  }

  /** Whether it was made of this buffer with this key; a new one is from now on. */
  adopt(of: string): boolean {
    return this.writing(() => {
      const known = this.statements.get.get('of')
      if (known === undefined) this.statements.put.run('of', of)
      return known === undefined || known === of
    })
  }

  #learnShapes(): void {
    for (const row of this.statements.shapesAfter.iterate(this.#shapes.size)) this.#shapes.learn(shapeOf(row))
  }

  /** The number of a shape, which is stored when it is a new one. */
  numberOf(shape: Shape): number {
    const { number, added } = this.#shapes.numberOf(shape)
    if (added !== undefined) this.statements.putShape.run(number, ...rowOf(added))
    return number
  }

  putBlock(number: number, block: Block, minMs: number, maxMs: number): void {
    const { shapes, times, measures } = storeBlock(block)
    this.statements.putBlock.run(number, minMs, maxMs, shapes, times, measures)
  }

  block(number: number): Block | undefined {
    const stored = this.statements.block.get(number)
    return stored === undefined ? undefined : loadBlock(stored)
  }

  /** One transaction that no other process writes in: all of it is kept, or nothing. */
  writing<T>(work: () => T): T {
    return this.#transaction('begin', work)
  }

  /** One state of the file, for as long as `work` takes. */
  reading<T>(work: () => T): T {
    return this.#transaction('beginRead', work)
  }

  #transaction<T>(begin: 'begin' | 'beginRead', work: () => T): T {
    const { statements } = this
    statements[begin].run()
    let known = this.#shapes.size
    try {
      this.#learnShapes()
      known = this.#shapes.size
      const done = work()
      statements.commit.run()
      return done
    } catch (error) {
      if (this.#db.inTransaction) statements.rollback.run()
      this.#shapes.shrink(known)
      throw error
    }
  }

  close(): void {
    this.#db.close()
  }
}
