import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readJson, repeatedMember } from '../../src/http/json-text.js'

const bytes = (text: string) => Buffer.from(text, 'utf8')

describe('JSON from outside', () => {
  test('bytes that are not UTF-8, too deep or not JSON are told apart', () => {
    const faults: readonly (readonly [Uint8Array, string])[] = [
      [Buffer.from([0x22, 0xff, 0x22]), 'encoding'],
      [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'encoding'],
      [bytes('[[[[]]]]'), 'depth'],
      [bytes('{"a":{"b":{"c":{}}}}'), 'depth'],
      [bytes(`${'['.repeat(100_000)}`), 'depth'],
      [bytes(''), 'syntax'],
      [bytes('{} {}'), 'syntax'],
      [bytes('\ufeff{}'), 'syntax'],
      [bytes('{"a":1'), 'syntax'],
    ]
    for (const [given, fault] of faults) {
      const read = readJson(given, 3)
      assert.ok(!read.ok)
      assert.equal(read.error, fault)
    }
    const text = ' {"a":"[[[[{{{{\\"","b":[[1]]} '
    const read = readJson(bytes(text), 3)
    assert.deepEqual(read, { ok: true, value: { value: { a: '[[[[{{{{"', b: [[1]] }, text } })
  })

  test('a name that stands twice in one object is found, wherever that is and however it is spelt', () => {
    const cases: readonly (readonly [json: string, repeated: string | undefined])[] = [
      ['{"a":1,"a":1}', 'a'],
      ['{"a":1,"\\u0061":1}', 'a'],
      ['{ "a" \n:\t1 , "b":2, "a" : 3}', 'a'],
      ['[{"a":{"b":[1,{"c":1,"c":2}]}}]', 'c'],
      ['{"":1,"":2}', ''],
      ['{"__proto__":1,"__proto__":2}', '__proto__'],
      ['{"a\\\\":1,"a\\\\":2}', 'a\\'],
      ['{"a":{"a":1},"b":{"a":1}}', undefined],
      ['[{"a":1},{"a":1}]', undefined],
      ['{"a":"a","b":["a","a"]}', undefined],
      ['{"a":"\\"a\\":","b":"{\\"a\\":1,\\"a\\":1}"}', undefined],
      ['"a"', undefined],
      ['[]', undefined],
    ]
    for (const [json, repeated] of cases) assert.equal(repeatedMember(json), repeated, json)
  })

  test('of any value no name is found twice in its text, and every one that is put in again is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.nat(), (value, name, spaces) => {
        const json = JSON.stringify(value, null, spaces % 3)
        assert.equal(repeatedMember(json), undefined)
        const [quoted, other] = [JSON.stringify(name), JSON.stringify(`other ${name}`)]
        assert.equal(repeatedMember(`[{${quoted}:${json},${other}:[${json}],${quoted}:${json}}]`), name)
      }),
    )
  })
})
