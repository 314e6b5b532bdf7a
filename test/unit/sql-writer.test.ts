import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchPlan, ValidatedPlan } from '../../src/core/plan.js'
import { catalogName, type Identifier } from '../../src/core/schema-model.js'
import type { CompiledStatement } from '../../src/core/statement.js'
import { type SqlStyle, SqlWriter } from '../../src/engines/sql/sql-writer.js'
import { searchPlan } from '../support/plans.js'
import { CUSTOMERS } from '../support/schema.js'

const DOUBLE: SqlStyle = { quoting: 'double', placeholders: 'dollar', paramsMax: 3 }
const BACKTICK: SqlStyle = { quoting: 'backtick', placeholders: 'question', paramsMax: 3 }
const BRACKET: SqlStyle = { quoting: 'bracket', placeholders: 'at', paramsMax: 3 }

function textOf(style: SqlStyle, write: (w: SqlWriter) => void): string {
  const w = new SqlWriter(style)
  write(w)
  return w.finish([]).text
}

test('text that is not a literal of the source code does not type-check', () => {
  const w = new SqlWriter(DOUBLE)
  const runTime: string = ['id', 'name'].join(', ')
  const hole = `SELECT ${runTime}` as const
  // @ts-expect-error a run-time string
  w.keyword(runTime)
  // @ts-expect-error a template literal with a hole
  w.keyword(`SELECT ${runTime}`)
  // @ts-expect-error the type of a template literal with a hole
  w.keyword(hole)
  // @ts-expect-error a concatenation
  w.keyword(runTime + runTime)
  // @ts-expect-error a literal or a run-time string
  w.keyword(runTime === '' ? 'SELECT' : runTime)
  // @ts-expect-error a literal or a template literal with a hole
  w.keyword(runTime === '' ? 'SELECT' : hole)
  // @ts-expect-error the type argument given by hand
  w.keyword<string>(runTime)
  // @ts-expect-error a separator is text as well
  w.list([1], runTime, () => {})
  w.keyword('SELECT ').keyword(runTime === '' ? 'a' : 'b')
})

test('a name that did not come out of a catalog does not type-check', () => {
  const w = new SqlWriter(DOUBLE)
  // @ts-expect-error a run-time string is no identifier
  w.identifier('id')
  // @ts-expect-error neither is a template literal made from one
  w.identifier(`${catalogName('id')}x`)
  // @ts-expect-error nor a table named by strings
  w.table({ schema: 'public', name: 'customers' })
  w.identifier(catalogName('id'))
})

test('nothing but the writer makes a compiled statement, and nothing but the policy a validated plan', () => {
  const parts = { text: 'SELECT 1', params: [], columns: [] }
  // @ts-expect-error a plain object is no compiled statement
  const statement: CompiledStatement = parts
  const plan: SearchPlan = searchPlan(CUSTOMERS, { columns: ['id'] })
  // @ts-expect-error a plan is no validated plan
  const validated: ValidatedPlan = plan
  const limits = { rowCap: 1, pageSize: 1, queryTimeoutMs: 1, responseCharsMax: 1, cellCharsMax: 1 }
  // @ts-expect-error neither is an object with every visible member of one
  const forged: ValidatedPlan = { plan, table: CUSTOMERS, visible: new Map(), scope: { all: [] }, limits }
  assert.ok(statement && validated && forged)
})

test('each quoting style doubles its own closing quote and nothing else', () => {
  const name = catalogName('a"b`c]d[e.f')
  const table = { schema: catalogName('s'), name }
  assert.equal(
    textOf(DOUBLE, (w) => w.table(table)),
    '"s"."a""b`c]d[e.f"',
  )
  assert.equal(
    textOf(BACKTICK, (w) => w.table(table)),
    '`s`.`a"b``c]d[e.f`',
  )
  assert.equal(
    textOf(BRACKET, (w) => w.table(table)),
    '[s].[a"b`c]]d[e.f]',
  )
})

test('placeholders are numbered in the order of the text', () => {
  const write = (w: SqlWriter) => w.param('x').keyword(', ').param(['y', 'z']).keyword(', ').param(null)
  assert.equal(textOf(DOUBLE, write), '$1, $2, $3')
  assert.equal(textOf(BACKTICK, write), '?, ?, ?')
  assert.equal(textOf(BRACKET, write), '@p1, @p2, @p3')
  const w = new SqlWriter(DOUBLE)
  write(w)
  assert.deepEqual(w.finish([]).params, ['x', ['y', 'z'], null])
})

test('a statement of more parameters than its engine takes says so, and a bug is it never', () => {
  const full = new SqlWriter(DOUBLE).param('1').param('2').param('3')
  assert.equal(full.finish([]).tooLarge, undefined)
  const w = new SqlWriter(DOUBLE).param('1').param('2').param('3').param('4')
  assert.match(w.finish([]).tooLarge ?? '', /takes 3 in one statement/)
})

test('a parameter stands in several places where placeholders are numbered, and nowhere else', () => {
  assert.equal(
    textOf(BRACKET, (w) => w.param('x').keyword(' = ').again()),
    '@p1 = @p1',
  )
  assert.throws(() => new SqlWriter(BRACKET).again(), /stands before/)
  assert.throws(() => new SqlWriter(BACKTICK).param('x').again(), /number/)
})

test('a name with a NUL, which would end the statement early, and an empty name are never written', () => {
  const w = new SqlWriter(DOUBLE)
  assert.throws(() => w.identifier(catalogName('a\0b')), /NUL/)
  assert.throws(() => w.identifier('' as Identifier), /empty/)
})

test('a value with a NUL stays out of the text', () => {
  assert.equal(
    textOf(DOUBLE, (w) => w.param('a\0b')),
    '$1',
  )
})

test('a number in the text is whole and not negative', () => {
  assert.equal(
    textOf(DOUBLE, (w) => w.wholeNumber(4001)),
    '4001',
  )
  for (const value of [-1, 1.5, Number.NaN, 1e21, Number.POSITIVE_INFINITY]) {
    assert.throws(() => new SqlWriter(DOUBLE).wholeNumber(value), /whole/)
  }
})
