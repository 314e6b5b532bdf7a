import { type PackedColumns, packColumns } from './columns.js'
import { LATENCY_STEPS } from './latency.js'
import type { Measures } from './layout.js'

/**
 * What a node knows of each shape: `SUMS` numbers, and apart from them how many entries are in which step of latency. Whoever
 * asks for no latencies does not read those. A node of level 1 has them by slice of time as well, see `slices.ts`.
 */
export const SUMS = 8
export const [KEY, ENTRIES, CALLS, ROWS, AFFECTED, TOTAL_US, MAX_US, LAST_MS] = [0, 1, 2, 3, 4, 5, 6, 7] as const
/** Columns of counted latencies. */
export const STEP_COLUMNS = 3
export const [STEP_KEY, STEP, STEP_ENTRIES] = [0, 1, 2] as const

export interface PackedSums {
  /** Columns in the order of the constants. */
  readonly sums: Uint8Array
  /** Columns: key, step of latency, and how many entries. */
  readonly steps: Uint8Array
}

/** Columns that are read one after the other into the same room: those of one are there until the next one is read. */
export class ColumnRoom {
  #columns: readonly Float64Array[]

  constructor(columns: number) {
    this.#columns = Array.from({ length: columns }, () => new Float64Array(0))
  }

  /** All columns, which may be longer than there are rows. */
  read(packed: PackedColumns): ReadColumns {
    if ((this.#columns[0]?.length ?? 0) < packed.rows) {
      this.#columns = this.#columns.map(() => new Float64Array(packed.rows * 2))
    }
    for (const [i, column] of this.#columns.entries()) if (i < packed.columns) packed.into(i, column)
    return { rows: packed.rows, columns: this.#columns }
  }
}

export interface ReadColumns {
  readonly rows: number
  readonly columns: readonly Float64Array[]
}

/** One of the columns that were read. */
export function columnOf({ columns }: ReadColumns, column: number): Float64Array {
  return columns[column] ?? new Float64Array(0)
}

/** Sums of any number of keys while entries are added to them. A key is a shape, or a shape in a slice of time. */
export class SumsDraft {
  readonly #rows = new Map<number, number>()
  readonly #steps = new Map<number, number>()
  #sums = new Float64Array(256 * SUMS)

  #rowOf(key: number): number {
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const row = this.#rows.size * SUMS
    if (row >= this.#sums.length) {
      const larger = new Float64Array(this.#sums.length * 2)
      larger.set(this.#sums)
      this.#sums = larger
    }
    this.#rows.set(key, row)
    this.#sums[row + KEY] = key
    return row
  }

  addEntry(key: number, measures: Measures, at: number): void {
    const row = this.#rowOf(key)
    addEntryTo(this.#sums, row, measures, at)
    this.#addSteps(key, measures.steps[at] ?? 0, 1)
  }

  #addSteps(key: number, step: number, count: number): void {
    const place = key * LATENCY_STEPS + step
    this.#steps.set(place, (this.#steps.get(place) ?? 0) + count)
  }

  /** Adds stored sums; `keyOf` gives the key under which they go on. */
  addSums(sums: ReadColumns, keyOf: (key: number) => number): void {
    const keys = columnOf(sums, KEY)
    for (let at = 0; at < sums.rows; at++) {
      const row = this.#rowOf(keyOf(keys[at] ?? 0))
      for (const member of [ENTRIES, CALLS, ROWS, AFFECTED, TOTAL_US])
        addTo(this.#sums, row + member, sums.columns[member]?.[at] ?? 0)
      for (const member of [MAX_US, LAST_MS]) raiseTo(this.#sums, row + member, sums.columns[member]?.[at] ?? 0)
    }
  }

  /** Adds the latencies of a node of level 1: those of one row of its sums after the other's. */
  addRunSteps(sums: ReadColumns, steps: Uint32Array): void {
    const keys = columnOf(sums, KEY)
    const entries = columnOf(sums, ENTRIES)
    let at = 0
    for (let row = 0; row < sums.rows; row++) {
      for (const end = at + (entries[row] ?? 0); at < end; at++) this.#addSteps(keys[row] ?? 0, steps[at] ?? 0, 1)
    }
  }

  /** Adds stored latencies. */
  addSteps(steps: ReadColumns, keyOf: (key: number) => number): void {
    const keys = columnOf(steps, STEP_KEY)
    const latencies = columnOf(steps, STEP)
    const counts = columnOf(steps, STEP_ENTRIES)
    for (let at = 0; at < steps.rows; at++) this.#addSteps(keyOf(keys[at] ?? 0), latencies[at] ?? 0, counts[at] ?? 0)
  }

  packed(): PackedSums {
    const columns = Array.from({ length: SUMS }, (_, member) =>
      Float64Array.from({ length: this.#rows.size }, (_, row) => this.#sums[row * SUMS + member] ?? 0),
    )
    const places = [...this.#steps.keys()]
    const keys = Float64Array.from(places, (place) => Math.floor(place / LATENCY_STEPS))
    const latencies = Float64Array.from(places, (place) => place % LATENCY_STEPS)
    const counts = Float64Array.from(this.#steps.values())
    return { sums: packColumns(columns), steps: packColumns([keys, latencies, counts]) }
  }
}

/** In which parts of a node above level 1 each shape is: a bit for each of them, the first part the lowest. */
export class MarksDraft {
  readonly #masks = new Map<number, number>()

  add(shape: number, part: number): void {
    this.#masks.set(shape, (this.#masks.get(shape) ?? 0) | (1 << part))
  }

  packed(): Uint8Array {
    return packColumns([
      Float64Array.from(this.#masks.keys()),
      Float64Array.from(this.#masks.values(), (mask) => mask >>> 0),
    ])
  }
}

/** The parts of a node that have entries of a shape that is wanted (not 0 at its number). */
export function partsWith(marks: PackedColumns, wanted: ArrayLike<number>): number {
  const shapes = marks.small(0)
  const masks = marks.small(1)
  let parts = 0
  for (let at = 0; at < marks.rows; at++) if ((wanted[shapes[at] ?? 0] ?? 0) !== 0) parts |= masks[at] ?? 0
  return parts
}

/** Adds an entry to the sums that begin at `row`. */
export function addEntryTo(sums: Float64Array | number[], row: number, measures: Measures, at: number): void {
  const us = measures.totals[at] ?? 0
  addTo(sums, row + ENTRIES, 1)
  addTo(sums, row + CALLS, measures.calls[at] ?? 0)
  addTo(sums, row + ROWS, measures.rows[at] ?? 0)
  addTo(sums, row + AFFECTED, measures.affected[at] ?? 0)
  addTo(sums, row + TOTAL_US, us)
  raiseTo(sums, row + MAX_US, us)
  raiseTo(sums, row + LAST_MS, measures.times[at] ?? 0)
}

export function addTo(numbers: Float64Array | number[], at: number, added: number): void {
  numbers[at] = (numbers[at] ?? 0) + added
}

export function raiseTo(numbers: Float64Array | number[], at: number, least: number): void {
  if ((numbers[at] ?? 0) < least) numbers[at] = least
}
