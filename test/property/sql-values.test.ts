import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'postgres-array'
import { doubleHolds } from '../../src/core/json-value.js'
import type { ValueType } from '../../src/core/schema-model.js'
import type { Dialect } from '../../src/engines/engine.js'
import { mysqlDialect } from '../../src/engines/mysql/dialect.js'
import { arrayLiteral } from '../../src/engines/postgres/array-literal.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { DIALECTS, type DialectUnderTest } from '../support/dialects.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { TYPES } from '../support/schema.js'
import { SQLSERVER_TYPES } from '../support/sqlserver-types.js'

/** What a caller gets of the text that the driver has for a value. */
function decodedBy(dialect: Dialect, type: ValueType, text: string, charsMax?: number): unknown {
  const column = { name: 'c', type, ...(charsMax === undefined ? {} : { charsMax }) }
  return JSON.parse(dialect.encodeCell(column, text).json)
}

function decoded(type: ValueType, text: string): unknown {
  return decodedBy(postgresDialect, type, text)
}

/** Types of each engine that the same rules hold for, and how its driver writes bytes. */
const SUBJECTS: Readonly<
  Record<
    DialectUnderTest['engine'],
    {
      readonly plainTexts: readonly ValueType[]
      readonly text: ValueType
      readonly bigint: ValueType
      readonly decimal: ValueType
      readonly float: ValueType
      readonly json: ValueType
      readonly bytes: ValueType
      readonly bytesText: (bytes: Buffer) => string
    }
  >
> = {
  postgres: {
    ...TYPES,
    json: TYPES.jsonb,
    plainTexts: [TYPES.text, TYPES.mood, TYPES.inet],
    bytesText: (bytes) => `\\x${bytes.toString('hex')}`,
  },
  mysql: {
    ...MYSQL_TYPES,
    text: MYSQL_TYPES.longtext,
    float: MYSQL_TYPES.double,
    bytes: MYSQL_TYPES.blob,
    plainTexts: [MYSQL_TYPES.longtext, MYSQL_TYPES.folded, MYSQL_TYPES.mood, MYSQL_TYPES.set, MYSQL_TYPES.point],
    bytesText: (bytes) => bytes.toString('base64'),
  },
  sqlserver: {
    ...SQLSERVER_TYPES,
    text: SQLSERVER_TYPES.long,
    bytes: SQLSERVER_TYPES.longBinary,
    plainTexts: [SQLSERVER_TYPES.long, SQLSERVER_TYPES.latin1, SQLSERVER_TYPES.xml, SQLSERVER_TYPES.hierarchyid],
    bytesText: (bytes) => bytes.toString('hex').toUpperCase(),
  },
}

const anyText = fc.string({ unit: 'binary' })

for (const { dialect, engine, types: allTypes } of DIALECTS) {
  const subject = SUBJECTS[engine]
  const read = (type: ValueType, text: string, charsMax?: number) => decodedBy(dialect, type, text, charsMax)

  test(`any text of any type is valid JSON on ${engine}, cut or not`, () => {
    const texts = fc.oneof(
      anyText,
      fc.string(),
      fc.string({ unit: fc.constantFrom('{', '}', '"', '\\', ',', 'N', ' ') }),
    )
    const numbers: readonly string[] = [
      'json',
      'integer',
      'bigint',
      'float',
      ...(engine === 'mysql' ? ['boolean'] : []),
    ]
    const types = Object.values(allTypes).filter((type) => !numbers.includes(type.logical))
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        texts,
        fc.option(fc.nat(10), { nil: undefined }),
        (type, text, charsMax) => {
          read(type, text, charsMax)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test(`a text reads as itself, on ${engine}`, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const type of subject.plainTexts) assert.equal(read(type, text), text)
      }),
    )
  })

  test(`a cut text is the first characters of the whole, on ${engine}`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'é', '😀', '𝒳', '\n')),
        fc.integer({ min: 1, max: 8 }),
        (characters, max) => {
          const cell = dialect.encodeCell({ name: 'c', type: subject.text, charsMax: max }, characters.join(''))
          assert.equal(JSON.parse(cell.json), characters.slice(0, max).join(''))
          assert.equal(cell.cut, characters.length > max)
        },
      ),
    )
  })

  test(`a whole number keeps its digits, as a number exactly where a double is exact, on ${engine}`, () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.integer({ min: 0, max: 62 }), (wide, shift) => {
        const value = wide >> BigInt(shift)
        const shown = read(subject.bigint, String(value))
        assert.equal(typeof shown, Number.isSafeInteger(Number(value)) ? 'number' : 'string')
        assert.equal(BigInt(shown as number | string), value)
      }),
    )
    for (const edge of [2n ** 53n - 1n, 2n ** 53n, 1n - 2n ** 53n, -(2n ** 53n), 2n ** 53n + 1n]) {
      assert.equal(BigInt(read(subject.bigint, String(edge)) as number | string), edge)
    }
  })

  test(`a decimal keeps its text, on ${engine}`, () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(digits, digits, fc.boolean(), (whole, fraction, negative) => {
        const text = `${negative ? '-' : ''}${whole.replace(/^0+(?=.)/, '')}.${fraction}`
        assert.equal(read(subject.decimal, text), text)
      }),
    )
  })

  test(`a float reads as the same double, on ${engine}`, () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        assert.ok(read(subject.float, Object.is(value, -0) ? '-0' : String(value)) === value)
      }),
    )
  })

  test(`bytes read as the same bytes, on ${engine}`, () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const shown = read(subject.bytes, subject.bytesText(Buffer.from(bytes)))
        assert.deepEqual(new Uint8Array(Buffer.from(String(shown), 'base64')), bytes)
      }),
    )
  })

  test(`JSON reads as the same value, however it is spaced, on ${engine}`, () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        assert.deepEqual(read(subject.json, text), JSON.parse(text))
      }),
    )
  })

  test(`a number that a double does not give back digit by digit makes the JSON a text, on ${engine}`, () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 25 })
    fc.assert(
      fc.property(
        digits,
        fc.option(digits),
        fc.option(fc.integer({ min: -400, max: 400 })),
        (whole, fraction, exponent) => {
          const int = whole.replace(/^0+(?=.)/, '')
          const token = `${int}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`
          const shown = read(subject.json, `[${token}]`)
          if (Array.isArray(shown)) assert.ok(sameDecimal(token, String(shown[0])), token)
          else assert.equal(shown, `[${token}]`)
          assert.equal(Array.isArray(shown), doubleHolds(token))
        },
      ),
    )
  })
}

/** Whether two decimals are equal, by whole numbers at a common scale. */
function sameDecimal(a: string, b: string): boolean {
  const parts = (text: string) => {
    const [mantissa = '', exponent = '0'] = text.split('e')
    const [whole = '', fraction = ''] = mantissa.split('.')
    return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
  }
  const [x, y] = [parts(a), parts(b)]
  const scale = Math.max(x.scale, y.scale)
  return x.digits * 10n ** BigInt(scale - x.scale) === y.digits * 10n ** BigInt(scale - y.scale)
}

test('an array of texts reads as the same texts, whatever they hold', () => {
  fc.assert(
    fc.property(fc.array(anyText), (texts) => {
      const literal = arrayLiteral(texts)
      assert.deepEqual(decoded(TYPES.texts, literal), JSON.parse(JSON.stringify(texts)))
      assert.deepEqual(
        parse(literal, (text) => text),
        texts,
      )
    }),
  )
})

test('an array of arrays reads as its dimensions', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.option(fc.integer()), { minLength: 2, maxLength: 2 }), { minLength: 1 }),
      (rows) => {
        const literal = `{${rows.map((row) => `{${row.map((cell) => cell ?? 'NULL').join(',')}}`).join(',')}}`
        assert.deepEqual(
          decoded(TYPES.integers, literal),
          rows.map((row) => row.map((cell) => cell ?? null)),
        )
      },
    ),
  )
})

test('a number that stands in for a boolean is a truth, or itself', () => {
  for (let value = -128; value < 128; value++) {
    const shown = value === 0 ? false : value === 1 ? true : value
    assert.equal(decodedBy(mysqlDialect, MYSQL_TYPES.flag, String(value)), shown)
  }
})

test('the fraction of a time is shown without the zeros that its declaration adds', () => {
  const digits = fc.integer({ min: 0, max: 999_999 }).map((value) => String(value).padStart(6, '0'))
  fc.assert(
    fc.property(digits, (fraction) => {
      const kept = fraction.replace(/0+$/, '')
      const end = kept === '' ? '' : `.${kept}`
      const shown = (type: ValueType, text: string) => decodedBy(mysqlDialect, type, text)
      assert.equal(shown(MYSQL_TYPES.time, `-838:59:58.${fraction}`), `-838:59:58${end}`)
      assert.equal(shown(MYSQL_TYPES.datetime, `2024-00-00 00:00:00.${fraction}`), `2024-00-00T00:00:00${end}`)
      assert.equal(shown(MYSQL_TYPES.timestamp, `2024-03-10 07:30:00.${fraction}`), `2024-03-10T07:30:00${end}Z`)
    }),
  )
})
