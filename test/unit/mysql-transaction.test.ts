import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { CANCEL_GRACE_MS } from '../../src/core/limits.js'
import { ok } from '../../src/core/result.js'
import { Cancellation } from '../../src/engines/engine.js'
import type { Receiver, WireStatement } from '../../src/engines/mysql/wire.js'
import { type RestorableSession, WriteTransaction } from '../../src/engines/mysql/write-transaction.js'
import { statement } from '../support/postgres.js'

/** How the server answers one statement: an error, silence, or OK with a count of warnings. */
type Answer = Error | 'silence' | number

const serverError = (errno: number, sqlState = 'HY000') =>
  Object.assign(new Error('said'), { code: 'ER', errno, sqlState })
const LOST = new Error('the server closed the connection')

/** A transaction on a session that answers as the test says, and writes down what it was sent. */
function scripted(
  answers: Readonly<Record<string, Answer>>,
  nowMs: () => number = () => 0,
  restorable = true,
  byte = 0,
) {
  const sent: string[] = []
  const cancellation = new Cancellation()
  const session: RestorableSession = {
    limited: () => [],
    cancel: () => sent.push('cancel'),
    abandon: () => sent.push('abandon'),
    restore: async () => {
      sent.push('restore')
      return restorable
    },
    submit: (wire: WireStatement, receiver: Receiver) => {
      const text = wire.kind === 'reset' ? 'reset' : wire.text
      sent.push(text)
      const answer = answers[text] ?? 0
      if (answer === 'silence') return
      queueMicrotask(() => {
        if (typeof answer === 'number') receiver.completed(1, answer)
        else receiver.failed(answer)
        receiver.done()
      })
    },
  }
  const options = { timeoutMs: 100, acquireTimeoutMs: 1, bytesMax: 1_000, cancellation }
  return {
    transaction: new WriteTransaction({
      session,
      options,
      nowMs,
      randomBytes: (count) => new Uint8Array(count).fill(byte),
    }),
    sent,
    cancellation,
  }
}

const seen = ({ effect, outcome, reusable }: Awaited<ReturnType<WriteTransaction['commit']>>) => [
  effect,
  outcome.ok ? 'OK' : outcome.error.code,
  reusable,
]

describe('the end of a writing transaction of MySQL and MariaDB', () => {
  const cases: readonly (readonly [
    rule: string,
    answers: Readonly<Record<string, Answer>>,
    end: readonly unknown[],
  ])[] = [
    ['committed when the server says so', {}, ['committed', 'OK', true]],
    ['none when COMMIT was refused as a whole', { COMMIT: serverError(1213) }, ['none', 'DB_CONFLICT', true]],
    [
      'unknown when COMMIT failed and nothing is promised of that',
      { COMMIT: serverError(1180) },
      ['unknown', 'DB_EFFECT_UNKNOWN', false],
    ],
    [
      'unknown when the error was the last that was heard',
      { COMMIT: serverError(1213), ROLLBACK: LOST },
      ['unknown', 'DB_EFFECT_UNKNOWN', false],
    ],
    [
      'unknown when the server was ending',
      { COMMIT: serverError(1053, '08S01') },
      ['unknown', 'DB_EFFECT_UNKNOWN', false],
    ],
    ['unknown when nothing was heard', { COMMIT: LOST }, ['unknown', 'DB_EFFECT_UNKNOWN', false]],
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
    assert.deepEqual(sent, ['START TRANSACTION READ WRITE', 'LOCK', 'WRITE', 'COMMIT', 'restore'])
  })

  test('a cancellation or a deadline before COMMIT rolls back instead', async () => {
    const cancelled = scripted({})
    await cancelled.transaction.run(statement('WRITE'))
    cancelled.cancellation.request('CANCELLED')
    assert.deepEqual(seen(await cancelled.transaction.commit('value')), ['none', 'CANCELLED', true])
    assert.deepEqual(cancelled.sent.slice(2), ['ROLLBACK', 'restore'])

    let now = 0
    const late = scripted({}, () => now)
    await late.transaction.run(statement('WRITE'))
    now = 100
    assert.deepEqual(seen(await late.transaction.commit('value')), ['none', 'TIMEOUT', true])
    assert.ok(!late.sent.includes('COMMIT'))
  })

  test('a session that could not be made as it was serves nobody else', async () => {
    const { transaction } = scripted({}, () => 0, false)
    await transaction.run(statement('WRITE'))
    assert.deepEqual(seen(await transaction.rollBack(ok('value'))), ['none', 'OK', false])
  })

  test('a rollback with warnings is asked what they are before anything is called undone', async () => {
    const { transaction, sent } = scripted({ ROLLBACK: 1, 'SHOW WARNINGS': LOST })
    await transaction.run(statement('WRITE'))
    assert.deepEqual(seen(await transaction.undo('value')), ['unknown', 'DB_EFFECT_UNKNOWN', true])
    assert.ok(sent.includes('SHOW WARNINGS'))
  })

  test('a call whose mark is gone has ended its transaction', async () => {
    const check = async (answer: Answer) => {
      const { transaction } = scripted({ [`RELEASE SAVEPOINT runku_${'00'.repeat(16)}`]: answer })
      await transaction.call(statement('CALL p()'), {})
      return transaction.standing()
    }
    assert.equal(await check(0), 'stands')
    assert.equal(await check(serverError(1305)), 'gone')
    assert.equal(await check(LOST), 'unsure')
    assert.equal(await scripted({}).transaction.standing(), 'stands')
  })

  test('a lost connection that is only signalled is an error of the statement, and its session is rolled back', async () => {
    const posing = { WRITE: serverError(1927, '70100') }
    const alive = scripted(posing)
    const ran = await alive.transaction.run(statement('WRITE'))
    assert.equal(ran.ok ? 'OK' : ran.error.code, 'DB_CONSTRAINT')
    assert.deepEqual(seen(await alive.transaction.rollBack(ran)), ['none', 'DB_CONSTRAINT', true])
    const dead = scripted({ ...posing, 'DO 0': LOST })
    const lost = await dead.transaction.run(statement('WRITE'))
    assert.equal(lost.ok ? 'OK' : lost.error.code, 'CONNECTOR_UNAVAILABLE')
    assert.deepEqual(seen(await dead.transaction.rollBack(lost)), ['none', 'CONNECTOR_UNAVAILABLE', false])
  })

  test('the mark of a call has a name that no other has', async () => {
    const marks = [1, 2].map(async (byte) => {
      const { transaction, sent } = scripted({}, () => 0, true, byte)
      await transaction.call(statement('CALL p()'), {})
      return sent[1]
    })
    assert.deepEqual(
      await Promise.all(marks),
      [1, 2].map((byte) => `SAVEPOINT runku_${`0${byte}`.repeat(16)}`),
    )
  })

  test('a server that does not obey is abandoned, and its session serves nobody else', async (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const { transaction, sent } = scripted({ WRITE: 'silence' })
    const running = transaction.run(statement('WRITE'))
    // The transaction is begun first, which takes a few turns.
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    t.mock.timers.tick(100)
    t.mock.timers.tick(CANCEL_GRACE_MS)
    const ran = await running
    assert.equal(ran.ok ? 'OK' : ran.error.code, 'TIMEOUT')
    assert.ok(sent.filter((text) => text === 'cancel').length > 1 && sent.at(-1) === 'abandon')
    assert.deepEqual(seen(await transaction.rollBack(ran)), ['none', 'TIMEOUT', false])
  })
})
