import type { TableAccess } from '../core/access.js'
import {
  type ArgumentObject,
  choices,
  pathOf,
  readEach,
  readList,
  readObject,
  readWord,
  suggest,
} from '../core/arguments.js'
import { type GatewayError, gatewayError } from '../core/errors.js'
import { FILTERS_MAX, IN_VALUES_MAX } from '../core/limits.js'
import { cleanText } from '../core/names.js'
import type { Direction, Filter, FilterOp, GetPlan, PlanValue } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, ValueType } from '../core/schema-model.js'
import { filterOpsFor, type KeyArgument } from '../core/tool-grammar.js'
import { coerceValue } from '../core/value.js'

/** Columns by agent name that the caller may use in the operation. Nothing else is ever looked up, so a masked column is a missing one. */
export type VisibleColumns = ReadonlyMap<string, Column>

/** The one way from a name in an argument to a column. */
export function readColumn(columns: VisibleColumns, raw: unknown, path: string): Result<Column, GatewayError> {
  const column = typeof raw === 'string' ? columns.get(raw) : undefined
  if (column !== undefined) return ok(column)
  const names = [...columns.keys()]
  const expected = choices(names)
  if (raw === undefined) return fail(gatewayError('ARGUMENT_MISSING', { field: path, expected }))
  if (typeof raw !== 'string') return fail(gatewayError('ARGUMENT_TYPE', { field: path, expected }))
  return fail(gatewayError('ARGUMENT_COLUMN', { field: path, expected, ...suggest(raw, names), refused: raw }))
}

/** A list of different columns; absent means undefined. `allowEmpty` tells a list that may say nothing from one that may not. */
export function readColumns(
  columns: VisibleColumns,
  raw: unknown,
  path: string,
  max: number,
  allowEmpty: boolean,
): Result<readonly Column[] | undefined, GatewayError> {
  const list = readList(raw, path, max)
  if (!list.ok || list.value === undefined) return list.ok ? ok(undefined) : list
  if (list.value.length === 0 && !allowEmpty) {
    return fail(gatewayError('ARGUMENT_VALUE', { field: path, expected: 'at least one column; leave it out for all' }))
  }
  const seen = new Set<Column>()
  return readEach(list.value, path, (item, itemPath) => {
    const column = readColumn(columns, item, itemPath)
    if (!column.ok) return column
    if (seen.has(column.value)) {
      return fail(gatewayError('ARGUMENT_VALUE', { field: itemPath, expected: 'each column once' }))
    }
    seen.add(column.value)
    return column
  })
}

/** A value for a comparison with the column. */
export function readValue(column: Column, raw: unknown, path: string): Result<PlanValue, GatewayError> {
  if (raw === null) {
    const expected = 'a value that is not null; is_null and not_null test for null'
    return fail(gatewayError('ARGUMENT_VALUE', { field: path, expected }))
  }
  const value = coerceValue(column.type, raw)
  if (value.ok) return value
  const code = raw === undefined ? 'ARGUMENT_MISSING' : 'ARGUMENT_VALUE'
  return fail(gatewayError(code, { field: path, expected: value.error, ...suggestLabel(column.type, raw) }))
}

/** One equality a key column, in key order. */
export function readKey(key: readonly KeyArgument[], entries: ArgumentObject): Result<GetPlan['key'], GatewayError> {
  return readEach(key, 'key', ({ argument, column }) => {
    const value = readValue(column, entries.get(argument), argument)
    return value.ok ? ok({ column: column.name, op: 'eq' as const, value: value.value }) : value
  })
}

/** The nearest label that is fit to be shown, for a value that is none of them. */
export function suggestLabel(type: ValueType, raw: unknown): { readonly suggestion?: string } {
  if (typeof raw !== 'string' || type.labels === undefined) return {}
  const shown = type.labels.filter((label) => cleanText(label, label.length + 1) === label)
  return suggest(raw, shown)
}

export function readFilters(columns: VisibleColumns, raw: unknown): Result<readonly Filter[], GatewayError> {
  const list = readList(raw, 'filters', FILTERS_MAX)
  if (!list.ok) return list
  return readEach(list.value ?? [], 'filters', (item, path) => readFilter(columns, item, path))
}

const FILTER_NAMES = ['column', 'op', 'value', 'values'] as const

function readFilter(columns: VisibleColumns, raw: unknown, path: string): Result<Filter, GatewayError> {
  const entries = readObject(raw, path, FILTER_NAMES)
  if (!entries.ok) return entries
  const column = readColumn(columns, entries.value.get('column'), pathOf(path, 'column'))
  if (!column.ok) return column
  const op = readOp(column.value, entries.value.get('op'), pathOf(path, 'op'))
  if (!op.ok) return op
  return readOperands(column.value, op.value, entries.value, path)
}

function readOp(column: Column, raw: unknown, path: string): Result<FilterOp, GatewayError> {
  const fitting = filterOpsFor(column.type)
  const op = readWord(raw, path, fitting, 'ARGUMENT_OPERATOR')
  if (op.ok) return op
  return fail({ ...op.error, expected: `${choices(fitting)} for a column of type ${column.type.logical}` })
}

/** The values an operator takes: none, one, or a list. What it does not take is refused rather than ignored. */
function readOperands(
  column: Column,
  op: FilterOp,
  entries: ReadonlyMap<string, unknown>,
  path: string,
): Result<Filter, GatewayError> {
  const value = entries.get('value')
  const values = entries.get('values')
  if (op === 'is_null' || op === 'not_null') {
    const extra = value !== undefined ? 'value' : values !== undefined ? 'values' : undefined
    return extra === undefined
      ? ok({ column: column.name, op })
      : fail(gatewayError('ARGUMENT_UNKNOWN', { field: pathOf(path, extra), expected: `no ${extra} with ${op}` }))
  }
  if (op === 'in') return readIn(column, value, values, path)
  if (values !== undefined) {
    return fail(gatewayError('ARGUMENT_UNKNOWN', { field: pathOf(path, 'values'), expected: `value with ${op}` }))
  }
  const one = readValue(column, value, pathOf(path, 'value'))
  if (!one.ok) return one
  if (op === 'ilike' && endsInLoneEscape(one.value)) {
    const expected = 'a pattern in which each \\ escapes the character after it; write \\\\ for a backslash'
    return fail(gatewayError('ARGUMENT_VALUE', { field: pathOf(path, 'value'), expected }))
  }
  return ok({ column: column.name, op, value: one.value })
}

function readIn(column: Column, value: unknown, values: unknown, path: string): Result<Filter, GatewayError> {
  if (values !== undefined && value !== undefined) {
    return fail(gatewayError('ARGUMENT_UNKNOWN', { field: pathOf(path, 'value'), expected: 'only values with in' }))
  }
  if (values === undefined && value !== undefined && !Array.isArray(value)) {
    return fail(gatewayError('ARGUMENT_TYPE', { field: pathOf(path, 'value'), expected: 'a list in values with in' }))
  }
  const listPath = pathOf(path, values === undefined && value !== undefined ? 'value' : 'values')
  const list = readList(values ?? value, listPath, IN_VALUES_MAX)
  if (!list.ok) return list
  if (list.value === undefined) {
    return fail(gatewayError('ARGUMENT_MISSING', { field: listPath, expected: 'a list of values' }))
  }
  const all = readEach(list.value, listPath, (item, itemPath) => readValue(column, item, itemPath))
  return all.ok ? ok({ column: column.name, op: 'in', values: all.value }) : all
}

/** An odd run of backslashes at the end escapes nothing, and engines disagree on what that means. */
function endsInLoneEscape(pattern: string): boolean {
  let run = 0
  while (pattern.charCodeAt(pattern.length - 1 - run) === 92) run++
  return run % 2 === 1
}

/** Ascending where a caller says nothing. */
export function readDirection(raw: unknown, path: string): Result<Direction, GatewayError> {
  return raw === undefined ? ok('asc') : readWord(raw, path, ['asc', 'desc'])
}

const LIMIT_TYPE: ValueType = {
  logical: 'integer',
  native: 'limit',
  range: [1, Number.MAX_SAFE_INTEGER],
  equality: true,
  ordered: true,
}

/** Rows to give at most: the page size where unsaid, and never more than the policy's cap. */
export function readLimit(access: TableAccess, raw: unknown): Result<number, GatewayError> {
  const { pageSize, rowCap } = access.limits
  if (raw === undefined) return ok(Math.min(pageSize, rowCap))
  const value = coerceValue(LIMIT_TYPE, raw)
  if (value.ok) return ok(Math.min(Number(value.value), rowCap))
  return fail(gatewayError('ARGUMENT_VALUE', { field: 'limit', expected: `a whole number from 1 to ${rowCap}` }))
}
