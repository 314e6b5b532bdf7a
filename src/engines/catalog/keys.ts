import {
  type Column,
  catalogName,
  type ForeignKey,
  type Identifier,
  type Index,
  type Table,
  type TableRef,
} from '../../core/schema-model.js'
import { type CatalogRow, textCell } from './rows.js'

/** Keys and indexes as every catalog comes to give them. Part of a key identifies no row, so half of one is none. */

/** A column of an index, or undefined for an expression, the start of a text, or what the login may not read. */
export type IndexColumn = Column | undefined

/** One index that the server enforces or uses. */
export interface CatalogIndex {
  readonly name: string
  readonly primary: boolean
  readonly unique: boolean
  readonly partial: boolean
  /** Whether it serves every comparison and order that a plan can ask for; another still makes a key. */
  readonly serves: boolean
  /** Key columns in order. */
  readonly columns: readonly IndexColumn[]
}

/** What the indexes of one table, in the order of their names, say of it. */
export function tableKeys(indexes: readonly CatalogIndex[]): Pick<Table, 'primaryKey' | 'uniqueKeys' | 'indexes'> {
  return {
    primaryKey: indexes.find((each) => each.primary && wholeKey(each) !== undefined)?.columns.flatMap(nameOf) ?? [],
    uniqueKeys: indexes.flatMap(uniqueKey),
    indexes: indexes.flatMap(servingIndex),
  }
}

function nameOf(column: IndexColumn): readonly Identifier[] {
  return column === undefined ? [] : [column.name]
}

function wholeKey({ columns }: CatalogIndex): readonly Column[] | undefined {
  return columns.every((column) => column !== undefined) ? columns : undefined
}

/** Rows without a value in a unique key may be many, or are told apart by that alone. */
function uniqueKey(index: CatalogIndex): readonly (readonly Identifier[])[] {
  if (index.primary || index.partial || !index.unique) return []
  const columns = wholeKey(index)
  return columns === undefined || columns.some(({ nullable }) => nullable) ? [] : [columns.map(({ name }) => name)]
}

function servingIndex({ name, unique, partial, serves, columns }: CatalogIndex): readonly Index[] {
  if (!serves) return []
  const end = columns.indexOf(undefined)
  const names = (end < 0 ? columns : columns.slice(0, end)).flatMap(nameOf)
  if (names.length === 0) return []
  // Uniqueness belongs to the whole list, so a list that was cut has none.
  return [{ name: catalogName(name), columns: names, unique: unique && end < 0, partial }]
}

/** Both lists in the order of the key. A key with a column that the login may not read is none. */
export function foreignKey(
  name: string,
  columns: readonly IndexColumn[],
  references: TableRef,
  referencedColumns: readonly string[],
): readonly ForeignKey[] {
  if (columns.length === 0 || columns.includes(undefined)) return []
  return [{ name, columns: columns.flatMap(nameOf), references, referencedColumns: referencedColumns.map(catalogName) }]
}

/**
 * The same of rows `[…, name, column, place, referenced schema, table, column]` of one key, the name in their second cell. A
 * key of which the catalog left columns out is none either, wherever they stood.
 */
export function foreignKeyOfRows(
  rows: readonly CatalogRow[],
  columns: ReadonlyMap<string, Column>,
): readonly ForeignKey[] {
  const [first] = rows
  if (first === undefined || !rows.every((row, place) => textCell(row, 3) === String(place + 1))) return []
  return foreignKey(
    textCell(first, 1),
    rows.map((row) => columns.get(textCell(row, 2))),
    { schema: catalogName(textCell(first, 4)), name: catalogName(textCell(first, 5)) },
    rows.map((row) => textCell(row, 6)),
  )
}
