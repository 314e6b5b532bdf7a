import { packColumns } from './columns.js'
import type { Piece } from './index-store.js'
import { addEntryTo, columnOf, KEY, type PackedSums, type ReadColumns, SUMS, SumsDraft } from './node-sums.js'
import type { Runs } from './runs.js'
import type { Shape, ShapeBook } from './shapes.js'

/**
 * A node's entries by slices of time: minutes, hours or days of UTC, whatever makes few slices of it, and within a slice by what a
 * caller cannot make many of: connector, operation, decision and code. From them come intervals, and totals without a name in
 * their filter, however many entries there are.
 */
const UNITS = [60_000, 3_600_000, 86_400_000] as const
/** Everything is one slice. */
export const NO_UNIT = 0
const SLICES_MAX = 96

export interface Slices extends PackedSums {
  /** Milliseconds; `NO_UNIT` where time is not told apart. */
  readonly unitMs: number
}

export function sliceOf(timeMs: number, unitMs: number): number {
  return unitMs === NO_UNIT ? 0 : Math.floor(timeMs / unitMs)
}

const kindKey = ({ connector, operation, decision, code }: Shape) =>
  JSON.stringify([connector, operation, decision, code])

interface KnownKinds {
  readonly kindOf: number[]
  readonly first: Map<string, number>
}

/** By number of a shape, the first shape that differs from it in names alone: it stands for all of them in slices. */
export function kindsOf(shapes: ShapeBook): readonly number[] {
  const { kindOf, first }: KnownKinds = shapes.derived(kindKey, () => ({ kindOf: [0], first: new Map() }))
  for (let number = kindOf.length; number <= shapes.size; number++) {
    const shape = shapes.shape(number)
    const key = shape === undefined ? '' : kindKey(shape)
    const kind = first.get(key) ?? number
    first.set(key, kind)
    kindOf.push(kind)
  }
  return kindOf
}

/** Keys of sums in slices: the slice above all shapes. A slice is counted from the node's first on. */
export const SLICE_KEYS = 2 ** 20

/** The finest unit, not below `leastMs`, that makes few slices of these times. */
function unitOf(leastMs: number, times: () => Iterable<number>): number {
  if (leastMs === NO_UNIT) return NO_UNIT
  for (const unitMs of UNITS) {
    if (unitMs < leastMs) continue
    const slices = new Set<number>()
    let last = Number.NaN
    for (const timeMs of times()) {
      const slice = Math.floor(timeMs / unitMs)
      if (slice === last) continue
      last = slice
      slices.add(slice)
      if (slices.size > SLICES_MAX) break
    }
    if (slices.size <= SLICES_MAX) return unitMs
  }
  return NO_UNIT
}

/** Behind the sums of a run: its slice, counted from the node's first on. */
export const RUN_SUMS = SUMS + 1
export const SLICE = SUMS

export interface RunSlices {
  readonly slices: Slices
  /** Sums by shape and slice, in the order of the runs, and the latency step of each entry in that order. */
  readonly sums: Uint8Array
  readonly steps: Uint8Array
}

/** Entries of a run by slice; mostly they are in that order already. */
function bySlice(begin: number, end: number, slices: Uint32Array): Uint32Array {
  const order = Uint32Array.from({ length: end - begin }, (_, i) => begin + i)
  for (let at = begin + 1; at < end; at++) {
    if ((slices[at] ?? 0) < (slices[at - 1] ?? 0)) return order.sort((a, b) => (slices[a] ?? 0) - (slices[b] ?? 0))
  }
  return order
}

/** The sums of a node of level 1. */
export function sliceRuns(runs: Runs, minMs: number, shapes: ShapeBook): RunSlices {
  const unitMs = unitOf(UNITS[0], () => runs.times.subarray(0, runs.entries))
  const kinds = kindsOf(shapes)
  const first = sliceOf(minMs, unitMs)
  const slices = new Uint32Array(runs.entries)
  for (let at = 0; at < runs.entries; at++) slices[at] = sliceOf(runs.times[at] ?? 0, unitMs) - first
  const draft = new SumsDraft()
  const steps = new Uint32Array(runs.entries)
  const columns: readonly number[][] = Array.from({ length: RUN_SUMS }, () => [])
  let begin = 0
  for (let run = 0; run < runs.shapes.length; run++) {
    const shape = runs.shapes[run] ?? 0
    const end = begin + (runs.counts[run] ?? 0)
    const order = bySlice(begin, end, slices)
    let row: number[] | undefined
    for (let i = 0; i < order.length; i++) {
      const at = order[i] ?? 0
      const slice = slices[at] ?? 0
      draft.addEntry(slice * SLICE_KEYS + (kinds[shape] ?? 0), runs, at)
      steps[begin + i] = runs.steps[at] ?? 0
      if (row?.[SLICE] !== slice) {
        pushRow(columns, row)
        row = new Array<number>(RUN_SUMS).fill(0)
        row[KEY] = shape
        row[SLICE] = slice
      }
      addEntryTo(row, 0, runs, at)
    }
    pushRow(columns, row)
    begin = end
  }
  return { slices: { unitMs, ...draft.packed() }, sums: packColumns(columns), steps: packColumns([steps]) }
}

function pushRow(columns: readonly number[][], row: readonly number[] | undefined): void {
  for (const [i, column] of columns.entries()) if (row !== undefined) column.push(row[i] ?? 0)
}

/** What is read of the nodes that a node is of. */
export interface SliceSource {
  readonly sliceUnit: (node: Piece) => number
  readonly sliceSums: (node: Piece, unitMs: number) => ReadColumns
  readonly sliceSteps: (node: Piece, unitMs: number) => ReadColumns
}

/** The slices of a node of nodes. */
export function sliceNodes(source: SliceSource, nodes: readonly Piece[], minMs: number): Slices {
  const parts = nodes.map((node) => {
    const ownMs = source.sliceUnit(node)
    const first = sliceOf(node.minMs, ownMs)
    const beginOf = (key: number) => (first + Math.floor(key / SLICE_KEYS)) * ownMs
    const sums = source.sliceSums(node, ownMs)
    return { node, ownMs, beginOf, begins: columnOf(sums, KEY).slice(0, sums.rows).map(beginOf) }
  })
  const coarsest = parts.some(({ ownMs }) => ownMs === NO_UNIT) ? NO_UNIT : Math.max(...parts.map(({ ownMs }) => ownMs))
  const unitMs = unitOf(coarsest, function* () {
    for (const { begins } of parts) yield* begins
  })
  const first = sliceOf(minMs, unitMs)
  const draft = new SumsDraft()
  for (const { node, ownMs, beginOf } of parts) {
    const keyOf = (key: number) => (sliceOf(beginOf(key), unitMs) - first) * SLICE_KEYS + (key % SLICE_KEYS)
    draft.addSums(source.sliceSums(node, ownMs), keyOf)
    draft.addSteps(source.sliceSteps(node, ownMs), keyOf)
  }
  return { unitMs, ...draft.packed() }
}
