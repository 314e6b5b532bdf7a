import { BLOCK_ENTRIES, spanOf } from './layout.js'

/** What an index has come to: written with each step, and sealed with it. */
export interface IndexState {
  /** The last entry that was read; 0 before the first. */
  readonly seq: number
  /** Its hash, so that another history under the same numbers shows. */
  readonly hash: string
  /** How many shapes there are. */
  readonly shapes: number
  /** The entry with which the shapes reached their limit; undefined while there is room. */
  readonly fullSince?: number
  /** Blocks of the node that is not over yet, each with the last entry it has: an older copy of one does not pass for it. */
  readonly open: readonly (readonly [block: number, lastSeq: number])[]
  /** Blocks that no entry was read for, from and to: numbers were missing. All others must be there. */
  readonly holes: readonly (readonly [from: number, to: number])[]
  /** Entries that are not this instance's own: in which blocks, and how many. */
  readonly strange: readonly (readonly [from: number, to: number, entries: number])[]
}

export const NEW_STATE: IndexState = { seq: 0, hash: '', shapes: 0, open: [], holes: [], strange: [] }

/** Stretches of entries that are not genuine which are told apart. */
const STRANGE_MAX = 256

export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_ENTRIES)
}

/** Whether a node (level 0: a block) is not followed any further. */
export function isOver({ seq }: IndexState, level: number, number: number): boolean {
  return (number + 1) * spanOf(level) - 1 <= seq
}

/** Whether no entry was read for any of these blocks. */
export function isHole({ holes }: IndexState, from: number, to: number): boolean {
  return holes.some(([first, last]) => first <= from && to <= last)
}

/** Entries that are not genuine from `fromSeq` on, by whole stretches. */
export function strangeSince({ strange }: IndexState, fromSeq: number): number {
  const block = blockOf(fromSeq)
  return strange.reduce((sum, [, to, entries]) => (to < block ? sum : sum + entries), 0)
}

/** Where a step has come to. */
export interface Step {
  /** The last entry that was read. */
  readonly seq: number
  readonly hash: string
  /** How many of the entries read were not genuine. */
  readonly strange: number
  /** The first entry that the buffer still has. */
  readonly firstSeq: number
  readonly shapes: number
  readonly full: boolean
}

function withStrange(state: IndexState, block: number, entries: number): IndexState['strange'] {
  if (entries === 0) return state.strange
  const last = state.strange[state.strange.length - 1]
  const joins = last !== undefined && (last[1] >= block - 1 || state.strange.length >= STRANGE_MAX)
  if (!joins) return [...state.strange, [block, block, entries]]
  return [...state.strange.slice(0, -1), [last[0], block, last[2] + entries]]
}

/** The state after a step, whose entries are all of one block. */
export function stateAfter(state: IndexState, step: Step): IndexState {
  const block = blockOf(step.seq)
  const before = state.seq === 0 ? -1 : blockOf(state.seq)
  const node = Math.floor((step.seq + 1) / spanOf(1))
  const firstBlock = blockOf(step.firstSeq)
  const fullSince = state.fullSince ?? (step.full ? step.seq : undefined)
  return {
    seq: step.seq,
    hash: step.hash,
    shapes: step.shapes,
    ...(fullSince === undefined ? {} : { fullSince }),
    // What is over is sealed as such.
    open: [...state.open.filter(([known]) => known !== block), [block, step.seq] as const].filter(
      ([known]) => Math.floor((known * BLOCK_ENTRIES) / spanOf(1)) >= node,
    ),
    holes: [
      ...state.holes.filter(([, to]) => to >= firstBlock),
      ...(block > before + 1 ? [[before + 1, block - 1] as const] : []),
    ],
    strange: withStrange(
      { ...state, strange: state.strange.filter(([, to]) => to >= firstBlock) },
      block,
      step.strange,
    ),
  }
}
