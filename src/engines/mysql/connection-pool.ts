import type { GatewayError } from '../../core/errors.js'
import { CANCEL_GRACE_MS, CONNECT_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { Observe } from '../../observe/observation.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { closedError, type Lease, LeasePool } from '../driver/lease-pool.js'
import { Cancellation } from '../engine.js'
import { Killer, MysqlConnection } from './connection.js'
import { connectError, detailOf, errnoOf, KILL_REFUSALS } from './errors.js'
import { type SessionUse, sessionConstants, statementLimit, type Tls } from './session.js'
import { type Receiver, runStatement, tidyUp, type WireSession, type WireStatement } from './wire.js'

export interface DriverSurroundings {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/** One connection with its constants, and the way to end what it runs. */
export class Session implements WireSession {
  readonly openedMs: number
  readonly connection: MysqlConnection
  readonly #constants: () => WireStatement
  readonly #killer: () => Killer
  #killing: Killer | undefined
  /** What the server was last told, so that calls of one timeout tell it once. */
  #limitMs: number | undefined
  #ended: Promise<void> | undefined

  constructor(
    connection: MysqlConnection,
    openedMs: number,
    constants: () => WireStatement,
    killer: (threadId: number) => Killer,
  ) {
    this.connection = connection
    this.openedMs = openedMs
    this.#constants = constants
    this.#killer = () => killer(connection.threadId)
  }

  submit(statement: WireStatement, receiver: Receiver): void {
    this.connection.submit(statement, receiver)
  }

  cancel(): void {
    this.#killing ??= this.#killer()
    this.#killing.interrupt()
  }

  limited(timeoutMs: number): readonly WireStatement[] {
    if (this.#limitMs === timeoutMs) return []
    this.#limitMs = timeoutMs
    return [{ kind: 'control', text: statementLimit(this.connection.product, timeoutMs) }]
  }

  abandon(): void {
    this.#killing ??= this.#killer()
    this.#killing.kill()
    this.connection.destroy()
  }

  /** Sets the constants of a new session. */
  setConstants(): ReturnType<typeof runStatement> {
    const limits = { timeoutMs: CONNECT_TIMEOUT_MS, bytesMax: 1_000 }
    return runStatement(this, this.#constants(), limits, new Cancellation())
  }

  /**
   * Takes back whatever code inside of the database may have left on the session: variables, locks, temporary tables. Tells
   * whether the session is as it was.
   */
  async restore(): Promise<boolean> {
    this.#limitMs = undefined
    return (await tidyUp(this, [{ kind: 'reset' }, this.#constants()])).kind === 'done'
  }

  /** Settles within twice the grace of a cancel, when nothing of the session remains. */
  end(): Promise<void> {
    this.#ended ??= (async () => {
      await this.connection.end(CANCEL_GRACE_MS)
      await this.#killing?.end()
    })()
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
    return { session, giveBack: (reusable) => this.#giveBack(session, reusable) }
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
    const { nowMs } = this.#surroundings
    const { idleTimeoutMs } = this.#settings.pool
    const connection = new MysqlConnection(this.#settings, this.#tls, CONNECT_TIMEOUT_MS)
    const session = new Session(
      connection,
      nowMs(),
      () => ({ kind: 'control', text: sessionConstants(this.#use, connection.product, idleTimeoutMs) }),
      (threadId) => this.#killer(threadId),
    )
    connection.onLost = (error) => {
      // One lost under a statement fails that statement, and whoever ran it gives it back.
      if (!this.#idle.some((idle) => idle.session === session)) return
      this.#connectionLost('an idle connection was lost', error)
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

  #killer(threadId: number): Killer {
    const open = () => new MysqlConnection(this.#settings, this.#tls, CANCEL_GRACE_MS)
    return new Killer(open, threadId, (error) => {
      if (!KILL_REFUSALS.has(errnoOf(error) ?? 0)) this.#connectionLost('a kill request failed', error)
    })
  }

  #connectionLost(what: string, error: unknown): void {
    const detail = detailOf(what, error)
    this.#surroundings.observe({ kind: 'driver.connection_lost', connector: this.#settings.id, detail })
  }
}
