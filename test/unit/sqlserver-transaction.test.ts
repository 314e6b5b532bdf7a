import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { CANCEL_GRACE_MS } from '../../src/core/limits.js'
import { ok } from '../../src/core/result.js'
import type { ResultColumn } from '../../src/core/statement.js'
import { Cancellation, type CompiledCall, type SessionContext } from '../../src/engines/engine.js'
import type { WireField } from '../../src/engines/sqlserver/cell-text.js'
import { runCall } from '../../src/engines/sqlserver/run-call.js'
import type { Receiver, WireStatement } from '../../src/engines/sqlserver/wire.js'
import { type RestorableSession, WriteTransaction } from '../../src/engines/sqlserver/write-transaction.js'
import { statement } from '../support/test-server.js'

/** What the server answers, step by step; it is done after the last, unless that failed, is silence or waits to be interrupted. */
type Step =
  | { readonly rows: readonly (readonly unknown[])[] }
  | { readonly ended: 'committed' | 'rolled_back' }
  | { readonly error: Error }
  | 'silence'
  | 'interrupted'
type Answers = Readonly<Record<string, readonly Step[]>>

const UPDATEABILITY = "CONVERT(nvarchar(60), DATABASEPROPERTYEX(DB_NAME(), N'Updateability'))"
const WRITABLE = `ISNULL(${UPDATEABILITY}, N'') <> N'READ_ONLY'`
const HELD = `CASE WHEN @@TRANCOUNT > 0 AND ${WRITABLE} THEN APPLOCK_MODE(N'public', N'runku', N'Transaction') END`
const STATE = `DECLARE @open int = @@TRANCOUNT, @held nvarchar(32) = ${HELD}`
const BEGIN = `BEGIN TRANSACTION; SET IMPLICIT_TRANSACTIONS ON; IF ${WRITABLE} EXEC sys.sp_getapplock @Resource = N'runku', @LockMode = N'Shared', @LockOwner = N'Transaction', @LockTimeout = 0; SELECT ${HELD}, ${UPDATEABILITY}`
const COMMIT = `${STATE}; IF @open = 1 AND @held = N'Shared' COMMIT TRANSACTION; SELECT @open, @held`
const COMMIT_REST = `${STATE}; IF @open = 1 COMMIT TRANSACTION; SELECT @open, @held`
const ROLLBACK = `${STATE}; IF @open > 0 ROLLBACK TRANSACTION; SELECT @open, @held`
const COUNT_OPEN = `SELECT @@TRANCOUNT, XACT_STATE(), ${HELD}`
/** A call as it is sent, without parameters of its own: the mark is the first. */
const batchOf = (text: string) =>
  text.startsWith('SELECT ')
    ? `${text};\n${COUNT_OPEN}`
    : `BEGIN TRY\n${text};\n${COUNT_OPEN};\nEND TRY\nBEGIN CATCH\nSELECT @p1, ${HELD};\nTHROW;\nEND CATCH`
const STANDS: Step = { rows: [[1, 1, 'Shared']] }
/** Another transaction than the one that was begun, or none. */
const ANOTHER: Step = { rows: [[1, 1, 'NoLock']] }
const ROLLED_BACK_ANOTHER: Answers = { [ROLLBACK]: [{ rows: [[1, 'NoLock']] }] }
const ROLLED_BACK_NONE: Answers = { [ROLLBACK]: [{ rows: [[0, null]] }] }

/** What the server answers where a test says nothing else. */
const USUAL: Answers = {
  [BEGIN]: [{ rows: [['Shared', 'READ_WRITE']] }],
  [COMMIT]: [{ ended: 'committed' }, { rows: [[1, 'Shared']] }],
  [COMMIT_REST]: [{ ended: 'committed' }, { rows: [[1, 'NoLock']] }],
  [ROLLBACK]: [{ ended: 'rolled_back' }, { rows: [[1, 'Shared']] }],
}
const MARK = 'the mark'
/** What a batch says when it is caught failing: in the transaction that was begun, in another one, or in none. */
const CAUGHT_WITHIN: Step = { rows: [[MARK, 'Shared']] }
const CAUGHT_IN_ANOTHER: Step = { rows: [[MARK, 'NoLock']] }
const CAUGHT_OUTSIDE: Step = { rows: [[MARK, null]] }

const serverError = (number: number) => Object.assign(new Error('said'), { number, state: 1, class: 16 })
const CANCELED = Object.assign(new Error('Canceled.'), { code: 'ECANCEL' })
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

/** `onCancel`: takes what happens when the statement is called off. */
function play(steps: readonly Step[], receiver: Receiver, onCancel: (obey: () => void) => void): void {
  for (const step of steps) {
    if (step === 'silence') return
    if (step === 'interrupted') return onCancel(() => receiver.failed(CANCELED))
    if ('error' in step) return receiver.failed(step.error)
    if ('ended' in step) receiver.transactionEnded(step.ended)
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
  readonly reading?: true
}

/** A transaction on a session that answers as the test says, and writes down what it was sent. */
function scripted(answers: Answers, { nowMs = () => 0, restorable = true, context, ...reading }: Scripted = {}) {
  const sent: string[] = []
  const bound: WireStatement[] = []
  const cancellation = new Cancellation()
  let obey = () => {}
  const session: RestorableSession = {
    cancel: () => {
      sent.push('cancel')
      obey()
    },
    abandon: () => sent.push('abandon'),
    restore: async () => {
      sent.push('restore')
      return restorable
    },
    submit: (wire: WireStatement, receiver: Receiver) => {
      sent.push(wire.text)
      bound.push(wire)
      const steps = answers[wire.text] ?? USUAL[wire.text] ?? []
      const onCancel = (obeying: () => void): void => {
        obey = obeying
        sent.push('waiting')
      }
      queueMicrotask(() => play(steps, receiver, onCancel))
    },
  }
  const options = {
    timeoutMs: 100,
    acquireTimeoutMs: 1,
    bytesMax: 1_000,
    cancellation,
    ...(context === undefined ? {} : { context }),
  }
  const transaction = new WriteTransaction({ session, options, nowMs, newMark: () => MARK, ...reading })
  return { transaction, sent, bound, cancellation }
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
      { [COMMIT]: [{ rows: [[2, 'Shared']] }], [ROLLBACK]: [{ rows: [[2, 'Shared']] }] },
      ['none', 'DB_ERROR', true],
    ],
    [
      'unknown when there was nothing left to commit',
      { [COMMIT]: [{ rows: [[0, null]] }], ...ROLLED_BACK_NONE },
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
    ],
    [
      'unknown when it was another transaction that was left to commit',
      { [COMMIT]: [{ rows: [[1, 'NoLock']] }], ...ROLLED_BACK_ANOTHER },
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

  const DECLARED = 'DECLARE @mark nvarchar(36) = @p2;\nWRITE'
  const TEXT: ResultColumn = { name: 'a', type: { logical: 'text', native: 'x', equality: true, ordered: true } }
  const ran = async (steps: readonly Step[], marked: 'rows' | 'counted' = 'rows', columns = [TEXT]) => {
    const write = { ...statement('WRITE', ['given'], columns), marked }
    const result = await scripted({ [DECLARED]: steps }).transaction.run(write)
    return result.ok ? [result.value.rows, result.value.affected] : result.error.code
  }
  /** As a trigger would return it that knows what a written row looks like. */
  const FORGED: Step = { rows: [['other mark', '77', 't']] }

  test('rows of a trigger are never taken for those of the statement, wherever they come', async () => {
    const own: Step = {
      rows: [
        [MARK, 'a', 't'],
        [MARK, 'b', 't'],
      ],
    }
    const rows = [
      [
        ['a', 't'],
        ['b', 't'],
      ],
      2,
    ]
    for (const steps of [[own], [own, FORGED], [FORGED, own], [FORGED, { rows: [['secret']] }, own, FORGED]]) {
      assert.deepEqual(await ran(steps), rows)
    }
    // None of its own: what is not written cannot be shown.
    assert.deepEqual(await ran([FORGED]), [[], 0])
    assert.deepEqual(await ran([]), [[], 0])
  })

  test('rows that are read back tell how many were written, whatever triggers counted', async () => {
    assert.deepEqual(await ran([FORGED, { rows: [[MARK, 2, 'a', 't']] }], 'counted'), [[['a', 't']], 2])
    assert.deepEqual(await ran([FORGED], 'counted'), [[], 0])
  })

  test('rows that cannot be told apart for certain are refused', async () => {
    const own: Step = { rows: [[MARK, 'a', 't']] }
    assert.equal(await ran([own, own]), 'DB_ERROR')
    assert.equal(
      await ran([
        {
          rows: [
            [MARK, 'a', 't'],
            ['other', 'b', 't'],
          ],
        },
      ]),
      'DB_ERROR',
    )
    assert.equal(await ran([{ rows: [[MARK, 'a', 'b', 't']] }]), 'DB_ERROR')
    assert.equal(await ran([{ rows: [[MARK, 'a', 't']] }], 'counted'), 'DB_ERROR')
    const lock = await scripted({ LOCK: [{ rows: [['t']] }, { rows: [['t']] }] }).transaction.run(statement('LOCK'))
    assert.equal(lock.ok ? 'OK' : lock.error.code, 'DB_ERROR')
  })

  test('a number that has come to be text is refused before it is shown', async () => {
    const columns: ResultColumn[] = [{ ...TEXT, type: { ...TEXT.type, logical: 'integer' } }]
    assert.equal(await ran([{ rows: [[MARK, 'a', 't']] }], 'rows', columns), 'SCHEMA_CHANGED')
    assert.deepEqual(await ran([{ rows: [[MARK, '1', 't']] }], 'rows', columns), [[['1', 't']], 1])
  })

  test('the mark is bound behind the parameters, and what only reads has none', async () => {
    const { transaction, bound } = scripted({})
    await transaction.run(statement('LOCK', ['x']))
    await transaction.run({ ...statement('WRITE', ['given']), marked: 'rows' })
    assert.deepEqual(bound.slice(1), [
      { kind: 'statement', text: 'LOCK', params: ['x'] },
      { kind: 'statement', text: DECLARED, params: ['given', MARK] },
    ])
  })

  test('a transaction that cannot be told from others is not begun', async () => {
    const unheld: Answers = { [BEGIN]: [{ rows: [['NoLock', 'READ_WRITE']] }] }
    for (const reading of [{}, { reading: true }] as const) {
      const { transaction, sent } = scripted(unheld, reading)
      const ran = await transaction.run(statement('WRITE'))
      assert.deepEqual([ran.ok ? 'OK' : ran.error.code, sent], ['DB_CONFLICT', [BEGIN]])
    }
  })

  test('a database that is read-only has no locks to tell by: it is read, and a write is told why not', async () => {
    const replica: Answers = { [BEGIN]: [{ rows: [[null, 'READ_ONLY']] }], [ROLLBACK]: [{ rows: [[1, null]] }] }
    const reading = scripted(replica, { reading: true })
    assert.ok((await reading.transaction.run(statement('READ'))).ok)
    assert.deepEqual(seen(await reading.transaction.rollBack(ok('value'))), ['none', 'OK', true])
    const writing = scripted(replica)
    const ran = await writing.transaction.run(statement('WRITE'))
    assert.ok(!ran.ok)
    assert.equal(ran.error.code, 'DB_PERMISSION')
    assert.match(ran.error.reason ?? '', /read-only/)
    assert.deepEqual(writing.sent, [BEGIN])
    assert.deepEqual(seen(await writing.transaction.rollBack(ran)), ['none', 'DB_PERMISSION', true])
  })

  test('a call on a read-only database that fails has changed nothing', async () => {
    const { transaction } = scripted(
      {
        [BEGIN]: [{ rows: [[null, 'READ_ONLY']] }],
        [batchOf('EXEC p')]: [{ rows: [[MARK, null]] }, { ended: 'rolled_back' }, { error: serverError(3906) }],
        ...ROLLED_BACK_NONE,
      },
      { reading: true },
    )
    const reads = { statement: statement('EXEC p'), effect: 'read', dryRun: false, rowCap: 2 } as const
    assert.deepEqual(seen(await runCall(reads, transaction)), ['none', 'DB_PERMISSION', true])
  })

  test('a dry run whose transaction was ended inside may have lasted, whether the server told of it or not', async () => {
    for (const rolledBack of [ROLLED_BACK_ANOTHER, ROLLED_BACK_NONE]) {
      const { transaction } = scripted(rolledBack)
      await transaction.run(statement('WRITE'))
      assert.deepEqual(seen(await transaction.undo('value')), ['unknown', 'DB_EFFECT_UNKNOWN', true])
    }
  })

  test('what a trigger rolled back is undone, and what it committed is beyond reach', async () => {
    const end = async (steps: readonly Step[]) => {
      const { transaction } = scripted({ WRITE: steps, ...ROLLED_BACK_NONE })
      const ran = await transaction.run(statement('WRITE'))
      assert.ok(!ran.ok)
      return seen(await transaction.rollBack(ran))
    }
    const aborted = { error: serverError(3609) }
    assert.deepEqual(await end([{ ended: 'rolled_back' }, aborted]), ['none', 'DB_CONSTRAINT', true])
    assert.deepEqual(await end([{ ended: 'committed' }, aborted]), ['unknown', 'DB_EFFECT_UNKNOWN', true])
    assert.deepEqual(await end([{ ended: 'committed' }]), ['unknown', 'DB_EFFECT_UNKNOWN', true])
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
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  const call = (more: Partial<CompiledCall> = {}): CompiledCall => ({
    statement: statement(CALL),
    effect: 'write',
    dryRun: false,
    rowCap: 2,
    ...more,
  })
  const end = async (steps: readonly Step[], more: Partial<CompiledCall> = {}, answers: Answers = {}) => {
    const { transaction, sent } = scripted({ [batchOf(more.statement?.text ?? CALL)]: steps, ...answers })
    return { end: seen(await runCall(call(more), transaction)), sent }
  }

  const stopped = async (steps: readonly Step[], more: Partial<CompiledCall> = {}) => {
    const { transaction, sent, cancellation } = scripted({ [batchOf(CALL)]: [...steps, 'interrupted'] })
    const running = runCall(call(more), transaction)
    await turns()
    assert.equal(sent.at(-1), 'waiting')
    cancellation.request('CANCELLED')
    return seen(await running)
  }

  test('one that is stopped is undone, unless a transaction was ended: whoever did that may have written outside of it', async () => {
    assert.deepEqual(await stopped([]), ['none', 'CANCELLED', false])
    assert.deepEqual(await stopped([{ ended: 'rolled_back' }]), ['unknown', 'DB_EFFECT_UNKNOWN', false])
    assert.deepEqual(await stopped([{ ended: 'committed' }]), ['unknown', 'DB_EFFECT_UNKNOWN', false])
    assert.deepEqual(await stopped([{ ended: 'rolled_back' }], { effect: 'read' }), ['none', 'CANCELLED', false])
  })

  const cases: readonly (readonly [
    rule: string,
    steps: readonly Step[],
    more: Partial<CompiledCall>,
    end: readonly unknown[],
    answers?: Answers,
  ])[] = [
    ['a procedure that leaves the transaction alone is committed', [STANDS], {}, ['committed', 'OK', true]],
    ['a dry run is undone', [STANDS], { dryRun: true }, ['none', 'OK', true]],
    ['a call that reads is undone', [STANDS], { effect: 'read' }, ['none', 'OK', true]],
    [
      'a procedure that failed was undone by the server',
      [CAUGHT_WITHIN, { ended: 'rolled_back' }, { error: serverError(2627) }],
      {},
      ['none', 'DB_CONSTRAINT', true],
      ROLLED_BACK_NONE,
    ],
    [
      'one that rolled back and wrote outside of any transaction before it failed may have changed something',
      [{ ended: 'rolled_back' }, CAUGHT_OUTSIDE, { error: serverError(51_000) }],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_NONE,
    ],
    [
      'so may one that does it in a dry run',
      [{ ended: 'rolled_back' }, CAUGHT_OUTSIDE, { error: serverError(51_000) }],
      { dryRun: true },
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_NONE,
    ],
    [
      'so may one that is declared to read',
      [{ ended: 'rolled_back' }, CAUGHT_OUTSIDE, { error: serverError(51_000) }],
      { effect: 'read' },
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_NONE,
    ],
    [
      'so may one that failed within a transaction of its own, which the error has ended',
      [{ ended: 'rolled_back' }, CAUGHT_IN_ANOTHER, { ended: 'rolled_back' }, { error: serverError(51_000) }],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_NONE,
    ],
    [
      'one that failed with an error that nothing catches has an effect that nobody knows, whatever its own rows look like',
      [{ rows: [['other mark', 'Shared']] }, { ended: 'rolled_back' }, { error: serverError(701) }],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_NONE,
    ],
    [
      'one that is not there any more has done nothing',
      [{ ended: 'rolled_back' }, { error: serverError(2812) }],
      {},
      ['none', 'SCHEMA_CHANGED', true],
      ROLLED_BACK_NONE,
    ],
    [
      'one that rolled back and ended well may have written behind that, which nobody knows',
      [{ ended: 'rolled_back' }, ANOTHER],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_ANOTHER,
    ],
    [
      'one that ended the transaction is not committed where the server did not tell of it',
      [ANOTHER],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_ANOTHER,
    ],
    [
      'a call that reads and ended the transaction may have committed',
      [{ rows: [[0, 0, null]] }],
      { effect: 'read' },
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_NONE,
    ],
    [
      'a dry run that began another transaction is no dry run',
      [ANOTHER],
      { dryRun: true },
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_ANOTHER,
    ],
    [
      'one that failed in another transaction than the one that was begun may have committed that',
      [CAUGHT_IN_ANOTHER, { error: serverError(50_000) }],
      {},
      ['unknown', 'DB_EFFECT_UNKNOWN', true],
      ROLLED_BACK_ANOTHER,
    ],
    [
      'one that failed and left the transaction as it was is undone',
      [CAUGHT_WITHIN, { error: serverError(50_000) }],
      {},
      ['none', 'DB_CONSTRAINT', true],
    ],
    [
      'a dry run whose end nobody heard of may have committed',
      [STANDS],
      { dryRun: true },
      ['unknown', 'DB_EFFECT_UNKNOWN', false],
      { [ROLLBACK]: [{ error: LOST }] },
    ],
    ['one that left a transaction open is undone', [{ rows: [[2, 1, 'Shared']] }], {}, ['none', 'DB_ERROR', true]],
    [
      'one whose transaction can only be rolled back is undone',
      [{ rows: [[1, -1, 'Shared']] }],
      {},
      ['none', 'DB_ERROR', true],
    ],
    [
      'one that committed by itself and ended well has done what it was called for',
      [{ ended: 'committed' }, { ended: 'rolled_back' }, ANOTHER],
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
      [{ ended: 'committed' }, { rows: [[2, 1, 'NoLock']] }],
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
      'a function that failed has ended no transaction but by that',
      [{ ended: 'rolled_back' }, { error: serverError(208) }],
      { statement: statement('SELECT f()') },
      ['none', 'SCHEMA_CHANGED', true],
      ROLLED_BACK_NONE,
    ],
    [
      'a function changes nothing, lost or not',
      [{ error: LOST }],
      { statement: statement('SELECT f()') },
      ['none', 'CONNECTOR_UNAVAILABLE', false],
    ],
  ]
  for (const [rule, steps, more, expected, answers] of cases) {
    test(rule, async () => assert.deepEqual((await end(steps, more, answers)).end, expected))
  }

  test('what tells where an error was caught is bound behind the parameters, for procedures alone', async () => {
    const bound = async (text: string) => {
      const session = scripted({})
      await runCall(call({ statement: statement(text, ['x']), effect: 'read' }), session.transaction)
      const [, sent] = session.bound
      return sent?.kind === 'statement' ? [sent.params, sent.text.includes('SELECT @p2, ')] : undefined
    }
    assert.deepEqual(await bound('EXEC p @p1'), [['x', MARK], true])
    assert.deepEqual(await bound('SELECT f(@p1)'), [['x'], false])
  })

  test('outputs are the last set, and of the others the columns that are let through', async () => {
    const { transaction } = scripted({
      [batchOf(CALL)]: [{ rows: [['a', 'hidden']] }, { rows: [['out']] }, STANDS],
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
