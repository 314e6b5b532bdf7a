import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { AdminStore } from '../../src/admin/admin-store.js'
import { Secret } from '../../src/config/secret.js'
import { INSTANCE_LIVE_MS } from '../../src/core/limits.js'
import { openedStore, postgresUrl } from '../support/admin-stores.js'
import {
  callTool,
  connectorYaml,
  type GatewayFolder,
  prepareGateway,
  type RunningGateway,
  type SpawnedGateway,
  spawnGateway,
  startGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { runRunku, startRunku } from '../support/runku-process.js'
import { type TcpGate, tcpGate } from '../support/tcp-gate.js'

interface Told {
  readonly request: number
  readonly instances: readonly {
    readonly pid: number
    readonly report: {
      readonly faults: readonly string[]
      readonly connectors: readonly { readonly id: string; readonly outcome: string; readonly fault?: string }[]
    }
  }[]
  readonly waiting: readonly { readonly pid: number }[]
  readonly gone: readonly { readonly pid: number }[]
}

describe('a reload of two gateways that share a store on PostgreSQL', () => {
  let database: TestDatabase
  let storeRows: (sql: string) => Promise<unknown>
  let gate: TcpGate
  let store: AdminStore
  let one: GatewayFolder
  let other: GatewayFolder
  let here: RunningGateway
  let there: SpawnedGateway
  let plain = ''

  before(async () => {
    const server = await EMBEDDED.start()
    database = await server.createDatabase(NOTES_SETUP)
    const stored = await server.createDatabase()
    storeRows = (sql) => stored.query(sql)
    gate = await tcpGate(server.process.port)
    const direct = { type: 'postgres', url: new Secret(await postgresUrl(stored.name)) } as const
    const gated = { type: 'postgres', url: new Secret(await postgresUrl(stored.name, gate.port)) } as const
    const connector = { id: 'notes', settings: database.reader() }
    const identities = { reader: { roles: ['reader'] } }
    one = await prepareGateway({
      connectors: [{ ...connector, policy: NOTES_POLICY }],
      identities,
      adminStore: direct,
    })
    other = await prepareGateway({ connectors: [connector], identities: {}, adminStore: direct })
    const seldom = await prepareGateway({ connectors: [], identities: {}, adminStore: gated })
    commandFolder = seldom
    plain = readFileSync(other.configFile, 'utf8')
    store = await openedStore({ settings: direct })
    here = await startGateway(one)
    there = await spawnGateway(other, ['notes'])
  })
  let commandFolder: GatewayFolder | undefined

  after(async () => {
    await here?.stop()
    if (there?.child.exitCode === null) there.child.kill('SIGKILL')
    await there?.exited
    await store?.close()
    await gate?.shut()
    for (const folder of [one, other, commandFolder]) await folder?.remove()
  })

  const reload = (...args: readonly string[]) => runRunku(one.folder, ['reload', ...args])
  const pid = () => there.child.pid ?? 0
  const pids = (instances: readonly { readonly pid: number }[]) =>
    instances.map((each) => each.pid).sort((a, b) => a - b)
  const both = () => pids([{ pid: process.pid }, { pid: pid() }])

  async function told(code: number, ...args: readonly string[]): Promise<Told> {
    const { how, out, err } = await reload('--json', ...args)
    assert.equal(how, code, `${out}${err}`)
    // The form that the command's own page describes.
    return JSON.parse(out) as Told
  }

  function outcomesOf({ instances }: Told, of: number): Readonly<Record<string, string>> {
    const report = instances.find((each) => each.pid === of)?.report
    return Object.fromEntries(report?.connectors.map(({ id, outcome }) => [id, outcome]) ?? [])
  }

  /** The store has not heard of a run for as long as one counts as live. */
  const unseen = (of: number) =>
    storeRows(`UPDATE runku.instances SET seen_at = seen_at - ${INSTANCE_LIVE_MS} WHERE pid = ${of}`)

  test('is over for the command when both have made it: what it reads is served by then', async () => {
    for (const id of ['added-1', 'added-2', 'added-3']) {
      const more = 'policy: notes'
      writeFileSync(other.configFile, `${plain}${connectorYaml({ id, settings: database.reader(), more })}\n`)
      const answer = await told(0)
      assert.deepEqual(pids(answer.instances), both())
      assert.deepEqual(outcomesOf(answer, process.pid), { notes: 'unchanged' })
      assert.equal(outcomesOf(answer, pid())[id], 'applied')
      assert.equal(answer.request, (await store.readVersions()).reload)
      const call = await callTool(there.endpoint(id), one.keys['reader'], 'search_notes', { limit: 1 })
      assert.equal(call.isError, false, call.text)
    }
    writeFileSync(other.configFile, plain)
    assert.deepEqual(outcomesOf(await told(0), pid()), { 'added-3': 'removed', notes: 'unchanged' })
  })

  test('that a person asks for is a line for each instance and connector', async () => {
    const { how, out, err } = await reload()
    assert.deepEqual([how, err], [0, ''])
    const lines = out.trimEnd().split('\n')
    assert.match(lines[0] ?? '', /^INSTANCE +CONNECTOR +OUTCOME +EPOCH +FAULT$/)
    for (const of of both()) {
      assert.ok(
        lines.some((line) => new RegExp(`:${of} +notes +unchanged +\\d+$`).test(line)),
        out,
      )
    }
  })

  test('ends with 4 where a connector of one instance is not in force as it was meant, with the instance and why', async () => {
    const dead = database.reader()
    const settings = { ...dead, connection: { ...dead.connection, port: 1 } }
    const broken = connectorYaml({ id: 'broken', settings }).replace('type: postgres', 'type: nonsense')
    writeFileSync(other.configFile, `${plain}${connectorYaml({ id: 'dead', settings })}\n${broken}\n`)
    const answer = await told(4)
    assert.deepEqual(outcomesOf(answer, pid()), { broken: 'disabled', dead: 'unavailable', notes: 'unchanged' })
    assert.deepEqual(outcomesOf(answer, process.pid), { notes: 'unchanged' })
    const shown = await reload()
    assert.equal(shown.how, 4)
    assert.match(shown.out, new RegExp(`:${pid()} +dead +unavailable +.*(ECONNREFUSED|no policy)`))

    writeFileSync(other.configFile, `${plain}\n]`)
    const unread = await told(4)
    const report = unread.instances.find((each) => each.pid === pid())?.report
    assert.match(report?.faults.join() ?? '', /not valid YAML/)
    assert.match((await reload()).out, new RegExp(`:${pid()} +refused +.*not valid YAML`))
    writeFileSync(other.configFile, plain)
    await told(0)
  })

  test('that nobody waits for is asked for, and one that takes too long names who has not reported', async () => {
    const before = (await store.readVersions()).reload
    const asked = await reload('--no-wait', '--json')
    assert.deepEqual([asked.how, JSON.parse(asked.out)], [0, { requested: true, request: before + 1 }])
    for (const bad of ['0', '1.5', '-1', 'soon', '100000']) assert.equal((await reload('--timeout', bad)).how, 2, bad)
    there.child.kill('SIGSTOP')
    const late = await reload('--timeout', '1')
    assert.equal(late.how, 1)
    assert.match(late.err, new RegExp(`:${pid()} has not reported within 1 s`))
    assert.match(late.out, new RegExp(`:${process.pid} +notes +unchanged`))
    const data = await told(1, '--timeout', '1')
    assert.deepEqual([pids(data.instances), pids(data.waiting)], [[process.pid], [pid()]])
    there.child.kill('SIGCONT')
    assert.deepEqual(pids((await told(0)).instances), both())
  })

  test('a command whose store goes away while it waits ends with what is known, and hangs for nobody', async () => {
    there.child.kill('SIGSTOP')
    const waits = gate.heard('FROM instances i ORDER BY')
    const command = startRunku(commandFolder?.folder ?? '', ['reload', '--timeout', '3'])
    await waits
    await gate.shut()
    const { how, out, err } = await command.ended
    await gate.open()
    there.child.kill('SIGCONT')
    assert.deepEqual([how, out], [1, ''])
    assert.match(err, /^runku: the request to reload was made, and then the admin store could not be read/)
    assert.deepEqual(pids((await told(0)).instances), both())
  })

  test('a command that loses the store while its request is committed says that it may have been made', async () => {
    const before = (await store.readVersions()).reload
    const cut = gate.heard("WHERE name = 'reload'").then(() => gate.heard('COMMIT', 'cut'))
    const { how, out, err } = await runRunku(commandFolder?.folder ?? '', ['reload'])
    await cut
    assert.deepEqual([how, out], [1, ''])
    assert.match(
      err,
      /was lost while the change was being committed .*: it may have been made; look before you make it/,
    )
    assert.equal((await store.readVersions()).reload, before + 1)
  })

  test('one that was killed is waited for until it counts as gone and no longer, and one that starts is waited for', async () => {
    there.child.kill('SIGKILL')
    await there.exited
    const before = (await store.readVersions()).reload
    const command = startRunku(one.folder, ['reload', '--json'])
    let over = false
    command.ended.finally(() => {
      over = true
    })
    await eventually('the other one has answered', async () => {
      const answered = (await store.listInstances()).find((each) => each.pid === process.pid)?.answered ?? 0
      return answered > before
    })
    assert.equal(over, false, 'a run that was seen a moment ago is waited for')
    await unseen(pid())
    const { how, out, err } = await command.ended
    assert.equal(how, 0, err)
    assert.match(err, new RegExp(`:${pid()} ended or has not been seen`))
    const data = JSON.parse(out) as Told
    assert.deepEqual([pids(data.instances), pids(data.gone), data.waiting], [[process.pid], [pid()], []])

    there = await spawnGateway(other, ['notes'])
    assert.deepEqual(pids(await store.listInstances()), both(), 'the run before has no row any more')
    assert.deepEqual(pids((await told(0)).instances), both())
  })

  test('one that ends takes its row along, and where none runs the command says so', async () => {
    there.child.kill('SIGTERM')
    assert.equal(await there.exited, 0)
    assert.deepEqual(pids(await store.listInstances()), [process.pid])
    assert.deepEqual(pids((await told(0)).instances), [process.pid])
    await here.stop()
    assert.deepEqual(await store.listInstances(), [])
    const { how, out, err } = await reload()
    assert.deepEqual([how, out], [1, ''])
    assert.match(err, /no gateway of this store runs: none was seen in the last 45 s/)
  })
})
