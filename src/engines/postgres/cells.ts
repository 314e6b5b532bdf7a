import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import type { EncodedCell } from '../engine.js'
import { endOfCharacters } from '../sql/characters.js'
import { encodeJson } from '../sql/json-text.js'
import { encodeArray } from './array-text.js'

/**
 * PostgreSQL's text of a value to JSON text, exactly: no digit passes through a double, and nothing depends on this
 * process's zone. Runs once a cell, so it is a table by logical type that looks at characters instead of matching patterns.
 */
const ENCODERS: Readonly<Record<LogicalType, (text: string, type: ValueType) => string>> = {
  integer: (text) => (isNumber(text) ? text : JSON.stringify(text)),
  bigint: (text) => (isSafeInteger(text) ? text : JSON.stringify(text)),
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
  return isNumber(text) ? text : JSON.stringify(text)
}

function encodeValue(text: string, type: ValueType): string {
  return ENCODERS[type.logical](text, type)
}

/** See `Dialect.encodeCell`. Reads what a session with ISO dates, ISO 8601 intervals and hexadecimal bytes writes. */
export function encodeCell(column: ResultColumn, text: string): EncodedCell {
  const { type, charsMax } = column
  if (charsMax !== undefined && text.length > charsMax) return encodeLong(type, text, charsMax)
  return { json: encodeValue(text, type), cut: false }
}

/** Texts of more UTF-16 units than `charsMax` are not always longer than allowed: characters count, and bytes of bytes. */
function encodeLong(type: ValueType, text: string, charsMax: number): EncodedCell {
  if (type.logical === 'bytes') {
    return byteLength(text) > charsMax ? { json: 'null', cut: true } : { json: encodeValue(text, type), cut: false }
  }
  const end = endOfCharacters(text, charsMax)
  if (end === text.length) return { json: encodeValue(text, type), cut: false }
  return { json: type.logical === 'text' ? JSON.stringify(text.slice(0, end)) : 'null', cut: true }
}

/** Whether PostgreSQL's text of a number is one in JSON as well: true for all but NaN and the infinities. */
function isNumber(text: string): boolean {
  const first = text.charCodeAt(text.charCodeAt(0) === 0x2d ? 1 : 0)
  return first >= 0x30 && first <= 0x39
}

const SAFE_INTEGER_MAX = String(Number.MAX_SAFE_INTEGER)

/** Compares digits, since the number itself may be one that a double would round into range. */
function isSafeInteger(text: string): boolean {
  const digits = text.charCodeAt(0) === 0x2d ? text.slice(1) : text
  if (digits.length !== SAFE_INTEGER_MAX.length) return digits.length < SAFE_INTEGER_MAX.length
  return digits <= SAFE_INTEGER_MAX
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
