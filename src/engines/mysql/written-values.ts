import { unreachable } from '../../core/assert.js'
import type { PlanValue, WriteValue } from '../../core/plan.js'
import type { Column, LogicalType, ValueType } from '../../core/schema-model.js'
import type { WritePieces } from '../sql/pieces.js'
import type { SqlWriter } from '../sql/sql-writer.js'
import { operand } from '../sql/table-statement.js'
import { bound, boundToCompare, isGeometry, writeTextBytes } from './bound-values.js'
import { writeFilter, writeIsNull } from './filters.js'

/** What a column is set to, or a parameter of a routine is given. */
export function writeNew(w: SqlWriter, type: ValueType, value: PlanValue): void {
  // MariaDB makes NULL of a text that describes no geometry; the second text is none to any server, and refused.
  if (isGeometry(type)) w.keyword('IFNULL(ST_GeomFromText(').param(value).keyword("), 'no geometry')")
  else w.param(bound(type, value))
}

function writeNewValue(w: SqlWriter, column: Column, value: WriteValue): void {
  if (value.kind === 'now') writeNow(w, column.type)
  else if (value.value === null) w.keyword('NULL')
  else writeNew(w, column.type, value.value)
}

/** The statement's time with as many digits as the column keeps: more of them would be rounded, into the future too. */
function writeNow(w: SqlWriter, { logical, withZone, fractionDigitsMax = 6 }: ValueType): void {
  if (logical === 'date') {
    w.keyword('UTC_DATE()')
    return
  }
  if (logical === 'time') w.keyword('UTC_TIME(')
  else w.keyword(withZone === true ? 'CURRENT_TIMESTAMP(' : 'UTC_TIMESTAMP(')
  w.wholeNumber(fractionDigitsMax).keyword(')')
}

/** Types of which equal values are the same to a reader. */
const COMPARED_NATIVELY: ReadonlySet<LogicalType> = new Set([
  'integer',
  'bigint',
  'decimal',
  'float',
  'boolean',
  'timestamp',
  'date',
  'time',
  'uuid',
  'bytes',
])

/**
 * Whether the column holds exactly this value, NULL included: `a` is neither `A` nor `a` with a space behind it, whatever
 * the collation says. Where that is not sure, as with JSON that the server spells its own way, it is false.
 */
function writeHolds(w: SqlWriter, column: Column, value: PlanValue | null): void {
  const { name, type } = column
  if (value === null) {
    writeIsNull(w, column)
  } else if (COMPARED_NATIVELY.has(type.logical)) {
    w.column(name).keyword(' <=> ').param(boundToCompare(type, value))
  } else {
    writeTextBytes(w, operand(column), type)
    w.keyword(' <=> CAST(').param(value).keyword(' AS BINARY)')
  }
}

/** A text is what the row was seen to hold, and not what its collation takes for the same: that may be another's change. */
function writeExpectation(w: SqlWriter, column: Column, value: PlanValue | null): void {
  const { logical, equality } = column.type
  if (value === null || logical === 'text' || !equality) writeHolds(w, column, value)
  else writeFilter(w, column, { column: column.name, op: 'eq', value })
}

export const writing: WritePieces = {
  returning: 'end',
  batched: false,
  update: (w, { ref }) => w.keyword('UPDATE ').table(ref).keyword(' AS t'),
  updateFrom: () => {},
  lockHint: () => {},
  insertInto: (w, { ref }) => {
    // The table takes no alias here, so that what is returned goes by the table's own name.
    w.keyword('INSERT INTO ').table(ref).keyword(' ').rowIs({ name: ref.name })
  },
  noValues: (w) => w.keyword('() VALUES ()'),
  newValue: writeNewValue,
  holds: writeHolds,
  expectation: writeExpectation,
  truth: (w, conditions) => {
    if (conditions === 'never') w.keyword("'f'")
    else if (conditions.length === 0) w.keyword("'t'")
    else
      w.keyword('IF(')
        .list(conditions, ' AND ', (write) => write(w))
        .keyword(", 't', 'f')")
  },
  lockRows: (w) => w.keyword(' FOR UPDATE'),
  returns: (table, written) => {
    switch (written) {
      case 'insert':
        return table.insertReadBack === undefined
      case 'update':
        return false
      default:
        return unreachable(written)
    }
  },
  countedUp: (w) => w.keyword('LAST_INSERT_ID()'),
}
