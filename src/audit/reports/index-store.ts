import { randomBytes } from 'node:crypto'
import type Database from 'better-sqlite3'
import { SqliteFiles } from '../../storage/sqlite-files.js'
import { type ChainKeys, digestRowKey } from '../chain.js'
import { PackedColumns } from './columns.js'
import { connectIndex, type IndexStatements, type PieceRow, prepareStatements } from './index-db.js'
import { fileFault } from './index-fault.js'
import { IndexSeal } from './index-seal.js'
import { type IndexState, isHole, NEW_STATE } from './index-state.js'
import { type Block, bytesOf, loadBlock, NODE_FAN_OUT, storeBlock, uint32Column } from './layout.js'
import { ColumnRoom, type PackedSums, type ReadColumns, STEP_COLUMNS, SUMS } from './node-sums.js'
import { type DigestPrefix, lastHigh, placesOf } from './row-pairs.js'
import { loadRuns, type Runs, roomForRuns, type StoredRuns } from './runs.js'
import { type Shape, ShapeBook } from './shapes.js'
import { RUN_SUMS, type Slices } from './slices.js'

/** A block (level 0) or node, with the times of its entries. */
export interface Piece {
  readonly level: number
  readonly number: number
  readonly minMs: number
  readonly maxMs: number
}

/** What is kept of a node. */
export interface NodeContent extends PackedSums {
  readonly marks: Uint8Array
  readonly slices: Slices
}

export interface StoreOptions {
  /** Those of the buffer. */
  readonly keys: ChainKeys
  /** The instance whose buffer it is of. */
  readonly instance: string
  readonly shapesMax: number
}

const EMPTY = new Uint8Array(0)
/** Pairs of one part: what a look-up reads of a node. */
const PART_PAIRS = 2_048
/** Behind the last digest there can be. */
const HIGH_MAX = 0xffff_ffff

type StoredShape = readonly (string | null)[]

function storedShape({ connector, identity, keyId, tool, operation, target, decision, code }: Shape): StoredShape {
  return [connector, identity, keyId, tool, operation, target, decision, code].map((text) => text ?? null)
}

function shapeOf(stored: StoredShape): Shape {
  const [connector, identity, keyId, tool, operation, target, decision, code] = stored.map((text) => text ?? undefined)
  return {
    ...{ connector, identity, keyId, tool, target },
    // Written by `storedShape` alone, of a shape, and sealed.
    operation: operation as Shape['operation'],
    decision: decision as Shape['decision'],
    code: code as Shape['code'],
  }
}

/**
 * An open index. Every read and write happens inside `reading` or `writing`: one state of the file, whoever else writes. What was
 * not written by a holder of the chain key, or not for its place, is an index fault.
 */
export class IndexStore {
  readonly #db: Database.Database
  readonly #files: SqliteFiles
  readonly #shapes: ShapeBook
  readonly #seal: IndexSeal
  readonly statements: IndexStatements
  readonly #room = roomForRuns()
  readonly #sums = new ColumnRoom(RUN_SUMS)
  readonly #steps = new ColumnRoom(STEP_COLUMNS)
  /** Of the transaction that runs. */
  #state: IndexState | undefined
  #learned = false
  #added: Shape[] = []

  /** Opens or makes the file. Throws what SQLite throws; `isFileFault` says whether making it anew helps. */
  constructor(path: string, { keys, instance, shapesMax }: StoreOptions) {
    this.#shapes = new ShapeBook(shapesMax)
    this.#db = connectIndex(path)
    try {
      this.statements = prepareStatements(this.#db)
      this.#seal = this.#adopt(keys, `${instance} ${digestRowKey(keys, { connector: '', table: '' }, '')}`)
      this.#files = new SqliteFiles(path)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Whether it was made of this buffer with this key; a new one is from now on. */
  #adopt(keys: ChainKeys, of: string): IndexSeal {
    const { get, put } = this.statements
    return this.#db
      .transaction(() => {
        const known = get.get('of')
        if (known === undefined) {
          const made = randomBytes(16).toString('hex')
          put.run('of', of)
          put.run('made', made)
          put.run('state', new IndexSeal(keys, made).seal('state', Buffer.from(JSON.stringify(NEW_STATE))))
        } else if (known !== of) throw fileFault('it is of another buffer or another key')
        return new IndexSeal(keys, String(get.get('made')))
      })
      .immediate()
  }

  /** Whether the file has been removed or replaced: what is open here, nobody else will see. */
  get disturbed(): boolean {
    return this.#files.disturbed() !== undefined
  }

  get shapes(): ShapeBook {
    if (this.#db.inTransaction && !this.#learned) this.#learnShapes()
    return this.#shapes
  }

  get state(): IndexState {
    // Sealed, and so as it was written.
    this.#state ??= JSON.parse(this.#text('state', this.statements.get.get('state'))) as IndexState
    return this.#state
  }

  set state(state: IndexState) {
    this.statements.put.run('state', this.#seal.seal('state', Buffer.from(JSON.stringify(state))))
    this.#state = state
  }

  #text(place: string, stored: unknown): string {
    return Buffer.from(this.#seal.open(place, stored)).toString('utf8')
  }

  #learnShapes(): void {
    this.#learned = true
    for (const { first, names } of this.statements.shapesFrom.iterate(this.#shapes.size + 1)) {
      if (first !== this.#shapes.size + 1) throw fileFault('shapes are missing')
      const shapes = JSON.parse(this.#text(`shapes ${first}`, names)) as readonly StoredShape[]
      for (const stored of shapes) this.#shapes.learn(shapeOf(stored))
    }
    if (this.#shapes.size < this.state.shapes) throw fileFault('shapes are missing')
  }

  /** The number of a shape, which is stored with the transaction when it is a new one. */
  numberOf(shape: Shape): number {
    const { number, added } = this.shapes.numberOf(shape)
    if (added !== undefined) this.#added.push(added)
    return number
  }

  #storeShapes(): void {
    if (this.#added.length === 0) return
    const first = this.#shapes.size - this.#added.length + 1
    const names = Buffer.from(JSON.stringify(this.#added.map(storedShape)))
    this.statements.putShapes.run(first, this.#seal.seal(`shapes ${first}`, names))
  }

  /** Says what a row is, and that it is the newest of it: a block is written again with each step until its node is over. */
  #place(what: string, { level, number, minMs, maxMs }: Piece): string {
    const last = level > 0 ? 'over' : this.#lastOf(number)
    return `${what} ${level} ${number} ${minMs} ${maxMs} ${last}`
  }

  #lastOf(block: number): number | undefined {
    return this.state.open.find(([known]) => known === block)?.[1]
  }

  /**
   * A block or node; undefined where there is none. A block of a node that is not over, or a node of level 1 that is, has to be
   * there, or it is an index fault.
   */
  piece(level: number, number: number): Piece | undefined {
    const piece = this.found(level, number)
    if (piece !== undefined) return piece
    const blocks = NODE_FAN_OUT ** level
    if (level <= 1 && !isHole(this.state, number * blocks, number * blocks + blocks - 1)) {
      throw fileFault(`${level === 0 ? 'block' : 'node'} ${number} is missing`)
    }
    return undefined
  }

  /** A block or node, if it is there. */
  found(level: number, number: number): Piece | undefined {
    const row = this.#pieceRow(level, number)
    return row === undefined ? undefined : { level, number, minMs: row.minMs, maxMs: row.maxMs }
  }

  #pieceRow(level: number, number: number): PieceRow | undefined {
    return level === 0 ? this.statements.blockPiece.get(number) : this.statements.nodePiece.get(level, number)
  }

  /** Makes sure that a piece's times are its own. What it holds is sealed together with them. */
  assure(piece: Piece): void {
    this.#seal.open(this.#place('times', piece), this.#pieceRow(piece.level, piece.number)?.seal)
  }

  /** Writes the entries of a block into `block`. */
  readBlock(piece: Piece, block: Block): Block {
    loadBlock(this.#seal.open(this.#place('block', piece), this.statements.block.get(piece.number)), block)
    return block
  }

  /** Stores a block of the state as it is. */
  putBlock(piece: Piece, block: Block): void {
    const sealed = (what: string, bytes: Uint8Array) => this.#seal.seal(this.#place(what, piece), bytes)
    const body = sealed('block', storeBlock(block, piece.minMs))
    this.statements.putBlock.run(piece.number, piece.minMs, piece.maxMs, sealed('times', EMPTY), body)
  }

  /** The entries of a node of level 1, until the next ones are read. */
  runs(node: Piece, marks: PackedColumns, wanted: 'places' | 'everything'): Runs {
    const { places, measures } = this.statements
    const opened = (what: string, stored: unknown) => this.#seal.open(this.#place(what, node), stored)
    const measured = wanted === 'places' ? undefined : opened('measures', measures.get(node.number))
    return loadRuns(marks, opened('places', places.get(node.number)), measured, this.#room)
  }

  putRuns(node: Piece, { places, measures }: StoredRuns): void {
    const sealed = (what: string, bytes: Uint8Array) => this.#seal.seal(this.#place(what, node), bytes)
    this.statements.putRuns.run(node.number, sealed('measures', measures), sealed('places', places))
  }

  #columns(what: string, node: Piece, stored: unknown, columns: number): PackedColumns {
    return new PackedColumns(this.#seal.open(this.#place(what, node), stored), columns)
  }

  /** Of a node of level 1 the shapes and how many entries each has, of others the shapes and in which parts each is. */
  marks(node: Piece): PackedColumns {
    return this.#columns('marks', node, this.statements.marks.get(node.level, node.number), 2)
  }

  /** Sums of a node of level 1 by shape and slice, until the next ones are read; so are all that follow. */
  runSums(node: Piece): ReadColumns {
    return this.#sums.read(this.#columns('sums', node, this.statements.sums.get(node.level, node.number), RUN_SUMS))
  }

  /** Latency steps of the entries of a node of level 1, in the order of its sums. */
  runSteps(node: Piece): Uint32Array {
    const stored = this.statements.steps.get(node.level, node.number)
    this.#columns('steps', node, stored, 1).into(0, this.#room.steps)
    return this.#room.steps
  }

  /** Sums of a node above level 1, by shape. */
  sums(node: Piece): ReadColumns {
    return this.#sums.read(this.#columns('sums', node, this.statements.sums.get(node.level, node.number), SUMS))
  }

  steps(node: Piece): ReadColumns {
    const stored = this.statements.steps.get(node.level, node.number)
    return this.#steps.read(this.#columns('steps', node, stored, STEP_COLUMNS))
  }

  /** Milliseconds of a node's slices. It is sealed with what is in them. */
  sliceUnit(node: Piece): number {
    const unitMs = this.statements.sliceUnit.get(node.level, node.number)
    if (unitMs === undefined) throw fileFault(`node ${node.number} is missing`)
    return unitMs
  }

  sliceSums(node: Piece, unitMs: number): ReadColumns {
    const stored = this.statements.sliceSums.get(node.level, node.number)
    return this.#sums.read(this.#columns(`slices of ${unitMs}`, node, stored, SUMS))
  }

  sliceSteps(node: Piece, unitMs: number): ReadColumns {
    const stored = this.statements.sliceSteps.get(node.level, node.number)
    return this.#steps.read(this.#columns(`steps of ${unitMs}`, node, stored, STEP_COLUMNS))
  }

  putNode(node: Piece, { marks, sums, steps, slices }: NodeContent): void {
    const sealed = (what: string, bytes: Uint8Array) => this.#seal.seal(this.#place(what, node), bytes)
    const { unitMs } = slices
    this.statements.putNode.run(
      ...([node.level, node.number, node.minMs, node.maxMs, sealed('times', EMPTY), unitMs] as const),
      ...[sealed('marks', marks), sealed('sums', sums), sealed('steps', steps)],
      ...[sealed(`slices of ${unitMs}`, slices.sums), sealed(`steps of ${unitMs}`, slices.steps)],
    )
  }

  /** Digests of a block whose node is not over; undefined where it has not been written yet. */
  pairs(block: number): Uint8Array | undefined {
    const last = this.#lastOf(block)
    return last === undefined ? undefined : this.#seal.open(`pairs ${block} ${last}`, this.statements.pairs.get(block))
  }

  /** Stores a block's digests, in order, of the state as it is. */
  putPairs(block: number, words: Uint32Array): void {
    this.statements.putPairs.run(block, this.#seal.seal(`pairs ${block} ${this.#lastOf(block)}`, bytesOf(words)))
  }

  /** Stores the digests of a node of level 1, in order, as parts that a digest is looked for in. */
  putParts(node: number, words: Uint32Array): void {
    let after = -1
    for (let part = 0, at = 0; part === 0 || at < words.length; part++, at += PART_PAIRS * 2) {
      const pairs = words.subarray(at, at + PART_PAIRS * 2)
      const last = at + PART_PAIRS * 2 >= words.length ? HIGH_MAX : lastHigh(pairs)
      const body = this.#seal.seal(`part ${node} ${part} ${after} ${last}`, bytesOf(pairs))
      this.statements.putPart.run(node, part, after, last, body)
      after = last
    }
  }

  /** Places of a digest in a node of level 1 that is over. A part that has to be there and is not is an index fault. */
  placesIn(node: number, prefix: DigestPrefix): readonly number[] {
    const places: number[] = []
    let before: number | undefined
    for (const { part, after, last, body } of this.statements.partsFrom.iterate(node, prefix.high)) {
      const follows = before === undefined ? part === 0 || after < prefix.high : part === before + 1
      if (!follows) throw fileFault('digests are missing')
      places.push(...placesOf(uint32Column(this.#seal.open(`part ${node} ${part} ${after} ${last}`, body)), prefix))
      // One digest may go on in the next part.
      if (last !== prefix.high) return places
      before = part
    }
    if (before === undefined || prefix.high !== HIGH_MAX) throw fileFault('digests are missing')
    return places
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
    this.#state = undefined
    this.#learned = false
    this.#added = []
    try {
      const done = work()
      this.#storeShapes()
      statements.commit.run()
      return done
    } catch (error) {
      if (this.#db.inTransaction) statements.rollback.run()
      this.#shapes.shrink(this.#shapes.size - this.#added.length)
      throw error
    }
  }

  close(): void {
    this.#db.close()
  }
}
