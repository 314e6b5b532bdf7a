import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogName, type SchemaModel, type Table, type TableRead } from '../../src/core/schema-model.js'
import { compiled, refOf, routineOf, schemaOf, tableOf, withRoutines } from '../support/policy-schema.js'

/** A view or routine reads a column that a policy hides: told when the policy is applied, and never a reason to refuse it. */

const CUSTOMERS = tableOf('public', 'customers', {
  columns: { id: 'integer', email: 'text', ssn: 'text' },
  key: ['id'],
})

function reading(table: Table, columns: TableRead['columns'] | readonly string[]): Table {
  const read = columns === 'all' ? columns : columns.map(catalogName)
  return { ...table, reads: [{ table: refOf('public', 'customers'), columns: read }] }
}

const view = (columns: Readonly<Record<string, 'text' | 'integer'>>) =>
  tableOf('public', 'contacts', { kind: 'view', columns })
const CATALOG = schemaOf(CUSTOMERS, reading(view({ id: 'integer', tax: 'text' }), ['id', 'ssn']))

function warnings(text: string, schema: SchemaModel = CATALOG): readonly string[] {
  const { findings } = compiled(text, schema)
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error'),
    [],
  )
  return findings.filter(({ kind }) => kind === 'reads_hidden_column').map((finding) => finding.text)
}

const policyOf = (customers: string, roles = "{ r: { read: ['*'] } }") =>
  `{ version: 1, tables: { public.customers: ${customers}, public.contacts: {} }, roles: ${roles} }`

test('a view that reads a masked column is warned of, and one that reads others is not', () => {
  const [text, ...more] = warnings(policyOf('{ mask: [ssn] }'))
  assert.deepEqual(more, [])
  assert.match(text ?? '', /^"public\.contacts" reads "ssn" of "public\.customers", which the policy hides; /)
  assert.deepEqual(warnings(policyOf('{ mask: [email] }')), [])
  assert.equal(warnings(policyOf('{ columns: [id, email] }')).length, 1)
})

test('a mask of a role is warned of where the role reads the view', () => {
  const masking = 'mask: { public.customers: [ssn] }'
  const [text] = warnings(policyOf('{}', `{ r: { read: ['*'], ${masking} } }`))
  assert.match(text ?? '', /which the policy hides from role "r"/)
  assert.deepEqual(warnings(policyOf('{}', `{ r: { read: [public.customers], ${masking} } }`)), [])
  assert.deepEqual(warnings(policyOf('{}', `{ r: { read: ['*'], deny: [public.contacts], ${masking} } }`)), [])
})

test('whoever hides the column of the same name in the view as well is not warned', () => {
  const schema = schemaOf(CUSTOMERS, reading(view({ id: 'integer', ssn: 'text' }), ['ssn']))
  const shown = (contacts: string) =>
    `{ version: 1, tables: { public.customers: { mask: [ssn] }, public.contacts: ${contacts} }, roles: { r: { read: ['*'] } } }`
  assert.equal(warnings(shown('{}'), schema).length, 1)
  assert.deepEqual(warnings(shown('{ mask: [ssn] }'), schema), [])
})

test('where the catalog tells no columns apart every hidden one counts, and where it tells nothing none does', () => {
  const schema = schemaOf(CUSTOMERS, reading(view({ id: 'integer' }), 'all'))
  assert.match(warnings(policyOf('{ mask: [ssn] }'), schema)[0] ?? '', /takes whole rows of .*of which "ssn" is hidden/)
  assert.deepEqual(warnings(policyOf('{ mask: [ssn] }'), schemaOf(CUSTOMERS, view({ id: 'integer' }))), [])
})

test('a procedure that reads a masked column is warned of by the name that the policy gives it', () => {
  const routine = {
    ...routineOf('public', 'report', { fields: { n: 'integer' } }),
    reads: [{ table: refOf('public', 'customers'), columns: [catalogName('ssn')] }],
  }
  const text = `{ version: 1, tables: { public.customers: { mask: [ssn] } }, procedures: { report: { effect: read } }, roles: { r: { call: ['*'] } } }`
  const { findings } = compiled(text, withRoutines(schemaOf(CUSTOMERS), routine))
  assert.deepEqual(
    findings.map(({ kind, severity, section, table, withholds }) => [kind, severity, section, table, withholds]),
    [['reads_hidden_column', 'warning', 'procedures', 'public.report', false]],
  )
})

test('a procedure whose body is not read, or that runs text of its own making, is warned of where the policy hides anything', () => {
  const { reads, ...unread } = routineOf('public', 'report', { fields: { n: 'integer' } })
  const told = (routine: typeof unread & Pick<Table, 'readsUnsure' | 'reads'>, customers: string) => {
    const text = `{ version: 1, tables: { public.customers: ${customers} }, procedures: { report: { effect: read } }, roles: { r: { call: ['*'] } } }`
    const { findings } = compiled(text, withRoutines(schemaOf(CUSTOMERS), routine))
    return findings.map(({ kind, severity, withholds, text: said }) => [kind, severity, withholds, said])
  }
  const sentence = (why: string) =>
    `"public.report" may read what the policy hides: ${why}; see that it does not give it away.`
  assert.deepEqual(told(unread, '{ mask: [ssn] }'), [
    ['reads_unknown', 'warning', false, sentence('its body is not read')],
  ])
  assert.deepEqual(told({ ...unread, reads: [], readsUnsure: true }, '{ mask: [ssn] }'), [
    ['reads_unknown', 'warning', false, sentence('it runs text that it puts together, or calls what is not read')],
  ])
  assert.deepEqual(told({ ...unread, reads: [] }, '{ mask: [ssn] }'), [])
  assert.deepEqual(told(unread, '{}'), [])
})

test('a view that calls what runs text of its own making is warned of', () => {
  const unsure: Table = { ...reading(view({ id: 'integer' }), ['id']), readsUnsure: true }
  const { findings } = compiled(policyOf('{ mask: [ssn] }'), schemaOf(CUSTOMERS, unsure))
  assert.deepEqual(
    findings.map(({ kind, severity, table }) => [kind, severity, table]),
    [['reads_unknown', 'warning', 'public.contacts']],
  )
})
