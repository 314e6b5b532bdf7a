import type { PlanValue } from '../../core/plan.js'

const PARTS = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:Z|([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/

const FIRST = '0000-01-01 00:00:00'
const LAST = '9999-12-31 23:59:59.999999'

/**
 * A canonical date and time as MySQL reads it in a session whose zone is UTC: without an offset, by which it is moved. Its
 * fraction is kept digit by digit. What the move takes out of the years that can be written becomes the nearest moment that
 * can: no column holds either, and every one lies on the same side of both.
 */
export function utcText(value: PlanValue): string {
  const match = PARTS.exec(value)
  if (match === null) return value
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', sign] = match
  const asGiven = `${year}-${month}-${day} ${hour}:${minute}:${second}${fraction}`
  // A date without a month or a day is no moment that could be moved.
  if (sign === undefined || month === '00' || day === '00') return asGiven
  const [offsetHours, offsetMinutes, offsetSeconds] = match.slice(9, 12).map((part) => Number(part ?? 0))
  const offset = seconds(offsetHours, offsetMinutes, offsetSeconds) * (sign === '-' ? -1 : 1)
  const moment = new Date(0)
  // The constructor and `Date.UTC` take the years 0 to 99 for 1900 to 1999.
  moment.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  moment.setUTCHours(0, 0, seconds(Number(hour), Number(minute), Number(second)) - offset)
  if (moment.getUTCFullYear() < 0) return FIRST
  if (moment.getUTCFullYear() > 9999) return LAST
  return `${moment.toISOString().slice(0, 19).replace('T', ' ')}${fraction}`
}

function seconds(hours = 0, minutes = 0, rest = 0): number {
  return (hours * 60 + minutes) * 60 + rest
}
