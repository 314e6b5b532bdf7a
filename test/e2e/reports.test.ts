import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import { callTool, type GatewayFolder, prepareGateway, type RunningGateway, startGateway } from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'

interface ReportAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

async function reportOf(
  gateway: RunningGateway,
  key: string | undefined,
  path: string,
  init: RequestInit = {},
): Promise<ReportAnswer> {
  const response = await fetch(`${gateway.gateway.adminUrl}/reports${path}`, {
    ...init,
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...init.headers },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json' && text !== ''
  const json: unknown = isJson ? JSON.parse(text) : {}
  assert.ok(typeof json === 'object' && json !== null)
  return { status: response.status, headers: response.headers, text, json: Object.fromEntries(Object.entries(json)) }
}

const NAMES = ['summary', 'calls', 'denials', 'identities', 'tools']

describe('reports over HTTP', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let running: RunningGateway
  const report = (who: string | undefined, path: string, init: RequestInit = {}) =>
    reportOf(running, who === undefined ? undefined : folder.keys[who], path, init)

  before(async () => {
    database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [
        { id: 'notes', settings: database.reader(), policy: NOTES_POLICY },
        { id: 'other', settings: database.reader(), policy: NOTES_POLICY },
      ],
      identities: {
        root: { roles: ['admin'] },
        ops: { roles: ['operator'] },
        eyes: { roles: ['auditor'] },
        reader: { roles: ['reader'] },
        local: { roles: ['reader'] },
      },
    })
    running = await startGateway(folder)
    const bound = await fetch(`${running.gateway.adminUrl}/admin/api/bindings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${folder.keys['root']}`, 'content-type': 'application/json' },
      body: JSON.stringify({ identity: 'local', role: 'auditor', connector: 'notes' }),
    })
    assert.equal(bound.status, 200)
    for (const connector of ['notes', 'other']) {
      const endpoint = running.endpoint(connector)
      assert.equal((await callTool(endpoint, folder.keys['reader'], 'search_notes', { limit: 1 })).isError, false)
      await callTool(endpoint, folder.keys['reader'], 'search_notes', { filters: [{ column: 'nothing', op: 'eq' }] })
      await callTool(endpoint, folder.keys['reader'], 'no_such_tool', {})
    }
  })

  after(async () => {
    await running?.stop()
    await folder?.remove()
  })

  test('need a key with a reserved role, and tell whoever has none nothing of the question', async () => {
    for (const name of NAMES) {
      const without = await report(undefined, `/${name}`)
      assert.deepEqual([without.status, without.json['code']], [401, 'AUTH_MISSING'])
      assert.equal(without.headers.get('www-authenticate'), 'Bearer')
      const plain = await report('reader', `/${name}?nonsense=1`)
      assert.deepEqual([plain.status, plain.json['code']], [403, 'AUTH_FORBIDDEN'])
      assert.doesNotMatch(plain.text, /nonsense/)
    }
  })

  test('show a call as soon as it was answered, as the buffer has it', async () => {
    await callTool(running.endpoint('notes'), folder.keys['reader'], 'search_notes', { limit: 2 })
    const { status, json } = await report('eyes', '/calls?operation=search&limit=1')
    assert.equal(status, 200)
    const [shown] = json['entries'] as readonly AuditEntry[]
    assert.deepEqual(
      shown,
      folder.entries().find(({ seq }) => seq === shown?.seq),
    )
    assert.equal(shown?.plan?.page?.limit, 2)
    assert.equal(typeof json['next'], 'string')
    assert.equal(json['from_seq'], 1)
  })

  test('agree with the trail, and with each other', async () => {
    const expected = folder.trail().filter(({ connector }) => connector === 'other')
    const { json } = await report('root', '/summary?connector=other')
    const { entries, blocked } = json['totals'] as Readonly<Record<string, unknown>>
    assert.equal(blocked, expected.filter(({ decision }) => decision === 'blocked').length)
    assert.equal(entries, expected.length)
    const denials = (await report('root', '/denials?connector=other')).json['denials'] as readonly object[]
    assert.equal(denials.length, 2)
    const tools = (await report('root', '/tools?connector=other')).json['tools'] as readonly object[]
    assert.deepEqual(
      tools.map((row) => Reflect.get(row, 'tool')),
      ['search_notes', undefined],
    )
    const { json: people } = await report('root', '/identities?connector=other')
    assert.deepEqual(
      (people['identities'] as readonly object[]).map((row) => Reflect.get(row, 'identity')),
      ['reader'],
    )
  })

  test('of one connector are all that a role of one connector reaches', async () => {
    for (const name of NAMES) {
      const { status, json, text } = await report('local', `/${name}`)
      assert.equal(status, 200)
      assert.deepEqual(json['connectors'], ['notes'])
      assert.doesNotMatch(text, /"other"|root/)
      const foreign = await report('local', `/${name}?connector=other`)
      assert.deepEqual([foreign.status, foreign.json['code']], [403, 'AUTH_FORBIDDEN'])
      assert.equal((await report('local', `/${name}?connector=notes`)).status, 200)
    }
    const { text } = await report('ops', '/calls?limit=1000')
    assert.match(text, /"connector":"other"/)
    // Administration is of no connector, and an operator does not read it.
    assert.doesNotMatch(text, /"operation":"admin"/)
    assert.match((await report('eyes', '/calls?limit=1000')).text, /"operation":"admin"/)
  })

  test('are entries themselves: who looked at which report of which connector, refused or not', async () => {
    const looks = () => folder.entries().filter(({ tool }) => tool?.startsWith('reports.'))
    const before = looks().length
    await report('eyes', '/tools?connector=notes')
    await report('local', '/denials?connector=other')
    await report('eyes', '/calls?limit=none')
    await eventually('the entries are there', () => looks().length >= before + 3)
    const shown = looks()
      .slice(before)
      .map(({ identity, operation, tool, target, decision, code }) => [
        identity,
        operation,
        tool,
        target,
        decision,
        code,
      ])
    assert.deepEqual(shown, [
      ['eyes', 'admin', 'reports.tools', 'notes', 'allowed', 'OK'],
      ['local', 'admin', 'reports.denials', 'other', 'blocked', 'AUTH_FORBIDDEN'],
      ['eyes', 'admin', 'reports.calls', undefined, 'blocked', 'ADMIN_INVALID'],
    ])
  })

  test('say what was wrong with a question, and where reports are', async () => {
    const typo = await report('eyes', '/calls?operaton=get')
    assert.equal(typo.status, 400)
    assert.match(String(typo.json['error']), /^operaton: expected one of .*\. Did you mean "operation"\?$/)
    const unknown = await report('eyes', '/call')
    assert.equal(unknown.status, 404)
    assert.match(String(unknown.json['error']), /\/reports\/summary, \/reports\/calls/)
    const posted = await report('eyes', '/calls', { method: 'POST', body: '{}' })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
    const head = await report('eyes', '/calls/', { method: 'HEAD' })
    assert.deepEqual([head.status, head.text], [200, ''])
  })

  test('come as CSV with what they cover in headers, page by page', async () => {
    const pages: string[] = []
    let next: string | null = null
    do {
      const query: string = next === null ? '' : `&cursor=${next}`
      const page = await report('eyes', `/calls?connector=other&limit=2${query}`, { headers: { accept: 'text/csv' } })
      assert.equal(page.status, 200)
      assert.match(page.headers.get('content-type') ?? '', /^text\/csv; charset=utf-8/)
      assert.equal(page.headers.get('x-runku-from-seq'), '1')
      assert.match(page.headers.get('x-runku-instance') ?? '', /^[0-9a-f]{16}$/)
      pages.push(...page.text.split('\r\n').slice(1, -1))
      next = page.headers.get('x-runku-next')
    } while (next !== null)
    const expected = folder.trail().filter(({ connector }) => connector === 'other')
    assert.deepEqual(
      pages.map((line) => Number(line.split(',')[0])),
      expected.map(({ seq }) => seq).reverse(),
    )
  })
})

describe('reports without a buffer', () => {
  test('are refused with what to configure', async () => {
    const folder = await prepareGateway({
      connectors: [],
      identities: { eyes: { roles: ['auditor'] } },
      audit: '{ stdout: false, file: { path: audit.jsonl } }',
    })
    const running = await startGateway(folder)
    try {
      const { status, json } = await reportOf(running, folder.keys['eyes'], '/summary')
      assert.deepEqual([status, json['code']], [404, 'ADMIN_NOT_FOUND'])
      assert.match(String(json['error']), /audit\.buffer/)
    } finally {
      await running.stop()
      await folder.remove()
    }
  })
})
