import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { connectBuffer } from '../../src/audit/buffer-file.js'
import { ShipReader } from '../../src/audit/ship/ship-reader.js'
import type { Step } from '../../src/audit/ship/ship-steps.js'
import { ShipLoop, type ShipLoopDeps } from '../../src/audit/ship/shipper.js'
import { SHIP_REFUSED_RETRY_INTERVAL_MS } from '../../src/core/limits.js'
import { until } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-ship-'))
after(() => rmSync(root, { recursive: true }))

/** Steps that do as they are told, and the clock that the loop goes by. */
class Script {
  readonly asked: boolean[] = []
  readonly told: (string | undefined)[] = []
  rounds = 0
  nowMs = 0
  steps: Step[] = []
  busy = false
  position = 0
  readonly loop: ShipLoop

  constructor(settings: Partial<ShipLoopDeps> = {}) {
    this.loop = new ShipLoop({
      steps: this,
      batchMax: 10,
      intervalMs: 1_000_000,
      nowMs: () => this.nowMs,
      random: () => 0,
      onStatus: (_failures, failing) => this.told.push(failing),
      ...settings,
    })
  }

  async step(whole: boolean): Promise<Step> {
    this.asked.push(whole)
    return this.steps.shift() ?? { kind: 'idle' }
  }

  retryRefused(): void {
    this.rounds += 1
  }
}

describe('the loop', () => {
  test('does nothing before there is a batch, sends one that is whole at once, and ends when it is stopped', async () => {
    const script = new Script()
    const ended = script.loop.run()
    script.loop.appended(9)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(script.asked, [])
    script.steps = [{ kind: 'moved', entries: 10, pauseMs: 0 }]
    script.loop.appended(10)
    await until('a step', () => script.asked.length > 0)
    script.position = 10
    script.loop.stop(1_000)
    await ended
    assert.equal(script.asked[0], false)
  })

  test('does not ask again and again for entries that somebody removed', async () => {
    const script = new Script()
    const ended = script.loop.run()
    script.loop.appended(50)
    await until('a step', () => script.asked.length > 0)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(script.asked.length, 1)
    script.loop.stop(1_000)
    await ended
  })

  test('sends what was refused again once an hour', async () => {
    const script = new Script()
    const ended = script.loop.run()
    script.loop.appended(1)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(script.rounds, 0)
    for (const round of [1, 2]) {
      script.nowMs += SHIP_REFUSED_RETRY_INTERVAL_MS
      script.loop.appended(1 + round)
      await until('a round', () => script.rounds === round)
    }
    script.loop.stop(1_000)
    await ended
  })

  test('tells of an outage when it begins and of its end, and tries once more when it is stopped in a pause', async () => {
    const script = new Script()
    script.busy = true
    const failed: Step = { kind: 'failed', reason: 'away', pauseMs: 60_000, progress: false }
    script.steps = [failed, failed]
    const ended = script.loop.run()
    await until('a failure', () => script.told.length === 1)
    script.loop.appended(50)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(script.asked.length, 1)
    script.loop.stop(1_000)
    await ended
    assert.equal(script.asked.length, 2)
    assert.deepEqual(script.told, ['away', 'away'])
  })

  test('gives up an attempt that hangs when its time to end is over', async () => {
    const script = new Script()
    script.busy = true
    let given: AbortSignal | undefined
    const loop = new ShipLoop({
      steps: {
        busy: true,
        position: 0,
        retryRefused: () => {},
        step: (_whole, signal) =>
          new Promise((resolve) => {
            given = signal
            signal.addEventListener('abort', () =>
              resolve({ kind: 'failed', reason: 'given up', pauseMs: undefined, progress: false }),
            )
          }),
      },
      batchMax: 10,
      intervalMs: 50,
      nowMs: () => 0,
      random: () => 0,
      onStatus: () => {},
    })
    const ended = loop.run()
    loop.stop(20)
    // The deadline alone keeps no process alive.
    const alive = setInterval(() => {}, 1_000)
    await ended
    clearInterval(alive)
    assert.equal(given?.aborted, true)
  })
})

describe('pauses', () => {
  const failed = (progress: boolean): Step => ({ kind: 'failed', reason: 'away', pauseMs: undefined, progress })
  const moved = (pauseMs: number): Step => ({ kind: 'moved', entries: 1, pauseMs })

  /** Lets a loop take these steps without anybody waiting, and gives the pauses that it made. */
  async function pausesOf(t: TestContext, steps: Step[]): Promise<readonly number[]> {
    const pauses: number[] = []
    t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
      pauses.push(ms)
      setImmediate(run)
      return { unref() {} }
    })
    const loop = new ShipLoop({
      steps: {
        busy: true,
        position: 0,
        retryRefused: () => {},
        step: async () => {
          const step = steps.shift()
          if (steps.length === 0) {
            t.mock.restoreAll()
            loop.stop(1_000)
          }
          return step ?? { kind: 'idle' }
        },
      },
      batchMax: 10,
      intervalMs: 50,
      nowMs: () => 0,
      random: () => 0,
      onStatus: () => {},
    })
    await loop.run()
    return pauses
  }

  test('grow while nothing gets through, and begin anew after any attempt that was not in vain', async (t) => {
    const inVain = [failed(false), failed(false), failed(false)]
    assert.deepEqual(await pausesOf(t, [...inVain, moved(0), failed(false), moved(0)]), [250, 500, 1_000, 250])
    assert.deepEqual(await pausesOf(t, [...inVain, failed(true), failed(false), moved(0)]), [250, 500, 1_000, 250, 500])
  })

  test('after an attempt of which a part was taken are as long as the step says', async (t) => {
    assert.deepEqual(await pausesOf(t, [moved(0), moved(7_000), moved(0)]), [7_000])
  })
})

describe('the reader', () => {
  const path = join(root, 'audit.db')
  const db = connectBuffer(path, 'normal')
  const insert = db.prepare('INSERT INTO entries (seq, id, time_ms, body) VALUES (?, ?, ?, ?)')
  for (let seq = 2; seq <= 6; seq++) insert.run(seq, `e-${seq}`, seq * 1_000, 'x'.repeat(10))
  const reader = new ShipReader(path)
  after(() => {
    reader.close()
    db.close()
  })

  test('gives as many entries as count and characters allow, and one however long it is', () => {
    const seqs = (...given: Parameters<ShipReader['after']>) => {
      const { items, full } = reader.after(...given)
      return [items.map(({ seq }) => seq), full]
    }
    assert.deepEqual(seqs(0, 3, 1_000), [[2, 3, 4], true])
    assert.deepEqual(seqs(0, 30, 1_000), [[2, 3, 4, 5, 6], false])
    assert.deepEqual(seqs(3, 30, 25), [[4, 5], true])
    assert.deepEqual(seqs(4, 30, 1), [[5], true])
    assert.deepEqual(seqs(6, 30, 1_000), [[], false])
  })

  test('has refused entries from their own table once the others are gone', () => {
    const line = '{"seq":1,"id":"gone","time":"2026-01-01T00:00:00.000Z"}'
    db.prepare('INSERT INTO undelivered (seq, body) VALUES (1, ?), (5, NULL)').run(line)
    assert.deepEqual(reader.refusedAfter(0, 10, 1_000).items, [
      { seq: 1, id: 'gone', timeMs: Date.UTC(2026, 0, 1), line },
      { seq: 5, id: 'e-5', timeMs: 5_000, line: 'x'.repeat(10) },
    ])
  })
})
