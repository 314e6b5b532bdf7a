import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { CANCEL_GRACE_MS } from '../../src/core/limits.js'
import { ok } from '../../src/core/result.js'
import { Cancellation, type CompiledCall, type SessionContext } from '../../src/engines/engine.js'
import type { WireField } from '../../src/engines/sqlserver/cell-text.js'
import { runCall } from '../../src/engines/sqlserver/run-call.js'
import type { Receiver, WireStatement } from '../../src/engines/sqlserver/wire.js'
import { type RestorableSession, WriteTransaction } from '../../src/engines/sqlserver/write-transaction.js'
import { statement } from '../support/test-server.js'

/** What the server answers, step by step; it is done after the last, unless that failed or is silence. */
type Step =
  | { readonly rows: readonly (readonly unknown[])[] }
  | { readonly count: number }
  | { readonly ended: 'committed' | 'rolled_back' }
  | { readonly error: Error }
  | 'silence'
type Answers = Readonly<Record<string, readonly Step[]>>

const BEGIN = 'BEGIN TRANSACTION; SET IMPLICIT_TRANSACTIONS ON'
const COMMIT = 'DECLARE @open int = @@TRANCOUNT; IF @open = 1 COMMIT TRANSACTION; SELECT @open'
const ROLLBACK = 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION'
const MARK = ';\nSELECT @@TRANCOUNT, XACT_STATE()'
const COMMITTED: readonly Step[] = [{ ended: 'committed' }, { rows: [[1]] }]
const STANDS: Step = { rows: [[1, 1]] }

const serverError = (number: number) => Object.assign(new Error('said'), { number, state: 1, class: 16 })
const LOST = Object.assign(new Error('the server closed the connection'), { code: 'ESOCKET' })

const field = (colName: string): WireField => ({
  colName,
  type: { name: 'NVarChar' },
  userType: 0,
  precision: undefined,
  scale: undefined,
  dataLength: 8,
  udtInfo: undefined,
})

function play(steps: readonly Step[], receiver: Receiver): void {
  for (const step of steps) {
    if (step === 'silence') return
    if ('error' in step) return receiver.failed(step.error)
    if ('ended' in step) receiver.transactionEnded(step.ended)
    else if ('count' in step) receiver.counted(step.count)
    else {
      receiver.fields((step.rows[0] ?? []).map((_, i) => field(`c${i}`)))
      for (const row of step.rows) receiver.row(row)
    }
  }
  receiver.done()
}

interface Scripted {
  readonly nowMs?: () => number
  readonly restorable?: boolean
  readonly context?: SessionContext
}

/** A transaction on a session that answers as the test says, and writes down what it was sent. */
function scripted(answers: Answers, { nowMs = () => 0, restorable = true, context }: Scripted = {}) {
  const sent: string[] = []
  const cancellation = new Cancellation()
  const session: RestorableSession = {
    cancel: () => sent.push('cancel'),
    abandon: () => sent.push('abandon'),
    restore: async () => {
      sent.push('restore')
      return restorable
    },
    submit: (wire: WireStatement, receiver: Receiver) => {
      sent.push(wire.text)
      const steps = answers[wire.text] ?? (wire.text === COMMIT ? COMMITTED : [{ count: 1 }])
      queueMicrotask(() => play(steps, receiver))
    },
  }
  const options = {
    timeoutMs: 100,
    acquireTimeoutMs: 1,
    bytesMax: 1_000,
    cancellation,
    ...(context === undefined ? {} : { context }),
  }
  return { transaction: new WriteTransaction({ session, options, nowMs }), sent, cancellation }
}

const seen = ({ effect, outcome, reusable }: Awaited<ReturnType<WriteTransaction['commit']>>) => [
  effect,
  outcome.ok ? 'OK' : outcome.error.code,
  reusable,
]

describe('the end of a writing transaction of SQL Server', () => {
  const cases: readonly (readonly [rule: string, answers: Answers, end: readonly unknown[]])[] = [
    ['committed when the server says so', {}, ['committed', 'OK', true]],
    [
      'none when COMMIT was refused as a whole',
      { [COMMIT]: [{ error: serverError(1205) }] },
      ['none', 'DB_CONFLICT', true],
    ],
    [
      'unknown when COMMIT failed and nothing is promised of that',
      { [COMMIT]: [{ error: serverError(9002) }] },
      ['unknown', 'DB_EFFECT_UNKNOWN', false],
    ],
    [
      'unknown when the error was the last that was heard',
      { [COMMIT]: [{ error: serverError(1205) }], [ROLLBACK]: [{ error: LOST }] },
      ['unknown', 'DB_EFFECT_UNKNOWN', false],
    ],
    ['unknown when nothing was heard', { [COMMIT]: [{ error: LOST }] }, ['unknown', 'DB_EFFECT_UNKNOWN', false]],
    [
      'committed when the server said so and was lost then',
      { [COMMIT]: [{ ended: 'committed' }, { error: LOST }] },
      ['committed', 'OK', false],
    ],
    [
      'none when a trigger began another that COMMIT would only count down',
      { [COMMIT]: [{ rows: [[2]] }] },
      ['none', 'DB_ERROR', true],
    ],
    [
      'unknown when there was nothing left to commit',
      { [COMMIT]: [{ rows: [[0]] }] },
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
    ],
  ]
  for (const [rule, answers, end] of cases) {
    test(`the effect is ${rule}`, async () => {
      const { transaction } = scripted(answers)
      await transaction.run(statement('WRITE'))
      assert.deepEqual(seen(await transaction.commit('value')), end)
    })
  }

  test('the first statement opens the transaction, and its session is made as it was behind the end', async () => {
    const { transaction, sent } = scripted({})
    await transaction.run(statement('LOCK'))
    await transaction.run(statement('WRITE'))
    await transaction.commit('value')
    assert.deepEqual(sent, [BEGIN, 'LOCK', 'WRITE', COMMIT, 'restore'])
  })

  test('the caller is told before the transaction begins, and one that cannot be told ends it there', async () => {
    const context = { identity: 'i', roles: '[]', claims: '{}' }
    const told = scripted({}, { context })
    await told.transaction.run(statement('WRITE'))
    assert.match(told.sent[0] ?? '', /sp_set_session_context/)
    assert.equal(told.sent[1], BEGIN)
    const long = scripted({}, { context: { ...context, claims: 'x'.repeat(5_000) } })
    const ran = await long.transaction.run(statement('WRITE'))
    assert.deepEqual([ran.ok ? 'OK' : ran.error.code, long.sent], ['DB_ERROR', []])
  })

  test('a cancellation or a deadline before COMMIT rolls back instead', async () => {
    const cancelled = scripted({})
    await cancelled.transaction.run(statement('WRITE'))
    cancelled.cancellation.request('CANCELLED')
    assert.deepEqual(seen(await cancelled.transaction.commit('value')), ['none', 'CANCELLED', true])
    assert.deepEqual(cancelled.sent.slice(2), [ROLLBACK, 'restore'])

    let now = 0
    const late = scripted({}, { nowMs: () => now })
    await late.transaction.run(statement('WRITE'))
    now = 100
    assert.deepEqual(seen(await late.transaction.commit('value')), ['none', 'TIMEOUT', true])
    assert.ok(!late.sent.includes(COMMIT))
  })

  test('a session that could not be made as it was serves nobody else', async () => {
    const { transaction } = scripted({}, { restorable: false })
    await transaction.run(statement('WRITE'))
    assert.deepEqual(seen(await transaction.rollBack(ok('value'))), ['none', 'OK', false])
  })

  test('rows are those of the last set, and what was written is what counted last before it', async () => {
    const ran = async (steps: readonly Step[]) => {
      const result = await scripted({ WRITE: steps }).transaction.run(statement('WRITE'))
      return result.ok ? [result.value.rows, result.value.affected] : result.error
    }
    assert.deepEqual(await ran([{ count: 1 }]), [[], 1])
    assert.deepEqual(await ran([{ rows: [['a']] }, { count: 0 }]), [[['a']], 1])
    // A trigger's own counts and sets come before those of the statement that fired it.
    const trigger: readonly Step[] = [{ count: 7 }, { rows: [['of a trigger']] }, { count: 1 }]
    assert.deepEqual(await ran([...trigger, { count: 2 }, { rows: [['a'], ['b']] }, { count: 2 }]), [[['a'], ['b']], 2])
    assert.deepEqual(await ran([{ count: 0 }, { rows: [['another row']] }]), [[['another row']], 0])
  })

  test('what a trigger rolled back is undone, and what it committed is beyond reach', async () => {
    const end = async (steps: readonly Step[]) => {
      const { transaction } = scripted({ WRITE: steps })
      const ran = await transaction.run(statement('WRITE'))
      assert.ok(!ran.ok)
      return seen(await transaction.rollBack(ran))
    }
    const aborted = { error: serverError(3609) }
    assert.deepEqual(await end([{ ended: 'rolled_back' }, aborted]), ['none', 'DB_CONSTRAINT', true])
    assert.deepEqual(await end([{ ended: 'committed' }, aborted]), ['unknown', 'DB_EFFECT_UNKNOWN', true])
    assert.deepEqual(await end([{ ended: 'committed' }, { count: 1 }]), ['unknown', 'DB_EFFECT_UNKNOWN', true])
  })

  test('a server that does not obey is abandoned, and its session serves nobody else', async (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const { transaction, sent } = scripted({ WRITE: ['silence'] })
    const running = transaction.run(statement('WRITE'))
    // The transaction is begun first, which takes a few turns.
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    t.mock.timers.tick(100)
    t.mock.timers.tick(CANCEL_GRACE_MS)
    const ran = await running
    assert.equal(ran.ok ? 'OK' : ran.error.code, 'TIMEOUT')
    assert.ok(sent.includes('cancel') && sent.at(-1) === 'abandon')
    assert.deepEqual(seen(await transaction.rollBack(ran)), ['none', 'TIMEOUT', false])
  })
})

describe('a call as one transaction of SQL Server', () => {
  const CALL = 'EXEC p'
  const call = (more: Partial<CompiledCall> = {}): CompiledCall => ({
    statement: statement(CALL),
    effect: 'write',
    dryRun: false,
    rowCap: 2,
    ...more,
  })
  const end = async (steps: readonly Step[], more: Partial<CompiledCall> = {}) => {
    const { transaction, sent } = scripted({ [`${more.statement?.text ?? CALL}${MARK}`]: steps })
    return { end: seen(await runCall(call(more), transaction)), sent }
  }

  const cases: readonly (readonly [
    rule: string,
    steps: readonly Step[],
    more: Partial<CompiledCall>,
    end: readonly unknown[],
  ])[] = [
    [
      'a procedure that leaves the transaction alone is committed',
      [{ count: 1 }, STANDS],
      {},
      ['committed', 'OK', true],
    ],
    ['a dry run is undone', [{ count: 1 }, STANDS], { dryRun: true }, ['none', 'OK', true]],
    ['a call that reads is undone', [STANDS], { effect: 'read' }, ['none', 'OK', true]],
    [
      'a procedure that failed was undone by the server',
      [{ ended: 'rolled_back' }, { error: serverError(2627) }],
      {},
      ['none', 'DB_CONSTRAINT', true],
    ],
    [
      'one that rolled back and ended well has done nothing, and that is not what was asked for',
      [{ ended: 'rolled_back' }, { rows: [[1, 1]] }],
      {},
      ['none', 'DB_ERROR', true],
    ],
    ['one that left a transaction open is undone', [{ rows: [[2, 1]] }], {}, ['none', 'DB_ERROR', true]],
    ['one whose transaction can only be rolled back is undone', [{ rows: [[1, -1]] }], {}, ['none', 'DB_ERROR', true]],
    [
      'one that committed by itself and ended well has done what it was called for',
      [{ ended: 'committed' }, { ended: 'rolled_back' }, STANDS],
      {},
      ['committed', 'OK', true],
    ],
    [
      'one that committed and failed then has an effect that nobody knows',
      [{ ended: 'committed' }, { ended: 'rolled_back' }, { error: serverError(50_000) }],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
    ],
    [
      'one that committed and left another open has an effect that nobody knows',
      [{ ended: 'committed' }, { rows: [[2, 1]] }],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
    ],
    [
      'a dry run that committed is no dry run',
      [{ ended: 'committed' }, STANDS],
      { dryRun: true },
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
    ],
    ['one that was lost may have committed', [{ error: LOST }], {}, ['unknown', 'DB_EFFECT_UNKNOWN', false]],
    [
      'one that reads and was lost has changed nothing',
      [{ error: LOST }],
      { effect: 'read' },
      ['none', 'CONNECTOR_UNAVAILABLE', false],
    ],
    [
      'a function changes nothing, lost or not',
      [{ error: LOST }],
      { statement: statement('SELECT f()') },
      ['none', 'CONNECTOR_UNAVAILABLE', false],
    ],
  ]
  for (const [rule, steps, more, expected] of cases) {
    test(rule, async () => assert.deepEqual((await end(steps, more)).end, expected))
  }

  test('outputs are the last set, and of the others the columns that are let through', async () => {
    const { transaction } = scripted({
      [`${CALL}${MARK}`]: [{ rows: [['a', 'hidden']] }, { rows: [['out']] }, STANDS],
    })
    const column = { name: 'o', type: { logical: 'text', native: 'x', equality: true, ordered: true } } as const
    const ended = await runCall(
      call({ statement: statement(CALL, [], [column]), sets: { names: ['c0'], cellCharsMax: 10 } }),
      transaction,
    )
    assert.ok(ended.outcome.ok)
    assert.deepEqual(ended.outcome.value.rows, [['out']])
    assert.deepEqual(
      ended.outcome.value.sets?.map(({ columns, rows }) => [columns.map(({ name }) => name), rows]),
      [[['c0'], [['a']]]],
    )
  })
})
