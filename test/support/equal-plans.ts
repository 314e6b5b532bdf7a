import type { AggregateFn, FilterOp } from '../../src/core/plan.js'
import type { Random } from './arguments.js'
import { type EqualColumn, type EqualRow, type EqualTable, NUMBERS, oneOf, TEXTS } from './equal-tables.js'

/** Calls over equal tables, made of choices that every engine must answer alike. */

export interface EqualCall {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

const OPS: readonly FilterOp[] = ['eq', 'neq', 'in', 'gt', 'gte', 'lt', 'lte', 'is_null', 'not_null']

/** Patterns by which PostgreSQL's collation by code points and MySQL fold alike: no accented capitals. */
const PATTERNS: readonly string[] = [
  ...['%', '_', '', 'a', 'A%', '%A', '_b', 'a_', '%b%', 'é', 'e', 'e%', '%é%', 'Z', 'x%x', 'NULL', '__'],
  ...['\\%', '%\\%%', '1\\_0', '1_0', '\\\\', 'a\\', '%\\', '\\a', '% ', ' %', '%\n'],
  ...["%'%", '%"%', '[x]', '[%', '日_', '😀', '\u{1d4b3}'],
]

function valueFor({ values }: EqualColumn, random: Random): unknown {
  const value = oneOf(random, values)
  // Numbers and truths may come as text as well.
  return random() < 0.2 ? String(value) : value
}

function filterOn(column: EqualColumn, random: Random): unknown {
  const { name, kind } = column
  const op = oneOf<FilterOp>(random, TEXTS.has(kind) ? [...OPS, 'ilike', 'ilike', 'ilike'] : OPS)
  if (op === 'is_null' || op === 'not_null') return { column: name, op }
  if (op === 'ilike') return { column: name, op, value: oneOf(random, PATTERNS) }
  if (op !== 'in') return { column: name, op, value: valueFor(column, random) }
  const values = Array.from({ length: Math.floor(random() * 6) }, () => valueFor(column, random))
  return { column: name, op, values }
}

function some<T>(random: Random, items: readonly T[], max: number): readonly T[] {
  const wanted = Math.floor(random() * (max + 1))
  const chosen = new Set<T>()
  for (let i = 0; i < wanted; i++) chosen.add(oneOf(random, items))
  return [...chosen]
}

function filtersOf(columns: readonly EqualColumn[], random: Random, max: number): Record<string, unknown> {
  const count = Math.floor(random() * (max + 1))
  if (count === 0) return {}
  return { filters: Array.from({ length: count }, () => filterOn(oneOf(random, columns), random)) }
}

const direction = (random: Random): string => (random() < 0.5 ? 'asc' : 'desc')
const limitOf = (random: Random): Record<string, unknown> =>
  random() < 0.3 ? {} : { limit: 1 + Math.floor(random() * (random() < 0.5 ? 5 : 60)) }

export function getCall(table: EqualTable, rows: readonly EqualRow[], random: Random): EqualCall {
  const row = oneOf(random, rows)
  const other = oneOf(random, rows)
  // Now and then a key that is made of two rows, which mostly is none.
  const key = table.key.map((name) => [name, (random() < 0.85 ? row : other)[name]])
  const columns = some(random, table.columns, 6).map(({ name }) => name)
  return {
    tool: `get_${table.name}_by_pk`,
    args: { ...Object.fromEntries(key), ...(columns.length === 0 ? {} : { columns }) },
  }
}

export function searchCall(table: EqualTable, random: Random): EqualCall {
  const columns = some(random, table.columns, 5).map(({ name }) => name)
  const order = some(random, table.columns, 3).map(({ name }) => ({ column: name, direction: direction(random) }))
  return {
    tool: `search_${table.name}`,
    args: {
      ...filtersOf(table.columns, random, 3),
      ...(columns.length === 0 ? {} : { columns }),
      ...(order.length === 0 ? {} : { order_by: order }),
      ...limitOf(random),
    },
  }
}

interface Measure {
  readonly fn: AggregateFn
  readonly column?: string
}

/** Sums and averages of the extreme floats would hang on the order in which they are added. */
function fnsFor({ kind, extremes }: EqualColumn): readonly AggregateFn[] {
  const counts: readonly AggregateFn[] = ['count', 'count_distinct']
  return [
    ...counts,
    ...(NUMBERS.has(kind) ? (['sum', 'avg'] as const) : []),
    ...(extremes ? (['min', 'max'] as const) : []),
  ]
}

function measureOf(table: EqualTable, random: Random): Measure {
  if (random() < 0.15) return { fn: 'count' }
  const column = oneOf(random, table.columns)
  return { fn: oneOf(random, fnsFor(column)), column: column.name }
}

/** `avg` is not ordered by: the engines give it with different numbers of digits, so that what ties on one may not on another. */
export function aggregateCall(table: EqualTable, random: Random): EqualCall {
  const groups = some(random, table.columns, 2).map(({ name }) => name)
  const metrics = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) => ({
    ...measureOf(table, random),
    as: `m${i}`,
  }))
  const orderable = [...metrics.flatMap(({ fn, as }) => (fn === 'avg' ? [] : [as])), ...groups]
  const order = orderable.length === 0 ? [] : some(random, orderable, 2)
  return {
    tool: `aggregate_${table.name}`,
    args: {
      metrics,
      ...(groups.length === 0 ? {} : { group_by: groups }),
      ...filtersOf(table.columns, random, 2),
      ...(order.length === 0 ? {} : { order_by: order.map((by) => ({ by, direction: direction(random) })) }),
      ...limitOf(random),
    },
  }
}

function newValues(columns: readonly EqualColumn[], random: Random): Record<string, unknown> {
  return Object.fromEntries(
    columns.map((column) => [column.name, column.nullable && random() < 0.2 ? null : valueFor(column, random)]),
  )
}

/** Creates, changes and soft deletes: of rows that are there, of rows that are not, and of what is refused. */
export function writeCall(table: EqualTable, rows: readonly EqualRow[], random: Random): EqualCall {
  const row = oneOf(random, rows)
  const key = Object.fromEntries(table.key.map((name) => [name, row[name]]))
  const free = table.columns.filter(({ name }) => !table.key.includes(name) && name !== 'gone')
  const expected = random() < 0.3 ? { expected: expectation(free, row, random) } : {}
  const dry = random() < 0.15 ? { dry_run: true } : {}
  const kind = random()
  if (kind < 0.4) {
    const fresh = random() < 0.6 ? { ...key, [table.key[0] ?? 'id']: 1_000 + Math.floor(random() * 400) } : key
    const columns = free.filter(({ nullable }) => !nullable || random() < 0.7)
    return { tool: `create_${table.name}`, args: { values: { ...fresh, ...newValues(columns, random) }, ...dry } }
  }
  if (kind < 0.9 || table.name !== 'items') {
    const columns = [oneOf(random, free), ...some(random, free, 3)]
    const values = newValues(columns, random)
    return { tool: `update_${table.name}_by_pk`, args: { ...key, values, ...expected, ...dry } }
  }
  return { tool: `soft_delete_${table.name}_by_pk`, args: { ...key, ...expected, ...dry } }
}

/** Mostly what the row held when the tables were filled, else anything. */
function expectation(columns: readonly EqualColumn[], row: EqualRow, random: Random): Record<string, unknown> {
  const column = oneOf(random, columns)
  return { [column.name]: random() < 0.7 ? row[column.name] : valueFor(column, random) }
}
