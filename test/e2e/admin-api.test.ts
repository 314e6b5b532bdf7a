import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { openAdminStore } from '../../src/admin/open-admin-store.js'
import { pathMembers } from '../../src/admin/openapi.js'
import { OPERATIONS } from '../../src/admin/operations.js'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import {
  callTool,
  type GatewayFolder,
  must,
  prepareGateway,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually, type TestDatabase } from '../support/postgres.js'

const STORE = { clock: Date.now, randomBytes, busyTimeoutMs: 5_000 }

interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

/** What each operation is called with by somebody who may not: the path alone decides. */
function samplePath(path: string): string {
  return path.replace(/\{[a-z_]+\}/g, 'nothing')
}

describe('administration over HTTP', () => {
  let database: TestDatabase
  let folder: GatewayFolder
  let running: RunningGateway
  const key = (identity: string) => folder.keys[identity]

  async function api(who: string | undefined, method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const response = await fetch(`${running.gateway.adminUrl}/admin/api${path}`, {
      method,
      headers: {
        ...(who === undefined ? {} : { authorization: `Bearer ${key(who) ?? who}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const parsed: unknown = text === '' ? {} : JSON.parse(text)
    assert.ok(typeof parsed === 'object' && parsed !== null)
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: Object.fromEntries(Object.entries(parsed)),
    }
  }

  /** Entries of administration that were written while `act` ran. */
  async function entriesOf(expected: number, act: () => Promise<unknown>): Promise<readonly AuditEntry[]> {
    const admin = () => folder.entries().filter((entry) => entry.operation === 'admin')
    const before = admin().length
    await act()
    await eventually('the entries are there', () => admin().length >= before + expected)
    return admin().slice(before)
  }

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
    const bound = await api('root', 'POST', '/bindings', { identity: 'local', role: 'admin', connector: 'notes' })
    assert.equal(bound.status, 200, bound.text)
  })

  after(async () => {
    await running?.stop()
    await folder?.remove()
  })

  test('whoever has no key, a wrong one or no reserved role gets nothing from any operation', async () => {
    for (const { method, path } of OPERATIONS) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const without = await api(undefined, method, samplePath(path), body)
      assert.deepEqual([without.status, without.json['code']], [401, 'AUTH_MISSING'], `${method} ${path}`)
      assert.equal(without.headers.get('www-authenticate'), 'Bearer')
      const plain = await api('reader', method, samplePath(path), body)
      assert.deepEqual([plain.status, plain.json['code']], [403, 'AUTH_FORBIDDEN'], `${method} ${path}`)
    }
    const wrong = await api(`rk_aaaaaaaaaaaa_${'a'.repeat(43)}`, 'GET', '/roles')
    assert.deepEqual([wrong.status, wrong.json['code']], [401, 'AUTH_INVALID'])
  })

  test('the OpenAPI document describes each operation that is served, and needs a key as well', async () => {
    const answer = await api('eyes', 'GET', '/openapi.json')
    assert.equal(answer.status, 200)
    const { paths } = answer.json
    assert.ok(typeof paths === 'object' && paths !== null)
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    )
    assert.deepEqual(described.sort(), OPERATIONS.map(({ method, path }) => `${method} /admin/api${path}`).sort())
    assert.equal((await api(undefined, 'GET', '/openapi.json')).status, 401)
    assert.equal((await api('reader', 'GET', '/openapi.json')).status, 403)
    for (const { path, input } of OPERATIONS) {
      for (const member of pathMembers(path)) assert.ok(Object.hasOwn(input.shape, member), `${path}: ${member}`)
    }
  })

  test('an identity, its key and its role work at once, and their end at the next request', async () => {
    const endpoint = running.endpoint('notes')
    assert.equal((await api('root', 'POST', '/identities', { identity: 'ada', roles: ['reader'] })).status, 200)
    const made = await api('root', 'POST', '/keys', { identity: 'ada', expires: '1d' })
    assert.equal(made.status, 200, made.text)
    const ada = String(made.json['key'])
    const call = () => callTool(endpoint, ada, 'search_notes', { limit: 1 })
    assert.equal((await call()).isError, false)
    const refused = async () =>
      (await fetch(endpoint, { method: 'POST', headers: { authorization: `Bearer ${ada}` } })).status
    assert.equal((await api('root', 'POST', '/identities/ada/disable')).status, 200)
    assert.equal(await refused(), 401)
    assert.equal((await api('root', 'POST', '/identities/ada/enable')).status, 200)
    assert.equal((await call()).isError, false)
    assert.equal((await api('root', 'POST', `/keys/${String(made.json['key_id'])}/revoke`)).status, 200)
    assert.equal(await refused(), 401)
    const shown = await api('eyes', 'GET', '/identities/ada')
    assert.equal(shown.status, 200)
    assert.doesNotMatch(shown.text, /hash|secret/)
    assert.ok(!shown.text.includes(ada.slice(16)))
    assert.equal((await api('root', 'DELETE', '/identities/ada')).status, 200)
    assert.deepEqual((await api('root', 'GET', '/identities/ada')).status, 404)
  })

  test('a role bound to one connector reaches that one and nothing of another', async () => {
    const listed = await api('local', 'GET', '/connectors')
    assert.deepEqual(
      (listed.json['connectors'] as readonly { id: string }[]).map(({ id }) => id),
      ['notes'],
    )
    assert.equal((await api('local', 'GET', '/connectors/notes')).status, 200)
    const hidden = await api('local', 'GET', '/connectors/other')
    const missing = await api('local', 'GET', '/connectors/nothing')
    assert.deepEqual([hidden.status, hidden.json['code']], [missing.status, missing.json['code']])
    assert.equal(hidden.text.replaceAll('other', '*'), missing.text.replaceAll('nothing', '*'))
    assert.equal((await api('local', 'GET', '/policies/notes')).status, 200)
    assert.equal((await api('local', 'GET', '/policies/other')).status, 404)
    assert.equal((await api('local', 'PUT', '/policies/other', { document: NOTES_POLICY })).status, 403)
    assert.equal((await api('local', 'PUT', '/policies/notes', { document: NOTES_POLICY })).status, 200)
    for (const [method, path] of [
      ['GET', '/identities'],
      ['GET', '/keys'],
      ['POST', '/keys'],
      ['POST', '/bindings'],
      ['POST', '/reload'],
      ['PUT', '/connectors/notes'],
    ] as const) {
      assert.equal((await api('local', method, path, method === 'GET' ? undefined : {})).status, 403, path)
    }
  })

  test('a policy that a connector of another instance was confirmed for is not one connector’s to change', async () => {
    const store = must(await openAdminStore({ type: 'sqlite', path: folder.storeFile }, STORE))
    const newest = (await store.findPolicy('notes'))?.version ?? 0
    await store.recordKnownObjects('notes', newest, 'elsewhere', '[]')
    await store.close()
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? { document: NOTES_POLICY } : undefined
      assert.equal((await api('local', method, '/policies/notes', body)).status, 403, method)
    }
    assert.equal((await api('root', 'PUT', '/policies/notes', { document: NOTES_POLICY })).status, 200)
  })

  test('an operator reloads and changes nothing; an auditor only reads', async () => {
    assert.equal((await api('ops', 'POST', '/reload')).status, 200)
    assert.equal((await api('eyes', 'POST', '/reload')).status, 403)
    for (const who of ['ops', 'eyes']) {
      assert.equal((await api(who, 'POST', '/roles', { role: 'more' })).status, 403)
      assert.equal((await api(who, 'PUT', '/policies/notes', { document: NOTES_POLICY })).status, 403)
      assert.equal((await api(who, 'GET', '/policies/notes')).status, 200)
    }
    assert.equal((await api('eyes', 'GET', '/keys')).status, 200)
    assert.equal((await api('ops', 'GET', '/keys')).status, 403)
  })

  test('a policy is applied, enforced, refused with its lines, and rolled back', async () => {
    const endpoint = running.endpoint('other')
    const titles = () => callTool(endpoint, key('reader'), 'search_notes', { columns: ['title'], limit: 1 })
    assert.equal((await titles()).isError, false)
    const document = NOTES_POLICY.replace('mask: [', 'mask: [title, ')
    assert.notEqual(document, NOTES_POLICY)
    const applied = await api('root', 'PUT', '/policies/other', { document })
    assert.equal(applied.status, 200, applied.text)
    assert.equal(applied.json['version'], 2)
    await eventually('the mask is enforced', async () => (await titles()).text.includes('ARGUMENT_COLUMN'))
    const wrong = document.replace('public.notes:', 'public.nots:')
    const refused = await api('root', 'PUT', '/policies/other', { document: wrong })
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.text, /line \d+/)
    assert.match(refused.text, /public\.notes/)
    const validated = await api('root', 'POST', '/policies/other/validate', { document })
    assert.equal(validated.status, 200, validated.text)
    const back = await api('root', 'POST', '/policies/other/rollback', {})
    assert.deepEqual([back.status, back.json['version'], back.json['restored']], [200, 3, 1], back.text)
    await eventually('the title is back', async () => !(await titles()).isError)
    const history = await api('root', 'GET', '/policies/other/history')
    assert.deepEqual(
      (history.json['versions'] as readonly { version: number }[]).map(({ version }) => version),
      [3, 2, 1],
    )
  })

  test('a connector is added to the store, served within moments, shown without secrets, and removed', async () => {
    const { host, port, user, password, database: name } = database.reader().connection
    const document = {
      type: 'postgres',
      url: `postgres://${user}:${password ?? ''}@${host}:${port}/${name}?sslmode=disable`,
      policy: 'notes',
    }
    const put = await api('root', 'PUT', '/connectors/third', { document, create: true })
    assert.equal(put.status, 200, put.text)
    await eventually('it is served', async () => {
      const response = await fetch(running.endpoint('third'), {
        method: 'POST',
        headers: { authorization: `Bearer ${key('reader')}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_notes' } }),
      })
      return response.status === 200 && !(await response.text()).includes('CONNECTOR_UNAVAILABLE')
    })
    const shown = await api('root', 'GET', '/connectors/third')
    assert.equal(shown.status, 200)
    assert.ok(password !== undefined && password !== '' && !shown.text.includes(password), shown.text)
    assert.equal((await api('root', 'PUT', '/connectors/third', { document, create: true })).status, 409)
    const typo = await api('root', 'PUT', '/connectors/fourth', { document: { ...document, polcy: 'notes' } })
    assert.equal(typo.status, 400)
    assert.match(typo.text, /polcy/)
    assert.match(typo.text, /Did you mean \\?"policy/)
    assert.equal((await api('root', 'PUT', '/connectors/notes', { document })).status, 409)
    assert.equal((await api('root', 'DELETE', '/connectors/third')).status, 200)
    await eventually(
      'it is gone',
      async () => (await fetch(running.endpoint('third'), { method: 'POST' })).status === 404,
    )
  })

  test('a request that does not fit is refused by name, and nothing is done', async () => {
    const cases: readonly (readonly [string, string, unknown, number, RegExp])[] = [
      ['POST', '/roles', { rol: 'x' }, 400, /rol/],
      ['POST', '/roles', {}, 400, /role: expected/],
      ['POST', '/roles', { role: 'not a name!' }, 400, /expected a name such as analyst/],
      ['POST', '/roles', { role: 'reader' }, 409, /exists/],
      ['POST', '/roles', '[]', 400, /JSON object/],
      ['POST', '/roles', '{', 400, /JSON object/],
      ['DELETE', '/roles/reader', undefined, 400, /bound|unbind/],
      ['DELETE', '/roles/reader?unbind=maybe', undefined, 400, /unbind/],
      ['POST', '/keys', { identity: 'nobdy' }, 404, /nobdy/],
      ['POST', '/keys', { identity: 'root', expires: 'soon' }, 400, /90d/],
      ['POST', '/bindings', { identity: 'root', role: 'reader', connector: 'nots' }, 404, /Did you mean \\"notes/],
      ['GET', '/policies/notes?version=99', undefined, 404, /version 99/],
      ['GET', '/policies/notes?version=x', undefined, 400, /version/],
      ['PATCH', '/roles', {}, 405, /GET, HEAD, POST/],
      ['GET', '/nothing', undefined, 404, /PROTOCOL_PATH/],
      ['GET', '/identities/%zz', undefined, 400, /Field: path\. Expected: percent-encoded UTF-8/],
    ]
    for (const [method, path, body, status, text] of cases) {
      const answer = await api('root', method, path, body)
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
      assert.match(answer.text, text, `${method} ${path}`)
    }
    const noJson = await fetch(`${running.gateway.adminUrl}/admin/api/roles`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key('root')}`, 'content-type': 'text/plain' },
      body: '{"role":"x"}',
    })
    assert.equal(noJson.status, 415)
    const elsewhere = await fetch(`${running.gateway.adminUrl}/admin/api/roles`, {
      headers: { authorization: `Bearer ${key('root')}`, host: 'evil.example' },
    })
    // The client may refuse to send it; if it does, the gateway refuses to serve it.
    assert.ok(elsewhere.status === 403 || elsewhere.status === 200)
  })

  test('every request has one entry: reads, refusals and changes, whoever made them', async () => {
    // Changes come into the trail in their order, some time after they were made.
    await api('root', 'POST', '/roles', { role: 'marker' })
    await eventually('what came before has its entries', () =>
      folder.entries().some(({ target }) => target === 'marker'),
    )
    const made = await entriesOf(1, () => api('root', 'POST', '/roles', { role: 'once' }))
    assert.equal(made.length, 1)
    const [change] = made
    assert.deepEqual(
      [change?.tool, change?.target, change?.identity, change?.code, change?.effect],
      ['role.create', 'once', 'root', 'OK', 'committed'],
    )
    assert.ok(change?.key_id !== undefined && change.address !== undefined)
    const read = await entriesOf(1, () => api('eyes', 'GET', '/roles'))
    assert.deepEqual(
      read.map(({ tool, identity, code, effect }) => [tool, identity, code, effect]),
      [['role.list', 'eyes', 'OK', 'none']],
    )
    const refused = await entriesOf(1, () => api('ops', 'POST', '/roles', { role: 'never' }))
    assert.deepEqual(
      refused.map(({ tool, target, identity, decision, code }) => [tool, target, identity, decision, code]),
      [['role.create', 'never', 'ops', 'blocked', 'AUTH_FORBIDDEN']],
    )
    const verb = await entriesOf(1, () => api('eyes', 'PATCH', '/roles', {}))
    assert.deepEqual(
      verb.map(({ identity, decision, code }) => [identity, decision, code]),
      [['eyes', 'blocked', 'PROTOCOL_VERB']],
    )
    const secret = 'tenant-4711-secret'
    const claims = await entriesOf(1, () =>
      api('root', 'PUT', '/identities/reader/claims', { claims: { tenant: secret } }),
    )
    assert.ok(!JSON.stringify(claims).includes(secret), 'a claim’s value is in no entry')
  })

  test('probes need no key and tell no more than whether it works; a key with a reserved role sees the states', async () => {
    const ready = await fetch(`${running.gateway.adminUrl}/readyz`)
    assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }])
    const detail = await fetch(`${running.gateway.adminUrl}/readyz`, {
      headers: { authorization: `Bearer ${key('ops')}` },
    })
    const shown = JSON.stringify(await detail.json())
    assert.match(shown, /"notes"/)
    const plain = await fetch(`${running.gateway.adminUrl}/readyz`, {
      headers: { authorization: `Bearer ${key('reader')}` },
    })
    assert.deepEqual(await plain.json(), { status: 'ready' })
  })
})
