import {
  CALL_DEADLINE_GRACE_MS,
  CONNECT_TIMEOUT_MS,
  INTROSPECTION_TIMEOUT_MS,
  KEEP_ALIVE_DELAY_MS,
  QUERY_TIMEOUT_MAX_MS,
} from '../../core/limits.js'
import type { Tls } from '../../storage/postgres-session.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { SessionUse } from '../driver/session-pool.js'
import type { SessionContext } from '../engine.js'
import type { WireStatement } from './wire-query.js'

/**
 * A net under the driver's own timeouts: a statement that lost its gateway still ends. Longer than any statement the
 * driver itself would stop.
 */
const SERVER_TIMEOUT_MS = Math.max(QUERY_TIMEOUT_MAX_MS, INTROSPECTION_TIMEOUT_MS) + CALL_DEADLINE_GRACE_MS

/**
 * Settings of every session. They are constants: nothing that depends on a caller is ever set on a connection outside of a
 * transaction.
 */
const CONSTANTS: Readonly<Record<string, string>> = {
  // A statement sees what was committed before it got its locks, and so the catalog by which its names were found.
  default_transaction_isolation: 'read committed',
  TimeZone: 'UTC',
  DateStyle: 'ISO,YMD',
  IntervalStyle: 'iso_8601',
  extra_float_digits: '1',
  bytea_output: 'hex',
  statement_timeout: String(SERVER_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(SERVER_TIMEOUT_MS),
}

/** For introspection: nothing but the catalog is found without its schema, so that types are always written with theirs. */
const CATALOG_ONLY = 'pg_catalog,pg_temp'

/**
 * For everything else. The gateway writes every name with its schema; functions behind views, triggers and procedures often
 * do not, and mean the schemas that the connector serves. The catalog comes first and temporary objects last, so that
 * neither can hide what a statement names.
 */
function searchPath(schemas: readonly string[]): string {
  return ['pg_catalog', ...schemas.map((schema) => `"${schema.replaceAll('"', '""')}"`), 'pg_temp'].join(',')
}

/**
 * The startup packet's `options`, as `-c name=value` words. What is set there wins over the settings of the database and
 * the role, and is what a reset goes back to.
 */
export function sessionOptions(use: SessionUse, schemas: readonly string[]): string {
  const settings = {
    default_transaction_read_only: use === 'read' ? 'on' : 'off',
    search_path: searchPath(schemas),
    ...CONSTANTS,
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, '\\$&')}`)
    .join(' ')
}

/**
 * The same constants for one transaction, and the encoding that is otherwise a part of the startup: behind a pooler every
 * transaction may find another session. The function's name is in full, since the search path is among what it sets.
 */
function setConstants(path: string): WireStatement {
  const constants = Object.entries({ client_encoding: 'UTF8', ...CONSTANTS })
    .map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`)
    .join(', ')
  return { text: `SELECT pg_catalog.set_config('search_path', $1, true), ${constants}`, params: [path] }
}

export const SET_CATALOG_CONSTANTS = setConstants(CATALOG_ONLY)

/** For statements of callers behind a pooler. */
export function setSessionConstants(schemas: readonly string[]): WireStatement {
  return setConstants(searchPath(schemas))
}

/** Hands the caller to the database's own rules, until the transaction ends. */
export function setContext({ identity, roles, claims }: SessionContext): WireStatement {
  return { text: SET_CONTEXT, params: [identity, roles, claims] }
}

const SET_CONTEXT =
  "SELECT pg_catalog.set_config('runku.identity', $1, true), pg_catalog.set_config('runku.roles', $2, true), " +
  "pg_catalog.set_config('runku.claims', $3, true)"

/**
 * How `pg` connects, in full: what is left out would be taken from `PG…` variables of the environment or from
 * `~/.pgpass`. The password is a function for that reason, since an empty one counts as left out. A pooler takes no
 * `options`: there they are empty, and the constants are set in every transaction.
 */
export function clientSettings(settings: ConnectorSettings, tls: Tls, use: SessionUse, password: string) {
  const { connection, pool } = settings
  return {
    host: connection.host,
    port: connection.port,
    user: connection.user,
    password: () => password,
    database: connection.database,
    ssl: tls,
    sslnegotiation: 'postgres' as const,
    application_name: 'runku',
    options: pool.mode === 'transaction' ? '' : sessionOptions(use, settings.schemas),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    pipeline: false,
  }
}
