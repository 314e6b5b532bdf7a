import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { chainOf } from '../support/chain-of.js'
import { forEngine, type PerEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import {
  type GatewayFolder,
  post,
  prepareGateway,
  rpcCall,
  type SpawnedGateway,
  spawnGateway,
} from '../support/gateway.js'
import { writerOn } from '../support/left-out.js'
import { policyFor } from '../support/security-sql.js'
import { eventually, type TestDatabase } from '../support/test-server.js'

/** Every change leaves the id of its request in `history`, in its own transaction: what is there was committed. */
const SETUPS: PerEngine<string> = {
  postgres: `
CREATE TABLE things (id text PRIMARY KEY, request text NOT NULL UNIQUE, number integer NOT NULL DEFAULT 0);
CREATE TABLE history (request text NOT NULL);
CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO public.history VALUES (NEW.request); RETURN NULL; END $$;
CREATE TRIGGER remember AFTER INSERT OR UPDATE ON things FOR EACH ROW EXECUTE FUNCTION remember();
`,
  mysql: `
CREATE TABLE things (id varchar(40) PRIMARY KEY, request varchar(40) NOT NULL UNIQUE, number int NOT NULL DEFAULT 0);
CREATE TABLE history (request varchar(40) NOT NULL);
CREATE TRIGGER remember_insert AFTER INSERT ON things FOR EACH ROW INSERT INTO history VALUES (NEW.request);
CREATE TRIGGER remember_update AFTER UPDATE ON things FOR EACH ROW INSERT INTO history VALUES (NEW.request);
`,
  sqlserver: `
CREATE TABLE things (id varchar(40) PRIMARY KEY, request varchar(40) NOT NULL UNIQUE, number int NOT NULL DEFAULT 0);
CREATE TABLE history (request varchar(40) NOT NULL);
GO
CREATE TRIGGER remember ON things AFTER INSERT, UPDATE AS
BEGIN SET NOCOUNT ON; INSERT INTO history SELECT request FROM inserted; END
`,
}
const POLICY = `
version: 1
defaults: { query_timeout_ms: 30000 }
tables:
  public.things:
    create: { columns: [id, request] }
    update: { columns: [request] }
roles:
  writer: { read: ['*'], create: ['*'], update: ['*'] }
`
const CLIENTS = 16
const ROUNDS = 9
const MUTATIONS_MIN = 500

interface Reply {
  readonly id: string
  readonly ok: boolean
  readonly text: string
}

for (const target of WHOLE_PATH_TARGETS)
  describe(`kill -9 amid changes on the ${target.label} server`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let key: string

    before(async () => {
      const server = await target.start()
      database = await server.createDatabase(forEngine(SETUPS, target.engine))
      const settings = writerOn(server, database, { pool: { max: 4 } })
      folder = await prepareGateway({
        connectors: [{ id: 'things', settings, policy: policyFor(target.engine, POLICY) }],
        identities: { writer: { roles: ['writer'] } },
      })
      key = folder.keys['writer'] ?? ''
    })

    after(async () => {
      await folder?.remove()
      await database?.drop()
    })

    /** Each client makes a row and changes it three times, again and again, until the gateway is gone. */
    async function changeUntilKilled(gateway: SpawnedGateway, round: number, killAtReply: number, delayMs: number) {
      const replies: Reply[] = []
      const sent: string[] = []
      const client = async (own: number): Promise<void> => {
        for (let n = 0; ; n++) {
          const id = `${round}-${own}-${n}`
          const thing = `${round}-${own}-${n - (n % 4)}`
          const change =
            n % 4 === 0
              ? { name: 'create_things', arguments: { values: { id: thing, request: id } } }
              : { name: 'update_things_by_pk', arguments: { id: thing, values: { request: id } } }
          sent.push(id)
          try {
            const { status, text } = await post(gateway.endpoint('things'), key, rpcCall(id, change))
            assert.equal(status, 200, text)
            replies.push({ id, ok: text.includes('"changed":true'), text })
          } catch (error) {
            if (error instanceof assert.AssertionError) throw error
            return
          }
          if (replies.length === killAtReply) {
            // Not a wait for anything: the point in the flow at which the process dies has to vary.
            await pause(delayMs)
            gateway.child.kill('SIGKILL')
          }
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, (_, own) => client(own)))
      assert.equal(await gateway.exited, 'SIGKILL')
      return { replies, sent }
    }

    test('database, buffer and replies agree on every change, or the entry says unknown', async (t) => {
      const replies: Reply[] = []
      const sent = new Set<string>()
      for (let round = 0; round < ROUNDS || replies.length < MUTATIONS_MIN; round++) {
        const killAtReply = 1 + Math.floor(Math.random() * 150)
        const delayMs = Math.random() * 4
        const gateway = await spawnGateway(folder, ['things'])
        const lived = await changeUntilKilled(gateway, round, killAtReply, delayMs)
        t.diagnostic(
          `round ${round}: killed ${delayMs.toFixed(2)} ms after reply ${killAtReply} of ${lived.replies.length}`,
        )
        replies.push(...lived.replies)
        for (const id of lived.sent) sent.add(id)
      }
      const gateway = await spawnGateway(folder, ['things'])
      gateway.child.kill('SIGTERM')
      assert.equal(await gateway.exited, 0)
      await eventually('no session of the gateway is left', async () => (await database.sessions()).length === 0)

      const committed = (await database.query('SELECT request FROM history')).map(([request]) => request ?? '')
      const inDatabase = new Set(committed)
      assert.equal(inDatabase.size, committed.length, 'a change happened twice')
      const entries = folder.entries()
      const byRequest = new Map(entries.map((entry) => [entry.request_id ?? '', entry]))
      assert.equal(byRequest.size, entries.length, 'a request has two entries')
      const wrong = (rule: string, ids: Iterable<string>) => assert.deepEqual([...ids], [], rule)
      const effectOf = (id: string) => byRequest.get(id)?.effect

      wrong(
        'a reply that is not a success',
        replies.filter(({ ok }) => !ok).map(({ text }) => text),
      )
      wrong(
        'a reply without its change in the database',
        replies.map(({ id }) => id).filter((id) => !inDatabase.has(id)),
      )
      wrong(
        'a reply whose entry does not say committed',
        replies.map(({ id }) => id).filter((id) => effectOf(id) !== 'committed'),
      )
      wrong(
        'a change whose entry is missing, or says that nothing happened',
        committed.filter((id) => !['committed', 'unknown'].includes(effectOf(id) ?? '')),
      )
      wrong(
        'an entry that says committed, without the change',
        [...byRequest].filter(([id, { effect }]) => effect === 'committed' && !inDatabase.has(id)).map(([id]) => id),
      )
      wrong(
        'an entry of something that was never sent',
        [...byRequest.keys()].filter((id) => !sent.has(id)),
      )
      const unknown = entries.filter(({ effect }) => effect === 'unknown')
      for (const { decision, code, reason, target, plan, identity } of unknown) {
        assert.deepEqual(
          [decision, code, target, identity],
          ['errored', 'DB_EFFECT_UNKNOWN', `${database.schema}.things`, 'writer'],
        )
        assert.equal(reason, 'the process ended before the outcome was known')
        assert.ok(plan?.values !== undefined)
      }
      assert.ok(unknown.length > 0, 'no kill hit a change in flight')
      // What a client was answered last bounds what can be open: one change each.
      assert.ok(unknown.length <= CLIENTS * (ROUNDS + 20))
      assert.ok(replies.length >= MUTATIONS_MIN)
      const there = unknown.filter(({ request_id: id = '' }) => inDatabase.has(id)).length
      t.diagnostic(
        `${replies.length} answered, ${committed.length} in the database, ${entries.length} entries, ${unknown.length} unknown (${there} of them took effect)`,
      )
      assert.deepEqual(
        folder.trail().map(({ seq }) => seq),
        folder.trail().map((_, i) => i + 1),
      )
      assert.deepEqual(chainOf(folder.bufferFile), { lines: folder.trail().length, faults: [] })
    })

    test('while the trail cannot take an intent, nothing reaches the database, and a crash then leaves nothing', async () => {
      const gateway = await spawnGateway(folder, ['things'])
      const before = folder.entries().length
      const trail = new Database(folder.bufferFile)
      try {
        trail.exec('BEGIN IMMEDIATE')
        const calls = Array.from({ length: CLIENTS }, (_, n) => {
          const call = { name: 'create_things', arguments: { values: { id: `held ${n}`, request: `held ${n}` } } }
          return assert.rejects(post(gateway.endpoint('things'), key, rpcCall(`held ${n}`, call)))
        })
        await eventually('every call is on its way', async () => {
          const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text()
          return metrics.includes(`runku_in_flight{connector="things"} ${CLIENTS}`)
        })
        // The rule holds however long this is; a change that does not wait for its intent would be made by now.
        await pause(400)
        gateway.child.kill('SIGKILL')
        await gateway.exited
        await Promise.all(calls)
      } finally {
        trail.close()
      }
      const next = await spawnGateway(folder, ['things'])
      next.child.kill('SIGTERM')
      assert.equal(await next.exited, 0)
      await eventually('no session of the gateway is left', async () => (await database.sessions()).length === 0)
      assert.deepEqual(await database.query(`SELECT id FROM things WHERE id LIKE 'held%'`), [])
      assert.equal(folder.entries().length, before)
    })
  })
