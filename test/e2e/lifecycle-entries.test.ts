import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chainOf } from '../support/chain-of.js'
import { callTool, prepareGateway, spawnGateway } from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually } from '../support/postgres.js'

test('a start, what serves from when on, a reload and an orderly stop are entries; a crash is a start without a stop before it', async () => {
  const database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
  const folder = await prepareGateway({
    connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
    identities: { reader: { roles: ['reader'] } },
    audit: '{ stdout: false, buffer: { path: audit.sqlite } }',
  })
  const acts = () => folder.trail().map(({ tool, operation }) => (operation === 'gateway' ? tool : operation))
  const call = async (endpoint: string) => {
    const answer = await callTool(endpoint, folder.keys['reader'] ?? '', 'search_notes', { limit: 1 })
    assert.equal(answer.isError, false, answer.text)
  }
  try {
    const first = await spawnGateway(folder, ['notes'])
    await call(first.endpoint('notes'))
    first.child.kill('SIGHUP')
    await eventually('the reload has its entry', () => acts().includes('reload'))
    first.child.kill('SIGTERM')
    assert.equal(await first.exited, 0)
    assert.deepEqual(acts(), ['start', 'connector_ready', 'search', 'reload', 'stop'])
    const [start, ready, , reload] = folder.trail()
    assert.equal(start?.detail?.['connectors'], 1)
    assert.deepEqual([ready?.connector, ready?.epoch], ['notes', 1])
    assert.equal(reload?.detail?.['unchanged'], 1)

    const second = await spawnGateway(folder, ['notes'])
    await call(second.endpoint('notes'))
    second.child.kill('SIGKILL')
    await second.exited
    const third = await spawnGateway(folder, ['notes'])
    third.child.kill('SIGTERM')
    assert.equal(await third.exited, 0)
    assert.deepEqual(acts().slice(5), ['start', 'connector_ready', 'search', 'start', 'connector_ready', 'stop'])
    assert.deepEqual(chainOf(folder.bufferFile), { lines: folder.trail().length, faults: [] })
  } finally {
    await folder.remove()
    await database.drop()
  }
})
