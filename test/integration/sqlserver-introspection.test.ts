import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { qualifiedName, type SchemaModel, type Table } from '../../src/core/schema-model.js'
import { testDriver } from '../support/driver.js'
import { READER, SQLSERVER_TARGETS, type SqlserverTestServer, type TestDatabase } from '../support/sqlserver.js'

/** What introspection makes of a server's own catalog. */

const LONGEST = `n${'x'.repeat(127)}`

/** Names in lower case, for servers that fold them. */
const SHOP = `
  CREATE SCHEMA sales
  GO
  CREATE TYPE short_name FROM nvarchar(20)
  GO
  CREATE TYPE ids AS TABLE (id int)
  GO
  CREATE TABLE sales.parents (
    tenant int NOT NULL, id int NOT NULL, code varchar(10) NOT NULL, loose int NULL,
    CONSTRAINT pk_parents PRIMARY KEY (tenant, id), CONSTRAINT by_code UNIQUE (code), CONSTRAINT by_loose UNIQUE (loose));
  CREATE TABLE children (
    id int IDENTITY CONSTRAINT pk_children PRIMARY KEY, tenant int NULL, parent int NULL, nick short_name NULL,
    twice AS (id * 2), state varchar(9) NOT NULL DEFAULT 'new', made datetime2(3) NULL, note xml NULL,
    CONSTRAINT of_parent FOREIGN KEY (tenant, parent) REFERENCES sales.parents (tenant, id));
  CREATE INDEX by_parent ON children (tenant, parent) INCLUDE (nick);
  CREATE TABLE plain (id int PRIMARY KEY);
  CREATE TABLE quiet (id int PRIMARY KEY);
  INSERT INTO quiet VALUES (1), (2), (3);
  CREATE TABLE closed (id int PRIMARY KEY)
  GO
  CREATE VIEW seen AS SELECT id, tenant FROM children
  GO
  CREATE TRIGGER told ON children AFTER INSERT AS BEGIN SET NOCOUNT ON END
  GO
  CREATE PROCEDURE run @job nvarchar(30), @total decimal(10,3) OUTPUT AS SET @total = 1
  GO
  CREATE PROCEDURE take @rows ids READONLY AS SELECT 1 AS x
  GO
  CREATE PROCEDURE shut AS SELECT 1 AS x
  GO
  CREATE FUNCTION added(@a int, @b decimal(9,2)) RETURNS decimal(12,2) AS BEGIN RETURN @a + @b END
  GO
  CREATE FUNCTION rows_of(@a int) RETURNS TABLE AS RETURN (SELECT id, tenant FROM children WHERE id = @a)
  GO
  EXEC sp_addextendedproperty 'MS_Description', N'Of parents.', 'schema', 'dbo', 'table', 'children';
  EXEC sp_addextendedproperty 'MS_Description', N'It''s "numbered".', 'schema', 'dbo', 'table', 'children', 'column', 'id'`

const RIGHTS = `REVOKE SELECT ON closed FROM ${READER}; REVOKE EXECUTE ON shut FROM ${READER}`

interface Live {
  readonly rule: string
  /** What stands in for SQL Server elsewhere has none of this. */
  readonly onlyThere?: true
  readonly hold: (t: TestContext, server: SqlserverTestServer) => Promise<void>
}

function shop(server: SqlserverTestServer): Promise<TestDatabase> {
  return server.createDatabase(SHOP, RIGHTS)
}

/** What a login sees of both schemas. */
async function introspected(
  t: TestContext,
  database: TestDatabase,
  schemas: readonly string[] = [database.schema, 'sales'],
): Promise<SchemaModel> {
  return testDriver(t, database.reader({ schemas })).schema()
}

function tableNamed(model: SchemaModel, name: string): Table {
  const table = model.tables.find((each) => each.ref.name === name)
  assert.ok(table, `table ${name}`)
  return table
}

const LIVE: readonly Live[] = [
  {
    rule: 'the model holds the readable tables of the schemas alone, in order',
    hold: async (t, server) => {
      const database = await shop(server)
      const model = await introspected(t, database)
      assert.equal(model.engine, 'sqlserver')
      assert.match(model.serverVersion, /^\d+\.\d+\.\d+/)
      assert.deepEqual(
        model.tables.map(({ ref, kind }) => [qualifiedName(ref), kind]),
        [
          ['dbo.children', 'table'],
          ['dbo.plain', 'table'],
          ['dbo.quiet', 'table'],
          ['dbo.seen', 'view'],
          ['sales.parents', 'table'],
        ],
      )
      const alone = await introspected(t, database, ['sales'])
      assert.deepEqual(
        alone.tables.map(({ ref }) => qualifiedName(ref)),
        ['sales.parents'],
      )
      assert.equal(alone.tables[0]?.catalogId, tableNamed(model, 'parents').catalogId)
    },
  },
  {
    rule: 'columns say what may be null, what has a default and what the database makes itself',
    hold: async (t, server) => {
      const { columns, comment } = tableNamed(await introspected(t, await shop(server)), 'children')
      assert.equal(comment, 'Of parents.')
      assert.equal(columns[0]?.comment, 'It\'s "numbered".')
      assert.deepEqual(
        columns.map((c) => [c.name, c.type.native, c.nullable, c.hasDefault, c.generated]),
        [
          ['id', 'int', false, true, 'always'],
          ['tenant', 'int', true, false, 'no'],
          ['parent', 'int', true, false, 'no'],
          ['nick', 'nvarchar(20)', true, false, 'no'],
          ['twice', 'int', true, false, 'computed'],
          ['state', 'varchar(9)', false, true, 'no'],
          ['made', 'datetime2(3)', true, false, 'no'],
          ['note', 'xml', true, false, 'no'],
        ],
      )
      assert.deepEqual(
        columns.filter(({ type }) => type.domain).map(({ name }) => name),
        ['nick'],
      )
    },
  },
  {
    rule: 'keys, indexes and links are seen by a login that may only SELECT',
    hold: async (t, server) => {
      const model = await introspected(t, await shop(server))
      const children = tableNamed(model, 'children')
      const parents = tableNamed(model, 'parents')
      assert.deepEqual(
        [children.primaryKey, parents.primaryKey, parents.uniqueKeys],
        [['id'], ['tenant', 'id'], [['code']]],
      )
      assert.deepEqual(
        children.indexes.filter(({ unique }) => !unique).map(({ columns }) => columns),
        [['tenant', 'parent']],
      )
      assert.deepEqual(
        children.foreignKeys.map((key) => [
          key.name,
          key.columns,
          qualifiedName(key.references),
          key.referencedColumns,
        ]),
        [['of_parent', ['tenant', 'parent'], 'sales.parents', ['tenant', 'id']]],
      )
    },
  },
  {
    rule: 'routines have their parameters and results, and only those that may be run are there',
    hold: async (t, server) => {
      const { routines } = await introspected(t, await shop(server))
      assert.deepEqual(
        routines.map(({ ref, kind, signature, declaredReadOnly }) => [ref.name, kind, signature, declaredReadOnly]),
        [
          ['added', 'function', 'int, decimal(9,2)', true],
          ['rows_of', 'function', 'int', true],
          ['run', 'procedure', 'nvarchar(30), decimal(10,3)', false],
          ['take', 'procedure', 'table type', false],
        ],
      )
      const [added, , run] = routines
      assert.ok(added?.result.kind === 'scalar' && run?.result.kind === 'sets')
      assert.equal(added.result.type.native, 'decimal(12,2)')
      assert.deepEqual(
        run.result.fields.map(({ name, agentName }) => [name, agentName]),
        [['total', 'total']],
      )
      assert.deepEqual(
        run.parameters.map(({ agentName, mode, hasDefault }) => [agentName, mode, hasDefault]),
        [
          ['job', 'in', false],
          ['total', 'inout', true],
        ],
      )
    },
  },
  {
    rule: 'a table that a function gives has columns',
    onlyThere: true,
    hold: async (t, server) => {
      const { routines } = await introspected(t, await shop(server))
      const result = routines.find(({ ref }) => ref.name === 'rows_of')?.result
      assert.ok(result?.kind === 'record')
      assert.deepEqual(
        result.fields.map(({ name, type }) => [name, type.native]),
        [
          ['id', 'int'],
          ['tenant', 'int'],
        ],
      )
    },
  },
  {
    rule: 'a schema that does not exist, or belongs to the server, is named in the reason',
    hold: async (t, server) => {
      const database = await server.createDatabase()
      for (const name of ['no_such', 'sys']) {
        const { driver } = testDriver(t, database.reader())
        const outcome = await driver.introspect([database.schema, name])
        assert.ok(!outcome.ok, name)
        assert.equal(outcome.error.code, 'CONNECTOR_UNAVAILABLE')
        assert.match(outcome.error.reason ?? '', new RegExp(`"${name}"`))
      }
    },
  },
  {
    rule: 'a login that may do everything is said to, and another is not; a trigger makes new rows be read back',
    hold: async (t, server) => {
      const database = await shop(server)
      // Of columns that are computed not every server tells what they read; this table has none.
      await database.query('CREATE TRIGGER noticed ON quiet AFTER INSERT AS BEGIN SET NOCOUNT ON END')
      const { login } = await introspected(t, database)
      assert.deepEqual([login.superuser, login.owns, login.writes], [false, [], []])
      const all = await testDriver(t, database.superuser()).schema()
      assert.equal(all.login.superuser, true)
      assert.equal(all.login.ownsCount, all.tables.length)
      const readBack = (name: string): unknown => {
        const { insertReadBack, updateReadBack } = tableNamed(all, name)
        return [insertReadBack, updateReadBack]
      }
      assert.deepEqual(
        [readBack('quiet'), readBack('plain')],
        [
          ['by_key', undefined],
          [undefined, undefined],
        ],
      )
    },
  },
  {
    rule: 'a column that may not be read ends an index, and half of a key is none',
    onlyThere: true,
    hold: async (t, server) => {
      const database = await server.createDatabase(
        `CREATE TABLE parts (id int CONSTRAINT pk_parts PRIMARY KEY, state int NOT NULL, secret int NOT NULL,
           CONSTRAINT by_secret UNIQUE (state, secret))`,
        `DENY SELECT ON parts (secret) TO ${READER}; GRANT UPDATE ON parts (secret) TO ${READER}`,
      )
      const model = await introspected(t, database, [database.schema])
      const parts = tableNamed(model, 'parts')
      assert.deepEqual(
        parts.columns.map(({ name }) => name),
        ['id', 'state'],
      )
      assert.deepEqual([parts.primaryKey, parts.uniqueKeys], [['id'], []])
      assert.deepEqual(
        parts.indexes.map(({ name, columns, unique }) => [name, columns, unique]),
        [
          ['by_secret', ['state'], false],
          ['pk_parts', ['id'], true],
        ],
      )
      assert.deepEqual(model.login.writes, ['dbo.parts'])
    },
  },
  {
    rule: 'rows are counted; a trigger is seen by a login that may only SELECT, and one that was disabled is none',
    onlyThere: true,
    hold: async (t, server) => {
      const database = await shop(server)
      await database.query('CREATE TRIGGER silent ON quiet AFTER INSERT, UPDATE AS BEGIN SET NOCOUNT ON END')
      await database.query('DISABLE TRIGGER silent ON quiet')
      const model = await introspected(t, database)
      const readBack = (name: string): unknown => {
        const { rowEstimate, insertReadBack, updateReadBack } = tableNamed(model, name)
        return [rowEstimate, insertReadBack, updateReadBack]
      }
      assert.deepEqual(readBack('quiet'), [3, undefined, undefined])
      assert.deepEqual(readBack('children'), [0, 'by_key', undefined])
    },
  },
  {
    rule: 'names of any characters and of full length are told as they are',
    onlyThere: true,
    hold: async (t, server) => {
      const database = await server.createDatabase(
        `CREATE TABLE [Od]]d ' 😀] (id int PRIMARY KEY, [a]]b ' 😀] int, ${LONGEST} int); CREATE TABLE ${LONGEST} (id int)`,
      )
      const model = await introspected(t, database, [database.schema])
      assert.deepEqual(
        model.tables.map(({ ref, columns }) => [ref.name, columns.map(({ name }) => name)]),
        [
          ["Od]d ' 😀", ['id', "a]b ' 😀", LONGEST]],
          [LONGEST, ['id']],
        ],
      )
    },
  },
  {
    rule: 'versions of rows are computed and their history is a table; filtered and disabled indexes are no keys',
    onlyThere: true,
    hold: async (t, server) => {
      const database = await server.createDatabase(`
        CREATE TABLE kept (
          id int CONSTRAINT pk_kept PRIMARY KEY, code int NOT NULL, other int NOT NULL, rv rowversion, n sysname,
          since datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL,
          until datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL, PERIOD FOR SYSTEM_TIME (since, until)
        ) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.kept_history));
        CREATE UNIQUE INDEX some_codes ON kept (code) WHERE code > 5;
        CREATE UNIQUE INDEX others ON kept (other);
        ALTER INDEX others ON kept DISABLE`)
      const model = await introspected(t, database, [database.schema])
      const kept = tableNamed(model, 'kept')
      assert.deepEqual(
        kept.columns.map(({ name, generated, type }) => [name, generated, type.native]),
        [
          ['id', 'no', 'int'],
          ['code', 'no', 'int'],
          ['other', 'no', 'int'],
          ['rv', 'computed', 'timestamp'],
          ['n', 'no', 'nvarchar(128)'],
          ['since', 'computed', 'datetime2(7)'],
          ['until', 'computed', 'datetime2(7)'],
        ],
      )
      assert.deepEqual(kept.uniqueKeys, [])
      assert.deepEqual(
        kept.indexes.map(({ name, unique, partial }) => [name, unique, partial]),
        [
          ['pk_kept', true, false],
          ['some_codes', true, true],
        ],
      )
      assert.equal(tableNamed(model, 'kept_history').kind, 'table')
    },
  },
]

for (const target of SQLSERVER_TARGETS) {
  describe(`introspection by a SELECT-only login, ${target.label} server`, () => {
    for (const { rule, onlyThere, hold } of LIVE) {
      test(rule, async (t) => {
        const server = await target.start()
        if (onlyThere === true && !server.genuine) {
          t.diagnostic('left out: this server only stands in for SQL Server, and has none of it')
          return
        }
        await hold(t, server)
      })
    }
  })
}

if (SQLSERVER_TARGETS.length === 0) {
  test(`LEFT OUT: ${LIVE.length} live tests of SQL Server's catalog, for want of RUNKU_TEST_SQLSERVER_URL`, (t) => {
    for (const { rule } of LIVE) t.diagnostic(`left out: ${rule}`)
  })
}
