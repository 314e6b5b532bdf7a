import type { Database, Statement } from 'better-sqlite3'
import { generateKey, KEY_ID, type RandomBytes } from '../auth/api-key.js'
import type { ClaimValue } from '../core/identity.js'
import { KEYS_CACHED_MAX, LAST_USED_FLUSH_INTERVAL_MS } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { SqliteFiles } from '../storage/sqlite-files.js'
import {
  type AdminStore,
  type CreatedKey,
  type IdempotencyClaim,
  type IdempotencyFound,
  type IdempotentOutcome,
  type KeyRecord,
  type ListedIdentity,
  type ListedKey,
  type ListedPolicy,
  type ListedRole,
  type StoredPolicy,
  StoreFailure,
  type StoreRefusal,
} from './admin-store.js'
import { CONNECTOR_ID, IDENTITY_NAME, POLICY_NAME, ROLE_NAME } from './names.js'
import { IdempotencyTable } from './sqlite-idempotency.js'
import { guarded, openDatabase } from './sqlite-open.js'
import {
  claimsText,
  type IdentityRow,
  type KeyRow,
  keyRecord,
  type ListedKeyRow,
  listedIdentity,
  listedKey,
  type PolicyRow,
  SELECT_IDENTITIES,
  SELECT_KEY,
  SELECT_KEYS,
  storedPolicy,
} from './sqlite-rows.js'
import { claimsFault, documentFault, expiryFault, nameFault, notFound, refuse } from './store-rules.js'

export interface SqliteAdminStoreOptions {
  readonly path: string
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly randomBytes: RandomBytes
  /** How long an operation waits for another writer. A serving thread takes ADMIN_SERVE_BUSY_TIMEOUT_MS. */
  readonly busyTimeoutMs: number
}

/** Opens the store, made or migrated as needed. The error is one sentence that names the file. */
export function openSqliteAdminStore(options: SqliteAdminStoreOptions): Result<SqliteAdminStore, string> {
  const db = openDatabase(options.path)
  if (!db.ok) return db
  db.value.pragma(`busy_timeout = ${options.busyTimeoutMs}`)
  return ok(new SqliteAdminStore(db.value, options))
}

type Change<T> = Result<T, StoreRefusal>

export class SqliteAdminStore implements AdminStore {
  readonly #db: Database
  readonly #path: string
  readonly #clock: () => number
  readonly #randomBytes: RandomBytes

  /** Key records as of settings.version `#version`, which was read when data_version was `#dataVersion`. */
  readonly #records = new Map<string, KeyRecord>()
  #version = -1
  #dataVersion = -1
  readonly #readDataVersion: Statement<[], number>
  readonly #readVersion: Statement<[], number>
  readonly #readKey: Statement<[string], KeyRow>
  readonly #readPolicy: Statement<[string], PolicyRow>

  readonly #idempotency: IdempotencyTable

  readonly #files: SqliteFiles
  #filesSeenThisTurn = false

  readonly #used = new Map<string, number>()
  #flushedAt: number

  constructor(db: Database, options: SqliteAdminStoreOptions) {
    this.#db = db
    this.#path = options.path
    this.#clock = options.clock
    this.#randomBytes = options.randomBytes
    this.#flushedAt = options.clock()
    this.#readDataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
    this.#readVersion = db.prepare<[], number>("SELECT value FROM settings WHERE name = 'version'").pluck()
    this.#readKey = db.prepare<[string], KeyRow>(SELECT_KEY)
    this.#readPolicy = db.prepare<[string], PolicyRow>(
      'SELECT name, version, document, author, applied_at FROM policies WHERE name = ? ORDER BY version DESC LIMIT 1',
    )
    this.#idempotency = new IdempotencyTable(db, options.clock)
    this.#files = new SqliteFiles(options.path)
  }

  findKey(keyId: string): KeyRecord | undefined {
    return guarded(this.#path, () => {
      this.#refresh()
      const cached = this.#records.get(keyId)
      if (cached !== undefined) return cached
      const row = this.#readKey.get(keyId)
      if (row === undefined) return undefined
      // Read after data_version, so the record can only be newer than the versions it is kept under: the next call,
      // which sees data_version moved, drops it and reads again.
      if (this.#records.size >= KEYS_CACHED_MAX) this.#records.clear()
      const record = keyRecord(row)
      this.#records.set(keyId, record)
      return record
    })
  }

  /** Drops the records when another process changed the store. Costs one read of shared memory while nothing changed. */
  #refresh(): void {
    this.#requireFile()
    const dataVersion = this.#readDataVersion.get()
    if (dataVersion === undefined) throw new StoreFailure('unusable', `${this.#path}: the admin store gave no version`)
    if (dataVersion === this.#dataVersion) return
    const version = this.#readVersion.get()
    if (version === undefined) throw new StoreFailure('corrupt', `${this.#path}: the admin store has lost its version`)
    if (version !== this.#version) this.#records.clear()
    this.#version = version
    this.#dataVersion = dataVersion
  }

  /**
   * An open file goes on answering after it was deleted or replaced, and then no revocation would ever arrive. The look at
   * the folder costs as much as the rest of a call, so the calls of one event-loop turn share it.
   */
  #requireFile(): void {
    if (this.#filesSeenThisTurn) return
    const disturbed = this.#files.disturbed()
    if (disturbed !== undefined) {
      throw new StoreFailure('missing', `${disturbed}: this file of the admin store was removed or replaced; restart`)
    }
    this.#filesSeenThisTurn = true
    setImmediate(() => {
      this.#filesSeenThisTurn = false
    })
  }

  noteKeyUsed(keyId: string, atMs: number): void {
    this.#used.set(keyId, atMs)
  }

  flushLastUsed(): void {
    if (this.#clock() - this.#flushedAt < LAST_USED_FLUSH_INTERVAL_MS) return
    this.#writeLastUsed()
  }

  #writeLastUsed(): void {
    this.#flushedAt = this.#clock()
    if (this.#used.size === 0) return
    guarded(this.#path, () => {
      const update = this.#db.prepare<[number, string]>(
        'UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE key_id = ?',
      )
      // No change of settings.version: nobody's cached records depend on it.
      const writeAll = this.#db.transaction(() => {
        for (const [keyId, atMs] of this.#used) update.run(atMs, keyId)
      })
      writeAll.immediate()
      this.#used.clear()
    })
  }

  findPolicy(name: string): StoredPolicy | undefined {
    return guarded(this.#path, () => {
      this.#requireFile()
      const row = this.#readPolicy.get(name)
      return row === undefined ? undefined : storedPolicy(row)
    })
  }

  /** Runs a change in one transaction; a change that was made moves the version that every process watches. */
  #change<T>(change: () => Change<T>): Change<T> {
    return guarded(this.#path, () => {
      this.#requireFile()
      const outcome = this.#db
        .transaction(() => {
          const made = change()
          if (made.ok) this.#db.exec("UPDATE settings SET value = value + 1 WHERE name = 'version'")
          return made
        })
        .immediate()
      // data_version does not move for one's own changes.
      this.#records.clear()
      return outcome
    })
  }

  createRole(name: string): Change<void> {
    const fault = nameFault('role', name, ROLE_NAME)
    if (fault !== undefined) return fail(fault)
    return this.#change(() => {
      if (this.#roleNames().includes(name)) return refuse('EXISTS', `the role "${name}" exists already`)
      this.#db.prepare('INSERT INTO roles (name) VALUES (?)').run(name)
      return ok(undefined)
    })
  }

  listRoles(): readonly ListedRole[] {
    return guarded(this.#path, () => {
      this.#requireFile()
      return this.#db
        .prepare<[], { name: string; reserved: number }>('SELECT name, reserved FROM roles ORDER BY name')
        .all()
        .map((row) => ({ name: row.name, reserved: row.reserved !== 0 }))
    })
  }

  createIdentity(
    name: string,
    roles: readonly string[],
    claims: ReadonlyMap<string, ClaimValue>,
  ): Change<{ readonly id: string }> {
    const fault = nameFault('identity', name, IDENTITY_NAME) ?? claimsFault(claims)
    if (fault !== undefined) return fail(fault)
    return this.#change(() => {
      if (this.#identityId(name) !== undefined) return refuse('EXISTS', `the identity "${name}" exists already`)
      for (const role of roles) {
        const missing = this.#missingRole(role)
        if (missing !== undefined) return missing
      }
      const id = `id_${Buffer.from(this.#randomBytes(12)).toString('hex')}`
      this.#db
        .prepare('INSERT INTO identities (id, name, claims, created_at) VALUES (?, ?, ?, ?)')
        .run(id, name, claimsText(claims), this.#clock())
      const bind = this.#db.prepare('INSERT OR IGNORE INTO role_bindings (identity_id, role) VALUES (?, ?)')
      for (const role of roles) bind.run(id, role)
      return ok({ id })
    })
  }

  listIdentities(): readonly ListedIdentity[] {
    return guarded(this.#path, () => {
      this.#requireFile()
      return this.#db.prepare<[], IdentityRow>(SELECT_IDENTITIES).all().map(listedIdentity)
    })
  }

  createKey(identity: string, expiresAt?: number): Change<CreatedKey> {
    const fault = expiryFault(expiresAt, this.#clock())
    if (fault !== undefined) return fail(fault)
    return this.#change(() => {
      const identityId = this.#identityId(identity)
      if (identityId === undefined) return this.#missingIdentity(identity)
      const { keyId, secretHash, key } = generateKey(this.#randomBytes)
      this.#db
        .prepare(
          'INSERT INTO api_keys (key_id, identity_id, secret_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
        )
        .run(keyId, identityId, Buffer.from(secretHash), this.#clock(), expiresAt ?? null)
      return ok({ keyId, key })
    })
  }

  revokeKey(keyId: string): Change<void> {
    if (!KEY_ID.test(keyId)) return refuse('INVALID', 'expected a key id: the 12 characters after "rk_"')
    return this.#change(() => {
      const updated = this.#db
        .prepare('UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE key_id = ?')
        .run(this.#clock(), keyId)
      return updated.changes === 0
        ? refuse('NOT_FOUND', `there is no key "${keyId}"; see "runku key list"`)
        : ok(undefined)
    })
  }

  listKeys(): readonly ListedKey[] {
    return guarded(this.#path, () => {
      this.#requireFile()
      return this.#db.prepare<[], ListedKeyRow>(SELECT_KEYS).all().map(listedKey)
    })
  }

  addBinding(identity: string, role: string, connector?: string): Change<void> {
    const fault = connector === undefined ? undefined : nameFault('connector', connector, CONNECTOR_ID)
    if (fault !== undefined) return fail(fault)
    return this.#change(() => {
      const identityId = this.#identityId(identity)
      if (identityId === undefined) return this.#missingIdentity(identity)
      const missing = this.#missingRole(role)
      if (missing !== undefined) return missing
      const added = this.#db
        .prepare('INSERT OR IGNORE INTO role_bindings (identity_id, role, connector) VALUES (?, ?, ?)')
        .run(identityId, role, connector ?? '')
      return added.changes === 0 ? refuse('EXISTS', `"${identity}" has this role there already`) : ok(undefined)
    })
  }

  removeBinding(identity: string, role: string, connector?: string): Change<void> {
    return this.#change(() => {
      const identityId = this.#identityId(identity)
      if (identityId === undefined) return this.#missingIdentity(identity)
      const removed = this.#db
        .prepare('DELETE FROM role_bindings WHERE identity_id = ? AND role = ? AND connector = ?')
        .run(identityId, role, connector ?? '')
      const where = connector === undefined ? 'on every connector' : `on connector "${connector}"`
      return removed.changes === 0
        ? refuse('NOT_FOUND', `"${identity}" is not bound to role "${role}" ${where}; see "runku identity list"`)
        : ok(undefined)
    })
  }

  applyPolicy(name: string, document: string, author: string): Change<StoredPolicy> {
    const fault = nameFault('policy', name, POLICY_NAME) ?? documentFault(document)
    if (fault !== undefined) return fail(fault)
    return this.#change(() => {
      const version = (this.#readPolicy.get(name)?.version ?? 0) + 1
      const row: PolicyRow = { name, version, document, author, applied_at: this.#clock() }
      this.#db
        .prepare('INSERT INTO policies (name, version, document, author, applied_at) VALUES (?, ?, ?, ?, ?)')
        .run(row.name, row.version, row.document, row.author, row.applied_at)
      return ok(storedPolicy(row))
    })
  }

  findKnownObjects(policy: string, version: number, connector: string): string | undefined {
    return guarded(this.#path, () => {
      this.#requireFile()
      return this.#db
        .prepare<[string, number, string], string>(
          'SELECT objects FROM known_objects WHERE policy = ? AND version = ? AND connector = ?',
        )
        .pluck()
        .get(policy, version, connector)
    })
  }

  recordKnownObjects(policy: string, version: number, connector: string, objects: string): void {
    guarded(this.#path, () => {
      this.#requireFile()
      // The first confirmation stands: an instance that loads later must not accept what changed in between.
      this.#db
        .prepare(
          'INSERT OR IGNORE INTO known_objects (policy, version, connector, objects, confirmed_at) VALUES (?, ?, ?, ?, ?)',
        )
        .run(policy, version, connector, objects, this.#clock())
    })
  }

  listPolicies(): readonly ListedPolicy[] {
    return guarded(this.#path, () => {
      this.#requireFile()
      return this.#db
        .prepare<[], Omit<PolicyRow, 'document'>>(
          `SELECT name, version, author, applied_at FROM policies p
           WHERE version = (SELECT max(version) FROM policies WHERE name = p.name) ORDER BY name`,
        )
        .all()
        .map((row) => ({ name: row.name, version: row.version, author: row.author, appliedAt: row.applied_at }))
    })
  }

  beginIdempotent(claim: IdempotencyClaim, windowMs: number): IdempotencyFound {
    return this.#guarded(() => this.#idempotency.begin(claim, windowMs))
  }

  finishIdempotent(claim: IdempotencyClaim, outcome: IdempotentOutcome | undefined): void {
    this.#guarded(() => this.#idempotency.finish(claim, outcome))
  }

  purgeIdempotent(windowMs: number): void {
    this.#guarded(() => this.#idempotency.purge(windowMs))
  }

  #guarded<T>(operation: () => T): T {
    return guarded(this.#path, () => {
      this.#requireFile()
      return operation()
    })
  }

  /** Writes the noted uses where it can, and closes the file. */
  close(): void {
    if (!this.#db.open) return
    try {
      this.#writeLastUsed()
    } catch (error) {
      // A use that cannot be noted is no reason to keep the file open.
      if (!(error instanceof StoreFailure)) throw error
    } finally {
      // The last to close copies the WAL it knows into the file, and one that was removed would undo what others wrote
      // since. So the connection is left open, for the process to end with it.
      if (this.#files.disturbed() === undefined) this.#db.close()
    }
  }

  #identityId(name: string): string | undefined {
    return this.#db.prepare<[string], string>('SELECT id FROM identities WHERE name = ?').pluck().get(name)
  }

  #roleNames(): readonly string[] {
    return this.#db.prepare<[], string>('SELECT name FROM roles ORDER BY name').pluck().all()
  }

  #missingRole(role: string): Result<never, StoreRefusal> | undefined {
    const known = this.#roleNames()
    return known.includes(role) ? undefined : notFound('role', role, known, ` Make it with "runku role create".`)
  }

  #missingIdentity(name: string): Result<never, StoreRefusal> {
    const known = this.#db.prepare<[], string>('SELECT name FROM identities ORDER BY name').pluck().all()
    return notFound('identity', name, known, ` Make it with "runku identity create".`)
  }
}
