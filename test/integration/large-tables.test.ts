import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seeded } from '../support/arguments.js'
import { forEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import { equalRows, equalTableSql, equalTables, insertRows } from '../support/equal-tables.js'
import { leftOut } from '../support/left-out.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { policyFor } from '../support/security-sql.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'

/** The rule of large tables on what each engine's catalog says of indexes and rows. */

const SEED = 20_261_201

const POLICY = `
version: 1
tables: { public.items: {}, public.events: {} }
roles:
  limited: { read: ['*'], require_index_above_rows: 10 }
  own: { read: [public.items], require_index_above_rows: 10, row_filter: { public.items: [{ column: id, op: lt, value: 20 }] } }
  free: { read: ['*'] }
`

const COUNTED = {
  postgres: 'ANALYZE',
  mysql: 'ANALYZE TABLE items, events',
  // It counts by itself.
  sqlserver: 'SELECT 1',
} as const

for (const target of WHOLE_PATH_TARGETS) {
  describe(`tables that are large to their caller, on ${target.label}`, () => {
    let db: TestDatabase
    let path: RecordedPath
    let server: TestServer

    before(async () => {
      server = await target.start()
      const noPad = 'product' in server && server.product !== 'mariadb' ? 'utf8mb4_0900_bin' : 'utf8mb4_nopad_bin'
      db = await server.createDatabase(equalTableSql(target.engine, noPad))
      const random = seeded(SEED)
      for (const table of equalTables(target.engine)) await insertRows(db, table, equalRows(table, random))
      await db.query(forEngine(COUNTED, target.engine))
      path = await openPath({ settings: db.reader(), policy: policyFor(target.engine, POLICY) })
      assert.deepEqual(path.findings, [])
    })
    after(async () => {
      await path.close()
      await db.drop()
    })

    const ask = async (role: string, tool: string, args: object) => {
      const { code, statements, body } = await path.call(identity(role, [role]), tool, args)
      assert.equal(statements.length > 0, code === 'OK')
      return code === 'OK' ? code : `${code} ${/Expected: [^"]*/.exec(body)?.[0] ?? ''}`
    }
    const count = { metrics: [{ fn: 'count' }] }
    const byId = { filters: [{ column: 'id', op: 'gt', value: 3 }] }
    const byNote = { filters: [{ column: 'n', op: 'eq', value: 3 }] }

    test('what goes by the key is served, and the rest is refused before the database hears of it', async (t) => {
      if (leftOut(t, server, 'how many rows the catalog says there are')) return
      assert.equal(await ask('limited', 'get_items_by_pk', { id: 1 }), 'OK')
      assert.equal(await ask('limited', 'search_items', byId), 'OK')
      assert.equal(await ask('limited', 'search_items', { ...byNote, order_by: [{ column: 'id' }] }), 'OK')
      assert.equal(await ask('limited', 'aggregate_items', { ...count, ...byId }), 'OK')
      const filtering = 'a filter by eq, in, gt, gte, lt, lte or is_null on one of id'
      assert.equal(
        await ask('limited', 'search_items', byNote),
        `ARGUMENT_UNINDEXED Expected: ${filtering}, or an order_by that begins with one of id.`,
      )
      for (const args of [count, { ...count, ...byNote }]) {
        assert.equal(await ask('limited', 'aggregate_items', args), `ARGUMENT_UNINDEXED Expected: ${filtering}.`)
      }
      assert.match(await ask('limited', 'search_events', {}), /^ARGUMENT_UNINDEXED .*you have none here/)
    })

    test('a row scope by the key will do, and so will a limit that the table does not pass', async () => {
      assert.equal(await ask('own', 'aggregate_items', count), 'OK')
      assert.equal(await ask('own', 'search_items', byNote), 'OK')
      assert.equal(await ask('free', 'search_items', byNote), 'OK')
      assert.equal(await ask('free', 'aggregate_events', count), 'OK')
    })
  })
}
