import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { forEngine, type PerEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import {
  type GatewayFolder,
  post,
  prepareGateway,
  type RunningGateway,
  rpcCall,
  startGateway,
} from '../support/gateway.js'
import { type HeldSession, heldSession } from '../support/hold.js'
import { leftOut } from '../support/left-out.js'
import { notesSetup, SLOW_CALL } from '../support/notes.js'
import { isGenuine } from '../support/security-engines.js'
import { policyFor } from '../support/security-sql.js'
import { atStatement, eventually, isActive, type TestDatabase, type TestServer } from '../support/test-server.js'

/** Beside the view that sleeps: one whose rows come one by one, and a procedure. */
const MORE: PerEngine<string> = {
  postgres: `
CREATE VIEW trickle AS SELECT id, pg_sleep(0.3) IS NULL AS slept FROM notes;
CREATE PROCEDURE doze() LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); END $$;
CREATE FUNCTION nap() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN 1; END $$;
`,
  mysql: `
CREATE VIEW trickle AS SELECT id, SLEEP(0.3) AS slept FROM notes;
CREATE PROCEDURE doze() BEGIN DO SLEEP(60); END;
CREATE FUNCTION nap() RETURNS int NOT DETERMINISTIC NO SQL RETURN SLEEP(60);
`,
  sqlserver: `
CREATE VIEW trickle AS SELECT id, dbo.dawdle(CASE WHEN id > 0 THEN 300 END) AS slept FROM notes
GO
CREATE PROCEDURE doze AS WAITFOR DELAY '00:01:00'
GO
CREATE FUNCTION nap() RETURNS int AS BEGIN RETURN dbo.dawdle(60000) END
`,
}
/** A lock on the row that lets it be read, and not changed. */
const LOCKED: PerEngine<string> = {
  postgres: 'UPDATE test.notes SET title = title WHERE id = 1',
  mysql: 'UPDATE test.notes SET title = title WHERE id = 1',
  sqlserver: 'SELECT id FROM test.notes WITH (UPDLOCK, ROWLOCK, HOLDLOCK) WHERE id = 1',
}
const POLICY = `
version: 1
defaults: { query_timeout_ms: 30000 }
tables:
  public.notes: { mask: [secret], update: { columns: [title] } }
  public.slow: { key: [id] }
  public.trickle: { key: [id] }
procedures:
  public.doze: { effect: write }
  public.nap: { effect: read }
roles:
  reader: { read: ['*'], update: [public.notes], call: ['*'] }
`
/** Calls that wait in the server, each in its own way; the row that the last one would change is locked by another. */
const STOPPABLE_CALLS = [
  SLOW_CALL,
  { name: 'search_trickle', arguments: {} },
  { name: 'nap' },
  { name: 'update_notes_by_pk', arguments: { id: 1, values: { title: 'changed' }, dry_run: true } },
]
/** The statements of all these and what they run, and no other of a session. */
const CALLED = /slow|trickle|nap|doze|dawdle|notes|sleep|WAITFOR/i
/** Once these have begun, only their time ends them: a client that leaves must not leave half a change. */
const WRITING_CALLS = [
  { name: 'doze' },
  { name: 'update_notes_by_pk', arguments: { id: 1, values: { title: 'changed' } } },
]

for (const target of WHOLE_PATH_TARGETS)
  describe(`stopping a call on the ${target.label} server`, () => {
    let server: TestServer
    let database: TestDatabase
    let folder: GatewayFolder
    let running: RunningGateway
    let locker: HeldSession
    let endpoint: string

    before(async () => {
      server = await target.start()
      if (!isGenuine(server)) return
      database = await server.createDatabase(`${notesSetup(server)}${forEngine(MORE, target.engine)}`)
      locker = await heldSession(database.superuser())
      await locker.begin()
      await locker.query(forEngine(LOCKED, target.engine).replace('test.', `${database.schema}.`))
      const policy = policyFor(target.engine, POLICY)
      const hurried = policy.replace('query_timeout_ms: 30000', 'query_timeout_ms: 500')
      folder = await prepareGateway({
        connectors: [
          { id: 'notes', settings: database.writer(), policy },
          { id: 'hurried', settings: database.writer(), policy: hurried },
        ],
        identities: { reader: { roles: ['reader'] }, other: { roles: ['reader'] } },
      })
      running = await startGateway(folder)
      endpoint = running.endpoint('notes')
    })

    after(async () => {
      await running?.stop()
      await locker?.end()
      await folder?.remove()
    })

    afterEach(async () => {
      if (isGenuine(server)) await noneRuns()
    })

    /** What merely speaks the protocol goes on with a statement that it was told to stop. */
    const stopping = (rule: string, run: () => Promise<void>) =>
      test(rule, async (t) => {
        if (!leftOut(t, server, 'a statement is stopped')) await run()
      })

    const active = async () => (await atStatement(database, CALLED)).length

    const runs = (count: number) => eventually(`${count} statements run`, async () => (await active()) === count)
    const noneRuns = () =>
      eventually('no statement runs', async () => (await database.sessions()).every((session) => !isActive(session)))

    function start(
      identity: string,
      id: number | string,
      call: Parameters<typeof rpcCall>[1] = SLOW_CALL,
      to = endpoint,
    ) {
      const ended = new AbortController()
      const answer = fetch(to, {
        method: 'POST',
        headers: { authorization: `Bearer ${folder.keys[identity]}`, 'content-type': 'application/json' },
        body: JSON.stringify(rpcCall(id, call)),
        signal: ended.signal,
      }).then((response) => response.text())
      // A call whose client left is looked at by its entry.
      answer.catch(() => {})
      return { answer, leave: () => ended.abort() }
    }

    function cancel(identity: string, requestId: unknown) {
      const params = { requestId, reason: 'test' }
      return post(endpoint, folder.keys[identity], { jsonrpc: '2.0', method: 'notifications/cancelled', params })
    }

    const unchanged = async () => {
      await noneRuns()
      assert.deepEqual(await database.query('SELECT title FROM notes WHERE id = 1'), [['note 1']])
    }

    const codes = () => folder.entries().map(({ code, request_id: id }) => `${id} ${code}`)

    stopping('a cancelled call is stopped on the server, answered and has its entry', async () => {
      const call = start('reader', 'first')
      await runs(1)
      assert.equal((await cancel('reader', 'first')).status, 202)
      assert.match(await call.answer, /CANCELLED: /)
      await noneRuns()
      assert.deepEqual(codes(), ['first CANCELLED'])
    })

    stopping(
      'an id of another key, of another type or of no call stops nothing, and neither does one that names two calls',
      async () => {
        const calls = [start('reader', 7), start('reader', 8), start('reader', 8)]
        await runs(3)
        for (const [identity, id] of [
          ['other', 7],
          ['reader', '7'],
          ['reader', 9],
          ['reader', 8],
          ['reader', null],
          ['reader', { id: 7 }],
        ] as const) {
          assert.equal((await cancel(identity, id)).status, 202)
        }
        assert.match(
          (await post(endpoint, folder.keys['reader'], rpcCall(1, { name: 'schema_overview' }))).text,
          /tables/,
        )
        assert.equal(await active(), 3, 'all three still run')
        await cancel('reader', 7)
        assert.match((await calls[0]?.answer) ?? '', /CANCELLED: /)
        await runs(2)
        calls[1]?.leave()
        await runs(1)
        await eventually('the first of the two has ended', () => codes().includes('8 CANCELLED'))
        await cancel('reader', 8)
        assert.match((await calls[2]?.answer) ?? '', /CANCELLED: /)
      },
    )

    stopping('a client that goes away stops its query on the server, and the call has its one entry', async () => {
      const call = start('reader', 'leaving')
      await runs(1)
      call.leave()
      await noneRuns()
      await eventually('the entry is there', () => codes().includes('leaving CANCELLED'))
      assert.equal(codes().filter((code) => code.startsWith('leaving')).length, 1)
    })

    stopping('calls that wait for a connection are stopped as well, and the places are free again', async () => {
      const calls = Array.from({ length: 10 }, (_, i) => start('reader', `queued-${i}`))
      await runs(4)
      for (let i = 9; i >= 0; i--) await cancel('reader', `queued-${i}`)
      for (const { answer } of calls) assert.match(await answer, /CANCELLED: /)
      await noneRuns()
      const next = await post(
        endpoint,
        folder.keys['reader'],
        rpcCall(1, { name: 'search_notes', arguments: { limit: 1 } }),
      )
      assert.match(next.text, /"row_count":1/)
    })

    stopping(
      'whatever a call waits for, it is stopped there, by word and by leaving, and changes nothing',
      async () => {
        const cancelled = STOPPABLE_CALLS.map((call) => start('reader', `word ${call.name}`, call))
        await runs(STOPPABLE_CALLS.length)
        for (const { name } of STOPPABLE_CALLS) await cancel('reader', `word ${name}`)
        for (const { answer } of cancelled) assert.match(await answer, /CANCELLED: /)
        await unchanged()
        const left = STOPPABLE_CALLS.map((call) => start('reader', `left ${call.name}`, call))
        await runs(STOPPABLE_CALLS.length)
        for (const { leave } of left) leave()
        await unchanged()
        await eventually('each has its entry', () => {
          const found = new Set(codes())
          return STOPPABLE_CALLS.every(({ name }) => found.has(`left ${name} CANCELLED`))
        })
        assert.ok(folder.entries().every(({ effect }) => effect === 'none'))
      },
    )

    stopping('a call past its time is stopped on the server wherever it waits, and changes nothing', async () => {
      const endpoint = running.endpoint('hurried')
      const calls = [...STOPPABLE_CALLS, ...WRITING_CALLS].map((call) =>
        post(endpoint, folder.keys['reader'], rpcCall(1, call)),
      )
      for (const { text } of await Promise.all(calls)) assert.match(text, /TIMEOUT: /)
      await unchanged()
      const ends = folder.entries().filter(({ connector }) => connector === 'hurried')
      assert.deepEqual(
        ends.map(({ code, effect }) => [code, effect]),
        calls.map(() => ['TIMEOUT', 'none']),
      )
    })

    stopping('a change whose client left is ended by its time, and has changed nothing either', async () => {
      const left = WRITING_CALLS.map((call) => start('reader', `gone ${call.name}`, call, running.endpoint('hurried')))
      await runs(WRITING_CALLS.length)
      for (const { leave } of left) leave()
      await unchanged()
      await eventually(
        'each has its entry',
        () => codes().filter((code) => /^gone .* TIMEOUT$/.test(code)).length === 2,
      )
    })
  })
