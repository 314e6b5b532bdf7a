import type { ForeignKey, Identifier, Table } from '../core/schema-model.js'
import type { RelationPolicy, TablePolicy } from './policy-document.js'
import { type Findings, quoted } from './policy-finding.js'

type Catalog = ReadonlyMap<string, readonly Table[]>

/**
 * The table with the foreign keys that the policy gives beside those of the catalog. One that names what is not there, or
 * whose sides do not fit, is void: the table is served without it.
 */
export function withRelations(
  name: string,
  table: Table,
  policy: TablePolicy,
  catalog: Catalog,
  findings: Findings,
): Table {
  const declared: ForeignKey[] = []
  for (const [relation, given] of Object.entries(policy.relations ?? {})) {
    const foreignKey = foreignKeyOf(relation, given, table, catalog)
    if (typeof foreignKey !== 'string') {
      declared.push(foreignKey)
      continue
    }
    const text = `The relation ${quoted(relation)} of ${quoted(name)} ${foreignKey}; it is void.`
    findings.void({ kind: 'relation_unusable', table: name, text })
  }
  return declared.length === 0 ? table : { ...table, foreignKeys: [...table.foreignKeys, ...declared] }
}

/** A sentence's predicate where it cannot be. */
function foreignKeyOf(relation: string, given: RelationPolicy, table: Table, catalog: Catalog): ForeignKey | string {
  const [target, ...others] = catalog.get(given.references) ?? []
  if (target === undefined || others.length > 0) {
    return `references ${quoted(given.references)}, which is not one table of the connector's schemas`
  }
  const columns = identifiers(table, given.columns)
  if (typeof columns === 'string') return `names column ${quoted(columns)}, which the table does not have`
  const wanted = given.referenced_columns ?? target.primaryKey
  if (wanted.length === 0) return `needs referenced_columns, because ${quoted(given.references)} has no key`
  const referencedColumns = identifiers(target, wanted)
  if (typeof referencedColumns === 'string') {
    return `references column ${quoted(referencedColumns)}, which ${quoted(given.references)} does not have`
  }
  if (columns.length !== referencedColumns.length) {
    return `pairs ${columns.length} column(s) with ${referencedColumns.length} of ${quoted(given.references)}`
  }
  return { name: relation, columns, references: target.ref, referencedColumns }
}

/** The catalog's own names, or the first that it does not have. */
function identifiers(table: Table, names: readonly string[]): readonly Identifier[] | string {
  const found: Identifier[] = []
  for (const name of names) {
    const column = table.columns.find((each) => each.name === name)
    if (column === undefined) return name
    found.push(column.name)
  }
  return found
}
