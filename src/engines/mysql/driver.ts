import { unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { INTROSPECTION_BYTES_MAX, INTROSPECTION_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { CatalogReader } from '../catalog/rows.js'
import { Calls, unavailableDriver } from '../driver/calls.js'
import { closedError } from '../driver/lease-pool.js'
import { closeAll, connectionsOf } from '../driver/pools.js'
import { runMutation, type TransactionEnd } from '../driver/run-mutation.js'
import { stoppedError } from '../driver/stoppable.js'
import type {
  CallExecution,
  Cancellation,
  CompiledCall,
  CompiledMutation,
  Driver,
  ExecuteOptions,
  Execution,
  Rows,
  WriteExecution,
} from '../engine.js'
import { ConnectionPool, type DriverSurroundings, type Session } from './connection-pool.js'
import { detailOf, reasonOf, statementError } from './errors.js'
import { introspectCatalog } from './introspector.js'
import { runCall } from './run-call.js'
import { type Tls, tlsOf } from './session.js'
import { otherTypes, runStatement, tooLarge, type WireEnd, type WireStatement } from './wire.js'
import { type TransactionParts, WriteTransaction } from './write-transaction.js'

/**
 * As many of the catalog's queries as can see one state of it. None of them writes, but where nothing may be written MariaDB
 * does not open a view whose function could, and describes it as a broken one.
 */
const BEGIN_INTROSPECTION: WireStatement = { kind: 'control', text: 'START TRANSACTION READ WRITE' }

/**
 * A driver for one connector. It connects when it is first used, and again after every loss. A certificate authority file
 * that cannot be read makes it answer CONNECTOR_UNAVAILABLE, as an unreachable server does.
 */
export function createMysqlDriver(settings: ConnectorSettings, surroundings: DriverSurroundings): Driver {
  try {
    return new MysqlDriver(settings, tlsOf(settings.connection), surroundings)
  } catch (error) {
    return unavailableDriver(
      gatewayError('CONNECTOR_UNAVAILABLE', {
        reason: reasonOf('tls ca_file', error),
        detail: detailOf('tls ca_file', error),
      }),
    )
  }
}

class MysqlDriver implements Driver {
  readonly #surroundings: DriverSurroundings
  readonly #database: string
  readonly #reads: ConnectionPool
  /** Nothing but mutations and writing calls ever has one of these connections. */
  readonly #writes: ConnectionPool
  readonly #calls: Calls
  #closing: Promise<void> | undefined

  constructor(settings: ConnectorSettings, tls: Tls, surroundings: DriverSurroundings) {
    this.#surroundings = surroundings
    this.#database = settings.connection.database
    this.#reads = new ConnectionPool(settings, 'read', tls, surroundings)
    this.#writes = new ConnectionPool(settings, 'write', tls, surroundings)
    this.#calls = new Calls(surroundings.nowMs)
  }

  execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    return statement.runsCode === true ? this.#readWithCode(statement, options) : this.#read(statement, options)
  }

  #read({ text, params, columns }: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    return this.#calls.read(this.#reads.leases, options, async (session) => {
      for (const limit of session.limited(options.timeoutMs)) {
        const end = await runStatement(session, limit, options, options.cancellation)
        if (end.kind !== 'done') return { end: rowsOf(end, options), reusable: false }
      }
      const statement = { kind: 'prepared', text, params } as const
      const end = await runStatement(session, statement, options, options.cancellation, columns)
      const changed = end.kind === 'done' ? otherTypes(end.answer, columns) : undefined
      if (changed !== undefined) return { end: fail(changed), reusable: true }
      return { end: rowsOf(end, options), reusable: isReusable(end) }
    })
  }

  /** What a view's function does to its session lasts: nothing can be written meanwhile, and the session is made as it was. */
  #readWithCode(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    return this.#transaction(this.#reads, options, async (parts) => {
      const transaction = new WriteTransaction({ ...parts, reading: true })
      const ran = await transaction.run(statement)
      return transaction.rollBack(ran.ok ? ok(ran.value.rows) : ran)
    })
  }

  mutate(mutation: CompiledMutation, options: ExecuteOptions): Promise<WriteExecution> {
    return this.#transaction(this.#writes, options, (parts) => runMutation(mutation, new WriteTransaction(parts)))
  }

  call(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    const reading = call.effect === 'read' ? ({ reading: true } as const) : {}
    const pool = call.effect === 'read' ? this.#reads : this.#writes
    return this.#transaction(pool, options, (parts) => runCall(call, new WriteTransaction({ ...parts, ...reading })))
  }

  introspect(_schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    return this.#calls.track((cancellation) =>
      // A connection of its own: a reload must not take a place from the calls it is meant not to disturb.
      this.#reads.withOwn(async (session) => {
        const read = this.#catalogReader(session, cancellation)
        const begun = await read(BEGIN_INTROSPECTION)
        if (!begun.ok) return begun
        return introspectCatalog((text, params) => read({ kind: 'prepared', text, params, once: true }), this.#database)
      }),
    )
  }

  get connections() {
    return connectionsOf([this.#reads, this.#writes])
  }

  close(): Promise<void> {
    this.#closing ??= closeAll([this.#reads, this.#writes], this.#calls)
    return this.#closing
  }

  #transaction<T>(
    pool: ConnectionPool,
    options: ExecuteOptions,
    run: (parts: TransactionParts) => Promise<TransactionEnd<T>>,
  ): Promise<Omit<WriteExecution, 'outcome'> & { readonly outcome: Result<T, GatewayError> }> {
    const { nowMs, randomBytes } = this.#surroundings
    return this.#calls.write(pool.leases, options, (session) => run({ session, options, nowMs, randomBytes }))
  }

  #catalogReader(
    session: Session,
    cancellation: Cancellation,
  ): (statement: WireStatement) => ReturnType<CatalogReader> {
    const { nowMs } = this.#surroundings
    const deadlineMs = nowMs() + INTROSPECTION_TIMEOUT_MS
    return async (statement) => {
      if (cancellation.reason !== undefined) return fail(closedError())
      const limits = { timeoutMs: Math.max(1, deadlineMs - nowMs()), bytesMax: INTROSPECTION_BYTES_MAX }
      return rowsOf(await runStatement(session, statement, limits, cancellation), limits)
    }
  }
}

function isReusable(end: WireEnd): boolean {
  if (end.kind === 'done') return true
  return end.kind === 'failed' && statementError(end.error).code !== 'CONNECTOR_UNAVAILABLE'
}

function rowsOf(
  end: WireEnd,
  limits: { readonly timeoutMs: number; readonly bytesMax: number },
): Result<Rows, GatewayError> {
  switch (end.kind) {
    case 'done':
      return ok(end.answer.sets[0]?.rows ?? [])
    case 'failed':
      return fail(statementError(end.error))
    case 'too_large':
      return fail(tooLarge(end, limits.bytesMax))
    case 'stopped':
      return fail(stoppedError(end.code, limits.timeoutMs))
    default:
      return unreachable(end)
  }
}
