import type { GatewayError } from '../../core/errors.js'
import { CANCEL_GRACE_MS, CONNECT_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { Observe } from '../../observe/observation.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { closedError, type Lease, LeasePool } from '../driver/lease-pool.js'
import { Cancellation } from '../engine.js'
import { MysqlConnection } from './connection.js'
import { connectError, detailOf } from './errors.js'
import { Killer, type Whereabouts, whereaboutsOf } from './killer.js'
import { type SessionUse, sessionConstants, statementLimit, type Tls, whereaboutsQuery } from './session.js'
import { type Receiver, runStatement, tidyUp, type WireEnd, type WireSession, type WireStatement } from './wire.js'

export interface DriverSurroundings {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Gives that many cryptographically random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
}

/** One connection with its constants, and the way to end what it runs. */
export class Session implements WireSession {
  readonly openedMs: number
  readonly connection: MysqlConnection
  readonly #constants: () => WireStatement
  readonly #killer: (session: Session) => Killer
  #killing: Killer | undefined
  /** What the server was last told, so that calls of one timeout tell it once. */
  #limitMs: number | undefined
  #whereabouts: Whereabouts | undefined
  #abandoned = false
  #ended: Promise<void> | undefined

  constructor(
    connection: MysqlConnection,
    openedMs: number,
    constants: () => WireStatement,
    killer: (session: Session) => Killer,
  ) {
    this.connection = connection
    this.openedMs = openedMs
    this.#constants = constants
    this.#killer = killer
  }

  submit(statement: WireStatement, receiver: Receiver): void {
    this.connection.submit(statement, receiver)
  }

  /** Where the session is, as the server itself saw it when it was opened. */
  get whereabouts(): Whereabouts | undefined {
    return this.#whereabouts
  }

  /** Whether it was closed on this side alone, so that the server may still be at work for it. */
  get abandoned(): boolean {
    return this.#abandoned
  }

  cancel(): void {
    this.#killing ??= this.#killer(this)
    this.#killing.interrupt()
  }

  limited(timeoutMs: number): readonly WireStatement[] {
    if (this.#limitMs === timeoutMs) return []
    this.#limitMs = timeoutMs
    return [{ kind: 'control', text: statementLimit(this.connection.product, timeoutMs) }]
  }

  abandon(): void {
    this.#killing ??= this.#killer(this)
    this.#killing.kill()
    this.closeSocket()
  }

  /** Where the server cannot be told to stop, the socket is all that can be closed. */
  closeSocket(): void {
    this.#abandoned = true
    this.connection.destroy()
  }

  /** Sets the constants of a new session, and learns what is needed to find it again from another. */
  async setUp(): Promise<WireEnd> {
    const limits = { timeoutMs: CONNECT_TIMEOUT_MS, bytesMax: 1_000 }
    const set = await runStatement(this, this.#constants(), limits, new Cancellation())
    if (set.kind !== 'done') return set
    const { product, threadId } = this.connection
    const where: WireStatement = { kind: 'control', text: whereaboutsQuery(product, threadId) }
    const found = await runStatement(this, where, limits, new Cancellation())
    const row = found.kind === 'done' ? found.answer.sets[0]?.rows[0] : undefined
    if (row !== undefined) this.#whereabouts = whereaboutsOf(row)
    return found
  }

  /** Settles when the server is done with a session that was abandoned, as far as that can be told, or after a bounded time. */
  async gone(): Promise<void> {
    await this.#killing?.gone()
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

  #giveBack(session: Session, reusable: boolean): Promise<void> | undefined {
    const { idleTimeoutMs, lifetimeMaxMs } = this.#settings.pool
    const leftMs = lifetimeMaxMs - (this.#surroundings.nowMs() - session.openedMs)
    if (session.abandoned) return this.#outlive(session)
    if (!reusable || this.#closed || session.connection.lost || leftMs <= 0) {
      void this.#end(session)
      return undefined
    }
    const expiry = setTimeout(() => this.#dropIdle(session), Math.min(idleTimeoutMs, leftMs))
    this.#idle.push({ session, expiry })
    return undefined
  }

  /** The server may go on with what this side has given up: until then the session counts as one of the pool's. */
  async #outlive(session: Session): Promise<void> {
    if (!this.#closed) await session.gone()
    await this.#end(session)
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
      (killed) => this.#killer(killed),
    )
    // Statements that idle sessions keep are room for those that run.
    connection.onStatementsFull = () =>
      Promise.all(this.#idle.map((idle) => idle.session.connection.forgetStatements()))
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
    const set = await session.setUp()
    if (set.kind === 'done') return undefined
    return connectError(set.kind === 'failed' ? set.error : new Error('setting up the session took too long'))
  }

  async #end(session: Session): Promise<void> {
    await session.end()
    this.#sessions.delete(session)
  }

  #killer(session: Session): Killer {
    return new Killer({
      threadId: session.connection.threadId,
      whereabouts: session.whereabouts,
      open: () => new MysqlConnection(this.#settings, this.#tls, CANCEL_GRACE_MS),
      failed: (error) => this.#connectionLost('a kill request failed', error),
      elsewhere: () => {
        session.closeSocket()
        this.#connectionLost('a kill request', new Error('did not reach the server that runs the statement'))
      },
      nowMs: this.#surroundings.nowMs,
    })
  }

  #connectionLost(what: string, error: unknown): void {
    const detail = detailOf(what, error)
    this.#surroundings.observe({ kind: 'driver.connection_lost', connector: this.#settings.id, detail })
  }
}
