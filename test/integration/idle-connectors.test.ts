import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '../../src/core/identity.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import type { ConnectorSupervisor } from '../../src/threads/connector-supervisor.js'
import { Gate } from '../../src/threads/gate.js'
import { must } from '../support/gateway.js'
import { EMBEDDED, eventually, type SettingsOverrides } from '../support/postgres.js'
import { superviseAlone } from '../support/supervisor.js'

const SETUP = `
CREATE TABLE items (id integer PRIMARY KEY, name text NOT NULL);
INSERT INTO items SELECT n, 'item ' || n FROM generate_series(1, 1000) AS n;
`
const POLICY = "version: 1\ntables: { public.items: }\nroles: { reader: { read: ['*'] } }"
const READER: Identity = { id: 'r', name: 'r', roles: ['reader'], claims: new Map() }

async function supervised(overrides: SettingsOverrides) {
  const server = await EMBEDDED.start()
  const database = await server.createDatabase(SETUP)
  const document = JSON.stringify(must(parsePolicy(POLICY)))
  const supervisor = superviseAlone(database.reader(overrides), document, new Gate(4))
  await supervisor.whenSettled()
  assert.equal(supervisor.mode, 'ready')
  const read = (id: number): Promise<string> =>
    new Promise((resolve) => {
      const request = { auditId: 'a', identity: READER, tool: 'get_items_by_pk', args: { id } }
      supervisor.call(request, {
        announced: (_intent, _epoch, answer) => answer({ kind: 'refused', code: 'AUDIT_UNAVAILABLE' }),
        ended: (outcome) => resolve(`${outcome.code} ${Buffer.from(outcome.body).toString('utf8')}`),
      })
    })
  return { supervisor, database, read }
}

function threads(supervisor: ConnectorSupervisor): number {
  const { starting, serving } = supervisor.lanes.counts
  return starting + serving
}

test('a connector idle for its time has neither thread nor connection, and the next call is answered', async () => {
  const { supervisor, database, read } = await supervised({ pool: { idleTimeoutMs: 1 } })
  assert.match(await read(7), /^OK .*item 7/)
  await eventually('the thread is gone', () => threads(supervisor) === 0)
  await eventually('its connections too', async () => (await database.sessions()).length === 0)
  assert.match(await read(8), /^OK .*item 8/)
  const listed = await new Promise<Uint8Array | undefined>((resolve) => supervisor.list(READER, resolve))
  assert.match(Buffer.from(listed ?? '').toString('utf8'), /get_items_by_pk/)
  await supervisor.stop(5_000)
  assert.equal(threads(supervisor), 0)
})

// A start of a thread costs tens of milliseconds; the long run is for machines that have nothing else to do.
const STOPS = process.env['RUNKU_TEST_HEAVY'] === '1' ? 500 : 60

test(`${STOPS} stops of the thread under load lose no call`, async () => {
  const { supervisor, read } = await supervised({})
  let stops = 0
  let calls = 0
  const wrong: string[] = []
  const client = async (seed: number): Promise<void> => {
    for (let n = 0; stops < STOPS; n++) {
      const id = 1 + ((seed * 7919 + n * 31) % 1000)
      const answer = await read(id)
      calls += 1
      if (!answer.startsWith('OK ') || !answer.includes(`item ${id}\\"`)) wrong.push(answer)
      // Between two of its calls a client stops the thread, whatever the other clients have on the way to it.
      if (supervisor.lanes.counts.serving > 0 && n % 3 === seed % 3) {
        supervisor.lanes.stopNow()
        stops += 1
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, seed) => client(seed)))
  assert.deepEqual(wrong, [])
  assert.ok(calls >= stops)
  await supervisor.stop(10_000)
})

test('connectors that introspect at once wait for each other, and none keeps its thread while others wait', async () => {
  const gate = new Gate(1)
  const server = await EMBEDDED.start()
  const document = JSON.stringify(must(parsePolicy(POLICY)))
  const databases = await Promise.all(Array.from({ length: 4 }, () => server.createDatabase(SETUP)))
  const supervisors = databases.map((database) => superviseAlone(database.reader(), document, gate))
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, supervisors.filter((each) => threads(each) > 0).length)
  }, 1)
  await Promise.all(supervisors.map((supervisor) => supervisor.whenSettled()))
  clearInterval(watch)
  assert.ok(supervisors.every((supervisor) => supervisor.mode === 'ready'))
  assert.ok(most <= 2, `${most} connectors had a thread at once`)
  await Promise.all(supervisors.map((supervisor) => supervisor.stop(5_000)))
})

test('a connector without a thread judges no call by what it had before it is asked to prepare again', async () => {
  const server = await EMBEDDED.start()
  const database = await server.createDatabase(SETUP)
  const policies = [POLICY, POLICY.replace('items: }', 'items: { mask: [name] } }')].map((text) =>
    JSON.stringify(must(parsePolicy(text))),
  )
  let current = 0
  const gate = new Gate(1)
  const supervisor = superviseAlone(
    database.reader({ pool: { idleTimeoutMs: 1 } }),
    () => policies[current] ?? '',
    gate,
  )
  await supervisor.whenSettled()
  await eventually('the thread is gone', () => threads(supervisor) === 0)
  const codeOf = (id: string): { readonly ended: Promise<string>; readonly callId: number } => {
    let callId = 0
    const ended = new Promise<string>((resolve) => {
      const args = { columns: ['name'], limit: 1 }
      const listener = {
        announced: () => {},
        ended: (outcome: { readonly code: string }) => resolve(outcome.code),
      }
      callId = supervisor.call({ auditId: id, identity: READER, tool: 'search_items', args }, listener)
    })
    return { ended, callId }
  }
  // Others are being prepared: its own turn comes later.
  let leave = () => {}
  gate.enter((left) => {
    leave = left
  })
  current = 1
  const refreshed = supervisor.refresh()
  const [first, unwanted] = [codeOf('a'), codeOf('b')]
  assert.equal(supervisor.inFlight, 2)
  supervisor.cancel(unwanted.callId)
  assert.equal(await unwanted.ended, 'CANCELLED')
  leave()
  assert.equal(await first.ended, 'ARGUMENT_COLUMN')
  assert.equal((await refreshed).kind, 'reloaded')
  assert.equal(supervisor.inFlight, 0)
  await supervisor.stop(5_000)
})

test('who is called is prepared before those that nobody calls', () => {
  const gate = new Gate(1)
  const passed: string[] = []
  const leaves: (() => void)[] = []
  const enter = (name: string, hurried = false) =>
    gate.enter((leave) => {
      passed.push(name)
      leaves.push(leave)
    }, hurried)
  enter('first')
  enter('idle')
  const called = enter('called')
  enter('busy', true)
  called.hurry()
  called.hurry()
  for (let n = 0; n < 4; n++) leaves[n]?.()
  assert.deepEqual(passed, ['first', 'busy', 'called', 'idle'])
})
