import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue, coerceWrite } from '../../src/core/value.js'
import { arrayOfJson } from '../../src/engines/postgres/array-literal.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { DIALECTS } from '../support/dialects.js'
import { EMITTED } from '../support/emitted-values.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { TYPES } from '../support/schema.js'
import { SQLSERVER_TYPES } from '../support/sqlserver-types.js'

const ALL_TYPES: readonly ValueType[] = DIALECTS.flatMap(({ types }) => Object.values(types))
const JSON_TYPES = { postgres: TYPES.jsonb, mysql: MYSQL_TYPES.json, sqlserver: SQLSERVER_TYPES.json } as const

describe('a value that a result shows is a value that an argument takes', () => {
  for (const { dialect, engine, types } of DIALECTS) {
    for (const [name, texts] of Object.entries(EMITTED[engine])) {
      test(`read and sent back on ${engine}: ${name}`, () => {
        const type = types[name]
        assert.ok(type !== undefined)
        fc.assert(
          fc.property(texts, (text) => {
            const { json } = dialect.encodeCell({ name: 'c', type }, text)
            const shown: unknown = JSON.parse(json)
            // A client that keeps numbers sends what it parsed, but for the sign of a zero, which JSON.stringify drops.
            const sent: unknown = JSON.parse(JSON.stringify(shown))
            assert.equal(coerceValue(type, sent).ok, true, json)
            const asText = typeof shown === 'string' ? shown : json
            const back = coerceValue(type, asText)
            assert.deepEqual(back, { ok: true, value: asText })
            // What can be looked for can be written, and is the same.
            assert.deepEqual(coerceWrite(type, asText), back)
            assert.deepEqual(coerceWrite(type, sent), coerceValue(type, sent))
            // What is canonical stays as it is.
            if (back.ok) assert.deepEqual(coerceValue(type, back.value), back)
          }),
          { numRuns: 300 },
        )
      })
    }
  }

  test('any JSON value is accepted as canonical text or refused with a phrase, and never throws', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL_TYPES), fc.jsonValue(), (type, raw) => {
        const result = coerceValue(type, raw)
        if (result.ok) assert.deepEqual(coerceValue(type, result.value), result)
        else assert.ok(result.error.length > 0)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** A client's copy of what a result shows: parsed, kept, and sent as JSON again. */
function sentBack(json: string): unknown {
  return JSON.parse(JSON.stringify(JSON.parse(json)))
}

const jsonText = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  // As jsonb writes it.
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value, null, 1)),
  fc.constantFrom(
    '{"n": 12345678901234567890, "__proto__": 1}',
    '[0.12345678901234567890]',
    '1e400',
    '12345678901234567891',
  ),
)

function elementOf(type: ValueType): string | undefined {
  return type.element?.logical
}

/** Whether a JSON reader that keeps doubles may have rounded one of its whole numbers. */
function holdsUnsafe(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsUnsafe)
}

describe('a document that a result shows is a document that can be written', () => {
  for (const { dialect, engine } of DIALECTS) {
    test(`json on ${engine}: the same document, a number beyond doubles and text that spells JSON included`, () => {
      const type = JSON_TYPES[engine]
      const spelt = fc.oneof(
        jsonText,
        jsonText.map((text) => JSON.stringify(text)),
        jsonText.map((text) => JSON.stringify(JSON.stringify(text))),
      )
      fc.assert(
        fc.property(spelt, (text) => {
          const { json } = dialect.encodeCell({ name: 'c', type }, text)
          const sent = sentBack(json)
          if (sent === null) return
          const written = coerceWrite(type, sent)
          if (!written.ok) {
            assert.ok(holdsUnsafe(sent), text)
            return
          }
          // A document that is shown as text holds what this process cannot parse without loss.
          const asText = typeof sent === 'string' && typeof JSON.parse(text) !== 'string'
          if (asText) assert.equal(written.value, sent)
          else assert.deepEqual(JSON.parse(written.value), sentBack(text), json)
          assert.equal(dialect.encodeCell({ name: 'c', type }, written.value).json, JSON.stringify(sent))
          // Once canonical it stays.
          assert.deepEqual(coerceWrite(type, sentBack(JSON.stringify(sent))), written)
        }),
        { numRuns: 3_000 },
      )
    })
  }

  test('arrays: the same elements in the same dimensions, through the engine’s own spelling', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }).map((t) => t.replaceAll('\0', '')),
      fc.constantFrom('', 'NULL', 'null', '{a,b}', '"', '\\'),
    )
    const leaf = fc.option(text, { nil: null, freq: 5 })
    const list = fc.oneof(
      fc.array(leaf, { maxLength: 4 }),
      fc
        .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }))
        .chain(([rows, columns]) =>
          fc.array(fc.array(leaf, { minLength: columns, maxLength: columns }), { minLength: rows, maxLength: rows }),
        ),
    )
    fc.assert(
      fc.property(list, (elements) => {
        const written = coerceWrite(TYPES.texts, elements)
        assert.deepEqual(written, { ok: true, value: JSON.stringify(elements) })
        const literal = arrayOfJson(JSON.stringify(elements), TYPES.texts.element, (_, each) => each)
        const { json } = postgresDialect.encodeCell({ name: 'c', type: TYPES.texts }, literal)
        assert.deepEqual(coerceWrite(TYPES.texts, sentBack(json)), written)
        assert.deepEqual(coerceWrite(TYPES.texts, json), written)
      }),
      { numRuns: 1_000 },
    )
  })

  test('any JSON value is accepted as canonical text that stays, or refused with a phrase, and never throws', () => {
    const nested: readonly ValueType[] = [
      { ...TYPES.integers, element: TYPES.bytes },
      { ...TYPES.integers, element: TYPES.jsonb },
      { ...TYPES.integers, element: TYPES.mood },
    ]
    fc.assert(
      fc.property(fc.constantFrom(...ALL_TYPES, ...nested), fc.jsonValue({ maxDepth: 4 }), (type, raw) => {
        const result = coerceWrite(type, raw)
        if (!result.ok) assert.ok(result.error.length > 0)
        else if (type.logical !== 'json' && elementOf(type) !== 'json')
          assert.deepEqual(coerceWrite(type, result.value), result)
        else assert.doesNotThrow(() => JSON.parse(result.value))
      }),
      { numRuns: 3_000 },
    )
  })
})
