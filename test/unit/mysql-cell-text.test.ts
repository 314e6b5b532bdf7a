import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LogicalType } from '../../src/core/schema-model.js'
import type { ResultColumn } from '../../src/core/statement.js'
import { BINARY_CHARSET, cellText, outputText, WIRE, type WireField } from '../../src/engines/mysql/cell-text.js'
import { setColumn, typeOfField } from '../../src/engines/mysql/set-columns.js'

const field = (columnType: number, parts: Partial<WireField> = {}): WireField => ({
  name: 'c',
  columnType,
  characterSet: BINARY_CHARSET,
  flags: 0,
  decimals: 0,
  columnLength: 10,
  ...parts,
})
const column = (logical: LogicalType): ResultColumn => ({
  name: 'c',
  type: { logical, native: logical, equality: true, ordered: true },
})

describe("the engine's text of a cell", () => {
  test('a value of single precision is the shortest text that reads back as the same', () => {
    for (const text of ['0.1', '16777216', '-0.3333333', '3.4028235e+38', '1.1754944e-38', '1e-45', '0', '123456.79']) {
      const value = Math.fround(Number(text))
      assert.equal(Math.fround(Number(cellText(value, field(WIRE.float), undefined))), value)
    }
    assert.equal(cellText(Math.fround(0.1), field(WIRE.float), undefined), '0.1')
    assert.equal(cellText(Math.fround(123456.789), field(WIRE.float), undefined), '123456.79')
    assert.equal(cellText(Math.fround(1e-45), field(WIRE.float), undefined), '1e-45')
    assert.equal(cellText(0.30000000000000004, field(WIRE.double), undefined), '0.30000000000000004')
  })

  test('bits are a number, whatever their count', () => {
    assert.equal(cellText(Buffer.from('ffffffffffffffff', 'hex'), field(WIRE.bit), undefined), '18446744073709551615')
    assert.equal(cellText(Buffer.from([0]), field(WIRE.bit), column('boolean')), '0')
  })

  test('bits of an output come as the digits of their number', () => {
    for (const digits of ['1', '49', '18446744073709551615']) {
      assert.equal(outputText(Buffer.from(digits), field(WIRE.bit)), digits)
    }
    assert.equal(outputText(Buffer.from([1]), field(WIRE.blob)), 'AQ==')
    assert.equal(outputText(null, field(WIRE.bit)), null)
  })

  test('bytes are base64, unless the catalog says that they are something else', () => {
    const bytes = Buffer.from('{"a":"é"}')
    assert.equal(cellText(bytes, field(WIRE.blob), undefined), bytes.toString('base64'))
    assert.equal(cellText(bytes, field(WIRE.blob), column('bytes')), bytes.toString('base64'))
    assert.equal(cellText(bytes, field(WIRE.blob), column('json')), '{"a":"é"}')
    assert.equal(cellText(bytes, field(WIRE.varString), column('text')), '{"a":"é"}')
    assert.equal(cellText('é', field(WIRE.varString, { characterSet: 46 }), column('bytes')), 'w6k=')
  })

  test('a fraction has as many digits as the type declares, and zero dates stay as they are', () => {
    const at = (decimals: number) => field(WIRE.datetime, { decimals })
    assert.equal(cellText('2024-01-01 00:00:00', at(0), undefined), '2024-01-01 00:00:00')
    assert.equal(cellText('2024-01-01 00:00:00', at(3), undefined), '2024-01-01 00:00:00.000')
    assert.equal(cellText('2024-01-01 00:00:00.500000', at(6), undefined), '2024-01-01 00:00:00.500000')
    assert.equal(cellText('2024-01-01 00:00:00.5', at(31), undefined), '2024-01-01 00:00:00.5')
    assert.equal(cellText('-800:00:00.5', field(WIRE.time, { decimals: 2 }), undefined), '-800:00:00.50')
    assert.equal(cellText('0000-00-00', field(WIRE.date), undefined), '0000-00-00')
    assert.equal(cellText(null, at(3), undefined), null)
  })

  test('a cell that no type of the protocol explains is a bug, not a text', () => {
    assert.throws(() => cellText({ x: 1 }, field(WIRE.geometry), undefined), /wire type 255/)
  })
})

describe('columns that only an answer describes', () => {
  test('have the type that introspection would give', () => {
    const logical = (columnType: number, parts: Partial<WireField> = {}) => {
      const type = typeOfField(field(columnType, parts))
      return [type.logical, type.native]
    }
    const text = { characterSet: 46 }
    assert.deepEqual(logical(WIRE.tiny, { columnLength: 1 }), ['boolean', 'tinyint(1)'])
    assert.deepEqual(logical(WIRE.tiny, { columnLength: 4 }), ['integer', 'tinyint'])
    assert.deepEqual(logical(WIRE.long, { flags: 32 }), ['integer', 'int unsigned'])
    assert.deepEqual(logical(WIRE.longlong, { flags: 32 }), ['bigint', 'bigint unsigned'])
    assert.equal(typeOfField(field(WIRE.longlong, { flags: 32 })).unsigned, true)
    assert.deepEqual(logical(WIRE.decimal, { columnLength: 12, decimals: 2 }), ['decimal', 'decimal(10,2)'])
    assert.deepEqual(logical(WIRE.decimal, { columnLength: 11, decimals: 0 }), ['decimal', 'decimal(10,0)'])
    assert.deepEqual(logical(WIRE.decimal, { columnLength: 11, decimals: 2, flags: 32 }), [
      'decimal',
      'decimal(10,2) unsigned',
    ])
    assert.deepEqual(logical(WIRE.bit, { columnLength: 1 }), ['boolean', 'bit(1)'])
    assert.deepEqual(logical(WIRE.timestamp, { decimals: 6 }), ['timestamp', 'timestamp(6)'])
    assert.deepEqual(logical(WIRE.time), ['time', 'time'])
    assert.deepEqual(logical(WIRE.year), ['integer', 'year'])
    assert.deepEqual(logical(WIRE.varString, text), ['text', 'text'])
    assert.deepEqual(logical(WIRE.varString), ['bytes', 'blob'])
    assert.deepEqual(logical(WIRE.blob), ['bytes', 'blob'])
    assert.deepEqual(logical(WIRE.string, { ...text, flags: 256 }), ['text', 'text'])
    assert.deepEqual(logical(WIRE.string, { ...text, flags: 2_048 }), ['unknown', 'set'])
    assert.deepEqual(logical(WIRE.string, { ...text, extendedTypeName: 'uuid' }), ['uuid', 'uuid'])
    assert.deepEqual(logical(WIRE.blob, { ...text, extendedFormat: 'json' }), ['json', 'json'])
    assert.deepEqual(logical(WIRE.json), ['json', 'json'])
    assert.deepEqual(logical(WIRE.geometry), ['unknown', 'geometry'])
    assert.deepEqual(logical(77), ['unknown', 'type 77'])
  })

  test('have the name that agents use, and are cut where they can be long', () => {
    assert.equal(setColumn(field(WIRE.long, { name: 'id' }), 50).charsMax, undefined)
    assert.equal(setColumn(field(WIRE.blob), 50).charsMax, 50)
    assert.match(setColumn(field(WIRE.long, { name: 'COUNT(*)' }), 50).name, /^COUNT_[a-z0-9]{8}$/)
  })
})
