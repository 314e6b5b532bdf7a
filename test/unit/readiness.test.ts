import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditReadiness } from '../../src/readiness.js'
import type { AuditStatus } from '../../src/threads/messages.js'

const STATUS: AuditStatus = {
  bufferEntries: 5,
  fillRatio: 0.2,
  spaceLow: false,
  strangersFull: false,
  oldestUnshippedMs: 0,
  shipFailures: 0,
  failingSinks: [],
}

function of(available: boolean, degraded: boolean, status: Partial<AuditStatus> = {}) {
  return auditReadiness({ available, degraded, status: { ...STATUS, ...status } })
}

test('a trail that takes nothing keeps the gateway from serving, unless calls are served without it', () => {
  assert.deepEqual(of(true, false), { failing: [], degraded: [], warnings: [] })
  assert.deepEqual(of(false, false), { failing: ['audit'], degraded: [], warnings: [] })
  assert.deepEqual(of(false, true), { failing: [], degraded: ['audit'], warnings: [] })
})

test('a buffer that fills is warned of before it is full, and a sink that writes nothing is, by name alone', () => {
  assert.deepEqual(of(true, false, { fillRatio: 0.79 }).warnings, [])
  assert.deepEqual(of(true, false, { fillRatio: 0.8 }), {
    failing: [],
    degraded: [],
    warnings: ['audit_buffer_filling'],
  })
  assert.deepEqual(of(true, false, { spaceLow: true }).warnings, ['audit_space_low'])
  assert.deepEqual(of(true, false, { failingSinks: ['file'] }).warnings, ['audit_sink_failing'])
})
