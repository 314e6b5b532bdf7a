import type { ChainKeys, EntryLine } from '../chain.js'
import type { BufferRange, BufferReader } from './buffer-reader.js'
import { type EntryFacts, factsOf, ofEntry } from './entry-facts.js'
import { fileFault } from './index-fault.js'
import type { IndexPosition, IndexStore } from './index-store.js'
import { latencyStep } from './latency.js'
import { BLOCK_ENTRIES, type Block, bytesOf, emptyBlock, NODE_FAN_OUT, NODE_LEVELS, spanOf } from './layout.js'
import { NodeDraft } from './node-sums.js'
import { lastHigh, PairDraft } from './row-pairs.js'

/** Blocks that one step forgets at most. */
const FORGOTTEN_BLOCKS_MAX = 64
const FORGOTTEN_PARTS_MAX = 256
/** Pairs of one part: what a look-up reads of a node. */
const PART_PAIRS = 2_048
/** Entries whose digests lie in one list of sorted parts. */
const DIGEST_SPAN = spanOf(1)

interface ReadEntry {
  readonly seq: number
  readonly facts: EntryFacts
}

/** A line ends in its own hash. */
function hashOf(line: string): string {
  return line.slice(-66, -2)
}

function readEntries(lines: readonly EntryLine[], keys: ChainKeys): readonly ReadEntry[] {
  const entries: ReadEntry[] = []
  for (const { seq, line } of lines) {
    const facts = ofEntry(line, (entry) => factsOf(entry, keys))
    if (facts !== undefined) entries.push({ seq, facts })
  }
  return entries
}

function timesOf({ shapes, times }: Block): { readonly minMs: number; readonly maxMs: number } {
  let minMs = Number.POSITIVE_INFINITY
  let maxMs = Number.NEGATIVE_INFINITY
  for (let i = 0; i < BLOCK_ENTRIES; i++) {
    if (shapes[i] === 0) continue
    minMs = Math.min(minMs, times[i] ?? 0)
    maxMs = Math.max(maxMs, times[i] ?? 0)
  }
  return { minMs, maxMs }
}

/** What is read of a buffer. */
export type FollowedBuffer = Pick<BufferReader, 'range' | 'next' | 'lines' | 'line'>

/** Brings an index up to its buffer. Two processes may do so at once: each step looks where the other has come to. */
export class Follower {
  readonly #store: IndexStore
  readonly #buffer: FollowedBuffer
  readonly #keys: ChainKeys

  constructor(store: IndexStore, buffer: FollowedBuffer, keys: ChainKeys) {
    this.#store = store
    this.#buffer = buffer
    this.#keys = keys
  }

  /** Reads on by what is left of one block at most, some milliseconds' work. False when there was nothing to do. */
  step(): boolean {
    const range = this.#buffer.range()
    const { position, fullSince, firstBlock } = this.#store.reading(() => ({
      position: this.#store.position,
      fullSince: this.#store.fullSince,
      firstBlock: this.#store.statements.firstBlock.get() ?? Number.POSITIVE_INFINITY,
    }))
    // Everything may have been deleted; what comes next goes on from there.
    if (range.lastSeq === 0) return false
    if (range.lastSeq < position.seq) throw fileFault('it is ahead of its buffer')
    // The entries whose names filled it are gone: a new one has room for those that are used now.
    if (fullSince !== undefined && range.firstSeq > fullSince) throw fileFault('it has no room for new names')
    const stale = firstBlock < blockOf(range.firstSeq)
    if (range.lastSeq === position.seq && !stale) return false
    this.#checkHistory(position)
    const lines = this.#nextLines(position, range)
    const entries = readEntries(lines, this.#keys)
    const last = lines[lines.length - 1]
    this.#store.writing(() => {
      // Another process was here first: what it did is not done again.
      if (this.#store.position.seq !== position.seq) return
      if (stale) this.#forget(range.firstSeq)
      if (last === undefined) return
      this.#take(blockOf(last.seq), entries)
      this.#store.position = { seq: last.seq, hash: hashOf(last.line) }
      if (fullSince === undefined && this.#store.shapes.full) this.#store.fullSince = last.seq
      this.#close(position.seq, last.seq)
    })
    return true
  }

  /** A buffer that was put back from a copy has other entries under the same numbers. */
  #checkHistory({ seq, hash }: IndexPosition): void {
    const line = this.#buffer.line(seq)
    if (line !== undefined && hashOf(line) !== hash) throw fileFault('its buffer has another history')
  }

  /** Entries of one block. */
  #nextLines(position: IndexPosition, range: BufferRange): readonly EntryLine[] {
    // Numbers may be missing where somebody changed the buffer.
    const from = this.#buffer.next(Math.max(position.seq + 1, range.firstSeq))
    return from === undefined ? [] : this.#buffer.lines(from, (blockOf(from) + 1) * BLOCK_ENTRIES - 1)
  }

  #take(number: number, entries: readonly ReadEntry[]): void {
    const { statements } = this.#store
    const block = this.#store.block(number) ?? emptyBlock()
    const pairs = new PairDraft()
    const known = statements.pairs.get(number)
    if (known !== undefined) pairs.addAll(known)
    for (const { seq, facts } of entries) {
      const at = seq % BLOCK_ENTRIES
      block.shapes[at] = this.#store.numberOf(facts.shape)
      block.times[at] = facts.timeMs
      block.calls[at] = facts.calls
      block.rows[at] = facts.rows
      block.affected[at] = facts.affected
      block.totals[at] = facts.totalUs
      block.steps[at] = latencyStep(facts.totalUs)
      for (const digest of facts.digests) pairs.add(digest, seq % DIGEST_SPAN)
    }
    const { minMs, maxMs } = timesOf(block)
    // Without an entry that can be read there is nothing to keep.
    if (minMs <= maxMs) this.#store.putBlock(number, block, minMs, maxMs)
    if (pairs.pairs > 0) statements.putPairs.run(number, bytesOf(pairs.sorted()))
  }

  /** Makes the nodes whose last block is over. Where numbers are missing, a node has what there is. */
  #close(before: number, now: number): void {
    for (let level = 1; level <= NODE_LEVELS; level++) {
      const span = spanOf(level)
      const number = Math.floor(before / span)
      for (const node of new Set([number, Math.floor(now / span)])) {
        const lastOfNode = (node + 1) * span - 1
        if (lastOfNode <= now && lastOfNode > before) this.#closeNode(level, node)
      }
    }
  }

  #closeNode(level: number, node: number): void {
    const { statements } = this.#store
    const draft = new NodeDraft()
    const first = node * NODE_FAN_OUT
    for (let part = first; part < first + NODE_FAN_OUT; part++) {
      if (level === 1) {
        const block = this.#store.block(part)
        if (block !== undefined) draft.addBlock(block)
      } else {
        const times = statements.node.get(level - 1, part)
        const sums = statements.nodeSums.get(level - 1, part)
        const steps = statements.nodeSteps.get(level - 1, part)
        if (times === undefined || sums === undefined || steps === undefined) continue
        draft.addNode({ sums, steps }, times.minMs, times.maxMs)
      }
    }
    if (draft.minMs > draft.maxMs) return
    const { sums, steps } = draft.node()
    statements.putNode.run(level, node, draft.minMs, draft.maxMs, sums, steps)
    if (level === 1) this.#sortDigests(node)
  }

  /** The lists of a node's blocks become one, so that a look-up has one place to look at for many entries. */
  #sortDigests(node: number): void {
    const { statements } = this.#store
    const first = node * NODE_FAN_OUT
    const pairs = new PairDraft()
    for (let block = first; block < first + NODE_FAN_OUT; block++) {
      const stored = statements.pairs.get(block)
      if (stored !== undefined) pairs.addAll(stored)
    }
    const words = pairs.sorted()
    for (let at = 0; at < words.length; at += PART_PAIRS * 2) {
      const part = words.subarray(at, at + PART_PAIRS * 2)
      statements.putPart.run(node, lastHigh(part), bytesOf(part))
    }
    statements.dropPairs.run(first, first + NODE_FAN_OUT - 1)
  }

  /** What was deleted from the buffer is no longer asked for; it goes from here in small steps. */
  #forget(firstSeq: number): void {
    const { statements } = this.#store
    statements.forgetBlocks.run(blockOf(firstSeq), FORGOTTEN_BLOCKS_MAX)
    statements.forgetPairs.run(blockOf(firstSeq))
    for (let level = 1; level <= NODE_LEVELS; level++) {
      statements.forgetNodes.run(level, Math.floor(firstSeq / spanOf(level)))
    }
    statements.forgetParts.run(Math.floor(firstSeq / DIGEST_SPAN), FORGOTTEN_PARTS_MAX)
  }
}

export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_ENTRIES)
}
