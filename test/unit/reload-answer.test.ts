import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { awaitReload } from '../../src/reload-answer.js'
import type { ReloadReport } from '../../src/reloads.js'
import type { ConnectorState } from '../../src/threads/fleet-report.js'

const LONG_MS = 60_000
const NOTHING: ReloadReport = { connectors: [], faults: [], needsRestart: [] }
const BROKEN: ConnectorState = {
  id: 'broken',
  policy: 'notes',
  source: 'file',
  origin: 'config.yaml:9',
  mode: 'disabled',
  drift: [],
  warnings: [],
  faults: ['config.yaml:9: expected a type'],
}

describe('what somebody who asked for a reload is told', () => {
  test('each connector with its outcome, in the order of their ids: what could not be applied is kept where something serves, and unavailable where not', async () => {
    const connectors: ReloadReport['connectors'] = [
      { id: 'g', outcome: 'failed', reason: 'the host is dead', drift: [] },
      { id: 'f', outcome: 'failed', reason: 'the policy has a fault', drift: ['orders is gone'], epoch: 4 },
      { id: 'e', outcome: 'removed', drift: [] },
      { id: 'd', outcome: 'unchanged', drift: [], epoch: 3 },
      { id: 'c', outcome: 'replaced', drift: [], epoch: 7 },
      { id: 'b', outcome: 'added', drift: [], epoch: 1 },
      { id: 'a', outcome: 'reloaded', drift: [], epoch: 2 },
    ]
    const told = await awaitReload(
      Promise.resolve({ connectors, faults: [], needsRestart: ['audit'] }),
      () => [BROKEN],
      LONG_MS,
    )
    assert.deepEqual(told, {
      finished: true,
      faults: [],
      connectors: [
        { id: 'a', outcome: 'applied', epoch: 2, faults: [], drift: [] },
        { id: 'b', outcome: 'applied', epoch: 1, faults: [], drift: [] },
        { id: 'broken', outcome: 'disabled', faults: BROKEN.faults, drift: [] },
        { id: 'c', outcome: 'applied', epoch: 7, faults: [], drift: [] },
        { id: 'd', outcome: 'unchanged', epoch: 3, faults: [], drift: [] },
        { id: 'e', outcome: 'removed', faults: [], drift: [] },
        { id: 'f', outcome: 'kept', epoch: 4, faults: ['the policy has a fault'], drift: ['orders is gone'] },
        { id: 'g', outcome: 'unavailable', faults: ['the host is dead'], drift: [] },
      ],
      needs_restart: ['audit'],
    })
  })

  test('of a configuration that cannot be read, what is wrong with it and no connector', async () => {
    const told = await awaitReload(Promise.resolve({ ...NOTHING, faults: ['no YAML'] }), () => [BROKEN], LONG_MS)
    assert.deepEqual(told, { finished: true, faults: ['no YAML'], connectors: [], needs_restart: [] })
  })

  test('a reload that does not end keeps nobody waiting for ever', async () => {
    // A timer that keeps the process alive, as the gateway's listeners do.
    const alive = setInterval(() => {}, LONG_MS)
    try {
      const told = await awaitReload(new Promise(() => {}), () => [BROKEN], 1)
      assert.deepEqual(told, { finished: false, faults: [], connectors: [], needs_restart: [] })
    } finally {
      clearInterval(alive)
    }
  })
})
