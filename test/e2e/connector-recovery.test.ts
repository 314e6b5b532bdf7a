import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ENGINE_CAPABILITIES } from '../../src/core/engine-capabilities.js'
import { forEngine, type PerEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  prepareGateway,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, notesSetup } from '../support/notes.js'
import { policyFor } from '../support/security-sql.js'
import { type TcpGate, tcpGate } from '../support/tcp-gate.js'
import { eventually, type TestDatabase } from '../support/test-server.js'

const KILL: PerEngine<string> = { postgres: 'SELECT pg_terminate_backend(?)', mysql: 'KILL ?', sqlserver: 'KILL ?' }

for (const target of WHOLE_PATH_TARGETS)
  describe(`a connector whose database on the ${target.label} server is away`, () => {
    let database: TestDatabase
    let gate: TcpGate
    let folder: GatewayFolder
    let running: RunningGateway
    let key: string

    before(async () => {
      const server = await target.start()
      database = await server.createDatabase(notesSetup(server))
      gate = await tcpGate(database.reader().connection.port)
      await gate.shut()
      const far = database.reader({ connection: { port: gate.port }, pool: { acquireTimeoutMs: 1_000 } })
      const policy = policyFor(target.engine, NOTES_POLICY)
      folder = await prepareGateway({
        connectors: [
          { id: 'far', settings: far, policy },
          { id: 'near', settings: database.reader(), policy },
          { id: 'pooled', settings: database.reader({ pool: { mode: 'transaction' } }), policy },
          { id: 'contexted', settings: database.reader({ sessionContext: true }), policy },
          {
            id: 'faulty',
            settings: database.reader({ connection: { password: `\${RUNKU_NOT_SET}` } }),
            policy,
          },
        ],
        identities: { reader: { roles: ['reader'] } },
      })
      key = folder.keys['reader'] ?? ''
      running = await startGateway(folder)
    })

    after(async () => {
      await running?.stop()
      await gate?.shut()
      await folder?.remove()
    })

    let calls = 0
    async function search(connector: string) {
      calls += 1
      const id = `call-${calls}`
      const answer = await callTool(running.endpoint(connector), key, 'search_notes', { limit: 1, columns: ['id'] }, id)
      const [entry, ...more] = folder.entries().filter(({ request_id: other }) => other === id)
      assert.deepEqual(more, [], 'one entry a call')
      return { text: answer.text, isError: answer.isError, entry }
    }

    async function unavailable(connector: string): Promise<void> {
      const { text, isError, entry } = await search(connector)
      assert.equal(isError, true)
      assert.match(text, /^CONNECTOR_UNAVAILABLE: /)
      assert.doesNotMatch(text, /127\.0\.0\.1|ECONN|RUNKU_NOT_SET/)
      assert.deepEqual(
        [entry?.code, entry?.decision, entry?.connector],
        ['CONNECTOR_UNAVAILABLE', 'errored', connector],
      )
    }

    async function served(connector: string): Promise<void> {
      const { text, isError } = await search(connector)
      assert.equal(isError, false, text)
    }

    test('at start: the gateway is up, that connector answers so, with an entry, and the others serve', async () => {
      assert.equal(running.gateway.connectors.get('far')?.mode, 'unavailable')
      await unavailable('far')
      await assert.rejects(listTools(running.endpoint('far'), key), /CONNECTOR_UNAVAILABLE/)
      await served('near')
      assert.equal((await fetch(`${running.gateway.adminUrl}/readyz`)).status, 200)
      const attempts = running.observations.filter(({ kind }) => kind === 'connector.unavailable')
      assert.ok(attempts.every((attempt) => 'connector' in attempt && attempt.connector === 'far'))
    })

    test('a connector with a fault in its configuration is answered for in the same way', async () => {
      await unavailable('faulty')
      const disabled = running.observations.filter(
        (each) => each.kind === 'connector.disabled' && each.connector === 'faulty',
      )
      assert.equal(disabled.length, 1)
      assert.match(JSON.stringify(disabled), /RUNKU_NOT_SET is not set/)
    })

    test('what the engine cannot do is refused by name, and does not come to be served without', async () => {
      const can = ENGINE_CAPABILITIES[target.engine]
      for (const [connector, served_, word] of [
        ['pooled', can.transactionPooling, /transaction/],
        ['contexted', can.sessionContext, /session_context/],
      ] as const) {
        if (served_) await served(connector)
        else {
          await unavailable(connector)
          const disabled = running.observations.filter(
            (each) => each.kind === 'connector.disabled' && each.connector === connector,
          )
          assert.match(JSON.stringify(disabled), word)
        }
      }
    })

    test('it recovers by itself when the database comes up', async () => {
      await gate.open()
      await eventually('it is ready', () => running.gateway.connectors.get('far')?.mode === 'ready')
      await served('far')
      assert.ok((await listTools(running.endpoint('far'), key)).some(({ name }) => name === 'search_notes'))
    })

    test('while serving: calls are answered with the same code, and served again when the database is back', async () => {
      await served('far')
      await gate.shut()
      await unavailable('far')
      await served('near')
      assert.ok((await listTools(running.endpoint('far'), key)).length > 0, 'the tools stay listed')
      await gate.open()
      await served('far')
    })

    test('sessions that the server ended are replaced, and no call is lost for longer than one try', async () => {
      for (let n = 0; n < 3; n++) {
        await served('near')
        const kill = forEngine(KILL, target.engine)
        const sessions = await database.sessions()
        assert.ok(sessions.length > 0)
        for (const { pid } of sessions) await database.query(kill.replace('?', String(pid))).catch(() => {})
        await eventually('it is served again', async () => {
          const { isError, text } = await search('near')
          if (isError) assert.match(text, /^CONNECTOR_UNAVAILABLE: /)
          return !isError
        })
      }
    })

    test('a database that takes connections and says nothing costs a call no more than its wait', async () => {
      await gate.shut()
      await gate.open()
      gate.mute()
      await unavailable('far')
      await served('near')
      await gate.shut()
      await gate.open()
      await served('far')
    })
  })
