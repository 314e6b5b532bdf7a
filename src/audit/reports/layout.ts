import { PackedColumns, packColumns } from './columns.js'
import { fileFault } from './index-fault.js'

/**
 * How the index lays entries out. Everything goes by `seq`, which grows without gaps: a *block* has a fixed number of entries as
 * columns, and a *node* has the sums of 32 blocks, or of 32 nodes of the level below. When a node of level 1 is over, its blocks
 * become *runs*: its entries by shape. A range of entries is then a few whole nodes and what is at its ends, and deleting the
 * oldest entries never makes a number wrong.
 */
export const BLOCK_ENTRIES = 1_024
/** As many as a mask has bits. */
export const NODE_FAN_OUT = 32
/** Levels of nodes above the blocks: 32,768 entries, a million, 33 million. */
export const NODE_LEVELS = 3

/** Entries that one node stands for; level 0 is a block. */
export function spanOf(level: number): number {
  return BLOCK_ENTRIES * NODE_FAN_OUT ** level
}

/** What is counted of entries, as columns. */
export interface Measures {
  /** Unix milliseconds. */
  readonly times: Float64Array
  /** How many calls the entry stands for: more than one where refusals were folded. */
  readonly calls: Uint32Array
  readonly rows: Uint32Array
  readonly affected: Uint32Array
  /** Microseconds. */
  readonly totals: Uint32Array
  /** The latency step of each total. */
  readonly steps: Uint32Array
}

/** One block of entries as columns, at the place `seq % BLOCK_ENTRIES`. A shape of 0 is an entry that is not there. */
export interface Block extends Measures {
  readonly shapes: Uint32Array
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
    steps: new Uint32Array(BLOCK_ENTRIES),
  }
}

export function bytesOf(column: ArrayBufferView): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
}

export function uint32Column(bytes: Uint8Array): Uint32Array {
  if (bytes.byteLength % 4 !== 0) throw fileFault('a column of odd length')
  // What SQLite gives need not lie where numbers of this size may begin.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes)
  return new Uint32Array(aligned.buffer, aligned.byteOffset, bytes.byteLength / 4)
}

/** Columns of a block, in the order in which they are packed. */
function columnsOf({
  shapes,
  times,
  calls,
  rows,
  affected,
  totals,
  steps,
}: Block): readonly (Uint32Array | Float64Array)[] {
  return [shapes, times, calls, rows, affected, totals, steps]
}

export function storeBlock(block: Block, minMs: number): Uint8Array {
  // Entries that are not there have no time, and would make the column wide.
  const times = block.times.map((timeMs, at) => (block.shapes[at] === 0 ? minMs : timeMs))
  return packColumns(columnsOf({ ...block, times }))
}

/** Writes what was stored into a block. */
export function loadBlock(stored: Uint8Array, block: Block): void {
  const columns = columnsOf(block)
  const found = new PackedColumns(stored, columns.length)
  if (found.rows !== BLOCK_ENTRIES) throw fileFault('a block of another size')
  for (const [i, column] of columns.entries()) found.into(i, column)
}
