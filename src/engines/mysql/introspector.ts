import { invariant } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { REASON_CHARS_MAX } from '../../core/limits.js'
import { agentColumnName, cleanText } from '../../core/names.js'
import { fail, ok, type Result } from '../../core/result.js'
import {
  type Column,
  catalogName,
  type LoginFacts,
  qualifiedName,
  type Routine,
  type SchemaModel,
  type Table,
  type TableRef,
} from '../../core/schema-model.js'
import { foreignKeyOfRows, tableKeys } from '../catalog/keys.js'
import {
  byCodeUnits,
  byName,
  type CatalogReader,
  type CatalogRow,
  commentOf,
  groupedRows,
  type Parts,
  tablesHeld,
  textCell,
} from '../catalog/rows.js'
import {
  COLUMNS,
  DATABASES,
  FOREIGN_KEYS,
  GRANTS,
  MARIADB_INDEXES,
  MYSQL_INDEXES,
  PARAMETERS,
  RELATIONS,
  ROUTINE_TEXTS,
  ROUTINES,
  SERVER_FACTS,
  VIEW_TEXTS,
} from './catalog-queries.js'
import { type Grant, type GrantTarget, holds, holdsByColumn, holdsEverywhere, parseGrant } from './grants.js'
import { jsonColumns, type LongTexts, longTextsQuery } from './json-columns.js'
import { catalogIndex, indexParts, withToOneKeys } from './keys.js'
import { type CatalogReads, catalogReads } from './reads.js'
import { buildRoutine, parametersKey } from './routines.js'
import { valueType } from './value-types.js'

interface ServerFacts {
  /** Such as `10.11.14-MariaDB` or `8.4.3`. */
  readonly version: string
  readonly mariadb: boolean
  readonly foldCase: boolean
  readonly connectionsMax: number
}

/** Names of the columns that hold JSON although the catalog calls them text, by table. */
type JsonColumns = ReadonlyMap<string, ReadonlySet<string>>

/** The rows of every catalog query. */
interface Catalog {
  readonly facts: ServerFacts
  /** As the catalog spells it. */
  readonly database: string
  readonly grants: readonly Grant[]
  readonly relations: readonly CatalogRow[]
  readonly columns: readonly CatalogRow[]
  readonly json: JsonColumns
  readonly indexes: readonly CatalogRow[]
  readonly foreignKeys: readonly CatalogRow[]
  readonly routines: readonly CatalogRow[]
  readonly parameters: readonly CatalogRow[]
  readonly reads: CatalogReads
}

/**
 * The model of one database as the login can read it: what it may not SELECT is not part of it, nor is a routine that it may
 * not EXECUTE. A database that does not exist, or in which the login may do nothing, is an error that names it. A query has
 * a `?` for each parameter.
 */
export async function introspectCatalog(
  read: CatalogReader,
  database: string,
): Promise<Result<SchemaModel, GatewayError>> {
  const catalog = await readCatalog(read, database)
  if (!catalog.ok) return catalog
  return ok({
    engine: 'mysql',
    serverVersion: catalog.value.facts.version,
    tables: buildTables(catalog.value),
    routines: buildRoutines(catalog.value),
    login: loginFacts(catalog.value),
  })
}

async function readCatalog(read: CatalogReader, wanted: string): Promise<Result<Catalog, GatewayError>> {
  const factsRows = await read(SERVER_FACTS, [])
  if (!factsRows.ok) return factsRows
  const facts = serverFacts(factsRows.value)
  const databases = await read(DATABASES, [wanted])
  if (!databases.ok) return databases
  const database = databaseNamed(databases.value, wanted, facts.foldCase)
  if (database === undefined) return fail(missingDatabase(wanted))
  const grants = await read(GRANTS, [])
  if (!grants.ok) return grants
  const relations = await read(RELATIONS, [database])
  if (!relations.ok) return relations
  const columns = await read(COLUMNS, [database])
  if (!columns.ok) return columns
  const json = facts.mariadb ? await readJson(read, longTexts(database, relations.value, columns.value)) : ok(new Map())
  if (!json.ok) return json
  const indexes = await read(facts.mariadb ? MARIADB_INDEXES : MYSQL_INDEXES, [database])
  if (!indexes.ok) return indexes
  const foreignKeys = await read(FOREIGN_KEYS, [database])
  if (!foreignKeys.ok) return foreignKeys
  const routines = await read(ROUTINES, [database])
  if (!routines.ok) return routines
  const parameters = await read(PARAMETERS, [database])
  if (!parameters.ok) return parameters
  const reads = await readReads(read, database, columns.value)
  if (!reads.ok) return reads
  return ok({
    facts,
    database,
    grants: grants.value.flatMap((row) => parseGrant(textCell(row, 0)) ?? []),
    relations: relations.value.toSorted((a, b) => byCodeUnits(textCell(a, 0), textCell(b, 0))),
    columns: columns.value,
    json: json.value,
    indexes: indexes.value,
    foreignKeys: foreignKeys.value,
    routines: routines.value,
    parameters: parameters.value,
    reads: reads.value,
  })
}

async function readReads(
  read: CatalogReader,
  database: string,
  columns: readonly CatalogRow[],
): Promise<Result<CatalogReads, GatewayError>> {
  const views = await read(VIEW_TEXTS, [database])
  if (!views.ok) return views
  const routines = await read(ROUTINE_TEXTS, [database])
  if (!routines.ok) return routines
  const readable = [...groupedRows(columns, 0)].map(([name, rows]) => ({
    schema: database,
    name,
    columns: rows.map((row) => textCell(row, 1)),
  }))
  return ok(catalogReads(database, views.value, routines.value, readable))
}

async function readJson(read: CatalogReader, tables: readonly LongTexts[]): Promise<Result<JsonColumns, GatewayError>> {
  if (tables.length === 0) return ok(new Map())
  const rows = await read(longTextsQuery(tables), [])
  return rows.ok ? ok(jsonColumns(tables, rows.value)) : rows
}

/** Of tables that are sure to open: one that does not would spoil the answer for all of them. */
function longTexts(
  database: string,
  relations: readonly CatalogRow[],
  columns: readonly CatalogRow[],
): readonly LongTexts[] {
  const sure = new Set(relations.filter((row) => row[4] === 'YES').map((row) => textCell(row, 0)))
  const candidates = columns.filter(
    (row) => textCell(row, 3) === 'longtext' && sure.has(textCell(row, 0)) && privileges(row).includes('select'),
  )
  return [...groupedRows(candidates, 0)].map(([name, rows]) => ({
    ref: { schema: catalogName(database), name: catalogName(name) },
    columns: rows.map((row) => catalogName(textCell(row, 1))),
  }))
}

function serverFacts(rows: readonly CatalogRow[]): ServerFacts {
  const [row] = rows
  invariant(row !== undefined, 'the server says what it is')
  const shown = textCell(row, 0)
  const mariadb = shown.includes('MariaDB')
  const number = /^\d+\.\d+\.\d+/.exec(shown)?.[0] ?? shown
  const connections = Number(textCell(row, 2))
  // Zero: no limit of its own.
  const ofLogin = Number(textCell(row, 3))
  return {
    version: mariadb ? `${number}-MariaDB` : number,
    mariadb,
    foldCase: textCell(row, 1) !== '0',
    connectionsMax: ofLogin === 0 ? connections : Math.min(connections, ofLogin),
  }
}

/** The catalog compares without regard to case, and may list a namesake. */
function databaseNamed(rows: readonly CatalogRow[], wanted: string, foldCase: boolean): string | undefined {
  const names = rows.map((row) => textCell(row, 0))
  if (names.includes(wanted)) return wanted
  return foldCase ? names.find((name) => name.toLowerCase() === wanted.toLowerCase()) : undefined
}

function missingDatabase(wanted: string): GatewayError {
  const reason = `the server has no database "${wanted}", or the login holds no rights in it`
  return gatewayError('CONNECTOR_UNAVAILABLE', { reason: cleanText(reason, REASON_CHARS_MAX) })
}

function buildTables(catalog: Catalog): readonly Table[] {
  const columns = groupedRows(
    catalog.columns.filter((row) => privileges(row).includes('select')),
    0,
  )
  const indexes = groupedRows(catalog.indexes, 0)
  const foreignKeys = groupedRows(catalog.foreignKeys, 0)
  const tables = catalog.relations.flatMap((relation) => {
    const name = textCell(relation, 0)
    const visible = columns.get(name)
    if (visible === undefined || isBrokenView(relation)) return []
    return [
      buildTable(relation, catalog, {
        columns: visible,
        indexes: indexParts(indexes.get(name) ?? [], visible),
        foreignKeys: byName(foreignKeys.get(name) ?? []),
      }),
    ]
  })
  return withToOneKeys(tables)
}

function privileges(column: CatalogRow): readonly string[] {
  return textCell(column, 11).split(',')
}

function isView(relation: CatalogRow): boolean {
  return textCell(relation, 1) === 'VIEW'
}

/** A view has no comment of its own: there is this word, or what is wrong with it in the server's language. */
function isBrokenView(relation: CatalogRow): boolean {
  return isView(relation) && relation[2] !== 'VIEW'
}

interface TableRows {
  readonly columns: readonly CatalogRow[]
  readonly indexes: readonly Parts[]
  readonly foreignKeys: readonly Parts[]
}

function buildTable(relation: CatalogRow, catalog: Catalog, rows: TableRows): Table {
  const { database, facts, json } = catalog
  const view = isView(relation)
  const name = textCell(relation, 0)
  const inJson = json.get(name) ?? new Set()
  const columns = rows.columns.map((row) => buildColumn(row, view, facts.mariadb, inJson))
  const byColumn = new Map<string, Column>(columns.map((column) => [column.name, column]))
  const [, , comment, rowCount, transactions] = relation
  return {
    ref: { schema: catalogName(database), name: catalogName(name) },
    // Neither server shows such a login a number that would outlive a change of the name.
    catalogId: name,
    kind: view ? 'view' : 'table',
    ...(view ? {} : commentOf(comment)),
    columns,
    ...(seesByColumn(catalog, name) ? { columnsWithheld: true as const } : {}),
    ...tableKeys(rows.indexes.map((parts) => catalogIndex(parts, byColumn))),
    foreignKeys: rows.foreignKeys.flatMap(({ parts }) => foreignKeyOfRows(parts, byColumn)),
    ...(rowCount === null || rowCount === undefined || view ? {} : { rowEstimate: Number(rowCount) }),
    ...(view || transactions === 'YES' ? {} : { notTransactional: true as const }),
    ...(view || returnsInserted(catalog, name) ? {} : { insertReadBack: 'by_key' as const }),
    ...(view ? {} : { updateReadBack: 'by_key' as const }),
    ...(view ? catalog.reads.ofView(name) : {}),
  }
}

/** MariaDB asks for the right to insert a column of whoever wants it back, the key that it counts up by itself included. */
function returnsInserted({ facts, database, grants }: Catalog, object: string): boolean {
  const target: GrantTarget = { on: 'table', schema: database, object }
  return facts.mariadb && !holdsByColumn(grants, 'INSERT', target, facts.foldCase)
}

/** Rights on single columns stay with their names when the columns get others. */
function seesByColumn({ facts, database, grants }: Catalog, object: string): boolean {
  return holdsByColumn(grants, 'SELECT', { on: 'table', schema: database, object }, facts.foldCase)
}

function buildColumn(row: CatalogRow, view: boolean, mariadb: boolean, json: ReadonlySet<string>): Column {
  const name = textCell(row, 1)
  const generated = generatedKind(textCell(row, 8))
  return {
    name: catalogName(name),
    agentName: agentColumnName(name),
    catalogId: Number(textCell(row, 2)),
    ...catalogTypeOf(textCell(row, 3)),
    type: valueType({
      columnType: textCell(row, 3),
      characterSet: row[4] ?? null,
      collation: row[5] ?? null,
      onlyJson: json.has(name),
    }),
    // MySQL keeps what it once knew of a view's columns.
    nullable: view || textCell(row, 6) !== 'NO',
    hasDefault: generated === 'by_default' || (generated === 'no' && hasDefault(row[7] ?? null, mariadb)),
    generated,
    ...commentOf(row[10]),
  }
}

/** What the catalog calls the type without its length and its attributes. */
function catalogTypeOf(columnType: string): Pick<Column, 'catalogType'> {
  const [name] = /^[a-z0-9_]+/.exec(columnType) ?? []
  return name === undefined ? {} : { catalogType: catalogName(name) }
}

function generatedKind(extra: string): Column['generated'] {
  if (/\b(VIRTUAL|STORED|PERSISTENT) GENERATED\b/i.test(extra)) return 'computed'
  return /\bauto_increment\b/i.test(extra) ? 'by_default' : 'no'
}

/** MariaDB writes defaults as SQL, so a column that is NULL by default says so; MySQL writes text without quotes. */
function hasDefault(written: string | null, mariadb: boolean): boolean {
  return written !== null && !(mariadb && written.toUpperCase() === 'NULL')
}

function buildRoutines({ routines, parameters, database, grants, facts, reads }: Catalog): readonly Routine[] {
  const byRoutine = groupedRows(parameters, 0)
  return routines
    .filter((row) => {
      const on = textCell(row, 0) === 'PROCEDURE' ? 'procedure' : 'function'
      const target: GrantTarget = { on, schema: database, object: textCell(row, 1) }
      return holds(grants, 'EXECUTE', target, facts.foldCase)
    })
    .map((row) => ({
      ...buildRoutine(database, row, byRoutine.get(parametersKey(row)) ?? []),
      ...reads.ofRoutine(parametersKey(row)),
    }))
    .sort((a, b) => byCodeUnits(a.ref.name, b.ref.name) || byCodeUnits(a.signature, b.signature))
}

/** No table has an owner here: who may alter or drop one can do with it what an owner could. */
function loginFacts({ facts, database, grants, relations, columns }: Catalog): LoginFacts {
  const refs = relations.map(
    (row): TableRef => ({ schema: catalogName(database), name: catalogName(textCell(row, 0)) }),
  )
  const holding = (wanted: readonly string[], otherwise: ReadonlySet<string>): readonly string[] =>
    refs
      .filter(({ schema, name }) => {
        const target: GrantTarget = { on: 'table', schema, object: name }
        return otherwise.has(name) || wanted.some((privilege) => holds(grants, privilege, target, facts.foldCase))
      })
      .map(qualifiedName)
  const writable = columns.filter((row) => privileges(row).some((each) => each === 'insert' || each === 'update'))
  return {
    superuser: holdsEverywhere(grants, 'SUPER'),
    ...tablesHeld(
      holding(['ALTER', 'DROP'], new Set()),
      holding(['INSERT', 'UPDATE', 'DELETE'], new Set(writable.map((row) => textCell(row, 0)))),
    ),
    connectionsMax: facts.connectionsMax,
  }
}
