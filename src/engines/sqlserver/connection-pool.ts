import { CONNECT_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok } from '../../core/result.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { MakerOf } from '../driver/pools.js'
import type { PooledSession } from '../driver/session-pool.js'
import { Cancellation } from '../engine.js'
import { SqlserverConnection } from './connection.js'
import { connectError, detailOf, isLoginRefused } from './errors.js'
import { SESSION_CONSTANTS, SESSION_RESTORED, type Tls } from './session.js'
import { type Receiver, runStatement, tidyUp, type WireSession, type WireStatement } from './wire.js'

/** One connection with its constants. */
export class Session implements WireSession, PooledSession {
  readonly openedMs: number
  readonly connection: SqlserverConnection
  #ended: Promise<void> | undefined

  constructor(connection: SqlserverConnection, openedMs: number) {
    this.connection = connection
    this.openedMs = openedMs
  }

  get lost(): boolean {
    return this.connection.lost
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

/** How the sessions of one use are made: connected, and with their constants set. */
export function sessionMakers(settings: ConnectorSettings, tls: Tls, nowMs: () => number): MakerOf<Session> {
  return (use) => ({
    begin: (password, lost) => {
      const connection = new SqlserverConnection(settings, use, tls, { password, timeoutMs: CONNECT_TIMEOUT_MS })
      connection.onLost = lost
      return new Session(connection, nowMs())
    },
    open: async (session) => {
      try {
        await session.connection.connected()
      } catch (error) {
        return fail({ error: connectError(error), refused: isLoginRefused(error) })
      }
      const set = await session.setConstants()
      if (set.kind === 'done') return ok(undefined)
      const error = set.kind === 'failed' ? set.error : new Error('setting up the session took too long')
      return fail({ error: connectError(error), refused: false })
    },
    detailOf,
  })
}
