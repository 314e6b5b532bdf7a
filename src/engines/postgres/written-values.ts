import type { PlanValue, WriteValue } from '../../core/plan.js'
import type { Column, LogicalType, ValueType } from '../../core/schema-model.js'
import type { WritePieces } from '../sql/pieces.js'
import type { SqlWriter } from '../sql/sql-writer.js'
import { equalMayLookDifferent } from '../sql/total-order.js'
import { arrayOfJson } from './array-literal.js'
import { boundText, writeFilter } from './filters.js'

/** The text PostgreSQL reads for a value that is to be written or passed: arrays come as JSON text. */
function writtenText(type: ValueType, value: PlanValue): string {
  return type.logical === 'array' ? arrayOfJson(value, type.element, boundText) : boundText(type, value)
}

/**
 * What a column is set to. The parameter takes the column's own type, so that its input rules, its length and its domain
 * decide. `now` is the transaction's time, which an assignment turns into the column's type.
 */
function writeNewValue(w: SqlWriter, column: Column, value: WriteValue): void {
  if (value.kind === 'now') w.keyword('now()')
  else if (value.value === null) w.keyword('NULL')
  else w.param(writtenText(column.type, value.value))
}

/** A value with the catalog's own type on it: where nothing else tells which of several routines is meant. */
export function writeTyped(w: SqlWriter, type: ValueType, value: PlanValue | null): void {
  w.keyword('CAST(')
  if (value === null) w.keyword('NULL')
  else w.param(writtenText(type, value))
  w.keyword(' AS ')
  // A polymorphic parameter takes its type from what it is given.
  if (type.typeRef === undefined) w.keyword('text')
  else w.table(type.typeRef)
  w.keyword(')')
}

/** Types of which equal values are the same to a reader, by operators that are the engine's own. */
const COMPARED_NATIVELY: ReadonlySet<LogicalType> = new Set([
  'integer',
  'bigint',
  'decimal',
  'boolean',
  'timestamp',
  'date',
  'uuid',
  'bytes',
])

function comparesNatively(type: ValueType): boolean {
  return type.domain !== true && COMPARED_NATIVELY.has(type.logical) && !equalMayLookDifferent(type)
}

/**
 * Whether the column holds exactly this value, NULL included: `1.0` is not `1.00`, and `a` is not `A` even where the
 * column's own comparison says so. Where that is not sure, it is false.
 */
function writeHolds(w: SqlWriter, { name, type }: Column, value: PlanValue | null): void {
  if (value === null) {
    w.column(name).keyword(' IS NOT DISTINCT FROM NULL')
  } else if (comparesNatively(type)) {
    w.column(name).keyword(' IS NOT DISTINCT FROM ').param(writtenText(type, value))
  } else {
    w.column(name).keyword('::text COLLATE "C" IS NOT DISTINCT FROM ')
    writeTyped(w, type, value)
    w.keyword('::text')
  }
}

/** Whether the column equals what the caller expects, as a filter by `eq` would find it; NULL equals NULL. */
function writeExpectation(w: SqlWriter, column: Column, value: PlanValue | null): void {
  const { type } = column
  if (value === null || !type.equality || type.logical === 'array') writeHolds(w, column, value)
  else writeFilter(w, column, { column: column.name, op: 'eq', value })
}

export const writing: WritePieces = {
  returning: 'end',
  batched: false,
  update: (w, { ref }) => w.keyword('UPDATE ').table(ref).keyword(' AS t'),
  updateFrom: () => {},
  lockHint: () => {},
  insertInto: (w, { ref }) => w.keyword('INSERT INTO ').table(ref).keyword(' AS t '),
  noValues: (w) => w.keyword('DEFAULT VALUES'),
  newValue: writeNewValue,
  holds: writeHolds,
  expectation: writeExpectation,
  truth: (w, conditions, sure) => {
    if (conditions === 'never') w.keyword('false')
    else if (conditions.length === 0) w.keyword('true')
    else if (sure) w.list(conditions, ' AND ', (write) => write(w))
    else
      w.keyword('coalesce(')
        .list(conditions, ' AND ', (write) => write(w))
        .keyword(', false)')
  },
  // The lock that the update itself will take: a stronger one would wait for rows that only refer to this one.
  lockRows: (w, writesKey) => w.keyword(writesKey ? ' FOR UPDATE OF t' : ' FOR NO KEY UPDATE OF t'),
  returns: () => true,
  countedUp: () => {
    throw new Error('invariant broken: PostgreSQL returns what it inserts')
  },
}
