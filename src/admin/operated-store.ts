import type { RandomBytes } from '../auth/api-key.js'
import { LAST_USED_FLUSH_INTERVAL_MS } from '../core/limits.js'
import type { Result } from '../core/result.js'
import type {
  AdminStore,
  ChangeAuthor,
  IdempotencyClaim,
  IdempotencyFound,
  IdempotentOutcome,
  InstanceRun,
  KeyRecord,
  ListedIdentity,
  ListedInstance,
  ListedKey,
  ListedPolicy,
  ListedRole,
  MaybePromise,
  PendingChange,
  StoreChanges,
  StoredConnector,
  StoredPolicy,
  StoreRefusal,
  StoreVersions,
} from './admin-store.js'
import * as changes from './store-changes.js'
import * as documents from './store-documents.js'
import * as instances from './store-instances.js'
import * as reads from './store-reads.js'
import { type Change, type ChangeContext, recorded, type Steps, type Version } from './store-steps.js'
import * as upkeep from './store-upkeep.js'

/** What a store takes from outside, whatever keeps its rows. */
export interface StoreSurroundings {
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly randomBytes: RandomBytes
  /** What becomes of a place where there is no store: one is made, or the opening refused. An older one is migrated either way. */
  readonly whereNone?: 'create' | 'refuse'
  /** Told where a store was made. */
  readonly created?: (place: string) => void
}

/** What a transaction is for. `change`: one at a time over all instances. */
export type Purpose = 'read' | 'write' | 'change'

/** Everything that both kinds of store do alike: which steps an operation is made of. How steps are run is each kind's own. */
export abstract class OperatedStore implements AdminStore {
  abstract readonly kind: AdminStore['kind']
  abstract readonly place: string
  abstract get interruptions(): number
  readonly #surroundings: StoreSurroundings
  readonly #used = new Map<string, number>()
  #flushedAt: number

  constructor(surroundings: StoreSurroundings) {
    this.#surroundings = surroundings
    this.#flushedAt = surroundings.clock()
  }

  /** Runs steps in one transaction. Rejects, or throws where it answers at once, with `StoreFailure`. */
  protected abstract run<T>(purpose: Purpose, steps: () => Steps<T>): MaybePromise<T>
  /** Part of the transaction of each change that was made: what tells the other instances. */
  protected abstract announce(): Steps<void>
  /** After each change that was made here. */
  protected abstract changed(): void
  /** Unix milliseconds of the one clock that all instances share. */
  protected abstract storeClock(): Steps<number>

  abstract findKey(keyId: string): MaybePromise<KeyRecord | undefined>
  abstract readVersions(): Promise<StoreVersions>
  abstract watch(changed: () => void): () => void
  abstract healthy(): Promise<boolean>
  abstract close(): Promise<void>

  noteKeyUsed(keyId: string, atMs: number): void {
    this.#used.set(keyId, atMs)
  }

  async flushLastUsed(): Promise<void> {
    if (this.#surroundings.clock() - this.#flushedAt >= LAST_USED_FLUSH_INTERVAL_MS) await this.writeLastUsed()
  }

  protected async writeLastUsed(): Promise<void> {
    this.#flushedAt = this.#surroundings.clock()
    if (this.#used.size === 0) return
    const taken = new Map(this.#used)
    this.#used.clear()
    try {
      await this.run('write', () => upkeep.writeLastUsed(taken))
    } catch (error) {
      for (const [keyId, atMs] of taken) if (!this.#used.has(keyId)) this.#used.set(keyId, atMs)
      throw error
    }
  }

  async listRoles(): Promise<readonly ListedRole[]> {
    return this.run('read', reads.listRoles)
  }

  async listIdentities(): Promise<readonly ListedIdentity[]> {
    return this.run('read', reads.listIdentities)
  }

  async findIdentity(name: string): Promise<ListedIdentity | undefined> {
    return this.run('read', () => reads.findIdentity(name))
  }

  async listKeys(): Promise<readonly ListedKey[]> {
    return this.run('read', reads.listKeys)
  }

  async listPolicies(): Promise<readonly ListedPolicy[]> {
    return this.run('read', reads.listPolicies)
  }

  async policyHistory(name: string): Promise<readonly ListedPolicy[]> {
    return this.run('read', () => reads.policyHistory(name))
  }

  async findPolicy(name: string, version?: number): Promise<StoredPolicy | undefined> {
    return this.run('read', () => reads.findPolicy(name, version))
  }

  async connectorsConfirmed(policy: string): Promise<readonly string[]> {
    return this.run('read', () => reads.connectorsConfirmed(policy))
  }

  async findKnownObjects(policy: string, version: number, connector: string): Promise<string | undefined> {
    return this.run('read', () => reads.findKnownObjects(policy, version, connector))
  }

  async listConnectors(): Promise<readonly StoredConnector[]> {
    return this.run('read', reads.listConnectors)
  }

  changes(author: ChangeAuthor): StoreChanges {
    const { clock, randomBytes } = this.#surroundings
    const make = <T>(change: (context: ChangeContext) => Change<T>, moves?: Version) =>
      this.#change(change, { author, nowMs: clock(), randomBytes }, moves)
    return {
      createRole: (name) => make(() => changes.createRole(name)),
      deleteRole: (name, unbind) => make(() => changes.deleteRole(name, unbind)),
      createIdentity: (name, roles, claims) => make((context) => changes.createIdentity(name, roles, claims, context)),
      deleteIdentity: (name) => make(() => changes.deleteIdentity(name)),
      setIdentityDisabled: (name, disabled) => make(() => changes.setIdentityDisabled(name, disabled)),
      setClaims: (name, claims) => make(() => changes.setClaims(name, claims)),
      createKey: (identity, expiresAt) => make((context) => changes.createKey(identity, expiresAt, context)),
      revokeKey: (keyId) => make((context) => changes.revokeKey(keyId, context)),
      addBinding: (identity, role, connector) => make(() => changes.addBinding(identity, role, connector)),
      removeBinding: (identity, role, connector) => make(() => changes.removeBinding(identity, role, connector)),
      applyPolicy: (name, document, known = new Map()) =>
        make((context) => documents.applyPolicy(name, document, known, context)),
      deletePolicy: (name) => make(() => documents.deletePolicy(name)),
      putConnector: (id, document) => make((context) => documents.putConnector(id, document, context)),
      deleteConnector: (id) => make(() => documents.deleteConnector(id)),
      renameConnector: (id, newId) => make((context) => documents.renameConnector(id, newId, context)),
      requestReload: async () => {
        const requested = await make(upkeep.requestReload, 'reload')
        if (!requested.ok) throw new Error('a request to reload is refused to nobody')
        return requested.value
      },
    }
  }

  async #change<T>(
    change: (context: ChangeContext) => Change<T>,
    context: ChangeContext,
    moves?: Version,
  ): Promise<Result<T, StoreRefusal>> {
    const announce = () => this.announce()
    function* steps() {
      const made = yield* recorded(change(context), context, moves)
      if (made.changed) yield* announce()
      return made
    }
    const { outcome, changed } = await this.run('change', steps)
    if (changed) this.changed()
    return outcome
  }

  async recordKnownObjects(policy: string, version: number, connector: string, objects: string): Promise<void> {
    const now = this.#surroundings.clock()
    await this.run('write', () => documents.recordKnownObjects(policy, version, connector, objects, now))
  }

  beginIdempotent(claim: IdempotencyClaim, windowMs: number): MaybePromise<IdempotencyFound> {
    const now = this.#surroundings.clock()
    return this.run('write', () => upkeep.beginIdempotent(claim, windowMs, now))
  }

  finishIdempotent(claim: IdempotencyClaim, outcome: IdempotentOutcome | undefined): MaybePromise<void> {
    return this.run('write', () => upkeep.finishIdempotent(claim, outcome))
  }

  purgeIdempotent(windowMs: number): MaybePromise<void> {
    const now = this.#surroundings.clock()
    return this.run('write', () => upkeep.purgeIdempotent(windowMs, now))
  }

  async noteInstance(run: InstanceRun): Promise<void> {
    await this.#byStoreClock('write', (nowMs) => instances.noteInstance(run, nowMs))
  }

  async forgetInstance(run: string): Promise<void> {
    await this.run('write', () => instances.forgetInstance(run))
  }

  async reportReload(run: InstanceRun, request: number, report: string): Promise<void> {
    await this.#byStoreClock('write', (nowMs) => instances.reportReload(run, request, report, nowMs))
  }

  async listInstances(): Promise<readonly ListedInstance[]> {
    return this.#byStoreClock('read', instances.listInstances)
  }

  async reloadReports(request: number): Promise<ReadonlyMap<string, string>> {
    return this.run('read', () => instances.reloadReports(request))
  }

  #byStoreClock<T>(purpose: Purpose, timed: (nowMs: number) => Steps<T>): MaybePromise<T> {
    const clock = () => this.storeClock()
    return this.run(purpose, function* () {
      return yield* timed(yield* clock())
    })
  }

  async claimPending(instance: string, max: number, staleMs: number): Promise<readonly PendingChange[]> {
    const now = this.#surroundings.clock()
    if (!(await this.run('read', () => upkeep.anyPending(staleMs, now)))) return []
    return this.run('change', () => upkeep.claimPending(instance, max, staleMs, now))
  }

  async settlePending(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.run('write', () => upkeep.settlePending(ids))
  }
}
