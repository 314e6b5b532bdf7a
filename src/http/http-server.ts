import type { Result } from '../core/result.js'

/** What is known once the headers have arrived. Everything is copied out of native memory before a handler sees it. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string
  /** Without the query string, exactly as sent. */
  readonly path: string
  readonly query: string
  /** Lower-case names; a repeated header's values are joined with ", ". */
  readonly headers: ReadonlyMap<string, string>
  /** The peer's address as text, IPv4-mapped IPv6 as IPv4. */
  readonly remoteAddress: string
}

export type ResponseHeaders = readonly (readonly [name: string, value: string])[]

/** One request in progress. Every method is safe at any time: after the end or an abort they do nothing. */
export interface Exchange {
  readonly head: RequestHead
  /**
   * Reads the body, at most once, and called before the exchange listener returns: bytes that nobody waits for are lost.
   * More than `bytesMax` bytes: `onTooLarge`, and the connection closes after the reply.
   * The bytes are a copy. Neither callback runs after an abort.
   */
  readBody(bytesMax: number, onBody: (body: Uint8Array) => void, onTooLarge: () => void): void
  /** Sends the whole response; the first call wins. Content-Length is set by the server. */
  reply(status: number, headers: ResponseHeaders, body: Uint8Array | string): void
  /** Registers the one listener for the client going away before the reply. */
  onAborted(listener: () => void): void
  readonly aborted: boolean
  /** Drops the connection without a reply. */
  close(): void
}

export type ExchangeListener = (exchange: Exchange) => void

export interface ListenAddress {
  readonly host: string
  /** 0 asks the system for a free one. */
  readonly port: number
}

export interface HttpServerOptions {
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  readonly connectionsMax: number
  readonly onExchange: ExchangeListener
}

/**
 * A listener that hands over one exchange a request. Before `onExchange` it has refused: a request whose Content-Length,
 * Host, Authorization or Transfer-Encoding repeats, or that carries both Content-Length and Transfer-Encoding (the
 * connection is closed before the body is read).
 */
export interface HttpServer {
  readonly implementation: 'uws' | 'node'
  /** Gives the bound port, or a sentence that says why not (port in use, address not of this machine). */
  listen(address: ListenAddress): Promise<Result<{ readonly port: number }, string>>
  /** Stops accepting. Requests in progress go on. */
  stopAccepting(): void
  /** Closes every connection, finished or not. */
  close(): void
}
