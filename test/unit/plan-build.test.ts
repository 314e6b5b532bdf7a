import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReadOperation, TableAccess } from '../../src/core/access.js'
import { type GatewayError, publicText } from '../../src/core/errors.js'
import { ECHO_CHARS_MAX, FILTERS_MAX, IN_VALUES_MAX, METRICS_MAX } from '../../src/core/limits.js'
import { AGGREGATE_FNS, FILTER_OPS, type QueryPlan } from '../../src/core/plan.js'
import { aggregateFnsFor, filterOpsFor } from '../../src/core/tool-grammar.js'
import { buildPlan } from '../../src/plan/build-plan.js'
import { summarize } from '../../src/plan/plan-summary.js'
import { accessOf, targetOf } from '../support/rights.js'
import { CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'

const customers = accessOf(CUSTOMERS, { hide: ['ssn'] })
const lines = accessOf(ORDER_LINES)
const samples = accessOf(SAMPLES)

function planned(operation: ReadOperation, access: TableAccess, args: unknown): QueryPlan {
  const result = buildPlan(targetOf(operation, access), args)
  assert.ok(result.ok, result.ok ? '' : publicText(result.error))
  assert.equal(result.value.idempotencyKey, undefined)
  return result.value.plan
}

function refused(operation: ReadOperation, access: TableAccess, args: unknown): GatewayError {
  const result = buildPlan(targetOf(operation, access), args)
  assert.ok(!result.ok, 'the call was accepted')
  return result.error
}

/** The parts of a refusal that a caller sees. */
function seen(operation: ReadOperation, access: TableAccess, args: unknown): Partial<GatewayError> {
  const { code, field, suggestion } = refused(operation, access, args)
  return { code, ...(field === undefined ? {} : { field }), ...(suggestion === undefined ? {} : { suggestion }) }
}

const search = (args: unknown) => planned('search', customers, args)
const badSearch = (args: unknown) => seen('search', customers, args)
const badFilter = (filter: unknown) => badSearch({ filters: [filter] })

describe('get', () => {
  test('takes each part of the key as an equality, in key order, whatever the order of the arguments', () => {
    assert.deepEqual(planned('get', lines, { line: 2, order_id: '9007199254740993', columns: ['note'] }), {
      kind: 'get',
      table: ORDER_LINES.ref,
      key: [
        { column: 'order_id', op: 'eq', value: '9007199254740993' },
        { column: 'line', op: 'eq', value: '2' },
      ],
      columns: ['note'],
    })
  })

  test('names a missing part of the key, a null, and a value that does not fit', () => {
    assert.deepEqual(seen('get', lines, { order_id: '1' }), { code: 'ARGUMENT_MISSING', field: 'line' })
    assert.deepEqual(seen('get', lines, { order_id: null, line: 1 }), { code: 'ARGUMENT_VALUE', field: 'order_id' })
    assert.match(refused('get', lines, { order_id: '1', line: 40_000 }).expected ?? '', /between -32768 and 32767/)
    assert.deepEqual(seen('get', lines, undefined), { code: 'ARGUMENT_MISSING', field: 'order_id' })
  })

  test('a key column named like a control argument is addressed as <name>_key', () => {
    const columns = {
      columns: TYPES.integer,
      columns_key: TYPES.integer,
      limit: TYPES.integer,
      constructor: TYPES.text,
    }
    const odd = accessOf(tableOf('odd', { columns, primaryKey: Object.keys(columns) }))
    const plan = planned('get', odd, { columns_key_key: 1, columns_key: 2, limit_key: 3, constructor: 'x' })
    assert.ok(plan.kind === 'get')
    assert.deepEqual(
      plan.key.map(({ column, value }) => `${column}=${value}`),
      ['columns=1', 'columns_key=2', 'limit=3', 'constructor=x'],
    )
  })
})

describe('columns', () => {
  test('left out they are all visible columns by name, and a masked one is not among them', () => {
    const visible = ['id', 'tenant_id', 'email', 'name', 'bio', 'balance', 'created_at']
    const got = planned('get', customers, { id: 1 })
    assert.ok(got.kind === 'get')
    assert.deepEqual(got.columns, visible)
    const found = search({})
    assert.ok(found.kind === 'search')
    assert.deepEqual(found.columns, visible)
  })

  test('an empty or repeated selection is refused', () => {
    assert.deepEqual(badSearch({ columns: [] }), { code: 'ARGUMENT_VALUE', field: 'columns' })
    assert.deepEqual(badSearch({ columns: ['id', 'id'] }), { code: 'ARGUMENT_VALUE', field: 'columns[1]' })
    assert.deepEqual(badSearch({ columns: 'id' }), { code: 'ARGUMENT_TYPE', field: 'columns' })
    assert.deepEqual(badSearch({ columns: null }), { code: 'ARGUMENT_TYPE', field: 'columns' })
  })

  test('an unknown column is refused with the nearest visible name, and the spelling stays inside', () => {
    const error = refused('search', customers, { columns: ['emial'] })
    assert.equal(error.code, 'ARGUMENT_COLUMN')
    assert.equal(error.field, 'columns[0]')
    assert.equal(error.suggestion, 'email')
    assert.equal(error.refused, 'emial')
    assert.doesNotMatch(publicText(error), /emial|ssn/)
  })

  test('a masked column is refused exactly like a missing one, and never suggested', () => {
    assert.deepEqual(seen('search', customers, { columns: ['ssn'] }), { code: 'ARGUMENT_COLUMN', field: 'columns[0]' })
    const { refused: _, ...masked } = refused('search', customers, { columns: ['ssn'] })
    const { refused: __, ...missing } = refused('search', customers, { columns: ['zzz'] })
    assert.deepEqual(masked, missing)
    assert.doesNotMatch(publicText(refused('search', customers, { columns: ['ssm'] })), /ssn/)
  })

  test('names that objects inherit are no columns', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      assert.equal(badSearch({ columns: [name] }).code, 'ARGUMENT_COLUMN')
      assert.equal(badFilter({ column: name, op: 'is_null' }).code, 'ARGUMENT_COLUMN')
    }
  })
})

describe('arguments', () => {
  test('an unknown argument is refused by name, sanitized and short, with the nearest known one', () => {
    assert.deepEqual(badSearch({ filter: [] }), { code: 'ARGUMENT_UNKNOWN', field: 'filter', suggestion: 'filters' })
    assert.deepEqual(badFilter({ column: 'id', op: 'eq', val: 1 }), {
      code: 'ARGUMENT_UNKNOWN',
      field: 'filters[0].val',
      suggestion: 'value',
    })
    const hostile = refused('search', customers, { [`\u001b[31m${'x\u202e'.repeat(500)}`]: 1 })
    assert.ok(/^\[31mx+…$/.test(hostile.field ?? ''), hostile.field)
    assert.ok((hostile.field ?? '').length <= ECHO_CHARS_MAX)
    assert.equal(badSearch(JSON.parse('{"__proto__": 1}')).code, 'ARGUMENT_UNKNOWN')
    assert.equal(badSearch({ '\u200b': 1 }).field, '(no readable name)')
  })

  test('arguments that are no object are refused', () => {
    for (const args of [null, [], 5, true, 'x', '[]']) {
      assert.deepEqual(badSearch(args), { code: 'ARGUMENT_TYPE', field: 'arguments' })
    }
  })

  test('a string that parses to the list or object that the schema wants is taken as one', () => {
    const filter = { column: 'id', op: 'in', values: [1, 2] }
    const plain = search({ filters: [filter], columns: ['id'], order_by: [{ column: 'id', direction: 'desc' }] })
    assert.deepEqual(
      search({
        filters: JSON.stringify([JSON.stringify({ ...filter, values: '[1,2]' })]),
        columns: '["id"]',
        order_by: '[{"column":"id","direction":"desc"}]',
      }),
      plain,
    )
    assert.deepEqual(badSearch({ filters: '{"column"' }), { code: 'ARGUMENT_TYPE', field: 'filters' })
  })

  test('limit is the page size where unsaid, capped to the row cap, and a whole number from 1', () => {
    const limits = [undefined, 1, '7', 200, 201, 10 ** 9].map((limit) => search({ ...(limit && { limit }) }))
    assert.deepEqual(
      limits.map((plan) => (plan.kind === 'search' ? plan.limit : 0)),
      [50, 1, 7, 200, 200, 200],
    )
    const tight = planned('search', accessOf(CUSTOMERS, { limits: { rowCap: 10 } }), {})
    assert.ok(tight.kind === 'search' && tight.limit === 10)
    for (const limit of [0, -1, 1.5, '1e2', '0x10', ' 5', true, null, 1e300]) {
      assert.deepEqual(badSearch({ limit }), { code: 'ARGUMENT_VALUE', field: 'limit' })
    }
  })
})

describe('filters', () => {
  test('take strings, numbers and booleans, and a list in value for in', () => {
    const plan = search({
      filters: [
        { column: 'id', op: 'gte', value: 5 },
        { column: 'tenant_id', op: 'in', value: ['123E4567-e89b-12d3-a456-426614174000'] },
        { column: 'name', op: 'ilike', value: '100\\%%' },
        { column: 'bio', op: 'not_null' },
        { column: 'id', op: 'in', values: [] },
      ],
    })
    assert.ok(plan.kind === 'search')
    assert.deepEqual(plan.filters, [
      { column: 'id', op: 'gte', value: '5' },
      { column: 'tenant_id', op: 'in', values: ['123e4567-e89b-12d3-a456-426614174000'] },
      { column: 'name', op: 'ilike', value: '100\\%%' },
      { column: 'bio', op: 'not_null' },
      { column: 'id', op: 'in', values: [] },
    ])
  })

  test('a null value is refused, naming is_null', () => {
    const error = refused('search', customers, { filters: [{ column: 'bio', op: 'eq', value: null }] })
    assert.deepEqual([error.code, error.field], ['ARGUMENT_VALUE', 'filters[0].value'])
    assert.match(error.expected ?? '', /is_null/)
    const inList = refused('search', customers, { filters: [{ column: 'bio', op: 'in', values: ['a', null] }] })
    assert.deepEqual([inList.code, inList.field], ['ARGUMENT_VALUE', 'filters[0].values[1]'])
  })

  test('a missing part is named', () => {
    assert.deepEqual(badFilter({ op: 'eq', value: 1 }), { code: 'ARGUMENT_MISSING', field: 'filters[0].column' })
    assert.deepEqual(badFilter({ column: 'id', value: 1 }), { code: 'ARGUMENT_MISSING', field: 'filters[0].op' })
    assert.deepEqual(badFilter({ column: 'id', op: 'eq' }), { code: 'ARGUMENT_MISSING', field: 'filters[0].value' })
    assert.deepEqual(badFilter({ column: 'id', op: 'in' }), { code: 'ARGUMENT_MISSING', field: 'filters[0].values' })
  })

  test('what an operator does not take is refused rather than ignored', () => {
    const unknown = (field: string) => ({ code: 'ARGUMENT_UNKNOWN', field: `filters[0].${field}` })
    assert.deepEqual(badFilter({ column: 'bio', op: 'is_null', value: 'x' }), unknown('value'))
    assert.deepEqual(badFilter({ column: 'bio', op: 'not_null', values: [] }), unknown('values'))
    assert.deepEqual(badFilter({ column: 'id', op: 'eq', values: [1] }), unknown('values'))
    assert.deepEqual(badFilter({ column: 'id', op: 'in', value: [1], values: [1] }), unknown('value'))
    assert.deepEqual(badFilter({ column: 'id', op: 'in', value: '1' }), {
      code: 'ARGUMENT_TYPE',
      field: 'filters[0].value',
    })
    assert.deepEqual(badFilter({ column: 'id', op: 'eq', value: [1] }), {
      code: 'ARGUMENT_VALUE',
      field: 'filters[0].value',
    })
  })

  test('an operator fits the type of its column, and the error lists those that do', () => {
    for (const column of SAMPLES.columns) {
      for (const op of FILTER_OPS) {
        const fits = filterOpsFor(column.type).includes(op)
        const filters = [{ column: column.agentName, op }]
        const result = buildPlan(targetOf('search', samples), { filters })
        const refusal = result.ok ? undefined : result.error
        assert.equal(refusal?.code === 'ARGUMENT_OPERATOR', !fits, `${op} on ${column.name}`)
        if (!fits) assert.match(refusal?.expected ?? '', /is_null, not_null for a column of type/)
      }
    }
    const ops = (name: string) => filterOpsFor(TYPES[name as keyof typeof TYPES]).join(' ')
    assert.equal(ops('text'), FILTER_OPS.join(' '))
    assert.equal(ops('integer'), 'eq neq in gt gte lt lte is_null not_null')
    assert.equal(ops('jsonb'), 'is_null not_null')
    assert.equal(ops('integers'), 'is_null not_null')
    assert.equal(ops('point'), 'is_null not_null')
  })

  test('an operator that does not exist is refused with the nearest that does', () => {
    assert.deepEqual(badFilter({ column: 'id', op: 'gtee', value: 1 }), {
      code: 'ARGUMENT_OPERATOR',
      field: 'filters[0].op',
      suggestion: 'gte',
    })
    for (const op of ['constructor', '__proto__', 'EQ', '= 1 OR 1=1 --', '']) {
      assert.equal(badFilter({ column: 'id', op, value: 1 }).code, 'ARGUMENT_OPERATOR')
    }
    assert.equal(badFilter({ column: 'id', op: 1, value: 1 }).code, 'ARGUMENT_TYPE')
  })

  test('a pattern that ends in a lone backslash is refused', () => {
    for (const value of ['\\', 'a\\', 'a\\\\\\']) {
      assert.deepEqual(badFilter({ column: 'name', op: 'ilike', value }), {
        code: 'ARGUMENT_VALUE',
        field: 'filters[0].value',
      })
    }
    assert.ok(search({ filters: [{ column: 'name', op: 'ilike', value: 'a\\\\' }] }))
    assert.ok(search({ filters: [{ column: 'name', op: 'eq', value: 'a\\' }] }))
  })

  test('a label that is nearly right is suggested', () => {
    const error = refused('search', samples, { filters: [{ column: 'c_mood', op: 'eq', value: 'hapy' }] })
    assert.equal(error.suggestion, 'happy')
    assert.match(error.expected ?? '', /"sad", "ok", "happy"/)
  })

  test('lists have caps', () => {
    const filter = { column: 'id', op: 'eq', value: 1 }
    assert.ok(search({ filters: Array(FILTERS_MAX).fill(filter) }))
    assert.deepEqual(badSearch({ filters: Array(FILTERS_MAX + 1).fill(filter) }), {
      code: 'ARGUMENT_LIMIT',
      field: 'filters',
    })
    assert.deepEqual(badFilter({ column: 'id', op: 'in', values: Array(IN_VALUES_MAX + 1).fill(1) }), {
      code: 'ARGUMENT_LIMIT',
      field: 'filters[0].values',
    })
    assert.equal(badSearch({ order_by: Array(17).fill({ column: 'id' }) }).code, 'ARGUMENT_LIMIT')
    const many = { metrics: Array(METRICS_MAX + 1).fill({ fn: 'count' }) }
    assert.equal(seen('aggregate', customers, many).code, 'ARGUMENT_LIMIT')
  })
})

describe('order', () => {
  test('is ascending where unsaid, and each column comes once and has an order', () => {
    const plan = search({ order_by: [{ column: 'name' }, { column: 'id', direction: 'desc' }] })
    assert.ok(plan.kind === 'search')
    assert.deepEqual(plan.order, [
      { column: 'name', direction: 'asc' },
      { column: 'id', direction: 'desc' },
    ])
    assert.deepEqual(badSearch({ order_by: [{ column: 'id' }, { column: 'id' }] }), {
      code: 'ARGUMENT_VALUE',
      field: 'order_by[1].column',
    })
    assert.deepEqual(badSearch({ order_by: [{ column: 'id', direction: 'DESC' }] }), {
      code: 'ARGUMENT_VALUE',
      field: 'order_by[0].direction',
      suggestion: 'desc',
    })
    assert.deepEqual(seen('search', samples, { order_by: [{ column: 'c_point' }] }), {
      code: 'ARGUMENT_VALUE',
      field: 'order_by[0].column',
    })
  })
})

describe('aggregate', () => {
  const aggregate = (args: unknown) => planned('aggregate', customers, args)
  const bad = (args: unknown) => seen('aggregate', customers, args)

  test('names metrics by default, and orders by metrics and groups', () => {
    const plan = aggregate({
      metrics: [{ fn: 'count' }, { fn: 'sum', column: 'balance' }, { fn: 'max', column: 'created_at', as: 'last' }],
      group_by: ['tenant_id'],
      filters: [{ column: 'balance', op: 'gt', value: '0' }],
      order_by: [{ by: 'last', direction: 'desc' }, { by: 'tenant_id' }],
    })
    assert.deepEqual(plan, {
      kind: 'aggregate',
      table: CUSTOMERS.ref,
      metrics: [
        { fn: 'count', as: 'count' },
        { fn: 'sum', column: 'balance', as: 'sum_balance' },
        { fn: 'max', column: 'created_at', as: 'last' },
      ],
      groupBy: ['tenant_id'],
      filters: [{ column: 'balance', op: 'gt', value: '0' }],
      order: [
        { by: { kind: 'metric', index: 2 }, direction: 'desc' },
        { by: { kind: 'group', index: 0 }, direction: 'asc' },
      ],
      limit: 50,
    })
  })

  test('a default name that would be too long for a property key gets a hash', () => {
    const long = 'c'.repeat(64)
    const wide = accessOf(tableOf('wide', { columns: { [long]: TYPES.integer } }))
    const plan = planned('aggregate', wide, { metrics: [{ fn: 'count_distinct', column: long }] })
    assert.ok(plan.kind === 'aggregate')
    assert.match(plan.metrics[0]?.as ?? '', /^count_distinct_c+_[a-z0-9]{8}$/)
    assert.equal(plan.metrics[0]?.as.length, 64)
  })

  test('needs at least one metric, each with a column that its function takes', () => {
    assert.deepEqual(bad({}), { code: 'ARGUMENT_MISSING', field: 'metrics' })
    assert.deepEqual(bad({ metrics: [] }), { code: 'ARGUMENT_VALUE', field: 'metrics' })
    assert.deepEqual(bad({ metrics: [{ fn: 'sum' }] }), { code: 'ARGUMENT_MISSING', field: 'metrics[0].column' })
    assert.deepEqual(bad({ metrics: [{ fn: 'median', column: 'id' }] }).code, 'ARGUMENT_VALUE')
    for (const column of SAMPLES.columns) {
      for (const fn of AGGREGATE_FNS) {
        const result = buildPlan(targetOf('aggregate', samples), { metrics: [{ fn, column: column.agentName }] })
        assert.equal(result.ok, aggregateFnsFor(column.type).includes(fn), `${fn} of ${column.name}`)
        if (!result.ok) assert.equal(result.error.code, 'ARGUMENT_OPERATOR')
      }
    }
  })

  test('a result name is a property key that nothing else in the result has', () => {
    const named = (as: unknown) => bad({ metrics: [{ fn: 'count', as }] })
    const field = 'metrics[0].as'
    for (const as of ['', 'a b', '__proto__', 'x'.repeat(65), 'ä', '"']) {
      assert.deepEqual(named(as), { code: 'ARGUMENT_VALUE', field })
    }
    for (const as of [1, null, {}]) assert.deepEqual(named(as), { code: 'ARGUMENT_TYPE', field })
    assert.deepEqual(bad({ metrics: [{ fn: 'count' }, { fn: 'count' }] }), {
      code: 'ARGUMENT_VALUE',
      field: 'metrics[1].as',
    })
    assert.deepEqual(bad({ metrics: [{ fn: 'count', as: 'name' }], group_by: ['name'] }), {
      code: 'ARGUMENT_VALUE',
      field,
    })
    assert.ok(aggregate({ metrics: [{ fn: 'count', as: 'constructor' }] }))
  })

  test('groups need equality, and an order needs one of this call', () => {
    const byPoint = { metrics: [{ fn: 'count' }], group_by: ['id', 'c_point'] }
    assert.deepEqual(seen('aggregate', samples, byPoint), { code: 'ARGUMENT_VALUE', field: 'group_by[1]' })
    assert.deepEqual(bad({ metrics: [{ fn: 'count' }], order_by: [{ by: 'name' }] }), {
      code: 'ARGUMENT_COLUMN',
      field: 'order_by[0].by',
    })
    assert.deepEqual(bad({ metrics: [{ fn: 'count' }], order_by: [{}] }), {
      code: 'ARGUMENT_MISSING',
      field: 'order_by[0].by',
    })
    assert.deepEqual(bad({ metrics: [{ fn: 'count' }], order_by: [{ by: 'count' }, { by: 'count' }] }), {
      code: 'ARGUMENT_VALUE',
      field: 'order_by[1].by',
    })
    assert.deepEqual(bad({ metrics: [{ fn: 'count' }], group_by: [], having: [] }).code, 'ARGUMENT_UNKNOWN')
  })
})

describe('the summary of a plan', () => {
  test('speaks agent names, keeps values as sent, and leaves out what is empty', () => {
    const odd = accessOf(tableOf('odd', { columns: { 'first name': TYPES.text, n: TYPES.integer }, primaryKey: ['n'] }))
    const [alias = ''] = odd.columns.search.keys()
    assert.notEqual(alias, 'first name')
    const found = planned('search', odd, {
      filters: [
        { column: alias, op: 'eq', value: 'x' },
        { column: 'n', op: 'in', values: [1, 2] },
        { column: 'n', op: 'is_null' },
      ],
      order_by: [{ column: alias }],
    })
    assert.deepEqual(summarize(targetOf('search', odd), { plan: found }), {
      columns: [alias, 'n'],
      filters: [
        { column: alias, op: 'eq', values: ['x'] },
        { column: 'n', op: 'in', values: ['1', '2'] },
        { column: 'n', op: 'is_null' },
      ],
      order: [{ by: alias, direction: 'asc' }],
      page: { limit: 50 },
    })
    assert.deepEqual(summarize(targetOf('get', odd), { plan: planned('get', odd, { n: 1, columns: [alias] }) }), {
      columns: [alias],
      filters: [{ column: 'n', op: 'eq', values: ['1'] }],
    })
    const grouped = planned('aggregate', odd, {
      metrics: [{ fn: 'count' }, { fn: 'min', column: alias, as: 'first' }],
      group_by: ['n'],
      order_by: [{ by: 'n' }, { by: 'first', direction: 'desc' }],
    })
    assert.deepEqual(summarize(targetOf('aggregate', odd), { plan: grouped }), {
      metrics: [{ fn: 'count' }, { fn: 'min', column: alias }],
      group_by: ['n'],
      order: [
        { by: 'n', direction: 'asc' },
        { by: 'first', direction: 'desc' },
      ],
      page: { limit: 50 },
    })
  })
})
