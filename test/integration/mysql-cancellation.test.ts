import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Cancellation } from '../../src/engines/engine.js'
import { outcome, testDriver } from '../support/driver.js'
import { eventually, MYSQL_TARGETS, type TestDatabase } from '../support/mariadb.js'
import { atStatement } from '../support/test-server.js'

const SLOW = 'SELECT SLEEP(600)'

const active = async (db: TestDatabase) => (await db.sessions()).filter(({ query }) => query !== '')
const runsOneSlow = (db: TestDatabase) =>
  eventually('it runs', async () => (await atStatement(db, /SLEEP/)).length === 1)
const nothingRuns = (db: TestDatabase) => eventually('nothing runs on', async () => (await active(db)).length === 0)

for (const target of MYSQL_TARGETS) {
  describe(`ending calls on the ${target.label} server`, () => {
    const database = async (setup = '') => (await target.start()).createDatabase(setup)

    test('a statement past its timeout is stopped on the server, and its connection is not used again', async (t) => {
      const db = await database()
      const { run, cell, observed } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const before = await cell('SELECT CONNECTION_ID()')
      const { code, reason } = outcome(await run(SLOW, [], { timeoutMs: 50 }))
      assert.equal(code, 'TIMEOUT')
      assert.match(reason, /50 ms/)
      await nothingRuns(db)
      assert.notEqual(await cell('SELECT CONNECTION_ID()'), before)
      await eventually('only the session in use remains', async () => (await db.sessions()).length === 1)
      assert.deepEqual(observed, [])
    })

    test('a call that failed tells how long it waited and ran', async (t) => {
      const db = await database()
      const { timed, run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const { outcome: end, dbMs } = await timed(SLOW, [], { timeoutMs: 50 })
      assert.equal(end.ok, false)
      assert.ok(dbMs >= 49, `${dbMs} ms in the database`)
      const busy = run(SLOW, [], { timeoutMs: 200 })
      const waiting = await timed('SELECT 1', [], { acquireTimeoutMs: 20 })
      assert.equal(waiting.outcome.ok, false)
      assert.ok(waiting.queueMs >= 19, `${waiting.queueMs} ms in the queue`)
      assert.equal(waiting.dbMs, 0)
      await busy
    })

    test('a cancelled call is stopped on the server, and its connection is not used again', async (t) => {
      const db = await database()
      const { run, cell } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const before = await cell('SELECT CONNECTION_ID()')
      const cancellation = new Cancellation()
      const running = run(SLOW, [], { cancellation })
      await runsOneSlow(db)
      cancellation.request('CANCELLED')
      assert.equal(outcome(await running).code, 'CANCELLED')
      await nothingRuns(db)
      assert.notEqual(await cell('SELECT CONNECTION_ID()'), before)
    })

    test('a wait for a lock of the table ends like any other statement', async (t) => {
      const db = await database('CREATE TABLE things (id int)')
      const { run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const locked = db.query('LOCK TABLES things WRITE; DO SLEEP(1.5); UNLOCK TABLES')
      const holds = "SELECT 1 FROM information_schema.PROCESSLIST WHERE DB = ? AND INFO LIKE 'DO SLEEP(%'"
      await eventually('the table is locked', async () => (await db.query(holds, [db.name])).length === 1)
      assert.equal(outcome(await run('SELECT id FROM things', [], { timeoutMs: 100 })).code, 'TIMEOUT')
      await nothingRuns(db)
      await locked
    })

    test('a cancel in the turn in which the statement is sent still stops it', async (t) => {
      const db = await database()
      const { run, cell } = testDriver(t, db.reader({ pool: { max: 1 } }))
      for (let round = 0; round < 5; round++) {
        await cell('SELECT 1')
        const cancellation = new Cancellation()
        const running = run(SLOW, [], { cancellation })
        setImmediate(() => cancellation.request('TIMEOUT'))
        assert.equal(outcome(await running).code, 'TIMEOUT')
      }
      await nothingRuns(db)
    })

    test('a call cancelled before it starts touches no connection', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader())
      const cancellation = new Cancellation()
      cancellation.request('CANCELLED')
      assert.equal(outcome(await run(SLOW, [], { cancellation })).code, 'CANCELLED')
      assert.deepEqual(await db.sessions(), [])
    })

    test('a call cancelled while it waits leaves the line at once, and the others keep their order', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const ended: string[] = []
      const first = new Cancellation()
      const second = new Cancellation()
      const calls = [
        run(SLOW, [], { cancellation: first }).then(() => ended.push('first')),
        run('SELECT 2', [], { cancellation: second }).then((result) => ended.push(`second ${outcome(result).code}`)),
        run('SELECT 3').then((result) => ended.push(`third ${outcome(result).code}`)),
        run('SELECT 4').then((result) => ended.push(`fourth ${outcome(result).code}`)),
      ]
      await runsOneSlow(db)
      second.request('CANCELLED')
      await calls[1]
      assert.deepEqual(ended, ['second CANCELLED'])
      first.request('CANCELLED')
      await Promise.all(calls)
      assert.deepEqual(ended, ['second CANCELLED', 'first', 'third OK', 'fourth OK'])
    })

    test('waiting too long for a connection is OVERLOADED, never TIMEOUT', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const cancellation = new Cancellation()
      const running = run(SLOW, [], { cancellation })
      await runsOneSlow(db)
      const { code, reason } = outcome(await run('SELECT 1', [], { acquireTimeoutMs: 20, timeoutMs: 10 }))
      assert.equal(code, 'OVERLOADED')
      assert.match(reason, /pool wait/)
      cancellation.request('CANCELLED')
      await running
      assert.equal(outcome(await run('SELECT 1')).code, 'OK')
    })

    test('closing the driver ends what runs and what waits, and leaves no session', async (t) => {
      const db = await database()
      const { driver, run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const running = run(SLOW)
      const waiting = run('SELECT 1')
      await runsOneSlow(db)
      await driver.close()
      assert.equal(outcome(await running).code, 'CANCELLED')
      assert.equal(outcome(await waiting).code, 'CONNECTOR_UNAVAILABLE')
      assert.equal(outcome(await run('SELECT 1')).code, 'CONNECTOR_UNAVAILABLE')
      assert.equal(outcome(await driver.introspect([db.schema])).code, 'CONNECTOR_UNAVAILABLE')
      await eventually('no session remains', async () => (await db.sessions()).length === 0)
    })
  })
}
