import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { PlanValue } from '../../src/core/plan.js'
import { coerceWrite } from '../../src/core/value.js'
import { mysqlDialect } from '../../src/engines/mysql/dialect.js'
import { tableNamed, testDriver } from '../support/driver.js'
import { MYSQL_TARGETS } from '../support/mariadb.js'
import { filter, searchPlan, validatedMutation, validatedPlan } from '../support/plans.js'

const ZERO_DATES = `
SET sql_mode = '';
CREATE TABLE days (id int PRIMARY KEY, d date NOT NULL, dt datetime(3) NOT NULL, ts timestamp NOT NULL DEFAULT 0,
  nd date, ndt datetime, KEY (nd), KEY (ndt));
INSERT INTO days VALUES (1, '0000-00-00', '0000-00-00', '0000-00-00', '0000-00-00', '0000-00-00'),
  (2, '2024-05-31', '2024-05-31', '2024-05-31', NULL, NULL),
  (3, '2024-05-31', '2024-05-31', '2024-05-31', '2024-05-31', '2024-05-31');
CREATE VIEW seen_days AS SELECT * FROM days;
`

for (const target of MYSQL_TARGETS) {
  describe(`values that the ${target.label} server would take for others`, () => {
    async function ground(t: TestContext, setup: string) {
      const db = await (await target.start()).createDatabase(setup)
      const driver = testDriver(t, db.writer())
      const schema = await driver.schema()
      return { ...driver, table: (name: string) => tableNamed(schema, name) }
    }

    test('a zero date is a date and no NULL, whether or not its column can be NULL, in a view too', async (t) => {
      const { run, table } = await ground(t, ZERO_DATES)
      const ids = async (name: string, column: string, op: 'is_null' | 'not_null') => {
        const plan = searchPlan(table(name), { columns: ['id'], filters: [filter(column, op)] })
        const { text, params } = mysqlDialect.compile(validatedPlan(table(name), plan))
        const outcome = await run(text, params)
        assert.ok(outcome.ok, JSON.stringify(outcome))
        return outcome.value.rows.map(([id]) => id).sort()
      }
      for (const name of ['days', 'seen_days']) {
        for (const column of ['d', 'dt', 'ts']) {
          assert.deepEqual(await ids(name, column, 'is_null'), [], `${name}.${column}`)
          assert.deepEqual(await ids(name, column, 'not_null'), ['1', '2', '3'], `${name}.${column}`)
        }
        for (const column of ['nd', 'ndt']) {
          assert.deepEqual(await ids(name, column, 'is_null'), ['2'], `${name}.${column}`)
          assert.deepEqual(await ids(name, column, 'not_null'), ['1', '3'], `${name}.${column}`)
        }
      }
    })

    test('a search for no date looks in the index', async (t) => {
      const many = `INSERT INTO days SELECT 10 + n, '2024-01-01', '2024-01-01', '2024-01-01', '2024-01-01', '2024-01-01'
        FROM (WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 500) SELECT n FROM c) AS numbers;
        ANALYZE TABLE days;`
      const { run, table } = await ground(t, ZERO_DATES + many)
      const plan = searchPlan(table('days'), { columns: ['id'], filters: [filter('nd', 'is_null')] })
      const { text, params } = mysqlDialect.compile(validatedPlan(table('days'), plan))
      const explained = await run(`EXPLAIN ${text}`, params)
      assert.ok(explained.ok, JSON.stringify(explained))
      assert.ok(explained.value.rows[0]?.includes('nd'), JSON.stringify(explained.value.rows))
    })

    test('zero dates are sorted as dates, before the others, and NULL comes last', async (t) => {
      const { run, table } = await ground(t, ZERO_DATES)
      for (const column of ['nd', 'ndt']) {
        const plan = searchPlan(table('days'), { columns: ['id'], order: [column] })
        const { text, params } = mysqlDialect.compile(validatedPlan(table('days'), plan))
        const outcome = await run(text, params)
        assert.deepEqual(outcome.ok && outcome.value.rows, [['1'], ['3'], ['2']])
      }
    })

    test('what is expected of a text is its bytes, so that no change of another caller is lost', async (t) => {
      const { mutate, table, cell } = await ground(
        t,
        `CREATE TABLE orders (id int PRIMARY KEY, state varchar(20) COLLATE utf8mb4_general_ci, total decimal(8,2));
         INSERT INTO orders VALUES (1, 'Paid', 1)`,
      )
      const change = async (expected: Readonly<Record<string, PlanValue>>) => {
        const parts = { key: { id: '1' }, values: { state: 'shipped' }, expected, returning: ['state'] }
        const { outcome } = await mutate(validatedMutation(table('orders'), 'update', parts))
        return outcome.ok ? outcome.value.kind : outcome.error.code
      }
      for (const state of ['paid', 'Paid ', 'Páid']) assert.equal(await change({ state }), 'expected_failed', state)
      assert.equal(await cell('SELECT state FROM orders'), 'Paid')
      assert.equal(await change({ state: 'Paid', total: '1.0' }), 'written')
    })

    test('members of a set and labels are never given by their number', async (t) => {
      const { mutate, table, cell } = await ground(
        t,
        `CREATE TABLE tags (id int PRIMARY KEY, s set('y','x','3'), faces enum('ok','😀'))`,
      )
      const { columns } = table('tags')
      const typeOf = (name: string) => {
        const column = columns.find((each) => each.name === name)
        assert.ok(column)
        return column.type
      }
      for (const text of ['1', '0', 'x,x', 'X']) assert.equal(coerceWrite(typeOf('s'), text).ok, false, text)
      for (const text of ['1', ' 2']) assert.equal(coerceWrite(typeOf('faces'), text).ok, false, text)
      const s = coerceWrite(typeOf('s'), '3,x,y')
      const faces = coerceWrite(typeOf('faces'), '😀')
      assert.ok(s.ok && faces.ok)
      const values = { id: '1', s: s.value, faces: faces.value }
      const { outcome } = await mutate(validatedMutation(table('tags'), 'create', { values, returning: ['id'] }))
      assert.ok(outcome.ok, JSON.stringify(outcome))
      assert.equal(await cell('SELECT s FROM tags'), s.value)
      assert.equal(await cell('SELECT faces FROM tags'), '😀')
    })

    test('the server itself stops reading where a geometry ends, so that the gateway does not', async (t) => {
      const { cell, table } = await ground(t, 'CREATE TABLE places (id int PRIMARY KEY, at_point point)')
      const type = table('places').columns[1]?.type
      assert.ok(type)
      if ((await target.start()).product === 'mariadb') {
        assert.equal(await cell("SELECT ST_AsText(ST_GeomFromText('POINT(1 2) trailing'))"), 'POINT(1 2)')
      }
      assert.equal(coerceWrite(type, 'POINT(1 2) trailing').ok, false)
    })
  })
}
