import type { Result } from '../core/result.js'
import type { HttpServer, HttpServerOptions } from './http-server.js'
import { createNodeServer } from './node-server.js'
import { createUwsServer, loadUws, type UwsModule } from './uws-server.js'

export interface HttpServerDeps {
  /** Gives the native library, or why it cannot be had here. */
  readonly loadUws: () => Promise<Result<UwsModule, string>>
}

export interface CreatedHttpServer {
  readonly server: HttpServer
  /** Why the slower server took over; absent when it did not. */
  readonly fallbackReason?: string
}

/** The native server where it loads, else the one on `node:http` with the reason. Never fails. */
export async function createHttpServer(
  options: HttpServerOptions,
  deps: HttpServerDeps = { loadUws },
): Promise<CreatedHttpServer> {
  const uws = await deps.loadUws()
  if (uws.ok) return { server: createUwsServer(uws.value, options) }
  return { server: createNodeServer(options), fallbackReason: uws.error }
}
