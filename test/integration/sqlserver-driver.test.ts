import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { outcome, testDriver } from '../support/driver.js'
import { eventually, READER, SQLSERVER_TARGETS } from '../support/sqlserver.js'

const SETUP = `
CREATE TABLE things (id int PRIMARY KEY, name varchar(40), secret varchar(40));
GO
INSERT INTO things SELECT TOP (100) n, CONCAT('thing ', n), CONCAT('secret ', n)
  FROM (SELECT ROW_NUMBER() OVER (ORDER BY a.column_id) AS n FROM sys.all_columns a) AS numbers;
GO
CREATE TABLE closed (id int);
GO
CREATE TABLE vanished (id int);
`
const SESSION = 'SELECT @@SPID'

for (const target of SQLSERVER_TARGETS) {
  describe(`reads on the ${target.label} server`, () => {
    const database = async () => (await target.start()).createDatabase(SETUP, `REVOKE SELECT ON closed FROM ${READER}`)

    test("cells are the server's own text, exactly", async (t) => {
      const { run } = testDriver(t, (await database()).reader())
      const result = await run(
        `SELECT CAST(-9223372036854775808 AS bigint), CAST('12345678901234567890.123456789' AS decimal(38, 9)),
           CAST('-922337203685477.5808' AS money), CAST(8.3266 AS money), CAST(0.1 AS real), CAST('0.30000000000000004' AS float),
           CAST(1 AS bit), CAST('2024-07-01' AS date), CAST('12:34:56' AS time(0)),
           CAST('2024-07-01T12:00:00.000001' AS datetime2(6)), CAST('2024-07-01T12:00:00.5+05:30' AS datetimeoffset(3)),
           CAST('2024-07-01T12:00:00.123' AS datetime), 0x00FF, CAST(N'é' AS nvarchar(9)), NULL`,
      )
      assert.deepEqual(result.ok && result.value.rows, [
        [
          '-9223372036854775808',
          '12345678901234567890.123456789',
          '-922337203685477.5808',
          '8.3266',
          '0.1',
          '0.30000000000000004',
          '1',
          '2024-07-01',
          '12:34:56',
          '2024-07-01 12:00:00.000001',
          '2024-07-01 12:00:00.500 +05:30',
          '2024-07-01 12:00:00.123',
          '00FF',
          'é',
          null,
        ],
      ])
    })

    test('parameters arrive with the type that they were given, however long they are', async (t) => {
      const { run } = testDriver(t, (await database()).reader())
      const result = await run(
        `SELECT @p1, @p2, CAST(@p3 AS decimal(38, 9)), @p4, @p5, @p6, LEN(@p7), TOP_ID.id
           FROM (SELECT TOP (@p8) id FROM things ORDER BY id) AS TOP_ID`,
        [
          'é"\\\'',
          { type: 'integer', value: '-9223372036854775808' },
          { type: 'decimal', value: '12345678901234567890.123456789' },
          { type: 'bytes', value: '3q2+7w==' },
          { type: 'float', value: '0.1' },
          null,
          'x'.repeat(10_000),
          { type: 'integer', value: '1' },
        ],
      )
      assert.deepEqual(result.ok && result.value.rows, [
        ['é"\\\'', '-9223372036854775808', '12345678901234567890.123456789', 'DEADBEEF', '0.1', null, '10000', '1'],
      ])
    })

    test('a session has the same settings whatever the server prefers', async (t) => {
      const server = await target.start()
      const { cell } = testDriver(t, (await database()).reader())
      assert.deepEqual(
        [
          await cell('SELECT @@DATEFIRST'),
          await cell('SELECT @@TRANCOUNT'),
          await cell("SELECT DATEPART(weekday, '2024-07-01')"),
        ],
        ['1', '0', '1'],
      )
      // What merely speaks the protocol does not tell the rest.
      if (!server.genuine) return
      assert.deepEqual(
        [await cell('SELECT @@LANGUAGE'), await cell('SELECT @@TEXTSIZE'), await cell('SELECT @@OPTIONS & 16386')],
        ['us_english', '2147483647', '16384'],
      )
    })

    test('failures become codes by their number', async (t) => {
      const server = await target.start()
      const db = await database()
      await db.query('DROP TABLE vanished')
      const { run } = testDriver(t, db.reader())
      const codes = async (text: string) => outcome(await run(text)).code
      assert.equal(await codes('SELECT 1 / (id - id) FROM things'), 'DB_VALUE')
      // What merely speaks the protocol has one number for all of these.
      const [gone, denied] = server.genuine ? ['SCHEMA_CHANGED', 'DB_PERMISSION'] : ['DB_ERROR', 'DB_ERROR']
      assert.equal(await codes('SELECT id FROM vanished'), gone)
      assert.equal(await codes('SELECT vanished FROM things'), gone)
      assert.equal(await codes('SELECT id FROM closed'), denied)
      assert.equal(await codes('SELEC 1'), 'DB_ERROR')
    })

    test('a failed statement leaves its connection fit for the next', async (t) => {
      const { run, cell } = testDriver(t, (await database()).reader({ pool: { max: 1 } }))
      const before = await cell(SESSION)
      for (const text of ['SELECT id FROM never', 'SELECT 1 / 0', 'SELEC 1']) assert.equal((await run(text)).ok, false)
      assert.equal(await cell(SESSION), before)
    })

    test('a caller is told to the database for its own call alone', async (t) => {
      const { run, cell } = testDriver(t, (await database()).reader({ pool: { max: 1 } }))
      const asked = "SELECT CONVERT(nvarchar(99), SESSION_CONTEXT(N'runku.identity'))"
      for (const identity of ['first', 'second']) {
        const result = await run(asked, [], { context: { identity, roles: '[]', claims: '{}' } })
        assert.deepEqual(result.ok && result.value.rows, [[identity]])
        assert.equal(await cell(asked), null)
      }
      const long = { identity: 'a', roles: '[]', claims: `"${'x'.repeat(5_000)}"` }
      assert.equal(outcome(await run(asked, [], { context: long })).code, 'DB_ERROR')
    })

    test('a result beyond the byte budget ends the read, on the server too', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader())
      const tenBytes = "SELECT 'abcdefghij' FROM things a"
      assert.equal(outcome(await run(tenBytes, [], { bytesMax: 1_000 })).code, 'OK')
      assert.equal(outcome(await run(tenBytes, [], { bytesMax: 999 })).code, 'RESULT_TOO_LARGE')
      const endless = "SELECT REPLICATE('x', 1000) FROM things a, things b, things c, things d, things e"
      assert.equal(outcome(await run(endless, [], { bytesMax: 1_000_000 })).code, 'RESULT_TOO_LARGE')
      const oneCell = "SELECT REPLICATE(CAST('x' AS varchar(max)), 16000000)"
      assert.equal(outcome(await run(oneCell, [], { bytesMax: 1_000_000 })).code, 'RESULT_TOO_LARGE')
      await eventually('no such session remains', async () =>
        (await db.sessions()).every(({ state }) => state !== 'active'),
      )
    })

    test('idle connections close after the idle timeout, and no more are opened than the pool may have', async (t) => {
      const db = await database()
      const idle = testDriver(t, db.reader({ pool: { idleTimeoutMs: 50 } }))
      await idle.cell('SELECT 1')
      await eventually('the idle connection closes', async () => (await db.sessions()).length === 0)
      const { run } = testDriver(t, db.reader({ pool: { max: 3 } }))
      const results = await Promise.all(Array.from({ length: 60 }, () => run(SESSION)))
      const ids = new Set(results.map((result) => (result.ok ? result.value.rows[0]?.[0] : assert.fail())))
      assert.ok(ids.size <= 3)
    })

    test('a wrong password makes the connector unavailable, and only the operator hears why', async (t) => {
      const { run } = testDriver(t, (await database()).reader({ connection: { password: 'Wrong-one-1' } }))
      const { code, reason } = outcome(await run('SELECT 1'))
      assert.equal(code, 'CONNECTOR_UNAVAILABLE')
      assert.match(reason, /ELOGIN/)
    })

    test('a certificate that nobody vouches for is refused where it is to be verified', async (t) => {
      const db = await database()
      const codes = async (tls: 'require' | 'verify') =>
        outcome(await testDriver(t, db.reader({ connection: { tls } })).run('SELECT 1')).code
      assert.deepEqual([await codes('require'), await codes('verify')], ['OK', 'CONNECTOR_UNAVAILABLE'])
    })
  })
}
