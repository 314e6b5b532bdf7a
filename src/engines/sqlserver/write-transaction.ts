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
import { otherTypes } from './changed-types.js'
import { numberOf, statementError, writeError } from './errors.js'
import { setContext } from './session.js'
import {
  type Answer,
  runStatement,
  type TransactionNews,
  tidyUp,
  type WireEnd,
  type WireSession,
  type WireSet,
  type WireStatement,
} from './wire.js'

/**
 * What code inside of the database runs behind a ROLLBACK of its own would last at once: with implicit transactions it is one
 * more that can be undone, and only a COMMIT, which the server tells of, is beyond reach. Set within the transaction, since
 * BEGIN would otherwise count as two.
 */
const BEGIN: WireStatement = { kind: 'control', text: 'BEGIN TRANSACTION; SET IMPLICIT_TRANSACTIONS ON' }
/**
 * A transaction that was begun again inside of itself would only be counted down by COMMIT, and go on. The row tells how many
 * there were: none but one was committed.
 */
const COMMIT: WireStatement = {
  kind: 'control',
  text: 'DECLARE @open int = @@TRANCOUNT; IF @open = 1 COMMIT TRANSACTION; SELECT @open',
}
const ROLLBACK: WireStatement = { kind: 'control', text: 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION' }
/** Stands behind a call in its batch. */
const COUNT_OPEN = 'SELECT @@TRANCOUNT, XACT_STATE()'

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
  /** What a procedure or trigger did with the transaction, by the last statement that told. */
  #news: TransactionNews = 'none'
  /** Why a call that ended well cannot be committed. */
  #spoilt: string | undefined

  constructor(parts: TransactionParts) {
    this.#parts = parts
    this.#clock = new TransactionClock(parts.options, parts.nowMs)
  }

  /** The rows are those of the last set: sets of triggers come before. */
  async run(statement: CompiledStatement): Promise<Result<Ran, GatewayError>> {
    const begun = await this.#begin()
    if (!begun.ok) return begun
    const answer = await this.#send({ kind: 'statement', text: statement.text, params: statement.params })
    if (!answer.ok) return answer
    if (answer.value.news !== 'none') return fail(gatewayError('DB_ERROR', { reason: ENDED_BY_TRIGGER }))
    const set = answer.value.sets.at(-1)
    if (set === undefined) return ok({ rows: [], affected: answer.value.count })
    const changed = set.fields.length === statement.columns.length ? otherTypes(set.rows, statement.columns) : undefined
    if (changed !== undefined) return fail(changed)
    // What is read back behind a write stands in its batch, and the write is what counted last before it.
    return ok({ rows: set.rows, affected: set.countBefore ?? set.rows.length })
  }

  /** Runs a call, which may end the transaction by itself: `standing` tells. Of each set `rowsMax` rows are kept. */
  async call({ text, params }: CompiledStatement, rowsMax: number): Promise<Result<readonly WireSet[], GatewayError>> {
    const begun = await this.#begin()
    if (!begun.ok) return begun
    const answer = await this.#send({ kind: 'statement', text: `${text};\n${COUNT_OPEN}`, params }, rowsMax)
    if (!answer.ok) return answer
    const [open, state] = answer.value.sets.at(-1)?.rows[0] ?? []
    this.#spoilt = this.#spoiltBy(open, state)
    return ok(answer.value.sets.slice(0, -1))
  }

  /** Only what is to be committed has to be what it was, or have been committed already. */
  #spoiltBy(open: string | null | undefined, state: string | null | undefined): string | undefined {
    if (this.#news === 'rolled_back') return ENDED_BY_ROUTINE
    const committable = open === '1' && state === COMMITTABLE
    return committable || (this.#news === 'committed' && open === '0') ? undefined : LEFT_OPEN
  }

  /** What became of the transaction that was begun for a call. */
  get standing(): Standing {
    if (!this.#begun) return 'stands'
    if (this.#news === 'committed') return 'gone'
    if (!this.#answers) return 'unsure'
    return this.#news === 'rolled_back' ? 'undone' : 'stands'
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
    if (this.#news !== 'committed') return { outcome, effect: 'none', reusable }
    return unknownEffect(COMMITTED_INSIDE, reusable, outcome.ok ? undefined : outcome.error.detail)
  }

  async commit<T>(value: T): Promise<TransactionEnd<T>> {
    const { session, options } = this.#parts
    const stopped = this.#clock.stopped
    if (stopped !== undefined) return this.rollBack<T>(fail(stopped))
    if (this.#spoilt !== undefined) return this.rollBack<T>(fail(gatewayError('DB_ERROR', { reason: this.#spoilt })))
    const limits = { timeoutMs: this.#clock.leftMs, bytesMax: options.bytesMax }
    return this.#committed(await runStatement(session, COMMIT, limits, new Cancellation()), value)
  }

  /** What became of a COMMIT that was sent. Only the server's word counts, and without one the effect is unknown. */
  async #committed<T>(end: WireEnd, value: T): Promise<TransactionEnd<T>> {
    const { session } = this.#parts
    const answered = end.kind === 'stopped' ? end.outcome : end
    const stopped = end.kind === 'stopped'
    if (answered?.kind === 'done') {
      const open = answered.answer.sets[0]?.rows[0]?.[0]
      if (open === '1' || (open === '0' && this.#news === 'committed')) {
        return { outcome: ok(value), effect: 'committed', reusable: !stopped && (await session.restore()) }
      }
      // Nothing was committed here, and nobody said who ended it before.
      if (open === '0') return unknownEffect(COMMITTED_INSIDE, !stopped && (await session.restore()))
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

  async #undone(): Promise<boolean> {
    return (await tidyUp(this.#parts.session, ROLLBACK)).kind === 'done'
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
    return ok(undefined)
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
const ENDED_BY_TRIGGER = 'a trigger ended the transaction it ran in'
const ENDED_BY_ROUTINE = 'the procedure ended the transaction it ran in'
const LEFT_OPEN = 'the procedure left a transaction that cannot be committed'
