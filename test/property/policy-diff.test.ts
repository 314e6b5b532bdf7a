import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { READ_OPERATIONS } from '../../src/core/access.js'
import { diffPolicies, type PolicyChange, type PolicySide } from '../../src/policy/diff.js'
import { changeText } from '../../src/policy/diff-text.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy, type PolicyEngine } from '../../src/policy/policy-engine.js'
import {
  GENERATED_ROLES,
  GENERATED_SCHEMA,
  GENERATED_TABLES,
  type GeneratedPolicy,
  generatedPolicy,
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
