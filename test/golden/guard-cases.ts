import type { Scope, ValidatedMutation, ValidatedPlan } from '../../src/core/plan.js'
import { catalogName, type Table } from '../../src/core/schema-model.js'
import { aggregatePlan, filter, getPlan, searchPlan, validatedMutation, validatedPlan } from '../support/plans.js'
import type { GoldenCatalog } from './catalogs.js'
import { threeLevels } from './parent-scopes.js'

/** Statements that make sure of their columns, or of their table alone, by name. */
export interface GuardCases {
  readonly reads: ReadonlyMap<string, ValidatedPlan>
  readonly mutations: ReadonlyMap<string, ValidatedMutation>
}

const TENANT = '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'
const SCOPE: Scope = { all: [filter('tenant_id', 'eq', TENANT)] }
const guard = 'columns'

/** As the catalog numbers them, names that need quoting in a text included. */
function numbered(table: Table, more: Partial<Table> = {}): Table {
  return { ...table, catalogId: '16387', ...more }
}

export function guardCases(catalog: GoldenCatalog): GuardCases {
  const customers = numbered(catalog.customers)
  const hidden = ['ssn', 'tenant_id']
  const odd = numbered(catalog.flagged, {
    ref: { schema: catalogName('public'), name: catalogName(`it's "a" \`b\` [c] \\`) },
    columns: catalog.flagged.columns.map((column) =>
      column.name === 'deleted'
        ? { ...column, name: catalogName("o'\\$1?@p1") }
        : { ...column, catalogType: catalogName('23') },
    ),
  })
  const lines = numbered(catalog.orderLines, { catalogId: '16400', insertReadBack: 'by_key', updateReadBack: 'by_key' })
  const parents = threeLevels({
    ...catalog,
    customers,
    flagged: numbered(catalog.flagged, { catalogId: '16401' }),
    prices: numbered(catalog.prices, { catalogId: '16402' }),
  })
  const key = { order_id: '9', line: '2' }
  const search = searchPlan(customers, { columns: ['name'], filters: [filter('email', 'eq', 'x')], order: ['bio'] })
  const count = aggregatePlan(customers, { metrics: [{ fn: 'count' }] })
  return {
    reads: new Map([
      [
        'get',
        validatedPlan(customers, getPlan(customers, { id: '1' }, ['id', 'name']), { hidden, scope: SCOPE, guard }),
      ],
      ['search', validatedPlan(customers, search, { hidden, guard })],
      ['count in a scope', validatedPlan(customers, count, { scope: SCOPE, guard })],
      ['count of all', validatedPlan(customers, count, { hidden, guard })],
      ['table alone', validatedPlan(customers, getPlan(customers, { id: '1' }, ['id']), { guard: 'table' })],
      ['parents', validatedPlan(lines, getPlan(lines, key, ['quantity']), { scope: parents, guard })],
      [
        'names in texts',
        validatedPlan(odd, searchPlan(odd, { columns: ['id'], filters: [filter("o'\\$1?@p1", 'is_null')] }), { guard }),
      ],
    ]),
    mutations: new Map([
      ['create', validatedMutation(customers, 'create', { values: { name: 'A' }, returning: ['id'], guard })],
      ['create of defaults', validatedMutation(customers, 'create', { returning: ['id'], scope: SCOPE, guard })],
      [
        'create with parents',
        validatedMutation(lines, 'create', {
          values: { ...key, quantity: '4' },
          returning: ['line'],
          scope: parents,
          guard,
        }),
      ],
      [
        'update',
        validatedMutation(customers, 'update', {
          key: { id: '1' },
          values: { name: 'A' },
          scope: SCOPE,
          returning: ['id', 'email'],
          guard,
        }),
      ],
    ]),
  }
}
