import type { IndexStore, Piece } from './index-store.js'
import { BLOCK_ENTRIES, NODE_LEVELS, spanOf } from './layout.js'

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
  readonly level: number
  /** Whether all its entries are in the range of numbers that is walked. */
  readonly whole: boolean
}

export interface Walker {
  /** True when the node needs no closer look. */
  readonly node: (node: NodePiece) => boolean
  /** Looks at the block's entries from `fromSeq` to `toSeq`; true ends the walk. */
  readonly block: (block: Piece, range: SeqRange) => boolean
}

export function isOutside({ minMs, maxMs }: Piece, { fromMs, toMs }: TimeRange): boolean {
  return maxMs < fromMs || minMs >= toMs
}

export function isInside({ minMs, maxMs }: Piece, { fromMs, toMs }: TimeRange): boolean {
  return minMs >= fromMs && maxMs < toMs
}

/** Leads through a range of entries, the newest first, by the largest nodes there are. */
export function walkIndex(store: IndexStore, { fromSeq, toSeq }: SeqRange, walker: Walker): void {
  const { statements } = store
  /** The first entry of a node that ends at or below `at`, has this block for its last one, and needs no closer look. */
  const passed = (block: Piece, at: number): number | undefined => {
    for (let level = NODE_LEVELS; level > 0; level--) {
      const span = spanOf(level)
      const number = Math.floor((block.number * BLOCK_ENTRIES) / span)
      const first = number * span
      // Above this block there is nothing in the node, or it would have come first.
      const node = first + span - 1 <= at ? statements.node.get(level, number) : undefined
      // There is no entry 0.
      const whole = first >= fromSeq || (first === 0 && fromSeq === 1)
      if (node !== undefined && walker.node({ ...node, level, whole })) return first
    }
    return undefined
  }
  for (let at = toSeq; at >= fromSeq; ) {
    const block = statements.blockUpTo.get(Math.floor(at / BLOCK_ENTRIES))
    const first = (block?.number ?? 0) * BLOCK_ENTRIES
    const last = Math.min(at, first + BLOCK_ENTRIES - 1)
    if (block === undefined || last < fromSeq) return
    const skipped = passed(block, at)
    if (skipped === undefined && walker.block(block, { fromSeq: Math.max(first, fromSeq), toSeq: last })) return
    at = (skipped ?? first) - 1
  }
}
