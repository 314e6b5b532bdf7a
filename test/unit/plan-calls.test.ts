import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ProcedureAccess } from '../../src/core/access.js'
import { publicText } from '../../src/core/errors.js'
import { agentColumnName } from '../../src/core/names.js'
import type { ProcedureCallPlan } from '../../src/core/plan.js'
import { parameterArguments, procedureResult } from '../../src/core/tool-grammar.js'
import { type BuiltPlan, buildPlan } from '../../src/plan/build-plan.js'
import { planHash } from '../../src/plan/plan-hash.js'
import { summarize } from '../../src/plan/plan-summary.js'
import { callTarget, fieldOf, procedureOf } from '../support/rights.js'
import { TYPES } from '../support/schema.js'

const revenue = procedureOf('monthly_revenue', {
  parameters: { since: TYPES.date, 'mood?': TYPES.mood, 'ids?': TYPES.integers },
})

function built(procedure: ProcedureAccess, args: unknown): BuiltPlan<ProcedureCallPlan> {
  const result = buildPlan(callTarget(procedure), args)
  assert.ok(result.ok, result.ok ? '' : publicText(result.error))
  return result.value
}

function seen(procedure: ProcedureAccess, args: unknown): readonly (string | undefined)[] {
  const result = buildPlan(callTarget(procedure), args)
  assert.ok(!result.ok, 'the call was accepted')
  const { code, field, suggestion } = result.error
  return suggestion === undefined ? [code, field] : [code, field, suggestion]
}

describe('a call of a procedure', () => {
  test('passes its parameters by their places, and leaves out what has a default', () => {
    assert.deepEqual(built(revenue, { since: '2024-01-01' }), {
      plan: {
        kind: 'call',
        routine: revenue.routine.ref,
        catalogId: '4711',
        args: [{ position: 0, value: '2024-01-01' }],
        dryRun: false,
      },
    })
    const { plan, idempotencyKey } = built(revenue, {
      ids: [1, 2],
      since: '2024-01-01',
      dry_run: false,
      idempotency_key: 'k',
    })
    assert.deepEqual(plan.args, [
      { position: 0, value: '2024-01-01' },
      { position: 2, value: '["1","2"]' },
    ])
    assert.equal(idempotencyKey, 'k')
    assert.equal(built(revenue, { since: '2024-01-01', dry_run: true }).plan.dryRun, true)
  })

  test('names what is missing, unknown, or of the wrong type', () => {
    assert.deepEqual(seen(revenue, undefined), ['ARGUMENT_MISSING', 'since'])
    assert.deepEqual(seen(revenue, { since: '2024-02-30' }), ['ARGUMENT_VALUE', 'since'])
    assert.deepEqual(seen(revenue, { since: '2024-01-01', sins: 1 }), ['ARGUMENT_UNKNOWN', 'sins', 'since'])
    assert.deepEqual(seen(revenue, { since: '2024-01-01', mood: 'happi' }), ['ARGUMENT_VALUE', 'mood', 'happy'])
    assert.deepEqual(seen(revenue, { since: '2024-01-01', dry_run: 'maybe' }), ['ARGUMENT_TYPE', 'dry_run'])
    assert.deepEqual(seen(revenue, { since: '2024-01-01', idempotency_key: '' }), ['ARGUMENT_VALUE', 'idempotency_key'])
    assert.deepEqual(seen(revenue, []), ['ARGUMENT_TYPE', 'arguments'])
  })

  test('passes null where it is given, which is not the same as leaving out', () => {
    assert.deepEqual(built(revenue, { since: null, mood: null }).plan.args, [
      { position: 0, value: null },
      { position: 1, value: null },
    ])
  })

  test('a parameter named like a control argument, or like one before it, is addressed as <name>_key', () => {
    const odd = procedureOf('odd', {
      parameters: {
        dry_run: TYPES.boolean,
        idempotency_key: TYPES.text,
        limit: TYPES.integer,
        limit_key: TYPES.integer,
      },
    })
    const twins = procedureOf('twins')
    const [parameter] = odd.parameters.slice(2, 3)
    assert.ok(parameter)
    const arg1 = { ...parameter, agentName: 'arg1' }
    assert.deepEqual(
      parameterArguments({ ...twins, parameters: [arg1, arg1, arg1] }).map(({ argument }) => argument),
      ['arg1', 'arg1_key', 'arg1_key_key'],
    )
    const { plan } = built(odd, {
      dry_run_key: true,
      idempotency_key_key: 'x',
      limit_key_key: 1,
      limit_key: 2,
      dry_run: true,
    })
    assert.deepEqual(
      plan.args.map(({ value }) => value),
      ['true', 'x', '1', '2'],
    )
    assert.equal(plan.dryRun, true)
  })

  test('is told apart from a call of an overload, and from other arguments, by the text to be hashed', () => {
    const call = built(revenue, { since: '2024-01-01' }).plan
    const texts = [
      planHash('t', call),
      planHash('t', { ...call, catalogId: '1' }),
      planHash('t', built(revenue, { since: null }).plan),
      planHash('t', built(revenue, { since: '2024-01-01', mood: null }).plan),
    ]
    assert.equal(new Set(texts).size, texts.length)
  })

  test('is summarized by its arguments and the fields it gives', () => {
    const fields = [fieldOf('month', TYPES.date), fieldOf('total sum', TYPES.decimal)]
    const odd = procedureOf('odd', {
      parameters: { limit: TYPES.integer, 'note?': TYPES.text },
      result: { kind: 'record', set: true, fields },
      fields,
    })
    const plan = built(odd, { limit_key: 5, note: null, idempotency_key: 'k' })
    assert.deepEqual(summarize(callTarget(odd), plan), {
      columns: fields.map((field) => field.agentName),
      values: [{ column: 'limit_key', values: ['5'] }, { column: 'note' }],
      idempotency_key: 'k',
    })
    assert.deepEqual(summarize(callTarget(procedureOf('plain')), built(procedureOf('plain'), { dry_run: true })), {
      dry_run: true,
    })
  })
})

test('a call that cannot be undone takes no dry_run, and its tool names what it does take', () => {
  const final = { ...revenue, dryRun: false }
  assert.deepEqual(seen(final, { since: '2024-01-01', dry_run: true }), ['ARGUMENT_UNKNOWN', 'dry_run'])
  assert.deepEqual(seen(final, { since: '2024-01-01', dry_run: false }), ['ARGUMENT_UNKNOWN', 'dry_run'])
  const { plan, idempotencyKey } = built(final, { since: '2024-01-01', idempotency_key: 'k' })
  assert.deepEqual([plan.dryRun, idempotencyKey], [false, 'k'])
})

test('the summary of a call has the columns of result sets that are let through beside its outputs', () => {
  const fields = [fieldOf('total', TYPES.decimal)]
  const report = {
    ...procedureOf('report', { result: { kind: 'sets', fields }, fields }),
    setColumns: ['month', 'a b'],
  }
  const { columns } = summarize(callTarget(report), built(report, {}))
  assert.deepEqual(columns, ['total', 'month', agentColumnName('a b')])
})

test('what a procedure gives is rows, result sets, one value, or nothing', () => {
  const fields = [fieldOf('a', TYPES.text)]
  const gives = (parts: Parameters<typeof procedureOf>[1]) => procedureResult(procedureOf('p', parts))
  assert.equal(gives({ result: { kind: 'void' } }), 'nothing')
  assert.equal(gives({ result: { kind: 'scalar', set: false, type: TYPES.text } }), 'value')
  assert.equal(gives({ result: { kind: 'scalar', set: true, type: TYPES.text } }), 'rows')
  assert.equal(gives({ result: { kind: 'record', set: false, fields }, fields }), 'rows')
  assert.equal(gives({ result: { kind: 'record', set: true, fields } }), 'nothing')
  assert.equal(gives({ result: { kind: 'sets', fields }, fields }), 'sets')
  assert.equal(gives({ result: { kind: 'sets', fields: [] }, fields: [] }), 'nothing')
  const columns = { ...procedureOf('p', { result: { kind: 'sets', fields }, fields: [] }), setColumns: ['a'] }
  assert.equal(procedureResult(columns), 'sets')
})
