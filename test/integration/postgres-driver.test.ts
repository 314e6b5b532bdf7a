import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { outcome, testDriver } from '../support/driver.js'
import { eventually, POSTGRES_TARGETS, READER } from '../support/postgres.js'

const SETUP = `
CREATE TABLE things (id int PRIMARY KEY, name text, secret text);
INSERT INTO things SELECT n, 'thing ' || n, 'secret ' || n FROM generate_series(1, 100) n;
CREATE TABLE written (at timestamptz);
CREATE FUNCTION write_something() RETURNS int LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  AS $$ BEGIN INSERT INTO public.written VALUES (now()); RETURN 1; END $$;
CREATE VIEW writing AS SELECT write_something() AS n;
CREATE FUNCTION shout() RETURNS int LANGUAGE plpgsql
  AS $$ BEGIN RAISE EXCEPTION 'first line' USING DETAIL = 'row 4711', HINT = 'hint 4711'; END $$;
CREATE TABLE closed (id int);
`

for (const target of POSTGRES_TARGETS) {
  describe(`reads on the ${target.label} server`, () => {
    const database = async () => (await target.start()).createDatabase(SETUP, `REVOKE ALL ON closed FROM ${READER}`)

    test("cells are the server's own text in fixed formats, whatever the server, database and role prefer", async (t) => {
      const db = await database()
      await db.query(`ALTER DATABASE ${db.name} SET "TimeZone" = 'America/New_York'`)
      await db.query(`ALTER ROLE ${READER} IN DATABASE ${db.name} SET "DateStyle" = 'German, DMY'`)
      await db.query(`ALTER ROLE ${READER} IN DATABASE ${db.name} SET "IntervalStyle" = 'postgres_verbose'`)
      await db.query(`ALTER ROLE ${READER} IN DATABASE ${db.name} SET bytea_output = 'escape'`)
      await db.query(`ALTER ROLE ${READER} IN DATABASE ${db.name} SET extra_float_digits = -3`)
      const { run } = testDriver(t, db.reader())
      const result = await run(
        `SELECT 9007199254740993::int8, 0.1::float8 + 0.2::float8, 12345678901234567890.123456789::numeric, true,
                timestamptz '2024-07-01 12:00:00.123456+02', timestamp '2024-07-01 12:00:00', date '2024-07-01',
                interval '1 year 2 days 3.5 seconds', '\\xdeadbeef'::bytea, NULL::text, ARRAY[1, NULL, 3],
                '{"a": 1.10}'::json, $1::text, $2::int4, $3::text[]`,
        ['é😀"\\', '7', ['a,b', '"q"', '\\', '{}', 'NULL', '']],
      )
      assert.ok(result.ok, JSON.stringify(result))
      assert.deepEqual(result.value.rows, [
        [
          '9007199254740993',
          '0.30000000000000004',
          '12345678901234567890.123456789',
          't',
          '2024-07-01 10:00:00.123456+00',
          '2024-07-01 12:00:00',
          '2024-07-01',
          'P1Y2DT3.5S',
          '\\xdeadbeef',
          null,
          '{1,NULL,3}',
          '{"a": 1.10}',
          'é😀"\\',
          '7',
          '{"a,b","\\"q\\"","\\\\","{}","NULL",""}',
        ],
      ])
      assert.ok(result.value.queueMs >= 0 && result.value.dbMs >= 0)
    })

    test('an empty result is no rows', async (t) => {
      const { run } = testDriver(t, (await database()).reader())
      const result = await run('SELECT id FROM public.things WHERE id < 0')
      assert.ok(result.ok)
      assert.deepEqual(result.value.rows, [])
    })

    test('no session can write, not even one of a superuser whose role allows it', async (t) => {
      const db = await database()
      await db.query(`ALTER ROLE ${READER} IN DATABASE ${db.name} SET default_transaction_read_only = off`)
      for (const settings of [db.reader(), db.superuser()]) {
        const { run } = testDriver(t, settings)
        assert.equal(outcome(await run('INSERT INTO public.written VALUES (now())')).code, 'DB_PERMISSION')
        assert.equal(outcome(await run('SELECT n FROM public.writing')).code, 'DB_PERMISSION')
        assert.equal(outcome(await run('CREATE TABLE public.more (id int)')).code, 'DB_PERMISSION')
        assert.equal(
          outcome(await run("SELECT pg_catalog.set_config('transaction_read_only', 'off', true)")).code,
          'DB_ERROR',
        )
      }
      assert.deepEqual(await db.query('SELECT count(*) FROM written'), [['0']])
    })

    test('failures become codes by SQLSTATE, and only the first message reaches the operator', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader())
      const codes = async (text: string, params: readonly string[] = []) => outcome(await run(text, params)).code
      assert.equal(await codes('SELECT id FROM public.vanished'), 'SCHEMA_CHANGED')
      assert.equal(await codes('SELECT vanished FROM public.things'), 'SCHEMA_CHANGED')
      assert.equal(await codes('SELECT id FROM vanished.things'), 'SCHEMA_CHANGED')
      assert.equal(await codes('SELECT id FROM public.closed'), 'DB_PERMISSION')
      assert.equal(await codes('SELECT id FROM public.things WHERE id = $1', ['99999999999']), 'DB_VALUE')
      assert.equal(await codes('SELECT name FROM public.things WHERE name = $1', ['a\0b']), 'DB_VALUE')
      assert.equal(await codes('SELECT 1 / (id - 1) FROM public.things'), 'DB_VALUE')
      assert.equal(await codes('SELEC 1'), 'DB_ERROR')
      const { code, reason } = outcome(await run('SELECT public.shout()'))
      assert.equal(code, 'DB_ERROR')
      assert.match(reason, /P0001.*first line/)
      assert.doesNotMatch(reason, /4711/)
    })

    test('a failed statement leaves its connection fit for the next', async (t) => {
      const { run, cell } = testDriver(t, (await database()).reader({ pool: { max: 1 } }))
      const before = await cell('SELECT pg_backend_pid()')
      await run('SELECT id FROM public.vanished')
      assert.equal(await cell('SELECT pg_backend_pid()'), before)
    })

    test('300 shapes keep at most 200 statements prepared on a connection, and a shape used once none', async (t) => {
      const { run, cell } = testDriver(t, (await database()).reader({ pool: { max: 1 } }))
      const prepared = async () => Number(await cell('SELECT count(*) FROM pg_prepared_statements /* seen once */'))
      for (let n = 0; n < 300; n++) assert.ok((await run(`SELECT ${n}::int8, $1::text`, ['x'])).ok)
      assert.equal(await prepared(), 0)
      for (let n = 0; n < 300; n++) {
        const result = await run(`SELECT ${n}::int8, $1::text`, ['y'])
        assert.deepEqual(result.ok && result.value.rows, [[String(n), 'y']])
      }
      assert.equal(await prepared(), 200)
      for (let n = 299; n >= 0; n--) {
        const result = await run(`SELECT ${n}::int8, $1::text`, ['z'])
        assert.deepEqual(result.ok && result.value.rows, [[String(n), 'z']])
      }
      assert.equal(await prepared(), 200)
    })

    test('a prepared statement whose columns changed their types says so once, and works again', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const text = 'SELECT id FROM public.things WHERE id::text = $1'
      for (let n = 0; n < 3; n++) assert.ok((await run(text, ['5'])).ok)
      await db.query('ALTER TABLE things ALTER COLUMN id TYPE int8')
      assert.equal(outcome(await run(text, ['5'])).code, 'SCHEMA_CHANGED')
      assert.equal(outcome(await run(text, ['5'])).code, 'OK')
    })

    test('prepared statements that something else took away are replaced without a failure', async (t) => {
      const { run, cell } = testDriver(t, (await database()).reader({ pool: { max: 1 } }))
      for (let n = 0; n < 3; n++) assert.equal(await cell('SELECT 41 + 1'), '42')
      assert.ok((await run('DEALLOCATE ALL')).ok)
      for (let n = 0; n < 3; n++) assert.equal(await cell('SELECT 41 + 1'), '42')
      assert.equal(await cell("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT 41 + 1'"), '1')
    })

    test('a statement that fails while it is being prepared does not spoil its later uses', async (t) => {
      const db = await database()
      const { run, cell } = testDriver(t, db.reader({ pool: { max: 1 } }))
      const text = 'SELECT id FROM public.later WHERE id = $1'
      for (let n = 0; n < 3; n++) assert.equal(outcome(await run(text, ['1'])).code, 'SCHEMA_CHANGED')
      await db.query(`CREATE TABLE later (id int); GRANT SELECT ON later TO ${READER}`)
      for (let n = 0; n < 3; n++) assert.equal(outcome(await run(text, ['not a number'])).code, 'DB_VALUE')
      for (let n = 0; n < 3; n++) assert.ok((await run(text, ['1'])).ok)
      assert.equal(await cell(`SELECT count(*) FROM pg_prepared_statements WHERE statement = '${text}'`), '1')
    })

    test('a result beyond the byte budget ends the read, on the server too', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader())
      const tenBytes = "SELECT 'abcdefghij' FROM generate_series(1, 1000)"
      assert.equal(outcome(await run(tenBytes, [], { bytesMax: 10_000 })).code, 'OK')
      assert.equal(outcome(await run(tenBytes, [], { bytesMax: 9_999 })).code, 'RESULT_TOO_LARGE')
      const endless = "SELECT repeat('x', 1000), generate_series(1, 2000000000)"
      assert.equal(outcome(await run(endless, [], { bytesMax: 1_000_000 })).code, 'RESULT_TOO_LARGE')
      const oneCell = "SELECT repeat('x', 300000000)"
      assert.equal(outcome(await run(oneCell, [], { bytesMax: 1_000_000 })).code, 'RESULT_TOO_LARGE')
      await eventually('nothing runs on', async () => (await db.sessions()).every((s) => s.state !== 'active'))
    })

    test('idle connections close after the idle timeout, and old ones after their lifetime', async (t) => {
      const db = await database()
      const idle = testDriver(t, db.reader({ pool: { idleTimeoutMs: 50 } }))
      await idle.cell('SELECT 1')
      await eventually('the idle connection closes', async () => (await db.sessions()).length === 0)
      const old = testDriver(t, db.reader({ pool: { lifetimeMaxMs: 50 } }))
      const first = await old.cell('SELECT pg_backend_pid()')
      await eventually('another session serves', async () => (await old.cell('SELECT pg_backend_pid()')) !== first)
    })

    test('no more connections are opened than the pool may have', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader({ pool: { max: 3 } }))
      const results = await Promise.all(
        Array.from({ length: 60 }, () => run('SELECT pg_backend_pid(), pg_sleep(0.005)')),
      )
      const pids = new Set(results.map((result) => (result.ok ? result.value.rows[0]?.[0] : assert.fail())))
      assert.ok(pids.size <= 3)
      assert.ok((await db.sessions()).length <= 3)
    })
  })
}
