import type { ListedKey } from '../admin/admin-store.js'
import { parseKey } from '../auth/api-key.js'
import { KEY_LIFETIME_DAYS_MAX } from '../core/limits.js'
import { ok, type Result } from '../core/result.js'
import {
  type CommandResult,
  isoTime,
  type Refusal,
  refused,
  type Surroundings,
  storeRefused,
  table,
  withStore,
} from './command.js'

/** `runku key create <identity> [--expires 90d]`: prints the key, this once. */
export function createKey(surroundings: Surroundings, identity: string, expires: string | undefined): CommandResult {
  const expiresAt = expires === undefined ? ok(undefined) : parseExpiry(expires, surroundings.clock())
  if (!expiresAt.ok) return expiresAt
  return withStore(surroundings, (store) => {
    const made = store.createKey(identity, expiresAt.value)
    if (!made.ok) return storeRefused(made.error)
    const { keyId, key } = made.value
    const end = expiresAt.value === undefined ? undefined : isoTime(expiresAt.value)
    return ok({
      lines: [
        `A key for "${identity}"${end === undefined ? '' : `, good until ${end}`}. It is not shown again:`,
        '',
        key,
      ],
      json: { identity, key_id: keyId, key, ...(end === undefined ? {} : { expires_at: end }) },
    })
  })
}

/** `runku key revoke <keyid>`: effective with the next request, on every running gateway. A whole key is taken too. */
export function revokeKey(surroundings: Surroundings, keyIdOrKey: string): CommandResult {
  const keyId = parseKey(keyIdOrKey)?.keyId ?? keyIdOrKey
  return withStore(surroundings, (store) => {
    const revoked = store.revokeKey(keyId)
    return revoked.ok
      ? ok({ lines: [`Revoked the key ${keyId}.`], json: { key_id: keyId } })
      : storeRefused(revoked.error)
  })
}

/** `runku key list` */
export function listKeys(surroundings: Surroundings): CommandResult {
  return withStore(surroundings, (store) => {
    const now = surroundings.clock()
    const keys = store.listKeys().map((key) => keyJson(key, now))
    const rows = keys.map((key) => [
      key.key_id,
      key.identity,
      key.state,
      key.created_at,
      key.expires_at ?? 'never',
      key.last_used_at ?? 'never',
    ])
    const header = ['KEY ID', 'IDENTITY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED']
    return ok({ lines: table(header, rows, 'There are no keys.'), json: { keys } })
  })
}

function keyJson(key: ListedKey, now: number) {
  const expired = key.expiresAt !== undefined && key.expiresAt <= now
  return {
    key_id: key.keyId,
    identity: key.identity,
    state: key.revokedAt !== undefined ? 'revoked' : expired ? 'expired' : 'valid',
    created_at: isoTime(key.createdAt),
    ...(key.expiresAt === undefined ? {} : { expires_at: isoTime(key.expiresAt) }),
    ...(key.revokedAt === undefined ? {} : { revoked_at: isoTime(key.revokedAt) }),
    ...(key.lastUsedAt === undefined ? {} : { last_used_at: isoTime(key.lastUsedAt) }),
  }
}

const SPAN = /^(\d{1,6})([dh])$/
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/
const HOUR_MS = 3_600_000
const SPAN_MS = { h: HOUR_MS, d: 24 * HOUR_MS } as const

/** `90d`, `12h`, or an ISO 8601 date (UTC) or time with offset, as Unix milliseconds after `nowMs`. */
/** `Date.parse` takes the thirtieth of February for the second of March. */
function isCalendarDate(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`)
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(date)
}

export function parseExpiry(text: string, nowMs: number): Result<number, Refusal> {
  const span = SPAN.exec(text)
  const expiresAt =
    span !== null
      ? nowMs + Number(span[1]) * SPAN_MS[span[2] === 'h' ? 'h' : 'd']
      : INSTANT.test(text) && isCalendarDate(text.slice(0, 10))
        ? Date.parse(text)
        : NaN
  if (!Number.isFinite(expiresAt)) return refused('--expires: expected 90d, 12h, or a date such as 2030-01-31')
  if (expiresAt <= nowMs) return refused('--expires: expected a time after now')
  if (expiresAt > nowMs + KEY_LIFETIME_DAYS_MAX * SPAN_MS.d) {
    return refused(`--expires: expected at most ${KEY_LIFETIME_DAYS_MAX} days`)
  }
  return ok(expiresAt)
}
