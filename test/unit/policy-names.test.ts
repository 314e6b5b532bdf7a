import assert from 'node:assert/strict'
import test from 'node:test'
import { knownObjects } from '../../src/core/known-objects.js'
import type { SchemaModel } from '../../src/core/schema-model.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { schemasOf, spelledName, withQualifiedNames } from '../../src/policy/qualified-names.js'
import { caller, compiled, refOf, routineOf, schemaOf, tableOf, withRoutines } from '../support/policy-schema.js'

/** The same tables in a schema of any name, as the databases of several tenants hold them. */
function shopIn(schema: string): SchemaModel {
  return withRoutines(
    schemaOf(
      tableOf(schema, 'customers', {
        columns: { id: 'integer', name: 'text', ssn: 'text', tenant: 'integer' },
        key: ['id'],
      }),
      tableOf(schema, 'orders', { columns: { id: 'integer', customer: 'integer' }, key: ['id'] }),
    ),
    routineOf(schema, 'pay', { parameters: [['order_id', 'integer']] }),
    routineOf(schema, 'pay', { parameters: [['price', 'decimal']] }),
  )
}

const POLICY = `version: 1
tables:
  customers: { mask: [ssn] }
  orders: { relations: { buyer: { columns: [customer], references: customers } } }
procedures: { 'pay(integer)': { effect: write } }
roles:
  reader: { read: [customers, orders], mask: { customers: [name] }, row_filter: { customers: [{ column: tenant, op: eq, value: 1 }] } }
  payer: { call: ['pay(integer)'] }
  denied: { read: ['*'], deny: [customers] }`

test('a schema that the catalog spells another way is meant by names without it all the same', () => {
  const { engine, findings } = compiled(POLICY, shopIn('shop'), ['SHOP'])
  assert.deepEqual(findings, [])
  assert.deepEqual(
    engine.rights(caller(['reader'])).tables.map(({ table }) => table.ref),
    [refOf('shop', 'customers'), refOf('shop', 'orders')],
  )
  assert.deepEqual(schemasOf(['SHOP'], shopIn('shop')), ['shop'])
  assert.deepEqual(schemasOf(['shop'], shopIn('shop_eu')), ['shop'])
  assert.deepEqual(schemasOf(['SHOP', 'other'], shopIn('shop')), ['SHOP', 'other'])
  assert.deepEqual(schemasOf(['SHOP'], schemaOf()), ['SHOP'])
})

test('where a connector has one schema, names may leave it out, and mean the tables of whichever it is', () => {
  for (const schema of ['shop_eu', 'shop_us']) {
    const { engine, findings } = compiled(POLICY, shopIn(schema), [schema])
    assert.deepEqual(findings, [])
    const reader = engine.rights(caller(['reader']))
    assert.deepEqual(
      reader.tables.map(({ table, toolBase }) => [table.ref, toolBase]),
      [
        [refOf(schema, 'customers'), 'customers'],
        [refOf(schema, 'orders'), 'orders'],
      ],
    )
    assert.deepEqual([...(reader.byToolBase.get('customers')?.columns.get.keys() ?? [])], ['id', 'tenant'])
    assert.equal(reader.byToolBase.get('orders')?.relations[0]?.references, 'customers')
    const scope = engine.scope(caller(['reader']), refOf(schema, 'customers'), 'search')
    assert.deepEqual(scope, { ok: true, value: { all: [], any: [[{ column: 'tenant', op: 'eq', value: '1' }]] } })
    assert.deepEqual(
      engine.rights(caller(['payer'])).procedures.map(({ tool, parameters }) => [tool, parameters[0]?.agentName]),
      [['pay', 'order_id']],
    )
    assert.deepEqual(
      engine.rights(caller(['denied'])).tables.map(({ toolBase }) => toolBase),
      ['orders'],
    )
  }
})

test('whole names keep meaning what they say, beside those without a schema', () => {
  const text = "version: 1\ntables: { crm.customers: , orders: }\nroles: { a: { read: ['*'] } }"
  const { engine, findings } = compiled(text, shopIn('crm'), ['crm'])
  assert.deepEqual(findings, [])
  assert.deepEqual([...engine.rights(caller(['a'])).byToolBase.keys()], ['customers', 'orders'])
})

test('a table or procedure that stands in the policy both ways is an error, and withheld', () => {
  const text = `version: 1
tables: { customers: { mask: [ssn] }, crm.customers: , orders: }
procedures: { 'pay(integer)': { effect: write }, 'crm.pay(integer)': { effect: read } }
roles: { a: { read: ['*'], call: ['*'] }, b: { read: [customers], mask: { crm.customers: [name] } } }`
  const { engine, findings } = compiled(text, shopIn('crm'), ['crm'])
  assert.deepEqual(
    findings.map(({ kind, severity, section, table, withholds }) => [kind, severity, section, table, withholds]),
    [
      ['table_named_twice', 'error', 'tables', 'crm.customers', true],
      ['procedure_named_twice', 'error', 'procedures', 'crm.pay(integer)', true],
    ],
  )
  assert.match(findings[0]?.text ?? '', /names "crm\.customers" twice, with its schema and without; it is withheld/)
  assert.deepEqual([...engine.rights(caller(['a', 'b'])).byToolBase.keys()], ['orders'])
  assert.deepEqual(engine.rights(caller(['a'])).procedures, [])
  // For another database these are two tables, of which it has one.
  const other = compiled(text, shopIn('shop'), ['shop'])
  assert.deepEqual(
    other.findings
      .filter(({ section, severity }) => section === 'tables' && severity === 'error')
      .map(({ kind, table }) => [kind, table]),
    [['table_unknown', 'crm.customers']],
  )
  assert.deepEqual([...other.engine.rights(caller(['a'])).byToolBase.keys()], ['customers', 'orders'])
})

test('a connector of several schemas takes no name without one', () => {
  const text =
    "version: 1\ntables: { customers: }\nprocedures: { pay: { effect: read } }\nroles: { a: { read: ['*'], call: ['*'] } }"
  const { engine, findings } = compiled(text, shopIn('crm'), ['crm', 'public'])
  assert.deepEqual(
    findings.map(({ kind, severity, table }) => [kind, severity, table]),
    [
      ['table_unknown', 'error', 'customers'],
      ['procedure_unknown', 'error', 'pay'],
    ],
  )
  for (const { text: sentence } of findings) assert.match(sentence, /without its schema, and the connector has several/)
  assert.deepEqual(engine.rights(caller(['a'])).tables, [])
})

test('findings and known objects have the whole name; the document is asked for the one it spells', () => {
  const parsed = parsePolicy("version: 1\ntables: { custmers: , orders: }\nroles: { a: { read: ['*'] } }")
  assert.ok(parsed.ok)
  const { findings } = compiled(JSON.stringify(parsed.value), shopIn('crm'), ['crm'])
  assert.deepEqual(
    findings.map(({ table }) => table),
    ['crm.custmers'],
  )
  assert.match(findings[0]?.text ?? '', /Did you mean "crm\.customers"\?/)
  const named = withQualifiedNames(parsed.value, ['crm'])
  assert.deepEqual(
    knownObjects(shopIn('crm'), Object.keys(named.tables)).map(({ name }) => name),
    ['crm.orders'],
  )
  assert.equal(spelledName(parsed.value.tables, 'crm.custmers', ['crm']), 'custmers')
  assert.equal(spelledName(named.tables, 'crm.custmers', ['crm']), 'crm.custmers')
  assert.equal(spelledName(parsed.value.tables, 'crm.nothing', ['crm']), undefined)
})

test('names of inherited properties are names like any other', () => {
  const schema = schemaOf(tableOf('crm', '__proto__', { columns: { id: 'integer' }, key: ['id'] }))
  const text = 'version: 1\ntables: { __proto__: , constructor: }\nroles: { a: { read: [__proto__] } }'
  const { engine, findings } = compiled(text, schema, ['crm'])
  assert.deepEqual(
    findings.map(({ table }) => table),
    ['crm.constructor'],
  )
  assert.deepEqual(engine.rights(caller(['a'])).tables.length, 1)
})

test('the types of a signature may have schemas of their own', () => {
  const schema = withRoutines(schemaOf(), routineOf('crm', 'f', { parameters: [['', 'status']] }))
  const [routine] = schema.routines
  const odd = { ...schema, routines: routine === undefined ? [] : [{ ...routine, signature: 'other.status' }] }
  const { findings, engine } = compiled(
    "version: 1\nprocedures: { 'f(other.status)': { effect: read } }\nroles: { a: { call: ['*'] } }",
    odd,
    ['crm'],
  )
  assert.deepEqual(findings, [])
  assert.equal(engine.rights(caller(['a'])).procedures.length, 1)
})
