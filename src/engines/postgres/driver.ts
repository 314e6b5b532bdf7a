import { unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { INTROSPECTION_BYTES_MAX, INTROSPECTION_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import {
  type CallExecution,
  Cancellation,
  type CompiledCall,
  type CompiledMutation,
  type Driver,
  type ExecuteOptions,
  type Execution,
  type Rows,
  type WriteExecution,
} from '../engine.js'
import { ConnectionPool, closedError, type DriverSurroundings, type Lease, type Session } from './connection-pool.js'
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
import { runMutation } from './run-mutation.js'
import { type ReadEnd, type ReadFrame, runRead } from './run-read.js'
import { setSessionConstants, type Tls, tlsOf } from './session.js'
import type { WireStatement } from './wire-query.js'
import { type TransactionEnd, type TransactionParts, WriteTransaction } from './write-transaction.js'

/**
 * A driver for one connector. It connects when it is first used, and again after every loss. A certificate authority file
 * that cannot be read makes it answer CONNECTOR_UNAVAILABLE, as an unreachable server does.
 */
export function createPostgresDriver(settings: ConnectorSettings, surroundings: DriverSurroundings): Driver {
  try {
    return new PostgresDriver(settings, tlsOf(settings.connection), surroundings)
  } catch (error) {
    return unavailableDriver(
      gatewayError('CONNECTOR_UNAVAILABLE', {
        reason: reasonOf('tls ca_file', error),
        detail: detailOf('tls ca_file', error),
      }),
    )
  }
}

function unavailableDriver(error: GatewayError): Driver {
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

/** How a use of a session ended, and whether the session may serve another. */
interface Used<T> {
  readonly end: T
  readonly reusable: boolean
}

interface Timed<T> {
  /** The error of a call that never had a connection. */
  readonly used: Result<T, GatewayError>
  readonly queueMs: number
  readonly dbMs: number
}

class PostgresDriver implements Driver {
  readonly #surroundings: DriverSurroundings
  /** Behind a pooler, where any session may serve the next transaction. */
  readonly #pooled: false | WireStatement
  readonly #reads: ConnectionPool
  /** Nothing but mutations and writing calls ever has one of these connections. */
  readonly #writes: ConnectionPool
  readonly #shapes = new ShapesSeen()
  /** Of the calls and introspections under way, for `close`. */
  readonly #active = new Set<Cancellation>()
  #closed = false
  #closing: Promise<void> | undefined

  constructor(settings: ConnectorSettings, tls: Tls, surroundings: DriverSurroundings) {
    this.#surroundings = surroundings
    this.#pooled = settings.pool.mode === 'transaction' && setSessionConstants(settings.schemas)
    this.#reads = new ConnectionPool(settings, 'read', tls, surroundings)
    this.#writes = new ConnectionPool(settings, 'write', tls, surroundings)
  }

  async execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    const frame = this.#frame(options, this.#pooled !== false || options.context !== undefined)
    const { used, ...times } = await this.#use(this.#reads, options, async (session) => {
      const end = await this.#read(session, statement, options, frame)
      return { end: rowsOf(end, options), reusable: isReusable(end) }
    })
    return { outcome: used.ok ? used.value : used, ...times }
  }

  async mutate(mutation: CompiledMutation, options: ExecuteOptions): Promise<WriteExecution> {
    return this.#write(options, (parts) => runMutation(mutation, parts))
  }

  async call(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    const execution =
      call.effect === 'read' ? await this.#callReading(call, options) : await this.#callWriting(call, options)
    const { outcome } = execution
    return outcome.ok ? { ...execution, outcome: ok(resultCells(call, outcome.value)) } : execution
  }

  async introspect(schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    if (this.#closed) return fail(closedError())
    const cancellation = new Cancellation()
    this.#active.add(cancellation)
    try {
      // A connection of its own: a reload must not take a place from the calls it is meant not to disturb.
      return await this.#reads.withOwn((session) =>
        introspectCatalog(this.#catalogReader(session, cancellation), schemas),
      )
    } finally {
      this.#active.delete(cancellation)
    }
  }

  get connections() {
    const [reads, writes] = [this.#reads.connections, this.#writes.connections]
    return { idle: reads.idle + writes.idle, busy: reads.busy + writes.busy }
  }

  close(): Promise<void> {
    this.#closed = true
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const pools = [this.#reads, this.#writes]
    for (const pool of pools) pool.refuse()
    for (const cancellation of [...this.#active]) cancellation.request('CANCELLED')
    await Promise.all(pools.map((pool) => pool.close()))
  }

  #frame({ context }: ExecuteOptions, transaction: boolean): ReadFrame {
    return { transaction, pooled: this.#pooled, ...(context === undefined ? {} : { context }) }
  }

  /** Runs `use` on a connection of the pool, unless the call ends before there is one. */
  async #use<T>(
    pool: ConnectionPool,
    options: ExecuteOptions,
    use: (session: Session) => Promise<Used<T>>,
  ): Promise<Timed<T>> {
    const { cancellation } = options
    const { nowMs } = this.#surroundings
    if (this.#closed) return { used: fail(closedError()), queueMs: 0, dbMs: 0 }
    if (cancellation.reason !== undefined) return { used: fail(gatewayError(cancellation.reason)), queueMs: 0, dbMs: 0 }
    this.#active.add(cancellation)
    try {
      const askedMs = nowMs()
      const lease = await pool.acquire(options)
      const grantedMs = nowMs()
      const queueMs = grantedMs - askedMs
      if (!lease.ok) return { used: lease, queueMs, dbMs: 0 }
      if (cancellation.reason !== undefined) {
        pool.release(lease.value, true)
        return { used: fail(gatewayError(cancellation.reason)), queueMs, dbMs: 0 }
      }
      const end = await releasing(pool, lease.value, use)
      return { used: ok(end), queueMs, dbMs: nowMs() - grantedMs }
    } finally {
      this.#active.delete(cancellation)
    }
  }

  async #write<T>(
    options: ExecuteOptions,
    run: (parts: TransactionParts) => Promise<TransactionEnd<T>>,
  ): Promise<Omit<TransactionEnd<T>, 'reusable'> & { readonly queueMs: number; readonly dbMs: number }> {
    const { nowMs } = this.#surroundings
    const { used, ...times } = await this.#use(this.#writes, options, async (session) => {
      const { reusable, ...end } = await run({ session, options, pooled: this.#pooled, nowMs })
      return { end, reusable }
    })
    return used.ok ? { ...used.value, ...times } : { outcome: used, effect: 'none', ...times }
  }

  #callWriting({ statement, dryRun }: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    return this.#write<Rows>(options, async (parts) => {
      const transaction = new WriteTransaction(parts)
      const rows = await transaction.run(statement)
      if (!rows.ok) return transaction.rollBack(rows)
      return dryRun ? transaction.undo(rows.value) : transaction.commit(rows.value)
    })
  }

  async #callReading({ statement: { text, params } }: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    const { cancellation } = options
    const { used, ...times } = await this.#use(this.#reads, options, async (session) => {
      const end = await runRead(session, { text, params }, options, this.#frame(options, true), cancellation)
      return { end: rowsOf(end, options), reusable: isReusable(end) }
    })
    return { outcome: used.ok ? used.value : used, effect: 'none', ...times }
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

  #catalogReader(session: Session, cancellation: Cancellation): CatalogReader {
    const { nowMs } = this.#surroundings
    const deadlineMs = nowMs() + INTROSPECTION_TIMEOUT_MS
    // The catalog's queries are one transaction already, which begins and ends among them.
    const frame = { transaction: false, pooled: this.#pooled }
    return async (text, params) => {
      if (cancellation.reason !== undefined) return fail(closedError())
      const limits = { timeoutMs: Math.max(1, deadlineMs - nowMs()), bytesMax: INTROSPECTION_BYTES_MAX }
      return rowsOf(await runRead(session, { text, params }, limits, frame, cancellation), limits)
    }
  }
}

async function releasing<T>(
  pool: ConnectionPool,
  lease: Lease,
  use: (session: Session) => Promise<Used<T>>,
): Promise<T> {
  const { end, reusable } = await use(lease.session)
  pool.release(lease, reusable)
  return end
}

function isReusable(end: ReadEnd): boolean {
  if (end.kind === 'rows') return true
  return end.kind === 'failed' && end.reusable && statementError(end.error).code !== 'CONNECTOR_UNAVAILABLE'
}

function rowsOf(
  end: ReadEnd,
  limits: { readonly timeoutMs: number; readonly bytesMax: number },
): Result<Rows, GatewayError> {
  switch (end.kind) {
    case 'rows':
      return ok(end.rows)
    case 'failed': {
      const error = statementError(end.error)
      return fail(end.schemaChanged === true ? { ...error, code: 'SCHEMA_CHANGED' } : error)
    }
    case 'too_large':
      return fail(gatewayError('RESULT_TOO_LARGE', { reason: `the result passed ${limits.bytesMax} bytes` }))
    case 'stopped': {
      if (end.code === 'CANCELLED') return fail(gatewayError('CANCELLED'))
      return fail(
        gatewayError('TIMEOUT', { reason: `the statement ran longer than ${Math.round(limits.timeoutMs)} ms` }),
      )
    }
    default:
      return unreachable(end)
  }
}

/** A call without result columns has no rows, though the server answers with one that is empty. */
function resultCells({ statement, cells }: CompiledCall, rows: Rows): Rows {
  if (statement.columns.length === 0) return []
  return cells === undefined ? rows : rows.map((row) => cells.map((cell) => row[cell] ?? null))
}
