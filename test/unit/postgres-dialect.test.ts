import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FilterOp } from '../../src/core/plan.js'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue } from '../../src/core/value.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { filter, searchPlan, validatedPlan } from '../support/plans.js'
import { SAMPLES, TYPES, tableOf } from '../support/schema.js'

/** The JSON text of a cell; `charsMax` as a statement that cuts would set it. */
function json(type: ValueType, text: string, charsMax?: number): string {
  return postgresDialect.encodeCell({ name: 'c', type, ...(charsMax === undefined ? {} : { charsMax }) }, text).json
}

function cut(type: ValueType, text: string, charsMax: number): readonly [string, boolean] {
  const cell = postgresDialect.encodeCell({ name: 'c', type, charsMax }, text)
  return [cell.json, cell.cut]
}

const arrayOf = (element: ValueType): ValueType => ({ ...TYPES.integers, native: `${element.native}[]`, element })

test('integers are numbers, and big ones only while a double holds them', () => {
  assert.equal(json(TYPES.integer, '-2147483648'), '-2147483648')
  assert.equal(json(TYPES.bigint, '9007199254740991'), '9007199254740991')
  assert.equal(json(TYPES.bigint, '-9007199254740991'), '-9007199254740991')
  assert.equal(json(TYPES.bigint, '9007199254740992'), '"9007199254740992"')
  assert.equal(json(TYPES.bigint, '-9007199254740992'), '"-9007199254740992"')
  assert.equal(json(TYPES.bigint, '-9223372036854775808'), '"-9223372036854775808"')
  assert.equal(json(TYPES.bigint, '0'), '0')
})

test('a decimal keeps every digit, trailing zeros too', () => {
  assert.equal(json(TYPES.decimal, '12345678901234567890.1200'), '"12345678901234567890.1200"')
  assert.equal(json(TYPES.decimal, 'NaN'), '"NaN"')
  assert.equal(json(TYPES.decimal, '-Infinity'), '"-Infinity"')
})

test('a float is a number unless JSON has none for it', () => {
  assert.equal(json(TYPES.float, '1e+300'), '1e+300')
  assert.equal(json(TYPES.float, '-5e-324'), '-5e-324')
  assert.equal(json(TYPES.float, '0.1'), '0.1')
  assert.equal(json(TYPES.float, '-0'), '0')
  for (const text of ['NaN', 'Infinity', '-Infinity']) assert.equal(json(TYPES.float, text), `"${text}"`)
})

test('booleans are booleans', () => {
  assert.equal(json(TYPES.boolean, 't'), 'true')
  assert.equal(json(TYPES.boolean, 'f'), 'false')
})

test('a timestamp is ISO 8601 with the precision and the offset that the database gave', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2024-05-31 10:00:00.123456+00', '2024-05-31T10:00:00.123456Z'],
    ['2024-05-31 10:00:00+02', '2024-05-31T10:00:00+02:00'],
    ['2024-05-31 10:00:00-05:30', '2024-05-31T10:00:00-05:30'],
    ['1890-01-01 10:00:00+00:19:32', '1890-01-01T10:00:00+00:19:32'],
    ['0044-03-15 10:00:00+00 BC', '0044-03-15T10:00:00Z BC'],
    ['12024-01-01 00:00:00+00', '12024-01-01T00:00:00Z'],
    ['infinity', 'infinity'],
    ['-infinity', '-infinity'],
  ]
  for (const [text, iso] of cases) assert.equal(json(TYPES.timestamptz, text), `"${iso}"`)
  assert.equal(json(TYPES.timestamp, '2024-05-31 10:00:00'), '"2024-05-31T10:00:00"')
  assert.equal(json(TYPES.timestamp, '0044-03-15 10:00:00.5 BC'), '"0044-03-15T10:00:00.5 BC"')
})

test('dates and times of day keep their text, offsets completed', () => {
  assert.equal(json(TYPES.date, '2024-02-29'), '"2024-02-29"')
  assert.equal(json(TYPES.date, '0044-03-15 BC'), '"0044-03-15 BC"')
  assert.equal(json(TYPES.time, '24:00:00'), '"24:00:00"')
  assert.equal(json(TYPES.timetz, '10:00:00.25-02'), '"10:00:00.25-02:00"')
  assert.equal(json(TYPES.timetz, '10:00:00+00'), '"10:00:00Z"')
  assert.equal(json(TYPES.timetz, '10:00:00+05:30'), '"10:00:00+05:30"')
  assert.equal(json(TYPES.interval, 'P1Y2M-3DT4H5M6.7S'), '"P1Y2M-3DT4H5M6.7S"')
})

test('a value as read is a value as taken', () => {
  const cases: readonly (readonly [ValueType, string])[] = [
    [TYPES.integer, '-5'],
    [TYPES.bigint, '9007199254740993'],
    [TYPES.decimal, '0.0001'],
    [TYPES.float, '-0'],
    [TYPES.float, '1e+300'],
    [TYPES.float, 'NaN'],
    [TYPES.boolean, 't'],
    [TYPES.timestamptz, '2024-05-31 10:00:00.123456+05:30'],
    [TYPES.timestamptz, '0044-03-15 10:00:00+00 BC'],
    [TYPES.timestamp, '12024-01-01 00:00:00'],
    [TYPES.date, '-infinity'],
    [TYPES.timetz, '10:00:00+00'],
    [TYPES.interval, 'P1Y2M-3DT4H5M6.7S'],
    [TYPES.uuid, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    [TYPES.bytes, '\\x0001ff'],
    [TYPES.mood, 'ok'],
    [TYPES.text, 'a "b" \\ \n \u{1f600}'],
    [TYPES.inet, '10.0.0.1'],
  ]
  for (const [type, text] of cases) {
    const taken = coerceValue(type, JSON.parse(json(type, text)))
    assert.ok(taken.ok, `${type.native} ${text}`)
  }
})

test('bytes are base64, there and back', () => {
  assert.equal(json(TYPES.bytes, '\\x'), '""')
  assert.equal(json(TYPES.bytes, '\\x0001ff'), '"AAH/"')
  const filters = [filter('c_bytes', 'eq', 'AAH/'), filter('c_bytes', 'in', ['', 'AAH/'])]
  const statement = postgresDialect.compile(validatedPlan(SAMPLES, searchPlan(SAMPLES, { columns: ['id'], filters })))
  assert.deepEqual(statement.params, ['\\x0001ff', ['\\x', '\\x0001ff'], '11'])
})

test('JSON is JSON, with its own members and spelling', () => {
  assert.equal(
    json(TYPES.jsonb, '{ "__proto__" : [1, 2.50],\n "a b":"x \\" : y", "a":1,\t"a":2 }'),
    '{"__proto__":[1,2.50],"a b":"x \\" : y","a":1,"a":2}',
  )
  assert.equal(json(TYPES.json, ' null '), 'null')
  assert.equal(json(TYPES.json, '"\\\\"'), '"\\\\"')
  assert.deepEqual(Object.keys(JSON.parse(json(TYPES.jsonb, '{"__proto__": {"x": 1}}'))), ['__proto__'])
})

test('JSON with a number that a double cannot hold is the text of it', () => {
  const asText = [
    '12345678901234567890',
    '[0.1234567890123456789]',
    '{"a": 1e400}',
    '{"a":[9007199254740993]}',
    '1e-400',
  ]
  for (const text of asText) {
    const decoded: unknown = JSON.parse(json(TYPES.jsonb, text))
    assert.equal(decoded, text.replaceAll(' ', ''))
  }
  const asJson = [
    '0.1',
    '1.0',
    '1E2',
    '9007199254740992',
    '-0',
    '1.7976931348623157e308',
    '123456789012345.5',
    '0e999999',
  ]
  for (const text of asJson) assert.equal(json(TYPES.jsonb, text), text)
})

test('arrays are arrays, of any depth and lower bound', () => {
  assert.equal(json(TYPES.integers, '{}'), '[]')
  assert.equal(json(TYPES.integers, '{1,NULL,-3}'), '[1,null,-3]')
  assert.equal(json(TYPES.integers, '[0:2]={1,2,3}'), '[1,2,3]')
  assert.equal(json(TYPES.integers, '[1:1][-2:-1]={{1,2}}'), '[[1,2]]')
  assert.equal(
    json(TYPES.texts, '{{"a,b","c\\"d"},{NULL,"NULL"},{"","\\\\}"}}'),
    '[["a,b","c\\"d"],[null,"NULL"],["","\\\\}"]]',
  )
  assert.equal(json(arrayOf(TYPES.bigint), '{9007199254740993,1}'), '["9007199254740993",1]')
  assert.equal(json(arrayOf(TYPES.mood), '{sad,ok}'), '["sad","ok"]')
  assert.equal(json(arrayOf(TYPES.boolean), '{t,f}'), '[true,false]')
  assert.equal(
    json(arrayOf(TYPES.timestamptz), '{"2024-01-01 00:00:00+00",infinity}'),
    '["2024-01-01T00:00:00Z","infinity"]',
  )
  assert.equal(json(arrayOf(TYPES.jsonb), '{"{\\"a\\": [1]}","null","\\"q\\""}'), '[{"a":[1]},null,"q"]')
  assert.equal(json(arrayOf(TYPES.bytes), '{"\\\\x00ff"}'), '["AP8="]')
})

test('an array of boxes is separated by semicolons', () => {
  const boxes = arrayOf({ ...TYPES.point, native: 'box' })
  assert.equal(json(boxes, '{(1,1),(0,0);(3,3),(2,2)}'), '["(1,1),(0,0)","(3,3),(2,2)"]')
})

test('an array without a known element type is an array of texts, and what is no array is a string', () => {
  const { element: _element, ...unknownElement } = TYPES.integers
  assert.equal(json(unknownElement, '{1,x}'), '["1","x"]')
  for (const text of ['{1,2', '{"a', '{1}x', 'x', '', '[0:1]', '{1}}', '{"a"b}']) {
    assert.equal(json(TYPES.texts, text), JSON.stringify(text))
  }
})

test('a text too long is cut at a whole character, as the database counts them', () => {
  assert.deepEqual(cut(TYPES.text, 'abcd', 4), ['"abcd"', false])
  assert.deepEqual(cut(TYPES.text, 'abcde', 4), ['"abcd"', true])
  assert.deepEqual(cut(TYPES.text, '\u{1f600}\u{1f600}', 2), ['"\u{1f600}\u{1f600}"', false])
  assert.deepEqual(cut(TYPES.text, '\u{1f600}\u{1f600}\u{1f600}', 2), ['"\u{1f600}\u{1f600}"', true])
  assert.deepEqual(cut(TYPES.citext, 'a\u{1f600}b', 2), ['"a\u{1f600}"', true])
})

test('what cannot be cut is null when it is too long', () => {
  assert.deepEqual(cut(TYPES.jsonb, '{"a": 1}', 7), ['null', true])
  assert.deepEqual(cut(TYPES.jsonb, '{"a": 1}', 8), ['{"a":1}', false])
  assert.deepEqual(cut(TYPES.integers, '{1,2}', 4), ['null', true])
  assert.deepEqual(cut(TYPES.tsvector, "'a' 'b'", 4), ['null', true])
})

test('bytes are measured in bytes', () => {
  assert.deepEqual(cut(TYPES.bytes, '\\x000102', 3), ['"AAEC"', false])
  assert.deepEqual(cut(TYPES.bytes, '\\x00010203', 3), ['null', true])
})

test('a number that a real does not hold is never rounded by the server: it equals none, and is compared with the one before', () => {
  const real: ValueType = { ...TYPES.real, single: true }
  const table = tableOf('t', { columns: { id: TYPES.integer, 'c?': real }, primaryKey: ['id'] })
  const condition = (op: FilterOp, value: string | readonly string[]) => {
    const plan = searchPlan(table, { columns: ['id'], filters: [filter('c', op, value)] })
    const { text, params } = postgresDialect.compile(validatedPlan(table, plan))
    const [, where] = / WHERE (.*) ORDER BY /s.exec(text) ?? []
    return [where, ...params.slice(0, -1)]
  }
  assert.deepEqual(condition('eq', '16777216'), ['t."c" = $1', '16777216'])
  assert.deepEqual(condition('eq', '0.1'), ['t."c" = $1', '0.1'])
  assert.deepEqual(condition('eq', '16777217'), ['false'])
  assert.deepEqual(condition('neq', '16777217'), ['t."c" IS NOT NULL'])
  assert.deepEqual(condition('gte', '16777217'), ['t."c" > $1', '16777216'])
  assert.deepEqual(condition('in', ['0.1', '16777217']), ['t."c" = ANY($1)', ['0.1']])
  // An infinity is more than any number, and so is what is none.
  assert.deepEqual(condition('gt', '1e39'), ['t."c" > $1', '3.4028234663852886e+38'])
  assert.deepEqual(condition('lt', '-1e39'), ['t."c" <= $1', '-Infinity'])
  assert.deepEqual(condition('gt', '1e-50'), ['t."c" > $1', '0'])
})
