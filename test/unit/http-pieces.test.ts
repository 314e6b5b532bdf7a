import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { BODY_DISCARD_BYTES_MAX } from '../../src/core/limits.js'
import { addressText, canonicalAddress } from '../../src/http/address.js'
import { BodyReader } from '../../src/http/body-reader.js'
import { HeaderGatherer } from '../../src/http/request-head.js'

describe('addresses', () => {
  test('IPv4-mapped IPv6 is IPv4, and IPv6 has one spelling', () => {
    assert.equal(addressText(new Uint8Array([127, 0, 0, 1])), '127.0.0.1')
    const mapped = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3])
    assert.equal(addressText(mapped), '10.1.2.3')
    assert.equal(addressText(new Uint8Array([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])), '2001:db8::1')
    assert.equal(addressText(new Uint8Array(16).fill(1, 15)), '::1')
    assert.equal(canonicalAddress('2001:DB8:0:0:0:0:0:1'), '2001:db8::1')
    assert.equal(canonicalAddress('::ffff:10.1.2.3'), '10.1.2.3')
  })

  test('what is no address has no text', () => {
    assert.equal(addressText(new Uint8Array(0)), '')
    for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', 'fe80::1%eth0', '01.2.3.4']) {
      assert.equal(canonicalAddress(text), undefined, text)
    }
  })
})

describe('a body in pieces', () => {
  const read = (pieces: readonly Uint8Array[], bytesMax: number) => {
    const outcomes: (Uint8Array | 'too large')[] = []
    const reader = new BodyReader(
      bytesMax,
      (body) => outcomes.push(body),
      () => outcomes.push('too large'),
    )
    for (const [i, piece] of pieces.entries()) {
      reader.take(piece, i === pieces.length - 1)
      // Native memory is reused as soon as the call returns.
      piece.fill(0)
    }
    return outcomes
  }

  test('any cut of a body gives the same bytes, once, and one byte over the cap gives none', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 3_000 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(pieces, (parts) => {
        const whole = Buffer.concat(parts)
        const copies = () => parts.map((part) => new Uint8Array(part))
        const [body, ...more] = read(copies(), whole.length)
        assert.ok(body instanceof Uint8Array)
        assert.deepEqual(Buffer.from(body), whole)
        assert.deepEqual(more, [])
        if (whole.length > 0) assert.deepEqual(read(copies(), whole.length - 1), ['too large'])
      }),
    )
  })

  test('past the cap, bytes are thrown away up to a limit and then refused once, without waiting for the end', () => {
    const outcomes: string[] = []
    const reader = new BodyReader(
      10,
      () => outcomes.push('body'),
      () => outcomes.push('too large'),
    )
    const piece = new Uint8Array(1_048_576)
    for (let sent = 0; sent <= BODY_DISCARD_BYTES_MAX; sent += piece.length) {
      assert.deepEqual(outcomes, [])
      reader.take(piece, false)
    }
    reader.take(piece, false)
    reader.take(piece, true)
    assert.deepEqual(outcomes, ['too large'])
  })
})

describe('the headers of one request', () => {
  const gather = (...headers: readonly (readonly [string, string])[]) => {
    const gatherer = new HeaderGatherer()
    for (const [name, value] of headers) gatherer.add(name, value)
    return gatherer
  }

  test('repeated headers are joined, and those that may not repeat make the request unreadable', () => {
    assert.equal(gather(['accept', 'a'], ['accept', 'b']).headers.get('accept'), 'a, b')
    for (const name of ['content-length', 'host', 'authorization', 'transfer-encoding']) {
      assert.equal(gather([name, '1'], [name, '1']).framing(), undefined, name)
    }
  })

  test('"Connection: close" is found in any case and in a list', () => {
    assert.equal(gather(['connection', 'Close']).lastOfConnection, true)
    assert.equal(gather(['connection', 'x, close']).lastOfConnection, true)
    assert.equal(gather(['connection', 'keep-alive']).lastOfConnection, false)
    assert.equal(gather(['connection', 'closed']).lastOfConnection, false)
    assert.equal(gather().lastOfConnection, false)
  })

  test('headers named like members of Object.prototype are ordinary', () => {
    const { headers } = gather(['__proto__', 'a'], ['constructor', 'b'])
    assert.equal(headers.get('__proto__'), 'a')
    assert.equal(headers.get('tostring'), undefined)
  })
})
