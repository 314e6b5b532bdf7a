import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type GatewayFolder, prepareGateway, type RunningGateway, startGateway } from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually } from '../support/postgres.js'
import { RawConnection } from '../support/raw-http.js'

describe('calls that are sent before the answer to the one before', () => {
  let folder: GatewayFolder
  let running: RunningGateway

  before(async () => {
    const database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: { ada: { roles: ['reader'] } },
    })
    running = await startGateway(folder)
  })

  after(async () => {
    await running?.stop()
    await folder?.remove()
  })

  function call(id: number, close = false): string {
    const { host, pathname } = new URL(running.endpoint('notes'))
    const params = { name: 'search_notes', arguments: { limit: id } }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
    const lines = [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${folder.keys['ada']}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...(close ? ['Connection: close'] : []),
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }

  const calls = () => folder.entries().filter(({ tool }) => tool === 'search_notes')
  const open = () => new RawConnection(Number(new URL(running.endpoint('notes')).port))

  for (const [how, second] of [
    ['in one packet', false],
    ['with an end of the connection announced', true],
  ] as const) {
    test(`${how}: answers come in order or not at all, and what was begun has one entry`, async () => {
      const before = calls().length
      const text = await open()
        .write(`${call(1)}${call(2, second)}x`)
        .closed()
      const answered = [...text.matchAll(/"id":(\d)/g)].map((match) => Number(match[1]))
      assert.deepEqual(answered, [1, 2].slice(0, answered.length))
      await eventually('the first has its entry', () => calls().length > before)
      // A call that is answered on another connection comes after whatever was begun on that one.
      assert.match(await open().write(call(3, true)).closed(), /^HTTP\/1\.1 200/)
      const made = calls().slice(before)
      assert.ok(made.length === answered.length + 1 || answered.length === 0, text)
      for (const { decision, code, effect } of made)
        assert.ok(code === 'OK' || code === 'CANCELLED', `${decision} ${code} ${effect}`)
      assert.ok(made.filter(({ code }) => code === 'OK').length > answered.length)
    })
  }
})
