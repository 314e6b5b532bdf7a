import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
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
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { type AdminStore, StoreFailure } from '../../src/admin/admin-store.js'
import { STORE_VERSION } from '../../src/admin/migrations.js'
import { openSqliteAdminStore } from '../../src/admin/sqlite-admin-store.js'
import { parseKey, secretMatches } from '../../src/auth/api-key.js'
import { LAST_USED_FLUSH_INTERVAL_MS } from '../../src/core/limits.js'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'runku-store-'))
after(() => rmSync(root, { recursive: true, force: true }))

let folders = 0
function freshFolder(): string {
  folders += 1
  const folder = join(root, String(folders))
  mkdirSync(folder)
  writeFileSync(join(folder, 'config.yaml'), 'admin_store: { path: store.sqlite }\n')
  return folder
}

const time = { now: 1_700_000_000_000 }

function open(folder: string): AdminStore {
  const opened = openSqliteAdminStore({
    path: join(folder, 'store.sqlite'),
    clock: () => time.now,
    randomBytes,
    busyTimeoutMs: 200,
  })
  assert.ok(opened.ok, opened.ok ? '' : opened.error)
  return opened.value
}

function refusalOfOpen(path: string): string {
  const opened = openSqliteAdminStore({ path, clock: () => time.now, randomBytes, busyTimeoutMs: 200 })
  assert.ok(!opened.ok, 'expected a refusal')
  return opened.error
}

/** Another process that changes the same store. */
function cli(folder: string, ...args: readonly string[]): string {
  const ended = spawnSync(process.execPath, [MAIN, ...args, '--config', join(folder, 'config.yaml')], {
    encoding: 'utf8',
  })
  assert.equal(ended.status, 0, ended.stderr)
  return ended.stdout
}

function value<T>(
  outcome:
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly error: { readonly message: string } },
): T {
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.message)
  return outcome.value
}

function message(
  outcome: { readonly ok: true } | { readonly ok: false; readonly error: { readonly message: string } },
): string {
  assert.ok(!outcome.ok, 'expected a refusal')
  return outcome.error.message
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A store with one identity and one key. */
function withKey(folder: string) {
  const store = open(folder)
  value(store.createRole('analyst'))
  value(store.createIdentity('anna', ['analyst'], new Map([['tenant', '42']])))
  return { store, ...value(store.createKey('anna')) }
}

describe('making and migrating a store', () => {
  test('six processes that start on a missing store at once all succeed, and make it once', async () => {
    const folder = freshFolder()
    const run = promisify(execFile)
    const args = [MAIN, 'role', 'list', '--json', '--config', join(folder, 'config.yaml')]
    const outputs = await Promise.all(Array.from({ length: 6 }, () => run(process.execPath, args)))
    assert.equal(new Set(outputs.map(({ stdout }) => stdout)).size, 1)
    assert.match(outputs[0]?.stdout ?? '', /"admin".*"auditor".*"operator"/)
    const store = open(folder)
    assert.equal(store.listRoles().length, 3)
    store.close()
  })

  test('the file and its companions are for the owner alone, an older wider mode included', () => {
    const folder = freshFolder()
    const modes = () =>
      ['', '-wal', '-shm'].map((end) => (statSync(join(folder, `store.sqlite${end}`)).mode & 0o777).toString(8))
    const first = open(folder)
    value(first.createRole('a'))
    assert.deepEqual(modes(), ['600', '600', '600'])
    first.close()
    chmodSync(join(folder, 'store.sqlite'), 0o644)
    const second = open(folder)
    value(second.createRole('b'))
    assert.deepEqual(modes(), ['600', '600', '600'])
    second.close()
  })

  test('a newer store is refused and left as it was', () => {
    const folder = freshFolder()
    open(folder).close()
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

  test("another program's database is refused and left as it was", () => {
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

  test('a store of the version without idempotency keys keeps what it holds and takes them', () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    store.close()
    const db = new Database(join(folder, 'store.sqlite'))
    db.exec('DROP TABLE idempotency; PRAGMA user_version = 2')
    db.close()
    const newer = open(folder)
    assert.equal(newer.findKey(keyId)?.identityName, 'anna')
    const claim = { identity: 'i', connector: 'c', tool: 't', key: 'k', planHash: 'h', instance: 'g/r' }
    assert.deepEqual(newer.beginIdempotent(claim, 1_000), { kind: 'new' })
    assert.equal(newer.beginIdempotent(claim, 1_000).kind, 'started')
    newer.close()
  })

  test('a file that is no database, a missing folder and a folder in its place are one clear sentence', () => {
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

describe('what the store keeps', () => {
  test('a key is stored as a hash alone and finds its identity, claims and bindings', () => {
    const folder = freshFolder()
    const { store, keyId, key } = withKey(folder)
    value(store.addBinding('anna', 'auditor', 'shop'))
    const record = store.findKey(keyId)
    assert.ok(record)
    assert.equal(secretMatches(parseKey(key)?.secret ?? '', record.secretHash), true)
    assert.deepEqual(record.bindings, [{ role: 'analyst' }, { role: 'auditor', connector: 'shop' }])
    assert.deepEqual([record.identityName, record.claims.get('tenant'), record.disabled], ['anna', '42', false])
    store.close()
    const db = new Database(join(folder, 'store.sqlite'))
    const dump = JSON.stringify(db.prepare('SELECT * FROM api_keys').all()) + db.serialize().toString('latin1')
    db.close()
    assert.ok(!dump.includes(parseKey(key)?.secret ?? ''))
  })

  test('claims of every kind come back as they were', () => {
    const store = open(freshFolder())
    const claims = new Map<string, string | number | boolean | readonly (string | number | boolean)[]>([
      ['text', '007'],
      ['number', 1.5],
      ['truth', false],
      ['list', ['a', 1, true]],
      ['constructor', 'x'],
    ])
    value(store.createIdentity('anna', [], claims))
    assert.deepEqual(store.listIdentities()[0]?.claims, claims)
    store.close()
  })

  test('names that need quoting, and those of inherited properties with underscores, are refused', () => {
    const store = open(freshFolder())
    for (const name of ['', ' a', 'a b', 'a"b', '__proto__', 'ä', 'x'.repeat(65), 'a\n']) {
      assert.match(message(store.createRole(name)), /expected a name such as analyst/)
      assert.match(message(store.createIdentity(name, [], new Map())), /expected a name such as anna/)
      assert.match(message(store.applyPolicy(name, '{}', 'cli:test')), /expected a name such as crm/)
    }
    assert.match(message(store.createIdentity('a:b', [], new Map())), /expected a name such as anna/)
    assert.match(message(store.createIdentity('anonymous', [], new Map())), /while authentication is off/)
    assert.match(message(store.createIdentity('a', [], new Map([['__proto__', 'x']]))), /name for a claim/)
    assert.match(message(store.createIdentity('a', [], new Map([['n', 2 ** 53]]))), /not exact/)
    store.close()
  })

  test('a role or identity that does not exist is refused with the nearest one, and nothing is written', () => {
    const { store } = withKey(freshFolder())
    assert.equal(
      message(store.createIdentity('bob', ['analyst', 'analist'], new Map())),
      'there is no role "analist". Did you mean "analyst"?',
    )
    assert.equal(store.listIdentities().length, 1)
    assert.match(message(store.addBinding('ana', 'analyst')), /no identity "ana"\. Did you mean "anna"\?/)
    assert.match(message(store.createKey('zzzzz')), /no identity "zzzzz"\. Make it with/)
    store.close()
  })

  test('what exists already is not made again, and what does not exist is not removed', () => {
    const { store } = withKey(freshFolder())
    assert.match(message(store.createRole('admin')), /exists already/)
    assert.match(message(store.createIdentity('anna', [], new Map())), /exists already/)
    assert.match(message(store.addBinding('anna', 'analyst')), /has this role there already/)
    assert.match(
      message(store.removeBinding('anna', 'analyst', 'shop')),
      /not bound to role "analyst" on connector "shop"/,
    )
    assert.match(message(store.revokeKey('aaaaaaaaaaaa')), /there is no key/)
    assert.match(message(store.createKey('anna', time.now)), /must expire after now/)
    store.close()
  })

  test('every version of a policy is kept, and the newest is found', () => {
    const folder = freshFolder()
    const store = open(folder)
    assert.equal(store.findPolicy('crm'), undefined)
    value(store.applyPolicy('crm', '{"version":1}', 'cli:a'))
    const second = value(store.applyPolicy('crm', '{"version":1,"tables":{}}', 'cli:b'))
    assert.deepEqual(store.findPolicy('crm'), second)
    assert.equal(second.version, 2)
    assert.deepEqual(store.listPolicies(), [{ name: 'crm', version: 2, author: 'cli:b', appliedAt: time.now }])
    store.close()
    const db = new Database(join(folder, 'store.sqlite'))
    assert.deepEqual(db.prepare('SELECT version, author FROM policies ORDER BY version').raw().all(), [
      [1, 'cli:a'],
      [2, 'cli:b'],
    ])
    db.close()
  })
})

describe('changes are seen by the next read', () => {
  test('a revocation by this store', () => {
    const { store, keyId } = withKey(freshFolder())
    assert.equal(store.findKey(keyId)?.revokedAt, undefined)
    value(store.revokeKey(keyId))
    assert.equal(store.findKey(keyId)?.revokedAt, time.now)
    time.now += 5
    value(store.revokeKey(keyId))
    assert.equal(store.findKey(keyId)?.revokedAt, time.now - 5, 'the first revocation stands')
    store.close()
  })

  test('a revocation, a binding and a new key of another process', () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    assert.equal(store.findKey(keyId)?.revokedAt, undefined)
    cli(folder, 'binding', 'add', 'anna', 'auditor')
    assert.deepEqual(store.findKey(keyId)?.bindings, [{ role: 'analyst' }, { role: 'auditor' }])
    cli(folder, 'key', 'revoke', keyId)
    assert.notEqual(store.findKey(keyId)?.revokedAt, undefined)
    const made: unknown = JSON.parse(cli(folder, 'key', 'create', 'anna', '--json'))
    assert.ok(typeof made === 'object' && made !== null && 'key_id' in made)
    assert.equal(store.findKey(String(made.key_id))?.identityName, 'anna')
    store.close()
  })

  test('two stores that change in turn never see each other late', () => {
    const folder = freshFolder()
    const { store: a, keyId } = withKey(folder)
    const b = open(folder)
    for (let i = 0; i < 20; i++) {
      const [writer, reader] = i % 2 === 0 ? [a, b] : [b, a]
      const role = `role-${i}`
      value(writer.createRole(role))
      value(writer.addBinding('anna', role))
      for (const store of [reader, writer]) {
        assert.ok(
          store.findKey(keyId)?.bindings.some((binding) => binding.role === role),
          role,
        )
      }
    }
    a.close()
    b.close()
  })

  test('while nothing changed, a key is the very same record: nothing is read again', () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    const other = open(folder)
    const record = store.findKey(keyId)
    assert.equal(store.findKey(keyId), record)
    // A noted use moves data_version and not settings.version.
    time.now += LAST_USED_FLUSH_INTERVAL_MS
    other.noteKeyUsed(keyId, time.now)
    other.flushLastUsed()
    assert.equal(store.findKey(keyId), record)
    value(other.createRole('later'))
    assert.notEqual(store.findKey(keyId), record)
    store.close()
    other.close()
  })

  test('uses are written once a minute at most, and when the store closes', () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    const reader = open(folder)
    const lastUsed = () => reader.listKeys()[0]?.lastUsedAt
    store.noteKeyUsed(keyId, time.now)
    store.flushLastUsed()
    assert.equal(lastUsed(), undefined)
    const first = time.now
    time.now += LAST_USED_FLUSH_INTERVAL_MS
    store.flushLastUsed()
    assert.equal(lastUsed(), first)
    store.noteKeyUsed(keyId, time.now)
    store.close()
    assert.equal(lastUsed(), time.now)
    reader.close()
  })
})

describe('a store that cannot be read fails, and never answers from memory', () => {
  const failureOf = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      if (error instanceof StoreFailure) return error.kind
      throw error
    }
    return 'answered'
  }

  test('deleted', async () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    assert.ok(store.findKey(keyId))
    await nextTurn()
    rmSync(join(folder, 'store.sqlite'))
    assert.equal(
      failureOf(() => store.findKey(keyId)),
      'missing',
    )
    assert.equal(
      failureOf(() => store.findPolicy('crm')),
      'missing',
    )
    assert.equal(
      failureOf(() => store.revokeKey(keyId)),
      'missing',
    )
  })

  test('its -wal and -shm removed: nothing is answered, and closing undoes nothing that others changed since', async () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    assert.ok(store.findKey(keyId))
    const other = new Database(join(folder, 'store.sqlite'))
    other.pragma('wal_checkpoint(TRUNCATE)')
    other.close()
    await nextTurn()
    rmSync(join(folder, 'store.sqlite-wal'))
    rmSync(join(folder, 'store.sqlite-shm'))
    assert.equal(
      failureOf(() => store.findKey(keyId)),
      'missing',
    )
    const runku = (...args: readonly string[]) =>
      spawnSync(process.execPath, [MAIN, ...args, '--json', '--config', join(folder, 'config.yaml')], {
        encoding: 'utf8',
      })
    assert.equal(runku('key', 'revoke', keyId).status, 0)
    store.close()
    assert.match(runku('key', 'list').stdout, /"revoked"/)
  })

  test('replaced by another file', async () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    open(freshFolder()).close()
    assert.ok(store.findKey(keyId))
    await nextTurn()
    renameSync(join(root, String(folders), 'store.sqlite'), join(folder, 'store.sqlite'))
    assert.equal(
      failureOf(() => store.findKey(keyId)),
      'missing',
    )
  })

  test('held by another program', () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    store.close()
    const opened = open(folder)
    const holder = new Database(join(folder, 'store.sqlite'))
    holder.exec('BEGIN IMMEDIATE')
    assert.equal(
      failureOf(() => opened.revokeKey(keyId)),
      'locked',
    )
    assert.ok(opened.findKey(keyId), 'a writer in progress does not stop reads')
    opened.noteKeyUsed(keyId, time.now)
    time.now += LAST_USED_FLUSH_INTERVAL_MS
    assert.equal(
      failureOf(() => opened.flushLastUsed()),
      'locked',
    )
    holder.exec('ROLLBACK')
    time.now += LAST_USED_FLUSH_INTERVAL_MS
    opened.flushLastUsed()
    assert.notEqual(opened.listKeys()[0]?.lastUsedAt, undefined, 'what could not be written was kept')
    opened.close()
    holder.close()
  })

  test('damaged', () => {
    const folder = freshFolder()
    const { store, keyId } = withKey(folder)
    store.close()
    const path = join(folder, 'store.sqlite')
    const file = openSync(path, 'r+')
    const size = statSync(path).size
    // The first page, with the marks, is left alone: the damage shows when a key is looked for.
    writeSync(file, Buffer.alloc(size - 4096, 0xaa), 0, size - 4096, 4096)
    closeSync(file)
    const opened = openSqliteAdminStore({ path, clock: () => time.now, randomBytes, busyTimeoutMs: 200 })
    if (!opened.ok) assert.match(opened.error, /damaged/)
    else {
      assert.equal(
        failureOf(() => opened.value.findKey(keyId)),
        'corrupt',
      )
      opened.value.close()
    }
  })
})
