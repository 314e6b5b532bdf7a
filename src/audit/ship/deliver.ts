import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isLoopback } from '../../config/addresses.js'
import type { HeaderList } from './ship-headers.js'

/** One request. */
export interface ShipRequest {
  readonly url: string
  readonly headers: HeaderList
  readonly contentType: string
  /** Sent as `Idempotency-Key`. */
  readonly id: string
  readonly body: string
  readonly gzip: boolean
  readonly timeoutMs: number
  /** How much of the answer is read. */
  readonly answerBytesMax: number
}

/** What came of one attempt. */
export type Attempt =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly retryAfter: string | undefined
      /** Absent where it is longer than was to be read. */
      readonly text: string | undefined
    }
  /** Nothing, or not all: the destination may have taken it or not. One sentence. */
  | { readonly kind: 'unanswered'; readonly reason: string }

/** Posts once. Never rejects; `signal` gives the attempt up. */
export type Deliver = (request: ShipRequest, signal: AbortSignal) => Promise<Attempt>

const compress = promisify(gzip)
/** Entries repeat themselves: the fastest level does nearly all that the others do. */
const GZIP_LEVEL = 1

/** Posts by Node's own client: certificates are verified, redirects are not followed. */
export const deliver: Deliver = async (request, signal) => {
  // One of its own for each attempt: what is made of a signal that lives on stays with that one.
  const attempt = new AbortController()
  const giveUp = () => attempt.abort()
  let late = false
  const timer = setTimeout(() => {
    late = true
    giveUp()
  }, request.timeoutMs)
  signal.addEventListener('abort', giveUp)
  if (signal.aborted) giveUp()
  try {
    return await post(request, attempt.signal)
  } catch (error) {
    if (late) return { kind: 'unanswered', reason: `no answer within ${request.timeoutMs} ms` }
    if (signal.aborted) return { kind: 'unanswered', reason: 'the attempt was given up because the gateway stops' }
    return { kind: 'unanswered', reason: reasonOf(error) }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
  }
}

async function post(request: ShipRequest, signal: AbortSignal): Promise<Attempt> {
  const headers: [string, string][] = request.headers.map(([name, value]) => [name, value])
  headers.push(['content-type', request.contentType], ['idempotency-key', request.id])
  if (request.gzip) headers.push(['content-encoding', 'gzip'])
  const bytes = Buffer.from(request.body)
  const body = request.gzip ? await compress(bytes, { level: GZIP_LEVEL }) : bytes
  const response = await fetch(request.url, { method: 'POST', headers, body, redirect: 'manual', signal })
  const text = await readAnswer(response, request.answerBytesMax)
  return {
    kind: 'answered',
    status: response.status,
    retryAfter: response.headers.get('retry-after') ?? undefined,
    text,
  }
}

/** Text of an answer that is no longer than `bytesMax`; the connection of a longer one is given up. */
async function readAnswer(response: Response, bytesMax: number): Promise<string | undefined> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'its name is not known'],
  ['EAI_AGAIN', 'its name cannot be looked up'],
  ['ECONNREFUSED', 'it refuses connections'],
  ['ECONNRESET', 'it dropped the connection'],
  ['EPIPE', 'it dropped the connection'],
  ['UND_ERR_SOCKET', 'it dropped the connection'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it cannot be reached'],
  ['EHOSTUNREACH', 'it cannot be reached'],
  ['ENETUNREACH', 'it cannot be reached'],
  ['ETIMEDOUT', 'it cannot be reached'],
])

/** A code alone: what a client's errors say besides may name what was sent. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (!/^[A-Z][A-Z0-9_]{1,63}$/.test(code)) return 'the request failed'
  return `${REASONS.get(code) ?? 'the request failed'} (${code})`
}

/** An address for the log: without what may be a secret in its query. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** Why entries on their way to `url` are not protected; undefined where they are, or do not leave the machine. */
export function unprotected(url: string, env: NodeJS.ProcessEnv): string | undefined {
  const { protocol, hostname } = new URL(url)
  if (isLoopback(hostname.replace(/^\[|\]$/g, ''))) return undefined
  if (protocol === 'http:') return 'entries and headers travel unencrypted: use https'
  // Node's own switch, which is meant for tests and turns verification off for the whole process.
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    return 'NODE_TLS_REJECT_UNAUTHORIZED=0: nobody verifies its certificate'
  return undefined
}
