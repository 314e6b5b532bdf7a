import { ACCESS_OPERATIONS } from '../admin/operations-access.js'
import type { ClaimScalar, ClaimValue } from '../core/identity.js'
import { ok, type Result } from '../core/result.js'
import { administer } from './administer.js'
import { type CommandResult, type Refusal, refused, type Surroundings, table } from './command.js'
import { confirmed } from './confirm.js'

export interface IdentityArguments {
  readonly name: string
  readonly roles: readonly string[]
  /** `name=value` each. */
  readonly claims: readonly string[]
}

/** `runku identity create <name> [--role r]… [--claim k=v]…` */
export async function createIdentity(surroundings: Surroundings, given: IdentityArguments): Promise<CommandResult> {
  const claims = parseClaims(given.claims)
  if (!claims.ok) return claims
  const input = { identity: given.name, roles: given.roles, claims: Object.fromEntries(claims.value) }
  const roles = given.roles.length === 0 ? 'no roles yet' : `roles: ${given.roles.join(', ')}`
  return administer(surroundings, ACCESS_OPERATIONS['identity.create'], input, () => [
    `Made the identity "${given.name}" (${roles}).`,
  ])
}

/** `runku identity list` */
export function listIdentities(surroundings: Surroundings): Promise<CommandResult> {
  return administer(surroundings, ACCESS_OPERATIONS['identity.list'], {}, ({ identities }) => {
    const rows = identities.map((one) => [
      one.identity,
      one.disabled ? 'disabled' : '',
      one.bindings.map(bindingText).join(', '),
      claimsText(one.claims),
    ])
    return table(['IDENTITY', '', 'ROLES', 'CLAIMS'], rows, 'There are no identities.')
  })
}

/** `runku identity show <name>` */
export function showIdentity(surroundings: Surroundings, name: string): Promise<CommandResult> {
  return administer(surroundings, ACCESS_OPERATIONS['identity.show'], { identity: name }, (one) => [
    `identity  ${one.identity}${one.disabled ? '  (disabled)' : ''}`,
    `id        ${one.id}`,
    `made      ${one.created_at}`,
    `roles     ${one.bindings.map(bindingText).join(', ') || 'none'}`,
    `claims    ${claimsText(one.claims) || 'none'}`,
    ...one.keys.map((key) => `key       ${key.key_id}  ${key.state}  last used ${key.last_used_at ?? 'never'}`),
  ])
}

/** `runku identity disable|enable <name>` */
export function setIdentityDisabled(
  surroundings: Surroundings,
  name: string,
  disabled: boolean,
): Promise<CommandResult> {
  const operation = ACCESS_OPERATIONS[disabled ? 'identity.disable' : 'identity.enable']
  const line = disabled
    ? `Disabled the identity "${name}": its keys are refused from their next request on.`
    : `Enabled the identity "${name}": its keys are taken again.`
  return administer(surroundings, operation, { identity: name }, () => [line])
}

/** `runku identity claims <name> [--claim k=v]…`: in place of all it had. */
export async function setClaims(
  surroundings: Surroundings,
  name: string,
  given: readonly string[],
): Promise<CommandResult> {
  const claims = parseClaims(given)
  if (!claims.ok) return claims
  const input = { identity: name, claims: Object.fromEntries(claims.value) }
  return administer(surroundings, ACCESS_OPERATIONS['identity.set_claims'], input, (done) => [
    `The claims of "${name}" are now: ${claimsText(done.claims) || 'none'}.`,
  ])
}

/** `runku identity delete <name> [--yes]` */
export async function deleteIdentity(surroundings: Surroundings, name: string, yes: boolean): Promise<CommandResult> {
  const asked = await confirmed(`deletes the identity "${name}" with its keys and bindings`, yes)
  if (!asked.ok) return asked
  return administer(surroundings, ACCESS_OPERATIONS['identity.delete'], { identity: name }, () => [
    `Deleted the identity "${name}" with its keys and bindings.`,
  ])
}

function bindingText({ role, connector }: { readonly role: string; readonly connector?: string | undefined }): string {
  return connector === undefined ? role : `${role} (${connector})`
}

function claimsText(claims: Readonly<Record<string, ClaimValue>>): string {
  return Object.entries(claims)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(' ')
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
