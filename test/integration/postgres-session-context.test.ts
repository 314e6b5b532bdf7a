import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Cancellation, type SessionContext } from '../../src/engines/engine.js'
import { outcome, routineNamed, tableNamed, testDriver } from '../support/driver.js'
import { validatedCall, validatedMutation } from '../support/plans.js'
import { EMBEDDED, eventually, POSTGRES_TARGETS, type SettingsOverrides, WRITER } from '../support/postgres.js'
import { TRANSACTION_POOLERS } from '../support/transaction-pooler.js'

const SETUP = `
CREATE TABLE docs (id int PRIMARY KEY, owner text NOT NULL, title text, by text);
INSERT INTO docs SELECT n, CASE n % 2 WHEN 0 THEN 'ann' ELSE 'bob' END, 'title ' || n FROM generate_series(1, 10) n;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs USING (owner = current_setting('runku.identity', true));
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.by := current_setting('runku.identity', true) || ' ' || (current_setting('runku.roles', true)::json ->> 0) || ' '
            || (current_setting('runku.claims', true)::json ->> 'tenant');
  RETURN NEW;
END $$;
CREATE TRIGGER docs_stamp BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION stamp();
CREATE SEQUENCE numbers;
GRANT USAGE ON SEQUENCE numbers TO ${WRITER};
GRANT pg_read_all_stats TO ${WRITER};

CREATE FUNCTION leave_behind() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('left.secret', current_setting('runku.identity', true), false);
  PERFORM set_config('runku.identity', 'mallory', false);
  PERFORM set_config('TimeZone', 'Asia/Tokyo', false);
  PERFORM pg_advisory_lock(4711);
  PERFORM set_config('search_path', 'left_schema,public,pg_catalog', false);
  PERFORM set_config('role', 'pg_read_all_stats', false);
END $$;
CREATE FUNCTION leave_more() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('public.numbers');
  CREATE TEMP TABLE left_table AS SELECT current_setting('runku.identity', true) AS who;
  EXECUTE 'DECLARE left_cursor CURSOR WITH HOLD FOR SELECT 1';
  EXECUTE 'LISTEN left_channel';
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_prepared_statements WHERE name = 'left_statement') THEN
    EXECUTE 'PREPARE left_statement AS SELECT 1';
  END IF;
  PERFORM public.leave_behind();
END $$;
CREATE FUNCTION leave_and_fail() RETURNS void LANGUAGE plpgsql AS $$
BEGIN PERFORM public.leave_behind(); RAISE EXCEPTION 'failed'; END $$;
CREATE FUNCTION last_number() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN lastval()::text;
EXCEPTION WHEN object_not_in_prerequisite_state THEN RETURN 'none';
END $$;
CREATE FUNCTION left_over() RETURNS TABLE (what text, is text) LANGUAGE sql VOLATILE AS $$
  SELECT 'setting', coalesce(current_setting('left.secret', true), '')
  UNION ALL SELECT 'identity', coalesce(current_setting('runku.identity', true), '')
  UNION ALL SELECT 'zone', current_setting('TimeZone')
  UNION ALL SELECT 'path', current_setting('search_path')
  UNION ALL SELECT 'user', current_user
  UNION ALL SELECT 'role', current_setting('role')
  UNION ALL SELECT 'locks', count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
  UNION ALL SELECT 'tables', count(*)::text FROM pg_class WHERE relpersistence = 't' AND relnamespace = pg_my_temp_schema()
  UNION ALL SELECT 'cursors', count(*)::text FROM pg_cursors WHERE name <> ''
  UNION ALL SELECT 'channels', count(*)::text FROM pg_listening_channels()
  UNION ALL SELECT 'number', public.last_number()
$$;
CREATE FUNCTION prepared() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM pg_prepared_statements WHERE from_sql';
`

const context = (identity: string): SessionContext => ({
  identity,
  roles: JSON.stringify([`role of ${identity}`]),
  claims: JSON.stringify({ tenant: `tenant of ${identity}` }),
})

/** The catalog, then what the connector serves. */
const SEARCH_PATH = 'pg_catalog,"public",pg_temp'

const clean = (identity: string) => [
  ['setting', ''],
  ['identity', identity],
  ['zone', 'UTC'],
  ['path', SEARCH_PATH],
  ['user', WRITER],
  ['role', 'none'],
  ['locks', '0'],
  ['tables', '0'],
  ['cursors', '0'],
  ['channels', '0'],
  ['number', 'none'],
]

/** A connector of one connection a use, straight to the server or through a pooler. */
interface Way {
  readonly label: string
  readonly ground: (t: TestContext, overrides?: SettingsOverrides) => Promise<Ground>
}

type Ground = Awaited<ReturnType<typeof groundOf>>

async function groundOf(t: TestContext, way: (typeof WAYS)[number], overrides: SettingsOverrides = {}) {
  const server = await way.target.start()
  const db = await server.createDatabase(SETUP)
  // What the server would do of itself is not what a session of the gateway does.
  await db.query(`ALTER DATABASE ${db.name} SET "TimeZone" = 'America/New_York'`)
  await db.query(`ALTER DATABASE ${db.name} SET "DateStyle" = 'German, DMY'`)
  const direct = db.writer({ sessionContext: true, ...overrides, pool: { max: 1, ...overrides.pool } })
  const pooler = await way.pooler?.start(direct)
  if (pooler !== undefined) t.after(() => pooler.stop())
  const settings =
    pooler === undefined
      ? direct
      : {
          ...direct,
          connection: { ...direct.connection, port: pooler.port },
          pool: { ...direct.pool, mode: 'transaction' as const },
        }
  const driver = testDriver(t, settings)
  const schema = await driver.schema()
  const call = async (who: string, name: string, effect: 'read' | 'write', dryRun = false) => {
    const routine = routineNamed(schema, name)
    const execution = await driver.call(validatedCall(routine, { effect, dryRun }), { context: context(who) })
    return execution.outcome.ok ? execution.outcome.value : execution.outcome.error.code
  }
  return { server, db, ...driver, docs: tableNamed(schema, 'docs'), schema, call }
}

const WAYS = [
  ...POSTGRES_TARGETS.map((target) => ({ label: `the ${target.label} server itself`, target, pooler: undefined })),
  ...TRANSACTION_POOLERS.map((pooler) => ({ label: pooler.label, target: EMBEDDED, pooler })),
]

const OWNED = 'SELECT count(*), min(owner), max(owner) FROM public.docs'

for (const way of WAYS) {
  describe(`callers in the database's own eyes, by way of ${way.label}`, () => {
    const ground: Way['ground'] = (t, overrides) => groundOf(t, way, overrides)

    test('a read sees the rows of its own caller, whoever used the connection before, and none without one', async (t) => {
      const { run, cell } = await ground(t)
      for (let round = 0; round < 4; round++) {
        for (const who of ['ann', 'bob']) {
          const result = await run(OWNED, [], { context: context(who) })
          assert.deepEqual(result.ok && result.value.rows, [['5', who, who]])
          await run('SELECT 1 / 0', [], { context: context(who) })
          // A call that hands no caller over finds none.
          assert.equal(await cell('SELECT count(*) FROM public.docs'), '0')
          assert.equal(await cell(`SELECT coalesce(current_setting('runku.claims', true), '')`), '')
        }
      }
    })

    test('callers that share connections at the same time never see each other', async (t) => {
      const { run } = await ground(t, { pool: { max: 2 } })
      const owners = await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const who = n % 2 === 0 ? 'ann' : 'bob'
          const result = await run(OWNED, [], { context: context(who) })
          assert.ok(result.ok, JSON.stringify(result))
          return result.value.rows[0]?.[1] === who && result.value.rows[0]?.[2] === who
        }),
      )
      assert.ok(owners.every((own) => own))
    })

    test('row-level security and triggers judge a mutation by its caller', async (t) => {
      const { db, docs, mutate } = await ground(t)
      const retitle = (who: string, id: string) =>
        mutate(
          validatedMutation(docs, 'update', { key: { id }, values: { title: `by ${who}` }, returning: ['id', 'by'] }),
          { context: context(who) },
        )
      const own = await retitle('ann', '2')
      assert.deepEqual(own.outcome, {
        ok: true,
        value: { kind: 'written', rows: [['2', 'ann role of ann tenant of ann']], affected: 1 },
      })
      const foreign = await retitle('bob', '2')
      assert.deepEqual(foreign.outcome, { ok: true, value: { kind: 'not_found' } })
      const given = await mutate(validatedMutation(docs, 'update', { key: { id: '4' }, values: { owner: 'bob' } }), {
        context: context('ann'),
      })
      assert.deepEqual([given.effect, outcome(given.outcome).code], ['none', 'DB_PERMISSION'])
      assert.deepEqual(await db.query('SELECT id::text FROM docs WHERE by IS NOT NULL'), [['2']])
    })

    test('what a routine leaves on a session is gone for the next caller, and the next', async (t) => {
      const { call, cell } = await ground(t)
      for (const who of ['ann', 'bob', 'ann']) {
        assert.deepEqual(await call(who, 'leave_more', 'write'), [])
        assert.deepEqual(await call('carl', 'left_over', 'write'), clean('carl'))
        assert.deepEqual(await call(who, 'leave_more', 'write', true), [])
        assert.deepEqual(await call('carl', 'left_over', 'write'), clean('carl'))
        assert.deepEqual(await call(who, 'leave_behind', 'read'), [])
        assert.deepEqual(await call('carl', 'left_over', 'read'), clean('carl'))
        // Reading statements share their sessions with the routines that only read.
        assert.equal(await cell('SELECT public.leave_behind() IS NULL', { context: context(who) }), 'f')
        assert.deepEqual(await call('carl', 'left_over', 'read'), clean('carl'))
      }
      if (way.pooler === undefined) assert.deepEqual(await call('carl', 'prepared', 'write'), [['0']])
    })

    test('what a failed routine leaves on a session is gone as well', async (t) => {
      const { call } = await ground(t)
      for (let round = 0; round < 3; round++) {
        assert.equal(await call('ann', 'leave_and_fail', 'read'), 'DB_ERROR')
        assert.deepEqual(await call('carl', 'left_over', 'read'), clean('carl'))
        assert.equal(await call('ann', 'leave_and_fail', 'write'), 'DB_CONSTRAINT')
        assert.deepEqual(await call('carl', 'left_over', 'write'), clean('carl'))
      }
    })
  })
}

for (const pooler of TRANSACTION_POOLERS) {
  describe(`transaction mode by way of ${pooler.label}`, () => {
    const ground = (t: TestContext, overrides: SettingsOverrides = {}) =>
      groundOf(t, { label: pooler.label, target: EMBEDDED, pooler }, { sessionContext: false, ...overrides })

    test('every read has the formats of a session of its own, whichever session serves it', async (t) => {
      const { run } = await ground(t, { pool: { max: 2 } })
      const pids = new Set<string | null | undefined>()
      const read = async (): Promise<void> => {
        const result = await run(
          `SELECT timestamptz '2024-07-01 12:00:00+02', date '2024-07-01', interval '1 day', '\\xff'::bytea,
                  0.1::float8 + 0.2::float8, 'é', current_setting('search_path'), current_setting('transaction_read_only'),
                  pg_backend_pid()`,
        )
        const [row] = result.ok ? result.value.rows : []
        assert.deepEqual(row?.slice(0, -1), [
          '2024-07-01 10:00:00+00',
          '2024-07-01',
          'P1D',
          '\\xff',
          '0.30000000000000004',
          'é',
          SEARCH_PATH,
          'on',
        ])
        pids.add(row?.at(-1))
      }
      await eventually('two sessions have served', async () => {
        await Promise.all([read(), read(), run('SELECT pg_sleep(0.01)')])
        return pids.size > 1
      })
    })

    test('reads cannot write, mutations can, and a shape that is used again needs no prepared statement', async (t) => {
      const { db, run, mutate, docs } = await ground(t)
      for (let round = 0; round < 5; round++) {
        assert.equal(outcome(await run('INSERT INTO public.docs VALUES (99)')).code, 'DB_PERMISSION')
        const result = await run('SELECT $1::int + 1', ['41'])
        assert.deepEqual(result.ok && result.value.rows, [['42']])
        await db.query(`ALTER TABLE docs DISABLE ROW LEVEL SECURITY; DROP TRIGGER IF EXISTS docs_stamp ON docs`)
        const end = await mutate(
          validatedMutation(docs, 'update', {
            key: { id: '1' },
            values: { title: `round ${round}` },
            returning: ['title'],
          }),
        )
        assert.equal(end.effect, 'committed', JSON.stringify(end))
      }
    })

    test('a call past its time is stopped on the server, and the next one is served', async (t) => {
      const { server, run, cell } = await ground(t)
      assert.equal(outcome(await run('SELECT 1 FROM pg_sleep(600)', [], { timeoutMs: 100 })).code, 'TIMEOUT')
      const cancellation = new Cancellation()
      const slow = run('SELECT 1 FROM pg_sleep(601)', [], { cancellation })
      const sleeping = async () =>
        (
          await server.query(`SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(60%'
                             AND pid <> pg_backend_pid()`)
        ).length
      await eventually('it runs', async () => (await sleeping()) === 1)
      cancellation.request('CANCELLED')
      assert.equal(outcome(await slow).code, 'CANCELLED')
      await eventually('nothing runs on', async () => (await sleeping()) === 0)
      await eventually('another is served', async () => (await run('SELECT 1')).ok)
      assert.equal(await cell('SELECT 41 + 1'), '42')
    })
  })
}
