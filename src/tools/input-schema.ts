import type { TableAccess } from '../core/access.js'
import { type CallLimits, FILTER_OPS } from '../core/plan.js'
import type { Column, ValueType } from '../core/schema-model.js'
import { aggregateFns, aggregateFnsFor, filterOpsFor, keyArguments } from '../core/tool-grammar.js'
import { closedObject, type JsonSchema, keySchema, listOf, words } from './json-schema.js'

/** What each tool takes, for one caller. A property that could hold nothing for this caller is left out. */

type Property = readonly [name: string, schema: JsonSchema]

export function getInput(access: TableAccess): JsonSchema {
  const key = keyArguments(access.key)
  return closedObject(
    [...key.map(({ argument, column }): Property => [argument, keySchema(column)]), selection(access.columns.get)],
    key.map(({ argument }) => argument),
  )
}

export function searchInput(access: TableAccess): JsonSchema {
  const columns = access.columns.search
  return closedObject([...filters(columns), selection(columns), ...searchOrder(columns), limit(access)])
}

export function aggregateInput(access: TableAccess): JsonSchema {
  const columns = access.columns.aggregate
  return closedObject(
    [metrics(columns, access.limits), ...groups(columns), ...filters(columns), aggregateOrder, limit(access)],
    ['metrics'],
  )
}

export function overviewInput(): JsonSchema {
  return closedObject([['table', { type: 'string', description: 'One table in full; left out: all in short.' }]])
}

type Columns = ReadonlyMap<string, Column>

function namesWhere(columns: Columns, fits: (type: ValueType) => boolean): readonly string[] {
  return [...columns].filter(([, column]) => fits(column.type)).map(([name]) => name)
}

function selection(columns: Columns): Property {
  return ['columns', { ...listOf(words([...columns.keys()]), 'Default: all.'), minItems: 1 }]
}

/** Operators that some column takes, in the one order they always have. */
function filters(columns: Columns): readonly Property[] {
  if (columns.size === 0) return []
  const usable = new Set([...columns.values()].flatMap((column) => filterOpsFor(column.type)))
  const ops = FILTER_OPS.filter((op) => usable.has(op))
  const operands: readonly Property[] = usable.has('eq')
    ? [
        ['value', { type: 'string', description: 'The value as text: digits, ISO 8601, true, false.' }],
        ['values', listOf({ type: 'string' }, 'For in.')],
      ]
    : []
  const filter = closedObject(
    [['column', words([...columns.keys()])], ['op', words(ops)], ...operands],
    ['column', 'op'],
  )
  const patterns = usable.has('ilike') ? '; ilike: % and _ match, \\ escapes' : ''
  return [['filters', listOf(filter, `All must hold. in takes values; is_null, not_null take none${patterns}.`)]]
}

const DIRECTION: Property = ['direction', words(['asc', 'desc'])]

function searchOrder(columns: Columns): readonly Property[] {
  const names = namesWhere(columns, (type) => type.ordered)
  if (names.length === 0) return []
  return [['order_by', listOf(closedObject([['column', words(names)], DIRECTION], ['column']))]]
}

function metrics(columns: Columns, limits: CallLimits): Property {
  const given = aggregateFns(limits)
  const usable = new Set([...columns.values()].flatMap((column) => aggregateFnsFor(column.type, given)))
  const fns = given.filter((fn) => fn === 'count' || usable.has(fn))
  const column: readonly Property[] = columns.size === 0 ? [] : [['column', words([...columns.keys()])]]
  const as: Property = ['as', { type: 'string', description: 'Result name; default fn_column.' }]
  const metric = closedObject([['fn', words(fns)], ...column, as], ['fn'])
  const rule = columns.size === 0 ? 'count counts rows.' : 'count alone counts rows; the others need a column.'
  const { minGroupSize } = limits
  const small = minGroupSize > 1 ? ` Groups of fewer than ${minGroupSize} rows are not given.` : ''
  return ['metrics', { ...listOf(metric, `${rule}${small}`), minItems: 1 }]
}

function groups(columns: Columns): readonly Property[] {
  const names = namesWhere(columns, (type) => type.equality)
  return names.length === 0 ? [] : [['group_by', listOf(words(names))]]
}

const aggregateOrder: Property = [
  'order_by',
  listOf(closedObject([['by', { type: 'string', description: 'A metric or group of this call.' }], DIRECTION], ['by'])),
]

function limit(access: TableAccess): Property {
  const { pageSize, rowCap } = access.limits
  const description = `Default ${Math.min(pageSize, rowCap)}.`
  return ['limit', { type: 'integer', description, minimum: 1, maximum: rowCap }]
}
