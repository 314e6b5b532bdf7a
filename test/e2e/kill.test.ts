import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chainOf } from '../support/chain-of.js'
import { WHOLE_PATH_TARGETS } from '../support/engines.js'
import {
  type GatewayFolder,
  post,
  prepareGateway,
  rpcCall,
  type SpawnedGateway,
  spawnGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, notesSetup } from '../support/notes.js'
import { policyFor } from '../support/security-sql.js'

const CLIENTS = 32
/** At which reply each round ends: before any, at the first ones, and in full flow. */
const KILL_AT_REPLY = [0, 1, 5, 33, 70, 150, 260, 400, 600, 900]

for (const target of WHOLE_PATH_TARGETS)
  describe(`kill -9 under load on the ${target.label} server`, () => {
    let folder: GatewayFolder
    let key: string

    before(async () => {
      const server = await target.start()
      const database = await server.createDatabase(notesSetup(server))
      folder = await prepareGateway({
        connectors: [{ id: 'notes', settings: database.reader(), policy: policyFor(target.engine, NOTES_POLICY) }],
        identities: { reader: { roles: ['reader'] } },
        audit: '{ stdout: false, buffer: { path: audit.sqlite, durability: full } }',
      })
      key = folder.keys['reader'] ?? ''
    })

    after(() => folder?.remove())

    /** Runs clients until the gateway is gone, and gives the ids of the requests that were answered. */
    async function loadUntilKilled(gateway: SpawnedGateway, round: number, killAtReply: number) {
      const answered: string[] = []
      const replyCame = () => {
        if (answered.length === killAtReply) gateway.child.kill('SIGKILL')
      }
      const client = async (own: number) => {
        for (let n = 0; ; n++) {
          const id = `${round}-${own}-${n}`
          const search = { name: 'search_notes', arguments: { columns: ['id'], limit: 1 + (n % 3) } }
          try {
            const answer = await post(gateway.endpoint('notes'), key, rpcCall(id, search))
            assert.equal(answer.status, 200, answer.text)
            assert.ok(answer.text.includes('"row_count"'), answer.text)
          } catch (error) {
            if (error instanceof assert.AssertionError) throw error
            return
          }
          answered.push(id)
          replyCame()
        }
      }
      const clients = Array.from({ length: CLIENTS }, (_, own) => client(own))
      replyCame()
      await Promise.all(clients)
      assert.equal(await gateway.exited, 'SIGKILL')
      return answered
    }

    test('every reply that a client received has its entry, and the chain goes on without a gap', async () => {
      const answered: string[] = []
      for (const [round, killAtReply] of KILL_AT_REPLY.entries()) {
        const gateway = await spawnGateway(folder, ['notes'])
        answered.push(...(await loadUntilKilled(gateway, round, killAtReply)))
      }
      const gateway = await spawnGateway(folder, ['notes'])
      const last = await post(gateway.endpoint('notes'), key, rpcCall('last', { name: 'schema_overview' }))
      assert.equal(last.status, 200)
      gateway.child.kill('SIGTERM')
      assert.equal(await gateway.exited, 0)

      const entries = folder.entries()
      const times = new Map<string, number>()
      for (const { request_id: id = '' } of entries) times.set(id, (times.get(id) ?? 0) + 1)
      assert.deepEqual(
        answered.filter((id) => times.get(id) !== 1),
        [],
        'answered without exactly one entry',
      )
      assert.ok(answered.length >= KILL_AT_REPLY.reduce((sum, count) => sum + count, 0))
      assert.deepEqual(
        folder.trail().map(({ seq }) => seq),
        folder.trail().map((_, i) => i + 1),
      )
      assert.equal(new Set(entries.map(({ instance }) => instance)).size, 1)
      assert.equal(entries.at(-1)?.request_id, 'last')
      assert.deepEqual(chainOf(folder.bufferFile), { lines: folder.trail().length, faults: [] })
    })
  })
