import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { CompiledStatement } from '../../core/statement.js'
import type { CompiledMutation, ExecuteOptions, MutationEnd, Rows } from '../engine.js'

/** What one statement of a transaction did. `affected`: rows that it matched or made, whether or not they then differ. */
export interface Ran {
  readonly rows: Rows
  readonly affected: number
}

/** `reusable`: whether the session may serve another call. */
export interface TransactionEnd<T> {
  readonly outcome: Result<T, GatewayError>
  readonly effect: 'none' | 'committed' | 'unknown'
  readonly reusable: boolean
}

/** What a transaction runs with. */
export interface TransactionParts<S> {
  readonly session: S
  readonly options: ExecuteOptions
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/** A session that can be made as it was before. */
export interface Restorable {
  /** Tells whether it is. */
  restore(): Promise<boolean>
}

/** A writing transaction as an engine runs it. After an error of `run`, only `rollBack` may follow. */
export interface WritingTransaction {
  run(statement: CompiledStatement): Promise<Result<Ran, GatewayError>>
  rollBack<T>(outcome: Result<T, GatewayError>): Promise<TransactionEnd<T>>
  /** Ends a dry run: everything is undone, once what a commit would have checked was checked. */
  undo<T>(value: T): Promise<TransactionEnd<T>>
  commit<T>(value: T): Promise<TransactionEnd<T>>
}

/** How every engine's statements tell that a condition holds. */
const TRUE = 't'

/**
 * Lock, judge, write, judge again, and only then commit. Whatever is not as it should be rolls everything back: triggers,
 * cascades and rules included.
 */
export async function runMutation(
  mutation: CompiledMutation,
  transaction: WritingTransaction,
): Promise<TransactionEnd<MutationEnd>> {
  if (mutation.guard !== undefined) {
    const changed = columnsChanged(await transaction.run(mutation.guard))
    if (changed !== undefined) return transaction.rollBack(fail(changed))
  }
  if (mutation.lock !== undefined) {
    const locked = await transaction.run(mutation.lock)
    if (!locked.ok) return transaction.rollBack(locked)
    const end = beforeWriting(mutation, locked.value.rows)
    if (end !== undefined) return transaction.rollBack(ok(end))
  }
  const ran = await transaction.run(mutation.write)
  if (!ran.ok) return transaction.rollBack(ran)
  const { affected } = ran.value
  if (affected === 0) return transaction.rollBack(fail(suppressed()))
  if (affected > mutation.maxAffectedRows) return transaction.rollBack(ok({ kind: 'too_many', affected }))
  const written = mutation.readBack === undefined ? ran : await transaction.run(mutation.readBack)
  if (!written.ok) return transaction.rollBack(written)
  const { rows } = written.value
  // Rows that are not where they were written cannot be judged.
  if (rows.length !== affected) return transaction.rollBack(fail(suppressed()))
  if (!rows.every((row) => row.at(-1) === TRUE)) return transaction.rollBack(ok({ kind: 'out_of_scope' }))
  const end: MutationEnd = { kind: 'written', rows: rows.map((row) => row.slice(0, -1)), affected }
  return mutation.dryRun ? transaction.undo(end) : transaction.commit(end)
}

/** What a guard that was run says against going on; see `CompiledStatement.guard`. */
export function columnsChanged(guarded: Result<Ran, GatewayError>): GatewayError | undefined {
  if (!guarded.ok) return guarded.error
  if (guarded.value.rows[0]?.[0] === TRUE) return undefined
  return gatewayError('SCHEMA_CHANGED', { reason: 'a column is no longer the one that the catalog had under its name' })
}

/** What the locked rows already decide; undefined when the change may go on. */
function beforeWriting({ maxAffectedRows }: CompiledMutation, locked: Rows): MutationEnd | undefined {
  if (locked.length === 0) return { kind: 'not_found' }
  if (locked.length > maxAffectedRows) return { kind: 'too_many', affected: locked.length }
  if (!locked.every(([expected]) => expected === TRUE)) return { kind: 'expected_failed' }
  if (!locked.every(([, unchanged]) => unchanged === TRUE)) return undefined
  return { kind: 'unchanged', rows: locked.map(([, , ...cells]) => cells) }
}

/** A row that was not written cannot be shown to be in scope, wherever a trigger put it instead. */
function suppressed(): GatewayError {
  return gatewayError('DB_CONSTRAINT', {
    reason: 'a trigger, rule or row-level policy kept the row from being written',
  })
}

export const UNANSWERED = 'the connection was lost before COMMIT was answered'

/** Nobody can tell what the transaction did. `detail`: what was heard last, for the operator. */
export function unknownEffect<T>(reason: string, reusable: boolean, detail?: string): TransactionEnd<T> {
  const error = gatewayError('DB_EFFECT_UNKNOWN', { reason, ...(detail === undefined ? {} : { detail }) })
  return { outcome: fail(error), effect: 'unknown', reusable }
}
