import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Cancellation } from '../../src/engines/engine.js'
import { outcome, testDriver } from '../support/driver.js'
import { leftOut } from '../support/left-out.js'
import { eventually, SQLSERVER_TARGETS, type TestDatabase } from '../support/sqlserver.js'
import { atStatement } from '../support/test-server.js'

/** What merely speaks the protocol runs on what it was told to stop, and whose connection was closed. */
const RUNS_ON = 'that a statement that was told to stop ends on the server'

/** Longer than any test waits. */
const SLOW = 'SELECT COUNT_BIG(*) FROM sys.all_columns a, sys.all_columns b, sys.all_columns c, sys.all_columns d'
const SESSION = 'SELECT @@SPID'

const active = async (db: TestDatabase) => (await db.sessions()).filter(({ state }) => state === 'active')
const runsOneSlow = (db: TestDatabase) =>
  eventually('it runs', async () => (await atStatement(db, /all_columns/)).length === 1)
const nothingRuns = (db: TestDatabase) => eventually('nothing runs on', async () => (await active(db)).length === 0)

for (const target of SQLSERVER_TARGETS) {
  describe(`ending calls on the ${target.label} server`, () => {
    const database = async () => (await target.start()).createDatabase()
    const leftRunning = async (t: TestContext) => leftOut(t, await target.start(), RUNS_ON)

    test('a statement past its timeout is stopped on the server, and its connection is not used again', async (t) => {
      const db = await database()
      const { run, cell, observed } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const { code, reason } = outcome(await run(SLOW, [], { timeoutMs: 50 }))
      assert.equal(code, 'TIMEOUT')
      assert.match(reason, /50 ms/)
      const stopped = !(await leftRunning(t))
      if (stopped) await nothingRuns(db)
      assert.ok(await cell(SESSION))
      if (stopped) await eventually('only the session in use remains', async () => (await db.sessions()).length === 1)
      assert.deepEqual(observed, [])
    })

    test('a cancelled call is stopped on the server', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const cancellation = new Cancellation()
      const running = run(SLOW, [], { cancellation })
      await runsOneSlow(db)
      cancellation.request('CANCELLED')
      assert.equal(outcome(await running).code, 'CANCELLED')
      if (!(await leftRunning(t))) await nothingRuns(db)
    })

    test('a call that was cancelled before it had a connection never runs', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const cancellation = new Cancellation()
      cancellation.request('CANCELLED')
      assert.equal(outcome(await run('SELECT 1', [], { cancellation })).code, 'CANCELLED')
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
      assert.ok(['CANCELLED', 'CONNECTOR_UNAVAILABLE'].includes(outcome(await running).code))
      assert.equal(outcome(await waiting).code, 'CONNECTOR_UNAVAILABLE')
      assert.equal(outcome(await run('SELECT 1')).code, 'CONNECTOR_UNAVAILABLE')
      assert.equal(outcome(await driver.introspect([db.schema])).code, 'CONNECTOR_UNAVAILABLE')
      if (await leftRunning(t)) return
      await eventually('no session remains', async () => (await db.sessions()).length === 0)
    })
  })
}
