import type Database from 'better-sqlite3'
import type { Result } from '../../core/result.js'
import type { ShipBatch, ShipChange, ShipLedger, ShipState } from './ship-messages.js'

/** Runs `body` in one transaction of the buffer's one writing connection. A failure is a sentence. */
export type WriteBuffer = (body: () => void) => Result<void, string>

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

/** Where shipping stands, in the buffer's `meta` and `undelivered`, written through its owner's connection. */
export class ShipBook implements ShipLedger {
  readonly instance: string
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #write: WriteBuffer

  constructor(db: Database.Database, instance: string, write: WriteBuffer) {
    this.instance = instance
    this.#statements = prepareStatements(db)
    this.#write = write
  }

  /** A buffer that was never shipped is shipped from its first entry on. */
  state(): ShipState {
    const position = this.#statements.get.get('position.shipper')
    return {
      position: typeof position === 'number' ? position : 0,
      batch: batchOf(this.#statements.get.get('ship.batch')),
    }
  }

  change(change: ShipChange): Result<void, string> {
    const { put, drop, refuse, accept } = this.#statements
    return this.#write(() => {
      for (const seq of change.refused ?? []) refuse.run(seq)
      for (const seq of change.accepted ?? []) accept.run(seq)
      if (change.position !== undefined) put.run('position.shipper', change.position)
      if (!('batch' in change)) return
      if (change.batch === undefined) drop.run('ship.batch')
      else put.run('ship.batch', JSON.stringify(change.batch))
    })
  }
}
