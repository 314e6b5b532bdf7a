import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AdminStore, StoreFailure, type StoreVersions } from '../../src/admin/admin-store.js'
import { STORE_VERSION } from '../../src/admin/migrations.js'
import { parseStoreAddress, placeOf } from '../../src/admin/store-address.js'
import { Secret } from '../../src/config/secret.js'
import { embeddedBinaries } from '../../src/demo/throwaway-postgres.js'
import { openedStore, openStore, postgresUrl } from '../support/admin-stores.js'
import { must } from '../support/gateway.js'
import { EMBEDDED } from '../support/postgres.js'
import { type PostgresTestServer, startTestServer } from '../support/postgres-server.js'
import { type TcpGate, tcpGate } from '../support/tcp-gate.js'
import { eventually, type TestDatabase, WRITER } from '../support/test-server.js'
import { TRANSACTION_POOLERS } from '../support/transaction-pooler.js'

const AUTHOR = { name: 'cli:test' }

function at(url: string) {
  return { settings: { type: 'postgres', url: new Secret(url) } } as const
}

async function refusalOfOpen(url: string): Promise<string> {
  const opened = await openStore(at(url))
  assert.ok(!opened.ok, 'expected a refusal')
  return opened.error
}

async function failureOf(run: () => unknown): Promise<StoreFailure['kind'] | 'answered'> {
  try {
    await run()
    return 'answered'
  } catch (error) {
    if (error instanceof StoreFailure) return error.kind
    throw error
  }
}

async function withKey(store: AdminStore): Promise<string> {
  const changes = store.changes(AUTHOR)
  must(await changes.createIdentity('anna', [], new Map()))
  return must(await changes.createKey('anna')).keyId
}

describe('the address of a store on PostgreSQL', () => {
  const read = (url: string) => must(parseStoreAddress(url))
  const fault = (url: string) => {
    const parsed = parseStoreAddress(url)
    assert.ok(!parsed.ok)
    return parsed.error
  }

  test('names the schema by search_path, wherever it stands, and runku without one', () => {
    assert.equal(read('postgres://u:p@db/d').schema, 'runku')
    for (const url of [
      'postgres://u:p@db/d?search_path=gate',
      'postgres://u:p@db/d?search_path=gate&sslmode=require',
      'postgres://u:p@db/d?sslmode=require&search_path=gate',
    ]) {
      assert.equal(read(url).schema, 'gate', url)
      assert.equal(read(url).tls, url.includes('sslmode') ? 'require' : 'verify')
    }
    for (const path of ['a,b', 'A', '"a"', '', 'pg_catalog', `${'x'.repeat(64)}`]) {
      assert.match(fault(`postgres://u:p@db/d?search_path=${path}`), /search_path of the address: expected one schema/)
    }
    assert.match(fault('postgres://u:p@db/d?search_path=a&search_path=b'), /repeats/)
  })

  test('has TLS verified unless the host is this machine or the address says otherwise', () => {
    assert.equal(read('postgres://u:p@127.0.0.1/d').tls, 'disable')
    assert.equal(read('postgres://u:p@%2Frun%2Fpostgresql/d').tls, 'disable')
    assert.equal(read('postgres://u:p@db.example.com/d').tls, 'verify')
    assert.match(fault('postgres://u:p@%2Frun/d?sslmode=require'), /a socket has no TLS/)
    assert.match(fault('postgres://u:p@db/d?sslrootcert=ca.pem'), /absolute path/)
    assert.match(fault('postgres://u:p@db/d?sslmode=require&sslrootcert=/ca.pem'), /verify-full only/)
  })

  test('is shown without login and password', () => {
    assert.equal(placeOf(read('postgres://anna:secret@db/d')), 'postgres://db:5432/d')
    assert.equal(placeOf(read('postgres://anna:secret@[::1]:7/d?search_path=x')), 'postgres://[::1]:7/d?search_path=x')
  })
})

describe('making a store on PostgreSQL', () => {
  let server: PostgresTestServer
  before(async () => {
    server = await EMBEDDED.start()
  })

  test('everything is in the schema runku, and a store of this version needs no right to create', async () => {
    const database = await server.createDatabase()
    const url = await postgresUrl(database.name)
    const owner = await openedStore(at(url))
    const keyId = await withKey(owner)
    await owner.close()
    const schemas = await database.query(
      "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('settings','api_keys')",
    )
    assert.deepEqual(schemas, [['runku']])
    const login = `postgres://${WRITER}:only-for-tests@127.0.0.1:${server.process.port}/${database.name}`
    assert.match(await refusalOfOpen(login), /the login "runku_writer" may not .*grant it USAGE there/)
    await database.query(`GRANT USAGE ON SCHEMA runku TO ${WRITER}`)
    await database.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA runku TO ${WRITER}`)
    const store = await openedStore(at(login))
    must(await store.changes(AUTHOR).revokeKey(keyId))
    assert.notEqual((await store.findKey(keyId))?.revokedAt, undefined)
    await store.close()
  })

  test('a login that may not create is told how to help it, and a newer or foreign schema is left as it is', async () => {
    const database = await server.createDatabase()
    const base = `postgres://${WRITER}:only-for-tests@127.0.0.1:${server.process.port}/${database.name}`
    const told = await refusalOfOpen(base)
    assert.match(told, /CREATE SCHEMA "runku" AUTHORIZATION "runku_writer"/)
    assert.ok(!told.includes('only-for-tests'))
    await database.query(`CREATE SCHEMA runku AUTHORIZATION ${WRITER}`)
    await (await openedStore(at(base))).close()
    await database.query(`UPDATE runku.settings SET value = ${STORE_VERSION + 1} WHERE name = 'schema'`)
    assert.match(await refusalOfOpen(base), /the store has version \d+ and this program knows \d+/)
    const url = await postgresUrl(database.name)
    await database.query('CREATE SCHEMA other; CREATE TABLE other.settings (a int)')
    assert.match(await refusalOfOpen(`${url}?search_path=other`), /holds a table "settings" of another program/)
    await database.query('CREATE SCHEMA third; CREATE TABLE third.roles (a int)')
    assert.match(await refusalOfOpen(`${url}?search_path=third`), /holds tables of another program/)
    assert.deepEqual(await database.query("SELECT tablename FROM pg_tables WHERE schemaname = 'third'"), [['roles']])
  })

  test('a server that is down, a wrong password and a missing database are one clear sentence without secrets', async () => {
    const { port } = server.process
    const gate = await tcpGate(port)
    await gate.shut()
    assert.equal(
      await refusalOfOpen(`postgres://u:hidden@127.0.0.1:${gate.port}/d`),
      `postgres://127.0.0.1:${gate.port}/d: the admin store cannot be reached: nothing listens there`,
    )
    const wrong = await refusalOfOpen(`postgres://${WRITER}:hidden@127.0.0.1:${port}/postgres`)
    assert.match(wrong, /refuses the login "runku_writer" of the admin store, or its password$/)
    assert.match(await refusalOfOpen(await postgresUrl('nowhere')), /the server has no database "nowhere"$/)
    assert.ok(!wrong.includes('hidden'))
  })
})

describe('a store whose server does not answer', () => {
  let database: TestDatabase
  let gate: TcpGate
  let store: AdminStore
  let direct: AdminStore
  let keyId: string

  before(async () => {
    const server = await EMBEDDED.start()
    database = await server.createDatabase()
    gate = await tcpGate(server.process.port)
    store = await openedStore(at(await postgresUrl(database.name, gate.port)))
    direct = await openedStore(at(await postgresUrl(database.name)))
    keyId = await withKey(direct)
  })
  after(async () => {
    await gate.shut()
    await store.close()
    await direct.close()
  })

  test('fails everything while the server cannot be reached, and serves again as soon as it can', async () => {
    assert.ok(await store.findKey(keyId))
    await gate.shut()
    assert.equal(await failureOf(() => store.findKey(keyId)), 'unusable')
    assert.equal(await failureOf(() => store.listRoles()), 'unusable')
    assert.equal(await failureOf(() => store.changes(AUTHOR).createRole('lost')), 'unusable')
    const claim = { identity: 'i', connector: 'c', tool: 't', key: 'k', planHash: 'h', instance: 'g/r' }
    assert.equal(await failureOf(() => store.beginIdempotent(claim, 1_000)), 'unusable')
    assert.equal(await store.healthy(), false)
    must(await direct.changes(AUTHOR).revokeKey(keyId))
    await gate.open()
    assert.notEqual((await store.findKey(keyId))?.revokedAt, undefined)
    must(await store.changes(AUTHOR).createRole('found'))
    assert.equal(await store.healthy(), true)
  })

  test('a change whose commit gets no answer may have been made, and says so', async () => {
    const changes = store.changes(AUTHOR)
    const cut = gate.heard('INSERT INTO roles').then(() => gate.heard('COMMIT', 'cut'))
    assert.equal(await failureOf(() => changes.createRole('unsure')), 'unsure')
    await cut
    assert.ok((await direct.listRoles()).some(({ name }) => name === 'unsure'))
    assert.equal((await changes.createRole('unsure')).ok, false)
  })

  test('a change that gets no answer before its commit fails, and writes nothing', async () => {
    const changes = store.changes(AUTHOR)
    const cut = gate.heard('INSERT INTO roles', 'cut')
    assert.equal(await failureOf(() => changes.createRole('cut')), 'unusable')
    await cut
    must(await changes.createRole('cut'))
  })

  test('sessions that the server ends are replaced without a failure', async () => {
    assert.ok(await store.findKey(keyId))
    await store.listRoles()
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'runku' AND datname = current_database()",
    )
    assert.ok(await store.findKey(keyId))
    assert.ok((await store.listRoles()).length > 3)
  })

  test('questions that get no answer fail all together in time, and the next ones go over a new connection', async () => {
    await gate.shut()
    await gate.open()
    gate.mute()
    const asked = await Promise.allSettled(Array.from({ length: 50 }, () => store.findKey(keyId)))
    assert.ok(asked.every(({ status }) => status === 'rejected'))
    await gate.shut()
    await gate.open()
    assert.ok(await store.findKey(keyId))
  })

  test('a change that waits for the lock of another session fails as locked, and writes nothing', async () => {
    const { Client } = await import('pg')
    const holder = new Client({ connectionString: await postgresUrl(database.name) })
    await holder.connect()
    await holder.query("BEGIN; SELECT 1 FROM runku.settings WHERE name = 'version' FOR UPDATE")
    assert.equal(await failureOf(() => store.changes(AUTHOR).createRole('blocked')), 'locked')
    assert.ok(await store.findKey(keyId), 'a change in progress does not stop reads')
    await holder.query('ROLLBACK')
    await holder.end()
    assert.ok(!(await store.listRoles()).some(({ name }) => name === 'blocked'))
  })

  test('tables that were dropped are a store that is missing', async () => {
    await database.query('ALTER SCHEMA runku RENAME TO gone')
    assert.equal(await failureOf(() => store.findKey(keyId)), 'missing')
    assert.equal(await failureOf(() => store.listKeys()), 'missing')
    await database.query('ALTER SCHEMA gone RENAME TO runku')
    assert.ok(await store.findKey(keyId))
  })
})

describe('a listener that hears nothing', () => {
  test('delays neither a revocation nor a change that is watched', async () => {
    const server = await EMBEDDED.start()
    const database = await server.createDatabase()
    const gate = await tcpGate(server.process.port)
    const store = await openedStore(at(await postgresUrl(database.name, gate.port)))
    const direct = await openedStore(at(await postgresUrl(database.name)))
    const keyId = await withKey(direct)
    assert.ok(await store.findKey(keyId))
    // From here on a new connection stands and says nothing: the listener's.
    gate.mute()
    let seen = await store.readVersions()
    const keep = (now: StoreVersions) => {
      seen = now
    }
    const end = store.watch(() => void store.readVersions().then(keep, () => {}))
    must(await direct.changes(AUTHOR).revokeKey(keyId))
    assert.notEqual((await store.findKey(keyId))?.revokedAt, undefined)
    const version = (await direct.readVersions()).change
    await eventually('the change is seen', () => seen.change === version)
    end()
    await store.close()
    await direct.close()
    await gate.shut()
  })

  test('a lost listener comes back, and hears again', async () => {
    const server = await EMBEDDED.start()
    const database = await server.createDatabase()
    const store = await openedStore(at(await postgresUrl(database.name)))
    const listeners = async () =>
      database.query(
        "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = 'runku' AND datname = current_database()",
      )
    const end = store.watch(() => {})
    await eventually('it listens', async () => (await listeners()).length === 1)
    const [first] = await listeners()
    await database.query('SELECT pg_terminate_backend($1::int)', [first?.[0] ?? ''])
    await eventually('it listens again', async () => {
      const [now] = await listeners()
      return now !== undefined && now[0] !== first?.[0]
    })
    end()
    await eventually('nobody listens', async () => (await listeners()).length === 0)
    await store.close()
    assert.deepEqual(await database.sessions(), [])
  })
})

describe('a pooler in transaction mode in front of the server', () => {
  for (const pooler of TRANSACTION_POOLERS) {
    test(`${pooler.label}: everything works, and a change that is watched is seen without being heard of`, async () => {
      const server = await EMBEDDED.start()
      const database = await server.createDatabase()
      const { port, stop } = await pooler.start(database.superuser())
      const url = await postgresUrl(database.name, port)
      const stores = [await openedStore(at(url)), await openedStore(at(url))] as const
      const [writer, reader] = stores
      const keyId = await withKey(writer)
      let seen = await reader.readVersions()
      const keep = (now: StoreVersions) => {
        seen = now
      }
      const end = reader.watch(() => void reader.readVersions().then(keep, () => {}))
      assert.ok(await reader.findKey(keyId))
      await Promise.all(Array.from({ length: 8 }, (_, i) => stores[i % 2]?.changes(AUTHOR).createRole(`role-${i}`)))
      must(await writer.changes(AUTHOR).revokeKey(keyId))
      assert.notEqual((await reader.findKey(keyId))?.revokedAt, undefined)
      const { change } = await writer.readVersions()
      assert.equal(change, 1 + 2 + 8 + 1)
      await eventually('the change is seen', () => seen.change === change)
      assert.equal((await reader.claimPending('g', 100, 1_000)).length, 11)
      end()
      for (const store of stores) await store.close()
      await stop()
    })
  }
})

describe('a server that is stopped', () => {
  test('is a store that fails, also for whoever watches and closes', async () => {
    const server = await startTestServer('own', await embeddedBinaries())
    const { user, password, port } = server.process
    const url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`
    const store = await openedStore(at(url))
    const keyId = await withKey(store)
    const end = store.watch(() => {})
    assert.ok(await store.findKey(keyId))
    await server.stop()
    assert.equal(await failureOf(() => store.findKey(keyId)), 'unusable')
    assert.equal(await failureOf(() => store.changes(AUTHOR).revokeKey(keyId)), 'unusable')
    store.noteKeyUsed(keyId, 1)
    end()
    await store.close()
    assert.equal(await failureOf(() => store.findKey(keyId)), 'unusable')
  })
})
