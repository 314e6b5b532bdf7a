import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import { type TransactionEnd, unknownEffect } from '../driver/run-mutation.js'
import type { CallResult, CompiledCall, CompiledSets, ResultSet } from '../engine.js'
import { setColumn } from './set-columns.js'
import type { Answer, WireSet } from './wire.js'
import type { KeptOfSets, Standing, WriteTransaction } from './write-transaction.js'

const ENDED = 'the procedure ended the transaction it ran in'

/**
 * Runs a call as one transaction. A procedure can end that by itself, and whatever it does then is beyond its reach: a call
 * that should only read ends in an error, and one that failed may have changed something.
 */
export async function runCall(call: CompiledCall, transaction: WriteTransaction): Promise<TransactionEnd<CallResult>> {
  const answer = await transaction.call(call.statement, { rowsMax: call.rowCap + 1, ...keeping(call) })
  const result = answer.ok ? callResult(call, answer.value) : answer
  const standing = await transaction.standing()
  const undone = call.effect === 'read' || call.dryRun
  if (!undone && result.ok) return transaction.commit(result.value)
  const end = await transaction.rollBack(result)
  return mayHaveChanged(call, standing)
    ? unknownEffect(ENDED, end.reusable, result.ok ? undefined : result.error.detail)
    : end
}

/** Of what a procedure gives beside its outputs, only sets with a column that is let through are kept. */
function keeping({ statement, sets }: CompiledCall): Pick<KeptOfSets, 'keeps'> {
  if (statement.text.startsWith('SELECT ')) return {}
  return { keeps: (fields) => sets !== undefined && fields.some(({ name }) => sets.names.includes(name)) }
}

/** What is sent as SELECT calls a function, and a function cannot commit. */
function mayHaveChanged({ effect, statement }: CompiledCall, standing: Standing): boolean {
  if (statement.text.startsWith('SELECT ')) return false
  // A procedure that reads runs where nothing can be written unless it takes pains to: being lost is no sign of that.
  return standing === 'gone' || (standing === 'unsure' && effect === 'write')
}

/** Outputs are the one row that the server marks as such; a function's result is the first row of its SELECT. */
function callResult(call: CompiledCall, { sets }: Answer): Result<CallResult, GatewayError> {
  const procedure = !call.statement.text.startsWith('SELECT ')
  const own = procedure ? sets.find(({ outs }) => outs) : sets[0]
  const rows = call.statement.columns.length === 0 ? [] : picked(call, own)
  if (call.sets === undefined) return ok({ rows })
  const shown = setsShown(
    sets.filter((set) => set !== own),
    call.sets,
  )
  return shown.ok ? ok({ rows, sets: shown.value }) : shown
}

function picked({ cells }: CompiledCall, set: WireSet | undefined): CallResult['rows'] {
  const rows = set?.rows ?? []
  return cells === undefined ? rows : rows.map((row) => cells.map((cell) => row[cell] ?? null))
}

/** Of each set the columns that are let through, in its own order; sets without any are as if they were not there. */
function setsShown(
  sets: readonly WireSet[],
  { names, cellCharsMax }: CompiledSets,
): Result<readonly ResultSet[], GatewayError> {
  const shown: ResultSet[] = []
  for (const { fields, rows } of sets) {
    const indexes = [...fields.keys()].filter((i) => names.includes(fields[i]?.name ?? ''))
    const columns = indexes.flatMap((i) => fields[i] ?? []).map((field) => setColumn(field, cellCharsMax))
    if (new Set(columns.map(({ name }) => name)).size < columns.length) {
      return fail(gatewayError('DB_ERROR', { reason: 'a result set has two columns of one name that is let through' }))
    }
    if (columns.length > 0) shown.push({ columns, rows: rows.map((row) => indexes.map((i) => row[i] ?? null)) })
  }
  return ok(shown)
}
