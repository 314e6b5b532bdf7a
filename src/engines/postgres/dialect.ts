import { POSTGRES_PARAMS_MAX } from '../../core/limits.js'
import type { AggregateFn } from '../../core/plan.js'
import type { Dialect } from '../engine.js'
import { compilePlan } from '../sql/compile.js'
import { compileMutation, type MutationPieces } from '../sql/compile-mutation.js'
import type { SqlWriter, Write } from '../sql/sql-writer.js'
import { encodeCell } from './cells.js'
import { guarding } from './column-guard.js'
import { compileCall } from './compile-call.js'
import { writeFilter, writeSame } from './filters.js'
import { writing } from './written-values.js'

/** Types in `unknown` and `text` clothing whose values are short; read whole, they keep the form of their output. */
const SHORT_TYPES: ReadonlySet<string> = new Set([
  'name',
  '"char"',
  'inet',
  'cidr',
  'macaddr',
  'macaddr8',
  'money',
  'oid',
  'xid',
  'xid8',
  'cid',
  'tid',
  'pg_lsn',
  'point',
  'line',
  'lseg',
  'box',
  'circle',
  'int4range',
  'int8range',
  'daterange',
  'tsrange',
  'tstzrange',
])

const METRICS = {
  count: 'count(',
  count_distinct: 'count(DISTINCT ',
  sum: 'sum(',
  avg: 'avg(',
  min: 'min(',
  max: 'max(',
} as const satisfies Record<AggregateFn, string>

function writeMetric(w: SqlWriter, fn: AggregateFn, operand: Write | undefined): void {
  w.keyword(METRICS[fn])
  if (operand === undefined) w.keyword('*')
  else operand(w)
  w.keyword(')')
}

const pieces: MutationPieces = {
  writing,
  guarding,
  style: { quoting: 'double', placeholders: 'dollar', paramsMax: POSTGRES_PARAMS_MAX },
  shortTypes: SHORT_TYPES,
  limitAtStart: () => {},
  limitAtEnd: (w, limit) => {
    if (limit.kind === 'one') w.keyword(' LIMIT 1')
    else w.keyword(' LIMIT ').param(limit.rows.toString())
  },
  filter: (w, column, filter) => {
    // `= ANY` of an empty array is false as well, but only this form tells the planner that no row is needed.
    if (filter.op === 'in' && filter.values.length === 0) w.keyword('1 = 0')
    else writeFilter(w, column, filter)
  },
  same: writeSame,
  // The default order is the wanted one, and any words about NULLs would have to match an index's own.
  sortKey: (w, operand, direction) => {
    operand(w)
    if (direction === 'desc') w.keyword(' DESC')
  },
  textForm: (w, operand) => {
    operand(w)
    w.keyword('::text COLLATE "C"')
  },
  representative: (w, operand) => {
    w.keyword('min(')
    operand(w)
    w.keyword('::text COLLATE "C")')
  },
  extreme: (w, fn, operand, type) => {
    if (type.logical !== 'decimal') return writeMetric(w, fn, operand)
    w.keyword('trim_scale(')
    writeMetric(w, fn, operand)
    w.keyword(')')
  },
  whole: (w, operand) => operand(w),
  shortened: (w, operand, type, charsMax) => {
    if (type.logical === 'bytes') {
      w.keyword('substring(')
      operand(w)
      w.keyword(', 1, ').wholeNumber(charsMax).keyword(')')
    } else {
      w.keyword('left(')
      operand(w)
      w.keyword('::text, ').wholeNumber(charsMax).keyword(')')
    }
  },
  metric: writeMetric,
}

/** Relies on a session with `DateStyle` ISO, `IntervalStyle` iso_8601, `bytea_output` hex and a fixed `TimeZone`. */
export const postgresDialect: Dialect = {
  engine: 'postgres',
  compile: (plan) => compilePlan(plan, pieces),
  compileMutation: (plan) => compileMutation(plan, pieces),
  compileCall: (plan) => compileCall(plan, pieces),
  encodeCell,
}
