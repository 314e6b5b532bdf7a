import type { AggregateFn, Direction, Filter, PlanValue, WriteValue } from '../../core/plan.js'
import type { Column, Table, ValueType } from '../../core/schema-model.js'
import type { GuardPieces } from './column-guard.js'
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
  readonly guarding: GuardPieces
  /** Right after `SELECT `, for engines that limit rows there. */
  limitAtStart(w: SqlWriter, limit: RowLimit): void
  /** At the end of the statement, for the others. */
  limitAtEnd(w: SqlWriter, limit: RowLimit): void
  /** One condition that is true or not; `neq` is not true for NULL, and `in` without values never is. */
  filter(w: SqlWriter, column: Column, filter: Filter): void
  /** That a column of one row equals one of another, which is of this type: as the engine compares the two by themselves. */
  same(w: SqlWriter, operand: Write, other: Write, type: ValueType): void
  /** Sorts with NULLs last ascending and first descending; `nullable` tells whether there can be any. */
  sortKey(w: SqlWriter, operand: Write, direction: Direction, nullable: boolean): void
  /** The operand's text, compared by its bytes: an order for types that have none and for equal values that look different. */
  textForm(w: SqlWriter, operand: Write, type: ValueType): void
  /** In a group of equal values: the text of the one that comes first by its bytes, whatever order the rows lie in. */
  representative(w: SqlWriter, operand: Write, type: ValueType): void
  /** Of equal extremes that may look different, the same one whatever order the rows lie in. A cell, never sorted by. */
  extreme(w: SqlWriter, fn: 'min' | 'max', operand: Write, type: ValueType): void
  /** The operand as a result cell, where it is given whole. */
  whole(w: SqlWriter, operand: Write, type: ValueType): void
  /** The operand's first `charsMax` characters as the engine writes it, or its first `charsMax` bytes when it is `bytes`. */
  shortened(w: SqlWriter, operand: Write, type: ValueType, charsMax: number): void
  /** `operand` and its type are absent for a plain count of rows. */
  metric(w: SqlWriter, fn: AggregateFn, operand: Write | undefined, type: ValueType | undefined): void
}

/** The same for statements that write. */
export interface WritePieces {
  /** Where a statement says what it returns: ` RETURNING …` at its end, or ` OUTPUT …` of the row `inserted` before values and conditions. */
  readonly returning: 'end' | 'middle'
  /** Whether what is written is read back in the same batch: some engines forget what they counted up at its end. */
  readonly batched: boolean
  /** `UPDATE` and the table, up to where ` SET ` follows. */
  update(w: SqlWriter, table: Table): void
  /** Before the conditions of an update, for engines that name the table there. */
  updateFrom(w: SqlWriter, table: Table): void
  /** After the table of a statement that locks what it reads, for engines that say so there. */
  lockHint(w: SqlWriter, writesKey: boolean): void
  /** `INSERT INTO` and the table; from here the row has the name that what follows calls it by. */
  insertInto(w: SqlWriter, table: Table): void
  /** What stands in the place of columns and values when there are none. */
  noValues(w: SqlWriter): void
  newValue(w: SqlWriter, column: Column, value: WriteValue): void
  /** What each row that was written begins with, where triggers return rows too; see `CompiledStatement.marked`. */
  mark?(w: SqlWriter, counted: boolean): void
  /** Whether the column holds exactly this value, NULL included: `1.0` is not `1.00`. Not sure is no. Never NULL. */
  holds(w: SqlWriter, column: Column, value: PlanValue | null): void
  /** Whether the column equals this value as a filter by `eq` would find it, a text no more loosely than `holds`; NULL equals NULL. */
  expectation(w: SqlWriter, column: Column, value: PlanValue | null): void
  /** A result cell: `t` where every condition holds, `f` where one does not or, unless they are `sure` not to be, is NULL. */
  truth(w: SqlWriter, conditions: readonly Write[] | 'never', sure: boolean): void
  /** Locks the rows that a statement reads until the transaction ends. `writesKey`: other rows may refer to what changes. */
  lockRows(w: SqlWriter, writesKey: boolean): void
  /** Whether a statement that writes the table returns the rows as written. */
  returns(table: Table, written: 'insert' | 'update'): boolean
  /** The value that the database has just counted up to, in the same session. */
  countedUp(w: SqlWriter): void
}
