import { shortestSingle } from '../../core/float-value.js'
import type { LogicalType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'

/** The protocol's numbers of column types that are read by their number here. */
export const WIRE = {
  tiny: 1,
  short: 2,
  long: 3,
  float: 4,
  double: 5,
  timestamp: 7,
  longlong: 8,
  int24: 9,
  date: 10,
  time: 11,
  datetime: 12,
  year: 13,
  varchar: 15,
  bit: 16,
  vector: 242,
  json: 245,
  decimal: 246,
  enum: 247,
  set: 248,
  tinyBlob: 249,
  mediumBlob: 250,
  longBlob: 251,
  blob: 252,
  varString: 253,
  string: 254,
  geometry: 255,
} as const

/** What the server says of one column of an answer. */
export interface WireField {
  readonly name: string
  readonly columnType: number
  /** Number of the collation; `BINARY_CHARSET` for bytes, numbers and times. */
  readonly characterSet: number
  readonly flags: number
  /** Digits after the point; 31 where there is no fixed count. */
  readonly decimals: number
  readonly columnLength: number
  /** MariaDB's own name of the type, such as `uuid`. */
  readonly extendedTypeName?: string
  /** MariaDB's own name of a text's format, such as `json`. */
  readonly extendedFormat?: string
}

export const BINARY_CHARSET = 63
const FRACTION_DIGITS_MAX = 6

const TEXTS: ReadonlySet<number> = new Set([
  WIRE.varchar,
  WIRE.varString,
  WIRE.string,
  WIRE.tinyBlob,
  WIRE.blob,
  WIRE.mediumBlob,
  WIRE.longBlob,
  WIRE.enum,
  WIRE.set,
  WIRE.json,
])
const NUMBERS: ReadonlySet<LogicalType> = new Set<LogicalType>(['integer', 'bigint', 'float', 'boolean'])

/**
 * Whether the server sends text for what was a number when the catalog was read. No error says so: a statement is prepared
 * anew without a word when a column has come to be of another type.
 */
export function isNumberNoMore(field: WireField, column: ResultColumn | undefined): boolean {
  return column !== undefined && NUMBERS.has(column.type.logical) && TEXTS.has(field.columnType)
}

/**
 * The text that the engine itself would write of a cell: no digit is lost, and nothing depends on this process's zone.
 * `value` is what `mysql2` makes of the binary protocol. Bytes are base64, bits are a number.
 */
export function cellText(value: unknown, field: WireField, column: ResultColumn | undefined): string | null {
  if (value === null) return null
  if (typeof value === 'string') return textOf(value, field, column)
  if (typeof value === 'number') return field.columnType === WIRE.float ? shortestSingle(value) : String(value)
  if (Buffer.isBuffer(value)) return bufferText(value, field, column)
  throw new Error(`a cell of the wire type ${field.columnType} came as ${typeof value}`)
}

/**
 * The same of an output of a procedure. What such a parameter was declared as is the type of its cell, and yet bits come as
 * the digits of their number.
 */
export function outputText(value: unknown, field: WireField): string | null {
  if (field.columnType === WIRE.bit && Buffer.isBuffer(value)) return value.toString('latin1')
  return cellText(value, field, undefined)
}

/** Where the catalog says what the column is, that counts: some functions give text as bytes. */
function bufferText(bytes: Buffer, field: WireField, column: ResultColumn | undefined): string {
  if (field.columnType === WIRE.bit) return bits(bytes)
  const logical = column?.type.logical
  return logical === undefined || logical === 'bytes' || logical === 'unknown'
    ? bytes.toString('base64')
    : bytes.toString('utf8')
}

function textOf(text: string, field: WireField, column: ResultColumn | undefined): string {
  switch (field.columnType) {
    case WIRE.datetime:
    case WIRE.timestamp:
    case WIRE.time:
      return withFraction(text, field.decimals)
    case WIRE.varString:
    case WIRE.string:
    case WIRE.blob:
      return column?.type.logical === 'bytes' ? Buffer.from(text, 'utf8').toString('base64') : text
    default:
      return text
  }
}

/** The protocol leaves out a fraction of zero, and `mysql2` the zeros behind one: the engine writes as many digits as declared. */
function withFraction(text: string, decimals: number): string {
  if (decimals === 0 || decimals > FRACTION_DIGITS_MAX) return text
  const point = text.indexOf('.')
  if (point < 0) return `${text}.${'0'.repeat(decimals)}`
  return text.slice(0, point + 1) + text.slice(point + 1).padEnd(decimals, '0')
}

/** Most significant byte first. */
function bits(bytes: Buffer): string {
  return bytes.length === 0 ? '0' : BigInt(`0x${bytes.toString('hex')}`).toString()
}
