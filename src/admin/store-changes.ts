import { generateKey, KEY_ID } from '../auth/api-key.js'
import type { ClaimValue } from '../core/identity.js'
import { fail, ok, type Result } from '../core/result.js'
import type { CreatedKey, StoreRefusal } from './admin-store.js'
import { CONNECTOR_ID, IDENTITY_NAME, ROLE_NAME } from './names.js'
import { claimsText } from './store-rows.js'
import { claimsFault, expiryFault, nameFault, notFound, refuse } from './store-rules.js'
import { all, type Change, type ChangeContext, first, run, type Steps } from './store-steps.js'

/** Changes of roles, identities, keys and bindings: see `StoreChanges` for what each does. */

const UNCHANGED = ok({ value: undefined })

interface Named {
  readonly name: string
}

export function* createRole(name: string): Change<void> {
  const fault = nameFault('role', name, ROLE_NAME)
  if (fault !== undefined) return fail(fault)
  const existing = yield* first('SELECT 1 AS found FROM roles WHERE name = ?', name)
  if (existing !== undefined) return refuse('EXISTS', `the role "${name}" exists already`)
  yield* run('INSERT INTO roles (name) VALUES (?)', name)
  return ok({ value: undefined, entry: { action: 'role.create', target: name } })
}

export function* deleteRole(name: string, unbind: boolean): Change<void> {
  const missing = yield* missingRole(name)
  if (missing !== undefined) return missing
  const role = yield* first<{ readonly reserved: number }>('SELECT reserved FROM roles WHERE name = ?', name)
  if (role?.reserved !== 0) return refuse('INVALID', `the role "${name}" is reserved and stays`)
  const holders = yield* all<Named>(
    `SELECT i.name FROM identities i WHERE EXISTS (SELECT 1 FROM role_bindings b WHERE b.identity_id = i.id AND b.role = ?)
     ORDER BY i.name`,
    name,
  )
  if (holders.length > 0 && !unbind) {
    const [one] = holders
    const whom = holders.length === 1 ? `"${one?.name}"` : `${holders.length} identities, such as "${one?.name}"`
    return refuse('INVALID', `the role "${name}" is bound to ${whom}: unbind it with the deletion, or first`)
  }
  const unbound = yield* all('DELETE FROM role_bindings WHERE role = ? RETURNING role', name)
  yield* run('DELETE FROM roles WHERE name = ?', name)
  return ok({ value: undefined, entry: { action: 'role.delete', target: name, detail: { unbound: unbound.length } } })
}

export function* createIdentity(
  name: string,
  roles: readonly string[],
  claims: ReadonlyMap<string, ClaimValue>,
  { nowMs, randomBytes }: ChangeContext,
): Change<{ readonly id: string }> {
  const fault = nameFault('identity', name, IDENTITY_NAME) ?? claimsFault(claims)
  if (fault !== undefined) return fail(fault)
  if ((yield* identityId(name)) !== undefined) return refuse('EXISTS', `the identity "${name}" exists already`)
  const distinct = [...new Set(roles)]
  for (const role of distinct) {
    const missing = yield* missingRole(role)
    if (missing !== undefined) return missing
  }
  const id = `id_${Buffer.from(randomBytes(12)).toString('hex')}`
  yield* run(
    'INSERT INTO identities (id, name, claims, created_at) VALUES (?, ?, ?, ?)',
    id,
    name,
    claimsText(claims),
    nowMs,
  )
  for (const role of distinct) yield* run('INSERT INTO role_bindings (identity_id, role) VALUES (?, ?)', id, role)
  const detail = { roles: distinct.join(', '), claims: claimNames(claims) }
  return ok({ value: { id }, entry: { action: 'identity.create', target: name, detail } })
}

export function* deleteIdentity(name: string): Change<void> {
  const id = yield* identityId(name)
  if (id === undefined) return yield* missingIdentity(name)
  const keys = yield* all('DELETE FROM api_keys WHERE identity_id = ? RETURNING key_id', id)
  const bindings = yield* all('DELETE FROM role_bindings WHERE identity_id = ? RETURNING role', id)
  yield* run('DELETE FROM identities WHERE id = ?', id)
  const detail = { keys: keys.length, bindings: bindings.length }
  return ok({ value: undefined, entry: { action: 'identity.delete', target: name, detail } })
}

export function* setIdentityDisabled(name: string, disabled: boolean): Change<void> {
  const row = yield* first<{ readonly disabled: number }>('SELECT disabled FROM identities WHERE name = ?', name)
  if (row === undefined) return yield* missingIdentity(name)
  if ((row.disabled !== 0) === disabled) return UNCHANGED
  yield* run('UPDATE identities SET disabled = ? WHERE name = ?', disabled ? 1 : 0, name)
  return ok({ value: undefined, entry: { action: disabled ? 'identity.disable' : 'identity.enable', target: name } })
}

export function* setClaims(name: string, claims: ReadonlyMap<string, ClaimValue>): Change<void> {
  const fault = claimsFault(claims)
  if (fault !== undefined) return fail(fault)
  const row = yield* first<{ readonly claims: string }>('SELECT claims FROM identities WHERE name = ?', name)
  if (row === undefined) return yield* missingIdentity(name)
  const text = claimsText(claims)
  if (row.claims === text) return UNCHANGED
  yield* run('UPDATE identities SET claims = ? WHERE name = ?', text, name)
  const detail = { claims: claimNames(claims) }
  return ok({ value: undefined, entry: { action: 'identity.set_claims', target: name, detail } })
}

/** Values may be personal, or what a row filter keeps apart. */
function claimNames(claims: ReadonlyMap<string, ClaimValue>): string {
  return [...claims.keys()].join(', ')
}

export function* createKey(
  identity: string,
  expiresAt: number | undefined,
  { nowMs, randomBytes }: ChangeContext,
): Change<CreatedKey> {
  const fault = expiryFault(expiresAt, nowMs)
  if (fault !== undefined) return fail(fault)
  const id = yield* identityId(identity)
  if (id === undefined) return yield* missingIdentity(identity)
  const { keyId, secretHash, key } = generateKey(randomBytes)
  yield* run(
    'INSERT INTO api_keys (key_id, identity_id, secret_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
    keyId,
    id,
    secretHash,
    nowMs,
    expiresAt ?? null,
  )
  const detail = { identity, expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString() }
  return ok({ value: { keyId, key }, entry: { action: 'key.create', target: keyId, detail } })
}

export function* revokeKey(keyId: string, { nowMs }: ChangeContext): Change<void> {
  if (!KEY_ID.test(keyId)) return refuse('INVALID', 'expected a key id: the 12 characters after "rk_"')
  const row = yield* first<{ readonly identity: string; readonly revoked_at: number | null }>(
    'SELECT i.name AS identity, k.revoked_at FROM api_keys k JOIN identities i ON i.id = k.identity_id WHERE k.key_id = ?',
    keyId,
  )
  if (row === undefined) return refuse('NOT_FOUND', `there is no key "${keyId}"; see "runku key list"`)
  if (row.revoked_at !== null) return UNCHANGED
  yield* run('UPDATE api_keys SET revoked_at = ? WHERE key_id = ?', nowMs, keyId)
  const detail = { identity: row.identity }
  return ok({ value: undefined, entry: { action: 'key.revoke', target: keyId, detail } })
}

export function* addBinding(identity: string, role: string, connector: string | undefined): Change<void> {
  const fault = connector === undefined ? undefined : nameFault('connector', connector, CONNECTOR_ID)
  if (fault !== undefined) return fail(fault)
  const id = yield* identityId(identity)
  if (id === undefined) return yield* missingIdentity(identity)
  const missing = yield* missingRole(role)
  if (missing !== undefined) return missing
  const added = yield* first(
    'INSERT INTO role_bindings (identity_id, role, connector) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING role',
    id,
    role,
    connector ?? '',
  )
  if (added === undefined) return refuse('EXISTS', `"${identity}" has this role there already`)
  const detail = { role, connector: connector ?? null }
  return ok({ value: undefined, entry: { action: 'binding.add', target: identity, detail } })
}

export function* removeBinding(identity: string, role: string, connector: string | undefined): Change<void> {
  const id = yield* identityId(identity)
  if (id === undefined) return yield* missingIdentity(identity)
  const removed = yield* first(
    'DELETE FROM role_bindings WHERE identity_id = ? AND role = ? AND connector = ? RETURNING role',
    id,
    role,
    connector ?? '',
  )
  if (removed === undefined) {
    const where = connector === undefined ? 'on every connector' : `on connector "${connector}"`
    return refuse('NOT_FOUND', `"${identity}" is not bound to role "${role}" ${where}; see "runku identity list"`)
  }
  const detail = { role, connector: connector ?? null }
  return ok({ value: undefined, entry: { action: 'binding.remove', target: identity, detail } })
}

function* identityId(name: string): Steps<string | undefined> {
  return (yield* first<{ readonly id: string }>('SELECT id FROM identities WHERE name = ?', name))?.id
}

function* missingRole(role: string): Steps<Result<never, StoreRefusal> | undefined> {
  const known = (yield* all<Named>('SELECT name FROM roles ORDER BY name')).map(({ name }) => name)
  return known.includes(role) ? undefined : notFound('role', role, known, ` Make it with "runku role create".`)
}

function* missingIdentity(name: string): Steps<Result<never, StoreRefusal>> {
  const known = (yield* all<Named>('SELECT name FROM identities ORDER BY name')).map(({ name }) => name)
  return notFound('identity', name, known, ` Make it with "runku identity create".`)
}
