import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DiffIdentity, diffPolicies } from '../../src/policy/diff.js'
import { changeText } from '../../src/policy/diff-text.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { routineOf, SHOP, withRoutines } from '../support/policy-schema.js'

const SCHEMA = withRoutines(SHOP, routineOf('public', 'report', { fields: { n: 'integer', total: 'integer' } }))

function documentOf(text: string) {
  const document = parsePolicy(text)
  assert.ok(document.ok, JSON.stringify(document))
  return document.value
}

function changes(before: string, after: string, identities: readonly DiffIdentity[] = []): readonly string[] {
  const side = (text: string) => ({ document: documentOf(text), schema: SCHEMA, options: { schemas: ['public'] } })
  return diffPolicies(side(before), side(after), identities).map(changeText)
}

const policy = (orders: string, role: string, more = '') =>
  `{ version: 1, tables: { public.orders: ${orders} }, roles: { a: ${role} }${more} }`
const READ = '{ read: [public.orders] }'
const filtered = (filter: string) => policy(`{ row_filter: [ ${filter} ] }`, READ)

test('the same rights in other words are no difference', () => {
  const short = "{ version: 1, tables: { orders: { mask: [total] } }, roles: { a: { read: ['*'] } } }"
  const long =
    '{ version: 1, tables: { public.orders: { columns: [id, customer_id, status, paid, extra] } }, roles: { a: { read: [public.orders], aggregate: [public.orders] } } }'
  assert.deepEqual(changes(short, long), [])
})

test('a column that is masked is lost for every operation at once', () => {
  assert.deepEqual(changes(policy('{}', READ), policy('{ mask: [total] }', READ)), [
    '- role "a": get, search, aggregate of "public.orders": fewer columns: total',
  ])
})

test('a filter tells whether there are more rows, fewer, or others', () => {
  const all = policy('{}', READ)
  const one = filtered('{ column: status, op: eq, value: new }')
  const two = filtered('{ column: status, op: in, values: [new, paid] }')
  const other = filtered('{ column: paid, op: eq, value: true }')
  const [fewer] = changes(all, one)
  assert.match(fewer ?? '', /^- .* fewer rows: rows where status = "new" \(before: all rows\)$/)
  assert.match(changes(one, two).join('\n'), /^\+ .* more rows: rows where status in \("new", "paid"\)/)
  assert.match(changes(one, all).join('\n'), /^\+ .* more rows: all rows/)
  assert.deepEqual(
    changes(one, other).map((line) => line.slice(0, 1)),
    ['-', '+'],
  )
  assert.deepEqual(changes(two, filtered('{ column: status, op: in, values: [paid, new] }')), [])
})

test('a limit that falls is lost, and a smallest group that grows too', () => {
  assert.deepEqual(
    changes(policy('{ row_cap: 10, page_size: 5 }', READ), policy('{ row_cap: 7, page_size: 5 }', READ)),
    ['- role "a": get, search, aggregate of "public.orders": row_cap 7 (before: 10)'],
  )
  const [line] = changes(
    policy('{}', '{ aggregate: [public.orders] }'),
    policy('{ min_group_size: 5 }', '{ aggregate: [public.orders] }'),
  )
  assert.match(line ?? '', /^- .*: min_group_size 5 \(before: 1\)$/)
})

test('of an identity that is told what its roles do not tell already', () => {
  const before = policy('{}', READ)
  const after = policy('{}', READ, ', identities: { ann: { row_cap: 3 } }')
  assert.deepEqual(changes(before, after, [{ name: 'bob', roles: ['a'] }]), [])
  const prefix = '- identity "ann": get, search, aggregate of "public.orders": '
  assert.deepEqual(changes(before, after, [{ name: 'ann', roles: ['a'] }]), [
    `${prefix}row_cap 3 (before: 200)`,
    `${prefix}page_size 3 (before: 50)`,
  ])
})

test('an identity that becomes read-only loses its changes, whatever its roles keep', () => {
  const writing = '{ read: [public.orders], update: [public.orders] }'
  const before = policy('{ update: { columns: [status] } }', writing)
  const after = policy('{ update: { columns: [status] } }', writing, ', identities: { ann: { read_only: true } }')
  const [line, ...more] = changes(before, after, [{ name: 'ann', roles: ['a'] }])
  assert.deepEqual(more, [])
  assert.match(
    line ?? '',
    /^- identity "ann": update of "public\.orders": no longer allowed, columns status, all rows$/,
  )
})

test('a role that goes takes with it what it granted', () => {
  const lines = changes(policy('{}', READ), '{ version: 1, tables: { public.orders: {} } }')
  assert.equal(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    /^- role "a": get, search, aggregate of "public\.orders": no longer allowed, columns id, /,
  )
})

test('a preset that comes takes its column from the caller; one that changes is lost and gained', () => {
  const writing = '{ read: [public.orders], update: [public.orders] }'
  const of = (preset: string) => policy(`{ update: { columns: [status]${preset} } }`, writing)
  const update = 'role "a": update of "public.orders": '
  assert.deepEqual(changes(of(''), of(', preset: { paid: true }')), [`- ${update}"paid" is always set to "true"`])
  assert.deepEqual(changes(of(', preset: { paid: true }'), of('')), [`+ ${update}"paid" is no longer set to "true"`])
  const replaced = changes(of(', preset: { paid: true }'), of(', preset: { paid: { claim: p } }'))
  assert.deepEqual(
    replaced,
    ['-', '+'].map((sign) => `${sign} ${update}"paid" is always set to claim "p" (before: "true")`),
  )
})

test('what a change gives back is told where reading does not tell it', () => {
  const before =
    "{ version: 1, tables: { public.orders: { update: { columns: [status] } } }, roles: { a: { update: ['*'] }, b: { read: ['*'] } } }"
  const identities = [{ name: 'ann', roles: ['a', 'b'] }]
  const after = before.replace(
    "b: { read: ['*'] }",
    "b: { read: ['*'], row_filter: { public.orders: [ { column: paid, op: eq, value: true } ] } }",
  )
  const lines = changes(before, after, identities)
  assert.ok(
    lines.some((line) => /^- identity "ann": update of .*: gives back fewer columns: customer_id, /.test(line)),
    lines.join('\n'),
  )
})

test('a procedure tells when it is declared to write, what its result shows, and under which name it is called', () => {
  const of = (procedure: string) =>
    `{ version: 1, procedures: { public.report: ${procedure} }, roles: { a: { call: ['*'] } } }`
  const call = 'role "a": call of "public.report()": '
  assert.deepEqual(changes(of('{ effect: read }'), of('{ effect: write, result_columns: [n], tool_name: sum }')), [
    `- ${call}fewer columns: total`,
    `+ ${call}may now write`,
    `- ${call}its tool is no longer named "report"`,
    `+ ${call}its tool is now named "sum"`,
  ])
  assert.deepEqual(changes(of('{ effect: read }'), '{ version: 1 }'), [`- ${call}no longer allowed, columns n, total`])
})

test('relations that a policy adds or takes away are told of where both sides are the caller’s, and those of the catalog are not', () => {
  const of = (relations: string, more = '') =>
    `{ version: 1, tables: { public.customers: {}, public.orders: { ${relations}${more} } }, roles: { a: { read: ['*'] }, b: { read: [public.orders] } } }`
  const declared = 'relations: { r: { columns: [total], references: public.customers } }'
  const words = 'role "a": "public.orders": the relation of total to id of public.customers is'
  assert.deepEqual(changes(of(''), of(declared)), [`+ ${words} now known`])
  assert.deepEqual(changes(of(declared), of('')), [`- ${words} no longer known`])
  assert.deepEqual(changes(of(declared), of(declared.replace('{ r:', '{ other:'))), [])
})

test('tools of another name, another key, fewer columns to aggregate and limits of every level are told of', () => {
  const orders = 'of "public.orders": '
  assert.deepEqual(changes(policy('{}', READ), policy('{ tool_name: sales }', READ)), [
    '- role "a": "public.orders": its tools are no longer named after "orders"',
    '+ role "a": "public.orders": its tools are now named after "sales"',
  ])
  assert.deepEqual(changes(policy('{}', READ), policy('{ key: [customer_id] }', READ)), [
    '- role "a": "public.orders": a row is no longer asked for by id',
    '+ role "a": "public.orders": a row is now asked for by customer_id',
  ])
  const counted = (columns: string) => policy(`{ aggregate: { columns: [${columns}] } }`, READ)
  assert.deepEqual(changes(counted('status, total'), counted('status')), [
    `- role "a": aggregate ${orders}fewer columns: total`,
  ])
  const timeout = 'query_timeout_ms: 900'
  const line = `- role "a": get, search, aggregate ${orders}query_timeout_ms 900 (before: 5000)`
  const read = policy('{}', READ)
  assert.deepEqual(changes(read, policy('{}', READ, `, defaults: { ${timeout} }`)), [line])
  assert.deepEqual(changes(read, policy(`{ ${timeout} }`, READ)), [line])
  assert.deepEqual(changes(read, policy('{}', `{ read: [public.orders], ${timeout} }`)), [line])
})

test('what a role denies is told of although it has nothing by itself', () => {
  const of = (role: string) => `{ version: 1, tables: { public.orders: {} }, roles: { a: ${READ}, d: ${role} } }`
  const subject = 'role "d": "public.orders": '
  assert.deepEqual(changes(of('{}'), of('{ deny: [public.orders] }')), [
    `- ${subject}denied, whatever other roles grant`,
  ])
  assert.deepEqual(changes(of("{ deny: ['*'] }"), of('{}')), [
    `+ ${subject}no longer denied, so that other roles may grant it`,
  ])
})
