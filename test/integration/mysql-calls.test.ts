import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Param, ResultColumn } from '../../src/core/statement.js'
import { type CallExecution, Cancellation, type CompiledCall, type ExecuteOptions } from '../../src/engines/engine.js'
import { testDriver } from '../support/driver.js'
import { eventually, MYSQL_TARGETS, statement } from '../support/mariadb.js'

const SETUP = `
CREATE TABLE items (id int PRIMARY KEY, name varchar(20), secret varchar(20));
INSERT INTO items WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 20)
  SELECT i, CONCAT('item ', i), CONCAT('secret ', i) FROM n;
CREATE TABLE notes (note varchar(40) CHECK (note <> 'refused'));
CREATE TABLE flat (note varchar(40)) ENGINE=MyISAM;
CREATE FUNCTION twice(n int) RETURNS int DETERMINISTIC RETURN n * 2;
CREATE FUNCTION jot(note varchar(40)) RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO notes VALUES (note); RETURN 1; END;
CREATE FUNCTION jot_flat(note varchar(40)) RETURNS int MODIFIES SQL DATA
  BEGIN INSERT INTO flat VALUES (note); RETURN 1; END;
CREATE PROCEDURE listed(IN since int, OUT total int, INOUT label varchar(40))
BEGIN
  SELECT id, name, secret FROM items WHERE id >= since ORDER BY id;
  SELECT COUNT(*) AS secret FROM items;
  SELECT name, COUNT(*) AS n FROM items GROUP BY name HAVING n > 1;
  SET total = 21 - since, label = CONCAT(label, '!');
END;
CREATE PROCEDURE twins() SELECT id, name AS id FROM items;
CREATE PROCEDURE quiet(IN note varchar(40)) INSERT INTO notes VALUES (note);
CREATE PROCEDURE raise() BEGIN INSERT INTO notes VALUES ('raised'); SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '4711'; END;
CREATE PROCEDURE commits() BEGIN INSERT INTO notes VALUES ('half'); COMMIT; END;
CREATE PROCEDURE commits_and_fails() BEGIN INSERT INTO notes VALUES ('half'); COMMIT; SIGNAL SQLSTATE '45000'; END;
CREATE PROCEDURE commits_and_waits() BEGIN INSERT INTO notes VALUES ('half'); COMMIT; DO SLEEP(600); END;
CREATE PROCEDURE waits() BEGIN INSERT INTO notes VALUES ('waited'); DO SLEEP(600); END;
CREATE PROCEDURE ends_and_writes() BEGIN ROLLBACK; INSERT INTO notes VALUES ('broke out'); END;
CREATE PROCEDURE ends_and_reads() BEGIN ROLLBACK; SELECT 1 AS n; END;
CREATE PROCEDURE breaks_out()
BEGIN ROLLBACK; START TRANSACTION READ WRITE; INSERT INTO notes VALUES ('broke out'); COMMIT; START TRANSACTION READ ONLY; END;
CREATE PROCEDURE bits(OUT a bit(1), OUT b bit(8), OUT c bit(64), INOUT d bit(8))
  SET a = 1, b = 49, c = 18446744073709551615;
CREATE PROCEDURE sets_forever() BEGIN WHILE TRUE DO SELECT 1 AS n; END WHILE; END;
CREATE PROCEDURE poses(IN number int) BEGIN
  IF number = 1927 THEN SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1927; END IF;
  IF number = 1305 THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1305; END IF;
  SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1317;
END;
CREATE PROCEDURE fakes_mark() BEGIN ROLLBACK; START TRANSACTION; SAVEPOINT runku_call; END;
CREATE PROCEDURE commits_and_poses() BEGIN INSERT INTO notes VALUES ('once'); COMMIT;
  SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = 1461; END;
CREATE PROCEDURE huge() SELECT REPEAT('x', 1000000000) AS n;
CREATE PROCEDURE leaves() BEGIN
  SET @mine = 'left', SESSION sql_mode = '', SESSION time_zone = '+05:00';
  DO GET_LOCK('left', 0);
  CREATE TEMPORARY TABLE IF NOT EXISTS left_over (id int);
END;
`
const COLUMN: ResultColumn = {
  name: 'result',
  type: { logical: 'integer', native: 'int', equality: true, ordered: true },
}

for (const target of MYSQL_TARGETS) {
  describe(`calls on the ${target.label} server`, () => {
    async function ground(t: TestContext) {
      const db = await (await target.start()).createDatabase(SETUP)
      const { driver, cell, run } = testDriver(t, db.writer({ pool: { max: 1 } }))
      const call = (
        text: string,
        {
          params = [],
          columns = [],
          ...parts
        }: Partial<CompiledCall> & {
          readonly params?: readonly Param[]
          readonly columns?: readonly ResultColumn[]
        } = {},
        options: Partial<ExecuteOptions> = {},
      ): Promise<CallExecution> =>
        driver.call(
          { statement: statement(text, params, columns), effect: 'read', dryRun: false, rowCap: 100, ...parts },
          {
            timeoutMs: 20_000,
            acquireTimeoutMs: 20_000,
            bytesMax: 1_000_000,
            cancellation: new Cancellation(),
            ...options,
          },
        )
      const notes = async () => (await db.query('SELECT note FROM notes')).map(([note]) => note)
      return { db, call, cell, run, notes }
    }
    const seen = ({ outcome, effect }: CallExecution) =>
      outcome.ok ? { effect, ...outcome.value } : { effect, code: outcome.error.code }

    test('a function gives one row, and NULL is a value', async (t) => {
      const { call } = await ground(t)
      const twice = (value: string | null) => call('SELECT twice(?)', { params: [value], columns: [COLUMN] })
      assert.deepEqual(seen(await twice('21')), { effect: 'none', rows: [['42']] })
      assert.deepEqual(seen(await twice(null)), { effect: 'none', rows: [[null]] })
    })

    test('outputs are told from result sets, and of both only what is let through is given', async (t) => {
      const { call } = await ground(t)
      const listed = await call('CALL listed(?, ?, ?)', {
        params: ['18', null, 'x'],
        columns: [COLUMN],
        cells: [1],
        sets: { names: ['name', 'id', 'total', 'label'], cellCharsMax: 50 },
        rowCap: 1,
      })
      assert.ok(listed.outcome.ok, JSON.stringify(listed))
      assert.deepEqual(listed.outcome.value.rows, [['x!']])
      const sets = listed.outcome.value.sets?.map(({ columns, rows }) => ({
        columns: columns.map(({ name, type, charsMax }) => [name, type.logical, charsMax]),
        rows,
      }))
      assert.deepEqual(sets, [
        {
          columns: [
            ['id', 'integer', undefined],
            ['name', 'text', 50],
          ],
          // One row beyond the cap tells that there are more.
          rows: [
            ['18', 'item 18'],
            ['19', 'item 19'],
          ],
        },
        { columns: [['name', 'text', 50]], rows: [] },
      ])
      const nothing = await call('CALL listed(?, ?, ?)', { params: ['18', null, 'x'] })
      assert.deepEqual(seen(nothing), { effect: 'none', rows: [] })
    })

    test('bits that are outputs are their number, whatever their count', async (t) => {
      const { call } = await ground(t)
      const bits = await call('CALL bits(?, ?, ?, ?)', {
        params: [null, null, null, { type: 'integer', value: '200' }],
        columns: [COLUMN, COLUMN, COLUMN, COLUMN],
      })
      assert.deepEqual(seen(bits), { effect: 'none', rows: [['1', '49', '18446744073709551615', '200']] })
    })

    test('a procedure that gives sets without end is ended', async (t) => {
      const { db, call } = await ground(t)
      for (const sets of [{}, { sets: { names: ['n'], cellCharsMax: 50 } }]) {
        const endless = await call('CALL sets_forever()', sets, { bytesMax: 10_000_000 })
        assert.ok(!endless.outcome.ok)
        assert.equal(endless.outcome.error.code, 'RESULT_TOO_LARGE')
        assert.match(endless.outcome.error.reason ?? '', /result sets/)
      }
      await eventually('nothing runs on', async () => (await db.sessions()).every(({ query }) => query === ''))
    })

    test('numbers that a procedure signals are not believed', async (t) => {
      const { call, cell } = await ground(t)
      const before = await cell('SELECT CONNECTION_ID()')
      for (const number of ['1927', '1305', '1317']) {
        const posing = await call('CALL poses(?)', { params: [number], effect: 'write' })
        assert.deepEqual(seen(posing), { effect: 'none', code: 'DB_CONSTRAINT' })
        assert.deepEqual(seen(await call('CALL poses(?)', { params: [number] })), { effect: 'none', code: 'DB_ERROR' })
      }
      assert.equal(await cell('SELECT CONNECTION_ID()'), before)
    })

    test('what signals that the server has no room for statements is not run again', async (t) => {
      const { call, notes } = await ground(t)
      const posing = await call('CALL commits_and_poses()', { effect: 'write' })
      assert.deepEqual(seen(posing), { effect: 'unknown', code: 'DB_EFFECT_UNKNOWN' })
      assert.deepEqual(await notes(), ['once'])
    })

    test('a procedure cannot pretend that its transaction still stands', async (t) => {
      const { call } = await ground(t)
      assert.deepEqual(seen(await call('CALL fakes_mark()')), { effect: 'unknown', code: 'DB_EFFECT_UNKNOWN' })
    })

    test('a text that is too long for the server is not called NULL', async (t) => {
      const { call } = await ground(t)
      const huge = await call('CALL huge()', { sets: { names: ['n'], cellCharsMax: 50 } })
      assert.deepEqual(seen(huge), { effect: 'none', code: 'RESULT_TOO_LARGE' })
      const value = await call("SELECT REPEAT('x', 1000000000)", { columns: [COLUMN] })
      assert.deepEqual(seen(value), { effect: 'none', code: 'RESULT_TOO_LARGE' })
    })

    test('two columns of one name that is let through give nothing out', async (t) => {
      const { call } = await ground(t)
      const sets = (names: readonly string[]) => call('CALL twins()', { sets: { names, cellCharsMax: 50 } })
      assert.deepEqual(seen(await sets(['id'])), { effect: 'none', code: 'DB_ERROR' })
      assert.deepEqual(seen(await sets(['other'])), { effect: 'none', rows: [], sets: [] })
    })

    test('rows beyond the cap are read and dropped, and count against the bytes', async (t) => {
      const { call } = await ground(t)
      const listed = (bytesMax: number) =>
        call(
          'CALL listed(?, ?, ?)',
          { params: ['1', null, ''], rowCap: 1, sets: { names: ['id'], cellCharsMax: 50 } },
          { bytesMax },
        )
      assert.equal((await listed(1_000)).outcome.ok, true)
      assert.deepEqual(seen(await listed(200)), { effect: 'none', code: 'RESULT_TOO_LARGE' })
    })

    test('a routine that is declared to read cannot write', async (t) => {
      const { call, notes } = await ground(t)
      for (const [text, params] of [
        ['SELECT jot(?)', ['x']],
        ['CALL quiet(?)', ['x']],
      ] as const) {
        assert.deepEqual(seen(await call(text, { params })), { effect: 'none', code: 'DB_PERMISSION' })
      }
      assert.deepEqual(await notes(), [])
    })

    test('a reading procedure that ends its transaction still cannot write, and its call is never called harmless', async (t) => {
      const { call, notes } = await ground(t)
      const unknown = { effect: 'unknown', code: 'DB_EFFECT_UNKNOWN' }
      for (const name of ['ends_and_writes', 'ends_and_reads']) {
        assert.deepEqual(seen(await call(`CALL ${name}()`)), unknown)
        assert.deepEqual(await notes(), [])
      }
      assert.deepEqual(seen(await call('CALL breaks_out()')), unknown)
      assert.deepEqual(await notes(), ['broke out'])
    })

    test('a routine that writes is committed, refused or only tried', async (t) => {
      const { call, notes } = await ground(t)
      const jot = (note: string, dryRun: boolean) =>
        call('SELECT jot(?)', { params: [note], columns: [COLUMN], effect: 'write', dryRun })
      const quiet = (note: string) => call('CALL quiet(?)', { params: [note], effect: 'write' })
      assert.deepEqual(seen(await jot('dry', true)), { effect: 'none', rows: [['1']] })
      assert.deepEqual(seen(await jot('a', false)), { effect: 'committed', rows: [['1']] })
      assert.deepEqual(seen(await quiet('b')), { effect: 'committed', rows: [] })
      assert.deepEqual(seen(await quiet('refused')), { effect: 'none', code: 'DB_CONSTRAINT' })
      assert.deepEqual(seen(await call('CALL raise()', { effect: 'write' })), { effect: 'none', code: 'DB_CONSTRAINT' })
      assert.deepEqual(await notes(), ['a', 'b'])
    })

    test('a writing procedure that commits by itself is committed, and when it fails then nobody knows what it did', async (t) => {
      const { db, call, notes } = await ground(t)
      assert.deepEqual(seen(await call('CALL commits()', { effect: 'write' })), { effect: 'committed', rows: [] })
      const unknown = { effect: 'unknown', code: 'DB_EFFECT_UNKNOWN' }
      assert.deepEqual(seen(await call('CALL commits_and_fails()', { effect: 'write' })), unknown)
      const waited = await call('CALL commits_and_waits()', { effect: 'write' }, { timeoutMs: 300 })
      assert.deepEqual(seen(waited), unknown)
      assert.deepEqual(await notes(), ['half', 'half', 'half'])
      await eventually('nothing runs on', async () => (await db.sessions()).every(({ query }) => query === ''))
    })

    test('a writing call that is stopped in its transaction has changed nothing', async (t) => {
      const { db, call, notes } = await ground(t)
      // It runs with its owner's rights, so that only the owner could kill it: the server ends it by itself.
      const waited = await call('CALL waits()', { effect: 'write' }, { timeoutMs: 300 })
      assert.deepEqual(seen(waited), { effect: 'none', code: 'TIMEOUT' })
      const cancellation = new Cancellation()
      const calling = call('CALL waits()', {}, { cancellation })
      cancellation.request('CANCELLED')
      assert.deepEqual(seen(await calling), { effect: 'none', code: 'CANCELLED' })
      assert.deepEqual(await notes(), [])
      await eventually('nothing runs on', async () => (await db.sessions()).every(({ query }) => query === ''))
    })

    test('what a table without transactions keeps is not called undone', async (t) => {
      const { db, call } = await ground(t)
      const tried = await call('SELECT jot_flat(?)', {
        params: ['x'],
        columns: [COLUMN],
        effect: 'write',
        dryRun: true,
      })
      assert.deepEqual(seen(tried), { effect: 'unknown', code: 'DB_EFFECT_UNKNOWN' })
      assert.deepEqual(await db.query('SELECT note FROM flat'), [['x']])
    })

    test('a call leaves nothing on its session', async (t) => {
      const { db, call, cell, run } = await ground(t)
      await db.query("GRANT CREATE TEMPORARY TABLES ON * TO 'runku_writer'@'%'")
      const before = await cell('SELECT CONNECTION_ID()')
      assert.ok((await call('CALL leaves()', { effect: 'write' })).outcome.ok)
      assert.equal(await cell('SELECT CONNECTION_ID()'), before)
      assert.equal(await cell('SELECT @mine'), null)
      assert.equal(await cell("SELECT IS_USED_LOCK('left')"), null)
      assert.equal(await cell('SELECT @@time_zone'), '+00:00')
      assert.match((await cell('SELECT @@sql_mode')) ?? '', /STRICT_ALL_TABLES/)
      assert.equal((await run('SELECT id FROM left_over')).ok, false)
      assert.equal((await run("INSERT INTO notes VALUES ('x')")).ok, false)
    })

    test('a routine that is gone is a changed schema', async (t) => {
      const { db, call } = await ground(t)
      await db.query('DROP PROCEDURE twins')
      assert.deepEqual(seen(await call('CALL twins()')), { effect: 'none', code: 'SCHEMA_CHANGED' })
    })
  })
}
