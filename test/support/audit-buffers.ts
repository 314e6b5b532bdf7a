import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { chainKeys, sealHead } from '../../src/audit/chain.js'
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

/** What `path` would be had it been written before what is kept beside the chain was sealed. */
export function makeOlder(path: string): void {
  const { keys, head } = readBuffer(path)
  assert.ok(head !== undefined)
  const { seq, hash } = head
  const db = new Database(path)
  const value = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck()
  const put = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  put.run('head', sealHead(keys, value.get('instance') ?? '', { seq, hash }))
  for (const sink of ['stdout', 'file', 'shipper']) {
    const position = value.get(`position.${sink}`)
    if (position !== undefined) put.run(`position.${sink}`, Number(position.split(':')[0]))
  }
  const batch = value.get('ship.batch')
  if (batch !== undefined) put.run('ship.batch', batch.slice(batch.indexOf('{')))
  db.exec('ALTER TABLE intents DROP COLUMN mac; ALTER TABLE withheld DROP COLUMN mac; PRAGMA user_version = 3')
  db.close()
}
