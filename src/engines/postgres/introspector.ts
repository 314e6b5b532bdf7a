import { invariant } from '../../core/assert.js'
import type { GatewayError } from '../../core/errors.js'
import { agentColumnName } from '../../core/names.js'
import { fail, ok, type Result } from '../../core/result.js'
import {
  type Column,
  catalogName,
  type ForeignKey,
  type LoginFacts,
  qualifiedName,
  type SchemaModel,
  type Table,
  type TableKind,
} from '../../core/schema-model.js'
import type { Param } from '../../core/statement.js'
import { type CatalogIndex, foreignKey, tableKeys } from '../catalog/keys.js'
import type { Readable } from '../catalog/reads.js'
import { commentOf, groupedRows, missingSchemas, tablesHeld } from '../catalog/rows.js'
import { flag, isNumber, isText, parseList, text } from './catalog-cells.js'
import {
  BEGIN_CATALOG,
  COLUMNS,
  COMMIT_CATALOG,
  FOREIGN_KEYS,
  INDEXES,
  RELATIONS,
  ROUTINE_READS,
  ROUTINES,
  SERVER_FACTS,
  TYPES,
  VIEW_READS,
} from './catalog-queries.js'
import { type CatalogReads, catalogReads } from './reads.js'
import { buildRoutine, type RoutineRow, readRoutine, routineTypes } from './routines.js'
import { SET_CATALOG_CONSTANTS } from './session.js'
import { type CatalogType, type CatalogTypes, domainRules, valueType } from './value-types.js'
import type { Row } from './wire-query.js'

/** Runs one catalog query on one connection; cells come back as the server's own text. */
export type CatalogReader = (text: string, params: readonly Param[]) => Promise<Result<readonly Row[], GatewayError>>

/** The rows of every catalog query, of one snapshot. */
interface Catalog {
  readonly facts: ServerFacts
  readonly relations: readonly Row[]
  readonly columns: readonly Row[]
  readonly types: CatalogTypes
  readonly indexes: readonly Row[]
  readonly foreignKeys: readonly Row[]
  readonly routines: readonly RoutineRow[]
  readonly reads: CatalogReads
}

interface ServerFacts {
  /** As `server_version_num`: major version times 10,000, plus the minor. */
  readonly version: number
  readonly superuser: boolean
  readonly connectionsMax: number
}

const KINDS: ReadonlyMap<string, TableKind> = new Map<string, TableKind>([
  ['r', 'table'],
  ['v', 'view'],
  ['m', 'materialized_view'],
  ['p', 'partitioned_table'],
  ['f', 'foreign_table'],
])

/**
 * The model of these schemas as the login can read them: what it may not SELECT is not part of it. A schema that does not
 * exist, or that the login may not use, is an error that names it.
 */
export async function introspectCatalog(
  read: CatalogReader,
  schemas: readonly string[],
): Promise<Result<SchemaModel, GatewayError>> {
  const catalog = await readCatalog(read, schemas)
  if (!catalog.ok) return catalog
  const tables = buildTables(catalog.value)
  return ok({
    engine: 'postgres',
    serverVersion: `${Math.floor(catalog.value.facts.version / 10_000)}.${catalog.value.facts.version % 10_000}`,
    tables,
    routines: catalog.value.routines.map((routine) => ({
      ...buildRoutine(routine, catalog.value.types),
      ...catalog.value.reads.ofRoutine(text(routine.row, 0)),
    })),
    login: loginFacts(catalog.value),
  })
}

async function readCatalog(read: CatalogReader, schemas: readonly string[]): Promise<Result<Catalog, GatewayError>> {
  const begun = await read(BEGIN_CATALOG, [])
  if (!begun.ok) return begun
  const set = await read(SET_CATALOG_CONSTANTS.text, SET_CATALOG_CONSTANTS.params)
  if (!set.ok) return set
  const facts = await read(SERVER_FACTS, [schemas])
  if (!facts.ok) return facts
  const [factsRow] = facts.value
  invariant(factsRow !== undefined, 'the current role and database are in the catalog')
  const usable = parseList(factsRow, 3, isText)
  const missing = schemas.filter((schema) => !usable.includes(schema))
  if (missing.length > 0) return fail(missingSchemas(missing, 'holds no USAGE on it'))
  const relations = await read(RELATIONS, [schemas])
  if (!relations.ok) return relations
  const oids = relations.value.map((row) => text(row, 0))
  const columns = await read(COLUMNS, [oids])
  if (!columns.ok) return columns
  const routineRows = await read(ROUTINES, [schemas])
  if (!routineRows.ok) return routineRows
  const routines = routineRows.value.map(readRoutine)
  const typesUsed = new Set([...columns.value.map((row) => text(row, 3)), ...routines.flatMap(routineTypes)])
  const types = await read(TYPES, [[...typesUsed]])
  if (!types.ok) return types
  const indexes = await read(INDEXES, [oids])
  if (!indexes.ok) return indexes
  const foreignKeys = await read(FOREIGN_KEYS, [oids])
  if (!foreignKeys.ok) return foreignKeys
  const views = relations.value.filter((row) => text(row, 3) === 'v' || text(row, 3) === 'm')
  const viewReads = await read(VIEW_READS, [views.map((row) => text(row, 0))])
  if (!viewReads.ok) return viewReads
  const routineReads = await read(ROUTINE_READS, [routines.map(({ row }) => text(row, 0))])
  if (!routineReads.ok) return routineReads
  const committed = await read(COMMIT_CATALOG, [])
  if (!committed.ok) return committed
  return ok({
    facts: {
      version: Number(text(factsRow, 0)),
      superuser: flag(factsRow, 1),
      connectionsMax: Number(text(factsRow, 2)),
    },
    relations: relations.value,
    columns: columns.value,
    types: new Map(types.value.map((row) => [text(row, 0), catalogType(row)])),
    indexes: indexes.value,
    foreignKeys: foreignKeys.value,
    routines,
    reads: catalogReads(viewReads.value, routineReads.value, readable(relations.value, columns.value)),
  })
}

/** Tables and views by whose names a body is searched. */
function readable(relations: readonly Row[], columns: readonly Row[]): readonly Readable[] {
  const byRelation = groupedRows(columns, 0)
  return relations.map((row) => ({
    schema: text(row, 1),
    name: text(row, 2),
    columns: (byRelation.get(text(row, 0)) ?? []).map((column) => text(column, 2)),
  }))
}

function buildTables(catalog: Catalog): readonly Table[] {
  const columns = groupedRows(catalog.columns, 0)
  const indexes = groupedRows(catalog.indexes, 0)
  const foreignKeys = groupedRows(catalog.foreignKeys, 0)
  const tables: Table[] = []
  for (const relation of catalog.relations) {
    const oid = text(relation, 0)
    const kind = KINDS.get(text(relation, 3))
    const visible = columns.get(oid)
    if (kind === undefined || visible === undefined) continue
    tables.push(
      buildTable(relation, kind, catalog, {
        columns: visible,
        indexes: indexes.get(oid) ?? [],
        foreignKeys: foreignKeys.get(oid) ?? [],
      }),
    )
  }
  return tables
}

interface TableRows {
  readonly columns: readonly Row[]
  readonly indexes: readonly Row[]
  readonly foreignKeys: readonly Row[]
}

function buildTable(relation: Row, kind: TableKind, catalog: Catalog, rows: TableRows): Table {
  const columns = rows.columns.map((row) => buildColumn(row, kind, catalog.types))
  const byNumber = new Map(columns.map((column) => [column.catalogId, column]))
  const rowEstimate = estimate(relation, kind, catalog.facts.version)
  return {
    ref: { schema: catalogName(text(relation, 1)), name: catalogName(text(relation, 2)) },
    catalogId: text(relation, 0),
    kind,
    ...commentOf(relation[4]),
    columns,
    ...tableKeys(rows.indexes.map((row) => catalogIndex(row, byNumber))),
    foreignKeys: rows.foreignKeys.flatMap((row) => linkOf(row, byNumber)),
    ...(rowEstimate === undefined ? {} : { rowEstimate }),
    ...catalog.reads.ofView(text(relation, 1), text(relation, 2)),
  }
}

function buildColumn(row: Row, kind: TableKind, types: CatalogTypes): Column {
  const name = text(row, 2)
  const type = text(row, 3)
  const domain = domainRules(types, type)
  const generated = generatedKind(text(row, 8), text(row, 9))
  return {
    name: catalogName(name),
    agentName: agentColumnName(name),
    catalogId: Number(text(row, 1)),
    catalogType: catalogName(type),
    type: valueType(types, type, Number(text(row, 4)), text(row, 5)),
    // In a view, an outer join makes NULLs of a type that refuses them.
    nullable: !flag(row, 6) && !(domain.notNull && kind !== 'view' && kind !== 'materialized_view'),
    hasDefault: generated !== 'computed' && (generated !== 'no' || flag(row, 7) || domain.hasDefault),
    generated,
    ...commentOf(row[10]),
  }
}

/** `attidentity` is a(lways) or by d(efault); `attgenerated` is s(tored) or v(irtual). */
function generatedKind(identity: string, generated: string): Column['generated'] {
  if (generated !== '') return 'computed'
  if (identity === 'a') return 'always'
  return identity === 'd' ? 'by_default' : 'no'
}

/**
 * The planner's estimate of rows. A server before 14 writes 0 for "never counted" as well; a partitioned parent that was
 * never analyzed itself has the sum of its partitions.
 */
function estimate(relation: Row, kind: TableKind, version: number): number | undefined {
  if (kind === 'view') return undefined
  const tuples = Number(text(relation, 5))
  const counted = tuples > 0 || (tuples === 0 && (version >= 140_000 || Number(text(relation, 6)) > 0))
  if (counted && !(kind === 'partitioned_table' && tuples === 0)) return Math.round(tuples)
  const leaves = relation[7]
  if (isText(leaves)) return Math.round(Number(leaves))
  return counted ? 0 : undefined
}

type ByNumber = ReadonlyMap<number, Column>

function catalogIndex(row: Row, columns: ByNumber): CatalogIndex {
  return {
    name: text(row, 1),
    primary: flag(row, 2),
    unique: flag(row, 3),
    partial: flag(row, 4),
    serves: flag(row, 5),
    columns: parseList(row, 6, isNumber).map((number) => columns.get(number)),
  }
}

function linkOf(row: Row, columns: ByNumber): readonly ForeignKey[] {
  return foreignKey(
    text(row, 1),
    parseList(row, 2, isNumber).map((number) => columns.get(number)),
    { schema: catalogName(text(row, 3)), name: catalogName(text(row, 4)) },
    parseList(row, 5, isText),
  )
}

function catalogType(row: Row): CatalogType {
  const labels = row[10]
  return {
    schema: text(row, 1),
    name: text(row, 2),
    kind: text(row, 3),
    base: text(row, 4),
    baseModifier: Number(text(row, 5)),
    // A type without a base has no text here.
    baseNative: row[6] ?? '',
    notNull: flag(row, 7),
    hasDefault: flag(row, 8),
    element: row[9] ?? undefined,
    labels: isText(labels) ? parseList(row, 10, isText) : [],
    operators: operatorClass(row),
    castable: flag(row, 13),
  }
}

function operatorClass(row: Row): CatalogType['operators'] {
  const [method, schema] = [row[11], row[12]]
  return isText(schema) && (method === 'btree' || method === 'hash') ? { method, schema } : undefined
}

function loginFacts(catalog: Catalog): LoginFacts {
  const names = (cell: number): readonly string[] =>
    catalog.relations
      .filter((row) => flag(row, cell))
      .map((row) => qualifiedName({ schema: catalogName(text(row, 1)), name: catalogName(text(row, 2)) }))
  return {
    superuser: catalog.facts.superuser,
    ...tablesHeld(names(8), names(9)),
    connectionsMax: catalog.facts.connectionsMax,
  }
}
