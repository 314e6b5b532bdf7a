import assert from 'node:assert/strict'
import test from 'node:test'
import { deserialize, serialize } from 'node:v8'
import { SQLSERVER_PATTERN_CHARS_MAX } from '../../src/core/limits.js'
import type { SchemaModel } from '../../src/core/schema-model.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy } from '../../src/policy/policy-engine.js'
import { caller, compiled, refOf, SHOP, schemaOf, tableOf } from '../support/policy-schema.js'

const ALL = "roles: { a: { read: ['*'] } }"

function served(result: ReturnType<typeof compiled>, roles: readonly string[] = ['a']): readonly string[] {
  return result.engine.rights(caller(roles)).tables.map((table) => table.toolBase)
}

function kinds(result: ReturnType<typeof compiled>): readonly string[] {
  return result.findings.map((finding) => finding.kind)
}

test('a granted table that the database does not have is an error with a suggestion, and its grants are void', () => {
  const result = compiled(`version: 1\ntables: { public.custmers: , public.orders: }\n${ALL}`)
  assert.deepEqual(served(result), ['orders'])
  assert.deepEqual(
    result.findings.map(({ kind, severity, table }) => [kind, severity, table]),
    [['table_unknown', 'error', 'public.custmers']],
  )
  assert.match(result.findings[0]?.text ?? '', /Did you mean "public\.customers"\?/)
})

test('a vanished column of a mask, a columns list, a key, a filter or aggregate.columns withholds the table from everybody', () => {
  const rules = [
    'mask: [snn]',
    'columns: [id, snn]',
    'key: [snn]',
    'row_filter: [{ column: snn, op: is_null }]',
    'aggregate: { columns: [snn] }',
  ]
  for (const rule of rules) {
    const result = compiled(`version: 1\ntables: { public.customers: { ${rule} }, public.orders: }\n${ALL}`)
    assert.deepEqual(served(result), ['orders'], rule)
    const [finding] = result.findings
    assert.deepEqual([finding?.kind, finding?.severity, finding?.column], ['column_unknown', 'error', 'snn'])
    assert.match(finding?.text ?? '', /Did you mean "ssn"\?/)
  }
})

test('a vanished column of one role’s mask or filter withholds the table from other roles too', () => {
  for (const rule of [
    'mask: { public.customers: [snn] }',
    'row_filter: { public.customers: [{ column: snn, op: is_null }] }',
  ]) {
    const result = compiled(
      `version: 1\ntables: { public.customers: }\nroles: { a: { read: ['*'] }, b: { read: ['*'], ${rule} } }`,
    )
    assert.deepEqual(kinds(result), ['column_unknown'])
    assert.deepEqual(served(result), [])
  }
})

test('a literal that does not fit its column, or an operator that does not fit its type, withholds the table', () => {
  const cases = [
    ['{ column: id, op: eq, value: x }', 'literal_unusable'],
    ['{ column: id, op: in, values: [1, 1.5] }', 'literal_unusable'],
    ['{ column: name, op: eq, value: 5 }', 'literal_unusable'],
    ["{ column: name, op: ilike, value: 'a\\' }", 'literal_unusable'],
    ['{ column: id, op: ilike, value: "1" }', 'filter_unusable'],
  ] as const
  for (const [filter, kind] of cases) {
    const result = compiled(`version: 1\ntables: { public.customers: { row_filter: [${filter}] } }\n${ALL}`)
    assert.deepEqual(kinds(result), [kind], filter)
    assert.deepEqual(served(result), [])
  }
  const json = compiled(
    `version: 1\ntables: { public.orders: { row_filter: [{ column: extra, op: eq, value: "{}" }] } }\n${ALL}`,
  )
  assert.deepEqual(kinds(json), ['filter_unusable'])
})

test('a pattern that the engine takes no statement with withholds the table when the policy meets its catalog', () => {
  const sqlserver = { ...SHOP, engine: 'sqlserver' } as const
  const policy = (pattern: string) =>
    `version: 1\ntables: { public.customers: { row_filter: [{ column: name, op: ilike, value: '${pattern}' }] } }\n${ALL}`
  const longest = 'x'.repeat(SQLSERVER_PATTERN_CHARS_MAX)
  for (const tooLong of [`${longest}x`, `${longest.slice(1)}[`, `${longest.slice(1)}😀`]) {
    const result = compiled(policy(tooLong), sqlserver)
    assert.deepEqual(kinds(result), ['literal_unusable'])
    assert.match(result.findings[0]?.text ?? '', /"name".*at most 4000 characters/)
    assert.deepEqual(served(result), [])
    // The others have no such limit.
    assert.deepEqual(kinds(compiled(policy(tooLong))), [])
  }
  assert.deepEqual(served(compiled(policy(longest), sqlserver)), ['customers'])
  assert.deepEqual(served(compiled(policy(`${longest.slice(2)}\\[`), sqlserver)), ['customers'])
})

test('two tables with one tool base are both withheld', () => {
  const result = compiled(
    `version: 1\ntables: { public.customers: , public.orders: { tool_name: customers }, public.payroll: }\n${ALL}`,
  )
  assert.deepEqual(served(result), ['payroll'])
  assert.deepEqual(
    result.findings.map(({ kind, table }) => [kind, table]),
    [
      ['tool_name_clash', 'public.customers'],
      ['tool_name_clash', 'public.orders'],
    ],
  )
})

test('a name that stands for two tables, because names hold dots, is withheld', () => {
  const columns = { id: 'integer' } as const
  const schema = schemaOf(
    tableOf('a.b', 'c', { columns }),
    tableOf('a', 'b.c', { columns }),
    tableOf('a', 'd.e', { columns }),
  )
  const result = compiled(`version: 1\ntables: { a.b.c: , a.d.e: }\n${ALL}`, schema)
  assert.deepEqual(kinds(result), ['table_ambiguous'])
  assert.deepEqual(
    result.engine.rights(caller(['a'])).tables.map(({ table }) => table.ref.name),
    ['d.e'],
  )
})

test('tables whose schema and name join to the same text are told apart', () => {
  const columns = { id: 'integer' } as const
  const schema = schemaOf(tableOf('a', 'd.e', { columns }))
  const { engine } = compiled(`version: 1\ntables: { a.d.e: }\n${ALL}`, schema)
  assert.equal(engine.identityAllowed(caller(['a']), refOf('a', 'd.e'), 'search'), true)
  assert.equal(engine.identityAllowed(caller(['a']), refOf('a.d', 'e'), 'search'), false)
})

test('columns that share an agent-facing name withhold their table', () => {
  const [customers] = SHOP.tables
  assert.ok(customers !== undefined)
  const columns = customers.columns.map((column) => ({ ...column, agentName: 'same' }))
  const result = compiled(`version: 1\ntables: { public.customers: }\n${ALL}`, schemaOf({ ...customers, columns }))
  assert.equal(kinds(result).includes('column_name_clash'), true)
  assert.deepEqual(served(result), [])
})

test('with several configured schemas the tool base carries the schema, unless tool_name says otherwise', () => {
  const text = `version: 1\ntables: { public.customers: , public.orders: { tool_name: sales } }\n${ALL}`
  assert.deepEqual(served(compiled(text, SHOP, ['public', 'crm'])), ['public_customers', 'sales'])
  assert.deepEqual(served(compiled(text, SHOP, ['public'])), ['customers', 'sales'])
})

test('a role’s rule on a table it does not grant is a warning, and withholds nothing', () => {
  const result = compiled(
    "version: 1\ntables: { public.customers: , public.orders: }\nroles: { a: { read: [public.orders], mask: { public.customers: [ssn] } }, b: { read: ['*'] } }",
  )
  assert.deepEqual(
    result.findings.map(({ kind, severity }) => [kind, severity]),
    [['rule_without_grant', 'warning']],
  )
  assert.deepEqual(served(result, ['b']), ['customers', 'orders'])
})

test('a policy for quite another database is judged without comparing every name with every name', () => {
  const names = Array.from({ length: 2_000 }, (_, i) => i)
  const schema: SchemaModel = schemaOf(
    ...names.map((i) => tableOf('public', `actual_table_${i}`, { columns: { id: 'integer' } })),
  )
  const tables = names.map((i) => `"other.wanted_table_${i}":{}`).join(',')
  const result = compiled(`{"version":1,"tables":{${tables}}}`, schema)
  assert.equal(result.findings.length, 2_000)
})

test('names that JavaScript gives a meaning to work as tables, columns and roles, also after a trip between threads', () => {
  const schema = schemaOf(
    tableOf('__proto__', 'constructor', {
      columns: { id: 'integer', ['__proto__']: 'text', toString: 'text' as const, hasOwnProperty: 'text' as const },
      key: ['id'],
    }),
  )
  const parsed = parsePolicy(
    `{"version":1,"tables":{"__proto__.constructor":{"mask":["toString"]}},"roles":{"__proto__":{"read":["*"],"mask":{"__proto__.constructor":["hasOwnProperty"]}},"constructor":{"read":["*"]}},"identities":{"__proto__":{"row_cap":3}}}`,
  )
  assert.ok(parsed.ok)
  for (const document of [parsed.value, structuredClone(parsed.value), deserialize(serialize(parsed.value))]) {
    const { engine, findings } = compilePolicy(document, schema, { schemas: ['__proto__'] })
    assert.deepEqual(findings, [])
    const rights = engine.rights(caller(['__proto__']))
    assert.deepEqual(
      rights.tables.map((table) => [...table.columns.search.values()].map((column) => column.name)),
      [
        schema.tables[0]?.columns
          .map((column) => column.name)
          .filter((name) => !['toString', 'hasOwnProperty'].includes(name)),
      ],
    )
    assert.equal(engine.rights(caller(['toString', 'valueOf'])).tables.length, 0)
    assert.equal(engine.rowCap(caller(['constructor'], {}, '__proto__'), refOf('__proto__', 'constructor')), 3)
    assert.equal(engine.identityReadOnly(caller([], {}, 'constructor')), false)
  }
})
