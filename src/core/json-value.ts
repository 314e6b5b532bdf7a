/**
 * JSON values as arguments and results spell them. A column's JSON is shown as JSON, and as its text where a reader of
 * JSON would not get back what the database holds. Both ways are one rule, so that what was read can be written back.
 */

/** Every decimal of no more digits comes back from a double as it was, unless an exponent takes it out of range. */
const EXACT_DIGITS_MAX = 15

/** Whether a reader that uses doubles gets this number back: the nearest double, written shortest, is the same decimal. */
export function doubleHolds(token: string): boolean {
  if (token.length <= EXACT_DIGITS_MAX && !token.includes('e') && !token.includes('E')) return true
  const value = Number(token)
  return Number.isFinite(value) && canonicalNumber(token) === canonicalNumber(String(value))
}

/** One spelling for each decimal: digits without zeros at either end, and the exponent of the last digit. The sign is kept. */
function canonicalNumber(token: string): string {
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

const MAY_BE_JSON = /^[\t\n\r ]*["[{\d-]/
const STRING_OR_SPACE = /"[^"\\]*(?:\\.[^"\\]*)*"|[\t\n\r ]+/g

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The compact JSON that a text stands for, or undefined where it stands for itself, as a JSON string. It stands for JSON
 * when it is the JSON text of an object, of a list, of a number that a double cannot hold, or of a string that would
 * itself stand for JSON: the last is how a string of that kind is told from what it spells.
 */
export function jsonOfText(text: string): string | undefined {
  if (!MAY_BE_JSON.test(text)) return undefined
  const value = parse(text)
  switch (typeof value) {
    case 'object':
      return text.replace(STRING_OR_SPACE, (token) => (token.startsWith('"') ? token : ''))
    case 'number':
      return doubleHolds(text.trim()) ? undefined : text.trim()
    case 'string':
      return jsonOfText(value) === undefined ? undefined : text.trim()
    default:
      return undefined
  }
}

/** Whether a number among the value's parts is a whole one that JSON.parse may have rounded. */
function mayBeRounded(value: unknown): boolean {
  if (typeof value === 'number')
    return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(mayBeRounded)
}

const LONE_SURROGATE = /[\ud800-\udfff]/u

/**
 * An argument for a JSON column as compact JSON text, or undefined where it cannot be told what was meant: a number that
 * was rounded on the way, or text that is no Unicode. Null is for the caller to judge, since it may mean NULL.
 */
export function canonicalJson(raw: unknown): string | undefined {
  if (raw === undefined || raw === null || mayBeRounded(raw)) return undefined
  if (typeof raw !== 'string') return JSON.stringify(raw)
  const json = jsonOfText(raw) ?? JSON.stringify(raw)
  // An escape spells half of a pair; the half itself would be replaced on its way to the database.
  return LONE_SURROGATE.test(json) ? undefined : json
}
