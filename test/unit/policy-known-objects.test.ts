import assert from 'node:assert/strict'
import test from 'node:test'
import { knownObjects, parseKnownObjects } from '../../src/core/known-objects.js'
import type { SchemaModel } from '../../src/core/schema-model.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy } from '../../src/policy/policy-engine.js'
import { caller, schemaOf, TYPES, tableOf } from '../support/policy-schema.js'

const POLICY = `
version: 1
tables:
  public.people: { mask: [ssn], row_filter: [ { column: tenant, op: eq, value: 1 } ] }
roles: { reader: { read: ['*'] } }
`

const before = schemaOf(
  tableOf('public', 'people', {
    columns: { id: 'integer', name: 'text', ssn: 'text', tenant: 'integer', note: 'text' },
    key: ['id'],
  }),
)

type Change = (columns: SchemaModel['tables'][number]['columns']) => SchemaModel['tables'][number]['columns']

function after(change: Change): SchemaModel {
  return { ...before, tables: before.tables.map((table) => ({ ...table, columns: change(table.columns) })) }
}

function judged(schema: SchemaModel) {
  const document = parsePolicy(POLICY)
  assert.ok(document.ok)
  const known = parseKnownObjects(JSON.stringify(knownObjects(before, Object.keys(document.value.tables))))
  assert.ok(known !== undefined)
  const { engine, findings } = compilePolicy(document.value, schema, { schemas: ['public'], known })
  const access = engine.rights(caller(['reader'])).byToolBase.get('people')
  return {
    columns: access === undefined ? undefined : [...access.columns.search.keys()],
    kinds: findings.map(({ kind }) => kind),
    texts: findings.map(({ text }) => text),
  }
}

test('what the policy was confirmed to be about is served', () => {
  const { columns, kinds } = judged(before)
  assert.deepEqual([columns, kinds], [['id', 'name', 'tenant', 'note'], []])
})

test('a column that is new since the policy was applied stays hidden', () => {
  const [first] = before.tables[0]?.columns ?? []
  assert.ok(first !== undefined)
  const secret = { ...first, name: 'salary' as typeof first.name, agentName: 'salary', catalogId: 99 }
  const { columns, kinds } = judged(after((all) => [...all, secret]))
  assert.deepEqual(columns, ['id', 'name', 'tenant', 'note'])
  assert.deepEqual(kinds, ['column_new'])
})

test('a column whose type changed stays hidden', () => {
  const retyped = after((all) =>
    all.map((column) => (column.name === 'note' ? { ...column, type: TYPES.json } : column)),
  )
  const { columns, kinds } = judged(retyped)
  assert.deepEqual([columns, kinds], [['id', 'name', 'tenant'], ['column_changed']])
})

test('two columns swapped by rename open nothing: the masked values come under neither name', () => {
  const swapped = after((all) =>
    all.map((column) => {
      const other = column.name === 'name' ? 'ssn' : column.name === 'ssn' ? 'name' : column.name
      return { ...column, name: other as typeof column.name, agentName: other }
    }),
  )
  const { columns, kinds, texts } = judged(swapped)
  assert.deepEqual(
    [columns, kinds],
    [
      ['id', 'tenant', 'note'],
      ['column_changed', 'column_changed'],
    ],
  )
  const stays = 'it stays hidden until the policy is applied again.'
  assert.deepEqual(texts, [
    `Column "ssn" of "public.people" is the one that was "name": "ssn" and "name" have changed places; ${stays}`,
    `Column "name" of "public.people" is the one that was "ssn": "name" and "ssn" have changed places; ${stays}`,
  ])
})

test('three columns that went round are others under the same names, and no two of them have changed places', () => {
  const next: Readonly<Record<string, string>> = { name: 'ssn', ssn: 'note', note: 'name' }
  const turned = after((all) =>
    all.map((column) => {
      const other = next[column.name] ?? column.name
      return { ...column, name: other as typeof column.name, agentName: other }
    }),
  )
  const { columns, texts } = judged(turned)
  assert.deepEqual(columns, ['id', 'tenant'])
  assert.equal(texts.filter((text) => text.includes('is another column under the same name')).length, 3)
})

test('a row filter over a column that is another one now withholds the table', () => {
  const swapped = after((all) =>
    all.map((column) => (column.name === 'tenant' ? { ...column, catalogId: column.catalogId + 50 } : column)),
  )
  const { columns, kinds } = judged(swapped)
  assert.equal(columns, undefined)
  assert.ok(kinds.includes('column_changed'))
})

test('a masked column that was renamed withholds the table, and its new name is hidden too', () => {
  const renamed = after((all) =>
    all.map((column) =>
      column.name === 'ssn' ? { ...column, name: 'sn' as typeof column.name, agentName: 'sn' } : column,
    ),
  )
  assert.equal(judged(renamed).columns, undefined)
})

test('two tables that swapped their names show nothing, and one that is new under its name is what it is called', () => {
  const columns = { id: 'integer', name: 'text', ssn: 'text', tenant: 'integer', note: 'text' } as const
  const [people, staff] = ['people', 'staff'].map((name, i) => ({
    ...tableOf('public', name, { columns, key: ['id'] }),
    catalogId: `${100 + i}`,
  }))
  assert.ok(people !== undefined && staff !== undefined)
  const document = parsePolicy(
    "version: 1\ntables: { public.people: { mask: [ssn] }, public.staff: {} }\nroles: { reader: { read: ['*'] } }",
  )
  assert.ok(document.ok)
  const known = parseKnownObjects(
    JSON.stringify(knownObjects(schemaOf(people, staff), Object.keys(document.value.tables))),
  )
  assert.ok(known !== undefined)
  const served = (...tables: readonly (typeof people)[]) => {
    const { engine, findings } = compilePolicy(document.value, schemaOf(...tables), { schemas: ['public'], known })
    return [[...engine.rights(caller(['reader'])).byToolBase.keys()], findings.map(({ kind }) => kind)]
  }
  assert.deepEqual(served(people, staff), [['people', 'staff'], []])
  const swapped = [
    { ...people, catalogId: staff.catalogId },
    { ...staff, catalogId: people.catalogId },
  ]
  assert.deepEqual(served(...swapped), [[], ['table_changed', 'table_changed']])
  assert.deepEqual(served(people, { ...staff, catalogId: '200' }), [['people', 'staff'], []])
})

test('a table that did not exist when the policy was applied shows no column', () => {
  const document = parsePolicy(POLICY)
  assert.ok(document.ok)
  const { engine } = compilePolicy(document.value, before, { schemas: ['public'], known: [] })
  assert.equal(engine.rights(caller(['reader'])).tables.length, 0)
})

test('what was kept before tables had ids there confirms columns as ever', () => {
  const known = parseKnownObjects('[{"name":"public.people","columns":[["id",1,"integer"]]}]')
  assert.deepEqual(known, [{ name: 'public.people', columns: [['id', 1, 'integer']] }])
  assert.equal(parseKnownObjects('[{"name":"public.people","catalogId":7,"columns":[]}]'), undefined)
})

test('stored text that is something else confirms nothing', () => {
  assert.equal(parseKnownObjects('{}'), undefined)
  assert.equal(parseKnownObjects('[{"name":"a","columns":[["x"]]}]'), undefined)
})
