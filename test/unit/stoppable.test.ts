import assert from 'node:assert/strict'
import { stat } from 'node:fs'
import { test } from 'node:test'
import { CANCEL_GRACE_MS } from '../../src/core/limits.js'
import { runStoppable } from '../../src/engines/driver/stoppable.js'
import { Cancellation } from '../../src/engines/engine.js'

test('a server that obeyed while this thread stood still is heard, and not given up', async () => {
  const cancellation = new Cancellation()
  let settle: (outcome: string) => void = () => {}
  let gaveUp = false
  const running = runStoppable<string>(
    {
      timeoutMs: 60_000,
      start: (settled) => {
        settle = settled
      },
      cancel: () => {},
      giveUp: () => {
        gaveUp = true
      },
    },
    cancellation,
  )
  cancellation.request('CANCELLED')
  await new Promise<void>((resolve) =>
    setImmediate(() => {
      // The answer comes in as anything does that is read, while the thread is at something else.
      stat('.', () => settle('obeyed'))
      const untilMs = performance.now() + CANCEL_GRACE_MS + 100
      while (performance.now() < untilMs);
      resolve()
    }),
  )
  assert.deepEqual(await running, { kind: 'stopped', code: 'CANCELLED', outcome: 'obeyed' })
  assert.equal(gaveUp, false)
})
