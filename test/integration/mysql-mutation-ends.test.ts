import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createConnection } from 'mysql2/promise'
import {
  Cancellation,
  type CompiledMutation,
  type ExecuteOptions,
  type WriteExecution,
} from '../../src/engines/engine.js'
import { commitGate } from '../support/commit-gate.js'
import { testDriver } from '../support/driver.js'
import { eventually, MYSQL_TARGETS, statement, type TestDatabase } from '../support/mariadb.js'

const SETUP = `
CREATE TABLE docs (id int PRIMARY KEY, title varchar(20), wait double NOT NULL DEFAULT 0);
INSERT INTO docs (id, title) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 50)
  SELECT i, 'title' FROM n;
CREATE TABLE flat (note varchar(20)) ENGINE=MyISAM;
CREATE TRIGGER docs_wait BEFORE UPDATE ON docs FOR EACH ROW BEGIN
  DECLARE waited int; SELECT SLEEP(NEW.wait) INTO waited;
  IF NEW.title = 'flat' THEN INSERT INTO flat VALUES ('kept'); END IF;
  SET @left = 'by a trigger';
END;
`
const FOREVER = '600'

function codeOf({ outcome, effect }: WriteExecution): readonly [string, string] {
  return [effect, outcome.ok ? outcome.value.kind : outcome.error.code]
}

const title = async (db: TestDatabase, id: string) =>
  (await db.query('SELECT title FROM docs WHERE id = ?', [id]))[0]?.[0]
const active = async (db: TestDatabase, query: RegExp) =>
  (await db.sessions()).filter((session) => query.test(session.query))
const nothingRuns = (db: TestDatabase) =>
  eventually('nothing runs on', async () => (await db.sessions()).every(({ query }) => query === ''))

for (const target of MYSQL_TARGETS) {
  describe(`how mutations end on the ${target.label} server`, () => {
    async function ground(t: TestContext) {
      const db = await (await target.start()).createDatabase(SETUP)
      const gate = await commitGate((await target.start()).address.port)
      t.after(() => gate.stop())
      const tested = testDriver(t, db.writer({ connection: { port: gate.port }, pool: { max: 1 } }))
      const change = (
        id: string,
        values: { readonly title: string; readonly wait?: string },
        options: Partial<ExecuteOptions> = {},
        dryRun = false,
      ) =>
        tested.driver.mutate(
          {
            lock: statement("SELECT 't', 'f', id FROM docs WHERE id = ? FOR UPDATE", [id]),
            write: statement('UPDATE docs SET title = ?, wait = ? WHERE id = ?', [
              values.title,
              values.wait ?? '0',
              id,
            ]),
            readBack: statement("SELECT id, @left, 't' FROM docs WHERE id = ?", [id]),
            maxAffectedRows: 1,
            dryRun,
          },
          {
            timeoutMs: 20_000,
            acquireTimeoutMs: 20_000,
            bytesMax: 1_000_000,
            cancellation: new Cancellation(),
            ...options,
          },
        )
      return { db, gate, ...tested, change }
    }

    /** Holds the row in a transaction of its own until it is let go. */
    async function hold(t: TestContext, db: TestDatabase, id: string): Promise<() => Promise<void>> {
      const { host, port, user, password, database } = db.superuser().connection
      const client = await createConnection({ host, port, user, password: password ?? '', database })
      client.on('error', () => {})
      t.after(() => client.end())
      await client.query('START TRANSACTION')
      await client.query('SELECT id FROM docs WHERE id = ? FOR UPDATE', [id])
      return async () => {
        await client.query('ROLLBACK')
      }
    }

    test('a change is written, found equal, refused or only tried, and leaves nothing on its session', async (t) => {
      const { db, driver, change } = await ground(t)
      const first = await change('1', { title: 'a' })
      assert.deepEqual(first.outcome.ok && first.outcome.value, {
        kind: 'written',
        rows: [['1', 'by a trigger']],
        affected: 1,
      })
      // Rows count that were matched, whether or not they differ now.
      assert.deepEqual(codeOf(await change('1', { title: 'a' })), ['committed', 'written'])
      assert.deepEqual(codeOf(await change('99', { title: 'a' })), ['none', 'not_found'])
      assert.deepEqual(codeOf(await change('2', { title: 'b' }, {}, true)), ['none', 'written'])
      assert.deepEqual(codeOf(await change('2', { title: 'x'.repeat(30) })), ['none', 'DB_VALUE'])
      assert.equal(await title(db, '2'), 'title')
      const seen = await driver.mutate(
        {
          write: statement('UPDATE docs SET wait = 0 WHERE id = 3 AND @left IS NULL', []),
          readBack: statement("SELECT id, 't' FROM docs WHERE id = 3", []),
          maxAffectedRows: 1,
          dryRun: false,
        },
        { timeoutMs: 20_000, acquireTimeoutMs: 20_000, bytesMax: 1_000, cancellation: new Cancellation() },
      )
      assert.deepEqual(codeOf(seen), ['committed', 'written'])
      assert.equal((await db.sessions()).length, 1)
    })

    test('a mutation past its time changes nothing, wherever it waited, and its connection is not used again', async (t) => {
      const { db, change } = await ground(t)
      const letGo = await hold(t, db, '1')
      assert.deepEqual(codeOf(await change('1', { title: 'x' }, { timeoutMs: 100 })), ['none', 'TIMEOUT'])
      await letGo()
      const slow = await change('2', { title: 'x', wait: FOREVER }, { timeoutMs: 100 })
      assert.deepEqual(codeOf(slow), ['none', 'TIMEOUT'])
      await nothingRuns(db)
      for (const id of ['1', '2']) assert.equal(await title(db, id), 'title')
      assert.deepEqual(codeOf(await change('1', { title: 'y' })), ['committed', 'written'])
    })

    test('the time of a mutation is for all of its statements together', async (t) => {
      const { db, change } = await ground(t)
      /** How much longer it took than it would have with that time anew for its second statement: less than 0 where it has not. */
      const beyondMs = async () => {
        const letGo = await hold(t, db, '1')
        const startMs = performance.now()
        const changing = change('1', { title: 'x', wait: FOREVER }, { timeoutMs: 2_000 })
        await eventually('it waits for the lock', async () => (await active(db, /FOR UPDATE/)).length === 1)
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
      await nothingRuns(db)
      assert.equal(await title(db, '1'), 'title')
    })

    test('a number that has come to be text refuses the change, wherever it is read', async (t) => {
      const { db, driver } = await ground(t)
      const type = { logical: 'integer', native: 'int', equality: true, ordered: true } as const
      const columns = ['a', 'b', 'c'].map((name) => ({ name, type }))
      const whole = columns.slice(0, 1)
      const lock = statement("SELECT 't', 'f', id FROM docs WHERE id = 1 FOR UPDATE", [])
      const parts = {
        write: statement("UPDATE docs SET title = 'x' WHERE id = 1", []),
        maxAffectedRows: 1,
        dryRun: false,
      }
      const options = { timeoutMs: 20_000, acquireTimeoutMs: 20_000, bytesMax: 1_000 }
      const mutate = (reads: Partial<CompiledMutation>) =>
        driver.mutate({ ...parts, ...reads }, { ...options, cancellation: new Cancellation() })
      const locks = statement('SELECT 1, 1, title FROM docs WHERE id = 1 FOR UPDATE', [], columns)
      assert.deepEqual(codeOf(await mutate({ lock: locks })), ['none', 'SCHEMA_CHANGED'])
      const readBack = statement('SELECT title FROM docs WHERE id = 1', [], whole)
      assert.deepEqual(codeOf(await mutate({ lock, readBack })), ['none', 'SCHEMA_CHANGED'])
      assert.equal(await title(db, '1'), 'title')
    })

    test('a cancelled mutation changes nothing and leaves no session', async (t) => {
      const { db, change } = await ground(t)
      await hold(t, db, '1')
      const cancellation = new Cancellation()
      const changing = change('1', { title: 'x' }, { cancellation })
      await eventually('it waits', async () => (await active(db, /FOR UPDATE/)).length === 1)
      cancellation.request('CANCELLED')
      assert.deepEqual(codeOf(await changing), ['none', 'CANCELLED'])
      // The one that holds the row.
      await eventually('no session of it remains', async () => (await db.sessions()).length === 1)
      assert.equal(await title(db, '1'), 'title')
    })

    test('a deadlock is a conflict that changed nothing, and the session serves on', async (t) => {
      const { db, driver, cell, change } = await ground(t)
      const { host, port, user, password, database } = db.superuser().connection
      const other = await createConnection({ host, port, user, password: password ?? '', database })
      other.on('error', () => {})
      t.after(() => other.end())
      await other.query('START TRANSACTION')
      // The one that has changed less is the victim.
      await other.query("UPDATE docs SET title = 'other' WHERE id BETWEEN 5 AND 40")
      const changing = driver.mutate(
        {
          lock: statement("SELECT 't', 'f', id FROM docs WHERE id = 4 FOR UPDATE"),
          write: statement("UPDATE docs SET title = 'x' WHERE id = 5"),
          maxAffectedRows: 1,
          dryRun: false,
        },
        { timeoutMs: 20_000, acquireTimeoutMs: 20_000, bytesMax: 1_000, cancellation: new Cancellation() },
      )
      await eventually('it waits', async () => (await active(db, /^UPDATE docs/)).length === 1)
      await other.query('SELECT id FROM docs WHERE id = 4 FOR UPDATE')
      assert.deepEqual(codeOf(await changing), ['none', 'DB_CONFLICT'])
      await other.query('ROLLBACK')
      assert.equal(await title(db, '5'), 'title')
      assert.deepEqual(codeOf(await change('4', { title: 'second' })), ['committed', 'written'])
      assert.equal(await cell('SELECT 1'), '1')
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
      gate.mode = 'open'
      await nothingRuns(db)
      assert.equal(await title(db, '4'), 'title')
      assert.deepEqual(codeOf(await change('5', { title: 'x' })), ['committed', 'written'])
    })

    test('a change that a table without transactions keeps is not called undone', async (t) => {
      const { db, change } = await ground(t)
      assert.deepEqual(codeOf(await change('1', { title: 'flat' }, {}, true)), ['unknown', 'DB_EFFECT_UNKNOWN'])
      assert.deepEqual(await db.query('SELECT note FROM flat'), [['kept']])
      assert.equal(await title(db, '1'), 'title')
    })

    test('sessions ended at any moment leave the database as the answers say', async (t) => {
      const { db, change } = await ground(t)
      const ends: (readonly [string, string])[] = []
      let done = false
      const killer = (async () => {
        while (!done) {
          for (const { pid } of await db.sessions()) await db.query(`KILL CONNECTION ${pid}`).catch(() => [])
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
      await hold(t, db, '1')
      const changing = change('1', { title: 'x' })
      await eventually('it runs', async () => (await active(db, /FOR UPDATE/)).length === 1)
      await driver.close()
      assert.deepEqual(codeOf(await changing), ['none', 'CANCELLED'])
      assert.deepEqual(codeOf(await change('2', { title: 'x' })), ['none', 'CONNECTOR_UNAVAILABLE'])
      // The one that holds the row.
      await eventually('no session of it is left', async () => (await db.sessions()).length === 1)
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
