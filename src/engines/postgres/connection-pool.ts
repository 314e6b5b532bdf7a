import { Client, type ClientConfig, Pool } from 'pg'
import type { GatewayError } from '../../core/errors.js'
import { CANCEL_GRACE_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { Observe } from '../../observe/observation.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { type Lease, LeasePool } from '../driver/lease-pool.js'
import { type BackendKey, sendCancelRequest } from './cancel-request.js'
import { connectError, detailOf } from './errors.js'
import { NamedStatements } from './named-statements.js'
import type { WireSession } from './run-batch.js'
import { clientSettings, type SessionUse, type Tls } from './session.js'

export interface DriverSurroundings {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/** One connection, with what the driver knows about it. */
export interface Session extends WireSession {
  readonly names: NamedStatements
  readonly openedMs: number
}

/**
 * A client that asks for no options. The setting that is left empty would be taken from `PGOPTIONS`, and a pooler refuses
 * whoever sends one.
 */
class PooledClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config)
    // The type declarations leave out where `pg` keeps what it will send at startup.
    const { connectionParameters } = this as unknown as { readonly connectionParameters: { options?: string } }
    delete connectionParameters.options
  }
}

/** The connections of one use. */
export class ConnectionPool {
  readonly #settings: ConnectorSettings
  readonly #use: SessionUse
  readonly #tls: Tls
  readonly #surroundings: DriverSurroundings
  readonly #pool: Pool
  /** Hands them out to calls. */
  readonly leases: LeasePool<Session>
  /** Every connection that is not closed yet. */
  readonly #sessions = new Map<Client, Session>()

  constructor(settings: ConnectorSettings, use: SessionUse, tls: Tls, surroundings: DriverSurroundings) {
    this.#settings = settings
    this.#use = use
    this.#tls = tls
    this.#surroundings = surroundings
    this.leases = new LeasePool({ connect: (connected) => this.#connect(connected) }, settings.pool, surroundings.nowMs)
    this.#pool = new Pool({
      ...clientSettings(settings, tls, use),
      Client: clientClass(settings),
      min: 0,
      max: settings.pool.max,
      idleTimeoutMillis: settings.pool.idleTimeoutMs,
      maxLifetimeSeconds: settings.pool.lifetimeMaxMs / 1_000,
      maxUses: Number.POSITIVE_INFINITY,
      allowExitOnIdle: false,
    })
    this.#pool.on('error', (error) => this.#connectionLost('an idle connection was lost', error))
    this.#pool.on('connect', (client) => this.#open(client))
  }

  get connections() {
    const { totalCount, idleCount } = this.#pool
    return { idle: idleCount, busy: totalCount - idleCount }
  }

  /** Opens a connection beside the pool for as long as `use` takes. */
  async withOwn<T>(use: (session: Session) => Promise<Result<T, GatewayError>>): Promise<Result<T, GatewayError>> {
    const OwnClient = clientClass(this.#settings)
    const client = new OwnClient(clientSettings(this.#settings, this.#tls, this.#use))
    const session = this.#open(client)
    try {
      const connected = await connect(client)
      return connected.ok ? await use(session) : connected
    } finally {
      await endWithin(client, CANCEL_GRACE_MS)
    }
  }

  /** Whoever still uses a connection must have been told to stop. */
  async close(): Promise<void> {
    await this.#pool.end()
    await Promise.all([...this.#sessions.keys()].map((client) => endWithin(client, CANCEL_GRACE_MS)))
  }

  #connect(connected: (lease: Result<Lease<Session>, GatewayError>) => void): void {
    this.#pool.connect((error, client, release) => {
      if (client === undefined) return connected(fail(connectError(error)))
      const session = this.#sessions.get(client) ?? this.#open(client)
      const giveBack = (reusable: boolean): undefined => {
        release(!reusable)
      }
      connected(ok({ session, giveBack }))
    })
  }

  /** Starts to look after a connection, until it is closed. */
  #open(client: Client): Session {
    const session: Session = {
      names: new NamedStatements(),
      openedMs: this.#surroundings.nowMs(),
      submit: (query) => {
        client.query(query)
      },
      cancel: () => this.#cancel(client),
    }
    // A connection lost while idle is reported by the pool. One lost under a statement fails that statement, and would end
    // the process through its own 'error' event if nobody listened there.
    client.on('error', () => {})
    client.on('end', () => this.#sessions.delete(client))
    this.#sessions.set(client, session)
    return session
  }

  #cancel(client: Client): void {
    const key = backendKeyOf(client)
    if (key === undefined) return
    const { host, port } = this.#settings.connection
    sendCancelRequest({ host, port, tls: this.#tls, timeoutMs: CANCEL_GRACE_MS }, key).catch((error: unknown) =>
      this.#connectionLost('a cancel request failed', error),
    )
  }

  #connectionLost(what: string, error: unknown): void {
    const detail = detailOf(what, error)
    this.#surroundings.observe({ kind: 'driver.connection_lost', connector: this.#settings.id, detail })
  }
}

function clientClass({ pool }: ConnectorSettings): typeof Client {
  return pool.mode === 'transaction' ? PooledClient : Client
}

function backendKeyOf(client: Client): BackendKey | undefined {
  // `pg` keeps the server's BackendKeyData on the client, and its type declarations leave the two members out.
  const { processID, secretKey } = client as Client & { readonly processID?: unknown; readonly secretKey?: unknown }
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return undefined
  return { processId: processID, secretKey }
}

async function connect(client: Client): Promise<Result<Client, GatewayError>> {
  try {
    await client.connect()
    return ok(client)
  } catch (error) {
    return fail(connectError(error))
  }
}

/** Says goodbye to the server, and closes the socket when the server does not answer in time. */
async function endWithin(client: Client, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), timeoutMs)
  try {
    await client.end()
  } finally {
    clearTimeout(timer)
  }
}
