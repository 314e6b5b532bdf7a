import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { invariant } from '../core/assert.js'
import { HEADER_CHARS_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { addressText } from './address.js'
import { BodyReader } from './body-reader.js'
import type {
  Exchange,
  HttpServer,
  HttpServerOptions,
  ListenAddress,
  RequestHead,
  ResponseHeaders,
} from './http-server.js'
import { listenFailure, probeListen } from './listen-failure.js'
import { type BodyFraming, HeaderGatherer, isServableLine } from './request-head.js'
import { readTlsFiles } from './tls-files.js'

export type UwsModule = typeof import('uWebSockets.js')

/** The overload that takes host and options exists in the native code, and not in its types. */
interface ExclusiveListener {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): unknown
}

const LISTEN_EXCLUSIVE = 1
/** Keeps the library from adding a header that advertises it. The native code takes this key and offers no other way. */
const SILENT_KEY = '999999990007'
/** The library reads this once, when it loads: how many bytes of headers may arrive in pieces. */
const HEADER_BYTES_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'
const BODILESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
const FORBIDDEN_IN_HEADER = /[\r\n\0]/

/** Loads the native build. Where it cannot load (musl, an old glibc, another processor), the reason. */
export async function loadUws(): Promise<Result<UwsModule, string>> {
  const before = process.env[HEADER_BYTES_VARIABLE]
  process.env[HEADER_BYTES_VARIABLE] = String(HEADER_CHARS_MAX)
  try {
    const { default: uws } = await import('uWebSockets.js')
    const configure: unknown = Reflect.get(uws, '_cfg')
    if (typeof configure === 'function') configure(SILENT_KEY)
    return ok(uws)
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).split('\n')
    return fail(lines.filter((line) => line !== '').at(-1) ?? 'unknown reason')
  } finally {
    // Child processes have no use for the setting.
    if (before === undefined) delete process.env[HEADER_BYTES_VARIABLE]
    else process.env[HEADER_BYTES_VARIABLE] = before
  }
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
}

interface IncomingHead {
  readonly head: RequestHead
  readonly framing: BodyFraming
  readonly last: boolean
}

/** Copies everything out of native memory. Undefined when the connection must be closed unread. */
function readHead(response: HttpResponse, request: HttpRequest): IncomingHead | undefined {
  const gatherer = new HeaderGatherer()
  request.forEach((name, value) => {
    gatherer.add(name, value)
  })
  const framing = gatherer.framing()
  const method = request.getCaseSensitiveMethod()
  const path = request.getUrl()
  if (framing === undefined || !isServableLine(method, path)) return undefined
  const remoteAddress = addressText(new Uint8Array(response.getRemoteAddress()))
  const head = { method, path, query: request.getQuery() ?? '', headers: gatherer.headers, remoteAddress }
  return { head, framing, last: gatherer.lastOfConnection || !isTrusted(method, framing) }
}

/**
 * Whether the library can be trusted to know where the body ends, so that another request may follow it. It reads chunks
 * leniently, and stops listing headers at one without a name, behind which a Content-Length could hide.
 */
function isTrusted(method: string, framing: BodyFraming): boolean {
  return framing.kind === 'length' || (framing.kind === 'none' && BODILESS_METHODS.has(method))
}

/** `open` until the reply, an abort or a close; the first of them wins. */
type ExchangeMode = 'open' | 'replied' | 'aborted' | 'closed'

class UwsExchange implements Exchange {
  readonly head: RequestHead
  readonly #response: HttpResponse
  readonly #framing: BodyFraming
  readonly #isDraining: () => boolean
  #mode: ExchangeMode = 'open'
  #last: boolean
  /** The library's object may not be touched once it has answered or its connection is gone. */
  #usable = true
  #inFirstTurn = true
  #bodyTaken = false
  #abortListener: (() => void) | undefined

  constructor(response: HttpResponse, incoming: IncomingHead, isDraining: () => boolean) {
    this.#response = response
    this.head = incoming.head
    this.#framing = incoming.framing
    this.#last = incoming.last
    this.#isDraining = isDraining
  }

  get aborted(): boolean {
    return this.#mode === 'aborted'
  }

  onAborted(listener: () => void): void {
    this.#abortListener = listener
  }

  /** The connection is gone, whoever ended it. */
  connectionLost(): void {
    this.#usable = false
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
    this.#response.onData((piece, isLast) => {
      if (this.#mode === 'open') reader.take(new Uint8Array(piece), isLast)
    })
    reader.start(this.#framing)
  }

  reply(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    if (this.#mode !== 'open') return
    for (const [name, value] of headers) {
      invariant(!FORBIDDEN_IN_HEADER.test(value), `the value of response header ${name} is one line`)
    }
    this.#mode = 'replied'
    if (!this.#last && !this.#isDraining()) return this.#send(status, headers, body, false)
    // While the reply is still due, the library drops the connection instead of taking what follows in the same packet as
    // another request. Answering in this turn would let it go on reading, the wish to close notwithstanding.
    setImmediate(() => this.#send(status, headers, body, true))
  }

  close(): void {
    if (this.#mode !== 'open') return
    this.#mode = 'closed'
    if (this.#usable) this.#response.close()
  }

  #send(status: number, headers: ResponseHeaders, body: Uint8Array | string, closing: boolean): void {
    if (!this.#usable) return
    this.#usable = false
    const response = this.#response
    response.cork(() => {
      response.writeStatus(statusLine(status))
      for (const [name, value] of headers) response.writeHeader(name, value)
      const bodiless = this.head.method === 'HEAD' || status === 204 || status === 304
      if (!bodiless) response.end(body, closing)
      else this.#endBodiless(status, body, closing)
    })
  }

  /** Given a length and no body, the library would wait for the body; the length is therefore written as a header. */
  #endBodiless(status: number, body: Uint8Array | string, closing: boolean): void {
    if (closing) {
      this.#response.endWithoutBody(0, true)
      return
    }
    if (this.head.method === 'HEAD' && status !== 204 && status !== 304) {
      this.#response.writeHeader('Content-Length', String(Buffer.byteLength(body)))
    }
    this.#response.endWithoutBody()
  }
}

class UwsServer implements HttpServer {
  readonly implementation = 'uws'
  readonly #uws: UwsModule
  readonly #options: HttpServerOptions
  #app: TemplatedApp | undefined
  #socket: us_listen_socket | undefined
  #connections = 0
  #draining = false

  constructor(uws: UwsModule, options: HttpServerOptions) {
    this.#uws = uws
    this.#options = options
  }

  async listen(address: ListenAddress): Promise<Result<{ readonly port: number }, string>> {
    const app = this.#makeApp()
    if (!app.ok) return app
    this.#app = app.value
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      // By default the library shares a port with any other program that does, which would split the traffic silently.
      const listener = app.value as unknown as ExclusiveListener
      listener.listen(address.host, address.port, LISTEN_EXCLUSIVE, resolve)
    })
    if (socket === false) return fail(listenFailure(await probeListen(address), address))
    this.#socket = socket
    return ok({ port: this.#uws.us_socket_local_port(socket) })
  }

  stopAccepting(): void {
    this.#draining = true
    if (this.#socket !== undefined) this.#uws.us_listen_socket_close(this.#socket)
    this.#socket = undefined
  }

  close(): void {
    this.stopAccepting()
    this.#app?.close()
    this.#app = undefined
  }

  #makeApp(): Result<TemplatedApp, string> {
    const { tls } = this.#options
    let app: TemplatedApp
    if (tls === undefined) {
      app = this.#uws.App()
    } else {
      const files = readTlsFiles(tls)
      if (!files.ok) return files
      app = this.#uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
    }
    app.filter((response, change) => this.#countConnection(response, Number(change)))
    app.any('/*', (response, request) => this.#serve(response, request))
    return ok(app)
  }

  #countConnection(response: HttpResponse, change: number): void {
    this.#connections += change
    if (change > 0 && this.#connections > this.#options.connectionsMax) response.close()
  }

  #serve(response: HttpResponse, request: HttpRequest): void {
    let exchange: UwsExchange | undefined
    response.onAborted(() => exchange?.connectionLost())
    const incoming = readHead(response, request)
    if (incoming === undefined) {
      response.close()
      return
    }
    exchange = new UwsExchange(response, incoming, () => this.#draining)
    this.#options.onExchange(exchange)
    exchange.firstTurnOver()
  }
}

/** A server on the native library. TLS files are read when it listens. */
export function createUwsServer(uws: UwsModule, options: HttpServerOptions): HttpServer {
  return new UwsServer(uws, options)
}
