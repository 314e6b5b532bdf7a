import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue } from '../../src/core/value.js'
import { mysqlDialect } from '../../src/engines/mysql/dialect.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'

/** The JSON text of a cell; `charsMax` as a statement that cuts would set it. */
function json(type: ValueType, text: string): string {
  return mysqlDialect.encodeCell({ name: 'c', type }, text).json
}

function cut(type: ValueType, text: string, charsMax: number): readonly [string, boolean] {
  const cell = mysqlDialect.encodeCell({ name: 'c', type, charsMax }, text)
  return [cell.json, cell.cut]
}

test('whole numbers are numbers, and big ones only while a double holds them', () => {
  assert.equal(json(MYSQL_TYPES.int, '-2147483648'), '-2147483648')
  assert.equal(json(MYSQL_TYPES.year, '0'), '0')
  assert.equal(json(MYSQL_TYPES.bits10, '1023'), '1023')
  assert.equal(json(MYSQL_TYPES.bigint, '-9007199254740991'), '-9007199254740991')
  assert.equal(json(MYSQL_TYPES.bigint, '-9007199254740992'), '"-9007199254740992"')
  assert.equal(json(MYSQL_TYPES.ubigint, '18446744073709551615'), '"18446744073709551615"')
})

test('a decimal keeps every digit, and loses the zeros that only fill its width', () => {
  assert.equal(json(MYSQL_TYPES.decimal, '-12345678901234567890.1200'), '"-12345678901234567890.1200"')
  assert.equal(json(MYSQL_TYPES.decimal, '0.0000'), '"0.0000"')
  assert.equal(json(MYSQL_TYPES.decimal, '0001.5000'), '"1.5000"')
  assert.equal(json(MYSQL_TYPES.decimal, '000.5000'), '"0.5000"')
  assert.equal(json({ ...MYSQL_TYPES.decimal, native: 'decimal(5,0)' }, '00000'), '"0"')
})

test('a float is a number, and negative zero is zero', () => {
  const texts = ['0.1', '1e+21', '-5e-324', '3.4028235e+38', '-0']
  assert.deepEqual(
    texts.map((text) => json(MYSQL_TYPES.float, text)),
    ['0.1', '1e+21', '-5e-324', '3.4028235e+38', '0'],
  )
})

test('one and zero are truths, and other numbers in their stead are themselves', () => {
  const texts = ['1', '0', '2', '-1', '127']
  assert.deepEqual(
    texts.map((text) => json(MYSQL_TYPES.flag, text)),
    ['true', 'false', '2', '-1', '127'],
  )
  assert.equal(json(MYSQL_TYPES.bit, '1'), 'true')
})

test('moments are ISO 8601 without zeros that say nothing, and what is read can be sent back', () => {
  const cases: readonly (readonly [ValueType, string, string])[] = [
    [MYSQL_TYPES.datetime, '2024-05-31 10:00:00.120000', '2024-05-31T10:00:00.12'],
    [MYSQL_TYPES.datetime, '2024-05-31 10:00:00.000000', '2024-05-31T10:00:00'],
    [MYSQL_TYPES.datetime0, '2024-05-31 10:20:30', '2024-05-31T10:20:30'],
    [MYSQL_TYPES.timestamp, '2024-05-31 10:00:00.500000', '2024-05-31T10:00:00.5Z'],
    [MYSQL_TYPES.timestamp, '0000-00-00 00:00:00.000000', '0000-00-00T00:00:00Z'],
    [MYSQL_TYPES.date, '0000-00-00', '0000-00-00'],
    [MYSQL_TYPES.date, '2024-05-31', '2024-05-31'],
    [MYSQL_TYPES.time, '-838:59:59.000000', '-838:59:59'],
    [MYSQL_TYPES.time, '100:00:01.500000', '100:00:01.5'],
    [MYSQL_TYPES.time, '10:20:30', '10:20:30'],
  ]
  for (const [type, text, shown] of cases) {
    assert.equal(json(type, text), `"${shown}"`)
    assert.deepEqual(coerceValue(type, shown), { ok: true, value: shown })
  }
})

test('text of every kind is a JSON string, JSON is kept as it is, and a UUID is in small letters', () => {
  assert.equal(json(MYSQL_TYPES.folded, 'a"\n😀'), JSON.stringify('a"\n😀'))
  assert.equal(json(MYSQL_TYPES.mood, "it's"), '"it\'s"')
  assert.equal(json(MYSQL_TYPES.set, 'a,b'), '"a,b"')
  assert.equal(json(MYSQL_TYPES.point, 'POINT(1 2)'), '"POINT(1 2)"')
  assert.equal(json(MYSQL_TYPES.json, '{"a": 1, "__proto__": 12345678901234567890}').startsWith('"{'), true)
  assert.equal(json(MYSQL_TYPES.json, '{"a": [1, 2.50]}'), '{"a":[1,2.50]}')
  assert.equal(json(MYSQL_TYPES.uuid, '123E4567-E89B-12D3-A456-426614174000'), '"123e4567-e89b-12d3-a456-426614174000"')
  assert.equal(json(MYSQL_TYPES.blob, 'AAH/'), '"AAH/"')
})

test('a text is cut to its characters, and bytes are counted as what they stand for', () => {
  assert.deepEqual(cut(MYSQL_TYPES.longtext, '😀😀😀', 2), ['"😀😀"', true])
  assert.deepEqual(cut(MYSQL_TYPES.longtext, '😀😀', 2), ['"😀😀"', false])
  assert.deepEqual(cut(MYSQL_TYPES.blob, 'AAH/', 3), ['"AAH/"', false])
  assert.deepEqual(cut(MYSQL_TYPES.blob, 'AAH/AA==', 3), ['null', true])
  assert.deepEqual(cut(MYSQL_TYPES.blob, 'AAE=', 2), ['"AAE="', false])
  assert.deepEqual(cut(MYSQL_TYPES.blob, 'AAE=', 1), ['null', true])
  assert.deepEqual(cut(MYSQL_TYPES.json, '{"a":1}', 3), ['null', true])
  assert.deepEqual(cut(MYSQL_TYPES.point, 'POINT(1 2)', 3), ['null', true])
})
