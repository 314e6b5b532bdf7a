import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import type { EncodedCell } from '../engine.js'
import { type CellJson, encodeCellJson, encodeWhole, isJsonNumber } from '../sql/cell-json.js'
import { encodeJson } from '../sql/json-text.js'
import { encodeArray } from './array-text.js'

/**
 * PostgreSQL's text of a value to JSON text, exactly: no digit passes through a double, and nothing depends on this
 * process's zone. Runs once a cell, so it is a table by logical type that looks at characters instead of matching patterns.
 */
const ENCODERS: Readonly<Record<LogicalType, (text: string, type: ValueType) => string>> = {
  integer: (text) => (isJsonNumber(text) ? text : JSON.stringify(text)),
  bigint: encodeWhole,
  float: encodeFloat,
  decimal: (text) => JSON.stringify(text),
  text: (text) => JSON.stringify(text),
  boolean: (text) => (text === 't' ? 'true' : 'false'),
  timestamp: (text) => JSON.stringify(isoTimestamp(text)),
  date: (text) => JSON.stringify(text),
  time: (text) => JSON.stringify(isoClock(text)),
  interval: (text) => JSON.stringify(text),
  uuid: (text) => JSON.stringify(text),
  json: (text) => encodeJson(text),
  bytes: (text) => JSON.stringify(base64(text)),
  enum: (text) => JSON.stringify(text),
  array: (text, type) => encodeArray(text, type.element, encodeValue),
  unknown: (text) => JSON.stringify(text),
}

/** NaN and the infinities have no JSON number. Negative zero equals zero, and only that is taken back as a value. */
function encodeFloat(text: string): string {
  if (text === '-0') return '0'
  return isJsonNumber(text) ? text : JSON.stringify(text)
}

function encodeValue(text: string, type: ValueType): string {
  return ENCODERS[type.logical](text, type)
}

const CELL_JSON: CellJson = { encode: encodeValue, byteLength }

/** See `Dialect.encodeCell`. Reads what a session with ISO dates, ISO 8601 intervals and hexadecimal bytes writes. */
export function encodeCell(column: ResultColumn, text: string): EncodedCell {
  return encodeCellJson(column, text, CELL_JSON)
}

/** `2024-05-31 10:00:00.5+02` → `2024-05-31T10:00:00.5+02:00`; `infinity` stays, and ` BC` stays at the end. */
function isoTimestamp(text: string): string {
  const space = text.indexOf(' ')
  if (space < 0) return text
  const end = text.endsWith(' BC') ? text.length - 3 : text.length
  return `${text.slice(0, space)}T${isoClock(text.slice(space + 1, end))}${text.slice(end)}`
}

/** Completes an offset of bare hours; the zero offset is `Z`. */
function isoClock(text: string): string {
  const hours = text.length - 3
  const sign = text.charCodeAt(hours)
  if (sign !== 0x2b && sign !== 0x2d) return text
  return text.endsWith('+00') ? `${text.slice(0, hours)}Z` : `${text}:00`
}

/** Of `\x` and two digits a byte. */
function byteLength(hex: string): number {
  return (hex.length - 2) / 2
}

function base64(hex: string): string {
  return Buffer.from(hex.slice(2), 'hex').toString('base64')
}
