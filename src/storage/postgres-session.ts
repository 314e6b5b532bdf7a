import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { DatabaseAddress } from '../config/database-url.js'

/** What sessions with PostgreSQL have in common, of a connector's driver and of the admin store. */

/** TLS for both the sessions and the side connections that carry cancels; `false` for none. */
export type Tls = ConnectionOptions | false

/** A host that is a path names the folder of a Unix socket. PostgreSQL speaks no TLS there. */
export function isSocketFolder(host: string): boolean {
  return host.startsWith('/')
}

/** Throws when the authority file cannot be read: the caller turns it into something that is unavailable. */
export function tlsOf(connection: Pick<DatabaseAddress, 'host' | 'tls' | 'tlsCaFile'>): Tls {
  if (connection.tls === 'disable' || isSocketFolder(connection.host)) return false
  if (connection.tls === 'require') return { rejectUnauthorized: false }
  if (connection.tlsCaFile === undefined) return { rejectUnauthorized: true }
  return { rejectUnauthorized: true, ca: readFileSync(connection.tlsCaFile, 'utf8') }
}

/**
 * Has a client of `pg` ask for no options. The setting that is left empty would be taken from `PGOPTIONS`, and a pooler refuses
 * whoever sends one.
 */
export function withoutOptions(client: object): void {
  // The type declarations leave out where `pg` keeps what it will send at startup.
  const { connectionParameters } = client as { readonly connectionParameters: { options?: string } }
  delete connectionParameters.options
}
