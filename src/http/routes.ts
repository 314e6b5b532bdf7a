import { ERRORS, type ErrorCode, publicText } from '../core/errors.js'
import type { FrontDoor } from './front-door.js'
import type { Exchange, ResponseHeaders } from './http-server.js'

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

export interface AdminSurface {
  readonly ready: () => boolean
  readonly scrape: () => Promise<{ readonly contentType: string; readonly text: string }>
}

const ADMIN_PATHS = ['/healthz', '/readyz', '/metrics']

/** The admin listener. Probes and scrapes carry whatever Host their platform likes, so it is not checked for them. */
export function serveAdmin(exchange: Exchange, surface: AdminSurface): void {
  const { method, path } = exchange.head
  const headers = [
    ['content-type', 'application/json'],
    ['cache-control', 'no-store'],
  ] as const
  if (!ADMIN_PATHS.includes(path)) return refuse(exchange, 'PROTOCOL_PATH', [])
  if (method !== 'GET' && method !== 'HEAD') {
    const body = JSON.stringify({ error: 'This address takes GET.' })
    return exchange.reply(405, [['allow', 'GET, HEAD'], ...headers], body)
  }
  if (path === '/metrics') return scrape(exchange, surface)
  if (path === '/healthz') return exchange.reply(200, headers, '{"status":"alive"}')
  const ready = surface.ready()
  exchange.reply(ready ? 200 : 503, headers, ready ? '{"status":"ready"}' : '{"status":"not_ready"}')
}

function scrape(exchange: Exchange, surface: AdminSurface): void {
  surface.scrape().then(
    ({ contentType, text }) => exchange.reply(200, [['content-type', contentType]], text),
    () => exchange.reply(500, [['content-type', 'text/plain']], 'the metrics could not be collected'),
  )
}
