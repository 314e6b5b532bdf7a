import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import type { Observation } from '../../src/observe/observation.js'
import { AuditMailbox } from '../../src/threads/audit-mailbox.js'
import { entriesIn } from '../support/audit-buffers.js'
import { assertWholeChain, auditRecord, bufferAt, readBuffer, trailSettings, until } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const BYTES_MAX = 4_194_304
const COLUMNS = Array.from({ length: 40 }, (_, i) => `a_column_with_a_long_name_${i}`)

async function start(onFull: 'block' | 'prune') {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  const path = join(folder, 'audit.db')
  const observations: Observation[] = []
  const started = await AuditMailbox.start(trailSettings({ buffer: bufferAt(path, { bytesMax: BYTES_MAX, onFull }) }), {
    observe: (observation) => observations.push(observation),
    nowMs: () => performance.now(),
  })
  assert.ok(started.ok, started.ok ? '' : started.error)
  return { path, mailbox: started.value, observations }
}

function append(mailbox: AuditMailbox, id: string, more: Partial<AuditRecord> = {}): Promise<boolean> {
  return new Promise((resolve) => mailbox.append(auditRecord(id, { plan: { columns: COLUMNS }, ...more }), resolve))
}

function intend(mailbox: AuditMailbox, id: string): Promise<boolean> {
  const record = auditRecord(id, { decision: 'errored', code: 'DB_EFFECT_UNKNOWN', effect: 'unknown' })
  return new Promise((resolve) => mailbox.intend(record, resolve))
}

/** Appends until nothing more is taken; gives how many were. */
async function fill(mailbox: AuditMailbox): Promise<number> {
  for (let group = 0; group < 200; group++) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => append(mailbox, `g${group}-${i}`)))
    if (!answers.every((kept) => kept)) return group * 50 + answers.filter((kept) => kept).length
  }
  return 10_000
}

test('a full buffer takes no call more, and the outcome of each that it let go, and stays unavailable', async () => {
  const { path, mailbox, observations } = await start('block')
  const writes = Array.from({ length: 20 }, (_, i) => `write${i}`)
  for (const id of writes) assert.equal(await intend(mailbox, id), true)
  const kept = await fill(mailbox)
  assert.ok(kept < 10_000)
  assert.equal(mailbox.available, false)
  assert.equal(await intend(mailbox, 'late'), false)
  await until('it is said how full it is', () => mailbox.status.fillRatio > 0.9)
  // In one turn with calls that find no room.
  const outcomes = writes.map((id) => append(mailbox, id, { effect: 'committed' }))
  const others = [append(mailbox, 'x'), append(mailbox, 'y')]
  assert.deepEqual(new Set(await Promise.all(outcomes)), new Set([true]))
  assert.deepEqual(await Promise.all(others), [false, false])
  assert.equal(mailbox.available, false)
  assert.ok(observations.some((each) => each.kind === 'audit.unavailable' && /is full/.test(each.detail)))
  await mailbox.stop()
  const entries = entriesIn(path)
  assert.equal(entries.length, kept + writes.length)
  assert.equal(entries.filter(({ effect }) => effect === 'committed').length, writes.length)
  assertWholeChain(readBuffer(path))
})

test('a buffer that may prune never becomes unavailable for want of room, and says once what went', async () => {
  const { path, mailbox, observations } = await start('prune')
  assert.equal(await fill(mailbox), 10_000)
  assert.deepEqual(observations, [])
  await mailbox.stop()
  const entries = entriesIn(path)
  const notes = entries.filter(({ tool }) => tool === 'checkpoint')
  assert.equal(notes.length, 1)
  assert.equal(notes[0]?.detail?.['reason'], 'room')
  assert.equal(notes[0]?.detail?.['to_seq'], (entries[0]?.seq ?? 0) - 1)
  assert.equal(entries.at(-2)?.id, 'g199-49')
})
