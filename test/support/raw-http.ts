import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface RawResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const DEADLINE_MS = 30_000

/** Takes one response off the start of the text; undefined while it is not complete. */
function takeResponse(text: string, bodiless: boolean): { response: RawResponse; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [line = '', ...fields] = text.slice(0, end).split('\r\n')
  const headers = new Map<string, string>()
  for (const field of fields) {
    const colon = field.indexOf(':')
    headers.set(field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim())
  }
  const length = bodiless ? 0 : Number(headers.get('content-length') ?? 0)
  const from = end + 4
  if (text.length < from + length) return undefined
  const response = { status: Number(line.split(' ')[1]), headers, body: text.slice(from, from + length) }
  return { response, rest: text.slice(from + length) }
}

/** A connection that sends exactly the bytes it is given, so that malformed requests can be sent. Text is Latin-1. */
export class RawConnection {
  readonly #socket: Socket
  #text = ''
  #closed = false
  #changed: () => void = () => {}

  constructor(port: number, options: { readonly host?: string; readonly ca?: string | Buffer } = {}) {
    const host = options.host ?? '127.0.0.1'
    this.#socket =
      options.ca === undefined
        ? connect(port, host)
        : connectTls({ port, host, ca: options.ca, servername: 'localhost' })
    this.#socket.on('data', (bytes: Buffer) => {
      this.#text += bytes.toString('latin1')
      this.#changed()
    })
    // A reset is one of the ways in which a connection ends here.
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.#closed = true
      this.#changed()
    })
  }

  get text(): string {
    return this.#text
  }

  write(bytes: string | Uint8Array): this {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    return this
  }

  /** Writes, and settles when the bytes have been handed to the system. */
  sent(bytes: string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(Buffer.from(bytes, 'latin1'), () => resolve())
    })
  }

  /** Everything received by the time the server had ended the connection. */
  async closed(): Promise<string> {
    await this.#until('the server to close the connection', () => (this.#closed ? true : undefined))
    return this.#text
  }

  /** The next response; `bodiless` for the answer to HEAD. */
  async response(bodiless = false): Promise<RawResponse> {
    return this.#until('a response', () => {
      const taken = takeResponse(this.#text, bodiless)
      if (taken === undefined) return undefined
      this.#text = taken.rest
      return taken.response
    })
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #until<T>(what: string, check: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        reject(new Error(`waited too long for ${what}; received ${JSON.stringify(this.#text.slice(0, 500))}`))
      }, DEADLINE_MS)
      this.#changed = () => {
        const value = check()
        if (value === undefined && !this.#closed) return
        clearTimeout(deadline)
        this.#changed = () => {}
        if (value !== undefined) resolve(value)
        else reject(new Error(`connection closed before ${what}; received ${JSON.stringify(this.#text.slice(0, 500))}`))
      }
      this.#changed()
    })
  }
}
