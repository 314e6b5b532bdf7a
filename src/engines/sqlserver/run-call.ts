import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import { type TransactionEnd, unknownEffect } from '../driver/run-mutation.js'
import type { CallResult, CompiledCall, CompiledSets, ResultSet } from '../engine.js'
import { setColumn } from './set-columns.js'
import type { WireSet } from './wire.js'
import type { Standing, WriteTransaction } from './write-transaction.js'

const COMMITTED = 'the procedure ended the transaction it ran in, and may have committed it'

/**
 * Runs a call as one transaction. A procedure can end that by itself, which is beyond reach: a call that should only read
 * ends in an error then, and one that failed may have changed something. One that is known to have committed and ended well has
 * done what it was called for.
 */
export async function runCall(call: CompiledCall, transaction: WriteTransaction): Promise<TransactionEnd<CallResult>> {
  const procedure = !isFunction(call.statement.text)
  const answer = await transaction.call(call.statement, { procedure, rowsMax: call.rowCap + 1 })
  const result = answer.ok ? callResult(call, answer.value) : answer
  if (call.effect === 'write' && !call.dryRun && result.ok) return transaction.commit(result.value)
  const end = await transaction.rollBack(result)
  // What became of the transaction the server is asked when it is rolled back.
  return mayHaveChanged(call, transaction.standing)
    ? unknownEffect(COMMITTED, end.reusable, result.ok ? undefined : result.error.detail)
    : end
}

/** What is sent as SELECT calls a function, and a function changes nothing. */
function mayHaveChanged({ effect, statement }: CompiledCall, standing: Standing): boolean {
  if (isFunction(statement.text)) return false
  // Being lost is no sign that a procedure which is said to read has written.
  return standing === 'gone' || (standing === 'unsure' && effect === 'write')
}

function isFunction(text: string): boolean {
  return text.startsWith('SELECT ')
}

/** Outputs are read by a SELECT behind the procedure, in its batch; a function's result is the one set that there is. */
function callResult(call: CompiledCall, sets: readonly WireSet[]): Result<CallResult, GatewayError> {
  const own = call.statement.columns.length === 0 ? undefined : sets.at(-1)
  const rows = own === undefined ? [] : picked(call, own)
  if (call.sets === undefined) return ok({ rows })
  const shown = setsShown(
    sets.filter((set) => set !== own),
    call.sets,
  )
  return shown.ok ? ok({ rows, sets: shown.value }) : shown
}

function picked({ cells }: CompiledCall, { rows }: WireSet): CallResult['rows'] {
  return cells === undefined ? rows : rows.map((row) => cells.map((cell) => row[cell] ?? null))
}

/** Of each set the columns that are let through, in its own order; sets without any are as if they were not there. */
function setsShown(
  sets: readonly WireSet[],
  { names, cellCharsMax }: CompiledSets,
): Result<readonly ResultSet[], GatewayError> {
  const shown: ResultSet[] = []
  for (const { fields, rows } of sets) {
    const indexes = [...fields.keys()].filter((i) => names.includes(fields[i]?.colName ?? ''))
    const columns = indexes.flatMap((i) => fields[i] ?? []).map((field) => setColumn(field, cellCharsMax))
    if (new Set(columns.map(({ name }) => name)).size < columns.length) {
      return fail(gatewayError('DB_ERROR', { reason: 'a result set has two columns of one name that is let through' }))
    }
    if (columns.length > 0) shown.push({ columns, rows: rows.map((row) => indexes.map((i) => row[i] ?? null)) })
  }
  return ok(shown)
}
