import type { Result } from '../core/result.js'
import type { ChangeAuthor, StoreRefusal } from './admin-store.js'

/**
 * What an operation on the store is made of. It is written once, over SQL that both databases take, and yields its statements one by
 * one: SQLite runs them without a pause, PostgreSQL waits for each. Both run all of them in one transaction.
 */

export type SqlValue = string | number | Uint8Array | null

/** `?` stands for each parameter in turn; numbers are safe integers, in results too. */
export interface StoreStatement {
  readonly sql: string
  readonly params: readonly SqlValue[]
}

export type Steps<T> = Generator<StoreStatement, T, readonly unknown[]>

/** Every row of one statement. One that changes rows gives those it names in RETURNING. */
export function* all<R>(sql: string, ...params: readonly SqlValue[]): Steps<readonly R[]> {
  // The statement's own text says which columns its rows have.
  return (yield { sql, params }) as readonly R[]
}

export function* first<R>(sql: string, ...params: readonly SqlValue[]): Steps<R | undefined> {
  const [row] = yield* all<R>(sql, ...params)
  return row
}

export function* run(sql: string, ...params: readonly SqlValue[]): Steps<void> {
  yield { sql, params }
}

/** `(?, ?), (?, ?)` */
export function placeholders(rows: number, columns: number): string {
  const row = `(${Array.from({ length: columns }, () => '?').join(', ')})`
  return Array.from({ length: rows }, () => row).join(', ')
}

/** What surrounds a change. */
export interface ChangeContext {
  readonly author: ChangeAuthor
  /** Unix milliseconds. */
  readonly nowMs: number
  /** Gives that many cryptographically random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
}

/** What the audit trail is told of a change. */
export interface ChangeEntry {
  readonly action: string
  readonly target: string
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>
}

/** What a change came to. Without an entry all was as it was asked to be already, and nothing was written. */
export interface Made<T> {
  readonly value: T
  readonly entry?: ChangeEntry
}

/** A change checks everything before it writes anything: a refusal leaves no trace. */
export type Change<T> = Steps<Result<Made<T>, StoreRefusal>>

/** The numbers that every instance watches. */
export type Version = 'version' | 'reload'

const MARK_BYTES = 6

/** A safe integer. */
function markOf(bytes: Uint8Array): number {
  return Buffer.from(bytes).readUIntBE(0, MARK_BYTES)
}

/** Runs a change, and writes what the trail is to be told of it and that something changed. Says whether something did. */
export function* recorded<T>(
  change: Change<T>,
  context: ChangeContext,
  moves: Version = 'version',
): Steps<{ readonly outcome: Result<T, StoreRefusal>; readonly changed: boolean }> {
  const made = yield* change
  if (!made.ok) return { outcome: made, changed: false }
  const { value, entry } = made.value
  const outcome = { ok: true, value } as const
  if (entry === undefined) return { outcome, changed: false }
  const { author, nowMs, randomBytes } = context
  yield* run(
    `INSERT INTO audit_pending (id, time, author, key_id, address, action, target, detail) VALUES ${placeholders(1, 8)}`,
    `change_${Buffer.from(randomBytes(12)).toString('hex')}`,
    nowMs,
    author.name,
    author.keyId ?? null,
    author.address ?? null,
    entry.action,
    entry.target,
    JSON.stringify(entry.detail ?? {}),
  )
  yield* run('UPDATE settings SET value = value + 1 WHERE name = ?', moves)
  yield* run("UPDATE settings SET value = ? WHERE name = 'mark'", markOf(randomBytes(MARK_BYTES)))
  return { outcome, changed: true }
}
