import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Identity } from '../../src/core/identity.js'
import { ENGINE_TARGETS, forEngine, type PerEngine } from '../support/engines.js'
import { heldSession } from '../support/hold.js'
import { leftOut } from '../support/left-out.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import {
  CHANGE_TYPE,
  RENAMES_POLICY,
  REPLACE_COLUMN,
  renameColumns,
  renamesSetup,
  SWAP_TABLES,
} from '../support/renames.js'
import { isGenuine, readingBack } from '../support/security-engines.js'
import { policyFor } from '../support/security-sql.js'
import { atStatement, eventually, type TestDatabase, type TestServer } from '../support/test-server.js'

const READER = identity('reader', ['reader'])
const TENANT = identity('tenant', ['tenant'])
const IN_FLIGHT = 64

interface Call {
  readonly who: Identity
  readonly tool: string
  readonly args: unknown
}

/** Every way in which a column is named, and keys and values that only a hidden column holds. */
const CALLS: readonly Call[] = [
  { who: READER, tool: 'search_people', args: { columns: ['id', 'note'], limit: 50 } },
  {
    who: READER,
    tool: 'search_people',
    args: { columns: ['id'], filters: [{ column: 'note', op: 'eq', value: 'secret 3' }] },
  },
  {
    who: READER,
    tool: 'search_people',
    args: { columns: ['id'], filters: [{ column: 'note', op: 'ilike', value: 'secret%' }] },
  },
  {
    who: READER,
    tool: 'search_people',
    args: { columns: ['id'], order_by: [{ column: 'note', direction: 'desc' }], limit: 3 },
  },
  { who: READER, tool: 'get_people_by_pk', args: { id: 3, columns: ['note', 'spare'] } },
  { who: READER, tool: 'aggregate_people', args: { metrics: [{ fn: 'count' }], group_by: ['note'], limit: 50 } },
  {
    who: READER,
    tool: 'aggregate_people',
    args: { metrics: [{ fn: 'count' }], filters: [{ column: 'note', op: 'eq', value: 'secret 5' }] },
  },
  { who: TENANT, tool: 'search_people', args: { columns: ['id', 'note'], limit: 50 } },
  { who: TENANT, tool: 'aggregate_people', args: { metrics: [{ fn: 'count', column: 'note' }] } },
]
const WRITES: readonly Call[] = [
  { who: READER, tool: 'create_people', args: { values: { id: 900, note: 'written' } } },
  {
    who: READER,
    tool: 'update_people_by_pk',
    args: { id: 4, values: { note: 'written' }, expected: { note: 'note 4' } },
  },
  { who: READER, tool: 'update_people_by_pk', args: { id: 4, values: { note: 'written' }, dry_run: true } },
]
/** Renames, and keeps the table to itself until it says that it is done. */
const RENAMING: PerEngine<(renames: string, database: string) => string> = {
  postgres: (renames) => renames.replace('; COMMIT', ''),
  mysql: (renames, database) => `USE ${database}; LOCK TABLES people WRITE; ${renames}`,
  sqlserver: (renames) => renames.replace('; COMMIT', ''),
}
const RENAMED: PerEngine<string> = { postgres: 'COMMIT', mysql: 'UNLOCK TABLES', sqlserver: 'COMMIT' }
const STAFF: readonly Call[] = [{ who: READER, tool: 'search_staff', args: { columns: ['id', 'note'], limit: 50 } }]

for (const target of ENGINE_TARGETS)
  describe(`names that are given to others while the ${target.label} server is served`, () => {
    let server: TestServer

    before(async () => {
      server = await target.start()
    })

    const { engine } = target
    /** What merely speaks the protocol has one number for most errors. */
    const refused = (code: string): boolean => code === 'SCHEMA_CHANGED' || (!isGenuine(server) && code === 'DB_ERROR')
    /** Opens a path over a database of its own, and closes it behind the test. */
    async function served(run: (path: RecordedPath, database: TestDatabase) => Promise<void>): Promise<void> {
      const database = await server.createDatabase(renamesSetup(engine))
      const policy = policyFor(engine, RENAMES_POLICY)
      const path = await openPath({ settings: database.writer(), policy, ...readingBack(server) })
      try {
        await run(path, database)
      } finally {
        await path.close()
        await database.drop()
      }
    }

    const answer = (path: RecordedPath, { who, tool, args }: Call) => path.call(who, tool, args)

    /** What each of the calls is answered on a database that nobody changes. */
    async function answers(path: RecordedPath, calls: readonly Call[]): Promise<ReadonlyMap<Call, string>> {
      const bodies = new Map<Call, string>()
      for (const call of calls) {
        const { code, body } = await answer(path, call)
        assert.equal(code, 'OK', `${call.tool}: ${body}`)
        assert.doesNotMatch(body, /secret/)
        bodies.set(call, body)
      }
      return bodies
    }

    /** Calls run all the time while the database changes: until then the answers are right, and from then on there are none. */
    async function changing(path: RecordedPath, calls: readonly Call[], change: () => Promise<unknown>): Promise<void> {
      const right = await answers(path, calls)
      let changed = false
      let beforeIt = 0
      let afterIt = 0
      const caller = async (first: number): Promise<void> => {
        for (let n = first; afterIt < 4 * IN_FLIGHT; n++) {
          const call = calls[n % calls.length]
          assert.ok(call !== undefined)
          const late = changed
          const { code, body } = await answer(path, call)
          assert.doesNotMatch(body, /secret/)
          if (late) {
            afterIt += 1
            assert.ok(refused(code), `${code} ${call.tool} ${JSON.stringify(call.args)}: ${body}`)
          } else {
            beforeIt += 1
            if (!refused(code)) assert.equal(body, right.get(call))
          }
        }
      }
      const callers = Promise.all(Array.from({ length: IN_FLIGHT }, (_, first) => caller(first)))
      while (beforeIt < 2 * IN_FLIGHT) await new Promise((resolve) => setImmediate(resolve))
      await change()
      changed = true
      await callers
    }

    const CHANGES: Readonly<Record<string, string>> = {
      'a hidden column and a shown one swap their names': renameColumns(engine, { note: 'ssn', ssn: 'note' }),
      'three columns pass their names on': renameColumns(engine, { note: 'spare', spare: 'ssn', ssn: 'note' }),
      'a column is dropped and added again under its name': forEngine(REPLACE_COLUMN, engine),
      ...(engine === 'sqlserver' ? {} : { 'a column gets another type': CHANGE_TYPE[engine] }),
    }
    for (const [what, sql] of Object.entries(CHANGES)) {
      test(`${what}: from the first call on nothing is given, found or counted by another column`, async () => {
        await served((path, database) => changing(path, CALLS, () => database.query(sql)))
      })
    }

    test('a column takes the name of the row filter’s: no row of another tenant is given or counted', async () => {
      const own = CALLS.filter(({ who }) => who === TENANT)
      const sql = renameColumns(engine, { tenant: 'spare', spare: 'tenant' })
      await served((path, database) => changing(path, own, () => database.query(sql)))
    })

    test('a table takes the name of another of its shape: it is seen where the catalog has numbers for tables', async (t) => {
      if (leftOut(t, server, 'tables that swap names under statements that run')) return
      await served(async (path, database) => {
        const sql = forEngine(SWAP_TABLES, engine)
        if (engine !== 'mysql') return changing(path, [...CALLS, ...STAFF], () => database.query(sql))
        // There a table is what has its name: masks go by it as well.
        await database.query(sql)
        for (const call of CALLS) assert.doesNotMatch((await answer(path, call)).body, /secret/)
      })
    })

    test('a call that waits for whoever renames sees the names as they then are, whatever isolation the database prefers', async () => {
      await served(async (path, database) => {
        if (engine === 'postgres') {
          await database.query(`ALTER DATABASE ${database.name} SET default_transaction_isolation = 'serializable'`)
        }
        // Statements that are used again are prepared by then.
        for (let n = 0; n < 3; n++) await answers(path, CALLS)
        const session = await heldSession(database.superuser())
        try {
          const swap = renameColumns(engine, { note: 'ssn', ssn: 'note' })
          await session.query(forEngine(RENAMING, engine)(swap, database.name))
          const calls = CALLS.slice(0, 3).map((call) => answer(path, call))
          await eventually('the calls wait', async () => (await atStatement(database, /people/)).length >= 3)
          await session.query(forEngine(RENAMED, engine))
          for (const { code, body } of await Promise.all(calls)) assert.ok(refused(code), `${code} ${body}`)
        } finally {
          await session.end()
        }
      })
    })

    test('what other tables do disturbs nobody', async () => {
      await served(async (path, database) => {
        const right = await answers(path, [...CALLS, ...STAFF])
        await database.query('CREATE TABLE more (id int PRIMARY KEY)')
        await database.query('ALTER TABLE people ADD later int')
        for (const [call, body] of right) assert.equal((await answer(path, call)).body, body)
        await database.query(renameColumns(engine, { note: 'ssn', ssn: 'note' }))
        for (const call of STAFF) assert.equal((await answer(path, call)).body, right.get(call))
      })
    })

    test('nothing is written under a name that another column has taken, and no constraint of it is asked', async () => {
      await served(async (path, database) => {
        await database.query('CREATE UNIQUE INDEX one_ssn ON people (ssn)')
        await database.query(renameColumns(engine, { note: 'ssn', ssn: 'note' }))
        for (const call of WRITES) {
          const { code, effect, body } = await answer(path, call)
          assert.ok(refused(code) && effect === 'none', `${code} ${effect} ${call.tool}: ${body}`)
        }
        const taken = { who: READER, tool: 'create_people', args: { values: { id: 901, note: 'secret 7' } } }
        assert.ok(refused((await answer(path, taken)).code))
        const rows = await database.query(
          "SELECT id FROM people WHERE note = 'written' OR ssn = 'written' OR id >= 900",
        )
        assert.deepEqual(rows, [])
      })
    })

    test('a row that is not there is not told from one that is, once its key is another column', async () => {
      await served(async (path, database) => {
        await answers(path, CALLS)
        await database.query(renameColumns(engine, { id: 'ssn', ssn: 'id' }))
        for (const id of [3, 4_000]) {
          const { code } = await answer(path, {
            who: READER,
            tool: 'get_people_by_pk',
            args: { id, columns: ['spare'] },
          })
          assert.ok(refused(code), code)
        }
      })
    })

    test('writes go on as ever while nothing is renamed', async () => {
      await served(async (path, database) => {
        for (const call of WRITES) assert.equal((await answer(path, call)).code, 'OK', call.tool)
        assert.deepEqual(await database.query("SELECT id, note FROM people WHERE note = 'written' ORDER BY id"), [
          ['4', 'written'],
          ['900', 'written'],
        ])
      })
    })
  })
