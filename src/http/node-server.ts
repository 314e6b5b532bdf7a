import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { invariant } from '../core/assert.js'
import {
  HEADER_CHARS_MAX,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  REPLY_STALL_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
} from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { canonicalAddress } from './address.js'
import { BodyReader } from './body-reader.js'
import type {
  Exchange,
  HttpServer,
  HttpServerOptions,
  ListenAddress,
  RequestHead,
  ResponseHeaders,
} from './http-server.js'
import { listenFailure } from './listen-failure.js'
import { type BodyFraming, HeaderGatherer, isServableLine } from './request-head.js'
import { readTlsFiles } from './tls-files.js'

/** How long each part of a connection may take, in milliseconds. */
export interface NodeTimeouts {
  readonly headersMs: number
  readonly requestMs: number
  readonly keepAliveMs: number
  readonly replyStallMs: number
}

const TIMEOUTS: NodeTimeouts = {
  headersMs: HEADERS_TIMEOUT_MS,
  requestMs: REQUEST_TIMEOUT_MS,
  keepAliveMs: KEEP_ALIVE_TIMEOUT_MS,
  replyStallMs: REPLY_STALL_TIMEOUT_MS,
}

interface IncomingHead {
  readonly head: RequestHead
  readonly framing: BodyFraming
}

/** Undefined when the connection must be closed unread. */
function readHead(request: IncomingMessage): IncomingHead | undefined {
  const gatherer = new HeaderGatherer()
  const raw = request.rawHeaders
  for (let i = 0; i + 1 < raw.length; i += 2) gatherer.add((raw[i] ?? '').toLowerCase(), raw[i + 1] ?? '')
  const framing = gatherer.framing()
  const method = request.method ?? ''
  const target = request.url ?? ''
  if (framing === undefined || !isServableLine(method, target)) return undefined
  // Older versions delimit requests differently, and the native server does not speak them either.
  if (request.httpVersion !== '1.1') return undefined
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = mark === -1 ? '' : target.slice(mark + 1)
  const remoteAddress = canonicalAddress(request.socket.remoteAddress ?? '') ?? ''
  return { head: { method, path, query, headers: gatherer.headers, remoteAddress }, framing }
}

/** What a server keeps about its connections. */
interface ConnectionRules {
  readonly replyStallMs: number
  readonly isDraining: () => boolean
  /** Connections that close after a reply already given: what else they sent is not taken as a request. */
  readonly ending: WeakSet<Socket>
}

/** `open` until the reply, an abort or a close; the first of them wins. */
type ExchangeMode = 'open' | 'replied' | 'aborted' | 'closed'

class NodeExchange implements Exchange {
  readonly head: RequestHead
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #framing: BodyFraming
  readonly #connection: ConnectionRules
  #mode: ExchangeMode = 'open'
  #last = false
  #inFirstTurn = true
  #bodyTaken = false
  #abortListener: (() => void) | undefined

  constructor(request: IncomingMessage, response: ServerResponse, incoming: IncomingHead, connection: ConnectionRules) {
    this.#request = request
    this.#response = response
    this.head = incoming.head
    this.#framing = incoming.framing
    this.#connection = connection
  }

  get aborted(): boolean {
    return this.#mode === 'aborted'
  }

  onAborted(listener: () => void): void {
    this.#abortListener = listener
  }

  /** The connection is gone, whoever ended it. */
  connectionLost(): void {
    if (this.#mode !== 'open') return
    this.#mode = 'aborted'
    this.#abortListener?.()
  }

  firstTurnOver(): void {
    this.#inFirstTurn = false
  }

  readBody(bytesMax: number, onBody: (body: Uint8Array) => void, onTooLarge: () => void): void {
    if (this.#mode !== 'open') return
    invariant(this.#inFirstTurn && !this.#bodyTaken, 'a body is read once, and before the exchange listener returns')
    this.#bodyTaken = true
    const reader = new BodyReader(bytesMax, onBody, () => {
      this.#last = true
      onTooLarge()
    })
    const take = (piece: Uint8Array, isLast: boolean): void => {
      if (this.#mode === 'open') reader.take(piece, isLast)
    }
    this.#request.on('data', (piece: Buffer) => take(piece, false))
    this.#request.on('end', () => take(new Uint8Array(0), true))
    reader.start(this.#framing)
  }

  reply(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    if (this.#mode !== 'open') return
    this.#mode = 'replied'
    const flat: string[] = []
    for (const [name, value] of headers) flat.push(name, value)
    const bodiless = status === 204 || status === 304
    if (!bodiless) flat.push('Content-Length', String(Buffer.byteLength(body)))
    const { socket } = this.#request
    if (this.#last || this.#connection.isDraining()) {
      flat.push('Connection', 'close')
      this.#connection.ending.add(socket)
    }
    // A client that stops reading is let go; the next request on the connection sets the time-out anew.
    socket.setTimeout(this.#connection.replyStallMs)
    this.#response.writeHead(status, flat)
    this.#response.end(bodiless || this.head.method === 'HEAD' ? undefined : body)
  }

  close(): void {
    if (this.#mode !== 'open') return
    this.#mode = 'closed'
    this.#request.socket.destroy()
  }
}

class NodeServer implements HttpServer {
  readonly implementation = 'node'
  readonly #options: HttpServerOptions
  readonly #timeouts: NodeTimeouts
  readonly #connection: ConnectionRules
  #server: Server | undefined
  #draining = false

  constructor(options: HttpServerOptions, timeouts: NodeTimeouts) {
    this.#options = options
    this.#timeouts = timeouts
    const { replyStallMs } = timeouts
    this.#connection = { replyStallMs, isDraining: () => this.#draining, ending: new WeakSet() }
  }

  async listen(address: ListenAddress): Promise<Result<{ readonly port: number }, string>> {
    const made = this.#makeServer()
    if (!made.ok) return made
    const server = made.value
    this.#server = server
    const failure = await new Promise<string | undefined>((resolve) => {
      server.once('error', (error: NodeJS.ErrnoException) => resolve(listenFailure(error.code, address)))
      server.listen({ host: address.host, port: address.port, exclusive: true }, () => resolve(undefined))
    })
    if (failure !== undefined) return fail(failure)
    const bound = server.address()
    invariant(bound !== null && typeof bound === 'object', 'a TCP server has an address with a port')
    return ok({ port: bound.port })
  }

  stopAccepting(): void {
    if (this.#draining) return
    this.#draining = true
    this.#server?.close()
  }

  close(): void {
    this.stopAccepting()
    this.#server?.closeAllConnections()
    this.#server = undefined
  }

  #makeServer(): Result<Server, string> {
    const { tls, connectionsMax } = this.#options
    const options: ServerOptions = {
      maxHeaderSize: HEADER_CHARS_MAX,
      insecureHTTPParser: false,
      requireHostHeader: true,
      headersTimeout: this.#timeouts.headersMs,
      requestTimeout: this.#timeouts.requestMs,
      keepAliveTimeout: this.#timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.min(1_000, this.#timeouts.headersMs),
      noDelay: true,
    }
    let server: Server
    if (tls === undefined) {
      server = createServer(options)
    } else {
      const files = readTlsFiles(tls)
      if (!files.ok) return files
      server = createTlsServer({ ...options, ...files.value, minVersion: 'TLSv1.2' })
    }
    server.maxConnections = connectionsMax
    server.on('request', (request, response) => this.#serve(request, response))
    return ok(server)
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    // The parser hands over what else came in the same packet even after the connection was ended.
    if (request.socket.destroyed || this.#connection.ending.has(request.socket)) return
    let exchange: NodeExchange | undefined
    response.on('close', () => exchange?.connectionLost())
    const incoming = readHead(request)
    if (incoming === undefined) {
      request.socket.destroy()
      return
    }
    exchange = new NodeExchange(request, response, incoming, this.#connection)
    this.#options.onExchange(exchange)
    exchange.firstTurnOver()
  }
}

/** A server on `node:http`, for where the native library cannot load. TLS files are read when it listens. */
export function createNodeServer(options: HttpServerOptions, timeouts: NodeTimeouts = TIMEOUTS): HttpServer {
  return new NodeServer(options, timeouts)
}
