import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'postgres-array'
import { doubleHolds } from '../../src/core/json-value.js'
import type { ValueType } from '../../src/core/schema-model.js'
import { arrayLiteral } from '../../src/engines/postgres/array-literal.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { TYPES } from '../support/schema.js'

function decoded(type: ValueType, text: string, charsMax?: number): unknown {
  const column = { name: 'c', type, ...(charsMax === undefined ? {} : { charsMax }) }
  return JSON.parse(postgresDialect.encodeCell(column, text).json)
}

const anyText = fc.string({ unit: 'binary' })

test('any text of any type is valid JSON, cut or not', () => {
  const texts = fc.oneof(anyText, fc.string(), fc.string({ unit: fc.constantFrom('{', '}', '"', '\\', ',', 'N', ' ') }))
  const types = Object.values(TYPES).filter((type) => !['json', 'integer', 'bigint', 'float'].includes(type.logical))
  fc.assert(
    fc.property(fc.constantFrom(...types), texts, fc.option(fc.nat(10), { nil: undefined }), (type, text, charsMax) => {
      decoded(type, text, charsMax)
    }),
    { numRuns: 1000 },
  )
})

test('a text reads as itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      for (const type of [TYPES.text, TYPES.mood, TYPES.inet]) assert.equal(decoded(type, text), text)
    }),
  )
})

test('a cut text is the first characters of the whole', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'é', '😀', '𝒳', '\n')),
      fc.integer({ min: 1, max: 8 }),
      (characters, max) => {
        const cell = postgresDialect.encodeCell({ name: 'c', type: TYPES.text, charsMax: max }, characters.join(''))
        assert.equal(JSON.parse(cell.json), characters.slice(0, max).join(''))
        assert.equal(cell.cut, characters.length > max)
      },
    ),
  )
})

test('a whole number keeps its digits, as a number exactly where a double is exact', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.integer({ min: 0, max: 62 }), (wide, shift) => {
      const value = wide >> BigInt(shift)
      const read = decoded(TYPES.bigint, String(value))
      assert.equal(typeof read, Number.isSafeInteger(Number(value)) ? 'number' : 'string')
      assert.equal(BigInt(read as number | string), value)
    }),
  )
  for (const edge of [2n ** 53n - 1n, 2n ** 53n, 1n - 2n ** 53n, -(2n ** 53n), 2n ** 53n + 1n]) {
    assert.equal(BigInt(decoded(TYPES.bigint, String(edge)) as number | string), edge)
  }
})

test('a decimal keeps its text', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(digits, digits, fc.boolean(), (whole, fraction, negative) => {
      const text = `${negative ? '-' : ''}${whole}.${fraction}`
      assert.equal(decoded(TYPES.decimal, text), text)
    }),
  )
})

test('a float reads as the same double', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const read = decoded(TYPES.float, Object.is(value, -0) ? '-0' : String(value))
      assert.ok(read === value)
    }),
  )
})

test('bytes read as the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const read = decoded(TYPES.bytes, `\\x${Buffer.from(bytes).toString('hex')}`)
      assert.deepEqual(new Uint8Array(Buffer.from(String(read), 'base64')), bytes)
    }),
  )
})

test('JSON reads as the same value, however it is spaced', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, undefined, space)
      assert.deepEqual(decoded(TYPES.jsonb, text), JSON.parse(text))
    }),
  )
})

test('a number that a double does not give back digit by digit makes the JSON a text', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 25 })
  fc.assert(
    fc.property(
      digits,
      fc.option(digits),
      fc.option(fc.integer({ min: -400, max: 400 })),
      (whole, fraction, exponent) => {
        const int = whole.replace(/^0+(?=.)/, '')
        const token = `${int}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`
        const read = decoded(TYPES.json, `[${token}]`)
        if (Array.isArray(read)) assert.ok(sameDecimal(token, String(read[0])), token)
        else assert.equal(read, `[${token}]`)
        assert.equal(Array.isArray(read), doubleHolds(token))
      },
    ),
  )
})

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
