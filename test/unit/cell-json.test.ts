import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { encodeWhole, isJsonNumber } from '../../src/engines/sql/cell-json.js'
import { encodeJson } from '../../src/engines/sql/json-text.js'

/** What JSON itself says: one number, and no white space around it. */
function parsesAsNumber(text: string): boolean {
  if (text !== text.trim()) return false
  try {
    return typeof JSON.parse(text) === 'number'
  } catch {
    return false
  }
}

test('what is no JSON by now is one string, whatever it holds', () => {
  for (const text of ['1,"secret":2', '{}},{"a":1', '{"a":1', '', 'nul', '[1]]', '"a" "b"']) {
    assert.equal(encodeJson(text), JSON.stringify(text))
  }
  fc.assert(fc.property(fc.string(), (text) => JSON.parse(encodeJson(text)) !== undefined))
})

describe('numbers in an answer', () => {
  test('a text is a number exactly where JSON takes it for one', () => {
    const texts = [
      '0',
      '-0',
      '7',
      '-12.50',
      '1e+20',
      '1.5e-05',
      '2E3',
      '',
      '-',
      '.5',
      '1.',
      '00',
      '01',
      '-01',
      '1e',
      '1e+',
    ]
    const others = [
      'NaN',
      'Infinity',
      '+1',
      '0x10',
      ' 1',
      '1 ',
      '1\n',
      '1,2',
      '0,"secret":1',
      '1}',
      '1e5x',
      '１',
      'true',
    ]
    for (const text of [...texts, ...others])
      assert.equal(isJsonNumber(text), parsesAsNumber(text), JSON.stringify(text))
    const near = fc.string({ unit: fc.constantFrom(...'0123456789-+.eE,"'), maxLength: 8 })
    fc.assert(fc.property(near, (text) => isJsonNumber(text) === parsesAsNumber(text)))
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => isJsonNumber(String(value))))
  })

  test('what is no whole number by now is one string, whatever it holds', () => {
    assert.deepEqual(['42', '-7', '9007199254740993', '0,"a":1', '1]'].map(encodeWhole), [
      '42',
      '-7',
      '"9007199254740993"',
      '"0,\\"a\\":1"',
      '"1]"',
    ])
  })
})
