import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Param, ResultColumn } from '../../src/core/statement.js'
import { type CallExecution, Cancellation, type CompiledCall, type ExecuteOptions } from '../../src/engines/engine.js'
import { testDriver } from '../support/driver.js'
import { SQLSERVER_TARGETS, statement } from '../support/sqlserver.js'

/** Each is a batch of its own: a routine must be the first of its batch. */
const SETUP = [
  'CREATE TABLE items (id int PRIMARY KEY, name varchar(20), secret varchar(20))',
  "INSERT INTO items VALUES (1, 'item 1', 'secret 1'), (2, 'item 2', 'secret 2'), (3, 'item 3', 'secret 3')",
  "CREATE TABLE notes (note varchar(40) CHECK (note <> 'refused'))",
  'CREATE FUNCTION twice(@n int) RETURNS int AS BEGIN RETURN @n * 2 END',
  `CREATE PROCEDURE listed @since int, @total int OUTPUT, @label varchar(40) OUTPUT AS BEGIN
     SELECT id, name, secret, CAST(8.3266 AS money) AS price FROM items WHERE id >= @since ORDER BY id;
     SELECT COUNT(*) AS secret FROM items;
     SELECT name FROM items WHERE id < 0;
     SET @total = 4 - @since; SET @label = CONCAT(@label, '!') END`,
  'CREATE PROCEDURE twins AS SELECT id, name AS id FROM items',
  'CREATE PROCEDURE quiet @note varchar(40) AS INSERT INTO notes VALUES (@note)',
  "CREATE PROCEDURE raise AS BEGIN INSERT INTO notes VALUES ('raised'); THROW 51000, '4711', 1 END",
  "CREATE PROCEDURE ends_and_writes AS BEGIN ROLLBACK; INSERT INTO notes VALUES ('broke out') END",
  "CREATE PROCEDURE commits AS BEGIN INSERT INTO notes VALUES ('kept'); COMMIT END",
  `CREATE PROCEDURE commits_and_goes_on AS BEGIN
     INSERT INTO notes VALUES ('half'); COMMIT; BEGIN TRANSACTION; RAISERROR('x', 16, 1) END`,
  "CREATE PROCEDURE left_open AS BEGIN BEGIN TRANSACTION; INSERT INTO notes VALUES ('open') END",
  "CREATE PROCEDURE commits_and_fails AS BEGIN INSERT INTO notes VALUES ('half'); COMMIT; THROW 51000, 'x', 1 END",
  `CREATE PROCEDURE breaks_out_and_fails AS BEGIN
     INSERT INTO notes VALUES ('undone'); SET IMPLICIT_TRANSACTIONS OFF; ROLLBACK;
     INSERT INTO notes VALUES ('out'); THROW 51000, 'x', 1 END`,
].join('\nGO\n')

const COLUMN: ResultColumn = {
  name: 'result',
  type: { logical: 'integer', native: 'int', equality: true, ordered: true },
}
const LISTED = `DECLARE @v1 int = @p1, @v2 int, @v3 varchar(40) = 'x'; EXEC listed @v1, @v2 OUTPUT, @v3 OUTPUT`

for (const target of SQLSERVER_TARGETS) {
  describe(`calls on the ${target.label} server`, () => {
    async function ground(t: TestContext) {
      const db = await (await target.start()).createDatabase(SETUP)
      const { driver, run } = testDriver(t, db.writer({ pool: { max: 1 } }))
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
      return { db, call, run, notes }
    }
    const seen = ({ outcome, effect }: CallExecution) =>
      outcome.ok ? { effect, ...outcome.value } : { effect, code: outcome.error.code }

    test('a function gives one row, and NULL is a value', async (t) => {
      const { call } = await ground(t)
      const twice = (value: string) =>
        call(`SELECT CONVERT(varchar(50), dbo.twice(CAST(@p1 AS int)))`, { params: [value], columns: [COLUMN] })
      assert.deepEqual(seen(await twice('21')), { effect: 'none', rows: [['42']] })
    })

    test('outputs are told from result sets, and of both only what is let through is given', async (t) => {
      const { call } = await ground(t)
      const listed = await call(`${LISTED}; SELECT @v3`, {
        params: ['2'],
        columns: [COLUMN],
        sets: { names: ['name', 'id', 'price'], cellCharsMax: 50 },
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
            ['price', 'decimal', undefined],
          ],
          rows: [
            ['2', 'item 2', '8.3266'],
            ['3', 'item 3', '8.3266'],
          ],
        },
        { columns: [['name', 'text', 50]], rows: [] },
      ])
      assert.deepEqual(seen(await call(LISTED, { params: ['2'] })), { effect: 'none', rows: [] })
    })

    test('two columns of one name that is let through give nothing out', async (t) => {
      const { call } = await ground(t)
      const sets = (names: readonly string[]) => call('EXEC twins', { sets: { names, cellCharsMax: 50 } })
      assert.deepEqual(seen(await sets(['id'])), { effect: 'none', code: 'DB_ERROR' })
      assert.deepEqual(seen(await sets(['other'])), { effect: 'none', rows: [], sets: [] })
    })

    test('what a routine that is declared to read writes is undone', async (t) => {
      const { call, notes } = await ground(t)
      assert.deepEqual(seen(await call("EXEC quiet 'x'")), { effect: 'none', rows: [] })
      assert.deepEqual(await notes(), [])
    })

    test('a routine that ends its transaction may have changed something, whatever it is declared to do', async (t) => {
      const { call, notes } = await ground(t)
      const unknown = { effect: 'unknown', code: 'DB_EFFECT_UNKNOWN' }
      assert.deepEqual(seen(await call('EXEC commits')), unknown)
      assert.deepEqual(await notes(), ['kept'])
      assert.deepEqual(seen(await call('EXEC commits', { effect: 'write', dryRun: true })), unknown)
      assert.deepEqual(seen(await call('EXEC commits_and_goes_on')), unknown)
      assert.deepEqual(seen(await call('EXEC commits_and_goes_on', { effect: 'write' })), unknown)
      assert.deepEqual(seen(await call('EXEC ends_and_writes')), unknown)
      assert.deepEqual(seen(await call('EXEC ends_and_writes', { effect: 'write' })), unknown)
      assert.deepEqual(await notes(), ['kept', 'kept', 'half', 'half'])
    })

    test('a procedure that writes is committed, refused or only tried', async (t) => {
      const { call, notes } = await ground(t)
      const quiet = (note: string, dryRun = false) => call(`EXEC quiet '${note}'`, { effect: 'write', dryRun })
      assert.deepEqual(seen(await quiet('dry', true)), { effect: 'none', rows: [] })
      assert.deepEqual(seen(await quiet('a')), { effect: 'committed', rows: [] })
      assert.deepEqual(seen(await quiet('refused')), { effect: 'none', code: 'DB_CONSTRAINT' })
      assert.deepEqual(seen(await call('EXEC raise', { effect: 'write' })), { effect: 'none', code: 'DB_CONSTRAINT' })
      assert.deepEqual(await notes(), ['a'])
    })

    test('a procedure that ends its transaction otherwise than by its end changes nothing, or nobody knows', async (t) => {
      const { call, notes } = await ground(t)
      assert.equal(seen(await call('EXEC left_open', { effect: 'write' })).effect, 'none')
      assert.deepEqual(await notes(), [])
      const unknown = { effect: 'unknown', code: 'DB_EFFECT_UNKNOWN' }
      assert.deepEqual(seen(await call('EXEC commits_and_fails', { effect: 'write' })), unknown)
      assert.deepEqual(await notes(), ['half'])
      assert.deepEqual(seen(await call('EXEC breaks_out_and_fails', { effect: 'write' })), unknown)
      assert.deepEqual(seen(await call('EXEC breaks_out_and_fails')), unknown)
      assert.deepEqual(await notes(), ['half', 'out', 'out'])
    })
  })
}
