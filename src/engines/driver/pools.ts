import { type GatewayError, gatewayError } from '../../core/errors.js'
import { INTROSPECTION_BYTES_MAX, INTROSPECTION_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { Cancellation, Driver } from '../engine.js'
import { Calls, unavailableDriver } from './calls.js'
import { closedError } from './lease-pool.js'
import { type PasswordSource, passwordSource } from './password-source.js'
import {
  type DriverSurroundings,
  type PooledSession,
  type SessionMaker,
  SessionPool,
  type SessionUse,
} from './session-pool.js'

/** How an engine makes the sessions of one use. `idle`: those of them that nobody uses now. */
export type MakerOf<S extends PooledSession> = (
  use: SessionUse,
  passwords: PasswordSource,
  idle: () => readonly S[],
) => SessionMaker<S>

/** What one catalog query may take. */
export interface QueryLimits {
  readonly timeoutMs: number
  readonly bytesMax: number
}

/** The connections of one driver and the calls that use them, as every engine counts and ends them. */
export class DriverPools<S extends PooledSession> {
  readonly calls: Calls
  readonly reads: SessionPool<S>
  /** Nothing but mutations and writing calls ever has one of these connections. */
  readonly writes: SessionPool<S>
  readonly #passwords: PasswordSource
  readonly #nowMs: () => number
  #closing: Promise<void> | undefined

  constructor(settings: ConnectorSettings, surroundings: DriverSurroundings, makerOf: MakerOf<S>) {
    this.#nowMs = surroundings.nowMs
    this.#passwords = passwordSource(settings.connection, surroundings.nowMs)
    this.calls = new Calls(surroundings.nowMs)
    const poolFor = (use: SessionUse): SessionPool<S> => {
      const maker = makerOf(use, this.#passwords, () => pool.idleSessions)
      const pool: SessionPool<S> = new SessionPool(settings, maker, this.#passwords, surroundings)
      return pool
    }
    this.reads = poolFor('read')
    this.writes = poolFor('write')
  }

  get connections(): Driver['connections'] {
    const [reads, writes] = [this.reads.connections, this.writes.connections]
    return { idle: reads.idle + writes.idle, busy: reads.busy + writes.busy }
  }

  /**
   * Reads the catalog on a connection of its own: a reload must not take a place from the calls it is meant not to disturb.
   * `limits` gives those of the next query, within the time of all of them, and fails once the reading is to end.
   */
  introspect<T>(
    read: (
      session: S,
      limits: () => Result<QueryLimits, GatewayError>,
      cancellation: Cancellation,
    ) => Promise<Result<T, GatewayError>>,
  ): Promise<Result<T, GatewayError>> {
    return this.calls.track((cancellation) =>
      this.reads.withOwn((session) => {
        const deadlineMs = this.#nowMs() + INTROSPECTION_TIMEOUT_MS
        const limits = (): Result<QueryLimits, GatewayError> => {
          if (cancellation.reason !== undefined) return fail(closedError())
          return ok({ timeoutMs: Math.max(1, deadlineMs - this.#nowMs()), bytesMax: INTROSPECTION_BYTES_MAX })
        }
        return read(session, limits, cancellation)
      }),
    )
  }

  /** Hands no connection on, stops what is under way, and settles when every connection is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const pools = [this.reads, this.writes]
    for (const pool of pools) pool.leases.refuse()
    this.calls.stop()
    await Promise.all(pools.map((pool) => pool.close()))
    // Until then what runs may still have to be ended from another connection.
    this.#passwords.close()
  }
}

/** How an engine tells of an error: to the entry, and to the operator. */
export interface ErrorTexts {
  reasonOf(what: string, error: unknown): string
  detailOf(what: string, error: unknown): string
}

/**
 * The driver that `create` makes of the connector's TLS. A certificate authority file that cannot be read, by which `tlsOf`
 * throws, makes one that answers CONNECTOR_UNAVAILABLE, as an unreachable server does.
 */
export function driverWithTls<T>(tlsOf: () => T, create: (tls: T) => Driver, texts: ErrorTexts): Driver {
  let tls: T
  try {
    tls = tlsOf()
  } catch (error) {
    const reason = texts.reasonOf('tls ca_file', error)
    return unavailableDriver(
      gatewayError('CONNECTOR_UNAVAILABLE', { reason, detail: texts.detailOf('tls ca_file', error) }),
    )
  }
  return create(tls)
}
