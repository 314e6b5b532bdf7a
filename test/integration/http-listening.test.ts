import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, describe, test } from 'node:test'
import type { Exchange, RequestHead } from '../../src/http/http-server.js'
import { get, HttpHarness, implementations, SIDE_BY_SIDE, withResolver } from '../support/http-harness.js'

for (const { name, make } of implementations) {
  describe(`listening on the ${name} server`, SIDE_BY_SIDE, () => {
    const harness = new HttpHarness(make)
    after(() => harness.close())

    test('connections beyond the limit are closed, and room is made when one ends', async () => {
      const { open } = await harness.start(undefined, { connectionsMax: 1 })
      const first = open().write(get('/1'))
      await first.response()
      assert.equal(await open().write(get('/2')).closed(), '')
      first.write(get('/last', 'Connection: close\r\n'))
      await first.closed()
      assert.equal((await open().write(get('/3')).response()).body, '/3:')
    })

    test('after stopAccepting, requests in progress are answered, their connections close, and no new one is taken', async () => {
      const waiting: Exchange[] = []
      const { promise, resolve } = withResolver()
      const { open, server } = await harness.start((exchange) => {
        waiting.push(exchange)
        resolve()
      })
      const connection = open().write(get('/a'))
      await promise
      server.stopAccepting()
      await open().closed()
      waiting[0]?.reply(200, [], 'done')
      assert.match(await connection.closed(), /done$/)
    })

    test('close() ends every connection, finished or not', async () => {
      const { promise, resolve } = withResolver()
      const { open, server } = await harness.start(() => resolve())
      const connection = open().write(get('/a'))
      await promise
      server.close()
      server.close()
      assert.equal(await connection.closed(), '')
    })

    test('a port in use is one clear sentence, whichever program holds it', async () => {
      const { port } = await harness.start()
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
            const server = harness.make({}, other)
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
      const finder = harness.make()
      const free = await finder.listen({ host: '127.0.0.1', port: 0 })
      finder.close()
      assert.ok(free.ok)
      const address = { host: '127.0.0.1', port: free.value.port }
      const first = harness.make()
      const second = harness.make()
      assert.deepEqual(await first.listen(address), { ok: true, value: { port: address.port } })
      assert.deepEqual(await second.listen(address), {
        ok: false,
        error: `Cannot listen on 127.0.0.1:${address.port}: the port is already in use.`,
      })
    })

    test('an address of another machine is one clear sentence', async () => {
      const server = harness.make()
      const bound = await server.listen({ host: '192.0.2.1', port: 0 })
      assert.ok(!bound.ok)
      assert.equal(bound.error, 'Cannot listen on 192.0.2.1:0: 192.0.2.1 is not an address of this machine.')
    })

    test('a listener on 127.0.0.1 is reached through no other address', async () => {
      const { port } = await harness.start()
      const others = Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .filter((address) => address.family === 'IPv4' && !address.internal)
        .map((address) => address.address)
      for (const host of [...others, '127.0.0.2']) {
        const connection = harness.connect(port, host)
        assert.equal(await connection.write(get('/a')).closed(), '', host)
      }
    })

    test('the address of an IPv4 client of an IPv6 listener is written as IPv4', async () => {
      const heads: RequestHead[] = []
      const server = harness.make({
        onExchange: (exchange) => {
          heads.push(exchange.head)
          exchange.reply(200, [], '')
        },
      })
      const bound = await server.listen({ host: '::', port: 0 })
      if (!bound.ok) {
        // A machine without IPv6 has no such listener; what it must have is the sentence that says so.
        assert.match(bound.error, /^Cannot listen on /)
        return
      }
      await harness.connect(bound.value.port).write(get('/a', 'Connection: close\r\n')).closed()
      await harness.connect(bound.value.port, '::1').write(get('/b', 'Connection: close\r\n')).closed()
      assert.deepEqual(
        heads.map((head) => head.remoteAddress),
        ['127.0.0.1', '::1'],
      )
    })
  })
}
