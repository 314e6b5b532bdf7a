import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VALUE_CHARS_MAX } from '../../src/core/limits.js'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue } from '../../src/core/value.js'
import { TYPES } from '../support/schema.js'

function accepts(type: ValueType, cases: readonly (readonly [raw: unknown, canonical: string])[]): void {
  for (const [raw, canonical] of cases) {
    assert.deepEqual(coerceValue(type, raw), { ok: true, value: canonical }, `${type.native}: ${JSON.stringify(raw)}`)
  }
}

function same(type: ValueType, ...texts: readonly string[]): void {
  accepts(
    type,
    texts.map((text) => [text, text]),
  )
}

/** Every refusal is a phrase, and it matches `phrase`. */
function refuses(type: ValueType, phrase: RegExp, ...cases: readonly unknown[]): void {
  for (const raw of cases) {
    const result = coerceValue(type, raw)
    assert.equal(result.ok, false, `${type.native} takes ${JSON.stringify(raw)}`)
    if (!result.ok) assert.match(result.error, phrase)
  }
}

const NO_JSON_VALUE: readonly unknown[] = [null, undefined, {}, [], ['1'], { valueOf: 1 }]

describe('values', () => {
  test('an integer is plain digits within the range of its type', () => {
    same(TYPES.integer, '0', '-1', '2147483647', '-2147483648')
    accepts(TYPES.integer, [
      [7, '7'],
      [0, '0'],
      [-5, '-5'],
    ])
    const phrase = /^a whole number between -2147483648 and 2147483647$/
    refuses(TYPES.integer, phrase, '2147483648', '-2147483649', 2147483648, 1.5, -0, Number.NaN, ...NO_JSON_VALUE)
    refuses(TYPES.integer, phrase, '+1', '01', '-0', '1.0', '1e3', '0x10', ' 5', '5 ', '5\n', '', '１', '1_000', true)
    refuses(TYPES.smallint, /between -32768 and 32767/, '32768', '99999999999999999999')
  })

  test('an integer without a range of its own ends where doubles stop being exact', () => {
    const { range: _, ...type } = TYPES.integer
    same(type, '9007199254740991', '-9007199254740991')
    refuses(type, /whole number/, '9007199254740992', 9007199254740992)
  })

  test('a bigint is exact to 2^63 as text, and as a number only where JSON cannot have rounded it', () => {
    same(TYPES.bigint, '9223372036854775807', '-9223372036854775808', '9007199254740993', '0')
    accepts(TYPES.bigint, [[9007199254740991, '9007199254740991']])
    const phrase = /send it as a string/
    refuses(TYPES.bigint, phrase, '9223372036854775808', '-9223372036854775809', 9007199254740992, 1e300, 0.5, -0)
    refuses(TYPES.bigint, phrase, '00', '-0', '1e3', '0x1', ' 1', true, '9'.repeat(60_000), ...NO_JSON_VALUE)
  })

  test('a decimal is all its digits; a number that may have been rounded is refused', () => {
    same(TYPES.decimal, '0', '12.50', '-0.001', '12345678901234567890.123456789', 'NaN', 'Infinity', '-Infinity')
    accepts(TYPES.decimal, [
      [12.5, '12.5'],
      [-0.1, '-0.1'],
      [1e-7, '0.0000001'],
      [-1.25e-9, '-0.00000000125'],
      [9007199254740991, '9007199254740991'],
      [0.123456789012345, '0.123456789012345'],
    ])
    const phrase = /string when it has more than 15 digits/
    refuses(TYPES.decimal, phrase, 0.1234567890123456, 0.1 + 0.2, 1e21, 9007199254740992, -0, Number.NaN, Infinity)
    refuses(TYPES.decimal, phrase, '1e5', '.5', '5.', '+1', '01.5', '-0', '-0.00', '0x10', ' 5', '1,5', 'nan', '')
    refuses(TYPES.decimal, phrase, true, ...NO_JSON_VALUE)
  })

  test('a float is a JSON number that a double can hold, or one of the three words results use', () => {
    same(TYPES.float, '1.5', '-2e10', '1e-07', '1E+3', '-0', 'NaN', 'Infinity', '-Infinity', '5e-324', '0e-400', '0.0')
    accepts(TYPES.float, [
      [0.1, '0.1'],
      [1e300, '1e+300'],
    ])
    const phrase = /finite number/
    refuses(TYPES.float, phrase, '1e309', '-1e309', '1e-400', '0x10', ' 5', '.5', '5.', '1e', 'inf', 'infinity', '')
    refuses(TYPES.float, phrase, true, -0, Number.NaN, Infinity, ...NO_JSON_VALUE)
  })

  test('a boolean is true or false and nothing that stands for them', () => {
    accepts(TYPES.boolean, [
      [true, 'true'],
      ['true', 'true'],
      [false, 'false'],
      ['false', 'false'],
    ])
    refuses(TYPES.boolean, /^true or false$/, 0, 1, 't', 'TRUE', 'yes', '1', '', ...NO_JSON_VALUE)
  })

  test('a timestamp with offset needs its offset, and one without refuses it', () => {
    same(TYPES.timestamptz, '2024-05-31T13:45:00Z', '2024-05-31T13:45:00.123456+02:00', '1890-01-01T00:00:00-04:56:02')
    same(TYPES.timestamp, '2024-05-31T13:45:00', '2024-05-31T13:45:00.1')
    refuses(TYPES.timestamptz, /with an offset \(Z or ±HH:MM\)/, '2024-05-31T13:45:00', '2024-05-31T13:45:00+2')
    refuses(TYPES.timestamptz, /with an offset/, '2024-05-31T13:45:00+16:00', '2024-05-31T13:45:00+01:60')
    refuses(TYPES.timestamp, /without an offset/, '2024-05-31T13:45:00Z', '2024-05-31T13:45:00+00:00')
  })

  test('a timestamp is spelt one way and exists in the calendar', () => {
    accepts(TYPES.timestamp, [
      ['2024-02-29 23:59:59', '2024-02-29T23:59:59'],
      ['2024-02-29T10:30', '2024-02-29T10:30:00'],
    ])
    same(
      TYPES.timestamp,
      '2000-02-29T00:00:00',
      'infinity',
      '-infinity',
      '0044-03-15T00:00:00 BC',
      '12345-01-01T00:00:00',
    )
    same(TYPES.timestamptz, '0044-03-15T00:00:00Z BC', '0005-02-29T00:00:00Z BC')
    const bad = ['2023-02-29', '1900-02-29', '2024-13-01', '2024-00-10', '2024-04-31', '0000-01-01', '2024-1-1']
    refuses(
      TYPES.timestamp,
      /that exists/,
      ...bad.map((day) => `${day}T00:00:00`),
      '2024-05-31',
      '020240-01-01T00:00:00',
    )
    refuses(TYPES.timestamp, /ISO 8601/, '2024-05-31T24:00:00', '2024-05-31T23:60:00', '2024-05-31T23:59:60')
    refuses(TYPES.timestamp, /at most 6/, '2024-05-31T00:00:00.1234567', '2024-05-31T00:00:00.', '2024-05-31T10:30.5')
    refuses(TYPES.timestamp, /ISO 8601/, '2024-05-31t00:00:00', ' 2024-05-31T00:00:00', 'now', 1717113600, true, '')
    refuses(TYPES.timestamp, /ISO 8601/, ...NO_JSON_VALUE)
  })

  test('a date and a time of day follow the same grammar', () => {
    same(TYPES.date, '2024-02-29', 'infinity', '0044-03-15 BC', '5874897-12-31')
    refuses(TYPES.date, /ISO 8601 date/, '2023-02-29', '2024-02-29T00:00:00', '24-02-29', 'today', 20240229, '')
    same(TYPES.time, '13:45:00', '13:45:00.5', '24:00:00')
    accepts(TYPES.time, [['13:45', '13:45:00']])
    refuses(TYPES.time, /without an offset/, '13:45:00Z', '24:00:01', '25:00:00', '1:00:00', '13:45:60', '13:45.5')
    same(TYPES.timetz, '13:45:00Z', '13:45:00+05:30')
    refuses(TYPES.timetz, /with an offset/, '13:45:00')
  })

  test('an interval is an ISO 8601 duration, negative parts included', () => {
    same(TYPES.interval, 'PT0S', 'P1Y2M3DT4H5M6S', 'P-1Y2M3DT-4H5M6.789S', 'P2W', 'PT-0.5S', 'infinity')
    refuses(TYPES.interval, /ISO 8601 duration/, 'P', 'PT', 'P1DT', '1 day', 'P1.5D', 'P1M2Y', 'PT0.1234567S', '', 5)
  })

  test('a UUID is canonical, and upper case comes out as lower', () => {
    const id = '123e4567-e89b-12d3-a456-426614174000'
    accepts(TYPES.uuid, [
      [id, id],
      [id.toUpperCase(), id],
    ])
    refuses(TYPES.uuid, /UUID/, id.replaceAll('-', ''), `{${id}}`, `${id} `, id.slice(1), 1, '')
  })

  test('bytes are base64 with padding, and no bytes are an empty text', () => {
    same(TYPES.bytes, '', 'AA==', '3q2+7w==')
    refuses(TYPES.bytes, /base64/, 'AA', 'AA=', 'AB==', '3q2-7w==', 'A A==', '\\x00', 1)
  })

  test('an enum takes its labels alone and lists them', () => {
    same(TYPES.mood, 'sad', 'happy')
    refuses(TYPES.mood, /^one of "sad", "ok", "happy"$/, 'Sad', '', 1, 'constructor', '__proto__')
    const many = { ...TYPES.mood, labels: Array.from({ length: 500 }, (_, i) => `l${i}`) }
    refuses(many, /"l0", .* and 476 more$/, 'x')
    refuses({ ...TYPES.mood, labels: ['a\u202eb\n'] }, /^one of "ab"$/, 'x')
  })

  test('text is any string that every engine can store', () => {
    same(TYPES.text, '', ' 5', 'O\u2019Brien "\';--', '\u{1f600}', '\n')
    refuses(TYPES.text, /without NUL/, 'a\0b', '\ud800', 'x\udc00y', 5, true, ...NO_JSON_VALUE)
    same(TYPES.inet, '10.0.0.0/8')
    refuses(TYPES.inet, /string/, 10)
  })

  test('json and arrays are compared with nothing', () => {
    refuses(TYPES.json, /only is_null and not_null/, '{}', {}, 1)
    refuses(TYPES.integers, /only is_null and not_null/, '{1}', [1])
  })

  test('a value longer than the limit is refused whatever its type', () => {
    const long = 'a'.repeat(VALUE_CHARS_MAX)
    same(TYPES.text, long)
    for (const type of Object.values(TYPES)) refuses(type, /at most 65536 characters/, `${long}a`)
  })
})
