import { readFileSync } from 'node:fs'
import { invariant } from '../../core/assert.js'
import {
  CALL_DEADLINE_GRACE_MS,
  CANCEL_REPEAT_MS,
  CONNECT_TIMEOUT_MS,
  INTROSPECTION_TIMEOUT_MS,
  KEEP_ALIVE_DELAY_MS,
  NAMED_STATEMENTS_MAX,
  QUERY_TIMEOUT_MAX_MS,
} from '../../core/limits.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { SessionUse } from '../driver/session-pool.js'

type ConnectionSettings = ConnectorSettings['connection']

/**
 * A net under the driver's own timeouts: a statement that lost its gateway still ends. Longer than any statement the
 * driver itself would stop.
 */
const SERVER_TIMEOUT_MS = Math.max(QUERY_TIMEOUT_MAX_MS, INTROSPECTION_TIMEOUT_MS) + CALL_DEADLINE_GRACE_MS
/** No call waits longer for a lock, because none lasts longer. The server counts in whole seconds. */
const LOCK_TIMEOUT_S = Math.ceil((QUERY_TIMEOUT_MAX_MS + CALL_DEADLINE_GRACE_MS) / 1_000)

/** The two products that speak this protocol: some variables have a name of their own in each. */
export type Product = 'mariadb' | 'mysql'

/** By the version that the server announces when it is connected to. */
export function productOf(serverVersion: string): Product {
  return /mariadb/i.test(serverVersion) ? 'mariadb' : 'mysql'
}

/**
 * Settings of every session, whatever the server and the login prefer. They are constants: nothing that depends on a
 * caller is ever set on a connection. What has no quotes here is a number or a word of the language.
 */
const CONSTANTS: Readonly<Record<string, string>> = {
  time_zone: "'+00:00'",
  // A value that does not fit is an error, zero is a value of its own, and nothing else is bent.
  sql_mode: "'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'",
  div_precision_increment: '16',
  // Sorting tells texts apart by so many bytes of their weights, and a GROUP BY that sorts makes one group of longer ones that
  // differ later. The buffer has to take 15 rows of keys: here some thirty long columns.
  max_sort_length: '16384',
  sort_buffer_size: '8388608',
  autocommit: '1',
  // COMMIT would otherwise begin another transaction, or end the session.
  completion_type: '0',
  foreign_key_checks: '1',
  unique_checks: '1',
  sql_auto_is_null: '0',
  sql_safe_updates: '0',
  sql_select_limit: 'DEFAULT',
  innodb_lock_wait_timeout: String(LOCK_TIMEOUT_S),
  lock_wait_timeout: String(LOCK_TIMEOUT_S),
}

const OF_PRODUCT: Readonly<Record<Product, Readonly<Record<string, string>>>> = {
  mariadb: { max_statement_time: String(SERVER_TIMEOUT_MS / 1_000), tx_isolation: "'READ-COMMITTED'" },
  mysql: { max_execution_time: String(SERVER_TIMEOUT_MS), transaction_isolation: "'READ-COMMITTED'" },
}

const READ_ONLY: Readonly<Record<Product, string>> = { mariadb: 'tx_read_only', mysql: 'transaction_read_only' }

/** One statement that sets all of it, to be run on a new session and again whenever the server has reset one. */
export function sessionConstants(use: SessionUse, product: Product, idleTimeoutMs: number): string {
  // A session that waits longer than an idle connection may has lost its gateway.
  const waitS = Math.ceil((Math.max(idleTimeoutMs, SERVER_TIMEOUT_MS) + CALL_DEADLINE_GRACE_MS) / 1_000)
  const settings = {
    ...CONSTANTS,
    ...OF_PRODUCT[product],
    [READ_ONLY[product]]: use === 'read' ? '1' : '0',
    wait_timeout: String(waitS),
  }
  const list = Object.entries(settings).map(([name, value]) => `SESSION ${name} = ${value}`)
  return `SET NAMES utf8mb4 COLLATE utf8mb4_bin, ${list.join(', ')}`
}

/**
 * The server's own limit of a statement, a little after the driver's: what runs with the rights of a routine's, trigger's
 * or view's owner is that owner's, and no login may kill what is another's. MySQL stops nothing but SELECT by it.
 */
export function statementLimit(product: Product, timeoutMs: number): string {
  const limitMs = Math.ceil(timeoutMs) + CANCEL_REPEAT_MS
  return product === 'mariadb'
    ? `SET SESSION max_statement_time = ${limitMs / 1_000}`
    : `SET SESSION max_execution_time = ${limitMs}`
}

/** What tells one server behind an address from another. */
const SERVER: Readonly<Record<Product, string>> = {
  mariadb: "CONCAT_WS(' ', @@server_id, @@hostname, @@port)",
  mysql: '@@server_uuid',
}

/** Gives one row: which server this is, and the client of one of its sessions, NULL where the login sees no such session. */
export function whereaboutsQuery(product: Product, threadId: number): string {
  invariant(Number.isSafeInteger(threadId), 'a thread of the server has a number')
  return `SELECT ${SERVER[product]}, (SELECT HOST FROM information_schema.PROCESSLIST WHERE ID = ${threadId})`
}

/** TLS for both the sessions and the side connections that carry cancels; `false` for none. */
export type Tls =
  | { readonly rejectUnauthorized: boolean; readonly verifyIdentity: boolean; readonly ca?: string }
  | false

/** A host that is a path names a Unix socket. TLS is not spoken there. */
export function isSocketPath(host: string): boolean {
  return host.startsWith('/')
}

/** Throws when the authority file cannot be read: the caller turns it into an unavailable connector. */
export function tlsOf(connection: ConnectionSettings): Tls {
  if (connection.tls === 'disable' || isSocketPath(connection.host)) return false
  if (connection.tls === 'require') return { rejectUnauthorized: false, verifyIdentity: false }
  const verified = { rejectUnauthorized: true, verifyIdentity: true }
  return connection.tlsCaFile === undefined ? verified : { ...verified, ca: readFileSync(connection.tlsCaFile, 'utf8') }
}

/** What a socket is opened with. */
export const SOCKET_OPTIONS = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS, noDelay: true } as const

/**
 * How `mysql2` connects and reads, in full but for the password, which every connection asks for: its defaults round large numbers, move times by this host's zone, and let a
 * server ask for files of this host.
 */
export function connectionOptions({ connection }: ConnectorSettings, tls: Tls) {
  const { host, port, user, database } = connection
  return {
    ...(isSocketPath(host) ? { socketPath: host } : { host, port }),
    user,
    database,
    ...(tls === false ? {} : { ssl: { ...tls } }),
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: false,
    dateStrings: true,
    jsonStrings: true,
    rowsAsArray: true,
    nestTables: false,
    stringifyObjects: false,
    disableEval: true,
    multipleStatements: false,
    namedPlaceholders: false,
    compress: false,
    debug: false,
    trace: false,
    // A password in clear text is never sent to a server that asks for one.
    enableCleartextPlugin: false,
    insecureAuth: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxPreparedStatements: NAMED_STATEMENTS_MAX,
    connectAttributes: { program_name: 'runku' },
    // `FOUND_ROWS` is among the defaults: rows that an UPDATE matched count, whether or not they then differ.
    flags: ['-LOCAL_FILES', '-IGNORE_SPACE', '-ODBC', '-CLIENT_QUERY_ATTRIBUTES', 'FOUND_ROWS', 'PS_MULTI_RESULTS'],
  }
}
