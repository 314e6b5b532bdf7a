import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayError } from '../../src/core/errors.js'
import { PROPERTY_KEY } from '../../src/core/names.js'
import { ok, type Result } from '../../src/core/result.js'
import { qualifiedName, type SchemaModel, type Table } from '../../src/core/schema-model.js'
import { insertKey } from '../../src/core/table-keys.js'
import type { CatalogRow } from '../../src/engines/catalog/rows.js'
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
} from '../../src/engines/sqlserver/catalog-queries.js'
import { introspectCatalog } from '../../src/engines/sqlserver/introspector.js'

const LONGEST = 'n'.repeat(128)
const ODD = "od]d ' 😀"

/** What the server answers, in an order of its own, to a login that may read most of two schemas. */
const ANSWERS: Readonly<Record<string, readonly CatalogRow[]>> = {
  [SERVER_FACTS]: [['16.0.4105.2', '0', '32767', '1', '150']],
  [SCHEMAS]: [
    ['1', 'dbo'],
    ['5', 'Sales'],
    ['6', 'empty'],
  ],
  [RELATIONS]: [
    relation(10, 'dbo', 'orders', { comment: 'What was bought.', rows: '7', inserts: true, owns: true }),
    relation(11, 'Sales', 'customers', { rows: '0', updates: true, writes: true }),
    relation(12, 'dbo', 'seen', { type: 'V' }),
    relation(13, 'dbo', ODD, {}),
    relation(14, 'dbo', 'far', { external: true, rows: '3' }),
    relation(15, 'dbo', 'closed', { rows: '1' }),
    relation(16, 'dbo', 'Zebra', { rows: '1' }),
  ],
  [COLUMNS]: [
    column(10, 1, 'id', INT(), { identity: true }),
    column(10, 2, 'tenant', INT(), {}),
    column(10, 3, 'buyer', INT(), { nullable: true }),
    column(10, 5, 'state', TEXT('varchar', 10), { hasDefault: true, comment: 'Where it stands.', writable: true }),
    column(10, 6, 'version', TYPE('timestamp', 8), {}),
    column(10, 7, 'doubled', INT(), { computed: true, nullable: true, hasDefault: true }),
    column(10, 8, 'nick', TEXT('nvarchar', 40, '1'), { nullable: true }),
    column(10, 9, 'secret', INT(), { readable: false }),
    column(11, 1, 'tenant', INT(), {}),
    column(11, 2, 'id', INT(), {}),
    column(11, 3, 'code', TEXT('varchar', 10), {}),
    column(11, 4, 'loose', INT(), { nullable: true }),
    column(12, 1, 'id', INT(), {}),
    column(13, 1, LONGEST, INT(), {}),
    column(14, 1, 'id', INT(), {}),
    column(15, 1, 'id', INT(), { readable: false, writable: true }),
    column(16, 1, 'place', [null, 'Point', '-1', '0', '0', null, null, '0'], { nullable: true }),
    column(32, 1, 'x', INT(), { nullable: true }),
    column(32, 2, 'the y', TEXT('nvarchar', -1), { nullable: true }),
  ],
  [INDEXES]: [
    part(10, 'pk_orders', 1, { primary: true, unique: true }),
    part(10, 'by_state', 5, {}),
    part(10, 'by_state', 9, {}),
    part(10, 'by_state', 3, {}),
    part(10, 'by_secret', 9, { unique: true }),
    part(10, 'open_ones', 2, { unique: true, filtered: true }),
    part(10, 'hashed', 2, { unique: true, tree: false }),
    part(10, 'By_nick', 8, { unique: true }),
    part(11, 'pk_customers', 1, { primary: true, unique: true }),
    part(11, 'pk_customers', 2, { primary: true, unique: true }),
    part(11, 'by_code', 3, { unique: true }),
    part(11, 'by_loose', 4, { unique: true }),
    part(16, 'pk_zebra', 9, { primary: true, unique: true }),
  ],
  [FOREIGN_KEYS]: [
    ['10', 'of_customer', 'tenant', '1', 'Sales', 'customers', 'tenant'],
    ['10', 'of_customer', 'buyer', '2', 'Sales', 'customers', 'id'],
    ['10', 'of_secret', 'secret', '1', 'dbo', 'closed', 'id'],
    ['10', 'cut', 'tenant', '2', 'Sales', 'customers', 'tenant'],
  ],
  [ROUTINES]: [
    ['33', 'dbo', 'take', 'P', null, '0'],
    ['30', 'dbo', 'run', 'P', 'Runs it.', '1'],
    ['31', 'dbo', 'added', 'FN', null, '0'],
    ['32', 'dbo', 'rows_of', 'IF', '', '0'],
    ['34', 'Sales', 'outside', 'FS', null, '0'],
  ],
  [MODULE_TEXTS]: [
    ['12', 'dbo', 'seen', 'V', 'CREATE VIEW dbo.seen AS SELECT id, [state] FROM dbo.Orders'],
    ['30', 'dbo', 'run', 'P', 'CREATE PROCEDURE run @job nvarchar(30) AS SELECT s.* FROM seen s'],
    ['31', 'dbo', 'added', 'FN', null],
  ],
  [PARAMETERS]: [
    parameter(30, 1, '@job', TEXT('nvarchar', 60), {}),
    parameter(30, 2, '@the total', TYPE('decimal', 9, 10, 3), { output: true }),
    parameter(31, 0, '', TYPE('decimal', 9, 12, 2), { output: true }),
    parameter(31, 1, '@a', INT(), {}),
    parameter(32, 1, '@a', INT(), {}),
    parameter(33, 1, '@rows', [null, 'ids', '-1', '0', '0', null, null, '0'], { table: true }),
    parameter(33, 2, '@found', INT(), { output: true, cursor: true }),
    parameter(34, 0, '', TYPE('bit'), { output: true }),
    parameter(34, 1, '@deep', TYPE('bit'), { hasDefault: true }),
  ],
}

function bit(value: boolean | undefined): string {
  return value === true ? '1' : '0'
}

function TYPE(name: string, length = 4, precision = 0, scale = 0): CatalogRow {
  return [name, name, String(length), String(precision), String(scale), null, null, '0']
}

function INT(): CatalogRow {
  return TYPE('int', 4, 10)
}

function TEXT(name: string, lengthBytes: number, alias = '0'): CatalogRow {
  return [name, name, String(lengthBytes), '0', '0', 'Latin1_General_100_CI_AS', '1252', alias]
}

interface RelationFacts {
  readonly type?: string
  readonly comment?: string
  readonly external?: boolean
  readonly rows?: string
  readonly inserts?: boolean
  readonly updates?: boolean
  readonly owns?: boolean
  readonly writes?: boolean
  readonly inMemory?: boolean
}

function relation(number: number, schema: string, name: string, facts: RelationFacts): CatalogRow {
  const { type = 'U', comment = null, rows = null, external, inserts, updates, owns, writes, inMemory } = facts
  const flags = [bit(inserts), bit(updates), bit(owns), bit(writes), bit(inMemory)]
  return [String(number), schema, name, type, comment, bit(external), rows, ...flags]
}

interface ColumnFacts {
  readonly nullable?: boolean
  readonly hasDefault?: boolean
  readonly identity?: boolean
  readonly computed?: boolean
  readonly comment?: string
  readonly readable?: boolean
  readonly writable?: boolean
}

function column(object: number, number: number, name: string, type: CatalogRow, facts: ColumnFacts): CatalogRow {
  const { nullable, hasDefault, identity, computed, comment = null, readable = true, writable } = facts
  const flags = [bit(nullable), bit(hasDefault), bit(identity), bit(computed)]
  return [String(object), String(number), name, ...type, ...flags, comment, bit(readable), bit(writable)]
}

interface PartFacts {
  readonly primary?: boolean
  readonly unique?: boolean
  readonly filtered?: boolean
  readonly tree?: boolean
}

function part(object: number, name: string, of: number, facts: PartFacts): CatalogRow {
  const { primary, unique, filtered, tree = true } = facts
  return [String(object), name, bit(primary), bit(unique), bit(filtered), bit(tree), String(of)]
}

interface ParameterFacts {
  readonly output?: boolean
  readonly hasDefault?: boolean
  readonly cursor?: boolean
  readonly table?: boolean
}

function parameter(object: number, number: number, name: string, type: CatalogRow, facts: ParameterFacts): CatalogRow {
  const flags = [bit(facts.output), bit(facts.hasDefault), bit(facts.cursor), bit(facts.table)]
  return [String(object), String(number), name, ...type, ...flags]
}

interface Asked {
  readonly text: string
  readonly params: readonly string[]
}

async function introspection(
  schemas: readonly string[],
  answers: Readonly<Record<string, readonly CatalogRow[]>> = ANSWERS,
  asked: Asked[] = [],
): Promise<Result<SchemaModel, GatewayError>> {
  return introspectCatalog(async (text, params) => {
    asked.push({ text, params })
    const rows = answers[text]
    assert.ok(rows, `SQL Server is not asked this: ${text}`)
    return ok(rows)
  }, schemas)
}

async function introspected(schemas: readonly string[] = ['dbo', 'Sales']): Promise<SchemaModel> {
  const model = await introspection(schemas)
  assert.ok(model.ok)
  return model.value
}

function tableNamed(model: SchemaModel, name: string): Table {
  const table = model.tables.find((each) => each.ref.name === name)
  assert.ok(table, name)
  return table
}

test('SQL Server: tables and views of the schemas stand in the order of code units, without what may not be read', async () => {
  const model = await introspected()
  assert.deepEqual([model.engine, model.serverVersion], ['sqlserver', '16.0.4105.2'])
  assert.deepEqual(
    model.tables.map(({ ref, kind, catalogId, rowEstimate }) => [qualifiedName(ref), kind, catalogId, rowEstimate]),
    [
      ['Sales.customers', 'table', '11', 0],
      ['dbo.Zebra', 'table', '16', 1],
      ['dbo.far', 'foreign_table', '14', undefined],
      [`dbo.${ODD}`, 'table', '13', undefined],
      ['dbo.orders', 'table', '10', 7],
      ['dbo.seen', 'view', '12', undefined],
    ],
  )
  const [longest] = tableNamed(model, ODD).columns
  assert.equal(longest?.name, LONGEST)
  assert.match(longest?.agentName ?? '', PROPERTY_KEY)
})

test('SQL Server: columns say what may be null, what has a default and what the database makes itself', async () => {
  const { columns, comment } = tableNamed(await introspected(), 'orders')
  assert.equal(comment, 'What was bought.')
  assert.deepEqual(
    columns.map((each) => [each.name, each.catalogId, each.nullable, each.hasDefault, each.generated, each.comment]),
    [
      ['id', 1, false, true, 'always', undefined],
      ['tenant', 2, false, false, 'no', undefined],
      ['buyer', 3, true, false, 'no', undefined],
      ['state', 5, false, true, 'no', 'Where it stands.'],
      ['version', 6, false, false, 'computed', undefined],
      ['doubled', 7, true, false, 'computed', undefined],
      ['nick', 8, true, false, 'no', undefined],
    ],
  )
  assert.deepEqual(
    columns.map(({ type }) => [type.native, type.domain]),
    [
      ['int', undefined],
      ['int', undefined],
      ['int', undefined],
      ['varchar(10)', undefined],
      ['timestamp', undefined],
      ['int', undefined],
      ['nvarchar(20)', true],
    ],
  )
})

test('SQL Server: columns of a view may be null, and the type of an assembly is not known', async () => {
  const model = await introspected()
  assert.deepEqual(
    tableNamed(model, 'seen').columns.map(({ nullable }) => nullable),
    [true],
  )
  const [place] = tableNamed(model, 'Zebra').columns
  assert.deepEqual([place?.type.logical, place?.type.native], ['unknown', 'Point'])
})

test('SQL Server: a key has all of its columns and no filter, and may be kept by a hash; an index ends at a hidden column', async () => {
  const model = await introspected()
  const orders = tableNamed(model, 'orders')
  assert.deepEqual([orders.primaryKey, orders.uniqueKeys], [['id'], [['tenant']]])
  assert.deepEqual(
    orders.indexes.map(({ name, columns, unique, partial }) => [name, columns, unique, partial]),
    [
      ['By_nick', ['nick'], true, false],
      ['by_state', ['state'], false, false],
      ['open_ones', ['tenant'], true, true],
      ['pk_orders', ['id'], true, false],
    ],
  )
  const customers = tableNamed(model, 'customers')
  assert.deepEqual([customers.primaryKey, customers.uniqueKeys], [['tenant', 'id'], [['code']]])
  assert.deepEqual(tableNamed(model, 'Zebra').primaryKey, [], 'its one column may not be read')
})

test('SQL Server: a foreign key leads into another schema, and half of one is none', async () => {
  const { foreignKeys } = tableNamed(await introspected(), 'orders')
  assert.deepEqual(
    foreignKeys.map((key) => [key.name, key.columns, qualifiedName(key.references), key.referencedColumns]),
    [['of_customer', ['tenant', 'buyer'], 'Sales.customers', ['tenant', 'id']]],
  )
})

test('SQL Server: a trigger makes rows of its own event be read back by their key, which may count up', async () => {
  const model = await introspected()
  const readBack = (name: string): unknown => {
    const { insertReadBack, updateReadBack } = tableNamed(model, name)
    return [insertReadBack, updateReadBack]
  }
  assert.deepEqual(readBack('orders'), ['by_key', undefined])
  assert.deepEqual(readBack('customers'), [undefined, 'by_key'])
  assert.deepEqual(readBack('seen'), [undefined, undefined])
  assert.deepEqual(
    insertKey(tableNamed(model, 'orders'))?.map(({ name }) => name),
    ['id'],
  )
})

test('SQL Server: routines have parameters and results; what gives a value back takes one too, and may be left out', async () => {
  const { routines } = await introspected()
  assert.deepEqual(
    routines.map(({ ref, kind, catalogId, signature, declaredReadOnly, securityDefiner, comment }) => [
      qualifiedName(ref),
      kind,
      catalogId,
      signature,
      declaredReadOnly,
      securityDefiner,
      comment,
    ]),
    [
      ['Sales.outside', 'function', '34', 'bit', false, false, undefined],
      ['dbo.added', 'function', '31', 'int', true, false, undefined],
      ['dbo.rows_of', 'function', '32', 'int', true, false, undefined],
      ['dbo.run', 'procedure', '30', 'nvarchar(30), decimal(10,3)', false, true, 'Runs it.'],
      ['dbo.take', 'procedure', '33', 'table type, cursor', false, false, undefined],
    ],
  )
  const [outside, added, rowsOf, run, take] = routines
  assert.deepEqual(
    run?.parameters.map(({ name, mode, hasDefault }) => [name, mode, hasDefault]),
    [
      ['job', 'in', false],
      ['the total', 'inout', true],
    ],
  )
  assert.equal(run?.parameters[0]?.agentName, 'job')
  assert.match(run?.parameters[1]?.agentName ?? '', PROPERTY_KEY)
  assert.deepEqual(
    outside?.parameters.map(({ name, hasDefault }) => [name, hasDefault]),
    [['deep', true]],
  )
  assert.ok(run?.result.kind === 'sets' && added?.result.kind === 'scalar' && rowsOf?.result.kind === 'record')
  assert.deepEqual(
    run.result.fields.map(({ name, type }) => [name, type.native]),
    [['the total', 'decimal(10,3)']],
  )
  assert.deepEqual([added.result.type.native, added.result.set], ['decimal(12,2)', false])
  assert.equal(rowsOf.result.set, true)
  assert.deepEqual(
    rowsOf.result.fields.map(({ name, type }) => [name, type.native]),
    [
      ['x', 'int'],
      ['the y', 'nvarchar(max)'],
    ],
  )
  assert.deepEqual(
    take?.parameters.map(({ mode, type }) => [mode, type.logical, type.native]),
    [
      ['in', 'unknown', 'table type'],
      ['inout', 'unknown', 'cursor'],
    ],
  )
})

test('SQL Server: a right on a column is a right to write its table, whether or not it may be read', async () => {
  const { login } = await introspected()
  assert.deepEqual([login.owns, login.ownsCount], [['dbo.orders'], 1])
  assert.deepEqual([login.writes, login.writesCount], [['Sales.customers', 'dbo.closed', 'dbo.orders'], 3])
  assert.deepEqual([login.superuser, login.connectionsMax], [false, 32_767])
  const all = await introspection(['dbo'], { ...ANSWERS, [SERVER_FACTS]: [['15.0.1', '1', '100', '0']] })
  assert.ok(all.ok)
  assert.equal(all.value.login.superuser, true)
})

test('SQL Server: a schema is asked for by its number, and found as the catalog compares names', async () => {
  const asked: Asked[] = []
  assert.ok((await introspection(['DBO', 'Sales'], ANSWERS, asked)).ok)
  assert.equal(asked.length, 9, 'one query of each kind, however many tables there are')
  for (const { text, params } of asked) {
    assert.deepEqual(params, text.includes('@p1') ? [',1,5,'] : [])
  }
  const exact = { ...ANSWERS, [SERVER_FACTS]: [['16.0.4105.2', '0', '32767', '0']] }
  assert.ok((await introspection(['dbo'], exact)).ok)
  const missing = await introspection(['DBO', 'Sales', 'no_such'], exact)
  assert.ok(!missing.ok)
  assert.equal(missing.error.code, 'CONNECTOR_UNAVAILABLE')
  assert.match(missing.error.reason ?? '', /no schema "DBO", "no_such", or the login holds no rights in it/)
})

test('SQL Server: a schema whose names differ in case alone is another, where the catalog says so', async () => {
  const both = { ...ANSWERS, [SCHEMAS]: [...(ANSWERS[SCHEMAS] ?? []), ['9', 'DBO']] }
  const asked: Asked[] = []
  assert.ok((await introspection(['DBO'], both, asked)).ok)
  assert.deepEqual(asked.at(-1)?.params, [',9,'])
})

test('SQL Server: a query that fails ends introspection with its error', async () => {
  const error = { code: 'CONNECTOR_UNAVAILABLE', reason: 'gone' } as const
  for (const failing of Object.keys(ANSWERS)) {
    const outcome = await introspectCatalog(
      async (text) => (text === failing ? { ok: false, error } : ok(ANSWERS[text] ?? [])),
      ['dbo'],
    )
    assert.deepEqual(outcome, { ok: false, error })
  }
})

test('SQL Server: what the catalog keeps of keys that only clients have, and of graphs, is never asked for', () => {
  assert.match(COLUMNS, /c\.encryption_type IS NULL AND c\.graph_type IS NULL/)
  assert.match(COLUMNS, /c\.generated_always_type <> 0 OR c\.is_column_set = 1/)
  assert.match(INDEXES, /i\.is_disabled = 0 AND i\.is_hypothetical = 0 AND k\.key_ordinal > 0/)
  assert.match(RELATIONS, /r\.is_disabled = 0/)
})

test('SQL Server: a table with a computed column that is not known to read nothing else has its rows read back', () => {
  for (const access of ['User', 'System']) {
    const asked = `ISNULL(COLUMNPROPERTY(c.object_id, c.name, N'${access}DataAccess'), 1) <> 0`
    // Of an insert and of an update.
    assert.equal(RELATIONS.split(asked).length, 3)
  }
})

test('SQL Server: a table that is kept in memory says so, for it is never written', async () => {
  const rows = [relation(13, 'dbo', ODD, { inMemory: true })]
  const model = await introspectCatalog(
    async (text) => ok(text === RELATIONS ? rows : (ANSWERS[text] ?? [])),
    ['dbo', 'Sales'],
  )
  assert.ok(model.ok)
  assert.deepEqual(
    model.value.tables.map(({ memoryOptimized }) => memoryOptimized),
    [true],
  )
  assert.ok((await introspected()).tables.every(({ memoryOptimized }) => memoryOptimized === undefined))
})

test('SQL Server: a database of an older compatibility level is refused by name, for lists could not be read in it', async () => {
  const old = async (text: string) =>
    ok(text === SERVER_FACTS ? [['15.0.2000.5', '0', '32767', '1', '120']] : (ANSWERS[text] ?? []))
  const model = await introspectCatalog(old, ['dbo'])
  assert.ok(!model.ok)
  assert.equal(model.error.code, 'CONNECTOR_UNAVAILABLE')
  assert.match(model.error.reason ?? '', /compatibility level 120: expected 130 or more/)
})

test('SQL Server: what a view or a routine reads is told by its text, through views, and nothing without one', async () => {
  const model = await introspected()
  const told = [...model.tables, ...model.routines].flatMap(({ ref, reads }) =>
    reads === undefined ? [] : [[ref.name, reads.map(({ table, columns }) => [table.name, columns])]],
  )
  assert.deepEqual(told, [
    ['seen', [['orders', ['id', 'state']]]],
    [
      'run',
      [
        ['orders', ['id', 'state']],
        ['seen', 'all'],
      ],
    ],
  ])
})
