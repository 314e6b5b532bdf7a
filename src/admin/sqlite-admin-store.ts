import { statSync } from 'node:fs'
import { STORE_FILE_SETTLE_MS, STORE_WATCH_INTERVAL_MS } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { type KeyRecord, StoreFailure, type StoreVersions } from './admin-store.js'
import { OperatedStore, type Purpose, type StoreSurroundings } from './operated-store.js'
import { SqliteConnection } from './sqlite-connection.js'
import { type OpenedDatabase, openDatabase, reopenDatabase } from './sqlite-open.js'
import { readVersions } from './store-reads.js'
import type { Steps } from './store-steps.js'
import { VersionWatch } from './version-watch.js'

export interface SqliteAdminStoreOptions extends StoreSurroundings {
  readonly path: string
  /** How long an operation waits for another writer. A serving thread takes ADMIN_SERVE_BUSY_TIMEOUT_MS. */
  readonly busyTimeoutMs: number
}

/** Opens the store, made or migrated as needed. The error is one sentence that names the file. */
export function openSqliteAdminStore(options: SqliteAdminStoreOptions): Result<SqliteAdminStore, string> {
  const { path, busyTimeoutMs, whereNone = 'create', created } = options
  const opened = openDatabase(path, whereNone)
  if (!opened.ok) return fail(opened.error.message)
  opened.value.db.pragma(`busy_timeout = ${busyTimeoutMs}`)
  if (opened.value.created) created?.(path)
  return ok(new SqliteAdminStore(opened.value, options))
}

/** A file that lies in the place of the one that was open, and since when it has been as it is. */
interface Arriving {
  readonly stamp: string
  /** Unix milliseconds. */
  readonly sinceMs: number
}

/** A store in one file. When another file takes its place, it goes on with that one, and with nothing of what it knew of the former. */
export class SqliteAdminStore extends OperatedStore {
  readonly kind = 'sqlite'
  readonly #options: SqliteAdminStoreOptions
  readonly #path: string
  readonly #watch: VersionWatch
  #connection: SqliteConnection
  #filesSeenThisTurn = false
  #arriving: Arriving | undefined
  #interruptions = 0
  #closed = false

  constructor(opened: OpenedDatabase, options: SqliteAdminStoreOptions) {
    super(options)
    this.#options = options
    this.#path = options.path
    this.#connection = this.#connectTo(opened)
    this.#watch = new VersionWatch(() => this.#versions(), STORE_WATCH_INTERVAL_MS)
  }

  get place(): string {
    return this.#path
  }

  override get interruptions(): number {
    return this.#interruptions
  }

  #connectTo({ db }: OpenedDatabase): SqliteConnection {
    return new SqliteConnection(db, this.#path, () => this.#interrupted())
  }

  #interrupted(): void {
    this.#interruptions += 1
  }

  override findKey(keyId: string): KeyRecord | undefined {
    try {
      return this.#inPlace().findKey(keyId)
    } catch (error) {
      this.#interrupted()
      throw error
    }
  }

  protected override run<T>(purpose: Purpose, steps: () => Steps<T>): T {
    try {
      return this.#inPlace().run(purpose, steps)
    } catch (error) {
      // To have waited for another writer in vain says nothing of what can be read.
      if (purpose === 'read') this.#interrupted()
      throw error
    }
  }

  /**
   * An open file goes on answering after it was deleted or replaced, and then no revocation would ever arrive. The look at
   * the folder costs as much as the rest of a call, so the calls of one event-loop turn share it.
   */
  #inPlace(): SqliteConnection {
    if (this.#filesSeenThisTurn) return this.#connection
    if (this.#closed) throw new StoreFailure('unusable', `${this.#path}: the admin store is closed`)
    const disturbed = this.#connection.disturbed()
    if (disturbed !== undefined || !this.#connection.open) this.#connection = this.#reopened(disturbed ?? this.#path)
    this.#filesSeenThisTurn = true
    setImmediate(() => {
      this.#filesSeenThisTurn = false
    })
    return this.#connection
  }

  /** Opens what lies at the path now, once it has stayed as it is for a while: until then it may still be written. */
  #reopened(disturbed: string): SqliteConnection {
    if (this.#connection.replaced()) this.#connection.makeRoom()
    if (this.#connection.open) throw this.#disturbance(disturbed)
    const stamp = stampOf(this.#path)
    if (stamp === undefined) throw this.#disturbance(this.#path)
    const now = this.#options.clock()
    const { sinceMs } =
      this.#arriving?.stamp === stamp && this.#arriving.sinceMs <= now ? this.#arriving : { sinceMs: now }
    this.#arriving = { stamp, sinceMs }
    if (now - sinceMs < STORE_FILE_SETTLE_MS) {
      const then = 'it is opened as soon as it stays as it is'
      throw new StoreFailure('missing', `${this.#path}: another file was put in place of the admin store; ${then}`)
    }
    // One that cannot be used is tried again after the same while.
    this.#arriving = undefined
    const opened = reopenDatabase(this.#path, this.#options.busyTimeoutMs)
    if (!opened.ok) throw new StoreFailure(opened.error.kind, opened.error.message)
    this.#interrupted()
    return this.#connectTo(opened.value)
  }

  #disturbance(file: string): StoreFailure {
    const remedy =
      file === this.#path ? 'put it in place again, or a backup of it' : 'put a backup in place, or restart'
    return new StoreFailure('missing', `${file}: this file of the admin store was removed or replaced: ${remedy}`)
  }

  /** Every process reads the numbers anew. */
  protected override *announce(): Steps<void> {}

  /** Whoever has the file open is on this machine. */
  // biome-ignore lint/correctness/useYield: nothing is asked of the file.
  protected override *storeClock(): Steps<number> {
    return this.#options.clock()
  }

  protected override changed(): void {
    this.#watch.look()
  }

  #versions(): StoreVersions {
    const versions = this.run('read', readVersions)
    if (versions === undefined) throw this.#connection.versionLost()
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
    if (this.#closed) return
    try {
      await this.writeLastUsed()
    } catch (error) {
      // A use that cannot be noted is no reason to keep the file open.
      if (!(error instanceof StoreFailure)) throw error
    } finally {
      this.#closed = true
      this.#filesSeenThisTurn = false
      this.#connection.close()
    }
  }
}

/** Which file it is, how long, and when it was last written. */
function stampOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeMs}`
}
