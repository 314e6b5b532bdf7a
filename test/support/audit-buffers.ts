import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { chainKeys } from '../../src/audit/chain.js'
import { loadChainKey } from '../../src/audit/chain-key.js'
import { Outbox, type OutboxOptions } from '../../src/audit/outbox.js'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import { bufferAt, readBuffer } from './audit-records.js'

/** A buffer that keeps everything, or what `options` says, with its key beside it. */
export function openBuffer(path: string, options: Partial<OutboxOptions> = {}): Outbox {
  const key = loadChainKey({ path: `${path}.key`, mayCreate: true, randomBytes: (count) => Buffer.alloc(count, 5) })
  assert.ok(key.ok, key.ok ? '' : key.error)
  const opened = Outbox.open({
    ...bufferAt(path),
    keys: chainKeys(key.value),
    keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    intentsAreLost: true,
    nowMs: () => Date.parse('2026-03-01T12:00:00.000Z'),
    newInstance: () => 'i1',
    ...options,
  })
  assert.ok(opened.ok, opened.ok ? '' : opened.error)
  return opened.value
}

export function entriesIn(path: string): readonly AuditEntry[] {
  // Written by the buffer's owner alone.
  return readBuffer(path).lines.map((line) => JSON.parse(line) as AuditEntry)
}

/** One value that a query gives, read by another connection. */
export function valueIn(path: string, sql: string): unknown {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare(sql).pluck().get()
  } finally {
    db.close()
  }
}

/** Runs statements on a connection of its own, as another program would. */
export function alterBuffer(path: string, sql: string): void {
  const db = new Database(path)
  db.exec(sql)
  db.close()
}

/** Does all that is due, and says in how many steps. */
export function settleUpkeep(outbox: Outbox): number {
  let steps = 1
  while (outbox.upkeep().more) steps += 1
  return steps
}
