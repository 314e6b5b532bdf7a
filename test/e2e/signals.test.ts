import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { openSqliteAdminStore } from '../../src/admin/sqlite-admin-store.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  must,
  post,
  prepareGateway,
  rpcCall,
  type SpawnedGateway,
  spawnGateway,
} from '../support/gateway.js'
import { holdNotes } from '../support/hold.js'
import { HELD_CALL, NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { processesWith, runRunku, startRunku } from '../support/runku-process.js'

describe('signals of a serving gateway', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let gateway: SpawnedGateway | undefined
  let key: string

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: { reader: { roles: ['reader'] } },
    })
    key = folder.keys['reader'] ?? ''
  })

  afterEach(async () => {
    gateway?.child.kill('SIGKILL')
    await gateway?.exited
  })

  after(() => folder?.remove())

  /** Past every check of the command line, as a broken program might. */
  async function storePolicy(document: string): Promise<void> {
    const options = { path: folder.storeFile, clock: Date.now, randomBytes, busyTimeoutMs: 5_000 }
    const store = must(openSqliteAdminStore(options))
    must(await store.changes({ name: 'test' }).applyPolicy('notes', document))
    await store.close()
  }

  test('SIGTERM drains: calls in flight are answered, every reply has its entry, no process and no session is left', async () => {
    gateway = await spawnGateway(folder, ['notes'])
    const { child, exited, log } = gateway
    const endpoint = gateway.endpoint('notes')
    const hold = await holdNotes(database.reader())
    const held = [1, 2].map((id) => callTool(endpoint, key, HELD_CALL.name, HELD_CALL.arguments, `held-${id}`))
    const answered: string[] = []
    const statuses = new Set<number>()
    let draining = false
    const client = async (own: number) => {
      for (let n = 0; ; n++) {
        const id = `${own}-${n}`
        const after = draining
        const reply = await post(endpoint, key, rpcCall(id, { name: 'search_notes', arguments: { limit: 1 } })).catch(
          () => undefined,
        )
        // Refused connections come only once the gateway has stopped to accept.
        if (reply === undefined) return assert.ok(draining || log.some(({ msg }) => msg === 'gateway.draining'))
        statuses.add(reply.status)
        if (reply.status === 200) answered.push(id)
        else assert.ok(reply.status === 503 && reply.headers.get('retry-after') !== null, reply.text)
        if (after && reply.status === 503) return undefined
      }
    }
    const clients = Array.from({ length: 16 }, (_, own) => client(own))
    await eventually('the clients are served', () => answered.length > 100)
    const waiting = async () => (await database.sessions()).filter(({ query }) => query.includes('held')).length
    await eventually('two calls wait in the database', async () => (await waiting()) === 2)
    // Twice, as some programs pass on what was sent to the whole group: the drain must not be cut short.
    child.kill('SIGTERM')
    child.kill('SIGINT')
    await eventually('it drains', () => log.some(({ msg }) => msg === 'gateway.draining'))
    draining = true
    await Promise.all(clients)
    await hold.release()
    for (const answer of await Promise.all(held)) {
      assert.equal(answer.isError, false, answer.text)
      assert.match(answer.text, /"rows":\[\{"id":1/)
    }
    assert.equal(await exited, 0)
    assert.ok(log.some(({ msg }) => msg === 'gateway.stopped'))

    const ids = folder.entries().map(({ request_id: id }) => id)
    for (const id of [...answered, 'held-1', 'held-2']) assert.equal(ids.filter((other) => other === id).length, 1, id)
    assert.deepEqual(processesWith(folder.folder), [])
    await eventually('no session is left', async () => (await database.sessions()).length === 0)
    await assert.rejects(fetch(gateway.url), 'nothing listens any more')
  })

  test('a signal that comes again later cuts the drain short', async () => {
    gateway = await spawnGateway(folder, ['notes'])
    const { child, exited } = gateway
    const hold = await holdNotes(database.reader())
    const call = callTool(gateway.endpoint('notes'), key, HELD_CALL.name, HELD_CALL.arguments, 'cut')
    const cut = assert.rejects(call)
    const waiting = async () => (await database.sessions()).some(({ query }) => query.includes('held'))
    await eventually('a call waits in the database', waiting)
    await eventually('it ends', () => {
      child.kill('SIGTERM')
      return child.exitCode !== null
    })
    await cut
    assert.equal(await exited, 130)
    await hold.release()
    await eventually('no session is left', async () => (await database.sessions()).length === 0)
  })

  test('SIGTERM during the start ends it in order', async () => {
    const starting = startRunku(folder.folder, ['serve'])
    await eventually('it says that it listens', () => starting.err().includes('gateway.listening'))
    starting.child.kill('SIGTERM')
    const { how, err } = await starting.ended
    assert.equal(how, 0, err)
    assert.match(err, /gateway\.stopped/)
  })

  test('a policy applied by a command is enforced without a signal, SIGHUP reads everything again, and a bad policy changes nothing and stops nothing', async () => {
    gateway = await spawnGateway(folder, ['notes'])
    const { child, log } = gateway
    const endpoint = gateway.endpoint('notes')
    const names = async () => (await listTools(endpoint, key)).map(({ name }) => name)
    assert.ok((await names()).includes('search_links'))
    let stopped = false
    const failed: string[] = []
    let served = 0
    const client = async () => {
      while (!stopped) {
        const answer = await callTool(endpoint, key, 'search_notes', { limit: 1, columns: ['id'] })
        if (answer.isError) failed.push(answer.text)
        else served += 1
      }
    }
    const clients = Array.from({ length: 8 }, client)
    await eventually('the clients are served', () => served > 50)
    const policyFile = join(folder.folder, 'policy.yaml')
    writeFileSync(policyFile, NOTES_POLICY.replace('  public.links: {}\n', ''))
    const applied = await runRunku(folder.folder, ['policy', 'apply', 'notes', policyFile])
    assert.equal(applied.how, 0, applied.err)
    await eventually('the new policy is served', async () => !(await names()).includes('search_links'))
    const reloads = () => log.filter(({ msg, cause }) => msg === 'reload.ended' && cause === 'signal').length
    child.kill('SIGHUP')
    await eventually('everything was read again', () => reloads() === 1)
    assert.equal(log.filter(({ msg }) => msg === 'connector.unchanged').length, 1)
    const servedBefore = served
    await eventually('calls go on', () => served > servedBefore + 50)
    assert.ok(!(await names()).includes('search_links'))
    assert.match((await callTool(endpoint, key, 'search_links', {})).text, /TOOL_UNKNOWN/)
    await storePolicy('{"version":1,"tables":5}')
    await eventually('the bad one is reported', () => log.some(({ msg }) => msg === 'connector.unavailable'))
    assert.ok(!(await names()).includes('search_links') && (await names()).includes('search_notes'))
    child.kill('SIGHUP')
    await eventually('and again', () => reloads() === 2)
    assert.ok(!(await names()).includes('search_links') && (await names()).includes('search_notes'))
    await storePolicy(JSON.stringify(must(parsePolicy(NOTES_POLICY))))
    await eventually('the next one works', async () => (await names()).includes('search_links'))
    stopped = true
    await Promise.all(clients)
    assert.deepEqual(failed, [])
    child.kill('SIGTERM')
    assert.equal(await gateway.exited, 0)
    const epochs = new Set(folder.entries().map(({ epoch }) => epoch))
    assert.ok(epochs.has(1) && epochs.has(2), 'both epochs judged calls')
  })
})
