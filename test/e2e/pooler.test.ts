import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { type Caller, callerOf, entryOf } from '../support/changes.js'
import { type GatewayFolder, prepareGateway, type RunningGateway, startGateway } from '../support/gateway.js'
import { type RunningPgBouncer, startPgBouncer } from '../support/pgbouncer.js'
import { EMBEDDED, eventually, type TestDatabase, WRITER } from '../support/postgres.js'

/** The database judges by the caller that the gateway hands over; its routines leave all they can on their session. */
const SETUP = `
CREATE TABLE docs (id integer PRIMARY KEY, owner text NOT NULL, title text, stamp text);
INSERT INTO docs SELECT n, CASE n % 2 WHEN 0 THEN 'ann' ELSE 'bob' END, 'title ' || n, NULL FROM generate_series(1, 10) n;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs USING (owner = current_setting('runku.identity', true));
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.title = 'refused' THEN RAISE EXCEPTION 'refused for %', current_setting('runku.identity', true); END IF;
  NEW.stamp := concat_ws(' ', current_setting('runku.identity', true), current_setting('runku.roles', true)::json ->> 0,
                         current_setting('runku.claims', true)::json ->> 'tenant');
  RETURN NEW;
END $$;
CREATE TRIGGER docs_stamp BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION stamp();

CREATE TABLE calls (who text);
CREATE SEQUENCE numbers;
CREATE SCHEMA evil;
GRANT pg_read_all_stats TO ${WRITER};
CREATE FUNCTION leave_settings() RETURNS text LANGUAGE plpgsql AS $$
DECLARE who text := current_setting('runku.identity', true);
BEGIN
  PERFORM set_config('left.secret', 'of ' || who, false);
  PERFORM set_config('runku.identity', 'mallory', false);
  PERFORM set_config('runku.claims', '{"tenant":"mallory"}', false);
  PERFORM set_config('TimeZone', 'Asia/Tokyo', false);
  PERFORM set_config('DateStyle', 'German, DMY', false);
  PERFORM set_config('bytea_output', 'escape', false);
  PERFORM pg_advisory_lock(4711);
  PERFORM set_config('search_path', 'evil,public,pg_catalog', false);
  PERFORM set_config('role', 'pg_read_all_stats', false);
  RETURN who;
END $$;
CREATE FUNCTION leave_everything() RETURNS text LANGUAGE plpgsql AS $$
DECLARE who text := current_setting('runku.identity', true);
BEGIN
  INSERT INTO public.calls VALUES (who);
  PERFORM nextval('public.numbers');
  CREATE TEMP TABLE docs AS SELECT 99 AS id, who AS owner, 'left' AS title, 'left' AS stamp;
  EXECUTE 'DECLARE left_cursor CURSOR WITH HOLD FOR SELECT 1';
  EXECUTE 'LISTEN left_channel';
  PERFORM set_config('default_transaction_read_only', 'on', false);
  PERFORM public.leave_settings();
  RETURN who;
END $$;
CREATE FUNCTION fail_after_leaving() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM public.leave_settings();
  RAISE EXCEPTION 'failed';
END $$;
CREATE FUNCTION hang_after_leaving() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM public.leave_settings();
  PERFORM pg_catalog.pg_sleep(60);
  RETURN 'slept';
END $$;
CREATE FUNCTION hang_reading() RETURNS text LANGUAGE sql AS 'SELECT public.hang_after_leaving()';
CREATE FUNCTION last_number() RETURNS text LANGUAGE plpgsql AS $$
BEGIN RETURN lastval()::text;
EXCEPTION WHEN object_not_in_prerequisite_state THEN RETURN 'none'; END $$;
CREATE FUNCTION left_over() RETURNS TABLE (what text, found text) LANGUAGE sql STABLE AS $$
  SELECT 'setting', coalesce(current_setting('left.secret', true), '')
  UNION ALL SELECT 'identity', coalesce(current_setting('runku.identity', true), '')
  UNION ALL SELECT 'tenant', current_setting('runku.claims', true)::json ->> 'tenant'
  UNION ALL SELECT 'zone', current_setting('TimeZone')
  UNION ALL SELECT 'dates', current_setting('DateStyle')
  UNION ALL SELECT 'bytes', current_setting('bytea_output')
  UNION ALL SELECT 'path', current_setting('search_path')
  UNION ALL SELECT 'user', current_user::text
  UNION ALL SELECT 'role', current_setting('role')
  UNION ALL SELECT 'locks', count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()
  UNION ALL SELECT 'temporary', count(*)::text FROM pg_class WHERE relpersistence = 't' AND relnamespace = pg_my_temp_schema()
  UNION ALL SELECT 'cursors', count(*)::text FROM pg_cursors WHERE name <> ''
  UNION ALL SELECT 'channels', count(*)::text FROM pg_listening_channels()
  UNION ALL SELECT 'number', public.last_number()
$$;
CREATE FUNCTION left_over_write() RETURNS TABLE (what text, found text) LANGUAGE sql AS 'SELECT * FROM public.left_over()';
`
const POLICY = `
version: 1
defaults: { query_timeout_ms: 10000 }
tables:
  public.docs: { create: { columns: [id, owner, title] }, update: { columns: [title, owner] } }
procedures:
  public.leave_settings: { effect: read }
  public.leave_everything: { effect: write }
  public.fail_after_leaving: { effect: write }
  public.hang_after_leaving: { effect: write, query_timeout_ms: 200 }
  public.hang_reading: { effect: read, query_timeout_ms: 200 }
  public.left_over: { effect: read }
  public.left_over_write: { effect: write }
roles:
  writer: { read: ['*'], create: ['*'], update: ['*'], call: ['*'] }
`

const CLEAN = {
  setting: '',
  zone: 'UTC',
  dates: 'ISO, YMD',
  bytes: 'hex',
  path: 'pg_catalog,"public",pg_temp',
  user: WRITER,
  role: 'none',
  locks: '0',
  temporary: '0',
  cursors: '0',
  channels: '0',
  number: 'none',
}

type Who = 'ann' | 'bob'
const BOTH: readonly Who[] = ['ann', 'bob']

/** How the one connection reaches the server. */
interface Way {
  readonly label: string
  /** Sessions of the server that the gateway's connections come to. */
  readonly sessionsMax: number
  readonly bouncer: boolean
}

/** Sessions that read and sessions that write are apart, so one connection of each is the least there is. */
const WAYS: readonly Way[] = [
  { label: 'the server itself', sessionsMax: 2, bouncer: false },
  { label: 'PgBouncer in transaction mode, one session of the server for everything', sessionsMax: 1, bouncer: true },
]

for (const { label, sessionsMax, bouncer } of WAYS) {
  describe(`two identities take turns on one connection, by way of ${label}`, () => {
    let database: TestDatabase
    let pgBouncer: RunningPgBouncer | undefined
    let folder: GatewayFolder
    let running: RunningGateway

    before(async () => {
      database = await (await EMBEDDED.start()).createDatabase(SETUP)
      // A setting of the database's own must not come through where the gateway forgot one.
      await database.query(`ALTER DATABASE ${database.name} SET "TimeZone" = 'America/New_York'`)
      const direct = database.writer({ sessionContext: true, pool: { max: 1, acquireTimeoutMs: 30_000 } })
      if (bouncer) pgBouncer = await startPgBouncer(direct, sessionsMax)
      const settings: ConnectorSettings =
        pgBouncer === undefined
          ? direct
          : {
              ...direct,
              connection: { ...direct.connection, port: pgBouncer.port },
              pool: { ...direct.pool, mode: 'transaction' },
            }
      folder = await prepareGateway({
        connectors: [{ id: 'docs', settings, policy: POLICY }],
        identities: {
          ann: { roles: ['writer'], claims: new Map([['tenant', 'acme']]) },
          bob: { roles: ['writer'], claims: new Map([['tenant', 'bolt']]) },
        },
      })
      running = await startGateway(folder)
    })

    after(async () => {
      await running?.stop()
      await pgBouncer?.stop()
      await folder?.remove()
      await database?.drop()
    })

    const caller = (who: Who): Caller => callerOf(running.endpoint('docs'), folder.keys[who])
    const tenantOf = (who: Who) => (who === 'ann' ? 'acme' : 'bolt')

    const ownersSeenBy = async (who: Who) => {
      const { rows } = await caller(who).result('search_docs', { columns: ['owner'] })
      return [...new Set((rows as readonly { owner: string }[]).map(({ owner }) => owner))]
    }

    const leftOver = async (who: Who, tool: string) => {
      const { rows } = await caller(who).result(tool, {})
      return Object.fromEntries(
        (rows as readonly { what: string; found: string }[]).map(({ what, found }) => [what, found]),
      )
    }

    const assertClean = async () => {
      for (const who of BOTH) {
        for (const tool of ['left_over', 'left_over_write']) {
          assert.deepEqual(
            await leftOver(who, tool),
            { ...CLEAN, identity: who, tenant: tenantOf(who) },
            `${who} ${tool}`,
          )
        }
        assert.deepEqual(await ownersSeenBy(who), [who])
      }
    }

    test('reads, changes and refusals see their own caller alone, whoever came before', async () => {
      for (let round = 0; round < 12; round++) {
        for (const who of BOTH) {
          const [own, foreign] = who === 'ann' ? [2, 3] : [3, 2]
          assert.deepEqual(await ownersSeenBy(who), [who])
          const { rows } = await caller(who).change('update_docs_by_pk', {
            id: own,
            values: { title: `${who} ${round}` },
          })
          assert.equal(rows[0]?.['stamp'], `${who} writer ${tenantOf(who)}`)
          const update = { id: foreign, values: { title: 'stolen' } }
          assert.equal((await caller(who).refusal('update_docs_by_pk', update)).code, 'ROW_NOT_FOUND')
          assert.equal((await caller(who).refusal('get_docs_by_pk', { id: foreign })).code, 'ROW_NOT_FOUND')
          const refused = await caller(who).refusal('update_docs_by_pk', { id: own, values: { title: 'refused' } })
          assert.equal(refused.code, 'DB_CONSTRAINT')
        }
      }
      const stolen = await database.query(`SELECT id::text FROM docs WHERE title IN ('stolen', 'refused')`)
      assert.deepEqual(stolen, [])
    })

    test('a row that row-level security would not give back is not written', async () => {
      const given = await caller('ann').refusal('update_docs_by_pk', { id: 4, values: { owner: 'bob' } })
      const made = await caller('ann').refusal('create_docs', { values: { id: 50, owner: 'bob', title: 'x' } })
      assert.deepEqual([given.code, made.code], ['DB_PERMISSION', 'DB_PERMISSION'])
      assert.deepEqual([entryOf(folder, given.id).effect, entryOf(folder, made.id).effect], ['none', 'none'])
      assert.deepEqual(await database.query('SELECT owner FROM docs WHERE id IN (4, 50)'), [['ann']])
    })

    test('callers at the same time are never taken for one another', async () => {
      const seen = await Promise.all(
        Array.from({ length: 80 }, async (_, n) => {
          const who = n % 2 === 0 ? 'ann' : 'bob'
          if (n % 4 < 2) return (await ownersSeenBy(who)).join() === who
          const own = (who === 'ann' ? 2 : 1) + 2 * (n % 5)
          const { rows } = await caller(who).change('update_docs_by_pk', { id: own, values: { title: `${n}` } })
          return rows[0]?.['stamp'] === `${who} writer ${tenantOf(who)}`
        }),
      )
      assert.deepEqual(seen.indexOf(false), -1)
    })

    test('what a procedure leaves on its session is gone for the next call, of reads and of writes', async () => {
      await assertClean()
      for (let round = 0; round < 3; round++) {
        for (const who of BOTH) {
          assert.equal((await caller(who).result('leave_everything', {}))['result'], who)
          await assertClean()
          assert.equal((await caller(who).result('leave_everything', { dry_run: true }))['result'], who)
          await assertClean()
          assert.equal((await caller(who).result('leave_settings', {}))['result'], who)
          await assertClean()
          assert.equal((await caller(who).refusal('fail_after_leaving', {})).code, 'DB_CONSTRAINT')
          await assertClean()
        }
      }
      assert.deepEqual(await database.query('SELECT who, count(*)::text FROM calls GROUP BY who ORDER BY who'), [
        ['ann', '3'],
        ['bob', '3'],
      ])
    })

    test('what a procedure leaves that had to be stopped is gone as well, and the connection serves on', async () => {
      for (const who of BOTH) {
        for (const tool of ['hang_after_leaving', 'hang_reading']) {
          const { code, id } = await caller(who).refusal(tool, {})
          assert.deepEqual([code, entryOf(folder, id).effect], ['TIMEOUT', 'none'])
          await assertClean()
        }
      }
      await eventually('nothing that was stopped runs on', async () => {
        return (await database.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`)).length === 0
      })
    })

    test('all of this went over as few sessions as the server was asked for', async () => {
      // Sessions that were stopped may take a moment to be gone.
      await eventually(`${sessionsMax} sessions are open`, async () => {
        const rows = await database.query(
          `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = '${WRITER}'`,
        )
        return Number(rows[0]?.[0]) === sessionsMax
      })
    })
  })
}
