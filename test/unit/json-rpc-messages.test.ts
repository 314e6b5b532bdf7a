import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { BATCH_MESSAGES_MAX, JSON_DEPTH_MAX, REQUEST_ID_CHARS_MAX } from '../../src/core/limits.js'
import {
  encodeEvent,
  encodeResult,
  encodeRpcError,
  joinBatch,
  type ParsedMessage,
  parseBody,
} from '../../src/mcp/json-rpc.js'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (encoded: Uint8Array) => new TextDecoder().decode(encoded)

function parseOne(value: unknown): ParsedMessage {
  const parsed = parseBody(bytes(typeof value === 'string' ? value : JSON.stringify(value)))
  assert.ok(parsed.ok)
  assert.equal(parsed.value.batch, false)
  const [message] = parsed.value.messages
  assert.ok(message !== undefined)
  return message
}

function bodyCode(body: string | Uint8Array): string | undefined {
  const parsed = parseBody(typeof body === 'string' ? bytes(body) : body)
  return parsed.ok ? undefined : parsed.error.code
}

function refusal(value: unknown): readonly [code: string, id: string | number | null, field: string | undefined] {
  const message = parseOne(value)
  assert.equal(message.kind, 'invalid')
  assert.ok(message.kind === 'invalid')
  return [message.error.code, message.id, message.error.field]
}

const request = (more: object = {}) => ({ jsonrpc: '2.0', id: 1, method: 'ping', ...more })

describe('a body', () => {
  test('what is not UTF-8, not JSON, or has more after the JSON is not parsed', () => {
    assert.equal(bodyCode(Buffer.from('{"a":"\xff"}', 'latin1')), 'PROTOCOL_PARSE')
    assert.equal(bodyCode(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 'PROTOCOL_PARSE')
    for (const body of ['', ' ', '{', '{"a":1,}', "{'a':1}", 'nul', '{} {}', '\ufeff{}', '{"a":NaN}', '[1,2']) {
      assert.equal(bodyCode(body), 'PROTOCOL_PARSE', body)
    }
  })

  test('the refusal of a body that is no JSON quotes nothing of it', () => {
    const parsed = parseBody(bytes('{"password":"hunter2",}'))
    assert.ok(!parsed.ok)
    assert.doesNotMatch(JSON.stringify(parsed.error), /hunter2|password/)
  })

  test(`JSON of ${JSON_DEPTH_MAX} levels is read, one level more is refused before it is parsed`, () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const deep = (levels: number) => `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${nested(levels - 2)}}}`
    assert.equal(parseOne(deep(JSON_DEPTH_MAX)).kind, 'request')
    assert.equal(bodyCode(deep(JSON_DEPTH_MAX + 1)), 'PROTOCOL_REQUEST')
    assert.equal(bodyCode('['.repeat(500_000)), 'PROTOCOL_REQUEST')
    assert.equal(bodyCode('{"a":'.repeat(500_000)), 'PROTOCOL_REQUEST')
  })

  test('brackets inside strings do not count as levels, however they are escaped', () => {
    for (const value of ['['.repeat(100), `\\"${'['.repeat(100)}`, `\\\\\\"${'{'.repeat(100)}`]) {
      assert.equal(parseOne(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"${value}"}}`).kind, 'request')
    }
    assert.equal(bodyCode(`{"a":"\\\\",${'['.repeat(100)}`), 'PROTOCOL_REQUEST')
  })
})

describe('one message', () => {
  test('with a method and an id it is a request, without an id a notification', () => {
    assert.deepEqual(parseOne(request({ params: { a: 1 } })), {
      kind: 'request',
      id: 1,
      method: 'ping',
      params: { a: 1 },
    })
    assert.deepEqual(parseOne(request({ id: 'x' })), { kind: 'request', id: 'x', method: 'ping', params: undefined })
    assert.deepEqual(parseOne({ jsonrpc: '2.0', method: 'notifications/initialized' }), {
      kind: 'notification',
      method: 'notifications/initialized',
      params: undefined,
    })
  })

  test('a result or an error without a method is a response, to be ignored', () => {
    assert.deepEqual(parseOne({ jsonrpc: '2.0', id: 7, result: {} }), { kind: 'response' })
    assert.deepEqual(parseOne({ jsonrpc: '2.0', id: null, error: { code: 1, message: '' } }), { kind: 'response' })
  })

  test('ids are strings and exact integers; every other id is refused and not answered to', () => {
    for (const id of [0, -1, 2 ** 53 - 1, '', '1', 'x'.repeat(REQUEST_ID_CHARS_MAX)]) {
      const message = parseOne(request({ id }))
      assert.ok(message.kind === 'request')
      assert.equal(message.id, id)
    }
    for (const id of [null, 1.5, {}, [1], true, 2 ** 53, 'x'.repeat(REQUEST_ID_CHARS_MAX + 1)]) {
      assert.deepEqual(refusal(request({ id })), ['PROTOCOL_REQUEST', null, 'id'])
    }
    assert.deepEqual(refusal('{"jsonrpc":"2.0","id":1e400,"method":"m"}'), ['PROTOCOL_REQUEST', null, 'id'])
  })

  test('jsonrpc must be "2.0", and the refusal is answered to the id', () => {
    for (const jsonrpc of [undefined, '1.0', 2, null, '2.0 ']) {
      assert.deepEqual(refusal(request({ jsonrpc })), ['PROTOCOL_REQUEST', 1, 'jsonrpc'])
    }
  })

  test('a method must be a string', () => {
    for (const method of [undefined, 1, null, {}]) {
      assert.deepEqual(refusal(request({ method })), ['PROTOCOL_REQUEST', 1, 'method'])
    }
    assert.deepEqual(refusal({ jsonrpc: '2.0' }), ['PROTOCOL_REQUEST', null, 'method'])
  })

  test('params must be an object when present', () => {
    for (const params of [[1], [], 'a', 1, true, null]) {
      assert.deepEqual(refusal(request({ params })), ['PROTOCOL_PARAMS', 1, 'params'])
    }
  })

  test('anything but an object is refused', () => {
    for (const value of ['1', '"a"', 'null', 'true']) {
      assert.deepEqual(refusal(value), ['PROTOCOL_REQUEST', null, 'message'])
    }
  })

  test('a "__proto__" key is data: it gives a message no member and an object no prototype', () => {
    assert.deepEqual(refusal('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}')[0], 'PROTOCOL_REQUEST')
    const message = parseOne('{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"name":"x"}}}')
    assert.ok(message.kind === 'request')
    assert.equal(message.params?.['name'], undefined)
    assert.equal(Reflect.get({}, 'name'), undefined)
  })
})

describe('a batch', () => {
  test('each message is judged alone, in order', () => {
    const parsed = parseBody(bytes(JSON.stringify([request(), 5, { jsonrpc: '2.0', method: 'n' }, [request()]])))
    assert.ok(parsed.ok)
    assert.equal(parsed.value.batch, true)
    assert.deepEqual(
      parsed.value.messages.map((message) => message.kind),
      ['request', 'invalid', 'notification', 'invalid'],
    )
  })

  test(`an empty one and one of more than ${BATCH_MESSAGES_MAX} are refused as a whole`, () => {
    const of = (count: number) => JSON.stringify(Array.from({ length: count }, () => request()))
    assert.equal(bodyCode('[]'), 'PROTOCOL_REQUEST')
    assert.equal(bodyCode(of(BATCH_MESSAGES_MAX)), undefined)
    assert.equal(bodyCode(of(BATCH_MESSAGES_MAX + 1)), 'PROTOCOL_REQUEST')
  })
})

describe('properties', () => {
  test('no bytes make parseBody throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => void parseBody(body)),
      { numRuns: 2_000 },
    )
    const fragments = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', 'id', 'jsonrpc', '2.0', '1', '\u0000', 'é'),
    )
    fc.assert(
      fc.property(fragments, (parts) => void parseBody(bytes(parts.join('')))),
      { numRuns: 2_000 },
    )
  })

  test('any JSON value gives messages, and a valid request comes back as it was', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 6 }), (json) => void parseBody(bytes(json))))
    const params = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }))
    const ids = fc.oneof(fc.string({ maxLength: REQUEST_ID_CHARS_MAX }), fc.maxSafeInteger())
    fc.assert(
      fc.property(ids, fc.string({ unit: 'binary' }), params, (id, method, given) => {
        const wire = JSON.stringify({ jsonrpc: '2.0', id, method, params: given })
        const message = parseOne(wire)
        assert.ok(message.kind === 'request')
        assert.equal(JSON.stringify(message.id), JSON.stringify(id))
        assert.equal(JSON.stringify(message.params), JSON.stringify(given))
        assert.equal(JSON.stringify(message.method), JSON.stringify(method))
      }),
    )
  })
})

describe('responses', () => {
  test('a result is its members in braces, with the id as it came', () => {
    const ids = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger())
    fc.assert(
      fc.property(ids, fc.dictionary(fc.string(), fc.jsonValue()), (id, result) => {
        const members = JSON.stringify(result).slice(1, -1)
        const expected = { jsonrpc: '2.0', id, result }
        assert.equal(text(encodeResult(id, bytes(members))), JSON.stringify(expected))
        assert.equal(text(encodeResult(id, members)), JSON.stringify(expected))
      }),
    )
    assert.equal(text(encodeResult(2, new Uint8Array(0))), '{"jsonrpc":"2.0","id":2,"result":{}}')
  })

  test('an error has code, message, and data only when there is any', () => {
    assert.equal(
      text(encodeRpcError('é', -32600, 'no "x"')),
      '{"jsonrpc":"2.0","id":"é","error":{"code":-32600,"message":"no \\"x\\""}}',
    )
    assert.deepEqual(JSON.parse(text(encodeRpcError(null, -1, 'm', { a: 1 }))), {
      jsonrpc: '2.0',
      id: null,
      error: { code: -1, message: 'm', data: { a: 1 } },
    })
  })

  test('the answers to a batch are one array', () => {
    assert.equal(text(joinBatch([bytes('{"a":1}'), bytes('{"b":2}')])), '[{"a":1},{"b":2}]')
    assert.equal(text(joinBatch([bytes('{}')])), '[{}]')
    assert.equal(text(joinBatch([])), '[]')
  })

  test('an event holds the whole response, line breaks between its values included', () => {
    assert.equal(text(encodeEvent(bytes('{"a":1}'))), 'event: message\ndata: {"a":1}\n\n')
    const event = text(encodeEvent(bytes('{"a":\r\n[1,\n\n"é",\r2]}')))
    assert.match(event, /^event: message\n(data: [^\r\n]*\n)+\n$/)
    const lines = event.split('\n').filter((line) => line.startsWith('data: '))
    assert.deepEqual(JSON.parse(lines.map((line) => line.slice(6)).join('\n')), { a: [1, 'é', 2] })
  })
})
