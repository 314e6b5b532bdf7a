import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { ok } from '../../src/core/result.js'
import { Cancellation } from '../../src/engines/engine.js'
import type { WireConnection, WireQuery } from '../../src/engines/postgres/wire-query.js'
import { WriteTransaction } from '../../src/engines/postgres/write-transaction.js'
import { statement } from '../support/postgres.js'

/** What the server does with one batch: tags that it answers with, and then possibly a failure. */
interface Answer {
  readonly tags: readonly string[]
  readonly failure?: Error
}

const serverError = (code: string) => Object.assign(new Error('said'), { code, severity: 'ERROR' })
const LOST = new Error('Connection terminated unexpectedly')
const DONE: Answer = { tags: ['…'] }

/** A transaction on a session that answers as the test says, and writes down what it was sent. */
function scripted(answers: readonly Answer[], nowMs: () => number = () => 0) {
  const sent: string[][] = []
  const left = [...answers]
  const submit = (query: WireQuery): void => {
    const texts: string[] = []
    const connection: WireConnection = {
      stream: { on: () => {}, off: () => {}, cork: () => {}, uncork: () => {} },
      parse: ({ text }) => texts.push(text),
      bind: () => {},
      execute: () => {},
      close: () => {},
      flush: () => {},
      sync: () => {},
    }
    query.submit(connection)
    sent.push(texts)
    const { tags, failure } = left.shift() ?? { tags: [], failure: LOST }
    for (const text of tags) query.handleCommandComplete({ text })
    if (failure === undefined) query.handleReadyForQuery()
    else query.handleError(failure)
  }
  const cancellation = new Cancellation()
  const transaction = new WriteTransaction({
    session: { submit, cancel: () => {} },
    options: { timeoutMs: 100, acquireTimeoutMs: 1, bytesMax: 1_000, cancellation },
    pooled: false,
    nowMs,
  })
  return { transaction, sent, cancellation }
}

const seen = ({ effect, outcome, reusable }: Awaited<ReturnType<WriteTransaction['commit']>>) => [
  effect,
  outcome.ok ? 'OK' : outcome.error.code,
  reusable,
]

describe('the end of a writing transaction', () => {
  const cases: readonly (readonly [rule: string, answers: readonly Answer[], end: readonly unknown[]])[] = [
    ['committed when the server says so', [{ tags: ['COMMIT'] }], ['committed', 'OK', true]],
    [
      'committed when the connection is lost behind the answer, and the session is not used again',
      [{ tags: ['COMMIT'], failure: LOST }],
      ['committed', 'OK', false],
    ],
    ['none when a COMMIT is answered by a rollback', [{ tags: ['ROLLBACK'] }], ['none', 'DB_ERROR', true]],
    [
      'none when COMMIT failed on a session that lives on',
      [{ tags: [], failure: serverError('23503') }, DONE],
      ['none', 'DB_CONSTRAINT', true],
    ],
    [
      'unknown when an error was the last that was heard',
      [
        { tags: [], failure: serverError('57P01') },
        { tags: [], failure: LOST },
      ],
      ['unknown', 'DB_EFFECT_UNKNOWN', false],
    ],
    ['unknown when nothing was heard', [{ tags: [], failure: LOST }], ['unknown', 'DB_EFFECT_UNKNOWN', false]],
  ]
  for (const [rule, answers, end] of cases) {
    test(`the effect is ${rule}`, async () => {
      const { transaction } = scripted([DONE, ...answers])
      await transaction.run(statement('WRITE'))
      assert.deepEqual(seen(await transaction.commit('value')), end)
    })
  }

  test('the first statement opens the transaction, and the last tidies the session up in the same batch', async () => {
    const { transaction, sent } = scripted([DONE, DONE, { tags: ['COMMIT'] }])
    await transaction.run(statement('LOCK'))
    await transaction.run(statement('WRITE'))
    await transaction.commit('value')
    assert.deepEqual(sent.slice(0, 2), [['BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE', 'LOCK'], ['WRITE']])
    assert.equal(sent[2]?.[0], 'COMMIT')
    assert.ok(sent[2]?.includes('RESET ALL') && sent[2].includes('DEALLOCATE ALL'))
  })

  test('a cancellation or a deadline before COMMIT rolls back instead', async () => {
    const cancelled = scripted([DONE, DONE])
    await cancelled.transaction.run(statement('WRITE'))
    cancelled.cancellation.request('CANCELLED')
    assert.deepEqual(seen(await cancelled.transaction.commit('value')), ['none', 'CANCELLED', true])
    assert.equal(cancelled.sent[1]?.[0], 'ROLLBACK')

    let now = 0
    const late = scripted([DONE, DONE], () => now)
    await late.transaction.run(statement('WRITE'))
    now = 100
    assert.deepEqual(seen(await late.transaction.commit('value')), ['none', 'TIMEOUT', true])
    assert.equal(late.sent[1]?.[0], 'ROLLBACK')
  })

  test('a session that could not be tidied up serves nobody else', async () => {
    const { transaction } = scripted([DONE, { tags: [], failure: serverError('42501') }])
    await transaction.run(statement('WRITE'))
    assert.deepEqual(seen(await transaction.rollBack(ok('value'))), ['none', 'OK', false])
  })

  test('the server that answers a COMMIT after its time has the last word', async (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const state: { query?: WireQuery; cancels: number } = { cancels: 0 }
    const transaction = new WriteTransaction({
      session: {
        submit: (query) => {
          state.query = query
        },
        cancel: () => {
          state.cancels += 1
        },
      },
      options: { timeoutMs: 100, acquireTimeoutMs: 1, bytesMax: 1_000, cancellation: new Cancellation() },
      pooled: false,
      nowMs: () => 0,
    })
    const committing = transaction.commit('value')
    t.mock.timers.tick(100)
    assert.equal(state.cancels, 1)
    state.query?.handleCommandComplete({ text: 'COMMIT' })
    state.query?.handleReadyForQuery()
    assert.deepEqual(seen(await committing), ['committed', 'OK', false])
  })
})
