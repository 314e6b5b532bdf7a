import { invariant, unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { INTROSPECTION_BYTES_MAX, INTROSPECTION_TIMEOUT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { CatalogReader } from '../catalog/rows.js'
import { Calls, type Used, unavailableDriver } from '../driver/calls.js'
import { closedError } from '../driver/lease-pool.js'
import { closeAll, connectionsOf } from '../driver/pools.js'
import { runMutation, type TransactionEnd } from '../driver/run-mutation.js'
import { stoppedError, TransactionClock, tooLargeError } from '../driver/stoppable.js'
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
import { isConverted } from './cell-text.js'
import { ConnectionPool, type DriverSurroundings, type Session } from './connection-pool.js'
import { detailOf, reasonOf, statementError } from './errors.js'
import { introspectCatalog } from './introspector.js'
import { runCall } from './run-call.js'
import { setContext, type Tls, tlsOf } from './session.js'
import { type Answer, runStatement, type WireEnd } from './wire.js'
import { type TransactionParts, WriteTransaction } from './write-transaction.js'

/**
 * A driver for one connector. It connects when it is first used, and again after every loss. A certificate authority file
 * that cannot be read makes it answer CONNECTOR_UNAVAILABLE, as an unreachable server does.
 */
export function createSqlserverDriver(settings: ConnectorSettings, surroundings: DriverSurroundings): Driver {
  try {
    return new SqlserverDriver(settings, tlsOf(settings.connection), surroundings)
  } catch (error) {
    return unavailableDriver(
      gatewayError('CONNECTOR_UNAVAILABLE', {
        reason: reasonOf('tls ca_file', error),
        detail: detailOf('tls ca_file', error),
      }),
    )
  }
}

class SqlserverDriver implements Driver {
  readonly #surroundings: DriverSurroundings
  readonly #reads: ConnectionPool
  /** Nothing but mutations and writing calls ever has one of these connections. */
  readonly #writes: ConnectionPool
  readonly #calls: Calls
  #closing: Promise<void> | undefined

  constructor(settings: ConnectorSettings, tls: Tls, surroundings: DriverSurroundings) {
    this.#surroundings = surroundings
    this.#reads = new ConnectionPool(settings, 'read', tls, surroundings)
    this.#writes = new ConnectionPool(settings, 'write', tls, surroundings)
    this.#calls = new Calls(surroundings.nowMs)
  }

  /** One SELECT, which changes nothing whatever it reads. */
  execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    return this.#calls.read(this.#reads.leases, options, (session) =>
      options.context === undefined
        ? readRows(session, statement, options)
        : readRowsAs(session, statement, options, this.#surroundings.nowMs),
    )
  }

  mutate(mutation: CompiledMutation, options: ExecuteOptions): Promise<WriteExecution> {
    return this.#transaction(this.#writes, options, (parts) => runMutation(mutation, new WriteTransaction(parts)))
  }

  call(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    const reading = call.effect === 'read' ? ({ reading: true } as const) : {}
    const pool = call.effect === 'read' ? this.#reads : this.#writes
    return this.#transaction(pool, options, (parts) => runCall(call, new WriteTransaction({ ...parts, ...reading })))
  }

  introspect(schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    return this.#calls.track((cancellation) =>
      // A connection of its own: a reload must not take a place from the calls it is meant not to disturb.
      this.#reads.withOwn((session) => introspectCatalog(this.#catalogReader(session, cancellation), schemas)),
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
    const { nowMs } = this.#surroundings
    return this.#calls.write(pool.leases, options, (session) => run({ session, options, nowMs }))
  }

  #catalogReader(session: Session, cancellation: Cancellation): CatalogReader {
    const { nowMs } = this.#surroundings
    const deadlineMs = nowMs() + INTROSPECTION_TIMEOUT_MS
    return async (text, params) => {
      if (cancellation.reason !== undefined) return fail(closedError())
      const limits = { timeoutMs: Math.max(1, deadlineMs - nowMs()), bytesMax: INTROSPECTION_BYTES_MAX }
      return rowsOf(await runStatement(session, { kind: 'statement', text, params }, limits, cancellation), limits)
    }
  }
}

async function readRows(
  session: Session,
  { text, params, columns }: CompiledStatement,
  options: ExecuteOptions,
): Promise<Used<Result<Rows, GatewayError>>> {
  const end = await runStatement(session, { kind: 'statement', text, params }, options, options.cancellation)
  if (end.kind === 'done') checkConverted(end.answer, columns)
  return { end: rowsOf(end, options), reusable: isReusable(end) }
}

/** The same for a caller that the database's own rules are told of, within the time of the call as a whole. */
async function readRowsAs(
  session: Session,
  statement: CompiledStatement,
  options: ExecuteOptions,
  nowMs: () => number,
): Promise<Used<Result<Rows, GatewayError>>> {
  const { context, cancellation } = options
  const clock = new TransactionClock(options, nowMs)
  if (context !== undefined) {
    const set = setContext(context)
    if (!set.ok) return { end: fail(gatewayError('DB_ERROR', { reason: set.error })), reusable: true }
    const end = await runStatement(session, set.value, options, cancellation)
    if (end.kind !== 'done') return { end: rowsOf(end, options), reusable: false }
  }
  const { stopped } = clock
  if (stopped !== undefined) return { end: fail(stopped), reusable: await session.restore() }
  const used = await readRows(session, statement, { ...options, timeoutMs: clock.leftMs })
  return { end: used.end, reusable: used.reusable && (await session.restore()) }
}

/** The dialect makes text or whole numbers of everything in SQL; anything else would be a value that nobody made exact. */
function checkConverted({ sets }: Answer, columns: readonly ResultColumn[]): void {
  const fields = columns.length === 0 ? [] : (sets.at(-1)?.fields ?? [])
  invariant(fields.every(isConverted), 'a statement of the dialect returns text and whole numbers')
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
      return ok(end.answer.sets.at(-1)?.rows ?? [])
    case 'failed':
      return fail(statementError(end.error))
    case 'too_large':
      return fail(tooLargeError(limits.bytesMax))
    case 'stopped':
      return fail(stoppedError(end.code, limits.timeoutMs))
    default:
      return unreachable(end)
  }
}
