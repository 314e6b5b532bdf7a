import type { GatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { Observe } from '../../observe/observation.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { closedError, type Lease, LeasePool } from './lease-pool.js'
import { type ConnectFailure, connectWith, type PasswordSource } from './password-source.js'

/** What the sessions of a pool are for: those that read cannot write, where the engine has such sessions. */
export type SessionUse = 'read' | 'write'

export interface DriverSurroundings {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/** One connection, as the pool knows it. */
export interface PooledSession {
  readonly openedMs: number
  /** Nothing can be sent on its connection any more. */
  readonly lost: boolean
  /** Whether this side gave it up while the server may go on with what it ran; never where absent. */
  readonly abandoned?: boolean
  /** Settles when the server is done with a session that was abandoned, as far as that can be told, or after a bounded time. */
  gone?(): Promise<void>
  /** Lets go of what a call has left on the session for the next one; undefined: nothing. Tells whether it may serve again. */
  tidy?(): Promise<boolean> | undefined
  /** Settles within a bounded time, and never fails, when nothing of the session remains. */
  end(): Promise<void>
}

/** How an engine makes its sessions. */
export interface SessionMaker<S extends PooledSession> {
  /** Connects to nothing that `end` of the session could not close. `lost` is to be called when its connection is lost. */
  begin(password: string, lost: (error: unknown) => void): S
  /** Settles when the session is connected and set up. */
  open(session: S): Promise<Result<undefined, ConnectFailure>>
  /** The operator's text of an error, after what it happened to. */
  detailOf(what: string, error: unknown): string
}

/** A session that nobody uses now. */
interface Idle<S> {
  readonly session: S
  readonly expiry: NodeJS.Timeout
}

/** The connections of one use: opened when they are asked for, kept while they are used, and closed by their age. */
export class SessionPool<S extends PooledSession> {
  readonly #settings: ConnectorSettings
  readonly #maker: SessionMaker<S>
  readonly #passwords: PasswordSource
  readonly #surroundings: DriverSurroundings
  /** Hands them out to calls. */
  readonly leases: LeasePool<S>
  /** Those used last are used again first, so that the others can close. */
  readonly #idle: Idle<S>[] = []
  /** Every session that is not closed yet, and those that are only being opened. */
  readonly #sessions = new Set<S>()
  #closed = false

  constructor(
    settings: ConnectorSettings,
    maker: SessionMaker<S>,
    passwords: PasswordSource,
    surroundings: DriverSurroundings,
  ) {
    this.#settings = settings
    this.#maker = maker
    this.#passwords = passwords
    this.#surroundings = surroundings
    this.leases = new LeasePool({ connect: (connected) => this.#connect(connected) }, settings.pool, surroundings.nowMs)
  }

  get connections() {
    return { idle: this.#idle.length, busy: this.#sessions.size - this.#idle.length }
  }

  get idleSessions(): readonly S[] {
    return this.#idle.map(({ session }) => session)
  }

  /** Opens a connection beside the pool for as long as `use` takes. */
  async withOwn<T>(use: (session: S) => Promise<Result<T, GatewayError>>): Promise<Result<T, GatewayError>> {
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

  #connect(connected: (lease: Result<Lease<S>, GatewayError>) => void): void {
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      clearTimeout(idle.expiry)
      return connected(ok(this.#lease(idle.session)))
    }
    // It tells of every failure by its value, so there is nothing to catch.
    void this.#open().then((session) => connected(session.ok ? ok(this.#lease(session.value)) : session))
  }

  #lease(session: S): Lease<S> {
    return { session, giveBack: (reusable) => this.#giveBack(session, reusable) }
  }

  #giveBack(session: S, reusable: boolean): Promise<void> | undefined {
    const { idleTimeoutMs, lifetimeMaxMs } = this.#settings.pool
    const leftMs = lifetimeMaxMs - (this.#surroundings.nowMs() - session.openedMs)
    if (session.abandoned === true) return this.#outlive(session)
    if (!reusable || this.#closed || session.lost || leftMs <= 0) {
      void this.#end(session)
      return undefined
    }
    // Nobody waits for the session, and somebody may for what it keeps.
    const tidied = session.tidy?.()
    if (tidied !== undefined) return tidied.then((done) => this.#giveBack(session, done))
    const expiry = setTimeout(() => this.#dropIdle(session), Math.min(idleTimeoutMs, leftMs))
    this.#idle.push({ session, expiry })
    return undefined
  }

  /** The server may go on with what this side has given up: until then the session counts as one of the pool's. */
  async #outlive(session: S): Promise<void> {
    if (!this.#closed) await session.gone?.()
    await this.#end(session)
  }

  #dropIdle(session: S): void {
    const at = this.#idle.findIndex((idle) => idle.session === session)
    if (at < 0) return
    for (const { expiry } of this.#idle.splice(at, 1)) clearTimeout(expiry)
    void this.#end(session)
  }

  async #open(): Promise<Result<S, GatewayError>> {
    if (this.#closed) return fail(closedError())
    return connectWith(this.#passwords, (password) => this.#openWith(password))
  }

  async #openWith(password: string): Promise<Result<S, ConnectFailure>> {
    const closed = fail({ error: closedError(), refused: false })
    if (this.#closed) return closed
    const session: S = this.#maker.begin(password, (error) => this.#lost(session, error))
    this.#sessions.add(session)
    const opened = await this.#maker.open(session)
    if (opened.ok && !this.#closed) return ok(session)
    await this.#end(session)
    return opened.ok ? closed : opened
  }

  /** One lost under a statement fails that statement, and whoever ran it gives it back. */
  #lost(session: S, error: unknown): void {
    if (!this.#idle.some((idle) => idle.session === session)) return
    const detail = this.#maker.detailOf('an idle connection was lost', error)
    this.#surroundings.observe({ kind: 'driver.connection_lost', connector: this.#settings.id, detail })
    this.#dropIdle(session)
  }

  async #end(session: S): Promise<void> {
    await session.end()
    this.#sessions.delete(session)
  }
}
