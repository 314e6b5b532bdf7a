import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ReloadShown } from '../../src/admin/operation.js'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import type { Observation } from '../../src/observe/observation.js'
import { startCallers } from '../support/callers.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  prepareGateway,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { type LiveFolder, liveFolder } from '../support/live-folder.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'
import { runRunku } from '../support/runku-process.js'

const WITH_LINKS = NOTES_POLICY
const WITHOUT_LINKS = NOTES_POLICY.replace('  public.links: {}\n', '')

const NOTES = { name: 'search_notes', arguments: { limit: 1, columns: ['id'] } }
const LINKS = { name: 'search_links', arguments: { limit: 1 } }

function observed<K extends Observation['kind']>(
  running: RunningGateway,
  kind: K,
): readonly Extract<Observation, { kind: K }>[] {
  return running.observations.filter((each): each is Extract<Observation, { kind: K }> => each.kind === kind)
}

describe('a gateway that is reloaded under load', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let live: LiveFolder
  let running: RunningGateway
  let key: string

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    const connector = (id: string) => ({ id, settings: database.reader(), policy: WITH_LINKS })
    folder = await prepareGateway({
      connectors: [connector('left'), connector('right'), connector('still')],
      identities: { reader: { roles: ['reader'] }, clerk: { roles: ['clerk'] }, root: { roles: ['admin'] } },
    })
    key = folder.keys['reader'] ?? ''
    live = await liveFolder(folder)
    running = await startGateway(folder)
  })

  after(async () => {
    await running?.stop()
    await live?.store.close()
    await folder?.remove()
  })

  const call = (connector: string, { name, arguments: args }: typeof NOTES | typeof LINKS) =>
    callTool(running.endpoint(connector), key, name, args)

  test('50 reloads under 64 clients, policies alternating: no call fails, each entry names one epoch, and what comes after a reload is judged by the new policy', async () => {
    const before = folder.entries().length
    const callers = ['left', 'right'].map((connector) =>
      startCallers({
        endpoint: () => running.endpoint(connector),
        key,
        clients: 32,
        // Every other call is one that the policies disagree about.
        tool: (n) => (n % 2 === 0 ? NOTES : LINKS),
        allowed: /^TOOL_UNKNOWN: /,
      }),
    )
    await eventually('the clients are served', () => callers.every((each) => each.answered() > 50))
    for (let n = 0; n < 50; n++) {
      const policies = n % 2 === 0 ? [WITHOUT_LINKS, WITH_LINKS] : [WITH_LINKS, WITHOUT_LINKS]
      for (const [i, id] of ['left', 'right'].entries()) await live.apply(id, policies[i] ?? '')
      const report = await running.gateway.reload('signal')
      assert.deepEqual(report.faults, [])
      for (const { id, outcome, reason } of report.connectors) assert.notEqual(outcome, 'failed', `${id}: ${reason}`)
      for (const [i, id] of ['left', 'right'].entries()) {
        const { isError, text } = await call(id, LINKS)
        assert.equal(isError, policies[i] === WITHOUT_LINKS, `${id} after reload ${n}: ${text}`)
      }
    }
    for (const each of callers) assert.deepEqual(await each.stop(), [])

    const entries = folder.entries().slice(before)
    const verdicts = new Map<string, Set<string>>()
    for (const { connector = '', epoch, tool, code } of entries) {
      if (tool !== LINKS.name) continue
      const name = `${connector} ${epoch}`
      verdicts.set(name, (verdicts.get(name) ?? new Set()).add(code))
    }
    assert.ok(verdicts.size >= 50, `${verdicts.size} epochs judged calls`)
    for (const [epoch, codes] of verdicts) assert.equal(codes.size, 1, `epoch ${epoch} judged both ways: ${[...codes]}`)
    assert.ok(entries.filter(isCall).every(({ epoch }) => epoch !== undefined))
    assert.deepEqual(observed(running, 'connector.worker_exited'), [])
  })

  test('a connector that did not change keeps its sessions, its epoch and its cached lists over a reload', async () => {
    const pids = async () => (await database.sessions()).map(({ pid }) => pid).sort((a, b) => a - b)
    const clients = startCallers({ endpoint: () => running.endpoint('still'), key, clients: 4, tool: () => NOTES })
    await eventually('its connections are there', () => clients.answered() > 50)
    assert.deepEqual(await clients.stop(), [])
    await listTools(running.endpoint('still'), key)
    const [epoch, sessions] = [running.gateway.connectors.get('still')?.epoch, await pids()]
    assert.ok(sessions.length > 0)
    const report = await running.gateway.reload('signal')
    const still = report.connectors.find(({ id }) => id === 'still')
    assert.deepEqual([still?.outcome, still?.epoch], ['unchanged', epoch])
    await call('still', NOTES)
    const kept = await pids()
    for (const pid of sessions) assert.ok(kept.includes(pid), `session ${pid} is gone`)
    assert.match(await scrape(running), /runku_reloads_total\{connector="still",outcome="unchanged"\} [1-9]/)
  })

  test('lists that were in use are made before the new snapshot serves: no thread is asked by the first who lists after it', async () => {
    for (const identity of ['reader', 'clerk']) await listTools(running.endpoint('left'), folder.keys[identity])
    await live.apply('left', WITH_LINKS)
    await live.apply('left', WITHOUT_LINKS)
    assert.deepEqual((await running.gateway.reload('signal')).faults, [])
    const supervisor = running.gateway.connectors.get('left')
    assert.ok(supervisor)
    const epoch = supervisor.epoch
    // With its threads ended, whatever is not made already would need a new one.
    supervisor.lanes.stopNow()
    await eventually('it has no thread', () => supervisor.lanes.counts.serving === 0)
    for (const identity of ['reader', 'clerk']) {
      const tools = (await listTools(running.endpoint('left'), folder.keys[identity])).map(({ name }) => name)
      assert.ok(tools.includes('search_notes') && !tools.includes('search_links'))
    }
    assert.deepEqual(supervisor.lanes.counts, { starting: 0, serving: 0 })
    assert.equal(supervisor.epoch, epoch)
  })

  test('reloads that are asked for at once are answered together, each with what came of it', async () => {
    const before = observed(running, 'reload.ended').length
    const reports = await Promise.all(Array.from({ length: 20 }, () => running.gateway.reload('signal')))
    for (const { connectors } of reports) assert.equal(connectors.length, 3)
    const ended = observed(running, 'reload.ended').length - before
    assert.ok(ended >= 1 && ended <= 2, `${ended} reloads for twenty that were asked for`)
  })

  test('the admin API answers a reload when this instance has made it, once: a call admitted after the answer is judged by the new policy', async () => {
    const before = observed(running, 'reload.ended').filter(({ cause }) => cause !== 'store').length
    for (let n = 0; n < 10; n++) {
      const policy = n % 2 === 0 ? WITHOUT_LINKS : WITH_LINKS
      await live.apply('left', policy)
      const { report } = await requestReload(running, folder, {})
      assert.equal(report?.finished, true)
      const { isError, text } = await call('left', LINKS)
      assert.equal(isError, policy === WITHOUT_LINKS, `after reload ${n}: ${text}`)
      assert.deepEqual(
        report.connectors.map(({ id, epoch }) => [id, epoch]),
        ['left', 'right', 'still'].map((id) => [id, running.gateway.connectors.get(id)?.epoch]),
      )
    }
    const ended = observed(running, 'reload.ended').filter(({ cause }) => cause !== 'store').length - before
    assert.equal(ended, 10, 'what this instance was asked for it does not do again because the store says so')
  })

  test('the command ends when the gateway has made it: a call admitted afterwards is judged by the new policy', async () => {
    for (const policy of [WITHOUT_LINKS, WITH_LINKS]) {
      await live.apply('left', policy)
      const { how, out, err } = await runRunku(folder.folder, ['reload'])
      assert.deepEqual([how, err], [0, ''])
      const epoch = running.gateway.connectors.get('left')?.epoch
      assert.match(out, new RegExp(`:${process.pid} +left +(applied|unchanged) +${epoch}\n`))
      const { isError, text } = await call('left', LINKS)
      assert.equal(isError, policy === WITHOUT_LINKS, text)
    }
  })

  test('the answer to a reload names each connector that could not be applied, with the reason', async () => {
    let text = ''
    live.edit((was) => {
      text = was
      return `${was.replace('- id: still\n    type: postgres', '- id: still\n    type: nonsense')}  - id: broken\n    type: nonsense\n`
    })
    const { report } = await requestReload(running, folder, {})
    live.edit(() => text)
    const outcomes = new Map(report?.connectors.map(({ id, outcome }) => [id, outcome]))
    assert.deepEqual([outcomes.get('still'), outcomes.get('broken')], ['kept', 'disabled'])
    for (const { id, outcome, faults } of report?.connectors ?? []) {
      if (outcome === 'kept' || outcome === 'disabled') assert.match(faults.join(), /type/, id)
      else assert.deepEqual(faults, [], id)
    }
    const after = await requestReload(running, folder, {})
    assert.deepEqual(new Set(after.report?.connectors.map(({ outcome }) => outcome)), new Set(['unchanged']))
  })

  test('a configuration that cannot be read is what the answer to a reload says, and one that is not waited for says nothing', async () => {
    let text = ''
    live.edit((was) => {
      text = was
      return `${was}\n]`
    })
    const { report } = await requestReload(running, folder, {})
    live.edit(() => text)
    assert.match(report?.faults.join() ?? '', /not valid YAML/)
    assert.deepEqual(report?.connectors, [])
    const asked = await requestReload(running, folder, { wait: false })
    assert.deepEqual(asked, { requested: true, request: (await live.store.readVersions()).reload })
  })
})

/** Changes of the store have entries too. */
function isCall({ operation }: AuditEntry): boolean {
  return operation !== 'admin'
}

async function scrape(running: RunningGateway): Promise<string> {
  return (await fetch(`${running.gateway.adminUrl}/metrics`)).text()
}

interface ReloadAnswer {
  readonly requested: boolean
  readonly request: number
  readonly report?: ReloadShown
}

async function requestReload(running: RunningGateway, folder: GatewayFolder, body: object): Promise<ReloadAnswer> {
  const response = await fetch(`${running.gateway.adminUrl}/admin/api/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${folder.keys['root']}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.equal(response.status, 200)
  // The form that the operation's own output schema describes.
  return (await response.json()) as ReloadAnswer
}
