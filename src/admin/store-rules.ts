import type { ClaimScalar, ClaimValue } from '../core/identity.js'
import { CLAIM_CHARS_MAX, CLAIM_LIST_MAX, CLAIMS_MAX, KEY_LIFETIME_DAYS_MAX } from '../core/limits.js'
import { nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import type { StoreRefusal } from './admin-store.js'
import { ANONYMOUS, CLAIM_NAME, type NameRule } from './names.js'

/** What every admin store refuses, whatever keeps its rows. */

const DAY_MS = 86_400_000
/** A row filter compares claims with columns, and no database has such text in one. */
const UNSTORABLE = /\0|\p{Cs}/u

export function refuse(code: StoreRefusal['code'], message: string): Result<never, StoreRefusal> {
  return fail({ code, message })
}

export function notFound(
  kind: string,
  name: string,
  known: readonly string[],
  remedy = '',
): Result<never, StoreRefusal> {
  const near = nearest(name, known)
  const hint = near === undefined ? remedy : ` Did you mean "${near}"?`
  return refuse('NOT_FOUND', `there is no ${kind} "${name}".${hint}`)
}

/** The fault of a new name, or undefined. */
export function nameFault(kind: string, name: string, rule: NameRule): StoreRefusal | undefined {
  if (!rule.pattern.test(name)) {
    return { code: 'INVALID', message: `this is not a name for a ${kind}: expected ${rule.expected}` }
  }
  if (name === ANONYMOUS && kind === 'identity') {
    return { code: 'INVALID', message: `"${ANONYMOUS}" is the identity of callers while authentication is off` }
  }
  return undefined
}

export function claimsFault(claims: ReadonlyMap<string, ClaimValue>): StoreRefusal | undefined {
  const invalid = (message: string): StoreRefusal => ({ code: 'INVALID', message })
  if (claims.size > CLAIMS_MAX) return invalid(`expected at most ${CLAIMS_MAX} claims`)
  for (const [name, value] of claims) {
    if (!CLAIM_NAME.pattern.test(name))
      return invalid(`this is not a name for a claim: expected ${CLAIM_NAME.expected}`)
    const items: readonly ClaimScalar[] = typeof value === 'object' ? value : [value]
    if (items.length > CLAIM_LIST_MAX) return invalid(`claim ${name}: expected at most ${CLAIM_LIST_MAX} values`)
    for (const item of items) {
      if (typeof item === 'string' && item.length > CLAIM_CHARS_MAX) {
        return invalid(`claim ${name}: expected at most ${CLAIM_CHARS_MAX} characters`)
      }
      if (typeof item === 'string' && UNSTORABLE.test(item)) {
        return invalid(`claim ${name}: expected text without NUL and without halves of surrogate pairs`)
      }
      if (
        typeof item === 'number' &&
        !(Number.isFinite(item) && (!Number.isInteger(item) || Number.isSafeInteger(item)))
      ) {
        return invalid(`claim ${name}: the number is not exact: put it in quotes`)
      }
    }
  }
  return undefined
}

export function expiryFault(expiresAt: number | undefined, nowMs: number): StoreRefusal | undefined {
  if (expiresAt === undefined) return undefined
  const inRange =
    Number.isSafeInteger(expiresAt) && expiresAt > nowMs && expiresAt <= nowMs + KEY_LIFETIME_DAYS_MAX * DAY_MS
  if (inRange) return undefined
  return { code: 'INVALID', message: `the key must expire after now and within ${KEY_LIFETIME_DAYS_MAX} days` }
}

/** The fault of a policy's document as it is to be stored. */
export function documentFault(document: string): StoreRefusal | undefined {
  return parsed(document) === undefined
    ? { code: 'INVALID', message: 'a policy document is stored as JSON text' }
    : undefined
}

/** The members of a connector's document, which says its own id. */
export function connectorMembers(
  id: string,
  document: string,
): Result<Readonly<Record<string, unknown>>, StoreRefusal> {
  const value = parsed(document)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse('INVALID', 'a connector is stored as JSON text: one object with the keys of a connector')
  }
  const members: Readonly<Record<string, unknown>> = { ...value }
  return members['id'] === id ? ok(members) : refuse('INVALID', `the id in the connector's document is not "${id}"`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
