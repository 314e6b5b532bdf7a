import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  callTool,
  type GatewayFolder,
  must,
  prepareGateway,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { connectorDocument, type LiveFolder, liveFolder } from '../support/live-folder.js'
import { EMBEDDED, type TestDatabase } from '../support/postgres.js'
import { runRunku } from '../support/runku-process.js'

/** Tenants, each in a schema of its own, in a few databases of one server. */
const CONNECTORS = 150
const DATABASES = 3
const WRONG_PASSWORD = 31
const DEAD_HOST = 77
const WITHOUT_TABLE = 140

/** Of the same name in every schema: the name alone is the one of the connector's schema. */
const POLICY = `
version: 1
tables:
  orders: { row_filter: [ { column: region, op: eq, value: "\${vars.region}" } ] }
  places: {}
roles:
  reader: { read: ['*'] }
`

const schemaOf = (n: number) => `tenant_${n}`
const idOf = (n: number) => `shop-${n}`
const BROKEN = [WRONG_PASSWORD, DEAD_HOST, WITHOUT_TABLE].map(idOf)

const SETUP = Array.from({ length: CONNECTORS }, (_, n) => n)
  .map((n) => {
    const places = n === WITHOUT_TABLE ? '' : `CREATE TABLE ${schemaOf(n)}.places (id integer PRIMARY KEY);`
    return `CREATE SCHEMA ${schemaOf(n)};
      CREATE TABLE ${schemaOf(n)}.orders (id integer PRIMARY KEY, region text NOT NULL);
      INSERT INTO ${schemaOf(n)}.orders VALUES (${n}, 'eu'), (${n + 1_000}, 'us');
      ${places}`
  })
  .join('\n')

describe(`${CONNECTORS} connectors of one policy`, () => {
  let databases: readonly TestDatabase[]
  let nobody: Server
  let folder: GatewayFolder
  let live: LiveFolder
  let running: RunningGateway
  let key: string

  before(async () => {
    const server = await EMBEDDED.start()
    databases = await Promise.all(Array.from({ length: DATABASES }, () => server.createDatabase(SETUP)))
    nobody = createServer()
    await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve))
    const address = nobody.address()
    const deadPort = typeof address === 'object' && address !== null ? address.port : 0
    // Bound once and closed again: nothing answers there.
    await new Promise<void>((resolve) => nobody.close(() => resolve()))
    folder = await prepareGateway({ connectors: [], identities: { reader: { roles: ['reader'] } } })
    key = folder.keys['reader'] ?? ''
    live = await liveFolder(folder)
    live.edit((text) => text.replace('connectors:\n', 'connectors: []\n'))
    await live.apply('tenants', POLICY)
    for (let n = 0; n < CONNECTORS; n++) {
      const database = databases[n % DATABASES]
      assert.ok(database)
      const connection = {
        ...(n === WRONG_PASSWORD ? { password: 'not the one' } : {}),
        ...(n === DEAD_HOST ? { port: deadPort } : {}),
      }
      const settings = database.reader({ schemas: [schemaOf(n)], connection })
      const more = {
        policy: 'tenants',
        vars: { region: n % 2 === 0 ? 'eu' : 'us' },
        // The server takes fewer connections than there are connectors.
        pool: { max: 1, idle_timeout_ms: 50 },
      }
      must(await live.changes.putConnector(idOf(n), connectorDocument({ id: idOf(n), settings }, more)))
    }
    running = await startGateway(folder)
  })

  after(async () => {
    await running?.stop()
    await live?.store.close()
    await folder?.remove()
  })

  test('all but the broken ones serve, each its own rows, and the report names the others with their reasons', async () => {
    const states = running.gateway.report()
    assert.equal(states.length, CONNECTORS)
    const unwell = states.filter(({ mode, drift }) => mode !== 'ready' || drift.length > 0)
    assert.deepEqual(unwell.map(({ id }) => id).sort(), [...BROKEN].sort())
    const stateOf = (n: number) => states.find(({ id }) => id === idOf(n))
    assert.match(stateOf(WRONG_PASSWORD)?.lastError ?? '', /28P01|password/)
    assert.match(stateOf(DEAD_HOST)?.lastError ?? '', /ECONNREFUSED/)
    assert.match(stateOf(WITHOUT_TABLE)?.drift.join() ?? '', /places/)

    // Each call costs a thread of its own: some of them, and all that are broken.
    const asked = Array.from({ length: 15 }, (_, i) => i * 10).concat(WRONG_PASSWORD, DEAD_HOST)
    for (const n of asked) {
      const answer = await callTool(running.endpoint(idOf(n)), key, 'search_orders', { columns: ['id'] })
      const served = n !== WRONG_PASSWORD && n !== DEAD_HOST
      assert.equal(!answer.isError, served, `${idOf(n)}: ${answer.text}`)
      const id = n % 2 === 0 ? n : n + 1_000
      if (served) assert.match(answer.text, new RegExp(`"rows":\\[\\{"id":${id}\\}\\]`))
    }
    const missing = await callTool(running.endpoint(idOf(WITHOUT_TABLE)), key, 'search_places', {})
    assert.match(missing.text, /^TOOL_UNKNOWN/)
  })

  test('a reload prepares all of them again, and changes none that did not change', async () => {
    const { connectors, faults } = await running.gateway.reload('signal')
    assert.deepEqual(faults, [])
    assert.equal(connectors.length, CONNECTORS)
    const others = connectors.filter(({ outcome }) => outcome !== 'unchanged')
    assert.deepEqual(
      new Map(others.map(({ id, outcome }) => [id, outcome])),
      new Map([WRONG_PASSWORD, DEAD_HOST].map((n) => [idOf(n), 'failed'])),
    )
  })

  test('"runku check" looks at all of them and names the broken ones, with the exit code 1', async () => {
    const { how, out, err } = await runRunku(folder.folder, ['check', '--json'])
    assert.equal(how, 1, err)
    const { broken, connectors } = JSON.parse(out) as {
      readonly broken: readonly string[]
      readonly connectors: readonly unknown[]
    }
    assert.equal(connectors.length, CONNECTORS)
    assert.deepEqual([...broken].sort(), [...BROKEN].sort())
  })
})
