import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Outbox, OutboxOptions } from '../../src/audit/outbox.js'
import { verifyTrail } from '../../src/audit/verify/verify-trail.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { entriesIn, openBuffer, valueIn } from './audit-buffers.js'
import { auditRecord, readBuffer } from './audit-records.js'

/** Buffers with everything that there can be beside a chain, for tests of its seals. Their folders go when the tests end. */

const root = mkdtempSync(join(tmpdir(), 'runku-seals-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

export function newBufferPath(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return join(folder, 'audit.db')
}

/** The buffer as it is on the disk at this moment: what a start after `kill -9` would find. */
export function crashed(path: string): string {
  const copy = newBufferPath()
  for (const suffix of ['', '-wal', '.key']) {
    if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix)
  }
  return copy
}

export function keep(outbox: Outbox, records: readonly AuditRecord[], intents: readonly AuditRecord[] = []): void {
  const appended = outbox.append(records, intents)
  assert.ok(appended.ok, appended.ok ? '' : appended.error)
}

export function calls(...ids: readonly string[]): readonly AuditRecord[] {
  return ids.map((id) => auditRecord(id))
}

export const NOON = Date.parse('2026-03-01T12:00:00.000Z')
export const HOUR_MS = 3_600_000
/** A stranger's share of it is soon used up. */
export const SMALL: Partial<OutboxOptions> = { bytesMax: 4_194_304, retainMs: HOUR_MS, nowMs: () => NOON }

export function strangers(
  count: number,
  code: 'AUTH_INVALID' | 'RATE_LIMITED',
  prefix: string,
): readonly AuditRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `${prefix}${i}`,
    time: new Date(NOON).toISOString(),
    connector: 'shop',
    operation: 'request' as const,
    decision: 'blocked' as const,
    code,
    effect: 'none' as const,
    duration_ms: { total: 0.1 },
  }))
}

interface Prepared {
  readonly options: Partial<OutboxOptions>
  readonly path: string
}

/** A buffer of everything that there can be beside a chain. */
export function full(): Prepared {
  const path = newBufferPath()
  const outbox = openBuffer(path, SMALL)
  for (let i = 0; i < 15; i++) keep(outbox, strangers(100, 'AUTH_INVALID', `s${i}-`))
  keep(outbox, strangers(3, 'RATE_LIMITED', 'r'))
  keep(outbox, calls('a', 'b'), calls('lost-1', 'lost-2'))
  const head = outbox.head.seq
  assert.ok(outbox.storePosition('stdout', head - 1).ok)
  assert.ok(outbox.storePosition('file', head).ok)
  const batch = { from: 4, to: 6, head: 'x', round: 0, settled: [] }
  assert.ok(outbox.shipBook().change({ position: 3, batch, refused: [2, 3] }).ok)
  outbox.close()
  assert.equal(valueIn(path, 'SELECT count(*) FROM withheld'), 2)
  return { path, options: SMALL }
}

export function notesIn(path: string): readonly object[] {
  return entriesIn(path)
    .filter(({ tool }) => tool === 'tampered')
    .map(({ operation, decision, effect, detail }) => {
      assert.deepEqual([operation, decision, effect], ['audit', 'errored', 'none'])
      return detail ?? {}
    })
}

export async function faultsIn(path: string): Promise<readonly string[]> {
  const checked = await verifyTrail({ buffer: path, files: [], heads: [] }, readBuffer(path).keys)
  assert.ok(checked.ok, checked.ok ? '' : checked.error)
  return checked.value.flatMap(({ faults }) =>
    faults.map((fault) => (fault.kind === 'unsealed' ? fault.what : JSON.stringify(fault))),
  )
}
