import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RefusalNotices } from '../../src/audit/ship/refusal-notices.js'
import { SHIP_REFUSAL_NOTICE_INTERVAL_MS } from '../../src/core/limits.js'
import type { Observation } from '../../src/observe/observation.js'

const refused = (entries: number, firstSeq: number): Observation => ({
  kind: 'audit.ship_refused',
  entries,
  firstSeq,
  detail: 'too large',
})

test('the first refusal is told at once, those of the next minute together, and the next one after a quiet minute at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told: Observation[] = []
  const notices = new RefusalNotices((observation) => told.push(observation))
  for (let seq = 1; seq <= 100; seq++) notices.observe(refused(1, seq))
  assert.deepEqual(told, [refused(1, 1)])
  t.mock.timers.tick(SHIP_REFUSAL_NOTICE_INTERVAL_MS)
  assert.deepEqual(told, [refused(1, 1), refused(99, 2)])
  notices.observe(refused(3, 101))
  assert.equal(told.length, 2)
  t.mock.timers.tick(SHIP_REFUSAL_NOTICE_INTERVAL_MS)
  t.mock.timers.tick(SHIP_REFUSAL_NOTICE_INTERVAL_MS)
  notices.observe(refused(1, 104))
  assert.deepEqual(told.slice(2), [refused(3, 101), refused(1, 104)])
})

test('what was not told yet is told at the end, and other observations are not held', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told: Observation[] = []
  const notices = new RefusalNotices((observation) => told.push(observation))
  const accepted: Observation = { kind: 'audit.ship_accepted', entries: 1, firstSeq: 1 }
  for (const seq of [1, 2, 3]) notices.observe(refused(1, seq))
  notices.observe(accepted)
  notices.end()
  assert.deepEqual(told, [refused(1, 1), accepted, refused(2, 2)])
})
