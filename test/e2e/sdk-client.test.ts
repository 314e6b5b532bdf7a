import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { type GatewayFolder, prepareGateway, type RunningGateway, startGateway } from '../support/gateway.js'
import { type Args, generatedCalls } from '../support/generated-calls.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED } from '../support/postgres.js'
import { callSdk, connectSdk, rowsOf, type SdkTool } from '../support/sdk.js'

describe('the client of the official SDK', () => {
  let folder: GatewayFolder
  let running: RunningGateway
  let reader: Client
  let clerk: Client

  before(async () => {
    const database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: {
        reader: { roles: ['reader'] },
        clerk: { roles: ['clerk'], claims: new Map([['tenant', 'bolt']]) },
      },
    })
    running = await startGateway(folder)
    reader = await connectSdk(running.endpoint('notes'), folder.keys['reader'] ?? '')
    clerk = await connectSdk(running.endpoint('notes'), folder.keys['clerk'] ?? '')
  })

  after(async () => {
    await reader?.close()
    await clerk?.close()
    await running?.stop()
    await folder?.remove()
  })

  async function sampleOf(tool: SdkTool): Promise<Readonly<Record<string, unknown>>> {
    const search = `search_${/_(notes|links|held|slow)/.exec(tool.name)?.[1]}`
    const order = { order_by: [{ column: search === 'search_links' ? 'note_id' : 'id' }] }
    return rowsOf(await callSdk(reader, search, { limit: 1, ...order })).rows[0] ?? {}
  }

  test('connects, learns who serves it, and is answered to a ping', async () => {
    assert.equal(reader.getServerVersion()?.name, 'runku')
    assert.deepEqual(reader.getServerCapabilities(), { tools: {} })
    assert.ok((reader.getInstructions() ?? '').length < 2_000)
    assert.deepEqual(await reader.ping(), {})
  })

  test('two keys of one endpoint list different tools, each its own', async () => {
    const names = async (client: Client) => (await client.listTools()).tools.map((tool) => tool.name)
    assert.deepEqual(await names(clerk), ['schema_overview', 'get_notes_by_pk', 'search_notes', 'aggregate_notes'])
    const wide = await names(reader)
    for (const name of ['search_links', 'get_held_by_pk', 'aggregate_links']) assert.ok(wide.includes(name), name)
    const listed = JSON.stringify((await clerk.listTools()).tools)
    assert.doesNotMatch(listed, /"body"|secret|links/)
    assert.doesNotMatch(JSON.stringify((await reader.listTools()).tools), /secret/)
  })

  test('every tool, called with every choice its schema offers, answers what its output schema says', async () => {
    const { tools } = await reader.listTools()
    // Each of these would wait on purpose.
    const quick = tools.filter((tool) => !/held|slow/.test(tool.name))
    let calls = 0
    for (const tool of quick) {
      assert.ok(tool.outputSchema !== undefined, tool.name)
      const sample = tool.name === 'schema_overview' ? {} : await sampleOf(tool)
      for (const args of generatedCalls(tool, sample)) {
        const answer = await callSdk(reader, tool.name, args)
        calls += 1
        if (answer.isError) assert.match(answer.text, /^ARGUMENT_/, `${tool.name} ${JSON.stringify(args)}`)
        else assert.equal(answer.text, JSON.stringify(answer.structured), 'text and structure are the same JSON')
      }
    }
    assert.ok(calls > 300, `only ${calls} calls were generated`)
  })

  test('NULLs, cut cells and results cut to their size fit the output schema too', async () => {
    const nulls = rowsOf(await callSdk(reader, 'get_notes_by_pk', { id: 121 }))
    assert.equal(nulls.rows.length, 1)
    for (const [name, value] of Object.entries(nulls.rows[0] ?? {})) {
      assert.equal(value, name === 'id' ? 121 : name === 'tenant' ? 'acme' : null, name)
    }
    const cell = rowsOf(await callSdk(reader, 'get_notes_by_pk', { id: 3 }))
    assert.deepEqual([cell.truncated, cell.cut?.[0]?.what], [true, 'cell'])
    const long = { column: 'body', op: 'neq', value: 'short' }
    const chars = rowsOf(await callSdk(reader, 'search_notes', { filters: [long], limit: 50 }))
    assert.deepEqual([chars.truncated, chars.cut?.[0]?.what], [true, 'chars'])
    const rows = rowsOf(await callSdk(reader, 'search_notes', { limit: 2 }))
    assert.deepEqual([rows.row_count, rows.truncated, rows.cut?.[0]?.what], [2, true, 'rows'])
    const groups = rowsOf(
      await callSdk(reader, 'aggregate_notes', { metrics: [{ fn: 'max', column: 'title' }], group_by: ['mood'] }),
    )
    assert.equal(groups.row_count, 3, 'NULL is a group')
    const none = rowsOf(
      await callSdk(reader, 'aggregate_notes', {
        metrics: [{ fn: 'sum', column: 'amount' }],
        filters: [{ column: 'id', op: 'lt', value: '0' }],
      }),
    )
    assert.deepEqual(none.rows, [{ sum_amount: null }])
  })

  test('a refusal inside a tool is a result that a model can read, an unknown tool is an error of the protocol', async () => {
    const refused: readonly (readonly [string, Args, RegExp])[] = [
      ['get_notes_by_pk', { id: 100_000 }, /^ROW_NOT_FOUND: /],
      ['get_notes_by_pk', { id: 'x' }, /^ARGUMENT_TYPE: |^ARGUMENT_VALUE: /],
      ['get_notes_by_pk', {}, /^ARGUMENT_MISSING: .*id/],
      ['search_notes', { colums: ['id'] }, /^ARGUMENT_UNKNOWN: .*"columns"/],
      ['search_notes', { columns: ['titel'] }, /^ARGUMENT_COLUMN: .*"title"/],
    ]
    for (const [tool, args, expected] of refused) {
      const answer = await callSdk(reader, tool, args)
      assert.equal(answer.isError, true)
      assert.match(answer.text, expected)
      assert.equal(answer.structured, undefined)
    }
    await assert.rejects(callSdk(clerk, 'search_links', {}), (error: { code?: unknown }) => error.code === -32602)
  })

  test('a row filter by claim decides what each of two keys reads through the same tool', async () => {
    const count = { metrics: [{ fn: 'count' }], group_by: ['tenant'] }
    const own = rowsOf(await callSdk(clerk, 'aggregate_notes', count))
    assert.deepEqual(own.rows, [{ tenant: 'bolt', count: 30 }])
    assert.equal(rowsOf(await callSdk(reader, 'aggregate_notes', count)).row_count, 4)
    assert.match((await callSdk(clerk, 'get_notes_by_pk', { id: 2 })).text, /^ROW_NOT_FOUND/)
  })

  test('each call of the client has exactly one entry', async () => {
    const before = folder.entries().length
    await callSdk(reader, 'search_notes', { limit: 1 })
    await reader.listTools()
    await callSdk(clerk, 'schema_overview', {})
    const entries = folder.entries().slice(before)
    assert.deepEqual(
      entries.map(({ identity, tool, decision }) => [identity, tool, decision]),
      [
        ['reader', 'search_notes', 'allowed'],
        ['clerk', 'schema_overview', 'allowed'],
      ],
    )
  })
})
