import { ENGINE_CAPABILITIES } from '../core/engine-capabilities.js'
import type { KnownTable } from '../core/known-objects.js'
import { agentColumnName, toolBaseName } from '../core/names.js'
import { type Column, type EngineName, qualifiedName, type SchemaModel, type Table } from '../core/schema-model.js'
import { filterOpsFor } from '../core/tool-grammar.js'
import { ColumnResolver } from './column-resolver.js'
import type { CompileOptions } from './compile-document.js'
import { compileWrites, type TableWrites } from './compile-writes.js'
import { withRelations } from './declared-relations.js'
import type { TablePolicy } from './policy-document.js'
import { type Findings, quoted } from './policy-finding.js'
import { isUnqualified } from './qualified-names.js'
import type { RowFilter } from './row-filter.js'

/** A table that the policy names and the catalog has, with what the policy says of it resolved as far as it could be. */
export interface TableDraft {
  readonly name: string
  readonly table: Table
  readonly policy: TablePolicy
  readonly toolBase: string
  readonly engine: EngineName
  readonly positions: ReadonlyMap<string, number>
  /** Whether each column is the one that the policy was confirmed to be about. */
  readonly confirmed: readonly boolean[]
  readonly shown: readonly boolean[]
  readonly aggregable: readonly boolean[] | undefined
  readonly key: readonly number[]
  readonly filters: readonly RowFilter[]
  readonly writes: TableWrites
}

/** Resolves the tables of a policy. A table that is not in `findings.withheld` afterwards may be served. */
export function draftTables(
  tables: Readonly<Record<string, TablePolicy>>,
  schema: SchemaModel,
  options: CompileOptions & { readonly withParents: ReadonlySet<string> },
  findings: Findings,
): ReadonlyMap<string, TableDraft> {
  const { schemas, known, withParents } = options
  const knownByName = known && new Map(known.map((table) => [table.name, table]))
  const catalog = groupBy(schema.tables, (table) => qualifiedName(table.ref))
  const drafts = new Map<string, TableDraft>()
  for (const [name, policy] of Object.entries(tables)) {
    const [table, ...others] = catalog.get(name) ?? []
    if (table === undefined) {
      const text = isUnqualified(name)
        ? `The policy grants ${quoted(name)} without its schema, and the connector has several; every grant on it is void.`
        : `The policy grants ${quoted(name)}, which the database does not have; every grant on it is void.`
      findings.withhold({ kind: 'table_unknown', table: name, text: text + findings.suggestion(name, catalog.keys()) })
    } else if (others.length > 0) {
      const text = `${quoted(name)} names ${others.length + 1} tables, because a schema or table name holds a dot; it is withheld.`
      findings.withhold({ kind: 'table_ambiguous', table: name, text })
    } else {
      const confirmed = confirmedColumns(name, table, knownByName, findings)
      const readBack = withParents.has(name) ? readBackFor(schema.engine, table) : table
      const related = withRelations(name, readBack, policy, catalog, findings)
      drafts.set(name, draftTable(name, related, policy, { schemas, confirmed, engine: schema.engine }, findings))
    }
  }
  withholdClashes(drafts.values(), findings)
  return drafts
}

/** Whether a row's parent is in scope a subquery tells: where it cannot be part of what a change returns, the row is read back. */
function readBackFor(engine: EngineName, table: Table): Table {
  if (ENGINE_CAPABILITIES[engine].subqueryInReturned) return table
  return { ...table, insertReadBack: 'by_key', updateReadBack: 'by_key' }
}

function draftTable(
  name: string,
  table: Table,
  policy: TablePolicy,
  surroundings: {
    readonly schemas: readonly string[]
    readonly confirmed: readonly boolean[]
    readonly engine: EngineName
  },
  findings: Findings,
): TableDraft {
  const { schemas, confirmed, engine } = surroundings
  const positions = new Map(table.columns.map((column, index) => [column.name, index]))
  const resolver = new ColumnResolver(name, table, findings, { positions, confirmed, engine })
  const { aggregate } = policy
  const masked = resolver.positions(policy.mask, resolver.rule('mask'))
  const allowed =
    policy.columns === undefined ? undefined : resolver.positions(policy.columns, resolver.rule('columns'))
  const limited =
    typeof aggregate === 'object'
      ? resolver.positions(aggregate.columns, resolver.rule('aggregate', 'columns'))
      : undefined
  const shown = table.columns.map(
    (_, index) => confirmed[index] === true && !masked.has(index) && (allowed?.has(index) ?? true),
  )
  const aggregable = limited === undefined ? shown : shown.map((visible, index) => visible && limited.has(index))
  withholdAliasClash(name, table, findings)
  const key = draftKey(resolver, policy)
  return {
    name,
    table: policy.key === undefined ? table : withKey(table, key),
    policy,
    engine,
    toolBase: toolBaseName(policy.tool_name ?? defaultBase(table, schemas)),
    positions,
    confirmed,
    shown,
    aggregable: aggregate === false ? undefined : aggregable,
    key,
    filters: resolver.filters(policy.row_filter ?? [], resolver.rule('row_filter')),
    writes: compileWrites(resolver, policy, { shown, key }),
  }
}

/** The key that the policy gives stands in for one the catalog lacks: order and cuts of cells then go by it too. */
function withKey(table: Table, key: readonly number[]): Table {
  return { ...table, declaredKey: key.flatMap((position) => table.columns[position]?.name ?? []) }
}

/**
 * Which columns are those that the policy was confirmed to be about. The others are hidden, and the operator is told why;
 * a mask on one still stands, so a new name for an old secret opens nothing.
 */
function confirmedColumns(
  name: string,
  table: Table,
  known: ReadonlyMap<string, KnownTable> | undefined,
  findings: Findings,
): readonly boolean[] {
  if (known === undefined) return table.columns.map(() => true)
  const former = formerName(name, table, known)
  if (former !== undefined) {
    const text = `${quoted(name)} is the table that was ${quoted(former)} when the policy was confirmed; it stays hidden until the policy is applied again.`
    findings.warn({ kind: 'table_changed', table: name, text })
    return table.columns.map(() => false)
  }
  const columnsBefore = known.get(name)?.columns ?? []
  const before = new Map(columnsBefore.map(([column, ...identity]) => [column, identity]))
  const formerById = new Map(columnsBefore.map(([column, id]) => [id, column]))
  const idByName = new Map<string, number>(table.columns.map((column) => [column.name, column.catalogId]))
  return table.columns.map((column) => {
    const [catalogId, native] = before.get(column.name) ?? []
    if (catalogId === column.catalogId && native === column.type.native) return true
    const former = formerById.get(column.catalogId)
    const swapped = catalogId !== undefined && former !== undefined && idByName.get(former) === catalogId
    const what =
      catalogId === undefined
        ? 'is new'
        : catalogId === column.catalogId
          ? `was ${native} and is ${column.type.native}`
          : swapped
            ? `is the one that was ${quoted(former)}: ${quoted(column.name)} and ${quoted(former)} have changed places`
            : 'is another column under the same name'
    const text = `Column ${quoted(column.name)} of ${quoted(name)} ${what}; it stays hidden until the policy is applied again.`
    findings.warn({
      kind: catalogId === undefined ? 'column_new' : 'column_changed',
      table: name,
      column: column.name,
      text,
    })
    return false
  })
}

/** The name that the table had among those which the policy was confirmed to be about, where it was another. */
function formerName(name: string, table: Table, known: ReadonlyMap<string, KnownTable>): string | undefined {
  // Most tables are what they were, and there may be thousands of them.
  if (known.get(name)?.catalogId === table.catalogId) return undefined
  return [...known.values()].find((former) => former.catalogId === table.catalogId)?.name
}

function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

function defaultBase(table: Table, schemas: readonly string[]): string {
  return schemas.length > 1 ? `${table.ref.schema}_${table.ref.name}` : table.ref.name
}

/** `get` compares every part of the key, so a part that cannot be compared leaves the table without one. */
function draftKey(resolver: ColumnResolver, policy: TablePolicy): readonly number[] {
  const { table, name, findings } = resolver
  const key = [...resolver.positions(policy.key ?? table.primaryKey, resolver.rule('key'))]
  const unusable = key
    .map((index) => table.columns[index])
    .find((column) => column !== undefined && !filterOpsFor(column.type).includes('eq'))
  if (unusable === undefined) return key
  const text = `Column ${quoted(unusable.name)} of ${quoted(name)} is part of its key, but its type ${unusable.type.native} cannot be compared for equality; the table is served without get.`
  findings.warn({ kind: 'key_unusable', table: name, column: unusable.name, text })
  return []
}

/** Two columns with one agent-facing name could not be told apart by a caller, nor by a mask. */
function withholdAliasClash(name: string, table: Table, findings: Findings): void {
  const seen = new Map<string, Column>()
  for (const column of table.columns) {
    const other = seen.get(column.agentName)
    if (other !== undefined) {
      const text = `Columns ${quoted(other.name)} and ${quoted(column.name)} of ${quoted(name)} share the agent-facing name ${quoted(agentColumnName(column.name))}; the table is withheld.`
      findings.withhold({ kind: 'column_name_clash', table: name, column: column.name, text })
    }
    seen.set(column.agentName, column)
  }
}

function withholdClashes(drafts: Iterable<TableDraft>, findings: Findings): void {
  for (const [base, same] of groupBy(drafts, (draft) => draft.toolBase)) {
    if (same.length === 1) continue
    const names = same.map((draft) => quoted(draft.name)).join(' and ')
    for (const { name } of same) {
      const text = `${names} would all have tools named after ${quoted(base)}; they are withheld. Give each a tool_name of its own.`
      findings.withhold({ kind: 'tool_name_clash', table: name, text })
    }
  }
}
