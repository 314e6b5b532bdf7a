import { isAbsolute, resolve } from 'node:path'
import { ENGINE_CAPABILITIES } from '../core/engine-capabilities.js'
import { SECRET_FILE_BYTES_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { ConnectorSettings } from '../threads/messages.js'
import { isLoopback } from './addresses.js'
import { type DatabaseAddress, parseDatabaseUrl, type TlsMode, type UrlGrammar } from './database-url.js'
import type { ConfigPath } from './faults.js'
import { readableFault, readSmallFile } from './files.js'
import { MYSQL_URL } from './mysql-url.js'
import { POSTGRES_URL } from './postgres-url.js'
import type { ConnectorInput } from './schema.js'
import { Secret } from './secret.js'
import { SQLSERVER_URL } from './sqlserver-url.js'

/** A connector as configured, everything resolved. The password shows in no dump. */
export interface ConnectorConfig {
  readonly id: string
  readonly type: ConnectorInput['type']
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly password?: Secret
    readonly database: string
    readonly tls: TlsMode
    /** Absolute. */
    readonly tlsCaFile?: string
  }
  /** Where it is served, such as `/mcp/shop`. */
  readonly path: string
  readonly schemas: readonly string[]
  /** The name of the stored policy. */
  readonly policy: string
  readonly threads: { readonly min: number; readonly max: number }
  readonly pool: ConnectorSettings['pool']
  readonly sessionContext: boolean
}

/** A complaint about one key of the connector. */
export interface KeyComplaint {
  /** From the connector on. */
  readonly path: ConfigPath
  readonly message: string
}

type Refused = Result<never, readonly KeyComplaint[]>

const URLS: Readonly<Record<ConnectorInput['type'], UrlGrammar>> = {
  postgres: POSTGRES_URL,
  mysql: MYSQL_URL,
  sqlserver: SQLSERVER_URL,
}

/** Where a database has several schemas and the file names none: the one that names without a schema mean. */
const DEFAULT_SCHEMAS: Readonly<Record<ConnectorInput['type'], readonly string[]>> = {
  postgres: ['public'],
  mysql: [],
  sqlserver: ['dbo'],
}

/** Reads secrets from their files and settles the connection. Errors never repeat a secret. */
export function resolveConnector(
  input: ConnectorInput,
  folder: string,
): Result<ConnectorConfig, readonly KeyComplaint[]> {
  const address = readAddress(input, folder)
  if (!address.ok) return address
  const connection = settleTls(input, address.value, folder)
  if (!connection.ok) return connection
  if (input.threads.min > input.threads.max) return complain('threads', 'expected min not above max')
  const schemas = readSchemas(input, connection.value.database)
  if (!schemas.ok) return schemas
  const incapable = incapableOf(input)
  if (incapable !== undefined) return incapable
  return ok({
    id: input.id,
    type: input.type,
    connection: connection.value,
    path: input.path ?? defaultPath(input.id),
    schemas: schemas.value,
    policy: input.policy ?? input.id,
    threads: input.threads,
    pool: {
      mode: input.pool.mode,
      max: input.pool.max,
      acquireTimeoutMs: input.pool.acquire_timeout_ms,
      idleTimeoutMs: input.pool.idle_timeout_ms,
      lifetimeMaxMs: input.pool.lifetime_max_ms,
    },
    sessionContext: input.session_context,
  })
}

export function defaultPath(id: string): string {
  return `/mcp/${id}`
}

function complain(key: keyof ConnectorInput, message: string): Refused {
  return fail([{ path: [key], message }])
}

/** Where a database is the one schema that there is, the name of another would be that of another database. */
function readSchemas(
  { type, schemas }: ConnectorInput,
  database: string,
): Result<readonly string[], readonly KeyComplaint[]> {
  if (!ENGINE_CAPABILITIES[type].schemas) {
    if (schemas === undefined || (schemas.length === 1 && schemas[0] === database)) return ok([database])
    return complain('schemas', `with type ${type} the database is the one schema: leave this out, or name the database`)
  }
  const named = schemas ?? DEFAULT_SCHEMAS[type]
  return new Set(named).size === named.length ? ok(named) : complain('schemas', 'a schema repeats')
}

/** What is asked of an engine that does not have it. */
function incapableOf({ type, pool, session_context }: ConnectorInput): Refused | undefined {
  const { transactionPooling, sessionContext } = ENGINE_CAPABILITIES[type]
  if (pool.mode === 'transaction' && !transactionPooling) {
    const message = `expected session: with type ${type} a connection keeps settings and statements from one transaction to the next`
    return fail([{ path: ['pool', 'mode'], message }])
  }
  if (!session_context || sessionContext) return undefined
  return complain('session_context', `expected false: with type ${type} nothing can be set for one transaction alone`)
}

const ADDRESS_KEYS = ['host', 'port', 'user', 'database'] as const

function readAddress(input: ConnectorInput, folder: string): Result<DatabaseAddress, readonly KeyComplaint[]> {
  if (input.password !== undefined && input.password_file !== undefined) {
    return complain('password_file', 'expected password or password_file, not both')
  }
  const password = readPassword(input, folder)
  if (!password.ok) return password
  const given = password.value === undefined ? {} : { password: password.value }
  if (input.url === undefined && input.url_file === undefined) return readParts(input, given)

  if (input.url !== undefined && input.url_file !== undefined) {
    return complain('url_file', 'expected url or url_file, not both')
  }
  const doubled = ADDRESS_KEYS.filter((key) => input[key] !== undefined)
  if (doubled.length > 0) {
    return fail(doubled.map((key) => ({ path: [key], message: 'the url says this already: expected one of the two' })))
  }
  const key = input.url === undefined ? 'url_file' : 'url'
  const text =
    input.url_file === undefined
      ? ok(input.url ?? '')
      : readSmallFile(resolve(folder, input.url_file), SECRET_FILE_BYTES_MAX)
  if (!text.ok) return complain(key, text.error)
  const parsed = parseDatabaseUrl(text.value, URLS[input.type])
  if (!parsed.ok) return complain(key, parsed.error)
  if (parsed.value.password !== undefined && password.value !== undefined) {
    return complain(input.password === undefined ? 'password_file' : 'password', 'the url holds a password already')
  }
  return ok({ ...parsed.value, ...given })
}

function readPassword(input: ConnectorInput, folder: string): Result<string | undefined, readonly KeyComplaint[]> {
  if (input.password_file === undefined) return ok(input.password)
  const text = readSmallFile(resolve(folder, input.password_file), SECRET_FILE_BYTES_MAX)
  return text.ok ? text : complain('password_file', text.error)
}

function readParts(
  input: ConnectorInput,
  password: { readonly password?: string },
): Result<DatabaseAddress, readonly KeyComplaint[]> {
  const { host, user, database } = input
  if (host === undefined && user === undefined && database === undefined) {
    return complain('url', 'missing: expected url or url_file, or host, user and database')
  }
  if (host === undefined || user === undefined || database === undefined) {
    const missing = (['host', 'user', 'database'] as const).filter((key) => input[key] === undefined)
    return fail(missing.map((key) => ({ path: [key], message: 'missing: expected host, user and database, or url' })))
  }
  return ok({ host, port: input.port ?? URLS[input.type].port, user, database, ...password })
}

function settleTls(
  input: ConnectorInput,
  address: DatabaseAddress,
  folder: string,
): Result<ConnectorConfig['connection'], readonly KeyComplaint[]> {
  const parameters = URLS[input.type]
  if (input.tls !== undefined && address.tls !== undefined) {
    return complain('tls', `the url has an ${parameters.tls.parameter} already`)
  }
  if (input.tls_ca_file !== undefined && address.tlsCaFile !== undefined) {
    return complain('tls_ca_file', `the url has an ${parameters.caParameter} already`)
  }
  if (isAbsolute(address.host) && input.type === 'sqlserver') {
    return complain(
      input.host === undefined ? 'url' : 'host',
      'expected a host name: with type sqlserver there are no sockets',
    )
  }
  const local = isAbsolute(address.host) || isLoopback(address.host)
  const tls = input.tls ?? address.tls ?? (local ? 'disable' : 'verify')
  if (isAbsolute(address.host) && tls !== 'disable') return complain('tls', 'a socket has no TLS: expected disable')
  if (tls === 'strict' && input.type !== 'sqlserver') {
    return complain(
      'tls',
      `expected disable, require or verify: with type ${input.type} TLS always follows the protocol's greeting`,
    )
  }
  const caFile = input.tls_ca_file ?? address.tlsCaFile
  const caKey = input.tls_ca_file === undefined ? 'url' : 'tls_ca_file'
  if (caFile !== undefined && tls !== 'verify' && tls !== 'strict') {
    return complain(caKey, 'a certificate authority is used with tls: verify only')
  }
  const tlsCaFile = caFile === undefined ? undefined : resolve(folder, caFile)
  const unreadable = tlsCaFile === undefined ? undefined : readableFault(tlsCaFile)
  if (unreadable !== undefined) return complain(caKey, unreadable)
  const { host, port, user, database, password } = address
  return ok({
    host,
    port,
    user,
    ...(password === undefined ? {} : { password: new Secret(password) }),
    database,
    tls,
    ...(tlsCaFile === undefined ? {} : { tlsCaFile }),
  })
}

/** What the connector's worker needs. Holds the password in clear: it lives in memory and in messages only. */
export function connectorSettings(connector: ConnectorConfig): ConnectorSettings {
  const { password, ...connection } = connector.connection
  return {
    id: connector.id,
    engine: connector.type,
    connection: { ...connection, ...(password === undefined ? {} : { password: password.reveal() }) },
    schemas: connector.schemas,
    threadsMin: connector.threads.min,
    threadsMax: connector.threads.max,
    sessionContext: connector.sessionContext,
    pool: connector.pool,
  }
}
