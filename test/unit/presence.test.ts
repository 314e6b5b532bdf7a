import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type InstanceStore, StoreFailure } from '../../src/admin/admin-store.js'
import { Presence } from '../../src/presence.js'
import type { ReloadReport } from '../../src/reloads.js'
import { eventually } from '../support/test-server.js'

const SELF = { run: 'r', instance: 'g', host: 'h', pid: 1 }
const report = (request?: number): ReloadReport => ({
  connectors: [],
  faults: [],
  needsRestart: [],
  ...(request === undefined ? {} : { request }),
})

/** A store that writes down what it is told; `answer` settles each write. */
function presenceOn(answer: (write: string) => Promise<void>) {
  const writes: string[] = []
  const failures: unknown[] = []
  const write = (text: string) => {
    writes.push(text)
    return answer(text)
  }
  const store: InstanceStore = {
    noteInstance: ({ run }) => write(`note ${run}`),
    forgetInstance: (run) => write(`forget ${run}`),
    reportReload: ({ run }, request) => write(`report ${run} ${request}`),
    listInstances: async () => [],
    reloadReports: async () => new Map(),
  }
  const presence = new Presence({ store, self: SELF, states: () => [], onFailed: (error) => failures.push(error) })
  return { presence, writes, failures }
}

describe('what an instance tells the store of itself', () => {
  test('each request is reported on once, and a reload that nobody asked the store for not at all', async () => {
    const { presence, writes } = presenceOn(async () => {})
    await presence.seen()
    for (const request of [3, 3, undefined, 4]) {
      presence.reloaded(report(request))
      await presence.seen()
    }
    assert.deepEqual(
      writes.filter((write) => write.startsWith('report')),
      ['report r 3', 'report r 4'],
    )
    assert.equal(writes[0], 'note r')
  })

  test('nothing is written behind its end, whatever was under way', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { presence, writes } = presenceOn((write) => (write.startsWith('note') ? held : Promise.resolve()))
    const seen = presence.seen()
    await eventually('a write is under way', () => writes.length > 0)
    presence.reloaded(report(1))
    const ended = presence.end()
    presence.reloaded(report(2))
    release()
    await Promise.all([seen, ended, presence.seen(), presence.end()])
    assert.deepEqual(writes, ['note r', 'forget r'])
  })

  test('a report that the store could not take is written when it can, and of several the newest', async () => {
    let away = true
    const { presence, writes, failures } = presenceOn(async () => {
      if (away) throw new StoreFailure('locked', 'another session holds the admin store')
    })
    presence.reloaded(report(1))
    presence.reloaded(report(2))
    await presence.seen()
    assert.ok(failures.length > 0)
    away = false
    writes.length = 0
    // Its own timers keep no process alive.
    const alive = setInterval(() => {}, 1_000)
    await eventually('it is written', () => writes.length > 0)
    clearInterval(alive)
    assert.deepEqual(writes, ['report r 2'])
    await presence.end()
  })
})
