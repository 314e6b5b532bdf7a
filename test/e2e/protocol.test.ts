import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import {
  type GatewayFolder,
  post,
  prepareGateway,
  type RpcAnswer,
  type RunningGateway,
  startGateway,
} from '../support/gateway.js'
import { NOTES_POLICY, NOTES_SETUP } from '../support/notes.js'
import { EMBEDDED, eventually } from '../support/postgres.js'
import { RawConnection } from '../support/raw-http.js'

const ORIGIN = 'https://app.example.com'
const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } }
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

function call(id: unknown, name = 'search_notes', args: unknown = { limit: 1, columns: ['id'] }) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
}

/** The parts of a JSON-RPC response that are looked at. */
interface Rpc {
  readonly id?: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

function rpc(body: unknown): Rpc {
  assert.ok(typeof body === 'object' && body !== null)
  return body
}

describe('the protocol over HTTP', () => {
  let folder: GatewayFolder
  let running: RunningGateway
  let endpoint: string
  let key: string

  before(async () => {
    const database = await (await EMBEDDED.start()).createDatabase(NOTES_SETUP)
    folder = await prepareGateway({
      connectors: [{ id: 'notes', settings: database.reader(), policy: NOTES_POLICY }],
      identities: { reader: { roles: ['reader'] } },
      server: `allowed_origins: ["${ORIGIN}"], limits: { body_bytes_max: 65536 }`,
    })
    running = await startGateway(folder)
    endpoint = running.endpoint('notes')
    key = folder.keys['reader'] ?? ''
  })

  after(async () => {
    await running?.stop()
    await folder?.remove()
  })

  /** What was written while `run` ran. A reply comes after its entry, so nothing has to be waited for. */
  async function entriesOf(run: () => Promise<unknown>): Promise<readonly AuditEntry[]> {
    const before = folder.entries().length
    await run()
    return folder.entries().slice(before)
  }

  /** A POST that is refused, and its one entry. */
  async function refusal(
    expected: { status: number; code: string; rpcCode?: number },
    run: () => Promise<RpcAnswer>,
  ): Promise<Headers> {
    const before = folder.entries().length
    const answer = await run()
    const entries = folder.entries().slice(before)
    assert.equal(answer.status, expected.status, answer.text)
    if (expected.rpcCode !== undefined) assert.equal(rpc(answer.body).error?.code, expected.rpcCode)
    assert.ok(answer.text.includes(expected.code), answer.text)
    assert.deepEqual(
      entries.map(({ code, decision, operation, connector }) => ({ code, decision, operation, connector })),
      [{ code: expected.code, decision: 'blocked', operation: 'request', connector: 'notes' }],
    )
    return answer.headers
  }

  test('clients that leave at any moment of a request are counted out once, and a refusal keeps its entry', async () => {
    const parseErrors = () => folder.entries().filter(({ code }) => code === 'PROTOCOL_PARSE').length
    const { port } = new URL(endpoint)
    const head = (length: number) =>
      `POST /mcp/notes HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    for (const bytes of ['', head(10), `${head(10)}{"a`, `${head(3)}{"a`, `${head(3)}{"a`, `${head(3)}{"a`]) {
      const raw = new RawConnection(Number(port))
      await raw.sent(bytes)
      raw.destroy()
    }
    await eventually('the three whole bodies have their entries', () => parseErrors() === 3)
  })

  test('verbs other than POST are a 405 that names the verbs, and leave no entry', async () => {
    const entries = await entriesOf(async () => {
      for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD']) {
        const response = await fetch(endpoint, { method, headers: { authorization: `Bearer ${key}` } })
        assert.equal(response.status, 405, method)
        assert.equal(response.headers.get('allow'), 'POST, OPTIONS')
        await response.arrayBuffer()
      }
    })
    assert.deepEqual(entries, [])
  })

  test('a body over the cap is a 413, another content type a 415', async () => {
    const large = { ...PING, params: { x: 'x'.repeat(70_000) } }
    await refusal({ status: 413, code: 'PROTOCOL_BODY_TOO_LARGE' }, () => post(endpoint, key, large))
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
      await refusal({ status: 415, code: 'PROTOCOL_CONTENT_TYPE' }, () =>
        post(endpoint, key, PING, { 'content-type': type }),
      )
    }
    const utf8 = await post(endpoint, key, PING, { 'content-type': 'application/json; charset=utf-8' })
    assert.equal(utf8.status, 200)
  })

  test('what is no JSON, no request, or of a version that is not served is a 400 with its code', async () => {
    const parse = { status: 400, code: 'PROTOCOL_PARSE', rpcCode: -32700 }
    const shape = { status: 400, code: 'PROTOCOL_REQUEST', rpcCode: -32600 }
    const version = { status: 400, code: 'PROTOCOL_VERSION', rpcCode: -32600 }
    for (const text of ['{', '', '{"jsonrpc":"2.0"', 'null x']) await refusal(parse, () => post(endpoint, key, text))
    const misshapen = [
      '[]',
      '5',
      'null',
      { id: 1, method: 'ping' },
      { jsonrpc: '1.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 1.5, method: 'ping' },
      { jsonrpc: '2.0', id: null, method: 'ping' },
      { jsonrpc: '2.0', id: {}, method: 'ping' },
      `${'['.repeat(40)}${']'.repeat(40)}`,
    ]
    for (const body of misshapen) await refusal(shape, () => post(endpoint, key, body))
    await refusal(version, () => post(endpoint, key, PING, { 'mcp-protocol-version': '2020-01-01' }))
    const claimed = { ...PING, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } }
    await refusal(version, () => post(endpoint, key, claimed))
  })

  test('parameters that fit no call and methods that are not served are errors with their entry', async () => {
    await refusal({ status: 200, code: 'PROTOCOL_METHOD', rpcCode: -32601 }, () =>
      post(endpoint, key, { jsonrpc: '2.0', id: 1, method: 'resources/list' }),
    )
    const params = { status: 200, code: 'PROTOCOL_PARAMS', rpcCode: -32602 }
    for (const body of [
      { jsonrpc: '2.0', id: 1, method: 'tools/call' },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 5 } },
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: [] },
    ]) {
      await refusal(params, () => post(endpoint, key, body))
    }
  })

  test('an unknown tool is −32602 on a 200, with the entry of a call', async () => {
    const entries = await entriesOf(async () => {
      const answer = await post(endpoint, key, call(7, 'search_nothing'))
      assert.equal(answer.status, 200)
      assert.equal(rpc(answer.body).error?.code, -32602)
      assert.equal(rpc(answer.body).id, 7)
    })
    assert.deepEqual(
      entries.map(({ code, tool, request_id, identity }) => [code, tool, request_id, identity]),
      [['TOOL_UNKNOWN', 'search_nothing', '7', 'reader']],
    )
  })

  test('a message without an id is a 202 without a body', async () => {
    for (const method of ['notifications/initialized', 'notifications/cancelled', 'ping', 'tools/call']) {
      const answer = await post(endpoint, key, { jsonrpc: '2.0', method, params: {} })
      assert.deepEqual([answer.status, answer.text], [202, ''], method)
    }
    const response = await post(endpoint, key, { jsonrpc: '2.0', id: 1, result: {} })
    assert.deepEqual([response.status, response.text], [202, ''])
  })

  test('ids come back exactly as they were sent', async () => {
    for (const id of [0, -1, 2, Number.MAX_SAFE_INTEGER, '', '0', 'a-b', '"\\\u2028é😀', 'x'.repeat(256)]) {
      assert.strictEqual(rpc((await post(endpoint, key, call(id))).body).id, id)
      assert.strictEqual(rpc((await post(endpoint, key, { ...PING, id })).body).id, id)
    }
    const named = await post(endpoint, key, { jsonrpc: '2.0', id: 'mine', method: 'nothing' })
    assert.equal(rpc(named.body).id, 'mine')
    const invalid = await post(endpoint, key, { jsonrpc: '2.0', id: 'mine', method: 5 })
    assert.deepEqual([invalid.status, rpc(invalid.body).id], [400, 'mine'])
    await refusal({ status: 400, code: 'PROTOCOL_REQUEST', rpcCode: -32600 }, () =>
      post(endpoint, key, call('x'.repeat(257))),
    )
  })

  test('initialize echoes a served version and answers any other with the newest, without a session', async () => {
    for (const [asked, answered] of [
      ['2024-11-05', '2024-11-05'],
      ['2025-03-26', '2025-03-26'],
      ['2025-06-18', '2025-06-18'],
      ['2025-11-25', '2025-11-25'],
      ['1999-01-01', '2025-11-25'],
    ]) {
      const answer = await post(endpoint, key, { ...INITIALIZE, params: { protocolVersion: asked } })
      assert.equal(rpc(answer.body).result?.['protocolVersion'], answered)
      assert.equal(answer.headers.get('mcp-session-id'), null)
    }
    const answer = await post(endpoint, key, PING, { 'mcp-session-id': 'anything' })
    assert.equal(answer.status, 200)
  })

  test('batches are served on 2025-03-26, where every call has its own entry, and refused on later versions', async () => {
    const batch = [call(1), { jsonrpc: '2.0', method: 'notifications/initialized' }, call('b'), PING, { jsonrpc: '2' }]
    const entries = await entriesOf(async () => {
      const answer = await post(endpoint, key, batch, { 'mcp-protocol-version': '2025-03-26' })
      assert.equal(answer.status, 200)
      assert.ok(Array.isArray(answer.body))
      const ids = answer.body.map((response: unknown) => rpc(response).id)
      assert.deepEqual(new Set(ids), new Set([1, 'b', null]))
      assert.equal(ids.length, 4)
    })
    assert.deepEqual(entries.map(({ code }) => code).sort(), ['OK', 'OK', 'PROTOCOL_REQUEST'])
    assert.equal((await post(endpoint, key, [PING])).status, 200, 'no header means 2025-03-26')
    const notes = await post(endpoint, key, [{ jsonrpc: '2.0', method: 'notifications/initialized' }])
    assert.deepEqual([notes.status, notes.text], [202, ''])
    const shape = { status: 400, code: 'PROTOCOL_REQUEST', rpcCode: -32600 }
    for (const version of ['2024-11-05', '2025-06-18', '2025-11-25']) {
      await refusal(shape, () => post(endpoint, key, [PING], { 'mcp-protocol-version': version }))
    }
    await refusal(shape, () =>
      post(
        endpoint,
        key,
        Array.from({ length: 21 }, () => PING),
      ),
    )
  })

  test('a trailing slash is served like none, without a redirect; other paths are a 404 in JSON', async () => {
    assert.equal((await post(`${endpoint}/`, key, PING)).status, 200)
    for (const path of ['/mcp', '/mcp/other', '/mcp/notes//', '/', '/.well-known/oauth-protected-resource']) {
      const response = await fetch(`${running.gateway.url}${path}`, { redirect: 'manual', headers: { origin: ORIGIN } })
      assert.equal(response.status, 404, path)
      assert.equal(response.headers.get('content-type'), 'application/json')
      assert.equal(response.headers.get('access-control-allow-origin'), ORIGIN)
      await response.json()
    }
  })

  test('no key and a wrong key are a 401 that says Bearer, and are told apart by no more than that', async () => {
    const missing = await refusal({ status: 401, code: 'AUTH_MISSING' }, () => post(endpoint, undefined, PING))
    assert.equal(missing.get('www-authenticate'), 'Bearer')
    const wrong = `${key.slice(0, -4)}AAAA`
    for (const bad of [wrong, 'rk_aaaaaaaaaaaa_bbbb', 'nonsense']) {
      const headers = await refusal({ status: 401, code: 'AUTH_INVALID' }, () => post(endpoint, bad, PING))
      assert.match(headers.get('www-authenticate') ?? '', /^Bearer\b/)
      assert.doesNotMatch(headers.get('www-authenticate') ?? '', /resource_metadata/)
    }
    const inQuery = await post(`${endpoint}?access_token=${key}`, undefined, PING)
    assert.equal(inQuery.status, 401)
  })

  test('another Host or Origin is a 403 before any key is looked at', async () => {
    const { port } = new URL(endpoint)
    const raw = new RawConnection(Number(port))
    const body = JSON.stringify(PING)
    const entries = await entriesOf(async () => {
      raw.write(
        `POST /mcp/notes HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      const response = await raw.response()
      assert.equal(response.status, 403)
      assert.match(response.body, /PROTOCOL_HOST/)
    })
    raw.destroy()
    assert.deepEqual(
      entries.map(({ code, identity }) => [code, identity]),
      [['PROTOCOL_HOST', undefined]],
    )
    const headers = await refusal({ status: 403, code: 'PROTOCOL_ORIGIN' }, () =>
      post(endpoint, key, PING, { origin: 'https://evil.example' }),
    )
    assert.equal(headers.get('access-control-allow-origin'), null)
  })

  test('a page of an allowed origin may ask first, and can read every answer, refusals too', async () => {
    const preflight = await fetch(endpoint, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
    })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers.get('access-control-allow-origin'), ORIGIN)
    const allowed = preflight.headers.get('access-control-allow-headers') ?? ''
    for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']) {
      assert.ok(allowed.includes(name), name)
    }
    const plain = await fetch(endpoint, { method: 'OPTIONS' })
    assert.deepEqual([plain.status, plain.headers.get('access-control-allow-origin')], [204, null])
    const answers = [
      await post(endpoint, key, PING, { origin: ORIGIN }),
      await post(endpoint, undefined, PING, { origin: ORIGIN }),
      await post(endpoint, key, '{', { origin: ORIGIN }),
      await post(endpoint, key, PING, { origin: ORIGIN, 'content-type': 'text/plain' }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 401, 400, 415],
    )
    for (const { headers } of answers) {
      assert.equal(headers.get('access-control-allow-origin'), ORIGIN)
      assert.match(headers.get('access-control-expose-headers') ?? '', /www-authenticate/i)
    }
  })

  test('any Accept is answered in JSON, except one that takes events alone: it gets one event', async () => {
    for (const accept of ['', '*/*', 'application/json', 'application/json, text/event-stream', 'text/html']) {
      const answer = await post(endpoint, key, call(3), { accept })
      assert.equal(answer.headers.get('content-type'), 'application/json', accept)
    }
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify(call(3)),
    })
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    const event = /^event: message\ndata: (.*)\n\n$/.exec(await response.text())
    assert.equal(rpc(JSON.parse(event?.[1] ?? 'null')).id, 3)
  })

  test('a store of keys that cannot be read is a 503 that says when to come back, never a way in', async () => {
    renameSync(folder.storeFile, `${folder.storeFile}.away`)
    const [entry, ...more] = await entriesOf(async () => {
      const answer = await post(endpoint, key, call(1))
      assert.equal(answer.status, 503)
      assert.match(answer.text, /AUTH_UNAVAILABLE/)
      assert.ok(answer.headers.get('retry-after') !== null)
    })
    assert.deepEqual([entry?.code, entry?.decision, more], ['AUTH_UNAVAILABLE', 'errored', []])
    renameSync(`${folder.storeFile}.away`, folder.storeFile)
    assert.equal((await post(endpoint, key, PING)).status, 200)
  })

  test('after ten refusals of one address and code within a minute the rest become one entry with a count', async () => {
    const refused = () => folder.entries().filter(({ code }) => code === 'AUTH_MISSING')
    const before = refused().length
    for (let i = 0; i < 25; i++) assert.equal((await post(endpoint, undefined, PING)).status, 401)
    assert.equal(refused().length, 10)
    // The minute's end, or the gateway's.
    await running.stop()
    const draining = running.observations.find(({ kind }) => kind === 'gateway.draining')
    assert.deepEqual(draining, { kind: 'gateway.draining', inFlight: 0 })
    assert.deepEqual(
      refused().map(({ count }) => count),
      [...Array.from({ length: 10 }, () => undefined), before + 25 - 10],
    )
  })
})
