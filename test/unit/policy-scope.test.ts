import assert from 'node:assert/strict'
import test from 'node:test'
import type { ClaimValue } from '../../src/core/identity.js'
import { IN_VALUES_MAX } from '../../src/core/limits.js'
import { CUSTOMERS, caller, engineOf, PAYROLL } from '../support/policy-schema.js'

const filters = (...list: string[]) => `[${list.join(', ')}]`
const TENANT = '{ column: tenant_id, op: eq, value: { claim: tenant } }'
const REGIONS = '{ column: country, op: in, values: { claim: regions } }'
const GERMAN = '{ column: country, op: eq, value: de }'

function engine(table: string, roles: string) {
  return engineOf(`version: 1\ntables: { public.customers: { ${table} } }\nroles: { ${roles} }`)
}

const roleWith = (name: string, ...list: string[]) =>
  `${name}: { read: ['*'], row_filter: { public.customers: ${filters(...list)} } }`

function scopeOf(policy: ReturnType<typeof engine>, roles: readonly string[], claims: Record<string, ClaimValue> = {}) {
  return policy.scope(caller(roles, claims), CUSTOMERS, 'search')
}

test('without row filters every row is in scope', () => {
  const scope = scopeOf(engine('', "a: { read: ['*'] }"), ['a'])
  assert.deepEqual(scope, { ok: true, value: { all: [] } })
})

test('the table’s filters hold for everybody, whatever their roles', () => {
  const policy = engine(
    `row_filter: ${filters(GERMAN)}`,
    `a: { read: ['*'] }, ${roleWith('b', '{ column: id, op: gt, value: 3 }')}`,
  )
  const all = [{ column: 'country', op: 'eq', value: 'de' }]
  assert.deepEqual(scopeOf(policy, ['a', 'b']), { ok: true, value: { all } })
  const any = [[{ column: 'id', op: 'gt', value: '3' }]]
  assert.deepEqual(scopeOf(policy, ['b']), { ok: true, value: { all, any } })
})

test('any of the granting roles’ filters suffices, and a granting role without one means all rows', () => {
  const policy = engine(
    '',
    `${roleWith('a', GERMAN)}, ${roleWith('b', '{ column: id, op: is_null }')}, open: { read: ['*'] }`,
  )
  const scope = scopeOf(policy, ['a', 'b'])
  const any = [[{ column: 'country', op: 'eq', value: 'de' }], [{ column: 'id', op: 'is_null' }]]
  assert.deepEqual(scope, { ok: true, value: { all: [], any } })
  assert.deepEqual(scopeOf(policy, ['a', 'b', 'open']), { ok: true, value: { all: [] } })
})

test('scope is computed per operation, from the roles that grant that operation', () => {
  const policy = engine('', `${roleWith('own', GERMAN)}, counter: { aggregate: ['*'] }`)
  const identity = caller(['own', 'counter'])
  assert.deepEqual(policy.scope(identity, CUSTOMERS, 'aggregate'), { ok: true, value: { all: [] } })
  const any = [[{ column: 'country', op: 'eq', value: 'de' }]]
  assert.deepEqual(policy.scope(identity, CUSTOMERS, 'search'), { ok: true, value: { all: [], any } })
  assert.deepEqual(policy.scope(identity, CUSTOMERS, 'get'), { ok: true, value: { all: [], any } })
})

test('a claim becomes a value of its column’s type', () => {
  const policy = engine(`row_filter: ${filters(TENANT)}`, "a: { read: ['*'] }")
  for (const tenant of [42, '42']) {
    const all = [{ column: 'tenant_id', op: 'eq', value: '42' }]
    assert.deepEqual(scopeOf(policy, ['a'], { tenant }), { ok: true, value: { all } })
  }
})

test('a missing claim, a misfit and a list with another operator than in fail closed, with the reason for the operator alone', () => {
  const policy = engine(`row_filter: ${filters(TENANT)}`, "a: { read: ['*'] }")
  const cases: readonly (readonly [Record<string, ClaimValue>, RegExp])[] = [
    [{}, /"tenant" is missing/],
    [{ tenant: 'x' }, /"tenant" does not fit/],
    [{ tenant: 1.5 }, /"tenant" does not fit/],
    [{ tenant: [1] }, /"tenant" is a list/],
    [{ tenant: '' }, /"tenant" does not fit/],
  ]
  for (const [claims, reason] of cases) {
    const scope = scopeOf(policy, ['a'], claims)
    assert.ok(!scope.ok)
    assert.deepEqual(Object.keys(scope.error), ['code', 'reason'])
    assert.equal(scope.error.code, 'POLICY_SCOPE')
    assert.match(scope.error.reason ?? '', reason)
  }
})

test('a claim of Object.prototype is missing like any other', () => {
  const policy = engine('row_filter: [ { column: name, op: eq, value: { claim: constructor } } ]', "a: { read: ['*'] }")
  assert.equal(scopeOf(policy, ['a']).ok, false)
})

test('in takes a list claim, and a single value as a list of one', () => {
  const policy = engine(`row_filter: ${filters(REGIONS)}`, "a: { read: ['*'] }")
  const of = (regions: ClaimValue) => scopeOf(policy, ['a'], { regions })
  assert.deepEqual(of(['de', 'at']), {
    ok: true,
    value: { all: [{ column: 'country', op: 'in', values: ['de', 'at'] }] },
  })
  assert.deepEqual(of('de'), { ok: true, value: { all: [{ column: 'country', op: 'in', values: ['de'] }] } })
  assert.deepEqual(of([]), { ok: true, value: { all: [{ column: 'country', op: 'in', values: [] }] } })
  assert.equal(of(['de', 5]).ok, false)
  assert.equal(of(Array.from({ length: IN_VALUES_MAX + 1 }, () => 'x')).ok, false)
})

test('a claim that is missing drops its role’s rows and leaves the other roles’', () => {
  const policy = engine('', `${roleWith('a', TENANT, GERMAN)}, ${roleWith('b', GERMAN)}, open: { read: ['*'] }`)
  const any = [[{ column: 'country', op: 'eq', value: 'de' }]]
  assert.deepEqual(scopeOf(policy, ['a', 'b']), { ok: true, value: { all: [], any } })
  const alone = scopeOf(policy, ['a'])
  assert.ok(!alone.ok && alone.error.code === 'POLICY_SCOPE')
  assert.deepEqual(scopeOf(policy, ['a', 'open']), { ok: true, value: { all: [] } })
})

test('a role’s filter on a masked column still holds', () => {
  const policy = engine('mask: [tenant_id]', roleWith('a', TENANT))
  const any = [[{ column: 'tenant_id', op: 'eq', value: '1' }]]
  assert.deepEqual(scopeOf(policy, ['a'], { tenant: 1 }), { ok: true, value: { all: [], any } })
})

test('the scope of a table that is not the caller’s is no more than an unknown tool', () => {
  const policy = engine('', "a: { read: ['*'] }, counter: { aggregate: ['*'] }")
  assert.deepEqual(policy.scope(caller([]), CUSTOMERS, 'search'), { ok: false, error: { code: 'TOOL_UNKNOWN' } })
  assert.deepEqual(policy.scope(caller(['a']), PAYROLL, 'search'), { ok: false, error: { code: 'TOOL_UNKNOWN' } })
  assert.deepEqual(policy.scope(caller(['counter']), CUSTOMERS, 'get'), { ok: false, error: { code: 'TOOL_UNKNOWN' } })
})
