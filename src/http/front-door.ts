import { BlockList, isIPv6 } from 'node:net'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { ECHO_CHARS_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'
import { canonicalAddress } from './address.js'
import type { ListenAddress, RequestHead, ResponseHeaders } from './http-server.js'

/** What is judged from the headers alone, before authentication. */
export interface FrontDoor {
  /** Host, then Origin. PROTOCOL_HOST, PROTOCOL_ORIGIN. */
  check(head: RequestHead): GatewayError | undefined
  /** PROTOCOL_CONTENT_TYPE. */
  checkContentType(head: RequestHead): GatewayError | undefined
  /** To be sent with every response; empty unless the request has an Origin that is allowed. */
  corsHeaders(head: RequestHead): ResponseHeaders
  /** Whose request this is, as far as the trusted proxies tell. */
  clientAddress(head: RequestHead): string
  /** Whether the client takes nothing but server-sent events. */
  wantsEventStream(head: RequestHead): boolean
}

export interface FrontDoorSettings {
  /** As bound: the port is the real one. */
  readonly listen: ListenAddress
  readonly tls: boolean
  readonly publicUrl?: string
  /** Host names, each with a port or for any port. */
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** Addresses or CIDR ranges. */
  readonly trustedProxies: readonly string[]
}

/** Allowed Host values, lower case: with a port for exactly that one, without for any. */
export type AllowedHosts = ReadonlySet<string>
export type AllowedOrigins = ReadonlySet<string>

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]']
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', ''])

const ALLOWED_REQUEST_HEADERS = 'authorization, content-type, mcp-protocol-version, mcp-method, mcp-name'
const PREFLIGHT_SECONDS = '600'

function hostForm(host: string): string {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return isIPv6(bare) ? `[${canonicalAddress(bare) ?? bare}]` : bare
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.')
}

/** The Host values that mean this gateway: its listen address, its public URL and what the configuration adds. */
export function allowedHosts(settings: Omit<FrontDoorSettings, 'allowedOrigins' | 'trustedProxies'>): AllowedHosts {
  const { listen, tls, publicUrl } = settings
  const hosts = new Set<string>()
  const defaultPort = tls ? 443 : 80
  const own = hostForm(listen.host)
  const names = ANY_ADDRESS.has(listen.host) ? LOOPBACK_HOSTS : isLoopback(own) ? [...LOOPBACK_HOSTS, own] : [own]
  for (const name of names) {
    hosts.add(`${name}:${listen.port}`)
    // Clients leave the scheme's own port out; only that one request line is meant, so the entry gets the port back.
    if (listen.port === defaultPort) hosts.add(`${name}:`)
  }
  if (publicUrl !== undefined) {
    const { host, hostname, port, protocol } = new URL(publicUrl)
    hosts.add(port === '' ? `${hostname}:` : host)
    if (port === '') hosts.add(`${hostname}:${protocol === 'https:' ? 443 : 80}`)
  }
  for (const host of settings.allowedHosts) hosts.add(host.toLowerCase())
  return hosts
}

/** Refuses a request whose Host is missing, malformed or not one of ours: pages of other sites cannot fake it. */
export function checkHost(head: RequestHead, allowed: AllowedHosts): GatewayError | undefined {
  const host = head.headers.get('host')
  if (host === undefined) return gatewayError('PROTOCOL_HOST', { reason: 'no Host header' })
  const parts = HOST.exec(host.toLowerCase())
  const name = parts?.[1]
  // `name:` stands for the name without a port; the bare name allows every port.
  if (name !== undefined && (allowed.has(`${name}:${parts?.[2] ?? ''}`) || allowed.has(name))) return undefined
  return gatewayError('PROTOCOL_HOST', { reason: `Host ${cleanText(host, ECHO_CHARS_MAX)}` })
}

/** The Origin values that may call from a page. */
export function allowedOrigins(settings: Pick<FrontDoorSettings, 'publicUrl' | 'allowedOrigins'>): AllowedOrigins {
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  if (settings.publicUrl !== undefined) origins.add(new URL(settings.publicUrl).origin)
  return origins
}

/** Clients that are no browser send no Origin, which is fine; any other must be allowed by name. */
export function checkOrigin(head: RequestHead, allowed: AllowedOrigins): GatewayError | undefined {
  const origin = head.headers.get('origin')
  if (origin === undefined || allowed.has(origin)) return undefined
  return gatewayError('PROTOCOL_ORIGIN', { reason: `Origin ${cleanText(origin, ECHO_CHARS_MAX)}` })
}

/** What lets a page of an allowed origin read the response; for OPTIONS also what it may send. */
export function corsHeaders(head: RequestHead, allowed: AllowedOrigins): ResponseHeaders {
  const origin = head.headers.get('origin')
  if (origin === undefined || !allowed.has(origin)) return []
  const always = [
    ['access-control-allow-origin', origin],
    ['vary', 'Origin'],
    ['access-control-expose-headers', 'WWW-Authenticate'],
  ] as const
  if (head.method !== 'OPTIONS') return always
  return [
    ...always,
    ['access-control-allow-methods', 'POST, OPTIONS'],
    ['access-control-allow-headers', ALLOWED_REQUEST_HEADERS],
    ['access-control-max-age', PREFLIGHT_SECONDS],
  ]
}

/** Parses the configured proxies; the failure is a sentence that names the entry. */
export function parseTrustedProxies(entries: readonly string[]): Result<BlockList, string> {
  const list = new BlockList()
  for (const entry of entries) {
    const [network = '', prefix, ...rest] = entry.split('/')
    const address = canonicalAddress(network)
    const family = address !== undefined && isIPv6(address) ? 'ipv6' : 'ipv4'
    const bits = prefix === undefined ? undefined : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
    const bitsMax = family === 'ipv6' ? 128 : 32
    if (address === undefined || rest.length > 0 || (bits !== undefined && !(bits <= bitsMax))) {
      return fail(`trusted_proxies: "${entry}" is neither an IP address nor a CIDR range such as 10.0.0.0/8.`)
    }
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, bits, family)
  }
  return ok(list)
}

function isTrusted(address: string, proxies: BlockList): boolean {
  return proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** One entry of X-Forwarded-For; some proxies add the port. */
function forwardedAddress(entry: string): string | undefined {
  const text = entry.trim()
  const withPort = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)
  return canonicalAddress(withPort?.[1] ?? text)
}

/**
 * The right-most address of X-Forwarded-For that is not itself a trusted proxy, and only when the peer is one: everything
 * further left was written by the client. An unreadable entry ends the search at the last address that is known.
 */
export function clientAddress(head: RequestHead, proxies: BlockList): string {
  let known = head.remoteAddress
  if (known === '' || !isTrusted(known, proxies)) return known
  const entries = (head.headers.get('x-forwarded-for') ?? '').split(',')
  for (let i = entries.length - 1; i >= 0; i--) {
    const address = forwardedAddress(entries[i] ?? '')
    if (address === undefined) return known
    known = address
    if (!isTrusted(address, proxies)) return address
  }
  return known
}

/** `application/json`, in UTF-8 and not compressed; other parameters do not matter. */
export function checkContentType(head: RequestHead): GatewayError | undefined {
  const value = head.headers.get('content-type')
  const encoding = head.headers.get('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return gatewayError('PROTOCOL_CONTENT_TYPE', { field: 'Content-Encoding', expected: 'an uncompressed body' })
  }
  if (value === 'application/json') return undefined
  const [type = '', ...parameters] = (value ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1])
  const inUtf8 = charset.every((name) => name === undefined || name === 'utf-8' || name === 'utf8')
  return type.trim() === 'application/json' && inUtf8 ? undefined : gatewayError('PROTOCOL_CONTENT_TYPE')
}

/** True only where the client lists `text/event-stream` and nothing else; everything else is answered in JSON. */
export function wantsEventStream(head: RequestHead): boolean {
  const accept = head.headers.get('accept')
  if (accept === undefined || !accept.toLowerCase().includes('text/event-stream')) return false
  const wanted = accept
    .toLowerCase()
    .split(',')
    .filter((range) => range.trim() !== '' && !/;\s*q\s*=\s*0(\.0*)?\s*(;|$)/.test(range))
    .map((range) => (range.split(';')[0] ?? '').trim())
  return wanted.length > 0 && wanted.every((type) => type === 'text/event-stream')
}

/** Binds the rules to one listener's settings; the failure is a sentence for the operator. */
export function createFrontDoor(settings: FrontDoorSettings): Result<FrontDoor, string> {
  const proxies = parseTrustedProxies(settings.trustedProxies)
  if (!proxies.ok) return proxies
  const hosts = allowedHosts(settings)
  const origins = allowedOrigins(settings)
  return ok({
    check: (head) => checkHost(head, hosts) ?? checkOrigin(head, origins),
    checkContentType,
    corsHeaders: (head) => corsHeaders(head, origins),
    clientAddress: (head) => clientAddress(head, proxies.value),
    wantsEventStream,
  })
}
