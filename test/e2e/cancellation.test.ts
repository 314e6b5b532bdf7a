import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  type GatewayFolder,
  post,
  prepareGateway,
  type RunningGateway,
  rpcCall,
  startGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP, SLOW_CALL } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'

describe('stopping a call', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let running: RunningGateway
  let endpoint: string

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: { reader: { roles: ['reader'] }, other: { roles: ['reader'] } },
    })
    running = await startGateway(folder)
    endpoint = running.endpoint('notes')
  })

  after(async () => {
    await running?.stop()
    await folder?.remove()
  })

  afterEach(() => noneRuns())

  async function slowOnes(): Promise<number> {
    return (await database.sessions()).filter(({ state, query }) => state === 'active' && query.includes('slow')).length
  }

  const runs = (count: number) => eventually(`${count} slow queries run`, async () => (await slowOnes()) === count)
  const noneRuns = () => runs(0)

  function start(identity: string, id: number | string) {
    const ended = new AbortController()
    const answer = fetch(endpoint, {
      method: 'POST',
      headers: { authorization: `Bearer ${folder.keys[identity]}`, 'content-type': 'application/json' },
      body: JSON.stringify(rpcCall(id, SLOW_CALL)),
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

  const codes = () => folder.entries().map(({ code, request_id: id }) => `${id} ${code}`)

  test('a cancelled call is stopped on the server, answered and has its entry', async () => {
    const call = start('reader', 'first')
    await runs(1)
    assert.equal((await cancel('reader', 'first')).status, 202)
    assert.match(await call.answer, /CANCELLED: /)
    await noneRuns()
    assert.deepEqual(codes(), ['first CANCELLED'])
  })

  test('an id of another key, of another type or of no call stops nothing, and neither does one that names two calls', async () => {
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
    assert.match((await post(endpoint, folder.keys['reader'], rpcCall(1, { name: 'schema_overview' }))).text, /tables/)
    assert.equal(await slowOnes(), 3, 'all three still run')
    await cancel('reader', 7)
    assert.match((await calls[0]?.answer) ?? '', /CANCELLED: /)
    await runs(2)
    calls[1]?.leave()
    await runs(1)
    await eventually('the first of the two has ended', () => codes().includes('8 CANCELLED'))
    await cancel('reader', 8)
    assert.match((await calls[2]?.answer) ?? '', /CANCELLED: /)
  })

  test('a client that goes away stops its query on the server, and the call has its one entry', async () => {
    const call = start('reader', 'leaving')
    await runs(1)
    call.leave()
    await noneRuns()
    await eventually('the entry is there', () => codes().includes('leaving CANCELLED'))
    assert.equal(codes().filter((code) => code.startsWith('leaving')).length, 1)
  })

  test('calls that wait for a connection are stopped as well, and the places are free again', async () => {
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
})
