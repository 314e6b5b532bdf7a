import { FILTER_OPS, type FilterOp, type Scope, type ValidatedPlan } from '../../src/core/plan.js'
import { aggregatePlan, filter, getPlan, searchPlan, validatedPlan } from '../support/plans.js'
import type { GoldenCatalog } from './catalogs.js'
import { oneLevel, threeLevels } from './parent-scopes.js'

/** Every plan shape by name, on one engine's catalog. The statement of each stands in that engine's own file. */

const TENANT = '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'

const SCOPES: Readonly<Record<string, Scope>> = {
  'no scope': { all: [] },
  'scope all': { all: [filter('tenant_id', 'eq', TENANT), filter('ssn', 'not_null')] },
  'scope any': { all: [], any: [[filter('name', 'eq', 'a'), filter('id', 'gt', '5')], [filter('ssn', 'is_null')]] },
  'scope all and any': { all: [filter('tenant_id', 'eq', TENANT)], any: [[filter('name', 'in', ['a', 'b'])]] },
  'scope any without a group': { all: [], any: [] },
  'scope any with a group that is always true': { all: [], any: [[], [filter('id', 'eq', '1')]] },
}

function value(op: FilterOp): string | readonly string[] {
  return op === 'in' ? ['a', 'b'] : 'a'
}

type Cases = Map<string, ValidatedPlan>

/** The cases of one engine. */
export function planCases(catalog: GoldenCatalog): ReadonlyMap<string, ValidatedPlan> {
  const cases: Cases = new Map()
  addScopes(cases, catalog)
  addParents(cases, catalog)
  addFilters(cases, catalog)
  addReads(cases, catalog)
  addAggregates(cases, catalog)
  addSuppressed(cases, catalog)
  return cases
}

function addScopes(cases: Cases, { customers }: GoldenCatalog): void {
  const hidden = ['ssn', 'tenant_id']

  for (const [name, scope] of Object.entries(SCOPES)) {
    const validation = { hidden, scope }
    cases.set(
      `get with ${name}`,
      validatedPlan(customers, getPlan(customers, { id: '1' }, ['id', 'name', 'bio']), validation),
    )
    cases.set(
      `search with ${name}`,
      validatedPlan(
        customers,
        searchPlan(customers, { columns: ['id', 'name'], filters: [filter('name', 'neq', 'x')] }),
        validation,
      ),
    )
    cases.set(
      `aggregate with ${name}`,
      validatedPlan(
        customers,
        aggregatePlan(customers, { metrics: [{ fn: 'count' }], filters: [filter('name', 'neq', 'x')] }),
        validation,
      ),
    )
  }
}

function addParents(cases: Cases, catalog: GoldenCatalog): void {
  const { orderLines } = catalog
  for (const [name, scope] of [
    ['a parent', oneLevel(catalog)],
    ['parents of parents', threeLevels(catalog)],
  ] as const) {
    const validation = { scope }
    const get = getPlan(orderLines, { order_id: '9', line: '2' }, ['quantity'])
    cases.set(`get with ${name}`, validatedPlan(orderLines, get, validation))
    const search = searchPlan(orderLines, { columns: ['note'], filters: [filter('quantity', 'lt', '9')] })
    cases.set(`search with ${name}`, validatedPlan(orderLines, search, validation))
    const count = aggregatePlan(orderLines, { metrics: [{ fn: 'count' }], groupBy: ['quantity'] })
    cases.set(
      `aggregate with ${name}`,
      validatedPlan(orderLines, count, { ...validation, limits: { minGroupSize: 3 } }),
    )
  }
}

function addFilters(cases: Cases, { customers, samples, types, compared }: GoldenCatalog): void {
  for (const op of FILTER_OPS) {
    const plan = { columns: ['id'], filters: [filter('name', op, value(op))] }
    cases.set(`search filter ${op}`, validatedPlan(customers, searchPlan(customers, plan)))
    cases.set(
      `aggregate filter ${op}`,
      validatedPlan(
        customers,
        aggregatePlan(customers, {
          metrics: [{ fn: 'count' }],
          groupBy: ['name'],
          filters: [filter('name', op, value(op)), filter('id', 'gt', '1')],
        }),
      ),
    )
  }

  cases.set(
    'search filter in without values',
    validatedPlan(customers, searchPlan(customers, { columns: ['id'], filters: [filter('name', 'in', [])] })),
  )

  for (const key of types) {
    const column = `c_${key}`
    const sample = compared(key)
    cases.set(
      `search every op on ${key}`,
      validatedPlan(
        samples,
        searchPlan(samples, {
          columns: [column],
          filters: FILTER_OPS.map((op) => filter(column, op, op === 'in' ? [sample] : sample)),
        }),
      ),
    )
  }
}

function addReads(cases: Cases, { customers, orderLines, activity, samples }: GoldenCatalog): void {
  cases.set(
    'get by a composite key',
    validatedPlan(orderLines, getPlan(orderLines, { order_id: '9', line: '2' }, ['note', 'quantity'])),
  )
  cases.set('get by a unique key', validatedPlan(customers, getPlan(customers, { email: 'a@b.c' }, ['email', 'bio'])))
  cases.set(
    'get from a view by a key that may match several rows',
    validatedPlan(activity, getPlan(activity, { actor: 'x' }, ['actor', 'amount'])),
  )

  const ordered = (order: readonly string[], hide: readonly string[] = []) =>
    validatedPlan(customers, searchPlan(customers, { columns: ['name', 'bio'], order }), { hidden: hide })
  cases.set('search ordered by the caller', ordered(['-created_at', 'bio']))
  cases.set('search ordered by a part of the tie-break', ordered(['-id']))
  cases.set('search ordered twice by one column', ordered(['name', '-name']))
  cases.set('search whose primary key is hidden', ordered([], ['id']))
  cases.set('search whose keys are all hidden', ordered(['-name'], ['id', 'email']))
  cases.set('search whose only visible key can be null', ordered([], ['id', 'email', 'tenant_id']))
  cases.set(
    'search ordered over a composite key',
    validatedPlan(orderLines, searchPlan(orderLines, { columns: ['note'], order: ['-line'] })),
  )
  cases.set(
    'search over a view without a key',
    validatedPlan(activity, searchPlan(activity, { columns: ['at', 'detail'], order: ['-amount'] })),
  )

  cases.set(
    'search of every type with short cells',
    validatedPlan(samples, searchPlan(samples, { columns: samples.columns.map((column) => column.name) }), {
      limits: { cellCharsMax: 16 },
    }),
  )
}

function addAggregates(cases: Cases, { customers, prices, greatest }: GoldenCatalog): void {
  cases.set(
    'aggregate with every metric',
    validatedPlan(
      customers,
      aggregatePlan(customers, {
        metrics: [
          { fn: 'count' },
          { fn: 'count', column: 'bio' },
          { fn: 'count_distinct', column: 'email' },
          { fn: 'sum', column: 'balance' },
          { fn: 'avg', column: 'id' },
          { fn: 'min', column: 'created_at' },
          { fn: 'max', column: greatest },
        ],
      }),
    ),
  )
  cases.set(
    'aggregate by groups in the order of a metric and a group',
    validatedPlan(
      customers,
      aggregatePlan(customers, {
        metrics: [{ fn: 'count' }, { fn: 'sum', column: 'balance' }],
        groupBy: ['name', 'bio'],
        order: [
          { by: { kind: 'metric', index: 1 }, direction: 'desc' },
          { by: { kind: 'group', index: 1 }, direction: 'desc' },
        ],
      }),
    ),
  )
  cases.set(
    'aggregate of values that are equal and may look different',
    validatedPlan(
      prices,
      aggregatePlan(prices, { metrics: [{ fn: 'min', column: 'price' }], groupBy: ['email', 'price'] }),
    ),
  )
  cases.set(
    'aggregate of groups alone',
    validatedPlan(customers, aggregatePlan(customers, { metrics: [], groupBy: ['name'] })),
  )
  cases.set(
    'aggregate without groups in the order of its metric',
    validatedPlan(
      customers,
      aggregatePlan(customers, {
        metrics: [{ fn: 'count' }],
        order: [{ by: { kind: 'metric', index: 0 }, direction: 'asc' }],
      }),
    ),
  )

  cases.set(
    'aggregate in the order of two metrics that are the same',
    validatedPlan(
      customers,
      aggregatePlan(customers, {
        metrics: [{ fn: 'count' }, { fn: 'count' }],
        order: [
          { by: { kind: 'metric', index: 0 }, direction: 'asc' },
          { by: { kind: 'metric', index: 1 }, direction: 'desc' },
        ],
      }),
    ),
  )

  cases.set(
    'aggregate of the first and last of texts that compare loosely',
    validatedPlan(
      prices,
      aggregatePlan(prices, {
        metrics: [
          { fn: 'min', column: 'email' },
          { fn: 'max', column: 'email' },
        ],
      }),
    ),
  )
}

function addSuppressed(cases: Cases, { customers, prices }: GoldenCatalog): void {
  const limits = { minGroupSize: 5 }
  cases.set(
    'aggregate by groups of a size in the order of a metric',
    validatedPlan(
      customers,
      aggregatePlan(customers, {
        metrics: [{ fn: 'count' }, { fn: 'sum', column: 'balance' }],
        groupBy: ['name', 'bio'],
        filters: [filter('id', 'gt', '1')],
        order: [
          { by: { kind: 'metric', index: 1 }, direction: 'desc' },
          { by: { kind: 'group', index: 1 }, direction: 'desc' },
        ],
      }),
      { hidden: ['ssn', 'tenant_id'], scope: { all: [filter('tenant_id', 'eq', TENANT)] }, limits },
    ),
  )
  cases.set(
    'aggregate by groups of a size that are equal and may look different',
    validatedPlan(
      prices,
      aggregatePlan(prices, { metrics: [{ fn: 'avg', column: 'price' }], groupBy: ['email', 'price'] }),
      { limits },
    ),
  )
  cases.set(
    'aggregate of groups alone of a size',
    validatedPlan(customers, aggregatePlan(customers, { metrics: [], groupBy: ['name'] }), { limits }),
  )
  cases.set(
    'aggregate without groups of a size',
    validatedPlan(
      customers,
      aggregatePlan(customers, {
        metrics: [{ fn: 'count' }, { fn: 'count_distinct', column: 'email' }],
        filters: [filter('name', 'neq', 'x')],
        order: [{ by: { kind: 'metric', index: 0 }, direction: 'desc' }],
      }),
      { limits },
    ),
  )
}
