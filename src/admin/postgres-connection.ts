import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient } from 'pg'
import {
  IDLE_TIMEOUT_MS,
  KEEP_ALIVE_DELAY_MS,
  LIFETIME_MAX_MS,
  REASON_CHARS_MAX,
  STORE_CONNECT_TIMEOUT_MS,
  STORE_CONNECTIONS_MAX,
  STORE_READ_TIMEOUT_MS,
} from '../core/limits.js'
import { cleanText } from '../core/names.js'
import { type Tls, withoutOptions } from '../storage/postgres-session.js'
import { StoreFailure } from './admin-store.js'
import { placeOf, type StoreAddress } from './store-address.js'

/** One connection to the store's database. Nothing is set on it outside of a transaction, so that a pooler may stand in between. */
export class StoreClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config)
    withoutOptions(this)
    // One that is lost fails what it was doing, and would end the process if nobody listened.
    this.on('error', () => {})
  }

  /** Closes the socket without a word: what waits for an answer fails. */
  cut(): void {
    this.connection.stream.destroy()
  }
}

/** In full: what is left out would be taken from `PG…` variables of the environment or from `~/.pgpass`. */
export function clientConfig(address: StoreAddress, tls: Tls): ClientConfig {
  return {
    host: address.host,
    port: address.port,
    user: address.user,
    password: () => address.password ?? '',
    database: address.database,
    ssl: tls,
    sslnegotiation: 'postgres',
    application_name: 'runku',
    options: '',
    connectionTimeoutMillis: STORE_CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  }
}

/** A client that the pool made. */
export type PooledClient = PoolClient & StoreClient

/** A few connections for everything but the reading of keys. */
export class StorePool {
  readonly #pool: Pool
  readonly #clients = new Set<StoreClient>()

  constructor(address: StoreAddress, tls: Tls) {
    const clients = this.#clients
    class CountedClient extends StoreClient {
      constructor(config?: string | ClientConfig) {
        super(config)
        clients.add(this)
        this.once('end', () => clients.delete(this))
      }
    }
    this.#pool = new Pool({
      ...clientConfig(address, tls),
      Client: CountedClient,
      min: 0,
      max: STORE_CONNECTIONS_MAX,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      maxLifetimeSeconds: LIFETIME_MAX_MS / 1_000,
      maxUses: Number.POSITIVE_INFINITY,
      allowExitOnIdle: false,
    })
    // An idle connection that is lost is replaced when one is needed.
    this.#pool.on('error', () => {})
  }

  async take(): Promise<PooledClient> {
    // The pool makes its clients of the class it was given.
    return (await this.#pool.connect()) as PooledClient
  }

  /** Says goodbye on every connection; one whose server does not answer is cut. */
  async end(): Promise<void> {
    const timer = setTimeout(() => {
      for (const client of this.#clients) client.cut()
    }, STORE_READ_TIMEOUT_MS)
    await this.#pool.end()
    clearTimeout(timer)
  }
}

/** A connection was cut since it said nothing for too long. */
export class NoAnswer extends Error {}

/** Waits for what a connection does; when that takes too long, the connection is cut. */
export async function within<T>(client: StoreClient, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  let late = false
  const timer = setTimeout(() => {
    late = true
    client.cut()
  }, timeoutMs)
  try {
    return await work()
  } catch (error) {
    throw late ? new NoAnswer(`no answer within ${Math.ceil(timeoutMs)} ms`) : error
  } finally {
    clearTimeout(timer)
  }
}

/** The server's code of an error, or the system's, or undefined. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Codes with which a server ends a connection, or takes none. */
const ENDINGS = /^(?:08|28|57P|53300|3D000)/

/** Whether the server answered a statement, and the answer is no. */
export function isAnswer(error: unknown): boolean {
  return error instanceof DatabaseError && !ENDINGS.test(error.code ?? '')
}

/** Every failure of a connection or a statement is one of the store. */
export function storeFailure(error: unknown, address: StoreAddress): StoreFailure {
  if (error instanceof StoreFailure) return error
  const place = placeOf(address)
  const code = codeOf(error)
  const known = code === undefined ? undefined : FAILURES.get(code)
  if (known !== undefined) return new StoreFailure(known.kind, `${place}: ${known.text(address)}`)
  const what = isAnswer(error) ? 'the admin store cannot be used' : 'the admin store cannot be reached'
  return new StoreFailure('unusable', `${place}: ${what} (${whyOf(error)})`)
}

function whyOf(error: unknown): string {
  const said = error instanceof Error ? cleanText(error.message, REASON_CHARS_MAX) : ''
  return [said, codeOf(error)].filter((part) => part !== undefined && part !== '').join(', ')
}

/** The failure of a commit. Where the server did not answer, whether the change was made nobody knows but the store. */
export function commitFailure(error: unknown, address: StoreAddress): StoreFailure {
  if (isAnswer(error)) return storeFailure(error, address)
  const lost = `the connection to the admin store was lost while the change was being committed (${whyOf(error)})`
  return new StoreFailure(
    'unsure',
    `${placeOf(address)}: ${lost}: it may have been made; look before you make it again`,
  )
}

interface KnownFailure {
  readonly kind: StoreFailure['kind']
  readonly text: (address: StoreAddress) => string
}

const LOGIN_REFUSED: KnownFailure = {
  kind: 'unusable',
  text: ({ user }) => `the server refuses the login "${user}" of the admin store, or its password`,
}
const TABLE_MISSING: KnownFailure = {
  kind: 'missing',
  text: ({ schema }) => `the schema "${schema}" does not hold the tables of an admin store any more`,
}

const FAILURES: ReadonlyMap<string, KnownFailure> = new Map<string, KnownFailure>([
  ['ECONNREFUSED', { kind: 'unusable', text: () => 'the admin store cannot be reached: nothing listens there' }],
  ['ENOTFOUND', { kind: 'unusable', text: () => 'the admin store cannot be reached: there is no such host' }],
  ['28P01', LOGIN_REFUSED],
  ['28000', LOGIN_REFUSED],
  ['3D000', { kind: 'missing', text: ({ database }) => `the server has no database "${database}"` }],
  ['3F000', TABLE_MISSING],
  ['42P01', TABLE_MISSING],
  [
    '42501',
    {
      kind: 'unusable',
      text: ({ user, schema }) =>
        `the login "${user}" may not do in the schema "${schema}" what the admin store needs: grant it USAGE there, and SELECT, INSERT, UPDATE and DELETE on its tables`,
    },
  ],
  ['25006', { kind: 'unusable', text: () => 'the server of the admin store takes no writes: expected the primary' }],
  ['57014', { kind: 'locked', text: () => 'another session holds the admin store' }],
  ['55P03', { kind: 'locked', text: () => 'another session holds the admin store' }],
  ['40P01', { kind: 'locked', text: () => 'another session was in the way of the admin store' }],
])
