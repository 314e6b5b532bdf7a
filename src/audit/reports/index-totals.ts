import type { Decision } from '../../core/errors.js'
import type { IndexStore, Piece } from './index-store.js'
import { isInside, isOutside, type NodePiece, type SeqRange, type TimeRange, walkIndex } from './index-walk.js'
import { LATENCY_STEPS } from './latency.js'
import { BLOCK_ENTRIES, type Block } from './layout.js'
import {
  AFFECTED,
  addTo,
  CALLS,
  ENTRIES,
  LAST_MS,
  MAX_US,
  ROWS,
  raiseTo,
  SHAPE,
  STEP_NUMBERS,
  SUMS,
  stepsOf,
  sumsOf,
  TOTAL_US,
} from './node-sums.js'

/** What is known of a set of entries. */
export interface Totals {
  readonly entries: number
  /** More than the entries where refusals were folded. */
  readonly calls: number
  readonly allowed: number
  readonly blocked: number
  readonly errored: number
  readonly rows: number
  readonly affected: number
  /** Microseconds, of all entries together. */
  readonly totalUs: number
  readonly maxUs: number
  /** Unix milliseconds of the last entry. */
  readonly lastMs: number
  /** How many entries are in each step of latency; without members where that was not asked for. */
  readonly steps: Float64Array
}

/** Which entries are counted, and together with which. */
export interface TotalsQuestion {
  readonly range: SeqRange
  readonly time: TimeRange
  /** By number of a shape, the group it belongs to, from 0; −1 where it is not counted. */
  readonly groupOf: Int32Array
  readonly groups: number
  /** Whether latencies are counted, which takes room for every group. */
  readonly latency: boolean
  /** Length of the intervals that are told apart, in milliseconds; absent: they are not. */
  readonly intervalMs?: number
}

/** Behind the sums of a node, calls by decision. */
const GROUP_SUMS = SUMS + 3
const DECISIONS: Readonly<Record<Decision, number>> = { allowed: SUMS, blocked: SUMS + 1, errored: SUMS + 2 }

/** Totals of groups, in columns: there can be as many groups as shapes, and millions of sums to be added. */
export class GroupTotals {
  readonly sums: Float64Array
  readonly steps: Float64Array
  readonly #latency: boolean

  constructor(groups: number, latency: boolean) {
    this.sums = new Float64Array(groups * GROUP_SUMS)
    this.steps = new Float64Array(latency ? groups * LATENCY_STEPS : 0)
    this.#latency = latency
  }

  of(group: number): Totals {
    const at = (member: number) => this.sums[group * GROUP_SUMS + member] ?? 0
    const first = group * LATENCY_STEPS
    return {
      entries: at(ENTRIES),
      calls: at(CALLS),
      allowed: at(DECISIONS.allowed),
      blocked: at(DECISIONS.blocked),
      errored: at(DECISIONS.errored),
      rows: at(ROWS),
      affected: at(AFFECTED),
      totalUs: at(TOTAL_US),
      maxUs: at(MAX_US),
      lastMs: at(LAST_MS),
      steps: this.#latency ? this.steps.subarray(first, first + LATENCY_STEPS) : this.steps,
    }
  }

  /** Groups that have entries. */
  *counted(): Generator<readonly [group: number, totals: Totals]> {
    for (let group = 0; group * GROUP_SUMS < this.sums.length; group++) {
      if ((this.sums[group * GROUP_SUMS + ENTRIES] ?? 0) > 0) yield [group, this.of(group)]
    }
  }
}

/** By the beginning of an interval in Unix milliseconds; 0 alone where none are told apart. */
export type IntervalTotals = ReadonlyMap<number, GroupTotals>

class TotalsCount {
  readonly #store: IndexStore
  readonly #question: TotalsQuestion
  /** By number of a shape, the place of its decision. */
  readonly #decisions: Uint8Array
  readonly intervals = new Map<number, GroupTotals>()

  constructor(store: IndexStore, question: TotalsQuestion) {
    this.#store = store
    this.#question = question
    const { shapes } = store
    this.#decisions = Uint8Array.from(
      { length: shapes.size + 1 },
      (_, n) => DECISIONS[shapes.shape(n)?.decision ?? 'errored'],
    )
  }

  #intervalOf(timeMs: number): number {
    const { intervalMs } = this.#question
    return intervalMs === undefined ? 0 : Math.floor(timeMs / intervalMs) * intervalMs
  }

  #totalsOf(interval: number): GroupTotals {
    const known = this.intervals.get(interval)
    if (known !== undefined) return known
    const made = new GroupTotals(this.#question.groups, this.#question.latency)
    this.intervals.set(interval, made)
    return made
  }

  count(): IntervalTotals {
    const { range, time } = this.#question
    walkIndex(this.#store, range, {
      node: (node) => isOutside(node, time) || this.#addNode(node),
      block: (piece, part) => {
        if (!isOutside(piece, time)) this.#addBlock(piece, part)
        return false
      },
    })
    return this.intervals
  }

  /** False where the node has to be looked at in parts. */
  #addNode(node: NodePiece): boolean {
    const { time, groupOf, latency } = this.#question
    const interval = this.#intervalOf(node.minMs)
    if (!node.whole || !isInside(node, time) || this.#intervalOf(node.maxMs) !== interval) return false
    const { nodeSums, nodeSteps } = this.#store.statements
    const storedSums = nodeSums.get(node.level, node.number)
    const storedSteps = latency ? nodeSteps.get(node.level, node.number) : undefined
    if (storedSums === undefined) return false
    const { sums, steps } = this.#totalsOf(interval)
    const added = sumsOf(storedSums)
    for (let at = 0; at < added.length; at += SUMS) {
      const shape = added[at + SHAPE] ?? 0
      const group = groupOf[shape] ?? -1
      if (group < 0) continue
      const to = group * GROUP_SUMS
      const calls = added[at + CALLS] ?? 0
      addTo(sums, to + ENTRIES, added[at + ENTRIES] ?? 0)
      addTo(sums, to + CALLS, calls)
      addTo(sums, to + (this.#decisions[shape] ?? 0), calls)
      addTo(sums, to + ROWS, added[at + ROWS] ?? 0)
      addTo(sums, to + AFFECTED, added[at + AFFECTED] ?? 0)
      addTo(sums, to + TOTAL_US, added[at + TOTAL_US] ?? 0)
      raiseTo(sums, to + MAX_US, added[at + MAX_US] ?? 0)
      raiseTo(sums, to + LAST_MS, added[at + LAST_MS] ?? 0)
    }
    const counts = storedSteps === undefined ? undefined : stepsOf(storedSteps)
    for (let at = 0; counts !== undefined && at < counts.length; at += STEP_NUMBERS) {
      const group = groupOf[counts[at] ?? 0] ?? -1
      if (group >= 0) addTo(steps, group * LATENCY_STEPS + (counts[at + 1] ?? 0), counts[at + 2] ?? 0)
    }
    return true
  }

  #addBlock(piece: Piece, { fromSeq, toSeq }: SeqRange): void {
    const { groupOf, time } = this.#question
    const block = this.#store.block(piece.number)
    if (block === undefined) return
    const interval = this.#intervalOf(piece.minMs)
    const isOne = isInside(piece, time) && this.#intervalOf(piece.maxMs) === interval
    const one = isOne ? this.#totalsOf(interval) : undefined
    for (let at = fromSeq % BLOCK_ENTRIES; at <= toSeq % BLOCK_ENTRIES; at++) {
      const shape = block.shapes[at] ?? 0
      const group = shape === 0 ? -1 : (groupOf[shape] ?? -1)
      if (group < 0) continue
      const totals = one ?? this.#totalsAt(block.times[at] ?? 0)
      if (totals !== undefined) this.#addEntry(totals, block, at, shape, group)
    }
  }

  /** Where an entry of this time is counted; undefined where it is not. */
  #totalsAt(timeMs: number): GroupTotals | undefined {
    const { fromMs, toMs } = this.#question.time
    return timeMs < fromMs || timeMs >= toMs ? undefined : this.#totalsOf(this.#intervalOf(timeMs))
  }

  #addEntry({ sums, steps }: GroupTotals, block: Block, at: number, shape: number, group: number): void {
    const to = group * GROUP_SUMS
    const calls = block.calls[at] ?? 0
    const us = block.totals[at] ?? 0
    addTo(sums, to + ENTRIES, 1)
    addTo(sums, to + CALLS, calls)
    addTo(sums, to + (this.#decisions[shape] ?? 0), calls)
    addTo(sums, to + ROWS, block.rows[at] ?? 0)
    addTo(sums, to + AFFECTED, block.affected[at] ?? 0)
    addTo(sums, to + TOTAL_US, us)
    raiseTo(sums, to + MAX_US, us)
    raiseTo(sums, to + LAST_MS, block.times[at] ?? 0)
    if (this.#question.latency) addTo(steps, group * LATENCY_STEPS + (block.steps[at] ?? 0), 1)
  }
}

/** Counts entries by groups of shapes. */
export function countTotals(store: IndexStore, question: TotalsQuestion): IntervalTotals {
  return new TotalsCount(store, question).count()
}

/** Totals of sets of entries that have none in common, as one. */
export function addTotals(all: Iterable<Totals>): Totals {
  const members = { entries: 0, calls: 0, allowed: 0, blocked: 0, errored: 0, rows: 0, affected: 0, totalUs: 0 }
  const steps = new Float64Array(LATENCY_STEPS)
  let maxUs = 0
  let lastMs = 0
  for (const each of all) {
    for (const member of [
      'entries',
      'calls',
      'allowed',
      'blocked',
      'errored',
      'rows',
      'affected',
      'totalUs',
    ] as const) {
      members[member] += each[member]
    }
    maxUs = Math.max(maxUs, each.maxUs)
    lastMs = Math.max(lastMs, each.lastMs)
    for (const [step, count] of each.steps.entries()) addTo(steps, step, count)
  }
  return { ...members, maxUs, lastMs, steps }
}
