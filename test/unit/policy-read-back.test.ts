import assert from 'node:assert/strict'
import test from 'node:test'
import { WRITE_OPERATIONS } from '../../src/core/access.js'
import { catalogName, type Table } from '../../src/core/schema-model.js'
import { caller, compiled, schemaOf, type TableSketch, tableOf } from '../support/policy-schema.js'

/** Tables of engines that cannot undo a change, or do not return the row that they insert. */

const SKETCH: TableSketch = {
  columns: { id: 'integer', code: 'text', title: 'text', made_at: 'timestamp', tenant: 'integer' },
  notNull: ['id', 'code', 'made_at', 'tenant'],
  defaults: ['code', 'made_at', 'tenant', 'id'],
}

function readBack(sketch: Partial<TableSketch>, more: Partial<Table> = {}): Table {
  return { ...tableOf('shop', 'tasks', { ...SKETCH, ...sketch }), insertReadBack: 'by_key', ...more }
}

function judged(table: Table, rules: string) {
  const text = `version: 1\ntables: { shop.tasks: { ${rules} } }\nroles: { a: { read: ['*'], create: ['*'], update: ['*'], soft_delete: ['*'] } }`
  const { engine, findings } = compiled(text, schemaOf(table), ['shop'])
  const access = engine.rights(caller(['a'])).byToolBase.get('tasks')
  return {
    findings: findings.map(({ kind, severity, column }) => [kind, severity, ...(column === undefined ? [] : [column])]),
    texts: findings.map(({ text: sentence }) => sentence).join('\n'),
    operations: WRITE_OPERATIONS.filter((operation) => access?.operations.has(operation) === true),
    required: [...(access?.writes.create?.required ?? [])],
    readable: access?.operations.has('search'),
  }
}

const ALL = 'create: { columns: [id, code, title, tenant, made_at] }, update: { columns: [title] }'

test('a table whose storage engine cannot undo a change is read-only, and a policy that says otherwise is refused', () => {
  const table: Table = { ...tableOf('shop', 'tasks', { ...SKETCH, key: ['id'] }), notTransactional: true }
  const { findings, texts, operations, readable } = judged(table, `${ALL}, soft_delete: { column: tenant, value: 9 }`)
  assert.deepEqual(findings, [['table_not_writable', 'error']])
  assert.match(texts, /"shop\.tasks" is read-only, because its storage engine cannot undo a change; its create, update/)
  assert.deepEqual(operations, [])
  assert.equal(readable, true)
})

test('a table whose rows are kept in memory is read-only, and a policy that says otherwise is refused', () => {
  const table: Table = { ...tableOf('shop', 'tasks', { ...SKETCH, key: ['id'] }), memoryOptimized: true }
  const { findings, texts, operations, readable } = judged(table, ALL)
  assert.deepEqual(findings, [['table_not_writable', 'error']])
  assert.match(
    texts,
    /"shop\.tasks" is read-only, because its rows are kept in memory and cannot be locked; its create/,
  )
  assert.deepEqual([operations, readable], [[], true])
})

test('where a new row is read back by its key, the columns of the key must be given although they have a default', () => {
  assert.deepEqual(judged(readBack({ key: ['code', 'tenant'] }), ALL).required, ['code', 'tenant'])
  assert.deepEqual(judged(readBack({ key: ['id'] }), ALL).required, ['id'])
  // The same table of an engine that returns the row needs nothing.
  const returned = tableOf('shop', 'tasks', { ...SKETCH, key: ['id'] })
  assert.deepEqual(judged(returned, ALL).required, [])
})

test('a column that the database counts up needs no value, and neither does one that is preset', () => {
  const counted = readBack({ key: ['id'], generated: { id: 'by_default' } })
  assert.deepEqual(judged(counted, ALL).required, [])
  assert.deepEqual(judged(counted, 'create: { columns: [title] }').operations, ['create'])
  const composite = readBack({ key: ['tenant', 'code'] })
  for (const preset of ['{ claim: tenant }', '4']) {
    const rules = `create: { columns: [code, title], preset: { tenant: ${preset} } }`
    assert.deepEqual(judged(composite, rules).required, ['code'])
  }
})

test('the first unique key without NULLs stands in for a primary key', () => {
  const unique = { uniqueKeys: [[catalogName('title')], [catalogName('code')]] }
  assert.deepEqual(judged(readBack({}, unique), 'create: { columns: [code, title] }').required, ['code'])
})

test('without such a key there is no create, and its author is told why', () => {
  const unique = { uniqueKeys: [[catalogName('title')]] }
  const { findings, texts, operations } = judged(readBack({}, unique), 'create: { columns: [code, title] }')
  assert.deepEqual(findings, [['write_without_key', 'warning']])
  assert.match(texts, /returns no new row, and without a primary key or a unique key of columns that are never NULL/)
  assert.deepEqual(operations, [])
})

test('a column of the key that nobody could give takes create away, and its author is told why', () => {
  const { findings, texts, operations } = judged(readBack({ key: ['code'] }), 'create: { columns: [title] }')
  assert.deepEqual(findings, [['create_incomplete', 'warning']])
  assert.match(texts, /"code" must have a value, since the new row is read back by it, and has no preset/)
  assert.deepEqual(operations, [])
  const computed = readBack({ key: ['code'], generated: { code: 'computed' } })
  assert.deepEqual(judged(computed, 'create: { columns: [title] }').operations, [])
})

test('a key whose column is preset to now could not be read back: create is void, and the policy refused', () => {
  const rules = 'create: { columns: [code, title], preset: { made_at: now } }, update: { columns: [title] }'
  const { findings, texts, operations } = judged(readBack({ key: ['code', 'made_at'] }), rules)
  assert.deepEqual(findings, [['preset_unusable', 'error', 'made_at']])
  assert.match(texts, /by a key whose column "made_at" is preset to now it cannot be read back/)
  assert.deepEqual(operations, ['update'])
  assert.deepEqual(judged(readBack({ key: ['code'] }), rules).findings, [])
})

test('a mark that is a number standing in for a boolean, and neither of its truths, tells deleted rows by differing from it', () => {
  const flag = { logical: 'boolean', native: 'tinyint(1)', range: [-128, 127], equality: true, ordered: true } as const
  const plain = tableOf('shop', 'tasks', { ...SKETCH, key: ['id'] })
  const columns = plain.columns.map((column) => (column.name === 'tenant' ? { ...column, type: flag } : column))
  const existing = (value: string) => {
    const text = `version: 1\ntables: { shop.tasks: { soft_delete: { column: tenant, value: ${value} } } }\nroles: { a: { read: ['*'] } }`
    const { engine } = compiled(text, schemaOf({ ...plain, columns }), ['shop'])
    const scope = engine.scope(caller(['a']), plain.ref, 'search')
    return scope.ok ? scope.value.all : scope.error
  }
  assert.deepEqual(existing('true'), [{ column: 'tenant', op: 'eq', value: 'false' }])
  assert.deepEqual(existing('1'), [{ column: 'tenant', op: 'eq', value: 'false' }])
  assert.deepEqual(existing('2'), [{ column: 'tenant', op: 'neq', value: '2' }])
})

test('a key that several rows may share is neither changed nor does it mark rows as deleted where changed rows are read back by it', () => {
  const table: Table = { ...tableOf('shop', 'tasks', SKETCH), updateReadBack: 'by_key' }
  const rules = 'key: [code], update: { columns: [code, title] }, soft_delete: { column: tenant, value: 9 }'
  const { findings, operations } = judged(table, rules)
  assert.deepEqual(findings, [
    ['column_not_writable', 'warning', 'code'],
    ['write_without_key', 'warning'],
  ])
  assert.deepEqual(operations, ['update'])
  // With nothing else to set, or a preset on the key, there is no update either.
  assert.deepEqual(judged(table, 'key: [code], update: { columns: [code] }').operations, [])
  const preset = judged(table, 'key: [code], update: { columns: [title], preset: { code: made } }')
  assert.deepEqual(preset.findings, [['write_without_key', 'warning']])
  assert.deepEqual(preset.operations, [])
})

test('a key that the catalog warrants may change, and so may one of an engine that returns changed rows', () => {
  const rules = 'key: [code], update: { columns: [code, title] }, soft_delete: { column: tenant, value: 9 }'
  const unique: Table = { ...tableOf('shop', 'tasks', { ...SKETCH, key: ['code'] }), updateReadBack: 'by_key' }
  for (const table of [unique, tableOf('shop', 'tasks', SKETCH)]) {
    const { findings, operations } = judged(table, rules)
    assert.deepEqual(findings, [])
    assert.deepEqual(operations, ['update', 'soft_delete'])
  }
})
