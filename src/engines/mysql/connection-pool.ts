import { CANCEL_GRACE_MS, CONNECT_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok } from '../../core/result.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import { connectWith, type PasswordSource } from '../driver/password-source.js'
import type { MakerOf } from '../driver/pools.js'
import type { DriverSurroundings, PooledSession } from '../driver/session-pool.js'
import { Cancellation } from '../engine.js'
import { MysqlConnection } from './connection.js'
import { connectError, detailOf, isLoginRefused } from './errors.js'
import { KeptNames, letNamesGo } from './guarded-read.js'
import { Killer, type Whereabouts, whereaboutsOf } from './killer.js'
import { sessionConstants, statementLimit, type Tls, whereaboutsQuery } from './session.js'
import { type Receiver, runStatement, tidyUp, type WireEnd, type WireSession, type WireStatement } from './wire.js'

/** One connection with its constants, and the way to end what it runs. */
export class Session implements WireSession, PooledSession {
  readonly openedMs: number
  readonly names = new KeptNames()
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

  get lost(): boolean {
    return this.connection.lost
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

  /** Whoever renames a column may wait for the names that the session keeps. */
  tidy(): Promise<boolean> | undefined {
    return this.names.open ? letNamesGo(this) : undefined
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

/** How the sessions of one use are made: connected, with their constants set, and with a way to end what they run. */
export function sessionMakers(
  settings: ConnectorSettings,
  tls: Tls,
  surroundings: DriverSurroundings,
): MakerOf<Session> {
  const { idleTimeoutMs } = settings.pool
  return (use, passwords, idle) => {
    const kills = killers(settings, tls, passwords, surroundings)
    return {
      begin: (password, lost) => {
        const connection = new MysqlConnection(settings, tls, { password, timeoutMs: CONNECT_TIMEOUT_MS })
        // Statements that idle sessions keep are room for those that run.
        connection.onStatementsFull = () => Promise.all(idle().map((each) => each.connection.forgetStatements()))
        connection.onLost = lost
        const constants = (): WireStatement => {
          return { kind: 'control', text: sessionConstants(use, connection.product, idleTimeoutMs) }
        }
        return new Session(connection, surroundings.nowMs(), constants, kills)
      },
      open: async (session) => {
        try {
          await session.connection.connected()
        } catch (error) {
          return fail({ error: connectError(error), refused: isLoginRefused(error) })
        }
        const set = await session.setUp()
        if (set.kind === 'done') return ok(undefined)
        const error = set.kind === 'failed' ? set.error : new Error('setting up the session took too long')
        return fail({ error: connectError(error), refused: false })
      },
      detailOf,
    }
  }
}

function killers(
  settings: ConnectorSettings,
  tls: Tls,
  passwords: PasswordSource,
  { observe, nowMs }: DriverSurroundings,
): (session: Session) => Killer {
  const failed = (what: string, error: unknown): void =>
    observe({ kind: 'driver.connection_lost', connector: settings.id, detail: detailOf(what, error) })
  return (session) =>
    new Killer({
      threadId: session.connection.threadId,
      whereabouts: session.whereabouts,
      open: () => killerConnection(settings, tls, passwords),
      failed: (error) => failed('a kill request failed', error),
      elsewhere: () => {
        session.closeSocket()
        failed('a kill request', new Error('did not reach the server that runs the statement'))
      },
      nowMs,
    })
}

/** Throws what kept it from connecting. */
async function killerConnection(
  settings: ConnectorSettings,
  tls: Tls,
  passwords: PasswordSource,
): Promise<MysqlConnection> {
  let cause: unknown
  const opened = await connectWith(passwords, async (password) => {
    const connection = new MysqlConnection(settings, tls, { password, timeoutMs: CANCEL_GRACE_MS })
    try {
      await connection.connected()
      return ok(connection)
    } catch (error) {
      connection.destroy()
      cause = error
      return fail({ error: connectError(error), refused: isLoginRefused(error) })
    }
  })
  if (opened.ok) return opened.value
  throw cause ?? new Error(opened.error.detail)
}
