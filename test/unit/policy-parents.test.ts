import assert from 'node:assert/strict'
import test from 'node:test'
import type { ParentTerm, Scope, UpdatePlan } from '../../src/core/plan.js'
import { catalogName, type SchemaModel } from '../../src/core/schema-model.js'
import { diffPolicies } from '../../src/policy/diff.js'
import { explainCall, explainedPolicy } from '../../src/policy/explain.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy } from '../../src/policy/policy-engine.js'
import { DIALECTS } from '../support/dialects.js'
import { aggregatePlan } from '../support/plans.js'
import { caller, compiled, engineOf, refOf, schemaOf, tableOf } from '../support/policy-schema.js'

/** Row filters that lead to the row which a foreign key references. */

const links = (columns: readonly string[], table: string, referencedColumns: readonly string[] = ['id']) => ({
  columns,
  references: ['public', table] as const,
  referencedColumns,
})
const SCHEMA = schemaOf(
  tableOf('public', 'customers', {
    columns: { id: 'integer', tenant: 'integer', gone: 'boolean' },
    key: ['id'],
    notNull: ['id', 'gone'],
  }),
  tableOf('public', 'orders', {
    columns: { id: 'integer', customer_id: 'integer', agent_id: 'integer', note: 'text', kind: 'text' },
    key: ['id'],
    notNull: ['id', 'kind'],
    defaults: ['kind'],
    foreignKeys: [links(['customer_id'], 'customers'), links(['agent_id'], 'agents')],
  }),
  tableOf('public', 'order_lines', {
    columns: { id: 'integer', order_id: 'integer' },
    key: ['id'],
    foreignKeys: [links(['order_id'], 'orders')],
  }),
  tableOf('public', 'parts', {
    columns: { id: 'integer', line_id: 'integer' },
    key: ['id'],
    foreignKeys: [links(['line_id'], 'order_lines')],
  }),
  tableOf('public', 'screws', {
    columns: { id: 'integer', part_id: 'integer' },
    key: ['id'],
    foreignKeys: [links(['part_id'], 'parts')],
  }),
  tableOf('public', 'agents', {
    columns: { id: 'integer', boss_id: 'integer', team: 'text' },
    key: ['id'],
    foreignKeys: [links(['boss_id'], 'agents')],
  }),
  tableOf('public', 'pairs', {
    columns: { a: 'integer', b: 'integer', c: 'integer', t: 'text' },
    foreignKeys: [
      links(['a', 'b'], 'cells', ['x', 'y']),
      links(['b', 'a'], 'cells', ['y', 'x']),
      links(['c'], 'customers'),
      links(['c'], 'agents'),
    ],
  }),
  tableOf('public', 'cells', { columns: { x: 'integer', y: 'integer' }, key: ['x', 'y'] }),
)
/** As a catalog numbers its tables, which is what statements make sure of. */
const NUMBERED: SchemaModel = {
  ...SCHEMA,
  tables: SCHEMA.tables.map((table, index) => ({ ...table, catalogId: String(16_384 + index) })),
}
const tableNamed = (name: string) => {
  const table = NUMBERED.tables.find(({ ref }) => ref.name === name)
  assert.ok(table)
  return table
}
const ALL = "roles: { r: { read: ['*'] } }"
const TENANT = '[ { column: tenant, op: eq, value: { claim: tenant } } ]'

function tables(rules: Readonly<Record<string, string>>, roles = ALL): string {
  return `version: 1\ntables:\n${Object.entries(rules)
    .map(([name, rule]) => `  public.${name}: { ${rule} }`)
    .join('\n')}\n${roles}`
}
const by = (...columns: readonly string[]) => `row_filter: [ { parent: [${columns.join(', ')}] } ]`

function scopeOf(text: string, table: string, roles = ['r'], claims = {}, schema: SchemaModel = SCHEMA): Scope {
  const scope = engineOf(text, schema).scope(caller(roles, claims), refOf('public', table), 'search')
  assert.ok(scope.ok, JSON.stringify(scope))
  return scope.value
}

const shape = (scope: Scope): unknown => ({
  all: scope.all.map(shapeOf),
  ...(scope.any === undefined ? {} : { any: scope.any.map((group) => group.map(shapeOf)) }),
})
const shapeOf = (term: Scope['all'][number]): unknown =>
  term.op === 'parent'
    ? [[...term.columns], term.parent.ref.name, [...term.parentColumns], shape(term.scope)]
    : `${term.column} ${term.op}`

test('a parent is in scope by its own filters, and by those of its own parent', () => {
  const text = tables({
    customers: `row_filter: ${TENANT}`,
    orders: by('customer_id'),
    order_lines: by('order_id'),
  })
  const customer = { all: ['tenant eq'], any: undefined }
  const order = [['customer_id'], 'customers', ['id'], { all: customer.all }]
  assert.deepEqual(shape(scopeOf(text, 'orders', ['r'], { tenant: 1 })), { all: [order] })
  assert.deepEqual(shape(scopeOf(text, 'order_lines', ['r'], { tenant: 1 })), {
    all: [[['order_id'], 'orders', ['id'], { all: [order] }]],
  })
})

test('a key of several columns is named in any order, and the same key twice is one', () => {
  for (const columns of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    const scope = scopeOf(tables({ pairs: by(...columns), cells: '' }), 'pairs')
    assert.deepEqual(shape(scope), { all: [[['a', 'b'], 'cells', ['x', 'y'], { all: [] }]] })
  }
})

test('a parent that the caller may read is held to its roles’ filters, and one that it may not to its table’s alone', () => {
  const rules = {
    customers: `row_filter: ${TENANT}, soft_delete: { column: gone, value: true }`,
    orders: by('customer_id'),
  }
  const roles = (more: string) => `roles:
  all: { read: [public.orders] }
  some: { read: [public.customers], row_filter: { public.customers: [ { column: id, op: lt, value: 9 } ] } }
  none: { deny: [public.customers] }
  sums: { aggregate: [public.customers], row_filter: { public.customers: [ { column: id, op: gt, value: 9 } ] } }
  ${more}`
  const parentOf = (names: readonly string[]) => {
    const [term] = scopeOf(tables(rules, roles('')), 'orders', [...names], { tenant: 1 }).all
    assert.ok(term?.op === 'parent')
    return shape(term.scope)
  }
  const all = ['tenant eq', 'gone eq']
  assert.deepEqual(parentOf(['all']), { all })
  assert.deepEqual(parentOf(['all', 'sums']), { all }, 'aggregates are no reading')
  assert.deepEqual(parentOf(['all', 'some']), { all, any: [['id lt']] })
  assert.deepEqual(parentOf(['all', 'some', 'none']), { all }, 'what is denied is not read')
})

test('reads that include deleted rows include what hangs on them', () => {
  const soft = (include: boolean) => `soft_delete: { column: gone, value: true, reads_include_deleted: ${include} }`
  const parent = (include: boolean) => {
    const [term] = scopeOf(tables({ customers: soft(include), orders: by('customer_id') }), 'orders').all
    return shape((term as ParentTerm).scope)
  }
  assert.deepEqual(parent(false), { all: ['gone eq'] })
  assert.deepEqual(parent(true), { all: [] })
})

test('a claim that a parent needs fails closed: the call, or the role’s own list', () => {
  const engine = engineOf(
    tables(
      { customers: `row_filter: ${TENANT}`, orders: '' },
      `roles:
  a: { read: [public.orders], row_filter: { public.orders: [ { parent: [customer_id] } ] } }
  b: { read: [public.orders], row_filter: { public.orders: [ { column: kind, op: eq, value: open } ] } }`,
    ),
    SCHEMA,
  )
  const scope = (roles: readonly string[], claims = {}) =>
    engine.scope(caller(roles, claims), refOf('public', 'orders'), 'search')
  assert.deepEqual(scope(['a']), {
    ok: false,
    error: { code: 'POLICY_SCOPE', reason: 'claim "tenant" is missing' },
  })
  const left = scope(['a', 'b'])
  assert.deepEqual(left.ok && shape(left.value), { all: [], any: [['kind eq']] })
  const both = scope(['a', 'b'], { tenant: 1 })
  assert.deepEqual(both.ok && shape(both.value), {
    all: [],
    any: [[[['customer_id'], 'customers', ['id'], { all: ['tenant eq'] }]], ['kind eq']],
  })
})

test('what a soft delete writes must still have its parent in scope', () => {
  const engine = engineOf(
    tables(
      {
        customers: 'soft_delete: { column: gone, value: true }',
        orders: `${by('customer_id')}, soft_delete: { column: kind, value: gone }, update: { columns: [note] }`,
      },
      "roles: { r: { read: ['*'], update: [public.orders], soft_delete: [public.orders] } }",
    ).replace('row_filter: [', 'row_filter: [ { column: kind, op: neq, value: secret },'),
    { ...SCHEMA, tables: SCHEMA.tables },
  )
  const key = [{ column: catalogName('id'), op: 'eq', value: '1' }] as const
  const plan = { kind: 'soft_delete', table: refOf('public', 'orders'), key, expected: [], dryRun: false } as const
  const judged = engine.validateMutation(plan, caller(['r']))
  assert.ok(judged.ok)
  const parent = [['customer_id'], 'customers', ['id'], { all: ['gone eq'] }]
  assert.deepEqual(shape(judged.value.scope), { all: ['kind neq', parent, 'kind neq'] })
  assert.deepEqual(shape(judged.value.writtenScope), { all: [parent] })
  const update: UpdatePlan = { ...plan, kind: 'update', values: [{ column: catalogName('note'), value: 'x' }] }
  const updated = engine.validateMutation(update, caller(['r']))
  assert.deepEqual(updated.ok && shape(updated.value.writtenScope), { all: ['kind neq', parent, 'kind neq'] })
  assert.ok(judged.value.guard === 'columns')
})

interface Told {
  readonly kind: string
  readonly table: string
  readonly path: string
  readonly text: string
}
function withheld(text: string, schema: SchemaModel = SCHEMA): readonly Told[] {
  return compiled(text, schema)
    .findings.filter(({ withholds }) => withholds)
    .map(({ kind, table, path, text: told }) => ({ kind, table, path: path.join('.'), text: told }))
}
function onlyWithheld(text: string): Told {
  const [told, ...others] = withheld(text)
  assert.ok(told !== undefined && others.length === 0, JSON.stringify([told, ...others]))
  return told
}

test('columns of no key, and of several, withhold the table', () => {
  const none = onlyWithheld(tables({ orders: by('note'), customers: '' }))
  assert.deepEqual([none.kind, none.path], ['parent_unusable', 'tables.public.orders.row_filter.0.parent'])
  assert.match(none.text, /no foreign key, and no relation of the policy, has exactly these columns/)
  const more = onlyWithheld(tables({ orders: by('customer_id', 'note'), customers: '' }))
  assert.match(more.text, /there are "customer_id"; "agent_id"; the table is withheld/)
  const several = onlyWithheld(tables({ pairs: by('c'), customers: '', agents: '' }))
  assert.match(several.text, /both "fk_2" to "public.customers" \("id"\) and "fk_3" to "public.agents" \("id"\)/)
  const unknown = onlyWithheld(tables({ orders: by('custmer_id'), customers: '' }))
  assert.deepEqual([unknown.kind, unknown.path], ['column_unknown', 'tables.public.orders.row_filter.0.parent.0'])
  assert.match(unknown.text, /Did you mean "customer_id"\?$/)
})

test('a parent that does not stand under tables withholds the table, and says what to do', () => {
  const text = onlyWithheld(tables({ orders: by('customer_id'), agents: '' })).text
  assert.match(
    text,
    /it leads to "public.customers", which does not stand under tables; the table is withheld\. Name it/,
  )
  const near = withheld(tables({ orders: by('customer_id'), customer: '' }))
  assert.ok(
    near.some(({ table, text: told }) => table === 'public.orders' && /Did you mean "public.customer"\?$/.test(told)),
  )
})

test('a withheld parent withholds what hangs on it, and what hangs on that, whichever rule withheld it', () => {
  const rules = { customers: 'mask: [nothing]', orders: by('customer_id'), order_lines: '' }
  const roles = `roles: { r: { read: ['*'], row_filter: { public.order_lines: [ { parent: [order_id] } ] } } }`
  const told = withheld(tables(rules, roles)).map(({ kind, table, path }) => [kind, table, path])
  assert.deepEqual(told, [
    ['column_unknown', 'public.customers', 'tables.public.customers.mask.0'],
    ['parent_withheld', 'public.orders', 'tables.public.orders.row_filter.0.parent'],
    ['parent_withheld', 'public.order_lines', 'roles.r.row_filter.public.order_lines.0.parent'],
  ])
})

test('a way back and a way too long withhold the tables on it', () => {
  const self = onlyWithheld(tables({ agents: by('boss_id') }))
  assert.match(self.text, /it leads in a circle, from "public.agents" to "public.agents"/)
  const chain = { customers: '', orders: by('customer_id'), order_lines: by('order_id'), parts: by('line_id') }
  assert.deepEqual(withheld(tables(chain)), [], 'three tables up are served')
  const long = onlyWithheld(tables({ ...chain, screws: by('part_id') }))
  assert.equal(long.table, 'public.screws')
  assert.match(long.text, /further than 3 tables, from "public.screws" to "public.parts" to .* to "public.customers"/)
  const circle = tables(
    {
      customers: 'relations: { last: { columns: [tenant], references: public.orders } }',
      orders: by('customer_id'),
    },
    `roles: { r: { read: ['*'] }, s: { read: ['*'], row_filter: { public.customers: [ { parent: [tenant] } ] } } }`,
  )
  assert.deepEqual(
    withheld(circle)
      .map(({ kind, table }) => [kind, table])
      .sort(),
    [
      ['parent_unusable', 'public.customers'],
      ['parent_unusable', 'public.orders'],
    ],
  )
})

test('a statement has a name for each of as many parents as a policy may lead to', () => {
  const chain = { customers: '', orders: by('customer_id'), order_lines: by('order_id'), parts: by('line_id') }
  const judged = engineOf(tables(chain), NUMBERED).validate(
    aggregatePlan(tableNamed('parts'), { metrics: [{ fn: 'count' }] }),
    caller(['r']),
  )
  assert.ok(judged.ok)
  for (const { dialect } of DIALECTS) {
    const { text } = dialect.compile(judged.value)
    for (const name of ['p1', 'p2', 'p3']) assert.equal(text.split(` AS ${name} WHERE`).length, 2, text)
  }
})

test('a relation of the policy leads to a parent like a key of the database, where its columns can be compared', () => {
  const relation = (column: string) =>
    `relations: { whose: { columns: [${column}], references: public.customers } }, ${by(column)}`
  const scope = scopeOf(tables({ pairs: relation('b'), customers: '' }), 'pairs')
  assert.deepEqual(shape(scope), { all: [[['b'], 'customers', ['id'], { all: [] }]] })
  const told = onlyWithheld(tables({ pairs: relation('t'), customers: '' }))
  assert.match(told.text, /column "t" \(text\) cannot be compared with "id" \(integer\) of "public.customers"/)
})

test('columns that changed on either side since the policy was applied withhold the table', () => {
  const document = parsePolicy(tables({ customers: '', orders: by('customer_id') }))
  assert.ok(document.ok)
  const known = SCHEMA.tables.map(({ ref, catalogId, columns }) => ({
    name: `${ref.schema}.${ref.name}`,
    catalogId,
    columns: columns.map(({ name, catalogId: id, type }) => [name, id, type.native] as const),
  }))
  const changed = (table: string, column: string) =>
    known.map((each) =>
      each.name === table
        ? {
            ...each,
            columns: each.columns.map(([name, id, type]) => [name, name === column ? id + 90 : id, type] as const),
          }
        : each,
    )
  const told = (objects: typeof known) =>
    compilePolicy(document.value, SCHEMA, { schemas: ['public'], known: objects })
      .findings.filter(({ withholds }) => withholds)
      .map(({ kind, table }) => [kind, table])
  assert.deepEqual(told(known), [])
  assert.deepEqual(told(changed('public.orders', 'customer_id')), [['column_changed', 'public.orders']])
  assert.deepEqual(told(changed('public.customers', 'id')), [['parent_unusable', 'public.orders']])
})

test('where no subquery stands in what a change returns, a table with a parent is read back by its key', () => {
  const sqlserver: SchemaModel = { ...SCHEMA, engine: 'sqlserver' }
  const text = (filter: string) =>
    tables(
      { customers: '', orders: `${filter}${filter === '' ? '' : ','} create: { columns: [customer_id, note] }` },
      "roles: { r: { read: ['*'], create: [public.orders] } }",
    )
  const kinds = (filter: string, schema: SchemaModel) => compiled(text(filter), schema).findings.map(({ kind }) => kind)
  assert.deepEqual(kinds(by('customer_id'), SCHEMA), kinds('', SCHEMA))
  // Nothing but the caller can give the key that the new row would be read back by.
  assert.deepEqual(kinds(by('customer_id'), sqlserver), ['create_incomplete'])
  const engine = compiled(text(by('customer_id')).replace('[customer_id, note]', '[id, customer_id]'), sqlserver).engine
  const access = engine.rights(caller(['r'])).byToolBase.get('orders')
  assert.deepEqual(access?.table.insertReadBack, 'by_key')
  assert.deepEqual(access?.table.updateReadBack, 'by_key')
})

test('a difference of policies tells of rows that a parent’s rules open or close', () => {
  const side = (customers: string) => {
    const document = parsePolicy(tables({ customers, orders: by('customer_id'), order_lines: by('order_id') }))
    assert.ok(document.ok)
    return { document: document.value, schema: SCHEMA, options: { schemas: ['public'] } }
  }
  const changes = diffPolicies(side(`row_filter: ${TENANT}`), side(''))
  const lines = changes.filter(({ object }) => object.name === 'public.order_lines')
  assert.deepEqual(
    lines.map(({ kind, changed }) => [kind, changed]),
    [
      [
        'gained',
        {
          what: 'rows',
          rows: 'more',
          before:
            'rows where (order_id) leads to public.orders, rows where (customer_id) leads to public.customers, rows where tenant = claim "tenant"',
          after:
            'rows where (order_id) leads to public.orders, rows where (customer_id) leads to public.customers, all rows',
        },
      ],
    ],
  )
})

test('an explanation names the rule that leads to a parent, and the claim that it lacks', () => {
  const document = parsePolicy(tables({ customers: `row_filter: ${TENANT}`, orders: by('customer_id') }))
  assert.ok(document.ok)
  const explained = explainedPolicy({ document: document.value, schema: SCHEMA, options: { schemas: ['public'] } })
  const found = explainCall(explained, caller(['r'], { tenant: 4 }), 'search_orders', {})
  const words = '(customer_id) leads to public.customers, rows where tenant = "4"'
  assert.equal(found.rows?.text, `rows where ${words}`)
  assert.deepEqual(found.rows?.rules[0], { rule: 'tables.public.orders.row_filter[0]', rows: words })
  const refused = explainCall(explained, caller(['r']), 'search_orders', {})
  assert.equal(refused.code, 'POLICY_SCOPE')
  assert.match(
    JSON.stringify(refused.reasons),
    /leads to public.customers, rows in scope: claim \\"tenant\\" is missing/,
  )
})
