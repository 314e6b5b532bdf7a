import type { Column, Identifier, Table } from './schema-model.js'

/**
 * The key by which a new row is read back where an insert does not return it: the primary key, else the first unique key
 * without NULLs. Undefined where the table has neither.
 */
export function insertKey(table: Table): readonly Column[] | undefined {
  const keys = [table.primaryKey, ...table.uniqueKeys].map((key) => key.flatMap((name) => columnsNamed(table, name)))
  // Rows without a value in a unique key may be many.
  return keys.find((columns) => columns.length > 0 && columns.every((column) => !column.nullable))
}

/**
 * The key that tools address a row by, and the trail remembers it by: the one that the policy declares, else the primary key.
 * Undefined where there is none, or the caller does not see all of it.
 */
export function addressKey(table: Table, visible: ReadonlyMap<Identifier, Column>): readonly Column[] | undefined {
  const key = table.declaredKey ?? table.primaryKey
  const columns = key.flatMap((name) => visible.get(name) ?? [])
  return columns.length > 0 && columns.length === key.length ? columns : undefined
}

function columnsNamed(table: Table, name: Identifier): readonly Column[] {
  return table.columns.filter((column) => column.name === name)
}

/** Whether the database counts the column up by itself and can tell what it last gave. */
export function isCountedUp(column: Column): boolean {
  return column.generated === 'by_default' || column.generated === 'always'
}

/** Whether no two rows can share these columns' values, none of them NULL. */
export function areUnique(table: Table, names: ReadonlySet<Identifier>): boolean {
  return [table.primaryKey, ...table.uniqueKeys].some((key) => key.length > 0 && key.every((name) => names.has(name)))
}
