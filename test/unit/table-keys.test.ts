import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Table } from '../../src/core/schema-model.js'
import { insertKey } from '../../src/core/table-keys.js'
import { TYPES, tableOf } from '../support/schema.js'

const names = (table: Table) => insertKey(table)?.map((column) => column.name)

test('a new row is read back by the primary key, else by the first unique key without NULLs', () => {
  const columns = { a: TYPES.integer, b: TYPES.text, 'c?': TYPES.text }
  assert.deepEqual(names(tableOf('t', { columns, primaryKey: ['b', 'a'], uniqueKeys: [['a']] })), ['b', 'a'])
  assert.deepEqual(names(tableOf('t', { columns, uniqueKeys: [['c'], ['a', 'c'], ['b'], ['a']] })), ['b'])
  assert.equal(names(tableOf('t', { columns, uniqueKeys: [['c'], ['a', 'c']] })), undefined)
  assert.equal(names(tableOf('t', { columns })), undefined)
})
