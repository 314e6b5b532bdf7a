import { type Column, type Identifier, qualifiedName, type Table } from '../../core/schema-model.js'
import type { CatalogIndex } from '../catalog/keys.js'
import { byName, type CatalogRow, type Parts } from '../catalog/rows.js'

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

/** The column of one part: none for an expression, the start of a text, or what the login may not read. */
function wholeColumn(part: CatalogRow, columns: ByName): Column | undefined {
  const [, , , name, prefix] = part
  return name === null || name === undefined || prefix !== null ? undefined : columns.get(name)
}

/** Only a tree serves every comparison and order that a plan can ask for, and not one that the server was told to ignore. */
export function catalogIndex({ name, parts }: Parts, columns: ByName): CatalogIndex {
  return {
    name,
    primary: name === 'PRIMARY',
    unique: parts[0]?.[2] === '0',
    partial: false,
    serves: parts.every((part) => part[5] === 'BTREE' && part[6] === 'YES'),
    columns: parts.map((part) => wholeColumn(part, columns)),
  }
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
