import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { GatewayError } from '../../src/core/errors.js'
import * as limits from '../../src/core/limits.js'
import type { AggregatePlan, Filter, GetPlan, QueryPlan, SearchPlan, ValidatedPlan } from '../../src/core/plan.js'
import { catalogName } from '../../src/core/schema-model.js'
import { CUSTOMERS, caller, engineOf, ORDERS, PAYROLL, SHOP } from '../support/policy-schema.js'

const id = catalogName

const engine = engineOf(`
version: 1
tables:
  public.customers: { mask: [ssn], row_cap: 50, aggregate: { columns: [country, tenant_id] } }
  public.orders:
roles:
  reader: { read: ['*'] }
  counter: { aggregate: [public.customers] }
  tenant: { read: [public.customers], row_filter: { public.customers: [{ column: tenant_id, op: eq, value: { claim: tenant } }] } }
`)
const READER = caller(['reader'])

const GET: GetPlan = {
  kind: 'get',
  table: CUSTOMERS,
  key: [{ column: id('id'), op: 'eq', value: '1' }],
  columns: [id('id'), id('name')],
}
const SEARCH: SearchPlan = {
  kind: 'search',
  table: CUSTOMERS,
  columns: [id('id'), id('name')],
  filters: [{ column: id('name'), op: 'ilike', value: 'a%' }],
  order: [{ column: id('name'), direction: 'asc' }],
  limit: 50,
}
const AGGREGATE: AggregatePlan = {
  kind: 'aggregate',
  table: CUSTOMERS,
  metrics: [
    { fn: 'count', as: 'n' },
    { fn: 'max', column: id('tenant_id'), as: 'top' },
  ],
  groupBy: [id('country')],
  filters: [],
  order: [
    { by: { kind: 'metric', index: 1 }, direction: 'desc' },
    { by: { kind: 'group', index: 0 }, direction: 'asc' },
  ],
  limit: 50,
}

function refused(plan: QueryPlan, identity = READER): GatewayError {
  const result = engine.validate(plan, identity)
  assert.ok(!result.ok, 'the plan was accepted')
  return result.error
}

test('an accepted plan carries its table, the columns that may be used, the row scope and the limits', () => {
  for (const plan of [GET, SEARCH, AGGREGATE]) {
    const result = engine.validate(plan, READER)
    assert.ok(result.ok, result.ok ? '' : JSON.stringify(result.error))
    const { value } = result
    assert.equal(value.plan, plan)
    assert.equal(value.table, SHOP.tables[0])
    assert.deepEqual(value.scope, { all: [] })
    assert.equal(value.limits.rowCap, 50)
    const visible =
      plan.kind === 'aggregate' ? ['tenant_id', 'country'] : ['id', 'name', 'email', 'tenant_id', 'country']
    assert.deepEqual([...value.visible.keys()], visible)
  }
})

test('a table that is not exposed, not granted, or not there at all gets one answer, before any name is looked at', () => {
  const nowhere = { schema: id('public'), name: id('nowhere') }
  const unknown = { code: 'TOOL_UNKNOWN' }
  assert.deepEqual(refused({ ...SEARCH, table: PAYROLL }), unknown)
  assert.deepEqual(refused({ ...SEARCH, table: nowhere }), unknown)
  assert.deepEqual(refused({ ...SEARCH, columns: [id('ssn')] }, caller([])), unknown)
  assert.deepEqual(refused({ ...SEARCH, columns: [id('nope')] }, caller(['counter'])), unknown)
  assert.deepEqual(refused(GET, caller(['counter'])), unknown)
})

test('a claim that the row scope needs is asked for before names are resolved', () => {
  const error = refused({ ...SEARCH, columns: [id('nope')] }, caller(['tenant']))
  assert.equal(error.code, 'POLICY_SCOPE')
  const scoped = engine.validate(SEARCH, caller(['tenant'], { tenant: 3 }))
  assert.ok(scoped.ok)
  assert.deepEqual(scoped.value.scope, { all: [], any: [[{ column: 'tenant_id', op: 'eq', value: '3' }]] })
})

/** The same plan with one name in each place where a plan can hold one. */
const PLACES: Readonly<Record<string, (name: string) => QueryPlan>> = {
  'get columns': (name) => ({ ...GET, columns: [id(name)] }),
  'search columns': (name) => ({ ...SEARCH, columns: [id('id'), id(name)] }),
  'search filter': (name) => ({ ...SEARCH, filters: [{ column: id(name), op: 'eq', value: 'x' }] }),
  'search null filter': (name) => ({ ...SEARCH, filters: [{ column: id(name), op: 'is_null' }] }),
  'search order': (name) => ({ ...SEARCH, order: [{ column: id(name), direction: 'asc' }] }),
  'aggregate metric': (name) => ({ ...AGGREGATE, metrics: [{ fn: 'min', column: id(name), as: 'm' }], order: [] }),
  'aggregate count': (name) => ({ ...AGGREGATE, metrics: [{ fn: 'count', column: id(name), as: 'm' }], order: [] }),
  'aggregate group': (name) => ({ ...AGGREGATE, groupBy: [id(name)] }),
  'aggregate filter': (name) => ({ ...AGGREGATE, filters: [{ column: id(name), op: 'not_null' }] }),
}

test('a masked column is refused exactly like a missing one, wherever it stands', () => {
  for (const [place, planWith] of Object.entries(PLACES)) {
    const masked = refused(planWith('ssn'))
    const missing = refused(planWith('sss'))
    assert.equal(masked.code, 'ARGUMENT_COLUMN', place)
    assert.deepEqual({ ...masked, refused: '' }, { ...missing, refused: '' }, place)
    assert.equal(masked.refused, 'ssn')
    assert.equal(JSON.stringify({ ...masked, refused: '' }).includes('ssn'), false, place)
  }
})

test('a column outside aggregate.columns is refused in aggregates exactly like a missing one', () => {
  const hidden = refused({ ...AGGREGATE, groupBy: [id('email')] })
  const missing = refused({ ...AGGREGATE, groupBy: [id('emaix')] })
  assert.deepEqual({ ...hidden, refused: '' }, { ...missing, refused: '' })
  assert.equal(hidden.expected, 'one of tenant_id, country')
})

test('a suggestion comes from visible names only', () => {
  assert.equal(refused({ ...SEARCH, columns: [id('emial')] }).suggestion, 'email')
  assert.equal(refused({ ...SEARCH, columns: [id('ssn_')] }).suggestion, undefined)
})

test('whether a refused name was masked is told to the audit entry alone', () => {
  assert.equal(engine.hiddenReason(READER, CUSTOMERS, 'search', 'ssn'), 'column_masked')
  assert.equal(engine.hiddenReason(READER, CUSTOMERS, 'search', 'nope'), 'column_unknown')
  assert.equal(engine.hiddenReason(READER, CUSTOMERS, 'aggregate', 'email'), 'column_masked')
  assert.equal(engine.hiddenReason(READER, CUSTOMERS, 'search', 'email'), 'column_unknown')
  assert.equal(engine.hiddenReason(READER, PAYROLL, 'search', 'salary'), 'column_unknown')
})

test('get takes one equality for each key column, in key order, and nothing else', () => {
  const keys: readonly GetPlan['key'][] = [
    [],
    [...GET.key, ...GET.key],
    [{ column: id('name'), op: 'eq', value: '1' }],
    [{ column: id('id'), op: 'gte', value: '1' }],
  ]
  for (const key of keys) assert.equal(refused({ ...GET, key }).code, 'ARGUMENT_MISSING')
})

test('an operator that does not fit its column’s type is refused with those that do', () => {
  const order = (filter: Filter): QueryPlan => ({
    ...SEARCH,
    table: ORDERS,
    columns: [id('id')],
    filters: [filter],
    order: [],
  })
  const cases: readonly Filter[] = [
    { column: id('extra'), op: 'eq', value: '{}' },
    { column: id('extra'), op: 'gt', value: '{}' },
    { column: id('total'), op: 'ilike', value: '1' },
    { column: id('status'), op: 'ilike', value: 'n%' },
  ]
  for (const filter of cases) assert.equal(refused(order(filter)).code, 'ARGUMENT_OPERATOR')
  assert.equal(refused(order({ column: id('extra'), op: 'eq', value: '{}' })).expected, 'one of is_null, not_null')
  assert.ok(engine.validate(order({ column: id('extra'), op: 'not_null' }), READER).ok)
})

test('a metric that does not fit its column’s type is refused, and only count goes without a column', () => {
  const plan = (metric: AggregatePlan['metrics'][number]): QueryPlan => ({
    ...AGGREGATE,
    table: ORDERS,
    metrics: [metric],
    groupBy: [],
    order: [],
  })
  assert.equal(refused(plan({ fn: 'sum', column: id('status'), as: 'm' })).code, 'ARGUMENT_OPERATOR')
  assert.equal(refused(plan({ fn: 'count_distinct', column: id('extra'), as: 'm' })).code, 'ARGUMENT_OPERATOR')
  assert.equal(refused(plan({ fn: 'max', column: id('paid'), as: 'm' })).code, 'ARGUMENT_OPERATOR')
  assert.equal(refused(plan({ fn: 'sum', as: 'm' })).code, 'ARGUMENT_MISSING')
  for (const metric of [
    { fn: 'sum', column: id('total'), as: 'm' },
    { fn: 'count', as: 'm' },
  ] as const) {
    assert.ok(engine.validate(plan(metric), READER).ok)
  }
})

test('a column without order sorts nothing, one without equality groups nothing', () => {
  const onOrders = { table: ORDERS, filters: [] }
  const sorted: QueryPlan = {
    ...SEARCH,
    ...onOrders,
    columns: [id('id')],
    order: [{ column: id('extra'), direction: 'asc' }],
  }
  assert.equal(refused(sorted).field, 'order_by[0].column')
  assert.equal(refused({ ...AGGREGATE, ...onOrders, groupBy: [id('extra')] }).field, 'group_by[0]')
})

test('a limit above the row cap is refused, not cut', () => {
  for (const limit of [51, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.deepEqual(refused({ ...SEARCH, limit }), {
      code: 'ARGUMENT_LIMIT',
      field: 'limit',
      expected: 'a whole number from 1 to 50',
    })
    assert.equal(refused({ ...AGGREGATE, limit }).field, 'limit')
  }
})

test('counts of filters, values, orders, metrics and groups are capped', () => {
  const filter: Filter = { column: id('id'), op: 'eq', value: '1' }
  const many = <T>(count: number, item: T): readonly T[] => Array.from({ length: count + 1 }, () => item)
  const values = many(limits.IN_VALUES_MAX, '1')
  const plans: readonly (readonly [QueryPlan, string])[] = [
    [{ ...SEARCH, filters: many(limits.FILTERS_MAX, filter) }, 'filters'],
    [{ ...SEARCH, filters: [{ column: id('id'), op: 'in', values }] }, 'filters[0].values'],
    [{ ...SEARCH, order: many(limits.ORDER_COLUMNS_MAX, { column: id('id'), direction: 'asc' } as const) }, 'order_by'],
    [{ ...AGGREGATE, metrics: many(limits.METRICS_MAX, { fn: 'count', as: 'n' } as const) }, 'metrics'],
    [{ ...AGGREGATE, groupBy: many(limits.GROUP_COLUMNS_MAX, id('country')) }, 'group_by'],
  ]
  for (const [plan, field] of plans) {
    const error = refused(plan)
    assert.deepEqual([error.code, error.field], ['ARGUMENT_LIMIT', field])
  }
  const long = 'x'.repeat(limits.VALUE_CHARS_MAX + 1)
  assert.equal(refused({ ...SEARCH, filters: [{ column: id('name'), op: 'eq', value: long }] }).code, 'ARGUMENT_VALUE')
})

test('a plan that selects nothing, selects twice, or names two results alike is refused', () => {
  assert.equal(refused({ ...SEARCH, columns: [] }).field, 'columns')
  assert.equal(refused({ ...GET, columns: [id('id'), id('id')] }).field, 'columns')
  assert.equal(refused({ ...AGGREGATE, metrics: [], order: [] }).field, 'metrics')
  const count = (as: string) => ({ fn: 'count', as }) as const
  for (const metrics of [
    [count('n'), count('n')],
    [count('country')],
    [count('__proto__')],
    [count('a b')],
    [count('')],
  ]) {
    assert.match(refused({ ...AGGREGATE, metrics, order: [] }).field ?? '', /\.as$/)
  }
  assert.equal(refused({ ...AGGREGATE, groupBy: [id('country'), id('country')] }).field, 'group_by[1]')
})

test('an aggregate orders by its own metrics and groups only', () => {
  for (const by of [
    { kind: 'metric', index: 2 },
    { kind: 'group', index: 1 },
    { kind: 'group', index: -1 },
  ] as const) {
    assert.equal(refused({ ...AGGREGATE, order: [{ by, direction: 'asc' }] }).field, 'order_by[0].by')
  }
})

test('a validated plan cannot be written down, only be made by validate', () => {
  const accepted = engine.validate(SEARCH, READER)
  assert.ok(accepted.ok)
  const { plan, table, visible, scope, limits: callLimits } = accepted.value
  // @ts-expect-error: the brand is a symbol that no other module can name.
  const forged: ValidatedPlan = { plan, table, visible, scope, limits: callLimits }
  // @ts-expect-error: a plan alone is not a validated one.
  const bare: ValidatedPlan = SEARCH
  // @ts-expect-error: the plan inside cannot be exchanged.
  accepted.value.plan = GET
  assert.ok(forged && bare)
})

test('no source file but the policy engine casts to ValidatedPlan', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const casting = files.filter((name) =>
    /\bas (unknown as )?ValidatedPlan\b/.test(readFileSync(join('src', name), 'utf8')),
  )
  assert.deepEqual(casting, [join('policy', 'policy-engine.ts')])
})
