import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { type AdminStore, StoreFailure } from '../../src/admin/admin-store.js'
import { STORE_VERSION } from '../../src/admin/migrations.js'
import { openAdminStore } from '../../src/admin/open-admin-store.js'
import { PostgresKeys } from '../../src/admin/postgres-keys.js'
import { openSqliteAdminStore, type SqliteAdminStore } from '../../src/admin/sqlite-admin-store.js'
import { Secret } from '../../src/config/secret.js'
import { STORE_FILE_SETTLE_MS, STORE_READ_TIMEOUT_MS } from '../../src/core/limits.js'
import { openedStore, openStore, POSTGRES_STORES, postgresUrl, STORE_KINDS } from '../support/admin-stores.js'
import { must } from '../support/gateway.js'
import { EMBEDDED } from '../support/postgres.js'
import { eventually } from '../support/test-server.js'

const AUTHOR = { name: 'cli:test' }
/** Takes a store back to the form before the newest. */
const UNDO_NEWEST = 'DROP TABLE instances; DROP TABLE reload_reports'
const root = mkdtempSync(join(tmpdir(), 'runku-replaced-'))
after(() => rmSync(root, { recursive: true, force: true }))

let folders = 0
function freshPath(): string {
  folders += 1
  const folder = join(root, String(folders))
  mkdirSync(folder)
  return join(folder, 'store.sqlite')
}

const time = { now: 1_700_000_000_000 }

function open(path: string): SqliteAdminStore {
  return must(openSqliteAdminStore({ path, clock: () => time.now, randomBytes, busyTimeoutMs: 200 }))
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A file that was put in place has lain there for long enough. */
async function settled(store: AdminStore): Promise<void> {
  await nextTurn()
  assert.equal(await store.healthy(), false, 'nothing is answered before')
  time.now += STORE_FILE_SETTLE_MS
  await nextTurn()
}

async function failure(run: () => unknown): Promise<StoreFailure> {
  try {
    await run()
  } catch (error) {
    if (error instanceof StoreFailure) return error
    throw error
  }
  throw new Error('expected a failure')
}

async function withKey(store: AdminStore): Promise<string> {
  const changes = store.changes(AUTHOR)
  must(await changes.createIdentity('anna', [], new Map()))
  return must(await changes.createKey('anna')).keyId
}

/** A store with a key and a policy of two versions, and a backup of it from before the second. */
async function withBackup() {
  const path = freshPath()
  const store = open(path)
  const keyId = await withKey(store)
  must(await store.changes(AUTHOR).applyPolicy('crm', '{"version":1}'))
  const backup = `${path}.backup`
  const db = new Database(path)
  await db.backup(backup)
  db.close()
  must(await store.changes(AUTHOR).applyPolicy('crm', '{"version":1,"tables":{}}'))
  assert.ok(store.findKey(keyId))
  return { path, store, keyId, backup }
}

/** Another connection than the store's does this to its file. */
function otherwise(path: string, sql: string): void {
  const db = new Database(path)
  db.exec(sql)
  db.close()
}

describe('another file in the place of an open store', () => {
  test('that was moved there is served as soon as it stays as it is, with all that it says', async () => {
    const { path, store, keyId, backup } = await withBackup()
    const other = open(backup)
    must(await other.changes(AUTHOR).revokeKey(keyId))
    await other.close()
    await nextTurn()
    const before = store.interruptions
    renameSync(backup, path)
    assert.equal((await failure(() => store.findKey(keyId))).kind, 'missing')
    await settled(store)
    assert.notEqual(store.findKey(keyId)?.revokedAt, undefined)
    assert.ok(store.interruptions > before)
    assert.equal((await store.findPolicy('crm'))?.version, 1)
    must(await store.changes(AUTHOR).createRole('later'))
    const reader = open(path)
    assert.ok((await reader.listRoles()).some(({ name }) => name === 'later'))
    must(await reader.changes(AUTHOR).deleteIdentity('anna'))
    await nextTurn()
    assert.equal(store.findKey(keyId), undefined)
    await reader.close()
    await store.close()
  })

  test('that was copied there after the old one was deleted is served, and so is the next', async () => {
    const { path, store, keyId, backup } = await withBackup()
    await nextTurn()
    for (let round = 0; round < 2; round++) {
      rmSync(path)
      await nextTurn()
      const missing = await failure(() => store.findKey(keyId))
      assert.match(
        missing.message,
        /store\.sqlite: this file of the admin store was removed or replaced: put it in place/,
      )
      copyFileSync(backup, path)
      await settled(store)
      assert.ok(store.findKey(keyId))
      assert.equal((await store.readVersions()).change, 4)
      await nextTurn()
    }
    await store.close()
  })

  test('is not read together with the -wal of the old one, which keeps what it had', async () => {
    const { path, store, backup } = await withBackup()
    const aside = `${path}.aside`
    await nextTurn()
    renameSync(path, aside)
    copyFileSync(backup, path)
    await settled(store)
    assert.equal((await store.policyHistory('crm')).length, 1)
    const former = open(aside)
    assert.equal((await former.policyHistory('crm')).length, 2)
    await former.close()
    await store.close()
  })

  test('that another process has opened already is not disturbed', async () => {
    const { path, store, keyId, backup } = await withBackup()
    await nextTurn()
    for (const end of ['-wal', '-shm', '']) rmSync(`${path}${end}`)
    copyFileSync(backup, path)
    const other = open(path)
    must(await other.changes(AUTHOR).revokeKey(keyId))
    await settled(store)
    assert.notEqual(store.findKey(keyId)?.revokedAt, undefined)
    must(await other.changes(AUTHOR).createRole('more'))
    assert.ok((await store.listRoles()).some(({ name }) => name === 'more'))
    await other.close()
    await store.close()
  })

  test('is waited for until it is whole, and nothing is made of an empty or a foreign one', async () => {
    const { path, store, keyId, backup } = await withBackup()
    const whole = readFileSync(backup)
    await nextTurn()
    rmSync(path)
    writeFileSync(path, '')
    await settled(store)
    assert.match((await failure(() => store.findKey(keyId))).message, /there is no admin store here/)
    assert.equal(readFileSync(path).length, 0)
    writeFileSync(path, whole.subarray(0, whole.length - 8_192))
    await settled(store)
    assert.equal((await failure(() => store.findKey(keyId))).kind, 'corrupt')
    rmSync(path)
    otherwise(path, 'CREATE TABLE things (a)')
    await settled(store)
    assert.match((await failure(() => store.findKey(keyId))).message, /not an admin store of runku/)
    writeFileSync(path, whole)
    await settled(store)
    assert.ok(store.findKey(keyId))
    await store.close()
  })

  test('that is of an older form is brought up, and one of a newer form refused by both versions', async () => {
    const { path, store, keyId, backup } = await withBackup()
    otherwise(backup, `${UNDO_NEWEST}; PRAGMA user_version = ${STORE_VERSION - 1}`)
    await nextTurn()
    renameSync(backup, path)
    await settled(store)
    assert.ok(store.findKey(keyId))
    otherwise(path, `PRAGMA user_version = ${STORE_VERSION + 1}`)
    await nextTurn()
    const newer = `the store has version ${STORE_VERSION + 1} and this program knows ${STORE_VERSION}`
    for (const use of [
      () => store.findKey(keyId),
      () => store.listPolicies(),
      () => store.changes(AUTHOR).createRole('x'),
    ]) {
      const { kind, message } = await failure(use)
      assert.equal(kind, 'newer')
      assert.ok(message.includes(newer), message)
    }
    otherwise(path, `PRAGMA user_version = ${STORE_VERSION}`)
    assert.ok(store.findKey(keyId))
    await store.close()
  })

  test('its content read into the open one counts like another file', async () => {
    const { path, store, keyId, backup } = await withBackup()
    otherwise(backup, `PRAGMA user_version = ${STORE_VERSION - 1}; ${UNDO_NEWEST}`)
    const before = store.interruptions
    const source = new Database(backup)
    await source.backup(path)
    source.close()
    await nextTurn()
    assert.ok(store.findKey(keyId))
    assert.equal((await store.policyHistory('crm')).length, 1)
    assert.ok(store.interruptions > before)
    await store.close()
  })

  test('the same one back again is served without a wait', async () => {
    const { path, store, keyId } = await withBackup()
    await nextTurn()
    renameSync(path, `${path}.away`)
    assert.equal((await failure(() => store.findKey(keyId))).kind, 'missing')
    renameSync(`${path}.away`, path)
    assert.ok(store.findKey(keyId))
    assert.equal((await store.policyHistory('crm')).length, 2)
    await store.close()
  })
})

for (const { kind, fresh } of STORE_KINDS) {
  describe(`a store on ${kind}`, () => {
    test('whose state is exchanged for another of the same number reads its keys again, and says so', async () => {
      const place = await fresh()
      const store = await openedStore(place)
      const keyId = await withKey(store)
      assert.ok(await store.findKey(keyId))
      const before = store.interruptions
      await place.rows("UPDATE settings SET value = 4711 WHERE name = 'mark'")
      await place.rows("UPDATE identities SET name = 'bert'")
      await nextTurn()
      assert.equal((await store.findKey(keyId))?.identityName, 'bert')
      assert.ok(store.interruptions > before)
      const then = store.interruptions
      must(await store.changes(AUTHOR).createRole('a'))
      const other = await openedStore(place)
      must(await other.changes(AUTHOR).createRole('b'))
      assert.ok(await store.findKey(keyId))
      assert.equal(store.interruptions, then, 'a change is no interruption')
      await place.rows("UPDATE settings SET value = 1 WHERE name = 'version'")
      assert.ok(await store.findKey(keyId))
      assert.ok(store.interruptions > then)
      await other.close()
      await store.close()
    })

    test('no two states have one mark', async () => {
      const store = await openedStore(await fresh())
      const marks = new Set([(await store.readVersions()).mark])
      for (let n = 0; n < 20; n++) {
        must(await store.changes(AUTHOR).createRole(`role-${n}`))
        marks.add((await store.readVersions()).mark)
      }
      await store.changes(AUTHOR).requestReload()
      marks.add((await store.readVersions()).mark)
      assert.equal(marks.size, 22)
      await store.close()
    })

    test('is not made where none is to be made, and whoever makes it is told', async () => {
      const { settings } = await fresh()
      const made: string[] = []
      const surroundings = {
        clock: () => time.now,
        randomBytes,
        busyTimeoutMs: 200,
        created: (at: string) => made.push(at),
      }
      const refused = await openAdminStore(settings, { ...surroundings, whereNone: 'refuse' })
      assert.ok(!refused.ok)
      assert.match(
        refused.error,
        /there is no admin store here: "runku serve" and every command that changes something make one/,
      )
      if (settings.type === 'sqlite') assert.equal(existsSync(settings.path), false)
      assert.deepEqual(made, [])
      const store = must(await openAdminStore(settings, surroundings))
      assert.deepEqual(made, [store.place])
      await store.close()
      await must(await openAdminStore(settings, { ...surroundings, whereNone: 'refuse' })).close()
      assert.equal(made.length, 1)
    })
  })
}

describe('a store on PostgreSQL under a running program', () => {
  test('of a newer form is refused by both versions, and one of an older form brought up', async () => {
    const place = await POSTGRES_STORES.fresh()
    const store = await openedStore(place)
    const keyId = await withKey(store)
    assert.ok(await store.findKey(keyId))
    const setSchema = (version: number) => place.rows(`UPDATE settings SET value = ${version} WHERE name = 'schema'`)
    await setSchema(STORE_VERSION + 1)
    const newer = `the store has version ${STORE_VERSION + 1} and this program knows ${STORE_VERSION}`
    for (const use of [
      () => store.findKey(keyId),
      () => store.listPolicies(),
      () => store.changes(AUTHOR).createRole('x'),
    ]) {
      const { kind, message } = await failure(use)
      assert.equal(kind, 'newer')
      assert.ok(message.includes(newer), message)
    }
    for (const undo of UNDO_NEWEST.split('; ')) await place.rows(undo)
    await setSchema(STORE_VERSION - 1)
    assert.equal((await failure(() => store.findKey(keyId))).kind, 'unusable')
    await eventually('it was brought up', () => store.healthy())
    assert.ok(await store.findKey(keyId))
    await store.close()
  })

  test('that was restored from a dump is read anew', async () => {
    const server = await EMBEDDED.start()
    const database = await server.createDatabase()
    const store = must(
      await openStore({ settings: { type: 'postgres', url: new Secret(await postgresUrl(database.name)) } }),
    )
    const keyId = await withKey(store)
    assert.ok(await store.findKey(keyId))
    await database.query('CREATE TABLE public.kept AS SELECT * FROM runku.settings')
    must(await store.changes(AUTHOR).revokeKey(keyId))
    assert.notEqual((await store.findKey(keyId))?.revokedAt, undefined)
    const before = store.interruptions
    await database.query(
      'BEGIN; UPDATE runku.settings s SET value = k.value FROM public.kept k WHERE k.name = s.name; UPDATE runku.api_keys SET revoked_at = NULL; COMMIT',
    )
    assert.equal((await store.findKey(keyId))?.revokedAt, undefined)
    assert.ok(store.interruptions > before)
    await store.close()
  })

  test('that answers nothing keeps nobody waiting for longer than one timeout, whoever was asked before', async () => {
    let now = 0
    let clients = 0
    const silent = {
      connect: async () => {},
      query: () => new Promise<never>((_resolve, reject) => cuts.push(() => reject(new Error('cut')))),
      cut: () => {
        for (const cut of cuts.splice(0)) cut()
      },
    }
    const cuts: (() => void)[] = []
    const keys = new PostgresKeys({
      newClient: () => {
        clients += 1
        // The members that are used of it.
        return silent as unknown as ReturnType<ConstructorParameters<typeof PostgresKeys>[0]['newClient']>
      },
      place: 'here',
      schema: '"runku"',
      failure: (error) => new StoreFailure('unusable', error instanceof Error ? error.message : ''),
      nowMs: () => now,
      interrupted: () => {},
      outdated: () => undefined,
    })
    const first = keys.find('a')
    // All but a few milliseconds of its time are over when it is asked.
    now = STORE_READ_TIMEOUT_MS - 10
    await nextTurn()
    const second = keys.find('b')
    // When the first one is given up, the time of the second is over as well.
    now = 2 * STORE_READ_TIMEOUT_MS
    assert.match((await failure(() => first)).message, /no answer within 10 ms/)
    assert.match((await failure(() => second)).message, /no answer within 2000 ms/)
    assert.equal(clients, 1, 'no second wait on another connection')
    await keys.close()
  })
})
