import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { CatalogReader } from '../catalog/rows.js'
import type { WriteOf } from '../driver/calls.js'
import { DriverPools, driverWithTls, type QueryLimits } from '../driver/pools.js'
import { columnsChanged, runMutation, type TransactionEnd } from '../driver/run-mutation.js'
import type { DriverSurroundings, SessionPool } from '../driver/session-pool.js'
import { errorOfEnd, mayServeAgain } from '../driver/statement-ends.js'
import type {
  CallExecution,
  CompiledCall,
  CompiledMutation,
  Driver,
  ExecuteOptions,
  Execution,
  Rows,
  WriteExecution,
} from '../engine.js'
import { type Session, sessionMakers } from './connection-pool.js'
import { detailOf, reasonOf, statementError } from './errors.js'
import { letNamesGo, readGuarded } from './guarded-read.js'
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

export interface MysqlSurroundings extends DriverSurroundings {
  /** Gives that many cryptographically random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
}

/** A driver for one connector. It connects when it is first used, and again after every loss. */
export function createMysqlDriver(settings: ConnectorSettings, surroundings: MysqlSurroundings): Driver {
  return driverWithTls(
    () => tlsOf(settings.connection),
    (tls) => new MysqlDriver(settings, tls, surroundings),
    { reasonOf, detailOf },
  )
}

class MysqlDriver implements Driver {
  readonly #surroundings: MysqlSurroundings
  readonly #database: string
  readonly #pools: DriverPools<Session>

  constructor(settings: ConnectorSettings, tls: Tls, surroundings: MysqlSurroundings) {
    this.#surroundings = surroundings
    this.#database = settings.connection.database
    this.#pools = new DriverPools(settings, surroundings, sessionMakers(settings, tls, surroundings))
  }

  execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    const { guard } = statement
    if (statement.runsCode === true) return this.#readWithCode(statement, options)
    if (guard === undefined) return this.#read(statement, options)
    const { nowMs } = this.#surroundings
    return this.#pools.calls.read(this.#pools.reads.leases, options, (session) =>
      readGuarded(session, statement, guard, options, nowMs),
    )
  }

  #read({ text, params, columns }: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    return this.#pools.calls.read(this.#pools.reads.leases, options, async (session) => {
      if (!(await letNamesGo(session))) return { end: fail(LOST), reusable: false }
      for (const limit of session.limited(options.timeoutMs)) {
        const end = await runStatement(session, limit, options, options.cancellation)
        if (end.kind !== 'done') return { end: rowsOf(end, options), reusable: false }
      }
      const statement = { kind: 'prepared', text, params } as const
      const end = await runStatement(session, statement, options, options.cancellation, columns)
      const changed = end.kind === 'done' ? otherTypes(end.answer, columns) : undefined
      if (changed !== undefined) return { end: fail(changed), reusable: true }
      return { end: rowsOf(end, options), reusable: mayServeAgain(end, statementError) }
    })
  }

  /** What a view's function does to its session lasts: nothing can be written meanwhile, and the session is made as it was. */
  #readWithCode(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    const { guard } = statement
    return this.#transaction(this.#pools.reads, options, async (parts) => {
      const transaction = new WriteTransaction({ ...parts, reading: true })
      const changed = guard === undefined ? undefined : columnsChanged(await transaction.run(guard))
      if (changed !== undefined) return transaction.rollBack(fail(changed))
      const ran = await transaction.run(statement)
      return transaction.rollBack(ran.ok ? ok(ran.value.rows) : ran)
    })
  }

  mutate(mutation: CompiledMutation, options: ExecuteOptions): Promise<WriteExecution> {
    return this.#transaction(this.#pools.writes, options, (parts) => runMutation(mutation, new WriteTransaction(parts)))
  }

  call(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    const reading = call.effect === 'read' ? ({ reading: true } as const) : {}
    const pool = call.effect === 'read' ? this.#pools.reads : this.#pools.writes
    return this.#transaction(pool, options, (parts) => runCall(call, new WriteTransaction({ ...parts, ...reading })))
  }

  introspect(_schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    return this.#pools.introspect(async (session, limits, cancellation) => {
      const read = async (statement: WireStatement): ReturnType<CatalogReader> => {
        const left = limits()
        if (!left.ok) return left
        return rowsOf(await runStatement(session, statement, left.value, cancellation), left.value)
      }
      const begun = await read(BEGIN_INTROSPECTION)
      if (!begun.ok) return begun
      return introspectCatalog((text, params) => read({ kind: 'prepared', text, params, once: true }), this.#database)
    })
  }

  get connections() {
    return this.#pools.connections
  }

  close(): Promise<void> {
    return this.#pools.close()
  }

  #transaction<T>(
    pool: SessionPool<Session>,
    options: ExecuteOptions,
    run: (parts: TransactionParts) => Promise<TransactionEnd<T>>,
  ): Promise<WriteOf<T>> {
    const { nowMs, randomBytes } = this.#surroundings
    return this.#pools.calls.write(pool.leases, options, async (session) => {
      if (!(await letNamesGo(session))) return { outcome: fail(LOST), effect: 'none', reusable: false }
      return run({ session, options, nowMs, randomBytes })
    })
  }
}

const LOST = gatewayError('CONNECTOR_UNAVAILABLE', { reason: 'a session did not end its transaction' })

function rowsOf(end: WireEnd, limits: QueryLimits): Result<Rows, GatewayError> {
  if (end.kind === 'done') return ok(end.answer.sets[0]?.rows ?? [])
  return fail(end.kind === 'too_large' ? tooLarge(end, limits.bytesMax) : errorOfEnd(end, limits, statementError))
}
