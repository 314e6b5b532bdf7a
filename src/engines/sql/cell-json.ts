import type { ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import type { EncodedCell } from '../engine.js'
import { endOfCharacters } from './characters.js'

/** How an engine's text of a value becomes JSON text, for the rules that all engines' cells follow. */
export interface CellJson {
  encode(text: string, type: ValueType): string
  /** Bytes that the engine's text of a `bytes` value stands for. */
  byteLength(text: string): number
}

/** See `Dialect.encodeCell`. Runs once a cell. */
export function encodeCellJson({ type, charsMax }: ResultColumn, text: string, engine: CellJson): EncodedCell {
  if (charsMax !== undefined && text.length > charsMax) return encodeLong(type, text, charsMax, engine)
  return { json: engine.encode(text, type), cut: false }
}

/** Texts of more UTF-16 units than `charsMax` are not always longer than allowed: characters count, and bytes of bytes. */
function encodeLong(type: ValueType, text: string, charsMax: number, engine: CellJson): EncodedCell {
  if (type.logical === 'bytes') {
    return engine.byteLength(text) > charsMax
      ? { json: 'null', cut: true }
      : { json: engine.encode(text, type), cut: false }
  }
  const end = endOfCharacters(text, charsMax)
  if (end === text.length) return { json: engine.encode(text, type), cut: false }
  return { json: type.logical === 'text' ? JSON.stringify(text.slice(0, end)) : 'null', cut: true }
}

const SAFE_INTEGER_MAX = String(Number.MAX_SAFE_INTEGER)

/** Compares digits, since the number itself may be one that a double would round into range. */
function isSafeInteger(text: string): boolean {
  const digits = text.charCodeAt(0) === 0x2d ? text.slice(1) : text
  if (digits.length !== SAFE_INTEGER_MAX.length) return digits.length < SAFE_INTEGER_MAX.length
  return digits <= SAFE_INTEGER_MAX
}

/** The digits of a whole number: a JSON number where every reader keeps all of them, else a string. */
export function encodeWhole(text: string): string {
  return isSafeInteger(text) && isJsonNumber(text) ? text : JSON.stringify(text)
}

const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const SMALL_E = 0x65

/**
 * Whether the text is one JSON number and nothing else. A column can have changed its type since the catalog was read, and
 * what it holds by now must not become more than one value of an answer.
 */
export function isJsonNumber(text: string): boolean {
  const from = text.charCodeAt(0) === MINUS ? 1 : 0
  let at = endOfDigits(text, from)
  if (at === from || (at > from + 1 && text.charCodeAt(from) === ZERO)) return false
  if (text.charCodeAt(at) === POINT) {
    const end = endOfDigits(text, at + 1)
    if (end === at + 1) return false
    at = end
  }
  if (at === text.length) return true
  // Bit 32 makes a letter small.
  if ((text.charCodeAt(at) | 0x20) !== SMALL_E) return false
  const sign = text.charCodeAt(at + 1)
  const power = sign === PLUS || sign === MINUS ? at + 2 : at + 1
  return power < text.length && endOfDigits(text, power) === text.length
}

function endOfDigits(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= NINE) at++
  return at
}
