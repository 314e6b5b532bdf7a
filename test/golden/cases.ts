import { FILTER_OPS, type FilterOp, type Scope, type ValidatedPlan } from '../../src/core/plan.js'
import { aggregatePlan, filter, getPlan, searchPlan, validatedPlan } from '../support/plans.js'
import { ACTIVITY, CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'

/** Every plan shape by name. The statement of each, on each engine, stands in that engine's own file. */

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

const cases = new Map<string, ValidatedPlan>()
const hidden = ['ssn', 'tenant_id']

for (const [name, scope] of Object.entries(SCOPES)) {
  const validation = { hidden, scope }
  cases.set(
    `get with ${name}`,
    validatedPlan(CUSTOMERS, getPlan(CUSTOMERS, { id: '1' }, ['id', 'name', 'bio']), validation),
  )
  cases.set(
    `search with ${name}`,
    validatedPlan(
      CUSTOMERS,
      searchPlan(CUSTOMERS, { columns: ['id', 'name'], filters: [filter('name', 'neq', 'x')] }),
      validation,
    ),
  )
  cases.set(
    `aggregate with ${name}`,
    validatedPlan(
      CUSTOMERS,
      aggregatePlan(CUSTOMERS, { metrics: [{ fn: 'count' }], filters: [filter('name', 'neq', 'x')] }),
      validation,
    ),
  )
}

for (const op of FILTER_OPS) {
  const plan = { columns: ['id'], filters: [filter('name', op, value(op))] }
  cases.set(`search filter ${op}`, validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, plan)))
  cases.set(
    `aggregate filter ${op}`,
    validatedPlan(
      CUSTOMERS,
      aggregatePlan(CUSTOMERS, {
        metrics: [{ fn: 'count' }],
        groupBy: ['name'],
        filters: [filter('name', op, value(op)), filter('id', 'gt', '1')],
      }),
    ),
  )
}

cases.set(
  'search filter in without values',
  validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: ['id'], filters: [filter('name', 'in', [])] })),
)

const SAMPLE_VALUES: Partial<Record<keyof typeof TYPES, string>> = { bytes: 'AAH/', boolean: 'true' }
for (const key of Object.keys(TYPES) as (keyof typeof TYPES)[]) {
  const column = `c_${key}`
  const sample = SAMPLE_VALUES[key] ?? '1'
  cases.set(
    `search every op on ${key}`,
    validatedPlan(
      SAMPLES,
      searchPlan(SAMPLES, {
        columns: [column],
        filters: FILTER_OPS.map((op) => filter(column, op, op === 'in' ? [sample] : sample)),
      }),
    ),
  )
}

cases.set(
  'get by a composite key',
  validatedPlan(ORDER_LINES, getPlan(ORDER_LINES, { order_id: '9', line: '2' }, ['note', 'quantity'])),
)
cases.set('get by a unique key', validatedPlan(CUSTOMERS, getPlan(CUSTOMERS, { email: 'a@b.c' }, ['email', 'bio'])))
cases.set(
  'get from a view by a key that may match several rows',
  validatedPlan(ACTIVITY, getPlan(ACTIVITY, { actor: 'x' }, ['actor', 'amount'])),
)

const ordered = (order: readonly string[], hide: readonly string[] = []) =>
  validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: ['name', 'bio'], order }), { hidden: hide })
cases.set('search ordered by the caller', ordered(['-created_at', 'bio']))
cases.set('search ordered by a part of the tie-break', ordered(['-id']))
cases.set('search ordered twice by one column', ordered(['name', '-name']))
cases.set('search whose primary key is hidden', ordered([], ['id']))
cases.set('search whose keys are all hidden', ordered(['-name'], ['id', 'email']))
cases.set('search whose only visible key can be null', ordered([], ['id', 'email', 'tenant_id']))
cases.set(
  'search ordered over a composite key',
  validatedPlan(ORDER_LINES, searchPlan(ORDER_LINES, { columns: ['note'], order: ['-line'] })),
)
cases.set(
  'search over a view without a key',
  validatedPlan(ACTIVITY, searchPlan(ACTIVITY, { columns: ['at', 'detail'], order: ['-amount'] })),
)

cases.set(
  'search of every type with short cells',
  validatedPlan(SAMPLES, searchPlan(SAMPLES, { columns: SAMPLES.columns.map((column) => column.name) }), {
    limits: { cellCharsMax: 16 },
  }),
)

cases.set(
  'aggregate with every metric',
  validatedPlan(
    CUSTOMERS,
    aggregatePlan(CUSTOMERS, {
      metrics: [
        { fn: 'count' },
        { fn: 'count', column: 'bio' },
        { fn: 'count_distinct', column: 'email' },
        { fn: 'sum', column: 'balance' },
        { fn: 'avg', column: 'id' },
        { fn: 'min', column: 'created_at' },
        { fn: 'max', column: 'bio' },
      ],
    }),
  ),
)
cases.set(
  'aggregate by groups in the order of a metric and a group',
  validatedPlan(
    CUSTOMERS,
    aggregatePlan(CUSTOMERS, {
      metrics: [{ fn: 'count' }, { fn: 'sum', column: 'balance' }],
      groupBy: ['name', 'bio'],
      order: [
        { by: { kind: 'metric', index: 1 }, direction: 'desc' },
        { by: { kind: 'group', index: 1 }, direction: 'desc' },
      ],
    }),
  ),
)
const PRICES = tableOf('prices', {
  columns: { 'email?': TYPES.citext, 'price?': { ...TYPES.decimal, native: 'numeric' } },
})
cases.set(
  'aggregate of values that are equal and may look different',
  validatedPlan(
    PRICES,
    aggregatePlan(PRICES, { metrics: [{ fn: 'min', column: 'price' }], groupBy: ['email', 'price'] }),
  ),
)
cases.set(
  'aggregate of groups alone',
  validatedPlan(CUSTOMERS, aggregatePlan(CUSTOMERS, { metrics: [], groupBy: ['name'] })),
)
cases.set(
  'aggregate without groups in the order of its metric',
  validatedPlan(
    CUSTOMERS,
    aggregatePlan(CUSTOMERS, {
      metrics: [{ fn: 'count' }],
      order: [{ by: { kind: 'metric', index: 0 }, direction: 'asc' }],
    }),
  ),
)

export const CASES: ReadonlyMap<string, ValidatedPlan> = cases
