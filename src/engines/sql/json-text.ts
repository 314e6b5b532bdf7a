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
/** Every decimal of no more digits comes back from a double as it was, unless an exponent takes it out of range. */
const EXACT_DIGITS_MAX = 15

function isSpace(unit: number): boolean {
  return unit === SPACE || unit === NEWLINE || unit === RETURN || unit === TAB
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE
}

function isNumberPart(unit: number): boolean {
  return isDigit(unit) || unit === DOT || unit === SMALL_E || unit === BIG_E || unit === PLUS || unit === MINUS
}

/** Takes valid JSON. A JSON string of the compact text when it holds a number that a double cannot hold. */
export function encodeJson(text: string): string {
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
  return exact ? compact : JSON.stringify(compact)
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

/** Whether a reader that uses doubles gets this number back: the nearest double, written shortest, is the same decimal. */
export function doubleHolds(token: string): boolean {
  if (token.length <= EXACT_DIGITS_MAX && !token.includes('e') && !token.includes('E')) return true
  const value = Number(token)
  return Number.isFinite(value) && canonical(token) === canonical(String(value))
}

/** One spelling for each decimal: digits without zeros at either end, and the exponent of the last digit. The sign is kept. */
function canonical(token: string): string {
  const negative = token.startsWith('-')
  const [mantissa = '', exponent = '0'] = token
    .slice(negative ? 1 : 0)
    .toLowerCase()
    .split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const leading = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = leading.replace(/0+$/, '')
  if (digits === '') return '0'
  return `${negative ? '-' : ''}${digits}e${Number(exponent) - fraction.length + (leading.length - digits.length)}`
}
