import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { selfSignedCertificate } from '../support/certificate.js'
import { outcome, testDriver } from '../support/driver.js'
import { eventually, MYSQL_TARGETS, type SettingsOverrides } from '../support/mariadb.js'
import { tcpGate } from '../support/tcp-gate.js'
import { atStatement, testSettings } from '../support/test-server.js'
import { findMariadb, startThrowawayMariadb } from '../support/throwaway-mariadb.js'

const ENCRYPTED = "SHOW SESSION STATUS LIKE 'Ssl_cipher'"

for (const target of MYSQL_TARGETS) {
  describe(`connections to the ${target.label} server`, () => {
    const database = async () => (await target.start()).createDatabase()
    const port = async () => (await target.start()).address.port

    test('what keeps the driver from connecting is CONNECTOR_UNAVAILABLE, and the reason says what it is', async (t) => {
      const db = await database()
      const gate = await tcpGate(1)
      await gate.shut()
      const cases = [
        [{ password: 'wrong' }, /1045/],
        [{ database: 'no_such_database' }, /1044|1049/],
        [{ user: 'nobody' }, /1045|1698/],
        [{ port: gate.port }, /ECONNREFUSED/],
        [{ host: '/no/such/socket' }, /ENOENT/],
      ] as const
      for (const [connection, expected] of cases) {
        const { driver, run } = testDriver(t, db.reader({ connection }))
        for (const result of [await run('SELECT 1'), await driver.introspect([db.schema])]) {
          const { code, reason } = outcome(result)
          assert.equal(code, 'CONNECTOR_UNAVAILABLE')
          assert.match(reason, expected)
          assert.doesNotMatch(reason, /only-for-tests/)
        }
      }
    })

    test('an idle connection that is lost is observed, and the next call gets another', async (t) => {
      const db = await database()
      const { observed, cell } = testDriver(t, db.reader())
      const id = await cell('SELECT CONNECTION_ID()')
      await db.query(`KILL CONNECTION ${id}`)
      await eventually('it is observed', () => observed.length > 0)
      assert.ok(observed.every((observation) => observation.kind === 'driver.connection_lost'))
      assert.notEqual(await cell('SELECT CONNECTION_ID()'), id)
    })

    test('a session that is ended under its statement fails it as unavailable', async (t) => {
      const db = await database()
      const { run } = testDriver(t, db.reader())
      const running = run('SELECT SLEEP(600)')
      await eventually('it runs', async () => (await atStatement(db, /SLEEP/)).length === 1)
      for (const { pid } of await db.sessions()) await db.query(`KILL CONNECTION ${pid}`)
      assert.equal(outcome(await running).code, 'CONNECTOR_UNAVAILABLE')
      assert.ok((await run('SELECT 1')).ok)
    })

    test('a server that is gone is unavailable until it is back, without a new driver', async (t) => {
      const db = await database()
      const gate = await tcpGate(await port())
      t.after(() => gate.shut())
      const { run } = testDriver(t, db.reader({ connection: { port: gate.port } }))
      assert.equal(outcome(await run('SELECT 1')).code, 'OK')
      const running = run('SELECT SLEEP(600)')
      await eventually('it runs', async () => (await atStatement(db, /SLEEP/)).length === 1)
      await gate.shut()
      assert.equal(outcome(await running).code, 'CONNECTOR_UNAVAILABLE')
      for (let n = 0; n < 8; n++) assert.equal(outcome(await run('SELECT 1')).code, 'CONNECTOR_UNAVAILABLE')
      await gate.open()
      await eventually('the driver recovers', async () => (await run('SELECT 1')).ok)
    })

    test('a server that takes connections and says nothing is unavailable, not overloaded', async (t) => {
      const db = await database()
      const gate = await tcpGate(await port())
      t.after(() => gate.shut())
      gate.mute()
      const { run } = testDriver(t, db.reader({ connection: { port: gate.port }, pool: { max: 2 } }))
      const calls = Array.from({ length: 6 }, () => run('SELECT 1', [], { acquireTimeoutMs: 100 }))
      for (const result of await Promise.all(calls)) assert.equal(outcome(result).code, 'CONNECTOR_UNAVAILABLE')
      await gate.shut()
    })

    test('a driver closed while it connects settles every call', async (t) => {
      const db = await database()
      const gate = await tcpGate(await port())
      t.after(() => gate.shut())
      gate.mute()
      const { driver, run } = testDriver(t, db.reader({ connection: { port: gate.port } }))
      const waiting = run('SELECT 1')
      const introspecting = driver.introspect([db.schema])
      await driver.close()
      for (const result of [await waiting, await introspecting]) {
        assert.equal(outcome(result).code, 'CONNECTOR_UNAVAILABLE')
      }
      await gate.shut()
    })
  })
}

test('connections are encrypted when asked, kills included, and the certificate is checked when asked', async (t) => {
  const { certificate, key } = selfSignedCertificate()
  const server = await startThrowawayMariadb({
    program: await findMariadb(),
    settings: { 'ssl-cert': '../server.crt', 'ssl-key': '../server.key' },
    files: { 'server.crt': certificate, 'server.key': key },
  })
  t.after(() => server.stop())
  const ca = join(server.folder, 'ca.pem')
  await writeFile(ca, certificate)
  const { host, port, user, password, folder } = server
  const settings = (connection: SettingsOverrides['connection']) =>
    testSettings('mysql', 'mysql', { host, port, user, password, database: 'mysql' }, connection ? { connection } : {})

  const required = testDriver(t, settings({ tls: 'require' }))
  const cipher = await required.run(ENCRYPTED)
  assert.ok(cipher.ok && cipher.value.rows[0]?.[1] !== '', JSON.stringify(cipher))
  assert.equal(outcome(await required.run('SELECT SLEEP(600)', [], { timeoutMs: 50 })).code, 'TIMEOUT')
  const slow = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'"
  await eventually('nothing runs on', async () => (await required.cell(slow)) === '0')
  assert.deepEqual(required.observed, [], 'no kill request failed')

  const verified = testDriver(t, settings({ tls: 'verify', tlsCaFile: ca }))
  for (const { run } of [verified, testDriver(t, settings({ tls: 'verify', tlsCaFile: ca }))]) {
    const checked = await run(ENCRYPTED)
    assert.ok(checked.ok && checked.value.rows[0]?.[1] !== '', JSON.stringify(checked))
  }
  const failures = [
    [{ tls: 'verify' }, /SELF_SIGNED|HANDSHAKE_SSL_ERROR.*self.signed/i],
    [{ tls: 'verify', tlsCaFile: ca, host: 'localhost' }, /altnames|ALTNAME/i],
    [{ tls: 'verify', tlsCaFile: '/no/such/ca.pem' }, /ca_file.*ENOENT.*\/no\/such\/ca\.pem/],
  ] as const
  for (const [connection, expected] of failures) {
    const { code, reason } = outcome(await testDriver(t, settings(connection)).run('SELECT 1'))
    assert.equal(code, 'CONNECTOR_UNAVAILABLE')
    assert.match(reason, expected)
  }

  const socket = testDriver(t, settings({ host: join(folder, 'socket'), tls: 'require' }))
  assert.match((await socket.cell('SELECT USER()')) ?? '', /@localhost$/)
  assert.equal(outcome(await socket.run('SELECT SLEEP(600)', [], { timeoutMs: 50 })).code, 'TIMEOUT')
  await eventually('nothing runs on', async () => (await required.cell(slow)) === '0')
  assert.deepEqual(socket.observed, [])
})

test('a server without TLS gets no password from a driver that wants it', async (t) => {
  const server = await startThrowawayMariadb({ program: await findMariadb(), settings: { 'skip-ssl': 'ON' } })
  t.after(() => server.stop())
  const { host, port, user, password } = server
  const connection = { host, port, user, password, database: 'mysql' }
  const { run } = testDriver(t, testSettings('mysql', 'mysql', connection, { connection: { tls: 'require' } }))
  const { code, reason } = outcome(await run('SELECT 1'))
  assert.equal(code, 'CONNECTOR_UNAVAILABLE')
  assert.match(reason, /HANDSHAKE_NO_SSL_SUPPORT/)
})
