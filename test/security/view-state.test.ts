import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ENGINE_TARGETS, forEngine, type PerEngine } from '../support/engines.js'
import { identity, openPath } from '../support/recorded-path.js'
import { policyFor } from '../support/security-sql.js'

/** A view is a table to its callers, and code to the database: what its functions do to the session must not outlive it. */

const SETUPS = {
  postgres: `
    CREATE TABLE moments (id int PRIMARY KEY, at timestamptz NOT NULL);
    INSERT INTO moments VALUES (1, '2024-05-31 10:00:00+00');
    CREATE FUNCTION meddle() RETURNS int LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM set_config('TimeZone', 'America/New_York', false), set_config('DateStyle', 'German', false),
        pg_advisory_lock(4711);
      RETURN 1;
    END $$;
    CREATE VIEW meddling AS SELECT 1 AS id, meddle() AS done;`,
  mysql: `
    CREATE TABLE moments (id int PRIMARY KEY, at timestamp NOT NULL);
    INSERT INTO moments VALUES (1, '2024-05-31 10:00:00');
    CREATE FUNCTION meddle() RETURNS int
    BEGIN
      SET SESSION time_zone = '+05:00';
      SET SESSION sql_select_limit = 0;
      SET @left = GET_LOCK('meddled', 0);
      RETURN 1;
    END;
    CREATE VIEW meddling AS SELECT 1 AS id, meddle() AS done;`,
  // A function may set nothing there: it is made and then fails where it takes the lock, and leaves as little.
  sqlserver: `
    CREATE TABLE moments (id int PRIMARY KEY, at datetimeoffset(0) NOT NULL);
    INSERT INTO moments VALUES (1, '2024-05-31T10:00:00+00:00')
    GO
    CREATE FUNCTION meddle() RETURNS int AS
    BEGIN
      DECLARE @left int;
      EXEC @left = sp_getapplock 'meddled', 'Exclusive', 'Session', 0;
      RETURN 1;
    END
    GO
    CREATE VIEW meddling AS SELECT 1 AS id, dbo.meddle() AS done`,
} as const

/** How a read over the function ends. */
const READ_ENDS: PerEngine<string> = { postgres: 'OK', mysql: 'OK', sqlserver: 'DB_ERROR' }

const LOCKS = {
  postgres: `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711`,
  mysql: `SELECT IS_FREE_LOCK('meddled') = 0`,
  sqlserver: `SELECT 1 - APPLOCK_TEST('public', 'meddled', 'Exclusive', 'Session')`,
} as const

const POLICY = `
version: 1
tables: { public.moments: {}, public.meddling: { key: [id] } }
roles: { reader: { read: ['*'] } }
`

for (const target of ENGINE_TARGETS) {
  describe(`sessions that a view's function meddled with, on ${target.label}`, () => {
    test('the next caller reads what it would have read, and no lock is left', async (t) => {
      const database = await (await target.start()).createDatabase(forEngine(SETUPS, target.engine))
      const settings = database.reader({ pool: { max: 1 } })
      const path = await openPath({ settings, policy: policyFor(target.engine, POLICY) })
      t.after(async () => {
        await path.close()
        await database.drop()
      })
      const reader = identity('reader', ['reader'])
      const read = async () => (await path.call(reader, 'search_moments', {})).body
      const before = await read()
      assert.match(before, /2024-05-31T10:00:00Z/)
      for (const [tool, args] of [
        ['search_meddling', {}],
        ['get_meddling_by_pk', { id: 1 }],
        ['aggregate_meddling', { metrics: [{ fn: 'count', column: 'done' }] }],
      ] as const) {
        assert.equal((await path.call(reader, tool, args)).code, forEngine(READ_ENDS, target.engine), tool)
        assert.equal(await read(), before, tool)
      }
      assert.deepEqual(await database.query(forEngine(LOCKS, target.engine)), [['0']])
    })
  })
}
