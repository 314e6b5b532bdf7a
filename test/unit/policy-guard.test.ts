import assert from 'node:assert/strict'
import test from 'node:test'
import type { MutationPlan, SearchPlan } from '../../src/core/plan.js'
import { catalogName } from '../../src/core/schema-model.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy, type PolicyEngine } from '../../src/policy/policy-engine.js'
import { caller, schemaOf, tableOf } from '../support/policy-schema.js'

const PEOPLE = tableOf('public', 'people', { columns: { id: 'integer', name: 'text', ssn: 'text' }, key: ['id'] })

function engineOver(rules: string, roles: string, table = PEOPLE): PolicyEngine {
  const document = parsePolicy(`version: 1\ntables: { public.people: { ${rules} } }\nroles: { ${roles} }`)
  assert.ok(document.ok)
  return compilePolicy(document.value, schemaOf(table), { schemas: ['public'] }).engine
}

function guardOf(engine: PolicyEngine, roles: readonly string[] = ['a']): string | undefined {
  const plan: SearchPlan = {
    kind: 'search',
    table: PEOPLE.ref,
    columns: [catalogName('id')],
    filters: [],
    order: [],
    limit: 1,
  }
  const validated = engine.validate(plan, caller(roles))
  assert.ok(validated.ok)
  return validated.value.guard
}

const ALL = "a: { read: ['*'] }"

test('where everything is the caller’s, only the table has to be the same', () => {
  assert.equal(guardOf(engineOver('', ALL)), 'table')
})

test('where a column is hidden, by the table or by a role, the columns have to be', () => {
  assert.equal(guardOf(engineOver('mask: [ssn]', ALL)), 'columns')
  assert.equal(guardOf(engineOver('columns: [id, name]', ALL)), 'columns')
  assert.equal(guardOf(engineOver('', "a: { read: ['*'], mask: { public.people: [ssn] } }")), 'columns')
})

test('where rows are, by the table or by every role, the columns have to be', () => {
  const filter = '[ { column: id, op: gt, value: 3 } ]'
  assert.equal(guardOf(engineOver(`row_filter: ${filter}`, ALL)), 'columns')
  const filtered = `b: { read: ['*'], row_filter: { public.people: ${filter} } }`
  assert.equal(guardOf(engineOver('', filtered), ['b']), 'columns')
  assert.equal(guardOf(engineOver('', `${ALL}, ${filtered}`), ['a', 'b']), 'table')
})

test('where the database hides columns by their names, the columns have to be', () => {
  assert.equal(guardOf(engineOver('', ALL, { ...PEOPLE, columnsWithheld: true })), 'columns')
})

test('whatever is written is written into the columns that were meant', () => {
  const engine = engineOver('update: { columns: [name] }', "a: { read: ['*'], update: [public.people] }")
  const plan: MutationPlan = {
    kind: 'update',
    table: PEOPLE.ref,
    key: [{ column: catalogName('id'), op: 'eq', value: '1' }],
    values: [{ column: catalogName('name'), value: 'x' }],
    expected: [],
    dryRun: false,
  }
  const validated = engine.validateMutation(plan, caller(['a']))
  assert.ok(validated.ok)
  assert.equal(validated.value.guard, 'columns')
})
