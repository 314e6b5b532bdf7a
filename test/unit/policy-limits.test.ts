import assert from 'node:assert/strict'
import test from 'node:test'
import { publicText } from '../../src/core/errors.js'
import type { QueryPlan } from '../../src/core/plan.js'
import { catalogName, type EngineName, type Table } from '../../src/core/schema-model.js'
import type { PolicyEngine } from '../../src/policy/policy-engine.js'
import { aggregatePlan, filter, getPlan, searchPlan } from '../support/plans.js'
import { CUSTOMERS, caller, compiled, engineOf, schemaOf, tableOf } from '../support/policy-schema.js'

/** The limits that say how a table may be asked, and not how much of it is given. */

const READS = 'roles: { a: { read: [public.customers] }, c: { aggregate: [public.customers] } }'
const customersWith = (limits: string) => `version: 1\ntables: { public.customers: { ${limits} } }\n${READS}`

test('both limits may stand everywhere but at a procedure, and the most specific wins', () => {
  const levels = (defaults: string, table: string, role: string, identity: string) =>
    `version: 1\ndefaults: { ${defaults} }\ntables: { public.customers: { ${table} } }\n` +
    `roles: { c: { aggregate: [public.customers]${role} } }\nidentities: { ann: { ${identity} } }`
  const limitsOf = (text: string) => engineOf(text).limits(caller(['c']), CUSTOMERS)
  const both = (size: number) => `min_group_size: ${size}, require_index_above_rows: ${size}`
  for (const [text, expected] of [
    [levels('', '', '', ''), [1, 1_000_000]],
    [levels(both(2), '', '', ''), [2, 2]],
    [levels(both(2), both(3), '', ''), [3, 3]],
    [levels(both(2), both(3), `, ${both(4)}`, ''), [4, 4]],
    [levels(both(2), both(3), `, ${both(4)}`, both(5)), [5, 5]],
  ] as const) {
    const { minGroupSize, indexRequiredAboveRows } = limitsOf(text)
    assert.deepEqual([minGroupSize, indexRequiredAboveRows], expected, text)
  }
})

test('of several roles the one that gives all rows and columns by itself decides the group size, else the largest', () => {
  const text = (a: string, b: string) =>
    `version: 1\ntables: { public.customers: { min_group_size: 4 } }\nroles: { a: { aggregate: ['*'] ${a} }, b: { aggregate: ['*'] ${b} } }`
  const sizeOf = (a: string, b: string) => engineOf(text(a, b)).limits(caller(['a', 'b']), CUSTOMERS).minGroupSize
  assert.equal(sizeOf('', ', min_group_size: 1'), 1)
  assert.equal(sizeOf(', min_group_size: 9', ''), 4)
  const filtered = ', row_filter: { public.customers: [{ column: country, op: eq, value: de }] }'
  assert.equal(sizeOf('', `, min_group_size: 1 ${filtered}`), 4, 'small groups of some rows are none of all')
  assert.equal(sizeOf(`, min_group_size: 2 ${filtered}`, `, min_group_size: 3 ${filtered}`), 3)
  const masked = ', mask: { public.customers: [email] }'
  assert.equal(sizeOf('', `, min_group_size: 1 ${masked}`), 4, 'small groups of some columns are none of all')
  assert.equal(sizeOf(masked, `, min_group_size: 1 ${masked}`), 1, 'a column that nobody of both sees does not count')
})

const TABLE = engineOf(customersWith(''))
  .rights(caller(['a']))
  .byToolBase.get('customers')?.table
const table = (): Table => TABLE ?? assert.fail()

test('min and max are refused to whoever has a group size, by a text that says what there is and a reason for the entry', () => {
  const engine = engineOf(customersWith('').replace('c: {', 'c: { min_group_size: 5,'))
  for (const fn of ['min', 'max'] as const) {
    const plan = aggregatePlan(table(), { metrics: [{ fn: 'count' }, { fn, column: 'id' }] })
    const judged = engine.validate(plan, caller(['c']))
    assert.ok(!judged.ok)
    assert.equal(judged.error.reason, `min_group_size 5 leaves no ${fn}`)
    assert.equal(
      publicText(judged.error),
      'POLICY_DENIED: The policy does not allow this call. Field: metrics[1].fn. Expected: one of count, count_distinct, sum, avg, since every value given stands for at least 5 rows.',
    )
    assert.ok(engine.validate(plan, caller(['a'])).ok)
    // Of a hidden column as of a visible one: the refusal does not hang on the column.
    const other = aggregatePlan(table(), { metrics: [{ fn, column: 'nothing' }] })
    const same = engine.validate(other, caller(['c']))
    assert.equal(same.ok ? '' : same.error.code, 'POLICY_DENIED')
  }
})

test('a role that has a group size and may read the rows is warned about, once', () => {
  const warned = (text: string) => compiled(text).findings.filter(({ kind }) => kind === 'group_size_with_reads')
  const tables = 'tables: { public.customers: {}, public.orders: {}, public.payroll: { aggregate: false } }'
  const text = (defaults: string, role: string) =>
    `version: 1\ndefaults: { ${defaults} }\n${tables}\nroles: { r: { ${role} } }`
  const [all, ...others] = warned(text('min_group_size: 3', "read: ['*']"))
  assert.deepEqual(others, [])
  assert.deepEqual([all?.severity, all?.withholds, all?.path], ['warning', false, ['roles', 'r', 'read']])
  assert.match(
    all?.text ?? '',
    /roles\.r has a min_group_size and may read the rows of "public\.customers" and 1 more table/,
  )
  assert.equal(warned(text('', 'read: [public.orders], min_group_size: 2')).length, 1)
  for (const [defaults, role] of [
    ['', "read: ['*']"],
    ['min_group_size: 3', "aggregate: ['*']"],
    ['min_group_size: 3', "read: ['*'], min_group_size: 1"],
    ['min_group_size: 3', "read: ['*'], deny: ['*']"],
    ['min_group_size: 3', 'read: [public.payroll]'],
  ] as const) {
    assert.deepEqual(warned(text(defaults, role)), [], `${defaults} ${role}`)
  }
})

/** A table of many rows. `by_secret` leads with a column that is masked below, `partial` holds some rows only. */
function large(rowEstimate: number | undefined, engine: EngineName = 'postgres') {
  const index = (name: string, columns: readonly string[], partial = false) => ({
    name: catalogName(name),
    columns: columns.map(catalogName),
    unique: false,
    partial,
  })
  const events: Table = {
    ...tableOf('public', 'events', {
      columns: {
        id: 'bigint',
        tenant: 'integer',
        kind: 'text',
        at: 'timestamp',
        secret: 'text',
        note: 'text',
        extra: 'json',
      },
      key: ['id'],
      notNull: ['id', 'tenant'],
    }),
    uniqueKeys: [['at', 'id'].map(catalogName)],
    indexes: [
      index('by_id', ['id']),
      index('by_tenant', ['tenant', 'note']),
      index('by_secret', ['secret', 'kind']),
      index('partial', ['kind'], true),
    ],
    ...(rowEstimate === undefined ? {} : { rowEstimate }),
  }
  return { ...schemaOf(events), engine }
}

const EVENTS = `
version: 1
tables: { public.events: { mask: [secret] MORE } }
roles: { r: { read: ['*'] }, own: { read: ['*'], row_filter: { public.events: [{ column: secret, op: eq, value: { claim: s } }] } } }
`

function codeOf(engine: PolicyEngine, plan: QueryPlan, roles: readonly string[] = ['r']): string {
  const judged = engine.validate(plan, caller(roles, { s: 'x' }))
  return judged.ok ? 'OK' : judged.error.code
}

test('a search or aggregate of a large table goes by the first column of an index or key', () => {
  const schema = large(1_000_001)
  const [events] = schema.tables
  assert.ok(events)
  const engine = engineOf(EVENTS.replace('MORE', ''), schema)
  const search = (filters: Parameters<typeof searchPlan>[1]['filters'], order: readonly string[] = []) =>
    codeOf(engine, searchPlan(events, { columns: ['id'], filters: filters ?? [], order }))
  const count = (filters: Parameters<typeof aggregatePlan>[1]['filters']) =>
    codeOf(engine, aggregatePlan(events, { metrics: [{ fn: 'count' }], filters: filters ?? [], groupBy: ['tenant'] }))
  const refused = 'ARGUMENT_UNINDEXED'
  for (const [op, value] of [
    ['eq', '1'],
    ['in', ['1', '2']],
    ['gt', '1'],
    ['gte', '1'],
    ['lt', '1'],
    ['lte', '1'],
    ['is_null', undefined],
  ] as const) {
    assert.equal(search([filter('tenant', op, value)]), 'OK', op)
    assert.equal(count([filter('tenant', op, value)]), 'OK', op)
    assert.equal(search([filter('note', op, value)]), refused, 'the second column of an index finds nothing by itself')
  }
  for (const [op, value] of [
    ['neq', '1'],
    ['not_null', undefined],
  ] as const)
    assert.equal(count([filter('tenant', op, value)]), refused, op)
  assert.equal(search([filter('kind', 'ilike', 'a%')]), refused)
  assert.equal(search([filter('kind', 'eq', 'a')]), refused, 'a partial index')
  assert.equal(search([filter('at', 'gt', '2024-01-01T00:00:00Z')]), 'OK', 'a unique key')
  assert.equal(search([]), refused)
  assert.equal(count([]), refused)
  assert.equal(search([], ['-tenant']), 'OK')
  assert.equal(search([filter('note', 'eq', 'x')], ['tenant', 'note']), 'OK')
  assert.equal(search([], ['note', 'tenant']), refused)
  assert.equal(codeOf(engine, getPlan(events, { id: '1' }, ['note'])), 'OK', 'a row by its key')
})

test('the refusal names columns that the caller sees, and no others', () => {
  const schema = large(1_000_001)
  const [events] = schema.tables
  assert.ok(events)
  const engine = engineOf(EVENTS.replace('MORE', ''), schema)
  const judge = (plan: QueryPlan, used = engine) => {
    const judged = used.validate(plan, caller(['r']))
    return judged.ok ? 'OK' : publicText(judged.error)
  }
  assert.equal(
    judge(searchPlan(events, { columns: ['id'] })),
    'ARGUMENT_UNINDEXED: The table is large, so the call must go by an index. Field: filters. Expected: a filter by eq, in, gt, gte, lt, lte or is_null on one of id, tenant, at, or an order_by that begins with one of id, tenant, at.',
  )
  assert.equal(
    judge(aggregatePlan(events, { metrics: [{ fn: 'count' }] })),
    'ARGUMENT_UNINDEXED: The table is large, so the call must go by an index. Field: filters. Expected: a filter by eq, in, gt, gte, lt, lte or is_null on one of id, tenant, at.',
  )
  const bare = engineOf(EVENTS.replace('mask: [secret] MORE', 'columns: [kind, note]'), schema)
  assert.match(
    judge(searchPlan(events, { columns: ['kind'] }), bare),
    /Expected: an indexed column, of which you have none here: ask the operator/,
  )
})

test('an index of the caller’s own row scope will do, hidden or not, and that of the mark of deleted rows will not', () => {
  const schema = large(1_000_001)
  const [events] = schema.tables
  assert.ok(events)
  const plan = aggregatePlan(events, { metrics: [{ fn: 'count' }] })
  const engine = engineOf(EVENTS.replace('MORE', ''), schema)
  assert.equal(codeOf(engine, plan, ['own']), 'OK')
  assert.equal(codeOf(engine, plan, ['own', 'r']), 'ARGUMENT_UNINDEXED', 'another role gives all rows')
  const scoped = engineOf(EVENTS.replace('MORE', ', row_filter: [{ column: tenant, op: eq, value: 1 }]'), schema)
  assert.equal(codeOf(scoped, plan), 'OK')
  const { engine: marked } = compiled(EVENTS.replace('MORE', ', soft_delete: { column: at, value: now }'), schema)
  assert.equal(codeOf(marked, plan), 'ARGUMENT_UNINDEXED')
})

test('a table is large above the limit of the caller, and never where its rows were not counted', () => {
  const judge = (rows: number | undefined, more: string) => {
    const schema = large(rows)
    const [events] = schema.tables
    assert.ok(events)
    const engine = engineOf(EVENTS.replace('MORE', more), schema)
    return codeOf(engine, aggregatePlan(events, { metrics: [{ fn: 'count' }] }))
  }
  assert.equal(judge(1_000_000, ''), 'OK')
  assert.equal(judge(undefined, ', require_index_above_rows: 1'), 'OK')
  assert.equal(judge(2, ', require_index_above_rows: 1'), 'ARGUMENT_UNINDEXED')
  assert.equal(judge(1, ', require_index_above_rows: 1'), 'OK')
  assert.equal(judge(50_000_000, ', require_index_above_rows: 50000000'), 'OK')
})

test('an order by a column with NULLs goes by an index where the engine keeps NULLs where they are wanted', () => {
  for (const [engine, nullable, never] of [
    ['postgres', 'OK', 'OK'],
    ['mysql', 'ARGUMENT_UNINDEXED', 'OK'],
    ['sqlserver', 'ARGUMENT_UNINDEXED', 'OK'],
  ] as const) {
    const schema = large(2_000_000, engine)
    const [events] = schema.tables
    assert.ok(events)
    const rules = engineOf(EVENTS.replace('MORE', ''), schema)
    const ordered = (order: string) => codeOf(rules, searchPlan(events, { columns: ['id'], order: [order] }))
    assert.deepEqual([ordered('at'), ordered('tenant')], [nullable, never], engine)
  }
})
