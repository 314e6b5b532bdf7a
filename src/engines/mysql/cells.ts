import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import type { EncodedCell } from '../engine.js'
import { type CellJson, encodeCellJson, encodeWhole, isJsonNumber } from '../sql/cell-json.js'
import { encodeJson } from '../sql/json-text.js'

/**
 * The driver's text of a value to JSON text, exactly. Of numbers it is their digits (a float's are the fewest that read back
 * the same), of bytes base64, of all else the server's own text in a session whose zone is UTC. Runs once a cell, so it is
 * a table by logical type that looks at characters instead of matching patterns.
 */
const ENCODERS: Readonly<Record<LogicalType, (text: string, type: ValueType) => string>> = {
  integer: encodeWhole,
  bigint: encodeWhole,
  float: encodeFloat,
  decimal: (text) => JSON.stringify(withoutPadding(text)),
  text: (text) => JSON.stringify(text),
  boolean: encodeBoolean,
  timestamp: (text, type) => JSON.stringify(isoTimestamp(text, type)),
  date: (text) => JSON.stringify(text),
  time: (text) => JSON.stringify(shortFraction(text)),
  interval: (text) => JSON.stringify(text),
  uuid: (text) => JSON.stringify(text.toLowerCase()),
  json: (text) => encodeJson(text),
  bytes: (text) => JSON.stringify(text),
  enum: (text) => JSON.stringify(text),
  array: (text) => JSON.stringify(text),
  unknown: (text) => JSON.stringify(text),
}

const CELL_JSON: CellJson = { encode: (text, type) => ENCODERS[type.logical](text, type), byteLength }

/** See `Dialect.encodeCell`. */
export function encodeCell(column: ResultColumn, text: string): EncodedCell {
  return encodeCellJson(column, text, CELL_JSON)
}

/** Negative zero equals zero, and only that is taken back as a value. */
function encodeFloat(text: string): string {
  if (text === '-0') return '0'
  return isJsonNumber(text) ? text : JSON.stringify(text)
}

/** A number stands in for the type: 1 and 0 are its truths, and other numbers are what they are. */
function encodeBoolean(text: string): string {
  if (text === '1') return 'true'
  return text === '0' ? 'false' : encodeWhole(text)
}

/** A column declared `ZEROFILL` shows zeros before its digits, which are no part of a decimal. */
function withoutPadding(text: string): string {
  let start = 0
  while (text.charCodeAt(start) === 0x30 && isDigit(text.charCodeAt(start + 1))) start++
  return start === 0 ? text : text.slice(start)
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

/** `2024-05-31 10:00:00.500000` → `2024-05-31T10:00:00.5`, and `Z` behind it where the type has a zone. */
function isoTimestamp(text: string, { withZone }: ValueType): string {
  const iso = shortFraction(text).replace(' ', 'T')
  return withZone === true ? `${iso}Z` : iso
}

/** Without the zeros that end a fraction, and without its point where nothing else is left of it. */
function shortFraction(text: string): string {
  if (!text.includes('.')) return text
  let end = text.length
  while (text.charCodeAt(end - 1) === 0x30) end--
  return text.slice(0, text.charCodeAt(end - 1) === 0x2e ? end - 1 : end)
}

/** Of base64 with padding. */
function byteLength(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - padding
}
