import { unreachable } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { CompiledStatement } from '../../core/statement.js'
import {
  type TransactionParts as PartsOf,
  type Ran,
  type Restorable,
  type TransactionEnd,
  UNANSWERED,
  unknownEffect,
  type WritingTransaction,
} from '../driver/run-mutation.js'
import { TransactionClock, tooLargeError } from '../driver/stoppable.js'
import { Cancellation } from '../engine.js'
import { numberOf, statementError, writeError } from './errors.js'
import { setContext } from './session.js'
import {
  type Answer,
  type Row,
  runStatement,
  type TransactionNews,
  tidyUp,
  type WireEnd,
  type WireSession,
  type WireSet,
  type WireStatement,
} from './wire.js'
import { markedStatement, ownRows } from './written-rows.js'

/** A database that cannot be written, such as that of a readable replica, has no application locks either. */
const READ_ONLY = 'READ_ONLY'
const UPDATEABILITY = "CONVERT(nvarchar(60), DATABASEPROPERTYEX(DB_NAME(), N'Updateability'))"
const WRITABLE = `ISNULL(${UPDATEABILITY}, N'') <> N'${READ_ONLY}'`
/**
 * The transaction holds a lock of its own name that blocks nobody and that goes with it: whoever holds it is still in that
 * transaction, whatever was ended and begun in between. NULL outside of any.
 */
const HELD = `CASE WHEN @@TRANCOUNT > 0 AND ${WRITABLE} THEN APPLOCK_MODE(N'public', N'runku', N'Transaction') END`
const LOCK_MODE = 'Shared'

/**
 * What code inside of the database runs behind a ROLLBACK of its own would last at once: with implicit transactions it is one
 * more that can be undone, and only a COMMIT, which the server tells of, is beyond reach. Set within the transaction, since
 * BEGIN would otherwise count as two.
 */
const BEGIN: WireStatement = {
  kind: 'control',
  text: `BEGIN TRANSACTION; SET IMPLICIT_TRANSACTIONS ON; IF ${WRITABLE} EXEC sys.sp_getapplock @Resource = N'runku', @LockMode = N'Shared', @LockOwner = N'Transaction', @LockTimeout = 0; SELECT ${HELD}, ${UPDATEABILITY}`,
}
const STATE = `DECLARE @open int = @@TRANCOUNT, @held nvarchar(32) = ${HELD}`
/**
 * A transaction that was begun again inside of itself would only be counted down by COMMIT, and go on. The row tells how many
 * there were, and whether it was still the one that was begun: no other is committed.
 */
const COMMIT: WireStatement = {
  kind: 'control',
  text: `${STATE}; IF @open = 1 AND @held = N'Shared' COMMIT TRANSACTION; SELECT @open, @held`,
}
/** Of a call that ended well, and has committed by itself before: what it did since is to last as well. */
const COMMIT_REST: WireStatement = {
  kind: 'control',
  text: `${STATE}; IF @open = 1 COMMIT TRANSACTION; SELECT @open, @held`,
}
const ROLLBACK: WireStatement = {
  kind: 'control',
  text: `${STATE}; IF @open > 0 ROLLBACK TRANSACTION; SELECT @open, @held`,
}
/** Stands behind a call in its batch. */
const COUNT_OPEN = `SELECT @@TRANCOUNT, XACT_STATE(), ${HELD}`

/**
 * The batch of a procedure. Behind an error nothing would be left to tell whether it ended the transaction that was begun, or
 * came when that was long ended and what followed had lasted: so the error is caught while the one that it ends still stands,
 * and raised again. `mark`: the parameter that tells this row from those of the procedure.
 */
function procedureBatch(text: string, mark: number): string {
  return `BEGIN TRY\n${text};\n${COUNT_OPEN};\nEND TRY\nBEGIN CATCH\nSELECT @p${mark}, ${HELD};\nTHROW;\nEND CATCH`
}

/** Whatever a procedure raises is caught around it. Where nothing was, these say that it was not even entered. */
const NOT_ENTERED: ReadonlySet<number> = new Set([
  201, // a parameter is missing
  2812, // unknown procedure
  8144, // too many arguments
  8145, // not a parameter of the procedure
  8146, // a procedure without parameters was given some
])

/** The state of a transaction that can be committed. */
const COMMITTABLE = '1'

/** A COMMIT that ends in one of these has been undone as a whole. Of any other failure, nothing is promised. */
const UNDONE_AT_COMMIT: ReadonlySet<number> = new Set([
  1205, // deadlock victim
  3930, // the transaction cannot be committed
  3998, // the same, found at the end of the batch
  41_301, // memory-optimized: dependency failure
  41_305, // memory-optimized: repeatable read validation
  41_325, // memory-optimized: serializable validation
])

export type RestorableSession = WireSession & Restorable

export interface TransactionParts extends PartsOf<RestorableSession> {
  /** Whether what is called only reads, so that what it raises is no refusal of a change. Absent: it writes. */
  readonly reading?: true
  /** Draws the mark of one execution, which nobody can guess: 36 characters at most. */
  readonly newMark: () => string
}

/** `undone`: it was rolled back. `gone`: it was committed, by whatever ran in it. `unsure`: nobody can tell any more. */
export type Standing = 'stands' | 'undone' | 'gone' | 'unsure'

/**
 * One transaction, from its first statement to its end, within the call's time as a whole. A cancellation ends it at any
 * moment before COMMIT is sent; from then on only the server knows what happens, and its answer is waited for.
 */
export class WriteTransaction implements WritingTransaction {
  readonly #parts: TransactionParts
  readonly #clock: TransactionClock
  #begun = false
  /** Gone, or with an attention on its way to it. */
  #sessionLost = false
  /** Whether the session still answered when it was last spoken to. */
  #answers = true
  /** Whether a statement was ended by an attention. */
  #interrupted = false
  /** What a procedure or trigger did with the transaction, by the last statement that told. */
  #news: TransactionNews = 'none'
  /** Whether the lock was got that tells the transaction from a later one. */
  #told = false
  /** Of the statement that ended in an error, what it was and the sets that came before. */
  #failure: { readonly number: number | undefined; readonly sets: readonly WireSet[] } | undefined
  /** Whether an error ended the transaction, which was the one that was begun until then. */
  #endedByError = false
  /** Whether the transaction was found to be none any more, or another, although no error ended it. */
  #ended = false
  /** Why a call that ended well cannot be committed. */
  #spoilt: string | undefined

  constructor(parts: TransactionParts) {
    this.#parts = parts
    this.#clock = new TransactionClock(parts.options, parts.nowMs)
  }

  async run(statement: CompiledStatement): Promise<Result<Ran, GatewayError>> {
    const begun = await this.#begin()
    if (!begun.ok) return begun
    const mark = this.#parts.newMark()
    const answer = await this.#send(markedStatement(statement, mark))
    if (!answer.ok) {
      this.#endedByError = this.#failure !== undefined
      return answer
    }
    if (answer.value.news !== 'none') return fail(gatewayError('DB_ERROR', { reason: ENDED_BY_TRIGGER }))
    return ownRows(answer.value.sets, statement, mark)
  }

  /**
   * Runs a call. A procedure may end the transaction by itself, which `standing` tells; a function cannot. Of each set
   * `rowsMax` rows are kept.
   */
  async call(
    { text, params }: CompiledStatement,
    { procedure, rowsMax }: { readonly procedure: boolean; readonly rowsMax: number },
  ): Promise<Result<readonly WireSet[], GatewayError>> {
    const begun = await this.#begin()
    if (!begun.ok) return begun
    const mark = this.#parts.newMark()
    const batch: WireStatement = procedure
      ? { kind: 'statement', text: procedureBatch(text, params.length + 1), params: [...params, mark] }
      : { kind: 'statement', text: `${text};\n${COUNT_OPEN}`, params }
    const answer = await this.#send(batch, rowsMax)
    if (!answer.ok) {
      if (procedure) this.#judgeFailed(mark)
      else this.#endedByError = this.#failure !== undefined
      return answer
    }
    this.#spoilt = this.#spoiltBy(answer.value.sets.at(-1)?.rows[0] ?? [])
    return ok(answer.value.sets.slice(0, -1))
  }

  /** What the batch of a procedure said of the transaction when it was caught failing. */
  #judgeFailed(mark: string): void {
    if (this.#failure === undefined) return
    const { number, sets } = this.#failure
    const caught = sets.flatMap(({ rows }) => rows).find(([first]) => first === mark)
    if (caught === undefined) this.#endedByError = number !== undefined && NOT_ENTERED.has(number)
    else if (this.#isAnother(caught[1])) this.#ended = true
    else this.#endedByError = true
  }

  /** Only what is to be committed has to be what it was, or have been committed already. */
  #spoiltBy([open, state, held]: Row): string | undefined {
    if (this.#news === 'rolled_back') return ENDED_BY_ROUTINE
    const committable = open === '1' && state === COMMITTABLE
    if (this.#news === 'committed') return committable || open === '0' ? undefined : LEFT_OPEN
    if (this.#isAnother(held)) return ENDED_BY_ROUTINE
    return committable ? undefined : LEFT_OPEN
  }

  /** `held`: what a statement said of the lock that goes with the transaction. */
  #isAnother(held: string | null | undefined): boolean {
    return this.#told && held !== LOCK_MODE
  }

  /** What became of the transaction that was begun for a call, as far as is known by now. */
  get standing(): Standing {
    if (!this.#begun) return 'stands'
    if (this.#news === 'committed' || this.#ended) return 'gone'
    if (!this.#answers) return 'unsure'
    if (this.#news !== 'rolled_back') return 'stands'
    // An attention rolls back, and so may what it interrupted have done before it went on outside of any transaction.
    return this.#interrupted ? 'unsure' : 'undone'
  }

  /** Constraints hold at every moment here, so there is nothing to check before. */
  undo<T>(value: T): Promise<TransactionEnd<T>> {
    return this.rollBack(ok(value))
  }

  async rollBack<T>(outcome: Result<T, GatewayError>): Promise<TransactionEnd<T>> {
    // A session that did not even begin one is not as it should be.
    if (!this.#begun) return { outcome, effect: 'none', reusable: false }
    // What was never committed is undone by the server with the session, however that ends.
    const reusable = !this.#sessionLost && (await this.#undone()) && (await this.#parts.session.restore())
    const reason = this.#news === 'committed' ? COMMITTED_INSIDE : this.#ended ? ENDED_INSIDE : undefined
    if (reason === undefined) return { outcome, effect: 'none', reusable }
    return unknownEffect(reason, reusable, outcome.ok ? undefined : outcome.error.detail)
  }

  async commit<T>(value: T): Promise<TransactionEnd<T>> {
    const { session, options } = this.#parts
    const stopped = this.#clock.stopped
    if (stopped !== undefined) return this.rollBack<T>(fail(stopped))
    if (this.#spoilt !== undefined) return this.rollBack<T>(fail(gatewayError('DB_ERROR', { reason: this.#spoilt })))
    const limits = { timeoutMs: this.#clock.leftMs, bytesMax: options.bytesMax }
    const statement = this.#news === 'committed' || !this.#told ? COMMIT_REST : COMMIT
    return this.#committed(await runStatement(session, statement, limits, new Cancellation()), value)
  }

  /** What became of a COMMIT that was sent. Only the server's word counts, and without one the effect is unknown. */
  async #committed<T>(end: WireEnd, value: T): Promise<TransactionEnd<T>> {
    const { session } = this.#parts
    const answered = end.kind === 'stopped' ? end.outcome : end
    const stopped = end.kind === 'stopped'
    if (answered?.kind === 'done') {
      const [open, held] = answered.answer.sets[0]?.rows[0] ?? []
      const own = this.#news === 'committed' || !this.#isAnother(held)
      if ((open === '1' && own) || (open === '0' && this.#news === 'committed')) {
        return { outcome: ok(value), effect: 'committed', reusable: !stopped && (await session.restore()) }
      }
      // Nothing was committed here, and nobody said who ended it before.
      if (open === '0' || !own) {
        const reusable = (await this.#undone()) && !stopped && (await session.restore())
        return unknownEffect(ENDED_INSIDE, reusable)
      }
      return this.rollBack<T>(fail(gatewayError('DB_ERROR', { reason: 'a trigger left a transaction open' })))
    }
    // An interrupted batch has said that it committed before it was interrupted.
    if (answered?.kind === 'failed' && answered.news === 'committed') {
      return { outcome: ok(value), effect: 'committed', reusable: false }
    }
    const number = answered?.kind === 'failed' ? numberOf(answered.error) : undefined
    const heard = answered?.kind === 'failed' ? statementError(answered.error).detail : undefined
    if (answered?.kind !== 'failed' || number === undefined || !UNDONE_AT_COMMIT.has(number)) {
      return unknownEffect(UNANSWERED, false, heard)
    }
    // The server also sends an error with its last breath: it must still be there to say no.
    if (!(await this.#undone())) return unknownEffect(UNANSWERED, false, heard)
    const error = end.kind === 'stopped' ? gatewayError(end.code) : writeError(answered.error)
    return { outcome: fail(error), effect: 'none', reusable: !stopped && (await session.restore()) }
  }

  /** Whether the server says that nothing is left open. What it undid may not be what was begun. */
  async #undone(): Promise<boolean> {
    const end = await tidyUp(this.#parts.session, ROLLBACK)
    if (end.kind !== 'done') {
      this.#answers = false
      return false
    }
    const [open, held] = end.answer.sets.at(-1)?.rows[0] ?? []
    if (this.#isAnother(held) && !(this.#endedByError && open === '0')) this.#ended = true
    return true
  }

  /** The first statement begins the transaction. */
  async #begin(): Promise<Result<undefined, GatewayError>> {
    if (this.#begun) return ok(undefined)
    const { context } = this.#parts.options
    if (context !== undefined) {
      const set = setContext(context)
      if (!set.ok) return fail(gatewayError('DB_ERROR', { reason: set.error }))
      const handed = await this.#send(set.value)
      if (!handed.ok) return handed
    }
    const begun = await this.#send(BEGIN)
    if (!begun.ok) return begun
    this.#begun = true
    const [held, updateability] = begun.value.sets.at(-1)?.rows[0] ?? []
    this.#told = held === LOCK_MODE
    if (this.#told) return ok(undefined)
    // Nothing in it can be written, by whatever is called either, so that no transaction has to be told from another.
    if (updateability === READ_ONLY) {
      return this.#parts.reading === true
        ? ok(undefined)
        : fail(
            gatewayError('DB_PERMISSION', {
              reason: 'the database is read-only here: changes need the primary replica',
            }),
          )
    }
    return fail(gatewayError('DB_CONFLICT', { reason: 'the lock that tells a transaction from others was not got' }))
  }

  async #send(statement: WireStatement, rowsMax?: number): Promise<Result<Answer, GatewayError>> {
    const { session, options, reading } = this.#parts
    const stopped = this.#clock.stopped
    if (stopped !== undefined) return fail(stopped)
    const { bytesMax, cancellation } = options
    const limits = { timeoutMs: this.#clock.leftMs, bytesMax, ...(rowsMax === undefined ? {} : { rowsMax }) }
    const end = await runStatement(session, statement, limits, cancellation)
    switch (end.kind) {
      case 'done':
        this.#heard(end.answer.news)
        return ok(end.answer)
      case 'failed': {
        this.#heard(end.news)
        this.#failure = { number: numberOf(end.error), sets: end.sets }
        const error = reading === true ? statementError(end.error) : writeError(end.error)
        this.#sessionLost = error.code === 'CONNECTOR_UNAVAILABLE'
        this.#answers = !this.#sessionLost
        return fail(error)
      }
      case 'too_large':
        this.#sessionLost = true
        this.#answers = false
        return fail(tooLargeError(bytesMax))
      case 'stopped':
        this.#sessionLost = true
        this.#interrupted = true
        this.#answers = end.outcome !== undefined && end.outcome.kind !== 'too_large'
        if (end.outcome?.kind === 'failed') this.#heard(end.outcome.news)
        if (end.outcome?.kind === 'done') this.#heard(end.outcome.answer.news)
        return fail(this.#clock.errorOf(end.code))
      default:
        return unreachable(end)
    }
  }

  #heard(news: TransactionNews): void {
    if (news !== 'none') this.#news = news
  }
}

const COMMITTED_INSIDE = 'a trigger or routine committed the transaction it ran in'
const ENDED_INSIDE = 'a trigger or routine ended the transaction it ran in, and may have committed it'
const ENDED_BY_TRIGGER = 'a trigger ended the transaction it ran in'
const ENDED_BY_ROUTINE = 'the procedure ended the transaction it ran in'
const LEFT_OPEN = 'the procedure left a transaction that cannot be committed'
