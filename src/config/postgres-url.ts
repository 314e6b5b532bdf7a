import { nearest } from '../core/names.js'
import { fail, ok, type Result } from '../core/result.js'

export type TlsMode = 'disable' | 'require' | 'verify'

export interface PostgresAddress {
  /** A host name, an IP address without brackets, or a folder of sockets. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password?: string
  readonly database: string
  readonly tls?: TlsMode
  readonly tlsCaFile?: string
}

export const POSTGRES_PORT = 5432

const HOST = /^(?:[A-Za-z0-9_.-]{1,253}|[0-9a-fA-F:.]{2,45}|\/[^\0]*)$/
const SSL_MODES: ReadonlyMap<string, TlsMode> = new Map([
  ['disable', 'disable'],
  ['require', 'require'],
  ['verify-full', 'verify'],
])
const PARAMETERS = ['sslmode', 'sslrootcert']
/** Names that other programs take in an address. Only these may be repeated in a message: see `unknownParameter`. */
const FOREIGN_PARAMETERS = new Set(
  (
    'application_name channel_binding client_encoding connect_timeout fallback_application_name gssencmode host hostaddr ' +
    'keepalives load_balance_hosts options passfile password pgbouncer port replication require_auth schema ' +
    'search_path ssl sslcert sslcrl sslkey sslnegotiation sslpassword statement_timeout target_session_attrs uselibpqcompat user'
  ).split(' '),
)

/**
 * Reads a `postgres://` or `postgresql://` address. The error is a sentence that never repeats a part of the address that
 * could be secret.
 */
export function parsePostgresUrl(text: string): Result<PostgresAddress, string> {
  if (!/^postgres(ql)?:\/\//.test(text)) return fail('expected an address that starts with postgres://')
  if (/[\s\p{Cc}]/u.test(text)) return fail('the address holds white space: percent-encode it')
  if (!URL.canParse(text)) {
    return fail(
      'not a valid address: expected postgres://user:password@host:port/database, special characters percent-encoded',
    )
  }
  const url = new URL(text)
  if (url.hash !== '') return fail('the address holds a "#": write it as %23')
  const parts = decodeAll([url.hostname.replace(/^\[|\]$/g, ''), url.username, url.password, url.pathname.slice(1)])
  if (parts === undefined) return fail('a "%" in the address does not begin an escape: write it as %25')
  const [host = '', user = '', password = '', database = ''] = parts
  if (!HOST.test(host)) return fail('the address names no usable host')
  if (user === '') return fail('the address names no user')
  if (database === '' || url.pathname.slice(1).includes('/')) return fail('expected one database name after the host')
  const parameters = readParameters(url.searchParams)
  if (!parameters.ok) return parameters
  return ok({
    host,
    port: url.port === '' ? POSTGRES_PORT : Number(url.port),
    user,
    ...(password === '' ? {} : { password }),
    database,
    ...parameters.value,
  })
}

function decodeAll(parts: readonly string[]): readonly string[] | undefined {
  try {
    return parts.map((part) => decodeURIComponent(part))
  } catch {
    return undefined
  }
}

function readParameters(parameters: URLSearchParams): Result<Pick<PostgresAddress, 'tls' | 'tlsCaFile'>, string> {
  const seen = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (!PARAMETERS.includes(name)) return fail(unknownParameter(name))
    if (seen.has(name)) return fail(`the parameter ${name} of the address repeats`)
    seen.set(name, value)
  }
  const sslmode = seen.get('sslmode')
  const tls = sslmode === undefined ? undefined : SSL_MODES.get(sslmode)
  if (sslmode !== undefined && tls === undefined) {
    return fail('sslmode of the address: expected disable, require or verify-full')
  }
  const tlsCaFile = seen.get('sslrootcert')
  return ok({ ...(tls === undefined ? {} : { tls }), ...(tlsCaFile === undefined ? {} : { tlsCaFile }) })
}

/** A password with a bare "?" spills into the parameters, so a name is repeated only when it is a well-known one. */
function unknownParameter(name: string): string {
  const near = nearest(name, PARAMETERS)
  const hint = near === undefined ? `expected ${PARAMETERS.join(' or ')}` : `did you mean "${near}"?`
  return FOREIGN_PARAMETERS.has(name)
    ? `the parameter ${name} of the address is not taken: ${hint}`
    : `the address has an unknown parameter: ${hint} A "?" in a password is written as %3F`
}
