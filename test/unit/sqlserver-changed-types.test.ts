import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogicalType } from '../../src/core/schema-model.js'
import type { ResultColumn } from '../../src/core/statement.js'
import { otherTypes } from '../../src/engines/sqlserver/changed-types.js'

const columns = (...types: readonly LogicalType[]): readonly ResultColumn[] =>
  types.map((logical, i) => ({ name: `c${i}`, type: { logical, native: '', equality: true, ordered: true } }))

test('every text that a statement makes of a number is taken for one', () => {
  for (const text of ['0', '-9223372036854775808', '1.7976931348623157e+308', '-2.2250738585072014e-308', '1', null]) {
    for (const logical of ['integer', 'bigint', 'float', 'boolean'] as const) {
      assert.equal(otherTypes([[text]], columns(logical)), undefined, `${logical} ${text}`)
    }
  }
  assert.equal(otherTypes([], columns('integer')), undefined)
})

test('a column that was a number and holds something else is a changed schema, wherever its first value is', () => {
  for (const text of ['', ' ', 'one', '0,"secret":1', '2024-01-01', 'Infinity']) {
    const rows = [
      ['x', null],
      ['x', text],
    ]
    assert.equal(otherTypes(rows, columns('text', 'float'))?.code, 'SCHEMA_CHANGED', text)
    assert.equal(otherTypes(rows, columns('text', 'text')), undefined)
  }
})
