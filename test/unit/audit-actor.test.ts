import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, mock, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { startAuditActor } from '../../src/audit/audit-actor.js'
import { chainKeys, readHeadLine } from '../../src/audit/chain.js'
import type { Shipper, ShipperStart } from '../../src/audit/ship/ship-thread.js'
import { AUDIT_HEAD_INTERVAL_MS, AUDIT_NOTE_INTERVAL_MS } from '../../src/core/limits.js'
import type { AuditSettings, AuditStatus, FromAudit, ToAudit } from '../../src/threads/messages.js'
import { alterBuffer, entriesIn } from '../support/audit-buffers.js'
import { auditRecord, bufferAt, trailSettings, until } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let buffers = 0
const ports: MessagePort[] = []
afterEach(() => {
  mock.timers.reset()
  for (const port of ports.splice(0)) port.close()
})
const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR_MS = 3_600_000
const SHIPPER: NonNullable<AuditSettings['shipper']> = {
  url: 'http://localhost:1/',
  headers: [],
  format: 'ndjson',
  gzip: false,
  batchMax: 10,
  intervalMs: 1_000,
  timeoutMs: 1_000,
}

const newPath = () => join(root, `${buffers++}.db`)

/** The actor on this thread, with a stdout that is a text and timers that a test moves. */
async function actor(settings: AuditSettings) {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setInterval'] })
  const { port1, port2 } = new MessageChannel()
  ports.push(port1)
  const messages: FromAudit[] = []
  port1.on('message', (message: FromAudit) => messages.push(message))
  const shipped: number[] = []
  const shipper = { position: 0, failures: 2, failing: true, stopped: false }
  let nowMs = NOON
  let stdout = ''
  await startAuditActor(
    { port: port2, settings, respawned: false },
    {
      nowMs: () => nowMs,
      monotonicMs: () => performance.now(),
      randomBytes: (count) => Buffer.alloc(count, 7),
      openStdout: () => (bytes, done) => {
        stdout += Buffer.from(bytes).toString()
        setImmediate(() => done(null, bytes.length))
      },
      startShipper: (start: ShipperStart): Shipper => {
        shipped.push(start.lastSeq)
        return {
          get position() {
            return shipper.position
          },
          get failures() {
            return shipper.failures
          },
          get failing() {
            return shipper.failing
          },
          appended: (lastSeq) => shipped.push(lastSeq),
          stop: async () => {
            shipper.stopped = true
          },
        }
      },
    },
  )
  let batches = 0
  const post = (message: ToAudit) => port1.postMessage(message)
  const acked = () => messages.filter(({ kind }) => kind === 'acked').length
  return {
    messages,
    shipped,
    shipper,
    lines: () => stdout.split('\n').slice(0, -1),
    status: (): AuditStatus | undefined =>
      messages.reduce<AuditStatus | undefined>(
        (last, message) => (message.kind === 'status' ? message.status : last),
        undefined,
      ),
    async append(...ids: readonly string[]): Promise<void> {
      const before = acked()
      batches += 1
      const records = ids.map((id) => auditRecord(id, { time: new Date(nowMs).toISOString() }))
      post({ kind: 'append', batch: batches, records, intents: [] })
      await until('acknowledged', () => acked() > before)
    },
    pass(ms: number): void {
      nowMs += ms
      mock.timers.tick(ms)
    },
    async stop(): Promise<void> {
      post({ kind: 'stop' })
      await until('stopped', () => messages.some(({ kind }) => kind === 'stopped'))
    },
  }
}

test('every hour stdout has a line with the head of the chain, made with its key', async () => {
  const running = await actor(trailSettings({ stdout: true, buffer: bufferAt(newPath()) }))
  await running.append('a', 'b')
  running.pass(AUDIT_HEAD_INTERVAL_MS - 1)
  await running.append('c')
  assert.equal(running.lines().filter((line) => line.startsWith('{"head"')).length, 0)
  running.pass(1)
  await until('the head is written', () => running.lines().length === 4)
  await running.stop()
  const head = readHeadLine(chainKeys(Buffer.alloc(32, 7)), running.lines()[3] ?? '')
  const last = JSON.parse(running.lines()[2] ?? '{}')
  assert.deepEqual([head?.seq, head?.hash, head?.instance], [3, last.hash, last.instance])
  assert.equal(head?.time, new Date(NOON + AUDIT_HEAD_INTERVAL_MS).toISOString())
})

test('a buffer that begins beside a key which was there says so first, in the chain, on stdout and in the log', async () => {
  const path = newPath()
  const settings = trailSettings({ stdout: true, buffer: bufferAt(path) })
  const told = (of: { readonly messages: readonly FromAudit[] }) =>
    of.messages.some((message) => message.kind === 'observed' && message.observation.kind === 'audit.buffer_begun')
  const first = await actor(settings)
  await first.append('a')
  await first.stop()
  assert.deepEqual(
    entriesIn(path).map(({ id }) => id),
    ['a'],
  )
  assert.equal(told(first), false)
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  const second = await actor(settings)
  await second.append('b')
  await until('written', () => second.lines().length === 2)
  await second.stop()
  assert.deepEqual(
    entriesIn(path).map(({ tool, operation, code }) => [tool, operation, code]),
    [
      ['begun', 'audit', 'OK'],
      ['search_customers', 'search', 'OK'],
    ],
  )
  assert.equal(told(second), true)
  const third = await actor(settings)
  await third.stop()
  assert.equal(told(third), false)
})

test('what somebody changed beside the chain is logged once, and its lines are on stdout', async () => {
  const path = newPath()
  const settings = trailSettings({ stdout: true, buffer: bufferAt(path) })
  const told = (of: { readonly messages: readonly FromAudit[] }) =>
    of.messages.flatMap((message) =>
      message.kind === 'observed' && message.observation.kind === 'audit.tampered' ? [message.observation.detail] : [],
    )
  const first = await actor(settings)
  await first.append('a', 'b')
  await until('written', () => first.lines().length === 2)
  await first.stop()
  assert.deepEqual(told(first), [])
  alterBuffer(
    path,
    `UPDATE meta SET value = '1000000:x' WHERE key = 'position.stdout';
     INSERT INTO intents (id, time_ms, body) VALUES ('forged', 1, '{}')`,
  )
  const second = await actor(settings)
  await until('told', () => told(second).length > 0)
  // What was written before is written again, since nobody can tell any more that it was.
  await until('written', () => second.lines().length === 4)
  await second.stop()
  assert.deepEqual(told(second), [
    'beside the audit chain the intent "forged" was changed or was not written by the gateway, and 1 more',
  ])
  const third = await actor(settings)
  await third.append('c')
  await third.stop()
  assert.deepEqual(told(third), [])
})

test('entries go when they are old, and an entry says so once an hour and at the end', async () => {
  const path = newPath()
  const running = await actor(trailSettings({ buffer: bufferAt(path, { retainMs: 3 * HOUR_MS }) }))
  const notes = () => entriesIn(path).filter(({ tool }) => tool === 'checkpoint')
  await running.append('a', 'b')
  running.pass(2 * HOUR_MS)
  await running.append('c')
  assert.equal(notes().length, 0)
  running.pass(HOUR_MS)
  running.pass(1_500)
  await until('the old ones are gone', () => entriesIn(path)[0]?.id === 'c')
  assert.equal(notes().length, 0)
  running.pass(AUDIT_NOTE_INTERVAL_MS)
  await until('it is told of', () => notes().length === 1)
  assert.deepEqual(notes()[0]?.detail, { from_seq: 1, to_seq: 2, reason: 'retention' })
  running.pass(HOUR_MS)
  await until('the next is gone', () => entriesIn(path)[0]?.tool === 'checkpoint')
  await running.stop()
  assert.deepEqual(notes().at(-1)?.detail, { from_seq: 3, to_seq: 3, reason: 'retention' })
})

test('the shipper hears of new entries, and the trail tells how it gets on', async () => {
  const path = newPath()
  const running = await actor(trailSettings({ buffer: bufferAt(path), shipper: SHIPPER }))
  assert.deepEqual(running.shipped, [0])
  await running.append('a', 'b')
  assert.deepEqual(running.shipped, [0, 2])
  running.pass(5_000)
  await until('it is told', () => running.status()?.bufferEntries === 2)
  const { oldestUnshippedMs, shipFailures, failingSinks } = running.status() ?? {}
  assert.deepEqual({ shipFailures, failingSinks }, { shipFailures: 2, failingSinks: ['shipper'] })
  assert.ok(Number(oldestUnshippedMs) >= 1_000 && Number(oldestUnshippedMs) <= 5_000)
  running.shipper.position = 2
  running.shipper.failing = false
  running.pass(1_000)
  await until('it is told', () => running.status()?.oldestUnshippedMs === 0)
  assert.deepEqual(running.status()?.failingSinks, [])
  await running.stop()
  assert.equal(running.shipper.stopped, true)
})

test('without a buffer entries are kept when the file has them, and a file that cannot be written fails the start', async () => {
  const path = join(root, 'entries.jsonl')
  const running = await actor(trailSettings({ file: { path, bytesMax: 1_000_000, filesMax: 2 } }))
  await running.append('a')
  await running.append('b')
  await running.stop()
  mock.timers.reset()
  const refused = await actor(trailSettings({ file: { path: join(root, 'no', 'a.jsonl'), bytesMax: 1, filesMax: 1 } }))
  await until('it is refused', () => refused.messages.length > 0)
  const [failed] = refused.messages
  assert.ok(failed?.kind === 'start_failed')
  assert.match(failed.reason, /^audit\.file\.path ".*" cannot be written \(ENOENT\)/)
})
