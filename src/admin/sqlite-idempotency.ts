import type { Database } from 'better-sqlite3'
import type { IdempotencyClaim, IdempotencyFound, IdempotentOutcome } from './admin-store.js'

interface Row {
  readonly plan_hash: string
  readonly instance: string
  readonly state: string
  readonly affected: number | null
  readonly keys: string | null
  readonly created_at: number
}

function found(row: Row, claim: IdempotencyClaim): IdempotencyFound {
  if (row.plan_hash !== claim.planHash) return { kind: 'other_plan' }
  if (row.state === 'started') return { kind: 'started', instance: row.instance, createdAt: row.created_at }
  // Written by `finishIdempotent` alone.
  const keys = JSON.parse(row.keys ?? '[]') as IdempotentOutcome['keys']
  return { kind: 'done', affected: row.affected ?? 0, keys }
}

function prepareStatements(db: Database) {
  return {
    find: db.prepare<[string, string, string, string], Row>(
      `SELECT plan_hash, instance, state, affected, keys, created_at FROM idempotency
       WHERE identity = ? AND connector = ? AND tool = ? AND key = ?`,
    ),
    start: db.prepare<[string, string, string, string, string, string, number]>(
      `INSERT OR REPLACE INTO idempotency (identity, connector, tool, key, plan_hash, instance, state, created_at)
       VALUES (?, ?, ?, ?, ?, ?, 'started', ?)`,
    ),
    finish: db.prepare<[number, string, string, string, string, string, string]>(
      `UPDATE idempotency SET state = 'done', code = 'OK', affected = ?, keys = ?
       WHERE identity = ? AND connector = ? AND tool = ? AND key = ? AND instance = ? AND state = 'started'`,
    ),
    forget: db.prepare<[string, string, string, string, string]>(
      `DELETE FROM idempotency
       WHERE identity = ? AND connector = ? AND tool = ? AND key = ? AND instance = ? AND state = 'started'`,
    ),
    purge: db.prepare<[number]>('DELETE FROM idempotency WHERE created_at <= ?'),
  }
}

/**
 * The table of idempotency keys. No change of `settings.version`: nobody's cached records depend on it. A row is finished
 * by the run of the gateway that started it and by no other.
 */
export class IdempotencyTable {
  readonly #db: Database
  readonly #clock: () => number
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(db: Database, clock: () => number) {
    this.#db = db
    this.#clock = clock
    this.#statements = prepareStatements(db)
  }

  begin(claim: IdempotencyClaim, windowMs: number): IdempotencyFound {
    const { find, start } = this.#statements
    const { identity, connector, tool, key, planHash, instance } = claim
    const now = this.#clock()
    const begin = this.#db.transaction((): IdempotencyFound => {
      const row = find.get(identity, connector, tool, key)
      if (row !== undefined && row.created_at > now - windowMs) return found(row, claim)
      start.run(identity, connector, tool, key, planHash, instance, now)
      return { kind: 'new' }
    })
    // The writer's lock from the start: of two gateways that look at once, one finds what the other wrote.
    return begin.immediate()
  }

  finish({ identity, connector, tool, key, instance }: IdempotencyClaim, outcome: IdempotentOutcome | undefined): void {
    const { finish, forget } = this.#statements
    if (outcome === undefined) forget.run(identity, connector, tool, key, instance)
    else {
      finish.run(outcome.affected, JSON.stringify(outcome.keys), identity, connector, tool, key, instance)
    }
  }

  purge(windowMs: number): void {
    this.#statements.purge.run(this.#clock() - windowMs)
  }
}
