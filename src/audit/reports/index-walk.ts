import { isHole, isOver } from './index-state.js'
import type { IndexStore, Piece } from './index-store.js'
import { BLOCK_ENTRIES, NODE_FAN_OUT, NODE_LEVELS, spanOf } from './layout.js'

/** Entries by number, both ends included. */
export interface SeqRange {
  readonly fromSeq: number
  readonly toSeq: number
}

/** Unix milliseconds: from, and up to but not including. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

export interface NodePiece extends Piece {
  /** Whether all its entries are in the range of numbers that is walked. */
  readonly whole: boolean
}

/** What a node says of its parts, the first one the lowest bit: those that have to be looked at. */
export const NO_PART = 0
export const ALL_PARTS = -1

export interface Walker {
  /** A node above level 1: in which of its parts it has to be looked at. */
  readonly node: (node: NodePiece) => number
  /** Looks at the entries of a node of level 1 from `fromSeq` to `toSeq`; true ends the walk. */
  readonly runs: (node: NodePiece, range: SeqRange) => boolean
  /** Looks at the block's entries from `fromSeq` to `toSeq`; true ends the walk. */
  readonly block: (block: Piece, range: SeqRange) => boolean
}

export function isOutside({ minMs, maxMs }: Piece, { fromMs, toMs }: TimeRange): boolean {
  return maxMs < fromMs || minMs >= toMs
}

export function isInside({ minMs, maxMs }: Piece, { fromMs, toMs }: TimeRange): boolean {
  return minMs >= fromMs && maxMs < toMs
}

class Walk {
  readonly #store: IndexStore
  readonly #range: SeqRange
  readonly #time: TimeRange
  readonly #walker: Walker

  constructor(store: IndexStore, range: SeqRange, time: TimeRange, walker: Walker) {
    this.#store = store
    this.#range = range
    this.#time = time
    this.#walker = walker
  }

  /** True ends the walk. */
  visit(level: number, number: number): boolean {
    const { fromSeq, toSeq } = this.#range
    const first = number * spanOf(level)
    const last = first + spanOf(level) - 1
    if (last < fromSeq || first > toSeq) return false
    const { state } = this.#store
    const blocks = spanOf(level) / BLOCK_ENTRIES
    if (isHole(state, number * blocks, number * blocks + blocks - 1)) return false
    const piece = level === 0 || isOver(state, level, number) ? this.#store.piece(level, number) : undefined
    if (piece !== undefined && isOutside(piece, this.#time)) {
      this.#store.assure(piece)
      return false
    }
    const range: SeqRange = { fromSeq: Math.max(first, fromSeq), toSeq: Math.min(last, toSeq) }
    if (level === 0) return piece !== undefined && this.#walker.block(piece, range)
    // There is no entry 0.
    const whole = (first >= fromSeq || (first === 0 && fromSeq === 1)) && last <= toSeq
    if (level === 1 && piece !== undefined) return this.#walker.runs({ ...piece, whole }, range)
    const parts = piece === undefined ? ALL_PARTS : this.#walker.node({ ...piece, whole })
    for (let part = NODE_FAN_OUT - 1; part >= 0 && parts !== NO_PART; part--) {
      if (((parts >>> part) & 1) === 1 && this.visit(level - 1, number * NODE_FAN_OUT + part)) return true
    }
    return false
  }
}

/** Leads through a range of entries that may be of these times, the newest first, by the largest nodes there are. */
export function walkIndex(store: IndexStore, range: SeqRange, time: TimeRange, walker: Walker): void {
  const walk = new Walk(store, range, time, walker)
  // Before the first entry was read there is nothing, not even what is missing.
  if (range.toSeq < range.fromSeq) return
  const span = spanOf(NODE_LEVELS)
  for (let number = Math.floor(range.toSeq / span); number >= Math.floor(range.fromSeq / span); number--) {
    if (walk.visit(NODE_LEVELS, number)) return
  }
}
