import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { outcome, testDriver } from '../support/driver.js'
import { eventually, MYSQL_TARGETS } from '../support/mariadb.js'
import { READER_ACCOUNT } from '../support/mariadb-server.js'

const SETUP = `
CREATE TABLE things (id int PRIMARY KEY, name varchar(40), secret text);
INSERT INTO things WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 100)
  SELECT i, CONCAT('thing ', i), CONCAT('secret ', i) FROM n;
CREATE TABLE cells (id int PRIMARY KEY, t tinyint, tu tinyint unsigned, m mediumint, z int(6) zerofill, b bigint, bu bigint unsigned,
  d decimal(30,9), f float, g double, bits bit(11), wide bit(64), y year, da date, dt datetime, dt3 datetime(3),
  ts timestamp(6) NULL, ti time(2), e enum('x','y'), s set('x','y'), j json, vb varbinary(9), bl blob, tx text,
  l1 varchar(9) CHARACTER SET latin1, po point);
INSERT INTO cells VALUES (1, -128, 255, -8388608, 7, -9223372036854775808, 18446744073709551615,
  12345678901234567890.123456789, 0.1, 0.30000000000000004, b'10000000001', 18446744073709551615, 2024, '2024-07-01',
  '2024-07-01 12:00:00', '2024-07-01 12:00:00.5', '2024-07-01 12:00:00.000001', '-800:00:00.5', 'y', 'x,y',
  '{"a": 1.10}', x'00ff', x'deadbeef', 'é😀', 'é', POINT(1, 2)),
  (2, 0, 0, 0, 0, 0, 0, 0, -16777216, -1e300, b'0', 0, 0, '2024-01-01', '2024-01-01 00:00:00', '2024-01-01 00:00:00',
  '2024-01-01 00:00:00', '838:59:59', 'x', '', '1', x'', x'', '', '', POINT(0, 0));
CREATE TABLE written (at timestamp NULL);
CREATE FUNCTION write_something() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO written VALUES (NULL); RETURN 1; END;
CREATE VIEW writing AS SELECT write_something() AS n;
CREATE FUNCTION shout() RETURNS int DETERMINISTIC
  BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'row 4711'; RETURN 1; END;
CREATE TABLE closed (id int);
CREATE TABLE vanished (id int);
`

for (const target of MYSQL_TARGETS) {
  describe(`reads on the ${target.label} server`, () => {
    const database = async () =>
      (await target.start()).createDatabase(SETUP, `REVOKE ALL ON closed FROM ${READER_ACCOUNT}`)

    test("cells are the server's own text, exactly", async (t) => {
      const { run } = testDriver(t, (await database()).reader())
      const result = await run('SELECT * FROM cells ORDER BY id')
      assert.ok(result.ok, JSON.stringify(result))
      const [full, zeros] = result.value.rows
      assert.deepEqual(full?.slice(0, -1), [
        '1',
        '-128',
        '255',
        '-8388608',
        '7',
        '-9223372036854775808',
        '18446744073709551615',
        '12345678901234567890.123456789',
        '0.1',
        '0.30000000000000004',
        '1025',
        '18446744073709551615',
        '2024',
        '2024-07-01',
        '2024-07-01 12:00:00',
        '2024-07-01 12:00:00.500',
        '2024-07-01 12:00:00.000001',
        '-800:00:00.50',
        'y',
        'x,y',
        '{"a": 1.10}',
        'AP8=',
        '3q2+7w==',
        'é😀',
        'é',
      ])
      assert.match(full?.at(-1) ?? '', /^[A-Za-z0-9+/]+=*$/)
      assert.deepEqual(zeros?.slice(4, 24), [
        '0',
        '0',
        '0',
        '0.000000000',
        '-16777216',
        '-1e+300',
        '0',
        '0',
        '0',
        '2024-01-01',
        '2024-01-01 00:00:00',
        '2024-01-01 00:00:00.000',
        '2024-01-01 00:00:00.000000',
        '838:59:59.00',
        'x',
        '',
        '1',
        '',
        '',
        '',
      ])
    })

    test('parameters arrive with the type that they were given', async (t) => {
      const { run } = testDriver(t, (await database()).reader())
      const result = await run(
        'SELECT ?, ? + 0, ? + 0, ? + 0, HEX(?), ? + 0e0, ?, id FROM things ORDER BY id LIMIT ?',
        [
          'é😀"\\\'',
          { type: 'integer', value: '-9223372036854775807' },
          { type: 'unsigned', value: '18446744073709551615' },
          { type: 'decimal', value: '12345678901234567890.123456789' },
          { type: 'bytes', value: '3q2+7w==' },
          { type: 'float', value: '0.1' },
          null,
          { type: 'integer', value: '1' },
        ],
      )
      assert.deepEqual(result.ok && result.value.rows, [
        [
          'é😀"\\\'',
          '-9223372036854775807',
          '18446744073709551615',
          '12345678901234567890.123456789',
          'DEADBEEF',
          '0.1',
          null,
          '1',
        ],
      ])
    })

    test('a session has the same settings whatever the server prefers', async (t) => {
      const server = await target.start()
      const db = await database()
      await server.query("SET GLOBAL time_zone = '-05:00', GLOBAL sql_mode = 'ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH'")
      t.after(() => server.query('SET GLOBAL time_zone = DEFAULT, GLOBAL sql_mode = DEFAULT'))
      const { run } = testDriver(t, db.reader())
      const result = await run(
        `SELECT @@time_zone, @@sql_mode, @@autocommit, @@character_set_results, @@collation_connection,
           @@div_precision_increment, @@foreign_key_checks, @@sql_auto_is_null, "text"`,
      )
      assert.deepEqual(result.ok && result.value.rows, [
        [
          '+00:00',
          'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
          '1',
          'utf8mb4',
          'utf8mb4_bin',
          '16',
          '1',
          '0',
          'text',
        ],
      ])
    })

    test('long texts that differ late are told apart by groups and by order', async (t) => {
      const server = await target.start()
      const db = await server.createDatabase(`
        CREATE TABLE letters (id int PRIMARY KEY, body longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci);
        INSERT INTO letters VALUES (1, CONCAT(REPEAT('x', 3000), 'b')), (2, CONCAT(REPEAT('x', 3000), 'a'));`)
      t.after(() => db.drop())
      const { run } = testDriver(t, db.reader())
      const ordered = await run('SELECT id FROM letters ORDER BY CAST(CONVERT(body USING utf8mb4) AS BINARY), id')
      assert.deepEqual(ordered.ok && ordered.value.rows, [['2'], ['1']])
      const groups = await run('SELECT SQL_BIG_RESULT count(*) FROM letters GROUP BY body')
      assert.deepEqual(groups.ok && groups.value.rows, [['1'], ['1']])
    })

    test('no session can write, not even one of a superuser', async (t) => {
      const db = await database()
      for (const settings of [db.reader(), db.superuser()]) {
        const { run } = testDriver(t, settings)
        for (const text of [
          'INSERT INTO written VALUES (NULL)',
          'SELECT n FROM writing',
          'CREATE TABLE more (id int)',
        ]) {
          assert.equal(outcome(await run(text)).code, 'DB_PERMISSION')
        }
      }
      assert.deepEqual(await db.query('SELECT count(*) FROM written'), [['0']])
    })

    test('failures become codes by their number, and no value of a row reaches the operator', async (t) => {
      const db = await database()
      // A login is told that it may not read what does not exist: rights on a table outlive it.
      await db.query('DROP TABLE vanished')
      const { run } = testDriver(t, db.reader())
      const codes = async (text: string) => outcome(await run(text)).code
      assert.equal(await codes('SELECT id FROM vanished'), 'SCHEMA_CHANGED')
      assert.equal(await codes('SELECT vanished FROM things'), 'SCHEMA_CHANGED')
      assert.equal(await codes('SELECT vanished()'), 'SCHEMA_CHANGED')
      assert.equal(await codes('SELECT id FROM closed'), 'DB_PERMISSION')
      assert.equal(await codes('SELECT 9223372036854775807 + id FROM things'), 'DB_VALUE')
      assert.equal(await codes('SELEC 1'), 'DB_ERROR')
      const { code, reason } = outcome(await run('SELECT shout()'))
      assert.equal(code, 'DB_ERROR')
      assert.match(reason, /1644 45000/)
      assert.doesNotMatch(reason, /4711/)
    })

    test('a failed statement leaves its connection fit for the next', async (t) => {
      const { run, cell } = testDriver(t, (await database()).reader({ pool: { max: 1 } }))
      const before = await cell('SELECT CONNECTION_ID()')
      for (const text of ['SELECT id FROM vanished', 'SELECT shout()', 'SELECT 9223372036854775807 + 1'])
        await run(text)
      assert.equal(await cell('SELECT CONNECTION_ID()'), before)
    })

    test('300 shapes keep at most 200 statements prepared on a connection', async (t) => {
      const { run } = testDriver(t, (await database()).reader({ pool: { max: 1 } }))
      for (const round of ['x', 'y']) {
        for (let n = 0; n < 300; n++) {
          const result = await run(`SELECT ${n}, ?`, [round])
          assert.deepEqual(result.ok && result.value.rows, [[String(n), round]])
        }
      }
      const prepared = await run("SHOW SESSION STATUS LIKE 'Prepared_stmt_count'")
      assert.ok(prepared.ok)
      // The statement that counts is one more, for which the one used least is closed when it is done.
      assert.ok(Number(prepared.value.rows[0]?.[1]) <= 201, JSON.stringify(prepared.value.rows))
    })

    test('a table whose columns changed their types is read as it is now', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const text = 'SELECT id FROM things WHERE id = ?'
      for (let n = 0; n < 3; n++) assert.ok((await run(text, ['5'])).ok)
      await db.query('ALTER TABLE things MODIFY id varchar(20)')
      const result = await run(text, ['5'])
      assert.deepEqual(result.ok && result.value.rows, [['5']])
    })

    test('a result beyond the byte budget ends the read, on the server too', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader())
      const tenBytes = "SELECT 'abcdefghij' FROM things a"
      assert.equal(outcome(await run(tenBytes, [], { bytesMax: 1_000 })).code, 'OK')
      assert.equal(outcome(await run(tenBytes, [], { bytesMax: 999 })).code, 'RESULT_TOO_LARGE')
      const endless = "SELECT REPEAT('x', 1000) FROM things a, things b, things c, things d, things e, things f"
      assert.equal(outcome(await run(endless, [], { bytesMax: 1_000_000 })).code, 'RESULT_TOO_LARGE')
      const oneCell = "SELECT REPEAT('x', 16000000)"
      assert.equal(outcome(await run(oneCell, [], { bytesMax: 1_000_000 })).code, 'RESULT_TOO_LARGE')
      await eventually('no such session remains', async () => (await db.sessions()).every(({ query }) => query === ''))
    })

    test('idle connections close after the idle timeout, and old ones after their lifetime', async (t) => {
      const db = await database()
      const idle = testDriver(t, db.reader({ pool: { idleTimeoutMs: 50 } }))
      await idle.cell('SELECT 1')
      await eventually('the idle connection closes', async () => (await db.sessions()).length === 0)
      const old = testDriver(t, db.reader({ pool: { lifetimeMaxMs: 50 } }))
      const first = await old.cell('SELECT CONNECTION_ID()')
      await eventually('another session serves', async () => (await old.cell('SELECT CONNECTION_ID()')) !== first)
    })

    test('no more connections are opened than the pool may have', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 3 } }))
      const results = await Promise.all(Array.from({ length: 60 }, () => run('SELECT CONNECTION_ID(), SLEEP(0.005)')))
      const ids = new Set(results.map((result) => (result.ok ? result.value.rows[0]?.[0] : assert.fail())))
      assert.ok(ids.size <= 3)
      assert.ok((await db.sessions()).length <= 3)
    })
  })
}
