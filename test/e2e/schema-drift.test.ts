import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  callTool,
  type GatewayFolder,
  listTools,
  prepareGateway,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'

describe('a schema that changes while it is served', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let running: RunningGateway
  let endpoint: string
  let key: string

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: { reader: { roles: ['reader'] } },
    })
    running = await startGateway(folder)
    endpoint = running.endpoint('notes')
    key = folder.keys['reader'] ?? ''
  })

  after(async () => {
    await running?.stop()
    await folder?.remove()
  })

  const tools = async () => JSON.stringify(await listTools(endpoint, key))
  const search = (args: unknown) => callTool(endpoint, key, 'search_notes', args)

  test('a dropped column is SCHEMA_CHANGED once; then it is gone from the list and refused like any missing one', async () => {
    assert.ok((await tools()).includes('"amount"'))
    // Prepared and used on the connection, as a statement in real use would be.
    for (let n = 0; n < 4; n++) assert.equal((await search({ columns: ['id', 'amount'], limit: 1 })).isError, false)
    await database.query('ALTER TABLE notes DROP COLUMN amount')
    const changed = await search({ columns: ['id', 'amount'], limit: 1 })
    assert.match(changed.text, /^SCHEMA_CHANGED: /)
    assert.doesNotMatch(changed.text, /amount|42703|does not exist/)
    await eventually('it has introspected again', () => running.gateway.connectors.get('notes')?.epoch === 2)
    assert.ok(!(await tools()).includes('"amount"'))
    assert.equal((await search({ limit: 1 })).isError, false)
    const missing = await search({ columns: ['id', 'amount'] })
    const never = await search({ columns: ['id', 'amonut'] })
    assert.match(missing.text, /^ARGUMENT_COLUMN: /)
    assert.match(never.text, /^ARGUMENT_COLUMN: /)
    const { code, reason } = folder.entries().find((entry) => entry.code === 'SCHEMA_CHANGED') ?? {}
    assert.equal(code, 'SCHEMA_CHANGED')
    assert.match(reason ?? '', /42703/)
  })

  test('a changed type is found by a statement that was prepared before it, and a reload serves the rest', async () => {
    const args = { columns: ['id', 'weight'], limit: 1 }
    for (let n = 0; n < 4; n++) assert.equal((await search(args)).isError, false)
    await database.query('ALTER TABLE notes ALTER COLUMN weight TYPE numeric')
    const changed = await search(args)
    assert.match(changed.text, /^SCHEMA_CHANGED: /)
    const before = running.gateway.connectors.get('notes')?.epoch ?? 0
    running.gateway.reload()
    await eventually('it was reloaded', () => (running.gateway.connectors.get('notes')?.epoch ?? 0) > before)
    assert.equal((await search({ columns: ['id'], limit: 1 })).isError, false)
  })

  test('a dropped table takes its tools with it and no others', async () => {
    await database.query('DROP TABLE links')
    assert.match((await callTool(endpoint, key, 'search_links', {})).text, /^SCHEMA_CHANGED: /)
    const before = running.gateway.connectors.get('notes')?.epoch ?? 0
    running.gateway.reload()
    await eventually('it was reloaded', () => (running.gateway.connectors.get('notes')?.epoch ?? 0) > before)
    assert.ok(!(await tools()).includes('links'))
    assert.match((await callTool(endpoint, key, 'search_links', {})).text, /^TOOL_UNKNOWN: /)
    assert.ok((await tools()).includes('search_notes'))
  })
})
