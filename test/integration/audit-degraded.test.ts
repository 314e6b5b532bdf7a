import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { AuditEntry, AuditRecord } from '../../src/core/audit-entry.js'
import { DEGRADED_RECORDS_MAX, DEGRADED_STRANGERS_MAX } from '../../src/core/limits.js'
import type { Observation } from '../../src/observe/observation.js'
import { AuditMailbox } from '../../src/threads/audit-mailbox.js'
import { spawnAuditWorker } from '../../src/threads/audit-worker.js'
import type { AuditSettings, BufferSettings } from '../../src/threads/messages.js'
import type { AppenderOrder } from '../support/audit-appender.js'
import { entriesIn } from '../support/audit-buffers.js'
import { assertWholeChain, auditRecord, bufferAt, readBuffer, trailSettings, until } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

type Settings = AuditSettings & { readonly buffer: BufferSettings }

function newSettings(onFailure: AuditSettings['onFailure'] = 'degrade'): Settings {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return { ...trailSettings({ onFailure }), buffer: bufferAt(join(folder, 'audit.db')) }
}

async function start(settings: AuditSettings) {
  const observations: Observation[] = []
  const started = await AuditMailbox.start(settings, {
    observe: (observation) => observations.push(observation),
    nowMs: () => performance.now(),
    spawn: spawnAuditWorker,
  })
  assert.ok(started.ok, started.ok ? '' : started.error)
  return { mailbox: started.value, observations }
}

function append(mailbox: AuditMailbox, record: AuditRecord | string): Promise<boolean> {
  const given = typeof record === 'string' ? auditRecord(record) : record
  return new Promise((resolve) => mailbox.append(given, resolve))
}

function intend(mailbox: AuditMailbox, id: string): Promise<boolean> {
  const record = auditRecord(id, { decision: 'errored', code: 'DB_EFFECT_UNKNOWN', effect: 'unknown' })
  return new Promise((resolve) => mailbox.intend(record, resolve))
}

/** Keeps anything from being written to a buffer until it is called. */
function obstruct(path: string): () => void {
  const other = new Database(path)
  for (const on of ['entries', 'meta', 'intents']) {
    other.exec(`CREATE TRIGGER ${on}_full BEFORE INSERT ON ${on} BEGIN SELECT RAISE(ABORT, 'no room'); END`)
  }
  return () => {
    for (const on of ['entries', 'meta', 'intents']) other.exec(`DROP TRIGGER ${on}_full`)
    other.close()
  }
}

const gaps = (entries: readonly AuditEntry[]) => entries.filter(({ tool }) => tool === 'gap')

test('while nothing is kept calls that read are answered, and their entries come when it is over, in order, with one that tells of the gap', async () => {
  const settings = newSettings()
  const { mailbox, observations } = await start(settings)
  assert.equal(await append(mailbox, 'before'), true)
  const clear = obstruct(settings.buffer.path)
  // The first one finds out; it is served as the others are.
  const ids = Array.from({ length: 2_500 }, (_, i) => `d${String(i).padStart(4, '0')}`)
  for (const id of ids) assert.equal(await append(mailbox, id), true)
  assert.equal(mailbox.available, false)
  assert.equal(mailbox.degraded, true)
  assert.equal(await intend(mailbox, 'write'), false, 'nothing is written that no intent is kept of')
  assert.deepEqual([...readBuffer(settings.buffer.path).ids], ['before'])
  clear()
  await until('the gap is told of', () => observations.some(({ kind }) => kind === 'audit.gap'))
  assert.equal(mailbox.available, true)
  assert.equal(mailbox.degraded, false)
  assert.equal(await append(mailbox, 'after'), true)
  await mailbox.stop()
  const content = readBuffer(settings.buffer.path)
  assertWholeChain(content)
  const entries = entriesIn(settings.buffer.path)
  assert.deepEqual(
    entries.filter(({ tool }) => tool !== 'gap').map(({ id }) => id),
    ['before', ...ids, 'after'],
  )
  const [gap, ...more] = gaps(entries)
  assert.deepEqual(more, [])
  const { from, to, ...detail } = gap?.detail ?? {}
  assert.deepEqual([gap?.operation, gap?.decision, gap?.code], ['audit', 'errored', 'AUDIT_UNAVAILABLE'])
  assert.equal(detail['calls'], 2_500)
  assert.equal(detail['lost'], 0)
  assert.equal(detail['ended'], 'recovered')
  assert.match(String(detail['reason']), /no room/)
  assert.ok(String(from) < String(to))
})

test('records that the trail had after all are not kept twice', async () => {
  const settings = newSettings()
  const { mailbox, observations } = await start(settings)
  const kept = await append(mailbox, 'a')
  const clear = obstruct(settings.buffer.path)
  await append(mailbox, 'b')
  // As if its acknowledgement had come too late.
  assert.equal(await append(mailbox, 'a'), true)
  clear()
  await until('the gap is told of', () => observations.some(({ kind }) => kind === 'audit.gap'))
  await mailbox.stop()
  assert.equal(kept, true)
  assert.deepEqual(
    entriesIn(settings.buffer.path)
      .map(({ id }) => id)
      .slice(0, 2),
    ['a', 'b'],
  )
  assert.equal(readBuffer(settings.buffer.path).lines.length, 3)
})

test('what does not fit in memory is counted, and strangers take little of it', async () => {
  const settings = newSettings()
  const { mailbox, observations } = await start(settings)
  const clear = obstruct(settings.buffer.path)
  await append(mailbox, 'first')
  const { identity: _nobody, ...anonymous } = auditRecord('x', { operation: 'request' })
  const answers: Promise<boolean>[] = []
  for (let i = 0; i < DEGRADED_STRANGERS_MAX + 10; i++) answers.push(append(mailbox, { ...anonymous, id: `s${i}` }))
  for (let i = 0; i < DEGRADED_RECORDS_MAX; i++) answers.push(append(mailbox, `d${i}`))
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([true]))
  clear()
  await until('the gap is told of', () => observations.some(({ kind }) => kind === 'audit.gap'))
  await mailbox.stop()
  const [gap] = gaps(entriesIn(settings.buffer.path))
  const calls = 1 + DEGRADED_STRANGERS_MAX + 10 + DEGRADED_RECORDS_MAX
  assert.equal(gap?.detail?.['calls'], calls)
  assert.equal(gap?.detail?.['lost'], calls - DEGRADED_RECORDS_MAX)
  assert.equal(readBuffer(settings.buffer.path).lines.length, DEGRADED_RECORDS_MAX + 1)
})

test('the outcome of a call that was let go is not answered from memory', async () => {
  const settings = newSettings()
  const { mailbox, observations } = await start(settings)
  assert.equal(await intend(mailbox, 'write'), true)
  const clear = obstruct(settings.buffer.path)
  assert.equal(await append(mailbox, auditRecord('write', { effect: 'committed' })), false)
  assert.equal(await append(mailbox, 'read'), true)
  clear()
  await until('the gap is told of', () => observations.some(({ kind }) => kind === 'audit.gap'))
  assert.equal(await append(mailbox, auditRecord('write', { effect: 'committed' })), true)
  await mailbox.stop()
  assert.deepEqual(
    entriesIn(settings.buffer.path)
      .filter(({ effect }) => effect === 'committed')
      .map(({ id }) => id),
    ['write'],
  )
})

test('a gateway that stops before the trail is back leaves a note, and the next one makes the entry of it', async () => {
  const settings = newSettings()
  const first = await start(settings)
  assert.equal(await append(first.mailbox, 'before'), true)
  const clear = obstruct(settings.buffer.path)
  for (let i = 0; i < 5; i++) assert.equal(await append(first.mailbox, `d${i}`), true)
  await first.mailbox.stop()
  assert.deepEqual(
    first.observations.filter(({ kind }) => kind === 'audit.lost').map((each) => 'entries' in each && each.entries),
    [5],
  )
  assert.equal((statSync(`${settings.buffer.path}.gap`).mode & 0o777).toString(8), '600')
  clear()
  const second = await start(settings)
  await until('the gap is told of', () => second.observations.some(({ kind }) => kind === 'audit.gap'))
  await second.mailbox.stop()
  const third = await start(settings)
  await third.mailbox.stop()
  const entries = entriesIn(settings.buffer.path)
  assert.equal(gaps(entries).length, 1)
  const { calls, lost, ended } = gaps(entries)[0]?.detail ?? {}
  assert.deepEqual({ calls, lost, ended }, { calls: 5, lost: 5, ended: 'process_ended' })
  assertWholeChain(readBuffer(settings.buffer.path))
})

test('a trail that is back when the gateway stops gets all of it', async () => {
  const settings = newSettings()
  const { mailbox } = await start(settings)
  const clear = obstruct(settings.buffer.path)
  for (let i = 0; i < 5; i++) assert.equal(await append(mailbox, `d${i}`), true)
  clear()
  await mailbox.stop()
  const entries = entriesIn(settings.buffer.path)
  assert.equal(entries.length, 6)
  assert.deepEqual([gaps(entries)[0]?.detail?.['calls'], gaps(entries)[0]?.detail?.['lost']], [5, 0])
  assert.equal(readFileSync(`${settings.buffer.path}.gap`, 'utf8').trim(), '')
})

test('killed in a gap, a process leaves what it last noted of it', async () => {
  const settings = newSettings()
  const path = settings.buffer.path
  const appender = fileURLToPath(new URL('../support/audit-appender.js', import.meta.url))
  // Without a count it goes on until it is killed.
  const order: AppenderOrder = { settings, concurrency: 1 }
  const child: ChildProcess = fork(appender, [JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const exited = once(child, 'exit')
  await once(child, 'message')
  const clear = obstruct(path)
  await until('it has noted some', () => /"calls":\d\d/.test(readFileSync(`${path}.gap`, 'utf8')))
  child.kill('SIGKILL')
  await exited
  clear()
  const next = await start(settings)
  await until('the gap is told of', () => next.observations.some(({ kind }) => kind === 'audit.gap'))
  await next.mailbox.stop()
  const [gap] = gaps(entriesIn(path))
  const calls = Number(gap?.detail?.['calls'])
  assert.ok(calls >= 10, `${calls}`)
  assert.equal(gap?.detail?.['lost'], calls)
  assert.equal(gap?.detail?.['ended'], 'process_ended')
})

test('with block nothing is answered from memory, and no note is made', async () => {
  const settings = newSettings('block')
  const { mailbox } = await start(settings)
  const clear = obstruct(settings.buffer.path)
  assert.equal(await append(mailbox, 'a'), false)
  assert.equal(mailbox.degraded, false)
  clear()
  await until('available again', () => mailbox.available)
  await mailbox.stop()
  assert.equal(readBuffer(settings.buffer.path).lines.length, 0)
  assert.throws(() => statSync(`${settings.buffer.path}.gap`), /ENOENT/)
})

test('without a buffer calls that write are served when the operator chose to serve without a trail', async () => {
  const { mailbox } = await start(trailSettings({ stdout: true, onFailure: 'degrade' }))
  assert.equal(mailbox.keepsIntents, true)
  assert.equal(await intend(mailbox, 'a'), true)
  await mailbox.stop()
})
