import type { ClaimValue } from '../core/identity.js'
import type {
  Binding,
  KeyRecord,
  ListedIdentity,
  ListedKey,
  ListedPolicy,
  PendingChange,
  StoredConnector,
  StoredPolicy,
} from './admin-store.js'

/** Rows as the store's tables have them, and what they become. */

/** `bindings` is JSON, a list of `[role, connector]`: a record is read by one statement, and so from one state. */
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
  readonly created_at: number
}

export interface BindingRow {
  readonly identity_id: string
  readonly role: string
  /** Empty: every connector. */
  readonly connector: string
}

export interface ListedKeyRow {
  readonly key_id: string
  readonly identity: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
}

export interface ListedPolicyRow {
  readonly name: string
  readonly version: number
  readonly author: string
  readonly applied_at: number
}

export interface PolicyRow extends ListedPolicyRow {
  readonly document: string
}

export interface ConnectorRow {
  readonly id: string
  readonly document: string
  readonly author: string
  readonly changed_at: number
}

export interface PendingRow {
  readonly seq: number
  readonly id: string
  readonly time: number
  readonly author: string
  readonly key_id: string | null
  readonly address: string | null
  readonly action: string
  readonly target: string
  readonly detail: string
}

export function keyRecord(row: KeyRow): KeyRecord {
  // Aggregated by the statement that read it.
  const pairs = JSON.parse(row.bindings) as readonly (readonly [role: string, connector: string])[]
  return {
    keyId: row.key_id,
    secretHash: row.secret_hash,
    ...optional('expiresAt', row.expires_at),
    ...optional('revokedAt', row.revoked_at),
    identityId: row.identity_id,
    identityName: row.identity_name,
    disabled: row.disabled !== 0,
    claims: claimsOf(row.claims),
    bindings: bindingsOf(pairs),
  }
}

export function listedIdentity(row: IdentityRow, bindings: readonly BindingRow[]): ListedIdentity {
  return {
    id: row.id,
    name: row.name,
    disabled: row.disabled !== 0,
    claims: claimsOf(row.claims),
    bindings: bindingsOf(bindings.map(({ role, connector }) => [role, connector])),
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

export function listedPolicy({ name, version, author, applied_at }: ListedPolicyRow): ListedPolicy {
  return { name, version, author, appliedAt: applied_at }
}

export function storedPolicy(row: PolicyRow): StoredPolicy {
  return { ...listedPolicy(row), document: row.document }
}

export function storedConnector({ id, document, author, changed_at }: ConnectorRow): StoredConnector {
  return { id, document, author, changedAt: changed_at }
}

export function pendingChange(row: PendingRow): PendingChange {
  return {
    id: row.id,
    time: row.time,
    author: {
      name: row.author,
      ...(row.key_id === null ? {} : { keyId: row.key_id }),
      ...(row.address === null ? {} : { address: row.address }),
    },
    action: row.action,
    target: row.target,
    // Written with the change alone.
    detail: JSON.parse(row.detail) as PendingChange['detail'],
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

function bindingsOf(pairs: readonly (readonly [role: string, connector: string])[]): readonly Binding[] {
  return pairs
    .map(([role, connector]) => (connector === '' ? { role } : { role, connector }))
    .sort((a, b) => order(a.role, b.role) || order(a.connector ?? '', b.connector ?? ''))
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
