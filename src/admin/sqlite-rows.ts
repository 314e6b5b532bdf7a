import type { ClaimValue } from '../core/identity.js'
import type { Binding, KeyRecord, ListedIdentity, ListedKey, StoredPolicy } from './admin-store.js'

/** Rows as SQLite gives them, and what they become. */

export interface KeyRow {
  readonly key_id: string
  readonly secret_hash: Uint8Array
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly identity_id: string
  readonly identity_name: string
  readonly disabled: number
  readonly claims: string
  readonly bindings: string
}

export interface IdentityRow {
  readonly id: string
  readonly name: string
  readonly disabled: number
  readonly claims: string
  readonly bindings: string
  readonly created_at: number
}

export interface ListedKeyRow {
  readonly key_id: string
  readonly identity: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
}

export interface PolicyRow {
  readonly name: string
  readonly version: number
  readonly document: string
  readonly author: string
  readonly applied_at: number
}

/** Bindings of the identity `i` as one JSON text, so that a record is read by one statement and so from one state. */
const BINDINGS = `(SELECT json_group_array(json_array(b.role, b.connector)) FROM role_bindings b WHERE b.identity_id = i.id) AS bindings`

export const SELECT_KEY = `
  SELECT k.key_id, k.secret_hash, k.expires_at, k.revoked_at,
         i.id AS identity_id, i.name AS identity_name, i.disabled, i.claims, ${BINDINGS}
  FROM api_keys k JOIN identities i ON i.id = k.identity_id
  WHERE k.key_id = ?`

export const SELECT_IDENTITIES = `
  SELECT i.id, i.name, i.disabled, i.claims, i.created_at, ${BINDINGS} FROM identities i ORDER BY i.name`

export const SELECT_KEYS = `
  SELECT k.key_id, i.name AS identity, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
  FROM api_keys k JOIN identities i ON i.id = k.identity_id
  ORDER BY i.name, k.created_at, k.key_id`

export function keyRecord(row: KeyRow): KeyRecord {
  return {
    keyId: row.key_id,
    secretHash: row.secret_hash,
    ...optional('expiresAt', row.expires_at),
    ...optional('revokedAt', row.revoked_at),
    identityId: row.identity_id,
    identityName: row.identity_name,
    disabled: row.disabled !== 0,
    claims: claimsOf(row.claims),
    bindings: bindingsOf(row.bindings),
  }
}

export function listedIdentity(row: IdentityRow): ListedIdentity {
  return {
    id: row.id,
    name: row.name,
    disabled: row.disabled !== 0,
    claims: claimsOf(row.claims),
    bindings: bindingsOf(row.bindings),
    createdAt: row.created_at,
  }
}

export function listedKey(row: ListedKeyRow): ListedKey {
  return {
    keyId: row.key_id,
    identity: row.identity,
    createdAt: row.created_at,
    ...optional('expiresAt', row.expires_at),
    ...optional('revokedAt', row.revoked_at),
    ...optional('lastUsedAt', row.last_used_at),
  }
}

export function storedPolicy(row: PolicyRow): StoredPolicy {
  return {
    name: row.name,
    version: row.version,
    document: row.document,
    author: row.author,
    appliedAt: row.applied_at,
  }
}

function optional<K extends string>(key: K, value: number | null): { readonly [P in K]?: number } {
  // The computed key widens to string, though it is K.
  return value === null ? {} : ({ [key]: value } as { readonly [P in K]?: number })
}

export function claimsText(claims: ReadonlyMap<string, ClaimValue>): string {
  return JSON.stringify(Object.fromEntries(claims))
}

function claimsOf(text: string): ReadonlyMap<string, ClaimValue> {
  // Written by `claimsText` alone.
  return new Map(Object.entries(JSON.parse(text) as Readonly<Record<string, ClaimValue>>))
}

function bindingsOf(text: string): readonly Binding[] {
  const pairs = JSON.parse(text) as readonly (readonly [role: string, connector: string])[]
  return pairs
    .map(([role, connector]) => (connector === '' ? { role } : { role, connector }))
    .sort((a, b) => order(a.role, b.role) || order(a.connector ?? '', b.connector ?? ''))
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
