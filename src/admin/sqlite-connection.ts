import type { Database, Statement } from 'better-sqlite3'
import { KEYS_CACHED_MAX } from '../core/limits.js'
import { SqliteFiles } from '../storage/sqlite-files.js'
import { type KeyRecord, StoreFailure, type StoreVersions } from './admin-store.js'
import { otherVersion, STORE_VERSION } from './migrations.js'
import type { Purpose } from './operated-store.js'
import { migrate } from './sqlite-migrate.js'
import { guarded } from './sqlite-open.js'
import { readVersions, sameVersions, wentBack } from './store-reads.js'
import { type KeyRow, keyRecord } from './store-rows.js'
import type { Steps, StoreStatement } from './store-steps.js'

/** Texts that are kept prepared; the operations have fewer, apart from lists of other lengths. */
const STATEMENTS_MAX = 200

const SELECT_KEY = `
  SELECT k.key_id, k.secret_hash, k.expires_at, k.revoked_at, i.id AS identity_id, i.name AS identity_name, i.disabled, i.claims,
         (SELECT json_group_array(json_array(b.role, b.connector)) FROM role_bindings b WHERE b.identity_id = i.id) AS bindings
  FROM api_keys k JOIN identities i ON i.id = k.identity_id
  WHERE k.key_id = ?`

/**
 * One open file of a store, with all that was read and prepared on it: nothing of one file outlives it. Every method fails with
 * `StoreFailure`. Steps run without a pause between them, so that nothing of this process comes in between either.
 */
export class SqliteConnection {
  readonly #db: Database
  readonly #path: string
  /** Told when the file turns out to hold a state that cannot have come after the one that was read before. */
  readonly #restored: () => void
  readonly #files: SqliteFiles
  readonly #statements = new Map<string, Statement<unknown[], unknown>>()

  /** Key records as of `#versions`, which were read when data_version was `#dataVersion`. */
  readonly #records = new Map<string, KeyRecord>()
  #versions: StoreVersions | undefined
  #dataVersion = -1
  readonly #readDataVersion: Statement<[], number>
  readonly #readSchema: Statement<[], number>
  readonly #readKey: Statement<[string], KeyRow>

  constructor(db: Database, path: string, restored: () => void) {
    this.#db = db
    this.#path = path
    this.#restored = restored
    this.#readDataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
    this.#readSchema = db.prepare<[], number>('PRAGMA user_version').pluck()
    this.#readKey = db.prepare<[string], KeyRow>(SELECT_KEY)
    this.#files = new SqliteFiles(path)
  }

  /** False once it has made room for another. */
  get open(): boolean {
    return this.#db.open
  }

  /** A file of it that is missing or another one now, or undefined while all are in place. */
  disturbed(): string | undefined {
    return this.#files.disturbed()
  }

  /** Whether another file lies at its path. */
  replaced(): boolean {
    return this.#files.replaced()
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

  /** Whoever writes holds the writer's lock from the first step on: of two that look at once, one finds what the other wrote. */
  run<T>(purpose: Purpose, steps: () => Steps<T>): T {
    return guarded(this.#path, () => {
      this.#refresh()
      const transaction = this.#db.transaction(() => {
        this.#requireSchema()
        return this.#drive(steps())
      })
      if (purpose === 'read') return transaction.deferred()
      const made = transaction.immediate()
      // data_version does not move for one's own changes.
      if (purpose === 'change') this.#dataVersion = -1
      return made
    })
  }

  versionLost(): StoreFailure {
    return new StoreFailure('corrupt', `${this.#path}: the admin store has lost its version`)
  }

  /** Drops the records when another process changed the store. Costs one read of shared memory while nothing changed. */
  #refresh(): void {
    const dataVersion = this.#readDataVersion.get()
    if (dataVersion === undefined) throw new StoreFailure('unusable', `${this.#path}: the admin store gave no version`)
    if (dataVersion === this.#dataVersion) return
    this.#bringUp()
    const versions = this.#drive(readVersions())
    if (versions === undefined) throw this.versionLost()
    const before = this.#versions
    if (before === undefined || !sameVersions(before, versions)) this.#records.clear()
    this.#versions = versions
    this.#dataVersion = dataVersion
    if (before !== undefined && wentBack(before, versions)) this.#restored()
  }

  /** Of an older form only when a backup was read into it: then it is brought up as at a start. */
  #bringUp(): void {
    if (this.#readSchema.get() === STORE_VERSION) return
    const migrated = migrate(this.#db)
    if (!migrated.ok) throw new StoreFailure(migrated.error.kind, `${this.#path}: ${migrated.error.message}`)
  }

  /** Inside of a transaction, where the form stays what it is. */
  #requireSchema(): void {
    const other = otherVersion(this.#readSchema.get() ?? 0)
    if (other !== undefined) throw new StoreFailure(other.kind, `${this.#path}: ${other.text}`)
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

  /**
   * Makes room for the file that lies in its place: what of this one is in its `-wal` goes into the file that it belongs to, wherever
   * that is now, and its companions go, since SQLite would read them as those of the other file.
   */
  makeRoom(): void {
    if (!this.#db.open) return
    try {
      this.#db.pragma('wal_checkpoint(PASSIVE)')
    } catch {
      // What a file does not get that was replaced, nobody is served from.
    }
    // SQLite sees that the file is no longer at its path, and removes nothing there by itself.
    this.#db.close()
    this.#files.removeCompanions()
  }

  /**
   * The last to close copies the WAL it knows into the file, and one that was removed would undo what others wrote since. Then the
   * connection is left open, for the process to end with it.
   */
  close(): void {
    if (this.#files.disturbed() === undefined) this.#db.close()
  }
}
