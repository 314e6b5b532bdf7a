import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { LifecycleEntries } from '../../src/lifecycle-entries.js'

function lifecycle() {
  const kept: AuditRecord[] = []
  const audit = {
    available: true,
    append: (record: AuditRecord, onDurable: (durable: boolean) => void) => {
      kept.push(record)
      onDurable(true)
    },
  }
  let timeMs = Date.UTC(2026, 0, 1)
  const entries = new LifecycleEntries({
    audit,
    wallMs: () => timeMs,
    newId: () => `id-${kept.length}`,
    meter: () => {},
  })
  const pass = (ms: number) => {
    timeMs += ms
  }
  return { kept, audit, entries, pass }
}

test('the death of a thread is an entry of its connector, with the calls that it took along', () => {
  const { kept, entries } = lifecycle()
  entries.observe({ kind: 'connector.worker_exited', connector: 'shop', reason: 'out of memory', callsLost: 3 })
  assert.deepEqual(kept, [
    {
      id: 'id-0',
      time: '2026-01-01T00:00:00.000Z',
      connector: 'shop',
      tool: 'worker_exited',
      operation: 'gateway',
      decision: 'errored',
      code: 'CONNECTOR_UNAVAILABLE',
      reason: 'out of memory',
      effect: 'none',
      detail: { calls_lost: 3 },
      duration_ms: { total: 0 },
    },
  ])
})

test('while the trail takes nothing nothing is given to it, and afterwards it says from when to when that was, and why', () => {
  const { kept, audit, entries, pass } = lifecycle()
  audit.available = false
  entries.observe({ kind: 'audit.unavailable', detail: 'the disk is full' })
  entries.observe({ kind: 'connector.removed', connector: 'shop' })
  pass(61_000)
  entries.observe({ kind: 'audit.unavailable', detail: 'the file is locked' })
  assert.deepEqual(kept, [])
  audit.available = true
  entries.observe({ kind: 'audit.available' })
  assert.deepEqual(
    kept.map(({ tool, code, reason, detail }) => ({ tool, code, reason, detail })),
    [
      {
        tool: 'audit_restored',
        code: 'AUDIT_UNAVAILABLE',
        reason: 'the disk is full',
        detail: { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T00:01:01.000Z' },
      },
    ],
  )
  entries.observe({ kind: 'audit.available' })
  assert.equal(kept.length, 1)
})

test('a reload says which connectors it changed, and one that was refused why', () => {
  const { kept, entries } = lifecycle()
  entries.observe({
    kind: 'reload.ended',
    cause: 'store',
    reloaded: ['a', 'b'],
    added: [],
    removed: ['c'],
    replaced: [],
    failed: [],
    unchanged: 7,
  })
  entries.observe({ kind: 'reload.refused', cause: 'signal', faults: ['line 3: no such key', 'line 9: not a list'] })
  assert.deepEqual(
    kept.map(({ detail, reason, decision }) => ({ detail, reason, decision })),
    [
      {
        detail: { cause: 'store', unchanged: 7, reloaded: 'a, b', reloaded_count: 2, removed: 'c', removed_count: 1 },
        reason: undefined,
        decision: 'allowed',
      },
      { detail: { cause: 'signal' }, reason: 'line 3: no such key; line 9: not a list', decision: 'errored' },
    ],
  )
})

test('what is of no call and decides none is left to the log', () => {
  const { kept, entries } = lifecycle()
  entries.observe({ kind: 'driver.connection_lost', connector: 'shop', detail: 'reset' })
  entries.observe({ kind: 'gateway.draining', inFlight: 0 })
  assert.deepEqual(kept, [])
})
