import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { fail, ok, type Result } from '../core/result.js'

/** Makes an empty file with mode 0600 where none is, and takes the others' rights from one that is there. */
export function ensurePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    // The rights of a device are everybody's.
    if (!statSync(path).isFile()) throw new Error(`"${path}" is no regular file`)
  }
  // Also repairs what an odd umask took away: SQLite gives `-wal` and `-shm` the mode of their database.
  chmodSync(path, 0o600)
}

export interface ProcessLock {
  release(): void
}

/**
 * Holds a file for one owner until it is released or its owner dies, `kill -9` included: an open exclusive transaction on
 * an empty side database, which is a lock of the operating system that SQLite also minds between threads of one process.
 * (Node has no file locks of its own; `locking_mode = EXCLUSIVE` on the buffer would shut out the reader of the reports.)
 * Fails when another holds it.
 */
export function acquireProcessLock(path: string): Result<ProcessLock, 'held'> {
  ensurePrivateFile(path)
  const database = new Database(path, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return fail('held')
    throw error
  }
  return ok({ release: () => void database.close() })
}
