import type { ForeignKey, Identifier, Table } from '../core/schema-model.js'
import type { RelationPolicy, TablePolicy } from './policy-document.js'
import { type Findings, quoted } from './policy-finding.js'
import type { PolicyPath } from './policy-tree.js'

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
    if ('references' in foreignKey) {
      declared.push(foreignKey)
      continue
    }
    const { why, at, near } = foreignKey
    const text = `The relation ${quoted(relation)} of ${quoted(name)} ${why}; it is void.`
    const hint = near === undefined ? '' : findings.suggestion(near.name, near.candidates)
    const path = ['tables', name, 'relations', relation, ...at]
    findings.void({ kind: 'relation_unusable', table: name, path, text: text + hint })
  }
  return declared.length === 0 ? table : { ...table, foreignKeys: [...table.foreignKeys, ...declared] }
}

/** Why a relation cannot be: a sentence's predicate, the place below the relation, and the name that is not there. */
interface RelationFault {
  readonly why: string
  readonly at: PolicyPath
  readonly near?: { readonly name: string; readonly candidates: Iterable<string> }
}

function foreignKeyOf(
  relation: string,
  given: RelationPolicy,
  table: Table,
  catalog: Catalog,
): ForeignKey | RelationFault {
  const [target, ...others] = catalog.get(given.references) ?? []
  if (target === undefined || others.length > 0) {
    const why = `references ${quoted(given.references)}, which is not one table of the connector's schemas`
    return { why, at: ['references'], near: { name: given.references, candidates: catalog.keys() } }
  }
  const columns = identifiers(table, given.columns)
  if ('missing' in columns) {
    const why = `names column ${quoted(columns.name)}, which the table does not have`
    return { why, at: ['columns', columns.missing], near: columns }
  }
  const wanted = given.referenced_columns ?? target.primaryKey
  if (wanted.length === 0) {
    return { why: `needs referenced_columns, because ${quoted(given.references)} has no key`, at: [] }
  }
  const referenced = identifiers(target, wanted)
  if ('missing' in referenced) {
    const why = `references column ${quoted(referenced.name)}, which ${quoted(given.references)} does not have`
    return { why, at: ['referenced_columns', referenced.missing], near: referenced }
  }
  if (columns.length !== referenced.length) {
    const why = `pairs ${columns.length} column(s) with ${referenced.length} of ${quoted(given.references)}`
    return { why, at: ['columns'] }
  }
  return { name: relation, columns, references: target.ref, referencedColumns: referenced }
}

/** A name that the table does not have, and its place in the list. */
interface Missing {
  readonly missing: number
  readonly name: string
  readonly candidates: readonly string[]
}

/** The catalog's own names, or the first that it does not have. */
function identifiers(table: Table, names: readonly string[]): readonly Identifier[] | Missing {
  const found: Identifier[] = []
  for (const [missing, name] of names.entries()) {
    const column = table.columns.find((each) => each.name === name)
    if (column === undefined) return { missing, name, candidates: table.columns.map((each) => each.name) }
    found.push(column.name)
  }
  return found
}
