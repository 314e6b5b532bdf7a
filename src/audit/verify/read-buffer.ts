import Database from 'better-sqlite3'
import { AUDIT_BUSY_TIMEOUT_MS, AUDIT_READ_ROWS_MAX } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import { proveBeside, readBeside, tamperedText } from '../beside-chain.js'
import { type ChainKeys, type EntryLine, openCheckpoint, openHead } from '../chain.js'
import { Seals } from '../seals.js'
import type { TrailCheck } from './trail-check.js'

interface Meta {
  readonly instance: string
  readonly head: string | undefined
  readonly checkpoint: string | undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The gateway stores texts alone; what anybody else put there may be anything. */
interface StoredRow {
  readonly seq: number
  readonly line: unknown
}

/** As a line, whatever it is: what is no text of the gateway's is found not to be genuine. */
function lineOf(stored: unknown): string {
  if (typeof stored === 'string') return stored
  return Buffer.isBuffer(stored) ? stored.toString('utf8') : String(stored)
}

/** A buffer that is read while a gateway may write it, a few rows at a time, and never written. */
export class TrailBuffer {
  readonly #db: Database.Database
  readonly #get: Database.Statement<[string], unknown>
  readonly #after: Database.Statement<[number, number], StoredRow>
  readonly path: string

  private constructor(path: string) {
    this.path = path
    this.#db = new Database(path, { readonly: true, fileMustExist: true, timeout: AUDIT_BUSY_TIMEOUT_MS })
    try {
      this.#get = this.#db.prepare<[string], unknown>('SELECT value FROM meta WHERE key = ?').pluck()
      this.#after = this.#db.prepare<[number, number], StoredRow>(
        'SELECT seq, body AS line FROM entries WHERE seq > ? ORDER BY seq LIMIT ?',
      )
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Fails with one sentence: not there, not readable, no buffer. */
  static open(path: string): Result<TrailBuffer, string> {
    try {
      return ok(new TrailBuffer(path))
    } catch (error) {
      return fail(
        `the audit buffer "${path}" cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }

  meta(): Meta {
    return {
      instance: textOf(this.#get.get('instance')) ?? '',
      head: textOf(this.#get.get('head')),
      checkpoint: textOf(this.#get.get('checkpoint')),
    }
  }

  /** What is not genuine of what is kept beside the chain, a clause each; nothing in a buffer from before that was sealed. */
  tampered(keys: ChainKeys): readonly string[] {
    // As of one moment: a gateway may be at work.
    return this.#db.transaction(() => {
      const { instance, head: sealed } = this.meta()
      const head = sealed === undefined ? undefined : openHead(keys, instance, sealed)
      if (head?.beside === undefined) return []
      try {
        return proveBeside(readBeside(this.#db), head, new Seals({ keys, instance })).tampered.map(tamperedText)
      } catch (error) {
        if (!(error instanceof Database.SqliteError)) throw error
        return [`what is kept beside the chain cannot be read (${error.message})`]
      }
    })()
  }

  /** Entries behind `seq`, oldest first. */
  *after(seq: number): Generator<EntryLine> {
    let last = seq
    for (;;) {
      const rows = this.#after.all(last, AUDIT_READ_ROWS_MAX)
      if (rows.length === 0) return
      for (const { seq: own, line } of rows) yield { seq: own, line: lineOf(line) }
      last = rows.at(-1)?.seq ?? last
    }
  }

  /** The newest entries, oldest first. */
  last(count: number): readonly EntryLine[] {
    const rows = this.#db
      .prepare<[number], StoredRow>('SELECT seq, body AS line FROM entries ORDER BY seq DESC LIMIT ?')
      .all(count)
    return rows.reverse().map(({ seq, line }) => ({ seq, line: lineOf(line) }))
  }

  close(): void {
    this.#db.close()
  }
}

/**
 * Gives a buffer to the check: its entries up to the head that it had at the beginning, that head, the checkpoint, and what is kept beside
 * them. A gateway that goes on appending and deleting meanwhile changes nothing of the result.
 */
export function checkBuffer(buffer: TrailBuffer, keys: ChainKeys, check: TrailCheck): void {
  const { instance, head: sealed } = buffer.meta()
  const place = { source: buffer.path, position: 0 }
  const head = sealed === undefined ? undefined : openHead(keys, instance, sealed)
  if (head === undefined) check.badHead(instance, place)
  else check.head(instance, head, place)
  for (const what of buffer.tampered(keys)) check.unsealed(instance, what, place)
  const source = check.source({ name: buffer.path, repeats: false }, instance)
  for (const { seq, line } of buffer.after(0)) {
    // Appended since the head was read: the next look's.
    if (head !== undefined && seq > head.seq && line.startsWith(`{"seq":${seq},`) && isLater(buffer, keys, head.seq))
      break
    source.visit(line)
  }
  // Read last: what was deleted meanwhile is behind it.
  const { checkpoint: text } = buffer.meta()
  if (text === undefined) return
  const checkpoint = openCheckpoint(keys, instance, text)
  if (checkpoint === undefined) check.badHead(instance, place)
  else check.checkpoint(instance, checkpoint)
}

/** Whether the gateway itself has moved the head on: else an entry behind it was added by somebody else. */
function isLater(buffer: TrailBuffer, keys: ChainKeys, seq: number): boolean {
  const { instance, head } = buffer.meta()
  return head !== undefined && (openHead(keys, instance, head)?.seq ?? 0) > seq
}
