import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lane } from '../../src/threads/connector-pool.js'
import { Gate } from '../../src/threads/gate.js'
import type { PrepareReport, ToConnector } from '../../src/threads/messages.js'
import { Preparations, type RefreshOutcome, type StoredForConnector } from '../../src/threads/preparations.js'

const REPORT: PrepareReport = {
  fingerprint: 'new',
  serverVersion: '1',
  tables: 1,
  overrides: [],
  drift: [],
  warnings: [],
}

type Prepare = Extract<ToConnector, { kind: 'prepare' }>

/** Preparations of a connector whose thread and store are the test's. */
function prepared() {
  const asked: Prepare[] = []
  const failures: string[] = []
  const swapped: number[] = []
  const state = { nowMs: 0, version: 1, storeFails: false, fingerprint: undefined as string | undefined }
  // The one member that is used of it.
  const lane = { served: true, ask: (message: Prepare) => asked.push(message) } as unknown as Lane
  let requests = 0
  let epochs = 0
  const preparations = new Preparations(
    {
      busy: false,
      begin: () => lane,
      kill: () => {},
      newRequestId: () => {
        requests += 1
        return requests
      },
      get fingerprint() {
        return state.fingerprint
      },
      swap: async ({ epoch }, report) => {
        state.fingerprint = report.fingerprint
        swapped.push(epoch)
        return { kind: 'reloaded', epoch, drift: [] }
      },
      unchanged: () => ({ kind: 'unchanged', epoch: swapped.at(-1) ?? 0, drift: [] }),
      failed: (reason) => failures.push(reason),
      ended: () => {},
    },
    {
      nowMs: () => state.nowMs,
      random: () => 0,
      gate: new Gate(1),
      readPolicy: async (): Promise<StoredForConnector> => {
        if (state.storeFails) throw new Error('locked')
        return { name: 'p', document: '{}', version: state.version, mark: String(state.version) }
      },
      confirm: async () => {},
      nextEpoch: () => {
        epochs += 1
        return epochs
      },
    },
  )
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** Answers the newest question of the thread as if the catalog and the policy gave this. */
  const answer = async (fingerprint: string) => {
    await turn()
    const question = asked.at(-1)
    assert.ok(question)
    const common = { kind: 'prepared', requestId: question.requestId, ok: true } as const
    const report = { ...REPORT, fingerprint }
    if (question.current === fingerprint) preparations.answered({ ...common, report })
    else {
      const snapshot = { epoch: question.epoch, bytes: new SharedArrayBuffer(1) }
      preparations.answered({ ...common, snapshot, report })
    }
    await turn()
  }
  return { preparations, asked, failures, swapped, state, lane, answer, turn }
}

describe('preparations of a connector', () => {
  test('who asks while one is under way is answered by the next, which reads the policy as it is then', async () => {
    const { preparations, asked, state, answer, turn } = prepared()
    const outcomes: RefreshOutcome[] = []
    void preparations.refresh().then((outcome) => outcomes.push(outcome))
    await turn()
    state.version = 2
    for (let n = 0; n < 3; n++) void preparations.refresh().then((outcome) => outcomes.push(outcome))
    await answer('one')
    assert.equal(outcomes.length, 1)
    assert.equal(asked.length, 2, 'one for all who asked meanwhile')
    assert.equal(preparations.policyMark, '2')
    await answer('two')
    assert.deepEqual(
      outcomes.map((outcome) => outcome.kind !== 'failed' && outcome.epoch),
      [1, 2, 2, 2],
    )
    preparations.close()
  })

  test('what comes out as it was is not swapped', async () => {
    const { preparations, swapped, answer } = prepared()
    void preparations.refresh()
    await answer('same')
    const again = preparations.refresh()
    await answer('same')
    assert.deepEqual(await again, { kind: 'unchanged', epoch: 1, drift: [] })
    assert.deepEqual(swapped, [1])
    preparations.close()
  })

  test('a failing store and a lost thread are failures with their reasons, and whoever asks again is not kept waiting by the pause', async () => {
    const { preparations, failures, state, lane, answer, turn } = prepared()
    state.storeFails = true
    assert.deepEqual(await preparations.refresh(), { kind: 'failed', reason: 'the admin store failed: locked' })
    state.storeFails = false
    const lost = preparations.refresh()
    await turn()
    preparations.lost(lane, 'gone')
    assert.deepEqual(await lost, { kind: 'failed', reason: 'the worker thread ended while it introspected' })
    assert.equal(failures.length, 2)
    const well = preparations.refresh()
    await answer('one')
    assert.equal((await well).kind, 'reloaded')
    preparations.close()
  })

  test('who waits for one that goes well is told by none that fails, nor by one that began before', async () => {
    const { preparations, state, answer, turn } = prepared()
    void preparations.refresh()
    await turn()
    let well = false
    void preparations.whenWell().then(() => {
      well = true
    })
    await answer('one')
    assert.deepEqual([well, preparations.servedMark], [false, '1'])
    state.version = 2
    state.storeFails = true
    assert.equal((await preparations.refresh()).kind, 'failed')
    state.storeFails = false
    await turn()
    assert.deepEqual([well, preparations.servedMark], [false, '1'])
    void preparations.refresh()
    await answer('two')
    assert.deepEqual([well, preparations.servedMark], [true, '2'])
    const closed = preparations.whenWell()
    preparations.close()
    await closed
    await preparations.whenWell()
  })

  test('the policy in force is the one that a preparation went well with, not the one that was read last', async () => {
    const { preparations, state, lane, answer, turn } = prepared()
    void preparations.refresh()
    await answer('one')
    state.version = 2
    const failing = preparations.refresh()
    await turn()
    preparations.lost(lane, 'gone')
    assert.equal((await failing).kind, 'failed')
    assert.deepEqual([preparations.policyMark, preparations.servedMark], ['2', '1'])
    preparations.close()
  })

  test('a changed schema makes it prepare again at most twice a minute, whatever else prepared it', async () => {
    const { preparations, asked, state, answer, turn } = prepared()
    void preparations.refresh()
    await answer('one')
    const seen = async () => {
      preparations.schemaChanged()
      await turn()
      return asked.length
    }
    assert.equal(await seen(), 2)
    await answer('two')
    state.nowMs = 29_000
    assert.equal(await seen(), 2, 'seen again too soon')
    preparations.close()
  })

  test('after its end everybody is answered, and nothing is prepared any more', async () => {
    const { preparations, asked, turn } = prepared()
    const [under, next] = [preparations.refresh(), preparations.refresh()]
    await turn()
    preparations.close()
    for (const outcome of [under, next, preparations.refresh()]) assert.equal((await outcome).kind, 'failed')
    assert.equal(asked.length, 1)
  })
})
