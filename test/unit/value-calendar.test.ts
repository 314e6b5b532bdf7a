import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue, coerceWrite } from '../../src/core/value.js'
import { SQLSERVER_TYPES } from '../support/sqlserver-types.js'

/** Whether the text is taken as it is, for comparing and for writing. */
function taken(type: ValueType, ...texts: readonly string[]): void {
  for (const value of texts) {
    assert.deepEqual(coerceValue(type, value), { ok: true, value }, `${type.native}: ${value}`)
    assert.deepEqual(coerceWrite(type, value), { ok: true, value }, `${type.native} written: ${value}`)
  }
}

function refused(type: ValueType, phrase: RegExp, ...texts: readonly string[]): void {
  for (const text of texts) {
    for (const result of [coerceValue(type, text), coerceWrite(type, text)]) {
      assert.ok(!result.ok, `${type.native} takes ${text}`)
      assert.match(result.error, phrase)
    }
  }
}

/** Compared, but never written: what the column would keep is another value. */
function comparedAlone(type: ValueType, phrase: RegExp, ...texts: readonly string[]): void {
  for (const value of texts) {
    assert.deepEqual(coerceValue(type, value), { ok: true, value }, `${type.native}: ${value}`)
    const written = coerceWrite(type, value)
    assert.ok(!written.ok, `${type.native} keeps ${value}`)
    assert.match(written.error, phrase)
  }
}

const { date, time, datetime, datetime2, datetime2of3, datetimeoffset, smalldatetime, decimal } = SQLSERVER_TYPES

describe('values of types with seven digits after the second', () => {
  test('seven digits are taken where the type keeps them, and six elsewhere', () => {
    taken(datetime2, '2024-05-31T13:45:00.1234567', '2024-05-31T13:45:00.1', '9999-12-31T23:59:59.9999999')
    taken(datetimeoffset, '2024-05-31T13:45:00.1234567+05:30')
    taken(time, '13:45:00.0000001', '23:59:59.9999999')
    const eight = /at most 7 fraction digits/
    refused(datetime2, eight, '2024-05-31T13:45:00.12345678', '2024-05-31T13:45.5')
    refused(time, eight, '13:45:00.12345678')
    refused(datetime2of3, /at most 6 fraction digits/, '2024-05-31T13:45:00.1234567')
    comparedAlone(datetime2of3, /at most 3 fraction digits$/, '2024-05-31T13:45:00.1234')
  })

  test('years lie within those of the type, and nothing is endless', () => {
    taken(date, '0001-01-01', '9999-12-31')
    const phrase = /^an ISO 8601 date that exists, such as 2024-05-31, from the year 0001 to 9999$/
    refused(date, phrase, '0000-01-01', '10000-01-01', '0044-03-15 BC', 'infinity', '-infinity', '2023-02-29')
    taken(datetime, '1753-01-01T00:00:00')
    refused(datetime, /from the year 1753 to 9999/, '1752-12-31T23:59:59', 'infinity')
    refused(smalldatetime, /from the year 1900 to 2079/, '1899-12-31T00:00:00', '2080-01-01T00:00:00')
  })

  test('a day ends before 24:00 where the type says so', () => {
    refused(time, /time of day/, '24:00:00', '24:00:00.0')
  })

  test('offsets are whole minutes up to the bound of the type', () => {
    taken(datetimeoffset, '2024-05-31T13:45:00+14:00', '2024-05-31T13:45:00-14:00', '2024-05-31T13:45:00Z')
    const phrase = /with an offset \(Z or ±HH:MM\) of at most 14:00/
    refused(datetimeoffset, phrase, '2024-05-31T13:45:00+14:01', '2024-05-31T13:45:00-15:00')
    refused(datetimeoffset, phrase, '2024-05-31T13:45:00+01:00:00', '2024-05-31T13:45:00+01:60', '2024-05-31T13:45:00')
  })

  test('what lies between two values that a column can hold is compared and never written', () => {
    taken(
      datetime,
      '2024-05-31T13:45:07',
      '2024-05-31T13:45:00.003',
      '2024-05-31T13:45:00.99',
      '2024-05-31T13:45:00.997',
    )
    taken(datetime, '2024-05-31T13:45:00.0070')
    const ends = /milliseconds that end in 0, 3 or 7/
    comparedAlone(datetime, ends, '2024-05-31T13:45:00.001', '2024-05-31T13:45:00.999', '2024-05-31T13:45:00.0071')
    taken(smalldatetime, '2024-05-31T13:45:00', '2024-05-31T13:45:00.000')
    comparedAlone(smalldatetime, /of whole minutes/, '2024-05-31T13:45:29', '2024-05-31T13:45:00.5')
  })
})

describe('decimals of a declared precision', () => {
  test('a number with more digits before the point than the column keeps is not written', () => {
    taken(decimal, '9999999999999999.9999', '-9999999999999999', '0.0001', '0')
    comparedAlone(decimal, /at most 16 digits before the point/, '10000000000000000', '-12345678901234567.5')
    const fractions: ValueType = { ...decimal, native: 'decimal(4,4)', precision: 4, fractionDigitsMax: 4 }
    taken(fractions, '0.9999', '-0.5', '0')
    comparedAlone(fractions, /at most 0 digits before the point/, '1', '-1.5')
  })

  test('as many digits after the point are taken as the column keeps, beyond what every engine has', () => {
    const finest: ValueType = { ...decimal, native: 'decimal(38,38)', precision: 38, fractionDigitsMax: 38 }
    taken(finest, `0.${'1'.repeat(38)}`)
    refused(finest, /at most 38 digits, 38 of them after the point/, `0.${'1'.repeat(39)}`)
    refused(decimal, /at most 38 digits, 30 of them after the point/, `0.${'1'.repeat(31)}`)
  })
})
