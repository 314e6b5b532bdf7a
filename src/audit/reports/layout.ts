import { fileFault } from './index-fault.js'

/**
 * How the index lays entries out. Everything goes by `seq`, which grows without gaps: a *block* has a fixed number of entries as
 * columns, and a *node* has the sums of 32 blocks, or of 32 nodes of the level below. A range of entries is then a few whole
 * nodes and a few blocks at its ends, and deleting the oldest entries never makes a number wrong.
 */
export const BLOCK_ENTRIES = 1_024
export const NODE_FAN_OUT = 32
/** Levels of nodes above the blocks: 32,768 entries, a million, 33 million. */
export const NODE_LEVELS = 3

/** Entries that one node stands for; level 0 is a block. */
export function spanOf(level: number): number {
  return BLOCK_ENTRIES * NODE_FAN_OUT ** level
}

/** One block of entries as columns, at the place `seq % BLOCK_ENTRIES`. A shape of 0 is an entry that is not there. */
export interface Block {
  readonly shapes: Uint32Array
  /** Unix milliseconds. */
  readonly times: Float64Array
  /** How many calls the entry stands for: more than one where refusals were folded. */
  readonly calls: Uint32Array
  readonly rows: Uint32Array
  readonly affected: Uint32Array
  /** Microseconds. */
  readonly totals: Uint32Array
  /** The latency step of each total. */
  readonly steps: Uint8Array
}

/** A block as it is stored: the column that decides most stands apart, so that it can be read alone. */
export interface StoredBlock {
  readonly shapes: Uint8Array
  readonly times: Uint8Array
  readonly measures: Uint8Array
}

export const COLUMN_MAX = 0xffff_ffff

export function emptyBlock(): Block {
  return {
    shapes: new Uint32Array(BLOCK_ENTRIES),
    times: new Float64Array(BLOCK_ENTRIES),
    calls: new Uint32Array(BLOCK_ENTRIES),
    rows: new Uint32Array(BLOCK_ENTRIES),
    affected: new Uint32Array(BLOCK_ENTRIES),
    totals: new Uint32Array(BLOCK_ENTRIES),
    steps: new Uint8Array(BLOCK_ENTRIES),
  }
}

export function bytesOf(column: ArrayBufferView): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
}

/** Copies, because what SQLite gives need not lie where numbers of this size may begin. */
function alignedCopy(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.byteLength)
  new Uint8Array(copy).set(bytes)
  return copy
}

export function uint32Column(bytes: Uint8Array): Uint32Array {
  if (bytes.byteLength % 4 !== 0) throw fileFault('a column of odd length')
  return bytes.byteOffset % 4 === 0
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
    : new Uint32Array(alignedCopy(bytes))
}

export function float64Column(bytes: Uint8Array): Float64Array {
  if (bytes.byteLength % 8 !== 0) throw fileFault('a column of odd length')
  return bytes.byteOffset % 8 === 0
    ? new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8)
    : new Float64Array(alignedCopy(bytes))
}

const MEASURE_BYTES = BLOCK_ENTRIES * 4

export function storeBlock({ shapes, times, calls, rows, affected, totals, steps }: Block): StoredBlock {
  const measures = new Uint8Array(4 * MEASURE_BYTES + BLOCK_ENTRIES)
  for (const [i, column] of [calls, rows, affected, totals, steps].entries())
    measures.set(bytesOf(column), i * MEASURE_BYTES)
  return { shapes: bytesOf(shapes), times: bytesOf(times), measures }
}

export function loadBlock(stored: StoredBlock): Block {
  const { measures } = stored
  const shapes = uint32Column(stored.shapes)
  const times = float64Column(stored.times)
  if (
    shapes.length !== BLOCK_ENTRIES ||
    times.length !== BLOCK_ENTRIES ||
    measures.byteLength !== 4 * MEASURE_BYTES + BLOCK_ENTRIES
  ) {
    throw fileFault('a block of another size')
  }
  const measure = (i: number) => uint32Column(measures.subarray(i * MEASURE_BYTES, (i + 1) * MEASURE_BYTES))
  const steps = measures.subarray(4 * MEASURE_BYTES)
  return { shapes, times, calls: measure(0), rows: measure(1), affected: measure(2), totals: measure(3), steps }
}
