import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { CompiledStatement } from '../../src/core/statement.js'
import { Cancellation, type ExecuteOptions } from '../../src/engines/engine.js'
import { outcome, testDriver } from '../support/driver.js'
import { eventually, MYSQL_TARGETS, READER, statement, type TestDatabase } from '../support/mariadb.js'
import { mysqlTestServer, READER_ACCOUNT } from '../support/mariadb-server.js'
import { switchingGate } from '../support/switching-gate.js'
import { LOGIN_PASSWORD, testSettings } from '../support/test-server.js'
import { findMariadb, startThrowawayMariadb } from '../support/throwaway-mariadb.js'

const READ_ONLY = { mariadb: 'tx_read_only', mysql: 'transaction_read_only' } as const
const LIMIT = { mariadb: 'max_statement_time', mysql: 'max_execution_time' } as const

const setup = (product: 'mariadb' | 'mysql') => `
CREATE TABLE written (n int);
INSERT INTO written VALUES (0);
CREATE FUNCTION meddle() RETURNS int NOT DETERMINISTIC READS SQL DATA BEGIN
  SET SESSION time_zone = '+05:00', SESSION ${READ_ONLY[product]} = 0, SESSION sql_select_limit = 0,
    SESSION ${LIMIT[product]} = 0, SESSION character_set_results = latin1, @mine = 'left';
  DO GET_LOCK('meddled', 0);
  RETURN 1;
END;
CREATE FUNCTION break_out() RETURNS int NOT DETERMINISTIC MODIFIES SQL DATA BEGIN
  SET SESSION ${READ_ONLY[product]} = 0;
  INSERT INTO written VALUES (1);
  RETURN 1;
END;
CREATE FUNCTION dawdle() RETURNS int NOT DETERMINISTIC NO SQL BEGIN
  DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
  DO SLEEP(1.5); DO SLEEP(1.5); DO SLEEP(1.5);
  RETURN 1;
END;
CREATE VIEW meddling AS SELECT meddle() AS n, n AS id FROM written;
CREATE VIEW breaking AS SELECT break_out() AS n, n AS id FROM written;
CREATE VIEW dawdling AS SELECT dawdle() AS n, n AS id FROM written;
`

/** Sessions of the reader, also while they run with the rights of a function's owner. */
async function sessions(db: TestDatabase): Promise<number> {
  const theirs =
    "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = ? AND (USER = ? OR INFO LIKE 'DO SLEEP%')"
  return Number((await db.query(theirs, [db.name, READER]))[0]?.[0])
}

async function dawdles(db: TestDatabase): Promise<boolean> {
  const found = await db.query("SELECT 1 FROM information_schema.PROCESSLIST WHERE DB = ? AND INFO LIKE 'DO SLEEP%'", [
    db.name,
  ])
  return found.length === 1
}

for (const target of MYSQL_TARGETS) {
  describe(`sessions of the ${target.label} server`, () => {
    async function ground(t: TestContext) {
      const server = await target.start()
      const db = await server.createDatabase(setup(server.product))
      const tested = testDriver(t, db.reader({ pool: { max: 1 } }))
      const view = async (text: string, options: Partial<ExecuteOptions> = {}) => {
        const compiled: CompiledStatement = { ...statement(text), runsCode: true }
        const limits = { timeoutMs: 20_000, acquireTimeoutMs: 20_000, bytesMax: 1_000_000 }
        const cancellation = new Cancellation()
        return (await tested.driver.execute(compiled, { ...limits, cancellation, ...options })).outcome
      }
      return { server, db, ...tested, view }
    }

    test("what a view's function does to its session is undone before that serves again", async (t) => {
      const { server, db, view, run, cell } = await ground(t)
      const before = await cell('SELECT CONNECTION_ID()')
      for (let round = 0; round < 2; round++) {
        const seen = await view('SELECT n, id FROM meddling')
        assert.deepEqual(seen.ok && seen.value, [['1', '0']], JSON.stringify(seen))
        const limit = server.product === 'mariadb' ? '20.25' : '20250'
        const settings = `SELECT @@time_zone, @@${READ_ONLY[server.product]}, @@character_set_results,
          @@${LIMIT[server.product]}, @mine, IS_USED_LOCK('meddled')`
        const left = await run(settings)
        assert.deepEqual(left.ok && left.value.rows, [['+00:00', '1', 'utf8mb4', limit, null, null]])
        assert.equal(outcome(await view('SELECT n, id FROM breaking')).code, 'DB_PERMISSION')
        assert.equal(outcome(await run('SELECT n, id FROM breaking')).code, 'DB_PERMISSION')
      }
      assert.equal(await cell('SELECT CONNECTION_ID()'), before)
      assert.deepEqual(await db.query('SELECT n FROM written'), [['0']])
    })

    test("a statement that only a routine's owner may kill takes one side connection, and its place until it is over", async (t) => {
      const { db, view, run, driver } = await ground(t)
      const cancellation = new Cancellation()
      const reading = view('SELECT n, id FROM dawdling', { cancellation })
      await eventually('it runs', () => dawdles(db))
      cancellation.request('CANCELLED')
      let most = 0
      let ended = false
      const watching = (async () => {
        while (!ended) most = Math.max(most, await sessions(db))
      })()
      const end = await reading
      ended = true
      await watching
      assert.equal(outcome(end).code, 'CANCELLED')
      assert.ok(most <= 2, `${most} sessions at once`)
      assert.ok((await sessions(db)) >= 1, 'the server is still at work')
      assert.equal(outcome(await run('SELECT 1')).code, 'OK')
      // The place was not given on before the session was gone.
      assert.equal(await dawdles(db), false)
      await driver.close()
      await eventually('no session remains', async () => (await sessions(db)) === 0)
    })

    test('closing does not wait for a session that outlives its kill', async (t) => {
      const { view, driver, db } = await ground(t)
      const reading = view('SELECT n, id FROM dawdling')
      await eventually('it runs', () => dawdles(db))
      await driver.close()
      assert.equal(outcome(await reading).code, 'CANCELLED')
      assert.deepEqual(driver.connections, { idle: 0, busy: 0 })
    })
  })
}

test('a server without room for prepared statements gets it back from the sessions that keep some', async (t) => {
  const server = await startThrowawayMariadb({
    program: await findMariadb(),
    settings: { 'max-prepared-stmt-count': '6' },
  })
  t.after(() => server.stop())
  const { host, port, user, password } = server
  const connection = { host, port, user, password, database: 'mysql' }
  const { run, driver } = testDriver(t, testSettings('mysql', 'mysql', connection, { pool: { max: 3 } }))
  for (let n = 0; n < 20; n++) assert.equal(outcome(await run(`SELECT ${n}`)).code, 'OK')
  await Promise.all([1, 2, 3].map((n) => run(`SELECT ${n}, SLEEP(0.2)`)))
  for (let n = 0; n < 20; n++) {
    const results = await Promise.all([1, 2, 3].map((i) => run(`SELECT ${i}, ${n}`)))
    if (n > 2)
      assert.deepEqual(
        results.map((result) => outcome(result).code),
        ['OK', 'OK', 'OK'],
      )
  }
  assert.equal(outcome(await driver.introspect(['mysql'])).code, 'OK')
})

test('a kill that comes to another server kills nothing, and the connection is closed instead', async (t) => {
  const program = await findMariadb()
  const start = async () => {
    const started = await startThrowawayMariadb({ program })
    const server = await mysqlTestServer('one of two', started, () => started.stop())
    t.after(() => server.stop())
    await server.query(`CREATE DATABASE same; GRANT SELECT ON same.* TO ${READER_ACCOUNT}`)
    return started
  }
  const [first, second] = [await start(), await start()]
  // Connections go to one server after the other.
  const gate = await switchingGate([first.port, second.port])
  t.after(() => gate.stop())
  const login = { host: first.host, user: READER, password: LOGIN_PASSWORD, database: 'same' }
  const settings = (port: number) => testSettings('mysql', 'same', { ...login, port }, {})
  const other = testDriver(t, settings(second.port))
  const mine = testDriver(t, settings(gate.port))
  const id = await mine.cell('SELECT CONNECTION_ID()')
  // A session of the same number on the other server, which must live.
  let otherId = await other.cell('SELECT CONNECTION_ID()')
  for (let n = 0; n < 50 && Number(otherId) < Number(id); n++) {
    const more = testDriver(t, settings(second.port))
    otherId = await more.cell('SELECT CONNECTION_ID()')
  }
  assert.equal(outcome(await mine.run('SELECT SLEEP(600)', [], { timeoutMs: 50 })).code, 'TIMEOUT')
  assert.equal(mine.observed.length, 1, JSON.stringify(mine.observed))
  assert.match(JSON.stringify(mine.observed), /did not reach the server/)
  assert.equal(await other.cell(`SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ${otherId}`), '1')
})
