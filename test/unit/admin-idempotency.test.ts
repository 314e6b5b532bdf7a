import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { StoreFailure } from '../../src/admin/admin-store.js'
import { openSqliteAdminStore, type SqliteAdminStore } from '../../src/admin/sqlite-admin-store.js'
import { IDEMPOTENCY_CALL_LIFE_MAX_MS } from '../../src/core/limits.js'
import { type CallEnd, IdempotencyKeys, type NotStarted, type StartedCall } from '../../src/idempotency.js'
import type { ClaimOrder } from '../support/idempotency-claimer.js'

const root = mkdtempSync(join(tmpdir(), 'runku-keys-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const WINDOW_MS = 3_600_000
const time = { now: 1_700_000_000_000 }
const NAME = { identity: 'id_1', connector: 'shop', tool: 'create_orders', key: 'k1' }
const DONE: CallEnd = { kind: 'done', affected: 1, keys: [{ id: '4711' }] }

function newStoreFile(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return join(folder, 'runku.sqlite')
}

function open(path: string): SqliteAdminStore {
  const opened = openSqliteAdminStore({ path, clock: () => time.now, randomBytes, busyTimeoutMs: 50 })
  assert.ok(opened.ok, opened.ok ? '' : opened.error)
  return opened.value
}

/** One run of one gateway on the store. */
function run(store: SqliteAdminStore, gateway = 'g1', name = 'r1') {
  const failures: string[] = []
  const keys = new IdempotencyKeys({
    store,
    gateway,
    run: name,
    wallMs: () => time.now,
    windowMs: WINDOW_MS,
    onFailed: (detail) => failures.push(detail),
  })
  return { keys, failures }
}

function started(begun: StartedCall | NotStarted): StartedCall {
  assert.equal(begun.kind, 'started', JSON.stringify(begun))
  assert.ok(begun.kind === 'started')
  return begun
}

function code(begun: StartedCall | NotStarted): string {
  return begun.kind === 'refused' ? begun.code : begun.kind
}

test('a key starts one call; while it lives others wait, and when it is done they get its outcome and no row', () => {
  const path = newStoreFile()
  const { keys } = run(open(path))
  const call = started(keys.begin(NAME, 'plan'))
  for (let i = 0; i < 100; i++) assert.equal(code(keys.begin(NAME, 'plan')), 'IDEMPOTENCY_IN_PROGRESS')
  call.end(DONE)
  for (let i = 0; i < 100; i++) {
    assert.deepEqual(keys.begin(NAME, 'plan'), { kind: 'replay', affected: 1, keys: [{ id: '4711' }] })
  }
})

test('a key is bound to what its call does, before and after the call has ended', () => {
  const { keys } = run(open(newStoreFile()))
  const call = started(keys.begin(NAME, 'plan'))
  assert.equal(code(keys.begin(NAME, 'another')), 'IDEMPOTENCY_CONFLICT')
  call.end(DONE)
  assert.equal(code(keys.begin(NAME, 'another')), 'IDEMPOTENCY_CONFLICT')
})

test('keys of other identities, connectors and tools are other keys', () => {
  const { keys } = run(open(newStoreFile()))
  started(keys.begin(NAME, 'plan'))
  for (const other of [{ identity: 'id_2' }, { connector: 'crm' }, { tool: 'update_orders_by_pk' }, { key: 'k2' }]) {
    started(keys.begin({ ...NAME, ...other }, 'plan'))
  }
})

test('a call that changed nothing frees its key', () => {
  const { keys } = run(open(newStoreFile()))
  started(keys.begin(NAME, 'plan')).end({ kind: 'none' })
  started(keys.begin(NAME, 'another')).end(DONE)
  assert.equal(code(keys.begin(NAME, 'another')), 'replay')
})

test('a call that nobody knows the effect of never runs again, in this run or a later one', () => {
  const path = newStoreFile()
  const first = run(open(path))
  started(first.keys.begin(NAME, 'plan')).end({ kind: 'unknown' })
  assert.equal(code(first.keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNKNOWN')
  const second = run(open(path), 'g1', 'r2')
  assert.equal(code(second.keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNKNOWN')
})

test('a call of an earlier run of this gateway died with it', () => {
  const path = newStoreFile()
  started(run(open(path), 'g1', 'r1').keys.begin(NAME, 'plan'))
  assert.equal(code(run(open(path), 'g1', 'r2').keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNKNOWN')
})

test('a call of another gateway may live as long as any call, is answered when it is done, and unknown after that', () => {
  const path = newStoreFile()
  const one = run(open(path), 'g1')
  const other = run(open(path), 'g2')
  const call = started(one.keys.begin(NAME, 'plan'))
  started(one.keys.begin({ ...NAME, key: 'k2' }, 'plan'))
  assert.equal(code(other.keys.begin(NAME, 'plan')), 'IDEMPOTENCY_IN_PROGRESS')
  call.end(DONE)
  assert.equal(code(other.keys.begin(NAME, 'plan')), 'replay')
  time.now += IDEMPOTENCY_CALL_LIFE_MAX_MS
  assert.equal(code(other.keys.begin({ ...NAME, key: 'k2' }, 'plan')), 'IDEMPOTENCY_UNKNOWN')
})

test('of four processes that claim a hundred keys at once, each key is started by one; crashed, none is run again', async () => {
  const path = newStoreFile()
  open(path).close()
  const names = Array.from({ length: 100 }, (_, i) => `k${i}`)
  const program = fileURLToPath(new URL('../support/idempotency-claimer.js', import.meta.url))
  const children = Array.from({ length: 4 }, (_, i) => {
    const order: ClaimOrder = { storeFile: path, gateway: `g${i}`, keys: names }
    return fork(program, [JSON.stringify(order)], { execArgv: [] })
  })
  await Promise.all(children.map((child) => once(child, 'message')))
  const claims = await Promise.all(
    children.map(async (child) => {
      const exited = once(child, 'exit')
      child.send('go')
      const [mine] = await once(child, 'message')
      await exited
      return mine as readonly string[]
    }),
  )
  assert.deepEqual(claims.flat().sort(), [...names].sort())
  for (const [i, mine] of claims.entries()) {
    const later = run(open(path), `g${i}`, 'r2')
    for (const key of mine) {
      const name = { identity: 'i', connector: 'c', tool: 't', key }
      assert.equal(code(later.keys.begin(name, 'h')), 'IDEMPOTENCY_UNKNOWN')
    }
  }
})

test('a key is forgotten when its window is over, and the row with it', () => {
  const path = newStoreFile()
  const store = open(path)
  const { keys } = run(store)
  started(keys.begin(NAME, 'plan')).end(DONE)
  started(keys.begin({ ...NAME, key: 'k2' }, 'plan')).end(DONE)
  time.now += WINDOW_MS - 1
  assert.equal(code(keys.begin(NAME, 'plan')), 'replay')
  time.now += 1
  started(keys.begin(NAME, 'another')).end(DONE)
  keys.tidy()
  const db = new Database(path, { readonly: true })
  assert.deepEqual(db.prepare('SELECT key FROM idempotency').pluck().all(), ['k1'])
  db.close()
})

test('while the store takes nothing a key starts nothing; an outcome waits until the store takes it', () => {
  const path = newStoreFile()
  const { keys, failures } = run(open(path))
  const call = started(keys.begin(NAME, 'plan'))
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  assert.equal(code(keys.begin({ ...NAME, key: 'k2' }, 'plan')), 'IDEMPOTENCY_UNAVAILABLE')
  call.end(DONE)
  assert.equal(code(keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNAVAILABLE')
  assert.ok(failures.length >= 3)
  other.exec('ROLLBACK')
  other.close()
  assert.equal(code(keys.begin(NAME, 'plan')), 'replay')
  started(keys.begin({ ...NAME, key: 'k2' }, 'plan'))
})

test('a fault that is none of the store surfaces as the bug it is', () => {
  const broken = {
    beginIdempotent: () => {
      throw new Error('a bug')
    },
    finishIdempotent: () => {},
    purgeIdempotent: () => {
      throw new StoreFailure('locked', 'another process holds the admin store')
    },
  }
  const failures: string[] = []
  const keys = new IdempotencyKeys({
    store: broken,
    gateway: 'g',
    run: 'r',
    wallMs: () => time.now,
    windowMs: WINDOW_MS,
    onFailed: (detail) => failures.push(detail),
  })
  assert.throws(() => keys.begin(NAME, 'plan'), /a bug/)
  keys.tidy()
  assert.equal(failures.length, 1)
})
