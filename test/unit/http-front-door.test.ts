import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { GatewayError } from '../../src/core/errors.js'
import {
  checkContentType,
  createFrontDoor,
  type FrontDoor,
  type FrontDoorSettings,
  wantsEventStream,
} from '../../src/http/front-door.js'
import type { RequestHead } from '../../src/http/http-server.js'

const SETTINGS: FrontDoorSettings = {
  listen: { host: '127.0.0.1', port: 8080 },
  tls: false,
  allowedHosts: [],
  allowedOrigins: [],
  trustedProxies: [],
}

function door(settings: Partial<FrontDoorSettings> = {}): FrontDoor {
  const made = createFrontDoor({ ...SETTINGS, ...settings })
  assert.ok(made.ok, made.ok ? '' : made.error)
  return made.value
}

function head(headers: Readonly<Record<string, string>>, more: Partial<RequestHead> = {}): RequestHead {
  const map = new Map(Object.entries(headers))
  return { method: 'POST', path: '/mcp/shop', query: '', headers: map, remoteAddress: '198.51.100.7', ...more }
}

const code = (error: GatewayError | undefined) => error?.code
const hostCode = (settings: Partial<FrontDoorSettings>, host: string) => code(door(settings).check(head({ host })))

describe('Host', () => {
  test('a loopback listener answers to the three loopback names with its port', () => {
    for (const host of ['127.0.0.1:8080', 'localhost:8080', 'LocalHost:8080', '[::1]:8080']) {
      assert.equal(hostCode({}, host), undefined, host)
    }
  })

  test('any other Host is refused: names of other sites, other ports, no port, malformed ones', () => {
    const wrong = [
      'evil.example',
      'evil.example:8080',
      'localhost:9090',
      'localhost',
      '127.0.0.2:8080',
      '192.168.0.1:8080',
    ]
    const malformed = [
      '',
      'localhost:',
      'localhost:8080, evil',
      'localhost:8080@evil',
      'evil/localhost:8080',
      'localhost :8080',
    ]
    for (const host of [...wrong, ...malformed]) assert.equal(hostCode({}, host), 'PROTOCOL_HOST', host)
  })

  test('a missing Host is refused', () => {
    assert.equal(code(door().check(head({}))), 'PROTOCOL_HOST')
  })

  test("the scheme's own port may be left out", () => {
    assert.equal(hostCode({ listen: { host: 'localhost', port: 80 } }, 'localhost'), undefined)
    assert.equal(hostCode({ listen: { host: 'localhost', port: 443 }, tls: true }, 'localhost'), undefined)
    assert.equal(hostCode({ listen: { host: 'localhost', port: 443 } }, 'localhost'), 'PROTOCOL_HOST')
  })

  test('a listener beyond loopback answers to its own address only', () => {
    const listen = { host: '10.0.0.5', port: 8080 }
    assert.equal(hostCode({ listen }, '10.0.0.5:8080'), undefined)
    assert.equal(hostCode({ listen }, 'localhost:8080'), 'PROTOCOL_HOST')
    assert.equal(hostCode({ listen: { host: '2001:DB8::0:1', port: 80 } }, '[2001:db8::1]:80'), undefined)
  })

  test('a listener on every address answers to loopback names and to what is configured', () => {
    const listen = { host: '0.0.0.0', port: 8080 }
    assert.equal(hostCode({ listen }, 'localhost:8080'), undefined)
    assert.equal(hostCode({ listen }, '10.0.0.5:8080'), 'PROTOCOL_HOST')
    assert.equal(hostCode({ listen, allowedHosts: ['10.0.0.5'] }, '10.0.0.5:8080'), undefined)
  })

  test("the public URL's host is allowed, with its default port written out or not", () => {
    const publicUrl = 'https://Gateway.example.com'
    assert.equal(hostCode({ publicUrl }, 'gateway.example.com'), undefined)
    assert.equal(hostCode({ publicUrl }, 'gateway.example.com:443'), undefined)
    assert.equal(hostCode({ publicUrl }, 'gateway.example.com:8443'), 'PROTOCOL_HOST')
    assert.equal(hostCode({ publicUrl: 'https://g.example:8443/x' }, 'g.example:8443'), undefined)
    assert.equal(hostCode({ publicUrl: 'https://g.example:8443/x' }, 'g.example'), 'PROTOCOL_HOST')
  })

  test('an allowed host with a port means that port, without one any port', () => {
    assert.equal(hostCode({ allowedHosts: ['a.example:1'] }, 'a.example:1'), undefined)
    assert.equal(hostCode({ allowedHosts: ['a.example:1'] }, 'a.example'), 'PROTOCOL_HOST')
    assert.equal(hostCode({ allowedHosts: ['A.example'] }, 'a.example:77'), undefined)
    assert.equal(hostCode({ allowedHosts: ['A.example'] }, 'a.example'), undefined)
    assert.equal(hostCode({ allowedHosts: ['example'] }, 'a.example'), 'PROTOCOL_HOST')
  })

  test('the reason for the operator holds no control characters and is capped', () => {
    const error = door().check(head({ host: `evil\u001b[31m${'x'.repeat(500)}` }))
    assert.doesNotMatch(error?.reason ?? '', /\u001b/)
    assert.ok((error?.reason ?? '').length < 100)
  })
})

describe('Origin', () => {
  const host = 'localhost:8080'
  const settings = { allowedOrigins: ['https://app.example/'], publicUrl: 'https://gateway.example/mcp' }

  test('no Origin is fine', () => {
    assert.equal(door().check(head({ host })), undefined)
  })

  test('an allowed origin and that of the public URL are fine, every other one is refused', () => {
    for (const origin of ['https://app.example', 'https://gateway.example']) {
      assert.equal(door(settings).check(head({ host, origin })), undefined, origin)
    }
    const wrong = [
      'http://app.example',
      'https://app.example:8443',
      'https://app.example.evil',
      'null',
      '',
      'https://app.example, https://evil',
    ]
    for (const origin of wrong)
      assert.equal(code(door(settings).check(head({ host, origin }))), 'PROTOCOL_ORIGIN', origin)
    assert.equal(code(door().check(head({ host, origin: 'https://app.example' }))), 'PROTOCOL_ORIGIN')
  })

  test('CORS headers go to an allowed origin only, by its name and never as a wildcard', () => {
    const headers = new Map(door(settings).corsHeaders(head({ host, origin: 'https://app.example' })))
    assert.equal(headers.get('access-control-allow-origin'), 'https://app.example')
    assert.equal(headers.get('access-control-expose-headers'), 'WWW-Authenticate')
    assert.equal(headers.get('vary'), 'Origin')
    assert.equal(headers.has('access-control-allow-credentials'), false)
    assert.deepEqual(door(settings).corsHeaders(head({ host, origin: 'https://evil.example' })), [])
    assert.deepEqual(door(settings).corsHeaders(head({ host })), [])
  })

  test('a preflight learns the methods and the headers that a client sends', () => {
    const preflight = head({ host, origin: 'https://app.example' }, { method: 'OPTIONS' })
    const headers = new Map(door(settings).corsHeaders(preflight))
    assert.equal(headers.get('access-control-allow-methods'), 'POST, OPTIONS')
    const allowed = headers.get('access-control-allow-headers')?.split(', ')
    assert.deepEqual(allowed, ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'])
  })
})

describe('the client address', () => {
  const forwarded = (trustedProxies: readonly string[], peer: string, value?: string) =>
    door({ trustedProxies }).clientAddress(
      head(value === undefined ? {} : { 'x-forwarded-for': value }, { remoteAddress: peer }),
    )

  test('X-Forwarded-For of a peer that is no trusted proxy is ignored', () => {
    assert.equal(forwarded([], '203.0.113.1', '1.2.3.4'), '203.0.113.1')
    assert.equal(forwarded(['10.0.0.0/8'], '203.0.113.1', '1.2.3.4'), '203.0.113.1')
  })

  test('behind a trusted proxy it is the right-most address that is not trusted', () => {
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1', '6.6.6.6, 1.2.3.4, 10.0.0.9'), '1.2.3.4')
    assert.equal(forwarded(['10.1.1.1'], '10.1.1.1', '6.6.6.6,1.2.3.4'), '1.2.3.4')
    assert.equal(forwarded(['::1', 'fd00::/8'], '::1', '2001:DB8:0::1, fd00::5'), '2001:db8::1')
  })

  test('with only trusted addresses it is the first of them, without the header the proxy', () => {
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1', '10.0.0.2, 10.0.0.3'), '10.0.0.2')
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1'), '10.1.1.1')
  })

  test('an entry that is no address ends the search at what is known', () => {
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1', '1.2.3.4, unknown'), '10.1.1.1')
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1', '1.2.3.4, , 10.0.0.9'), '10.0.0.9')
  })

  test('ports, brackets and IPv4-mapped addresses are read as the address they name', () => {
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1', '1.2.3.4:5678'), '1.2.3.4')
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1', '[2001:db8::1]:5678'), '2001:db8::1')
    assert.equal(forwarded(['10.0.0.0/8'], '10.1.1.1', '9.9.9.9, ::ffff:10.0.0.1'), '9.9.9.9')
  })

  test('a proxy that is neither an address nor a range is named', () => {
    for (const entry of [
      'proxy.local',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '::/129',
      '10.0.0/8',
      '',
      '10.0.0.0/x',
    ]) {
      const made = createFrontDoor({ ...SETTINGS, trustedProxies: [entry] })
      assert.ok(!made.ok, entry)
      assert.ok(made.error.includes(`"${entry}"`))
    }
  })
})

describe('content type', () => {
  const typeCode = (headers: Record<string, string>) => code(checkContentType(head(headers)))

  test('application/json is taken with any parameters in UTF-8', () => {
    const fine = [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json ; v=1',
      'application/json; charset=utf8',
    ]
    for (const type of fine) assert.equal(typeCode({ 'content-type': type }), undefined, type)
  })

  test('every other type, no type, another charset and a compressed body are refused', () => {
    const wrong = [
      'text/plain',
      'application/jsonp',
      'application/json-rpc',
      'text/json',
      'multipart/form-data',
      '',
      'application/json; charset=latin1',
      'application/json, text/plain',
    ]
    for (const type of wrong) assert.equal(typeCode({ 'content-type': type }), 'PROTOCOL_CONTENT_TYPE', type)
    assert.equal(typeCode({}), 'PROTOCOL_CONTENT_TYPE')
    assert.equal(typeCode({ 'content-type': 'application/json', 'content-encoding': 'gzip' }), 'PROTOCOL_CONTENT_TYPE')
    assert.equal(typeCode({ 'content-type': 'application/json', 'content-encoding': 'identity' }), undefined)
  })
})

describe('Accept', () => {
  const wants = (accept?: string) => wantsEventStream(head(accept === undefined ? {} : { accept }))

  test('JSON answers everyone but a client that lists only text/event-stream', () => {
    const json = [
      undefined,
      '',
      '*/*',
      'application/json',
      'application/json, text/event-stream',
      'text/event-stream, */*',
      'text/html',
      'text/event-stream;q=0',
      'text/html, text/event-stream',
    ]
    for (const accept of json) assert.equal(wants(accept), false, accept)
    const stream = [
      'text/event-stream',
      'Text/Event-Stream;q=0.5',
      ' text/event-stream , ',
      'text/event-stream, application/json;q=0',
    ]
    for (const accept of stream) assert.equal(wants(accept), true, accept)
  })
})
