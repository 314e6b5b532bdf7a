import { MYSQL_PARAMS_MAX } from '../../core/limits.js'
import type { AggregateFn } from '../../core/plan.js'
import type { ValueType } from '../../core/schema-model.js'
import type { Dialect } from '../engine.js'
import { compilePlan } from '../sql/compile.js'
import { compileMutation, type MutationPieces } from '../sql/compile-mutation.js'
import type { SqlWriter, Write } from '../sql/sql-writer.js'
import { writeEqual } from '../sql/table-statement.js'
import { writeTextBytes, writeUtf8, writeWhole } from './bound-values.js'
import { encodeCell } from './cells.js'
import { guarding } from './column-guard.js'
import { compileCall } from './compile-call.js'
import { writeFilter } from './filters.js'
import { writing } from './written-values.js'

/** Types in `unknown` clothing whose values are short. */
const SHORT_TYPES: ReadonlySet<string> = new Set(['inet4', 'inet6'])

const METRICS = {
  count: 'COUNT(',
  count_distinct: 'COUNT(DISTINCT ',
  sum: 'SUM(',
  avg: 'AVG(',
  min: 'MIN(',
  max: 'MAX(',
} as const satisfies Record<AggregateFn, string>

function writeMetric(w: SqlWriter, fn: AggregateFn, operand: Write | undefined): void {
  w.keyword(METRICS[fn])
  if (operand === undefined) w.keyword('*')
  else operand(w)
  w.keyword(')')
}

/** More spaces than stand in a row before a character that sorts before them, in any text that could end there. */
const PADDING_CHARS = 64

/**
 * Of equal texts that look different the server gives whichever it came upon first. Here the weight by which the collation
 * compares is followed by the text itself, so that of equal ones the bytes decide; a point sorts before every digit of a
 * weight, as a shorter text does before one that goes on. Where a collation lets spaces follow the shorter one instead, they
 * are written.
 */
function writeExtreme(w: SqlWriter, fn: 'min' | 'max', operand: Write, type: ValueType): void {
  w.keyword('CONVERT(UNHEX(SUBSTRING_INDEX(').keyword(METRICS[fn]).keyword('CONCAT(HEX(WEIGHT_STRING(')
  if (type.padsSpaces === true) {
    w.keyword('CONCAT(RTRIM(')
    operand(w)
    w.keyword('), SPACE(').wholeNumber(PADDING_CHARS).keyword('))')
  } else {
    operand(w)
  }
  w.keyword(")), '.', HEX(")
  writeUtf8(w, operand, type)
  w.keyword("))), '.', -1)) USING utf8mb4)")
}

const pieces: MutationPieces = {
  writing,
  guarding,
  style: { quoting: 'backtick', placeholders: 'question', paramsMax: MYSQL_PARAMS_MAX },
  shortTypes: SHORT_TYPES,
  limitAtStart: () => {},
  limitAtEnd: (w, limit) => {
    if (limit.kind === 'one') w.keyword(' LIMIT 1')
    else w.keyword(' LIMIT ').param({ type: 'integer', value: limit.rows.toString() })
  },
  filter: writeFilter,
  same: writeEqual,
  // NULLs come first ascending unless their absence is sorted by first; a column without them is left to its index.
  sortKey: (w, operand, direction, nullable) => {
    if (nullable) {
      operand(w)
      w.keyword(direction === 'desc' ? ' IS NULL DESC, ' : ' IS NULL, ')
    }
    operand(w)
    if (direction === 'desc') w.keyword(' DESC')
  },
  textForm: writeTextBytes,
  representative: (w, operand) => {
    w.keyword('CONVERT(MIN(CAST(CONVERT(')
    operand(w)
    w.keyword(' USING utf8mb4) AS BINARY)) USING utf8mb4)')
  },
  extreme: writeExtreme,
  whole: writeWhole,
  shortened: (w, operand, type, charsMax) => {
    w.keyword(type.logical === 'bytes' ? 'SUBSTRING(' : 'LEFT(')
    writeWhole(w, operand, type)
    w.keyword(type.logical === 'bytes' ? ', 1, ' : ', ')
    w.wholeNumber(charsMax).keyword(')')
  },
  metric: writeMetric,
}

/**
 * For MySQL from 8.0.19 and MariaDB from 10.6. Relies on a session in `utf8mb4` with the collation `utf8mb4_bin`, the zone
 * `+00:00`, a `sql_mode` that is strict and has neither `ANSI_QUOTES` nor `NO_BACKSLASH_ESCAPES`, a `div_precision_increment`
 * of 16, and a `max_sort_length` beyond the texts that are to be told apart by sorting.
 *
 * `ilike` disregards what the column's collation disregards where that includes case, and case alone elsewhere. `\` escapes.
 */
export const mysqlDialect: Dialect = {
  engine: 'mysql',
  compile: (plan) => compilePlan(plan, pieces),
  compileMutation: (plan) => compileMutation(plan, pieces),
  compileCall: (plan) => compileCall(plan, pieces),
  encodeCell,
}
