import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { READ_OPERATIONS, WRITE_OPERATIONS } from '../../src/core/access.js'
import type { Column } from '../../src/core/schema-model.js'
import { diffPolicies, type PolicyChange, type PolicySide } from '../../src/policy/diff.js'
import { changeText } from '../../src/policy/diff-text.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy, type PolicyEngine } from '../../src/policy/policy-engine.js'
import { tableTargets } from '../../src/tools/tool-target.js'
import {
  GENERATED_ROLES,
  GENERATED_SCHEMA,
  GENERATED_TABLES,
  type GeneratedPolicy,
  generatedPolicy,
  identityOf,
  refTo,
} from '../support/generated-policies.js'

/** A difference of two policies is one of rights: nothing without one, and everything that there is. */

const IDENTITIES = [
  { name: 'ann', roles: ['r1', 'r2'] },
  { name: 'bob', roles: ['r2', 'r3', 'unknown'] },
]

function sideOf(policy: GeneratedPolicy): PolicySide {
  const document = parsePolicy(JSON.stringify(policy))
  assert.ok(document.ok, JSON.stringify(document))
  return { document: document.value, schema: GENERATED_SCHEMA, options: { schemas: ['s'] } }
}

/** What was gained is lost, and what held before will hold. */
function inverted(change: PolicyChange): PolicyChange {
  const kind = change.kind === 'gained' ? 'lost' : 'gained'
  const { changed } = change
  switch (changed.what) {
    case 'rows': {
      const rows = changed.rows === 'more' ? 'fewer' : changed.rows === 'fewer' ? 'more' : 'other'
      return { ...change, kind, changed: { what: 'rows', rows, before: changed.after, after: changed.before } }
    }
    case 'limit':
      return { ...change, kind, changed: { ...changed, before: changed.after, after: changed.before } }
    case 'preset': {
      const { before, after, ...rest } = changed
      const swapped = {
        ...rest,
        ...(after === undefined ? {} : { before: after }),
        ...(before === undefined ? {} : { after: before }),
      }
      return { ...change, kind, changed: swapped }
    }
    default:
      return { ...change, kind }
  }
}

const sorted = (changes: readonly PolicyChange[]) => changes.map((change) => JSON.stringify(change)).sort()
/** Members in one order, since a swapped one is written in another. */
const normal = (change: PolicyChange): PolicyChange => {
  const { changed } = change
  return changed.what === 'preset' || changed.what === 'rows' || changed.what === 'limit'
    ? { ...change, changed: Object.fromEntries(Object.entries(changed).sort()) as unknown as typeof changed }
    : change
}

test('a policy differs in nothing from itself', () => {
  fc.assert(
    fc.property(generatedPolicy, (policy) => {
      assert.deepEqual(diffPolicies(sideOf(policy), sideOf(policy), IDENTITIES), [])
    }),
    { numRuns: 200 },
  )
})

test('what is gained one way is lost the other way', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(generatedPolicy, generatedPolicy, (a, b) => {
      const forth = diffPolicies(sideOf(a), sideOf(b), IDENTITIES)
      const back = diffPolicies(sideOf(b), sideOf(a), IDENTITIES)
      assert.deepEqual(sorted(forth.map(inverted).map(normal)), sorted(back.map(normal)))
      for (const change of forth) {
        seen.add(`${change.subject.kind} ${change.changed.what}`)
        assert.match(changeText(change), /^[+-] (?:role|identity) "[^"]+": [^\n]+$/)
      }
    }),
    { numRuns: 300 },
  )
  // Rarer kinds have tests of their own.
  for (const what of ['access', 'columns', 'rows', 'limit']) {
    assert.ok(seen.has(`role ${what}`), `${what} is reached: ${[...seen].join(', ')}`)
  }
})

/** The same two tables with more said of them: names, keys, relations, limits of every level. */
const embellished: fc.Arbitrary<GeneratedPolicy> = fc
  .tuple(
    generatedPolicy,
    fc.constantFrom({}, { tool_name: 'other' }, { page_size: 7 }, { min_group_size: 4 }, { cell_chars_max: 9 }),
    fc.constantFrom({}, { relations: { of_owner: { columns: ['y'], references: 's.a' } } }, { key: ['y'] }),
    fc.constantFrom({}, { query_timeout_ms: 99 }, { response_chars_max: 999, require_index_above_rows: 5 }),
    fc.constantFrom({}, { deny: ['s.a'] }),
  )
  .map(([policy, ofTable, ofOther, limits, denying]) => ({
    ...policy,
    defaults: { ...policy.defaults, ...limits },
    tables: { 's.a': { ...policy.tables['s.a'], ...ofTable }, 's.b': { ...policy.tables['s.b'], ...ofOther } },
    roles: { ...policy.roles, r3: { ...policy.roles['r3'], ...denying } },
  }))

/** A pair of policies that often differ in one thing alone. */
const pairs = fc.oneof(
  fc.tuple(embellished, embellished),
  fc
    .tuple(embellished, embellished, fc.constantFrom('defaults', 'tables', 'roles', 'identities', 'procedures'))
    .map(([a, b, part]): readonly [GeneratedPolicy, GeneratedPolicy] => [a, { ...a, [part]: b[part] }]),
)

/** Every set of roles, as somebody whom the policies may have settings for and as somebody whom they do not. */
const CALLERS = ['ann', 'bob'].flatMap((name) =>
  [...Array(2 ** GENERATED_ROLES.length).keys()].map((bits) => ({
    name,
    roles: GENERATED_ROLES.filter((_, index) => (bits & (2 ** index)) !== 0),
  })),
)

/** Whatever the engine answers of a caller: what may be seen and done, by which names, over which rows, and how it is limited. */
function observed(engine: PolicyEngine, { name, roles }: (typeof CALLERS)[number]): string {
  const identity = identityOf({ name, roles, claims: { c1: 1, c2: 'p' } })
  const { tables, procedures } = engine.rights(identity)
  const named = (columns: Iterable<Column>) => Array.from(columns, (column) => column.name)
  const shown = tables.map((access) => {
    const scopes = tableTargets(access).map(({ operation }) => [
      operation,
      engine.scope(identity, access.table.ref, operation),
    ])
    const offered = new Set(tableTargets(access).map(({ operation }) => operation))
    return {
      tool: access.toolBase,
      operations: [...offered],
      key: offered.has('get') ? named(access.key) : [],
      columns: READ_OPERATIONS.map((operation) =>
        offered.has(operation) ? named(access.columns[operation].values()) : [],
      ),
      writes: WRITE_OPERATIONS.map((operation) => {
        const write = offered.has(operation) ? access.writes[operation] : undefined
        return write && [named(write.columns.values()), [...write.required], named(write.key), named(write.returning)]
      }),
      relations: [...new Set(access.relations.map((relation) => JSON.stringify(relation)))].sort(),
      limits: access.limits,
      scopes,
    }
  })
  const called = procedures.map(({ tool, effect, fields, setColumns, limits }) => {
    return { tool, effect, fields: fields?.map((field) => field.name), setColumns, limits }
  })
  return JSON.stringify([shown.filter(({ operations }) => operations.length > 0), called])
}

test('whatever the engine answers differently of anybody, the difference is told of; where it answers alike, nothing is', () => {
  const seen = { alike: 0, different: 0 }
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const [before, after] = [sideOf(a), sideOf(b)]
      const [old, young] = [before, after].map(
        ({ document, schema, options }) => compilePolicy(document, schema, options).engine,
      )
      assert.ok(old !== undefined && young !== undefined)
      const differing = CALLERS.filter((caller) => observed(old, caller) !== observed(young, caller))
      const told = diffPolicies(before, after, CALLERS)
      if (differing.length > 0) assert.notDeepEqual(told, [], JSON.stringify(differing))
      // Presets are answered of no caller, and a denial counts for roles that are yet to come.
      const silent = told.filter(({ changed }) => changed.what !== 'preset' && changed.what !== 'denial')
      if (differing.length === 0) assert.deepEqual(silent, [])
      seen[differing.length > 0 ? 'different' : 'alike'] += 1
    }),
    { numRuns: 400 },
  )
  assert.ok(seen.alike > 5 && seen.different > 50, JSON.stringify(seen))
})

test('with roles alone to go by no difference in what any of them does together is missed', () => {
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const [before, after] = [sideOf(a), sideOf(b)]
      const [old, young] = [before, after].map(
        ({ document, schema, options }) => compilePolicy(document, schema, options).engine,
      )
      assert.ok(old !== undefined && young !== undefined)
      const strangers = CALLERS.filter(({ name }) => name === 'bob')
      const differing = strangers.filter((caller) => observed(old, caller) !== observed(young, caller))
      if (differing.length > 0) assert.notDeepEqual(diffPolicies(before, after), [], JSON.stringify(differing))
    }),
    { numRuns: 400 },
  )
})

test('columns that a role gains and loses are those that the policy engine comes to show and to hide', () => {
  fc.assert(
    fc.property(generatedPolicy, generatedPolicy, (a, b) => {
      const [before, after] = [sideOf(a), sideOf(b)]
      const changes = diffPolicies(before, after)
      const [old, young] = [before, after].map(
        ({ document, schema, options }) => compilePolicy(document, schema, options).engine,
      )
      assert.ok(old !== undefined && young !== undefined)
      for (const role of GENERATED_ROLES) {
        const caller = { id: '', name: '', roles: [role], claims: new Map() }
        for (const table of GENERATED_TABLES) {
          for (const operation of READ_OPERATIONS) {
            const shown = (engine: PolicyEngine): readonly string[] => [
              ...engine.visibleColumns(caller, refTo(table), operation).keys(),
            ]
            const was = shown(old)
            const is = shown(young)
            const told = (kind: PolicyChange['kind']) =>
              changes.flatMap(({ kind: own, subject, object, operations, changed }) =>
                own === kind &&
                subject.name === role &&
                object.name === table &&
                operations.includes(operation) &&
                (changed.what === 'access' || changed.what === 'columns')
                  ? changed.columns
                  : [],
              )
            assert.deepEqual(
              told('gained'),
              is.filter((column) => !was.includes(column)),
            )
            assert.deepEqual(
              told('lost'),
              was.filter((column) => !is.includes(column)),
            )
          }
        }
      }
    }),
    { numRuns: 300 },
  )
})
