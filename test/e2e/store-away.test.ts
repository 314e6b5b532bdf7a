import assert from 'node:assert/strict'
import { renameSync, rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import type { AdminStore } from '../../src/admin/admin-store.js'
import { STORE_VERSION } from '../../src/admin/migrations.js'
import { Secret } from '../../src/config/secret.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { openedStore, postgresUrl } from '../support/admin-stores.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
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

/** Calls until the store answers for the caller: the first answer that is not its refusal. */
async function firstAnswer(call: () => Promise<string>): Promise<string> {
  let text = ''
  await eventually('the store answers', async () => {
    text = await call()
    return !text.includes('AUTH_UNAVAILABLE')
  })
  return text
}

describe('an admin store on PostgreSQL that goes away under a gateway, and another gateway that has it', () => {
  let database: TestDatabase
  let moved: TestDatabase
  let gate: TcpGate
  let store: AdminStore
  let key: string
  const folders: GatewayFolder[] = []
  const gateways: RunningGateway[] = []

  before(async () => {
    const server = await EMBEDDED.start()
    database = await server.createDatabase(NOTES_SETUP)
    moved = await server.createDatabase(`${NOTES_SETUP} UPDATE notes SET title = 'moved';`)
    const stored = await server.createDatabase()
    gate = await tcpGate(server.process.port)
    const direct = { type: 'postgres', url: new Secret(await postgresUrl(stored.name)) } as const
    const gated = { type: 'postgres', url: new Secret(await postgresUrl(stored.name, gate.port)) } as const
    const connector = { id: 'notes', settings: database.reader() }
    const steady = { id: 'steady', settings: database.reader() }
    const identities = { reader: { roles: ['reader'] } }
    folders.push(
      await prepareGateway({
        connectors: [
          { ...connector, policy: NOTES_POLICY },
          { ...steady, policy: NOTES_POLICY },
        ],
        identities,
        adminStore: direct,
      }),
    )
    folders.push(await prepareGateway({ connectors: [connector, steady], identities: {}, adminStore: gated }))
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
    await eventually('the reload that was asked for is made', () =>
      far.observations.some((each) => each.kind === 'reload.ended' && each.cause === 'signal'),
    )
  })

  test('the first call that is answered when it is back, and every list, is of what was stored meanwhile; the rest serves on', async () => {
    const far = gateways[1]
    assert.ok(far !== undefined)
    const { connectors } = far.gateway
    const steady = connectors.get('steady')?.epoch
    for (const [policy, expected] of [
      [NOTES_POLICY, true],
      [WITHOUT_LINKS, false],
      [NOTES_POLICY, true],
      [WITHOUT_LINKS, false],
    ] as const) {
      await gate.shut()
      await apply(policy)
      await gate.open()
      const calls = Array.from({ length: 8 }, () => firstAnswer(() => links(far)))
      const list = firstAnswer(() =>
        listTools(far.endpoint('notes'), key).then(
          (tools) => tools.map(({ name }) => name).join(),
          (error: unknown) => String(error),
        ),
      )
      const other = firstAnswer(() => links(far, 'steady'))
      for (const text of await Promise.all(calls)) assert.match(text, expected ? /"rows"/ : /^TOOL_UNKNOWN/)
      assert.equal((await list).includes('search_links'), expected)
      assert.match(await other, /"rows"/)
    }
    assert.equal(connectors.get('steady')?.epoch, steady)
  })

  test('a connector that was sent elsewhere or removed meanwhile answers from where it was no more', async () => {
    const far = gateways[1]
    assert.ok(far !== undefined)
    const put = async (settings: ReturnType<TestDatabase['reader']>) => {
      const document = connectorDocument({ id: 'more', settings }, { policy: 'steady' })
      must(await store.changes({ name: 'test' }).putConnector('more', document))
    }
    const title = () =>
      callTool(far.endpoint('more'), key, 'search_notes', { limit: 1, columns: ['title'] }).then(({ text }) => text)
    const here = database.reader()
    const nowhere = { ...here, connection: { ...here.connection, port: 1 } }
    await put(here)
    await eventually('it serves', async () => /note \d/.test(await title()))
    for (const [settings, expected] of [
      [moved.reader(), /moved/],
      [database.reader(), /note \d/],
    ] as const) {
      await gate.shut()
      await put(settings)
      await gate.open()
      for (const text of await Promise.all([1, 2, 3].map(() => firstAnswer(title)))) assert.match(text, expected)
    }
    await gate.shut()
    await put(nowhere)
    await gate.open()
    for (const text of await Promise.all([1, 2, 3].map(() => firstAnswer(title)))) {
      assert.match(text, /CONNECTOR_UNAVAILABLE/)
    }
    await put(database.reader())
    await eventually('it serves again', async () => /note \d/.test(await title()))
    await gate.shut()
    must(await store.changes({ name: 'test' }).deleteConnector('more'))
    await gate.open()
    for (const text of await Promise.all([1, 2, 3].map(() => firstAnswer(title)))) assert.doesNotMatch(text, /"rows"/)
  })
})

describe('an admin store in a file that is replaced under a gateway', () => {
  const gateways: RunningGateway[] = []
  const folders: GatewayFolder[] = []

  after(async () => {
    for (const gateway of gateways) await gateway.stop()
    for (const folder of folders) await folder.remove()
  })

  async function served(more?: string) {
    const server = await EMBEDDED.start()
    const database = await server.createDatabase(NOTES_SETUP)
    const folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: { reader: { roles: ['reader'] }, leaver: { roles: ['reader'] } },
      ...(more === undefined ? {} : { more }),
    })
    const running = await startGateway(folder)
    folders.push(folder)
    gateways.push(running)
    const links = (who: string) =>
      callTool(running.endpoint('notes'), folder.keys[who], 'search_links', { limit: 1 }).then(({ text }) => text)
    /** A copy of the store as it is, in which this policy is the newest and the leaver has no valid key. */
    const restored = async (policy: string): Promise<string> => {
      const path = `${folder.storeFile}.restored`
      const db = new Database(folder.storeFile)
      await db.backup(path)
      db.close()
      const copy = await openedStore({ settings: { type: 'sqlite', path } })
      const changes = copy.changes({ name: 'test' })
      must(await changes.applyPolicy('notes', JSON.stringify(must(parsePolicy(policy)))))
      for (const { keyId, identity } of await copy.listKeys()) {
        if (identity === 'leaver') must(await changes.revokeKey(keyId))
      }
      await copy.close()
      return path
    }
    return { folder, running, links, restored }
  }

  test('refuses until it goes on with the other file by itself, whose revocations and policies hold from the first call on', async () => {
    const { folder, running, links, restored } = await served()
    for (const who of ['reader', 'leaver']) assert.match(await links(who), /"rows"/)
    renameSync(await restored(WITHOUT_LINKS), folder.storeFile)
    assert.match(await links('leaver'), /AUTH_UNAVAILABLE/)
    const [leaver, reader] = [firstAnswer(() => links('leaver')), firstAnswer(() => links('reader'))]
    assert.match(await leaver, /AUTH_INVALID/)
    assert.match(await reader, /^TOOL_UNKNOWN/)
    const backup = await restored(NOTES_POLICY)
    for (const end of ['', '-wal', '-shm']) rmSync(`${folder.storeFile}${end}`)
    assert.match(await links('reader'), /AUTH_UNAVAILABLE/)
    renameSync(backup, folder.storeFile)
    assert.match(await firstAnswer(() => links('reader')), /"rows"/)
    assert.equal((await fetch(`${running.gateway.adminUrl}/readyz`)).status, 200)
  })

  test('is not served from meanwhile to anonymous callers either', async () => {
    const { folder, links, restored } = await served('auth: { enabled: false, anonymous_roles: [reader] }')
    assert.match(await links('nobody'), /"rows"/)
    const copy = await restored(WITHOUT_LINKS)
    rmSync(folder.storeFile)
    await eventually('it is noticed', async () => (await links('nobody')).includes('AUTH_UNAVAILABLE'))
    renameSync(copy, folder.storeFile)
    assert.match(await firstAnswer(() => links('nobody')), /^TOOL_UNKNOWN/)
  })

  test('and one that a newer program migrated is refused, and the log names both versions', async () => {
    const { folder, running, links } = await served()
    assert.match(await links('reader'), /"rows"/)
    const db = new Database(folder.storeFile)
    db.pragma(`user_version = ${STORE_VERSION + 1}`)
    assert.match(await links('reader'), /AUTH_UNAVAILABLE/)
    const told = running.observations.flatMap((seen) => (seen.kind === 'auth.store_failed' ? [seen.detail] : []))
    const expected = `the store has version ${STORE_VERSION + 1} and this program knows ${STORE_VERSION}: use the newer program`
    assert.ok(told.some((detail) => detail.endsWith(expected)))
    db.close()
  })

  test('and one that is missing at the start is made, which the log says', async () => {
    const folder = await prepareGateway({ connectors: [], identities: {} })
    folders.push(folder)
    rmSync(folder.storeFile)
    const running = await startGateway(folder)
    gateways.push(running)
    const made = running.observations.filter(({ kind }) => kind === 'store.created')
    assert.deepEqual(made, [{ kind: 'store.created', place: folder.storeFile }])
  })
})
