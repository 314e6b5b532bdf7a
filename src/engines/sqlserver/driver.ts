import { randomUUID } from 'node:crypto'
import { invariant } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { SchemaModel } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { CatalogReader } from '../catalog/rows.js'
import type { Used, WriteOf } from '../driver/calls.js'
import { DriverPools, driverWithTls, type QueryLimits } from '../driver/pools.js'
import { runMutation, type TransactionEnd } from '../driver/run-mutation.js'
import type { DriverSurroundings, SessionPool } from '../driver/session-pool.js'
import { errorOfEnd, mayServeAgain } from '../driver/statement-ends.js'
import { TransactionClock } from '../driver/stoppable.js'
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
import { isConverted } from './cell-text.js'
import { otherTypes } from './changed-types.js'
import { type Session, sessionMakers } from './connection-pool.js'
import { detailOf, reasonOf, statementError } from './errors.js'
import { introspectCatalog } from './introspector.js'
import { runCall } from './run-call.js'
import { setContext, type Tls, tlsOf } from './session.js'
import { type Answer, runStatement, type WireEnd } from './wire.js'
import { type TransactionParts, WriteTransaction } from './write-transaction.js'

/** A driver for one connector. It connects when it is first used, and again after every loss. */
export function createSqlserverDriver(settings: ConnectorSettings, surroundings: DriverSurroundings): Driver {
  return driverWithTls(
    () => tlsOf(settings.connection),
    (tls) => new SqlserverDriver(settings, tls, surroundings),
    { reasonOf, detailOf },
  )
}

class SqlserverDriver implements Driver {
  readonly #surroundings: DriverSurroundings
  readonly #pools: DriverPools<Session>

  constructor(settings: ConnectorSettings, tls: Tls, surroundings: DriverSurroundings) {
    this.#surroundings = surroundings
    this.#pools = new DriverPools(settings, surroundings, sessionMakers(settings, tls, surroundings.nowMs))
  }

  /** One SELECT, which changes nothing whatever it reads. */
  execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution> {
    return this.#pools.calls.read(this.#pools.reads.leases, options, (session) =>
      options.context === undefined
        ? readRows(session, statement, options)
        : readRowsAs(session, statement, options, this.#surroundings.nowMs),
    )
  }

  mutate(mutation: CompiledMutation, options: ExecuteOptions): Promise<WriteExecution> {
    return this.#transaction(this.#pools.writes, options, (parts) => runMutation(mutation, new WriteTransaction(parts)))
  }

  call(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution> {
    const reading = call.effect === 'read' ? ({ reading: true } as const) : {}
    const pool = call.effect === 'read' ? this.#pools.reads : this.#pools.writes
    return this.#transaction(pool, options, (parts) => runCall(call, new WriteTransaction({ ...parts, ...reading })))
  }

  introspect(schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>> {
    return this.#pools.introspect((session, limits, cancellation) => {
      const read: CatalogReader = async (text, params) => {
        const left = limits()
        if (!left.ok) return left
        const statement = { kind: 'statement', text, params } as const
        return rowsOf(await runStatement(session, statement, left.value, cancellation), left.value)
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

  #transaction<T>(
    pool: SessionPool<Session>,
    options: ExecuteOptions,
    run: (parts: TransactionParts) => Promise<TransactionEnd<T>>,
  ): Promise<WriteOf<T>> {
    const { nowMs } = this.#surroundings
    return this.#pools.calls.write(pool.leases, options, (session) =>
      run({ session, options, nowMs, newMark: randomUUID }),
    )
  }
}

async function readRows(
  session: Session,
  { text, params, columns }: CompiledStatement,
  options: ExecuteOptions,
): Promise<Used<Result<Rows, GatewayError>>> {
  const end = await runStatement(session, { kind: 'statement', text, params }, options, options.cancellation)
  if (end.kind === 'done') checkConverted(end.answer, columns)
  const read = rowsOf(end, options)
  const changed = read.ok ? otherTypes(read.value, columns) : undefined
  return { end: changed === undefined ? read : fail(changed), reusable: mayServeAgain(end, statementError) }
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

function rowsOf(end: WireEnd, limits: QueryLimits): Result<Rows, GatewayError> {
  return end.kind === 'done' ? ok(end.answer.sets.at(-1)?.rows ?? []) : fail(errorOfEnd(end, limits, statementError))
}
