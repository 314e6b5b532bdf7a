import type { GatewayError } from '../../core/errors.js'
import { GUARDED_TRANSACTION_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import type { Used } from '../driver/calls.js'
import { columnsChanged } from '../driver/run-mutation.js'
import { errorOfEnd, mayServeAgain } from '../driver/statement-ends.js'
import type { ExecuteOptions, Rows } from '../engine.js'
import { statementError } from './errors.js'
import {
  otherTypes,
  runStatement,
  tidyUp,
  tooLarge,
  type WireEnd,
  type WireSession,
  type WireStatement,
} from './wire.js'

const BEGIN: WireStatement = { kind: 'control', text: 'START TRANSACTION READ ONLY' }
const ROLLBACK: WireStatement = { kind: 'control', text: 'ROLLBACK' }

/**
 * The table whose names a session has made sure of, in a transaction that keeps them. Whoever renames waits for its end, so it
 * is short, about one table alone, and over when no call waits for the session.
 */
export class KeptNames {
  #guard: string | undefined
  #untilMs = 0

  get open(): boolean {
    return this.#guard !== undefined
  }

  holds(guard: string, nowMs: number): boolean {
    return this.#guard === guard && nowMs < this.#untilMs
  }

  keep(guard: string, nowMs: number): void {
    this.#guard = guard
    this.#untilMs = nowMs + GUARDED_TRANSACTION_MS
  }

  forget(): void {
    this.#guard = undefined
  }
}

export interface GuardedSession extends WireSession {
  readonly names: KeptNames
}

/** Lets whoever renames go on. Tells whether the session may serve another call. */
export async function letNamesGo(session: GuardedSession): Promise<boolean> {
  if (!session.names.open) return true
  session.names.forget()
  return (await tidyUp(session, [ROLLBACK])).kind === 'done'
}

/** A statement behind its guard, in one transaction; the guard only where the session has not just run it for another call. */
export async function readGuarded(
  session: GuardedSession,
  statement: CompiledStatement,
  guard: CompiledStatement,
  options: ExecuteOptions,
  nowMs: () => number,
): Promise<Used<Result<Rows, GatewayError>>> {
  const { names } = session
  const endsAtMs = nowMs() + options.timeoutMs
  const run = (wire: WireStatement, columns: readonly ResultColumn[] = []): Promise<WireEnd> => {
    const limits = { timeoutMs: Math.max(1, endsAtMs - nowMs()), bytesMax: options.bytesMax }
    return runStatement(session, wire, limits, options.cancellation, columns)
  }
  const before = session.limited(options.timeoutMs)
  const kept = names.holds(guard.text, nowMs())
  // Beginning one ends the transaction before it.
  for (const wire of kept ? before : [...before, BEGIN]) {
    if (wire === BEGIN) names.forget()
    const end = await run(wire)
    if (end.kind !== 'done') return { end: fail(errorOf(end, options)), reusable: false }
  }
  if (!kept) {
    names.keep(guard.text, nowMs())
    const end = await run(prepared(guard))
    const rows = rowsOf(end, options)
    const changed = columnsChanged(rows.ok ? ok({ rows: rows.value, affected: 0 }) : rows)
    if (changed !== undefined) return { end: fail(changed), reusable: await isReusable(session, end) }
  }
  const end = await run(prepared(statement), statement.columns)
  const changed = end.kind === 'done' ? otherTypes(end.answer, statement.columns) : undefined
  if (end.kind === 'done' && changed === undefined) return { end: rowsOf(end, options), reusable: true }
  return { end: changed === undefined ? rowsOf(end, options) : fail(changed), reusable: await isReusable(session, end) }
}

function prepared({ text, params }: CompiledStatement): WireStatement {
  return { kind: 'prepared', text, params }
}

/** Some failures end a transaction, so that its names are no longer kept: it is ended in any case. */
async function isReusable(session: GuardedSession, end: WireEnd): Promise<boolean> {
  return mayServeAgain(end, statementError) && letNamesGo(session)
}

function rowsOf(end: WireEnd, options: ExecuteOptions): Result<Rows, GatewayError> {
  return end.kind === 'done' ? ok(end.answer.sets[0]?.rows ?? []) : fail(errorOf(end, options))
}

function errorOf(end: Exclude<WireEnd, { kind: 'done' }>, limits: ExecuteOptions): GatewayError {
  return end.kind === 'too_large' ? tooLarge(end, limits.bytesMax) : errorOfEnd(end, limits, statementError)
}
