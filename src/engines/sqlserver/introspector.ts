import { invariant } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { agentColumnName } from '../../core/names.js'
import { fail, ok, type Result } from '../../core/result.js'
import {
  type Column,
  catalogName,
  type LoginFacts,
  qualifiedName,
  type ResultField,
  type Routine,
  type SchemaModel,
  type Table,
  type TableKind,
  type TableRef,
} from '../../core/schema-model.js'
import { foreignKeyOfRows, tableKeys } from '../catalog/keys.js'
import type { Readable } from '../catalog/reads.js'
import {
  byCodeUnits,
  byName,
  type CatalogReader,
  type CatalogRow,
  commentOf,
  groupedRows,
  missingSchemas,
  type Parts,
  tablesHeld,
  textCell,
} from '../catalog/rows.js'
import {
  COLUMNS,
  FOREIGN_KEYS,
  INDEXES,
  MODULE_TEXTS,
  PARAMETERS,
  RELATIONS,
  ROUTINES,
  SCHEMAS,
  SERVER_FACTS,
} from './catalog-queries.js'
import { catalogIndex } from './keys.js'
import { type CatalogReads, catalogReads } from './reads.js'
import { buildRoutine } from './routines.js'
import { catalogType, TYPE_CELLS, valueType } from './value-types.js'

interface ServerFacts {
  /** Such as `16.0.4105.2`. */
  readonly version: string
  readonly superuser: boolean
  readonly connectionsMax: number
  readonly foldCase: boolean
  /** Absent where the server has none. */
  readonly compatibility?: number
}

/** From here on the server reads lists out of JSON. */
const COMPATIBILITY_MIN = 130

/** The rows of every catalog query. */
interface Catalog {
  readonly facts: ServerFacts
  readonly relations: readonly CatalogRow[]
  readonly columns: readonly CatalogRow[]
  readonly indexes: readonly CatalogRow[]
  readonly foreignKeys: readonly CatalogRow[]
  readonly routines: readonly CatalogRow[]
  readonly parameters: readonly CatalogRow[]
  readonly reads: CatalogReads
}

/** Cells of a row of `COLUMNS`, after its object, number and name. */
const TYPE_FROM = 3
const NULLABLE = TYPE_FROM + TYPE_CELLS
const HAS_DEFAULT = NULLABLE + 1
const IDENTITY = NULLABLE + 2
const COMPUTED = NULLABLE + 3
const COMMENT = NULLABLE + 4
const READABLE = NULLABLE + 5
const WRITABLE = NULLABLE + 6

/**
 * The model of these schemas of the connection's database as the login can read them: what it may not SELECT is not part of
 * it, nor is a routine that it may not run. A schema that does not exist, or in which the login may do nothing, is an error
 * that names it. A query has `@p1` for its one parameter.
 */
export async function introspectCatalog(
  read: CatalogReader,
  schemas: readonly string[],
): Promise<Result<SchemaModel, GatewayError>> {
  const catalog = await readCatalog(read, schemas)
  if (!catalog.ok) return catalog
  const readable = groupedRows(
    catalog.value.columns.filter((row) => flag(row, READABLE)),
    0,
  )
  return ok({
    engine: 'sqlserver',
    serverVersion: catalog.value.facts.version,
    tables: buildTables(catalog.value, readable),
    routines: buildRoutines(catalog.value, readable),
    login: loginFacts(catalog.value),
  })
}

async function readCatalog(read: CatalogReader, wanted: readonly string[]): Promise<Result<Catalog, GatewayError>> {
  const factsRows = await read(SERVER_FACTS, [])
  if (!factsRows.ok) return factsRows
  const facts = serverFacts(factsRows.value)
  if (facts.compatibility !== undefined && facts.compatibility < COMPATIBILITY_MIN) {
    const reason = `the database has the compatibility level ${facts.compatibility}: expected ${COMPATIBILITY_MIN} or more`
    return fail(gatewayError('CONNECTOR_UNAVAILABLE', { reason }))
  }
  const schemas = await read(SCHEMAS, [])
  if (!schemas.ok) return schemas
  const found = wanted.map((name) => schemaNumber(schemas.value, name, facts.foldCase))
  const missing = wanted.filter((_, place) => found[place] === undefined)
  if (missing.length > 0) return fail(missingSchemas(missing, 'holds no rights in it'))
  const numbers = [`,${found.join(',')},`]
  const relations = await read(RELATIONS, numbers)
  if (!relations.ok) return relations
  const columns = await read(COLUMNS, numbers)
  if (!columns.ok) return columns
  const indexes = await read(INDEXES, numbers)
  if (!indexes.ok) return indexes
  const foreignKeys = await read(FOREIGN_KEYS, numbers)
  if (!foreignKeys.ok) return foreignKeys
  const routines = await read(ROUTINES, numbers)
  if (!routines.ok) return routines
  const parameters = await read(PARAMETERS, numbers)
  if (!parameters.ok) return parameters
  const texts = await read(MODULE_TEXTS, numbers)
  if (!texts.ok) return texts
  return ok({
    facts,
    relations: relations.value.toSorted(bySchemaAndName),
    columns: columns.value,
    indexes: indexes.value,
    foreignKeys: foreignKeys.value,
    routines: routines.value.toSorted(bySchemaAndName),
    parameters: parameters.value,
    reads: catalogReads(texts.value, readableOf(relations.value, columns.value)),
  })
}

/** Tables and views by whose names a text is searched. */
function readableOf(relations: readonly CatalogRow[], columns: readonly CatalogRow[]): readonly Readable[] {
  const byNumber = groupedRows(columns, 0)
  return relations.map((row) => ({
    schema: textCell(row, 1),
    name: textCell(row, 2),
    columns: (byNumber.get(textCell(row, 0)) ?? []).map((column) => textCell(column, 2)),
  }))
}

function flag(row: CatalogRow, cell: number): boolean {
  return row[cell] === '1'
}

function serverFacts(rows: readonly CatalogRow[]): ServerFacts {
  const [row] = rows
  invariant(row !== undefined, 'the server says what it is')
  return {
    version: textCell(row, 0),
    superuser: flag(row, 1),
    connectionsMax: Number(textCell(row, 2)),
    foldCase: flag(row, 3),
    ...(row[4] === null || row[4] === undefined ? {} : { compatibility: Number(row[4]) }),
  }
}

/** The number of the schema so named, or of one that the server takes for it. */
function schemaNumber(rows: readonly CatalogRow[], wanted: string, foldCase: boolean): string | undefined {
  const same = rows.find((row) => textCell(row, 1) === wanted)
  const folded = foldCase ? rows.find((row) => textCell(row, 1).toLowerCase() === wanted.toLowerCase()) : undefined
  const row = same ?? folded
  return row === undefined ? undefined : textCell(row, 0)
}

/** Tables and routines are told apart by their names alone: there are no overloads. */
function bySchemaAndName(a: CatalogRow, b: CatalogRow): number {
  return byCodeUnits(textCell(a, 1), textCell(b, 1)) || byCodeUnits(textCell(a, 2), textCell(b, 2))
}

type Grouped = ReadonlyMap<string, readonly CatalogRow[]>

function buildTables(catalog: Catalog, readable: Grouped): readonly Table[] {
  const indexes = groupedRows(catalog.indexes, 0)
  const foreignKeys = groupedRows(catalog.foreignKeys, 0)
  return catalog.relations.flatMap((relation) => {
    const number = textCell(relation, 0)
    const columns = readable.get(number)
    if (columns === undefined) return []
    return [
      buildTable(relation, catalog.reads, {
        columns,
        indexes: byName(indexes.get(number) ?? []),
        foreignKeys: byName(foreignKeys.get(number) ?? []),
      }),
    ]
  })
}

interface TableRows {
  readonly columns: readonly CatalogRow[]
  readonly indexes: readonly Parts[]
  readonly foreignKeys: readonly Parts[]
}

function buildTable(relation: CatalogRow, reads: CatalogReads, rows: TableRows): Table {
  const kind = kindOf(relation)
  const columns = rows.columns.map((row) => buildColumn(row, kind))
  const byNumber = new Map(columns.map((column) => [String(column.catalogId), column]))
  const byColumn = new Map<string, Column>(columns.map((column) => [column.name, column]))
  const rowCount = relation[6]
  return {
    ref: refOf(relation),
    catalogId: textCell(relation, 0),
    kind,
    ...commentOf(relation[4]),
    columns,
    ...tableKeys(rows.indexes.map((parts) => catalogIndex(parts, byNumber))),
    foreignKeys: rows.foreignKeys.flatMap(({ parts }) => foreignKeyOfRows(parts, byColumn)),
    ...(rowCount === null || rowCount === undefined || kind !== 'table' ? {} : { rowEstimate: Number(rowCount) }),
    ...(kind === 'table' && flag(relation, 11) ? { memoryOptimized: true as const } : {}),
    ...(kind === 'table' && flag(relation, 7) ? { insertReadBack: 'by_key' as const } : {}),
    ...(kind === 'table' && flag(relation, 8) ? { updateReadBack: 'by_key' as const } : {}),
    ...reads(textCell(relation, 0)),
  }
}

function refOf(row: CatalogRow): TableRef {
  return { schema: catalogName(textCell(row, 1)), name: catalogName(textCell(row, 2)) }
}

function kindOf(relation: CatalogRow): TableKind {
  if (textCell(relation, 3) === 'V') return 'view'
  return flag(relation, 5) ? 'foreign_table' : 'table'
}

function buildColumn(row: CatalogRow, kind: TableKind): Column {
  const name = textCell(row, 2)
  const generated = generatedKind(row)
  return {
    name: catalogName(name),
    agentName: agentColumnName(name),
    catalogId: Number(textCell(row, 1)),
    type: valueType(catalogType(row, TYPE_FROM)),
    // Of a view's columns the catalog keeps what was so when the view was made.
    nullable: kind === 'view' || flag(row, NULLABLE),
    hasDefault: generated === 'always' || (generated === 'no' && flag(row, HAS_DEFAULT)),
    generated,
    ...commentOf(row[COMMENT]),
  }
}

/** A value for a column that counts up is an error, unless the session was told otherwise. Nobody writes a row's version. */
function generatedKind(row: CatalogRow): Column['generated'] {
  if (flag(row, COMPUTED) || row[TYPE_FROM] === 'timestamp') return 'computed'
  return flag(row, IDENTITY) ? 'always' : 'no'
}

function buildRoutines({ routines, parameters, reads }: Catalog, readable: Grouped): readonly Routine[] {
  const byRoutine = groupedRows(parameters, 0)
  return routines.map((row) => {
    const number = textCell(row, 0)
    const fields = (readable.get(number) ?? []).map(resultField)
    return { ...buildRoutine(row, byRoutine.get(number) ?? [], fields), ...reads(number) }
  })
}

function resultField(row: CatalogRow): ResultField {
  const name = textCell(row, 2)
  return { name: catalogName(name), agentName: agentColumnName(name), type: valueType(catalogType(row, TYPE_FROM)) }
}

/** Tables belong to the owner of their schema: who may alter one can do with it what an owner could. */
function loginFacts({ facts, relations, columns }: Catalog): LoginFacts {
  const writable = new Set(columns.filter((row) => flag(row, WRITABLE)).map((row) => textCell(row, 0)))
  const names = (holds: (row: CatalogRow) => boolean): readonly string[] =>
    relations.filter(holds).map((row) => qualifiedName(refOf(row)))
  return {
    superuser: facts.superuser,
    ...tablesHeld(
      names((row) => flag(row, 9)),
      names((row) => flag(row, 10) || writable.has(textCell(row, 0))),
    ),
    connectionsMax: facts.connectionsMax,
  }
}
