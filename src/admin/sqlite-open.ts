import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { ADMIN_COMMAND_BUSY_TIMEOUT_MS } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { StoreFailure } from './admin-store.js'
import { NO_STORE } from './migrations.js'
import { checkStore, migrate } from './sqlite-migrate.js'

const RETRY_MS = 20
/** Only the owner reads and writes: the file holds who may do what. */
const FILE_MODE = 0o600

/** Why a file cannot serve as an admin store, in one sentence that names it. */
export interface OpenFault {
  readonly kind: StoreFailure['kind']
  readonly message: string
}

export interface OpenedDatabase {
  readonly db: Database.Database
  /** Whether there was no store before. */
  readonly created: boolean
}

/**
 * Opens, creates or migrates the file. Another process doing the same is waited for. A file that is something else is left as it was,
 * and where nothing is to be created, so is a path without a store.
 */
export function openDatabase(path: string, whereNone: 'create' | 'refuse'): Result<OpenedDatabase, OpenFault> {
  const absent = whereNone === 'create' ? createFile(path) : absence(path)
  if (absent !== undefined) return fail(absent)
  return open(path, ADMIN_COMMAND_BUSY_TIMEOUT_MS, (db) => prepare(db, path, whereNone, ADMIN_COMMAND_BUSY_TIMEOUT_MS))
}

/**
 * Opens a file that was put in the place of a store that was open: an older one is migrated as ever, one that is not whole is left
 * alone, and nothing is made of an empty one.
 */
export function reopenDatabase(path: string, busyTimeoutMs: number): Result<OpenedDatabase, OpenFault> {
  return open(path, busyTimeoutMs, (db) => {
    const whole = db.pragma('quick_check(1)', { simple: true }) === 'ok'
    return whole
      ? prepare(db, path, 'refuse', busyTimeoutMs)
      : fail({ kind: 'corrupt', message: 'the file is damaged' })
  })
}

function open(
  path: string,
  timeout: number,
  prepareOn: (db: Database.Database) => Result<{ readonly created: boolean }, OpenFault>,
): Result<OpenedDatabase, OpenFault> {
  let db: Database.Database | undefined
  try {
    db = new Database(path, { timeout, fileMustExist: true })
    const prepared = prepareOn(db)
    if (prepared.ok) return ok({ db, created: prepared.value.created })
    db.close()
    return fail({ kind: prepared.error.kind, message: `${path}: ${prepared.error.message}` })
  } catch (error) {
    db?.close()
    if (!(error instanceof Database.SqliteError)) throw error
    const { kind, message } = storeFailure(error, path)
    return fail({ kind, message })
  }
}

function prepare(
  db: Database.Database,
  path: string,
  whereNone: 'create' | 'refuse',
  busyTimeoutMs: number,
): Result<{ readonly created: boolean }, OpenFault> {
  const usable = checkStore(db)
  if (!usable.ok) return usable
  if (!existsSync(path)) return fail({ kind: 'missing', message: 'the file was deleted while it was being opened' })
  if (usable.value.version === 0 && whereNone === 'refuse') {
    return fail({ kind: 'missing', message: NO_STORE })
  }
  db.pragma('foreign_keys = ON')
  const mode = switchToWal(db, busyTimeoutMs)
  if (mode !== 'wal') {
    const message = `the file system of the store has no shared memory for SQLite (journal mode ${mode})`
    return fail({ kind: 'unusable', message })
  }
  // A revocation that was acknowledged must survive a power cut, which WAL with NORMAL does not promise.
  db.pragma('synchronous = FULL')
  const migrated = migrate(db)
  if (!migrated.ok) return migrated
  restrict(path)
  return ok({ created: migrated.value.from === 0 })
}

function absence(path: string): OpenFault | undefined {
  if (existsSync(path)) return undefined
  const what = existsSync(dirname(path)) ? NO_STORE : NO_FOLDER
  return { kind: 'missing', message: `${path}: ${what}` }
}

const NO_FOLDER = 'the folder does not exist; create it first'

/** SQLite gives the -wal and -shm files the mode of the main file, so it is made first and with its final mode. */
function createFile(path: string): OpenFault | undefined {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE))
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause'
    const fault = (message: string): OpenFault => ({ kind: 'unusable', message: `${path}: ${message}` })
    if (code === 'EEXIST') return undefined
    if (code === 'ENOENT') return fault(NO_FOLDER)
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return fault('this user may not write there')
    return fault(`the file cannot be made (${code})`)
  }
}

function restrict(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      // The rights of a device are everybody's.
      if (statSync(file).isFile()) chmodSync(file, FILE_MODE)
    } catch {
      // Another user's file keeps its mode, and a -wal of another process may be gone by now.
    }
  }
}

/** The switch needs the file for itself, and SQLite does not wait for that on its own. */
function switchToWal(db: Database.Database, busyTimeoutMs: number): string {
  const attempts = Math.ceil(busyTimeoutMs / RETRY_MS)
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
