import type { MutationPlan, Scope, ValidatedMutation } from '../../src/core/plan.js'
import type { Table } from '../../src/core/schema-model.js'
import { filter, type MutationParts, validatedMutation } from '../support/plans.js'
import type { GoldenCatalog } from './catalogs.js'
import { oneLevel, threeLevels } from './parent-scopes.js'

/** Every shape of a mutation by name, on one engine's catalog. */

const TENANT = '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'
const SCOPE: Scope = {
  all: [filter('tenant_id', 'eq', TENANT)],
  any: [[filter('name', 'eq', 'a')], [filter('ssn', 'is_null')]],
}
const NOW = { kind: 'now' } as const

/** The cases of one engine. */
export function mutationCases(catalog: GoldenCatalog): ReadonlyMap<string, ValidatedMutation> {
  return new Map([...shapes(catalog), ...parents(catalog), ...eachType(catalog)])
}

function shapes({ customers, flagged, orderLines }: GoldenCatalog): ReadonlyMap<string, ValidatedMutation> {
  const cases = new Map<string, ValidatedMutation>()
  const ofCustomers = (name: string, kind: MutationPlan['kind'], parts: MutationParts) =>
    cases.set(name, validatedMutation(customers, kind, { returning: ['id', 'name', 'bio'], ...parts }))

  ofCustomers('create with values of every source', 'create', {
    values: { email: 'a@b.c', name: 'A', bio: null, created_at: NOW, tenant_id: TENANT },
  })
  ofCustomers('create of defaults alone', 'create', { returning: ['id'] })
  ofCustomers('create that returns nothing', 'create', { values: { name: 'A' }, returning: [] })
  ofCustomers('create in a scope', 'create', { values: { name: 'A' }, scope: SCOPE })
  ofCustomers('create in a scope that offers no group', 'create', {
    values: { name: 'A' },
    scope: { all: [], any: [] },
  })

  cases.set(
    'create in a table that does not return what is inserted',
    validatedMutation({ ...customers, insertReadBack: 'by_key' }, 'create', {
      values: { id: '7', name: 'A' },
      scope: SCOPE,
      returning: ['id', 'bio'],
    }),
  )

  ofCustomers('update in no scope', 'update', { key: { id: '1' }, values: { name: 'A', bio: null } })
  ofCustomers('update in a scope', 'update', { key: { id: '1' }, values: { name: 'A' }, scope: SCOPE })
  ofCustomers('update of a column that the caller may not read', 'update', { key: { id: '1' }, values: { ssn: '1' } })
  ofCustomers('update whose written scope is another', 'update', {
    returning: ['id', 'balance'],
    key: { id: '1' },
    values: { balance: '1.5000' },
    scope: { all: [...SCOPE.all, filter('created_at', 'is_null')] },
    writtenScope: { all: SCOPE.all },
  })
  ofCustomers('update with expectations', 'update', {
    key: { id: '1' },
    values: { name: 'A' },
    expected: { name: 'B', email: 'x@y.z', bio: null, balance: '2' },
  })
  ofCustomers('update that stamps the time', 'update', { key: { id: '1' }, values: { name: 'A', created_at: NOW } })
  ofCustomers('update of the key', 'update', { key: { id: '1' }, values: { id: '2' } })
  ofCustomers('update of a unique column', 'update', {
    key: { id: '1' },
    values: { email: 'x@y.z' },
    returning: ['email'],
  })
  ofCustomers('update by a key that the policy alone warrants', 'update', {
    key: { name: 'A' },
    values: { bio: 'x' },
    limits: { maxAffectedRows: 5 },
  })
  ofCustomers('dry run of an update', 'update', { key: { id: '1' }, values: { name: 'A' }, dryRun: true })
  ofCustomers('soft delete with a time', 'soft_delete', {
    key: { id: '1' },
    values: { created_at: NOW },
    scope: { all: [...SCOPE.all, filter('created_at', 'is_null')] },
    writtenScope: { all: SCOPE.all },
  })
  cases.set(
    'soft delete with a flag',
    validatedMutation(flagged, 'soft_delete', {
      key: { id: '1' },
      values: { deleted: 'true' },
      scope: { all: [filter('deleted', 'eq', 'false')] },
      writtenScope: { all: [] },
    }),
  )
  cases.set(
    'update by a composite key',
    validatedMutation(orderLines, 'update', { key: { order_id: '9', line: '2' }, values: { note: 'n' } }),
  )

  return cases
}

/** In tables that do not return what is written, as they are where no subquery can be part of that. */
function parents(catalog: GoldenCatalog): ReadonlyMap<string, ValidatedMutation> {
  const orderLines: Table = { ...catalog.orderLines, insertReadBack: 'by_key', updateReadBack: 'by_key' }
  const cases = new Map<string, ValidatedMutation>()
  for (const [name, scope] of [
    ['a parent', oneLevel(catalog)],
    ['parents of parents', threeLevels(catalog)],
  ] as const) {
    const values = { order_id: '9', line: '2', quantity: '4' }
    cases.set(
      `create with ${name}`,
      validatedMutation(orderLines, 'create', { values, scope, returning: ['order_id', 'note'] }),
    )
    cases.set(
      `update with ${name}`,
      validatedMutation(orderLines, 'update', {
        key: { order_id: '9', line: '2' },
        values: { quantity: '4' },
        expected: { note: 'n' },
        scope,
        returning: ['line'],
      }),
    )
  }
  return cases
}

function eachType({ samples, types, written }: GoldenCatalog): ReadonlyMap<string, ValidatedMutation> {
  const cases = new Map<string, ValidatedMutation>()
  for (const key of types) {
    const column = `c_${key}`
    const value = written(key)
    const parts = { key: { id: '1' }, values: { [column]: value }, expected: { [column]: value }, returning: [column] }
    cases.set(`update of ${key}`, validatedMutation(samples, 'update', { ...parts, limits: { cellCharsMax: 16 } }))
  }
  return cases
}
