import assert from 'node:assert/strict'
import type {
  Exchange,
  ExchangeListener,
  HttpServer,
  HttpServerOptions,
  RequestHead,
} from '../../src/http/http-server.js'
import { createNodeServer } from '../../src/http/node-server.js'
import { createUwsServer, loadUws } from '../../src/http/uws-server.js'
import { RawConnection } from './raw-http.js'

export type MakeServer = (options: HttpServerOptions) => HttpServer

const uws = await loadUws()
const nodeTimeouts = { headersMs: 400, requestMs: 600, keepAliveMs: 400, replyStallMs: 1_000 }

/** Both servers, each to pass the same tests; without the native one where its library cannot load. */
export const implementations: readonly { readonly name: 'uws' | 'node'; readonly make: MakeServer }[] = [
  ...(uws.ok
    ? [{ name: 'uws' as const, make: (options: HttpServerOptions) => createUwsServer(uws.value, options) }]
    : []),
  { name: 'node', make: (options) => createNodeServer(options, nodeTimeouts) },
]

/** The native server takes ten seconds to give up on a silent client, so the tests of one server wait side by side. */
export const SIDE_BY_SIDE = { concurrency: 16 } as const

export const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'

export function get(path: string, extra = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${extra}\r\n`
}

export function post(path: string, body: string, extra = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${extra}\r\n${body}`
}

/** What reached the exchange listener, in order. */
export interface Seen {
  readonly heads: RequestHead[]
  readonly bodies: string[]
  readonly exchanges: Exchange[]
}

export function paths(seen: Seen): readonly string[] {
  return seen.heads.map((head) => head.path)
}

export interface Started {
  readonly server: HttpServer
  readonly seen: Seen
  readonly port: number
  readonly open: () => RawConnection
}

/** The servers and connections of one group of tests. */
export class HttpHarness {
  readonly #make: MakeServer
  readonly #servers: HttpServer[] = []
  readonly #connections: RawConnection[] = []

  constructor(make: MakeServer) {
    this.#make = make
  }

  /** A server that is closed with the others. */
  make(options: Partial<HttpServerOptions> = {}, make: MakeServer = this.#make): HttpServer {
    const server = make({ connectionsMax: 100, onExchange: () => {}, ...options })
    this.#servers.push(server)
    return server
  }

  /** A listening server that reads each body, of at most 1,000 bytes, and echoes it, unless the listener says otherwise. */
  async start(listener?: ExchangeListener, options: Partial<HttpServerOptions> = {}): Promise<Started> {
    const seen: Seen = { heads: [], bodies: [], exchanges: [] }
    const onExchange = (exchange: Exchange) => {
      seen.heads.push(exchange.head)
      seen.exchanges.push(exchange)
      if (listener !== undefined) listener(exchange)
      else echo(exchange, seen)
    }
    const server = this.make({ ...options, onExchange })
    const bound = await server.listen({ host: '127.0.0.1', port: 0 })
    assert.ok(bound.ok, bound.ok ? '' : bound.error)
    const { port } = bound.value
    return { server, seen, port, open: () => this.connect(port) }
  }

  connect(port: number, host = '127.0.0.1'): RawConnection {
    const connection = new RawConnection(port, { host })
    this.#connections.push(connection)
    return connection
  }

  close(): void {
    for (const connection of this.#connections) connection.destroy()
    for (const server of this.#servers) server.close()
  }
}

function echo(exchange: Exchange, seen: Seen): void {
  const onBody = (body: Uint8Array) => {
    const text = Buffer.from(body).toString('latin1')
    seen.bodies.push(text)
    exchange.reply(200, [['content-type', 'text/plain']], `${exchange.head.path}:${text}`)
  }
  exchange.readBody(1_000, onBody, () => exchange.reply(413, [], 'too large'))
}

/** A promise and the function that settles it. */
export function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
