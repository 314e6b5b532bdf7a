import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Outbox } from '../../src/audit/outbox.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { AUDIT_STRANGERS_RATIO } from '../../src/core/limits.js'
import { entriesIn, openBuffer, settleUpkeep, valueIn } from '../support/audit-buffers.js'
import { assertWholeChain, auditRecord, readBuffer } from '../support/audit-records.js'

const root = mkdtempSync(join(tmpdir(), 'runku-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

function newBufferPath(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return join(folder, 'audit.db')
}

const BYTES_MAX = 4_194_304
const SHARE = BYTES_MAX * AUDIT_STRANGERS_RATIO
const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR_MS = 3_600_000

function bare(id: string, timeMs: number, operation: 'request' | 'admin'): AuditRecord {
  return {
    id,
    time: new Date(timeMs).toISOString(),
    connector: 'shop',
    address: '10.0.0.1',
    operation,
    decision: 'blocked',
    code: 'AUTH_INVALID',
    effect: 'none',
    duration_ms: { total: 0.1 },
  }
}

/** Refusals of bad keys from many addresses, as a front that folds nothing would write them. */
function flood(outbox: Outbox, count: number, prefix: string, timeMs = NOON): void {
  for (let from = 0; from < count; from += 100) {
    const records = Array.from({ length: 100 }, (_, i) => ({
      ...bare(`${prefix}${String(from + i).padStart(6, '0')}`, timeMs, i % 2 === 0 ? 'request' : 'admin'),
      address: `10.${(from + i) >> 8}.${(from + i) & 255}.1`,
    }))
    const kept = outbox.append(records)
    assert.ok(kept.ok, kept.ok ? '' : kept.error)
  }
}

/** Bytes of the lines of whoever had no identity, and how many refusals they and the counted ones stand for. */
function strangersIn(path: string): { readonly bytes: number; readonly count: number } {
  const strangers = entriesIn(path).filter(({ identity, operation }) => identity === undefined && operation !== 'audit')
  const withheld = Number(valueIn(path, 'SELECT total(count) FROM withheld'))
  return {
    bytes: strangers.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0),
    count: strangers.reduce((sum, { count = 1 }) => sum + count, withheld),
  }
}

test('refusals of strangers take their share of a buffer and no more, are all counted, and leave room for calls', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, onFull: 'block', nowMs: () => NOON })
  assert.equal(outbox.strangersFull, false)
  flood(outbox, 8_000, 's')
  assert.equal(outbox.strangersFull, true)
  const { bytes, count } = strangersIn(path)
  assert.ok(bytes > SHARE / 2 && bytes < SHARE, `${bytes} of ${SHARE}`)
  assert.equal(count, 8_000)
  assert.ok(Number(valueIn(path, 'SELECT count(*) FROM withheld')) <= 2)
  assert.ok(outbox.append([auditRecord('a-call')]).ok)
  assert.ok(outbox.fillRatio < 0.5)
  outbox.close()
  assertWholeChain(readBuffer(path))
})

test('what strangers take is known after a restart', () => {
  const path = newBufferPath()
  const settings = { bytesMax: BYTES_MAX, nowMs: () => NOON }
  const first = openBuffer(path, settings)
  flood(first, 2_000, 's')
  first.close()
  const before = strangersIn(path)
  const second = openBuffer(path, settings)
  assert.equal(second.strangersFull, true)
  flood(second, 500, 't')
  const now = strangersIn(path)
  assert.ok(now.bytes - before.bytes < 1_000)
  assert.equal(now.count, 2_500)
  second.close()
})

test('when their entries have gone strangers have room again, and what was only counted becomes entries', () => {
  const path = newBufferPath()
  let nowMs = NOON
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, retainMs: HOUR_MS, nowMs: () => nowMs })
  flood(outbox, 2_000, 's')
  const withheld = Number(valueIn(path, 'SELECT total(count) FROM withheld'))
  assert.ok(withheld > 0)
  nowMs = NOON + 2 * HOUR_MS
  settleUpkeep(outbox)
  assert.equal(outbox.strangersFull, false)
  const entries = entriesIn(path)
  assert.equal(
    entries.reduce((sum, { count = 0 }) => sum + count, 0),
    withheld,
  )
  assert.deepEqual(new Set(entries.map(({ operation }) => operation)), new Set(['admin', 'request']))
  assert.equal(entries[0]?.detail?.['since'], new Date(NOON).toISOString())
  assert.equal(valueIn(path, 'SELECT count(*) FROM withheld'), 0)
  assert.equal(Number(valueIn(path, "SELECT value FROM meta WHERE key = 'strangers'")) < 2_000, true)
  outbox.close()
})

test('a refusal that comes twice is neither kept nor counted twice', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, nowMs: () => NOON })
  flood(outbox, 2_000, 's')
  const { count } = strangersIn(path)
  flood(outbox, 100, 's')
  assert.equal(strangersIn(path).count, count)
  outbox.close()
})

test('callers with an identity are no strangers, whatever they are refused', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { bytesMax: BYTES_MAX, nowMs: () => NOON })
  const refused = Array.from({ length: 1_000 }, (_, i) => ({ ...bare(`r${i}`, NOON, 'request'), identity: 'ana' }))
  assert.ok(outbox.append(refused).ok)
  assert.equal(outbox.strangersFull, false)
  assert.equal(outbox.entries, 1_000)
  outbox.close()
})

test('without a bound strangers have their share of what the disk could take', () => {
  const path = newBufferPath()
  const outbox = openBuffer(path, { nowMs: () => NOON, freeBytes: () => 2_000_000 })
  flood(outbox, 4_000, 's')
  assert.equal(outbox.strangersFull, true)
  assert.ok(strangersIn(path).bytes < 2_200_000 * AUDIT_STRANGERS_RATIO)
  outbox.close()
})
