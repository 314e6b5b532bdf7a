import { doubleHolds, jsonOfText } from '../../core/json-value.js'

/**
 * A database's JSON as compact JSON text. The text is kept, not parsed and written again: member names such as `__proto__`,
 * repeated members, and the spelling of numbers stay what they are.
 */

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BIG_E = 0x45
const BACKSLASH = 0x5c
const SMALL_E = 0x65

function isSpace(unit: number): boolean {
  return unit === SPACE || unit === NEWLINE || unit === RETURN || unit === TAB
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE
}

function isNumberPart(unit: number): boolean {
  return isDigit(unit) || unit === DOT || unit === SMALL_E || unit === BIG_E || unit === PLUS || unit === MINUS
}

/** A column that was JSON when the catalog was read may hold any text by now, which must not become part of an answer. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * What is no valid JSON is a JSON string of itself. A JSON string of the compact text when it holds a number that a double cannot hold, and when it is a
 * string that would be taken for such a text itself.
 */
export function encodeJson(text: string): string {
  if (!isJson(text)) return JSON.stringify(text)
  let compact = ''
  let keptFrom = 0
  let exact = true
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      at = endOfString(text, at)
    } else if (isSpace(unit)) {
      compact += text.slice(keptFrom, at)
      while (at < text.length && isSpace(text.charCodeAt(at))) at++
      keptFrom = at
    } else if (unit === MINUS || isDigit(unit)) {
      const from = at
      while (at < text.length && isNumberPart(text.charCodeAt(at))) at++
      exact = exact && doubleHolds(text.slice(from, at))
    } else {
      at++
    }
  }
  compact += text.slice(keptFrom)
  if (!exact) return JSON.stringify(compact)
  const value: unknown = compact.charCodeAt(0) === QUOTE ? JSON.parse(compact) : undefined
  return typeof value === 'string' && jsonOfText(value) !== undefined ? JSON.stringify(compact) : compact
}

/** The position after the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  let end = at + 1
  while (end < text.length) {
    const unit = text.charCodeAt(end)
    if (unit === QUOTE) return end + 1
    end += unit === BACKSLASH ? 2 : 1
  }
  return text.length
}
