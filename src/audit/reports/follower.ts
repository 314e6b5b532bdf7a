import type { ChainKeys, EntryLine } from '../chain.js'
import type { BufferRange, BufferReader } from './buffer-reader.js'
import { type EntryFacts, factsOf } from './entry-facts.js'
import { hashOf, ofGenuine } from './genuine.js'
import { fileFault } from './index-fault.js'
import { blockOf, type IndexState, stateAfter } from './index-state.js'
import type { IndexStore, Piece } from './index-store.js'
import { latencyStep } from './latency.js'
import {
  BLOCK_ENTRIES,
  type Block,
  bytesOf,
  emptyBlock,
  NODE_FAN_OUT,
  NODE_LEVELS,
  spanOf,
  uint32Column,
} from './layout.js'
import { PairDraft } from './row-pairs.js'
import { runsOf, storeRuns } from './runs.js'
import { sliceRuns } from './slices.js'
import { endingNodes, UpperNodes } from './upper-nodes.js'

/** Nodes of each level, and parts with digests, that one step forgets at most. */
const FORGOTTEN_NODES_MAX = 2
const FORGOTTEN_PARTS_MAX = 512
/** Entries whose digests lie in one list of sorted parts. */
export const DIGEST_SPAN = spanOf(1)

interface ReadEntry {
  readonly seq: number
  readonly facts: EntryFacts
}

interface ReadEntries {
  readonly entries: readonly ReadEntry[]
  /** How many lines were not made by this instance for their place. */
  readonly strange: number
}

interface Times {
  readonly minMs: number
  readonly maxMs: number
}

function timesIn(times: Iterable<number>): Times {
  let minMs = Number.POSITIVE_INFINITY
  let maxMs = Number.NEGATIVE_INFINITY
  for (const timeMs of times) {
    minMs = Math.min(minMs, timeMs)
    maxMs = Math.max(maxMs, timeMs)
  }
  // What has no entry that can be read is looked at in vain.
  return minMs > maxMs ? { minMs: 0, maxMs: 0 } : { minMs, maxMs }
}

function timesOf({ shapes, times }: Block): Times {
  return timesIn(times.filter((_, at) => shapes[at] !== 0))
}

/** What is read of a buffer. */
export type FollowedBuffer = Pick<BufferReader, 'range' | 'next' | 'lines' | 'line' | 'instance'>

/** Brings an index up to its buffer. Two processes may do so at once: each step looks where the other has come to. */
export class Follower {
  readonly #store: IndexStore
  readonly #buffer: FollowedBuffer
  readonly #keys: ChainKeys
  readonly #upper: UpperNodes

  constructor(store: IndexStore, buffer: FollowedBuffer, keys: ChainKeys) {
    this.#store = store
    this.#buffer = buffer
    this.#keys = keys
    this.#upper = new UpperNodes(store)
  }

  /** Reads on by what is left of one block at most, some milliseconds' work. False when there was nothing to do. */
  step(): boolean {
    const range = this.#buffer.range()
    const { state, oldest } = this.#store.reading(() => ({
      state: this.#store.state,
      oldest: this.#oldest(),
    }))
    // Everything may have been deleted; what comes next goes on from there.
    if (range.lastSeq === 0) return false
    if (this.#upper.step(range.firstSeq)) return true
    if (range.lastSeq < state.seq) throw fileFault('it is ahead of its buffer')
    // The entries whose names filled it are gone: a new one has room for those that are used now.
    if (state.fullSince !== undefined && range.firstSeq > state.fullSince)
      throw fileFault('it has no room for new names')
    const stale = oldest.block < blockOf(range.firstSeq) || oldest.node < nodeOf(range.firstSeq)
    if (range.lastSeq === state.seq && !stale) return false
    this.#checkHistory(state)
    const lines = this.#nextLines(state, range)
    const read = this.#readEntries(lines)
    const last = lines[lines.length - 1]
    this.#store.writing(() => {
      // Another process was here first: what it did is not done again.
      if (this.#store.state.seq !== state.seq) return
      if (stale) this.#forget(range.firstSeq)
      if (last !== undefined) this.#take(read, last, range.firstSeq)
    })
    if (last !== undefined) this.#upper.passed(state.seq, last.seq)
    return true
  }

  /** A buffer that was put back from a copy has other entries under the same numbers. */
  #checkHistory({ seq, hash }: IndexState): void {
    const line = this.#buffer.line(seq)
    if (line !== undefined && hashOf(line) !== hash) throw fileFault('its buffer has another history')
  }

  /** Entries of one block. */
  #nextLines({ seq }: IndexState, range: BufferRange): readonly EntryLine[] {
    // Numbers may be missing where somebody changed the buffer.
    const from = this.#buffer.next(Math.max(seq + 1, range.firstSeq))
    return from === undefined ? [] : this.#buffer.lines(from, (blockOf(from) + 1) * BLOCK_ENTRIES - 1)
  }

  #readEntries(lines: readonly EntryLine[]): ReadEntries {
    const entries: ReadEntry[] = []
    for (const line of lines) {
      const facts = ofGenuine(this.#keys, this.#buffer.instance, line, (entry) => factsOf(entry, this.#keys))
      if (facts !== undefined) entries.push({ seq: line.seq, facts })
    }
    return { entries, strange: lines.length - entries.length }
  }

  #take({ entries, strange }: ReadEntries, last: EntryLine, firstSeq: number): void {
    const store = this.#store
    const before = store.state
    const number = blockOf(last.seq)
    const isBegun = before.open.some(([known]) => known === number)
    const block = (isBegun ? this.#openBlock(number) : undefined) ?? emptyBlock()
    const pairs = new PairDraft()
    const known = store.pairs(number)
    if (known !== undefined) pairs.addAll(known)
    for (const { seq, facts } of entries) {
      this.#putEntry(block, seq, facts)
      for (const digest of facts.digests) pairs.add(digest, seq % DIGEST_SPAN)
    }
    // What was sealed as open is read before it is over.
    const ending = endingNodes(1, before.seq, last.seq).map((node) => ({ node, ...this.#openParts(node, number) }))
    const sorted = pairs.sorted()
    const { size: shapes, full } = store.shapes
    store.state = stateAfter(before, { seq: last.seq, hash: hashOf(last.line), strange, firstSeq, shapes, full })
    const isOver = ending.some(({ node }) => node === Math.floor(number / NODE_FAN_OUT))
    if (!isOver) {
      store.putBlock({ level: 0, number, ...timesOf(block) }, block)
      store.putPairs(number, sorted)
    }
    for (const { node, blocks, pairs: digests } of ending) {
      const isOwn = Math.floor(number / NODE_FAN_OUT) === node
      if (isOwn) blocks.set(number, block)
      this.#endNode(node, blocks, isOwn ? [...digests, sorted] : digests)
    }
  }

  #putEntry(block: Block, seq: number, facts: EntryFacts): void {
    const at = seq % BLOCK_ENTRIES
    block.shapes[at] = this.#store.numberOf(facts.shape)
    block.times[at] = facts.timeMs
    block.calls[at] = facts.calls
    block.rows[at] = facts.rows
    block.affected[at] = facts.affected
    block.totals[at] = facts.totalUs
    block.steps[at] = latencyStep(facts.totalUs)
  }

  #openBlock(number: number): Block | undefined {
    const piece = this.#store.piece(0, number)
    return piece === undefined ? undefined : this.#store.readBlock(piece, emptyBlock())
  }

  /** Blocks and digests of a node that is not over, but for one block. */
  #openParts(
    node: number,
    but: number,
  ): { readonly blocks: Map<number, Block>; readonly pairs: readonly Uint32Array[] } {
    const blocks = new Map<number, Block>()
    const pairs: Uint32Array[] = []
    for (const [number] of this.#store.state.open) {
      if (number === but || Math.floor(number / NODE_FAN_OUT) !== node) continue
      const known = this.#openBlock(number)
      if (known !== undefined) blocks.set(number, known)
      const digests = this.#store.pairs(number)
      if (digests !== undefined) pairs.push(uint32Column(digests))
    }
    return { blocks, pairs }
  }

  /** What was written step by step is put in order, once and for all. */
  #endNode(number: number, blocks: ReadonlyMap<number, Block>, pairs: readonly Uint32Array[]): void {
    if (blocks.size === 0) return
    const store = this.#store
    this.#sortDigests(number, pairs)
    const runs = runsOf(blocks)
    const node: Piece = { level: 1, number, ...timesIn(runs.times) }
    const stored = storeRuns(runs)
    store.putRuns(node, stored)
    store.putNode(node, { marks: stored.marks, ...sliceRuns(runs, node.minMs, store.shapes) })
    store.statements.dropBlocks.run(number * NODE_FAN_OUT, (number + 1) * NODE_FAN_OUT - 1)
  }

  /** The lists of a node's blocks become one, so that a look-up has one place to look at for many entries. */
  #sortDigests(node: number, lists: readonly Uint32Array[]): void {
    const pairs = new PairDraft()
    for (const list of lists) pairs.addAll(bytesOf(list))
    this.#store.putParts(node, pairs.sorted())
    this.#store.statements.dropPairs.run(node * NODE_FAN_OUT, (node + 1) * NODE_FAN_OUT - 1)
  }

  /** The oldest block and the oldest node of level 1. */
  #oldest(): { readonly block: number; readonly node: number } {
    const { firstBlock, firstRuns } = this.#store.statements
    return {
      block: firstBlock.get() ?? Number.POSITIVE_INFINITY,
      node: firstRuns.get() ?? Number.POSITIVE_INFINITY,
    }
  }

  /** What was deleted from the buffer is no longer asked for; it goes from here in small steps. */
  #forget(firstSeq: number): void {
    const { statements, state } = this.#store
    const firstBlock = blockOf(firstSeq)
    this.#store.state = { ...state, open: state.open.filter(([block]) => block >= firstBlock) }
    statements.forgetBlocks.run(firstBlock)
    statements.forgetPairs.run(firstBlock)
    for (let level = 1; level <= NODE_LEVELS; level++) {
      statements.forgetNodes.run(level, level, Math.floor(firstSeq / spanOf(level)), FORGOTTEN_NODES_MAX)
    }
    statements.forgetRuns.run(nodeOf(firstSeq), FORGOTTEN_NODES_MAX)
    statements.forgetParts.run(nodeOf(firstSeq), FORGOTTEN_PARTS_MAX)
  }
}

/** The node of level 1 that an entry is of. */
function nodeOf(seq: number): number {
  return Math.floor(seq / spanOf(1))
}
