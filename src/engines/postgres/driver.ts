import type { GatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import { type Tls, tlsOf } from '../../storage/postgres-session.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { WriteOf } from '../driver/calls.js'
import { DriverPools, driverWithTls, type QueryLimits } from '../driver/pools.js'
import { runMutation, type TransactionEnd } from '../driver/run-mutation.js'
import type { DriverSurroundings } from '../driver/session-pool.js'
import { errorOfEnd } from '../driver/statement-ends.js'
import type {
  CallExecution,
  CallResult,
  CompiledCall,
  CompiledMutation,
  Driver,
  ExecuteOptions,
  Execution,
  Rows,
  WriteExecution,
} from '../engine.js'
import { type Session, sessionMakers } from './connection-pool.js'
import {
  detailOf,
  FEATURE_NOT_SUPPORTED,
  reasonOf,
  sqlstateOf,
  statementError,
  UNKNOWN_PREPARED_STATEMENT,
} from './errors.js'
import { type CatalogReader, introspectCatalog } from './introspector.js'
import { ShapesSeen } from './named-statements.js'
import { type ReadEnd, type ReadFrame, runRead } from './run-read.js'
import { setSessionConstants } from './session.js'
import type { WireStatement } from './wire-query.js'
import { type TransactionParts, WriteTransaction } from './write-transaction.js'

/** A driver for one connector. It connects when it is first used, and again after every loss. */
export function createPostgresDriver(settings: ConnectorSettings, surroundings: DriverSurroundings): Driver {
  return driverWithTls(
    () => tlsOf(settings.connection),
    (tls) => new PostgresDriver(settings, tls, surroundings),
    { reasonOf, detailOf },
  )
}

class PostgresDriver implements Driver {
  readonly #surroundings: DriverSurroundings
  /** Behind a pooler, where any session may serve the next transaction. */
  readonly #pooled: false | WireStatement
  readonly #pools: DriverPools<Session>
  readonly #shapes = new ShapesSeen()

  constructor(settings: ConnectorSettings, tls: Tls, surroundings: DriverSurroundings) {
    this.#surroundings = surroundings
    this.#pooled = settings.pool.mode === 'transaction' && setSessionConstants(settings.schemas)
    this.#pools = new DriverPools(settings, surroundings, sessionMakers(settings, tls, surroundings))
  }

  async execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    // What a view's function sets for the whole session is undone with the transaction.
    const transaction = this.#pooled !== false || options.context !== undefined || statement.runsCode === true
    const frame = this.#frame(options, transaction)
    return this.#pools.calls.read(this.#pools.reads.leases, options, async (session) => {
      const end = await this.#read(session, statement, options, frame)
      return { end: rowsOf(end, options), reusable: isReusable(end) }
    })
  }

  async mutate(mutation: CompiledMutation, options: ExecuteOptions): Promise<WriteExecution> {
    return this.#write(options, (parts) => runMutation(mutation, new WriteTransaction(parts)))
  }

  call(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    return call.effect === 'read' ? this.#callReading(call, options) : this.#callWriting(call, options)
  }

  introspect(schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    // The catalog's queries are one transaction already, which begins and ends among them.
    const frame = { transaction: false, pooled: this.#pooled }
    return this.#pools.introspect((session, limits, cancellation) => {
      const read: CatalogReader = async (text, params) => {
        const left = limits()
        if (!left.ok) return left
        return rowsOf(await runRead(session, { text, params }, left.value, frame, cancellation), left.value)
      }
      return introspectCatalog(read, schemas)
    })
  }

  get connections() {
    return this.#pools.connections
  }

  close(): Promise<void> {
    return this.#pools.close()
  }

  #frame({ context }: ExecuteOptions, transaction: boolean): ReadFrame {
    return { transaction, pooled: this.#pooled, ...(context === undefined ? {} : { context }) }
  }

  #write<T>(
    options: ExecuteOptions,
    run: (parts: TransactionParts) => Promise<TransactionEnd<T>>,
  ): Promise<WriteOf<T>> {
    const { nowMs } = this.#surroundings
    return this.#pools.calls.write(this.#pools.writes.leases, options, (session) =>
      run({ session, options, pooled: this.#pooled, nowMs }),
    )
  }

  #callWriting(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    return this.#write<CallResult>(options, async (parts) => {
      const transaction = new WriteTransaction(parts)
      const ran = await transaction.run(call.statement)
      if (!ran.ok) return transaction.rollBack(ran)
      const result = resultCells(call, ran.value.rows)
      return call.dryRun ? transaction.undo(result) : transaction.commit(result)
    })
  }

  async #callReading(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    const { text, params } = call.statement
    const execution = await this.#pools.calls.read(this.#pools.reads.leases, options, async (session) => {
      const end = await runRead(session, { text, params }, options, this.#frame(options, true), options.cancellation)
      const rows = rowsOf(end, options)
      return { end: rows.ok ? ok(resultCells(call, rows.value)) : rows, reusable: isReusable(end) }
    })
    return { ...execution, effect: 'none' }
  }

  /** Statements that are used again get a name; one that the server has forgotten is sent again without. */
  async #read(
    session: Session,
    { text, params }: CompiledStatement,
    { timeoutMs, bytesMax, cancellation }: ExecuteOptions,
    frame: ReadFrame,
  ): Promise<ReadEnd> {
    const { names } = session
    const named = this.#pooled === false && this.#shapes.seen(text) ? names.use(text) : undefined
    const startedMs = this.#surroundings.nowMs()
    const statement: WireStatement = { text, params, ...(named === undefined ? {} : { named }) }
    const end = await runRead(session, statement, { timeoutMs, bytesMax }, frame, cancellation)
    if (end.kind !== 'failed' || named === undefined) return end
    if (named.parse) {
      names.forget(text)
      return end
    }
    const state = sqlstateOf(end.error)
    if (state === UNKNOWN_PREPARED_STATEMENT) {
      names.forgetAll()
      const leftMs = Math.max(1, timeoutMs - (this.#surroundings.nowMs() - startedMs))
      return runRead(session, { text, params }, { timeoutMs: leftMs, bytesMax }, frame, cancellation)
    }
    // A statement that worked when it was prepared: its columns have other types now.
    if (state !== FEATURE_NOT_SUPPORTED) return end
    names.forget(text)
    return { ...end, schemaChanged: true }
  }
}

function isReusable(end: ReadEnd): boolean {
  if (end.kind === 'rows') return true
  return end.kind === 'failed' && end.reusable && statementError(end.error).code !== 'CONNECTOR_UNAVAILABLE'
}

function rowsOf(end: ReadEnd, limits: QueryLimits): Result<Rows, GatewayError> {
  if (end.kind === 'rows') return ok(end.rows)
  const error = errorOfEnd(end, limits, statementError)
  return fail(end.kind === 'failed' && end.schemaChanged === true ? { ...error, code: 'SCHEMA_CHANGED' } : error)
}

/** A call without result columns has no rows, though the server answers with one that is empty. */
function resultCells({ statement, cells }: CompiledCall, rows: Rows): CallResult {
  if (statement.columns.length === 0) return { rows: [] }
  return { rows: cells === undefined ? rows : rows.map((row) => cells.map((cell) => row[cell] ?? null)) }
}
