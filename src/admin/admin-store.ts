import type { ClaimValue } from '../core/identity.js'
import type { Result } from '../core/result.js'

/** A role of an identity, on one connector or, without one, on every connector. */
export interface Binding {
  readonly role: string
  readonly connector?: string
}

/** One API key with what authentication needs of its identity, as read from the store. */
export interface KeyRecord {
  readonly keyId: string
  /** SHA-256 of the secret's text, 32 bytes. */
  readonly secretHash: Uint8Array
  /** Unix milliseconds; absent: never. */
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly identityId: string
  readonly identityName: string
  readonly disabled: boolean
  readonly claims: ReadonlyMap<string, ClaimValue>
  /** Role names with the connector each is bound to; no connector means every connector. */
  readonly bindings: readonly Binding[]
}

export interface StoredPolicy {
  readonly name: string
  readonly version: number
  /** The document as JSON text, as it was applied. */
  readonly document: string
  readonly author: string
  /** Unix milliseconds. */
  readonly appliedAt: number
}

/** What is listed of a key: never its secret or the hash of it. Times are Unix milliseconds. */
export interface ListedKey {
  readonly keyId: string
  readonly identity: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly lastUsedAt?: number
}

export interface ListedIdentity {
  readonly id: string
  readonly name: string
  readonly disabled: boolean
  readonly claims: ReadonlyMap<string, ClaimValue>
  readonly bindings: readonly Binding[]
  readonly createdAt: number
}

export interface ListedRole {
  readonly name: string
  /** Made with the store, with a meaning of its own. */
  readonly reserved: boolean
}

export type ListedPolicy = Omit<StoredPolicy, 'document'>

/** A key as shown to the person it is for, once: the store keeps a hash of its secret. */
export interface CreatedKey {
  readonly keyId: string
  readonly key: string
}

/** Why a change was refused, for the person who typed it. Nothing was written. */
export interface StoreRefusal {
  readonly code: 'NOT_FOUND' | 'EXISTS' | 'INVALID'
  readonly message: string
}

/** The store could not be read or written. Thrown by every operation; whoever authenticates must refuse, not fail open. */
export class StoreFailure extends Error {
  readonly kind: 'locked' | 'missing' | 'corrupt' | 'unusable'

  constructor(kind: StoreFailure['kind'], message: string) {
    super(message)
    this.name = 'StoreFailure'
    this.kind = kind
  }
}

/** What an idempotency key names: one call of one tool by one identity. */
export interface IdempotencyName {
  /** The identity's id. */
  readonly identity: string
  readonly connector: string
  readonly tool: string
  readonly key: string
}

export interface IdempotencyClaim extends IdempotencyName {
  /** 64 hex digits over what the call does. */
  readonly planHash: string
  /** The run of the gateway that makes the call. */
  readonly instance: string
}

/** What a claim met. `new`: nothing, and it is written down as started. */
export type IdempotencyFound =
  | { readonly kind: 'new' }
  | { readonly kind: 'other_plan' }
  /** `createdAt` in Unix milliseconds. */
  | { readonly kind: 'started'; readonly instance: string; readonly createdAt: number }
  | ({ readonly kind: 'done' } & IdempotentOutcome)

/** What is kept of a call that took effect: enough to answer it again, and never a row. */
export interface IdempotentOutcome {
  readonly affected: number
  /** Key columns of the rows it touched, by agent name. */
  readonly keys: readonly Readonly<Record<string, string>>[]
}

/** The part of the store that keeps writing calls from running twice. Every method throws `StoreFailure`. */
export interface IdempotencyStore {
  /** In one transaction, durable when it returns. What is older than the window does not count. */
  beginIdempotent(claim: IdempotencyClaim, windowMs: number): IdempotencyFound
  /** Keeps the outcome of a started call; `undefined`, since it changed nothing: forgets the call, so that it may run again. */
  finishIdempotent(claim: IdempotencyClaim, outcome: IdempotentOutcome | undefined): void
  /** Forgets what is older than the window. */
  purgeIdempotent(windowMs: number): void
}

/** The part of the store that authentication reads on every request. */
export interface KeyStore {
  /** Reads state as of now: a revocation committed before the call is seen by it. */
  findKey(keyId: string): KeyRecord | undefined
  /** Remembers in memory that the key was used. Writes nothing. */
  noteKeyUsed(keyId: string, atMs: number): void
}

/**
 * Identities, keys, roles, bindings, policies and idempotency keys. Both implementations pass one shared test suite. A change is committed
 * when its method returns, and every other process sees it with its next read. Every method throws `StoreFailure`.
 */
export interface AdminStore extends KeyStore, IdempotencyStore {
  /** The newest version of the policy, read as of now. */
  findPolicy(name: string): StoredPolicy | undefined
  /** Writes the noted uses, at most once a minute. What cannot be written now is kept for the next time. */
  flushLastUsed(): void

  createRole(name: string): Result<void, StoreRefusal>
  listRoles(): readonly ListedRole[]
  /** The roles are bound on every connector. */
  createIdentity(
    name: string,
    roles: readonly string[],
    claims: ReadonlyMap<string, ClaimValue>,
  ): Result<{ readonly id: string }, StoreRefusal>
  listIdentities(): readonly ListedIdentity[]
  /** `expiresAt` in Unix milliseconds. */
  createKey(identity: string, expiresAt?: number): Result<CreatedKey, StoreRefusal>
  /** Revoking a revoked key changes nothing and is no error. */
  revokeKey(keyId: string): Result<void, StoreRefusal>
  listKeys(): readonly ListedKey[]
  addBinding(identity: string, role: string, connector?: string): Result<void, StoreRefusal>
  removeBinding(identity: string, role: string, connector?: string): Result<void, StoreRefusal>
  /** Keeps every earlier version. `document` is JSON text. */
  applyPolicy(name: string, document: string, author: string): Result<StoredPolicy, StoreRefusal>
  /** What a version was confirmed to be about in a connector's database (JSON), or undefined while it was not. */
  findKnownObjects(policy: string, version: number, connector: string): string | undefined
  /** Keeps it; the first confirmation of a version stands. */
  recordKnownObjects(policy: string, version: number, connector: string, objects: string): void
  /** The newest version of each, by name. */
  listPolicies(): readonly ListedPolicy[]
  close(): void
}
