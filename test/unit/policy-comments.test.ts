import assert from 'node:assert/strict'
import test from 'node:test'
import { COMMENT_CHARS_MAX } from '../../src/core/limits.js'
import { caller, engineOf, schemaOf, tableOf } from '../support/policy-schema.js'

const columns = { id: 'integer', name: 'text', ssn: 'text', 'tax no': 'text' } as const

/** What a caller who may not see `ssn` and `tax no` is shown of a comment on `people.name`. */
function shownColumn(comment: string, mask = '[ssn, "tax no"]'): string | undefined {
  const schema = schemaOf(
    tableOf('public', 'people', { columns, key: ['id'], comments: { name: comment } }),
    tableOf('public', 'payroll', { columns: { id: 'integer', salary: 'decimal', 'pay grade': 'text' } }),
    tableOf('public', 'cities', { columns: { id: 'integer', zip: 'text', mayor: 'text' } }),
    tableOf('hr', 'odd table', { columns: { secret: 'text' } }),
  )
  const engine = engineOf(
    `version: 1
tables: { public.people: { mask: ${mask} }, public.cities: }
roles: { a: { read: ['*'], mask: { public.cities: [mayor] } } }`,
    schema,
  )
  return engine
    .rights(caller(['a']))
    .byToolBase.get('people')
    ?.columns.search.get('name')?.comment
}

test('a comment is shown cleaned and capped', () => {
  assert.equal(shownColumn('Full\u200b \u202ename\n of  the person'), 'Full name of the person')
  assert.equal([...(shownColumn('x'.repeat(COMMENT_CHARS_MAX + 50)) ?? '')].length, COMMENT_CHARS_MAX)
  assert.equal(shownColumn('\u200b \n'), undefined)
})

test('a comment that names a hidden column of its table as a whole word is withheld, in any case', () => {
  for (const text of [
    'not the SSN',
    'ssn',
    '(ssn)',
    'see people.ssn',
    'see "ssn".',
    'a🔒ssn',
    'has a Tax No beside it',
  ]) {
    assert.equal(shownColumn(text), undefined, text)
  }
})

test('a hidden name is found through invisible characters, other widths and beyond the cap', () => {
  assert.equal(shownColumn('not the s\u200bsn'), undefined)
  assert.equal(shownColumn('not the ｓｓｎ'), undefined)
  assert.equal(shownColumn(`${'x '.repeat(COMMENT_CHARS_MAX)} ssn`), undefined)
})

test('a comment that names visible columns, or a hidden name within another word, is shown', () => {
  for (const text of ['name and id', 'assnames', 'ssn_old', 'ssn2', 'tax number']) assert.equal(shownColumn(text), text)
})

test('a comment that names a hidden column of another table as table.column is withheld', () => {
  const hidden = [
    'see payroll.salary',
    'see public.payroll.SALARY!',
    'see "payroll"."salary"',
    'see [payroll].[pay grade].',
    'see cities.mayor',
    'see odd table.secret',
    'see `odd table`.`secret`',
  ]
  for (const text of hidden) assert.equal(shownColumn(text), undefined, text)
})

test('another table’s hidden column alone, or a visible one with its table, is shown', () => {
  for (const text of [
    'the salary',
    'payroll',
    'see cities.zip',
    'see cities.mayors',
    'mycities.mayor',
    'e.g. this',
    'a.b',
  ]) {
    assert.equal(shownColumn(text), text)
  }
})

test('whether a comment is withheld depends on who asks', () => {
  const schema = schemaOf(
    tableOf('public', 'people', { columns, key: ['id'], comment: 'People by ssn', comments: { name: 'unlike ssn' } }),
  )
  const engine = engineOf(
    `version: 1
tables: { public.people: }
roles: { all: { read: ['*'] }, some: { read: ['*'], mask: { public.people: [ssn] } }, counter: { aggregate: ['*'] } }`,
    schema,
  )
  const of = (...roles: string[]) => {
    const access = engine.rights(caller(roles)).byToolBase.get('people')
    const column = access?.columns.search.get('name') ?? access?.columns.aggregate.get('name')
    return [access?.comment, column?.comment]
  }
  assert.deepEqual(of('all'), ['People by ssn', 'unlike ssn'])
  assert.deepEqual(of('some'), [undefined, undefined])
  assert.deepEqual(of('some', 'all'), ['People by ssn', 'unlike ssn'])
  // A column that the caller may use in some operation is no secret from it.
  assert.deepEqual(of('some', 'counter'), ['People by ssn', 'unlike ssn'])
})

test('a table’s comment that names a hidden column is withheld, and the columns of the table are not touched', () => {
  const schema = schemaOf(tableOf('public', 'people', { columns, key: ['id'], comment: 'Never show the ssn' }))
  const engine = engineOf(
    "version: 1\ntables: { public.people: { mask: [ssn] } }\nroles: { a: { read: ['*'] } }",
    schema,
  )
  const access = engine.rights(caller(['a'])).byToolBase.get('people')
  assert.ok(access !== undefined)
  assert.equal('comment' in access, false)
  assert.deepEqual([...access.columns.search.keys()].slice(0, 2), ['id', 'name'])
})
