import type { AggregateFn } from '../../core/plan.js'
import type { ValueType } from '../../core/schema-model.js'
import type { SqlWriter, Write } from '../sql/sql-writer.js'
import { baseName, writeType, writeWhole } from './native-types.js'

/** The server's aggregates, and what they take to be exact. */

const DECIMAL_DIGITS_MAX = 38
/** Digits that an average has behind its point, where there is room for them. */
const AVERAGE_DIGITS = 16
/** Digits that a sum may have more than its largest value: of a thousand million rows. */
const ROWS_DIGITS = 9

/** Digits before and after the point, of types that are no approximation. */
const EXACT_DIGITS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['tinyint', [3, 0]],
  ['smallint', [5, 0]],
  ['int', [10, 0]],
  ['bigint', [19, 0]],
  ['money', [15, 4]],
  ['smallmoney', [6, 4]],
])

function exactDigits(type: ValueType): readonly [number, number] | undefined {
  if (type.logical === 'float') return undefined
  const { precision = DECIMAL_DIGITS_MAX, fractionDigitsMax = 0 } = type
  return EXACT_DIGITS.get(baseName(type)) ?? [precision - fractionDigitsMax, fractionDigitsMax]
}

/**
 * Sums and averages are of the type of what they are made of: of integers they overflow and lose what is behind the point. A
 * sum has all the digits there are, with as many behind the point as the column. An average has sixteen or more, fewer only
 * where the column's digits and those of its sum leave no room for them.
 */
export function writeMetric(
  w: SqlWriter,
  fn: AggregateFn,
  operand: Write | undefined,
  type: ValueType | undefined,
): void {
  if (operand === undefined || type === undefined) {
    w.keyword('COUNT_BIG(*)')
    return
  }
  switch (fn) {
    case 'count':
      w.keyword('COUNT_BIG(')
      if (type.equality) operand(w)
      else writePresent(w, operand)
      w.keyword(')')
      return
    case 'count_distinct':
      w.keyword('COUNT_BIG(DISTINCT ')
      operand(w)
      w.keyword(')')
      return
    case 'sum':
      writeTotal(w.keyword('SUM('), operand, type, 0)
      return
    case 'avg':
      writeTotal(w.keyword('AVG('), operand, type, AVERAGE_DIGITS)
      return
    default:
      w.keyword(fn === 'min' ? 'MIN(' : 'MAX(')
      operand(w)
      w.keyword(')')
  }
}

/** The server does not count values of every type that it does not compare, but rows where they are there. */
function writePresent(w: SqlWriter, operand: Write): void {
  w.keyword('CASE WHEN ')
  operand(w)
  w.keyword(' IS NOT NULL THEN 1 END')
}

function writeTotal(w: SqlWriter, operand: Write, type: ValueType, digits: number): void {
  const exact = exactDigits(type)
  if (exact === undefined) {
    w.keyword('CAST(')
    operand(w)
    w.keyword(' AS float(53)))')
    return
  }
  const [whole, scale] = exact
  const room = DECIMAL_DIGITS_MAX - whole - ROWS_DIGITS
  w.keyword('CAST(')
  operand(w)
  w.keyword(' AS decimal(38, ')
    .wholeNumber(Math.max(scale, Math.min(digits, room)))
    .keyword(')))')
}

/** More characters than a moment with an offset has in the form that leaves the server; spaces follow it up to here. */
const MOMENT_CHARS = 50

/**
 * Of equal moments with different offsets the server gives whichever it came upon first. Here the moment in UTC is followed by
 * the moment as it is held, in characters that sort as the moments do. No other type has extremes that look
 * different.
 */
export function writeExtreme(w: SqlWriter, fn: 'min' | 'max', operand: Write, type: ValueType): void {
  w.keyword('CAST(STUFF(').keyword(fn === 'min' ? 'MIN(' : 'MAX(')
  w.keyword('(CONVERT(char(50), SWITCHOFFSET(CAST(')
  operand(w)
  w.keyword(" AS datetimeoffset(7)), '+00:00'), 121) + ")
  writeWhole(w, operand, type)
  w.keyword(') COLLATE Latin1_General_BIN2), 1, ').wholeNumber(MOMENT_CHARS).keyword(", '') AS ")
  writeType(w, type)
  w.keyword(')')
}
