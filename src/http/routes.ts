import { ERRORS, type ErrorCode, publicText } from '../core/errors.js'
import type { AdminApi } from './admin-api.js'
import type { FrontDoor } from './front-door.js'
import type { Exchange, ResponseHeaders } from './http-server.js'
import type { ReportsApi } from './reports.js'

/** What answers at a connector's path: the MCP endpoint, seen from here only as something that takes an exchange. */
export interface McpDoor<C> {
  serve(exchange: Exchange, connector: C): void
}

function refuse(exchange: Exchange, code: ErrorCode, cors: ResponseHeaders): void {
  const { reply } = ERRORS[code]
  const status = reply.kind === 'http' ? reply.status : 400
  const body = JSON.stringify({ error: publicText({ code }), code })
  exchange.reply(status, [['content-type', 'application/json'], ...cors], body)
}

/** The MCP listener: `/mcp/<id>` (or the configured path), with or without a trailing slash. Never a redirect. */
export function serveMcp<C>(
  exchange: Exchange,
  frontDoor: FrontDoor,
  connectors: ReadonlyMap<string, C>,
  endpoint: McpDoor<C>,
): void {
  const { path } = exchange.head
  const connector = connectors.get(path.endsWith('/') ? path.slice(0, -1) : path)
  if (connector !== undefined) return endpoint.serve(exchange, connector)
  const { head } = exchange
  refuse(exchange, frontDoor.check(head)?.code ?? 'PROTOCOL_PATH', frontDoor.corsHeaders(head))
}

/** What keeps the gateway from serving, and what may. */
export interface Readiness {
  /** Nothing where it serves. Such as `admin_store`, `audit` or `draining`: no addresses and no error texts, since nobody is asked for a key. */
  readonly failing: readonly string[]
  /** What works with less than it should, while the gateway serves. */
  readonly degraded: readonly string[]
  /** What will keep it from serving if nobody acts, such as `audit_buffer_filling`. */
  readonly warnings: readonly string[]
}

export interface AdminSurface {
  readonly ready: () => Promise<Readiness>
  /** States of the connectors that whoever sends this header reaches; undefined for everybody else. */
  readonly detail: (authorization: string | undefined, address: string) => Promise<unknown>
  readonly frontDoor: FrontDoor
  readonly scrape: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly api: Pick<AdminApi, 'takes' | 'serve'>
  readonly reports: Pick<ReportsApi, 'takes' | 'serve'>
}

const ADMIN_PATHS = ['/healthz', '/readyz', '/metrics']
const JSON_HEADERS = [
  ['content-type', 'application/json'],
  ['cache-control', 'no-store'],
] as const

/** The admin listener. Probes and scrapes carry whatever Host their platform likes, so it is not checked for them. */
export function serveAdmin(exchange: Exchange, surface: AdminSurface): void {
  const { method, path } = exchange.head
  if (surface.api.takes(path)) return surface.api.serve(exchange)
  if (surface.reports.takes(path)) return surface.reports.serve(exchange)
  if (!ADMIN_PATHS.includes(path)) return refuse(exchange, 'PROTOCOL_PATH', [])
  if (method !== 'GET' && method !== 'HEAD') {
    const body = JSON.stringify({ error: 'This address takes GET.' })
    return exchange.reply(405, [['allow', 'GET, HEAD'], ...JSON_HEADERS], body)
  }
  if (path === '/metrics') return scrape(exchange, surface)
  if (path === '/healthz') return exchange.reply(200, JSON_HEADERS, '{"status":"alive"}')
  readiness(exchange, surface).catch(() => exchange.reply(503, JSON_HEADERS, '{"status":"not_ready"}'))
}

async function readiness(exchange: Exchange, surface: AdminSurface): Promise<void> {
  const { head } = exchange
  const authorization = head.headers.get('authorization')
  const { failing, degraded, warnings } = await surface.ready()
  // A key is worth a look only when one was sent: probes send none.
  const detail =
    authorization === undefined
      ? undefined
      : await surface.detail(authorization, surface.frontDoor.clientAddress(head)).catch(() => undefined)
  const body = {
    status: failing.length === 0 ? 'ready' : 'not_ready',
    ...(failing.length === 0 ? {} : { failing }),
    ...(degraded.length === 0 ? {} : { degraded }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(detail === undefined ? {} : { connectors: detail }),
  }
  exchange.reply(failing.length === 0 ? 200 : 503, JSON_HEADERS, JSON.stringify(body))
}

function scrape(exchange: Exchange, surface: AdminSurface): void {
  surface.scrape().then(
    ({ contentType, text }) => exchange.reply(200, [['content-type', contentType]], text),
    () => exchange.reply(500, [['content-type', 'text/plain']], 'the metrics could not be collected'),
  )
}
