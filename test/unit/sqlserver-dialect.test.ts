import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SQLSERVER_LIST_PARAMS_MAX } from '../../src/core/limits.js'
import { metricType } from '../../src/core/metric-type.js'
import type { FilterOp, PlanValue } from '../../src/core/plan.js'
import { catalogName, type ValueType } from '../../src/core/schema-model.js'
import type { Param } from '../../src/core/statement.js'
import { SqlWriter } from '../../src/engines/sql/sql-writer.js'
import { sqlserverDialect } from '../../src/engines/sqlserver/dialect.js'
import { aggregatePlan, filter, getPlan, searchPlan, validatedMutation, validatedPlan } from '../support/plans.js'
import { tableOf } from '../support/schema.js'
import { SQLSERVER_TYPES as T } from '../support/sqlserver-types.js'

function tableWith(type: ValueType) {
  return tableOf('t', { columns: { id: T.int, 'c?': type }, primaryKey: ['id'] })
}

/** What stands after `WHERE` for one filter of a column `c`, and what it binds. */
function condition(type: ValueType, op: FilterOp, value?: PlanValue | readonly PlanValue[]) {
  const table = tableWith(type)
  const plan = searchPlan(table, { columns: ['id'], filters: [filter('c', op, value)] })
  const { text, params } = sqlserverDialect.compile(validatedPlan(table, plan))
  const [, where = ''] = / AS t WHERE (.*) ORDER BY t\.\[id\]$/s.exec(text) ?? []
  return { where, params: params.slice(1) }
}

/** What a column `c` is set to. */
function assignment(type: ValueType, value: PlanValue | { readonly kind: 'now' }) {
  const parts = { key: { id: '1' }, values: { c: value }, returning: [] }
  const { write } = sqlserverDialect.compileMutation(validatedMutation(tableWith(type), 'update', parts))
  const [, set = ''] = /^UPDATE t SET \[c\] = (.*) OUTPUT @mark, 't' FROM /s.exec(write.text) ?? []
  return { set, params: write.params.slice(0, -1) }
}

/** Whether the row holds what is written into its column `c`. */
function held(type: ValueType, value: PlanValue | null): string {
  const parts = { key: { id: '1' }, values: { c: value }, returning: ['c'] }
  const { lock } = sqlserverDialect.compileMutation(validatedMutation(tableWith(type), 'update', parts))
  const [, text = ''] = /^SELECT 't', CASE WHEN (.*) THEN 't' ELSE 'f' END, /s.exec(lock?.text ?? '') ?? []
  return text
}

function metric(fn: 'count' | 'sum' | 'avg' | 'min' | 'max', type: ValueType): string {
  const table = tableOf('t', { columns: { c: type } })
  const { text } = sqlserverDialect.compile(
    validatedPlan(table, aggregatePlan(table, { metrics: [{ fn, column: 'c' }] })),
  )
  const [, cell = ''] = /^SELECT TOP \(@p1\) (.*) FROM /s.exec(text) ?? []
  return cell
}

const whole = (value: string): Param => ({ type: 'integer', value })
const decimal = (value: string): Param => ({ type: 'decimal', value })

test('a value is cast to the column s own type, so that the column itself is not converted', () => {
  const cases: readonly (readonly [ValueType, string, string, Param])[] = [
    [T.tinyint, '5', 'CAST(@p2 AS tinyint)', whole('5')],
    [T.bigint, '-9223372036854775808', '@p2', whole('-9223372036854775808')],
    [T.bit, 'false', 'CAST(@p2 AS bit)', whole('0')],
    [T.decimal, '1.5', 'CAST(@p2 AS decimal(20, 4))', decimal('1.5000')],
    [T.numeric, '-7', 'CAST(@p2 AS decimal(38, 0))', decimal('-7')],
    [T.money, '-0.5', 'CAST(@p2 AS money)', decimal('-0.5000')],
    [T.float, '1e300', '@p2', { type: 'float', value: '1e300' }],
    [T.real, '0.1', 'CAST(@p2 AS real)', { type: 'float', value: '0.10000000149011612' }],
    [T.date, '0001-01-01', 'CAST(@p2 AS date)', '0001-01-01'],
    [T.time, '10:00:00.1234567', 'CAST(@p2 AS time(7))', '10:00:00.1234567'],
    [T.datetime2of3, '2024-02-29T10:00:00', 'CAST(@p2 AS datetime2(3))', '2024-02-29T10:00:00'],
    [T.datetime, '2024-02-29T10:00:00.5', 'CAST(@p2 AS datetime)', '2024-02-29T10:00:00.500'],
    [T.smalldatetime, '2024-02-29T10:00:00.00', 'CAST(@p2 AS smalldatetime)', '2024-02-29T10:00:00'],
    [T.datetimeoffset, '2024-02-29T10:00:00+05:30', 'CAST(@p2 AS datetimeoffset(7))', '2024-02-29T10:00:00+05:30'],
    [T.varbinary, 'AAH/', '@p2', { type: 'bytes', value: 'AAH/' }],
    [T.folded, 'a', '@p2', 'a'],
    [T.hierarchyid, '/1/', 'CAST(@p2 AS hierarchyid)', '/1/'],
  ]
  for (const [type, value, text, param] of cases) {
    assert.deepEqual(condition(type, 'eq', value), { where: `t.[c] = ${text}`, params: [param] }, type.native)
  }
})

test('an alias of a type is compared and shown as the type it stands for', () => {
  const price: ValueType = { ...T.decimal, native: 'dbo.Price', domain: true }
  assert.equal(condition(price, 'eq', '1').where, 't.[c] = CAST(@p2 AS decimal(20, 4))')
  assert.equal(metric('max', price), 'CONVERT(varchar(50), MAX(t.[c]))')
})

test('what lies between two values that the column can hold equals none, and is compared with the one before it', () => {
  const cases: readonly (readonly [ValueType, string, Param])[] = [
    [T.decimal, '1.50001', decimal('1.5000')],
    [T.decimal, '-1.50001', decimal('-1.5001')],
    [T.numeric, '0.5', decimal('0')],
    [T.numeric, '-0.5', decimal('-1')],
    [T.money, '1.00005', decimal('1.0000')],
    [T.time0, '10:00:00.5', '10:00:00'],
    [T.datetime2of3, '2024-02-29T10:00:00.1239', '2024-02-29T10:00:00.123'],
    [T.datetime, '2024-02-29T10:00:00.002', '2024-02-29T10:00:00.000'],
    [T.datetime, '2024-02-29T10:00:00.0069', '2024-02-29T10:00:00.003'],
    [T.datetime, '2024-02-29T23:59:59.999', '2024-02-29T23:59:59.997'],
    [T.smalldatetime, '2024-02-29T10:00:59', '2024-02-29T10:00:00'],
    [T.datetimeoffset0, '2024-02-29T10:00:00.9+02:00', '2024-02-29T10:00:00+02:00'],
    [T.real, '1e-300', { type: 'float', value: '0' }],
    [T.real, '16777217', { type: 'float', value: '16777216' }],
    [T.real, '-16777217', { type: 'float', value: '-16777218' }],
    [T.real, '1e-45', { type: 'float', value: '0' }],
    [T.float, '-5e-324', { type: 'float', value: String(-(2 ** -1022)) }],
  ]
  for (const [type, value, before] of cases) {
    assert.deepEqual(condition(type, 'eq', value), { where: '1 = 0', params: [] }, value)
    assert.deepEqual(condition(type, 'neq', value), { where: 't.[c] IS NOT NULL', params: [] })
    for (const [op, sign] of [
      ['gt', '>'],
      ['gte', '>'],
      ['lt', '<='],
      ['lte', '<='],
    ] as const) {
      const { where, params } = condition(type, op, value)
      assert.deepEqual(
        [where.slice(0, `t.[c] ${sign} `.length), params],
        [`t.[c] ${sign} `, [before]],
        `${value} ${op}`,
      )
    }
    assert.equal(condition(type, 'in', [value]).where, '1 = 0')
  }
})

test('what is beyond the column is greater or less than all that it holds, and never reaches the server', () => {
  const over: readonly (readonly [ValueType, string])[] = [
    [T.decimal, '10000000000000000'],
    [T.money, '922337203685477.5808'],
    [T.smallmoney, '214748.3648'],
    [T.real, '1e300'],
    [T.smalldatetime, '2079-06-07T00:00:00'],
  ]
  for (const [type, value] of over) {
    assert.equal(condition(type, 'gt', value).where, '1 = 0', value)
    assert.equal(condition(type, 'lte', value).where, 't.[c] IS NOT NULL')
    assert.equal(condition(type, 'neq', value).where, 't.[c] IS NOT NULL')
    assert.equal(condition(type, 'eq', value).where, '1 = 0')
  }
  const under: readonly (readonly [ValueType, string])[] = [
    [T.decimal, '-10000000000000000'],
    [T.decimal, '-9999999999999999.99999'],
    [T.money, '-922337203685477.5809'],
    [T.real, '-1e300'],
  ]
  for (const [type, value] of under) {
    assert.equal(condition(type, 'gte', value).where, 't.[c] IS NOT NULL', value)
    assert.equal(condition(type, 'lt', value).where, '1 = 0')
  }
  assert.equal(condition(T.money, 'eq', '922337203685477.5807').where, 't.[c] = CAST(@p2 AS money)')
})

test('text is compared in the code page of its column where that has all its characters, and as wide text elsewhere', () => {
  const paged = 't.[c] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))'
  for (const value of ['a', '€', 'é']) assert.equal(condition(T.latin1, 'eq', value).where, paged, value)
  for (const value of ['ł', 'ａ', 'x'.repeat(2_001)])
    assert.equal(condition(T.latin1, 'eq', value).where, 't.[c] = @p2')
  assert.equal(condition(T.greek, 'eq', 'a').where, 't.[c] = CAST(@p2 COLLATE Greek_CS_AS AS varchar(8000))')
  assert.equal(condition(T.greek, 'eq', 'ά').where, 't.[c] = @p2')
  assert.match(condition(T.utf8, 'eq', '😀').where, /UTF8 AS varchar\(8000\)\)$/)
  assert.deepEqual(condition(T.greek, 'in', ['a', 'ά', 'b']), {
    where:
      '(t.[c] IN (CAST(@p2 COLLATE Greek_CS_AS AS varchar(8000)), CAST(@p3 COLLATE Greek_CS_AS AS varchar(8000))) OR t.[c] IN (@p4))',
    params: ['a', 'b', 'ά'],
  })
})

test('the name of a collation that is more than a word stops a statement', () => {
  const type: ValueType = { ...T.latin1, collation: catalogName('x) OR (1 = 1') }
  assert.throws(() => condition(type, 'eq', 'a'), /collation/)
})

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index))

test('short lists of different lengths share statements: the last value fills them up', () => {
  const list = (count: number) => condition(T.int, 'in', numbers(count))
  assert.equal(list(5).where, list(8).where)
  assert.deepEqual(list(3).params, ['0', '1', '2', '2'].map(whole))
  assert.equal(list(SQLSERVER_LIST_PARAMS_MAX).params.length, SQLSERVER_LIST_PARAMS_MAX)
  assert.deepEqual(condition(T.int, 'in', []), { where: '1 = 0', params: [] })
})

test('a long list is one parameter, whose members are cast to the column s type and compared by its collation', () => {
  const values = numbers(SQLSERVER_LIST_PARAMS_MAX + 1)
  const from = "FROM OPENJSON(@p2) WITH (v nvarchar(max) '$')"
  const cases: readonly (readonly [ValueType, string])[] = [
    [T.int, 'CAST(v AS int)'],
    [T.bigint, 'CAST(v AS bigint)'],
    [T.folded, 'v COLLATE SQL_Latin1_General_CP1_CI_AS'],
    [T.latin1, 'CAST(v COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))'],
  ]
  for (const [type, member] of cases) {
    const { where, params } = condition(type, 'in', values)
    assert.deepEqual([where, params], [`t.[c] IN (SELECT ${member} ${from})`, [JSON.stringify(values)]])
  }
  const listed = (type: ValueType, value: string) =>
    JSON.parse(String(condition(type, 'in', [...Array(SQLSERVER_LIST_PARAMS_MAX + 1).fill(value)]).params[0]))[0]
  assert.equal(listed(T.float, '0.1'), '1.0000000000000001e-1')
  assert.equal(listed(T.decimal, '1.5'), '1.5000')
  assert.equal(listed(T.varbinary, 'AAH/'), '0001ff')
  assert.equal(listed(T.bit, 'true'), '1')
  assert.match(
    condition(T.varbinary, 'in', [...Array(20).fill('AAH/')]).where,
    /SELECT CONVERT\(varbinary\(max\), v, 2\) FROM/,
  )
})

test('fifty lists of a thousand values are one statement', () => {
  const table = tableWith(T.int)
  const filters = Array.from({ length: 50 }, () => filter('c', 'in', numbers(1_000)))
  const { params } = sqlserverDialect.compile(validatedPlan(table, searchPlan(table, { columns: ['id'], filters })))
  assert.equal(params.length, 51)
})

test('of a row that is being written a long list is one parameter too, taken apart in place since nothing may be read beside it', () => {
  const table = tableWith(T.int)
  const { write } = sqlserverDialect.compileMutation(
    validatedMutation(table, 'create', { scope: { all: [filter('c', 'in', numbers(1_000))] }, returning: [] }),
  )
  assert.match(
    write.text,
    /^INSERT INTO \[public\]\.\[t\] OUTPUT @mark, CASE WHEN inserted\.\[c\] IN \(CAST\(JSON_VALUE\(@p1, '\$\[0\]'\) AS int\), /,
  )
  assert.match(write.text, /JSON_VALUE\(@p1, '\$\[999\]'\) AS int\)\)/)
  assert.doesNotMatch(write.text, /SELECT/)
  assert.deepEqual(write.params, [JSON.stringify(numbers(1_000))])
})

test('of a list that is taken apart in place, what is longer than the server takes out of JSON is a parameter of its own', () => {
  const long = 'x'.repeat(4_001)
  const values = [...numbers(16), long]
  const { write } = sqlserverDialect.compileMutation(
    validatedMutation(tableWith(T.long), 'create', { scope: { all: [filter('c', 'in', values)] }, returning: [] }),
  )
  assert.deepEqual(write.params, [JSON.stringify(numbers(16)), long])
  assert.match(write.text, /'\$\[15\]'\) COLLATE [A-Za-z0-9_]+, @p2\)/)
})

test('a pattern that is longer than the server takes is refused, as it is written for the server', () => {
  const patternOf = (type: ValueType, pattern: string) => {
    const table = tableWith(type)
    const plan = searchPlan(table, { columns: ['id'], filters: [filter('c', 'ilike', pattern)] })
    return sqlserverDialect.compile(validatedPlan(table, plan)).tooLarge
  }
  for (const type of [T.folded, T.greek, T.int]) {
    assert.equal(patternOf(type, 'x'.repeat(4_000)), undefined)
    assert.match(patternOf(type, 'x'.repeat(4_001)) ?? '', /at most 4000 characters/)
    assert.match(patternOf(type, '['.repeat(2_001)) ?? '', /at most 4000 characters/)
  }
})

test('a value of a variant is converted by its own type, so that none of its digits is left out', () => {
  const table = tableWith(T.variant)
  const { text } = sqlserverDialect.compile(validatedPlan(table, getPlan(table, { id: '1' }, ['c'])))
  assert.match(text, /CASE CONVERT\(nvarchar\(128\), SQL_VARIANT_PROPERTY\(t\.\[c\], 'BaseType'\)\) WHEN /)
  for (const part of [
    " WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c])))",
    " WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c]), 3)",
    " WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c]), 121)",
    " WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c]), 1)",
    ' ELSE CONVERT(nvarchar(max), t.[c]) END',
  ])
    assert.ok(text.includes(part), part)
})

test('a pattern has the meaning that callers know: a bracket is itself, and a backslash escapes', () => {
  const pattern = (value: string) => condition(T.folded, 'ilike', value)
  assert.deepEqual(pattern('a[b]%'), { where: "t.[c] LIKE @p2 ESCAPE N'\\'", params: ['a\\[b]%'] })
  const patterns = ['\\[', '\\\\[', '\\%[', 'a\\', '\\_'].map((value) => pattern(value).params[0])
  assert.deepEqual(patterns, ['\\[', '\\\\\\[', '\\%\\[', 'a\\\\', '\\_'])
  const letters = "CONVERT(nvarchar(max), t.[c]) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p2 ESCAPE N'\\'"
  assert.equal(condition(T.greek, 'ilike', 'a').where, letters)
  assert.equal(condition(T.latin1, 'ilike', 'ł').where, "t.[c] LIKE @p2 ESCAPE N'\\'")
})

test('types that are not compared are compared by their text, and bytes by their digits', () => {
  assert.deepEqual(condition(T.legacyNtext, 'eq', 'a'), {
    where: "(CONVERT(nvarchar(max), t.[c]) + N'.') COLLATE Latin1_General_BIN2 = @p2",
    params: ['a.'],
  })
  assert.deepEqual(condition(T.image, 'eq', 'AAH/').params, ['0001FF.'])
})

test('a character that a code page may not have fails a write instead of becoming another', () => {
  assert.equal(assignment(T.greek, 'a').set, '@p1')
  assert.equal(assignment(T.latin1, 'é').set, '@p1')
  const { set, params } = assignment(T.greek, 'ά')
  assert.match(
    set,
    /^CASE WHEN .*CONVERT\(varchar\(max\), @p1 COLLATE Greek_CS_AS\).* THEN .*@p1\) ELSE .*CONVERT\(int, N'/,
  )
  assert.deepEqual(params, ['ά'])
})

test('what is written is cast but for text and bytes, which a cast would cut', () => {
  assert.deepEqual(assignment(T.folded, 'x'.repeat(41)), { set: '@p1', params: ['x'.repeat(41)] })
  assert.equal(assignment(T.binary, 'AAH/').set, '@p1')
  assert.deepEqual(assignment(T.money, '1.5'), { set: 'CAST(@p1 AS money)', params: [decimal('1.5000')] })
  assert.deepEqual(assignment(T.real, '3.4028235e38').params, [{ type: 'float', value: '3.4028234663852886e+38' }])
  assert.equal(assignment(T.geography, 'POINT (1 2)').set, 'CAST(@p1 AS geography)')
})

test('the time is stamped in UTC, with no more digits than the column keeps', () => {
  const clock = (from: number, chars: number) =>
    `SUBSTRING(CONVERT(varchar(50), SYSUTCDATETIME(), 126), ${from}, ${chars})`
  const stamps = [
    T.datetime2,
    T.datetime2of3,
    T.datetimeoffset0,
    T.datetime,
    T.smalldatetime,
    T.date,
    T.time,
    T.time0,
  ].map((type) => assignment(type, { kind: 'now' }).set)
  assert.deepEqual(stamps, [
    `CAST(${clock(1, 27)} AS datetime2(7))`,
    `CAST(${clock(1, 23)} AS datetime2(3))`,
    `CAST(${clock(1, 19)} AS datetimeoffset(0))`,
    `CAST(${clock(1, 23)} AS datetime)`,
    `CAST(${clock(1, 16)} + ':00' AS smalldatetime)`,
    `CAST(${clock(1, 10)} AS date)`,
    `CAST(${clock(12, 16)} AS time(7))`,
    `CAST(${clock(12, 8)} AS time(0))`,
  ])
})

test('a row holds a text to its last space, a moment with its offset, and bytes with their zeros', () => {
  assert.equal(held(T.folded, 'a'), "(CONVERT(nvarchar(max), t.[c]) + N'.') COLLATE Latin1_General_BIN2 = @p1")
  assert.equal(
    held(T.datetimeoffset, '2024-02-29T10:00:00Z'),
    'CONVERT(varchar(50), t.[c], 121) = CONVERT(varchar(50), CAST(@p1 AS datetimeoffset(7)), 121)',
  )
  assert.equal(
    held(T.varbinary, 'AAH/'),
    'CONVERT(varbinary(max), t.[c]) = @p1 AND DATALENGTH(t.[c]) = DATALENGTH(@p1)',
  )
  assert.equal(held(T.decimal, '1.5'), 't.[c] = CAST(@p1 AS decimal(20, 4))')
  assert.equal(held(T.folded, null), 't.[c] IS NULL')
})

test('sums and averages are exact whatever they are of, and counts are of any number of rows', () => {
  const cell = (inner: string) => `CONVERT(varchar(50), ${inner})`
  assert.equal(metric('sum', T.bigint), cell('SUM(CAST(t.[c] AS decimal(38, 0)))'))
  assert.equal(metric('sum', T.money), cell('SUM(CAST(t.[c] AS decimal(38, 4)))'))
  assert.equal(metric('avg', T.int), cell('AVG(CAST(t.[c] AS decimal(38, 16)))'))
  assert.equal(metric('avg', T.bigint), cell('AVG(CAST(t.[c] AS decimal(38, 10)))'))
  assert.equal(metric('avg', T.decimal), cell('AVG(CAST(t.[c] AS decimal(38, 13)))'))
  assert.equal(metric('avg', T.numeric), cell('AVG(CAST(t.[c] AS decimal(38, 0)))'))
  assert.equal(metric('avg', T.real), 'CONVERT(varchar(50), AVG(CAST(t.[c] AS float(53))), 3)')
  assert.equal(metric('count', T.folded), cell('COUNT_BIG(t.[c])'))
  assert.equal(metric('count', T.xml), cell('COUNT_BIG(CASE WHEN t.[c] IS NOT NULL THEN 1 END)'))
})

test('texts have no extremes, since of equal ones the server gives any', () => {
  for (const type of [T.folded, T.exact, T.latin1]) {
    assert.equal(metricType('min', type), undefined)
    assert.equal(metricType('max', type), undefined)
    assert.notEqual(metricType('count_distinct', type), undefined)
  }
  assert.notEqual(metricType('max', T.datetimeoffset), undefined)
})

test('of equal moments the first and last are told by their offsets', () => {
  assert.match(
    metric('min', T.datetimeoffset0),
    /STUFF\(MIN\(\(CONVERT\(char\(50\), SWITCHOFFSET.* \+ CONVERT\(varchar\(50\), t\.\[c\], 121\)\) COLLATE Latin1_General_BIN2\), 1, 50, ''\)/,
  )
  assert.equal(metric('min', T.datetime2), 'CONVERT(varchar(50), MIN(t.[c]), 121)')
})

test('only a column that can be NULL is sorted by that first, and none by its number', () => {
  const table = tableOf('t', { columns: { id: T.int, 'a?': T.int }, primaryKey: ['id'] })
  const order = (keys: readonly string[]) => {
    const { text } = sqlserverDialect.compile(validatedPlan(table, searchPlan(table, { columns: ['id'], order: keys })))
    return text.slice(text.indexOf(' ORDER BY '))
  }
  assert.equal(order(['a']), ' ORDER BY CASE WHEN t.[a] IS NULL THEN 1 ELSE 0 END, t.[a], t.[id]')
  assert.equal(order(['-a', '-id']), ' ORDER BY CASE WHEN t.[a] IS NULL THEN 0 ELSE 1 END, t.[a] DESC, t.[id] DESC')
})

test('names are quoted so that no name ends its own quotes', () => {
  const name = "a]b[c'"
  const table = tableOf(name, { columns: { id: T.int, [name]: T.bigint }, primaryKey: ['id'] })
  const { text } = sqlserverDialect.compile(validatedPlan(table, getPlan(table, { id: '1' }, [name])))
  assert.equal(
    text,
    "SELECT TOP (1) CONVERT(varchar(50), t.[a]]b[c']), CONVERT(varchar(50), t.[id]) FROM [public].[a]]b[c'] AS t WHERE t.[id] = CAST(@p1 AS int)",
  )
})

test('a table whose triggers forbid it returns nothing, and its row is read back in the same batch', () => {
  const plain = tableWith(T.folded)
  const columns = plain.columns.map((column) =>
    column.name === 'id' ? { ...column, generated: 'by_default' as const } : column,
  )
  const table = { ...plain, columns, insertReadBack: 'by_key' as const, updateReadBack: 'by_key' as const }
  const created = sqlserverDialect.compileMutation(validatedMutation(table, 'create', { values: { c: 'x' } }))
  assert.equal(created.readBack, undefined)
  assert.equal(
    created.write.text,
    "INSERT INTO [public].[t]([c]) VALUES (@p1); SELECT TOP (@p2) @mark, @@ROWCOUNT, CONVERT(varchar(50), t.[id]), t.[c], 't' " +
      'FROM [public].[t] AS t WHERE t.[id] = CAST(SCOPE_IDENTITY() AS bigint)',
  )
  const updated = sqlserverDialect.compileMutation(
    validatedMutation(table, 'update', { key: { id: '1' }, values: { c: 'x' } }),
  )
  assert.match(
    updated.write.text,
    /^UPDATE t SET \[c\] = @p1 FROM \[public\]\.\[t\] AS t WHERE .*; SELECT TOP \(@p3\) @mark, @@ROWCOUNT, /,
  )
})

test('the word for a collation is written only where it is one', () => {
  const style = { quoting: 'bracket', placeholders: 'at', paramsMax: 1 } as const
  assert.equal(new SqlWriter(style).collation(catalogName('Greek_CS_AS')).finish([]).text, 'Greek_CS_AS')
  for (const name of ['', 'a b', 'a;b', 'é'])
    assert.throws(() => new SqlWriter(style).collation(catalogName(name)), /word/)
})

test('a value of a type that the system did not make is asked for as text', () => {
  const made: ValueType = { logical: 'unknown', native: 'dbo.Point3', equality: false, ordered: false }
  const table = tableWith(made)
  const { text } = sqlserverDialect.compile(validatedPlan(table, getPlan(table, { id: '1' }, ['c'])))
  assert.match(text, /^SELECT TOP \(1\) LEFT\(CONVERT\(nvarchar\(max\), t\.\[c\]\) COLLATE /)
  assert.equal(metric('count', made), 'CONVERT(varchar(50), COUNT_BIG(CASE WHEN t.[c] IS NOT NULL THEN 1 END))')
})
