import { type GatewayError, gatewayError } from '../../core/errors.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { CompiledStatement } from '../../core/statement.js'
import type { Ran } from '../driver/run-mutation.js'
import type { Rows } from '../engine.js'
import { otherTypes } from './changed-types.js'
import type { WireSet, WireStatement } from './wire.js'

/**
 * Triggers return sets of rows beside those of the statement that fired them: triggers of tables that a cascade reaches, that
 * came since the catalog was read, or that others fire. Nothing in the protocol tells the two apart, and neither does their
 * order. So each row of a written statement begins with a mark that was drawn for this one execution.
 */

/** The statement as it is sent. `mark`: nobody can have guessed it. */
export function markedStatement({ text, params, marked }: CompiledStatement, mark: string): WireStatement {
  if (marked === undefined) return { kind: 'statement', text, params }
  const declared = `DECLARE @mark nvarchar(36) = @p${params.length + 1};\n${text}`
  return { kind: 'statement', text: declared, params: [...params, mark] }
}

/** The statement's own rows, without their mark, and how many it wrote; triggers' sets are as if they were not there. */
export function ownRows(
  sets: readonly WireSet[],
  { marked, columns }: CompiledStatement,
  mark: string,
): Result<Ran, GatewayError> {
  if (marked === undefined) return onlySet(sets)
  const [own, ...others] = sets.filter(({ rows }) => rows.some(([first]) => first === mark))
  // Where no row was written, or none is found again, there is nothing to tell a set of the statement by.
  if (own === undefined) return ok({ rows: [], affected: 0 })
  const before = marked === 'counted' ? 2 : 1
  const whole = own.rows.every(([first]) => first === mark) && own.fields.length === before + columns.length + 1
  if (others.length > 0 || !whole) return fail(gatewayError('DB_ERROR', { reason: MIXED }))
  const rows = own.rows.map((row) => row.slice(before))
  const changed = otherTypes(rows, columns)
  if (changed !== undefined) return fail(changed)
  return ok({ rows, affected: marked === 'counted' ? Number(own.rows[0]?.[1]) : rows.length })
}

/** What only reads fires no trigger. */
function onlySet(sets: readonly WireSet[]): Result<Ran, GatewayError> {
  if (sets.length > 1) return fail(gatewayError('DB_ERROR', { reason: MIXED }))
  const rows: Rows = sets[0]?.rows ?? []
  return ok({ rows, affected: rows.length })
}

const MIXED = 'the rows of the statement could not be told from others that came with them'
