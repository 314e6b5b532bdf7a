import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'
import { ADMIN_COMMAND_BUSY_TIMEOUT_MS } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { StoreFailure } from './admin-store.js'
import { checkStore, migrate } from './sqlite-migrate.js'

const RETRY_MS = 20
/** Only the owner reads and writes: the file holds who may do what. */
const FILE_MODE = 0o600

/**
 * Opens, creates or migrates the file. Another process doing the same is waited for. The error says why the file cannot
 * serve as an admin store; a file that is something else is left as it was.
 */
export function openDatabase(path: string): Result<Database.Database, string> {
  const created = createFile(path)
  if (created !== undefined) return fail(created)
  let db: Database.Database | undefined
  try {
    db = new Database(path, { timeout: ADMIN_COMMAND_BUSY_TIMEOUT_MS })
    const prepared = prepare(db, path)
    if (prepared.ok) return ok(db)
    db.close()
    return fail(`${path}: ${prepared.error}`)
  } catch (error) {
    db?.close()
    if (error instanceof Database.SqliteError) return fail(storeFailure(error, path).message)
    throw error
  }
}

function prepare(db: Database.Database, path: string): Result<void, string> {
  const usable = checkStore(db)
  if (!usable.ok) return usable
  if (!existsSync(path)) return fail('the file was deleted while it was being opened')
  db.pragma('foreign_keys = ON')
  const mode = switchToWal(db)
  if (mode !== 'wal') return fail(`the file system of the store has no shared memory for SQLite (journal mode ${mode})`)
  // A revocation that was acknowledged must survive a power cut, which WAL with NORMAL does not promise.
  db.pragma('synchronous = FULL')
  const migrated = migrate(db)
  if (migrated.ok) restrict(path)
  return migrated
}

/** SQLite gives the -wal and -shm files the mode of the main file, so it is made first and with its final mode. */
function createFile(path: string): string | undefined {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE))
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause'
    if (code === 'EEXIST') return undefined
    if (code === 'ENOENT') return `${path}: the folder does not exist; create it first`
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return `${path}: this user may not write there`
    return `${path}: the file cannot be made (${code})`
  }
}

function restrict(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      chmodSync(file, FILE_MODE)
    } catch {
      // Another user's file keeps its mode, and a -wal of another process may be gone by now.
    }
  }
}

/** The switch needs the file for itself, and SQLite does not wait for that on its own. */
function switchToWal(db: Database.Database): string {
  const attempts = Math.ceil(ADMIN_COMMAND_BUSY_TIMEOUT_MS / RETRY_MS)
  for (let attempt = 1; ; attempt++) {
    try {
      return String(db.pragma('journal_mode = WAL', { simple: true }))
    } catch (error) {
      const busy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
      if (!busy || attempt >= attempts) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}

/** Runs one operation of the store, and turns what SQLite throws into a `StoreFailure`. */
export function guarded<T>(path: string, operation: () => T): T {
  try {
    return operation()
  } catch (error) {
    throw error instanceof Database.SqliteError ? storeFailure(error, path) : error
  }
}

function storeFailure(error: InstanceType<typeof Database.SqliteError>, path: string): StoreFailure {
  const { code } = error
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new StoreFailure('locked', `${path}: another process holds the admin store`)
  }
  if (code === 'SQLITE_NOTADB') return new StoreFailure('corrupt', `${path}: this is not an SQLite file`)
  if (code.startsWith('SQLITE_CORRUPT')) return new StoreFailure('corrupt', `${path}: the admin store is damaged`)
  if (code.startsWith('SQLITE_READONLY'))
    return new StoreFailure('unusable', `${path}: the admin store may not be written`)
  return new StoreFailure('unusable', `${path}: the admin store cannot be used (${code})`)
}
