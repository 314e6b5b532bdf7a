import Database from 'better-sqlite3'
import { AUDIT_BUSY_TIMEOUT_MS } from '../../core/limits.js'
import type { ShipItem } from './formats.js'

interface Row {
  readonly seq: number
  readonly id: string | null
  readonly time_ms: number | null
  readonly line: string | null
}

export interface ReadItems {
  readonly items: readonly ShipItem[]
  /** There may be more than these. */
  readonly full: boolean
}

/** Whether what an entry left behind may be its line. What somebody put there instead is passed over, and told of at the next start. */
const HAS_LINE = `CASE WHEN e.seq IS NOT NULL THEN 1 WHEN typeof(u.body) <> 'text' THEN 0 WHEN NOT json_valid(u.body) THEN 0
  ELSE json_type(u.body, '$.id') IS 'text' AND json_type(u.body, '$.time') IS 'text' END`

function prepareStatements(db: Database.Database) {
  return {
    after: db.prepare<[number, number], Row>(
      'SELECT seq, id, time_ms, body AS line FROM entries WHERE seq > ? ORDER BY seq LIMIT ?',
    ),
    between: db.prepare<[number, number], Row>(
      'SELECT seq, id, time_ms, body AS line FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq',
    ),
    refused: db.prepare<[number, number], Row>(
      `SELECT u.seq AS seq, e.id AS id, e.time_ms AS time_ms, coalesce(e.body, u.body) AS line
       FROM undelivered u LEFT JOIN entries e ON e.seq = u.seq WHERE u.seq > ? AND ${HAS_LINE}
       ORDER BY u.seq LIMIT ?`,
    ),
  }
}

/** An entry that has left its table kept nothing but its line, which says the rest. */
function itemOf({ seq, id, time_ms: timeMs, line }: Row): ShipItem {
  const text = line ?? ''
  if (id !== null && timeMs !== null) return { seq, id, timeMs, line: text }
  // The line of an entry, which has both.
  const members = JSON.parse(text) as { readonly id: string; readonly time: string }
  return { seq, id: members.id, timeMs: Date.parse(members.time), line: text }
}

function bounded(rows: IterableIterator<Row>, countMax: number, charsMax: number): ReadItems {
  const items: ShipItem[] = []
  let chars = 0
  for (const row of rows) {
    const item = itemOf(row)
    chars += item.line.length
    if (items.length > 0 && chars > charsMax) return { items, full: true }
    items.push(item)
  }
  return { items, full: items.length === countMax }
}

/** A connection of its own that reads a buffer. No read lasts longer than one call here. Throws what SQLite says. */
export class ShipReader {
  readonly #db: Database.Database
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(path: string) {
    this.#db = new Database(path, { readonly: true, fileMustExist: true, timeout: AUDIT_BUSY_TIMEOUT_MS })
    try {
      this.#statements = prepareStatements(this.#db)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Entries after `seq`, oldest first: as many as the bounds allow, and one however long it is. */
  after(seq: number, countMax: number, charsMax: number): ReadItems {
    return bounded(this.#statements.after.iterate(seq, countMax), countMax, charsMax)
  }

  between(from: number, to: number): readonly ShipItem[] {
    return this.#statements.between.all(from, to).map(itemOf)
  }

  /** Entries that were refused one by one, as `after`. */
  refusedAfter(seq: number, countMax: number, charsMax: number): ReadItems {
    return bounded(this.#statements.refused.iterate(seq, countMax), countMax, charsMax)
  }

  close(): void {
    this.#db.close()
  }
}
