import type { Database } from 'better-sqlite3'
import { fail, ok, type Result } from '../core/result.js'
import type { StoreFailure } from './admin-store.js'
import { MIGRATIONS, newerStore, STORE_VERSION } from './migrations.js'

/** Marks a file as an admin store: "RUKU". */
const APPLICATION_ID = 0x52554b55

/** Why a file is left alone: it is newer, or not an admin store. */
export interface MarksFault {
  readonly kind: StoreFailure['kind']
  readonly message: string
}

/** Reads the file's marks and changes nothing. */
export function checkStore(db: Database): Result<{ readonly version: number }, MarksFault> {
  // One transaction, so that another process's first migration is seen as a whole or not at all.
  return db.transaction(() => readMarks(db))()
}

function readMarks(db: Database): Result<{ readonly version: number }, MarksFault> {
  const version = readNumber(db, 'user_version')
  const application = readNumber(db, 'application_id')
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0 || hasTables(db))) {
    return fail({ kind: 'unusable', message: 'this is an SQLite file, but not an admin store of runku' })
  }
  if (version > STORE_VERSION) {
    return fail({ kind: 'newer', message: newerStore(version) })
  }
  return ok({ version })
}

/**
 * Brings a new or older store to this program's version, in one transaction that waits for another process doing the same.
 * A store of this version is not locked. Gives the version that it had: 0 for a new one.
 */
export function migrate(db: Database): Result<{ readonly from: number }, MarksFault> {
  const before = checkStore(db)
  if (!before.ok) return before
  if (before.value.version === STORE_VERSION) return ok({ from: STORE_VERSION })
  const upgrade = db.transaction((): Result<{ readonly from: number }, MarksFault> => {
    // Read again inside the lock: the other process may have been first.
    const now = checkStore(db)
    if (!now.ok) return now
    for (const { sqlite } of MIGRATIONS.slice(now.value.version)) db.exec(sqlite)
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${STORE_VERSION}`)
    return ok({ from: now.value.version })
  })
  return upgrade.immediate()
}

function readNumber(db: Database, pragma: 'user_version' | 'application_id'): number {
  return Number(db.pragma(pragma, { simple: true }))
}

function hasTables(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' LIMIT 1").get() !== undefined
}
