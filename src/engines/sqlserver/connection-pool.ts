import type { GatewayError } from '../../core/errors.js'
import { CONNECT_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { Observe } from '../../observe/observation.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { closedError, type Lease, LeasePool } from '../driver/lease-pool.js'
import { Cancellation } from '../engine.js'
import { SqlserverConnection } from './connection.js'
import { connectError, detailOf } from './errors.js'
import { SESSION_CONSTANTS, SESSION_RESTORED, type SessionUse, type Tls } from './session.js'
import { type Receiver, runStatement, tidyUp, type WireSession, type WireStatement } from './wire.js'

export interface DriverSurroundings {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/** One connection with its constants. */
export class Session implements WireSession {
  readonly openedMs: number
  readonly connection: SqlserverConnection
  #ended: Promise<void> | undefined

  constructor(connection: SqlserverConnection, openedMs: number) {
    this.connection = connection
    this.openedMs = openedMs
  }

  submit(statement: WireStatement, receiver: Receiver): void {
    this.connection.submit(statement, receiver)
  }

  cancel(): void {
    this.connection.cancel()
  }

  abandon(): void {
    this.connection.destroy()
  }

  /** Sets the constants of a new session. */
  setConstants(): ReturnType<typeof runStatement> {
    const limits = { timeoutMs: CONNECT_TIMEOUT_MS, bytesMax: 1_000 }
    return runStatement(this, { kind: 'control', text: SESSION_CONSTANTS }, limits, new Cancellation())
  }

  /**
   * Takes back who the caller was, and whatever code inside of the database may have left on the session: settings, locks,
   * temporary tables. Tells whether the session is as it was.
   */
  async restore(): Promise<boolean> {
    const end = await tidyUp(this, { kind: 'reset', text: SESSION_RESTORED })
    return end.kind === 'done' && end.answer.sets.at(-1)?.rows[0]?.[0] === null
  }

  /** Settles when nothing of the session remains on this side; the server ends it with its socket. */
  end(): Promise<void> {
    this.#ended ??= this.connection.end()
    return this.#ended
  }
}

/** A session that nobody uses now. */
interface Idle {
  readonly session: Session
  readonly expiry: NodeJS.Timeout
}

/** The connections of one use. */
export class ConnectionPool {
  readonly #settings: ConnectorSettings
  readonly #use: SessionUse
  readonly #tls: Tls
  readonly #surroundings: DriverSurroundings
  /** Hands them out to calls. */
  readonly leases: LeasePool<Session>
  /** Those used last are used again first, so that the others can close. */
  readonly #idle: Idle[] = []
  /** Every session that is not closed yet, and those that are only being opened. */
  readonly #sessions = new Set<Session>()
  #closed = false

  constructor(settings: ConnectorSettings, use: SessionUse, tls: Tls, surroundings: DriverSurroundings) {
    this.#settings = settings
    this.#use = use
    this.#tls = tls
    this.#surroundings = surroundings
    this.leases = new LeasePool({ connect: (connected) => this.#connect(connected) }, settings.pool, surroundings.nowMs)
  }

  get connections() {
    return { idle: this.#idle.length, busy: this.#sessions.size - this.#idle.length }
  }

  /** Opens a connection beside the pool for as long as `use` takes. */
  async withOwn<T>(use: (session: Session) => Promise<Result<T, GatewayError>>): Promise<Result<T, GatewayError>> {
    const session = await this.#open()
    if (!session.ok) return session
    try {
      return await use(session.value)
    } finally {
      await this.#end(session.value)
    }
  }

  /** Whoever still uses a connection must have been told to stop. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { expiry } of this.#idle.splice(0)) clearTimeout(expiry)
    await Promise.all([...this.#sessions].map((session) => this.#end(session)))
  }

  #connect(connected: (lease: Result<Lease<Session>, GatewayError>) => void): void {
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      clearTimeout(idle.expiry)
      return connected(ok(this.#lease(idle.session)))
    }
    // It tells of every failure by its value, so there is nothing to catch.
    void this.#open().then((session) => connected(session.ok ? ok(this.#lease(session.value)) : session))
  }

  #lease(session: Session): Lease<Session> {
    return {
      session,
      giveBack: (reusable) => {
        this.#giveBack(session, reusable)
        return undefined
      },
    }
  }

  #giveBack(session: Session, reusable: boolean): void {
    const { idleTimeoutMs, lifetimeMaxMs } = this.#settings.pool
    const leftMs = lifetimeMaxMs - (this.#surroundings.nowMs() - session.openedMs)
    if (!reusable || this.#closed || session.connection.lost || leftMs <= 0) {
      void this.#end(session)
      return
    }
    const expiry = setTimeout(() => this.#dropIdle(session), Math.min(idleTimeoutMs, leftMs))
    this.#idle.push({ session, expiry })
  }

  #dropIdle(session: Session): void {
    const at = this.#idle.findIndex((idle) => idle.session === session)
    if (at < 0) return
    for (const { expiry } of this.#idle.splice(at, 1)) clearTimeout(expiry)
    void this.#end(session)
  }

  /** Opens a session and sets its constants. */
  async #open(): Promise<Result<Session, GatewayError>> {
    if (this.#closed) return fail(closedError())
    const session = this.#begin()
    const error = await this.#opened(session)
    if (error === undefined && !this.#closed) return ok(session)
    await this.#end(session)
    return fail(error ?? closedError())
  }

  #begin(): Session {
    const connection = new SqlserverConnection(this.#settings, this.#use, this.#tls, CONNECT_TIMEOUT_MS)
    const session = new Session(connection, this.#surroundings.nowMs())
    connection.onLost = (error) => {
      // One lost under a statement fails that statement, and whoever ran it gives it back.
      if (!this.#idle.some((idle) => idle.session === session)) return
      const detail = detailOf('an idle connection was lost', error)
      this.#surroundings.observe({ kind: 'driver.connection_lost', connector: this.#settings.id, detail })
      this.#dropIdle(session)
    }
    this.#sessions.add(session)
    return session
  }

  async #opened(session: Session): Promise<GatewayError | undefined> {
    try {
      await session.connection.connected()
    } catch (error) {
      return connectError(error)
    }
    const set = await session.setConstants()
    if (set.kind === 'done') return undefined
    return connectError(set.kind === 'failed' ? set.error : new Error('setting up the session took too long'))
  }

  async #end(session: Session): Promise<void> {
    await session.end()
    this.#sessions.delete(session)
  }
}
