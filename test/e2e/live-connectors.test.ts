import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Callers, startCallers } from '../support/callers.js'
import {
  callTool,
  type GatewayFolder,
  must,
  post,
  prepareGateway,
  type RunningGateway,
  rpcCall,
  startGateway,
} from '../support/gateway.js'
import { type Hold, holdNotes } from '../support/hold.js'
import { connectorDocument, type LiveFolder, liveFolder } from '../support/live-folder.js'
import { HELD_CALL, NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { tcpGate } from '../support/tcp-gate.js'
import { atStatement } from '../support/test-server.js'

const TITLE = { name: 'get_notes_by_pk', arguments: { id: 1, columns: ['title'] } }

describe('connectors that change while the gateway serves', () => {
  let first: TestDatabase
  let second: TestDatabase
  let folder: GatewayFolder
  let live: LiveFolder
  let running: RunningGateway
  let key: string
  /** What stays in the file whatever a test does to it. */
  let base: { readonly id: string; readonly settings: ReturnType<TestDatabase['reader']> }
  let steady: Callers
  const holds: Hold[] = []

  before(async () => {
    const server = await EMBEDDED.start()
    first = await server.createDatabase(NOTES_SETUP)
    second = await server.createDatabase(NOTES_SETUP)
    await first.query("UPDATE notes SET title = 'first'")
    await second.query("UPDATE notes SET title = 'second'")
    base = { id: 'base', settings: first.reader() }
    folder = await prepareGateway({
      connectors: [{ ...base, policy: NOTES_POLICY }],
      identities: { reader: { roles: ['reader'] } },
    })
    key = folder.keys['reader'] ?? ''
    live = await liveFolder(folder)
    for (const name of ['shop', 'crm']) await live.apply(name, NOTES_POLICY)
    running = await startGateway(folder)
    // Nothing that happens to the others may be felt here.
    steady = startCallers({ endpoint: () => running.endpoint('base'), key, clients: 2, tool: () => TITLE })
  })

  afterEach(async () => {
    // A test that failed would hold up those after it.
    for (const hold of holds.splice(0)) await hold.release()
    live.connectors([base])
    await reload()
  })

  after(async () => {
    assert.deepEqual(await steady?.stop(), [])
    assert.deepEqual(
      running.observations.filter(({ kind }) => kind === 'connector.worker_exited'),
      [],
    )
    assert.equal(running.gateway.connectors.get('base')?.epoch, 1)
    await running?.stop()
    await live?.store.close()
    await folder?.remove()
  })

  async function reload() {
    const { connectors, faults } = await running.gateway.reload('signal')
    const outcomes = connectors.filter(({ id }) => id !== 'base').map(({ id, outcome }) => [id, outcome])
    const reasons = connectors.map(({ reason = '' }) => reason).join('\n')
    return { outcomes, reasons, faults }
  }

  const title = async (path: string) => {
    const answer = await callTool(`${running.gateway.url}${path}`, key, TITLE.name, TITLE.arguments)
    return answer.isError ? answer.text.replace(/:.*/s, '') : JSON.stringify(answer.structured)
  }
  const unknown = async (path: string) =>
    (await post(`${running.gateway.url}${path}`, key, rpcCall(1, { name: TITLE.name }))).status === 404

  const callers = (path: () => string) =>
    startCallers({ endpoint: () => `${running.gateway.url}${path()}`, key, clients: 8, tool: () => TITLE })

  /** A call that waits in the database of the connector until it is let go. */
  async function held(path: string, database: TestDatabase) {
    const hold = await holdNotes(database.reader())
    holds.push(hold)
    const answer = callTool(`${running.gateway.url}${path}`, key, HELD_CALL.name, HELD_CALL.arguments)
    await eventually('the call waits in the database', async () => (await atStatement(database, /held/)).length > 0)
    return {
      release: async () => {
        await hold.release()
        const { isError, text } = await answer
        assert.equal(isError, false, text)
      },
    }
  }

  test('one is added, and removed with a call in flight and a request half sent: both are answered, its path is unknown at once', async () => {
    assert.ok(await unknown('/mcp/shop'))
    live.connectors([base, { id: 'shop', settings: second.reader() }])
    assert.deepEqual((await reload()).outcomes, [['shop', 'added']])
    assert.match(await title('/mcp/shop'), /second/)
    const flight = await held('/mcp/shop', second)
    const half = halfSent(`${running.gateway.url}/mcp/shop`, key, rpcCall(7, TITLE))
    await half.begun
    // Answered after the headers of the other were read.
    assert.match(await title('/mcp/shop'), /second/)
    live.connectors([base])
    assert.deepEqual((await reload()).outcomes, [['shop', 'removed']])
    assert.ok(await unknown('/mcp/shop'))
    assert.match(await half.finish(), /second/)
    await flight.release()
    await eventually('no session is left', async () => (await second.sessions()).length === 0)
    assert.deepEqual(
      running.gateway.report().map(({ id }) => id),
      ['base'],
    )
  })

  test('one gets another address: calls go on without a failure, first by the old one, then by the new one, and the old sessions end', async () => {
    live.connectors([base, { id: 'shop', settings: second.reader() }])
    await reload()
    const clients = callers(() => '/mcp/shop')
    await eventually('they are served', () => clients.answered() > 50)
    const flight = await held('/mcp/shop', second)
    const before = running.gateway.connectors.get('shop')?.epoch ?? 0
    live.connectors([base, { id: 'shop', settings: first.reader() }])
    assert.deepEqual((await reload()).outcomes, [['shop', 'replaced']])
    assert.ok((running.gateway.connectors.get('shop')?.epoch ?? 0) > before, 'epochs go on growing')
    assert.match(await title('/mcp/shop'), /first/)
    await flight.release()
    const served = clients.answered()
    await eventually('they are still served', () => clients.answered() > served + 50)
    assert.deepEqual(await clients.stop(), [])
    await eventually('the old sessions are gone', async () => (await second.sessions()).length === 0)
  })

  test('an address where nothing answers changes nothing, is reported, and is taken over as soon as it answers', async () => {
    live.connectors([base, { id: 'shop', settings: second.reader() }])
    await reload()
    const gate = await tcpGate(first.reader().connection.port)
    await gate.shut()
    const clients = callers(() => '/mcp/shop')
    live.connectors([base, { id: 'shop', settings: first.reader({ connection: { port: gate.port } }) }])
    const { outcomes, reasons } = await reload()
    assert.deepEqual(outcomes, [['shop', 'failed']])
    assert.match(reasons, /ECONNREFUSED/)
    assert.match(await title('/mcp/shop'), /second/)
    const shop = running.gateway.report().find(({ id }) => id === 'shop')
    assert.match(shop?.replacement?.lastError ?? '', /ECONNREFUSED/)
    assert.equal(shop?.mode, 'ready')
    // What serves meanwhile is judged by the policy as it is now.
    await live.apply('shop', NOTES_POLICY.replace('{ mask: [secret] }', '{ mask: [secret, title] }'))
    await eventually('the old one has the new policy', async () => (await title('/mcp/shop')) === 'ARGUMENT_COLUMN')
    await live.apply('shop', NOTES_POLICY)
    await eventually('and the next one', async () => /second/.test(await title('/mcp/shop')))
    await gate.open()
    await eventually('the new one took over', async () => /first/.test(await title('/mcp/shop')))
    assert.equal(running.gateway.report().find(({ id }) => id === 'shop')?.replacement, undefined)
    assert.ok((await clients.stop()).every((text) => text.startsWith('ARGUMENT_COLUMN')))
    live.connectors([base])
    await reload()
    await gate.shut()
  })

  test('one moves to another path, and one is renamed and keeps its path: nobody is turned away', async () => {
    live.connectors([base, { id: 'shop', settings: second.reader() }])
    await reload()
    const flight = await held('/mcp/shop', second)
    const epoch = running.gateway.connectors.get('shop')?.epoch
    live.connectors([base, { id: 'shop', settings: second.reader(), more: 'path: /data/shop' }])
    assert.deepEqual((await reload()).outcomes, [['shop', 'unchanged']])
    assert.equal(running.gateway.connectors.get('shop')?.epoch, epoch)
    assert.ok(await unknown('/mcp/shop'))
    assert.match(await title('/data/shop'), /second/)
    await flight.release()

    const clients = callers(() => '/data/shop')
    await eventually('they are served', () => clients.answered() > 50)
    live.connectors([base, { id: 'crm', settings: second.reader(), more: 'path: /data/shop' }])
    const { outcomes } = await reload()
    assert.deepEqual(
      new Map(outcomes.map(([id, outcome]) => [id, outcome])),
      new Map([
        ['crm', 'added'],
        ['shop', 'removed'],
      ]),
    )
    const served = clients.answered()
    await eventually('they are still served', () => clients.answered() > served + 50)
    assert.deepEqual(await clients.stop(), [])
    const own = folder.entries().filter(({ connector }) => connector !== 'base')
    assert.equal(own.at(-1)?.connector, 'crm')
  })

  test('two that change places do so in one step', async () => {
    const shop = (path: string) => ({ id: 'shop', settings: first.reader(), more: `path: ${path}` })
    const crm = (path: string) => ({ id: 'crm', settings: second.reader(), more: `path: ${path}` })
    live.connectors([base, shop('/data/one'), crm('/data/two')])
    await reload()
    const clients = [callers(() => '/data/one'), callers(() => '/data/two')]
    for (let n = 0; n < 6; n++) {
      live.connectors(
        n % 2 === 0 ? [base, shop('/data/two'), crm('/data/one')] : [base, shop('/data/one'), crm('/data/two')],
      )
      await reload()
      assert.match(await title('/data/one'), n % 2 === 0 ? /second/ : /first/)
    }
    for (const each of clients) assert.deepEqual(await each.stop(), [])
  })

  test('those of the admin store come, change, are renamed and go without a signal', async () => {
    const shop = (database: TestDatabase) => connectorDocument({ id: 'shop', settings: database.reader() })
    must(await live.changes.putConnector('shop', shop(second)))
    await eventually('it is served', async () => /second/.test(await title('/mcp/shop').catch(() => '')))
    const clients = callers(() => '/mcp/shop')
    must(await live.changes.putConnector('shop', shop(first)))
    await eventually('by the other database', async () => /first/.test(await title('/mcp/shop')))
    assert.deepEqual(await clients.stop(), [])
    must(await live.changes.renameConnector('shop', 'crm'))
    await eventually('under its new name', async () => /first/.test(await title('/mcp/crm').catch(() => '')))
    await eventually('and not under the old one', () => unknown('/mcp/shop'))
    must(await live.changes.deleteConnector('crm'))
    await eventually('it is gone', () => unknown('/mcp/crm'))
  })

  test('a broken config.yaml keeps everything as it was and says where, and the next reload works', async () => {
    let whole = ''
    live.edit((text) => {
      whole = text
      return text.replace('connectors:', 'connectors: [')
    })
    const broken = await running.gateway.reload('signal')
    assert.match(broken.faults.join(), /config\.yaml:\d+:\d+: not valid YAML/)
    assert.deepEqual(broken.connectors, [])
    assert.match(await title('/mcp/base'), /first/)
    live.edit(() => whole.replace('server: {', 'server: { allowed_hosts: [gateway.test],'))
    const { faults, needsRestart } = await running.gateway.reload('signal')
    assert.deepEqual([faults, needsRestart], [[], ['server']])
    live.edit(() => whole)
  })

  test('a faulty file of connectors_dir is named with its line and disables that one alone, or keeps what it was', async () => {
    const directory = join(folder.folder, 'connectors.d')
    mkdirSync(directory)
    const put = (name: string, text: string) => writeFileSync(join(directory, name), text)
    put('shop.yaml', connectorDocument({ id: 'shop', settings: second.reader() }))
    put('crm.yml', 'id: crm\ntype: postgres\npolcy: crm\n')
    put('.hidden.yaml', 'id: [')
    put('notes.txt', 'id: [')
    live.edit((text) => `connectors_dir: connectors.d\n${text}`)
    const { outcomes } = await reload()
    assert.deepEqual(outcomes, [['shop', 'added']])
    const crm = () => running.gateway.report().find(({ id }) => id === 'crm')
    assert.equal(crm()?.mode, 'disabled')
    assert.match(
      crm()?.faults.join('\n') ?? '',
      /connectors\.d\/crm\.yml:3:1: polcy: unknown key\. Did you mean "policy"\?/,
    )
    assert.equal(await title('/mcp/crm'), 'CONNECTOR_UNAVAILABLE')

    // The one that serves goes on by what it was, whether its file is wrong or cannot be read at all.
    for (const text of ['id: shop\ntype: postgres\n', '{ id: [']) {
      put('shop.yaml', text)
      assert.deepEqual((await reload()).outcomes, [['shop', 'failed']])
      assert.match(await title('/mcp/shop'), /second/)
      const shop = running.gateway.report().find(({ id }) => id === 'shop')
      assert.equal(shop?.mode, 'ready')
      assert.match(shop?.faults.join() ?? '', /connectors\.d\/shop\.yaml/)
    }
    put('shop.yaml', connectorDocument({ id: 'shop', settings: first.reader() }))
    put('crm.yml', connectorDocument({ id: 'crm', settings: second.reader() }))
    assert.deepEqual(
      new Map((await reload()).outcomes.map(([id, outcome]) => [id, outcome])),
      new Map([
        ['shop', 'replaced'],
        ['crm', 'added'],
      ]),
    )
    assert.match(await title('/mcp/crm'), /second/)
    rmSync(join(directory, 'shop.yaml'))
    assert.deepEqual(
      (await reload()).outcomes.filter(([id]) => id === 'shop'),
      [['shop', 'removed']],
    )
    live.edit((text) => text.replace('connectors_dir: connectors.d\n', ''))
  })

  test('a faulty connector of the admin store disables itself alone, and serves when it is put right', async () => {
    must(
      await live.changes.putConnector(
        'shop',
        JSON.stringify({ id: 'shop', type: 'postgres', url: `\${RUNKU_NOT_SET}` }),
      ),
    )
    await eventually('it is reported', () => running.gateway.report().some(({ id }) => id === 'shop'))
    const shop = () => running.gateway.report().find(({ id }) => id === 'shop')
    assert.deepEqual([shop()?.mode, shop()?.source], ['disabled', 'store'])
    assert.match(shop()?.faults.join() ?? '', /connector "shop" of the admin store: url: .*RUNKU_NOT_SET is not set/)
    assert.equal(await title('/mcp/shop'), 'CONNECTOR_UNAVAILABLE')
    must(await live.changes.putConnector('shop', connectorDocument({ id: 'shop', settings: second.reader() })))
    await eventually('it is served', async () => /second/.test(await title('/mcp/shop')))
    // One of the file with the same id comes first.
    live.connectors([base, { id: 'shop', settings: first.reader() }])
    await reload()
    assert.match(await title('/mcp/shop'), /first/)
    const twice = running.gateway.report().filter(({ id }) => id === 'shop')
    assert.deepEqual(
      twice.map(({ source, mode }) => [source, mode]),
      [
        ['file', 'ready'],
        ['store', 'disabled'],
      ],
    )
    assert.match(twice[1]?.faults.join() ?? '', /another connector has this id: .*config\.yaml:\d+$/)
    must(await live.changes.deleteConnector('shop'))
    await eventually('it is gone', () => running.gateway.report().filter(({ id }) => id === 'shop').length === 1)
  })

  test('a policy that another process stores is enforced without a signal, and a deleted one leaves nothing', async () => {
    live.connectors([base, { id: 'shop', settings: second.reader() }])
    await reload()
    const epoch = running.gateway.connectors.get('base')?.epoch
    await live.apply('shop', NOTES_POLICY.replace('{ mask: [secret] }', '{ mask: [secret, title] }'))
    await eventually('the column is gone', async () => (await title('/mcp/shop')) === 'ARGUMENT_COLUMN')
    must(await live.changes.deletePolicy('shop'))
    await eventually('everything is gone', async () => (await title('/mcp/shop')) === 'TOOL_UNKNOWN')
    await live.apply('shop', NOTES_POLICY)
    await eventually('it is back', async () => /second/.test(await title('/mcp/shop')))
    assert.equal(running.gateway.connectors.get('base')?.epoch, epoch, 'no other was touched')
  })

  test('values of a connector reach its policy, and a new value is enforced with the threads that there are', async () => {
    const policy = NOTES_POLICY.replace(
      'clerk:',
      `reader_of_one: { read: [public.notes], row_filter: { public.notes: [ { column: id, op: eq, value: "\${vars.one}" } ] } }\n  clerk:`,
    )
    await live.apply('crm', policy)
    must(await live.changes.createRole('reader_of_one'))
    must(await live.changes.createIdentity('one', ['reader_of_one'], new Map()))
    const { key: own } = must(await live.changes.createKey('one'))
    const ids = async () => {
      const answer = await callTool(running.endpoint('crm'), own, 'search_notes', { columns: ['id'] })
      return answer.isError ? answer.text : JSON.stringify(answer.structured)
    }
    const crm = (vars: string) => ({ id: 'crm', settings: second.reader(), more: vars })
    live.connectors([base, crm('vars: { one: 5 }')])
    await reload()
    assert.match(await ids(), /"rows":\[\{"id":5\}\]/)
    const sessions = (await second.sessions()).map(({ pid }) => pid)
    live.connectors([base, crm('vars: { one: 6 }')])
    assert.deepEqual((await reload()).outcomes, [['crm', 'reloaded']])
    assert.match(await ids(), /"rows":\[\{"id":6\}\]/)
    const kept = (await second.sessions()).map(({ pid }) => pid)
    for (const pid of sessions) assert.ok(kept.includes(pid))
    live.connectors([base, crm('vars: {}')])
    await reload()
    // Without the value nobody knows which rows were meant: the table is withheld.
    assert.match(await ids(), /^TOOL_UNKNOWN/)
    assert.match(
      running.gateway
        .report()
        .find(({ id }) => id === 'crm')
        ?.drift.join() ?? '',
      /"one"/,
    )
  })
})

/** A request whose headers are there and whose body is not. */
function halfSent(endpoint: string, key: string, body: unknown) {
  const text = JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  const sending = request(endpoint, { method: 'POST', headers })
  const answer = new Promise<string>((resolve, reject) => {
    sending.once('error', reject)
    sending.once('response', (response) => {
      let received = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        received += part
      })
      response.once('end', () => resolve(received))
    })
  })
  const begun = new Promise<void>((resolve) => sending.write(text.slice(0, 5), () => resolve()))
  return {
    begun,
    finish: () => {
      sending.end(text.slice(5))
      return answer
    },
  }
}
