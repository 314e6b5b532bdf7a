import assert from 'node:assert/strict'
import { chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { embeddedBinaries, startThrowawayPostgres } from '../../src/demo/throwaway-postgres.js'
import { selfSignedCertificate } from '../support/certificate.js'
import { outcome, testDriver } from '../support/driver.js'
import { EMBEDDED, eventually, POSTGRES_TARGETS, type PostgresTestServer } from '../support/postgres.js'
import { tcpGate } from '../support/tcp-gate.js'
import { atStatement } from '../support/test-server.js'

/** What a connection that wants TLS says first. */
const SSL_REQUEST = 80_877_103

for (const target of POSTGRES_TARGETS) {
  describe(`connections to the ${target.label} server`, () => {
    const database = async () => (await target.start()).createDatabase()

    test('what keeps the driver from connecting is CONNECTOR_UNAVAILABLE, and the reason says what it is', async (t) => {
      const db = await database()
      const gate = await tcpGate(1)
      await gate.shut()
      const cases = [
        [{ password: 'wrong' }, /28P01/],
        [{ database: 'no such database' }, /3D000/],
        [{ user: 'nobody at all' }, /28P01|28000/],
        [{ port: gate.port }, /ECONNREFUSED/],
        [{ tls: 'require' as const }, /SSL/],
      ] as const
      for (const [connection, expected] of cases) {
        const { driver, run } = testDriver(t, db.reader({ connection }))
        for (const result of [await run('SELECT 1'), await driver.introspect(['public'])]) {
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
      const pid = await cell('SELECT pg_backend_pid()')
      await db.query('SELECT pg_terminate_backend($1)', [String(pid)])
      await eventually('it is observed', () => observed.length > 0)
      assert.ok(observed.every((observation) => observation.kind === 'driver.connection_lost'))
      assert.notEqual(await cell('SELECT pg_backend_pid()'), pid)
    })

    test('a server that crashes under load fails its calls as unavailable, and the same driver recovers', async (t) => {
      const db = await database()
      const { run, cell } = testDriver(t, db.reader())
      const codes = new Set<string>()
      const load = async () => {
        for (let n = 0; n < 400 && !codes.has('CONNECTOR_UNAVAILABLE'); n++) {
          codes.add(outcome(await run('SELECT 1 FROM pg_sleep(0.01)')).code)
        }
      }
      const pid = Number(await cell('SELECT pg_backend_pid()'))
      const loads = Array.from({ length: 12 }, load)
      // A killed backend makes the server end every other one and go through recovery.
      process.kill(pid, 'SIGKILL')
      await Promise.all(loads)
      assert.ok(codes.has('CONNECTOR_UNAVAILABLE'))
      assert.deepEqual(new Set([...codes, 'OK']), new Set(['OK', 'CONNECTOR_UNAVAILABLE']))
      await eventually('the driver recovers', async () => (await run('SELECT 1')).ok)
    })

    test('a server that is gone is unavailable until it is back, without a new driver', async (t) => {
      const db = await database()
      const gate = await tcpGate((await target.start()).process.port)
      t.after(() => gate.shut())
      const { run } = testDriver(t, db.reader({ connection: { port: gate.port } }))
      assert.equal(outcome(await run('SELECT 1')).code, 'OK')
      const running = run('SELECT 1 FROM pg_sleep(600)')
      await eventually('it runs', async () => (await atStatement(db, /pg_sleep/)).length === 1)
      await gate.shut()
      assert.equal(outcome(await running).code, 'CONNECTOR_UNAVAILABLE')
      for (let n = 0; n < 8; n++) assert.equal(outcome(await run('SELECT 1')).code, 'CONNECTOR_UNAVAILABLE')
      await gate.open()
      await eventually('the driver recovers', async () => (await run('SELECT 1')).ok)
    })

    test('a server that takes connections and says nothing is unavailable, not overloaded', async (t) => {
      const db = await database()
      const gate = await tcpGate((await target.start()).process.port)
      t.after(() => gate.shut())
      gate.mute()
      const { run } = testDriver(t, db.reader({ connection: { port: gate.port }, pool: { max: 2 } }))
      const calls = Array.from({ length: 6 }, () => run('SELECT 1', [], { acquireTimeoutMs: 100 }))
      for (const result of await Promise.all(calls)) assert.equal(outcome(result).code, 'CONNECTOR_UNAVAILABLE')
      await gate.shut()
    })

    test('connections are encrypted when asked, cancels included, and the certificate is checked when asked', async (t) => {
      const server = await target.start()
      const files = await enableTls(server, t)
      const db = await database()
      const gate = await tcpGate(server.process.port)
      t.after(() => gate.shut())
      const required = testDriver(t, db.reader({ connection: { tls: 'require', port: gate.port } }))
      const encrypted = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
      assert.equal(await required.cell(encrypted), 't')
      const stopped = outcome(await required.run('SELECT 1 FROM pg_sleep(600)', [], { timeoutMs: 50 }))
      assert.equal(stopped.code, 'TIMEOUT')
      await eventually('nothing runs on', async () => (await db.sessions()).every(({ state }) => state !== 'active'))
      assert.deepEqual(required.observed, [], 'no cancel request failed')
      assert.ok(gate.requests.length >= 2, 'a session and a cancel')
      assert.ok(gate.requests.every((request) => request === SSL_REQUEST))

      const verified = testDriver(t, db.reader({ connection: { tls: 'verify', tlsCaFile: files.certificate } }))
      assert.equal(await verified.cell(encrypted), 't')
      const unknownAuthority = testDriver(t, db.reader({ connection: { tls: 'verify' } }))
      assert.match(outcome(await unknownAuthority.run('SELECT 1')).reason, /DEPTH_ZERO_SELF_SIGNED_CERT/)
      const otherName = { tls: 'verify', tlsCaFile: files.certificate, host: 'localhost' } as const
      const misnamed = testDriver(t, db.reader({ connection: otherName }))
      assert.match(outcome(await misnamed.run('SELECT 1')).reason, /ERR_TLS_CERT_ALTNAME_INVALID/)
      const noFile = testDriver(t, db.reader({ connection: { tls: 'verify', tlsCaFile: '/no/such/ca.pem' } }))
      const { code, reason } = outcome(await noFile.run('SELECT 1'))
      assert.equal(code, 'CONNECTOR_UNAVAILABLE')
      assert.match(reason, /ca_file.*ENOENT.*\/no\/such\/ca\.pem/)
    })
  })
}

/** Turns TLS on in a running server, and off again when the test ends. */
async function enableTls(server: PostgresTestServer, t: TestContext): Promise<{ readonly certificate: string }> {
  const { certificate, key } = selfSignedCertificate()
  const folder = join(server.process.folder, 'cluster')
  const { uid, gid } = await stat(folder)
  const paths = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key') }
  await writeFile(paths.certificate, certificate, { mode: 0o600 })
  await writeFile(paths.key, key, { mode: 0o600 })
  for (const path of Object.values(paths)) await chown(path, uid, gid)
  t.after(async () => {
    await server.query('ALTER SYSTEM RESET ssl')
    await server.query('SELECT pg_reload_conf()')
    await eventually('TLS is off', async () => (await server.query('SHOW ssl'))[0]?.[0] === 'off')
  })
  await server.query('ALTER SYSTEM SET ssl = on')
  await server.query('SELECT pg_reload_conf()')
  await eventually('TLS is on', async () => (await server.query('SHOW ssl'))[0]?.[0] === 'on')
  return paths
}

test('a host that is a folder is a Unix socket, for statements and for cancels, and TLS is not spoken there', async (t) => {
  const binaries = await embeddedBinaries()
  // Relative to the cluster, whose path is not known before the start.
  const server = await startThrowawayPostgres({ binaries, settings: { unix_socket_directories: '.' } })
  t.after(() => server.stop())
  const db = await (await EMBEDDED.start()).createDatabase()
  const { host, port, user, password } = { ...server, host: join(server.folder, 'cluster') }
  const settings = db.reader({ connection: { host, port, user, password, database: 'postgres', tls: 'require' } })
  const { driver, run, cell, observed } = testDriver(t, settings)
  assert.equal(await cell('SELECT inet_client_addr()'), null)
  assert.equal(outcome(await run('SELECT 1 FROM pg_sleep(600)', [], { timeoutMs: 50 })).code, 'TIMEOUT')
  const running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(6%' AND pid <> pg_backend_pid()"
  await eventually('nothing runs on', async () => (await cell(running)) === '0')
  assert.deepEqual(observed, [])
  await driver.close()
})
