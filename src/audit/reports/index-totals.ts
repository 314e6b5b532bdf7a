import type { Decision } from '../../core/errors.js'
import type { IndexStore, Piece } from './index-store.js'
import { ALL_PARTS, isInside, NO_PART, type NodePiece, type SeqRange, type TimeRange, walkIndex } from './index-walk.js'
import { LATENCY_STEPS } from './latency.js'
import { BLOCK_ENTRIES, emptyBlock, type Measures, spanOf } from './layout.js'
import {
  AFFECTED,
  addTo,
  CALLS,
  columnOf,
  ENTRIES,
  KEY,
  LAST_MS,
  MAX_US,
  partsWith,
  type ReadColumns,
  ROWS,
  raiseTo,
  STEP,
  STEP_ENTRIES,
  STEP_KEY,
  SUMS,
  TOTAL_US,
} from './node-sums.js'
import type { Runs } from './runs.js'
import { NO_UNIT, SLICE, SLICE_KEYS, sliceOf } from './slices.js'

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
  /** Whether shapes that differ in names alone (identity, key, tool, target) are all in one group. */
  readonly nameless: boolean
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
  /** By number of a shape: not 0 where it is counted. */
  readonly #wanted: Uint8Array
  readonly #block = emptyBlock()
  readonly intervals = new Map<number, GroupTotals>()
  /** Where the entry before was counted: the next one mostly is of the same interval. */
  #last: GroupTotals | undefined
  #lastFromMs = Number.POSITIVE_INFINITY
  #lastToMs = Number.NEGATIVE_INFINITY

  constructor(store: IndexStore, question: TotalsQuestion) {
    this.#store = store
    this.#question = question
    const { shapes } = store
    this.#wanted = Uint8Array.from(question.groupOf, (group) => (group < 0 ? 0 : 1))
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
    walkIndex(this.#store, range, time, {
      node: (node) => this.#addNode(node),
      runs: (node, part) => {
        if (this.#addNode(node) !== NO_PART) this.#addRuns(node, part)
        return false
      },
      block: (piece, part) => {
        this.#addBlock(piece, part)
        return false
      },
    })
    return this.intervals
  }

  /** The parts in which the node has to be looked at. */
  #addNode(node: NodePiece): number {
    const isNameless = this.#question.nameless
    const add = () =>
      isNameless ? this.#addSlices(node) : node.level === 1 ? this.#addRunSums(node) : this.#addWhole(node)
    if (node.whole && add()) return NO_PART
    return this.#question.nameless || node.level === 1 ? ALL_PARTS : partsWith(this.#store.marks(node), this.#wanted)
  }

  #addWhole(node: NodePiece): boolean {
    const { time, latency } = this.#question
    const interval = this.#intervalOf(node.minMs)
    if (!isInside(node, time) || this.#intervalOf(node.maxMs) !== interval) return false
    const to = this.#totalsOf(interval)
    this.#addSums(this.#store.sums(node), () => to)
    if (latency) this.#addSteps(this.#store.steps(node), () => to)
    return true
  }

  /** False where a slice is only partly asked for, or of two intervals. */
  #addSlices(node: NodePiece): boolean {
    const unitMs = this.#store.sliceUnit(node)
    const sums = this.#store.sliceSums(node, unitMs)
    const keys = columnOf(sums, KEY).subarray(0, sums.rows)
    const targets = this.#targetsOf(
      node,
      unitMs,
      keys.map((key) => Math.floor(key / SLICE_KEYS)),
    )
    if (targets === undefined) return false
    const of = (key: number) => targets.get(Math.floor(key / SLICE_KEYS))
    this.#addSums(sums, of)
    if (this.#question.latency) this.#addSteps(this.#store.sliceSteps(node, unitMs), of)
    return true
  }

  /** Adds a node of level 1 by shape and slice. False as above. */
  #addRunSums(node: NodePiece): boolean {
    const { groupOf, latency } = this.#question
    const unitMs = this.#store.sliceUnit(node)
    const sums = this.#store.runSums(node)
    const slices = columnOf(sums, SLICE)
    const targets = this.#targetsOf(node, unitMs, slices.subarray(0, sums.rows))
    if (targets === undefined) return false
    const bySlice: (GroupTotals | undefined)[] = []
    for (const [slice, target] of targets) bySlice[slice] = target
    this.#addSums(sums, (_, row) => bySlice[slices[row] ?? 0])
    if (!latency) return true
    const keys = columnOf(sums, KEY)
    const entries = columnOf(sums, ENTRIES)
    const steps = this.#store.runSteps(node)
    let at = 0
    for (let row = 0; row < sums.rows; row++) {
      const end = at + (entries[row] ?? 0)
      const group = groupOf[keys[row] ?? 0] ?? -1
      const to = group < 0 ? undefined : bySlice[slices[row] ?? 0]?.steps
      if (to !== undefined) {
        for (let i = at; i < end; i++) addTo(to, group * LATENCY_STEPS + (steps[i] ?? 0), 1)
      }
      at = end
    }
    return true
  }

  /** Where each slice's entries are counted; undefined where one is only partly asked for, or of two intervals. */
  #targetsOf(
    node: NodePiece,
    unitMs: number,
    slices: Float64Array,
  ): ReadonlyMap<number, GroupTotals | undefined> | undefined {
    const first = sliceOf(node.minMs, unitMs)
    const targets = new Map<number, GroupTotals | undefined>()
    let last = -1
    for (const slice of slices) {
      if (slice === last || targets.has(slice)) continue
      last = slice
      const found = this.#targetOf(node, (first + slice) * unitMs, unitMs)
      if (found === 'torn') return undefined
      targets.set(slice, found)
    }
    return targets
  }

  /** Where a slice's entries are counted; undefined where they are not. */
  #targetOf({ minMs, maxMs }: NodePiece, beginMs: number, unitMs: number): GroupTotals | undefined | 'torn' {
    const { fromMs, toMs } = this.#question.time
    const firstMs = unitMs === NO_UNIT ? minMs : Math.max(minMs, beginMs)
    const lastMs = unitMs === NO_UNIT ? maxMs : Math.min(maxMs, beginMs + unitMs - 1)
    if (lastMs < fromMs || firstMs >= toMs) return undefined
    const interval = this.#intervalOf(firstMs)
    return firstMs >= fromMs && lastMs < toMs && this.#intervalOf(lastMs) === interval
      ? this.#totalsOf(interval)
      : 'torn'
  }

  #addSums(read: ReadColumns, of: (key: number, row: number) => GroupTotals | undefined): void {
    const { groupOf } = this.#question
    const [keys, entries, calls, rows, affected] = [KEY, ENTRIES, CALLS, ROWS, AFFECTED].map((at) => columnOf(read, at))
    const [totals, longest, lasts] = [TOTAL_US, MAX_US, LAST_MS].map((at) => columnOf(read, at))
    for (let row = 0; row < read.rows; row++) {
      const key = keys?.[row] ?? 0
      const shape = key % SLICE_KEYS
      const group = groupOf[shape] ?? -1
      const sums = group < 0 ? undefined : of(key, row)?.sums
      if (sums === undefined) continue
      const to = group * GROUP_SUMS
      addTo(sums, to + ENTRIES, entries?.[row] ?? 0)
      addTo(sums, to + CALLS, calls?.[row] ?? 0)
      addTo(sums, to + (this.#decisions[shape] ?? 0), calls?.[row] ?? 0)
      addTo(sums, to + ROWS, rows?.[row] ?? 0)
      addTo(sums, to + AFFECTED, affected?.[row] ?? 0)
      addTo(sums, to + TOTAL_US, totals?.[row] ?? 0)
      raiseTo(sums, to + MAX_US, longest?.[row] ?? 0)
      raiseTo(sums, to + LAST_MS, lasts?.[row] ?? 0)
    }
  }

  #addSteps(read: ReadColumns, of: (key: number) => GroupTotals | undefined): void {
    const { groupOf } = this.#question
    const keys = columnOf(read, STEP_KEY)
    const latencies = columnOf(read, STEP)
    const counts = columnOf(read, STEP_ENTRIES)
    for (let row = 0; row < read.rows; row++) {
      const key = keys[row] ?? 0
      const group = groupOf[key % SLICE_KEYS] ?? -1
      const steps = group < 0 ? undefined : of(key)?.steps
      if (steps !== undefined) addTo(steps, group * LATENCY_STEPS + (latencies[row] ?? 0), counts[row] ?? 0)
    }
  }

  /** Adds the entries of a node of level 1, shape by shape. */
  #addRuns(node: NodePiece, { fromSeq, toSeq }: SeqRange): void {
    const { groupOf, time } = this.#question
    const marks = this.#store.marks(node)
    if (!marks.small(0).some((shape) => (groupOf[shape] ?? -1) >= 0)) return
    const interval = this.#intervalOf(node.minMs)
    const isOne = isInside(node, time) && this.#intervalOf(node.maxMs) === interval
    const runs = this.#store.runs(node, marks, 'everything')
    const first = node.number * spanOf(1)
    const places: SeqRange = { fromSeq: fromSeq - first, toSeq: toSeq - first }
    const one = isOne ? this.#totalsOf(interval) : undefined
    let at = 0
    for (let run = 0; run < runs.shapes.length; run++) {
      const shape = runs.shapes[run] ?? 0
      const end = at + (runs.counts[run] ?? 0)
      const group = groupOf[shape] ?? -1
      if (group >= 0 && one !== undefined && node.whole) this.#addRun(one, runs, at, end, shape, group)
      else if (group >= 0) this.#addSome(runs, at, end, places, shape, group)
      at = end
    }
  }

  /** Adds those entries of a run that are asked for, as many at once as are counted together. */
  #addSome(runs: Runs, begin: number, end: number, { fromSeq, toSeq }: SeqRange, shape: number, group: number): void {
    const { places, times } = runs
    let from = begin
    let target: GroupTotals | undefined
    for (let at = begin; at < end; at++) {
      const place = places[at] ?? 0
      const found = place < fromSeq || place > toSeq ? undefined : this.#totalsAt(times[at] ?? 0)
      if (found === target) continue
      if (target !== undefined) this.#addRun(target, runs, from, at, shape, group)
      target = found
      from = at
    }
    if (target !== undefined) this.#addRun(target, runs, from, end, shape, group)
  }

  #addRun(to: GroupTotals, runs: Runs, begin: number, end: number, shape: number, group: number): void {
    const { times, calls, rows, affected, totals, steps } = runs
    const place = group * GROUP_SUMS
    const latency = this.#question.latency ? group * LATENCY_STEPS : -1
    let [allCalls, allRows, allAffected, totalUs, maxUs, lastMs] = [0, 0, 0, 0, 0, 0]
    for (let at = begin; at < end; at++) {
      const us = totals[at] ?? 0
      const timeMs = times[at] ?? 0
      allCalls += calls[at] ?? 0
      allRows += rows[at] ?? 0
      allAffected += affected[at] ?? 0
      totalUs += us
      if (us > maxUs) maxUs = us
      if (timeMs > lastMs) lastMs = timeMs
      if (latency >= 0) addTo(to.steps, latency + (steps[at] ?? 0), 1)
    }
    const { sums } = to
    addTo(sums, place + ENTRIES, end - begin)
    addTo(sums, place + CALLS, allCalls)
    addTo(sums, place + (this.#decisions[shape] ?? 0), allCalls)
    addTo(sums, place + ROWS, allRows)
    addTo(sums, place + AFFECTED, allAffected)
    addTo(sums, place + TOTAL_US, totalUs)
    raiseTo(sums, place + MAX_US, maxUs)
    raiseTo(sums, place + LAST_MS, lastMs)
  }

  #addBlock(piece: Piece, { fromSeq, toSeq }: SeqRange): void {
    const { groupOf } = this.#question
    const block = this.#store.readBlock(piece, this.#block)
    for (let at = fromSeq % BLOCK_ENTRIES; at <= toSeq % BLOCK_ENTRIES; at++) {
      const shape = block.shapes[at] ?? 0
      const group = groupOf[shape] ?? -1
      if (group < 0) continue
      const totals = this.#totalsAt(block.times[at] ?? 0)
      if (totals !== undefined) this.#addEntry(totals, block, at, shape, group)
    }
  }

  /** Where an entry of this time is counted; undefined where it is not. */
  #totalsAt(timeMs: number): GroupTotals | undefined {
    const { fromMs, toMs } = this.#question.time
    if (timeMs < fromMs || timeMs >= toMs) return undefined
    if (timeMs < this.#lastFromMs || timeMs >= this.#lastToMs) {
      const { intervalMs } = this.#question
      const interval = this.#intervalOf(timeMs)
      this.#last = this.#totalsOf(interval)
      this.#lastFromMs = intervalMs === undefined ? Number.NEGATIVE_INFINITY : interval
      this.#lastToMs = intervalMs === undefined ? Number.POSITIVE_INFINITY : interval + intervalMs
    }
    return this.#last
  }

  #addEntry({ sums, steps }: GroupTotals, measures: Measures, at: number, shape: number, group: number): void {
    const to = group * GROUP_SUMS
    const calls = measures.calls[at] ?? 0
    const us = measures.totals[at] ?? 0
    addTo(sums, to + ENTRIES, 1)
    addTo(sums, to + CALLS, calls)
    addTo(sums, to + (this.#decisions[shape] ?? 0), calls)
    addTo(sums, to + ROWS, measures.rows[at] ?? 0)
    addTo(sums, to + AFFECTED, measures.affected[at] ?? 0)
    addTo(sums, to + TOTAL_US, us)
    raiseTo(sums, to + MAX_US, us)
    raiseTo(sums, to + LAST_MS, measures.times[at] ?? 0)
    if (this.#question.latency) addTo(steps, group * LATENCY_STEPS + (measures.steps[at] ?? 0), 1)
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
