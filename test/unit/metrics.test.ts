import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { Metrics } from '../../src/observe/metrics.js'

const GAUGES = {
  connector: 'shop',
  inFlight: 3,
  epoch: 7,
  drift: 2,
  threads: { starting: 0, serving: 1 },
  connections: { idle: 1, busy: 3 },
}

const STATUS = { bufferEntries: 0, fillRatio: 0, oldestUnshippedMs: 0, shipFailures: 0 }

const RECORD: AuditRecord = {
  id: 'a-1',
  time: '2026-01-01T00:00:00.000Z',
  connector: 'shop',
  identity: 'secret-identity',
  key_id: 'secretkey123',
  roles: ['secret-role'],
  client: 'secret-client',
  address: '10.9.8.7',
  tool: 'secret_tool',
  operation: 'get',
  target: 'secret.table',
  decision: 'errored',
  code: 'DB_ERROR',
  reason: 'secret reason',
  effect: 'none',
  duration_ms: { total: 12, queue: 2, db: 8 },
}

function metrics(available = true): Metrics {
  const made = new Metrics(() => [GAUGES], { available, degraded: !available, status: STATUS })
  made.describe({ version: '1.2.3', node: 'v20', http: 'node' })
  return made
}

test('labels are connector, operation, decision, code, state, reason and the build, and nothing else', async () => {
  const made = metrics()
  made.count(RECORD, 1)
  made.count({ ...RECORD, operation: 'request', decision: 'blocked', code: 'AUTH_INVALID', count: 5 }, 1)
  made.observe({ kind: 'connector.unavailable', connector: 'shop', reason: 'secret reason', retryInMs: 1 })
  made.observe({ kind: 'connector.worker_exited', connector: 'shop', reason: 'secret reason', callsLost: 1 })
  const { text } = await made.scrape()
  assert.doesNotMatch(text, /secret|10\.9\.8\.7/)
  const allowed = new Set([
    'connector',
    'operation',
    'decision',
    'code',
    'state',
    'reason',
    'outcome',
    'le',
    'version',
    'node',
    'http',
  ])
  for (const [, labels = ''] of text.matchAll(/^[a-z_]+\{([^}]*)\}/gm)) {
    for (const [, name = ''] of labels.matchAll(/([a-z_]+)="/g)) assert.ok(allowed.has(name), name)
  }
})

test('a call is counted once, with its times in seconds', async () => {
  const made = metrics()
  made.count(RECORD, 4)
  const { text } = await made.scrape()
  assert.match(text, /runku_calls_total\{connector="shop",operation="get",decision="errored",code="DB_ERROR"\} 1\n/)
  assert.match(text, /runku_call_duration_seconds_sum\{connector="shop",operation="get"\} 0\.012\n/)
  assert.match(text, /runku_queue_seconds_sum\{connector="shop"\} 0\.002\n/)
  assert.match(text, /runku_db_seconds_sum\{connector="shop"\} 0\.008\n/)
  assert.match(text, /runku_audit_commit_seconds_sum 0\.004\n/)
  assert.match(text, /runku_audit_entries_total\{decision="errored"\} 1\n/)
})

test('refusals by authentication are counted by reason, folded ones by their number', async () => {
  const made = metrics()
  const refusal: AuditRecord = { ...RECORD, operation: 'request', decision: 'blocked', code: 'AUTH_INVALID' }
  made.count(refusal, 1)
  made.count({ ...refusal, count: 41 }, 1)
  made.count({ ...refusal, code: 'RATE_LIMITED' }, 1)
  const { text } = await made.scrape()
  assert.match(text, /runku_auth_failures_total\{reason="AUTH_INVALID"\} 42\n/)
  assert.match(text, /runku_rate_limited_total 1\n/)
})

test('the state of the trail is shown as it last told, and failed deliveries add up over the deaths of its thread', async () => {
  let status = { bufferEntries: 12, fillRatio: 0.85, oldestUnshippedMs: 1_500, shipFailures: 3 }
  const made = new Metrics(() => [], {
    available: false,
    degraded: true,
    get status() {
      return status
    },
  })
  const { text } = await made.scrape()
  for (const line of [
    'runku_audit_available 0',
    'runku_audit_degraded 1',
    'runku_audit_buffer_entries 12',
    'runku_audit_buffer_fill_ratio 0.85',
    'runku_audit_oldest_unshipped_seconds 1.5',
    'runku_audit_ship_failures_total 3',
  ]) {
    assert.ok(text.includes(`${line}\n`), line)
  }
  status = { ...status, shipFailures: 5 }
  assert.match((await made.scrape()).text, /runku_audit_ship_failures_total 5\n/)
  // A new audit thread counts from nothing.
  status = { ...status, shipFailures: 1 }
  assert.match((await made.scrape()).text, /runku_audit_ship_failures_total 6\n/)
})

test('a scrape shows the state of now, and that node:http took over', async () => {
  const { text } = await metrics(false).scrape()
  for (const line of [
    'runku_in_flight{connector="shop"} 3',
    'runku_snapshot_epoch{connector="shop"} 7',
    'runku_drift_objects{connector="shop"} 2',
    'runku_threads{connector="shop",state="serving"} 1',
    'runku_pool_connections{connector="shop",state="busy"} 3',
    'runku_audit_available 0',
    'runku_http_fallback 1',
    'runku_build_info{version="1.2.3",node="v20",http="node"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), line)
  }
})
