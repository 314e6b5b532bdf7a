import { isAbsolute, resolve } from 'node:path'
import { ENGINE_CAPABILITIES } from '../core/engine-capabilities.js'
import { SECRET_FILE_BYTES_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { ConnectorSettings, ConnectorVars } from '../threads/messages.js'
import { isLoopback } from './addresses.js'
import { type DatabaseAddress, parseDatabaseUrl, type TlsMode, type UrlGrammar } from './database-url.js'
import type { ConfigPath } from './faults.js'
import { readableFault, readSmallFile, secretFileFault } from './files.js'
import { MYSQL_URL } from './mysql-url.js'
import { POSTGRES_URL } from './postgres-url.js'
import type { ConnectorInput } from './schema.js'
import { Secret } from './secret.js'
import { SQLSERVER_URL } from './sqlserver-url.js'

/** Where a connector is configured. Files are spelled as the person did. */
export type ConnectorOrigin =
  | { readonly kind: 'file'; readonly file: string; readonly line?: number }
  | { readonly kind: 'folder'; readonly file: string }
  | { readonly kind: 'store' }

/** A connector as configured, everything resolved. The password shows in no dump. */
export interface ConnectorConfig {
  readonly origin: ConnectorOrigin
  readonly id: string
  readonly type: ConnectorInput['type']
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    /** At most one of the three. The others give the password of each new connection. */
    readonly password?: Secret
    /** Absolute. */
    readonly passwordFile?: string
    /** The words may hold a secret, and show in no dump either. */
    readonly passwordCommand?: { readonly argv: readonly Secret[]; readonly ttlMs: number }
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
  /** Values that the policy may use, by name. */
  readonly vars: ConnectorVars
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

/** Settles the connection, and sees whether the files that it names can be read. Errors never repeat a secret. */
export function resolveConnector(
  input: ConnectorInput,
  folder: string,
  origin: ConnectorOrigin,
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
    origin,
    id: input.id,
    type: input.type,
    connection: connection.value,
    path: input.path ?? defaultPath(input.id),
    schemas: schemas.value,
    policy: input.policy ?? input.id,
    vars: input.vars,
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

const PASSWORD_KEYS = ['password', 'password_file', 'password_command'] as const

/** Where the database is, and what is known of its password. */
type Address = Omit<DatabaseAddress, 'password'> & Password
type Password = Pick<ConnectorConfig['connection'], 'password' | 'passwordFile' | 'passwordCommand'>

function readAddress(input: ConnectorInput, folder: string): Result<Address, readonly KeyComplaint[]> {
  const [passwordKey, second] = PASSWORD_KEYS.filter((key) => input[key] !== undefined)
  if (second !== undefined) return complain(second, `expected one of ${PASSWORD_KEYS.join(', ')}`)
  const given = readPassword(input, folder)
  if (!given.ok) return given
  if (input.url === undefined && input.url_file === undefined) return readParts(input, given.value)

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
  const { password, ...address } = parsed.value
  if (password === undefined) return ok({ ...address, ...given.value })
  if (passwordKey !== undefined) return complain(passwordKey, 'the url holds a password already')
  return ok({ ...address, password: new Secret(password) })
}

/** A file is looked at here so that a wrong name is a fault of the configuration; what it holds is read by whoever connects. */
function readPassword(input: ConnectorInput, folder: string): Result<Password, readonly KeyComplaint[]> {
  const { password, password_file, password_command } = input
  if (password !== undefined) return ok({ password: new Secret(password) })
  if (password_file !== undefined) {
    const passwordFile = resolve(folder, password_file)
    const fault = secretFileFault(passwordFile, SECRET_FILE_BYTES_MAX)
    return fault === undefined ? ok({ passwordFile }) : complain('password_file', fault)
  }
  if (password_command === undefined) return ok({})
  const { command, ttl_seconds } = password_command
  const argv = command.map((word, i) => new Secret(i === 0 ? programOf(word, folder) : word))
  return ok({ passwordCommand: { argv, ttlMs: ttl_seconds * 1_000 } })
}

/** A name without a slash is looked for where programs are; a path starts at the folder of the file, as every path does. */
function programOf(word: string, folder: string): string {
  return word.includes('/') ? resolve(folder, word) : word
}

function readParts(input: ConnectorInput, password: Password): Result<Address, readonly KeyComplaint[]> {
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
  address: Address,
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
  const { tls: _said, tlsCaFile: _named, ...rest } = address
  return ok({ ...rest, tls, ...(tlsCaFile === undefined ? {} : { tlsCaFile }) })
}

/** What the connector's worker needs. Holds secrets in clear: it lives in memory and in messages only. */
export function connectorSettings(connector: ConnectorConfig): ConnectorSettings {
  const { password, passwordCommand, ...connection } = connector.connection
  return {
    id: connector.id,
    engine: connector.type,
    connection: {
      ...connection,
      ...(password === undefined ? {} : { password: password.reveal() }),
      ...(passwordCommand === undefined ? {} : { passwordCommand: revealed(passwordCommand) }),
    },
    schemas: connector.schemas,
    threadsMin: connector.threads.min,
    threadsMax: connector.threads.max,
    sessionContext: connector.sessionContext,
    pool: connector.pool,
  }
}

function revealed({ argv, ttlMs }: NonNullable<Password['passwordCommand']>) {
  return { argv: argv.map((word) => word.reveal()), ttlMs }
}
