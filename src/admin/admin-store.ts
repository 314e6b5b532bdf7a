import type { ClaimValue } from '../core/identity.js'

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
  readonly bindings: readonly { readonly role: string; readonly connector?: string }[]
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

/** Why a change was refused, for the person who typed it. Nothing was written. */
export interface StoreRefusal {
  readonly code: 'NOT_FOUND' | 'EXISTS' | 'INVALID'
  readonly message: string
}

/** Identities, keys, roles, bindings and policies. Both implementations pass one shared test suite. */
export interface AdminStore {
  /** Reads state as of now: a revocation committed before the call is seen by it. */
  findKey(keyId: string): KeyRecord | undefined
  /** The newest version of the policy, read as of now. */
  findPolicy(name: string): StoredPolicy | undefined
  close(): void
}
