import type { Binding } from '../admin/admin-store.js'
import type { ClaimScalar, ClaimValue } from '../core/identity.js'
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

export interface IdentityArguments {
  readonly name: string
  readonly roles: readonly string[]
  /** `name=value` each. */
  readonly claims: readonly string[]
}

/** `runku identity create <name> [--role r]… [--claim k=v]…` */
export function createIdentity(surroundings: Surroundings, given: IdentityArguments): CommandResult {
  const claims = parseClaims(given.claims)
  if (!claims.ok) return claims
  return withStore(surroundings, (store) => {
    const made = store.createIdentity(given.name, given.roles, claims.value)
    if (!made.ok) return storeRefused(made.error)
    const roles = given.roles.length === 0 ? 'no roles yet' : `roles: ${given.roles.join(', ')}`
    return ok({
      lines: [`Made the identity "${given.name}" (${roles}).`],
      json: { identity: given.name, id: made.value.id, roles: given.roles, claims: Object.fromEntries(claims.value) },
    })
  })
}

/** `runku identity list` */
export function listIdentities(surroundings: Surroundings): CommandResult {
  return withStore(surroundings, (store) => {
    const identities = store.listIdentities()
    const rows = identities.map((identity) => [
      identity.name,
      identity.bindings.map(bindingText).join(', '),
      [...identity.claims].map(([name, value]) => `${name}=${claimText(value)}`).join(' '),
    ])
    return ok({
      lines: table(['IDENTITY', 'ROLES', 'CLAIMS'], rows, 'There are no identities.'),
      json: {
        identities: identities.map((identity) => ({
          id: identity.id,
          identity: identity.name,
          disabled: identity.disabled,
          bindings: identity.bindings,
          claims: Object.fromEntries(identity.claims),
          created_at: isoTime(identity.createdAt),
        })),
      },
    })
  })
}

function bindingText({ role, connector }: Binding): string {
  return connector === undefined ? role : `${role} (${connector})`
}

function claimText(value: ClaimValue): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * Claims as given on the command line. A value is text, whatever it looks like; a JSON array is a list whose items keep
 * their JSON types; a name that repeats makes a list.
 */
export function parseClaims(given: readonly string[]): Result<ReadonlyMap<string, ClaimValue>, Refusal> {
  const claims = new Map<string, ClaimValue>()
  for (const claim of given) {
    const split = claim.indexOf('=')
    if (split < 1) return refused('--claim: expected name=value, such as tenant=42')
    const name = claim.slice(0, split)
    const value = parseClaimValue(name, claim.slice(split + 1))
    if (!value.ok) return value
    const before = claims.get(name)
    claims.set(name, before === undefined ? value.value : [...listOf(before), ...listOf(value.value)])
  }
  return ok(claims)
}

function listOf(value: ClaimValue): readonly ClaimScalar[] {
  return typeof value === 'object' ? value : [value]
}

function parseClaimValue(name: string, text: string): Result<ClaimValue, Refusal> {
  if (!text.startsWith('[')) return ok(text)
  const parsed = parseJson(text)
  if (!Array.isArray(parsed)) return refused(`--claim ${name}: a value that starts with "[" must be a JSON array`)
  const items: readonly unknown[] = parsed
  const scalars = items.filter(
    (item) => typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean',
  )
  if (scalars.length !== items.length)
    return refused(`--claim ${name}: expected text, numbers, true or false in the list`)
  return ok(scalars)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
