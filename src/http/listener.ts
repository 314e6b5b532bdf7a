import type { Config } from '../config/config.js'
import { fail, ok, type Result } from '../core/result.js'
import { createHttpServer } from './create-server.js'
import { createFrontDoor, type FrontDoor } from './front-door.js'
import type { Exchange, ExchangeListener, HttpServer, ListenAddress } from './http-server.js'

export interface Listener {
  readonly server: HttpServer
  /** `http://host:port`, without a path. */
  readonly url: string
}

export interface OpenListener extends Listener {
  readonly frontDoor: FrontDoor
  readonly fallbackReason?: string
  /** From now on exchanges go to this listener; those before it are closed. */
  begin(listener: ExchangeListener): void
}

/** Binds first and serves afterwards: what the front door allows depends on the port that was really bound. */
export async function openListener(
  settings: Config['server'],
  address: ListenAddress,
): Promise<Result<OpenListener, string>> {
  const { tls, limits, publicUrl, allowedHosts, allowedOrigins, trustedProxies } = settings
  let serve: ExchangeListener = (exchange: Exchange) => exchange.close()
  const own = typeof tls === 'object' ? tls : undefined
  const { server, fallbackReason } = await createHttpServer({
    ...(own === undefined ? {} : { tls: own }),
    connectionsMax: limits.connectionsMax,
    onExchange: (exchange) => serve(exchange),
  })
  const bound = await server.listen(address)
  if (!bound.ok) return bound
  const { port } = bound.value
  const frontDoor = createFrontDoor({
    listen: { host: address.host, port },
    tls: own !== undefined,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    allowedHosts,
    allowedOrigins,
    trustedProxies,
  })
  if (!frontDoor.ok) {
    server.close()
    return fail(frontDoor.error)
  }
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return ok({
    server,
    url: `${own === undefined ? 'http' : 'https'}://${host}:${port}`,
    frontDoor: frontDoor.value,
    ...(fallbackReason === undefined ? {} : { fallbackReason }),
    begin: (listener) => {
      serve = listener
    },
  })
}
