import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue, coerceWrite } from '../../src/core/value.js'
import { encodeCell } from '../../src/engines/sqlserver/cells.js'
import { SQLSERVER_TYPES as T } from '../support/sqlserver-types.js'

function json(type: ValueType, text: string): string {
  return encodeCell({ name: 'c', type }, text).json
}

test('every value is shown exactly, and what is shown is taken back', () => {
  const cases: readonly (readonly [ValueType, string, string])[] = [
    [T.int, '-2147483648', '-2147483648'],
    [T.bigint, '9223372036854775807', '"9223372036854775807"'],
    [T.bit, '1', 'true'],
    [T.bit, '0', 'false'],
    [T.decimal, '-0.5000', '"-0.5000"'],
    [T.money, '922337203685477.5807', '"922337203685477.5807"'],
    [T.float, '1.0000000000000001e-001', '0.1'],
    [T.float, '-0.0000000000000000e+000', '0'],
    [T.float, '1.7976931348623157e+308', '1.7976931348623157e+308'],
    [T.real, '1.0000000149011612e-001', '0.1'],
    [T.real, '1.6777216000000000e+007', '16777216'],
    [T.real, '3.4028234663852886e+038', '3.4028235e+38'],
    [T.real, '1.1754943508222875e-038', '1.1754944e-38'],
    [T.date, '0001-01-01', '"0001-01-01"'],
    [T.time, '10:00:00.1234567', '"10:00:00.1234567"'],
    [T.time, '10:00:00.0000000', '"10:00:00"'],
    [T.datetime2, '9999-12-31 23:59:59.9999999', '"9999-12-31T23:59:59.9999999"'],
    [T.datetime, '2024-02-29 10:00:00.003', '"2024-02-29T10:00:00.003"'],
    [T.smalldatetime, '2024-02-29 10:00:00', '"2024-02-29T10:00:00"'],
    [T.datetimeoffset, '2024-02-29 10:00:00.5000000 +02:00', '"2024-02-29T10:00:00.5+02:00"'],
    [T.datetimeoffset, '2024-02-29 10:00:00.0000000 +00:00', '"2024-02-29T10:00:00Z"'],
    [T.datetimeoffset0, '2024-02-29 10:00:00 -14:00', '"2024-02-29T10:00:00-14:00"'],
    [T.uniqueidentifier, '7F1C7A52-0A8E-4F0E-9F53-2A1D0B7C9E11', '"7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11"'],
    [T.varbinary, '0001FF', '"AAH/"'],
    [T.varbinary, '', '""'],
    [T.folded, 'a"b ', '"a\\"b "'],
  ]
  for (const [type, text, shown] of cases) {
    assert.equal(json(type, text), shown)
    const sent: unknown = JSON.parse(shown)
    assert.equal(coerceValue(type, sent).ok, true, `${type.native} ${shown}`)
    assert.equal(coerceWrite(type, sent).ok, true, `${type.native} ${shown}`)
  }
})

test('the fewest digits of a single float are those that make it again', () => {
  for (let power = -37; power <= 38; power++) {
    for (const digits of [1, 1.1, 1.17, Math.PI, 9.87654321]) {
      const single = Math.fround(digits * 10 ** power)
      if (!Number.isFinite(single)) continue
      const shown = Number(json(T.real, single.toExponential(16)))
      assert.equal(Math.fround(shown), single)
      assert.ok(
        String(shown)
          .replace(/e.*|[.]/g, '')
          .replace(/^0+|0+$/g, '').length <= 9,
        String(shown),
      )
    }
  }
})

test('of bytes it is the bytes that count, and a longer value is cut', () => {
  const column = { name: 'c', type: T.varbinary, charsMax: 4 }
  assert.deepEqual(encodeCell(column, '0001FF00'), { json: '"AAH/AA=="', cut: false })
  assert.deepEqual(encodeCell(column, '0001FF0000'), { json: 'null', cut: true })
})

test('a column that has become another type since is a string, and never more than one value', () => {
  const cases: readonly (readonly [ValueType, string])[] = [
    [T.float, '1,2'],
    [T.float, ''],
    [T.float, '0x10, 1'],
    [T.int, '1],['],
    [T.bit, '2'],
    [T.varbinary, 'zz'],
    [T.datetimeoffset, 'Feb 29'],
  ]
  for (const [type, text] of cases) assert.equal(JSON.parse(json(type, text)), text)
})

test('what a column would round, or has no room for, is not written into it', () => {
  const refused: readonly (readonly [ValueType, string])[] = [
    [T.decimal, '10000000000000000'],
    [T.decimal, '0.00001'],
    [T.money, '1000000000000000'],
    [T.datetime, '2024-02-29T10:00:00.001'],
    [T.datetime, '1752-12-31T00:00:00'],
    [T.smalldatetime, '2024-02-29T10:00:01'],
    [T.datetime2of3, '2024-02-29T10:00:00.1234'],
    [T.datetimeoffset, '2024-02-29T10:00:00+14:01'],
    [T.time, '24:00:00'],
    [T.latin1, 'ł'],
  ]
  for (const [type, value] of refused) assert.equal(coerceWrite(type, value).ok, false, `${type.native} ${value}`)
  const decimal = coerceWrite(T.decimal, '10000000000000000')
  assert.match(decimal.ok ? '' : decimal.error, /at most 16 digits before the point/)
  assert.equal(coerceWrite(T.decimal, '-9999999999999999.9999').ok, true)
  // What is compared may lie between the values that a column holds.
  assert.equal(coerceValue(T.datetime, '2024-02-29T10:00:00.001').ok, true)
})
