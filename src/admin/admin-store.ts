import type { ClaimValue } from '../core/identity.js'
import type { Result } from '../core/result.js'

/** What SQLite answers at once and PostgreSQL after a while: whoever asks on the hot path waits only where there is something to wait for. */
export type MaybePromise<T> = T | Promise<T>

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

/** A connector that lives in the store instead of a file. */
export interface StoredConnector {
  readonly id: string
  /** JSON text of what would stand under `connectors:` in a file, `id` included; checked when it is put and when it is loaded. */
  readonly document: string
  readonly author: string
  /** Unix milliseconds. */
  readonly changedAt: number
}

/** Who changes the store: an identity's name, or `cli:<os user>`. */
export interface ChangeAuthor {
  readonly name: string
  /** Of the key by which an identity came. */
  readonly keyId?: string
  /** The client's address, where there is one. */
  readonly address?: string
}

/** A change that was made and is not yet in anybody's audit trail. Written in the change's own transaction. */
export interface PendingChange {
  /** Unique over every instance. */
  readonly id: string
  /** Unix milliseconds. */
  readonly time: number
  readonly author: ChangeAuthor
  /** The operation, such as `key.revoke`. */
  readonly action: string
  /** What was changed, such as a key id, an identity's or a policy's name; never a secret. */
  readonly target: string
  /** More of it as plain JSON, such as `{ "version": 3 }`; never a secret and never a claim's value. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

/** The state of a store in short. Equal numbers: nothing of the kind has changed. A store that was restored may have smaller ones. */
export interface StoreVersions {
  /** Any change of identities, roles, bindings, keys, policies or connectors. */
  readonly change: number
  /** Somebody asked every instance to reload. */
  readonly reload: number
  /** Another random number after each of both: tells a state from another one that has come as far. */
  readonly mark: number
}

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
  /** `newer`: a newer program brought it to a form that this one does not know. */
  /** `unsure`: the connection was lost while a change was being committed, which may have been made. */
  readonly kind: 'locked' | 'missing' | 'corrupt' | 'newer' | 'unusable' | 'unsure'

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

/** The part of the store that keeps writing calls from running twice. Every method fails with `StoreFailure`. */
export interface IdempotencyStore {
  /** In one transaction, durable when it settles. What is older than the window does not count. */
  beginIdempotent(claim: IdempotencyClaim, windowMs: number): MaybePromise<IdempotencyFound>
  /** Keeps the outcome of a started call; `undefined`, since it changed nothing: forgets the call, so that it may run again. */
  finishIdempotent(claim: IdempotencyClaim, outcome: IdempotentOutcome | undefined): MaybePromise<void>
  /** Forgets what is older than the window. */
  purgeIdempotent(windowMs: number): MaybePromise<void>
}

/** The part of the store that authentication reads on every request. */
export interface KeyStore {
  /**
   * State that was read after the call began: a revocation committed before it is seen by it. SQLite answers at once;
   * PostgreSQL lets the calls of one event-loop turn share one read.
   */
  findKey(keyId: string): MaybePromise<KeyRecord | undefined>
  /** Remembers in memory that the key was used. Writes nothing. */
  noteKeyUsed(keyId: string, atMs: number): void
}

/** What is read of the store. Every method fails with `StoreFailure`. */
export interface StoreReads {
  readVersions(): Promise<StoreVersions>
  listRoles(): Promise<readonly ListedRole[]>
  listIdentities(): Promise<readonly ListedIdentity[]>
  /** Undefined: there is none of this name. */
  findIdentity(name: string): Promise<ListedIdentity | undefined>
  listKeys(): Promise<readonly ListedKey[]>
  /** The newest version of each, by name. */
  listPolicies(): Promise<readonly ListedPolicy[]>
  /** Every version of one, the newest first; empty: there is none of this name. */
  policyHistory(name: string): Promise<readonly ListedPolicy[]>
  /** Without a version the newest one. */
  findPolicy(name: string, version?: number): Promise<StoredPolicy | undefined>
  /** What a version was confirmed to be about in a connector's database (JSON), or undefined while it was not. */
  findKnownObjects(policy: string, version: number, connector: string): Promise<string | undefined>
  /** Ids of the connectors of any instance that a version of it was ever confirmed for, by id. */
  connectorsConfirmed(policy: string): Promise<readonly string[]>
  /** By id. */
  listConnectors(): Promise<readonly StoredConnector[]>
}

/** Changes by one author, each in one transaction with its row for the audit trail; committed when its promise settles. */
export interface StoreChanges {
  createRole(name: string): Promise<Result<void, StoreRefusal>>
  /** Refused for a reserved role, and while somebody is bound to it unless `unbind`. */
  deleteRole(name: string, unbind: boolean): Promise<Result<void, StoreRefusal>>
  /** The roles are bound on every connector. */
  createIdentity(
    name: string,
    roles: readonly string[],
    claims: ReadonlyMap<string, ClaimValue>,
  ): Promise<Result<{ readonly id: string }, StoreRefusal>>
  /** Its keys and bindings go with it. */
  deleteIdentity(name: string): Promise<Result<void, StoreRefusal>>
  /** A disabled identity keeps everything and is refused until it is enabled. Doing it twice changes nothing. */
  setIdentityDisabled(name: string, disabled: boolean): Promise<Result<void, StoreRefusal>>
  /** All claims, in place of those it had. */
  setClaims(name: string, claims: ReadonlyMap<string, ClaimValue>): Promise<Result<void, StoreRefusal>>
  /** `expiresAt` in Unix milliseconds. */
  createKey(identity: string, expiresAt?: number): Promise<Result<CreatedKey, StoreRefusal>>
  /** Revoking a revoked key changes nothing and is no error. */
  revokeKey(keyId: string): Promise<Result<void, StoreRefusal>>
  addBinding(identity: string, role: string, connector?: string): Promise<Result<void, StoreRefusal>>
  removeBinding(identity: string, role: string, connector?: string): Promise<Result<void, StoreRefusal>>
  /**
   * Keeps every earlier version. `document` is JSON text. `known`: by connector, what this version was confirmed to be about, written
   * in the same transaction, since an instance may load the version the moment it is there.
   */
  applyPolicy(
    name: string,
    document: string,
    known?: ReadonlyMap<string, string>,
  ): Promise<Result<StoredPolicy, StoreRefusal>>
  /** Every version of it. Connectors that use it serve nothing from then on. */
  deletePolicy(name: string): Promise<Result<void, StoreRefusal>>
  /** Adds it, or puts this document in place of the one it had. */
  putConnector(id: string, document: string): Promise<Result<StoredConnector, StoreRefusal>>
  deleteConnector(id: string): Promise<Result<void, StoreRefusal>>
  /** What is bound to it and confirmed for it goes along. The document's own `id` is the new one. */
  renameConnector(id: string, newId: string): Promise<Result<StoredConnector, StoreRefusal>>
  /** Asks every instance to read its configuration and introspect again. Gives the request's number, which grows with each. */
  requestReload(): Promise<number>
}

/** One run of a gateway that serves the store, from its start to its end. */
export interface InstanceRun {
  /** Unique over every run of every gateway. */
  readonly run: string
  /** The gateway's own name, the same over its runs where it keeps an audit buffer. */
  readonly instance: string
  readonly host: string
  readonly pid: number
}

export interface ListedInstance extends InstanceRun {
  /** It wrote to the store within `INSTANCE_LIVE_MS`, by the store's own clock. */
  readonly live: boolean
  /** The newest request to reload that it has reported on: it has read everything after that one was made. Negative: none. */
  readonly answered: number
}

/** How instances tell of themselves. None of it is a change that is audited. Every method fails with `StoreFailure`. */
export interface InstanceStore {
  /** It serves. To be said again and again: who has not said so for long does not count. */
  noteInstance(run: InstanceRun): Promise<void>
  /** It ends: its row goes, and its reports with it. */
  forgetInstance(run: string): Promise<void>
  /** What came of the requests up to this number, as text. One that this store has not had is left out: it was another store's. */
  reportReload(run: InstanceRun, request: number, report: string): Promise<void>
  /** By host and process. */
  listInstances(): Promise<readonly ListedInstance[]>
  /** By run, the oldest report that covers the request. */
  reloadReports(request: number): Promise<ReadonlyMap<string, string>>
}

/** Takes changes into an audit trail: each change by one instance, whichever comes first. */
export interface PendingAudit {
  /**
   * The oldest changes that nobody has claimed, or that were claimed longer than `staleMs` ago and not settled; they are this instance's from now on.
   */
  claimPending(instance: string, max: number, staleMs: number): Promise<readonly PendingChange[]>
  /** They have their entries: the rows go. Ids that are gone already are no error. */
  settlePending(ids: readonly string[]): Promise<void>
}

/**
 * Identities, keys, roles, bindings, policies, connectors, idempotency keys and the instances that serve. Both implementations pass one shared test suite. A change is
 * committed when its promise settles, and every other process sees it with its next read. Every method fails with `StoreFailure`.
 */
export interface AdminStore extends KeyStore, IdempotencyStore, StoreReads, PendingAudit, InstanceStore {
  readonly kind: 'sqlite' | 'postgres'
  /** Where it is, for messages: a path, or an address without credentials. */
  readonly place: string
  /**
   * Moves whenever it could not be read, was reached anew, or turns out to be another one than before: what was known of it until then says
   * nothing of what it is now. It has moved before the first answer that comes after it.
   */
  readonly interruptions: number
  changes(author: ChangeAuthor): StoreChanges
  /** Keeps it; the first confirmation of a version stands. No change that is audited. */
  recordKnownObjects(policy: string, version: number, connector: string, objects: string): Promise<void>
  /**
   * `changed` is called soon after `readVersions` would give other numbers, whoever changed them: within `STORE_WATCH_INTERVAL_MS`, and
   * sooner where the store can tell. Calls may come without a change. The function that is returned ends it.
   */
  watch(changed: () => void): () => void
  /** Whether it answers now. Never throws. */
  healthy(): Promise<boolean>
  /** Writes the noted uses, at most once a minute. What cannot be written now is kept for the next time. */
  flushLastUsed(): Promise<void>
  /** Writes the noted uses where it can, and lets go of the file or the connections. Safe to call twice. */
  close(): Promise<void>
}
