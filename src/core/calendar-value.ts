import type { PlanValue } from './plan.js'
import type { ValueType } from './schema-model.js'

/** The calendar's part of the grammar of values: timestamps, dates, and times of day or spans of hours. */

/** An endless future and past, as engines that hold them spell them. */
export const ENDLESS: ReadonlySet<string> = new Set(['infinity', '-infinity'])

/** Fraction digits of a second that are taken whatever the type keeps; a type that keeps more takes all that it keeps. */
const SECOND_FRACTION_DIGITS_MAX = 6

const DATE_PART = '([0-9]{4,7})-([0-9]{2})-([0-9]{2})'
const CLOCK_PART = '([0-9]{2}):([0-9]{2})(:[0-9]{2})?(\\.[0-9]{1,7})?'
const OFFSET_PART = '(Z|[+-][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?'
const TIMESTAMP = new RegExp(`^${DATE_PART}[T ]${CLOCK_PART}${OFFSET_PART}( BC)?$`)
const DATE = new RegExp(`^${DATE_PART}( BC)?$`)
const TIME = new RegExp(`^${CLOCK_PART}${OFFSET_PART}$`)
const SPAN = /^(-?)([0-9]{2,3}):([0-9]{2})(:[0-9]{2})?(\.[0-9]{1,6})?$/

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function fractionDigits(type: ValueType): number {
  return Math.max(SECOND_FRACTION_DIGITS_MAX, type.fractionDigitsMax ?? 0)
}

/** Whether the fraction, its point included, has no more digits than the type takes. */
function fractionFits(type: ValueType, fraction: string | undefined): boolean {
  return fraction === undefined || fraction.length - 1 <= fractionDigits(type)
}

/** Whether the day exists in the proleptic Gregorian calendar. There is no year zero: 1 BC comes before 1. */
function isDay(yearText: string, month: number, day: number, bc: boolean): boolean {
  const year = Number(yearText)
  if (year === 0 || (yearText.length > 4 && yearText.startsWith('0'))) return false
  if (month < 1 || month > 12 || day < 1) return false
  return day <= daysIn(bc ? year - 1 : year, month)
}

/** The same where month and day may be unknown. The year 0000 counts, as one of 365 days. */
function isPartialDay(yearText: string, month: number, day: number, bc: boolean): boolean {
  if (yearText.length !== 4 || bc || month > 12) return false
  const year = Number(yearText)
  return day <= (month === 0 ? 31 : year === 0 ? daysIn(1, month) : daysIn(year, month))
}

function isWithin([first, last]: readonly [number, number], year: number): boolean {
  return year >= first && year <= last
}

function dayFits(type: ValueType, year: string, month: string, day: string, bc: boolean): boolean {
  if (type.years !== undefined && (bc || !isWithin(type.years, Number(year)))) return false
  const fits = type.zeroParts === true ? isPartialDay : isDay
  return fits(year, Number(month), Number(day), bc)
}

function isEndless(type: ValueType, raw: string): boolean {
  return type.zeroParts !== true && type.years === undefined && ENDLESS.has(raw)
}

/** `HH:MM:SS` with the fraction as sent, or undefined. `24:00:00` is a time some engines hold, and no part of a timestamp. */
function clock(hour = '', minute = '', second = ':00', fraction = '', endOfDay = false): string | undefined {
  const text = `${hour}:${minute}${second}${fraction}`
  if (endOfDay && /^24:00:00(?:\.0+)?$/.test(text)) return text
  return Number(hour) < 24 && Number(minute) < 60 && Number(second.slice(1)) < 60 ? text : undefined
}

/** Whether the offset is present exactly where the type has one, and within its bounds or the 15:59:59 that engines take. */
function offsetFits(type: ValueType, offset: string | undefined): boolean {
  if (type.withZone !== true) return offset === undefined
  if (offset === undefined) return false
  if (offset === 'Z') return true
  const [hours = 0, minutes = 0, seconds] = offset.slice(1).split(':').map(Number)
  if (type.offsetMinutesMax !== undefined) {
    return seconds === undefined && minutes < 60 && hours * 60 + minutes <= type.offsetMinutesMax
  }
  return hours < 16 && minutes < 60 && (seconds ?? 0) < 60
}

export function canonicalTimestamp(type: ValueType, raw: unknown): PlanValue | undefined {
  if (typeof raw !== 'string') return undefined
  if (isEndless(type, raw)) return raw
  const match = TIMESTAMP.exec(raw)
  if (match === null) return undefined
  const [, year = '', month = '', day = '', hour, minute, second, fraction, offset, bc] = match
  // A fraction belongs to seconds: `10:30.5` is no time of day.
  if ((second === undefined && fraction !== undefined) || !fractionFits(type, fraction)) return undefined
  const time = clock(hour, minute, second, fraction)
  if (time === undefined || !dayFits(type, year, month, day, bc !== undefined)) return undefined
  // A day that is not known has no place in time that an offset could move.
  if ((month === '00' || day === '00') && offset !== undefined && offset !== 'Z') return undefined
  return offsetFits(type, offset) ? `${year}-${month}-${day}T${time}${offset ?? ''}${bc ?? ''}` : undefined
}

export function canonicalDate(type: ValueType, raw: unknown): PlanValue | undefined {
  if (typeof raw !== 'string') return undefined
  if (isEndless(type, raw)) return raw
  const match = DATE.exec(raw)
  if (match === null) return undefined
  const [, year = '', month = '', day = '', bc] = match
  return dayFits(type, year, month, day, bc !== undefined) ? raw : undefined
}

export function canonicalTime(type: ValueType, raw: unknown): PlanValue | undefined {
  if (typeof raw !== 'string') return undefined
  if (type.span === true) return canonicalSpan(raw)
  const match = TIME.exec(raw)
  if (match === null) return undefined
  const [, hour, minute, second, fraction, offset] = match
  if ((second === undefined && fraction !== undefined) || !fractionFits(type, fraction)) return undefined
  const time = clock(hour, minute, second, fraction, type.endsBeforeMidnight !== true)
  return time !== undefined && offsetFits(type, offset) ? `${time}${offset ?? ''}` : undefined
}

const SPAN_HOURS_MAX = 838

/**
 * Hours are two digits, or three without a zero in front, and nothing is less than nothing: each span has one spelling. The
 * fractions of the last second are for the server to judge, since MariaDB holds them and MySQL does not.
 */
function canonicalSpan(raw: string): PlanValue | undefined {
  const match = SPAN.exec(raw)
  if (match === null) return undefined
  const [, sign = '', hours = '', minute = '', second, fraction = ''] = match
  if (second === undefined && fraction !== '') return undefined
  if (hours.length === 3 && hours.startsWith('0')) return undefined
  const text = `${sign}${hours}:${minute}${second ?? ':00'}${fraction}`
  if (Number(hours) > SPAN_HOURS_MAX || Number(minute) > 59 || Number((second ?? ':00').slice(1)) > 59) return undefined
  return sign !== '' && !/[1-9]/.test(text) ? undefined : text
}

type Phrase = (type: ValueType) => string

function clockOf(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
}

function offsetPhrase(type: ValueType): string {
  if (type.withZone !== true) return 'without an offset, which this type does not have'
  const bound = type.offsetMinutesMax === undefined ? '' : ` of at most ${clockOf(type.offsetMinutesMax)}`
  return `with an offset (Z or ±HH:MM)${bound}`
}

const PARTIAL = 'from the year 0000 to 9999, in which 00 stands for an unknown month or day'

function fourDigits(year: number): string {
  return String(year).padStart(4, '0')
}

function yearsPhrase(type: ValueType): string {
  if (type.zeroParts === true) return `, ${PARTIAL}`
  return type.years === undefined ? '' : `, from the year ${type.years.map(fourDigits).join(' to ')}`
}

export const TIMESTAMP_PHRASE: Phrase = (type) => {
  return (
    `an ISO 8601 date and time such as 2024-05-31T13:45:00${type.withZone === true ? 'Z' : ''} that exists` +
    `${yearsPhrase(type)}, at most ${fractionDigits(type)} fraction digits, ${offsetPhrase(type)}`
  )
}

export const DATE_PHRASE: Phrase = (type) => `an ISO 8601 date that exists, such as 2024-05-31${yearsPhrase(type)}`

export const TIME_PHRASE: Phrase = (type) => {
  const what =
    type.span === true
      ? 'a time or span such as 13:45:00 or -120:30:00 between -838:59:59 and 838:59:59'
      : `a time of day such as 13:45:00${type.withZone === true ? '+00:00' : ''}`
  return `${what}, at most ${fractionDigits(type)} fraction digits, ${offsetPhrase(type)}`
}

/** Whether a timestamp lies between two that the type holds, its digits apart. */
export function isBetweenSteps({ steps }: ValueType, text: string): boolean {
  if (steps === undefined) return false
  const [, seconds = '', fraction = ''] = /T[0-9]{2}:[0-9]{2}:([0-9]{2})(?:\.([0-9]+))?/.exec(text) ?? []
  return steps === 'minutes' ? /[1-9]/.test(seconds + fraction) : !/^[0-9]{2}[037]0*$/.test(fraction.padEnd(3, '0'))
}

const STEP_PHRASES: Readonly<Record<NonNullable<ValueType['steps']>, string>> = {
  minutes: 'of whole minutes',
  thirds: 'of milliseconds that end in 0, 3 or 7',
}

/** What a column takes of timestamps, for whoever is to write it. */
export function stepsPhrase({ steps }: ValueType): readonly string[] {
  return steps === undefined ? [] : [STEP_PHRASES[steps]]
}
