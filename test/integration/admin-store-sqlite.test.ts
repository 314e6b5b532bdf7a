import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { StoreFailure } from '../../src/admin/admin-store.js'
import { MIGRATIONS, STORE_VERSION } from '../../src/admin/migrations.js'
import { openSqliteAdminStore, type SqliteAdminStore } from '../../src/admin/sqlite-admin-store.js'
import { LAST_USED_FLUSH_INTERVAL_MS } from '../../src/core/limits.js'
import { numbersOf } from '../support/admin-stores.js'
import { must } from '../support/gateway.js'

const AUTHOR = { name: 'cli:test' }
const root = mkdtempSync(join(tmpdir(), 'runku-store-'))
after(() => rmSync(root, { recursive: true, force: true }))

let folders = 0
function freshFolder(): string {
  folders += 1
  const folder = join(root, String(folders))
  mkdirSync(folder)
  return folder
}

const time = { now: 1_700_000_000_000 }

function open(folder: string): SqliteAdminStore {
  return must(
    openSqliteAdminStore({
      path: join(folder, 'store.sqlite'),
      clock: () => time.now,
      randomBytes,
      busyTimeoutMs: 200,
    }),
  )
}

function refusalOfOpen(path: string): string {
  const opened = openSqliteAdminStore({ path, clock: () => time.now, randomBytes, busyTimeoutMs: 200 })
  assert.ok(!opened.ok, 'expected a refusal')
  return opened.error
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A store with one identity and one key. */
async function withKey(folder: string) {
  const store = open(folder)
  const changes = store.changes(AUTHOR)
  must(await changes.createRole('analyst'))
  must(await changes.createIdentity('anna', ['analyst'], new Map([['tenant', '42']])))
  return { store, changes, ...must(await changes.createKey('anna')) }
}

async function failureOf(run: () => unknown): Promise<string> {
  try {
    await run()
  } catch (error) {
    if (error instanceof StoreFailure) return error.kind
    throw error
  }
  return 'answered'
}

describe('making and migrating a store in a file', () => {
  test('the file and its companions are for the owner alone, an older wider mode included', async () => {
    const folder = freshFolder()
    const modes = () =>
      ['', '-wal', '-shm'].map((end) => (statSync(join(folder, `store.sqlite${end}`)).mode & 0o777).toString(8))
    const first = open(folder)
    must(await first.changes(AUTHOR).createRole('a'))
    assert.deepEqual(modes(), ['600', '600', '600'])
    await first.close()
    chmodSync(join(folder, 'store.sqlite'), 0o644)
    const second = open(folder)
    must(await second.changes(AUTHOR).createRole('b'))
    assert.deepEqual(modes(), ['600', '600', '600'])
    await second.close()
  })

  test('a newer store is refused and left as it was', async () => {
    const folder = freshFolder()
    await open(folder).close()
    const path = join(folder, 'store.sqlite')
    const db = new Database(path)
    db.pragma(`user_version = ${STORE_VERSION + 1}`)
    db.close()
    assert.match(
      refusalOfOpen(path),
      /store\.sqlite: the store has version \d+ and this program knows \d+: use the newer program/,
    )
    const again = new Database(path)
    assert.equal(again.pragma('user_version', { simple: true }), STORE_VERSION + 1)
    again.close()
  })

  test("another program's database is refused and left as it was", async () => {
    const folder = freshFolder()
    const path = join(folder, 'store.sqlite')
    const db = new Database(path)
    db.exec('CREATE TABLE things (a)')
    db.close()
    assert.match(refusalOfOpen(path), /not an admin store of runku/)
    const again = new Database(path)
    assert.equal(again.pragma('journal_mode', { simple: true }), 'delete')
    again.close()
  })

  for (const version of [2, 3]) {
    test(`a store of version ${version} keeps what it holds and takes what is newer`, async () => {
      const folder = freshFolder()
      const db = new Database(join(folder, 'store.sqlite'))
      for (const { sqlite } of MIGRATIONS.slice(0, version)) db.exec(sqlite)
      db.exec(`
        PRAGMA application_id = ${0x52554b55}; PRAGMA user_version = ${version};
        INSERT INTO identities (id, name, claims, created_at) VALUES ('id_1', 'anna', '{"tenant":"42"}', 5);
        INSERT INTO role_bindings (identity_id, role) VALUES ('id_1', 'auditor');
        INSERT INTO api_keys (key_id, identity_id, secret_hash, created_at) VALUES ('abcdefghijkl', 'id_1', x'00', 5);
        INSERT INTO policies (name, version, document, author, applied_at) VALUES ('crm', 1, '{}', 'cli:a', 5)`)
      db.close()
      const newer = open(folder)
      const record = newer.findKey('abcdefghijkl')
      assert.deepEqual([record?.identityName, record?.bindings], ['anna', [{ role: 'auditor' }]])
      assert.equal((await newer.findPolicy('crm'))?.document, '{}')
      const claim = { identity: 'i', connector: 'c', tool: 't', key: 'k', planHash: 'h', instance: 'g/r' }
      assert.deepEqual(await newer.beginIdempotent(claim, 1_000), { kind: 'new' })
      must(await newer.changes(AUTHOR).putConnector('shop', '{"id":"shop"}'))
      assert.equal((await newer.claimPending('g', 10, 1_000)).length, 1)
      assert.deepEqual(await numbersOf(newer), { change: 2, reload: 0 })
      must(await newer.changes(AUTHOR).deletePolicy('crm'))
      assert.equal(must(await newer.changes(AUTHOR).applyPolicy('crm', '{}')).version, 2)
      await newer.close()
    })
  }

  test('a file that is no database, a missing folder and a folder in its place are one clear sentence', async () => {
    const folder = freshFolder()
    writeFileSync(
      join(folder, 'text'),
      'this is not a database, and long enough to be read as the header of one'.repeat(9),
    )
    assert.match(refusalOfOpen(join(folder, 'text')), /text: this is not an SQLite file/)
    assert.match(refusalOfOpen(join(folder, 'no', 'store.sqlite')), /the folder does not exist/)
    assert.match(refusalOfOpen(folder), /cannot be used/)
  })
})

describe('a store that cannot be read fails, and never answers from memory', () => {
  test('deleted', async () => {
    const folder = freshFolder()
    const { store, keyId } = await withKey(folder)
    assert.ok(store.findKey(keyId))
    await nextTurn()
    rmSync(join(folder, 'store.sqlite'))
    assert.equal(await failureOf(() => store.findKey(keyId)), 'missing')
    assert.equal(await failureOf(() => store.findPolicy('crm')), 'missing')
    assert.equal(await failureOf(() => store.changes(AUTHOR).revokeKey(keyId)), 'missing')
  })

  test('its -wal and -shm removed: nothing is answered, and closing undoes nothing that others changed since', async () => {
    const folder = freshFolder()
    const { store, keyId } = await withKey(folder)
    assert.ok(store.findKey(keyId))
    const other = new Database(join(folder, 'store.sqlite'))
    other.pragma('wal_checkpoint(TRUNCATE)')
    other.close()
    await nextTurn()
    rmSync(join(folder, 'store.sqlite-wal'))
    rmSync(join(folder, 'store.sqlite-shm'))
    assert.equal(await failureOf(() => store.findKey(keyId)), 'missing')
    const another = open(folder)
    must(await another.changes(AUTHOR).revokeKey(keyId))
    await another.close()
    await store.close()
    const later = open(folder)
    assert.notEqual(later.findKey(keyId)?.revokedAt, undefined)
    await later.close()
  })

  test('put in place of another: whoever opens it anew is served, whoever had the old one is not', async () => {
    const folder = freshFolder()
    const { store, keyId } = await withKey(folder)
    assert.equal(await store.healthy(), true)
    await nextTurn()
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `store.sqlite${end}`), { force: true })
    assert.equal(await store.healthy(), false)
    const fresh = open(folder)
    assert.equal(fresh.findKey(keyId), undefined)
    assert.equal(await failureOf(() => store.findKey(keyId)), 'missing')
    await fresh.close()
    await store.close()
  })

  test('replaced by another file', async () => {
    const folder = freshFolder()
    const { store, keyId } = await withKey(folder)
    await open(freshFolder()).close()
    assert.ok(store.findKey(keyId))
    await nextTurn()
    renameSync(join(root, String(folders), 'store.sqlite'), join(folder, 'store.sqlite'))
    assert.equal(await failureOf(() => store.findKey(keyId)), 'missing')
  })

  test('held by another program', async () => {
    const folder = freshFolder()
    const { store, keyId } = await withKey(folder)
    await store.close()
    const opened = open(folder)
    const holder = new Database(join(folder, 'store.sqlite'))
    holder.exec('BEGIN IMMEDIATE')
    assert.equal(await failureOf(() => opened.changes(AUTHOR).revokeKey(keyId)), 'locked')
    assert.ok(opened.findKey(keyId), 'a writer in progress does not stop reads')
    opened.noteKeyUsed(keyId, time.now)
    time.now += LAST_USED_FLUSH_INTERVAL_MS
    assert.equal(await failureOf(() => opened.flushLastUsed()), 'locked')
    holder.exec('ROLLBACK')
    time.now += LAST_USED_FLUSH_INTERVAL_MS
    await opened.flushLastUsed()
    assert.notEqual((await opened.listKeys())[0]?.lastUsedAt, undefined, 'what could not be written was kept')
    await opened.close()
    holder.close()
  })

  test('damaged', async () => {
    const folder = freshFolder()
    const { store, keyId } = await withKey(folder)
    await store.close()
    const path = join(folder, 'store.sqlite')
    const file = openSync(path, 'r+')
    const size = statSync(path).size
    // The first page, with the marks, is left alone: the damage shows when a key is looked for.
    writeSync(file, Buffer.alloc(size - 4096, 0xaa), 0, size - 4096, 4096)
    closeSync(file)
    const opened = openSqliteAdminStore({ path, clock: () => time.now, randomBytes, busyTimeoutMs: 200 })
    if (!opened.ok) assert.match(opened.error, /damaged/)
    else {
      assert.equal(await failureOf(() => opened.value.findKey(keyId)), 'corrupt')
      await opened.value.close()
    }
  })
})
