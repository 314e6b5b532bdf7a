import { shortestSingle } from '../../core/float-value.js'
import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import type { EncodedCell } from '../engine.js'
import { type CellJson, encodeCellJson, encodeWhole, isJsonNumber } from '../sql/cell-json.js'
import { encodeJson } from '../sql/json-text.js'
import { baseName } from './native-types.js'

/**
 * The text that a statement makes of a value to JSON text, exactly: digits of numbers, hexadecimal digits of bytes, times with
 * the year first, of all else the server's own text. Runs once a cell, so it is a table by logical type that looks at
 * characters instead of matching patterns.
 */
const ENCODERS: Readonly<Record<LogicalType, (text: string, type: ValueType) => string>> = {
  integer: encodeWhole,
  bigint: encodeWhole,
  float: encodeFloat,
  decimal: (text) => JSON.stringify(text),
  text: (text) => JSON.stringify(text),
  boolean: encodeBoolean,
  timestamp: (text, type) => JSON.stringify(isoTimestamp(text, type)),
  date: (text) => JSON.stringify(text),
  time: (text) => JSON.stringify(shortFraction(text)),
  interval: (text) => JSON.stringify(text),
  uuid: (text) => JSON.stringify(text.toLowerCase()),
  json: (text) => encodeJson(text),
  bytes: (text) => JSON.stringify(isHex(text) ? Buffer.from(text, 'hex').toString('base64') : text),
  enum: (text) => JSON.stringify(text),
  array: (text) => JSON.stringify(text),
  unknown: (text) => JSON.stringify(text),
}

const CELL_JSON: CellJson = {
  encode: (text, type) => ENCODERS[type.logical](text, type),
  byteLength: (text) => text.length / 2,
}

/** See `Dialect.encodeCell`. */
export function encodeCell(column: ResultColumn, text: string): EncodedCell {
  return encodeCellJson(column, text, CELL_JSON)
}

/** The fewest digits that read back the same. A column can have become another type since, whose text is then a string. */
function encodeFloat(text: string, type: ValueType): string {
  const value = Number(text)
  if (!Number.isFinite(value) || text.trim() === '') return JSON.stringify(text)
  // Negative zero equals zero, and only that is taken back as a value.
  const shortest = value === 0 ? '0' : baseName(type) === 'real' ? shortestSingle(Math.fround(value)) : String(value)
  return isJsonNumber(shortest) ? shortest : JSON.stringify(text)
}

function encodeBoolean(text: string): string {
  if (text === '1') return 'true'
  return text === '0' ? 'false' : JSON.stringify(text)
}

const SPACE = 0x20

/** `2024-05-31 10:00:00.5000000 +02:00` → `2024-05-31T10:00:00.5+02:00`, or with `Z` in the place of an offset of nothing. */
function isoTimestamp(text: string, { withZone }: ValueType): string {
  const zoneAt = withZone === true ? text.lastIndexOf(' ') : -1
  // The space before the time is the only one where there is no offset.
  if (zoneAt <= DATE_CHARS) return isoMoment(text)
  const zone = text.slice(zoneAt + 1)
  return `${isoMoment(text.slice(0, zoneAt))}${zone === '+00:00' ? 'Z' : zone}`
}

const DATE_CHARS = 10

function isoMoment(text: string): string {
  const iso = shortFraction(text)
  return iso.charCodeAt(DATE_CHARS) === SPACE ? `${iso.slice(0, DATE_CHARS)}T${iso.slice(DATE_CHARS + 1)}` : iso
}

/** Without the zeros that end a fraction, and without its point where nothing else is left of it. */
function shortFraction(text: string): string {
  if (!text.includes('.')) return text
  let end = text.length
  while (text.charCodeAt(end - 1) === 0x30) end--
  return text.slice(0, text.charCodeAt(end - 1) === 0x2e ? end - 1 : end)
}

function isHex(text: string): boolean {
  if (text.length % 2 !== 0) return false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const isDigit = unit >= 0x30 && unit <= 0x39
    // Bit 32 makes a letter small.
    const small = unit | 0x20
    if (!isDigit && !(small >= 0x61 && small <= 0x66)) return false
  }
  return true
}
