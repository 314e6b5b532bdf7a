import type { AggregateFn, Direction, Filter } from '../../core/plan.js'
import type { Column, ValueType } from '../../core/schema-model.js'
import type { SqlStyle, SqlWriter, Write } from './sql-writer.js'

/** `one`: a single row, whichever. `rows`: at most so many, as a parameter, so that calls with different limits share a statement. */
export type RowLimit = { readonly kind: 'one' } | { readonly kind: 'rows'; readonly rows: number }

/**
 * What an engine writes its own way; everything else about a statement is shared. An operand writes a column or a metric.
 */
export interface SqlPieces {
  readonly style: SqlStyle
  /** Native names of types whose values are always short, though their logical type may hold long ones. */
  readonly shortTypes: ReadonlySet<string>
  /** Right after `SELECT `, for engines that limit rows there. */
  limitAtStart(w: SqlWriter, limit: RowLimit): void
  /** At the end of the statement, for the others. */
  limitAtEnd(w: SqlWriter, limit: RowLimit): void
  /** One condition that is true or not; `neq` is not true for NULL, and `in` without values never is. */
  filter(w: SqlWriter, column: Column, filter: Filter): void
  /** Sorts with NULLs last ascending and first descending. */
  sortKey(w: SqlWriter, operand: Write, direction: Direction): void
  /** The operand's text, compared by its bytes: an order for types that have none and for equal values that look different. */
  textForm(w: SqlWriter, operand: Write): void
  /** In a group of equal values: the text of the one that comes first by its bytes, whatever order the rows lie in. */
  representative(w: SqlWriter, operand: Write): void
  /** A value of this type in the one form that all values equal to it have, where the engine has such a form. */
  plainest(w: SqlWriter, operand: Write, type: ValueType): void
  /** The operand's first `charsMax` characters as the engine writes it, or its first `charsMax` bytes when it is `bytes`. */
  shortened(w: SqlWriter, operand: Write, type: ValueType, charsMax: number): void
  /** `operand` is absent for a plain count of rows. */
  metric(w: SqlWriter, fn: AggregateFn, operand: Write | undefined): void
}
