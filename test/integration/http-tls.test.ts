import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createHttpServer } from '../../src/http/create-server.js'
import type { HttpServer, HttpServerOptions } from '../../src/http/http-server.js'
import { createNodeServer } from '../../src/http/node-server.js'
import { createUwsServer, loadUws } from '../../src/http/uws-server.js'
import { RawConnection } from '../support/raw-http.js'

const uws = await loadUws()
const folder = mkdtempSync(join(tmpdir(), 'runku-tls-'))
const servers: HttpServer[] = []
after(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A certificate for localhost signed by its own key; undefined where there is no openssl to make one. */
function makeCertificate(name: string): { certFile: string; keyFile: string } | undefined {
  const certFile = join(folder, `${name}.pem`)
  const keyFile = join(folder, `${name}.key`)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2', '-out', certFile]
  const made = spawnSync('openssl', ['req', '-x509', ...key, ...subject])
  return made.status === 0 ? { certFile, keyFile } : undefined
}

const own = makeCertificate('own')
const other = makeCertificate('other')
const makers: readonly (readonly [string, (options: HttpServerOptions) => HttpServer])[] = [
  ...(uws.ok ? [['uws', (options: HttpServerOptions) => createUwsServer(uws.value, options)] as const] : []),
  ['node', (options) => createNodeServer(options)],
]

const onExchange: HttpServerOptions['onExchange'] = (exchange) => {
  exchange.readBody(
    100_000,
    (body) => exchange.reply(200, [], `${exchange.head.remoteAddress} ${body.length}`),
    () => exchange.reply(413, [], ''),
  )
}

for (const [name, make] of makers) {
  describe(`TLS on the ${name} server`, { skip: own === undefined ? 'openssl is not installed' : false }, () => {
    const listen = async (tls: { certFile: string; keyFile: string }, connectionsMax = 10) => {
      const server = make({ tls, connectionsMax, onExchange })
      servers.push(server)
      return server.listen({ host: '127.0.0.1', port: 0 })
    }

    test('requests are served over TLS, on a connection that is kept', async () => {
      assert.ok(own !== undefined)
      const bound = await listen(own)
      assert.ok(bound.ok)
      const connection = new RawConnection(bound.value.port, { ca: readFileSync(own.certFile) })
      const request = `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n${'x'.repeat(50_000)}`
      assert.equal((await connection.write(request).response()).body, '127.0.0.1 50000')
      assert.equal((await connection.write(request).response()).body, '127.0.0.1 50000')
      const last = 'GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      assert.match(await connection.write(last).closed(), /127\.0\.0\.1 0$/)
    })

    test('plain HTTP on a TLS listener is not served', async () => {
      assert.ok(own !== undefined)
      const bound = await listen(own)
      assert.ok(bound.ok)
      const text = await new RawConnection(bound.value.port).write('GET /a HTTP/1.1\r\nHost: x\r\n\r\n').closed()
      assert.doesNotMatch(text, /200 OK/)
    })

    test('two differing Content-Length end a TLS connection too', async () => {
      assert.ok(own !== undefined)
      const bound = await listen(own)
      assert.ok(bound.ok)
      const connection = new RawConnection(bound.value.port, { ca: readFileSync(own.certFile) })
      const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
      const lengths = `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`
      const text = await connection.write(`POST /a HTTP/1.1\r\nHost: x\r\n${lengths}\r\n${smuggled}`).closed()
      assert.doesNotMatch(text, /200 OK/)
    })

    test('TLS connections count towards the limit', async () => {
      assert.ok(own !== undefined)
      const bound = await listen(own, 1)
      assert.ok(bound.ok)
      const ca = readFileSync(own.certFile)
      const first = new RawConnection(bound.value.port, { ca })
      await first.write('GET /a HTTP/1.1\r\nHost: x\r\n\r\n').response()
      assert.equal(await new RawConnection(bound.value.port, { ca }).closed(), '')
      first.destroy()
    })

    test('a missing certificate, a missing key, a wrong key and a file that is no certificate are clear sentences', async () => {
      assert.ok(own !== undefined && other !== undefined)
      const junk = join(folder, 'junk.pem')
      writeFileSync(junk, 'not a certificate')
      const faults = [
        [
          { ...own, certFile: '/nowhere/cert.pem' },
          /^The TLS certificate file \/nowhere\/cert\.pem cannot be read \(ENOENT\)\.$/,
        ],
        [{ ...own, keyFile: '/nowhere/key.pem' }, /^The TLS key file \/nowhere\/key\.pem cannot be read \(ENOENT\)\.$/],
        [
          { ...own, keyFile: other.keyFile },
          /^The TLS files .*own\.pem and .*other\.key are not a usable certificate and key: .*mismatch/,
        ],
        [
          { ...own, certFile: junk },
          /^The TLS files .*junk\.pem and .*own\.key are not a usable certificate and key: /,
        ],
      ] as const
      for (const [tls, sentence] of faults) {
        const bound = await listen(tls)
        assert.ok(!bound.ok)
        assert.match(bound.error, sentence)
        assert.doesNotMatch(bound.error, /\n/)
      }
    })
  })
}

describe('the choice of the server', () => {
  test('where the native library loads, it serves', { skip: uws.ok ? false : uws.error }, async () => {
    const created = await createHttpServer({ connectionsMax: 1, onExchange })
    assert.equal(created.server.implementation, 'uws')
    assert.equal('fallbackReason' in created, false)
  })

  test('where it does not, the other one takes over and says why', async () => {
    const loadNothing = async () => ({ ok: false as const, error: 'no build for this machine' })
    const created = await createHttpServer({ connectionsMax: 1, onExchange }, { loadUws: loadNothing })
    assert.equal(created.server.implementation, 'node')
    assert.equal(created.fallbackReason, 'no build for this machine')
    servers.push(created.server)
    assert.ok((await created.server.listen({ host: '127.0.0.1', port: 0 })).ok)
  })

  test('loading the library leaves no setting in the environment', () => {
    assert.equal(process.env['UWS_HTTP_MAX_HEADERS_SIZE'], undefined)
  })
})
