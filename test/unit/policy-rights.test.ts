import assert from 'node:assert/strict'
import test from 'node:test'
import { READ_OPERATIONS, type ReadOperation } from '../../src/core/access.js'
import * as limits from '../../src/core/limits.js'
import type { TableRef } from '../../src/core/schema-model.js'
import { EMPTY_POLICY } from '../../src/policy/policy-document.js'
import { compilePolicy, type PolicyEngine } from '../../src/policy/policy-engine.js'
import {
  CUSTOMERS,
  caller,
  compiled,
  engineOf,
  ORDERS,
  PAYROLL,
  refOf,
  SHOP,
  schemaOf,
  tableOf,
} from '../support/policy-schema.js'

function operations(engine: PolicyEngine, roles: readonly string[], ref: TableRef): readonly ReadOperation[] {
  return READ_OPERATIONS.filter((operation) => engine.identityAllowed(caller(roles), ref, operation))
}

function columns(engine: PolicyEngine, roles: readonly string[], operation: ReadOperation, ref = CUSTOMERS) {
  return [...engine.visibleColumns(caller(roles), ref, operation).keys()]
}

const BOTH = 'version: 1\ntables:\n  public.customers:\n  public.orders:\n'

test('what the document does not name does not exist', () => {
  const engine = engineOf(`${BOTH}roles: { all: { read: ['*'] } }`)
  assert.deepEqual(operations(engine, ['all'], PAYROLL), [])
  assert.deepEqual(
    engine.rights(caller(['all'])).tables.map((table) => table.toolBase),
    ['customers', 'orders'],
  )
  const nothing = compilePolicy(EMPTY_POLICY, SHOP, { schemas: ['public'] })
  assert.deepEqual(nothing.engine.rights(caller(['all'])).tables, [])
})

test('a role that grants nothing, an unknown role and no role see nothing', () => {
  const engine = engineOf(`${BOTH}roles: { none: {}, all: { read: ['*'] } }`)
  for (const roles of [['none'], ['unknown'], [], ['__proto__'], ['constructor']]) {
    assert.deepEqual(engine.rights(caller(roles)).tables, [])
  }
})

test('read grants get, search and aggregate of the tables it names, and * of every table under tables', () => {
  const engine = engineOf(`${BOTH}roles: { one: { read: [public.customers] }, all: { read: ['*'] } }`)
  assert.deepEqual(operations(engine, ['one'], CUSTOMERS), ['get', 'search', 'aggregate'])
  assert.deepEqual(operations(engine, ['one'], ORDERS), [])
  assert.deepEqual(operations(engine, ['all'], ORDERS), ['get', 'search', 'aggregate'])
})

test('aggregate grants aggregates alone', () => {
  const engine = engineOf(`${BOTH}roles: { counter: { aggregate: [public.customers] } }`)
  assert.deepEqual(operations(engine, ['counter'], CUSTOMERS), ['aggregate'])
  assert.deepEqual(columns(engine, ['counter'], 'search'), [])
  assert.deepEqual(columns(engine, ['counter'], 'get'), [])
  assert.deepEqual(columns(engine, ['counter'], 'aggregate'), ['id', 'name', 'email', 'ssn', 'tenant_id', 'country'])
  assert.deepEqual(engine.rights(caller(['counter'])).byToolBase.get('customers')?.key, [])
})

test('aggregate: false takes aggregates from everybody, aggregate: { columns } limits them for everybody', () => {
  const roles = "roles: { reader: { read: ['*'] }, counter: { aggregate: ['*'] } }"
  const off = engineOf(`version: 1\ntables: { public.customers: { aggregate: false } }\n${roles}`)
  assert.deepEqual(operations(off, ['reader'], CUSTOMERS), ['get', 'search'])
  assert.deepEqual(operations(off, ['counter'], CUSTOMERS), [])
  const some = engineOf(
    `version: 1\ntables: { public.customers: { mask: [ssn], aggregate: { columns: [country, ssn] } } }\n${roles}`,
  )
  assert.deepEqual(columns(some, ['reader'], 'aggregate'), ['country'])
  assert.deepEqual(columns(some, ['counter'], 'aggregate'), ['country'])
  assert.deepEqual(columns(some, ['reader'], 'search'), ['id', 'name', 'email', 'tenant_id', 'country'])
})

test('grants of several roles add up, and an explicit deny of any of them wins', () => {
  const engine = engineOf(`${BOTH}roles:
  a: { read: [public.customers] }
  b: { read: [public.orders] }
  no_orders: { deny: [public.orders] }
  nothing: { read: ['*'], deny: ['*'] }`)
  assert.deepEqual(operations(engine, ['a', 'b'], ORDERS), ['get', 'search', 'aggregate'])
  assert.deepEqual(operations(engine, ['a', 'b', 'no_orders'], ORDERS), [])
  assert.deepEqual(operations(engine, ['a', 'b', 'no_orders'], CUSTOMERS), ['get', 'search', 'aggregate'])
  assert.deepEqual(operations(engine, ['a', 'nothing'], CUSTOMERS), [])
})

test('a table-level mask hides a column from everybody, and a columns list shows nothing else', () => {
  const masked = engineOf("version: 1\ntables: { public.customers: { mask: [ssn] } }\nroles: { a: { read: ['*'] } }")
  const allowed = engineOf(
    "version: 1\ntables: { public.customers: { columns: [name] } }\nroles: { a: { read: ['*'] } }",
  )
  for (const operation of ['get', 'search', 'aggregate'] as const) {
    assert.equal(columns(masked, ['a'], operation).includes('ssn'), false)
  }
  assert.deepEqual(columns(allowed, ['a'], 'search'), ['name'])
})

const MASKS = `${BOTH}roles:
  open: { read: ['*'] }
  masked: { read: ['*'], mask: { public.customers: [ssn] } }
  masked_own: { read: ['*'], mask: { public.customers: [ssn] }, row_filter: { public.customers: [{ column: id, op: eq, value: 1 }] } }
  open_own: { read: ['*'], row_filter: { public.customers: [{ column: id, op: eq, value: 1 }] } }
  other: { read: [public.orders] }
  counter: { aggregate: [public.customers] }`

test('a column is usable when a granting role without a row filter shows it, or when every granting role shows it', () => {
  const engine = engineOf(MASKS)
  const usable = (...roles: string[]) => columns(engine, roles, 'search').includes('ssn')
  assert.equal(usable('masked'), false)
  assert.equal(usable('masked', 'open'), true)
  assert.equal(usable('open_own'), true)
  assert.equal(usable('open_own', 'masked'), false)
  assert.equal(usable('open_own', 'masked_own'), false)
  assert.equal(usable('open', 'masked_own'), true)
  assert.equal(usable('masked', 'other'), false)
})

test('a role that grants only aggregates opens a column to aggregates alone', () => {
  const engine = engineOf(MASKS)
  assert.equal(columns(engine, ['masked', 'counter'], 'search').includes('ssn'), false)
  assert.equal(columns(engine, ['masked', 'counter'], 'aggregate').includes('ssn'), true)
})

test('get exists only where the whole key is visible and can be compared', () => {
  const hidden = engineOf(`${BOTH}roles: { a: { read: ['*'], mask: { public.customers: [id] } } }`)
  assert.deepEqual(operations(hidden, ['a'], CUSTOMERS), ['search', 'aggregate'])
  assert.deepEqual(columns(hidden, ['a'], 'get'), [])
  const schema = schemaOf(
    tableOf('public', 'v', { kind: 'view', columns: { a: 'integer', b: 'text', j: 'json' } }),
    tableOf('public', 'w', { kind: 'view', columns: { a: 'integer', b: 'text', j: 'json' } }),
  )
  const keys = "version: 1\ntables: { public.v: { key: [b, a] }, public.w: }\nroles: { a: { read: ['*'] } }"
  const engine = engineOf(keys, schema)
  const rights = engine.rights(caller(['a']))
  assert.deepEqual(
    rights.byToolBase.get('v')?.key.map((column) => column.name),
    ['b', 'a'],
  )
  assert.deepEqual([...(rights.byToolBase.get('w')?.operations ?? [])], ['search', 'aggregate'])
  const view = rights.byToolBase.get('v')
  assert.deepEqual(view?.table.declaredKey, ['b', 'a'], 'order and cuts of cells go by the key the policy gives')
  const json = compiled("version: 1\ntables: { public.v: { key: [a, j] } }\nroles: { a: { read: ['*'] } }", schema)
  assert.deepEqual(
    json.findings.map(({ kind, severity }) => [kind, severity]),
    [['key_unusable', 'warning']],
  )
  assert.deepEqual(operations(json.engine, ['a'], refOf('public', 'v')), ['search', 'aggregate'])
})

test('an operation in which nothing is visible does not exist, nor does a table without operations', () => {
  const mask = 'mask: { public.customers: [id, name, email, ssn, tenant_id, country] }'
  const engine = engineOf(`${BOTH}roles: { blind: { read: [public.customers], ${mask} } }`)
  assert.deepEqual(operations(engine, ['blind'], CUSTOMERS), [])
  assert.deepEqual(engine.rights(caller(['blind'])).tables, [])
})

test('the most specific limit wins: identity over role over table over defaults over the built-in ones', () => {
  const text = (identity: string, role: string, table: string, defaults: string) => `version: 1
defaults: { ${defaults} }
tables: { public.customers: { ${table} } }
roles: { a: { read: ['*'], ${role} } }
identities: { ann: { ${identity} } }`
  const cap = (...parts: [string, string, string, string]) => engineOf(text(...parts)).rowCap(caller(['a']), CUSTOMERS)
  assert.equal(cap('', '', '', ''), limits.ROW_CAP)
  assert.equal(cap('', '', '', 'row_cap: 5'), 5)
  assert.equal(cap('', '', 'row_cap: 300', 'row_cap: 5'), 300)
  assert.equal(cap('', 'row_cap: 20', 'row_cap: 300', 'row_cap: 5'), 20)
  assert.equal(cap('row_cap: 7', 'row_cap: 20', 'row_cap: 300', 'row_cap: 5'), 7)
})

test('every limit is taken from the policy, and a page is never larger than the row cap', () => {
  const set =
    'row_cap: 40, page_size: 90, query_timeout_ms: 77, response_chars_max: 1234, cell_chars_max: 55, max_affected_rows: 9, min_group_size: 6, require_index_above_rows: 77777'
  const engine = engineOf(
    `version: 1\ndefaults: { ${set} }\ntables: { public.customers: }\nroles: { a: { aggregate: ['*'] } }`,
  )
  const expected = {
    rowCap: 40,
    pageSize: 40,
    queryTimeoutMs: 77,
    responseCharsMax: 1234,
    cellCharsMax: 55,
    maxAffectedRows: 9,
    minGroupSize: 6,
    indexRequiredAboveRows: 77777,
  }
  assert.deepEqual(engine.limits(caller(['a']), CUSTOMERS), expected)
  assert.deepEqual(engine.rights(caller(['a'])).byToolBase.get('customers')?.limits, expected)
  assert.equal(engine.queryTimeoutMs(caller(['a']), CUSTOMERS), 77)
})

test('of several granting roles the largest limit holds, and a role that sets none counts with the table’s', () => {
  const engine = engineOf(`version: 1
tables: { public.customers: { row_cap: 50 }, public.orders: }
roles:
  low: { read: ['*'], row_cap: 10 }
  high: { read: ['*'], row_cap: 30 }
  plain: { read: ['*'] }
  elsewhere: { read: [public.orders], row_cap: 9000 }`)
  const cap = (...roles: string[]) => engine.rowCap(caller(roles), CUSTOMERS)
  assert.equal(cap('low'), 10)
  assert.equal(cap('low', 'high'), 30)
  assert.equal(cap('low', 'plain'), 50)
  assert.equal(cap('low', 'elsewhere'), 10)
})

test('read_only is recorded by the identity’s name, and what no table allows nobody can do', () => {
  const engine = engineOf(`${BOTH}identities: { batch-7: { read_only: true }, ann: { row_cap: 5 } }`)
  assert.equal(engine.identityReadOnly(caller([], {}, 'batch-7')), true)
  assert.equal(engine.identityReadOnly(caller([], {}, 'ann')), false)
  assert.equal(engine.identityReadOnly(caller([], {}, '__proto__')), false)
  assert.deepEqual(engine.overriddenIdentities, ['batch-7', 'ann'])
  assert.equal(engine.identityCanMutate(caller(['a']), CUSTOMERS), false)
})

test('rights are worked out once for a set of known roles, in whatever order they come', () => {
  const engine = engineOf(
    `${BOTH}roles: { a: { read: ['*'] }, b: { read: [public.orders] } }\nidentities: { bob: { row_cap: 5 } }`,
  )
  const rights = engine.rights(caller(['a', 'b']))
  assert.equal(engine.rights(caller(['b', 'a', 'unknown', 'b'])), rights)
  assert.notEqual(engine.rights(caller(['a'])), rights)
  assert.notEqual(engine.rights(caller(['a', 'b'], {}, 'bob')), rights)
  const keys = [['a'], ['b'], ['a', 'b'], []].map((roles) => engine.rights(caller(roles)).key)
  assert.equal(new Set([...keys, engine.rights(caller(['a'], {}, 'bob')).key]).size, 5)
})

test('the rights that are kept are bounded', () => {
  const count = limits.TOOL_LISTS_CACHED_MAX + 10
  const roles = Array.from({ length: count }, (_, i) => `  r${i}: { read: ['*'] }`).join('\n')
  const engine = engineOf(`${BOTH}roles:\n${roles}`)
  const first = engine.rights(caller(['r0']))
  for (let i = 1; i < count; i++) {
    engine.rights(caller([`r${i}`]))
    if (i === 5) assert.equal(engine.rights(caller(['r0'])), first)
  }
  assert.notEqual(engine.rights(caller(['r0'])), first)
})

test('tables are ordered by tool base, columns as in the table', () => {
  const engine = engineOf(
    "version: 1\ntables: { public.orders: { tool_name: aaa }, public.customers: }\nroles: { a: { read: ['*'] } }",
  )
  assert.deepEqual(
    engine.rights(caller(['a'])).tables.map((table) => table.toolBase),
    ['aaa', 'customers'],
  )
})

test('a relation exists only where every column on both sides is readable', () => {
  const relations = (roles: string) => {
    const engine = engineOf(`${BOTH}roles: { a: ${roles} }`)
    return engine.rights(caller(['a'])).byToolBase.get('orders')?.relations
  }
  const whole = [{ columns: ['customer_id'], references: 'customers', referencedColumns: ['id'] }]
  assert.deepEqual(relations("{ read: ['*'] }"), whole)
  assert.deepEqual(relations('{ read: [public.orders] }'), [])
  assert.deepEqual(relations('{ read: [public.orders], aggregate: [public.customers] }'), [])
  assert.deepEqual(relations("{ read: ['*'], mask: { public.customers: [id] } }"), [])
  assert.deepEqual(relations("{ read: ['*'], mask: { public.orders: [customer_id] } }"), [])
})

test('thousands of tables and tens of roles are worked out in one pass', () => {
  const names = Array.from({ length: 2_000 }, (_, i) => `t${i}`)
  const sketch = { columns: { id: 'integer', name: 'text', note: 'text', total: 'decimal' }, key: ['id'] } as const
  const schema = schemaOf(
    ...names.map((name) =>
      tableOf('public', name, { ...sketch, comment: 'see t1.total', comments: { note: 'free text' } }),
    ),
  )
  const tables = names.map((name) => `"public.${name}":{"mask":["note"]}`).join(',')
  const roles = Array.from({ length: 40 }, (_, i) => `"r${i}":{"read":["*"],"mask":{"public.t${i}":["total"]}}`).join(
    ',',
  )
  const engine = engineOf(`{"version":1,"tables":{${tables}},"roles":{${roles}}}`, schema)
  const rights = engine.rights(caller(Array.from({ length: 40 }, (_, i) => `r${i}`)))
  assert.equal(rights.tables.length, 2_000)
})

test('a relation that the policy declares is one like any other, and one that cannot be is void and refuses the policy', () => {
  const schema = schemaOf(
    tableOf('public', 'regions', { columns: { id: 'integer', code: 'text' }, key: ['id'] }),
    tableOf('public', 'shops', { columns: { id: 'integer', region_id: 'integer', region: 'text' }, key: ['id'] }),
  )
  const judged = (relation: string) => {
    const policy = `version: 1\ntables: { public.regions: , public.shops: { relations: { r: ${relation} } } }\nroles: { a: { read: ['*'] } }`
    const { engine, findings } = compiled(policy, schema)
    const shops = engine.rights(caller(['a'])).byToolBase.get('shops')
    return { relations: shops?.relations, findings: findings.map(({ kind, severity }) => [kind, severity]) }
  }
  assert.deepEqual(judged('{ columns: [region_id], references: public.regions }'), {
    relations: [{ columns: ['region_id'], references: 'regions', referencedColumns: ['id'] }],
    findings: [],
  })
  assert.deepEqual(judged('{ columns: [region], references: public.regions, referenced_columns: [code] }').relations, [
    { columns: ['region'], references: 'regions', referencedColumns: ['code'] },
  ])
  const wrong = [
    '{ columns: [region_id], references: public.region }',
    '{ columns: [nope], references: public.regions }',
    '{ columns: [region_id], references: public.regions, referenced_columns: [nope] }',
    '{ columns: [region_id, region], references: public.regions }',
  ]
  for (const relation of wrong) {
    assert.deepEqual(judged(relation), { relations: [], findings: [['relation_unusable', 'error']] })
  }
})
