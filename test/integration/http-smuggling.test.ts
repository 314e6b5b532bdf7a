import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { HEADER_CHARS_MAX } from '../../src/core/limits.js'
import { get, HttpHarness, implementations, paths, SIDE_BY_SIDE, SMUGGLED } from '../support/http-harness.js'

for (const { name, make } of implementations) {
  describe(`malformed and slow requests on the ${name} server`, SIDE_BY_SIDE, () => {
    const harness = new HttpHarness(make)
    after(() => harness.close())

    /** Sends bytes that must end the connection, and checks that nothing in them became a request. */
    async function assertRefused(bytes: string | Uint8Array, reached: readonly string[] = []): Promise<void> {
      const { open, seen } = await harness.start()
      const text = await open().write(bytes).closed()
      assert.deepEqual(paths(seen), reached)
      assert.deepEqual(seen.bodies, [])
      assert.doesNotMatch(text, /^HTTP\/1\.1 200/m)
    }

    describe('request smuggling', () => {
      const chunked = 'Transfer-Encoding: chunked\r\n'
      const refused: readonly (readonly [rule: string, bytes: string | Uint8Array])[] = [
        [
          'two differing Content-Length',
          `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
        ],
        [
          'two differing Content-Length, the long one first',
          `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: ${SMUGGLED.length}\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`,
        ],
        [
          'two equal Content-Length',
          `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab${SMUGGLED}`,
        ],
        ['a Content-Length list', `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n\r\nab${SMUGGLED}`],
        [
          'Content-Length and Transfer-Encoding',
          `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n${chunked}\r\n0\r\n\r\n${SMUGGLED}`,
        ],
        [
          'Transfer-Encoding and Content-Length',
          `POST /a HTTP/1.1\r\nHost: x\r\n${chunked}Content-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`,
        ],
        ['two Transfer-Encoding', `POST /a HTTP/1.1\r\nHost: x\r\n${chunked}${chunked}\r\n0\r\n\r\n${SMUGGLED}`],
        [
          'an unknown Transfer-Encoding',
          `POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
        ],
        [
          'a list of Transfer-Encoding',
          `POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
        ],
        ['Transfer-Encoding identity', `POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n${SMUGGLED}`],
        ['two Host', `GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n${SMUGGLED}`],
        [
          'two Authorization',
          `GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n${SMUGGLED}`,
        ],
        ['an absolute URL', `GET http://other/a HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`],
        ['HTTP/1.0', `GET /a HTTP/1.0\r\nHost: x\r\n\r\n${SMUGGLED}`],
        ['a lower-case method', `get /a HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`],
        ['bare line feeds', 'GET /a HTTP/1.1\nHost: x\n\n'],
        ['bytes that are no HTTP', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x0d, 0x0a, 0x0d, 0x0a])],
        ...['', 'abc', '-5', '+5', '0x5', '5abc', '1e1', '5 5', '99999999999999999999', '18446744073709551616'].map(
          (length) =>
            [
              `Content-Length "${length}"`,
              `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\nhello${SMUGGLED}`,
            ] as const,
        ),
      ]
      for (const [rule, bytes] of refused) {
        test(`${rule}: the connection is closed and nothing in it is served`, () => assertRefused(bytes))
      }

      test('a repeat that arrives in a later packet is seen too', async () => {
        const { open, seen } = await harness.start()
        const connection = open().write('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Le')
        connection.write('ngth: 40\r\n\r\nhello').write(SMUGGLED)
        await connection.closed()
        assert.deepEqual(paths(seen), [])
      })

      for (const [rule, chunks] of [
        ['a chunk size that is no number', 'zz\r\nabc\r\n0\r\n\r\n'],
        ['a chunk that is longer than its size', '3\r\nabcXX0\r\n\r\n'],
        ['chunks with bare line feeds', '3\nabc\n0\n\n'],
        ['a chunk size that overflows', 'fffffffffffffffff\r\nabc\r\n0\r\n\r\n'],
      ] as const) {
        test(`${rule}: what follows is never a second request`, async () => {
          const { open, seen } = await harness.start()
          await open().write(`POST /a HTTP/1.1\r\nHost: x\r\n${chunked}\r\n${chunks}${SMUGGLED}`).closed()
          assert.deepEqual(
            paths(seen).filter((path) => path !== '/a'),
            [],
          )
        })
      }

      test('a length behind a header without a name is never read as no length', async () => {
        const { open, seen } = await harness.start()
        await open().write(`POST /a HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: 5\r\n\r\nhello${SMUGGLED}`).closed()
        assert.deepEqual(
          paths(seen).filter((path) => path !== '/a'),
          [],
        )
      })

      test('nothing after "Connection: close" is served', async () => {
        const { open, seen } = await harness.start()
        await open()
          .write(get('/a', 'Connection: close\r\n') + SMUGGLED)
          .closed()
        assert.deepEqual(paths(seen), ['/a'])
      })

      if (name === 'uws') {
        test('a request whose chunks the library delimits is the last of its connection', async () => {
          const { open, seen } = await harness.start()
          const request = `POST /c HTTP/1.1\r\nHost: x\r\n${chunked}\r\n3\r\nabc\r\n0\r\n\r\n`
          await open()
            .write(request + SMUGGLED)
            .closed()
          assert.deepEqual(paths(seen), ['/c'])
          assert.match(await open().write(request).closed(), /Connection: close[\s\S]*\/c:abc$/)
        })
      }
    })

    test('a request without Host is not served', async () => {
      const { open, seen } = await harness.start()
      await open().write('GET /a HTTP/1.1\r\n\r\n').closed()
      assert.deepEqual(paths(seen), [])
    })

    test('headers over the cap are refused, whether they arrive at once or in pieces', async () => {
      const value = 'a'.repeat(HEADER_CHARS_MAX)
      await assertRefused(get('/a', `X: ${value}\r\n`))
      const { open, seen } = await harness.start()
      const connection = open()
      connection.write(get('/a', `X: ${value.slice(0, 12_000)}`).slice(0, -2))
      await open().write(get('/later')).response()
      connection.write(value)
      const text = await connection.closed()
      assert.deepEqual(paths(seen), ['/later'])
      assert.match(text, /^(HTTP\/1\.1 431 |$)/)
    })

    test('headers of a large token are taken in pieces', async () => {
      const { open, seen } = await harness.start()
      const token = 'a'.repeat(9_000)
      const request = get('/a', `Authorization: Bearer ${token}\r\n`)
      const connection = open().write(request.slice(0, 5_000))
      // Once a later connection has been served, the server has read the first piece on its own.
      await open().write(get('/later')).response()
      assert.equal((await connection.write(request.slice(5_000)).response()).status, 200)
      assert.equal(seen.heads[1]?.headers.get('authorization'), `Bearer ${token}`)
    })

    test('slow senders are cut off: a connection without a byte, a slow head, a body that stops', async () => {
      const { open, seen } = await harness.start()
      const slow = open().write('GET /a HTTP/1.1\r\nHost: x\r\nX: ')
      const drip = setInterval(() => slow.write('a'), 100)
      try {
        const stopped = open().write('POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab')
        await Promise.all([slow.closed(), stopped.closed(), open().closed()])
      } finally {
        clearInterval(drip)
      }
      assert.deepEqual(paths(seen), ['/b'])
      assert.equal(seen.exchanges[0]?.aborted, true)
      assert.deepEqual(seen.bodies, [])
    })
  })
}
