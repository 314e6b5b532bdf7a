import assert from 'node:assert/strict'
import test from 'node:test'
import { knownObjects } from '../../src/core/known-objects.js'
import type { SoftDeletePlan } from '../../src/core/plan.js'
import { catalogName } from '../../src/core/schema-model.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy } from '../../src/policy/policy-engine.js'
import { caller, compiled, engineOf, refOf, schemaOf, tableOf } from '../support/policy-schema.js'

const THINGS = refOf('public', 'things')
const ROLES = "roles: { a: { read: ['*'], create: ['*'], update: ['*'], soft_delete: ['*'] } }"
const WRITES = 'create: { columns: [name] }, update: { columns: [name] }'

const SCHEMA = schemaOf(
  tableOf('public', 'things', {
    columns: {
      id: 'integer',
      name: 'text',
      deleted_at: 'timestamp',
      deleted_on: 'date',
      gone: 'boolean',
      active: 'boolean',
      maybe: 'boolean',
      status: 'status',
      always_at: 'timestamp',
      extra: 'json',
    },
    key: ['id'],
    notNull: ['id', 'gone', 'active', 'status', 'always_at'],
    defaults: ['id', 'gone', 'active', 'status', 'always_at'],
  }),
)

function judged(softDelete: string, more = '') {
  return compiled(
    `version: 1\ntables: { public.things: { ${WRITES}, soft_delete: { ${softDelete} }${more} } }\n${ROLES}`,
    SCHEMA,
  )
}

const EXISTING = ['get', 'search', 'aggregate', 'update', 'soft_delete'] as const

test('rows that are marked as deleted are out of scope of everything but create', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['column: deleted_at, value: now', { column: 'deleted_at', op: 'is_null' }],
    ['column: deleted_at, value: "2000-01-01T00:00:00Z"', { column: 'deleted_at', op: 'is_null' }],
    ['column: deleted_on, value: now', { column: 'deleted_on', op: 'is_null' }],
    ['column: gone, value: true', { column: 'gone', op: 'eq', value: 'false' }],
    ['column: active, value: false', { column: 'active', op: 'eq', value: 'true' }],
    ['column: status, value: paid', { column: 'status', op: 'neq', value: 'paid' }],
  ]
  for (const [softDelete, filter] of cases) {
    const { engine, findings } = judged(softDelete)
    assert.deepEqual(findings, [])
    for (const operation of EXISTING) {
      assert.deepEqual(
        engine.scope(caller(['a']), THINGS, operation),
        { ok: true, value: { all: [filter] } },
        softDelete,
      )
    }
    assert.deepEqual(engine.scope(caller(['a']), THINGS, 'create'), { ok: true, value: { all: [] } })
  }
})

test('deleted rows are hidden from those who may not delete any, too', () => {
  const engine = engineOf(
    "version: 1\ntables: { public.things: { soft_delete: { column: deleted_at, value: now } } }\nroles: { r: { read: ['*'] } }",
    SCHEMA,
  )
  const all = [{ column: 'deleted_at', op: 'is_null' }]
  assert.deepEqual(engine.scope(caller(['r']), THINGS, 'search'), { ok: true, value: { all } })
})

test('reads_include_deleted: true hides no row from anything', () => {
  const { engine, findings } = judged('column: always_at, value: now, reads_include_deleted: true')
  assert.deepEqual(findings, [])
  for (const operation of EXISTING) {
    assert.deepEqual(engine.scope(caller(['a']), THINGS, operation), { ok: true, value: { all: [] } })
  }
})

test('a mark that may be NULL and is no time makes NULL count as deleted, and its author is told', () => {
  const { engine, findings } = judged('column: maybe, value: true')
  assert.deepEqual(
    findings.map(({ kind, severity, column }) => [kind, severity, column]),
    [['soft_delete_nullable', 'warning', 'maybe']],
  )
  const all = [{ column: 'maybe', op: 'eq', value: 'false' }]
  assert.deepEqual(engine.scope(caller(['a']), THINGS, 'search'), { ok: true, value: { all } })
})

test('a mark that cannot tell deleted rows from others withholds the table', () => {
  for (const softDelete of [
    'column: always_at, value: now',
    'column: gone, value: now',
    'column: gone, value: maybe',
    'column: status, value: lost',
    'column: extra, value: "{}"',
  ]) {
    const { engine, findings } = judged(softDelete)
    assert.deepEqual(
      findings.map(({ kind, severity }) => [kind, severity]),
      [['soft_delete_unusable', 'error']],
      softDelete,
    )
    assert.deepEqual(engine.rights(caller(['a'])).tables, [])
  }
})

test('a soft-delete column that is gone withholds the table', () => {
  const { engine, findings } = judged('column: deletd_at, value: now')
  assert.deepEqual(
    findings.map(({ kind, withholds }) => [kind, withholds]),
    [['column_unknown', true]],
  )
  assert.match(findings[0]?.text ?? '', /Did you mean "deleted_at"\?/)
  assert.deepEqual(engine.rights(caller(['a'])).tables, [])
})

test('a soft-delete or preset column that is another one now withholds the table; a written one is no longer writable', () => {
  const retyped = (name: string) => ({
    ...SCHEMA,
    tables: SCHEMA.tables.map((table) => ({
      ...table,
      columns: table.columns.map((column) => (column.name === name ? { ...column, catalogId: 99 } : column)),
    })),
  })
  const known = knownObjects(SCHEMA, ['public.things'])
  const tables = (policy: string, changed: string) => {
    const document = parsePolicy(`version: 1\ntables: { public.things: { ${policy} } }\n${ROLES}`)
    assert.ok(document.ok)
    const { engine } = compilePolicy(document.value, retyped(changed), { schemas: ['public'], known })
    return engine.rights(caller(['a'])).tables
  }
  const whole = `create: { columns: [name, extra], preset: { status: new } }, soft_delete: { column: deleted_at, value: now }`
  assert.equal(tables(whole, 'deleted_at').length, 0)
  assert.equal(tables(whole, 'status').length, 0)
  const [served] = tables(whole, 'extra')
  assert.deepEqual([...(served?.writes.create?.columns.keys() ?? [])], ['name'])
})

test('the column may be hidden: the caller learns nothing of it, and can still delete', () => {
  const { engine, findings } = judged('column: deleted_at, value: now', ', mask: [deleted_at]')
  assert.deepEqual(findings, [])
  const things = engine.rights(caller(['a'])).byToolBase.get('things')
  const write = things?.writes.soft_delete
  assert.ok(write !== undefined)
  assert.equal(things?.columns.get.has('deleted_at'), false)
  assert.deepEqual([write.columns.size, write.required.size], [0, 0])
  const shown = [...write.expectable.keys(), ...write.returning.map(({ name }) => name)]
  assert.equal(shown.includes('deleted_at'), false)
})

test('the written row is judged without what scope says of the mark, by the table or by any role', () => {
  const filter = (column: string, more: string) => `{ column: ${column}, ${more} }`
  const engine = engineOf(
    `version: 1
tables: { public.things: { ${WRITES}, soft_delete: { column: status, value: paid }, row_filter: [${filter('name', 'op: eq, value: n')}] } }
roles:
  a: { update: ['*'], soft_delete: ['*'], row_filter: { public.things: [${filter('id', 'op: eq, value: 1')}, ${filter('status', 'op: eq, value: new')}] } }
  b: { soft_delete: ['*'], row_filter: { public.things: [${filter('status', 'op: eq, value: { claim: s }')}] } }`,
    SCHEMA,
  )
  const written = (roles: readonly string[], claims: Record<string, string> = {}) => {
    const key = [{ column: catalogName('id'), op: 'eq', value: '1' }] as const
    const plan: SoftDeletePlan = { kind: 'soft_delete', table: THINGS, key, expected: [], dryRun: false }
    const result = engine.validateMutation(plan, caller(roles, claims))
    assert.ok(result.ok, JSON.stringify(result))
    return { scope: result.value.scope, writtenScope: result.value.writtenScope }
  }
  const named = { column: 'name', op: 'eq', value: 'n' }
  const one = { column: 'id', op: 'eq', value: '1' }
  assert.deepEqual(written(['a']), {
    scope: {
      all: [named, { column: 'status', op: 'neq', value: 'paid' }],
      any: [[one, { column: 'status', op: 'eq', value: 'new' }]],
    },
    writtenScope: { all: [named], any: [[one]] },
  })
  assert.deepEqual(written(['a', 'b'], { s: 'new' }).writtenScope, { all: [named] }, 'b says nothing else of a row')
  assert.deepEqual(
    written(['a', 'b']).writtenScope,
    { all: [named], any: [[one]] },
    'a group dropped for a missing claim stays dropped',
  )
})
