import type Database from 'better-sqlite3'
import type { Result } from '../../core/result.js'
import type { Seals } from '../seals.js'
import type { ShipBatch, ShipChange, ShipLedger, ShipState } from './ship-messages.js'

/** Runs `body` in one transaction of the buffer's one writing connection. A failure is a sentence. */
type WriteBuffer = (body: () => void) => Result<void, string>

function prepareStatements(db: Database.Database) {
  return {
    get: db.prepare<[string], unknown>('SELECT value FROM meta WHERE key = ?').pluck(),
    put: db.prepare<[string, string | number]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)'),
    drop: db.prepare<[string]>('DELETE FROM meta WHERE key = ?'),
    refuse: db.prepare<[number]>('INSERT INTO undelivered (seq) VALUES (?) ON CONFLICT (seq) DO NOTHING'),
    accept: db.prepare<[number]>('DELETE FROM undelivered WHERE seq = ?'),
  }
}

/** A batch as it was written by `change`; undefined for anything else, which then is formed anew. */
function batchOf(text: unknown): ShipBatch | undefined {
  if (typeof text !== 'string') return undefined
  try {
    // Written by `change` alone; what another version wrote is looked at before it is used.
    const { from, to, head, round, settled } = JSON.parse(text) as Partial<ShipBatch>
    if (typeof from !== 'number' || typeof to !== 'number' || typeof round !== 'number') return undefined
    if (typeof head !== 'string' || !Array.isArray(settled)) return undefined
    return { from, to, head, round, settled }
  } catch {
    return undefined
  }
}

interface ShipBookDeps {
  readonly instance: string
  readonly seals: Seals
  readonly write: WriteBuffer
  /** Writes `position.shipper`, within a transaction that `write` runs. */
  readonly putPosition: (seq: number) => void
  /** Within it as well: an entry came into `undelivered` (1) or left it (-1). */
  readonly undelivered: (seq: number, change: 1 | -1) => void
}

/** Where shipping stands, in the buffer's `meta` and `undelivered`, written through its owner's connection. */
export class ShipBook implements ShipLedger {
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #deps: ShipBookDeps

  constructor(db: Database.Database, deps: ShipBookDeps) {
    this.#statements = prepareStatements(db)
    this.#deps = deps
  }

  get instance(): string {
    return this.#deps.instance
  }

  /**
   * A buffer that was never shipped is shipped from its first entry on, and so is one whose position was not made with the key; a
   * batch that was not is formed anew.
   */
  state(): ShipState {
    const { seals } = this.#deps
    const { get } = this.#statements
    return {
      position: seals.openPosition('shipper', get.get('position.shipper')) ?? 0,
      batch: batchOf(seals.openBatch(get.get('ship.batch'))),
    }
  }

  change(change: ShipChange): Result<void, string> {
    const { put, drop, refuse, accept } = this.#statements
    const { seals, write, putPosition, undelivered } = this.#deps
    return write(() => {
      for (const seq of change.refused ?? []) if (refuse.run(seq).changes > 0) undelivered(seq, 1)
      for (const seq of change.accepted ?? []) if (accept.run(seq).changes > 0) undelivered(seq, -1)
      if (change.position !== undefined) putPosition(change.position)
      if (!('batch' in change)) return
      if (change.batch === undefined) drop.run('ship.batch')
      else put.run('ship.batch', seals.batch(JSON.stringify(change.batch)))
    })
  }
}
