import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { BODY_DISCARD_BYTES_MAX } from '../../src/core/limits.js'
import {
  get,
  HttpHarness,
  implementations,
  paths,
  post,
  SIDE_BY_SIDE,
  SMUGGLED,
  withResolver,
} from '../support/http-harness.js'
import type { RawConnection } from '../support/raw-http.js'

for (const { name, make } of implementations) {
  describe(`requests and replies on the ${name} server`, SIDE_BY_SIDE, () => {
    const harness = new HttpHarness(make)
    after(() => harness.close())

    test('a free port is found, reported and served', async () => {
      const { open, port } = await harness.start()
      assert.ok(port > 0)
      assert.equal((await open().write(get('/a')).response()).body, '/a:')
    })

    test('method, path, query, headers and the peer address are handed over as sent', async () => {
      const { open, seen } = await harness.start()
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
      const { open, seen } = await harness.start()
      await open().write(get('/a')).response()
      assert.equal(seen.heads[0]?.query, '')
    })

    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      test(`${method} is delivered`, async () => {
        const { open, seen } = await harness.start()
        const response = await open().write(`${method} /a HTTP/1.1\r\nHost: x\r\n\r\n`).response()
        assert.equal(response.status, 200)
        assert.equal(seen.heads[0]?.method, method)
      })
    }

    test('HEAD gets the length of the body and no body, and the connection goes on', async () => {
      const { open } = await harness.start()
      const connection = open().write('HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n')
      assert.equal((await connection.response(true)).headers.get('content-length'), '3')
      assert.equal((await connection.write(get('/b')).response()).body, '/b:')
    })

    test('a reply has exactly the status, headers and length it was given, and advertises no product', async () => {
      const { open } = await harness.start((exchange) =>
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
        const { open } = await harness.start((exchange) => exchange.reply(status, [], ''))
        const text = await open().write(get('/a', 'Connection: close\r\n')).closed()
        assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} [A-Z][A-Za-z ]+\\r\\n`))
        assert.doesNotMatch(text, /Unknown/)
      })
    }

    test('204 has no body and the connection goes on', async () => {
      const { open } = await harness.start((exchange) => exchange.reply(204, [], ''))
      const connection = open().write(get('/a'))
      assert.equal((await connection.response()).status, 204)
      assert.equal((await connection.write(get('/b')).response()).status, 204)
    })

    test('one connection serves many requests, each with its own body', async () => {
      const { open } = await harness.start()
      const connection = open()
      for (let i = 0; i < 20; i++) {
        assert.equal((await connection.write(post(`/r${i}`, `body ${i}`)).response()).body, `/r${i}:body ${i}`)
      }
    })

    test('requests that arrive together are answered in order', async () => {
      const { open } = await harness.start()
      const connection = open().write(post('/1', 'a') + get('/2') + post('/3', 'c'))
      const bodies = [await connection.response(), await connection.response(), await connection.response()]
      assert.deepEqual(
        bodies.map((response) => response.body),
        ['/1:a', '/2:', '/3:c'],
      )
    })

    test('requests sent ahead of a reply are answered in order or not at all, never mixed', async () => {
      const { open, seen } = await harness.start((exchange) => {
        setImmediate(() => setImmediate(() => exchange.reply(200, [], exchange.head.path)))
      })
      const connection = open().write(get('/1') + get('/2', 'Connection: close\r\n'))
      const text = await connection.closed()
      const answered = [...text.matchAll(/\r\n\r\n(\/\d)/g)].map((match) => match[1])
      assert.deepEqual(answered, name === 'node' ? ['/1', '/2'] : [])
      assert.deepEqual(paths(seen), name === 'node' ? ['/1', '/2'] : ['/1'])
    })

    test('a body may arrive in any pieces', async () => {
      const { open, seen } = await harness.start()
      const connection = open()
      const body = 'abcdefghij'.repeat(90)
      const request = post('/p', body)
      for (let i = 0; i < request.length; i += 7) connection.write(request.slice(i, i + 7))
      assert.equal((await connection.response()).status, 200)
      assert.deepEqual(seen.bodies, [body])
    })

    test('a body is a copy: it holds after the request is over and others have come', async () => {
      const kept: Uint8Array[] = []
      const { open } = await harness.start((exchange) => {
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
      const { open, seen } = await harness.start()
      const connection = open().write(
        'POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
      )
      assert.equal((await connection.response()).body, '/c:abcde')
      assert.deepEqual(seen.bodies, ['abcde'])
    })

    test('a body of exactly the cap is taken', async () => {
      const { open } = await harness.start()
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
      const { open, seen } = await harness.start()
      const text = await open()
        .write(post('/big', 'x'.repeat(300_000)))
        .closed()
      assert.match(text, /^HTTP\/1\.1 413 /)
      assert.deepEqual(seen.bodies, [])
    })

    test('nothing after a body over the cap is answered', async () => {
      const { open } = await harness.start()
      const text = await open()
        .write(post('/big', 'x'.repeat(300_000)) + SMUGGLED)
        .closed()
      assert.doesNotMatch(text, /smuggled/)
      assert.doesNotMatch(text, /^HTTP\/1\.1 200/m)
    })

    test('a chunked body over the cap is refused', async () => {
      const { open, seen } = await harness.start()
      const chunks = `${(2_000).toString(16)}\r\n${'x'.repeat(2_000)}\r\n0\r\n\r\n`
      const text = await open()
        .write(`POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`)
        .closed()
      assert.match(text, /^HTTP\/1\.1 413 /)
      assert.deepEqual(seen.bodies, [])
    })

    test('a body announced as too large even to be thrown away is refused without being read', async () => {
      const { open, seen } = await harness.start()
      const length = 1_000 + BODY_DISCARD_BYTES_MAX + 1
      const text = await open().write(`POST /huge HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`).closed()
      assert.match(text, /^HTTP\/1\.1 413 /)
      assert.deepEqual(seen.bodies, [])
    })

    test('a reply before the body has been read goes out, and the next request is served', async () => {
      const { open } = await harness.start((exchange) => exchange.reply(401, [], exchange.head.path))
      const connection = open().write(post('/1', 'x'.repeat(50)))
      assert.equal((await connection.response()).status, 401)
      assert.equal((await connection.write(post('/2', 'y')).response()).body, '/2')
    })

    test('reading a body late or twice is a bug that shows, not a body that is lost', async () => {
      let second: unknown
      let late: unknown
      const { open } = await harness.start((exchange) => {
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
      const { open, seen } = await harness.start((exchange) => {
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
        harness
          .start((exchange) => {
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
          })
          .then(({ open }) => {
            connection = open().write(get('/a'))
          }, reject)
      })
      assert.equal(aborts, 1)
    })

    test('a client that leaves in the middle of its body is an abort, and the body never arrives', async () => {
      const { promise: aborted, resolve } = withResolver()
      let connection: RawConnection | undefined
      const { open } = await harness.start((exchange) => {
        exchange.onAborted(() => resolve())
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
      const { open } = await harness.start((exchange) => {
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

    test('a large reply reaches a client whole', async () => {
      const body = Buffer.alloc(5_000_000, 'abcdefghi')
      const { open } = await harness.start((exchange) => exchange.reply(200, [], body))
      const response = await open().write(get('/a')).response()
      assert.equal(response.body, body.toString('latin1'))
    })

    test('a response header with a line break is a bug that shows', async () => {
      let thrown: unknown
      const { open } = await harness.start((exchange) => {
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
  })
}
