import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FilterOp, PlanValue } from '../../src/core/plan.js'
import { catalogName, type ValueType } from '../../src/core/schema-model.js'
import type { Param } from '../../src/core/statement.js'
import { coerceValue } from '../../src/core/value.js'
import { mysqlDialect } from '../../src/engines/mysql/dialect.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { aggregatePlan, filter, getPlan, searchPlan, validatedMutation, validatedPlan } from '../support/plans.js'
import { tableOf } from '../support/schema.js'

/** What stands after `WHERE` for one filter of a column `c`, and what it binds. */
function condition(type: ValueType, op: FilterOp, value?: PlanValue | readonly PlanValue[]) {
  const table = tableOf('t', { columns: { id: MYSQL_TYPES.int, 'c?': type }, primaryKey: ['id'] })
  const plan = searchPlan(table, { columns: ['id'], filters: [filter('c', op, value)] })
  const { text, params } = mysqlDialect.compile(validatedPlan(table, plan))
  const [, where = ''] =
    /^SELECT t\.`id` FROM `public`\.`t` AS t WHERE (.*) ORDER BY t\.`id` LIMIT \?$/s.exec(text) ?? []
  return { where, params: params.slice(0, -1) }
}

function bindings(type: ValueType, value: PlanValue): readonly Param[] {
  return condition(type, 'eq', value).params
}

/** What a column `c` is set to. */
function assignment(type: ValueType, value: PlanValue | { readonly kind: 'now' }) {
  const table = tableOf('t', { columns: { id: MYSQL_TYPES.int, 'c?': type }, primaryKey: ['id'] })
  const { write } = mysqlDialect.compileMutation(
    validatedMutation(table, 'update', { key: { id: '1' }, values: { c: value } }),
  )
  const [, set = ''] = /^UPDATE `public`\.`t` AS t SET `c` = (.*) WHERE t\.`id` = \?$/s.exec(write.text) ?? []
  return { set, params: write.params.slice(0, -1) }
}

/** Whether the row holds what is written into its column `c`. */
function held(type: ValueType, value: PlanValue | null): string {
  const table = tableOf('t', { columns: { id: MYSQL_TYPES.int, 'c?': type }, primaryKey: ['id'] })
  const parts = { key: { id: '1' }, values: { c: value }, returning: ['c'] }
  const { lock } = mysqlDialect.compileMutation(validatedMutation(table, 'update', parts))
  const [, text = ''] = /^SELECT 't', IF\((.*), 't', 'f'\), /s.exec(lock?.text ?? '') ?? []
  return text
}

test('numbers and bytes are bound by their own types, and all else as text', () => {
  assert.deepEqual(bindings(MYSQL_TYPES.int, '-5'), [{ type: 'integer', value: '-5' }])
  assert.deepEqual(bindings(MYSQL_TYPES.year, '0'), [{ type: 'integer', value: '0' }])
  assert.deepEqual(bindings(MYSQL_TYPES.bits10, '1023'), [{ type: 'integer', value: '1023' }])
  assert.deepEqual(bindings(MYSQL_TYPES.bigint, '-9223372036854775808'), [
    { type: 'integer', value: '-9223372036854775808' },
  ])
  assert.deepEqual(bindings(MYSQL_TYPES.ubigint, '18446744073709551615'), [
    { type: 'unsigned', value: '18446744073709551615' },
  ])
  assert.deepEqual(bindings(MYSQL_TYPES.decimal, '1.50'), [{ type: 'decimal', value: '1.50' }])
  assert.deepEqual(bindings(MYSQL_TYPES.double, '1e300'), [{ type: 'float', value: '1e300' }])
  assert.deepEqual(bindings(MYSQL_TYPES.varbinary, 'AAH/'), [{ type: 'bytes', value: 'AAH/' }])
  assert.deepEqual(bindings(MYSQL_TYPES.folded, '1'), ['1'])
  assert.deepEqual(bindings(MYSQL_TYPES.uuid, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'), [
    '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
  ])
})

test('truths are the numbers that stand in for them, and other numbers are themselves', () => {
  const values = ['true', 'false', '2', '-1'].map((value) => bindings(MYSQL_TYPES.flag, value))
  assert.deepEqual(
    values,
    ['1', '0', '2', '-1'].map((value) => [{ type: 'integer', value }]),
  )
  assert.deepEqual(bindings(MYSQL_TYPES.bit, 'true'), [{ type: 'integer', value: '1' }])
})

test('a number that a float of half width does not hold equals none, and is compared with the one that is shown before it', () => {
  const { float } = MYSQL_TYPES
  const number = (value: string) => [{ type: 'float', value }]
  const before: readonly (readonly [string, string])[] = [
    ['16777217', '16777216'],
    ['0.1000000001', '0.10000000149011612'],
    ['0.0999999999', '0.09999999403953552'],
    ['1e-300', '0'],
  ]
  for (const [value, held] of before) {
    assert.deepEqual(condition(float, 'eq', value), { where: '1 = 0', params: [] }, value)
    assert.deepEqual(condition(float, 'in', [value]), { where: '1 = 0', params: [] })
    assert.deepEqual(condition(float, 'neq', value), { where: 't.`c` IS NOT NULL', params: [] })
    assert.deepEqual(condition(float, 'gte', value), { where: 't.`c` > ?', params: number(held) })
    assert.deepEqual(condition(float, 'lt', value), { where: 't.`c` <= ?', params: number(held) })
  }
  assert.equal(condition(float, 'lt', '1e300').where, 't.`c` IS NOT NULL')
  assert.equal(condition(float, 'gt', '1e300').where, '1 = 0')
})

test('a float of half width is compared with the number it holds, and written as what was sent', () => {
  const { float, double } = MYSQL_TYPES
  const number = (value: string) => [{ type: 'float', value }]
  assert.deepEqual(condition(float, 'gt', '0.1'), { where: 't.`c` > ?', params: number('0.10000000149011612') })
  assert.deepEqual(bindings(float, '0'), number('0'))
  assert.deepEqual(bindings(double, '0.1'), number('0.1'))
  assert.deepEqual(assignment(float, '0.1').params, number('0.1'))
})

test('a date is asked for NULL by what does not find zero dates, and all else as usual', () => {
  for (const type of [MYSQL_TYPES.date, MYSQL_TYPES.datetime, MYSQL_TYPES.timestamp]) {
    assert.equal(condition(type, 'is_null').where, 't.`c` <=> NULL')
    assert.equal(condition(type, 'not_null').where, 't.`c` IS NOT NULL')
    assert.equal(held(type, null), 't.`c` <=> NULL')
  }
  assert.equal(condition(MYSQL_TYPES.int, 'is_null').where, 't.`c` IS NULL')
})

test('an expected text is compared by its bytes, and other values as a filter would', () => {
  const expectation = (type: ValueType, value: PlanValue): string => {
    const table = tableOf('t', { columns: { id: MYSQL_TYPES.int, 'c?': type }, primaryKey: ['id'] })
    const parts = { key: { id: '1' }, values: { c: value }, expected: { c: value }, returning: ['c'] }
    const { lock } = mysqlDialect.compileMutation(validatedMutation(table, 'update', parts))
    const [, text = ''] = /^SELECT IF\((.*?), 't', 'f'\), /s.exec(lock?.text ?? '') ?? []
    return text
  }
  const bytes = 'CAST(CONVERT(t.`c` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY)'
  for (const type of [MYSQL_TYPES.folded, MYSQL_TYPES.exact, MYSQL_TYPES.latin1]) {
    assert.equal(expectation(type, 'paid'), bytes)
  }
  assert.equal(expectation(MYSQL_TYPES.decimal, '1.0'), 't.`c` = ?')
  assert.equal(expectation(MYSQL_TYPES.mood, 'ok'), 't.`c` = ?')
})

test('a moment is moved to UTC by its offset, with every digit of its fraction', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2024-02-29T10:00:00Z', '2024-02-29 10:00:00'],
    ['2024-02-29T10:00:00.123456+05:30', '2024-02-29 04:30:00.123456'],
    ['2024-02-29T00:30:00.50+02:00', '2024-02-28 22:30:00.50'],
    ['2024-12-31T23:59:59-00:00:01', '2025-01-01 00:00:00'],
    ['0004-03-01T00:00:00+00:01', '0004-02-29 23:59:00'],
    ['0099-12-31T23:00:00-02:00', '0100-01-01 01:00:00'],
    // Zero dates are kept by the server, and shown with a zone like all others.
    ['0000-00-00T00:00:00Z', '0000-00-00 00:00:00'],
    ['2024-00-00T00:00:00Z', '2024-00-00 00:00:00'],
    // Out of the years that the server reads: the nearest moment that it does.
    ['9999-12-31T23:30:00-01:00', '9999-12-31 23:59:59.999999'],
    ['0000-01-01T00:30:00+01:00', '0000-01-01 00:00:00'],
  ]
  for (const [value, text] of cases) {
    assert.equal(coerceValue(MYSQL_TYPES.timestamp, value).ok, true, value)
    assert.deepEqual(bindings(MYSQL_TYPES.timestamp, value), [text])
  }
  assert.deepEqual(bindings(MYSQL_TYPES.datetime, '2024-02-29T10:00:00.25'), ['2024-02-29 10:00:00.25'])
})

test('what is finer than the column keeps equals nothing in it, and is still greater or less', () => {
  const cases: readonly (readonly [ValueType, string, string])[] = [
    [MYSQL_TYPES.decimal, '1.50001', '1.50000'],
    [MYSQL_TYPES.datetime0, '2024-02-29T10:00:00.5', '2024-02-29T10:00:00.000'],
    [{ ...MYSQL_TYPES.time, fractionDigitsMax: 0 }, '10:00:00.5', '10:00:00'],
  ]
  for (const [type, fine, coarse] of cases) {
    assert.deepEqual(condition(type, 'eq', fine), { where: '1 = 0', params: [] })
    assert.deepEqual(condition(type, 'neq', fine), { where: 't.`c` IS NOT NULL', params: [] })
    assert.equal(condition(type, 'in', [fine, coarse]).where, 't.`c` IN (?)')
    assert.equal(condition(type, 'in', [fine]).where, '1 = 0')
    assert.equal(condition(type, 'lte', fine).where, 't.`c` <= ?')
    assert.equal(condition(type, 'eq', coarse).where, 't.`c` = ?')
  }
})

test('text that the column can hold is compared by the column alone, so that its index is used', () => {
  const cases: readonly (readonly [ValueType, string])[] = [
    [MYSQL_TYPES.ascii, 'a\u007f'],
    [MYSQL_TYPES.latin1, 'é€Žÿ\u0081'],
    [MYSQL_TYPES.bmp, 'ł\uffee'],
    [MYSQL_TYPES.greek, 'abc'],
    [MYSQL_TYPES.folded, '😀'],
    [MYSQL_TYPES.set, 'a,b'],
  ]
  for (const [type, value] of cases) assert.equal(condition(type, 'eq', value).where, 't.`c` = ?', value)
})

test('text that the column surely cannot hold equals nothing in it, and is ordered by its characters', () => {
  const cases: readonly (readonly [ValueType, string])[] = [
    [MYSQL_TYPES.ascii, 'é'],
    [MYSQL_TYPES.latin1, 'ł'],
    [MYSQL_TYPES.latin1, '\u0080'],
    [MYSQL_TYPES.bmp, '😀'],
  ]
  for (const [type, value] of cases) {
    assert.equal(condition(type, 'eq', value).where, '1 = 0', value)
    assert.equal(condition(type, 'neq', value).where, 't.`c` IS NOT NULL')
    assert.equal(condition(type, 'in', ['a', value]).where, 't.`c` IN (?)')
    assert.equal(condition(type, 'gt', value).where, 'CONVERT(t.`c` USING utf8mb4) COLLATE utf8mb4_bin > ?')
  }
})

test('text that the column may hold is compared by its characters, and its neighbours in a list are not', () => {
  const { greek, set } = MYSQL_TYPES
  assert.equal(condition(greek, 'eq', 'ά').where, 'CONVERT(t.`c` USING utf8mb4) COLLATE utf8mb4_bin = ?')
  assert.equal(condition(set, 'eq', 'ä').where, 'CONVERT(t.`c` USING utf8mb4) COLLATE utf8mb4_bin = ?')
  assert.deepEqual(condition(greek, 'in', ['a', 'ά', 'b']), {
    where: '(t.`c` IN (?, ?) OR CONVERT(t.`c` USING utf8mb4) COLLATE utf8mb4_bin IN (?))',
    params: ['a', 'b', 'ά'],
  })
})

test('lists of different lengths share statements: the last value fills them up', () => {
  const values = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`)
  const list = (count: number) => condition(MYSQL_TYPES.folded, 'in', values(count))
  assert.equal(list(5).where, list(8).where)
  assert.deepEqual(list(3).params, ['v0', 'v1', 'v2', 'v2'])
  assert.deepEqual(list(1).params, ['v0'])
  assert.equal(list(1_000).params.length, 1_024)
  assert.deepEqual(condition(MYSQL_TYPES.folded, 'in', []), { where: '1 = 0', params: [] })
})

test('labels are equal by their text and ordered by their place', () => {
  assert.deepEqual(condition(MYSQL_TYPES.mood, 'eq', 'ok'), { where: 't.`c` = ?', params: ['ok'] })
  assert.deepEqual(condition(MYSQL_TYPES.mood, 'gte', "it's"), {
    where: 't.`c` + 0 >= ?',
    params: [{ type: 'integer', value: '3' }],
  })
})

test('a pattern folds by the collation where that folds case, and letter by letter elsewhere', () => {
  const letters = 'LOWER(CONVERT(t.`c` USING utf8mb4) COLLATE utf8mb4_bin) LIKE LOWER(? COLLATE utf8mb4_bin)'
  assert.equal(condition(MYSQL_TYPES.folded, 'ilike', 'é%').where, 't.`c` LIKE ?')
  assert.equal(condition(MYSQL_TYPES.binary, 'ilike', 'é%').where, letters)
  assert.equal(condition(MYSQL_TYPES.latin1, 'ilike', 'ł%').where, letters)
  assert.equal(condition(MYSQL_TYPES.latin1, 'ilike', 'é%').where, 't.`c` LIKE ?')
})

test('a backslash that ends a pattern means itself', () => {
  const patterns = ['a\\', 'a\\\\', '\\', 'a\\%'].map(
    (pattern) => condition(MYSQL_TYPES.folded, 'ilike', pattern).params,
  )
  assert.deepEqual(patterns, [['a\\\\'], ['a\\\\'], ['\\\\'], ['a\\%']])
})

test('shapes are text to a reader, and are written only where the text describes one', () => {
  const { point } = MYSQL_TYPES
  assert.deepEqual(assignment(point, 'POINT(1 2)'), {
    set: "IFNULL(ST_GeomFromText(?), 'no geometry')",
    params: ['POINT(1 2)'],
  })
  assert.equal(
    held(point, 'POINT(1 2)'),
    'CAST(CONVERT(ST_AsText(t.`c`) USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY)',
  )
  for (const native of ['geometry', 'multipolygon', 'geomcollection', 'point /*!80003 SRID 4326 */']) {
    assert.match(assignment({ ...point, native }, 'x').set, /^IFNULL/, native)
  }
  assert.equal(assignment(MYSQL_TYPES.set, 'a').set, '?')
})

test('the time is stamped with as many digits as the column keeps', () => {
  const now = { kind: 'now' } as const
  const stamps = [
    MYSQL_TYPES.datetime,
    MYSQL_TYPES.datetime0,
    { ...MYSQL_TYPES.timestamp, fractionDigitsMax: 3 },
    MYSQL_TYPES.date,
    MYSQL_TYPES.time,
  ].map((type) => assignment(type, now).set)
  assert.deepEqual(stamps, [
    'UTC_TIMESTAMP(6)',
    'UTC_TIMESTAMP(0)',
    'CURRENT_TIMESTAMP(3)',
    'UTC_DATE()',
    'UTC_TIME(6)',
  ])
})

test('a row holds a text only to the last byte, and a number by its value', () => {
  const bytes = 'CAST(CONVERT(t.`c` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY)'
  assert.equal(held(MYSQL_TYPES.folded, 'a'), bytes)
  assert.equal(held(MYSQL_TYPES.mood, 'ok'), bytes)
  assert.equal(held(MYSQL_TYPES.json, '{}'), bytes)
  assert.equal(held(MYSQL_TYPES.decimal, '1.5'), 't.`c` <=> ?')
  assert.equal(held(MYSQL_TYPES.float, '0.1'), 't.`c` <=> ?')
  assert.equal(held(MYSQL_TYPES.varbinary, 'AAH/'), 't.`c` <=> ?')
  assert.equal(held(MYSQL_TYPES.folded, null), 't.`c` IS NULL')
})

test('only a column that can be NULL is sorted by that first', () => {
  const table = tableOf('t', { columns: { id: MYSQL_TYPES.int, 'a?': MYSQL_TYPES.int }, primaryKey: ['id'] })
  const order = (keys: readonly string[]) => {
    const { text } = mysqlDialect.compile(validatedPlan(table, searchPlan(table, { columns: ['id'], order: keys })))
    return text.slice(text.indexOf(' ORDER BY '))
  }
  assert.equal(order(['a']), ' ORDER BY t.`a` IS NULL, t.`a`, t.`id` LIMIT ?')
  assert.equal(order(['-a', '-id']), ' ORDER BY t.`a` IS NULL DESC, t.`a` DESC, t.`id` DESC LIMIT ?')
})

test('the first of texts that compare loosely is found by bytes among equals, and of exact ones as it is', () => {
  const first = (type: ValueType) => {
    const table = tableOf('t', { columns: { c: type } })
    const plan = aggregatePlan(table, { metrics: [{ fn: 'min', column: 'c' }] })
    return mysqlDialect.compile(validatedPlan(table, plan, { limits: { cellCharsMax: 100 } })).text
  }
  assert.equal(first(MYSQL_TYPES.exact), 'SELECT MIN(t.`c`) FROM `public`.`t` AS t LIMIT ?')
  assert.match(
    first({ ...MYSQL_TYPES.folded, padsSpaces: true }),
    /WEIGHT_STRING\(CONCAT\(RTRIM\(t\.`c`\), SPACE\(64\)\)\)/,
  )
  assert.match(first(MYSQL_TYPES.folded), /MIN\(CONCAT\(HEX\(WEIGHT_STRING\(t\.`c`\)\), '\.', HEX\(/)
  assert.equal(first(MYSQL_TYPES.bits64), 'SELECT MIN(t.`c`) + 0 FROM `public`.`t` AS t LIMIT ?')
})

test('names are quoted so that no name ends its own quotes', () => {
  const name = 'a`b"c'
  const table = tableOf(name, { columns: { id: MYSQL_TYPES.int, [name]: MYSQL_TYPES.int }, primaryKey: ['id'] })
  const { text } = mysqlDialect.compile(validatedPlan(table, getPlan(table, { id: '1' }, [name])))
  assert.equal(text, 'SELECT t.`a``b"c`, t.`id` FROM `public`.`a``b"c` AS t WHERE t.`id` = ? LIMIT 1')
})

test('a new row that is not returned is read back by what its table counts up', () => {
  const plain = tableOf('t', { columns: { id: MYSQL_TYPES.int, c: MYSQL_TYPES.exact }, primaryKey: ['id'] })
  const columns = plain.columns.map((column) =>
    column.name === 'id' ? { ...column, generated: 'by_default' as const } : column,
  )
  const table = { ...plain, columns, insertReadBack: 'by_key' as const }
  const { write, readBack } = mysqlDialect.compileMutation(validatedMutation(table, 'create', { values: { c: 'x' } }))
  assert.equal(write.text, 'INSERT INTO `public`.`t` (`c`) VALUES (?)')
  assert.equal(
    readBack?.text,
    "SELECT t.`id`, t.`c`, 't' FROM `public`.`t` AS t WHERE t.`id` = LAST_INSERT_ID() LIMIT ?",
  )
})

test('what is returned of a new row goes by the name of its table', () => {
  const table = {
    ...tableOf('t', { columns: { id: MYSQL_TYPES.int } }),
    ref: { schema: catalogName('s'), name: catalogName('x') },
  }
  const { write } = mysqlDialect.compileMutation(
    validatedMutation(table, 'create', { scope: { all: [filter('id', 'gt', '1')] } }),
  )
  assert.equal(write.text, "INSERT INTO `s`.`x` () VALUES () RETURNING `x`.`id`, IF(`x`.`id` > ?, 't', 'f')")
})
