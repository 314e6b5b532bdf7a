import { unreachable } from '../../core/assert.js'
import type { PlanValue, WriteValue } from '../../core/plan.js'
import { canHold } from '../../core/repertoire.js'
import type { Column, Identifier, ValueType } from '../../core/schema-model.js'
import type { WritePieces } from '../sql/pieces.js'
import type { SqlWriter } from '../sql/sql-writer.js'
import { operand } from '../sql/table-statement.js'
import { placeOf, writeBound } from './bound-values.js'
import { writeFilter } from './filters.js'
import { isCodePaged, TEXT_FORM_END, writeTextForm, writeType, writeWhole } from './native-types.js'

/** What a column is set to, or a parameter of a routine is given. What the column would round was refused before. */
export function writeNew(w: SqlWriter, type: ValueType, value: PlanValue): void {
  const { collation } = type
  if (isCodePaged(type) && collation !== undefined && canHold(type, value) === 'unsure') {
    writeChecked(w, collation, value)
    return
  }
  const place = placeOf(type, value)
  writeBound(w, type, place.kind === 'at' ? place.value : value)
}

/**
 * The server puts a question mark, or a letter that looks alike, in the place of a character that the code page of a column
 * does not have, and says nothing. A text that would not come back as it is is made a number, which it is not, so that the
 * statement fails instead.
 */
function writeChecked(w: SqlWriter, collation: Identifier, value: PlanValue): void {
  w.keyword('CASE WHEN CONVERT(varbinary(max), CONVERT(nvarchar(max), CONVERT(varchar(max), ')
    .param(value)
    .keyword(' COLLATE ')
    .collation(collation)
    .keyword('))) = CONVERT(varbinary(max), CONVERT(nvarchar(max), ')
    .again()
    .keyword(')) THEN CONVERT(nvarchar(max), ')
    .again()
    .keyword(") ELSE CONVERT(nvarchar(max), CONVERT(int, N'not of the code page')) END")
}

function writeNewValue(w: SqlWriter, column: Column, value: WriteValue): void {
  if (value.kind === 'now') writeNow(w, column.type)
  else if (value.value === null) w.keyword('NULL')
  else writeNew(w, column.type, value.value)
}

const DATE_CHARS = 10
const SECONDS_CHARS = 19
const MINUTES_CHARS = 16
const TIME_AT_CHAR = 12
const FRACTION_DIGITS_MAX = 7

/**
 * The clock in UTC with as many digits as the column keeps: more of them would be rounded, into the future too. A text
 * without an offset is taken for UTC by types that have one.
 */
function writeNow(w: SqlWriter, type: ValueType): void {
  const { logical, steps, fractionDigitsMax = FRACTION_DIGITS_MAX } = type
  const chars = fractionDigitsMax === 0 ? SECONDS_CHARS : SECONDS_CHARS + 1 + fractionDigitsMax
  w.keyword('CAST(')
  if (logical === 'time') {
    writeClock(w, TIME_AT_CHAR, chars - TIME_AT_CHAR + 1)
  } else if (logical === 'date') {
    writeClock(w, 1, DATE_CHARS)
  } else if (steps === 'minutes') {
    writeClock(w, 1, MINUTES_CHARS)
    w.keyword(" + ':00'")
  } else {
    writeClock(w, 1, chars)
  }
  w.keyword(' AS ')
  writeType(w, type)
  w.keyword(')')
}

function writeClock(w: SqlWriter, from: number, chars: number): void {
  w.keyword('SUBSTRING(CONVERT(varchar(50), SYSUTCDATETIME(), 126), ')
    .wholeNumber(from)
    .keyword(', ')
    .wholeNumber(chars)
    .keyword(')')
}

/**
 * Whether the column holds exactly this value, NULL included: `a` is neither `A` nor `a` with a space behind it, and a moment
 * has its offset. Where that is not sure, as with XML that the server spells its own way, it is false. What a comparison
 * makes of NULL, the truth below takes for false.
 */
function writeHolds(w: SqlWriter, column: Column, value: PlanValue | null): void {
  const { name, type } = column
  if (value === null) {
    w.column(name).keyword(' IS NULL')
  } else if (type.logical === 'timestamp' && type.looseEquality === true) {
    writeWhole(w, operand(column), type)
    w.keyword(' = ')
    writeWhole(w, (inner) => writeNew(inner, type, value), type)
  } else if (type.logical === 'bytes') {
    writeHoldsBytes(w, column, value)
  } else if (type.looseEquality === true || !type.equality) {
    writeTextForm(w, operand(column), type)
    w.keyword(' = ').param(value + TEXT_FORM_END)
  } else {
    writeFilter(w, column, { column: name, op: 'eq', value })
  }
}

/** Of equal bytes one may have more zeros at its end. */
function writeHoldsBytes(w: SqlWriter, { name, type }: Column, value: PlanValue): void {
  w.keyword('CONVERT(varbinary(max), ').column(name).keyword(') = ')
  writeBound(w, type, value)
  w.keyword(' AND DATALENGTH(').column(name).keyword(') = DATALENGTH(').again().keyword(')')
}

function writeExpectation(w: SqlWriter, column: Column, value: PlanValue | null): void {
  if (value === null || !column.type.equality) writeHolds(w, column, value)
  else writeFilter(w, column, { column: column.name, op: 'eq', value })
}

export const writing: WritePieces = {
  returning: 'middle',
  batched: true,
  update: (w) => w.keyword('UPDATE t'),
  updateFrom: (w, { ref }) => w.keyword(' FROM ').table(ref).keyword(' AS t'),
  // Reads what is committed last, whatever versions the database keeps, and holds it until the end.
  lockHint: (w) => w.keyword(' WITH (UPDLOCK, ROWLOCK)'),
  insertInto: (w, { ref }) => w.keyword('INSERT INTO ').table(ref),
  noValues: (w) => w.keyword(' DEFAULT VALUES'),
  newValue: writeNewValue,
  holds: writeHolds,
  expectation: writeExpectation,
  // What is neither true nor false is not true.
  truth: (w, conditions) => {
    if (conditions === 'never') w.keyword("'f'")
    else if (conditions.length === 0) w.keyword("'t'")
    else
      w.keyword('CASE WHEN ')
        .list(conditions, ' AND ', (write) => write(w))
        .keyword(" THEN 't' ELSE 'f' END")
  },
  lockRows: () => {},
  returns: (table, written) => {
    switch (written) {
      case 'insert':
        return table.insertReadBack === undefined
      case 'update':
        return table.updateReadBack === undefined
      default:
        return unreachable(written)
    }
  },
  // As a number of the kind that keys are: beside a decimal the key's column would be converted.
  countedUp: (w) => w.keyword('CAST(SCOPE_IDENTITY() AS bigint)'),
}
