import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import { Cancellation, type Driver, type ExecuteOptions, type Execution, type WriteExecution } from '../engine.js'
import { closedError, type Lease, type LeasePool } from './lease-pool.js'
import type { TransactionEnd } from './run-mutation.js'

/** How a use of a session ended, and whether the session may serve another. */
export interface Used<T> {
  readonly end: T
  readonly reusable: boolean
}

/** What a transaction that may change something ended with, whatever it gives. */
export type WriteOf<T> = Omit<WriteExecution, 'outcome'> & { readonly outcome: Result<T, GatewayError> }

interface Timed<T> {
  /** The error of a call that never had a connection. */
  readonly used: Result<T, GatewayError>
  readonly queueMs: number
  readonly dbMs: number
}

/** The connections a call can be given. */
export type Leases<S extends { readonly openedMs: number }> = Pick<LeasePool<S>, 'acquire' | 'release'>

/** The calls that a driver has under way: each is timed, and each can be stopped when the driver closes. */
export class Calls {
  readonly #nowMs: () => number
  readonly #active = new Set<Cancellation>()
  #closed = false

  /** `nowMs`: monotonic milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** A read that lasts as long as `use`; its outcome is what `use` ends with. */
  async read<S extends { readonly openedMs: number }, T>(
    leases: Leases<S>,
    options: ExecuteOptions,
    use: (session: S) => Promise<Used<Result<T, GatewayError>>>,
  ): Promise<{ readonly outcome: Result<T, GatewayError> } & Omit<Execution, 'outcome'>> {
    const { used, ...times } = await this.#use(leases, options, use)
    return { outcome: used.ok ? used.value : used, ...times }
  }

  /** A transaction that may change something: a call that never had a connection has changed nothing. */
  async write<S extends { readonly openedMs: number }, T>(
    leases: Leases<S>,
    options: ExecuteOptions,
    run: (session: S) => Promise<TransactionEnd<T>>,
  ): Promise<WriteOf<T>> {
    const { used, ...times } = await this.#use(leases, options, async (session) => {
      const { reusable, ...end } = await run(session)
      return { end, reusable }
    })
    return used.ok ? { ...used.value, ...times } : { outcome: used, effect: 'none', ...times }
  }

  /** Something beside the calls that closing has to stop as well. It is refused once the driver is closed. */
  async track<T>(
    run: (cancellation: Cancellation) => Promise<Result<T, GatewayError>>,
  ): Promise<Result<T, GatewayError>> {
    if (this.#closed) return fail(closedError())
    const cancellation = new Cancellation()
    this.#active.add(cancellation)
    try {
      return await run(cancellation)
    } finally {
      this.#active.delete(cancellation)
    }
  }

  /** Refuses what comes from now on and stops what is under way. */
  stop(): void {
    this.#closed = true
    for (const cancellation of [...this.#active]) cancellation.request('CANCELLED')
  }

  /** Runs `use` on a connection of the pool, unless the call ends before there is one. */
  async #use<S extends { readonly openedMs: number }, T>(
    leases: Leases<S>,
    options: ExecuteOptions,
    use: (session: S) => Promise<Used<T>>,
  ): Promise<Timed<T>> {
    const { cancellation } = options
    if (this.#closed) return { used: fail(closedError()), queueMs: 0, dbMs: 0 }
    if (cancellation.reason !== undefined) return { used: fail(gatewayError(cancellation.reason)), queueMs: 0, dbMs: 0 }
    this.#active.add(cancellation)
    try {
      const askedMs = this.#nowMs()
      const lease = await leases.acquire(options)
      const grantedMs = this.#nowMs()
      const queueMs = grantedMs - askedMs
      if (!lease.ok) return { used: lease, queueMs, dbMs: 0 }
      if (cancellation.reason !== undefined) {
        leases.release(lease.value, true)
        return { used: fail(gatewayError(cancellation.reason)), queueMs, dbMs: 0 }
      }
      const end = await releasing(leases, lease.value, use)
      return { used: ok(end), queueMs, dbMs: this.#nowMs() - grantedMs }
    } finally {
      this.#active.delete(cancellation)
    }
  }
}

async function releasing<S extends { readonly openedMs: number }, T>(
  leases: Leases<S>,
  lease: Lease<S>,
  use: (session: S) => Promise<Used<T>>,
): Promise<T> {
  const { end, reusable } = await use(lease.session)
  leases.release(lease, reusable)
  return end
}

/** A driver that answers every call with the reason why it cannot be one. */
export function unavailableDriver(error: GatewayError): Driver {
  const execution = { outcome: fail(error), effect: 'none' as const, queueMs: 0, dbMs: 0 }
  return {
    connections: { idle: 0, busy: 0 },
    introspect: async () => fail(error),
    execute: async () => execution,
    mutate: async () => execution,
    call: async () => execution,
    close: async () => {},
  }
}
