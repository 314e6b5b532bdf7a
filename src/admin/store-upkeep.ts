import { ok } from '../core/result.js'
import type { IdempotencyClaim, IdempotencyFound, IdempotentOutcome, PendingChange } from './admin-store.js'
import { type PendingRow, pendingChange } from './store-rows.js'
import { all, type Change, first, placeholders, run, type Steps } from './store-steps.js'

/** What the gateway writes by itself: idempotency keys, changes on their way to the trail, uses of keys. None moves a version. */

/** Rows of one statement, far below what either database takes. */
const ROWS_AT_ONCE = 500

/** Changes come one at a time, so that the number which every change of its kind moves is this request's own when it was moved. */
export function* requestReload(): Change<number> {
  const row = yield* first<{ readonly value: number }>("SELECT value FROM settings WHERE name = 'reload'")
  const value = (row?.value ?? 0) + 1
  return ok({ value, entry: { action: 'reload.request', target: 'every instance' } })
}

interface IdempotencyRow {
  readonly plan_hash: string
  readonly instance: string
  readonly state: string
  readonly affected: number | null
  readonly keys: string | null
  readonly created_at: number
}

/**
 * One statement starts the key or finds it taken: of two that come at once the second waits for the first, and then finds its row, which
 * stays locked until it is read.
 */
export function* beginIdempotent(claim: IdempotencyClaim, windowMs: number, nowMs: number): Steps<IdempotencyFound> {
  const { identity, connector, tool, key, planHash, instance } = claim
  const started = yield* first(
    `INSERT INTO idempotency (identity, connector, tool, key, plan_hash, instance, state, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'started', ?)
     ON CONFLICT (identity, connector, tool, key) DO UPDATE SET plan_hash = excluded.plan_hash, instance = excluded.instance,
       state = excluded.state, code = NULL, affected = NULL, keys = NULL, created_at = excluded.created_at
     WHERE idempotency.created_at <= ?
     RETURNING state`,
    identity,
    connector,
    tool,
    key,
    planHash,
    instance,
    nowMs,
    nowMs - windowMs,
  )
  if (started !== undefined) return { kind: 'new' }
  const row = yield* first<IdempotencyRow>(
    `SELECT plan_hash, instance, state, affected, keys, created_at FROM idempotency
     WHERE identity = ? AND connector = ? AND tool = ? AND key = ?`,
    identity,
    connector,
    tool,
    key,
  )
  if (row === undefined) throw new Error('a row that is in the way can be read')
  return found(row, claim)
}

function found(row: IdempotencyRow, claim: IdempotencyClaim): IdempotencyFound {
  if (row.plan_hash !== claim.planHash) return { kind: 'other_plan' }
  if (row.state === 'started') return { kind: 'started', instance: row.instance, createdAt: row.created_at }
  // Written by `finishIdempotent` alone.
  const keys = JSON.parse(row.keys ?? '[]') as IdempotentOutcome['keys']
  return { kind: 'done', affected: row.affected ?? 0, keys }
}

/** A row is finished by the one that started it and by no other. */
export function* finishIdempotent(claim: IdempotencyClaim, outcome: IdempotentOutcome | undefined): Steps<void> {
  const { identity, connector, tool, key, instance } = claim
  const own = "WHERE identity = ? AND connector = ? AND tool = ? AND key = ? AND instance = ? AND state = 'started'"
  const name = [identity, connector, tool, key, instance]
  if (outcome === undefined) yield* run(`DELETE FROM idempotency ${own}`, ...name)
  else {
    const { affected, keys } = outcome
    const done = "UPDATE idempotency SET state = 'done', code = 'OK', affected = ?, keys = ?"
    yield* run(`${done} ${own}`, affected, JSON.stringify(keys), ...name)
  }
}

export function* purgeIdempotent(windowMs: number, nowMs: number): Steps<void> {
  yield* run('DELETE FROM idempotency WHERE created_at <= ?', nowMs - windowMs)
}

const CLAIMABLE = '(instance IS NULL OR claimed_at <= ?)'

/** Whether there is anything to claim: most of the time there is not, and then nothing needs to be locked. */
export function* anyPending(staleMs: number, nowMs: number): Steps<boolean> {
  const row = yield* first(`SELECT 1 AS found FROM audit_pending WHERE ${CLAIMABLE} LIMIT 1`, nowMs - staleMs)
  return row !== undefined
}

export function* claimPending(
  instance: string,
  max: number,
  staleMs: number,
  nowMs: number,
): Steps<readonly PendingChange[]> {
  const rows = yield* all<PendingRow>(
    `UPDATE audit_pending SET instance = ?, claimed_at = ?
     WHERE seq IN (SELECT seq FROM audit_pending WHERE ${CLAIMABLE} ORDER BY seq LIMIT ?)
     RETURNING seq, id, time, author, key_id, address, action, target, detail`,
    instance,
    nowMs,
    nowMs - staleMs,
    max,
  )
  return [...rows].sort((a, b) => a.seq - b.seq).map(pendingChange)
}

export function* settlePending(ids: readonly string[]): Steps<void> {
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    const some = ids.slice(at, at + ROWS_AT_ONCE)
    yield* run(`DELETE FROM audit_pending WHERE id IN ${placeholders(1, some.length)}`, ...some)
  }
}

/** `used`: key ids with Unix milliseconds. In the order of the ids, so that two that write at once do not wait for each other. */
export function* writeLastUsed(used: ReadonlyMap<string, number>): Steps<void> {
  const uses = [...used].sort(([a], [b]) => (a < b ? -1 : 1))
  for (let at = 0; at < uses.length; at += ROWS_AT_ONCE) {
    const some = uses.slice(at, at + ROWS_AT_ONCE)
    const typed = Array.from({ length: some.length }, () => '(CAST(? AS text), CAST(? AS bigint))').join(', ')
    yield* run(
      `UPDATE api_keys SET last_used_at = u.column2 FROM (VALUES ${typed}) AS u
       WHERE api_keys.key_id = u.column1 AND coalesce(api_keys.last_used_at, 0) < u.column2`,
      ...some.flat(),
    )
  }
}
