import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { forEngine, type PerEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  post,
  prepareGateway,
  type RunningGateway,
  rpcCall,
  startGateway,
} from '../support/gateway.js'
import { type Hold, holdNotes } from '../support/hold.js'
import { HELD_CALL, NOTES_POLICY, notesSetup } from '../support/notes.js'
import { runRunku } from '../support/runku-process.js'
import { policyFor } from '../support/security-sql.js'
import { atStatement, eventually, type TestDatabase } from '../support/test-server.js'

/** What a call could leave on its session for the next. */
const STATE_VIEW: PerEngine<string> = {
  postgres: `
CREATE VIEW state AS SELECT 1 AS id, concat_ws(' ', pg_backend_pid(), current_user, current_setting('TimeZone'),
  current_setting('statement_timeout'), current_setting('transaction_read_only'), current_setting('search_path'),
  (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')) AS state;
`,
  mysql: `
CREATE FUNCTION session_state() RETURNS varchar(200) NOT DETERMINISTIC READS SQL DATA RETURN CONCAT_WS(' ',
  CONNECTION_ID(), USER(), DATABASE(), @@session.time_zone, @@session.autocommit, @@session.character_set_client,
  @@session.collation_connection, @@session.sql_select_limit, LAST_INSERT_ID());
CREATE VIEW state AS SELECT 1 AS id, session_state() AS state;
`,
  sqlserver: `
CREATE VIEW state AS SELECT 1 AS id, CONVERT(nvarchar(400), CONCAT_WS(' ', @@SPID, SUSER_SNAME(), DB_NAME(), @@DATEFIRST,
  @@LANGUAGE, @@TRANCOUNT, @@LOCK_TIMEOUT, CONVERT(nvarchar(100), SESSION_CONTEXT(N'runku.identity')))) AS state
`,
}
const STATE = `
  public.state: { key: [id] }
roles:`

const TENANTS = ['acme', 'bolt', 'cone', 'dune'] as const

interface Note {
  readonly id: number
  readonly tenant: string
}

/** The one row of a response to `noteCall`; undefined where none was in the caller's scope. */
function noteIn(response: unknown): Note | undefined {
  const { id, result } = response as {
    readonly id?: unknown
    readonly result?: { readonly structuredContent?: { readonly rows?: readonly Note[] } }
  }
  assert.equal(id, 2)
  const rows = result?.structuredContent?.rows
  assert.ok(rows !== undefined, JSON.stringify(response))
  assert.ok(rows.length <= 1)
  return rows[0]
}

function noteCall(id: number) {
  const filters = [{ column: 'id', op: 'eq', value: String(id) }]
  return rpcCall(2, { name: 'search_notes', arguments: { columns: ['id', 'tenant'], filters } })
}

/** As the rows were made. */
function tenantOf(id: number): string {
  return TENANTS[id % 4] ?? ''
}

for (const target of WHOLE_PATH_TARGETS)
  describe(`a gateway under load on the ${target.label} server`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let running: RunningGateway

    before(async () => {
      const server = await target.start()
      database = await server.createDatabase(`${notesSetup(server)}${forEngine(STATE_VIEW, target.engine)}`)
      const connector = (id: string) => ({
        id,
        // What is asked at once is to be served, however long a slow server takes over it.
        settings: database.reader({ pool: { acquireTimeoutMs: 25_000 } }),
        policy: policyFor(target.engine, NOTES_POLICY),
      })
      const policy = policyFor(target.engine, NOTES_POLICY.replace('\nroles:', STATE))
      const narrow = { id: 'narrow', settings: database.reader({ pool: { max: 1 } }), policy }
      const clerk = (tenant: string) => ({ roles: ['clerk'], claims: new Map([['tenant', tenant]]) })
      folder = await prepareGateway({
        connectors: [connector('left'), connector('right'), narrow],
        identities: {
          reader: { roles: ['reader'] },
          leaver: { roles: ['reader'] },
          ...Object.fromEntries(TENANTS.map((tenant) => [tenant, clerk(tenant)])),
        },
        audit: '{ stdout: false, buffer: { path: audit.sqlite }, values: { filters: full } }',
      })
      running = await startGateway(folder)
    })

    after(async () => {
      await running?.stop()
      await folder?.remove()
    })

    const key = (identity: string) => folder.keys[identity] ?? ''
    const own = (tenant: string, count: number) =>
      Array.from({ length: 120 }, (_, i) => i + 1)
        .filter((id) => tenantOf(id) === tenant)
        .slice(0, count)

    test('1,000 concurrent calls of four identities, all with the id 2, each get their own answer and entry', async () => {
      const endpoint = running.endpoint('left')
      const before = folder.entries().length
      const single = async (tenant: string, id: number) => {
        const note = noteIn((await post(endpoint, key(tenant), noteCall(id))).body)
        assert.deepEqual(note, tenantOf(id) === tenant ? { id, tenant } : undefined)
      }
      const batch = async (tenant: string, ids: readonly number[]) => {
        const { body } = await post(endpoint, key(tenant), ids.map(noteCall))
        assert.ok(Array.isArray(body) && body.length === ids.length)
        const notes = body.map(noteIn).sort((a, b) => (a?.id ?? 0) - (b?.id ?? 0))
        assert.deepEqual(
          notes,
          ids.map((id) => ({ id, tenant })),
        )
      }
      const calls: Promise<void>[] = []
      for (const tenant of TENANTS) {
        for (let id = 1; id <= 50; id++) calls.push(single(tenant, id))
        for (let n = 0; n < 10; n++) calls.push(batch(tenant, own(tenant, 20)))
      }
      await Promise.all(calls)

      const entries = folder.entries().slice(before)
      assert.equal(entries.length, 1_000)
      for (const tenant of TENANTS) {
        const mine = entries.filter(({ identity }) => identity === tenant)
        const asked = mine.map(({ plan }) => Number(plan?.filters?.[0]?.values?.[0])).sort((a, b) => a - b)
        const expected = [...Array.from({ length: 50 }, (_, i) => i + 1), ...Array(10).fill(own(tenant, 20)).flat()]
        assert.deepEqual(
          asked,
          expected.sort((a, b) => a - b),
        )
        for (const { request_id: id, key_id: keyId, code, rows, plan } of mine) {
          const visible = tenantOf(Number(plan?.filters?.[0]?.values?.[0])) === tenant
          assert.deepEqual([id, code, rows], ['2', 'OK', visible ? 1 : 0])
          assert.equal(keyId, /^rk_([a-z0-9]{12})_/.exec(key(tenant))?.[1])
        }
      }
    })

    test('200 calls of alternating identities over one connection each see their own, and leave nothing on it', async () => {
      const endpoint = running.endpoint('narrow')
      const settings = new Set<string>()
      for (let n = 0; n < 200; n++) {
        const tenant = TENANTS[n % 4] ?? ''
        const id = 1 + (n % 120)
        const note = noteIn((await post(endpoint, key(tenant), noteCall(id))).body)
        assert.deepEqual(note, tenantOf(id) === tenant ? { id, tenant } : undefined)
        const state = await callTool(endpoint, key('reader'), 'get_state_by_pk', { id: 1 })
        assert.equal(state.isError, false, state.text)
        settings.add(JSON.stringify(state.structured))
      }
      assert.equal(settings.size, 1, [...settings].join('\n'))
    })

    /** Clients that call in a loop until told to stop; gives everything that was no plain success. */
    function loop(connector: string, clients: number) {
      let stopped = false
      let served = 0
      const odd: string[] = []
      const client = async () => {
        while (!stopped) {
          const answer = await callTool(running.endpoint(connector), key('reader'), 'search_notes', { limit: 2 })
          if (answer.isError) odd.push(answer.text)
          else served += 1
        }
      }
      const all = Promise.all(Array.from({ length: clients }, client))
      return {
        served: () => served,
        stop: async () => {
          stopped = true
          await all
          return odd
        },
      }
    }

    test('a killed thread loses only its own calls, each with an answer and an entry, and the next call is served', async () => {
      const before = folder.entries().length
      const hold: Hold = await holdNotes(database.superuser())
      const held = [1, 2, 3].map((id) =>
        callTool(running.endpoint('left'), key('reader'), HELD_CALL.name, HELD_CALL.arguments, `held-${id}`),
      )
      const left = loop('left', 8)
      const right = loop('right', 8)
      const waiting = async () => (await atStatement(database, /held/)).length
      await eventually('three calls wait in the database', async () => (await waiting()) === 3)
      await eventually('both connectors serve', () => left.served() > 100 && right.served() > 100)
      const supervisor = running.gateway.connectors.get('left')
      supervisor?.lanes.killAny()
      for (const answer of await Promise.all(held)) assert.match(answer.text, /^CONNECTOR_UNAVAILABLE: /)
      const next = await callTool(running.endpoint('left'), key('reader'), 'get_notes_by_pk', { id: 1 }, 'next')
      assert.equal(next.isError, false, next.text)
      const [servedLeft, servedRight] = [left.served(), right.served()]
      await eventually('both go on', () => left.served() > servedLeft + 50 && right.served() > servedRight + 50)
      const [oddLeft, oddRight] = [await left.stop(), await right.stop()]
      await hold.release()

      assert.deepEqual(oddRight, [])
      assert.ok(oddLeft.length <= 8, 'at most the one call that each client had in flight')
      for (const text of oddLeft) assert.match(text, /^CONNECTOR_UNAVAILABLE: /)
      const entries = folder.entries().slice(before)
      const lost = entries.filter(({ code }) => code !== 'OK')
      assert.equal(lost.length, oddLeft.length + 3)
      for (const { connector, code, decision, effect, reason } of lost) {
        assert.deepEqual(
          [connector, code, decision, effect, reason],
          ['left', 'CONNECTOR_UNAVAILABLE', 'errored', 'none', 'worker thread exited'],
        )
      }
      assert.deepEqual(entries.filter(({ request_id: id = '' }) => id.startsWith('held-')).length, 3)
      assert.equal(entries.filter(({ code }) => code === 'OK').length, left.served() + right.served() + 1)
      const exits = running.observations.filter(({ kind }) => kind === 'connector.worker_exited')
      assert.deepEqual(
        exits.map((exit) => 'callsLost' in exit && [exit.connector, exit.callsLost]),
        [['left', lost.length]],
      )
      // The server notices that the thread is gone when it next looks at the connection.
      await eventually('no connection is left behind', async () => (await waiting()) === 0)
    })

    test('a key revoked by another process is refused from the next request on, under load', async () => {
      const endpoint = running.endpoint('right')
      const load = loop('right', 4)
      let revoked = false
      let stopped = false
      let refused = 0
      let served = 0
      const leaver = async () => {
        // Few enough refusals that the limit on failing attempts stays out of it.
        while (!stopped && refused < 10) {
          const after = revoked
          const { status } = await post(endpoint, key('leaver'), rpcCall(1, { name: 'search_notes' }))
          assert.ok(after ? status === 401 : status === 200 || status === 401, `${status} ${after}`)
          if (status === 401) refused += 1
          else served += 1
        }
      }
      const leavers = [leaver(), leaver()]
      await eventually('the key works', () => served > 20)
      const ended = await runRunku(folder.folder, ['key', 'revoke', key('leaver'), '--yes'])
      revoked = true
      const first = await post(endpoint, key('leaver'), rpcCall('first', { name: 'search_notes' }))
      assert.equal(ended.how, 0, ended.err)
      assert.equal(first.status, 401)
      assert.match(first.headers.get('www-authenticate') ?? '', /^Bearer/)
      await eventually('it stays refused', () => refused >= 10)
      stopped = true
      await Promise.all(leavers)
      assert.deepEqual(await load.stop(), [])
      const reasons = folder.entries().filter(({ code }) => code === 'AUTH_INVALID')
      assert.ok(reasons.length > 0 && reasons.every(({ reason }) => reason === 'revoked key'))
    })
  })
