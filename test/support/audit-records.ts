import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type ChainHead, type ChainKeys, chainKeys, openHead } from '../../src/audit/chain.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import type { AuditSettings, BufferSettings } from '../../src/threads/messages.js'
import { verifyChain } from './verify-chain.js'

export function auditRecord(id: string, overrides: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id,
    time: '2026-03-01T10:20:30.456Z',
    connector: 'shop',
    epoch: 3,
    request_id: '7',
    identity: 'ana',
    key_id: 'abcdefghijkl',
    roles: ['analyst'],
    client: 'claude-code/1.2.3',
    address: '127.0.0.1',
    tool: 'search_customers',
    operation: 'search',
    target: 'public.customers',
    plan: { columns: ['id', 'name'], filters: [{ column: 'country', op: 'eq', values: ['DE'] }], page: { limit: 50 } },
    decision: 'allowed',
    code: 'OK',
    effect: 'none',
    rows: 2,
    duration_ms: { total: 2.5, queue: 0.25, db: 1.5 },
    ...overrides,
  }
}

/** Settings of a trail as most tests want it: values as digests, calls refused while nothing is kept. */
export function trailSettings(settings: Partial<AuditSettings> = {}): AuditSettings {
  return {
    stdout: false,
    onFailure: 'block',
    values: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
    ...settings,
  }
}

/** A buffer that keeps everything. */
export function bufferAt(path: string, settings: Partial<BufferSettings> = {}): BufferSettings {
  return { path, durability: 'normal', retainMs: 1_000_000 * 3_600_000, onFull: 'prune', ...settings }
}

export interface BufferContent {
  readonly lines: readonly string[]
  readonly ids: ReadonlySet<string>
  readonly seqs: readonly number[]
  readonly keys: ChainKeys
  readonly head: ChainHead | undefined
}

/** What a buffer holds now, with the keys of the file beside it; readable while a gateway writes to it. */
export function readBuffer(path: string): BufferContent {
  const db = new Database(path, { readonly: true })
  try {
    const rows = db.prepare<[], { seq: number; id: string; body: string }>('SELECT * FROM entries ORDER BY seq').all()
    const meta = new Map(
      db
        .prepare<[], { key: string; value: string }>('SELECT * FROM meta')
        .all()
        .map((row) => [row.key, row.value]),
    )
    const keys = chainKeys(Buffer.from(readFileSync(`${path}.key`, 'utf8').trim(), 'hex'))
    return {
      lines: rows.map((row) => row.body),
      ids: new Set(rows.map((row) => row.id)),
      seqs: rows.map((row) => row.seq),
      keys,
      head: openHead(keys, meta.get('instance') ?? '', meta.get('head') ?? ''),
    }
  } finally {
    db.close()
  }
}

/** Every number from 1 to the head's, every link and hash as it was made. */
export function assertWholeChain(content: BufferContent): void {
  assert.deepEqual(
    content.seqs,
    content.seqs.map((_, index) => index + 1),
  )
  assert.notEqual(content.head, undefined)
  assert.deepEqual(verifyChain(content.lines, content.keys, content.head).faults, [])
}

/** Waits for what must come to be; a deadline of its own makes a failure of what never does. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 60_000
  while (!holds()) {
    assert.ok(performance.now() < deadlineMs, `still waiting: ${what}`)
    await pause(5)
  }
}
