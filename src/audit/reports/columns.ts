import { fileFault } from './index-fault.js'

/**
 * Columns of whole numbers as bytes: each as wide as the numbers in it need, above the least of them. First come how many rows and
 * columns there are, then of each column its width in bytes (0: one number for all rows) and the least number, all as numbers of
 * 64 bits; then the columns, each from a multiple of eight bytes on.
 */
const NUMBER_BYTES = 8
const WIDE = 8
type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array

interface Form {
  readonly width: number
  readonly base: number
}

function formOf(column: ArrayLike<number>): Form {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let i = 0; i < column.length; i++) {
    const number = column[i] ?? 0
    if (number < least) least = number
    if (number > most) most = number
  }
  const range = most - least
  if (range <= 0) return { width: 0, base: column.length === 0 ? 0 : least }
  if (range > 0xffff_ffff) return { width: WIDE, base: 0 }
  // A column of small numbers is taken as it is, and need not be added up when it is read.
  const near = (limit: number) => ({ base: least >= 0 && most <= limit ? 0 : least })
  if (range <= 0xff) return { width: 1, ...near(0xff) }
  if (range <= 0xffff) return { width: 2, ...near(0xffff) }
  return { width: 4, ...near(0xffff_ffff) }
}

function padded(bytes: number): number {
  return Math.ceil(bytes / NUMBER_BYTES) * NUMBER_BYTES
}

function numbersAt(bytes: Uint8Array, at: number, rows: number, width: number): Numbers {
  const { buffer } = bytes
  const from = bytes.byteOffset + at
  if (width === 1) return new Uint8Array(buffer, from, rows)
  if (width === 2) return new Uint16Array(buffer, from, rows)
  return width === 4 ? new Uint32Array(buffer, from, rows) : new Float64Array(buffer, from, rows)
}

/** Packs columns of one length. */
export function packColumns(columns: readonly ArrayLike<number>[]): Uint8Array {
  const rows = columns[0]?.length ?? 0
  const forms = columns.map(formOf)
  const header = [rows, columns.length, ...forms.flatMap(({ width, base }) => [width, base])]
  const headBytes = header.length * NUMBER_BYTES
  const bytes = new Uint8Array(forms.reduce((size, { width }) => size + padded(rows * width), headBytes))
  new Float64Array(bytes.buffer, 0, header.length).set(header)
  let at = headBytes
  for (const [i, { width, base }] of forms.entries()) {
    const column = columns[i] ?? []
    if (width === 0) continue
    const numbers = numbersAt(bytes, at, rows, width)
    if (base === 0) numbers.set(column)
    else for (let row = 0; row < rows; row++) numbers[row] = (column[row] ?? 0) - base
    at += padded(rows * width)
  }
  return bytes
}

/** Packed columns, read one by one. */
export class PackedColumns {
  readonly rows: number
  readonly columns: number
  readonly #bytes: Uint8Array
  readonly #header: Float64Array
  /** Where each column begins. */
  readonly #places: readonly number[]

  /** Throws an index fault where the bytes are not `columns` packed columns. */
  constructor(stored: Uint8Array, columns: number) {
    // What SQLite gives need not lie where numbers of this size may begin.
    this.#bytes = stored.byteOffset % NUMBER_BYTES === 0 ? stored : Uint8Array.from(stored)
    const headBytes = (2 + columns * 2) * NUMBER_BYTES
    if (this.#bytes.byteLength < headBytes) throw fileFault('columns that are cut short')
    this.#header = new Float64Array(this.#bytes.buffer, this.#bytes.byteOffset, 2 + columns * 2)
    this.rows = this.#header[0] ?? 0
    this.columns = columns
    const places: number[] = []
    let at = headBytes
    for (let column = 0; column < columns; column++) {
      places.push(at)
      at += padded(this.rows * (this.#header[2 + column * 2] ?? 0))
    }
    if (this.#header[1] !== columns || at !== this.#bytes.byteLength) throw fileFault('columns of another size')
    this.#places = places
  }

  /** Writes a column into `target`, which has room for as many rows. */
  into(column: number, target: Uint32Array | Float64Array): void {
    const width = this.#header[2 + column * 2] ?? 0
    const base = this.#header[3 + column * 2] ?? 0
    if (width === 0) {
      target.fill(base, 0, this.rows)
      return
    }
    target.set(numbersAt(this.#bytes, this.#places[column] ?? 0, this.rows, width))
    if (base !== 0) for (let row = 0; row < this.rows; row++) target[row] = (target[row] ?? 0) + base
  }

  /** A column of its own; of numbers below 2³². */
  small(column: number): Uint32Array {
    const numbers = new Uint32Array(this.rows)
    this.into(column, numbers)
    return numbers
  }

  /** A column of its own. */
  wide(column: number): Float64Array {
    const numbers = new Float64Array(this.rows)
    this.into(column, numbers)
    return numbers
  }
}
