import Database from 'better-sqlite3'

/** The index's file does not hold what this gateway wrote there. Nothing is lost with it: it is made anew. */
class IndexFault extends Error {}

export function fileFault(what: string): Error {
  return new IndexFault(what)
}

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB|FORMAT|IOERR_SHORT_READ)/

/** Whether what was thrown says that the file is damaged or of another make, rather than busy or out of reach. */
export function isFileFault(thrown: unknown): boolean {
  if (thrown instanceof IndexFault) return true
  if (!(thrown instanceof Database.SqliteError)) return false
  // A table or column that is missing has no code of its own.
  return DAMAGED.test(thrown.code) || (thrown.code === 'SQLITE_ERROR' && /^no such (table|column)/.test(thrown.message))
}

export function sentenceOf(thrown: unknown): string {
  if (thrown instanceof Database.SqliteError) return `${thrown.message} (${thrown.code})`
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Whether what was thrown says that a file cannot be used now: busy, full, read-only, missing. Anything else is a bug. */
export function isOutOfReach(thrown: unknown): boolean {
  return thrown instanceof Database.SqliteError || (thrown instanceof Error && 'code' in thrown && 'syscall' in thrown)
}
