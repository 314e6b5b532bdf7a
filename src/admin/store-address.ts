import { isAbsolute } from 'node:path'
import { isLoopback } from '../config/addresses.js'
import { type DatabaseAddress, parseDatabaseUrl } from '../config/database-url.js'
import { POSTGRES_URL } from '../config/postgres-url.js'
import { fail, ok, type Result } from '../core/result.js'

/** Where a PostgreSQL admin store is, and how to get there. */
export interface StoreAddress extends DatabaseAddress {
  readonly tls: 'disable' | 'require' | 'verify'
  /** The schema of its tables. */
  readonly schema: string
}

const DEFAULT_SCHEMA = 'runku'
const SEARCH_PATH = 'search_path='
/** As PostgreSQL takes a name without quotes, and cuts none. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/

/**
 * Reads `postgres://user:password@host:port/database`, with `sslmode`, `sslrootcert` and `search_path`, the one schema of the store's
 * tables. TLS is verified unless the host is this machine or the address says otherwise. The error is a sentence without secrets.
 */
export function parseStoreAddress(url: string): Result<StoreAddress, string> {
  const mark = url.indexOf('?')
  const parameters = mark === -1 ? [] : url.slice(mark + 1).split('&')
  const paths = parameters.filter((each) => each.startsWith(SEARCH_PATH)).map((each) => each.slice(SEARCH_PATH.length))
  const others = parameters.filter((each) => !each.startsWith(SEARCH_PATH))
  const rest = mark === -1 ? url : [url.slice(0, mark), others.join('&')].filter((part) => part !== '').join('?')
  const schema = paths[0] ?? DEFAULT_SCHEMA
  if (paths.length > 1) return fail('the parameter search_path of the address repeats')
  if (!SCHEMA.test(schema) || schema.startsWith('pg_')) {
    return fail('search_path of the address: expected one schema, a to z, 0 to 9 and _, at most 63 characters')
  }
  const address = parseDatabaseUrl(rest, POSTGRES_URL)
  if (!address.ok) return address
  const { host, tlsCaFile } = address.value
  const socket = isAbsolute(host)
  const tls = address.value.tls ?? (socket || isLoopback(host) ? 'disable' : 'verify')
  if (socket && tls !== 'disable') return fail('a socket has no TLS: expected sslmode=disable')
  if (tls === 'strict') return fail('sslmode of the address: expected disable, require or verify-full')
  if (tlsCaFile !== undefined && tls !== 'verify') return fail('sslrootcert is used with sslmode=verify-full only')
  if (tlsCaFile !== undefined && !isAbsolute(tlsCaFile)) {
    return fail('sslrootcert of the address: expected an absolute path')
  }
  return ok({ ...address.value, tls, schema })
}

/** Names the store in messages: no login, no password. */
export function placeOf({ host, port, database, schema }: StoreAddress): string {
  const where = isAbsolute(host) ? encodeURIComponent(host) : host.includes(':') ? `[${host}]` : host
  const path = schema === DEFAULT_SCHEMA ? '' : `?search_path=${schema}`
  return `postgres://${where}:${port}/${encodeURIComponent(database)}${path}`
}
