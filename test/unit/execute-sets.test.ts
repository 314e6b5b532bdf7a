import assert from 'node:assert/strict'
import { test } from 'node:test'
import { executeCall } from '../../src/connector/execute-call.js'
import { encodeSnapshot } from '../../src/connector/snapshot.js'
import { catalogName } from '../../src/core/schema-model.js'
import { unavailableDriver } from '../../src/engines/driver/calls.js'
import { Cancellation, type CompiledCall, type Dialect, type Driver } from '../../src/engines/engine.js'
import { mysqlDialect } from '../../src/engines/mysql/dialect.js'
import { EMPTY_POLICY } from '../../src/policy/policy-document.js'
import type { CallMessage } from '../../src/threads/messages.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { caller, compiled, routineOf, schemaOf, withRoutines } from '../support/policy-schema.js'

const fields = [{ name: catalogName('total'), agentName: 'total', type: MYSQL_TYPES.decimal }]
const REPORT = routineOf('shop', 'report', { kind: 'procedure', result: { kind: 'sets', fields } })
const SCHEMA = { ...withRoutines(schemaOf(), REPORT), engine: 'mysql' } as const
const POLICY = `version: 1
procedures: { report: { effect: read, result_columns: [month, total], row_cap: 2 } }
roles: { a: { call: ['*'] } }`

/** What the call comes to, and what the driver was asked for. */
async function called(args: unknown, dialect: Dialect = mysqlDialect) {
  const asked: CompiledCall[] = []
  const month = { name: 'month', type: MYSQL_TYPES.int }
  const driver: Driver = {
    ...unavailableDriver({ code: 'INTERNAL' }),
    call: async (call) => {
      asked.push(call)
      const sets = [
        { columns: [month], rows: [['1'], ['2'], ['3']] },
        { columns: [month], rows: [['4']] },
      ]
      return { outcome: { ok: true, value: { rows: [['12.5000']], sets } }, effect: 'none', queueMs: 0, dbMs: 0 }
    },
  }
  const message: CallMessage = {
    kind: 'call',
    callId: 1,
    auditId: 'a',
    snapshot: encodeSnapshot({ schema: SCHEMA, policy: EMPTY_POLICY, vars: {} }, 1),
    identity: caller(['a']),
    tool: 'report',
    args,
    sentAtMs: 0,
  }
  const outcome = await executeCall(
    message,
    {
      policy: compiled(POLICY, SCHEMA, ['shop']).engine,
      dialect,
      driver,
      acquireTimeoutMs: 1,
      sessionContext: false,
      nowMs: () => 0,
      observe: () => {},
      announce: async () => ({ kind: 'go' }),
    },
    new Cancellation(),
  )
  return { outcome, asked }
}

test('a call is asked for the columns let through, and gives result sets and outputs; its entry has all rows', async () => {
  const { outcome, asked } = await called({})
  assert.deepEqual(
    asked.map(({ sets, rowCap }) => [sets?.names, rowCap]),
    [[['month'], 2]],
  )
  assert.deepEqual([outcome.code, outcome.rows, outcome.plan?.columns], ['OK', 3, ['total', 'month']])
  const { structuredContent } = JSON.parse(`{${Buffer.from(outcome.body).toString('utf8')}}`)
  const { cut, ...content } = structuredContent
  assert.deepEqual(content, {
    rows: [{ month: 1 }, { month: 2 }],
    row_count: 2,
    truncated: true,
    more_results: [{ rows: [{ month: 4 }], row_count: 1, truncated: false }],
    out: { total: '12.5000' },
  })
  assert.equal(cut[0].where, 'rows')
})

test('a call that is to be undone never reaches an engine that cannot undo it', async () => {
  const { outcome, asked } = await called({ dry_run: true })
  assert.deepEqual([outcome.code, asked.length], ['ARGUMENT_UNKNOWN', 0])
})

test('a statement that the engine would not take is refused before the database, and says what it takes', async () => {
  const dialect: Dialect = {
    ...mysqlDialect,
    compileCall: (plan) => {
      const call = mysqlDialect.compileCall(plan)
      return { ...call, statement: { ...call.statement, tooLarge: 'fewer values' } }
    },
  }
  const { outcome, asked } = await called({}, dialect)
  assert.deepEqual([outcome.code, outcome.effect, outcome.decision, asked], ['ARGUMENT_LIMIT', 'none', 'blocked', []])
  assert.match(Buffer.from(outcome.body).toString('utf8'), /fewer values/)
})
