import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { ResultColumn } from '../../src/core/statement.js'
import { Cancellation, type ExecuteOptions, type WriteExecution } from '../../src/engines/engine.js'
import { testDriver } from '../support/driver.js'
import { eventually, SQLSERVER_TARGETS, statement, type TestDatabase } from '../support/sqlserver.js'

const SETUP = [
  "CREATE TABLE docs (id int PRIMARY KEY, title varchar(20) CHECK (title <> 'refused'))",
  "INSERT INTO docs VALUES (1, 'title'), (2, 'title'), (3, 'title'), (4, 'title'), (5, 'title')",
  'CREATE TABLE told (id int)',
  'CREATE TRIGGER docs_told ON docs AFTER UPDATE AS BEGIN INSERT INTO told SELECT id FROM inserted END',
  'CREATE TABLE ca (id int PRIMARY KEY, a int)',
  'CREATE TABLE cb (aid int REFERENCES ca ON UPDATE CASCADE, secret varchar(20))',
  "INSERT INTO ca VALUES (7, 1); INSERT INTO cb VALUES (7, 'of another'), (7, 'table')",
  "CREATE TRIGGER cb_shows ON cb AFTER UPDATE AS BEGIN SELECT '77' AS x, secret AS y, 't' AS z FROM cb END",
  'CREATE TABLE ends (id int PRIMARY KEY); INSERT INTO ends VALUES (1)',
  'CREATE TRIGGER ends_it ON ends AFTER UPDATE AS BEGIN COMMIT; BEGIN TRANSACTION END',
].join('\nGO\n')

const ID: ResultColumn = { name: 'id', type: { logical: 'integer', native: 'int', equality: true, ordered: true } }
const TOLD: ResultColumn = { name: 'told', type: { logical: 'text', native: 'x', equality: true, ordered: true } }

/** What writes, and reads back behind that. */
const written = (...parts: Parameters<typeof statement>) => ({ ...statement(...parts), marked: 'counted' as const })

/** Longer than any test waits. */
const SLOW = '(SELECT COUNT_BIG(*) FROM sys.all_columns a, sys.all_columns b, sys.all_columns c, sys.all_columns d)'

function codeOf({ outcome, effect }: WriteExecution): readonly [string, string] {
  return [effect, outcome.ok ? outcome.value.kind : outcome.error.code]
}

const title = async (db: TestDatabase, id: string) =>
  (await db.query('SELECT title FROM docs WHERE id = CAST(@p1 AS int)', [id]))[0]?.[0]

for (const target of SQLSERVER_TARGETS) {
  describe(`how mutations end on the ${target.label} server`, () => {
    async function ground(t: TestContext) {
      const db = await (await target.start()).createDatabase(SETUP)
      const tested = testDriver(t, db.writer({ pool: { max: 1 } }))
      const change = (
        id: string,
        to: string,
        {
          dryRun = false,
          slow = false,
          ...options
        }: Partial<ExecuteOptions> & {
          readonly dryRun?: boolean
          readonly slow?: boolean
        } = {},
      ) =>
        tested.driver.mutate(
          {
            lock: statement("SELECT 't', 'f', id FROM docs WITH (UPDLOCK) WHERE id = CAST(@p1 AS int)", [id]),
            write: written(
              `UPDATE docs SET title = CAST(@p1 AS varchar(99)) WHERE id = CAST(@p2 AS int)${slow ? ` AND ${SLOW} > 0` : ''};
               SELECT @mark, @@ROWCOUNT, id, 't' FROM docs WHERE id = CAST(@p2 AS int)`,
              [to, id],
              [ID],
            ),
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
      return { db, ...tested, change }
    }

    test('a change is written, refused or only tried, and the trigger is not counted', async (t) => {
      const { db, change } = await ground(t)
      const first = await change('1', 'a')
      assert.deepEqual(first.outcome.ok && first.outcome.value, { kind: 'written', rows: [['1']], affected: 1 })
      assert.deepEqual(codeOf(await change('99', 'a')), ['none', 'not_found'])
      assert.deepEqual(codeOf(await change('2', 'b', { dryRun: true })), ['none', 'written'])
      assert.deepEqual(codeOf(await change('2', 'refused')), ['none', 'DB_CONSTRAINT'])
      assert.deepEqual([await title(db, '1'), await title(db, '2')], ['a', 'title'])
      assert.deepEqual(await db.query('SELECT id FROM told'), [['1']])
    })

    test('a mutation past its time or cancelled changes nothing, and its connection is not used again', async (t) => {
      const { db, change } = await ground(t)
      assert.deepEqual(codeOf(await change('1', 'x', { slow: true, timeoutMs: 200 })), ['none', 'TIMEOUT'])
      const cancellation = new Cancellation()
      const changing = change('2', 'x', { slow: true, cancellation })
      cancellation.request('CANCELLED')
      assert.deepEqual(codeOf(await changing), ['none', 'CANCELLED'])
      await eventually('nothing runs on', async () => (await db.sessions()).every(({ state }) => state !== 'active'))
      for (const id of ['1', '2']) assert.equal(await title(db, id), 'title')
      assert.deepEqual(codeOf(await change('1', 'y')), ['committed', 'written'])
    })

    test('a caller is told to the database within its transaction, and to no later one', async (t) => {
      const { driver } = await ground(t)
      const asked = (context?: ExecuteOptions['context']) =>
        driver.mutate(
          {
            write: written(
              `UPDATE docs SET title = title WHERE id = 3;
               SELECT @mark, @@ROWCOUNT, CONVERT(nvarchar(99), SESSION_CONTEXT(N'runku.identity')), 't' FROM docs WHERE id = 3`,
              [],
              [TOLD],
            ),
            maxAffectedRows: 1,
            dryRun: false,
          },
          {
            timeoutMs: 20_000,
            acquireTimeoutMs: 20_000,
            bytesMax: 1_000,
            cancellation: new Cancellation(),
            ...(context === undefined ? {} : { context }),
          },
        )
      for (const identity of ['first', 'second']) {
        const { outcome } = await asked({ identity, roles: '[]', claims: '{}' })
        assert.deepEqual(outcome.ok && outcome.value.kind === 'written' && outcome.value.rows, [[identity]])
        const { outcome: next } = await asked()
        assert.deepEqual(next.ok && next.value.kind === 'written' && next.value.rows, [[null]])
      }
    })

    test('what a trigger returns is never taken for the row that was written', async (t) => {
      const { db, driver } = await ground(t)
      const options = { timeoutMs: 20_000, acquireTimeoutMs: 20_000, bytesMax: 10_000 }
      const write = statement(
        "UPDATE t SET id = 8 OUTPUT @mark, inserted.id, 't' FROM ca AS t WHERE t.id = 7",
        [],
        [ID],
      )
      const { outcome } = await driver.mutate(
        { write: { ...write, marked: 'rows' }, maxAffectedRows: 1, dryRun: false },
        { ...options, cancellation: new Cancellation() },
      )
      assert.deepEqual(outcome.ok && outcome.value, { kind: 'written', rows: [['8']], affected: 1 })
      assert.deepEqual(await db.query('SELECT aid FROM cb'), [['8'], ['8']])
    })

    test('a dry run whose trigger committed is no dry run', async (t) => {
      // What merely speaks the protocol need not survive the end of a transaction within a trigger.
      if (!(await target.start()).genuine) return
      const { driver } = await ground(t)
      const write = written(
        "UPDATE ends SET id = 2 WHERE id = 1; SELECT @mark, @@ROWCOUNT, id, 't' FROM ends WHERE id = 2",
        [],
        [ID],
      )
      const options = { timeoutMs: 20_000, acquireTimeoutMs: 20_000, bytesMax: 10_000 }
      const end = await driver.mutate(
        { write, maxAffectedRows: 1, dryRun: true },
        { ...options, cancellation: new Cancellation() },
      )
      assert.deepEqual(codeOf(end), ['unknown', 'DB_EFFECT_UNKNOWN'])
    })

    test('closing the driver refuses what comes later, and leaves no session', async (t) => {
      const { db, driver, change } = await ground(t)
      assert.deepEqual(codeOf(await change('1', 'x')), ['committed', 'written'])
      assert.deepEqual({ ...driver.connections }, { idle: 1, busy: 0 })
      await driver.close()
      assert.deepEqual(codeOf(await change('2', 'x')), ['none', 'CONNECTOR_UNAVAILABLE'])
      await eventually('no session is left', async () => (await db.sessions()).length === 0)
    })
  })
}
