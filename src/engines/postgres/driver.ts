import { Client, Pool } from 'pg'
import { unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { CANCEL_GRACE_MS, INTROSPECTION_BYTES_MAX, INTROSPECTION_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import type { Observe } from '../../observe/observation.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { Cancellation, type Driver, type ExecuteOptions, type Execution, type Rows } from '../engine.js'
import { type BackendKey, sendCancelRequest } from './cancel-request.js'
import {
  connectError,
  detailOf,
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
    return unavailableDriver(
      gatewayError('CONNECTOR_UNAVAILABLE', {
        reason: reasonOf('tls ca_file', error),
        detail: detailOf('tls ca_file', error),
      }),
    )
  }
}

function unavailableDriver(error: GatewayError): Driver {
  const execution = { outcome: fail(error), queueMs: 0, dbMs: 0 }
  const connections = { idle: 0, busy: 0 }
  return { connections, introspect: async () => fail(error), execute: async () => execution, close: async () => {} }
}

/** A connection that one call may use. */
interface Lease {
  readonly session: Session
  /** Gives the connection back to the pool, which closes it when it is not reusable. */
  readonly giveBack: (reusable: boolean) => void
}

/** One connection of the pool, with what the driver knows about it. */
interface Session extends ReadSession {
  readonly names: NamedStatements
  readonly openedMs: number
}

/** What a wait for a connection is waiting for. */
type Phase = 'queued' | 'connecting' | 'over'

class PostgresDriver implements Driver {
  readonly #settings: ConnectorSettings
  readonly #tls: Tls
  readonly #surroundings: DriverSurroundings
  readonly #pool: Pool
  readonly #queue: ReadQueue<Lease>
  readonly #shapes = new ShapesSeen()
  /** Every connection that is not closed yet. */
  readonly #sessions = new Map<Client, Session>()
  /** Of the calls and introspections under way, for `close`. */
  readonly #active = new Set<Cancellation>()
  #connecting = 0
  #closed = false
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
    this.#pool.on('error', (error) => this.#connectionLost('an idle connection was lost', error))
    this.#pool.on('connect', (client) => this.#open(client))
  }

  async execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    const { cancellation } = options
    const { nowMs } = this.#surroundings
    if (this.#closed) return { outcome: fail(closedError()), queueMs: 0, dbMs: 0 }
    if (cancellation.reason !== undefined) return { outcome: stopped(cancellation.reason), queueMs: 0, dbMs: 0 }
    this.#active.add(cancellation)
    try {
      const askedMs = nowMs()
      const lease = await this.#acquire(options)
      const grantedMs = nowMs()
      const queueMs = grantedMs - askedMs
      if (!lease.ok) return { outcome: lease, queueMs, dbMs: 0 }
      if (cancellation.reason !== undefined) {
        this.#release(lease.value, true)
        return { outcome: stopped(cancellation.reason), queueMs, dbMs: 0 }
      }
      const outcome = await this.#executeOn(lease.value, statement, options)
      return { outcome, queueMs, dbMs: nowMs() - grantedMs }
    } finally {
      this.#active.delete(cancellation)
    }
  }

  async introspect(schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    if (this.#closed) return fail(closedError())
    // A connection of its own: a reload must not take a place from the calls it is meant not to disturb.
    const client = new Client(clientSettings(this.#settings.connection, this.#tls))
    const session = this.#open(client)
    const cancellation = new Cancellation()
    this.#active.add(cancellation)
    try {
      const connected = await connect(client)
      if (!connected.ok) return connected
      return await introspectCatalog(this.#catalogReader(session, cancellation), schemas)
    } finally {
      this.#active.delete(cancellation)
      await endWithin(client, CANCEL_GRACE_MS)
    }
  }

  get connections() {
    const { totalCount, idleCount } = this.#pool
    return { idle: idleCount, busy: totalCount - idleCount }
  }

  close(): Promise<void> {
    this.#closed = true
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const cancellation of [...this.#active]) cancellation.request('CANCELLED')
    await this.#pool.end()
    await Promise.all([...this.#sessions.keys()].map((client) => endWithin(client, CANCEL_GRACE_MS)))
  }

  /** Waits for a place, then for a connection. The two have one deadline and different answers. */
  #acquire({ acquireTimeoutMs, cancellation }: ExecuteOptions): Promise<Result<Lease, GatewayError>> {
    return new Promise((resolve) => {
      const wait: { phase: Phase; deadline?: NodeJS.Timeout } = { phase: 'queued' }
      const settle = (result: Result<Lease, GatewayError>): void => {
        wait.phase = 'over'
        clearTimeout(wait.deadline)
        cancellation.listen(undefined)
        resolve(result)
      }
      const leave = this.#queue.enter((handed) => {
        if (handed !== undefined) return settle(ok(handed))
        wait.phase = 'connecting'
        this.#connect((connected) => {
          // Whoever gave up meanwhile held the place until here, so that the pool is never asked for more than it has.
          if (wait.phase !== 'over') settle(connected)
          else if (connected.ok) this.#release(connected.value, true)
        })
      })
      const giveUp = (error: GatewayError): void => {
        if (wait.phase === 'queued') leave()
        settle(fail(error))
      }
      if (wait.phase === 'over') return
      wait.deadline = setTimeout(() => giveUp(this.#waitedTooLong(wait.phase)), acquireTimeoutMs)
      cancellation.listen(() => giveUp(this.#cancelled(cancellation)))
    })
  }

  #cancelled(cancellation: Cancellation): GatewayError {
    return this.#closed ? closedError() : gatewayError(cancellation.reason ?? 'CANCELLED')
  }

  #waitedTooLong(phase: Phase): GatewayError {
    if (phase === 'connecting' || this.#connecting === this.#settings.pool.max) {
      return gatewayError('CONNECTOR_UNAVAILABLE', { reason: 'connecting took longer than the pool wait' })
    }
    const reason = `pool wait: all ${this.#settings.pool.max} connections busy, ${this.#queue.waiting} calls waiting`
    return gatewayError('OVERLOADED', { reason })
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
      const session = this.#sessions.get(client) ?? this.#open(client)
      connected(ok({ session, giveBack: (reusable) => release(!reusable) }))
    })
  }

  /** Hands the connection to the call that has waited longest, or back to the pool, which knows when to close it. */
  #release(lease: Lease, reusable: boolean): void {
    if (reusable && this.#queue.waiting > 0 && !this.#closed) {
      const ageMs = this.#surroundings.nowMs() - lease.session.openedMs
      if (ageMs < this.#settings.pool.lifetimeMaxMs) {
        this.#queue.release(lease)
        return
      }
    }
    lease.giveBack(reusable)
    this.#queue.release()
  }

  async #executeOn(
    lease: Lease,
    statement: CompiledStatement,
    options: ExecuteOptions,
  ): Promise<Result<Rows, GatewayError>> {
    const { end, schemaChanged } = await this.#read(lease.session, statement, options)
    switch (end.kind) {
      case 'rows':
        this.#release(lease, true)
        return ok(end.rows)
      case 'failed': {
        const error = statementError(end.error)
        this.#release(lease, error.code !== 'CONNECTOR_UNAVAILABLE')
        return fail(schemaChanged ? { ...error, code: 'SCHEMA_CHANGED' } : error)
      }
      case 'too_large':
      case 'stopped':
        this.#release(lease, false)
        return fail(stoppedError(end, options))
      default:
        return unreachable(end)
    }
  }

  async #read(
    session: Session,
    { text, params }: CompiledStatement,
    { timeoutMs, bytesMax, cancellation }: ExecuteOptions,
  ): Promise<{ readonly end: ReadEnd; readonly schemaChanged: boolean }> {
    const { names } = session
    const named = this.#shapes.seen(text) ? names.use(text) : undefined
    const startedMs = this.#surroundings.nowMs()
    const end = await runRead(session, { text, params, named, timeoutMs, bytesMax }, cancellation)
    if (end.kind !== 'failed' || named === undefined) return { end, schemaChanged: false }
    if (named.parse) {
      names.forget(text)
      return { end, schemaChanged: false }
    }
    const state = sqlstateOf(end.error)
    if (state === UNKNOWN_PREPARED_STATEMENT) {
      names.forgetAll()
      const leftMs = Math.max(1, timeoutMs - (this.#surroundings.nowMs() - startedMs))
      const request = { text, params, named: undefined, timeoutMs: leftMs, bytesMax }
      return { end: await runRead(session, request, cancellation), schemaChanged: false }
    }
    // A statement that worked when it was prepared: its columns have other types now.
    if (state !== FEATURE_NOT_SUPPORTED) return { end, schemaChanged: false }
    names.forget(text)
    return { end, schemaChanged: true }
  }

  #catalogReader(session: Session, cancellation: Cancellation): CatalogReader {
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

function stopped(reason: 'CANCELLED' | 'TIMEOUT'): Result<never, GatewayError> {
  return fail(gatewayError(reason))
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
