import { floatPlace, keepsFloat } from '../../core/float-value.js'
import { safePattern } from '../../core/pattern.js'
import type { Filter, FilterOp, PlanValue } from '../../core/plan.js'
import type { Column, ValueType } from '../../core/schema-model.js'
import { settle } from '../sql/places.js'
import type { SqlWriter, Write } from '../sql/sql-writer.js'

/**
 * Parameters are sent as text without a type, so that PostgreSQL infers the column's own: an index stays usable, and the
 * column's collation, padding (`char(n)`) and case folding (`citext`) decide what equals what.
 */

/** Fixed-length names: a parameter inferred as one would be cut silently and equal a value that it is not. */
const TRUNCATING_TYPES: ReadonlySet<string> = new Set(['name', '"char"'])

/** Names of catalog objects: read as a name, but compared by number. */
const REFERENCE_TYPES: ReadonlySet<string> = new Set([
  'regclass',
  'regcollation',
  'regconfig',
  'regdictionary',
  'regnamespace',
  'regoper',
  'regoperator',
  'regproc',
  'regprocedure',
  'regrole',
  'regtype',
])

type Comparison = Exclude<FilterOp, 'ilike' | 'is_null' | 'not_null'>

const OPERATORS = {
  eq: '=',
  in: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
} as const satisfies Record<Comparison, string>

/** Arrays of an array type do not exist, so array columns are compared by their text, like types without equality. */
function comparesAsText(type: ValueType, op: Comparison): boolean {
  if (type.logical === 'array' || REFERENCE_TYPES.has(type.native)) return true
  return op === 'eq' || op === 'neq' || op === 'in' ? !type.equality : !type.ordered
}

/** The text PostgreSQL reads for a plan's value. Canonical texts are its own, but for bytes. */
export function boundText(type: ValueType, value: PlanValue): string {
  return type.logical === 'bytes' ? `\\x${Buffer.from(value, 'base64').toString('hex')}` : value
}

/** One condition, for any operator but `in` without values. */
export function writeFilter(w: SqlWriter, column: Column, filter: Filter): void {
  const { type } = column
  const truncates = TRUNCATING_TYPES.has(type.native)
  switch (filter.op) {
    case 'is_null':
    case 'not_null':
      writeNullTest(w, column, filter.op)
      return
    case 'ilike':
      // Folds case by the column's collation, character by character; `C` folds ASCII letters alone. As text, so that the
      // padding of `char(n)` is no part of what a pattern has to match.
      w.column(column.name).keyword('::text ILIKE ').param(safePattern(filter.value))
      return
    case 'in':
      writeCompared(w, column, filter.op)
      w.keyword('ANY(').param(
        filter.values.filter((value) => isHeld(type, value)).map((value) => boundText(type, value)),
      )
      w.keyword(truncates ? '::text[])' : ')')
      return
    default:
      if (!isHeld(type, filter.value)) {
        writeBetween(w, column, filter.op, filter.value)
        return
      }
      writeCompared(w, column, filter.op)
      w.param(boundText(type, filter.value))
      if (truncates) w.keyword('::text')
  }
}

/** Whether PostgreSQL reads the value as itself: what a column of single precision does not hold, it rounds or refuses. */
function isHeld(type: ValueType, value: PlanValue): boolean {
  return type.logical !== 'float' || keepsFloat(type, value)
}

const SINGLE_MAX = String(2 ** 128 - 2 ** 104)

/** A comparison with a number that the column does not hold: with the one before it, beyond the largest with that or an infinity. */
function writeBetween(w: SqlWriter, column: Column, op: Exclude<Comparison, 'in'>, value: PlanValue): void {
  const place = floatPlace(column.type, value)
  const before = place.kind === 'over' ? SINGLE_MAX : place.kind === 'under' ? '-Infinity' : place.value
  const settled = settle(op, { kind: 'above', value: before })
  if (settled === 'none') w.keyword('false')
  else if (settled === 'all') writeNullTest(w, column, 'not_null')
  else writeFilter(w, column, { column: column.name, ...settled })
}

/** The column and the operator after it. */
function writeCompared(w: SqlWriter, column: Column, op: Comparison): void {
  const { type, name } = column
  const symbol = OPERATORS[op]
  if (comparesAsText(type, op)) {
    w.column(name).keyword('::text ').keyword(symbol).keyword(' ')
    return
  }
  writeOperand(w, (inner) => inner.column(name), type)
  writeOperator(w, type, symbol)
}

/** The operators of enums and ranges do not see through a domain; beside an untyped NULL the domain becomes its base type. */
function writeOperand(w: SqlWriter, operand: Write, { domain, logical }: ValueType): void {
  if (domain !== true || (logical !== 'enum' && logical !== 'unknown')) {
    operand(w)
    return
  }
  w.keyword('coalesce(')
  operand(w)
  w.keyword(', NULL)')
}

/** An extension's operators are not on the session's search path: unqualified, `citext` would compare as plain text. */
function writeOperator(w: SqlWriter, { operatorSchema }: ValueType, symbol: (typeof OPERATORS)[Comparison]): void {
  if (operatorSchema === undefined) w.keyword(' ').keyword(symbol).keyword(' ')
  else w.keyword(' OPERATOR(').identifier(operatorSchema).keyword('.').keyword(symbol).keyword(') ')
}

/** Two columns of types that go together, of which the second is given. */
export function writeSame(w: SqlWriter, operand: Write, other: Write, type: ValueType): void {
  writeOperand(w, operand, type)
  writeOperator(w, type, OPERATORS.eq)
  writeOperand(w, other, type)
}

/** `IS NULL` on a composite asks about its fields; `IS DISTINCT FROM` asks about the value, and is the same on all others. */
function writeNullTest(w: SqlWriter, column: Column, op: 'is_null' | 'not_null'): void {
  w.column(column.name)
  if (column.type.logical === 'unknown')
    w.keyword(op === 'is_null' ? ' IS NOT DISTINCT FROM NULL' : ' IS DISTINCT FROM NULL')
  else w.keyword(op === 'is_null' ? ' IS NULL' : ' IS NOT NULL')
}
