import { type GatewayError, gatewayError } from '../../core/errors.js'
import type { LogicalType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import type { Rows } from '../engine.js'

/** The types whose values are no strings in JSON. */
const NUMBERS: ReadonlySet<LogicalType> = new Set<LogicalType>(['integer', 'bigint', 'float', 'boolean'])

/**
 * An error where a column that was a number when the catalog was read has come to be something else. A statement makes text of
 * its values itself, so that the types of its result tell nothing: the first value of each column does.
 */
export function otherTypes(rows: Rows, columns: readonly ResultColumn[]): GatewayError | undefined {
  const changed = columns.some(({ type }, i) => NUMBERS.has(type.logical) && !isNumber(firstValue(rows, i)))
  if (!changed) return undefined
  return gatewayError('SCHEMA_CHANGED', { reason: 'a column is no longer of the type that it had in the catalog' })
}

function firstValue(rows: Rows, column: number): string | null {
  for (const row of rows) if (typeof row[column] === 'string') return row[column]
  return null
}

/** A column of nothing but NULL may be of any type. */
function isNumber(text: string | null): boolean {
  return text === null || (text.trim() !== '' && Number.isFinite(Number(text)))
}
