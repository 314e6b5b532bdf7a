import type { Column } from '../../core/schema-model.js'
import type { CatalogIndex } from '../catalog/keys.js'
import type { Parts } from '../catalog/rows.js'

/** One index, from its rows of `INDEXES`. `columns` are those that the login may read, by number. */
export function catalogIndex({ name, parts }: Parts, columns: ReadonlyMap<string, Column>): CatalogIndex {
  const [first] = parts
  return {
    name,
    primary: first?.[2] === '1',
    unique: first?.[3] === '1',
    partial: first?.[4] === '1',
    serves: first?.[5] === '1',
    columns: parts.map((part) => columns.get(part[6] ?? '')),
  }
}
