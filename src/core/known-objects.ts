import { qualifiedName, type SchemaModel } from './schema-model.js'

/** One table as it was when its policy was confirmed against this database. */
export interface KnownTable {
  /** `schema.table`. */
  readonly name: string
  /** The catalog's own id of the table; absent in what was kept before it was. */
  readonly catalogId?: string
  /** Name, the catalog's own id and the native type of every column. */
  readonly columns: readonly (readonly [name: string, catalogId: number, native: string])[]
}

/**
 * What a policy was confirmed to be about. A column that is new since, or whose id or type is another, is not what the
 * operator had in mind and stays hidden until the policy is applied again. So does a table that had another of these names:
 * what the policy says of the one is not what it says of the other.
 */
export type KnownObjects = readonly KnownTable[]

/** What is to be remembered of the tables that a policy names. */
export function knownObjects(schema: SchemaModel, named: Iterable<string>): KnownObjects {
  const wanted = new Set(named)
  return schema.tables
    .filter((table) => wanted.has(qualifiedName(table.ref)))
    .map((table) => ({
      name: qualifiedName(table.ref),
      catalogId: table.catalogId,
      columns: table.columns.map((column) => [column.name, column.catalogId, column.type.native] as const),
    }))
}

/** Reads what `JSON.stringify` made of it; undefined where it is something else. */
export function parseKnownObjects(text: string): KnownObjects | undefined {
  const parsed: unknown = JSON.parse(text)
  return Array.isArray(parsed) && parsed.every(isKnownTable) ? parsed : undefined
}

function isKnownTable(value: unknown): value is KnownTable {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('columns' in value)) return false
  if ('catalogId' in value && typeof value.catalogId !== 'string') return false
  return typeof value.name === 'string' && Array.isArray(value.columns) && value.columns.every(isKnownColumn)
}

function isKnownColumn(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  const [name, catalogId, native] = value
  return typeof name === 'string' && typeof catalogId === 'number' && typeof native === 'string'
}
