import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AdminStore } from '../../src/admin/admin-store.js'
import { Secret } from '../../src/config/secret.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { openedStore, postgresUrl } from '../support/admin-stores.js'
import {
  callTool,
  type GatewayFolder,
  must,
  prepareGateway,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { connectorDocument } from '../support/live-folder.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { type TcpGate, tcpGate } from '../support/tcp-gate.js'

const WITHOUT_LINKS = NOTES_POLICY.replace('  public.links: {}\n', '')

describe('an admin store on PostgreSQL that goes away under a gateway, and another gateway that has it', () => {
  let database: TestDatabase
  let gate: TcpGate
  let store: AdminStore
  let key: string
  const folders: GatewayFolder[] = []
  const gateways: RunningGateway[] = []

  before(async () => {
    const server = await EMBEDDED.start()
    database = await server.createDatabase(NOTES_SETUP)
    const stored = await server.createDatabase()
    gate = await tcpGate(server.process.port)
    const direct = { type: 'postgres', url: new Secret(await postgresUrl(stored.name)) } as const
    const gated = { type: 'postgres', url: new Secret(await postgresUrl(stored.name, gate.port)) } as const
    const connector = { id: 'notes', settings: database.reader() }
    const identities = { reader: { roles: ['reader'] } }
    folders.push(
      await prepareGateway({ connectors: [{ ...connector, policy: NOTES_POLICY }], identities, adminStore: direct }),
    )
    folders.push(await prepareGateway({ connectors: [connector], identities: {}, adminStore: gated }))
    key = folders[0]?.keys['reader'] ?? ''
    for (const folder of folders) gateways.push(await startGateway(folder))
    store = await openedStore({ settings: direct })
  })

  after(async () => {
    await store?.close()
    for (const gateway of gateways) await gateway.stop()
    for (const folder of folders) await folder.remove()
    await gate?.shut()
  })

  const links = (gateway: RunningGateway, connector = 'notes') =>
    callTool(gateway.endpoint(connector), key, 'search_links', { limit: 1 }).then(({ text }) => text)
  const apply = async (policy: string) =>
    must(await store.changes({ name: 'test' }).applyPolicy('notes', JSON.stringify(must(parsePolicy(policy)))))

  test('a policy stored through neither is enforced by both, without a signal', async () => {
    for (const gateway of gateways) assert.match(await links(gateway), /"rows"/)
    await apply(WITHOUT_LINKS)
    for (const gateway of gateways) {
      await eventually('it is enforced', async () => (await links(gateway)).startsWith('TOOL_UNKNOWN'))
    }
    await apply(NOTES_POLICY)
    for (const gateway of gateways) await eventually('and the next', async () => /"rows"/.test(await links(gateway)))
  })

  test('while it is away nothing is served and nothing reloaded; when it is back, what changed meanwhile is enforced', async () => {
    const [near, far] = gateways
    assert.ok(near !== undefined && far !== undefined)
    const epoch = far.gateway.connectors.get('notes')?.epoch
    await gate.shut()
    await eventually('calls are refused', async () => (await links(far)).includes('AUTH_UNAVAILABLE'))
    const ready = () => fetch(`${far.gateway.adminUrl}/readyz`)
    await eventually('it is not ready', async () => (await ready()).status === 503)
    assert.match(await (await ready()).text(), /admin_store/)
    const { faults, connectors } = await far.gateway.reload('signal')
    assert.match(faults.join(), /^the admin store failed: /)
    assert.deepEqual(connectors, [])
    assert.equal(far.gateway.connectors.get('notes')?.epoch, epoch)
    assert.equal(far.gateway.connectors.get('notes')?.mode, 'ready')

    await apply(WITHOUT_LINKS)
    const document = connectorDocument({ id: 'more', settings: database.reader() }, { policy: 'notes' })
    must(await store.changes({ name: 'test' }).putConnector('more', document))
    await eventually('the other one follows', async () => (await links(near, 'more')).startsWith('TOOL_UNKNOWN'))

    await gate.open()
    await eventually('it is ready again', async () => (await ready()).status === 200)
    await eventually('the new policy is enforced', async () => (await links(far)).startsWith('TOOL_UNKNOWN'))
    await eventually('the new connector is served', async () => (await links(far, 'more')).startsWith('TOOL_UNKNOWN'))
  })
})
