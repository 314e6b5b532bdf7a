import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loginWarnings } from '../../src/connector/login-warnings.js'
import type { LoginFacts } from '../../src/core/schema-model.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { must } from '../support/gateway.js'

const READER: LoginFacts = { superuser: false, owns: [], writes: [], ownsCount: 0, writesCount: 0 }
const WRITER: LoginFacts = { ...READER, writes: ['public.orders'], writesCount: 1 }

const TABLES = `
version: 1
tables:
  public.orders: { update: { columns: [status] } }
  public.notes: { create: { columns: [text] } }
  public.plain:
procedures: { public.close_day: { effect: write }, public.report: { effect: read } }
`

function warningsFor(login: LoginFacts, roles: string): readonly string[] {
  return loginWarnings(login, 4, must(parsePolicy(`${TABLES}roles: ${roles}\n`)))
}

test('a login that can write is warned about where the policy only reads', () => {
  const reads = "{ reader: { read: ['*'] }, caller: { call: [public.report] } }"
  assert.match(warningsFor(WRITER, reads).join(), /can write 1 table.*public\.orders.*although the policy only reads/)
  assert.deepEqual(warningsFor(READER, reads), [])
})

test('a login that can write is what a policy that writes needs', () => {
  for (const roles of ['{ clerk: { update: [public.orders] } }', '{ clerk: { call: [public.close_day] } }']) {
    assert.deepEqual(warningsFor(WRITER, roles), [])
  }
  assert.deepEqual(warningsFor(READER, "{ clerk: { call: ['*'] } }"), [])
})

test('a policy that writes through a login that cannot is warned about, with the table', () => {
  assert.match(
    warningsFor(READER, '{ clerk: { update: [public.orders] } }').join(),
    /changes 1 table\(s\) that the database login cannot write, such as public\.orders/,
  )
  assert.match(warningsFor(WRITER, "{ clerk: { create: ['*'], update: ['*'] } }").join(), /such as public\.notes/)
})

test('where the list of writable tables is not whole, nothing is said to be missing in it', () => {
  const many = { ...WRITER, writesCount: 500 }
  assert.deepEqual(warningsFor(many, "{ clerk: { create: ['*'] } }"), [])
})

test('a policy that writes may open twice the connections, and the warning counts them', () => {
  const small = { ...WRITER, connectionsMax: 10 }
  assert.deepEqual(warningsFor({ ...small, writes: [], writesCount: 0 }, "{ reader: { read: ['*'] } }"), [])
  assert.match(warningsFor(small, '{ clerk: { update: [public.orders] } }').join(), /may open 8 connections .*takes 10/)
})
