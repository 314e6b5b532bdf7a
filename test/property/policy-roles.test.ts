import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { READ_OPERATIONS } from '../../src/core/access.js'
import type { Identity } from '../../src/core/identity.js'
import { ROW_CAP } from '../../src/core/limits.js'
import type { Filter, Scope } from '../../src/core/plan.js'
import type { PolicyEngine } from '../../src/policy/policy-engine.js'
import {
  type ModelCaller,
  type ModelCatalogTable,
  type ModelClaims,
  type ModelFilter,
  type ModelPolicy,
  type ModelRole,
  type ModelRow,
  type ModelTable,
  PolicyModel,
} from '../support/policy-model.js'
import { compiled, PAYROLL, refOf, schemaOf, tableOf } from '../support/policy-schema.js'

/** Two tables, few columns and few values, so that generated rules meet each other. */
const CATALOG: Readonly<Record<'s.a' | 's.b', ModelCatalogTable>> = {
  's.a': { columns: { id: 'integer', kind: 'text', owner: 'integer' }, key: ['id'] },
  's.b': { columns: { x: 'integer', y: 'integer', z: 'text' }, key: ['x', 'y'] },
}
const TABLES = ['s.a', 's.b'] as const
type TableName = (typeof TABLES)[number]
const SCHEMA = schemaOf(
  ...TABLES.map((table) => tableOf('s', table.slice(2), { columns: CATALOG[table].columns, key: CATALOG[table].key })),
)
const refTo = (table: TableName) => refOf('s', table.slice(2))

const ROLES = ['r1', 'r2', 'r3'] as const
const CLAIMS = ['c1', 'c2'] as const
const NUMBERS = [0, 1, 2, 3] as const
const TEXTS = ['p', 'q', 'r'] as const

/** Leaves some keys out, never present without a value. */
function partly<T extends object>(record: fc.Arbitrary<Required<T>>): fc.Arbitrary<Partial<T>> {
  return fc.tuple(record, fc.infiniteStream(fc.boolean())).map(([whole, keep]) => {
    const kept = Object.entries(whole).filter(() => keep.next().value === true)
    // The members kept are those of T, each with its own type.
    return Object.fromEntries(kept) as Partial<T>
  })
}

const columnsOf = (table: TableName) => Object.keys(CATALOG[table].columns)
const someColumns = (table: TableName) => fc.subarray(columnsOf(table), { minLength: 1 })

function filterOn(table: TableName): fc.Arbitrary<ModelFilter> {
  return fc.constantFrom(...Object.entries(CATALOG[table].columns)).chain(([column, type]) => {
    const literal: fc.Arbitrary<string | number> =
      type === 'text' ? fc.constantFrom(...TEXTS) : fc.constantFrom(...NUMBERS)
    const claim = fc.constantFrom(...CLAIMS).map((name) => ({ claim: name }))
    const compared = fc.record({
      column: fc.constant(column),
      op: fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte'),
      value: fc.oneof(literal, claim),
    })
    const listed = fc.record({
      column: fc.constant(column),
      op: fc.constant('in'),
      values: fc.oneof(fc.array(literal, { minLength: 1, maxLength: 3 }), claim),
    })
    const nulls = fc.record({ column: fc.constant(column), op: fc.constantFrom('is_null', 'not_null') })
    return fc.oneof({ weight: 3, arbitrary: compared }, listed, nulls)
  })
}

const filtersOn = (table: TableName) => fc.array(filterOn(table), { minLength: 1, maxLength: 2 })
const cap = fc.integer({ min: 1, max: 500 })

function tablePolicy(table: TableName): fc.Arbitrary<ModelTable> {
  const hidden = fc.oneof(
    fc.constant({}),
    someColumns(table).map((mask) => ({ mask })),
    someColumns(table).map((columns) => ({ columns })),
  )
  const rest = partly<Pick<ModelTable, 'aggregate' | 'row_filter' | 'row_cap'>>(
    fc.record({
      aggregate: fc.oneof(
        fc.boolean(),
        someColumns(table).map((columns) => ({ columns })),
      ),
      row_filter: filtersOn(table),
      row_cap: cap,
    }),
  )
  return fc.tuple(hidden, rest).map(([some, others]) => ({ ...some, ...others }))
}

const grant = fc.subarray(['*', ...TABLES], { minLength: 1, maxLength: 2 })
const role: fc.Arbitrary<ModelRole> = fc
  .tuple(
    partly<Pick<ModelRole, 'read' | 'aggregate' | 'row_cap'>>(
      fc.record({ read: grant, aggregate: grant, row_cap: cap }),
    ),
    fc.option(grant, { freq: 6, nil: undefined }),
    partly(fc.record({ 's.a': someColumns('s.a'), 's.b': someColumns('s.b') })),
    partly(fc.record({ 's.a': filtersOn('s.a'), 's.b': filtersOn('s.b') })),
  )
  .map(([grants, deny, mask, row_filter]) => ({
    ...grants,
    ...(deny === undefined || deny.includes('*') ? {} : { deny }),
    mask,
    row_filter,
  }))

const policyArbitrary: fc.Arbitrary<ModelPolicy> = fc.record({
  version: fc.constant(1 as const),
  defaults: partly(fc.record({ row_cap: cap })),
  tables: fc.record({ 's.a': tablePolicy('s.a'), 's.b': tablePolicy('s.b') }),
  roles: fc.record({ r1: role, r2: role, r3: role }),
  identities: partly(fc.record({ ann: fc.record({ row_cap: cap }) })),
})

const claimValue = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...TEXTS),
  fc.array(fc.constantFrom(...NUMBERS), { maxLength: 3 }),
  fc.array(fc.constantFrom(...TEXTS), { maxLength: 3 }),
)
const callerArbitrary: fc.Arbitrary<ModelCaller> = fc.record({
  name: fc.constantFrom('ann', 'bob'),
  roles: fc.subarray([...ROLES, 'unknown']),
  claims: partly<{ c1: ModelClaims[string]; c2: ModelClaims[string] }>(fc.record({ c1: claimValue, c2: claimValue })),
})

const cell = (type: 'integer' | 'text') =>
  type === 'text'
    ? fc.option(fc.constantFrom(...TEXTS), { nil: null })
    : fc.option(fc.constantFrom(...NUMBERS), { nil: null })
const rowOf = (table: TableName): fc.Arbitrary<ModelRow> =>
  fc.record(Object.fromEntries(Object.entries(CATALOG[table].columns).map(([name, type]) => [name, cell(type)])))

function identityOf(caller: ModelCaller): Identity {
  return { id: caller.name, name: caller.name, roles: caller.roles, claims: new Map(Object.entries(caller.claims)) }
}

/** The engine of a policy that must meet the catalog without an error. */
function engineFor(policy: ModelPolicy): PolicyEngine {
  const { engine, findings } = compiled(JSON.stringify(policy), SCHEMA, ['s'])
  assert.deepEqual(
    findings.filter((finding) => finding.severity === 'error'),
    [],
  )
  return engine
}

/** What the database would keep: the meaning of a scope over canonical values. */
function keeps(scope: Scope, row: ModelRow): boolean {
  const holds = (filter: Filter) => filterHolds(filter, row)
  return scope.all.every(holds) && (scope.any?.some((group) => group.every(holds)) ?? true)
}

function filterHolds(filter: Filter, row: ModelRow): boolean {
  const value = row[filter.column] ?? null
  if (!('value' in filter || 'values' in filter)) return (value === null) === (filter.op === 'is_null')
  if (value === null) return false
  if (filter.op === 'in') return filter.values.includes(String(value))
  const bound = typeof value === 'number' ? Number(filter.value) : filter.value
  const compared: Readonly<Record<string, boolean>> = {
    eq: value === bound,
    neq: value !== bound,
    gt: value > bound,
    gte: value >= bound,
    lt: value < bound,
    lte: value <= bound,
  }
  const held = compared[filter.op]
  assert.ok(held !== undefined, filter.op)
  return held
}

const RUNS = { numRuns: 1_500 }

test('operations are granted to every combination of roles exactly as the product says', () => {
  const seen = { granted: 0, refused: 0 }
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      for (const table of TABLES) {
        for (const operation of READ_OPERATIONS) {
          const expected = model.allowed(caller, table, operation)
          assert.equal(engine.identityAllowed(identityOf(caller), refTo(table), operation), expected)
          seen[expected ? 'granted' : 'refused'] += 1
        }
      }
      assert.equal(engine.identityAllowed(identityOf(caller), PAYROLL, 'search'), false)
    }),
    RUNS,
  )
  assert.ok(Math.min(seen.granted, seen.refused) > 100, `both answers are reached: ${JSON.stringify(seen)}`)
})

test('columns are visible to every combination of roles exactly as the product says', () => {
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      const rights = engine.rights(identityOf(caller))
      for (const table of TABLES) {
        const access = rights.byToolBase.get(table.slice(2))
        for (const operation of READ_OPERATIONS) {
          const expected = model.columnsShown(caller, table, operation)
          assert.deepEqual([...engine.visibleColumns(identityOf(caller), refTo(table), operation).keys()], expected)
          assert.deepEqual([...(access?.columns[operation].keys() ?? [])], expected)
        }
      }
    }),
    RUNS,
  )
})

test('row scope keeps exactly the rows that the product says, and refuses exactly where claims leave none', () => {
  const seen = { kept: 0, left: 0, refused: 0 }
  const rows = fc.record({
    's.a': fc.array(rowOf('s.a'), { minLength: 4, maxLength: 8 }),
    's.b': fc.array(rowOf('s.b'), { minLength: 4, maxLength: 8 }),
  })
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, rows, (policy, caller, data) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      for (const table of TABLES) {
        for (const operation of READ_OPERATIONS) {
          if (!model.allowed(caller, table, operation)) continue
          const scope = engine.scope(identityOf(caller), refTo(table), operation)
          assert.equal(scope.ok, model.claimsSuffice(caller, table, operation))
          if (!scope.ok) assert.equal(scope.error.code, 'POLICY_SCOPE')
          if (!scope.ok) seen.refused += 1
          for (const row of data[table]) {
            const expected = model.inScope(caller, table, operation, row)
            assert.equal(scope.ok && keeps(scope.value, row), expected)
            seen[expected ? 'kept' : 'left'] += 1
          }
        }
      }
    }),
    RUNS,
  )
  assert.ok(Math.min(seen.kept, seen.left, seen.refused) > 100, `every answer is reached: ${JSON.stringify(seen)}`)
})

test('the row cap is the most specific one, and the largest among granting roles', () => {
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      for (const table of TABLES) {
        if (!READ_OPERATIONS.some((operation) => model.allowed(caller, table, operation))) continue
        assert.equal(engine.rowCap(identityOf(caller), refTo(table)), model.rowCap(caller, table, ROW_CAP))
      }
    }),
    RUNS,
  )
})
