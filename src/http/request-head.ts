import { HEADER_CHARS_MAX } from '../core/limits.js'

/** Two readings of one of these let a proxy and this server disagree on where a request ends, or on whose it is. */
const SINGLE_VALUED: ReadonlySet<string> = new Set(['content-length', 'host', 'authorization', 'transfer-encoding'])

const LENGTH = /^[0-9]{1,15}$/
const METHOD = /^[A-Z][A-Z-]*$/

/** How the body is delimited: by a byte count, by chunks, or there is none. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }

/** Gathers the headers of one request in one pass and notices what makes the request unsafe to go on with. */
export class HeaderGatherer {
  readonly headers = new Map<string, string>()
  #chars = 0
  #repeated = false

  /** `name` is lower case. */
  add(name: string, value: string): void {
    this.#chars += name.length + value.length
    const earlier = this.headers.get(name)
    if (earlier === undefined) {
      this.headers.set(name, value)
    } else if (SINGLE_VALUED.has(name)) {
      this.#repeated = true
    } else {
      this.headers.set(name, `${earlier}, ${value}`)
    }
  }

  /** Undefined when the connection must be closed before anything of the body is looked at. */
  framing(): BodyFraming | undefined {
    if (this.#repeated || this.#chars > HEADER_CHARS_MAX) return undefined
    const length = this.headers.get('content-length')
    const encoding = this.headers.get('transfer-encoding')
    if (encoding !== undefined) {
      return length === undefined && encoding.toLowerCase() === 'chunked' ? { kind: 'chunked' } : undefined
    }
    if (length === undefined) return { kind: 'none' }
    return LENGTH.test(length) ? { kind: 'length', bytes: Number(length) } : undefined
  }

  /** Whether the client said that this is its last request on the connection. */
  get lastOfConnection(): boolean {
    const connection = this.headers.get('connection')
    if (connection === undefined || connection === 'keep-alive') return false
    const options = connection.toLowerCase().split(',')
    return options.some((option) => option.trim() === 'close')
  }
}

/** Whether the request line is one to serve: an upper-case method and a path, not an absolute URL. */
export function isServableLine(method: string, target: string): boolean {
  return (method === 'POST' || method === 'GET' || METHOD.test(method)) && target.startsWith('/')
}
