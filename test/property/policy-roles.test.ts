import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { READ_OPERATIONS } from '../../src/core/access.js'
import type { Identity } from '../../src/core/identity.js'
import { REQUIRE_INDEX_ABOVE_ROWS, ROW_CAP } from '../../src/core/limits.js'
import type { QueryPlan } from '../../src/core/plan.js'
import { catalogName } from '../../src/core/schema-model.js'
import type { PolicyEngine } from '../../src/policy/policy-engine.js'
import { aggregatePlan, filter, searchPlan } from '../support/plans.js'
import {
  type ModelCaller,
  type ModelCatalogTable,
  type ModelClaims,
  type ModelFilter,
  type ModelLimits,
  type ModelPolicy,
  type ModelRole,
  type ModelRow,
  type ModelTable,
  PolicyModel,
} from '../support/policy-model.js'
import { compiled, PAYROLL, refOf, schemaOf, tableOf } from '../support/policy-schema.js'
import { keeps } from '../support/scope-rows.js'

/** Three tables, few columns and few values, so that generated rules meet each other; rows hang on those of the next table. */
const CATALOG: Readonly<Record<'s.a' | 's.b' | 's.c', ModelCatalogTable>> = {
  's.a': {
    columns: { id: 'integer', kind: 'text', owner: 'integer' },
    key: ['id'],
    leading: ['id', 'kind'],
    rows: 2_000_000,
    references: [{ columns: ['owner'], table: 's.b', referencedColumns: ['x'] }],
  },
  's.b': {
    columns: { x: 'integer', y: 'integer', z: 'text' },
    key: ['x', 'y'],
    references: [{ columns: ['y', 'z'], table: 's.c', referencedColumns: ['n', 't'] }],
  },
  's.c': { columns: { n: 'integer', t: 'text' }, key: ['n', 't'] },
}
const TABLES = ['s.a', 's.b', 's.c'] as const
type TableName = (typeof TABLES)[number]
const SCHEMA = schemaOf(
  ...TABLES.map((table) => {
    const { columns, key, leading = [], rows, references = [] } = CATALOG[table]
    const foreignKeys = references.map((reference) => ({
      columns: reference.columns,
      references: ['s', reference.table.slice(2)] as const,
      referencedColumns: reference.referencedColumns,
    }))
    const indexes = leading.map((column) => ({
      name: catalogName(`by_${column}`),
      columns: [column, 'owner'].map(catalogName),
      unique: false,
      partial: false,
    }))
    return {
      ...tableOf('s', table.slice(2), { columns, key, foreignKeys }),
      indexes,
      ...(rows === undefined ? {} : { rowEstimate: rows }),
    }
  }),
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

/** That the parent is in scope, where the table has a parent; the columns of its key in any order. */
function filtersOn(table: TableName): fc.Arbitrary<readonly ModelFilter[]> {
  const own = fc.array(filterOn(table), { minLength: 1, maxLength: 2 })
  const [reference] = CATALOG[table].references ?? []
  if (reference === undefined) return own
  const { columns } = reference
  const parent = fc
    .shuffledSubarray([...columns], { minLength: columns.length })
    .map((named): ModelFilter => ({ parent: named }))
  return fc.oneof(
    { weight: 2, arbitrary: own },
    parent.map((filter) => [filter]),
    fc.tuple(parent, own).map(([filter, others]) => [...others, filter]),
  )
}
const cap = fc.integer({ min: 1, max: 500 })
const large = fc.constantFrom(100, 200, 5_000_000)
/** Small enough that some roles come to agree. */
const size = fc.integer({ min: 1, max: 4 })
const limits = partly<ModelLimits>(fc.record({ row_cap: cap, min_group_size: size, require_index_above_rows: large }))

function tablePolicy(table: TableName): fc.Arbitrary<ModelTable> {
  const hidden = fc.oneof(
    fc.constant({}),
    someColumns(table).map((mask) => ({ mask })),
    someColumns(table).map((columns) => ({ columns })),
  )
  const rest = partly<Pick<ModelTable, 'aggregate' | 'row_filter'>>(
    fc.record({
      aggregate: fc.oneof(
        fc.boolean(),
        someColumns(table).map((columns) => ({ columns })),
      ),
      row_filter: filtersOn(table),
    }),
  )
  return fc.tuple(hidden, rest, limits).map(([some, others, own]) => ({ ...some, ...others, ...own }))
}

const grant = fc.subarray(['*', ...TABLES], { minLength: 1, maxLength: 2 })
const role: fc.Arbitrary<ModelRole> = fc
  .tuple(
    partly<Pick<ModelRole, 'read' | 'aggregate'>>(fc.record({ read: grant, aggregate: grant })),
    limits,
    fc.option(grant, { freq: 6, nil: undefined }),
    partly(fc.record({ 's.a': someColumns('s.a'), 's.b': someColumns('s.b'), 's.c': someColumns('s.c') })),
    partly(fc.record({ 's.a': filtersOn('s.a'), 's.b': filtersOn('s.b'), 's.c': filtersOn('s.c') })),
  )
  .map(([grants, own, deny, mask, row_filter]) => ({
    ...grants,
    ...own,
    ...(deny === undefined || deny.includes('*') ? {} : { deny }),
    mask,
    row_filter,
  }))

const policyArbitrary: fc.Arbitrary<ModelPolicy> = fc.record({
  version: fc.constant(1 as const),
  defaults: limits,
  tables: fc.record({ 's.a': tablePolicy('s.a'), 's.b': tablePolicy('s.b'), 's.c': tablePolicy('s.c') }),
  roles: fc.record({ r1: role, r2: role, r3: role }),
  identities: partly(fc.record({ ann: limits })),
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

/** The operator on some column that it fits. */
function opOn(op: 'eq' | 'neq' | 'gt' | 'is_null' | 'not_null') {
  return fc.constantFrom('id', 'kind', 'owner').map((column) => ({ column, op }))
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
  const seen = { kept: 0, left: 0, refused: 0, byParent: 0 }
  const rows = fc.record({
    's.a': fc.array(rowOf('s.a'), { minLength: 4, maxLength: 8 }),
    's.b': fc.array(rowOf('s.b'), { minLength: 4, maxLength: 8 }),
    's.c': fc.array(rowOf('s.c'), { minLength: 4, maxLength: 8 }),
  })
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, rows, (policy, caller, data) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG, data)
      for (const table of TABLES) {
        for (const operation of READ_OPERATIONS) {
          if (!model.allowed(caller, table, operation)) continue
          const scope = engine.scope(identityOf(caller), refTo(table), operation)
          assert.equal(scope.ok, model.claimsSuffice(caller, table, operation))
          if (!scope.ok) assert.equal(scope.error.code, 'POLICY_SCOPE')
          if (!scope.ok) seen.refused += 1
          for (const row of data[table]) {
            const expected = model.inScope(caller, table, operation, row)
            assert.equal(scope.ok && keeps(scope.value, row, data), expected)
            seen[expected ? 'kept' : 'left'] += 1
            if (expected && scope.ok && scope.value.all.some(({ op }) => op === 'parent')) seen.byParent += 1
          }
        }
      }
    }),
    RUNS,
  )
  assert.ok(Math.min(...Object.values(seen)) > 100, `every answer is reached: ${JSON.stringify(seen)}`)
})

test('the row cap is the most specific one, and the largest among granting roles', () => {
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      for (const table of TABLES) {
        if (!READ_OPERATIONS.some((operation) => model.allowed(caller, table, operation))) continue
        assert.equal(engine.rowCap(identityOf(caller), refTo(table)), model.largest('row_cap', caller, table, ROW_CAP))
        assert.equal(
          engine.limits(identityOf(caller), refTo(table)).indexRequiredAboveRows,
          model.largest('require_index_above_rows', caller, table, REQUIRE_INDEX_ABOVE_ROWS),
        )
      }
    }),
    RUNS,
  )
})

test('a group size is the most specific one, and among granting roles that of one which gives all that the caller has', () => {
  const seen = { smallest: 0, largest: 0 }
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, (policy, caller) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      for (const table of TABLES) {
        if (!model.allowed(caller, table, 'aggregate')) continue
        const expected = model.groupSize(caller, table)
        const actual = engine.limits(identityOf(caller), refTo(table)).minGroupSize
        assert.equal(actual, expected)
        const sizes = model.granting(caller, table, 'aggregate').map((role) => role.min_group_size ?? expected)
        if (actual < Math.max(...sizes)) seen.smallest += 1
        if (actual > Math.min(...sizes)) seen.largest += 1
        // No call of the caller's is answered in smaller groups than some role by itself would answer it in.
        const alone = policy.identities?.[caller.name]?.min_group_size === undefined
        const smaller = caller.roles.some((name) => {
          const only = { ...caller, roles: [name] }
          return model.allowed(only, table, 'aggregate') && model.groupSize(only, table) <= actual
        })
        assert.ok(!alone || smaller)
      }
    }),
    RUNS,
  )
  assert.ok(Math.min(seen.smallest, seen.largest) > 20, JSON.stringify(seen))
})

test('a large table is searched and aggregated where an index is used, and refused elsewhere, exactly as the product says', () => {
  const seen = { refused: 0, served: 0 }
  const planned = fc.record({
    operation: fc.constantFrom('search' as const, 'aggregate' as const),
    filters: fc.array(fc.constantFrom('eq', 'neq', 'gt', 'is_null', 'not_null').chain(opOn), { maxLength: 2 }),
    first: fc.option(fc.constantFrom('id', 'kind', 'owner'), { nil: undefined }),
  })
  fc.assert(
    fc.property(policyArbitrary, callerArbitrary, planned, (policy, caller, wanted) => {
      const engine = engineFor(policy)
      const model = new PolicyModel(policy, CATALOG)
      const { operation } = wanted
      if (!model.allowed(caller, 's.a', operation) || !model.claimsSuffice(caller, 's.a', operation)) return
      const shows = (column: string | undefined) => model.shows(caller, 's.a', operation, column ?? '')
      const filters = wanted.filters.filter(({ column }) => shows(column))
      const first = shows(wanted.first) ? wanted.first : undefined
      const [shown = 'id'] = model.columnsShown(caller, 's.a', operation)
      const table = SCHEMA.tables[0]
      assert.ok(table)
      const kept = filters.map(({ column, op }) => filter(column, op, '1'))
      const plan =
        operation === 'search'
          ? searchPlan(table, { columns: [shown], filters: kept, order: first === undefined ? [] : [first], limit: 1 })
          : aggregatePlan(table, { metrics: [{ fn: 'count' }], filters: kept, limit: 1 })
      const refused = model.lacksIndex(
        caller,
        's.a',
        operation,
        { filters, ...(first === undefined ? {} : { first }) },
        REQUIRE_INDEX_ABOVE_ROWS,
      )
      const judged = engine.validate<QueryPlan>(plan, identityOf(caller))
      assert.equal(judged.ok ? 'OK' : judged.error.code, refused ? 'ARGUMENT_UNINDEXED' : 'OK')
      seen[refused ? 'refused' : 'served'] += 1
    }),
    RUNS,
  )
  assert.ok(Math.min(seen.refused, seen.served) > 20, JSON.stringify(seen))
})
