import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import type { Observation } from '../../src/observe/observation.js'
import { AuditMailbox, type AuditMailboxDeps } from '../../src/threads/audit-mailbox.js'
import { spawnAuditWorker } from '../../src/threads/audit-worker.js'
import type { AuditSettings, BufferSettings } from '../../src/threads/messages.js'
import { assertWholeChain, auditRecord, bufferAt, readBuffer, trailSettings, until } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

function newSettings(): AuditSettings & { readonly buffer: BufferSettings } {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  const buffer = bufferAt(join(folder, 'audit.db'))
  return { ...trailSettings(), buffer }
}

interface Running {
  readonly mailbox: AuditMailbox
  readonly observations: Observation[]
  readonly workers: Worker[]
}

async function start(settings: AuditSettings, overrides: Partial<AuditMailboxDeps> = {}): Promise<Running> {
  const observations: Observation[] = []
  const workers: Worker[] = []
  const started = await AuditMailbox.start(settings, {
    observe: (observation) => observations.push(observation),
    nowMs: () => performance.now(),
    spawn: (workerStart) => {
      const worker = spawnAuditWorker(workerStart)
      workers.push(worker)
      return worker
    },
    ...overrides,
  })
  assert.ok(started.ok, started.ok ? '' : started.error)
  return { mailbox: started.value, observations, workers }
}

function append(mailbox: AuditMailbox, id: string): Promise<boolean> {
  return new Promise((resolve) => mailbox.append(auditRecord(id), resolve))
}

function intend(mailbox: AuditMailbox, id: string): Promise<boolean> {
  const intent = auditRecord(id, {
    operation: 'update',
    decision: 'errored',
    code: 'DB_EFFECT_UNKNOWN',
    effect: 'unknown',
  })
  return new Promise((resolve) => mailbox.intend(intent, resolve))
}

function intentsIn(path: string): readonly string[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare<[], string>('SELECT id FROM intents ORDER BY id').pluck().all()
  } finally {
    db.close()
  }
}

const kinds = (observations: readonly Observation[]) => observations.map(({ kind }) => kind)

test('what was appended before a stop is kept, and nothing is taken after it', async () => {
  const settings = newSettings()
  const { mailbox } = await start(settings)
  const answers = Array.from({ length: 500 }, (_, i) => append(mailbox, `a${i}`))
  await mailbox.stop()
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([true]))
  assert.equal(await append(mailbox, 'late'), false)
  assert.equal(mailbox.available, false)
  const content = readBuffer(settings.buffer.path)
  assert.equal(content.lines.length, 500)
  assertWholeChain(content)
  await mailbox.stop()
})

test('filter values are on disk as digests only', async () => {
  const settings = newSettings()
  const { mailbox } = await start(settings)
  await append(mailbox, 'a')
  await mailbox.stop()
  assert.match(readBuffer(settings.buffer.path).lines[0] ?? '', /"values":\["hmac:[0-9a-f]{32}"\]/)
})

test('a killed audit thread loses no acknowledged record, and every record is answered once and kept once', async () => {
  const settings = newSettings()
  const { mailbox, observations, workers } = await start(settings)
  const kept = new Set<string>()
  let answers = 0
  let appended = 0
  let kills = 0
  const loaded = new Promise<void>((resolve) => {
    const next = () => {
      if (appended === 6_000) return
      const id = `a${appended++}`
      mailbox.append(auditRecord(id), (durable) => {
        answers += 1
        if (durable) kept.add(id)
        // In the middle of the load, with records on their way and in the worker.
        if (answers % 1_500 === 750) {
          kills += 1
          void workers.at(-1)?.terminate()
        }
        if (answers === 6_000) resolve()
        else next()
      })
    }
    for (let i = 0; i < 128; i++) next()
  })
  await loaded
  await until('available again', () => mailbox.available)
  assert.equal(kills, 4)
  assert.ok(workers.length > 1)
  await mailbox.stop()
  assert.equal(answers, 6_000)
  assert.equal(kept.size, 6_000)
  const content = readBuffer(settings.buffer.path)
  assert.deepEqual(
    [...kept].filter((id) => !content.ids.has(id)),
    [],
  )
  assert.equal(content.lines.length, 6_000)
  assertWholeChain(content)
  assert.equal(kinds(observations)[0], 'audit.unavailable')
  assert.equal(kinds(observations).at(-1), 'audit.available')
})

test('a record appended while the thread is down is kept when it is back', async () => {
  const settings = newSettings()
  const { mailbox, workers } = await start(settings)
  await append(mailbox, 'a')
  void workers[0]?.terminate()
  await until('down', () => !mailbox.available)
  assert.equal(await append(mailbox, 'b'), true)
  assert.equal(mailbox.available, true)
  await mailbox.stop()
  assert.deepEqual([...readBuffer(settings.buffer.path).ids], ['a', 'b'])
})

test('an intent is on disk when it is answered, and its outcome takes its place', async () => {
  const settings = newSettings()
  const { mailbox } = await start(settings)
  assert.equal(mailbox.keepsIntents, true)
  assert.equal(await intend(mailbox, 'a'), true)
  assert.deepEqual(intentsIn(settings.buffer.path), ['a'])
  assert.equal(await append(mailbox, 'a'), true)
  assert.deepEqual(intentsIn(settings.buffer.path), [])
  await mailbox.stop()
  assert.deepEqual([...readBuffer(settings.buffer.path).ids], ['a'])
})

test('the audit thread dies between intent and outcome: the call goes on, and has one entry, its outcome', async () => {
  const settings = newSettings()
  const { mailbox, workers } = await start(settings)
  const dying = Array.from({ length: 50 }, (_, i) => intend(mailbox, `i${String(i).padStart(2, '0')}`))
  assert.deepEqual(new Set(await Promise.all(dying)), new Set([true]))
  const answers = Array.from({ length: 25 }, (_, i) => append(mailbox, `i${String(i).padStart(2, '0')}`))
  const more = intend(mailbox, 'late')
  void workers[0]?.terminate()
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([true]))
  assert.equal(await more, true)
  assert.equal(intentsIn(settings.buffer.path).length, 26)
  await mailbox.stop()
  const content = readBuffer(settings.buffer.path)
  assert.equal(content.lines.length, 25)
  assert.ok(content.lines.every((line) => line.includes('"effect":"none"')))
  assertWholeChain(content)
  // The next process ends what this one left.
  const next = await start(settings)
  await next.mailbox.stop()
  const later = readBuffer(settings.buffer.path)
  assert.equal(later.lines.filter((line) => line.includes('"effect":"unknown"')).length, 26)
  assertWholeChain(later)
})

test('without a buffer no intent is kept', async () => {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  const { mailbox } = await start(trailSettings({ stdout: true, chainKeyFile: join(folder, 'chain.key') }))
  assert.equal(mailbox.keepsIntents, false)
  assert.equal(await intend(mailbox, 'a'), false)
  assert.equal(mailbox.available, true)
  await mailbox.stop()
})

test('a stop during the death of the thread still keeps what was appended', async () => {
  const settings = newSettings()
  const { mailbox, workers } = await start(settings)
  const answer = append(mailbox, 'a')
  void workers[0]?.terminate()
  await mailbox.stop()
  assert.equal(await answer, true)
  assertWholeChain(readBuffer(settings.buffer.path))
})

test('a refused group is answered, told once, and the trail becomes available again by itself', async () => {
  const settings = newSettings()
  const { mailbox, observations } = await start(settings)
  assert.equal(await append(mailbox, 'a'), true)
  const other = new Database(settings.buffer.path)
  const trigger = (name: string, on: string) =>
    other.exec(`CREATE TRIGGER ${name} BEFORE INSERT ON ${on} BEGIN SELECT RAISE(ABORT, 'no room'); END`)
  trigger('entries_full', 'entries')
  trigger('meta_full', 'meta')
  assert.deepEqual(await Promise.all([append(mailbox, 'b'), append(mailbox, 'c')]), [false, false])
  assert.equal(mailbox.available, false)
  assert.equal(await append(mailbox, 'd'), false)
  assert.deepEqual(kinds(observations), ['audit.unavailable'])
  assert.match(JSON.stringify(observations), /takes no entries: no room/)
  other.exec('DROP TRIGGER entries_full; DROP TRIGGER meta_full')
  other.close()
  await until('available again without an append', () => mailbox.available)
  assert.deepEqual(kinds(observations), ['audit.unavailable', 'audit.available'])
  assert.equal(await append(mailbox, 'e'), true)
  await mailbox.stop()
  const content = readBuffer(settings.buffer.path)
  assert.deepEqual([...content.ids], ['a', 'e'])
  assertWholeChain(content)
})

test('a buffer locked by another program: records are answered in time, and it recovers when the lock is gone', async () => {
  const settings = newSettings()
  const { mailbox, observations } = await start(settings, { ackTimeoutMs: 200 })
  assert.equal(await append(mailbox, 'a'), true)
  const other = new Database(settings.buffer.path)
  other.exec('BEGIN IMMEDIATE')
  assert.deepEqual(await Promise.all([append(mailbox, 'b'), append(mailbox, 'c')]), [false, false])
  assert.equal(mailbox.available, false)
  other.exec('ROLLBACK')
  other.close()
  await until('available again', () => mailbox.available)
  assert.equal(await append(mailbox, 'd'), true)
  assert.deepEqual(kinds(observations), ['audit.unavailable', 'audit.available'])
  await mailbox.stop()
  assertWholeChain(readBuffer(settings.buffer.path))
})

test('a trail that cannot be kept as configured fails the start with one sentence', async () => {
  const used = newSettings()
  const { mailbox } = await start(used)
  const deps = { observe: () => {}, nowMs: () => performance.now() }
  const cases: readonly (readonly [AuditSettings, RegExp])[] = [
    [used, /is in use by another running gateway: each needs a buffer of its own$/],
    [trailSettings(), /^nothing keeps audit entries/],
    [{ ...newSettings(), buffer: bufferAt(join(root, 'nowhere', 'audit.db')) }, /cannot be made \(ENOENT\)/],
    [{ ...newSettings(), chainKeyFile: root }, /cannot be read \(EISDIR\)/],
    [{ ...used, chainKeyFile: join(root, 'new.key') }, /is missing although the buffer has entries/],
  ]
  for (const [settings, expected] of cases) {
    const refused = await AuditMailbox.start(settings, deps)
    assert.ok(!refused.ok)
    assert.match(refused.error, expected)
    assert.doesNotMatch(refused.error, /\n/)
  }
  assert.equal(await append(mailbox, 'a'), true)
  await mailbox.stop()
})
