import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { cellText, isConverted, type WireField } from '../../src/engines/sqlserver/cell-text.js'
import { setColumn, typeOfField } from '../../src/engines/sqlserver/set-columns.js'
// Reading exactly begins where the driver's connection is loaded.
import '../../src/engines/sqlserver/connection.js'

/** The package's own reader of an answer, which the driver's connection reads through. */
interface TokenReader {
  parseTokens(chunks: readonly Buffer[], debug: object, options: object): AsyncIterable<Token>
}
interface Token {
  readonly name: string
  readonly columns: readonly { readonly value: unknown; readonly metadata: WireField }[]
}
const Reader: TokenReader = createRequire(import.meta.url)('tedious/lib/token/stream-parser.js')

const u8 = (...bytes: readonly number[]) => Buffer.from(bytes)
const u16 = (value: number) => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}
const i16 = (value: number) => u16(value & 0xff_ff)
const i32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}
const whole = (value: bigint, length: number) =>
  Buffer.from(Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn)))

/** A type as the columns of an answer are described. */
const DECIMAL = (scale: number) => u8(0x6a, 17, 38, scale)
const TIME = (scale: number) => u8(0x29, scale)
const MOMENT = (scale: number) => u8(0x2a, scale)
const OFFSET = (scale: number) => u8(0x2b, scale)
const VARIANT = Buffer.concat([u8(0x62), i32(8_009)])

/** A value with its length in front. */
const sized = (bytes: Buffer) => Buffer.concat([u8(bytes.length), bytes])
const decimal = (unscaled: bigint) =>
  sized(Buffer.concat([u8(unscaled < 0n ? 0 : 1), whole(unscaled < 0n ? -unscaled : unscaled, 16)]))
const variant = (bytes: Buffer) => Buffer.concat([i32(bytes.length), bytes])

const ROW = 0xd1
const COLUMNS = 0x81

/** One row of one column, as it comes over the wire, cut into chunks so that values are also met in halves. */
async function read(
  type: Buffer,
  value: Buffer,
  chunkBytes = 1_000,
): Promise<{ text: string | null; field: WireField }> {
  const column = Buffer.concat([i32(0), u16(1), type, u8(1), Buffer.from('c', 'ucs2')])
  const answer = Buffer.concat([u8(COLUMNS), u16(1), column, u8(ROW), value])
  const chunks: Buffer[] = []
  for (let at = 0; at < answer.length; at += chunkBytes) chunks.push(answer.subarray(at, at + chunkBytes))
  const options = { tdsVersion: '7_4', useUTC: true, lowerCaseGuids: true, useColumnNames: false }
  for await (const token of Reader.parseTokens(chunks, {}, options)) {
    const [cell] = token.name === 'ROW' ? token.columns : []
    if (cell !== undefined) return { text: cellText(cell.value, cell.metadata), field: cell.metadata }
  }
  throw new Error('the answer has no row')
}

const NINES = 99_999_999_999_999_999_999_999_999_999_999_999_999n
/** Days from the first of January of the year 1 to the last of 9999. */
const LAST_DAY = 3_652_058n
const LAST_UNIT = 863_999_999_999n

describe('values of SQL Server as they are read', () => {
  const cases: readonly (readonly [rule: string, type: Buffer, value: Buffer, text: string | null])[] = [
    ['decimal(38,10) keeps every digit', DECIMAL(10), decimal(NINES), '9999999999999999999999999999.9999999999'],
    ['a negative decimal', DECIMAL(4), decimal(-1_000_000_000_000_000_001n), '-100000000000000.0001'],
    ['a decimal below one', DECIMAL(3), decimal(-5n), '-0.005'],
    ['a decimal without a fraction', DECIMAL(0), decimal(NINES), String(NINES)],
    ['a decimal that is zero', DECIMAL(2), decimal(0n), '0.00'],
    ['a decimal that is NULL', DECIMAL(2), u8(0), null],
    [
      'the least money there is',
      u8(0x6e, 8),
      sized(Buffer.concat([i32(-2_147_483_648), i32(0)])),
      '-922337203685477.5808',
    ],
    ['money that has no exact double', u8(0x3c), Buffer.concat([i32(0), i32(83_266)]), '8.3266'],
    ['smallmoney', u8(0x6e, 4), sized(i32(-1)), '-0.0001'],
    ['bigint', u8(0x26, 8), sized(whole(-9_223_372_036_854_775_808n, 8)), '-9223372036854775808'],
    ['a bit is a number', u8(0x68, 1), sized(u8(1)), '1'],
    ['the first date', u8(0x28), sized(whole(0n, 3)), '0001-01-01'],
    ['the last date', u8(0x28), sized(whole(LAST_DAY, 3)), '9999-12-31'],
    ['a time of seven digits', TIME(7), sized(whole(LAST_UNIT, 5)), '23:59:59.9999999'],
    ['a time without a fraction', TIME(0), sized(whole(45_296n, 3)), '12:34:56'],
    [
      'the last moment',
      MOMENT(7),
      sized(Buffer.concat([whole(LAST_UNIT, 5), whole(LAST_DAY, 3)])),
      '9999-12-31 23:59:59.9999999',
    ],
    [
      'a moment keeps its offset, and the day that it is there',
      OFFSET(7),
      sized(Buffer.concat([whole(LAST_UNIT, 5), whole(738_944n, 3), i16(150)])),
      '2024-03-01 02:29:59.9999999 +02:30',
    ],
    [
      'an offset behind UTC',
      OFFSET(0),
      sized(Buffer.concat([whole(0n, 3), whole(738_944n, 3), i16(-840)])),
      '2024-02-28 10:00:00 -14:00',
    ],
    ['datetime before 1900', u8(0x6f, 8), sized(Buffer.concat([i32(-53_690), i32(1)])), '1753-01-01 00:00:00.003'],
    ['smalldatetime', u8(0x6f, 4), sized(Buffer.concat([u16(65_535), u16(1_439)])), '2079-06-06 23:59:00'],
    ['float of single precision', u8(0x6d, 4), sized(u8(0xcd, 0xcc, 0xcc, 0x3d)), '0.1'],
    ['float', u8(0x6d, 8), sized(u8(0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f)), '0.1'],
    [
      'an identifier in small letters',
      u8(0x24, 16),
      sized(u8(0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff)),
      '00112233-4455-6677-8899-aabbccddeeff',
    ],
    [
      'bytes are hexadecimal digits',
      Buffer.concat([u8(0xa5), u16(8)]),
      Buffer.concat([u16(3), u8(0, 0xab, 0xff)]),
      '00ABFF',
    ],
    [
      'a decimal inside of a variant',
      VARIANT,
      variant(Buffer.concat([u8(0x6c, 2, 38, 4, 1), whole(1_000_000_000_000_000_001n, 16)])),
      '100000000000000.0001',
    ],
    [
      'a moment inside of a variant',
      VARIANT,
      variant(Buffer.concat([u8(0x2b, 1, 0), whole(0n, 3), whole(738_944n, 3), i16(60)])),
      '2024-02-29 01:00:00 +01:00',
    ],
    ['money inside of a variant', VARIANT, variant(Buffer.concat([u8(0x3c, 0), i32(0), i32(-1)])), '429496.7295'],
    ['a single inside of a variant', VARIANT, variant(u8(0x3b, 0, 0xcd, 0xcc, 0xcc, 0x3d)), '0.1'],
    ['a whole number inside of a variant', VARIANT, variant(Buffer.concat([u8(0x38, 0), i32(-7)])), '-7'],
  ]
  for (const [rule, type, value, text] of cases) {
    test(rule, async () => {
      assert.equal((await read(type, value)).text, text)
      assert.equal((await read(type, value, 1)).text, text, 'in chunks of a byte')
    })
  }

  test('a number whose digits were lost on the way is never shown', async () => {
    const { field } = await read(DECIMAL(2), decimal(1n))
    assert.throws(() => cellText(0.01, field), /DecimalN came as number/)
    assert.throws(() => cellText(new Date(0), field), /DecimalN came as object/)
  })

  test('only text and whole numbers are what a statement of the dialect returns', async () => {
    assert.equal(isConverted((await read(u8(0x26, 8), sized(whole(1n, 8)))).field), true)
    assert.equal(isConverted((await read(DECIMAL(2), decimal(1n))).field), false)
    assert.equal(isConverted((await read(MOMENT(7), u8(0))).field), false)
  })

  test('a column that only the answer describes has the type that the catalog would give it', async () => {
    const native = async (type: Buffer, value: Buffer) => typeOfField((await read(type, value)).field).native
    assert.equal(await native(DECIMAL(10), u8(0)), 'decimal(38,10)')
    assert.equal(await native(u8(0x26, 4), u8(0)), 'int')
    assert.equal(await native(u8(0x26, 8), u8(0)), 'bigint')
    assert.equal(await native(u8(0x6e, 4), u8(0)), 'smallmoney')
    assert.equal(await native(u8(0x6f, 8), u8(0)), 'datetime')
    assert.equal(await native(u8(0x6d, 4), u8(0)), 'real')
    assert.equal(await native(OFFSET(3), u8(0)), 'datetimeoffset(3)')
    assert.equal(await native(VARIANT, i32(0)), 'sql_variant')
    const bytes = (await read(Buffer.concat([u8(0xa5), u16(8)]), u16(0))).field
    assert.equal(typeOfField(bytes).native, 'varbinary(8)')
    assert.deepEqual(setColumn(bytes, 10), { name: 'c', type: typeOfField(bytes), charsMax: 10 })
    assert.equal(typeOfField({ ...bytes, type: { name: 'Binary' }, userType: 80 }).native, 'timestamp')
    assert.equal(
      typeOfField({ ...bytes, type: { name: 'UDT' }, udtInfo: { typeName: 'geography' } }).native,
      'geography',
    )
    assert.equal(typeOfField({ ...bytes, type: { name: 'Other' } }).native, 'Other')
    assert.equal('charsMax' in setColumn((await read(DECIMAL(1), u8(0))).field, 10), false)
  })
})
