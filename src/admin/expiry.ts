import { KEY_LIFETIME_DAYS_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'

const SPAN = /^(\d{1,6})([dh])$/
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/
const HOUR_MS = 3_600_000
const SPAN_MS = { h: HOUR_MS, d: 24 * HOUR_MS } as const

/** `Date.parse` takes the thirtieth of February for the second of March. */
function isCalendarDate(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`)
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(date)
}

/** `90d`, `12h`, or an ISO 8601 date (UTC) or time with offset, as Unix milliseconds after `nowMs`. Fails with what was expected. */
export function parseExpiry(text: string, nowMs: number): Result<number, string> {
  const span = SPAN.exec(text)
  const expiresAt =
    span !== null
      ? nowMs + Number(span[1]) * SPAN_MS[span[2] === 'h' ? 'h' : 'd']
      : INSTANT.test(text) && isCalendarDate(text.slice(0, 10))
        ? Date.parse(text)
        : NaN
  if (!Number.isFinite(expiresAt)) return fail('expected 90d, 12h, or a date such as 2030-01-31')
  if (expiresAt <= nowMs) return fail('expected a time after now')
  if (expiresAt > nowMs + KEY_LIFETIME_DAYS_MAX * SPAN_MS.d)
    return fail(`expected at most ${KEY_LIFETIME_DAYS_MAX} days`)
  return ok(expiresAt)
}
