import { SHIP_BACKOFF_MAX_MS, SHIP_BACKOFF_MIN_MS, SHIP_RETRY_AFTER_MAX_MS } from '../../core/limits.js'

/**
 * The pause after so many failures in a row (1 and more), in milliseconds: it doubles up to a bound, and half of it is by chance, so
 * that gateways that lost one destination do not come back to it together. `random` is from 0 to 1.
 */
export function backOffMs(failures: number, random: number): number {
  const ceiling = Math.min(SHIP_BACKOFF_MAX_MS, SHIP_BACKOFF_MIN_MS * 2 ** Math.min(failures - 1, 30))
  return Math.round(ceiling * (0.5 + random / 2))
}

const SECONDS = /^\d{1,9}$/
/** Such as `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that is still sent. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** What a `Retry-After` asks for, in milliseconds from now, within a bound; undefined where it asks for nothing. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? ''
  const asked = SECONDS.test(text) ? Number(text) * 1_000 : HTTP_DATE.test(text) ? Date.parse(text) - nowMs : Number.NaN
  if (Number.isNaN(asked)) return undefined
  return Math.min(Math.max(asked, 0), SHIP_RETRY_AFTER_MAX_MS)
}
