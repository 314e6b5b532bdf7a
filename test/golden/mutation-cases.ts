import type { MutationPlan, Scope, ValidatedMutation } from '../../src/core/plan.js'
import { filter, type MutationParts, validatedMutation } from '../support/plans.js'
import { CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'

/** Every shape of a mutation by name. */

const TENANT = '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'
const SCOPE: Scope = {
  all: [filter('tenant_id', 'eq', TENANT)],
  any: [[filter('name', 'eq', 'a')], [filter('ssn', 'is_null')]],
}
const NOW = { kind: 'now' } as const

const cases = new Map<string, ValidatedMutation>()
const customers = (name: string, kind: MutationPlan['kind'], parts: MutationParts) =>
  cases.set(name, validatedMutation(CUSTOMERS, kind, { returning: ['id', 'name', 'bio'], ...parts }))

customers('create with values of every source', 'create', {
  values: { email: 'a@b.c', name: 'A', bio: null, created_at: NOW, tenant_id: TENANT },
})
customers('create of defaults alone', 'create', { returning: ['id'] })
customers('create that returns nothing', 'create', { values: { name: 'A' }, returning: [] })
customers('create in a scope', 'create', { values: { name: 'A' }, scope: SCOPE })
customers('create in a scope that offers no group', 'create', { values: { name: 'A' }, scope: { all: [], any: [] } })

customers('update in no scope', 'update', { key: { id: '1' }, values: { name: 'A', bio: null } })
customers('update in a scope', 'update', { key: { id: '1' }, values: { name: 'A' }, scope: SCOPE })
customers('update of a column that the caller may not read', 'update', { key: { id: '1' }, values: { ssn: '1' } })
customers('update whose written scope is another', 'update', {
  returning: ['id', 'balance'],
  key: { id: '1' },
  values: { balance: '1.5000' },
  scope: { all: [...SCOPE.all, filter('created_at', 'is_null')] },
  writtenScope: { all: SCOPE.all },
})
customers('update with expectations', 'update', {
  key: { id: '1' },
  values: { name: 'A' },
  expected: { name: 'B', email: 'x@y.z', bio: null, balance: '2' },
})
customers('update that stamps the time', 'update', { key: { id: '1' }, values: { name: 'A', created_at: NOW } })
customers('update of the key', 'update', { key: { id: '1' }, values: { id: '2' } })
customers('update of a unique column', 'update', {
  key: { id: '1' },
  values: { email: 'x@y.z' },
  returning: ['email'],
})
customers('update by a key that the policy alone warrants', 'update', {
  key: { name: 'A' },
  values: { bio: 'x' },
  limits: { maxAffectedRows: 5 },
})
customers('dry run of an update', 'update', { key: { id: '1' }, values: { name: 'A' }, dryRun: true })
customers('soft delete with a time', 'soft_delete', {
  key: { id: '1' },
  values: { created_at: NOW },
  scope: { all: [...SCOPE.all, filter('created_at', 'is_null')] },
  writtenScope: { all: SCOPE.all },
})
const FLAGGED = tableOf('flagged', { columns: { id: TYPES.integer, deleted: TYPES.boolean }, primaryKey: ['id'] })
cases.set(
  'soft delete with a flag',
  validatedMutation(FLAGGED, 'soft_delete', {
    key: { id: '1' },
    values: { deleted: 'true' },
    scope: { all: [filter('deleted', 'eq', 'false')] },
    writtenScope: { all: [] },
  }),
)
cases.set(
  'update by a composite key',
  validatedMutation(ORDER_LINES, 'update', { key: { order_id: '9', line: '2' }, values: { note: 'n' } }),
)

const SAMPLE_VALUES: Partial<Record<keyof typeof TYPES, string>> = {
  bytes: 'AAH/',
  boolean: 'true',
  json: '{"a":1}',
  jsonb: '{"a":1}',
  integers: '["1",null]',
  texts: '[["a\\"b"],["c"]]',
}
for (const key of Object.keys(TYPES) as (keyof typeof TYPES)[]) {
  const column = `c_${key}`
  const value = SAMPLE_VALUES[key] ?? '1'
  const parts = { key: { id: '1' }, values: { [column]: value }, expected: { [column]: value }, returning: [column] }
  cases.set(`update of ${key}`, validatedMutation(SAMPLES, 'update', { ...parts, limits: { cellCharsMax: 16 } }))
}

export const MUTATION_CASES: ReadonlyMap<string, ValidatedMutation> = cases
