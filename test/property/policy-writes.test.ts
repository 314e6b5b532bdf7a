import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { WRITE_OPERATIONS } from '../../src/core/access.js'
import type { Identity } from '../../src/core/identity.js'
import type { MutationPlan } from '../../src/core/plan.js'
import { catalogName } from '../../src/core/schema-model.js'
import type { PolicyEngine } from '../../src/policy/policy-engine.js'
import {
  type ModelCaller,
  type ModelCatalogTable,
  type ModelClaims,
  type ModelFilter,
  type ModelPolicy,
  type ModelRole,
  type ModelRow,
  type ModelSection,
  type ModelSoftDelete,
  type ModelTable,
  type ModelWrite,
  PolicyModel,
} from '../support/policy-model.js'
import { compiled, refOf, schemaOf, tableOf } from '../support/policy-schema.js'
import { keeps } from '../support/scope-rows.js'

/** One table is enough, and one that its rows hang on: what a table's roles come to depends on no other. */
const TABLE = 's.a'
const REF = refOf('s', 'a')
const PARENT = 's.p'
const CATALOG: Readonly<Record<typeof TABLE | typeof PARENT, ModelCatalogTable>> = {
  's.a': {
    columns: { id: 'integer', kind: 'text', owner: 'integer', mark: 'text' },
    key: ['id'],
    required: ['owner'],
    references: [{ columns: ['owner'], table: PARENT, referencedColumns: ['k'] }],
  },
  's.p': { columns: { k: 'integer', t: 'text' }, key: ['k'] },
}
const COLUMNS = Object.entries(CATALOG[TABLE].columns)
const NAMES = COLUMNS.map(([name]) => name)
const SCHEMA = schemaOf(
  tableOf('s', 'a', {
    columns: CATALOG[TABLE].columns,
    key: ['id'],
    notNull: ['owner'],
    foreignKeys: [{ columns: ['owner'], references: ['s', 'p'], referencedColumns: ['k'] }],
  }),
  tableOf('s', 'p', { columns: CATALOG[PARENT].columns, key: ['k'] }),
)

const NUMBERS = [0, 1, 2] as const
const TEXTS = ['p', 'q'] as const
const CLAIMS = ['c1', 'c2'] as const
const claim = fc.constantFrom(...CLAIMS).map((name) => ({ claim: name }))
const literalOf = (type: 'integer' | 'text'): fc.Arbitrary<string | number> =>
  type === 'text' ? fc.constantFrom(...TEXTS) : fc.constantFrom(...NUMBERS)

/** Leaves some keys out, never present without a value. */
function partly<T extends object>(record: fc.Arbitrary<Required<T>>, chance = 2): fc.Arbitrary<Partial<T>> {
  return fc.tuple(record, fc.infiniteStream(fc.nat({ max: chance - 1 }))).map(([whole, keep]) => {
    const kept = Object.entries(whole).filter(() => keep.next().value !== 0)
    // The members kept are those of T, each with its own type.
    return Object.fromEntries(kept) as Partial<T>
  })
}

/** Mostly absent, so that rules meet a grant that they can act on. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, arbitrary)

const someColumns = fc.subarray(NAMES, { minLength: 1 })
const filterAmong = (columns: readonly (readonly [string, 'integer' | 'text'])[]): fc.Arbitrary<ModelFilter> =>
  fc.constantFrom(...columns).chain(([column, type]) =>
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          column: fc.constant(column),
          op: fc.constantFrom('eq', 'neq', 'lt', 'gte'),
          value: fc.oneof({ weight: 2, arbitrary: literalOf(type) }, claim),
        }),
      },
      fc.record({ column: fc.constant(column), op: fc.constantFrom('is_null', 'not_null') }),
    ),
  )
const filters = fc.array(
  fc.oneof({ weight: 3, arbitrary: filterAmong(COLUMNS) }, fc.constant<ModelFilter>({ parent: ['owner'] })),
  { minLength: 1, maxLength: 2 },
)
const parentFilters = fc.array(filterAmong(Object.entries(CATALOG[PARENT].columns)), { minLength: 1, maxLength: 2 })

const preset = fc
  .uniqueArray(fc.constantFrom(...COLUMNS), { maxLength: 2, selector: ([name]) => name })
  .chain((columns) =>
    fc.record(
      Object.fromEntries(
        columns.map(([name, type]) => [name, fc.oneof({ weight: 2, arbitrary: literalOf(type) }, claim)]),
      ),
    ),
  )
const section: fc.Arbitrary<ModelSection> = fc.record({ columns: someColumns, preset })
const softDelete: fc.Arbitrary<ModelSoftDelete> = fc
  .tuple(fc.constantFrom(...COLUMNS), fc.option(fc.boolean(), { nil: undefined }))
  .chain(([[column, type], include]) =>
    literalOf(type).map((value) => ({
      column,
      value,
      ...(include === undefined ? {} : { reads_include_deleted: include }),
    })),
  )

const tablePolicy: fc.Arbitrary<ModelTable> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      someColumns.map((mask) => ({ mask })),
      someColumns.map((columns) => ({ columns })),
    ),
    partly<Pick<ModelTable, 'create' | 'update' | 'soft_delete'>>(
      fc.record({ create: section, update: section, soft_delete: softDelete }),
      6,
    ),
    partly<Pick<ModelTable, 'row_filter'>>(fc.record({ row_filter: filters })),
  )
  .map(([hidden, writes, rows]) => ({ ...hidden, ...writes, ...rows }))

const grant = fc.constantFrom<readonly string[]>(['*'], [TABLE])
const role: fc.Arbitrary<ModelRole> = fc
  .tuple(
    partly<Pick<ModelRole, 'read' | 'aggregate' | 'create' | 'update' | 'soft_delete'>>(
      fc.record({ read: grant, aggregate: grant, create: grant, update: grant, soft_delete: grant }),
      3,
    ),
    seldom(fc.constant([TABLE]), 12),
    seldom(someColumns, 2),
    seldom(filters, 1),
    seldom(parentFilters, 1),
  )
  .map(([grants, deny, mask, row_filter, ofParents]) => ({
    ...grants,
    ...(deny === undefined ? {} : { deny }),
    ...(mask === undefined ? {} : { mask: { [TABLE]: mask } }),
    row_filter: {
      ...(row_filter === undefined ? {} : { [TABLE]: row_filter }),
      ...(ofParents === undefined ? {} : { [PARENT]: ofParents }),
    },
  }))

const policyArbitrary: fc.Arbitrary<ModelPolicy> = fc.record({
  version: fc.constant(1 as const),
  tables: fc.record({
    's.a': tablePolicy,
    's.p': partly<Pick<ModelTable, 'row_filter' | 'soft_delete'>>(
      fc.record({ row_filter: parentFilters, soft_delete: fc.constant({ column: 't', value: 'p' }) }),
      3,
    ),
  }),
  roles: fc.record({ r1: role, r2: role, r3: role }),
  identities: fc.constantFrom<NonNullable<ModelPolicy['identities']>>({}, { robot: { read_only: true } }),
})

const claimValue = fc.oneof(fc.constantFrom(...NUMBERS), fc.constantFrom(...TEXTS), fc.constant([1, 2] as const))
const callerArbitrary: fc.Arbitrary<ModelCaller> = fc.record({
  name: fc.constantFrom('ann', 'bob', 'robot'),
  roles: fc.subarray(['r1', 'r2', 'r3', 'unknown'], { minLength: 1 }),
  claims: partly<{ c1: ModelClaims[string]; c2: ModelClaims[string] }>(
    fc.record({ c1: claimValue, c2: claimValue }),
    4,
  ),
})

const rowsArbitrary: fc.Arbitrary<readonly ModelRow[]> = fc.array(
  fc.record(Object.fromEntries(COLUMNS.map(([name, type]) => [name, fc.option(literalOf(type), { nil: null })]))),
  { minLength: 4, maxLength: 8 },
)

const parentsArbitrary: fc.Arbitrary<readonly ModelRow[]> = fc.array(
  fc.record({ k: fc.constantFrom(...NUMBERS), t: fc.option(fc.constantFrom(...TEXTS), { nil: null }) }),
  { maxLength: 4 },
)

function identityOf(caller: ModelCaller): Identity {
  return { id: caller.name, name: caller.name, roles: caller.roles, claims: new Map(Object.entries(caller.claims)) }
}

/** The engine of a policy that must meet the catalog without an error. */
function engineFor(policy: ModelPolicy): PolicyEngine {
  const { engine, findings } = compiled(JSON.stringify(policy), SCHEMA, ['s'])
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error'),
    [],
  )
  return engine
}

/** A plan that sets every column in `values`, with a text that every type of the catalog takes. */
function planOf(operation: ModelWrite, values: readonly string[], expected: readonly string[] = []): MutationPlan {
  const key = [{ column: catalogName('id'), op: 'eq', value: '1' }] as const
  const assigned = (names: readonly string[]) => names.map((name) => ({ column: catalogName(name), value: '1' }))
  switch (operation) {
    case 'create':
      return { kind: operation, table: REF, values: assigned(values), dryRun: false }
    case 'update':
      return { kind: operation, table: REF, key, values: assigned(values), expected: assigned(expected), dryRun: false }
    default:
      return { kind: operation, table: REF, key, expected: assigned(expected), dryRun: false }
  }
}

const settableBy = (model: PolicyModel, caller: ModelCaller, operation: ModelWrite): readonly string[] =>
  operation === 'soft_delete' || !model.allowed(caller, TABLE, operation)
    ? []
    : model.settable(caller, TABLE, operation)

const RUNS = { numRuns: 1_500 }

test('mutations are granted to every combination of roles exactly as the product says', () => {
  const seen = { granted: 0, refused: 0 }
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      const identity = identityOf(caller)
      const access = engine.rights(identity).byToolBase.get('a')
      const allowed = WRITE_OPERATIONS.filter((operation) => model.allowed(caller, TABLE, operation))
      assert.equal(engine.identityCanMutate(identity, REF), allowed.length > 0)
      assert.deepEqual(Object.keys(access?.writes ?? {}), allowed)
      for (const operation of WRITE_OPERATIONS) {
        const expected = allowed.includes(operation)
        assert.equal(engine.identityAllowed(identity, REF, operation), expected)
        assert.equal(access?.operations.has(operation) === true, expected)
        if (!expected) {
          const refused = engine.validateMutation(planOf(operation, NAMES), identity)
          assert.deepEqual(refused, { ok: false, error: { code: 'TOOL_UNKNOWN' } })
        }
        seen[expected ? 'granted' : 'refused'] += 1
      }
    }),
    RUNS,
  )
  assert.ok(Math.min(seen.granted, seen.refused) > 100, `both answers are reached: ${JSON.stringify(seen)}`)
})

test('columns that may be set, must be set and may be expected are exactly those the product says', () => {
  const seen = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      const identity = identityOf(caller)
      const access = engine.rights(identity).byToolBase.get('a')
      for (const operation of WRITE_OPERATIONS) {
        const write = access?.writes[operation]
        if (write === undefined) continue
        const settable = settableBy(model, caller, operation)
        assert.deepEqual([...write.columns.keys()], settable)
        assert.deepEqual([...write.required], operation === 'create' ? model.required(TABLE) : [])
        const readable = model.isReadable(caller, TABLE, operation) ? model.columnsShown(caller, TABLE, 'get') : []
        assert.deepEqual([...write.expectable.keys()], operation === 'create' ? [] : readable)
        const idShown = operation !== 'create' || model.shows(caller, TABLE, operation, 'id')
        const returned = NAMES.filter((name) => readable.includes(name) || (name === 'id' && idShown))
        assert.deepEqual(
          write.returning.map(({ name }) => name),
          returned,
        )
        for (const name of NAMES) {
          const values = operation === 'create' ? [...new Set([...model.required(TABLE), name])] : [name]
          const result = engine.validateMutation(planOf(operation, values), identity)
          const refusedName = !result.ok && result.error.code === 'ARGUMENT_COLUMN'
          const scoped = !result.ok && result.error.code === 'POLICY_SCOPE'
          if (operation !== 'soft_delete' && !scoped) assert.equal(refusedName, !settable.includes(name))
          const expecting = engine.validateMutation(planOf(operation, settable, [name]), identity)
          if (operation !== 'create' && !scoped) assert.equal(expecting.ok, readable.includes(name))
          seen[result.ok ? 'accepted' : 'refused'] += 1
        }
      }
    }),
    RUNS,
  )
  assert.ok(Math.min(seen.accepted, seen.refused) > 100, `both answers are reached: ${JSON.stringify(seen)}`)
})

test('rows that a mutation may touch, and may leave behind, are exactly those the product says', () => {
  const seen = { kept: 0, left: 0, written: 0, spoilt: 0, refused: 0 }
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, rowsArbitrary, parentsArbitrary, (policy, caller, rows, parents) => {
      const contents = { [PARENT]: parents }
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG, contents)
      for (const operation of WRITE_OPERATIONS) {
        if (!model.allowed(caller, TABLE, operation)) continue
        const plan = planOf(operation, settableBy(model, caller, operation))
        const result = engine.validateMutation(plan, identityOf(caller))
        const presets = operation === 'soft_delete' || model.presetsSuffice(caller, TABLE, operation)
        const expected = presets && model.claimsSuffice(caller, TABLE, operation)
        assert.equal(result.ok ? 'OK' : result.error.code, expected ? 'OK' : 'POLICY_SCOPE')
        if (!result.ok) seen.refused += 1
        if (!result.ok) continue
        const { scope, writtenScope } = result.value
        for (const row of rows) {
          const inScope = model.inScope(caller, TABLE, operation, row)
          assert.equal(keeps(scope, row, contents), inScope)
          const mayBe = model.mayBeWritten(caller, TABLE, operation, row)
          assert.equal(keeps(writtenScope, row, contents), mayBe)
          seen[inScope ? 'kept' : 'left'] += 1
          seen[mayBe ? 'written' : 'spoilt'] += 1
        }
      }
    }),
    RUNS,
  )
  assert.ok(Math.min(...Object.values(seen)) > 100, `every answer is reached: ${JSON.stringify(seen)}`)
})

test('what a mutation tells of a row is no more than get tells of it', () => {
  const seen = { told: 0, silent: 0 }
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, rowsArbitrary, parentsArbitrary, (policy, caller, rows, parents) => {
      const contents = { [PARENT]: parents }
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG, contents)
      const access = engine.rights(identityOf(caller)).byToolBase.get('a')
      for (const operation of ['update', 'soft_delete'] as const) {
        const write = access?.writes[operation]
        if (write === undefined) continue
        const told = new Set([...write.expectable.keys(), ...write.returning.map(({ name }) => name as string)])
        told.delete('id')
        seen[told.size > 0 ? 'told' : 'silent'] += 1
        if (told.size === 0) continue
        for (const row of rows) {
          if (!model.inScope(caller, TABLE, operation, row)) continue
          assert.equal(model.inScope(caller, TABLE, 'get', row), true)
          for (const name of told) assert.equal(model.shows(caller, TABLE, 'get', name), true)
        }
      }
    }),
    RUNS,
  )
  assert.ok(Math.min(seen.told, seen.silent) > 100, `both are reached: ${JSON.stringify(seen)}`)
})

test('a written column is the caller’s or preset, each once, whatever the roles', () => {
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      for (const operation of ['create', 'update'] as const) {
        if (!model.allowed(caller, TABLE, operation)) continue
        const settable = model.settable(caller, TABLE, operation)
        const result = engine.validateMutation(planOf(operation, settable), identityOf(caller))
        if (!result.ok) continue
        const preset = Object.keys(policy.tables[TABLE]?.[operation]?.preset ?? {})
        const written = result.value.writes.map(({ column }) => column.name as string)
        assert.deepEqual([...written].sort(), [...settable, ...preset].sort())
      }
    }),
    RUNS,
  )
})
