import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Filter, ValidatedPlan } from '../../src/core/plan.js'
import { catalogName } from '../../src/core/schema-model.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { aggregatePlan, filter, getPlan, searchPlan, validatedPlan } from '../support/plans.js'
import { ACTIVITY, CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'

const textOf = (plan: ValidatedPlan) => postgresDialect.compile(plan).text
const orderOf = (plan: ValidatedPlan) => / ORDER BY (.*) LIMIT/.exec(textOf(plan))?.[1] ?? ''

test('an order never rests on a column that the caller may not see', () => {
  const columns = CUSTOMERS.columns.map((column) => column.name)
  for (let bits = 1; bits < 1 << columns.length; bits++) {
    const hidden = columns.filter((_, index) => (bits & (1 << index)) !== 0)
    const [shown] = columns.filter((name) => !hidden.includes(name))
    if (shown === undefined) continue
    const order = orderOf(validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: [shown] }), { hidden }))
    for (const name of hidden) assert.ok(!order.includes(`"${name}"`), `${order} without ${hidden}`)
  }
})

test('the order of a search ends in a visible key, or in every visible column', () => {
  const search = (hidden: readonly string[]) =>
    orderOf(validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: ['name'] }), { hidden }))
  assert.equal(search([]), 't."id"')
  assert.equal(search(['id']), 't."email"')
  const keyless = search(['id', 'email'])
  for (const name of ['tenant_id', 'name', 'bio', 'balance', 'created_at', 'ssn']) {
    assert.ok(keyless.includes(`t."${name}"`), name)
  }
})

test('a unique key that can be NULL tells no rows apart', () => {
  const table = tableOf('t', { columns: { 'code?': TYPES.integer, label: TYPES.integer }, uniqueKeys: [['code']] })
  assert.equal(orderOf(validatedPlan(table, searchPlan(table, { columns: ['code'] }))), 't."code", t."label"')
})

test('equal values that look different are told apart by their text', () => {
  const table = tableOf('t', { columns: { n: TYPES.decimal, i: TYPES.integer, c: TYPES.citext } })
  assert.equal(
    orderOf(validatedPlan(table, searchPlan(table, { columns: ['i'] }))),
    't."n", t."i", t."c", t."n"::text COLLATE "C", t."c"::text COLLATE "C"',
  )
})

test('a scope rests on hidden columns as on any other', () => {
  const scope = { all: [filter('ssn', 'eq', '1')], any: [[filter('tenant_id', 'not_null')]] }
  const text = textOf(
    validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: ['id'] }), { hidden: ['ssn', 'tenant_id'], scope }),
  )
  assert.match(text, / WHERE t\."ssn" = \$1 AND \(\(t\."tenant_id" IS NOT NULL\)\) /)
})

test('a scope whose groups are none lets no row through', () => {
  const plan = searchPlan(CUSTOMERS, { columns: ['id'] })
  assert.match(textOf(validatedPlan(CUSTOMERS, plan, { scope: { all: [], any: [] } })), / WHERE 1 = 0 /)
})

test('no long value leaves the server, keys and sort keys aside', () => {
  const plan = searchPlan(SAMPLES, { columns: ['c_text', 'c_bytes', 'c_json', 'c_varchar40', 'id'], order: ['c_text'] })
  const limits = { cellCharsMax: 10 }
  const statement = postgresDialect.compile(validatedPlan(SAMPLES, plan, { limits }))
  assert.deepEqual(
    statement.columns.map((column) => column.charsMax),
    [undefined, 10, 10, 10, undefined],
  )
  assert.match(
    statement.text,
    /^SELECT t\."c_text", substring\(t\."c_bytes", 1, 11\), left\(t\."c_json"::text, 11\), left\(t\."c_varchar40"::text, 11\), t\."id" /,
  )
  const get = getPlan(SAMPLES, { c_text: 'x' }, ['c_text', 'c_citext'])
  assert.deepEqual(
    postgresDialect.compile(validatedPlan(SAMPLES, get, { limits })).columns.map((column) => column.charsMax),
    [undefined, 10, undefined],
  )
})

test('the key of a row is read behind what was asked for, each of its columns once, and only where the caller sees all of it', () => {
  const told = (plan: Parameters<typeof postgresDialect.compile>[0]) => {
    const { columns, shown, keyCells } = postgresDialect.compile(plan)
    return { columns: columns.map(({ name }) => name), shown, keyCells }
  }
  const lines = (...columns: string[]) => told(validatedPlan(ORDER_LINES, searchPlan(ORDER_LINES, { columns })))
  assert.deepEqual(lines('note'), { columns: ['note', 'order_id', 'line'], shown: 1, keyCells: [1, 2] })
  assert.deepEqual(lines('line', 'note'), { columns: ['line', 'note', 'order_id'], shown: 2, keyCells: [2, 0] })
  assert.deepEqual(lines('order_id', 'line'), { columns: ['order_id', 'line'], shown: undefined, keyCells: [0, 1] })
  const hidden = validatedPlan(ORDER_LINES, searchPlan(ORDER_LINES, { columns: ['note'] }), { hidden: ['line'] })
  assert.deepEqual(told(hidden), { columns: ['note'], shown: undefined, keyCells: undefined })
})

test('a key that may match several rows still gives one row, always the same', () => {
  const view = textOf(validatedPlan(ACTIVITY, getPlan(ACTIVITY, { actor: 'x' }, ['amount'])))
  assert.match(view, / ORDER BY .* LIMIT 1$/)
  const part = textOf(validatedPlan(ORDER_LINES, getPlan(ORDER_LINES, { order_id: '1' }, ['note'])))
  assert.match(part, / ORDER BY t\."order_id", t\."line" LIMIT 1$/)
  const whole = textOf(validatedPlan(ORDER_LINES, getPlan(ORDER_LINES, { order_id: '1', line: '2' }, ['note'])))
  assert.doesNotMatch(whole, /ORDER BY/)
})

test('a search and an aggregate fetch one row more than asked for', () => {
  const last = (plan: ValidatedPlan) => postgresDialect.compile(plan).params.at(-1)
  assert.equal(last(validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: ['id'], limit: 50 }))), '51')
  const count = { metrics: [{ fn: 'count' as const }], groupBy: ['name'], limit: 7 }
  assert.equal(last(validatedPlan(CUSTOMERS, aggregatePlan(CUSTOMERS, count))), '8')
})

test('result columns carry agent names, groups first, and the types of metrics', () => {
  const table = tableOf('t', { columns: { 'größe "x"': TYPES.text, n: TYPES.integer } })
  const search = postgresDialect.compile(validatedPlan(table, searchPlan(table, { columns: ['größe "x"'] })))
  assert.match(search.columns[0]?.name ?? '', /^[a-zA-Z0-9_.-]+$/)
  assert.ok(search.text.includes('t."größe ""x"""'))
  const plan = aggregatePlan(table, { metrics: [{ fn: 'sum', column: 'n' }], groupBy: ['n'] })
  const { columns } = postgresDialect.compile(validatedPlan(table, plan))
  assert.deepEqual(
    columns.map(({ name, type }) => [name, type.logical]),
    [
      ['n', 'integer'],
      ['sum_n', 'bigint'],
    ],
  )
})

test('a result name chosen by the caller is no part of the statement', () => {
  const plan = aggregatePlan(CUSTOMERS, { metrics: [{ fn: 'count' }] })
  const renamed = { ...plan, metrics: plan.metrics.map((metric) => ({ ...metric, as: 'x"; DROP TABLE y; --' })) }
  assert.equal(textOf(validatedPlan(CUSTOMERS, renamed)), textOf(validatedPlan(CUSTOMERS, plan)))
})

test('a pattern that ends in a lone backslash means the backslash', () => {
  const pattern = (value: string) =>
    postgresDialect.compile(
      validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: ['id'], filters: [filter('name', 'ilike', value)] })),
    ).params[0]
  assert.equal(pattern('50\\%\\'), '50\\%\\\\')
  assert.equal(pattern('\\'), '\\\\')
  assert.equal(pattern('a\\\\'), 'a\\\\')
  assert.equal(pattern('a\\_b'), 'a\\_b')
})

test('calls that differ in values alone share a statement', () => {
  const text = (value: string, limit: number, values: readonly string[]) => {
    const filters: readonly Filter[] = [filter('name', 'eq', value), filter('id', 'in', values)]
    return textOf(validatedPlan(CUSTOMERS, searchPlan(CUSTOMERS, { columns: ['id'], filters, limit })))
  }
  assert.equal(text('a', 1, ['1']), text("'; DROP TABLE x; --", 200, ['1', '2', '3']))
})

test('a plan that names a column its table does not have is a bug, not a statement', () => {
  const plan = searchPlan(CUSTOMERS, { columns: ['id'] })
  const broken = { ...plan, columns: [catalogName('nope')] }
  assert.throws(() => textOf(validatedPlan(CUSTOMERS, broken)), /columns of its table/)
  const misfit = aggregatePlan(CUSTOMERS, { metrics: [{ fn: 'sum', column: 'name' }] })
  assert.throws(() => textOf(validatedPlan(CUSTOMERS, misfit)), /metric fits/)
})
