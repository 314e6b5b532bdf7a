import { unreachable } from './assert.js'
import type { AggregateFn } from './plan.js'
import type { LogicalType, ValueType } from './schema-model.js'

const BIGINT: ValueType = { logical: 'bigint', native: 'bigint', equality: true, ordered: true }
const DECIMAL: ValueType = { logical: 'decimal', native: 'decimal', equality: true, ordered: true }
const FLOAT: ValueType = { logical: 'float', native: 'float', equality: true, ordered: true }

/** Whole numbers never come out as a double, and a sum has room that its column has not. */
const SUMS: ReadonlyMap<LogicalType, ValueType> = new Map([
  ['integer', BIGINT],
  ['bigint', DECIMAL],
  ['decimal', DECIMAL],
  ['float', FLOAT],
])
const AVERAGES: ReadonlyMap<LogicalType, ValueType> = new Map([...SUMS, ['integer', DECIMAL]])
/** The types of which every engine finds the same `min` and `max`. Labels have an order that not every engine keeps to. */
const EXTREMES: ReadonlySet<LogicalType> = new Set([
  'integer',
  'bigint',
  'decimal',
  'float',
  'text',
  'timestamp',
  'date',
  'time',
  'interval',
])

/**
 * The type of a metric's result, or undefined where the metric does not fit the column. `column` is absent for a plain
 * count of rows, which is the only metric without one.
 */
export function metricType(fn: AggregateFn, column: ValueType | undefined): ValueType | undefined {
  if (column === undefined) return fn === 'count' ? BIGINT : undefined
  switch (fn) {
    case 'count':
      return BIGINT
    case 'count_distinct':
      // Engines tell values apart by sorting them.
      return column.equality && column.ordered ? BIGINT : undefined
    case 'sum':
      return column.logical === 'interval' ? column : SUMS.get(column.logical)
    case 'avg':
      return column.logical === 'interval' ? column : AVERAGES.get(column.logical)
    case 'min':
    case 'max':
      return column.ordered && column.extremesVary !== true && EXTREMES.has(column.logical) ? column : undefined
    default:
      return unreachable(fn)
  }
}
