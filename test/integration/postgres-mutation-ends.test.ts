import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { Cancellation, type WriteExecution } from '../../src/engines/engine.js'
import { commitGate } from '../support/commit-gate.js'
import { tableNamed, testDriver } from '../support/driver.js'
import { validatedMutation } from '../support/plans.js'
import { eventually, POSTGRES_TARGETS, type TestDatabase } from '../support/postgres.js'

/** Of `at_end`: as long as somebody holds the advisory lock 1. */
const UNTIL_LET_GO = '-1'
const SETUP = `
CREATE TABLE docs (id int PRIMARY KEY, title text, at_end float8 NOT NULL DEFAULT 0, at_once float8 NOT NULL DEFAULT 0);
INSERT INTO docs SELECT n, 'title' FROM generate_series(1, 50) n;
CREATE FUNCTION wait_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_sleep(NEW.at_once); RETURN NEW; END $$;
CREATE TRIGGER docs_wait BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION wait_at_once();
CREATE FUNCTION wait_at_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at_end = ${UNTIL_LET_GO} THEN PERFORM pg_advisory_xact_lock(1); ELSE PERFORM pg_sleep(NEW.at_end); END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER docs_wait_end AFTER UPDATE ON docs DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION wait_at_end();
`
const FIRST_ROW = 'SELECT FROM docs WHERE id = 1 FOR UPDATE'
const FOREVER = '600'
// What a session is at, by how its statement is spelt: BEGIN names READ COMMITTED, and a lock is one FOR UPDATE.
const LOCKING = /^SELECT .* FOR (NO KEY )?UPDATE/s
const WRITING = /^UPDATE /
const COMMITTING = /^COMMIT/

function codeOf({ outcome, effect }: WriteExecution): readonly [string, string] {
  return [effect, outcome.ok ? outcome.value.kind : outcome.error.code]
}

const title = async (db: TestDatabase, id: string) =>
  (await db.query('SELECT title FROM docs WHERE id = $1', [id]))[0]?.[0]
const active = async (db: TestDatabase, query: RegExp) =>
  (await db.sessions()).filter((session) => session.state === 'active' && query.test(session.query))
const noTransaction = (db: TestDatabase) =>
  eventually('no transaction stays open', async () => (await db.sessions()).every(({ state }) => state === 'idle'))

for (const target of POSTGRES_TARGETS) {
  describe(`how mutations end on the ${target.label} server`, () => {
    async function ground(t: TestContext) {
      const db = await (await target.start()).createDatabase(SETUP)
      const gate = await commitGate((await target.start()).process.port)
      t.after(() => gate.stop())
      const driver = testDriver(t, db.writer({ connection: { port: gate.port }, pool: { max: 1 } }))
      const docs = tableNamed(await driver.schema(), 'docs')
      const change = (id: string, values: Readonly<Record<string, string>>, options: object = {}) =>
        driver.mutate(validatedMutation(docs, 'update', { key: { id }, values, returning: ['id'] }), options)
      return { db, gate, ...driver, change }
    }

    /** Holds what the statement locks in a transaction of its own until it is let go. */
    async function hold(t: TestContext, db: TestDatabase, lock: string): Promise<() => Promise<void>> {
      const { host, port, user, password, database } = db.superuser().connection
      const client = new Client({ host, port, user, password: password ?? '', database })
      client.on('error', () => {})
      await client.connect()
      t.after(() => client.end())
      await client.query('BEGIN')
      await client.query(lock)
      return async () => {
        await client.query('ROLLBACK')
      }
    }

    test('a mutation past its time changes nothing, wherever it waited, and its connection is not used again', async (t) => {
      const { db, change } = await ground(t)
      const letGo = await hold(t, db, FIRST_ROW)
      assert.deepEqual(codeOf(await change('1', { title: 'x' }, { timeoutMs: 100 })), ['none', 'TIMEOUT'])
      await letGo()
      const slow = await change('2', { title: 'x', at_once: FOREVER }, { timeoutMs: 100 })
      assert.deepEqual(codeOf(slow), ['none', 'TIMEOUT'])
      const late = await change('3', { title: 'x', at_end: FOREVER }, { timeoutMs: 100 })
      assert.deepEqual(codeOf(late), ['none', 'TIMEOUT'])
      await noTransaction(db)
      for (const id of ['1', '2', '3']) assert.equal(await title(db, id), 'title')
      assert.deepEqual(codeOf(await change('1', { title: 'y' })), ['committed', 'written'])
    })

    test('the time of a mutation is for all of its statements together', async (t) => {
      const { db, change } = await ground(t)
      /** How much longer it took than it would have with that time anew for its second statement: less than 0 where it has not. */
      const beyondMs = async () => {
        const letGo = await hold(t, db, FIRST_ROW)
        const startMs = performance.now()
        const changing = change('1', { title: 'x', at_once: FOREVER }, { timeoutMs: 2_000 })
        await eventually('it waits for the lock', async () => (await active(db, LOCKING)).length === 1)
        await eventually('most of its time has passed', () => performance.now() - startMs > 1_200)
        const heldMs = performance.now() - startMs
        await letGo()
        const end = await changing
        assert.deepEqual(codeOf(end), ['none', 'TIMEOUT'])
        return performance.now() - startMs - (heldMs + 2_000)
      }
      // Whatever holds the machine up makes one of them longer, and time anew would make each.
      const ended = (await beyondMs()) < 0 || (await beyondMs()) < 0 || (await beyondMs()) < 0
      assert.ok(ended)
    })

    test('a cancelled mutation changes nothing and leaves no session', async (t) => {
      const { db, change } = await ground(t)
      await hold(t, db, FIRST_ROW)
      for (const [id, values, waits] of [
        ['1', { title: 'x' }, LOCKING],
        ['2', { title: 'x', at_once: FOREVER }, WRITING],
      ] as const) {
        const cancellation = new Cancellation()
        const changing = change(id, values, { cancellation })
        await eventually('it waits', async () => (await active(db, waits)).length === 1)
        cancellation.request('CANCELLED')
        assert.deepEqual(codeOf(await changing), ['none', 'CANCELLED'])
        await noTransaction(db)
        assert.equal(await title(db, id), 'title')
      }
    })

    test('a mutation cancelled before it starts, or while it waits for a connection, reaches no database', async (t) => {
      const { db, change } = await ground(t)
      const cancellation = new Cancellation()
      cancellation.request('CANCELLED')
      assert.deepEqual(codeOf(await change('1', { title: 'x' }, { cancellation })), ['none', 'CANCELLED'])
      const first = new Cancellation()
      const busy = change('2', { title: 'x', at_once: FOREVER }, { cancellation: first })
      await eventually('one runs', async () => (await active(db, WRITING)).length === 1)
      const second = new Cancellation()
      const waiting = change('3', { title: 'x' }, { cancellation: second })
      second.request('CANCELLED')
      assert.deepEqual(codeOf(await waiting), ['none', 'CANCELLED'])
      assert.deepEqual(codeOf(await change('3', { title: 'x' }, { acquireTimeoutMs: 20 })), ['none', 'OVERLOADED'])
      first.request('CANCELLED')
      await busy
      for (const id of ['1', '2', '3']) assert.equal(await title(db, id), 'title')
    })

    test('a cancel that comes after COMMIT was sent changes nothing: the answer tells what happened', async (t) => {
      const { db, change } = await ground(t)
      const cancellation = new Cancellation()
      const letGo = await hold(t, db, 'SELECT pg_advisory_xact_lock(1)')
      const changing = change('1', { title: 'x', at_end: UNTIL_LET_GO }, { cancellation })
      await eventually('it commits', async () => (await active(db, COMMITTING)).length === 1)
      cancellation.request('CANCELLED')
      await letGo()
      assert.deepEqual(codeOf(await changing), ['committed', 'written'])
      assert.equal(await title(db, '1'), 'x')
    })

    test('the effect is unknown exactly when COMMIT was sent and nobody answered', async (t) => {
      const { db, gate, change } = await ground(t)
      assert.deepEqual(codeOf(await change('1', { title: 'open' })), ['committed', 'written'])
      gate.mode = 'before'
      assert.deepEqual(codeOf(await change('2', { title: 'x' })), ['unknown', 'DB_EFFECT_UNKNOWN'])
      assert.equal(await title(db, '2'), 'title')
      gate.mode = 'after'
      assert.deepEqual(codeOf(await change('3', { title: 'x' })), ['unknown', 'DB_EFFECT_UNKNOWN'])
      assert.equal(await title(db, '3'), 'x')
      gate.mode = 'held'
      assert.deepEqual(codeOf(await change('4', { title: 'x' }, { timeoutMs: 2_000 })), [
        'unknown',
        'DB_EFFECT_UNKNOWN',
      ])
      assert.equal(await title(db, '4'), 'title')
      gate.mode = 'open'
      await noTransaction(db)
      assert.deepEqual(codeOf(await change('5', { title: 'x' })), ['committed', 'written'])
    })

    test('a session that is ended before COMMIT has changed nothing; one ended under it is never called unchanged', async (t) => {
      const { db, change } = await ground(t)
      const end = async (query: RegExp) => {
        await eventually('it waits', async () => (await active(db, query)).length === 1)
        const [session] = await active(db, query)
        await db.query('SELECT pg_terminate_backend($1)', [String(session?.pid)])
      }
      const writing = change('1', { title: 'x', at_once: FOREVER })
      await end(WRITING)
      assert.deepEqual(codeOf(await writing), ['none', 'CONNECTOR_UNAVAILABLE'])
      const committing = change('2', { title: 'x', at_end: FOREVER })
      await end(COMMITTING)
      assert.deepEqual(codeOf(await committing), ['unknown', 'DB_EFFECT_UNKNOWN'])
      for (const id of ['1', '2']) assert.equal(await title(db, id), 'title')
      assert.deepEqual(codeOf(await change('1', { title: 'x' })), ['committed', 'written'])
    })

    test('sessions ended at any moment leave the database as the answers say', async (t) => {
      const { db, change } = await ground(t)
      const ends: (readonly [string, string])[] = []
      let done = false
      const killer = (async () => {
        while (!done) {
          for (const { pid } of await db.sessions()) await db.query('SELECT pg_terminate_backend($1)', [String(pid)])
        }
      })()
      try {
        for (let id = 1; id <= 50; id++) ends.push([String(id), codeOf(await change(String(id), { title: 'x' }))[0]])
      } finally {
        done = true
        await killer
      }
      for (const [id, effect] of ends) {
        if (effect !== 'unknown') assert.equal(await title(db, id), effect === 'committed' ? 'x' : 'title', id)
      }
    })

    test('closing the driver ends what runs without a change, and what comes later is refused', async (t) => {
      const { db, driver, change } = await ground(t)
      const changing = change('1', { title: 'x', at_once: FOREVER })
      await eventually('it runs', async () => (await active(db, WRITING)).length === 1)
      await driver.close()
      assert.deepEqual(codeOf(await changing), ['none', 'CANCELLED'])
      assert.deepEqual(codeOf(await change('2', { title: 'x' })), ['none', 'CONNECTOR_UNAVAILABLE'])
      await eventually('no session is left', async () => (await db.sessions()).length === 0)
      assert.equal(await title(db, '1'), 'title')
    })

    test('connections of both uses are counted, and a connector that only reads has none to write with', async (t) => {
      const { db, driver, run, change } = await ground(t)
      await run('SELECT 1')
      assert.equal((await db.sessions()).length, 1)
      assert.deepEqual({ ...driver.connections }, { idle: 1, busy: 0 })
      await change('1', { title: 'x' })
      assert.deepEqual({ ...driver.connections }, { idle: 2, busy: 0 })
    })
  })
}
