import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { forEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  prepareGateway,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUPS } from '../support/notes.js'
import { policyFor } from '../support/security-sql.js'
import { eventually, type TestDatabase } from '../support/test-server.js'

/** The new type's values would be more than one value, were they still taken for numbers. */
const OTHER_TYPE = {
  postgres: `ALTER TABLE notes ALTER COLUMN weight TYPE text USING '0,"secret":' || id`,
  mysql: `ALTER TABLE notes MODIFY weight varchar(40); UPDATE notes SET weight = CONCAT('0,"secret":', id)`,
}

for (const target of WHOLE_PATH_TARGETS)
  describe(`a schema that changes while the ${target.label} server serves it`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let running: RunningGateway
    let endpoint: string
    let key: string

    before(async () => {
      database = await (await target.start()).createDatabase(forEngine(NOTES_SETUPS, target.engine))
      folder = await prepareGateway({
        connectors: [{ id: 'notes', settings: database.reader(), policy: policyFor(target.engine, NOTES_POLICY) }],
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
      assert.ok((await tools()).includes('"attributes"'))
      // Prepared and used on the connection, as a statement in real use would be.
      for (let n = 0; n < 4; n++)
        assert.equal((await search({ columns: ['id', 'attributes'], limit: 1 })).isError, false)
      await database.query('ALTER TABLE notes DROP COLUMN attributes')
      const changed = await search({ columns: ['id', 'attributes'], limit: 1 })
      assert.match(changed.text, /^SCHEMA_CHANGED: /)
      assert.doesNotMatch(changed.text, /attributes|42703|1054|does not exist|nknown column/)
      await eventually('it has introspected again', () => running.gateway.connectors.get('notes')?.epoch === 2)
      assert.ok(!(await tools()).includes('"attributes"'))
      // MySQL knows columns by their places alone, so those behind it are others until the policy is applied again.
      assert.equal((await tools()).includes('"raw"'), target.engine === 'postgres')
      assert.equal((await search({ limit: 1 })).isError, false)
      const missing = await search({ columns: ['id', 'attributes'] })
      const never = await search({ columns: ['id', 'attribtues'] })
      assert.match(missing.text, /^ARGUMENT_COLUMN: /)
      assert.match(never.text, /^ARGUMENT_COLUMN: /)
      const { code, reason } = folder.entries().find((entry) => entry.code === 'SCHEMA_CHANGED') ?? {}
      assert.equal(code, 'SCHEMA_CHANGED')
      assert.match(reason ?? '', forEngine({ postgres: /42703/, mysql: /1054|42S22/ }, target.engine))
    })

    test('a changed type is found by a statement that was prepared before it, forges nothing in others, and a reload serves the rest', async () => {
      const args = { columns: ['id', 'weight'], limit: 1 }
      for (let n = 0; n < 4; n++) assert.equal((await search(args)).isError, false)
      await database.query(forEngine(OTHER_TYPE, target.engine))
      const changed = await search(args)
      assert.match(changed.text, /^SCHEMA_CHANGED: /)
      const first = await search({ columns: ['weight', 'id'], limit: 3 })
      assert.doesNotMatch(first.text, /"secret":/)
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
