import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok } from '../../core/result.js'
import type { CompiledMutation, MutationEnd, Rows } from '../engine.js'
import { type TransactionEnd, type TransactionParts, WriteTransaction } from './write-transaction.js'

/** PostgreSQL's text of a boolean that holds. */
const TRUE = 't'

/**
 * Lock, judge, write, judge again, and only then commit. Whatever is not as it should be rolls everything back: triggers,
 * cascades and rules included.
 */
export async function runMutation(
  mutation: CompiledMutation,
  parts: TransactionParts,
): Promise<TransactionEnd<MutationEnd>> {
  const transaction = new WriteTransaction(parts)
  if (mutation.lock !== undefined) {
    const locked = await transaction.run(mutation.lock)
    if (!locked.ok) return transaction.rollBack(locked)
    const end = beforeWriting(mutation, locked.value)
    if (end !== undefined) return transaction.rollBack(ok(end))
  }
  const written = await transaction.run(mutation.write)
  if (!written.ok) return transaction.rollBack(written)
  if (written.value.length === 0) return transaction.rollBack(fail(suppressed()))
  const end = afterWriting(mutation, written.value)
  if (end.kind !== 'written') return transaction.rollBack(ok(end))
  return mutation.dryRun ? transaction.undo(end) : transaction.commit(end)
}

/** What the locked rows already decide; undefined when the change may go on. */
function beforeWriting({ maxAffectedRows }: CompiledMutation, locked: Rows): MutationEnd | undefined {
  if (locked.length === 0) return { kind: 'not_found' }
  if (locked.length > maxAffectedRows) return { kind: 'too_many', affected: locked.length }
  if (!locked.every(([expected]) => expected === TRUE)) return { kind: 'expected_failed' }
  if (!locked.every(([, unchanged]) => unchanged === TRUE)) return undefined
  return { kind: 'unchanged', rows: locked.map(([, , ...cells]) => cells) }
}

function afterWriting({ maxAffectedRows }: CompiledMutation, written: Rows): MutationEnd {
  if (written.length > maxAffectedRows) return { kind: 'too_many', affected: written.length }
  if (!written.every((row) => row.at(-1) === TRUE)) return { kind: 'out_of_scope' }
  return { kind: 'written', rows: written.map((row) => row.slice(0, -1)), affected: written.length }
}

/** A row that was not written cannot be shown to be in scope, wherever a trigger put it instead. */
function suppressed(): GatewayError {
  return gatewayError('DB_CONSTRAINT', {
    reason: 'a trigger, rule or row-level policy kept the row from being written',
  })
}
