import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { executeCall } from '../../src/connector/execute-call.js'
import { encodeSnapshot } from '../../src/connector/snapshot.js'
import { ok } from '../../src/core/result.js'
import { unavailableDriver } from '../../src/engines/driver/calls.js'
import { Cancellation, type Driver } from '../../src/engines/engine.js'
import { postgresDialect } from '../../src/engines/postgres/dialect.js'
import { type Explanation, explainCall, explainedPolicy } from '../../src/policy/explain.js'
import { explanationLines } from '../../src/policy/explain-text.js'
import { EMPTY_POLICY, parsePolicy } from '../../src/policy/policy-document.js'
import { compilePolicy } from '../../src/policy/policy-engine.js'
import { parseToolName } from '../../src/tools/tool-names.js'
import {
  GENERATED_CATALOG,
  GENERATED_SCHEMA,
  GENERATED_TABLES,
  type GeneratedPolicy,
  generatedCall,
  generatedCaller,
  generatedPolicy,
  identityOf,
} from '../support/generated-policies.js'
import { type ModelCaller, type ModelOperation, PolicyModel } from '../support/policy-model.js'

/** An explanation is of use only if it says what the call does: held against the call itself, and against a model of the rules. */

const RUNS = { numRuns: 1_000 }
const OPTIONS = { schemas: ['s'] }

/** Whatever reaches the database finds nothing there. */
function emptyDatabase(reached: () => void): Driver {
  const times = { queueMs: 0, dbMs: 0 }
  return {
    ...unavailableDriver({ code: 'INTERNAL' }),
    execute: async () => {
      reached()
      return { outcome: ok([]), ...times }
    },
    mutate: async () => {
      reached()
      return { outcome: ok({ kind: 'not_found' as const }), effect: 'none', ...times }
    },
    call: async () => {
      reached()
      return { outcome: ok({ rows: [] }), effect: 'none', ...times }
    },
  }
}

function documentOf(policy: GeneratedPolicy) {
  const document = parsePolicy(JSON.stringify(policy))
  assert.ok(document.ok, JSON.stringify(document))
  return document.value
}

/** What a thread of a connector does with the call. */
async function executed(policy: GeneratedPolicy, caller: ModelCaller, tool: string, args: unknown) {
  let reached = false
  const { engine } = compilePolicy(documentOf(policy), GENERATED_SCHEMA, OPTIONS)
  const outcome = await executeCall(
    {
      kind: 'call',
      callId: 1,
      auditId: 'a',
      snapshot: encodeSnapshot({ schema: GENERATED_SCHEMA, policy: EMPTY_POLICY, vars: {} }, 1),
      identity: identityOf(caller),
      tool,
      args,
      sentAtMs: 0,
    },
    {
      policy: engine,
      dialect: postgresDialect,
      driver: emptyDatabase(() => {
        reached = true
      }),
      acquireTimeoutMs: 1,
      sessionContext: false,
      nowMs: () => 0,
      observe: () => {},
      announce: async () => ({ kind: 'go' }),
    },
    new Cancellation(),
  )
  return { outcome, reached, answer: Buffer.from(outcome.body).toString('utf8') }
}

function explained(policy: GeneratedPolicy, caller: ModelCaller, tool: string, args: unknown): Explanation {
  const side = { document: documentOf(policy), schema: GENERATED_SCHEMA, options: OPTIONS }
  return explainCall(explainedPolicy(side), identityOf(caller), tool, args)
}

test('an explanation says what the call then does: the same decision, the same code, the same answer', async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(generatedPolicy, generatedCaller, generatedCall, async (policy, caller, { tool, args }) => {
      const explanation = explained(policy, caller, tool, args)
      const { outcome, reached, answer } = await executed(policy, caller, tool, args)
      seen.set(explanation.code, (seen.get(explanation.code) ?? 0) + 1)
      if (explanation.decision === 'allowed') {
        assert.ok(reached || tool === 'schema_overview', `${tool} goes to the database: ${outcome.code}`)
        return
      }
      assert.equal(reached, false)
      assert.equal(explanation.code, outcome.code)
      const said = JSON.stringify(explanation.answer).slice(1, -1)
      assert.ok(answer.includes(said) || answer.includes(explanation.answer ?? ' '), `${answer} says ${said}`)
      if (explanation.code === 'TOOL_UNKNOWN') assert.ok(explanation.reasons.length > 0)
      if (outcome.reason !== undefined && explanation.code === 'POLICY_SCOPE') {
        assert.ok(explanation.reasons.some(({ does }) => does === outcome.reason))
      }
    }),
    RUNS,
  )
  for (const code of ['OK', 'TOOL_UNKNOWN', 'ARGUMENT_COLUMN', 'POLICY_SCOPE']) {
    assert.ok((seen.get(code) ?? 0) > 10, `${code} is reached: ${JSON.stringify([...seen])}`)
  }
})

test('an explanation agrees with what the product promises: who may, which columns, and whether claims suffice', () => {
  const tools: readonly (readonly [ModelOperation, (t: string) => string])[] = [
    ['get', (t) => `get_${t}_by_pk`],
    ['search', (t) => `search_${t}`],
    ['aggregate', (t) => `aggregate_${t}`],
    ['create', (t) => `create_${t}`],
    ['update', (t) => `update_${t}_by_pk`],
    ['soft_delete', (t) => `soft_delete_${t}_by_pk`],
  ]
  fc.assert(
    fc.property(generatedPolicy, generatedCaller, (policy, caller) => {
      const model = new PolicyModel(policy, GENERATED_CATALOG)
      const side = { document: documentOf(policy), schema: GENERATED_SCHEMA, options: OPTIONS }
      const subject = explainedPolicy(side)
      for (const table of GENERATED_TABLES) {
        for (const [operation, toolOf] of tools) {
          const { code, columns, rows, grants } = explainCall(subject, identityOf(caller), toolOf(table.slice(2)), {})
          const allowed = model.allowed(caller, table, operation)
          assert.equal(code !== 'TOOL_UNKNOWN', allowed, `${operation} of ${table}`)
          if (!allowed) continue
          assert.deepEqual(
            [...new Set(grants.map(({ role }) => role))].length,
            model.granting(caller, table, operation).length,
          )
          assert.equal(rows?.text !== undefined, model.claimsSuffice(caller, table, operation))
          const usable = columns.filter((column) => column.usable).map(({ column }) => column)
          if (operation === 'soft_delete') assert.deepEqual(usable, [])
          else if (operation === 'create' || operation === 'update') {
            assert.deepEqual(usable, model.settable(caller, table, operation))
          } else assert.deepEqual(usable, model.columnsShown(caller, table, operation))
        }
      }
    }),
    { numRuns: 400 },
  )
})

/** The value at a place such as `roles.r1.mask.s.a[0]`; names of tables hold a dot. */
function isPlace(policy: unknown, path: string): boolean {
  if (path === '') return true
  const steps = path.replace(/\bs\.(?=(?:a|b|report)\b)/g, 's:')
  let value: unknown = policy
  for (const step of steps.split(/[.[\]]+/).filter((each) => each !== '')) {
    if (typeof value !== 'object' || value === null) return false
    value = Reflect.get(value, step.replace(':', '.'))
  }
  return value !== undefined
}

test('every rule that an explanation names stands in the document, and every hidden column has one', () => {
  fc.assert(
    fc.property(generatedPolicy, generatedCaller, generatedCall, (policy, caller, { tool, args }) => {
      const explanation = explained(policy, caller, tool, args)
      const { reasons, grants, columns, rows, limits, presets } = explanation
      const places = [
        ...[...reasons, ...grants, ...presets].map(({ path }) => path),
        ...columns.flatMap(({ rules }) => rules),
        ...(rows?.rules ?? []).map(({ rule }) => rule),
        ...limits.flatMap(({ rule }) => rule ?? []),
      ]
      for (const place of places) assert.ok(isPlace(policy, place), `${place} of ${JSON.stringify(policy)}`)
      for (const { usable, rules, column } of columns) assert.ok(usable || rules.length > 0, `${tool} ${column}`)
      const lines = explanationLines(explanation)
      assert.ok(lines.every((line) => !line.includes('\n') && !/\bSELECT\b/.test(line)))
    }),
    RUNS,
  )
})

test('a tool that nobody has says which table it would be about where there is one', () => {
  fc.assert(
    fc.property(generatedPolicy, generatedCall, (policy, { tool, args }) => {
      const nobody = { name: 'bob', roles: [], claims: {} }
      const { code, reasons } = explained(policy, nobody, tool, args)
      if (tool === 'schema_overview') return
      assert.equal(code, 'TOOL_UNKNOWN')
      const known = parseToolName(tool) !== undefined && !tool.includes('payroll')
      assert.equal(
        reasons.some(({ does }) => does.startsWith('No table or procedure')),
        !known && tool !== 'report',
      )
    }),
    { numRuns: 200 },
  )
})
