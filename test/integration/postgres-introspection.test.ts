import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentColumnName, PROPERTY_KEY } from '../../src/core/names.js'
import { qualifiedName, type SchemaModel, type Table, type ValueType } from '../../src/core/schema-model.js'
import { createPostgresDriver } from '../../src/engines/postgres/driver.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { LONGEST_NAME, NASTY_REVOKES, NASTY_SCHEMA, ODD_TABLE } from '../support/nasty-schema.js'
import { EMBEDDED, POSTGRES_TARGETS, READER } from '../support/postgres.js'

async function introspected(settings: ConnectorSettings): Promise<SchemaModel> {
  const driver = createPostgresDriver(settings, { observe: () => {}, nowMs: () => performance.now() })
  try {
    const model = await driver.introspect(settings.schemas)
    assert.ok(model.ok, JSON.stringify(model))
    return model.value
  } finally {
    await driver.close()
  }
}

function tableNamed(model: SchemaModel, name: string): Table {
  const table = model.tables.find((each) => each.ref.name === name)
  assert.ok(table, `table ${name}`)
  return table
}

function types(table: Table): Readonly<Record<string, ValueType>> {
  return Object.fromEntries(table.columns.map((column) => [column.name, withoutNames(column.type)]))
}

/** The names that casts use have a test of their own. */
function withoutNames({ typeRef: _, element, ...type }: ValueType): ValueType {
  return { ...type, ...(element === undefined ? {} : { element: withoutNames(element) }) }
}

const COMPARABLE = { equality: true, ordered: true }
const OPAQUE = { equality: false, ordered: false }
const LABELS = ['first', 'ok', 'b"ad', '😀 great']
const INT4 = { logical: 'integer', native: 'integer', range: [-2_147_483_648, 2_147_483_647], ...COMPARABLE }
const VARCHAR8 = { logical: 'text', charsMax: 8, domain: true, ...COMPARABLE }
const MOOD = { logical: 'enum', native: 'app.mood', labels: LABELS, ...COMPARABLE }

/** Everything but the columns that the other tests look at. */
const EVERY_TYPE = {
  id: INT4,
  n2: { logical: 'integer', native: 'smallint', range: [-32_768, 32_767], ...COMPARABLE },
  n4: INT4,
  n8: { logical: 'bigint', native: 'bigint', ...COMPARABLE },
  twice: { logical: 'bigint', native: 'bigint', ...COMPARABLE },
  dec: { logical: 'decimal', native: 'numeric(12,3)', fractionDigitsMax: 3, ...COMPARABLE },
  cash: { logical: 'unknown', native: 'money', ...COMPARABLE },
  f4: { logical: 'float', native: 'real', single: true, ...COMPARABLE },
  f8: { logical: 'float', native: 'double precision', ...COMPARABLE },
  t: { logical: 'text', native: 'text', ...COMPARABLE },
  vc: { logical: 'text', native: 'character varying(40)', charsMax: 40, ...COMPARABLE },
  bc: { logical: 'text', native: 'character(5)', charsMax: 5, ...COMPARABLE },
  nm: { logical: 'text', native: 'name', ...COMPARABLE },
  ch: { logical: 'unknown', native: '"char"', ...COMPARABLE },
  flag: { logical: 'boolean', native: 'boolean', ...COMPARABLE },
  ts: {
    logical: 'timestamp',
    native: 'timestamp(3) without time zone',
    withZone: false,
    fractionDigitsMax: 3,
    ...COMPARABLE,
  },
  tstz: { logical: 'timestamp', native: 'timestamp with time zone', withZone: true, ...COMPARABLE },
  d: { logical: 'date', native: 'date', ...COMPARABLE },
  tm: { logical: 'time', native: 'time without time zone', withZone: false, ...COMPARABLE },
  tmtz: { logical: 'time', native: 'time with time zone', withZone: true, ...COMPARABLE },
  iv: { logical: 'interval', native: 'interval', ...COMPARABLE },
  u: { logical: 'uuid', native: 'uuid', ...COMPARABLE },
  js: { logical: 'json', native: 'json', ...OPAQUE },
  jb: { logical: 'json', native: 'jsonb', ...OPAQUE },
  bin: { logical: 'bytes', native: 'bytea', ...COMPARABLE },
  mood: MOOD,
  feeling: { ...MOOD, native: 'app.feeling', domain: true },
  code: { ...VARCHAR8, native: 'app.code' },
  short_code: { ...VARCHAR8, native: 'app.short_code' },
  counted: { ...INT4, native: 'app.counted', domain: true },
  tags: {
    logical: 'array',
    native: 'app.tags',
    element: { logical: 'text', native: 'text', ...COMPARABLE },
    domain: true,
    ...COMPARABLE,
  },
  ints: { logical: 'array', native: 'integer[]', element: INT4, ...COMPARABLE },
  vcs: {
    logical: 'array',
    native: 'character varying(9)[]',
    element: { logical: 'text', native: 'character varying(9)', charsMax: 9, ...COMPARABLE },
    ...COMPARABLE,
  },
  moods: { logical: 'array', native: 'app.mood[]', element: MOOD, ...COMPARABLE },
  points: {
    logical: 'array',
    native: 'point[]',
    element: { logical: 'unknown', native: 'point', ...OPAQUE },
    ...OPAQUE,
  },
  jsons: { logical: 'array', native: 'json[]', element: { logical: 'json', native: 'json', ...OPAQUE }, ...OPAQUE },
  pair: { logical: 'unknown', native: 'app.pair', ...OPAQUE },
  false_friend: { logical: 'enum', native: 'app.text', labels: ['not text'], ...COMPARABLE },
  span: { logical: 'unknown', native: 'int4range', ...COMPARABLE },
  address: { logical: 'unknown', native: 'inet', ...COMPARABLE },
  at_point: { logical: 'unknown', native: 'point', ...OPAQUE },
  doc: { logical: 'unknown', native: 'xml', ...OPAQUE },
  bits: { logical: 'unknown', native: 'bit(3)', ...COMPARABLE },
  words: { logical: 'unknown', native: 'tsvector', ...COMPARABLE },
  object: { logical: 'unknown', native: 'oid', ...COMPARABLE },
  class: { logical: 'unknown', native: 'regclass', ...COMPARABLE },
  vec: { logical: 'unknown', native: 'int2vector', ...OPAQUE },
}

for (const target of POSTGRES_TARGETS) {
  describe(`introspection by a SELECT-only login, ${target.label} server`, () => {
    const model = async (): Promise<SchemaModel> => {
      const server = await target.start()
      const database = await server.createDatabase(NASTY_SCHEMA, NASTY_REVOKES)
      return introspected(database.reader({ schemas: ['app', 'other place'] }))
    }

    test('the model holds the readable tables of the configured schemas, in order, without partitions', async () => {
      const { tables, engine, serverVersion } = await model()
      assert.equal(engine, 'postgres')
      assert.match(serverVersion, /^\d+\.\d+$/)
      assert.deepEqual(
        tables.map((table) => [table.ref.schema, table.ref.name, table.kind]),
        [
          ['app', 'counts', 'materialized_view'],
          ['app', 'customers', 'table'],
          ['app', 'events', 'partitioned_table'],
          ['app', 'every_type', 'table'],
          ['app', 'moods', 'view'],
          ['app', 'never_counted', 'table'],
          ['app', 'notes', 'table'],
          ['app', ODD_TABLE, 'table'],
          ['app', 'orders', 'table'],
          ['other place', 'regions', 'table'],
        ],
      )
    })

    test('every type has its logical form, its native name and what it can be compared by', async () => {
      assert.deepEqual(types(tableNamed(await model(), 'every_type')), EVERY_TYPE)
    })

    test('a value can be cast to every type by the name that the catalog has for it', async () => {
      const server = await target.start()
      const database = await server.createDatabase(NASTY_SCHEMA, NASTY_REVOKES)
      const { columns } = tableNamed(await introspected(database.reader({ schemas: ['app'] })), 'every_type')
      const names = Object.fromEntries(columns.map(({ name, type }) => [name, type.typeRef]))
      assert.deepEqual(names['n4'], { schema: 'pg_catalog', name: 'int4' })
      assert.deepEqual(names['ints'], { schema: 'pg_catalog', name: '_int4' })
      assert.deepEqual(names['ch'], { schema: 'pg_catalog', name: 'char' })
      assert.deepEqual(names['short_code'], { schema: 'app', name: 'short_code' })
      assert.deepEqual(names['false_friend'], { schema: 'app', name: 'text' })
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
      const casts = columns.map(
        ({ type: { typeRef } }) =>
          `CAST(NULL AS ${quoted(typeRef?.schema ?? '')}.${quoted(typeRef?.name ?? '')}) IS NULL`,
      )
      // The domains that take no NULL say so; every other name stands for a type.
      const nullable = casts.filter((text) => !text.includes('code"'))
      assert.deepEqual(await database.query(`SELECT ${nullable.join(' AND ')}`), [['t']])
    })

    test('columns say what may be null, what has a default and what the database makes itself', async () => {
      const { columns, comment } = tableNamed(await model(), 'every_type')
      const facts = Object.fromEntries(columns.map((c) => [c.name, [c.nullable, c.hasDefault, c.generated]]))
      assert.deepEqual(facts['id'], [false, true, 'always'])
      assert.deepEqual(facts['n4'], [true, true, 'no'])
      assert.deepEqual(facts['n8'], [false, true, 'by_default'])
      assert.deepEqual(facts['twice'], [true, false, 'computed'])
      assert.deepEqual(facts['code'], [false, false, 'no'], 'NOT NULL of the domain')
      assert.deepEqual(facts['short_code'], [false, false, 'no'], 'NOT NULL of the domain under the domain')
      assert.deepEqual(facts['counted'], [true, true, 'no'], 'DEFAULT of the domain')
      assert.equal(comment, 'One of each.')
      assert.equal(columns.find((c) => c.name === 'n2')?.comment, undefined)
      assert.equal(columns.find((c) => c.name === 't')?.comment, 'Free\ntext "quoted".')
    })

    test('a view of a column that cannot be null may still show null', async () => {
      const code = tableNamed(await model(), 'moods').columns.find((column) => column.name === 'code')
      assert.equal(code?.nullable, true)
    })

    test('keys are seen without any privilege but SELECT, and a key with an unreadable column is none', async () => {
      const schema = await model()
      const customers = tableNamed(schema, 'customers')
      assert.deepEqual(
        customers.columns.map((column) => column.name),
        ['tenant', 'id', 'email', 'nick'],
      )
      assert.deepEqual(customers.primaryKey, ['tenant', 'id'])
      assert.deepEqual(customers.uniqueKeys, [['email'], ['id', 'tenant']])
      assert.deepEqual(tableNamed(schema, 'events').primaryKey, ['id', 'at'])
      assert.deepEqual(tableNamed(schema, 'counts').uniqueKeys, [], 'a nullable column makes no key')
    })

    test('indexes end at an expression or an unreadable column, and lose their uniqueness with it', async () => {
      const indexes = tableNamed(await model(), 'customers').indexes
      assert.deepEqual(
        indexes.map((index) => [index.name, index.columns, index.unique, index.partial]),
        [
          ['customers_email', ['email'], true, false],
          ['customers_folded', ['tenant'], false, false],
          ['customers_nick', ['nick'], true, false],
          ['customers_order', ['nick', 'id'], false, false],
          ['customers_partial', ['email', 'tenant'], true, true],
          ['customers_pkey', ['tenant', 'id'], true, false],
          ['customers_secret', ['id'], false, false],
          ['customers_swapped', ['id', 'tenant'], true, false],
        ],
      )
    })

    test('foreign keys keep their column order, their schema and each other apart', async () => {
      const schema = await model()
      assert.deepEqual(
        tableNamed(schema, 'orders').foreignKeys.map((key) => [
          key.name,
          key.columns,
          qualifiedName(key.references),
          key.referencedColumns,
        ]),
        [
          ['bought', ['tenant', 'buyer'], 'app.customers', ['tenant', 'id']],
          ['orders_owner_fkey', ['owner'], 'hidden.owners', ['id']],
          ['orders_parent_fkey', ['parent'], 'app.orders', ['id']],
          ['orders_region_fkey', ['region'], 'other place.regions', ['code']],
          ['received', ['receiver', 'tenant'], 'app.customers', ['id', 'tenant']],
        ],
      )
      assert.equal(tableNamed(schema, 'notes').foreignKeys.length, 1, 'one key, not one for each partition')
      assert.equal(tableNamed(schema, 'events').foreignKeys.length, 1)
    })

    test('a partitioned table that was never analyzed itself counts its partitions', async () => {
      const schema = await model()
      assert.equal(tableNamed(schema, 'events').rowEstimate, 70)
      assert.equal(tableNamed(schema, 'never_counted').rowEstimate, undefined)
      assert.equal(tableNamed(schema, 'moods').rowEstimate, undefined)
    })

    test('odd names arrive as the catalog spells them, with a name that agents can use', async () => {
      const { columns } = tableNamed(await model(), ODD_TABLE)
      assert.deepEqual(
        columns.map((column) => column.name),
        ['__proto__', 'constructor', 'a.b c', LONGEST_NAME, 'Ünï', 'select', 'quo"te'],
      )
      assert.deepEqual(
        columns.map((column) => column.catalogId),
        [1, 2, 3, 4, 5, 6, 7],
      )
      for (const column of columns) {
        assert.match(column.agentName, PROPERTY_KEY)
        assert.notEqual(column.agentName, '__proto__')
      }
      assert.equal(new Set(columns.map((column) => column.agentName)).size, columns.length)
    })

    test('the login facts tell a reader from a superuser', async () => {
      const server = await target.start()
      const database = await server.createDatabase(
        NASTY_SCHEMA,
        `GRANT UPDATE (nick) ON app.customers TO ${READER}; ALTER TABLE app.notes OWNER TO ${READER}`,
      )
      const reader = (await introspected(database.reader({ schemas: ['app'] }))).login
      assert.deepEqual([reader.superuser, reader.owns, reader.ownsCount], [false, ['app.notes'], 1])
      assert.deepEqual([reader.writes, reader.writesCount], [['app.customers', 'app.notes'], 2])
      assert.equal(reader.connectionsMax, 60)
      await database.query(`ALTER DATABASE ${database.name} CONNECTION LIMIT 9`)
      const superuser = (await introspected(database.superuser({ schemas: ['app'] }))).login
      assert.equal(superuser.superuser, true)
      assert.equal(superuser.connectionsMax, 9)
    })

    test('a schema that does not exist or may not be used is named in the reason', async () => {
      const server = await target.start()
      const database = await server.createDatabase(NASTY_SCHEMA, NASTY_REVOKES)
      const settings = database.reader({ schemas: ['app', 'apps', 'hidden'] })
      const driver = createPostgresDriver(settings, { observe: () => {}, nowMs: () => performance.now() })
      const model = await driver.introspect(settings.schemas)
      await driver.close()
      assert.ok(!model.ok)
      assert.equal(model.error.code, 'CONNECTOR_UNAVAILABLE')
      assert.match(model.error.reason ?? '', /"apps", "hidden"/)
    })

    test('objects named like those of the catalog do not mislead introspection', async () => {
      const server = await target.start()
      const database = await server.createDatabase(`
        CREATE TABLE public.pg_class (oid int); CREATE TABLE public.pg_type (oid int);
        CREATE FUNCTION public.format_type(oid, integer) RETURNS text LANGUAGE sql AS 'SELECT ''hijacked''';
        ALTER ROLE ${READER} SET search_path = public, pg_catalog;`)
      const schema = await introspected(database.reader())
      await server.query(`ALTER ROLE ${READER} RESET search_path`)
      assert.deepEqual(
        schema.tables.map((table) => [table.ref.name, table.columns[0]?.type.native]),
        [
          ['pg_class', 'integer'],
          ['pg_type', 'integer'],
        ],
      )
    })
  })
}

describe('introspection of what only some servers have', () => {
  test('citext compares by the operators of the schema its extension lives in', async (t) => {
    for (const target of POSTGRES_TARGETS) {
      const server = await target.start()
      const available = await server.query(`SELECT name FROM pg_available_extensions WHERE name = 'citext'`)
      if (available.length === 0) {
        t.diagnostic(`the ${target.label} server has no citext`)
        continue
      }
      const setup = 'CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext; CREATE TABLE public.folk (name ext.citext)'
      const usable = await server.createDatabase(setup)
      const text = { logical: 'text', native: 'ext.citext' }
      const folk = tableNamed(await introspected(usable.reader()), 'folk')
      assert.deepEqual(types(folk)['name'], { ...text, ...COMPARABLE, operatorSchema: 'ext' })
      assert.deepEqual(folk.columns[0]?.type.typeRef, { schema: 'ext', name: 'citext' })
      const closed = await server.createDatabase(setup, `REVOKE USAGE ON SCHEMA ext FROM ${READER}, PUBLIC`)
      const unusable = tableNamed(await introspected(closed.reader()), 'folk')
      assert.deepEqual(types(unusable)['name'], { ...text, ...OPAQUE })
      assert.equal(unusable.columns[0]?.type.typeRef, undefined, 'the login cannot name it')
    }
  })

  test('version 18: virtual columns are computed, an unvalidated NOT NULL promises nothing, a period key joins nothing', async () => {
    const server = await EMBEDDED.start()
    assert.ok(server.version >= 180_000)
    const database = await server.createDatabase(`
      CREATE TABLE spans (id int4range, valid daterange, PRIMARY KEY (id, valid WITHOUT OVERLAPS));
      CREATE TABLE uses (id int4range, valid daterange,
        FOREIGN KEY (id, PERIOD valid) REFERENCES spans (id, PERIOD valid));
      CREATE TABLE loose (a int, b int GENERATED ALWAYS AS (a + 1) VIRTUAL, c int);
      INSERT INTO loose (a) VALUES (1);
      ALTER TABLE loose ADD CONSTRAINT c_filled NOT NULL c NOT VALID;`)
    const schema = await introspected(database.reader())
    assert.deepEqual(tableNamed(schema, 'spans').primaryKey, ['id', 'valid'])
    assert.deepEqual(tableNamed(schema, 'uses').foreignKeys, [])
    const [, b, c] = tableNamed(schema, 'loose').columns
    assert.equal(b?.generated, 'computed')
    assert.equal(c?.nullable, true)
  })
})

const ROUTINES_SCHEMA = `
CREATE SCHEMA api;
CREATE TYPE api.level AS ENUM ('low', 'high');
CREATE TYPE api.pair AS (x integer, label text);
CREATE TABLE api.items (id integer PRIMARY KEY, name text);
CREATE FUNCTION api.add(a integer, b integer DEFAULT 1) RETURNS integer LANGUAGE sql IMMUTABLE RETURN a + b;
CREATE FUNCTION api.add(a text, b text) RETURNS text LANGUAGE sql STABLE RETURN a || b;
CREATE FUNCTION api.unnamed(integer, api.level[]) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION api.listed(since date) RETURNS TABLE (id integer, "the name" text) LANGUAGE sql STABLE AS 'SELECT 1, ''a''';
CREATE FUNCTION api.items_of() RETURNS SETOF api.items LANGUAGE sql STABLE AS 'SELECT * FROM api.items';
CREATE FUNCTION api.one_pair() RETURNS api.pair LANGUAGE sql AS 'SELECT 1, ''a''';
CREATE FUNCTION api.numbers() RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION api.anything() RETURNS record LANGUAGE sql AS 'SELECT 1, 2';
CREATE FUNCTION api.outs(INOUT n numeric, OUT doubled numeric) LANGUAGE sql AS 'SELECT n, n * 2';
CREATE FUNCTION api.many(VARIADIC words text[]) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE api.work(job text, INOUT done boolean DEFAULT false) LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN done := true; END';
CREATE FUNCTION api.trap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE AGGREGATE api.total(integer) (SFUNC = int4pl, STYPE = integer);
CREATE FUNCTION api.near(a integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION api.near(a integer, b integer DEFAULT 1) RETURNS integer LANGUAGE sql AS 'SELECT 2';
CREATE FUNCTION api.skipped(integer DEFAULT 1, integer DEFAULT 2) RETURNS integer LANGUAGE sql AS 'SELECT $1 - $2';
CREATE FUNCTION api.closed() RETURNS integer LANGUAGE sql AS 'SELECT 1';
COMMENT ON FUNCTION api.add(integer, integer) IS 'Adds.';
`

for (const target of POSTGRES_TARGETS) {
  test(`functions and procedures have parameters, defaults and result shapes (${target.label})`, async () => {
    const server = await target.start()
    const closing = `REVOKE EXECUTE ON FUNCTION api.closed FROM PUBLIC`
    const database = await server.createDatabase(ROUTINES_SCHEMA, closing)
    const { routines } = await introspected(database.reader({ schemas: ['api'] }))
    const shapes = Object.fromEntries(
      routines.map(({ ref, signature, parameters, result }) => [
        `${ref.name}(${signature})`,
        {
          takes: parameters.map(({ mode, agentName, type, hasDefault }) =>
            [mode, agentName, type.logical, ...(hasDefault ? ['default'] : [])].join(' '),
          ),
          gives:
            result.kind === 'record'
              ? [
                  result.set ? 'set' : 'one',
                  ...result.fields.map(({ agentName, type }) => `${agentName} ${type.logical}`),
                ]
              : result.kind === 'scalar'
                ? [result.set ? 'set' : 'one', result.type.logical]
                : [result.kind],
        },
      ]),
    )
    assert.deepEqual(shapes, {
      'add(a integer, b integer)': { takes: ['in a integer', 'in b integer default'], gives: ['one', 'integer'] },
      'add(a text, b text)': { takes: ['in a text', 'in b text'], gives: ['one', 'text'] },
      'anything()': { takes: [], gives: ['unknown'] },
      'items_of()': { takes: [], gives: ['set', 'id integer', 'name text'] },
      'listed(since date)': {
        takes: ['in since date'],
        gives: ['set', 'id integer', `${agentColumnName('the name')} text`],
      },
      'many(VARIADIC words text[])': { takes: ['variadic words array'], gives: ['one', 'integer'] },
      // Called with one argument, the second would be the first.
      'near(a integer)': { takes: ['in a integer'], gives: ['one', 'integer'] },
      'near(a integer, b integer)': { takes: ['in a integer', 'in b integer'], gives: ['one', 'integer'] },
      'numbers()': { takes: [], gives: ['set', 'bigint'] },
      'one_pair()': { takes: [], gives: ['one', 'x integer', 'label text'] },
      'outs(INOUT n numeric, OUT doubled numeric)': {
        takes: ['inout n decimal', 'out doubled decimal'],
        gives: ['one', 'n decimal', 'doubled decimal'],
      },
      // What follows a parameter that is left out is given by name, and this one has none.
      'skipped(integer, integer)': {
        takes: ['in arg1 integer', 'in arg2 integer default'],
        gives: ['one', 'integer'],
      },
      'unnamed(integer, api.level[])': { takes: ['in arg1 integer', 'in arg2 array'], gives: ['void'] },
      'work(IN job text, INOUT done boolean)': {
        takes: ['in job text', 'inout done boolean default'],
        gives: ['one', 'done boolean'],
      },
    })
    const work = routines.find(({ ref }) => ref.name === 'work')
    assert.deepEqual([work?.kind, work?.securityDefiner, work?.declaredReadOnly], ['procedure', true, false])
    const add = routines.find(({ signature }) => signature === 'a integer, b integer')
    assert.deepEqual([add?.kind, add?.securityDefiner, add?.declaredReadOnly], ['function', false, true])
    assert.equal(add?.comment, 'Adds.')
  })
}
