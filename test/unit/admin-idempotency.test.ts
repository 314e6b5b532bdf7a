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
import {
  type IdempotencyClaim,
  type IdempotencyStore,
  type MaybePromise,
  StoreFailure,
} from '../../src/admin/admin-store.js'
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
function run(store: IdempotencyStore, gateway = 'g1', name = 'r1') {
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

async function started(beginning: Promise<StartedCall | NotStarted>): Promise<StartedCall> {
  const begun = await beginning
  assert.equal(begun.kind, 'started', JSON.stringify(begun))
  assert.ok(begun.kind === 'started')
  return begun
}

async function code(beginning: Promise<StartedCall | NotStarted>): Promise<string> {
  const begun = await beginning
  return begun.kind === 'refused' ? begun.code : begun.kind
}

test('a key starts one call; while it lives others wait, and when it is done they get its outcome and no row', async () => {
  const path = newStoreFile()
  const { keys } = run(open(path))
  const call = await started(keys.begin(NAME, 'plan'))
  for (let i = 0; i < 100; i++) assert.equal(await code(keys.begin(NAME, 'plan')), 'IDEMPOTENCY_IN_PROGRESS')
  await call.end(DONE)
  for (let i = 0; i < 100; i++) {
    assert.deepEqual(await keys.begin(NAME, 'plan'), { kind: 'replay', affected: 1, keys: [{ id: '4711' }] })
  }
})

test('a key is bound to what its call does, before and after the call has ended', async () => {
  const { keys } = run(open(newStoreFile()))
  const call = await started(keys.begin(NAME, 'plan'))
  assert.equal(await code(keys.begin(NAME, 'another')), 'IDEMPOTENCY_CONFLICT')
  await call.end(DONE)
  assert.equal(await code(keys.begin(NAME, 'another')), 'IDEMPOTENCY_CONFLICT')
})

test('keys of other identities, connectors and tools are other keys', async () => {
  const { keys } = run(open(newStoreFile()))
  await started(keys.begin(NAME, 'plan'))
  for (const other of [{ identity: 'id_2' }, { connector: 'crm' }, { tool: 'update_orders_by_pk' }, { key: 'k2' }]) {
    await started(keys.begin({ ...NAME, ...other }, 'plan'))
  }
})

test('a call that changed nothing frees its key', async () => {
  const { keys } = run(open(newStoreFile()))
  await (await started(keys.begin(NAME, 'plan'))).end({ kind: 'none' })
  await (await started(keys.begin(NAME, 'another'))).end(DONE)
  assert.equal(await code(keys.begin(NAME, 'another')), 'replay')
})

test('a call that nobody knows the effect of never runs again, in this run or a later one', async () => {
  const path = newStoreFile()
  const first = run(open(path))
  await (await started(first.keys.begin(NAME, 'plan'))).end({ kind: 'unknown' })
  assert.equal(await code(first.keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNKNOWN')
  const second = run(open(path), 'g1', 'r2')
  assert.equal(await code(second.keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNKNOWN')
})

test('a call of an earlier run of this gateway died with it', async () => {
  const path = newStoreFile()
  await started(run(open(path), 'g1', 'r1').keys.begin(NAME, 'plan'))
  assert.equal(await code(run(open(path), 'g1', 'r2').keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNKNOWN')
})

test('a call of another gateway may live as long as any call, is answered when it is done, and unknown after that', async () => {
  const path = newStoreFile()
  const one = run(open(path), 'g1')
  const other = run(open(path), 'g2')
  const call = await started(one.keys.begin(NAME, 'plan'))
  await started(one.keys.begin({ ...NAME, key: 'k2' }, 'plan'))
  assert.equal(await code(other.keys.begin(NAME, 'plan')), 'IDEMPOTENCY_IN_PROGRESS')
  await call.end(DONE)
  assert.equal(await code(other.keys.begin(NAME, 'plan')), 'replay')
  time.now += IDEMPOTENCY_CALL_LIFE_MAX_MS
  assert.equal(await code(other.keys.begin({ ...NAME, key: 'k2' }, 'plan')), 'IDEMPOTENCY_UNKNOWN')
})

test('of four processes that claim a hundred keys at once, each key is started by one; crashed, none is run again', async () => {
  const path = newStoreFile()
  await open(path).close()
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
      assert.equal(await code(later.keys.begin(name, 'h')), 'IDEMPOTENCY_UNKNOWN')
    }
  }
})

test('a key is forgotten when its window is over, and the row with it', async () => {
  const path = newStoreFile()
  const store = open(path)
  const { keys } = run(store)
  await (await started(keys.begin(NAME, 'plan'))).end(DONE)
  await (await started(keys.begin({ ...NAME, key: 'k2' }, 'plan'))).end(DONE)
  time.now += WINDOW_MS - 1
  assert.equal(await code(keys.begin(NAME, 'plan')), 'replay')
  time.now += 1
  await (await started(keys.begin(NAME, 'another'))).end(DONE)
  await keys.tidy()
  const db = new Database(path, { readonly: true })
  assert.deepEqual(db.prepare('SELECT key FROM idempotency').pluck().all(), ['k1'])
  db.close()
})

test('while the store takes nothing a key starts nothing; an outcome waits until the store takes it', async () => {
  const path = newStoreFile()
  const { keys, failures } = run(open(path))
  const call = await started(keys.begin(NAME, 'plan'))
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  assert.equal(await code(keys.begin({ ...NAME, key: 'k2' }, 'plan')), 'IDEMPOTENCY_UNAVAILABLE')
  await call.end(DONE)
  assert.equal(await code(keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNAVAILABLE')
  assert.ok(failures.length >= 3)
  other.exec('ROLLBACK')
  other.close()
  assert.equal(await code(keys.begin(NAME, 'plan')), 'replay')
  await started(keys.begin({ ...NAME, key: 'k2' }, 'plan'))
})

test('a fault that is none of the store surfaces as the bug it is', async () => {
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
  await assert.rejects(keys.begin(NAME, 'plan'), /a bug/)
  await keys.tidy()
  assert.equal(failures.length, 1)
})

const asked = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A store across a network: each question is answered when the test says so, and what it answers was decided when it came. */
function slowStore(store: SqliteAdminStore) {
  const answers: (() => void)[] = []
  const later = <T>(settle: () => MaybePromise<T>): Promise<T> => {
    let outcome: { readonly value: MaybePromise<T> } | { readonly error: unknown }
    try {
      outcome = { value: settle() }
    } catch (error) {
      outcome = { error }
    }
    return new Promise((resolve, reject) => {
      answers.push(() => ('value' in outcome ? resolve(outcome.value) : reject(outcome.error)))
    })
  }
  const slow: IdempotencyStore = {
    beginIdempotent: (claim, windowMs) => later(() => store.beginIdempotent(claim, windowMs)),
    finishIdempotent: (claim, outcome) => later(() => store.finishIdempotent(claim, outcome)),
    purgeIdempotent: (windowMs) => later(() => store.purgeIdempotent(windowMs)),
  }
  return {
    slow,
    /** Lets the store's n-th open answer go. */
    answer: async (n = 0) => {
      await asked()
      const [answer] = answers.splice(n, 1)
      answer?.()
      await asked()
    },
  }
}

test('of two calls with one key the second is told to wait, in whatever order a slow store answers them', async () => {
  const { slow, answer } = slowStore(open(newStoreFile()))
  const { keys } = run(slow)
  const begun = [keys.begin(NAME, 'plan'), keys.begin(NAME, 'plan')] as const
  await answer(1)
  assert.equal(await code(begun[1]), 'IDEMPOTENCY_IN_PROGRESS')
  await answer()
  await started(begun[0])
})

test('a call whose end is on its way to a slow store still lives, and one that met it is told how it ended', async () => {
  const { slow, answer } = slowStore(open(newStoreFile()))
  const { keys } = run(slow)
  const beginning = keys.begin(NAME, 'plan')
  await answer()
  const call = await started(beginning)
  // The store answers this one with a started row, but later than it takes the end.
  const second = keys.begin(NAME, 'plan')
  await asked()
  const ending = call.end(DONE)
  const third = keys.begin(NAME, 'plan')
  await answer(2)
  assert.deepEqual(await third, { kind: 'replay', affected: 1, keys: [{ id: '4711' }] })
  await answer(1)
  await ending
  await answer()
  await answer()
  assert.equal(await code(second), 'replay')
})

test('a claim that the store may have written as it failed blocks its key for nobody', async () => {
  const path = newStoreFile()
  const store = open(path)
  let broken = true
  const failing: IdempotencyStore = {
    beginIdempotent: (claim, windowMs) => {
      const found = store.beginIdempotent(claim, windowMs)
      if (broken) throw new StoreFailure('unusable', 'lost on the way back')
      return found
    },
    finishIdempotent: (claim, outcome) => store.finishIdempotent(claim, outcome),
    purgeIdempotent: (windowMs) => store.purgeIdempotent(windowMs),
  }
  const { keys } = run(failing)
  assert.equal(await code(keys.begin(NAME, 'plan')), 'IDEMPOTENCY_UNAVAILABLE')
  broken = false
  await started(keys.begin(NAME, 'plan'))
})

test('an end that was owed can end no later call under the same key', async () => {
  const path = newStoreFile()
  const store = open(path)
  const ended: IdempotencyClaim[] = []
  const spy: IdempotencyStore = {
    beginIdempotent: (claim, windowMs) => store.beginIdempotent(claim, windowMs),
    finishIdempotent: (claim, outcome) => {
      ended.push(claim)
      return store.finishIdempotent(claim, outcome)
    },
    purgeIdempotent: () => {},
  }
  const one = run(spy, 'g1', 'r1').keys
  await (await started(one.begin(NAME, 'plan'))).end({ kind: 'none' })
  const [old] = ended
  assert.ok(old)
  // The first claim's end, delivered late to what is now another call's row.
  await started(one.begin({ ...NAME, key: 'k2' }, 'plan'))
  await store.finishIdempotent({ ...old, key: 'k2' }, undefined)
  assert.equal(await code(one.begin({ ...NAME, key: 'k2' }, 'plan')), 'IDEMPOTENCY_IN_PROGRESS')
})
