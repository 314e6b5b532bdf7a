import Database from 'better-sqlite3'
import { REPORT_CHUNK_CHARS_MAX, REPORT_INDEX_BUSY_TIMEOUT_MS } from '../../core/limits.js'
import { SqliteFiles } from '../../storage/sqlite-files.js'
import type { EntryLine } from '../chain.js'
import { sentenceOf } from './index-fault.js'

/** The buffer cannot be read: whatever the index is like, that is for the operator. */
export class BufferFault extends Error {}

/** What a buffer holds now. */
export interface BufferRange {
  /** 0 where it holds nothing. */
  readonly firstSeq: number
  readonly lastSeq: number
}

function reading<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Database.SqliteError || error instanceof TypeError) throw new BufferFault(sentenceOf(error))
    throw error
  }
}

function prepareStatements(db: Database.Database) {
  return {
    instance: db.prepare<[], unknown>("SELECT value FROM meta WHERE key = 'instance'").pluck(),
    first: db.prepare<[], number | null>('SELECT min(seq) FROM entries').pluck(),
    last: db.prepare<[], number | null>('SELECT max(seq) FROM entries').pluck(),
    from: db.prepare<[number, number], EntryLine>(
      'SELECT seq, body AS line FROM entries WHERE seq >= ? AND seq <= ? ORDER BY seq',
    ),
    next: db.prepare<[number], number | null>('SELECT min(seq) FROM entries WHERE seq >= ?').pluck(),
    one: db.prepare<[number], string>('SELECT body FROM entries WHERE seq = ?').pluck(),
  }
}

/**
 * A connection of its own that reads a buffer and cannot write it. No read lasts longer than one call here, so that what the
 * gateway writes meanwhile can go from the log into the file.
 */
export class BufferReader {
  readonly #db: Database.Database
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #files: SqliteFiles
  readonly instance: string

  /** Throws a `BufferFault` where the file is not there, cannot be read or is no buffer. */
  constructor(path: string) {
    this.#db = reading(() => {
      return new Database(path, { readonly: true, fileMustExist: true, timeout: REPORT_INDEX_BUSY_TIMEOUT_MS })
    })
    try {
      this.#statements = reading(() => prepareStatements(this.#db))
      const instance = reading(() => this.#statements.instance.get())
      if (typeof instance !== 'string') throw new BufferFault('it does not say which instance it is of')
      this.instance = instance
      this.#files = new SqliteFiles(path)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Whether the buffer at the path is another file now. */
  get disturbed(): boolean {
    return this.#files.disturbed() !== undefined
  }

  range(): BufferRange {
    return reading(() => ({
      firstSeq: this.#statements.first.get() ?? 0,
      lastSeq: this.#statements.last.get() ?? 0,
    }))
  }

  /** The first entry from `seq` on; undefined where there is none. */
  next(seq: number): number | undefined {
    return reading(() => this.#statements.next.get(seq)) ?? undefined
  }

  /** Entries from `fromSeq` to `toSeq`, oldest first: all, or as many as fit into one look. */
  lines(fromSeq: number, toSeq: number): readonly EntryLine[] {
    return reading(() => {
      const lines: EntryLine[] = []
      let chars = 0
      for (const line of this.#statements.from.iterate(fromSeq, toSeq)) {
        lines.push(line)
        chars += line.line.length
        if (chars >= REPORT_CHUNK_CHARS_MAX) break
      }
      return lines
    })
  }

  /** Undefined where it was deleted. */
  line(seq: number): string | undefined {
    return reading(() => this.#statements.one.get(seq))
  }

  close(): void {
    this.#db.close()
  }
}
