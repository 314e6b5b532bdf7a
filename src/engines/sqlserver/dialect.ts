import { SQLSERVER_PARAMS_MAX } from '../../core/limits.js'
import type { Dialect } from '../engine.js'
import { compilePlan } from '../sql/compile.js'
import { compileMutation, type MutationPieces } from '../sql/compile-mutation.js'
import { writeEqual } from '../sql/table-statement.js'
import { encodeCell } from './cells.js'
import { guarding } from './column-guard.js'
import { compileCall } from './compile-call.js'
import { writeFilter } from './filters.js'
import { writeExtreme, writeMetric } from './metrics.js'
import { writeFirstText, writeStart, writeTextForm, writeWhole } from './native-types.js'
import { writing } from './written-values.js'

/** Types in `unknown` clothing whose values are short. */
const SHORT_TYPES: ReadonlySet<string> = new Set(['hierarchyid'])

const pieces: MutationPieces = {
  // The count is that of the statement before, whatever its triggers counted.
  writing: { ...writing, mark: (w, counted) => w.keyword(counted ? '@mark, @@ROWCOUNT, ' : '@mark, ') },
  guarding,
  style: { quoting: 'bracket', placeholders: 'at', paramsMax: SQLSERVER_PARAMS_MAX },
  shortTypes: SHORT_TYPES,
  limitAtStart: (w, limit) => {
    if (limit.kind === 'one') w.keyword('TOP (1) ')
    else w.keyword('TOP (').param({ type: 'integer', value: limit.rows.toString() }).keyword(') ')
  },
  limitAtEnd: () => {},
  filter: writeFilter,
  same: writeEqual,
  // NULLs come first ascending unless their absence is sorted by first; a column without them is left to its index.
  sortKey: (w, operand, direction, nullable) => {
    if (nullable) {
      w.keyword('CASE WHEN ')
      operand(w)
      w.keyword(direction === 'desc' ? ' IS NULL THEN 0 ELSE 1 END, ' : ' IS NULL THEN 1 ELSE 0 END, ')
    }
    operand(w)
    if (direction === 'desc') w.keyword(' DESC')
  },
  textForm: writeTextForm,
  representative: writeFirstText,
  extreme: writeExtreme,
  whole: writeWhole,
  shortened: writeStart,
  metric: writeMetric,
}

/**
 * For SQL Server from 2019 in a database of compatibility level 130 or more, without which it reads no list out of JSON:
 * introspection refuses an older one.
 *
 * Texts are equal by the column's collation, and spaces at their ends never count; of bytes it is zeros. `ilike` disregards
 * what the column's collation disregards where that includes case, and case alone elsewhere. `\` escapes. Texts have no `min`
 * and `max`: of equal ones nothing tells the server which to give. Every cell leaves the server as text.
 */
export const sqlserverDialect: Dialect = {
  engine: 'sqlserver',
  compile: (plan) => compilePlan(plan, pieces),
  compileMutation: (plan) => compileMutation(plan, pieces),
  compileCall: (plan) => compileCall(plan, pieces),
  encodeCell,
}
