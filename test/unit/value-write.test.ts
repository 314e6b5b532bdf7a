import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ARRAY_DIMENSIONS_MAX, VALUE_CHARS_MAX, WRITE_VALUE_CHARS_MAX } from '../../src/core/limits.js'
import type { ValueType } from '../../src/core/schema-model.js'
import { coerceValue, coerceWrite } from '../../src/core/value.js'
import { TYPES } from '../support/schema.js'

function writes(type: ValueType, raw: unknown, canonical: string): void {
  assert.deepEqual(coerceWrite(type, raw), { ok: true, value: canonical }, JSON.stringify(raw)?.slice(0, 200))
}

function refuses(type: ValueType, phrase: RegExp, ...cases: readonly unknown[]): void {
  for (const raw of cases) {
    const result = coerceWrite(type, raw)
    assert.ok(!result.ok, `${type.native} takes ${JSON.stringify(raw)}`)
    assert.match(result.error, phrase)
  }
}

const arrayOf = (element: ValueType): ValueType => ({ ...TYPES.integers, native: `${element.native}[]`, element })

describe('values to be written', () => {
  test('scalars are those that filters take, and refused with the same words', () => {
    const cases: readonly unknown[] = [1, '1', -0, 1.5, '1e3', true, 'true', '2024-05-31', null, undefined, {}, [], 'x']
    for (const type of Object.values(TYPES)) {
      if (type.logical === 'json' || type.logical === 'array' || 'charsMax' in type) continue
      for (const raw of cases) assert.deepEqual(coerceWrite(type, raw), coerceValue(type, raw))
    }
  })

  test('a text longer than its column is refused, counted in characters', () => {
    writes(TYPES.char5, '\u{1f600}'.repeat(5), '\u{1f600}'.repeat(5))
    refuses(TYPES.char5, /of at most 5 characters$/, 'abcdef', '\u{1f600}'.repeat(6), 5, null)
    writes(TYPES.varchar40, 'x'.repeat(40), 'x'.repeat(40))
    refuses(TYPES.varchar40, /of at most 40 characters/, 'x'.repeat(41))
    // A filter may ask for more than a column can hold.
    assert.equal(coerceValue(TYPES.char5, 'abcdef').ok, true)
  })

  test('a fraction that the column would round is refused; zeros at its end are not', () => {
    const money: ValueType = { ...TYPES.decimal, fractionDigitsMax: 2 }
    writes(money, '12.50', '12.50')
    writes(money, '-12.5000', '-12.5000')
    writes(money, 3, '3')
    writes(money, 'NaN', 'NaN')
    refuses(money, /with at most 2 fraction digits$/, '12.505', 0.001, '0.0001')
    const seconds: ValueType = { ...TYPES.timestamptz, fractionDigitsMax: 0 }
    writes(seconds, '2024-05-31T10:00:00.000Z', '2024-05-31T10:00:00.000Z')
    refuses(seconds, /at most 0 fraction digits/, '2024-05-31T10:00:00.5Z')
    writes({ ...TYPES.timetz, fractionDigitsMax: 3 }, '10:00:00.123+05:30', '10:00:00.123+05:30')
    refuses({ ...TYPES.timetz, fractionDigitsMax: 3 }, /at most 3/, '10:00:00.1234+05:30')
  })

  test('a number that a single-precision float would keep as another is refused; one that it shows is not', () => {
    const single: ValueType = { ...TYPES.real, single: true }
    writes(single, 0.1, '0.1')
    writes(single, '16777216', '16777216')
    writes(single, '0.10000000149011612', '0.10000000149011612')
    writes(single, '3.4028235e38', '3.4028235e38')
    writes(single, '1e-45', '1e-45')
    writes(single, 'NaN', 'NaN')
    refuses(single, /single-precision float keeps/, '16777217', 16777217, '1e-46', '1e39', 0.123456789, '3.14159265')
    writes(TYPES.float, '16777217', '16777217')
    // It may be looked for, and is not there.
    assert.equal(coerceValue(single, '16777217').ok, true)
  })

  test('of an engine whose floats have all of their digits, what is nearer to zero is refused', () => {
    const single: ValueType = { ...TYPES.real, single: true, normal: true }
    writes(single, '1.1754944e-38', '1.1754944e-38')
    refuses(single, /at least 1\.1754944e-38 from it/, '1e-38', '-1e-45', '1e-50', '16777217', '123456789')
    const double: ValueType = { ...TYPES.float, normal: true }
    writes(double, '2.2250738585072014e-308', '2.2250738585072014e-308')
    refuses(double, /at least 2\.2250738585072014e-308/, '5e-324')
  })

  test('a float with digits declared keeps no more of them, however the number is spelt', () => {
    const cents: ValueType = { ...TYPES.float, fractionDigitsMax: 2 }
    for (const text of ['1.25', '1.50000', '125e-2', '1e3', '1e-2', '0']) writes(cents, text, text)
    refuses(cents, /at most 2 fraction digits/, '1.255', '1255e-3', '1e-3', 1e-9, '1.5e-7')
  })

  test('a text that is to have a form is written in it alone, or in no other form of itself', () => {
    const unknown: ValueType = { logical: 'unknown', native: 'set', equality: true, ordered: false }
    const set: ValueType = { ...unknown, form: { kind: 'set', members: ['x', 'y'] } }
    writes(set, 'y,x', 'x,y')
    refuses(set, /^words with commas between them, each once, of "x", "y"$/, '1', '0', 'x,x', 'z', 1, null)
    assert.deepEqual(coerceValue(set, 'y,x'), { ok: true, value: 'x,y' })
    assert.equal(coerceValue(set, '3').ok, false)
    const several: ValueType = { ...unknown, form: { kind: 'words', shown: [], several: true } }
    writes(several, 'x', 'x')
    refuses(several, /no number in its place, and no list of them$/, 'x,y', '1')
    assert.equal(coerceValue(several, 'x,y').ok, true)
    const point: ValueType = { ...unknown, form: { kind: 'geometry' } }
    writes(point, 'POINT(1 2)', 'POINT(1 2)')
    refuses(point, /well-known text such as POINT/, 'POINT(1 2) trailing')
    assert.equal(coerceValue({ ...unknown, form: { kind: 'inet4' } }, 'zzz').ok, false)
  })

  test('a document may be longer than a value that is looked for, up to a limit', () => {
    const long = 'x'.repeat(VALUE_CHARS_MAX + 1)
    writes(TYPES.text, long, long)
    for (const type of [TYPES.text, TYPES.jsonb, TYPES.bytes]) {
      refuses(type, /^a value of at most 1048576 characters$/, 'a'.repeat(WRITE_VALUE_CHARS_MAX + 1))
    }
    refuses(TYPES.texts, /^a value of at most/, ['a'.repeat(WRITE_VALUE_CHARS_MAX)])
    refuses(TYPES.jsonb, /^a value of at most/, { a: 'a'.repeat(WRITE_VALUE_CHARS_MAX) })
  })
})

describe('json to be written', () => {
  test('any JSON value is taken as it is', () => {
    writes(TYPES.jsonb, { a: [1, 'x', null, true], '': {} }, '{"a":[1,"x",null,true],"":{}}')
    writes(TYPES.jsonb, JSON.parse('{"__proto__":1}'), '{"__proto__":1}')
    writes(TYPES.json, [1], '[1]')
    writes(TYPES.json, 5, '5')
    writes(TYPES.json, false, 'false')
    writes(TYPES.json, 0.1 + 0.2, '0.30000000000000004')
  })

  test('a text is a JSON string, even where it spells a number, true or null', () => {
    for (const text of ['', 'abc', '5', '-0.5', 'true', 'null', '"abc"', '"5"', '{a:1}', '{', ' [1', '\u0000']) {
      writes(TYPES.jsonb, text, JSON.stringify(text))
    }
  })

  test('a text that spells an object or a list is that, with every digit and member kept', () => {
    writes(TYPES.jsonb, '{ "n": 12345678901234567890, "n": 1.50 }', '{"n":12345678901234567890,"n":1.50}')
    writes(TYPES.jsonb, '\n[ "a b \\" c", {} ]', '["a b \\" c",{}]')
  })

  test('a text that spells a number beyond doubles is that number, since results show it so', () => {
    writes(TYPES.jsonb, '12345678901234567890', '12345678901234567890')
    writes(TYPES.jsonb, '0.12345678901234567891', '0.12345678901234567891')
    writes(TYPES.jsonb, '1e400', '1e400')
    // These a double holds, so a result would have shown the number.
    writes(TYPES.jsonb, '1.50', '"1.50"')
    writes(TYPES.jsonb, '1e20', '"1e20"')
  })

  test('a string that spells JSON is written by its own JSON text', () => {
    writes(TYPES.jsonb, JSON.stringify('{"a":1}'), '"{\\"a\\":1}"')
    writes(TYPES.jsonb, JSON.stringify('12345678901234567890'), '"12345678901234567890"')
    writes(TYPES.jsonb, JSON.stringify(JSON.stringify('[]')), JSON.stringify(JSON.stringify('[]')))
  })

  test('a number that a JSON reader may have rounded is refused, and so is half of a surrogate pair', () => {
    const phrase = /^a JSON value; with whole numbers beyond ±9007199254740991 send it as JSON text/
    refuses(TYPES.jsonb, phrase, { a: [9007199254740992] }, 1e300, [-9007199254740992], Number.NaN, undefined)
    refuses(TYPES.jsonb, phrase, '["\ud800"]')
    writes(TYPES.json, '["\\ud800"]', '["\\ud800"]')
    writes(TYPES.json, { n: 9007199254740991 }, '{"n":9007199254740991}')
  })
})

describe('arrays to be written', () => {
  test('are lists of values of the element’s type, or null, as their canonical texts', () => {
    writes(TYPES.texts, ['a', null, 'NULL', ''], '["a",null,"NULL",""]')
    writes(TYPES.integers, [1, '2', null], '["1","2",null]')
    writes(TYPES.integers, [], '[]')
    writes(arrayOf(TYPES.bigint), ['9223372036854775807'], '["9223372036854775807"]')
    writes(arrayOf(TYPES.boolean), [true, 'false'], '["true","false"]')
    writes(arrayOf(TYPES.uuid), ['123E4567-E89B-12D3-A456-426614174000'], '["123e4567-e89b-12d3-a456-426614174000"]')
    refuses(
      TYPES.integers,
      /^a list of values, each null or a whole number/,
      [1.5],
      [true],
      ['x'],
      [{}],
      'x',
      5,
      {},
      null,
    )
    refuses(arrayOf(TYPES.mood), /each null or one of "sad", "ok", "happy"/, ['glad'])
    refuses(arrayOf(TYPES.char5), /at most 5 characters/, ['abcdef'])
    refuses(arrayOf(TYPES.bigint), /beyond ±9007199254740991 send it as a string/, [9007199254740992])
  })

  test('are taken as JSON text too', () => {
    writes(TYPES.texts, '["a", null]', '["a",null]')
    refuses(TYPES.texts, /^a list/, '{"a":1}', 'a', '"a"')
  })

  test('may have dimensions, all lists of one being of one length and not empty', () => {
    writes(
      TYPES.integers,
      [
        [1, 2],
        [3, null],
      ],
      '[["1","2"],["3",null]]',
    )
    writes(TYPES.integers, [[[1]], [[2]]], '[[["1"]],[["2"]]]')
    const phrase = /lists inside of it, if any, all of one length and not empty/
    refuses(TYPES.integers, phrase, [[1, 2], [3]], [[1], 2], [1, [2]], [[]], [[], []], [null, [1]], [[1], null])
    const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])
    assert.equal(coerceWrite(TYPES.integers, deep(ARRAY_DIMENSIONS_MAX)).ok, true)
    refuses(TYPES.integers, phrase, deep(ARRAY_DIMENSIONS_MAX + 1))
  })

  test('of json hold each element as its JSON text; a list among them must be text, being a dimension else', () => {
    const documents = arrayOf(TYPES.jsonb)
    writes(documents, [{ a: 1 }, 'x', '[1]', 5], '["{\\"a\\":1}","\\"x\\"","[1]","5"]')
    refuses(documents, /a list among them as its JSON text/, [[1]], [[{ a: 1 }]], [{}, [1]])
  })
})
