import assert from 'node:assert/strict'
import { once } from 'node:events'
import { linkSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { chainKeys, GENESIS_HASH, openCheckpoint } from '../../src/audit/chain.js'
import { Outbox } from '../../src/audit/outbox.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { AUDIT_WAL_BYTES_KEPT_MAX } from '../../src/core/limits.js'
import { alterBuffer, entriesIn, openBuffer, settleUpkeep, valueIn } from '../support/audit-buffers.js'
import { auditRecord, bufferAt, readBuffer } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

function newBufferPath(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return join(folder, 'audit.db')
}

const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR_MS = 3_600_000

/** Records of the hours before noon, oldest first. */
function hourly(hours: readonly number[], prefix = 'h'): readonly AuditRecord[] {
  return hours.map((hour) => auditRecord(`${prefix}${hour}`, { time: new Date(NOON - hour * HOUR_MS).toISOString() }))
}

function append(outbox: Outbox, records: readonly AuditRecord[], intents: readonly AuditRecord[] = []): void {
  const appended = outbox.append(records, intents)
  assert.ok(appended.ok, appended.ok ? '' : appended.error)
}

/** What is left begins right behind the checkpoint, which was made with the key, and has no gap. */
function assertGoesOnBehindCheckpoint(path: string, seq: number, reason: string): void {
  const { keys, seqs } = readBuffer(path)
  const checkpoint = openCheckpoint(
    keys,
    'i1',
    String(valueIn(path, "SELECT value FROM meta WHERE key = 'checkpoint'")),
  )
  assert.equal(checkpoint?.seq, seq)
  assert.equal(checkpoint?.reason, reason)
  assert.deepEqual(
    seqs,
    seqs.map((_, i) => seq + 1 + i),
  )
  const first = entriesIn(path)[0]
  if (first !== undefined) assert.equal(first.prev_hash, checkpoint?.hash)
}

test('entries older than they are kept go behind a sealed checkpoint, and the chain goes on from it', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { retainMs: 3 * HOUR_MS, nowMs: () => NOON })
  append(outbox, hourly([9, 8, 7, 6, 2, 1]))
  settleUpkeep(outbox)
  assertGoesOnBehindCheckpoint(path, 4, 'retention')
  assert.equal(outbox.entries, 2)
  assert.equal(outbox.first.seq, 4)
  outbox.close()
  const again = openBuffer(path, { retainMs: 3 * HOUR_MS, nowMs: () => NOON })
  append(again, hourly([0]))
  assertGoesOnBehindCheckpoint(path, 4, 'retention')
  again.close()
})

test('entries that are young enough stay, and so does an old one behind them', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { retainMs: 3 * HOUR_MS, nowMs: () => NOON })
  append(outbox, hourly([2, 9, 1]))
  settleUpkeep(outbox)
  assert.equal(outbox.entries, 3)
  assert.equal(valueIn(path, "SELECT count(*) FROM meta WHERE key = 'checkpoint'"), 0)
  assert.equal(outbox.first.hash, GENESIS_HASH)
  outbox.close()
})

test('with everything gone the next entry still joins the chain', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { retainMs: HOUR_MS, nowMs: () => NOON })
  append(outbox, hourly([9, 8]))
  settleUpkeep(outbox)
  assert.equal(outbox.entries, 0)
  outbox.close()
  const again = openBuffer(path, { retainMs: HOUR_MS, nowMs: () => NOON })
  append(again, hourly([0]))
  assertGoesOnBehindCheckpoint(path, 2, 'retention')
  again.close()
})

test('a shipper keeps what it has not delivered, however old, and what it has delivered stays as long as configured', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { retainMs: 3 * HOUR_MS, nowMs: () => NOON, ships: true })
  append(outbox, hourly([9, 8, 7, 2, 1]))
  settleUpkeep(outbox)
  assert.equal(outbox.entries, 5, 'nothing was delivered')
  assert.ok(outbox.shipBook().change({ position: 2 }).ok)
  settleUpkeep(outbox)
  assertGoesOnBehindCheckpoint(path, 2, 'delivered')
  assert.ok(outbox.shipBook().change({ position: 5 }).ok)
  settleUpkeep(outbox)
  assertGoesOnBehindCheckpoint(path, 3, 'delivered')
  outbox.close()
})

test('an entry that its destination refused leaves its line behind when it goes', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { retainMs: HOUR_MS, nowMs: () => NOON, ships: true })
  append(outbox, hourly([9, 8, 7]))
  const line = readBuffer(path).lines[1]
  assert.ok(outbox.shipBook().change({ position: 3, refused: [2] }).ok)
  assert.equal(valueIn(path, 'SELECT body FROM undelivered'), null)
  settleUpkeep(outbox)
  assert.equal(outbox.entries, 0)
  assert.equal(valueIn(path, 'SELECT body FROM undelivered WHERE seq = 2'), line)
  outbox.close()
})

test('a buffer with two names is refused', () => {
  const path = newBufferPath()
  openBuffer(path).close()
  linkSync(path, `${path}.other`)
  const { keys } = readBuffer(path)
  const keeping = { filters: 'hash', writes: 'hash', resultKeys: 'hash' } as const
  const options = { keys, keeping, intentsAreLost: true, nowMs: () => NOON, newInstance: () => 'i1' }
  const opened = Outbox.open({ ...bufferAt(path), ...options })
  assert.match(opened.ok ? '' : opened.error, /audit\.db" has 2 names \(hard links\)/)
})

const BYTES_MAX = 4_194_304

/** Records of some size, so that a few thousand fill a buffer. */
function large(count: number, prefix: string): readonly AuditRecord[] {
  const columns = Array.from({ length: 40 }, (_, i) => `a_column_with_a_long_name_${i}`)
  return Array.from({ length: count }, (_, i) =>
    auditRecord(`${prefix}${String(i).padStart(6, '0')}`, { time: new Date(NOON).toISOString(), plan: { columns } }),
  )
}

function usedBytes(path: string): number {
  const db = new Database(path, { readonly: true })
  try {
    const pages = (name: string) => Number(db.pragma(name, { simple: true }))
    return (pages('page_count') - pages('freelist_count')) * pages('page_size')
  } finally {
    db.close()
  }
}

test('entries that a destination refuses do not fill a buffer that makes room: the oldest go, and an entry says which', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, ships: true, nowMs: () => NOON })
  const refused: number[] = []
  for (let round = 0; round < 40; round++) {
    append(outbox, large(200, `r${round}-`))
    const seqs = Array.from({ length: 200 }, (_, i) => outbox.head.seq - i)
    refused.push(...seqs)
    assert.ok(outbox.shipBook().change({ position: outbox.head.seq, refused: seqs }).ok)
    settleUpkeep(outbox)
  }
  const kept = Number(valueIn(path, 'SELECT count(*) FROM undelivered'))
  assert.ok(kept > 0 && kept < refused.length, `${kept} of ${refused.length}`)
  const oldest = Number(valueIn(path, 'SELECT min(seq) FROM undelivered'))
  outbox.noteDeleted()
  const notes = entriesIn(path).filter(({ tool, detail }) => tool === 'gap' && detail?.['sink'] === 'shipper')
  assert.equal(notes.length, 1)
  const { from_seq, to_seq, lost } = notes[0]?.detail ?? {}
  assert.deepEqual([from_seq, to_seq, lost], [1, oldest - 1, refused.length - kept])
  outbox.noteDeleted()
  outbox.close()
  const again = openBuffer(path, { bytesMax: BYTES_MAX, ships: true, nowMs: () => NOON })
  assert.deepEqual(again.tampered, [])
  again.close()
})

test('where a full buffer blocks, none of what a destination refused goes', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, {
    bytesMax: BYTES_MAX,
    onFull: 'block',
    retainMs: 0,
    ships: true,
    nowMs: () => NOON + 1,
  })
  let refused = 0
  for (let round = 0; round < 40 && outbox.append(large(200, `r${round}-`)).ok; round++) {
    const seqs = Array.from({ length: 200 }, (_, i) => outbox.head.seq - i)
    assert.ok(outbox.shipBook().change({ position: outbox.head.seq, refused: seqs }).ok)
    settleUpkeep(outbox)
    refused += seqs.length
  }
  assert.equal(outbox.append(large(1, 'more')).ok, false)
  assert.equal(valueIn(path, 'SELECT count(*) FROM undelivered'), refused)
  outbox.close()
})

test('at its bound a buffer that may prune drops the oldest and takes all that comes, and its file stays within the bound', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, nowMs: () => NOON })
  for (let group = 0; group < 80; group++) {
    append(outbox, large(100, `g${String(group).padStart(3, '0')}-`))
    assert.ok(usedBytes(path) < BYTES_MAX + 262_144, `${usedBytes(path)}`)
    if (group % 10 === 0) outbox.upkeep()
  }
  const { seqs } = readBuffer(path)
  assert.equal(seqs.at(-1), 8_000)
  assert.ok(seqs.length > 1_000 && seqs.length < 5_000, `${seqs.length} are left`)
  assertGoesOnBehindCheckpoint(path, (seqs[0] ?? 0) - 1, 'room')
  assert.ok(outbox.fillRatio > 0.8)
  settleUpkeep(outbox)
  outbox.close()
  assert.ok(statSync(path).size < BYTES_MAX + 524_288, `${statSync(path).size}`)
})

test('a bound that leaves no room for younger entries refuses at it, until old ones have gone', () => {
  const path = newBufferPath()
  let nowMs = NOON
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, onFull: 'block', retainMs: HOUR_MS, nowMs: () => nowMs })
  let groups = 0
  let refusal: string | undefined
  while (refusal === undefined && groups < 200) {
    const appended = outbox.append(large(50, `g${String(groups).padStart(3, '0')}-`))
    if (appended.ok) groups += 1
    else refusal = appended.error
  }
  assert.match(refusal ?? '', /is full \(bytes_max 4194304\)/)
  assert.equal(outbox.probe().ok, false)
  assert.equal(outbox.entries, groups * 50, 'nothing was deleted')
  assert.ok(outbox.fillRatio > 0.9, `${outbox.fillRatio}`)
  nowMs = NOON + 2 * HOUR_MS
  assert.equal(outbox.probe().ok, true)
  append(outbox, large(1, 'later'))
  outbox.close()
})

test('a full buffer of entries that are not delivered refuses although it may prune', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, ships: true, nowMs: () => NOON })
  let refused = false
  for (let group = 0; group < 200 && !refused; group++) refused = !outbox.append(large(50, `g${group}-`)).ok
  assert.ok(refused)
  assert.ok(outbox.shipBook().change({ position: outbox.head.seq - 10 }).ok)
  append(outbox, large(50, 'later'))
  assertGoesOnBehindCheckpoint(path, outbox.first.seq, 'room')
  outbox.close()
})

test('a full buffer takes the outcome of every call that it let go, and announces no more', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, onFull: 'block', nowMs: () => NOON })
  const intents: AuditRecord[] = []
  for (let group = 0; group < 200; group++) {
    const next = [auditRecord(`i${group}`, { decision: 'errored', code: 'DB_EFFECT_UNKNOWN', effect: 'unknown' })]
    const appended = outbox.append(large(50, `g${group}-`), next)
    if (!appended.ok) break
    intents.push(...next)
  }
  assert.equal(outbox.append(large(1, 'one')).ok, false)
  assert.equal(outbox.append([], [auditRecord('late')]).ok, false)
  assert.ok(intents.length > 10)
  for (const { id } of intents) append(outbox, [auditRecord(id, { effect: 'committed' })])
  assert.equal(valueIn(path, 'SELECT count(*) FROM intents'), 0)
  assert.ok(usedBytes(path) <= BYTES_MAX, 'what was reserved for them was enough')
  outbox.close()
})

test('one entry tells of all that was deleted since the last one, also after a restart', () => {
  const path = newBufferPath()
  const settings = { retainMs: 3 * HOUR_MS, nowMs: () => NOON }
  const first = openBuffer(path, settings)
  append(first, hourly([9, 8, 7]))
  assert.deepEqual(first.noteDeleted(), [])
  settleUpkeep(first)
  first.close()
  const second = openBuffer(path, settings)
  append(second, hourly([6, 5, 1]))
  settleUpkeep(second)
  assert.equal(second.noteDeleted().length, 1)
  assert.deepEqual(second.noteDeleted(), [])
  const [, note] = entriesIn(path)
  assert.equal(note?.operation, 'audit')
  assert.equal(note?.tool, 'checkpoint')
  assert.deepEqual(note?.detail, { from_seq: 1, to_seq: 5, reason: 'retention' })
  append(second, hourly([4]))
  second.close()
})

test('entries that somebody else had removed before they were deleted are told of as missing', () => {
  const path = newBufferPath()
  const first = openBuffer(path)
  append(first, hourly([9, 8, 7, 6, 1]))
  first.close()
  alterBuffer(path, 'DELETE FROM entries WHERE seq IN (1, 3)')
  const second = openBuffer(path, { retainMs: 3 * HOUR_MS, nowMs: () => NOON })
  settleUpkeep(second)
  second.noteDeleted()
  assert.deepEqual(entriesIn(path).at(-1)?.detail, { from_seq: 1, to_seq: 4, reason: 'retention', missing: 2 })
  second.close()
})

test('what a column says of an entry makes it no older: its own time is sealed', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { retainMs: 3 * HOUR_MS, nowMs: () => NOON })
  append(outbox, hourly([9, 8, 1, 0]))
  alterBuffer(path, "UPDATE entries SET time_ms = 1; UPDATE entries SET id = 'x' || seq")
  settleUpkeep(outbox)
  assert.deepEqual(
    entriesIn(path).map(({ seq }) => seq),
    [3, 4],
  )
  outbox.close()
})

test('an entry that was changed is not deleted, nor any behind it: no checkpoint vouches for what somebody else did', () => {
  for (const sql of [
    `UPDATE entries SET body = replace(body, '"rows":2', '"rows":1') WHERE seq = 3`,
    "UPDATE entries SET body = x'00ff' WHERE seq = 3",
    'UPDATE entries SET body = (SELECT body FROM entries WHERE seq = 2) WHERE seq = 3',
  ]) {
    const path = newBufferPath()
    const outbox = openBuffer(path, { retainMs: 3 * HOUR_MS, nowMs: () => NOON })
    append(outbox, hourly([9, 8, 7, 6, 0]))
    alterBuffer(path, sql)
    settleUpkeep(outbox)
    const db = new Database(path, { readonly: true })
    const left = db.prepare('SELECT seq FROM entries ORDER BY seq').pluck().all()
    db.close()
    assert.deepEqual(left, [3, 4, 5], sql)
    outbox.close()
  }
})

test('a buffer whose checkpoint was made without its key is not used', () => {
  const path = newBufferPath()
  const first = openBuffer(path, { retainMs: HOUR_MS, nowMs: () => NOON })
  append(first, hourly([9, 8, 0]))
  settleUpkeep(first)
  first.close()
  alterBuffer(path, "UPDATE meta SET value = replace(value, '\"seq\":2', '\"seq\":3') WHERE key = 'checkpoint'")
  const refused = Outbox.open({
    ...bufferAt(path),
    keys: chainKeys(Buffer.alloc(32, 5)),
    keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    intentsAreLost: true,
    nowMs: () => NOON,
    newInstance: () => 'i2',
  })
  assert.ok(!refused.ok)
  assert.match(refused.error, /what it says of deleted entries was changed/)
})

test('many entries go in steps, between which others are taken', () => {
  const path = newBufferPath()
  let nowMs = NOON
  const outbox = openBuffer(path, { retainMs: HOUR_MS, nowMs: () => nowMs })
  for (let group = 0; group < 40; group++) append(outbox, large(500, `g${String(group).padStart(2, '0')}-`))
  nowMs = NOON + 2 * HOUR_MS
  let steps = 0
  while (outbox.upkeep().more) {
    steps += 1
    append(outbox, [auditRecord(`between${steps}`, { time: new Date(nowMs).toISOString() })])
  }
  assert.ok(steps > 5, `${steps} steps`)
  assert.equal(outbox.entries, steps)
  assertGoesOnBehindCheckpoint(path, 20_000, 'retention')
  outbox.close()
})

test('readers that always overlap do not let the WAL grow without end', async () => {
  const path = newBufferPath()
  const outbox = openBuffer(path)
  const readers = new Worker(new URL('../support/overlapping-readers.js', import.meta.url), { workerData: path })
  await once(readers, 'message')
  const columns = Array.from({ length: 2_000 }, (_, i) => `a_column_with_a_long_name_${i}`)
  let largest = 0
  for (let turn = 0; turn < 2_000; turn++) {
    append(outbox, [auditRecord(`r${turn}`, { plan: { columns } })])
    if (turn % 25 === 0) outbox.upkeep()
    largest = Math.max(largest, statSync(`${path}-wal`).size)
  }
  await readers.terminate()
  outbox.close()
  assert.ok(largest < AUDIT_WAL_BYTES_KEPT_MAX, `${largest}`)
})

test('how full a buffer is counts the disk as well as the bound', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: 1_000_000_000, freeBytes: () => 100_000 })
  append(outbox, large(2_000, 'a'))
  outbox.upkeep()
  assert.ok(outbox.fillRatio > 0.9, `${outbox.fillRatio}`)
  outbox.close()
  const roomy = openBuffer(path, { bytesMax: 1_000_000_000, freeBytes: () => undefined })
  assert.ok(roomy.fillRatio < 0.1)
  roomy.close()
})

test('with the disk nearly full calls are announced only as far as the space that is held for their outcomes reaches', () => {
  const path = newBufferPath()
  let freeBytes = 1_000_000
  const outbox = openBuffer(path, { freeBytes: () => freeBytes })
  assert.equal(statSync(`${path}.reserve`).size, 50_000)
  assert.equal((statSync(`${path}.reserve`).mode & 0o777).toString(8), '600')
  const announce = (id: string) => outbox.append([], [auditRecord(id, { effect: 'unknown' })]).ok
  assert.deepEqual(['a', 'b', 'c', 'd'].map(announce), [true, true, true, false])
  append(outbox, [auditRecord('a')])
  assert.equal(announce('e'), true)
  freeBytes = 1_000_000_000
  outbox.upkeep()
  assert.equal(announce('f'), true)
  outbox.close()
})

test('an outcome that the disk does not take is given the space that is held for it, which is held again when there is some', () => {
  const path = newBufferPath()
  let freeBytes = 1_000_000
  const outbox = openBuffer(path, { freeBytes: () => freeBytes })
  append(outbox, [], [auditRecord('a', { effect: 'unknown' })])
  alterBuffer(path, "CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no room'); END")
  assert.equal(outbox.append([auditRecord('other')]).ok, false)
  assert.equal(statSync(`${path}.reserve`).size, 50_000)
  assert.equal(outbox.append([auditRecord('a')]).ok, false)
  assert.equal(statSync(`${path}.reserve`).size, 0)
  assert.equal(outbox.append([], [auditRecord('b', { effect: 'unknown' })]).ok, false)
  alterBuffer(path, 'DROP TRIGGER full')
  // A disk that never has much gives a part of what it has.
  freeBytes = 2_000_000
  outbox.upkeep()
  assert.equal(statSync(`${path}.reserve`).size, 100_000)
  append(outbox, [auditRecord('a')])
  const announce = (id: string) => outbox.append([], [auditRecord(id, { effect: 'unknown' })]).ok
  assert.deepEqual(['b', 'c'].map(announce), [true, true])
  outbox.close()
})

test('space that somebody took away is held again', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { freeBytes: () => 1_000_000 })
  rmSync(`${path}.reserve`)
  outbox.upkeep()
  assert.equal(statSync(`${path}.reserve`).size, 50_000)
  append(outbox, [], [auditRecord('a', { effect: 'unknown' })])
  outbox.close()
})
