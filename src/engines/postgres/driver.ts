import { Client, Pool, type PoolClient } from 'pg'
import { unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { CANCEL_GRACE_MS, INTROSPECTION_BYTES_MAX, INTROSPECTION_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import type { Observe } from '../../observe/observation.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { Cancellation, type Driver, type ExecuteOptions, type Rows } from '../engine.js'
import { type BackendKey, sendCancelRequest } from './cancel-request.js'
import {
  connectError,
  FEATURE_NOT_SUPPORTED,
  reasonOf,
  sqlstateOf,
  statementError,
  UNKNOWN_PREPARED_STATEMENT,
} from './errors.js'
import { type CatalogReader, introspectCatalog } from './introspector.js'
import { NamedStatements, ShapesSeen } from './named-statements.js'
import { ReadQueue } from './read-queue.js'
import { type ReadEnd, type ReadSession, runRead } from './run-read.js'
import { clientSettings, type Tls, tlsOf } from './session.js'

export interface DriverSurroundings {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/**
 * A driver for one connector. It connects when it is first used, and again after every loss. A certificate authority file
 * that cannot be read makes it answer CONNECTOR_UNAVAILABLE, as an unreachable server does.
 */
export function createPostgresDriver(settings: ConnectorSettings, surroundings: DriverSurroundings): Driver {
  try {
    return new PostgresDriver(settings, tlsOf(settings.connection), surroundings)
  } catch (error) {
    return unavailableDriver(gatewayError('CONNECTOR_UNAVAILABLE', { reason: reasonOf('tls ca_file', error) }))
  }
}

function unavailableDriver(error: GatewayError): Driver {
  return { introspect: async () => fail(error), execute: async () => fail(error), close: async () => {} }
}

interface Lease {
  readonly client: PoolClient
  /** Gives the place back; a connection that is not reusable is closed. */
  readonly release: (reusable: boolean) => void
}

class PostgresDriver implements Driver {
  readonly #settings: ConnectorSettings
  readonly #tls: Tls
  readonly #surroundings: DriverSurroundings
  readonly #pool: Pool
  readonly #queue: ReadQueue
  readonly #clients = new Set<Client>()
  readonly #shapes = new ShapesSeen()
  readonly #statements = new WeakMap<Client, NamedStatements>()
  /** Ends a wait or a read that is under way, for `close`. */
  readonly #stops = new Set<() => void>()
  #connecting = 0
  #closing: Promise<void> | undefined

  constructor(settings: ConnectorSettings, tls: Tls, surroundings: DriverSurroundings) {
    this.#settings = settings
    this.#tls = tls
    this.#surroundings = surroundings
    this.#queue = new ReadQueue(settings.pool.max)
    this.#pool = new Pool({
      ...clientSettings(settings.connection, tls),
      min: 0,
      max: settings.pool.max,
      idleTimeoutMillis: settings.pool.idleTimeoutMs,
      maxLifetimeSeconds: settings.pool.lifetimeMaxMs / 1_000,
      maxUses: Number.POSITIVE_INFINITY,
      allowExitOnIdle: false,
    })
    // The pool reports connections lost while idle. One lost under a statement fails that statement, and would end the
    // process through its own 'error' event if nobody listened there.
    this.#pool.on('error', (error) => this.#connectionLost('an idle connection was lost', error))
    this.#pool.on('connect', (client) => {
      client.on('error', () => {})
      this.#track(client)
    })
  }

  async execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Result<Rows, GatewayError>> {
    const { nowMs } = this.#surroundings
    const askedMs = nowMs()
    const lease = await this.#acquire(options)
    if (!lease.ok) return lease
    const grantedMs = nowMs()
    const { client, release } = lease.value
    if (options.cancellation.reason !== undefined) {
      release(true)
      return fail(gatewayError(options.cancellation.reason))
    }
    const { end, schemaChanged } = await this.#read(client, statement, options)
    switch (end.kind) {
      case 'rows':
        release(true)
        return ok({ rows: end.rows, queueMs: grantedMs - askedMs, dbMs: nowMs() - grantedMs })
      case 'failed': {
        const error = statementError(end.error)
        release(error.code !== 'CONNECTOR_UNAVAILABLE')
        return fail(schemaChanged ? { ...error, code: 'SCHEMA_CHANGED' } : error)
      }
      case 'too_large':
      case 'stopped':
        release(false)
        return fail(stoppedError(end, options))
      default:
        return unreachable(end)
    }
  }

  async introspect(schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    if (this.#closing !== undefined) return fail(closedError())
    // A connection of its own: a reload must not take a place from the calls it is meant not to disturb.
    const client = new Client(clientSettings(this.#settings.connection, this.#tls))
    client.on('error', () => {})
    this.#track(client)
    const cancellation = new Cancellation()
    const stop = (): void => cancellation.request('CANCELLED')
    this.#stops.add(stop)
    try {
      const connected = await connect(client)
      if (!connected.ok) return connected
      return await introspectCatalog(this.#catalogReader(client, cancellation), schemas)
    } finally {
      this.#stops.delete(stop)
      await endWithin(client, CANCEL_GRACE_MS)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const stop of [...this.#stops]) stop()
    await this.#pool.end()
    await Promise.all([...this.#clients].map((client) => endWithin(client, CANCEL_GRACE_MS)))
  }

  /** Waits for a place, then for a connection. The two have one deadline and different answers. */
  #acquire(options: ExecuteOptions): Promise<Result<Lease, GatewayError>> {
    const { acquireTimeoutMs, cancellation } = options
    return new Promise((resolve) => {
      if (this.#closing !== undefined) return resolve(fail(closedError()))
      if (cancellation.reason !== undefined) return resolve(fail(gatewayError(cancellation.reason)))
      let phase: 'queued' | 'connecting' | 'over' = 'queued'
      let leave = (): void => {}
      const settle = (result: Result<Lease, GatewayError>): void => {
        if (phase === 'queued') leave()
        phase = 'over'
        clearTimeout(deadline)
        cancellation.listen(undefined)
        this.#stops.delete(stop)
        resolve(result)
      }
      const stop = (): void => settle(fail(closedError()))
      const deadline = setTimeout(() => settle(fail(this.#waitedTooLong(phase))), acquireTimeoutMs)
      this.#stops.add(stop)
      leave = this.#queue.enter(() => {
        phase = 'connecting'
        this.#connect((connected) => {
          // Whoever gave up meanwhile held the place until here, so that the pool is never asked for more than it has.
          if (phase !== 'over') settle(connected)
          else if (connected.ok) connected.value.release(true)
        })
      })
      cancellation.listen(() => settle(fail(gatewayError(cancellation.reason ?? 'CANCELLED'))))
    })
  }

  #connect(connected: (lease: Result<Lease, GatewayError>) => void): void {
    this.#connecting += 1
    this.#pool.connect((error, client, release) => {
      this.#connecting -= 1
      if (client === undefined) {
        this.#queue.release()
        connected(fail(connectError(error)))
        return
      }
      const giveBack = (reusable: boolean): void => {
        release(!reusable)
        this.#queue.release()
      }
      connected(ok({ client, release: giveBack }))
    })
  }

  #waitedTooLong(phase: 'queued' | 'connecting' | 'over'): GatewayError {
    if (phase === 'connecting' || this.#connecting === this.#settings.pool.max) {
      return gatewayError('CONNECTOR_UNAVAILABLE', { reason: 'connecting took longer than the pool wait' })
    }
    const reason = `pool wait: all ${this.#settings.pool.max} connections busy, ${this.#queue.waiting} calls waiting`
    return gatewayError('OVERLOADED', { reason })
  }

  async #read(
    client: PoolClient,
    statement: CompiledStatement,
    options: ExecuteOptions,
  ): Promise<{ readonly end: ReadEnd; readonly schemaChanged: boolean }> {
    const { text, params } = statement
    const { timeoutMs, bytesMax, cancellation } = options
    const session = this.#session(client)
    const names = this.#namesOf(client)
    const named = this.#shapes.seen(text) ? names.use(text) : undefined
    const startedMs = this.#surroundings.nowMs()
    const end = await this.#runStoppable(session, { text, params, named, timeoutMs, bytesMax }, cancellation)
    if (end.kind !== 'failed' || named === undefined) return { end, schemaChanged: false }
    const state = sqlstateOf(end.error)
    if (named.parse) {
      names.forget(text)
      return { end, schemaChanged: false }
    }
    if (state === UNKNOWN_PREPARED_STATEMENT) {
      names.forgetAll()
      const leftMs = Math.max(1, timeoutMs - (this.#surroundings.nowMs() - startedMs))
      const request = { text, params, named: undefined, timeoutMs: leftMs, bytesMax }
      return { end: await this.#runStoppable(session, request, cancellation), schemaChanged: false }
    }
    // A statement that worked when it was prepared: its columns have other types now.
    if (state === FEATURE_NOT_SUPPORTED) {
      names.forget(text)
      return { end, schemaChanged: true }
    }
    return { end, schemaChanged: false }
  }

  async #runStoppable(
    session: ReadSession,
    request: Parameters<typeof runRead>[1],
    cancellation: Cancellation,
  ): Promise<ReadEnd> {
    const stop = (): void => cancellation.request('CANCELLED')
    this.#stops.add(stop)
    const end = await runRead(session, request, cancellation)
    this.#stops.delete(stop)
    return end
  }

  #catalogReader(client: Client, cancellation: Cancellation): CatalogReader {
    const session = this.#session(client)
    const { nowMs } = this.#surroundings
    const deadlineMs = nowMs() + INTROSPECTION_TIMEOUT_MS
    return async (text, params) => {
      if (cancellation.reason !== undefined) return fail(closedError())
      const limits = { timeoutMs: Math.max(1, deadlineMs - nowMs()), bytesMax: INTROSPECTION_BYTES_MAX }
      const end = await runRead(session, { text, params, named: undefined, ...limits }, cancellation)
      switch (end.kind) {
        case 'rows':
          return ok(end.rows)
        case 'failed':
          return fail(statementError(end.error))
        case 'too_large':
        case 'stopped':
          return fail(stoppedError(end, limits))
        default:
          return unreachable(end)
      }
    }
  }

  #session(client: Client): ReadSession {
    return {
      submit: (query) => {
        client.query(query)
      },
      cancel: () => {
        const key = backendKeyOf(client)
        if (key === undefined) return
        const { host, port } = this.#settings.connection
        sendCancelRequest({ host, port, tls: this.#tls, timeoutMs: CANCEL_GRACE_MS }, key).catch((error: unknown) =>
          this.#connectionLost('a cancel request failed', error),
        )
      },
    }
  }

  #namesOf(client: Client): NamedStatements {
    const known = this.#statements.get(client)
    if (known !== undefined) return known
    const names = new NamedStatements()
    this.#statements.set(client, names)
    return names
  }

  #track(client: Client): void {
    this.#clients.add(client)
    client.on('end', () => this.#clients.delete(client))
  }

  #connectionLost(what: string, error: unknown): void {
    const detail = reasonOf(what, error)
    this.#surroundings.observe({ kind: 'driver.connection_lost', connector: this.#settings.id, detail })
  }
}

function closedError(): GatewayError {
  return gatewayError('CONNECTOR_UNAVAILABLE', { reason: 'the driver was closed' })
}

function stoppedError(
  end: Extract<ReadEnd, { kind: 'stopped' | 'too_large' }>,
  limits: { readonly timeoutMs: number; readonly bytesMax: number },
): GatewayError {
  if (end.kind === 'too_large') {
    return gatewayError('RESULT_TOO_LARGE', { reason: `the result passed ${limits.bytesMax} bytes` })
  }
  if (end.code === 'CANCELLED') return gatewayError('CANCELLED')
  return gatewayError('TIMEOUT', { reason: `the statement ran longer than ${Math.round(limits.timeoutMs)} ms` })
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
