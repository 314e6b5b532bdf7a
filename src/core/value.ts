import {
  canonicalDate,
  canonicalTime,
  canonicalTimestamp,
  DATE_PHRASE,
  ENDLESS,
  isBetweenSteps,
  stepsPhrase,
  TIME_PHRASE,
  TIMESTAMP_PHRASE,
} from './calendar-value.js'
import { keepsFloat } from './float-value.js'
import { canonicalJson } from './json-value.js'
import {
  ARRAY_DIMENSIONS_MAX,
  BOUNDED_FRACTION_DIGITS_MAX,
  CHOICES_SHOWN_MAX,
  ECHO_CHARS_MAX,
  VALUE_CHARS_MAX,
  WRITE_VALUE_CHARS_MAX,
} from './limits.js'
import { cleanText } from './names.js'
import type { PlanValue } from './plan.js'
import { canHold, REPERTOIRE_PHRASES } from './repertoire.js'
import { fail, ok, type Result } from './result.js'
import type { LogicalType, ValueType } from './schema-model.js'
import { formed, formPhrase, mayBeWritten } from './text-form.js'

/**
 * One value as it came from JSON, to the canonical text of a column's type. Strict on purpose: what a lenient reader would
 * guess at (white space, hexadecimal, a number that JSON.parse already rounded) is refused, since a guess finds the wrong
 * row. Whatever a result shows for a value is accepted here, so that a value read can be sent back.
 */
export type Coerced = Result<PlanValue, string>

const SIGNED: readonly [bigint, bigint] = [-(2n ** 63n), 2n ** 63n - 1n]
const UNSIGNED: readonly [bigint, bigint] = [0n, 2n ** 64n - 1n]
/** Decimal digits that every double keeps, so that a JSON number of no more than these arrived as it was written. */
const EXACT_DIGITS_MAX = 15

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/
const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const NEGATIVE_ZERO = /^-[0.]+$/
const FLOAT = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const NONZERO_MANTISSA = /^[^eE]*[1-9]/
const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity'])
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const LONE_SURROGATE = /[\ud800-\udfff]/u

const COUNT = '-?[0-9]{1,12}'
const INTERVAL = new RegExp(
  `^P(?=.)(?:${COUNT}Y)?(?:${COUNT}M)?(?:${COUNT}W)?(?:${COUNT}D)?` +
    `(?:T(?=.)(?:${COUNT}H)?(?:${COUNT}M)?(?:${COUNT}(?:\\.[0-9]{1,6})?S)?)?$`,
)

/** Gives the canonical text, or a phrase of what was expected, such as `a whole number between 0 and 255`. */
export function coerceValue(type: ValueType, raw: unknown): Coerced {
  if (typeof raw === 'string' && raw.length > VALUE_CHARS_MAX) {
    return fail(`a value of at most ${VALUE_CHARS_MAX} characters`)
  }
  const text = CANONICAL[type.logical](type, raw)
  return text === undefined ? fail(PHRASES[type.logical](type)) : ok(text)
}

/**
 * The same for a value that is to be written, which may be a document. JSON becomes compact JSON text. An array becomes the
 * JSON text of its canonical elements, each a JSON string or null, nested as deep as it has dimensions. Whether null may
 * be written is for the caller to judge: here it does not fit.
 */
export function coerceWrite(type: ValueType, raw: unknown): Coerced {
  const long = fail(`a value of at most ${WRITE_VALUE_CHARS_MAX} characters`)
  if (typeof raw === 'string' && raw.length > WRITE_VALUE_CHARS_MAX) return long
  const text = canonicalWrite(type, raw)
  if (text === undefined) return fail(writePhrase(type))
  return text.length > WRITE_VALUE_CHARS_MAX ? long : ok(text)
}

function canonicalWrite(type: ValueType, raw: unknown): PlanValue | undefined {
  if (type.logical === 'json') return canonicalJson(raw)
  if (type.logical === 'array') return canonicalArray(type, raw)
  const text = CANONICAL[type.logical](type, raw)
  if (text === undefined || tooLong(type, text) || tooLarge(type, text) || tooFine(type, text)) return undefined
  if (type.logical === 'float' && !keepsFloat(type, text)) return undefined
  if (type.form !== undefined && !mayBeWritten(type.form, text)) return undefined
  return type.logical === 'text' && canHold(type, text) === 'no' ? undefined : text
}

/** Declared lengths count characters, not the units of this process's strings. */
function tooLong({ charsMax }: ValueType, text: string): boolean {
  return charsMax !== undefined && text.length > charsMax && [...text].length > charsMax
}

/** Whether the number has more digits before the point than the column keeps; a zero that only holds the place is none. */
function tooLarge(type: ValueType, text: string): boolean {
  const kept = wholeDigitsMax(type)
  return kept !== undefined && (/^-?(?!0(?:\.|$))([0-9]+)/.exec(text)?.[1] ?? '').length > kept
}

function wholeDigitsMax({ precision, fractionDigitsMax = 0 }: ValueType): number | undefined {
  return precision === undefined ? undefined : precision - fractionDigitsMax
}

/** Whether the column would round the value: what it keeps must be what was sent. */
export function tooFine(type: ValueType, text: string): boolean {
  return hasMoreDigits(type, text) || isBetweenSteps(type, text)
}

function hasMoreDigits({ logical, fractionDigitsMax }: ValueType, given: string): boolean {
  if (fractionDigitsMax === undefined) return false
  const text = logical === 'float' ? String(Number(given)) : given
  const exponent = logical === 'float' ? Number(text.split('e')[1] ?? 0) : 0
  if (exponent < 0) return -exponent > fractionDigitsMax || tooFineMantissa(text, fractionDigitsMax + exponent)
  return tooFineMantissa(text, fractionDigitsMax)
}

function tooFineMantissa(text: string, fractionDigitsMax: number): boolean {
  const point = text.indexOf('.')
  if (point < 0) return false
  let kept = 0
  // Zeros at the end are no digits that would be lost.
  for (let at = point + 1; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) break
    if (digit > 0) kept = at - point
  }
  return kept > fractionDigitsMax
}

const TEXT: ValueType = { logical: 'text', native: 'text', equality: true, ordered: true }

type Elements = readonly (string | null | Elements)[]

/** Some clients send lists as their JSON text. */
function listOf(raw: unknown): readonly unknown[] | undefined {
  if (Array.isArray(raw)) return raw
  if (typeof raw !== 'string') return undefined
  try {
    const parsed: unknown = JSON.parse(raw)
    return Array.isArray(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function canonicalArray(type: ValueType, raw: unknown): PlanValue | undefined {
  const list = listOf(raw)
  if (list === undefined) return undefined
  const elements = list.length === 0 ? [] : arrayElements(type.element ?? TEXT, list, dimensions(list))
  return elements === undefined ? undefined : JSON.stringify(elements)
}

/** The lengths of the list and of the first lists inside of it; all others must be like them. */
function dimensions(list: readonly unknown[]): readonly number[] {
  const [first] = list
  return Array.isArray(first) ? [list.length, ...dimensions(first)] : [list.length]
}

function arrayElements(element: ValueType, list: readonly unknown[], shape: readonly number[]): Elements | undefined {
  const [length, ...inner] = shape
  if (list.length !== length || length === 0 || shape.length > ARRAY_DIMENSIONS_MAX) return undefined
  // A list inside a list of JSON could be an element as well as a dimension.
  if (element.logical === 'json' && inner.length > 0) return undefined
  const elements: Elements[number][] = []
  for (const item of list) {
    const read = inner.length === 0 ? arrayElement(element, item) : innerElements(element, item, inner)
    if (read === undefined) return undefined
    elements.push(read)
  }
  return elements
}

function arrayElement(element: ValueType, item: unknown): string | null | undefined {
  if (item === null) return null
  return Array.isArray(item) ? undefined : canonicalWrite(element, item)
}

function innerElements(element: ValueType, item: unknown, shape: readonly number[]): Elements | undefined {
  return Array.isArray(item) ? arrayElements(element, item, shape) : undefined
}

type Canonical = (type: ValueType, raw: unknown) => PlanValue | undefined

const CANONICAL: Readonly<Record<LogicalType, Canonical>> = {
  integer: canonicalInteger,
  bigint: canonicalBigint,
  decimal: canonicalDecimal,
  float: canonicalFloat,
  boolean: canonicalBoolean,
  timestamp: canonicalTimestamp,
  date: canonicalDate,
  time: canonicalTime,
  interval: canonicalInterval,
  uuid: canonicalUuid,
  bytes: canonicalBytes,
  enum: canonicalLabel,
  text: canonicalText,
  unknown: canonicalUnknown,
  json: () => undefined,
  array: () => undefined,
}

function integerRange(type: ValueType): readonly [number, number] {
  return type.range ?? [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
}

/** The digits of a whole number, or undefined; a JSON number counts only where JSON.parse cannot have rounded it. */
function wholeDigits(raw: unknown): string | undefined {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) && !Object.is(raw, -0) ? String(raw) : undefined
  return typeof raw === 'string' && raw !== '-0' && INTEGER.test(raw) ? raw : undefined
}

/** Digits of a whole number in the type's range, or of the zero that it takes as well. */
function canonicalInteger(type: ValueType, raw: unknown): PlanValue | undefined {
  const digits = wholeDigits(raw)
  // Longer texts are beyond the safe range, where Number() would round.
  if (digits === undefined || digits.length > 17) return undefined
  if (digits === '0' && type.alsoZero === true) return digits
  const value = Number(digits)
  const [low, high] = integerRange(type)
  return Number.isSafeInteger(value) && value >= low && value <= high ? digits : undefined
}

function bigintRange(type: ValueType): readonly [bigint, bigint] {
  return type.unsigned === true ? UNSIGNED : SIGNED
}

function canonicalBigint(type: ValueType, raw: unknown): PlanValue | undefined {
  const digits = wholeDigits(raw)
  if (digits === undefined || digits.length > 20) return undefined
  const value = BigInt(digits)
  const [low, high] = bigintRange(type)
  return value >= low && value <= high ? digits : undefined
}

function canonicalDecimal(type: ValueType, raw: unknown): PlanValue | undefined {
  const text = typeof raw === 'number' ? exactDecimal(raw) : raw
  if (typeof text !== 'string') return undefined
  if (NOT_FINITE.has(text)) return type.digitsMax === undefined ? text : undefined
  return DECIMAL.test(text) && !NEGATIVE_ZERO.test(text) && digitsFit(type, text) ? text : undefined
}

/** A zero that only holds the place before the point is no digit of the number. */
function digitsFit(type: ValueType, text: string): boolean {
  const { digitsMax } = type
  if (digitsMax === undefined) return true
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  return fraction.length <= pointDigits(type) && (whole === '0' ? 0 : whole.length) + fraction.length <= digitsMax
}

/** Digits after the point that are taken whatever the type keeps; a type that keeps more takes all that it keeps. */
function pointDigits({ fractionDigitsMax = 0 }: ValueType): number {
  return Math.max(BOUNDED_FRACTION_DIGITS_MAX, fractionDigitsMax)
}

/** Plain digits of a JSON number that arrived as it was written; a longer or larger one may have been rounded on the way. */
function exactDecimal(value: number): string | undefined {
  if (!Number.isFinite(value) || Object.is(value, -0)) return undefined
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? String(value) : undefined
  const [mantissa = '', exponent] = String(value).split('e')
  const digits = mantissa.replace('-', '').replace('.', '')
  if (digits.replace(/^0+/, '').length > EXACT_DIGITS_MAX) return undefined
  if (exponent === undefined) return mantissa
  // Shortest forms below 1e-6 carry an exponent; the mantissa then has one digit before the point.
  return `${value < 0 ? '-' : ''}0.${'0'.repeat(-Number(exponent) - 1)}${digits}`
}

function canonicalFloat(type: ValueType, raw: unknown): PlanValue | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) && !Object.is(raw, -0) ? String(raw) : undefined
  if (typeof raw !== 'string') return undefined
  if (NOT_FINITE.has(raw)) return type.finite === true ? undefined : raw
  if (!FLOAT.test(raw)) return undefined
  const value = Number(raw)
  const underflowed = value === 0 && NONZERO_MANTISSA.test(raw)
  return Number.isFinite(value) && !underflowed ? raw : undefined
}

function canonicalBoolean(type: ValueType, raw: unknown): PlanValue | undefined {
  if (raw === true || raw === 'true') return 'true'
  if (raw === false || raw === 'false') return 'false'
  // A number that stands in for a boolean: 1 and 0 are spelt as the truths that they are.
  const digits = type.range === undefined ? undefined : canonicalInteger(type, raw)
  return digits === '1' ? 'true' : digits === '0' ? 'false' : digits
}

function canonicalInterval(_type: ValueType, raw: unknown): PlanValue | undefined {
  return typeof raw === 'string' && (ENDLESS.has(raw) || INTERVAL.test(raw)) ? raw : undefined
}

function canonicalUuid(_type: ValueType, raw: unknown): PlanValue | undefined {
  return typeof raw === 'string' && UUID.test(raw) ? raw.toLowerCase() : undefined
}

function canonicalBytes(_type: ValueType, raw: unknown): PlanValue | undefined {
  if (typeof raw !== 'string') return undefined
  // Buffer skips what is not base64; only a canonical text comes back as it was.
  return Buffer.from(raw, 'base64').toString('base64') === raw ? raw : undefined
}

function canonicalLabel(type: ValueType, raw: unknown): PlanValue | undefined {
  return typeof raw === 'string' && (type.labels ?? []).includes(raw) ? raw : undefined
}

function canonicalText(_type: ValueType, raw: unknown): PlanValue | undefined {
  return typeof raw === 'string' && !raw.includes('\0') && !LONE_SURROGATE.test(raw) ? raw : undefined
}

function canonicalUnknown(type: ValueType, raw: unknown): PlanValue | undefined {
  const text = canonicalText(type, raw)
  return text === undefined || type.form === undefined ? text : formed(type.form, text)
}

function labelsPhrase(type: ValueType): string {
  const labels = type.labels ?? []
  const shown = labels.slice(0, CHOICES_SHOWN_MAX).map((label) => `"${cleanText(label, ECHO_CHARS_MAX)}"`)
  const more = labels.length - shown.length
  return `one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** What each type takes, for a reader who sent something else. */
const PHRASES: Readonly<Record<LogicalType, (type: ValueType) => string>> = {
  integer: (type) => {
    const [low, high] = integerRange(type)
    return `a whole number between ${low} and ${high}${type.alsoZero === true ? ', or 0' : ''}`
  },
  bigint: (type) => {
    const [low, high] = bigintRange(type)
    return `a whole number between ${low} and ${high}; beyond ±9007199254740991 send it as a string`
  },
  decimal: (type) => {
    const bounds =
      type.digitsMax === undefined
        ? ''
        : ` and at most ${type.digitsMax} digits, ${pointDigits(type)} of them after the point`
    return `a decimal in plain digits such as "12.50"${bounds}; send it as a string when it has more than 15 digits, without exponent`
  },
  float: ({ finite }) =>
    `a finite number such as 1.5 or 2e10 that a double can hold${finite === true ? '' : ', or "NaN", "Infinity", "-Infinity"'}`,
  boolean: ({ range }) =>
    range === undefined ? 'true or false' : `true or false, or a whole number between ${range[0]} and ${range[1]}`,
  timestamp: TIMESTAMP_PHRASE,
  date: DATE_PHRASE,
  time: TIME_PHRASE,
  interval: () => 'an ISO 8601 duration such as P1Y2M3DT4H5M6S or PT0S',
  uuid: () => 'a UUID such as 123e4567-e89b-12d3-a456-426614174000',
  bytes: () => 'bytes as base64 with padding',
  enum: labelsPhrase,
  text: () => 'a string without NUL and without half of a surrogate pair',
  unknown: ({ form }) =>
    form === undefined ? 'a string without NUL and without half of a surrogate pair' : formPhrase(form),
  json: () => 'no value: json cannot be compared, only is_null and not_null fit',
  array: () => 'no value: an array cannot be compared, only is_null and not_null fit',
}

function writePhrase(type: ValueType): string {
  if (type.logical === 'json') {
    return 'a JSON value; with whole numbers beyond ±9007199254740991 send it as JSON text, where they keep all digits'
  }
  if (type.logical === 'array') {
    const element = type.element ?? TEXT
    const nested =
      element.logical === 'json'
        ? 'a list among them as its JSON text'
        : 'lists inside of it, if any, all of one length and not empty'
    return `a list of values, each null or ${writePhrase(element)}; ${nested}`
  }
  const wholeMax = wholeDigitsMax(type)
  const limits = [
    ...(wholeMax === undefined ? [] : [`with at most ${wholeMax} digits before the point`]),
    ...(type.charsMax === undefined ? [] : [`of at most ${type.charsMax} characters`]),
    ...(type.fractionDigitsMax === undefined ? [] : [`with at most ${type.fractionDigitsMax} fraction digits`]),
    ...stepsPhrase(type),
    ...(type.single === true ? ['of no more digits than a single-precision float keeps, about 7'] : []),
    ...(type.normal === true
      ? [`zero or at least ${type.single === true ? '1.1754944e-38' : '2.2250738585072014e-308'} from it`]
      : []),
    ...(type.form?.kind === 'words' && type.form.several === true ? ['and no list of them'] : []),
    ...(type.repertoire === undefined ? [] : [REPERTOIRE_PHRASES[type.repertoire]]),
  ]
  return [PHRASES[type.logical](type), ...limits].join(', ')
}
