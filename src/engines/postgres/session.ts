import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import {
  CALL_DEADLINE_GRACE_MS,
  CONNECT_TIMEOUT_MS,
  INTROSPECTION_TIMEOUT_MS,
  KEEP_ALIVE_DELAY_MS,
  QUERY_TIMEOUT_MAX_MS,
} from '../../core/limits.js'
import type { ConnectorSettings } from '../../threads/messages.js'

type Connection = ConnectorSettings['connection']

/**
 * A net under the driver's own timeouts: a statement that lost its gateway still ends. Longer than any statement the
 * driver itself would stop.
 */
const SERVER_TIMEOUT_MS = Math.max(QUERY_TIMEOUT_MAX_MS, INTROSPECTION_TIMEOUT_MS) + CALL_DEADLINE_GRACE_MS

/**
 * Settings of every session, sent with the startup packet, where they win over those of the database and the role. They
 * are constants: nothing that depends on a caller is ever set on a connection. `pg_temp` stands last so that a temporary
 * object can never hide one of the catalog.
 */
const SESSION: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  search_path: 'pg_catalog,pg_temp',
  TimeZone: 'UTC',
  DateStyle: 'ISO,YMD',
  IntervalStyle: 'iso_8601',
  extra_float_digits: '1',
  bytea_output: 'hex',
  statement_timeout: String(SERVER_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(SERVER_TIMEOUT_MS),
}

/** The startup packet's `options`, as `-c name=value` words. */
export const SESSION_OPTIONS = Object.entries(SESSION)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ')

/** TLS for both the sessions and the side connections that carry cancels; `false` for none. */
export type Tls = ConnectionOptions | false

/** A host that is a path names the folder of a Unix socket. PostgreSQL speaks no TLS there. */
export function isSocketFolder(host: string): boolean {
  return host.startsWith('/')
}

/** Throws when the authority file cannot be read: the caller turns it into an unavailable connector. */
export function tlsOf(connection: Connection): Tls {
  if (connection.tls === 'disable' || isSocketFolder(connection.host)) return false
  if (connection.tls === 'require') return { rejectUnauthorized: false }
  if (connection.tlsCaFile === undefined) return { rejectUnauthorized: true }
  return { rejectUnauthorized: true, ca: readFileSync(connection.tlsCaFile, 'utf8') }
}

/**
 * How `pg` connects, in full: what is left out would be taken from `PG…` variables of the environment or from
 * `~/.pgpass`. The password is a function for that reason, since an empty one counts as left out.
 */
export function clientSettings(connection: Connection, tls: Tls) {
  return {
    host: connection.host,
    port: connection.port,
    user: connection.user,
    password: () => connection.password ?? '',
    database: connection.database,
    ssl: tls,
    sslnegotiation: 'postgres' as const,
    application_name: 'runku',
    options: SESSION_OPTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    pipeline: false,
  }
}
