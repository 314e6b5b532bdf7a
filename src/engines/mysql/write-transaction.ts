import { unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { CANCEL_REPEAT_MS } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import {
  type TransactionParts as PartsOf,
  type Ran,
  type Restorable,
  type TransactionEnd,
  UNANSWERED,
  unknownEffect,
  type WritingTransaction,
} from '../driver/run-mutation.js'
import { TransactionClock } from '../driver/stoppable.js'
import { Cancellation } from '../engine.js'
import {
  CUT_TO_NULL,
  DOES_NOT_EXIST,
  errnoOf,
  isInterrupted,
  NOT_ROLLED_BACK,
  signalledError,
  statementError,
  writeError,
} from './errors.js'
import {
  type Answer,
  otherTypes,
  runStatement,
  tidyUp,
  tooLarge,
  type WireEnd,
  type WireLimits,
  type WireSession,
  type WireStatement,
} from './wire.js'

const BEGIN: WireStatement = { kind: 'control', text: 'START TRANSACTION READ WRITE' }
const BEGIN_READING: WireStatement = { kind: 'control', text: 'START TRANSACTION READ ONLY' }
const COMMIT: WireStatement = { kind: 'control', text: 'COMMIT' }
const ROLLBACK: WireStatement = { kind: 'control', text: 'ROLLBACK' }
const SHOW_WARNINGS: WireStatement = { kind: 'control', text: 'SHOW WARNINGS' }
/** Answers at once, on any session that still does. */
const ASK: WireStatement = { kind: 'control', text: 'DO 0' }
/** A name that nobody guesses. */
const MARK_BYTES = 16
const STANDING_TRIES_MAX = 5

/** A COMMIT that ends in one of these has been undone as a whole. Of any other failure, nothing is promised. */
const UNDONE_AT_COMMIT: ReadonlySet<number> = new Set([
  1205, // ER_LOCK_WAIT_TIMEOUT
  1213, // ER_LOCK_DEADLOCK: other nodes of a cluster would not have it
  1614, // ER_XA_RBDEADLOCK
  3101, // ER_TRANSACTION_ROLLBACK_DURING_COMMIT
])

export type RestorableSession = WireSession & Restorable

export interface TransactionParts extends PartsOf<RestorableSession> {
  /** Gives that many cryptographically random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  /** Whether nothing can be written in it. Absent: something can. */
  readonly reading?: true
}

/** What a call keeps of each result set. */
export type KeptOfSets = Pick<WireLimits, 'rowsMax' | 'keeps'>

/** `unsure`: nobody can tell any more. */
export type Standing = 'stands' | 'gone' | 'unsure'

/**
 * One transaction, from its first statement to its end, within the call's time as a whole. A cancellation ends it at any
 * moment before COMMIT is sent; from then on only the server knows what happens, and its answer is waited for.
 */
export class WriteTransaction implements WritingTransaction {
  readonly #parts: TransactionParts
  readonly #clock: TransactionClock
  /** A savepoint: gone with its transaction, and so the proof that this is still the one that was begun. */
  readonly #mark: string
  #begun = false
  #called = false
  /** Gone, or with a kill on its way to it. */
  #sessionLost = false
  /** Whether the session still answered when it was last spoken to. */
  #answers = true

  constructor(parts: TransactionParts) {
    this.#parts = parts
    this.#clock = new TransactionClock(parts.options, parts.nowMs)
    this.#mark = `runku_${Buffer.from(parts.randomBytes(MARK_BYTES)).toString('hex')}`
  }

  async run(statement: CompiledStatement): Promise<Result<Ran, GatewayError>> {
    const begun = await this.#begin([])
    if (!begun.ok) return begun
    const answer = await this.#prepared(statement)
    if (!answer.ok) return answer
    const changed = otherTypes(answer.value, statement.columns)
    if (changed !== undefined) return fail(changed)
    const { sets, affected } = answer.value
    const [set] = sets
    return ok(set === undefined ? { rows: [], affected } : { rows: set.rows, affected: set.rows.length })
  }

  /** Runs a call, which may end the transaction by itself: `standing` tells. Of its sets `kept` is kept. */
  async call(statement: CompiledStatement, kept: KeptOfSets): Promise<Result<Answer, GatewayError>> {
    const marked = await this.#begin([{ kind: 'control', text: `SAVEPOINT ${this.#mark}` }])
    if (!marked.ok) return marked
    this.#called = true
    const answer = await this.#prepared(statement, kept, [])
    if (!answer.ok || answer.value.warnings === 0 || !(await this.#warnsOf(CUT_TO_NULL))) return answer
    return fail(gatewayError('RESULT_TOO_LARGE', { reason: 'a text passed max_allowed_packet and became NULL' }))
  }

  /** Whether the transaction that was begun for a call is still there. To be asked once. */
  async standing(): Promise<Standing> {
    if (!this.#called) return 'stands'
    if (!this.#answers) return 'unsure'
    const { session } = this.#parts
    const check: WireStatement = { kind: 'control', text: `RELEASE SAVEPOINT ${this.#mark}` }
    let end = await tidyUp(session, [check])
    // A kill or a limit that was meant for the call can come late, and then interrupts the question instead.
    for (let tries = 1; tries < STANDING_TRIES_MAX && end.kind === 'failed' && isInterrupted(end.error); tries++) {
      end = await tidyUp(session, [check])
    }
    if (end.kind === 'done') return 'stands'
    return end.kind === 'failed' && errnoOf(end.error) === DOES_NOT_EXIST ? 'gone' : 'unsure'
  }

  /** Constraints hold at every moment here, so there is nothing to check before. */
  undo<T>(value: T): Promise<TransactionEnd<T>> {
    return this.rollBack(ok(value))
  }

  async rollBack<T>(outcome: Result<T, GatewayError>): Promise<TransactionEnd<T>> {
    // A session that did not even begin one is not as it should be.
    if (!this.#begun) return { outcome, effect: 'none', reusable: false }
    // What was never committed is undone by the server with the session, however that ends.
    if (this.#sessionLost) return { outcome, effect: 'none', reusable: false }
    const end = await tidyUp(this.#parts.session, [ROLLBACK])
    if (end.kind !== 'done') return { outcome, effect: 'none', reusable: false }
    const kept = end.answer.warnings > 0 && (await this.#warnsOf(NOT_ROLLED_BACK))
    const reusable = await this.#parts.session.restore()
    return kept ? unknownEffect(KEPT, reusable) : { outcome, effect: 'none', reusable }
  }

  async commit<T>(value: T): Promise<TransactionEnd<T>> {
    const { session, options } = this.#parts
    const stopped = this.#clock.stopped
    if (stopped !== undefined) return this.rollBack<T>(fail(stopped))
    const limits = { timeoutMs: this.#clock.leftMs, bytesMax: options.bytesMax }
    return this.#committed(await runStatement(session, COMMIT, limits, new Cancellation()), value)
  }

  /** What became of a COMMIT that was sent. Only the server's word counts, and without one the effect is unknown. */
  async #committed<T>(end: WireEnd, value: T): Promise<TransactionEnd<T>> {
    const { session } = this.#parts
    const answered = end.kind === 'stopped' ? end.outcome : end
    if (answered?.kind === 'done') {
      return { outcome: ok(value), effect: 'committed', reusable: end.kind === 'done' && (await session.restore()) }
    }
    const number = answered?.kind === 'failed' ? errnoOf(answered.error) : undefined
    const heard = answered?.kind === 'failed' ? statementError(answered.error).detail : undefined
    if (answered?.kind !== 'failed' || number === undefined || !UNDONE_AT_COMMIT.has(number)) {
      return unknownEffect(UNANSWERED, false, heard)
    }
    // The server also sends an error with its last breath: it must still be there to say no.
    if ((await tidyUp(session, [ROLLBACK])).kind !== 'done') return unknownEffect(UNANSWERED, false, heard)
    const error = end.kind === 'stopped' ? gatewayError(end.code) : writeError(answered.error)
    const reusable = end.kind !== 'stopped' && (await session.restore())
    return { outcome: fail(error), effect: 'none', reusable }
  }

  /** The first statement begins the transaction. */
  async #begin(more: readonly WireStatement[]): Promise<Result<undefined, GatewayError>> {
    if (this.#begun) return ok(undefined)
    const { session, options, reading } = this.#parts
    const begin = reading === true ? BEGIN_READING : BEGIN
    for (const statement of [...session.limited(options.timeoutMs), begin, ...more]) {
      const sent = await this.#send(statement)
      if (!sent.ok) return sent
      this.#begun ||= statement === begin
    }
    return ok(undefined)
  }

  async #prepared(
    { text, params, columns }: CompiledStatement,
    kept: KeptOfSets = {},
    described: readonly ResultColumn[] = columns,
  ): Promise<Result<Answer, GatewayError>> {
    const shortened = await this.#shortened()
    return shortened.ok ? this.#send({ kind: 'prepared', text, params }, kept, described) : shortened
  }

  /**
   * The server's limit is for each statement. Where code with another's rights runs nothing else may end a statement, so a
   * transaction that has waited gives its next one what is left.
   */
  async #shortened(): Promise<Result<undefined, GatewayError>> {
    const { session, options } = this.#parts
    const { leftMs } = this.#clock
    if (leftMs === 0 || options.timeoutMs - leftMs < CANCEL_REPEAT_MS) return ok(undefined)
    for (const statement of session.limited(Math.ceil(leftMs))) {
      const sent = await this.#send(statement)
      if (!sent.ok) return sent
    }
    return ok(undefined)
  }

  async #send(
    statement: WireStatement,
    kept: KeptOfSets = {},
    columns: readonly ResultColumn[] = [],
  ): Promise<Result<Answer, GatewayError>> {
    const { session, options } = this.#parts
    const stopped = this.#clock.stopped
    if (stopped !== undefined) return fail(stopped)
    const { bytesMax, cancellation } = options
    const limits = { timeoutMs: this.#clock.leftMs, bytesMax, ...kept }
    const end = await runStatement(session, statement, limits, cancellation, columns)
    switch (end.kind) {
      case 'done':
        return ok(end.answer)
      case 'failed':
        return fail(await this.#failure(end.error))
      case 'too_large':
        this.#sessionLost = true
        this.#answers = false
        return fail(tooLarge(end, bytesMax))
      case 'stopped':
        this.#sessionLost = true
        this.#answers = end.outcome !== undefined && end.outcome.kind !== 'too_large'
        return fail(this.#clock.errorOf(end.code))
      default:
        return unreachable(end)
    }
  }

  /** That the connection is lost can be signalled by code in the database: a session that answers was not. */
  async #failure(error: unknown): Promise<GatewayError> {
    const { session, reading } = this.#parts
    const judged = reading === true ? statementError(error) : writeError(error)
    if (judged.code !== 'CONNECTOR_UNAVAILABLE') return judged
    if (errnoOf(error) !== undefined && (await tidyUp(session, [ASK])).kind === 'done') {
      return signalledError(error, reading === true)
    }
    this.#sessionLost = true
    this.#answers = false
    return judged
  }

  /** Whether the last statement ended with this warning; true where that cannot be told. */
  async #warnsOf(wanted: number): Promise<boolean> {
    const end = await tidyUp(this.#parts.session, [SHOW_WARNINGS])
    if (end.kind !== 'done') return true
    const rows = end.answer.sets[0]?.rows ?? []
    return rows.some(([, number]) => number === String(wanted))
  }
}

const KEPT = 'a table that cannot undo changes was written before the transaction was rolled back'
