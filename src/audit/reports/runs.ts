import { PackedColumns, packColumns } from './columns.js'
import { fileFault } from './index-fault.js'
import { BLOCK_ENTRIES, type Block, type Measures, NODE_FAN_OUT, spanOf } from './layout.js'

/** Entries of a node of level 1, by shape and then by number: those of one shape lie together, and the rest need not be looked at. */
export interface Runs extends Measures {
  /** The shapes there are, and how many entries each has, in the order of the entries. */
  readonly shapes: Uint32Array
  readonly counts: Uint32Array
  /** How many entries of the columns are used. */
  readonly entries: number
  /** Numbers of the entries, from the node's first one on. */
  readonly places: Uint32Array
}

/** Runs as they are stored. Whoever counts shapes reads the marks alone. */
export interface StoredRuns {
  /** Columns: shape and how many entries. */
  readonly marks: Uint8Array
  /** Columns: place and time. */
  readonly places: Uint8Array
  readonly measures: Uint8Array
}

const RUN_ENTRIES = spanOf(1)

type RunColumns = Measures & Pick<Runs, 'places'>

/** Room for all entries of a node. */
export function roomForRuns(entries = RUN_ENTRIES): RunColumns {
  return {
    places: new Uint32Array(entries),
    times: new Float64Array(entries),
    calls: new Uint32Array(entries),
    rows: new Uint32Array(entries),
    affected: new Uint32Array(entries),
    totals: new Uint32Array(entries),
    steps: new Uint32Array(entries),
  }
}

/** Puts the entries of a node's blocks, given by their numbers, in order. */
export function runsOf(blocks: ReadonlyMap<number, Block>): Runs {
  const counts = new Map<number, number>()
  let entries = 0
  for (const { shapes } of blocks.values()) {
    for (const shape of shapes) {
      if (shape === 0) continue
      counts.set(shape, (counts.get(shape) ?? 0) + 1)
      entries += 1
    }
  }
  const shapes = Uint32Array.from(counts.keys()).sort()
  const next = new Map<number, number>()
  let begin = 0
  for (const shape of shapes) {
    next.set(shape, begin)
    begin += counts.get(shape) ?? 0
  }
  const made = roomForRuns(entries)
  for (const number of [...blocks.keys()].sort((a, b) => a - b)) {
    const block = blocks.get(number)
    if (block !== undefined) takeBlock(made, block, (number % NODE_FAN_OUT) * BLOCK_ENTRIES, next)
  }
  return { shapes, counts: shapes.map((shape) => counts.get(shape) ?? 0), entries, ...made }
}

function takeBlock(made: RunColumns, block: Block, firstPlace: number, next: Map<number, number>): void {
  for (let at = 0; at < BLOCK_ENTRIES; at++) {
    const shape = block.shapes[at] ?? 0
    if (shape === 0) continue
    const to = next.get(shape) ?? 0
    next.set(shape, to + 1)
    made.places[to] = firstPlace + at
    made.times[to] = block.times[at] ?? 0
    made.calls[to] = block.calls[at] ?? 0
    made.rows[to] = block.rows[at] ?? 0
    made.affected[to] = block.affected[at] ?? 0
    made.totals[to] = block.totals[at] ?? 0
    made.steps[to] = block.steps[at] ?? 0
  }
}

function measuresOf({ calls, rows, affected, totals, steps }: Measures): readonly Uint32Array[] {
  return [calls, rows, affected, totals, steps]
}

export function storeRuns(runs: Runs): StoredRuns {
  return {
    marks: packColumns([runs.shapes, runs.counts]),
    places: packColumns([runs.places, runs.times]),
    measures: packColumns(measuresOf(runs)),
  }
}

/** Writes what was stored into `room`. Without `measures` only places and times are of these entries. */
export function loadRuns(
  marks: PackedColumns,
  places: Uint8Array,
  measures: Uint8Array | undefined,
  room: RunColumns,
): Runs {
  const counts = marks.small(1)
  const entries = counts.reduce((sum, count) => sum + count, 0)
  const found = new PackedColumns(places, 2)
  const columns = measuresOf(room)
  const measured = measures === undefined ? undefined : new PackedColumns(measures, columns.length)
  if (entries > RUN_ENTRIES || found.rows !== entries || (measured !== undefined && measured.rows !== entries)) {
    throw fileFault('runs of another size')
  }
  found.into(0, room.places)
  found.into(1, room.times)
  for (const [i, column] of columns.entries()) measured?.into(i, column)
  return { shapes: marks.small(0), counts, entries, ...room }
}
