import {
  type Column,
  catalogName,
  type ForeignKey,
  type Identifier,
  type Index,
  qualifiedName,
  type Table,
} from '../../core/schema-model.js'
import { groupedRows, textCell } from '../catalog/rows.js'

/** A row of a catalog query: every cell is text. */
export type CatalogRow = readonly (string | null)[]

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The parts of one index, or of one foreign key, in order. */
export interface Parts {
  readonly name: string
  readonly parts: readonly CatalogRow[]
}

/** By the second cell, in the order of the names' code units: the catalog's own order disregards case. */
export function byName(rows: readonly CatalogRow[]): readonly Parts[] {
  return [...groupedRows(rows, 1)].map(([name, parts]) => ({ name, parts })).sort((a, b) => byCodeUnits(a.name, b.name))
}

/**
 * The hidden end of every version is in each unique index of a versioned table; of the current rows, which are all that a
 * plain query sees, the rest is unique already.
 */
export function indexParts(rows: readonly CatalogRow[], columns: readonly CatalogRow[]): readonly Parts[] {
  const versionEnd = columns.find((row) => row[9] === 'ROW END')?.[1] ?? null
  const parts = rows.filter((row) => versionEnd === null || row[3] !== versionEnd)
  return byName(parts)
}

type ByName = ReadonlyMap<string, Column>

export function isPrimary({ name }: Parts): boolean {
  return name === 'PRIMARY'
}

/** The column of one part: none for an expression, the start of a text, or what the login may not read. */
function wholeColumn(part: CatalogRow, columns: ByName): Column | undefined {
  const [, , , name, prefix] = part
  return name === null || name === undefined || prefix !== null ? undefined : columns.get(name)
}

/** Every column of a unique index, or nothing when one part is no whole column: part of a key identifies no row. */
export function wholeKey({ parts }: Parts, columns: ByName): readonly Identifier[] | undefined {
  const names = parts.map((part) => wholeColumn(part, columns)?.name)
  return isUnique(parts) && names.every((name) => name !== undefined) ? names : undefined
}

function isUnique([part]: readonly CatalogRow[]): boolean {
  return part?.[2] === '0'
}

export function uniqueKey(parts: Parts, columns: ByName): readonly (readonly Identifier[])[] {
  if (isPrimary(parts)) return []
  const names = wholeKey(parts, columns)
  return names === undefined || names.some((name) => columns.get(name)?.nullable !== false) ? [] : [names]
}

/** Only a tree serves every comparison and order that a plan can ask for, and not one that the server was told to ignore. */
export function index({ name, parts }: Parts, columns: ByName): readonly Index[] {
  if (parts.some((part) => part[5] !== 'BTREE' || part[6] !== 'YES')) return []
  const names: Identifier[] = []
  for (const part of parts) {
    const column = wholeColumn(part, columns)
    if (column === undefined) break
    names.push(column.name)
  }
  if (names.length === 0) return []
  // Uniqueness belongs to the whole list, so a list that was cut has none.
  const unique = isUnique(parts) && names.length === parts.length
  return [{ name: catalogName(name), columns: names, unique, partial: false }]
}

export function foreignKey(rows: readonly CatalogRow[], columns: ByName): readonly ForeignKey[] {
  const names = rows.map((row) => columns.get(textCell(row, 2))?.name)
  const [first] = rows
  const complete = rows.every((row, place) => textCell(row, 3) === String(place + 1))
  if (first === undefined || !complete || !names.every((name) => name !== undefined)) return []
  return [
    {
      name: textCell(first, 1),
      columns: names,
      references: { schema: catalogName(textCell(first, 4)), name: catalogName(textCell(first, 5)) },
      referencedColumns: rows.map((row) => catalogName(textCell(row, 6))),
    },
  ]
}

/**
 * Without those keys that may lead to several rows: these servers let a key refer to columns that are not unique, and MySQL
 * does not say that it left columns of a key out.
 */
export function withToOneKeys(tables: readonly Table[]): readonly Table[] {
  const byRef = new Map(tables.map((table) => [qualifiedName(table.ref), table]))
  return tables.map((table) => ({
    ...table,
    foreignKeys: table.foreignKeys.filter(({ references, referencedColumns }) => {
      const parent = byRef.get(qualifiedName(references))
      return parent === undefined || leadsToOne(parent, referencedColumns)
    }),
  }))
}

function leadsToOne(parent: Table, referenced: readonly Identifier[]): boolean {
  const unique = parent.indexes.flatMap((each) => (each.unique ? [each.columns] : []))
  return [parent.primaryKey, ...parent.uniqueKeys, ...unique].some(
    (key) => key.length > 0 && key.every((name) => referenced.includes(name)),
  )
}
