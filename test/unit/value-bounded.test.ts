import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue, coerceWrite } from '../../src/core/value.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'

/** Types that an engine bounds in its own way: each has one canonical text for a value, and refuses what it cannot hold. */

function accepts(type: ValueType, cases: readonly (readonly [raw: unknown, canonical: string])[]): void {
  for (const [raw, value] of cases) {
    const expected = { ok: true, value }
    assert.deepEqual(coerceValue(type, raw), expected, `${type.native}: ${JSON.stringify(raw)}`)
    assert.deepEqual(coerceWrite(type, raw), expected, `${type.native} written: ${JSON.stringify(raw)}`)
    assert.deepEqual(coerceValue(type, value), expected, `${type.native}: ${value} stays`)
  }
}

function same(type: ValueType, ...texts: readonly string[]): void {
  accepts(
    type,
    texts.map((text) => [text, text]),
  )
}

/** Refused for comparing and for writing, and the phrase says what is taken. */
function refuses(type: ValueType, phrase: RegExp, ...cases: readonly unknown[]): void {
  for (const raw of cases) {
    for (const result of [coerceValue(type, raw), coerceWrite(type, raw)]) {
      assert.equal(result.ok, false, `${type.native} takes ${JSON.stringify(raw)}`)
      if (!result.ok) assert.match(result.error, phrase)
    }
  }
}

const NO_JSON_VALUE: readonly unknown[] = [null, undefined, {}, [], ['1']]

describe('values of types with bounds of their own', () => {
  test('text is written only where its column has every character of it, and looked for anywhere', () => {
    const cases = [
      ['ascii', 'é', /ASCII/],
      ['latin1', '漢', /Latin-1/],
      ['bmp', '😀', /U\+FFFF/],
    ] as const
    for (const [repertoire, strange, phrase] of cases) {
      const type: ValueType = { logical: 'text', native: 'varchar(9)', equality: true, ordered: true, repertoire }
      same(type, 'plain')
      assert.deepEqual(coerceValue(type, strange), { ok: true, value: strange })
      const written = coerceWrite(type, strange)
      assert.ok(!written.ok)
      assert.match(written.error, phrase)
    }
  })

  test('an unsigned bigint goes from 0 to 2^64 - 1', () => {
    same(MYSQL_TYPES.ubigint, '0', '18446744073709551615', '9223372036854775808')
    accepts(MYSQL_TYPES.ubigint, [[9007199254740991, '9007199254740991']])
    const phrase = /^a whole number between 0 and 18446744073709551615; beyond ±9007199254740991 send it as a string$/
    refuses(MYSQL_TYPES.ubigint, phrase, '18446744073709551616', '-1', -1, 9007199254740992, '00', ...NO_JSON_VALUE)
    refuses(MYSQL_TYPES.bigint, /between -9223372036854775808 and 9223372036854775807/, '9223372036854775808')
  })

  test('a number that stands in for a boolean is a truth where it is 1 or 0, and its digits else', () => {
    accepts(MYSQL_TYPES.flag, [
      [true, 'true'],
      ['true', 'true'],
      [1, 'true'],
      ['1', 'true'],
      [false, 'false'],
      ['false', 'false'],
      [0, 'false'],
      ['0', 'false'],
      [2, '2'],
      ['-128', '-128'],
      [127, '127'],
    ])
    const phrase = /^true or false, or a whole number between -128 and 127$/
    refuses(MYSQL_TYPES.flag, phrase, 128, '-129', 1.5, '01', '-0', -0, 'TRUE', 't', '', ...NO_JSON_VALUE)
    accepts(MYSQL_TYPES.bit, [['1', 'true']])
    refuses(MYSQL_TYPES.bit, /between 0 and 1$/, 2, '-1')
  })

  test('zero is a value where the type says so, though it lies outside of the range', () => {
    same(MYSQL_TYPES.year, '0', '1901', '2155')
    accepts(MYSQL_TYPES.year, [[0, '0']])
    refuses(MYSQL_TYPES.year, /^a whole number between 1901 and 2155, or 0$/, 1, '1900', 2156, -0, '0000', '00')
  })

  test('a decimal has at most the digits of its engine, 30 of them after the point, and is a number', () => {
    const type: ValueType = { ...MYSQL_TYPES.longDecimal, fractionDigitsMax: 30 }
    same(type, '9'.repeat(65), `${'9'.repeat(35)}.${'9'.repeat(30)}`, `-0.${'0'.repeat(29)}1`, '0', '0.00')
    accepts(type, [[12.5, '12.5']])
    const phrase =
      /^a decimal in plain digits such as "12\.50" and at most 65 digits, 30 of them after the point; send it as a string/
    refuses(type, phrase, '9'.repeat(66), `${'9'.repeat(36)}.${'9'.repeat(30)}`, `0.${'0'.repeat(30)}1`, 1e-31)
    refuses(type, phrase, 'NaN', 'Infinity', '-Infinity', '-0.0', '1e5', ...NO_JSON_VALUE)
  })

  test('a finite float knows no NaN and no infinities', () => {
    same(MYSQL_TYPES.double, '1.5', '-2e10', '5e-324')
    const phrase = /^a finite number such as 1\.5 or 2e10 that a double can hold$/
    refuses(MYSQL_TYPES.double, phrase, 'NaN', 'Infinity', '-Infinity', '1e309', Number.NaN, ...NO_JSON_VALUE)
  })

  test('a date with parts that are not known has zeros there, and only days that some month has', () => {
    same(MYSQL_TYPES.date, '0000-00-00', '2024-00-00', '2024-05-00', '2024-00-31', '0000-01-01', '9999-12-31')
    same(MYSQL_TYPES.date, '2024-02-29', '2000-02-29', '0000-02-28')
    const phrase =
      /^an ISO 8601 date that exists, such as 2024-05-31, from the year 0000 to 9999, in which 00 stands for/
    refuses(
      MYSQL_TYPES.date,
      phrase,
      '2024-02-30',
      '2023-02-29',
      '1900-02-29',
      '0000-02-29',
      '2024-04-31',
      '2024-13-01',
    )
    refuses(MYSQL_TYPES.date, phrase, '2024-00-32', '10000-01-01', '0044-03-15 BC', 'infinity', '-infinity')
    refuses(MYSQL_TYPES.date, phrase, '24-01-01', '2024-1-1', '2024-01-01T00:00:00', ...NO_JSON_VALUE)
  })

  test('a timestamp has the same days, and an offset only where the day is known', () => {
    same(MYSQL_TYPES.datetime, '0000-00-00T00:00:00', '2024-05-00T23:59:59.5', '9999-12-31T23:59:59.999999')
    accepts(MYSQL_TYPES.datetime, [
      ['2024-00-00 10:30:00', '2024-00-00T10:30:00'],
      ['2024-05-31T10:30', '2024-05-31T10:30:00'],
    ])
    const phrase = /that exists, from the year 0000 to 9999, .* without an offset/
    refuses(MYSQL_TYPES.datetime, phrase, '2024-02-30T00:00:00', '10000-01-01T00:00:00', '0044-03-15T00:00:00 BC')
    refuses(MYSQL_TYPES.datetime, phrase, 'infinity', '2024-05-31T10:00:00Z', '2024-05-31T24:00:00', 1717113600)
    same(MYSQL_TYPES.timestamp, '0000-00-00T00:00:00Z', '2024-05-31T10:00:00Z', '2024-05-31T10:00:00.5+02:00')
    const zoned = /with an offset \(Z or ±HH:MM\)/
    refuses(
      MYSQL_TYPES.timestamp,
      zoned,
      '2024-05-31T10:00:00',
      '0000-00-00T00:00:00+02:00',
      '2024-05-00T00:00:00-01:00',
    )
  })

  test('a span has hours to 838 and one spelling for each', () => {
    same(MYSQL_TYPES.time, '00:00:00', '13:45:00', '99:00:00', '100:00:00', '838:59:59', '-838:59:59')
    same(MYSQL_TYPES.time, '-00:00:01', '-00:00:00.000001', '838:59:58.999999', '838:59:59.999999', '-120:30:00')
    accepts(MYSQL_TYPES.time, [
      ['13:45', '13:45:00'],
      ['-120:30', '-120:30:00'],
    ])
    const phrase =
      /^a time or span such as 13:45:00 or -120:30:00 between -838:59:59 and 838:59:59, at most 6 fraction digits, without an offset/
    refuses(MYSQL_TYPES.time, phrase, '839:00:00', '-839:00:00', '013:45:00', '000:00:00')
    refuses(MYSQL_TYPES.time, phrase, '-00:00:00', '-00:00:00.000', '1:00:00', '1000:00:00', '12:60:00', '12:00:60')
    refuses(MYSQL_TYPES.time, phrase, '+13:45:00', '13:45:00Z', '13:45.5', '13:45:00.1234567', 134500, ...NO_JSON_VALUE)
  })
})
