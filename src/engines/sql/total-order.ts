import type { Direction, Order } from '../../core/plan.js'
import type { Column, Identifier, LogicalType, Table, ValueType } from '../../core/schema-model.js'
import { areUnique } from '../../core/table-keys.js'

/** One term of an `ORDER BY`: the column in its own order, or by the bytes of its text. */
export interface SortKey {
  readonly column: Column
  readonly form: 'native' | 'text'
  readonly direction: Direction
}

/** Types of which two equal values always look the same. Of the others `1.0` and `1.00`, or `a` and `A`, may be equal. */
const EQUAL_LOOKS_EQUAL: ReadonlySet<LogicalType> = new Set([
  'integer',
  'bigint',
  'boolean',
  'timestamp',
  'date',
  'uuid',
  'bytes',
  'enum',
])

/**
 * Whether two equal values of the type may be written differently, so that which of them is shown would depend on where
 * rows lie. A decimal with a declared scale always has that scale; text does so
 * unless an extension or its collation compares it loosely.
 */
export function equalMayLookDifferent(type: ValueType): boolean {
  if (type.logical === 'decimal') return type.precision === undefined && !type.native.includes('(')
  if (type.looseEquality === true) return true
  if (type.logical === 'text') return type.operatorSchema !== undefined
  // Floats differ in the sign of zero alone, which no result shows.
  if (type.logical === 'float' || type.logical === 'time') return false
  return !EQUAL_LOOKS_EQUAL.has(type.logical)
}

/**
 * The columns that stand for a row: the key that the policy declares, else the primary key, else the first unique key without
 * NULLs, and only when the caller may see all of it, since an order shows what it is made of. Undefined when there is none.
 */
export function visibleKey(table: Table, visible: ReadonlyMap<Identifier, Column>): readonly Column[] | undefined {
  const seen = (key: readonly Identifier[]) =>
    key.flatMap((name) => {
      const column = visible.get(name)
      return column === undefined ? [] : [column]
    })
  for (const key of [table.declaredKey ?? [], table.primaryKey]) {
    const columns = seen(key)
    if (columns.length > 0 && columns.length === key.length) return columns
  }
  for (const key of table.uniqueKeys) {
    const columns = seen(key)
    if (columns.length === key.length && columns.every((column) => !column.nullable)) return columns
  }
  return undefined
}

/** Whether the catalog itself warrants that no two rows share these columns' values. */
function tellsRowsApart(table: Table, key: readonly Column[]): boolean {
  return key.every((column) => !column.nullable) && areUnique(table, new Set(key.map((column) => column.name)))
}

/** A column in its own order, or by its text where it has none. */
export function sortKey(column: Column, direction: Direction): SortKey {
  return { column, form: column.type.ordered ? 'native' : 'text', direction }
}

/**
 * The caller's order, then tie-breaks that make it total over what the caller can see. Two rows that still tie look the same
 * in every visible column, so that nothing hidden decides which comes first.
 */
export function totalOrder(
  table: Table,
  visible: ReadonlyMap<Identifier, Column>,
  order: readonly Order[],
): readonly SortKey[] {
  const keys: SortKey[] = []
  const sorted = new Set<Identifier>()
  const add = (column: Column | undefined, direction: Direction) => {
    if (column === undefined || sorted.has(column.name)) return
    sorted.add(column.name)
    keys.push(sortKey(column, direction))
  }
  for (const { column, direction } of order) add(visible.get(column), direction)
  const key = visibleKey(table, visible) ?? []
  for (const column of key) add(column, 'asc')
  // Rows that share a key which only the policy warrants would come in the order they lie in, and hidden changes move them.
  if (key.length > 0 && tellsRowsApart(table, key)) return keys
  const columns = [...visible.values()]
  for (const column of columns) if (column.type.ordered) add(column, 'asc')
  for (const column of columns) {
    const { logical, ordered, looseEquality } = column.type
    const done = ordered ? EQUAL_LOOKS_EQUAL.has(logical) && looseEquality !== true : sorted.has(column.name)
    if (!done) keys.push({ column, form: 'text', direction: 'asc' })
  }
  return keys
}
