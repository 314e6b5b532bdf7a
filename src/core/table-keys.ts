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
