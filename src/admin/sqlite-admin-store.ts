import type { Database, Statement } from 'better-sqlite3'
import { KEYS_CACHED_MAX, STORE_WATCH_INTERVAL_MS } from '../core/limits.js'
import { ok, type Result } from '../core/result.js'
import { SqliteFiles } from '../storage/sqlite-files.js'
import { type KeyRecord, StoreFailure, type StoreVersions } from './admin-store.js'
import { OperatedStore, type Purpose, type StoreSurroundings } from './operated-store.js'
import { guarded, openDatabase } from './sqlite-open.js'
import { readVersions } from './store-reads.js'
import { type KeyRow, keyRecord } from './store-rows.js'
import type { Steps, StoreStatement } from './store-steps.js'
import { VersionWatch } from './version-watch.js'

export interface SqliteAdminStoreOptions extends StoreSurroundings {
  readonly path: string
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

/** Texts that are kept prepared; the operations have fewer, apart from lists of other lengths. */
const STATEMENTS_MAX = 200

const SELECT_KEY = `
  SELECT k.key_id, k.secret_hash, k.expires_at, k.revoked_at, i.id AS identity_id, i.name AS identity_name, i.disabled, i.claims,
         (SELECT json_group_array(json_array(b.role, b.connector)) FROM role_bindings b WHERE b.identity_id = i.id) AS bindings
  FROM api_keys k JOIN identities i ON i.id = k.identity_id
  WHERE k.key_id = ?`

/** Steps run without a pause between them, so that nothing of this process comes in between either. */
export class SqliteAdminStore extends OperatedStore {
  readonly kind = 'sqlite'
  readonly #db: Database
  readonly #path: string
  readonly #statements = new Map<string, Statement<unknown[], unknown>>()

  /** Key records as of settings.version `#version`, which was read when data_version was `#dataVersion`. */
  readonly #records = new Map<string, KeyRecord>()
  #version = -1
  #dataVersion = -1
  readonly #readDataVersion: Statement<[], number>
  readonly #readVersion: Statement<[], number>
  readonly #readKey: Statement<[string], KeyRow>

  readonly #files: SqliteFiles
  #filesSeenThisTurn = false
  readonly #watch: VersionWatch

  constructor(db: Database, options: SqliteAdminStoreOptions) {
    super(options)
    this.#db = db
    this.#path = options.path
    this.#readDataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
    this.#readVersion = db.prepare<[], number>("SELECT value FROM settings WHERE name = 'version'").pluck()
    this.#readKey = db.prepare<[string], KeyRow>(SELECT_KEY)
    this.#files = new SqliteFiles(options.path)
    this.#watch = new VersionWatch(() => this.#versions(), STORE_WATCH_INTERVAL_MS)
  }

  get place(): string {
    return this.#path
  }

  override findKey(keyId: string): KeyRecord | undefined {
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
    if (version === undefined) throw this.#versionLost()
    if (version !== this.#version) this.#records.clear()
    this.#version = version
    this.#dataVersion = dataVersion
  }

  #versionLost(): StoreFailure {
    return new StoreFailure('corrupt', `${this.#path}: the admin store has lost its version`)
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

  /** Whoever writes holds the writer's lock from the first step on: of two that look at once, one finds what the other wrote. */
  protected override run<T>(purpose: Purpose, steps: () => Steps<T>): T {
    return guarded(this.#path, () => {
      this.#requireFile()
      const transaction = this.#db.transaction(() => this.#drive(steps()))
      if (purpose === 'read') return transaction.deferred()
      const made = transaction.immediate()
      // data_version does not move for one's own changes.
      if (purpose === 'change') this.#records.clear()
      return made
    })
  }

  #drive<T>(steps: Steps<T>): T {
    let step = steps.next()
    while (step.done !== true) step = steps.next(this.#execute(step.value))
    return step.value
  }

  #execute({ sql, params }: StoreStatement): readonly unknown[] {
    const statement = this.#prepared(sql)
    if (statement.reader) return statement.all(...params)
    statement.run(...params)
    return []
  }

  #prepared(sql: string): Statement<unknown[], unknown> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare<unknown[], unknown>(sql)
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear()
    this.#statements.set(sql, statement)
    return statement
  }

  /** Every process reads the numbers anew. */
  protected override *announce(): Steps<void> {}

  protected override changed(): void {
    this.#watch.look()
  }

  #versions(): StoreVersions {
    const versions = this.run('read', readVersions)
    if (versions === undefined) throw this.#versionLost()
    return versions
  }

  override async readVersions(): Promise<StoreVersions> {
    return this.#versions()
  }

  override watch(changed: () => void): () => void {
    return this.#watch.add(changed)
  }

  override async healthy(): Promise<boolean> {
    try {
      this.#versions()
      return true
    } catch (error) {
      if (error instanceof StoreFailure) return false
      throw error
    }
  }

  override async close(): Promise<void> {
    this.#watch.close()
    if (!this.#db.open) return
    try {
      await this.writeLastUsed()
    } catch (error) {
      // A use that cannot be noted is no reason to keep the file open.
      if (!(error instanceof StoreFailure)) throw error
    } finally {
      // The last to close copies the WAL it knows into the file, and one that was removed would undo what others wrote
      // since. So the connection is left open, for the process to end with it.
      if (this.#files.disturbed() === undefined) this.#db.close()
    }
  }
}
