import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, describe, test } from 'node:test'
import { BODY_DISCARD_BYTES_MAX, HEADER_CHARS_MAX } from '../../src/core/limits.js'
import type {
  Exchange,
  ExchangeListener,
  HttpServer,
  HttpServerOptions,
  RequestHead,
} from '../../src/http/http-server.js'
import { createNodeServer } from '../../src/http/node-server.js'
import { createUwsServer, loadUws } from '../../src/http/uws-server.js'
import { RawConnection } from '../support/raw-http.js'

const uws = await loadUws()
const nodeTimeouts = { headersMs: 400, requestMs: 600, keepAliveMs: 400, replyStallMs: 1_000 }

type Make = (options: HttpServerOptions) => HttpServer

const implementations: readonly { readonly name: 'uws' | 'node'; readonly make: Make }[] = [
  ...(uws.ok
    ? [{ name: 'uws' as const, make: (options: HttpServerOptions) => createUwsServer(uws.value, options) }]
    : []),
  { name: 'node', make: (options) => createNodeServer(options, nodeTimeouts) },
]

/** What reached the exchange listener, in order. */
interface Seen {
  readonly heads: RequestHead[]
  readonly bodies: string[]
  readonly exchanges: Exchange[]
}

const paths = (seen: Seen) => seen.heads.map((head) => head.path)
const echo = (exchange: Exchange, body: Uint8Array) =>
  exchange.reply(200, [['content-type', 'text/plain']], `${exchange.head.path}:${Buffer.from(body).toString('latin1')}`)

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
const get = (path: string, extra = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${extra}\r\n`
const post = (path: string, body: string, extra = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${extra}\r\n${body}`

for (const { name, make } of implementations) {
  // The native server takes ten seconds to give up on a silent client, so the tests wait side by side.
  describe(`the ${name} server`, { concurrency: 16 }, () => {
    const servers: HttpServer[] = []
    const connections: RawConnection[] = []

    after(() => {
      for (const connection of connections) connection.destroy()
      for (const server of servers) server.close()
    })

    /** A server that reads each body and echoes it, unless the listener says otherwise. */
    async function start(listener?: ExchangeListener, options: Partial<HttpServerOptions> = {}) {
      const seen: Seen = { heads: [], bodies: [], exchanges: [] }
      const onExchange = (exchange: Exchange) => {
        seen.heads.push(exchange.head)
        seen.exchanges.push(exchange)
        if (listener !== undefined) return listener(exchange)
        const onBody = (body: Uint8Array) => {
          seen.bodies.push(Buffer.from(body).toString('latin1'))
          echo(exchange, body)
        }
        exchange.readBody(1_000, onBody, () => exchange.reply(413, [], 'too large'))
      }
      const server = make({ connectionsMax: 100, ...options, onExchange })
      servers.push(server)
      const bound = await server.listen({ host: '127.0.0.1', port: 0 })
      assert.ok(bound.ok, bound.ok ? '' : bound.error)
      const open = (openOptions = {}) => {
        const connection = new RawConnection(bound.value.port, openOptions)
        connections.push(connection)
        return connection
      }
      return { server, seen, port: bound.value.port, open }
    }

    /** Sends bytes that must end the connection, and checks that nothing in them became a request. */
    async function assertRefused(bytes: string | Uint8Array, reached: readonly string[] = []): Promise<void> {
      const { open, seen } = await start()
      const text = await open().write(bytes).closed()
      assert.deepEqual(paths(seen), reached)
      assert.deepEqual(seen.bodies, [])
      assert.doesNotMatch(text, /^HTTP\/1\.1 200/m)
    }

    test('a free port is found, reported and served', async () => {
      const { open, port } = await start()
      assert.ok(port > 0)
      assert.equal((await open().write(get('/a')).response()).body, '/a:')
    })

    test('method, path, query, headers and the peer address are handed over as sent', async () => {
      const { open, seen } = await start()
      await open()
        .write(post('/mcp/shop%20a', 'x', 'X-One: 1\r\nx-one: 2\r\nACCEPT: */*\r\n').replace(' HTTP', '?q=%C3&r HTTP'))
        .response()
      const [head] = seen.heads
      assert.ok(head !== undefined)
      assert.equal(head.method, 'POST')
      assert.equal(head.path, '/mcp/shop%20a')
      assert.equal(head.query, 'q=%C3&r')
      assert.equal(head.headers.get('x-one'), '1, 2')
      assert.equal(head.headers.get('accept'), '*/*')
      assert.equal(head.remoteAddress, '127.0.0.1')
    })

    test('a request without a query has an empty one', async () => {
      const { open, seen } = await start()
      await open().write(get('/a')).response()
      assert.equal(seen.heads[0]?.query, '')
    })

    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      test(`${method} is delivered`, async () => {
        const { open, seen } = await start()
        const response = await open().write(`${method} /a HTTP/1.1\r\nHost: x\r\n\r\n`).response()
        assert.equal(response.status, 200)
        assert.equal(seen.heads[0]?.method, method)
      })
    }

    test('HEAD gets the length of the body and no body, and the connection goes on', async () => {
      const { open } = await start()
      const connection = open().write('HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n')
      assert.equal((await connection.response(true)).headers.get('content-length'), '3')
      assert.equal((await connection.write(get('/b')).response()).body, '/b:')
    })

    test('a reply has exactly the status, headers and length it was given, and advertises no product', async () => {
      const { open } = await start((exchange) =>
        exchange.reply(
          405,
          [
            ['Allow', 'POST, OPTIONS'],
            ['X-A', '1'],
          ],
          'né',
        ),
      )
      const response = await open().write(get('/a')).response()
      assert.equal(response.status, 405)
      assert.equal(response.body, Buffer.from('né').toString('latin1'))
      assert.equal(response.headers.get('allow'), 'POST, OPTIONS')
      assert.equal(response.headers.get('content-length'), '3')
      for (const banner of ['server', 'x-powered-by', 'uwebsockets']) assert.equal(response.headers.has(banner), false)
    })

    for (const status of [200, 202, 400, 401, 403, 404, 405, 413, 415, 429, 503]) {
      test(`status ${status} has its reason phrase`, async () => {
        const { open } = await start((exchange) => exchange.reply(status, [], ''))
        const text = await open().write(get('/a', 'Connection: close\r\n')).closed()
        assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} [A-Z][A-Za-z ]+\\r\\n`))
        assert.doesNotMatch(text, /Unknown/)
      })
    }

    test('204 has no body and the connection goes on', async () => {
      const { open } = await start((exchange) => exchange.reply(204, [], ''))
      const connection = open().write(get('/a'))
      assert.equal((await connection.response()).status, 204)
      assert.equal((await connection.write(get('/b')).response()).status, 204)
    })

    test('one connection serves many requests, each with its own body', async () => {
      const { open } = await start()
      const connection = open()
      for (let i = 0; i < 20; i++) {
        assert.equal((await connection.write(post(`/r${i}`, `body ${i}`)).response()).body, `/r${i}:body ${i}`)
      }
    })

    test('requests that arrive together are answered in order', async () => {
      const { open } = await start()
      const connection = open().write(post('/1', 'a') + get('/2') + post('/3', 'c'))
      const bodies = [await connection.response(), await connection.response(), await connection.response()]
      assert.deepEqual(
        bodies.map((response) => response.body),
        ['/1:a', '/2:', '/3:c'],
      )
    })

    test('requests sent ahead of a reply are answered in order or not at all, never mixed', async () => {
      const { open, seen } = await start((exchange) => {
        setImmediate(() => setImmediate(() => exchange.reply(200, [], exchange.head.path)))
      })
      const connection = open().write(get('/1') + get('/2', 'Connection: close\r\n'))
      const text = await connection.closed()
      const answered = [...text.matchAll(/\r\n\r\n(\/\d)/g)].map((match) => match[1])
      assert.deepEqual(answered, name === 'node' ? ['/1', '/2'] : [])
      assert.deepEqual(paths(seen), name === 'node' ? ['/1', '/2'] : ['/1'])
    })

    test('a body may arrive in any pieces', async () => {
      const { open, seen } = await start()
      const connection = open()
      const body = 'abcdefghij'.repeat(90)
      const request = post('/p', body)
      for (let i = 0; i < request.length; i += 7) connection.write(request.slice(i, i + 7))
      assert.equal((await connection.response()).status, 200)
      assert.deepEqual(seen.bodies, [body])
    })

    test('a body is a copy: it holds after the request is over and others have come', async () => {
      const kept: Uint8Array[] = []
      const { open } = await start((exchange) => {
        exchange.readBody(
          1_000,
          (body) => {
            kept.push(body)
            exchange.reply(200, [], '')
          },
          () => {},
        )
      })
      const connection = open()
      await connection.write(post('/1', 'first body')).response()
      await connection.write(post('/2', 'OTHER BODY')).response()
      assert.deepEqual(
        kept.map((body) => Buffer.from(body).toString()),
        ['first body', 'OTHER BODY'],
      )
    })

    test('a chunked body is read', async () => {
      const { open, seen } = await start()
      const connection = open().write(
        'POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
      )
      assert.equal((await connection.response()).body, '/c:abcde')
      assert.deepEqual(seen.bodies, ['abcde'])
    })

    test('a body of exactly the cap is taken', async () => {
      const { open } = await start()
      assert.equal(
        (
          await open()
            .write(post('/a', 'x'.repeat(1_000)))
            .response()
        ).status,
        200,
      )
    })

    test('a body over the cap is refused, the client sees the reply, and the connection closes', async () => {
      const { open, seen } = await start()
      const text = await open()
        .write(post('/big', 'x'.repeat(300_000)))
        .closed()
      assert.match(text, /^HTTP\/1\.1 413 /)
      assert.deepEqual(seen.bodies, [])
    })

    test('nothing after a body over the cap is answered', async () => {
      const { open } = await start()
      const text = await open()
        .write(post('/big', 'x'.repeat(300_000)) + SMUGGLED)
        .closed()
      assert.doesNotMatch(text, /smuggled/)
      assert.doesNotMatch(text, /^HTTP\/1\.1 200/m)
    })

    test('a chunked body over the cap is refused', async () => {
      const { open, seen } = await start()
      const chunks = `${(2_000).toString(16)}\r\n${'x'.repeat(2_000)}\r\n0\r\n\r\n`
      const text = await open()
        .write(`POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`)
        .closed()
      assert.match(text, /^HTTP\/1\.1 413 /)
      assert.deepEqual(seen.bodies, [])
    })

    test('a body announced as too large even to be thrown away is refused without being read', async () => {
      const { open, seen } = await start()
      const length = 1_000 + BODY_DISCARD_BYTES_MAX + 1
      const text = await open().write(`POST /huge HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`).closed()
      assert.match(text, /^HTTP\/1\.1 413 /)
      assert.deepEqual(seen.bodies, [])
    })

    test('a reply before the body has been read goes out, and the next request is served', async () => {
      const { open } = await start((exchange) => exchange.reply(401, [], exchange.head.path))
      const connection = open().write(post('/1', 'x'.repeat(50)))
      assert.equal((await connection.response()).status, 401)
      assert.equal((await connection.write(post('/2', 'y')).response()).body, '/2')
    })

    test('reading a body late or twice is a bug that shows, not a body that is lost', async () => {
      let second: unknown
      let late: unknown
      const { open } = await start((exchange) => {
        const read = () =>
          exchange.readBody(
            10,
            () => {},
            () => {},
          )
        read()
        try {
          read()
        } catch (error) {
          second = error
        }
        setImmediate(() => {
          try {
            read()
          } catch (error) {
            late = error
          }
          exchange.reply(200, [], '')
        })
      })
      await open().write(post('/a', 'x')).response()
      assert.match(String(second), /a body is read once/)
      assert.match(String(late), /before the exchange listener returns/)
    })

    test('the first reply wins, and everything after it does nothing', async () => {
      const { open, seen } = await start((exchange) => {
        exchange.reply(200, [], 'first')
        exchange.reply(500, [], 'second')
        exchange.close()
        exchange.readBody(
          10,
          () => assert.fail('no body after the reply'),
          () => {},
        )
      })
      const connection = open().write(post('/a', 'x'))
      assert.equal((await connection.response()).body, 'first')
      assert.equal((await connection.write(get('/b')).response()).body, 'first')
      assert.equal(seen.exchanges[0]?.aborted, false)
    })

    test('a client that leaves is told once; a reply after that does nothing', async () => {
      let aborts = 0
      let connection: RawConnection | undefined
      await new Promise<void>((resolve, reject) => {
        start((exchange) => {
          exchange.onAborted(() => {
            aborts += 1
            exchange.reply(200, [], 'too late')
            exchange.close()
            try {
              assert.equal(exchange.aborted, true)
              exchange.readBody(
                10,
                () => reject(new Error('no body after an abort')),
                () => {},
              )
            } catch (error) {
              reject(error)
            }
            setImmediate(() => {
              exchange.reply(200, [], 'later still')
              resolve()
            })
          })
          connection?.destroy()
        }).then(({ open }) => {
          connection = open().write(get('/a'))
        }, reject)
      })
      assert.equal(aborts, 1)
    })

    test('a client that leaves in the middle of its body is an abort, and the body never arrives', async () => {
      const { promise: aborted, resolve } = withResolvers()
      let connection: RawConnection | undefined
      const { open } = await start((exchange) => {
        exchange.onAborted(() => resolve(undefined))
        exchange.readBody(
          100,
          () => assert.fail('half a body'),
          () => assert.fail('not too large'),
        )
        connection?.destroy()
      })
      connection = open().write('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf')
      await aborted
    })

    test('close() drops the connection without a reply, and the abort listener is not called for it', async () => {
      const { open } = await start((exchange) => {
        exchange.onAborted(() => assert.fail('nobody left'))
        exchange.close()
        exchange.reply(200, [], 'never')
      })
      assert.equal(
        await open()
          .write(get('/a') + SMUGGLED)
          .closed(),
        '',
      )
    })

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
        const { open, seen } = await start()
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
          const { open, seen } = await start()
          await open().write(`POST /a HTTP/1.1\r\nHost: x\r\n${chunked}\r\n${chunks}${SMUGGLED}`).closed()
          assert.deepEqual(
            paths(seen).filter((path) => path !== '/a'),
            [],
          )
        })
      }

      test('a length behind a header without a name is never read as no length', async () => {
        const { open, seen } = await start()
        await open().write(`POST /a HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: 5\r\n\r\nhello${SMUGGLED}`).closed()
        assert.deepEqual(
          paths(seen).filter((path) => path !== '/a'),
          [],
        )
      })

      test('nothing after "Connection: close" is served', async () => {
        const { open, seen } = await start()
        await open()
          .write(get('/a', 'Connection: close\r\n') + SMUGGLED)
          .closed()
        assert.deepEqual(paths(seen), ['/a'])
      })

      if (name === 'uws') {
        test('a request whose chunks the library delimits is the last of its connection', async () => {
          const { open, seen } = await start()
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
      const { open, seen } = await start()
      await open().write('GET /a HTTP/1.1\r\n\r\n').closed()
      assert.deepEqual(paths(seen), [])
    })

    test('headers over the cap are refused, whether they arrive at once or in pieces', async () => {
      const value = 'a'.repeat(HEADER_CHARS_MAX)
      await assertRefused(get('/a', `X: ${value}\r\n`))
      const { open, seen } = await start()
      const connection = open()
      connection.write(get('/a', `X: ${value.slice(0, 12_000)}`).slice(0, -2))
      await open().write(get('/later')).response()
      connection.write(value)
      const text = await connection.closed()
      assert.deepEqual(paths(seen), ['/later'])
      assert.match(text, /^(HTTP\/1\.1 431 |$)/)
    })

    test('headers of a large token are taken in pieces', async () => {
      const { open, seen } = await start()
      const token = 'a'.repeat(9_000)
      const request = get('/a', `Authorization: Bearer ${token}\r\n`)
      const connection = open().write(request.slice(0, 5_000))
      // Once a later connection has been served, the server has read the first piece on its own.
      await open().write(get('/later')).response()
      assert.equal((await connection.write(request.slice(5_000)).response()).status, 200)
      assert.equal(seen.heads[1]?.headers.get('authorization'), `Bearer ${token}`)
    })

    test('slow senders are cut off: a connection without a byte, a slow head, a body that stops', async () => {
      const { open, seen } = await start()
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

    test('connections beyond the limit are closed, and room is made when one ends', async () => {
      const { open } = await start(undefined, { connectionsMax: 1 })
      const first = open().write(get('/1'))
      await first.response()
      assert.equal(await open().write(get('/2')).closed(), '')
      first.write(get('/last', 'Connection: close\r\n'))
      await first.closed()
      assert.equal((await open().write(get('/3')).response()).body, '/3:')
    })

    test('a large reply reaches a client whole', async () => {
      const body = Buffer.alloc(5_000_000, 'abcdefghi')
      const { open } = await start((exchange) => exchange.reply(200, [], body))
      const response = await open().write(get('/a')).response()
      assert.equal(response.body, body.toString('latin1'))
    })

    test('a response header with a line break is a bug that shows', async () => {
      let thrown: unknown
      const { open } = await start((exchange) => {
        try {
          exchange.reply(200, [['x', 'a\r\nSet-Cookie: b']], '')
        } catch (error) {
          thrown = error
        }
        exchange.close()
      })
      await open().write(get('/a')).closed()
      assert.ok(thrown instanceof Error)
    })

    test('after stopAccepting, requests in progress are answered, their connections close, and no new one is taken', async () => {
      const waiting: Exchange[] = []
      const { promise, resolve } = withResolvers()
      const { open, server } = await start((exchange) => {
        waiting.push(exchange)
        resolve(undefined)
      })
      const connection = open().write(get('/a'))
      await promise
      server.stopAccepting()
      await open().closed()
      waiting[0]?.reply(200, [], 'done')
      assert.match(await connection.closed(), /done$/)
    })

    test('close() ends every connection, finished or not', async () => {
      const { promise, resolve } = withResolvers()
      const { open, server } = await start(() => resolve(undefined))
      const connection = open().write(get('/a'))
      await promise
      server.close()
      server.close()
      assert.equal(await connection.closed(), '')
    })

    test('a port in use is one clear sentence, whichever program holds it', async () => {
      const { port } = await start()
      const holder = createServer()
      const held = await new Promise<number>((resolve) => {
        holder.listen(0, '127.0.0.1', () => {
          const address = holder.address()
          resolve(typeof address === 'object' && address !== null ? address.port : 0)
        })
      })
      try {
        for (const { make: other } of implementations) {
          for (const taken of [port, held]) {
            const server = other({ connectionsMax: 1, onExchange: () => {} })
            servers.push(server)
            assert.deepEqual(await server.listen({ host: '127.0.0.1', port: taken }), {
              ok: false,
              error: `Cannot listen on 127.0.0.1:${taken}: the port is already in use.`,
            })
          }
        }
      } finally {
        holder.close()
      }
    })

    test('a port that was chosen by number is not shared with a second gateway', async () => {
      const finder = make({ connectionsMax: 1, onExchange: () => {} })
      const free = await finder.listen({ host: '127.0.0.1', port: 0 })
      finder.close()
      assert.ok(free.ok)
      const address = { host: '127.0.0.1', port: free.value.port }
      const [first, second] = [0, 1].map(() => make({ connectionsMax: 1, onExchange: () => {} }))
      assert.ok(first !== undefined && second !== undefined)
      servers.push(first, second)
      assert.deepEqual(await first.listen(address), { ok: true, value: { port: address.port } })
      assert.deepEqual(await second.listen(address), {
        ok: false,
        error: `Cannot listen on 127.0.0.1:${address.port}: the port is already in use.`,
      })
    })

    test('an address of another machine is one clear sentence', async () => {
      const server = make({ connectionsMax: 1, onExchange: () => {} })
      const bound = await server.listen({ host: '192.0.2.1', port: 0 })
      assert.ok(!bound.ok)
      assert.equal(bound.error, 'Cannot listen on 192.0.2.1:0: 192.0.2.1 is not an address of this machine.')
    })

    test('a listener on 127.0.0.1 is reached through no other address', async () => {
      const { port } = await start()
      const others = Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .filter((address) => address.family === 'IPv4' && !address.internal)
        .map((address) => address.address)
      for (const host of [...others, '127.0.0.2']) {
        const connection = new RawConnection(port, { host })
        assert.equal(await connection.write(get('/a')).closed(), '', host)
      }
    })

    test('the address of an IPv4 client of an IPv6 listener is written as IPv4', async (context) => {
      const heads: RequestHead[] = []
      const server = make({
        connectionsMax: 10,
        onExchange: (exchange) => {
          heads.push(exchange.head)
          exchange.reply(200, [], '')
        },
      })
      servers.push(server)
      const bound = await server.listen({ host: '::', port: 0 })
      if (!bound.ok) return context.skip('this machine has no IPv6')
      await new RawConnection(bound.value.port).write(get('/a', 'Connection: close\r\n')).closed()
      await new RawConnection(bound.value.port, { host: '::1' }).write(get('/b', 'Connection: close\r\n')).closed()
      assert.deepEqual(
        heads.map((head) => head.remoteAddress),
        ['127.0.0.1', '::1'],
      )
    })
  })
}

function withResolvers(): { readonly promise: Promise<unknown>; readonly resolve: (value: unknown) => void } {
  let resolve: (value: unknown) => void = () => {}
  const promise = new Promise<unknown>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
