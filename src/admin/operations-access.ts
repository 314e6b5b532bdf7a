import { z } from 'zod'
import { parseKey } from '../auth/api-key.js'
import type { ClaimValue } from '../core/identity.js'
import { nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Binding, ListedIdentity, ListedKey, StoreRefusal } from './admin-store.js'
import { parseExpiry } from './expiry.js'
import { mapping, shortText } from './input-schemas.js'
import { CLAIM_NAME } from './names.js'
import { ADMIN_ONLY, ADMIN_OR_AUDITOR, type OperationContext, type OperationRefusal, operation } from './operation.js'

/** Roles, identities, keys and bindings. */

const role = shortText('the name of a role')
const identity = shortText('the name of an identity')
const keyId = shortText('a key id')
const connector = shortText('the id of a connector')
const time = z.string().describe('ISO 8601, UTC.')
const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'expected text, a number, true or false' })
const shownClaims = z.record(
  z.string(),
  z.union([scalar, z.array(scalar)], { error: 'expected text, a number, true, false, or a list' }),
)
const claims = mapping(shownClaims, CLAIM_NAME.expected).describe('By name; a list is for row filters with `in`.')
const binding = z.object({ role: z.string(), connector: z.string().optional() })
const shownIdentity = {
  id: z.string(),
  identity: z.string(),
  disabled: z.boolean(),
  bindings: z.array(binding),
  claims: shownClaims,
  created_at: time,
}
const shownKey = {
  key_id: z.string(),
  identity: z.string(),
  state: z.enum(['valid', 'revoked', 'expired']),
  created_at: time,
  expires_at: time.optional(),
  revoked_at: time.optional(),
  last_used_at: time.optional(),
}

type Done<T> = Promise<Result<T, OperationRefusal>>

/** The value of a change that was made, for what is shown of it. */
async function shown<T, S>(change: Promise<Result<T, StoreRefusal>>, show: (value: T) => S): Done<S> {
  const made = await change
  return made.ok ? ok(show(made.value)) : made
}

function changes({ store, author }: OperationContext) {
  return store.changes(author)
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

export function identityJson(one: ListedIdentity) {
  return {
    id: one.id,
    identity: one.name,
    disabled: one.disabled,
    bindings: one.bindings.map(({ role: held, connector: on }: Binding) => ({
      role: held,
      ...(on === undefined ? {} : { connector: on }),
    })),
    claims: Object.fromEntries([...one.claims].map(([name, value]) => [name, mutable(value)])),
    created_at: iso(one.createdAt),
  }
}

function mutable(value: ClaimValue): string | number | boolean | (string | number | boolean)[] {
  return typeof value === 'object' ? [...value] : value
}

function keyJson(key: ListedKey, nowMs: number) {
  const expired = key.expiresAt !== undefined && key.expiresAt <= nowMs
  const state = key.revokedAt !== undefined ? 'revoked' : expired ? 'expired' : 'valid'
  return {
    key_id: key.keyId,
    identity: key.identity,
    state,
    created_at: iso(key.createdAt),
    ...(key.expiresAt === undefined ? {} : { expires_at: iso(key.expiresAt) }),
    ...(key.revokedAt === undefined ? {} : { revoked_at: iso(key.revokedAt) }),
    ...(key.lastUsedAt === undefined ? {} : { last_used_at: iso(key.lastUsedAt) }),
  } as const
}

async function noIdentity({ store }: OperationContext, name: string): Promise<Result<never, OperationRefusal>> {
  const near = nearest(
    name,
    (await store.listIdentities()).map((one) => one.name),
  )
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  return fail({ code: 'NOT_FOUND', message: `there is no identity "${name}".${hint}` })
}

/** A slip of the pen in a connector's id would bind to nothing, and nobody would notice. */
async function unknownConnector(
  context: OperationContext,
  id: string | undefined,
): Promise<Result<never, OperationRefusal> | undefined> {
  if (id === undefined) return undefined
  const ids = (await context.connectors()).map((use) => use.id)
  if (ids.includes(id)) return undefined
  const near = nearest(id, ids)
  const hint = near === undefined ? `The configured ones are: ${ids.join(', ') || 'none'}.` : `Did you mean "${near}"?`
  return fail({ code: 'NOT_FOUND', message: `there is no connector "${id}". ${hint}` })
}

export const ACCESS_OPERATIONS = {
  'role.list': operation({
    name: 'role.list',
    method: 'GET',
    path: '/roles',
    summary: 'The roles that policies grant to, and the reserved ones.',
    input: {},
    output: { roles: z.array(z.object({ name: z.string(), reserved: z.boolean() })) },
    need: ADMIN_OR_AUDITOR,
    act: async ({ store }) => ok({ roles: [...(await store.listRoles())] }),
  }),
  'role.create': operation({
    name: 'role.create',
    method: 'POST',
    path: '/roles',
    summary: 'Makes a role.',
    input: { role },
    output: { role: z.string() },
    need: ADMIN_ONLY,
    target: 'role',
    act: (context, input) => shown(changes(context).createRole(input.role), () => input),
  }),
  'role.delete': operation({
    name: 'role.delete',
    method: 'DELETE',
    path: '/roles/{role}',
    summary: 'Deletes a role. Policies that grant to it grant to nobody then.',
    input: {
      role,
      unbind: z.boolean({ error: 'expected true or false' }).default(false).describe('Also take it from who has it.'),
    },
    output: { role: z.string() },
    need: ADMIN_ONLY,
    target: 'role',
    act: (context, input) => shown(changes(context).deleteRole(input.role, input.unbind), () => ({ role: input.role })),
  }),
  'identity.list': operation({
    name: 'identity.list',
    method: 'GET',
    path: '/identities',
    summary: 'The identities with their roles and claims.',
    input: {},
    output: { identities: z.array(z.object(shownIdentity)) },
    need: ADMIN_OR_AUDITOR,
    act: async ({ store }) => ok({ identities: (await store.listIdentities()).map(identityJson) }),
  }),
  'identity.show': operation({
    name: 'identity.show',
    method: 'GET',
    path: '/identities/{identity}',
    summary: 'One identity, with its keys.',
    input: { identity },
    output: { ...shownIdentity, keys: z.array(z.object(shownKey)) },
    need: ADMIN_OR_AUDITOR,
    target: 'identity',
    act: async (context, input) => {
      const found = await context.store.findIdentity(input.identity)
      if (found === undefined) return noIdentity(context, input.identity)
      const keys = (await context.store.listKeys()).filter((key) => key.identity === input.identity)
      return ok({ ...identityJson(found), keys: keys.map((key) => keyJson(key, context.nowMs)) })
    },
  }),
  'identity.create': operation({
    name: 'identity.create',
    method: 'POST',
    path: '/identities',
    summary: 'Makes an identity. Its roles hold on every connector; bind others one by one.',
    input: { identity, roles: z.array(role).default([]), claims: claims.default({}) },
    output: { identity: z.string(), id: z.string(), roles: z.array(z.string()), claims: shownClaims },
    need: ADMIN_ONLY,
    target: 'identity',
    act: (context, input) =>
      shown(
        changes(context).createIdentity(input.identity, input.roles, new Map(Object.entries(input.claims))),
        ({ id }) => ({ ...input, id }),
      ),
  }),
  'identity.disable': operation({
    name: 'identity.disable',
    method: 'POST',
    path: '/identities/{identity}/disable',
    summary: 'Refuses every key of the identity from its next request on, until it is enabled again.',
    input: { identity },
    output: { identity: z.string(), disabled: z.boolean() },
    need: ADMIN_ONLY,
    target: 'identity',
    act: (context, input) =>
      shown(changes(context).setIdentityDisabled(input.identity, true), () => ({ ...input, disabled: true })),
  }),
  'identity.enable': operation({
    name: 'identity.enable',
    method: 'POST',
    path: '/identities/{identity}/enable',
    summary: 'Takes its keys again.',
    input: { identity },
    output: { identity: z.string(), disabled: z.boolean() },
    need: ADMIN_ONLY,
    target: 'identity',
    act: (context, input) =>
      shown(changes(context).setIdentityDisabled(input.identity, false), () => ({ ...input, disabled: false })),
  }),
  'identity.set_claims': operation({
    name: 'identity.set_claims',
    method: 'PUT',
    path: '/identities/{identity}/claims',
    summary: 'Puts these claims in place of all that the identity had.',
    input: { identity, claims },
    output: { identity: z.string(), claims: shownClaims },
    need: ADMIN_ONLY,
    target: 'identity',
    act: (context, input) =>
      shown(changes(context).setClaims(input.identity, new Map(Object.entries(input.claims))), () => input),
  }),
  'identity.delete': operation({
    name: 'identity.delete',
    method: 'DELETE',
    path: '/identities/{identity}',
    summary: 'Deletes the identity with its keys and bindings. Its entries in the trail stay.',
    input: { identity },
    output: { identity: z.string() },
    need: ADMIN_ONLY,
    target: 'identity',
    act: (context, input) => shown(changes(context).deleteIdentity(input.identity), () => input),
  }),
  'key.list': operation({
    name: 'key.list',
    method: 'GET',
    path: '/keys',
    summary: 'The keys, never their secrets.',
    input: { identity: identity.optional() },
    output: { keys: z.array(z.object(shownKey)) },
    need: ADMIN_OR_AUDITOR,
    target: 'identity',
    act: async (context, input) => {
      if (input.identity !== undefined && (await context.store.findIdentity(input.identity)) === undefined)
        return noIdentity(context, input.identity)
      const keys = await context.store.listKeys()
      const wanted = keys.filter((key) => input.identity === undefined || key.identity === input.identity)
      return ok({ keys: wanted.map((key) => keyJson(key, context.nowMs)) })
    },
  }),
  'key.create': operation({
    name: 'key.create',
    method: 'POST',
    path: '/keys',
    summary: 'Makes a key. The answer is the only place where it is ever shown.',
    input: { identity, expires: shortText('90d, 12h, or a date such as 2030-01-31').optional() },
    output: { identity: z.string(), key_id: z.string(), key: z.string(), expires_at: time.optional() },
    need: ADMIN_ONLY,
    target: 'identity',
    act: async (context, input) => {
      const expiresAt = input.expires === undefined ? ok(undefined) : parseExpiry(input.expires, context.nowMs)
      if (!expiresAt.ok) return fail({ code: 'INVALID', message: `expires: ${expiresAt.error}` })
      return shown(changes(context).createKey(input.identity, expiresAt.value), (made) => ({
        identity: input.identity,
        key_id: made.keyId,
        key: made.key,
        ...(expiresAt.value === undefined ? {} : { expires_at: iso(expiresAt.value) }),
      }))
    },
  }),
  'key.revoke': operation({
    name: 'key.revoke',
    method: 'POST',
    path: '/keys/{key_id}/revoke',
    summary: 'Ends a key with the next request, on every instance.',
    input: { key_id: keyId },
    output: { key_id: z.string() },
    need: ADMIN_ONLY,
    target: 'key_id',
    act: (context, input) => {
      // A whole key is taken too: who holds a leaked one need not know its parts. Its secret goes no further.
      const id = parseKey(input.key_id)?.keyId ?? input.key_id
      return shown(changes(context).revokeKey(id), () => ({ key_id: id }))
    },
  }),
  'binding.add': operation({
    name: 'binding.add',
    method: 'POST',
    path: '/bindings',
    summary: 'Gives an identity a role, on one connector or on every one.',
    input: { identity, role, connector: connector.optional() },
    output: { identity: z.string(), role: z.string(), connector: z.string().optional() },
    need: ADMIN_ONLY,
    target: 'identity',
    act: async (context, input) => {
      const unknown = await unknownConnector(context, input.connector)
      if (unknown !== undefined) return unknown
      return shown(changes(context).addBinding(input.identity, input.role, input.connector), () => input)
    },
  }),
  'binding.remove': operation({
    name: 'binding.remove',
    method: 'DELETE',
    path: '/bindings/{identity}/{role}',
    summary: 'Takes a role from an identity. The connector may be one that is configured no longer.',
    input: { identity, role, connector: connector.optional() },
    output: { identity: z.string(), role: z.string(), connector: z.string().optional() },
    need: ADMIN_ONLY,
    target: 'identity',
    act: (context, input) =>
      shown(changes(context).removeBinding(input.identity, input.role, input.connector), () => input),
  }),
} as const
