import { unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { CompiledStatement } from '../../core/statement.js'
import {
  type TransactionParts as PartsOf,
  type Ran,
  type TransactionEnd,
  UNANSWERED,
  unknownEffect,
  type WritingTransaction,
} from '../driver/run-mutation.js'
import { TransactionClock, tooLargeError } from '../driver/stoppable.js'
import { Cancellation, type Rows } from '../engine.js'
import { sqlstateOf, statementError, writeError } from './errors.js'
import { type BatchEnd, runBatch, type WireSession } from './run-batch.js'
import { cleanUp, opening } from './run-read.js'
import type { WireStatement } from './wire-query.js'

const BEGIN: WireStatement = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE', params: [] }
/** Its answer is wanted before that of the tidying behind it: the shorter the wait, the fewer effects are unknown. */
const COMMIT: WireStatement = { text: 'COMMIT', params: [], flush: true }
const ROLLBACK: WireStatement = { text: 'ROLLBACK', params: [] }
/** A dry run never commits, which is when deferred constraints are checked. */
const CHECK_DEFERRED: WireStatement = { text: 'SET CONSTRAINTS ALL IMMEDIATE', params: [] }

/**
 * What triggers and routines can leave on a session beyond their transaction, taken back behind its end in the same round
 * trip: open cursors, another user or role, settings, notifications, advisory locks, temporary objects and what sequences
 * gave last. What a procedural language keeps in its own variables is out of reach of any statement.
 */
const TIDY: readonly WireStatement[] = [
  'CLOSE ALL',
  'RESET SESSION AUTHORIZATION',
  'RESET ROLE',
  'RESET ALL',
  'UNLISTEN *',
  'SELECT pg_catalog.pg_advisory_unlock_all()',
  'DISCARD TEMP',
  'DISCARD SEQUENCES',
].map((text) => ({ text, params: [] }))
/** Behind a pooler the statements prepared on a session belong to others as well. */
const FORGET_PREPARED: WireStatement = { text: 'DEALLOCATE ALL', params: [] }

export interface TransactionParts extends PartsOf<WireSession> {
  /** Whether any session may serve the transaction, so that it sets the constants itself. */
  readonly pooled: false | WireStatement
}

/**
 * One writing transaction, from its first statement to its end, within the call's time as a whole. A cancellation ends it
 * at any moment before COMMIT is sent; from then on only the server knows what happens, and its answer is waited for.
 */
export class WriteTransaction implements WritingTransaction {
  readonly #parts: TransactionParts
  readonly #clock: TransactionClock
  #begun = false
  /** Gone, or with a cancel on its way to it. */
  #sessionLost = false

  constructor(parts: TransactionParts) {
    this.#parts = parts
    this.#clock = new TransactionClock(parts.options, parts.nowMs)
  }

  /** The first statement begins the transaction, in the same round trip. */
  async run({ text, params }: CompiledStatement): Promise<Result<Ran, GatewayError>> {
    const { options, pooled } = this.#parts
    const before = this.#begun ? [] : opening(BEGIN, { ...options, pooled })
    this.#begun = true
    const answers = await this.#send([...before, { text, params }])
    if (!answers.ok) return answers
    // Every statement that writes returns what it wrote.
    const rows = answers.value[before.length] ?? []
    return ok({ rows, affected: rows.length })
  }

  async undo<T>(value: T): Promise<TransactionEnd<T>> {
    const checked = await this.#send([CHECK_DEFERRED])
    return this.rollBack(checked.ok ? ok(value) : checked)
  }

  async rollBack<T>(outcome: Result<T, GatewayError>): Promise<TransactionEnd<T>> {
    const reusable = this.#begun && !this.#sessionLost && (await this.#tidied([ROLLBACK]))
    // What was never committed is undone by the server with the session, however that ends.
    return { outcome, effect: 'none', reusable: reusable || !this.#begun }
  }

  async commit<T>(value: T): Promise<TransactionEnd<T>> {
    const { session, options } = this.#parts
    const stopped = this.#clock.stopped
    if (stopped !== undefined) return this.rollBack<T>(fail(stopped))
    const batch = {
      statements: [COMMIT, ...this.#tidying()],
      timeoutMs: this.#clock.leftMs,
      bytesMax: options.bytesMax,
    }
    return this.#committed(await runBatch(session, batch, new Cancellation()), value)
  }

  /** What became of a COMMIT that was sent. Only the server's word counts, and without one the effect is unknown. */
  async #committed<T>(end: BatchEnd, value: T): Promise<TransactionEnd<T>> {
    const answered = end.kind === 'stopped' ? end.outcome : end
    const tag = answered?.answers[0]?.tag
    if (tag === 'COMMIT') return { outcome: ok(value), effect: 'committed', reusable: end.kind === 'done' }
    if (tag !== undefined) {
      // A transaction that had failed without telling is rolled back, and says so.
      const error = gatewayError('DB_ERROR', { reason: 'COMMIT was answered by a rollback' })
      return { outcome: fail(error), effect: 'none', reusable: end.kind === 'done' }
    }
    if (answered?.kind !== 'failed' || sqlstateOf(answered.error) === undefined) return unanswered(answered)
    // The server also sends an error with its last breath, and may have committed before: it must still be there to say no.
    const reusable = await this.#tidied([ROLLBACK])
    if (!reusable) return unanswered(answered)
    const error = end.kind === 'stopped' ? gatewayError(end.code) : writeError(answered.error)
    return { outcome: fail(error), effect: 'none', reusable: end.kind !== 'stopped' }
  }

  async #tidied(first: readonly WireStatement[]): Promise<boolean> {
    return (await cleanUp(this.#parts.session, [...first, ...this.#tidying()])).kind === 'done'
  }

  #tidying(): readonly WireStatement[] {
    return this.#parts.pooled !== false ? TIDY : [...TIDY, FORGET_PREPARED]
  }

  async #send(statements: readonly WireStatement[]): Promise<Result<readonly Rows[], GatewayError>> {
    const { session, options } = this.#parts
    const stopped = this.#clock.stopped
    if (stopped !== undefined) return fail(stopped)
    const { bytesMax, cancellation } = options
    const end = await runBatch(session, { statements, timeoutMs: this.#clock.leftMs, bytesMax }, cancellation)
    switch (end.kind) {
      case 'done':
        return ok(end.answers.map(({ rows }) => rows))
      case 'failed': {
        const error = writeError(end.error)
        this.#sessionLost = error.code === 'CONNECTOR_UNAVAILABLE'
        return fail(error)
      }
      case 'too_large':
        this.#sessionLost = true
        return fail(tooLargeError(bytesMax))
      case 'stopped':
        this.#sessionLost = true
        return fail(this.#clock.errorOf(end.code))
      default:
        return unreachable(end)
    }
  }
}

function unanswered<T>(answered: BatchEnd | undefined): TransactionEnd<T> {
  const heard = answered?.kind === 'failed' ? statementError(answered.error).detail : undefined
  return unknownEffect(UNANSWERED, false, heard)
}
