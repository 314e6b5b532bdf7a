import { floatPlace, type Place } from '../../core/float-value.js'
import { safePattern } from '../../core/pattern.js'
import type { Filter, FilterOp, PlanValue } from '../../core/plan.js'
import { canHold } from '../../core/repertoire.js'
import type { Column, ValueType } from '../../core/schema-model.js'
import { tooFine } from '../../core/value.js'
import { type Comparison, settle } from '../sql/places.js'
import type { SqlWriter } from '../sql/sql-writer.js'
import { operand } from '../sql/table-statement.js'
import { boundPosition, boundToCompare, writeTextBytes, writeUtf8 } from './bound-values.js'

type Range = 'gt' | 'gte' | 'lt' | 'lte'

const OPERATORS = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
} as const satisfies Record<Comparison, string>

const RANGES: ReadonlySet<FilterOp> = new Set<Range>(['gt', 'gte', 'lt', 'lte'])

/**
 * What of the column is compared, and with what. `native`: the column, by its type and collation. `characters`: its text one
 * character after the other. `position`: where an enum's label stands. `bytes`: its text, for types that are not compared.
 */
type Form = 'native' | 'characters' | 'position' | 'bytes'

function formOf(type: ValueType, op: Comparison | 'in', value: PlanValue): Form {
  const ranges = RANGES.has(op)
  if (type.logical === 'json' || type.logical === 'array' || !(ranges ? type.ordered : type.equality)) return 'bytes'
  if (ranges && type.logical === 'enum') return 'position'
  return canHold(type, value) === 'yes' ? 'native' : 'characters'
}

/**
 * Whether no value of the column can equal this one: it is finer than the column keeps, or has a character that the column
 * cannot hold. The first must not reach the server: looking in an index, MariaDB rounds it to one that is there.
 */
function equalsNone(type: ValueType, value: PlanValue): boolean {
  return canHold(type, value) === 'no' || tooFine(type, value) || placeOf(type, value).kind !== 'at'
}

/** A `FLOAT` is compared as what it is shown as; the server rounds no other value on its way. */
function placeOf(type: ValueType, value: PlanValue): Place {
  return type.logical === 'float' ? floatPlace(type, value) : { kind: 'at', value }
}

/** One condition. */
export function writeFilter(w: SqlWriter, column: Column, filter: Filter): void {
  switch (filter.op) {
    case 'is_null':
      writeIsNull(w, column)
      return
    case 'not_null':
      w.column(column.name).keyword(' IS NOT NULL')
      return
    case 'ilike':
      writeLike(w, column, safePattern(filter.value))
      return
    case 'in':
      writeIn(w, column, filter.values)
      return
    default:
      writeComparison(w, column, filter.op, filter.value)
  }
}

/**
 * A condition by `IS NULL` finds the zero dates of a column that is NOT NULL, also through a view of it. `<=>` does not, and
 * looks in an index as well.
 */
export function writeIsNull(w: SqlWriter, { name, type }: Column): void {
  w.column(name).keyword(type.logical === 'date' || type.logical === 'timestamp' ? ' <=> NULL' : ' IS NULL')
}

function writeComparison(w: SqlWriter, column: Column, op: Comparison, value: PlanValue): void {
  const { type, name } = column
  const settled = settledFor(type, op, value)
  if (settled === 'none') {
    w.keyword('1 = 0')
  } else if (settled === 'all') {
    w.column(name).keyword(' IS NOT NULL')
  } else {
    const form = formOf(type, settled.op, settled.value)
    writeSubject(w, column, form)
    w.keyword(' ').keyword(OPERATORS[settled.op]).keyword(' ')
    writeValue(w, type, form, settled.value)
  }
}

function settledFor(type: ValueType, op: Comparison, value: PlanValue): ReturnType<typeof settle> {
  if ((op === 'eq' || op === 'neq') && equalsNone(type, value)) return op === 'eq' ? 'none' : 'all'
  return settle(op, placeOf(type, value))
}

function writeSubject(w: SqlWriter, column: Column, form: Form): void {
  const { type, name } = column
  if (form === 'native') {
    w.column(name)
  } else if (form === 'position') {
    w.column(name).keyword(' + 0')
  } else if (form === 'bytes') {
    writeTextBytes(w, operand(column), type)
  } else {
    writeUtf8(w, operand(column), type)
    w.keyword(' COLLATE utf8mb4_bin')
  }
}

function writeValue(w: SqlWriter, type: ValueType, form: Form, value: PlanValue): void {
  if (form === 'native') w.param(boundToCompare(type, value))
  else if (form === 'position') w.param(boundPosition(type, value))
  else if (form === 'bytes') w.keyword('CAST(').param(value).keyword(' AS BINARY)')
  else w.param(value)
}

/** Values that the column may not hold are in a list of their own, so that the others are still looked up in an index. */
function writeIn(w: SqlWriter, column: Column, values: readonly PlanValue[]): void {
  const { type } = column
  const forms = new Map<Form, PlanValue[]>()
  for (const value of values) {
    if (equalsNone(type, value)) continue
    const form = formOf(type, 'in', value)
    const list = forms.get(form)
    if (list === undefined) forms.set(form, [value])
    else list.push(value)
  }
  if (forms.size === 0) {
    w.keyword('1 = 0')
    return
  }
  if (forms.size > 1) w.keyword('(')
  w.list([...forms], ' OR ', ([form, list]) => {
    writeSubject(w, column, form)
    w.keyword(' IN (').list(padded(list), ', ', (value) => writeValue(w, type, form, value))
    w.keyword(')')
  })
  if (forms.size > 1) w.keyword(')')
}

/** The last value again, up to a power of two: lists of all lengths then make few different statements to prepare. */
function padded(values: readonly PlanValue[]): readonly PlanValue[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return [...values, ...values.slice(-1).flatMap((last) => new Array<PlanValue>(length - values.length).fill(last))]
}

/**
 * By the column's own collation where that disregards case, along with whatever else it disregards. Elsewhere letters are
 * folded one by one, so that case is disregarded and accents are not. Text that is no column of text is folded too.
 */
function writeLike(w: SqlWriter, column: Column, pattern: string): void {
  const { type, name } = column
  if (type.foldsCase === true && canHold(type, pattern) === 'yes') {
    w.column(name).keyword(' LIKE ').param(pattern)
    return
  }
  // Both sides fold by the same collation: the tables of others are larger on some servers.
  w.keyword('LOWER(')
  writeUtf8(w, operand(column), type)
  w.keyword(' COLLATE utf8mb4_bin) LIKE LOWER(').param(pattern).keyword(' COLLATE utf8mb4_bin)')
}
