import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallPath } from '../../src/call.js'
import type { AuditRecord } from '../../src/core/audit-entry.js'
import { type GatewayError, gatewayError } from '../../src/core/errors.js'
import type { Identity } from '../../src/core/identity.js'
import { BODY_BYTES_MAX, UNIDENTIFIED_BODY_BYTES_MAX } from '../../src/core/limits.js'
import { fail, ok, type Result } from '../../src/core/result.js'
import { createFrontDoor } from '../../src/http/front-door.js'
import type { Exchange } from '../../src/http/http-server.js'
import { McpEndpoint } from '../../src/mcp/endpoint.js'
import { disabledConnector } from '../../src/threads/connector.js'
import { must } from '../support/gateway.js'

const ANA: Identity = { id: 'id_ana', name: 'ana', keyId: 'k', roles: [], claims: new Map() }
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const INVALID = fail(gatewayError('AUTH_INVALID', { reason: 'unknown key' }))

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** An exchange whose client does what a test says. */
function exchangeOf(headers: readonly (readonly [string, string])[] = []) {
  const replies: { readonly status: number; readonly body: string }[] = []
  let abortListener = () => {}
  let onBody: ((body: Uint8Array) => void) | undefined
  let onTooLarge = () => {}
  let open = true
  let aborted = false
  const exchange: Exchange = {
    head: {
      method: 'POST',
      path: '/mcp/shop',
      query: '',
      headers: new Map([
        ['host', '127.0.0.1:8080'],
        ['content-type', 'application/json'],
        ['authorization', 'Bearer x'],
        ['content-length', String(PING.length)],
        ...headers,
      ]),
      remoteAddress: '127.0.0.1',
    },
    readBody: (_max, body, tooLarge) => {
      onBody = body
      onTooLarge = tooLarge
    },
    reply: (status, _headers, body) => {
      if (!open) return
      open = false
      replies.push({ status, body: typeof body === 'string' ? body : Buffer.from(body).toString('utf8') })
    },
    onAborted: (listener) => {
      abortListener = listener
    },
    get aborted() {
      return aborted
    },
    close: () => {},
  }
  return {
    exchange,
    replies,
    reading: () => onBody !== undefined,
    send: (text = PING) => {
      if (open) onBody?.(Buffer.from(text))
    },
    overflow: () => {
      if (open) onTooLarge()
    },
    abort: () => {
      if (!open) return
      open = false
      aborted = true
      abortListener()
    },
  }
}

/** An endpoint whose callers are known when the test says so, in the order they came. */
function waitingEndpoint() {
  const records: AuditRecord[] = []
  const identify: ((outcome: Result<Identity, GatewayError>) => void)[] = []
  const path = new CallPath({
    audit: {
      available: true,
      degraded: false,
      status: { strangersFull: false },
      keepsIntents: true,
      intend: (_record, onDurable) => onDurable(true),
      append: (record, onDurable) => {
        records.push(record)
        onDurable(true)
      },
    },
    idempotency: { begin: () => ({ kind: 'refused', code: 'IDEMPOTENCY_UNAVAILABLE' }) },
    nowMs: () => 0,
    wallMs: () => 0,
    newId: () => 'id',
    meter: () => {},
  })
  const frontDoor = must(
    createFrontDoor({
      listen: { host: '127.0.0.1', port: 8080 },
      tls: false,
      allowedHosts: [],
      allowedOrigins: [],
      trustedProxies: [],
    }),
  )
  const endpoint = new McpEndpoint({
    path,
    frontDoor,
    authenticate: () => new Promise((resolve) => identify.push(resolve)),
    nowMs: () => 0,
    serverVersion: '0',
    bodyBytesMax: BODY_BYTES_MAX,
    inFlightMax: 1_000,
  })
  return {
    endpoint,
    records,
    serve: (client: ReturnType<typeof exchangeOf>) => endpoint.serve(client.exchange, disabledConnector('shop')),
    identify: async (outcome: Result<Identity, GatewayError>) => {
      identify.shift()?.(outcome)
      await settled()
    },
  }
}

test('the body is read at once, and answered when the caller is known, whichever comes first', async () => {
  for (const first of ['body', 'caller']) {
    const { endpoint, serve, identify } = waitingEndpoint()
    const client = exchangeOf()
    serve(client)
    assert.ok(client.reading())
    if (first === 'body') client.send()
    else await identify(ok(ANA))
    assert.deepEqual([client.replies, endpoint.visits], [[], 1])
    if (first === 'body') await identify(ok(ANA))
    else client.send()
    const statuses = client.replies.map(({ status }) => status)
    assert.deepEqual([statuses, endpoint.visits], [[200], 0])
  }
})

test('whoever turns out to be unknown is refused once, with an entry, and nothing of the body is looked at', async () => {
  const { endpoint, records, serve, identify } = waitingEndpoint()
  const client = exchangeOf()
  serve(client)
  client.send('not JSON')
  await identify(INVALID)
  assert.deepEqual(
    client.replies.map(({ status }) => status),
    [401],
  )
  assert.deepEqual(
    records.map(({ code }) => code),
    ['AUTH_INVALID'],
  )
  assert.equal(endpoint.visits, 0)
  client.send()
  client.abort()
  assert.equal(client.replies.length, 1)
})

test('headers and a body that do not fit are refused in the name of the caller, once it is known', async () => {
  const plain = waitingEndpoint()
  const unfit = exchangeOf([['content-type', 'text/plain']])
  plain.serve(unfit)
  await plain.identify(ok(ANA))
  assert.deepEqual([unfit.replies[0]?.status, plain.records[0]?.identity], [415, 'ana'])
  const large = waitingEndpoint()
  const client = exchangeOf()
  large.serve(client)
  client.overflow()
  assert.equal(client.replies.length, 0)
  await large.identify(ok(ANA))
  assert.deepEqual([client.replies[0]?.status, large.records[0]?.code], [413, 'PROTOCOL_BODY_TOO_LARGE'])
  assert.equal(large.endpoint.visits, 0)
})

test('a client that leaves while it is looked up is waited for: a stranger has its entry, a caller causes nothing', async () => {
  for (const [outcome, codes] of [
    [INVALID, ['AUTH_INVALID']],
    [ok(ANA), []],
  ] as const) {
    const { endpoint, records, serve, identify } = waitingEndpoint()
    const client = exchangeOf()
    serve(client)
    client.send()
    client.abort()
    endpoint.drain()
    assert.equal(endpoint.visits, 1)
    let idle = false
    const drained = endpoint.whenIdle(60_000).then(() => {
      idle = true
    })
    await settled()
    assert.equal(idle, false)
    await identify(outcome)
    await drained
    assert.deepEqual([endpoint.visits, client.replies], [0, []])
    assert.deepEqual(
      records.map(({ code }) => code),
      codes,
    )
  }
})

test('a client that leaves after it was known, and before its body came, ends its visit once', async () => {
  const { endpoint, records, serve, identify } = waitingEndpoint()
  const client = exchangeOf()
  serve(client)
  await identify(ok(ANA))
  client.abort()
  assert.deepEqual([endpoint.visits, records, client.replies], [0, [], []])
})

test('strangers cannot have more kept than a bound over all of them, and what is settled counts no more', async () => {
  const { endpoint, serve, identify } = waitingEndpoint()
  // Without a length a body may be as large as one can be.
  const count = UNIDENTIFIED_BODY_BYTES_MAX / BODY_BYTES_MAX
  const unknownLength = () => {
    const client = exchangeOf()
    const headers = new Map([...client.exchange.head.headers].filter(([name]) => name !== 'content-length'))
    return {
      ...client,
      exchange: Object.assign(Object.create(client.exchange), { head: { ...client.exchange.head, headers } }),
    }
  }
  const clients = Array.from({ length: count }, unknownLength)
  for (const client of clients) serve(client)
  const beyond = exchangeOf()
  serve(beyond)
  assert.deepEqual(
    beyond.replies.map(({ status }) => status),
    [503],
  )
  assert.equal(endpoint.visits, count)
  await identify(INVALID)
  const later = exchangeOf()
  serve(later)
  assert.deepEqual(later.replies, [])
})
