import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { monotonicMs } from '../../src/core/clock.js'
import type { SchemaModel, TableRead } from '../../src/core/schema-model.js'
import { createEngine } from '../../src/engines/create-engine.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { ENGINE_TARGETS, forEngine, type PerEngine } from '../support/engines.js'
import { isGenuine } from '../support/security-engines.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'

/** What the catalog tells of what views and routines read, to a login that may see their texts and to one that may only SELECT. */

const TABLES = `
CREATE TABLE people (id int PRIMARY KEY, name varchar(40), ssn varchar(20));
CREATE TABLE places (id int PRIMARY KEY, person_id int, name varchar(40));
CREATE VIEW named AS SELECT p.id, p.name AS ssn FROM people p;
CREATE VIEW placed AS SELECT people.ssn AS code, x.name FROM people JOIN places x ON x.person_id = people.id;
CREATE VIEW counted AS SELECT count(*) AS n FROM people;
CREATE VIEW above AS SELECT code FROM placed WHERE code <> 'a';
`

const SETUP: PerEngine<string> = {
  postgres: `${TABLES}
CREATE VIEW whole AS SELECT p FROM people p;
CREATE MATERIALIZED VIEW kept AS SELECT max(ssn) AS ssn FROM people;
CREATE FUNCTION reads_words() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT max("ssn") FROM People); END $$;
CREATE FUNCTION reads_all() RETURNS SETOF people LANGUAGE sql AS 'SELECT * FROM people';
CREATE FUNCTION reads_view() RETURNS text LANGUAGE sql AS 'SELECT max(code) FROM above';
CREATE FUNCTION reads_none() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION calls_words() RETURNS text LANGUAGE sql AS 'SELECT reads_words()';
CREATE FUNCTION calls_calls() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN public.calls_words (); END $$;
CREATE FUNCTION parsed() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT calls_words(); END;
CREATE VIEW calling AS SELECT calls_calls() AS x;
CREATE FUNCTION row_value() RETURNS text LANGUAGE sql AS 'SELECT p::text FROM people AS p';
CREATE FUNCTION row_counted() RETURNS bigint LANGUAGE sql AS 'SELECT count(people) FROM people';
CREATE FUNCTION row_renamed() RETURNS text LANGUAGE sql AS 'SELECT max(c) FROM people p (a, b, c)';
CREATE FUNCTION row_table() RETURNS SETOF people LANGUAGE sql AS 'TABLE people';
CREATE FUNCTION row_star() RETURNS text LANGUAGE sql AS 'SELECT max((p.*)::text) FROM people p';
CREATE FUNCTION runs_text(t text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'SELECT ' || t; END $$;
CREATE FUNCTION runs_runs() RETURNS void LANGUAGE sql AS $$ SELECT runs_text('x') $$;
CREATE SCHEMA hidden;
CREATE FUNCTION hidden.inner() RETURNS text LANGUAGE sql AS 'SELECT max(ssn) FROM public.people';
CREATE FUNCTION calls_hidden() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT hidden.inner()';
`,
  mysql: `${TABLES}
CREATE FUNCTION reads_words() RETURNS text READS SQL DATA RETURN (SELECT max(\`ssn\`) FROM people);
CREATE PROCEDURE reads_all() READS SQL DATA SELECT * FROM people;
CREATE FUNCTION reads_view() RETURNS text READS SQL DATA RETURN (SELECT max(code) FROM above);
CREATE FUNCTION reads_none() RETURNS int NO SQL RETURN 1;
CREATE FUNCTION calls_words() RETURNS text READS SQL DATA RETURN reads_words();
CREATE PROCEDURE calls_calls() READS SQL DATA CALL reads_all;
CREATE VIEW calling AS SELECT calls_words() AS x;
CREATE PROCEDURE runs_text(q text) READS SQL DATA BEGIN SET @q = q; PREPARE s FROM @q; EXECUTE s; END;
`,
  sqlserver: `${TABLES.replace(/^CREATE VIEW/gm, 'GO\nCREATE VIEW')}
GO
CREATE FUNCTION reads_words() RETURNS varchar(40) AS BEGIN RETURN (SELECT max([ssn]) FROM people) END
GO
CREATE PROCEDURE reads_all AS SELECT * FROM people
GO
CREATE FUNCTION reads_view() RETURNS varchar(40) AS BEGIN RETURN (SELECT max(code) FROM above) END
GO
CREATE FUNCTION reads_none() RETURNS int AS BEGIN RETURN 1 END
GO
CREATE FUNCTION calls_words() RETURNS varchar(40) AS BEGIN RETURN dbo.reads_words() END
GO
CREATE PROCEDURE calls_calls AS EXEC dbo.reads_all
GO
CREATE VIEW calling AS SELECT dbo.calls_words() AS x
GO
CREATE PROCEDURE runs_text @q nvarchar(100) AS EXEC sp_executesql @q
`,
}

/** By name of the object: each table that it reads, with the columns. */
type Told = Readonly<Record<string, Readonly<Record<string, readonly string[] | 'all'>>>>

function told({ tables, routines }: SchemaModel): Told {
  const plain = (reads: readonly TableRead[]) =>
    Object.fromEntries(reads.map(({ table, columns }) => [table.name, columns]))
  return Object.fromEntries(
    [...tables, ...routines].flatMap(({ ref, reads }) => (reads === undefined ? [] : [[ref.name, plain(reads)]])),
  )
}

const PLACED = { people: ['id', 'ssn'], places: ['name', 'person_id'] }
const ABOVE = { ...PLACED, placed: ['code'] }
const READ: PerEngine<Told> = {
  postgres: {
    above: ABOVE,
    counted: { people: [] },
    kept: { people: ['ssn'] },
    named: { people: ['id', 'name'] },
    placed: PLACED,
    whole: { people: 'all' },
    reads_all: { people: 'all' },
    reads_none: {},
    reads_view: { ...ABOVE, above: ['code'] },
    reads_words: { people: ['ssn'] },
    calls_words: { people: ['ssn'] },
    calls_calls: { people: ['ssn'] },
    calls_hidden: { people: ['ssn'] },
    parsed: { people: ['ssn'] },
    calling: { people: ['ssn'] },
    row_value: { people: 'all' },
    row_counted: { people: 'all' },
    row_renamed: { people: 'all' },
    row_table: { people: 'all' },
    row_star: { people: 'all' },
    runs_text: {},
    runs_runs: {},
  },
  mysql: {
    above: ABOVE,
    counted: { people: [] },
    named: { people: ['id', 'name'] },
    placed: PLACED,
    reads_all: { people: 'all' },
    reads_none: {},
    reads_view: { ...ABOVE, above: ['code'] },
    reads_words: { people: ['ssn'] },
    calls_words: { people: ['ssn'] },
    calls_calls: { people: 'all' },
    calling: { people: ['ssn'] },
    runs_text: {},
  },
  // By the words of each text: what is renamed or another table's counts as well, and nothing is missed.
  sqlserver: {
    above: { people: ['id', 'name', 'ssn'], placed: ['code'], places: ['id', 'name', 'person_id'] },
    counted: { people: [] },
    named: { people: ['id', 'name', 'ssn'] },
    placed: { people: ['id', 'name', 'ssn'], places: ['id', 'name', 'person_id'] },
    reads_all: { people: 'all' },
    reads_none: {},
    reads_view: {
      above: ['code'],
      people: ['id', 'name', 'ssn'],
      placed: ['code'],
      places: ['id', 'name', 'person_id'],
    },
    reads_words: { people: ['ssn'] },
    calls_words: { people: ['ssn'] },
    calls_calls: { people: 'all' },
    calling: { people: ['ssn'] },
    runs_text: {},
  },
}

/** What runs text that is put together, itself or through others. */
const UNSURE: PerEngine<readonly string[]> = {
  postgres: ['runs_runs', 'runs_text'],
  mysql: ['runs_text'],
  sqlserver: ['runs_text'],
}

async function introspected(settings: ConnectorSettings): Promise<SchemaModel> {
  const surroundings = { observe: () => {}, nowMs: monotonicMs, randomBytes: (count: number) => new Uint8Array(count) }
  const { driver } = await createEngine(settings, surroundings)
  try {
    const schema = await driver.introspect(settings.schemas)
    assert.ok(schema.ok, JSON.stringify(schema))
    return schema.value
  } finally {
    await driver.close()
  }
}

for (const target of ENGINE_TARGETS) {
  describe(`what views and routines read: ${target.label}`, () => {
    let database: TestDatabase
    let server: TestServer
    before(async () => {
      server = await target.start()
      database = await server.createDatabase(forEngine(SETUP, target.engine))
    })

    test('whoever may see their texts is told the columns, through views of views', async () => {
      assert.deepEqual(told(await introspected(database.superuser())), forEngine(READ, target.engine))
    })

    test('of what runs text that is put together it is told that it may read more, and of nothing else', async () => {
      const { tables, routines } = await introspected(database.superuser())
      const unsure = [...tables, ...routines].flatMap(({ ref, readsUnsure }) =>
        readsUnsure === true ? [ref.name] : [],
      )
      assert.deepEqual(unsure.map(String), forEngine(UNSURE, target.engine))
    })

    test('a login that may only SELECT is told what the server lets it see, and nothing fails', async () => {
      const seen = told(await introspected(database.reader()))
      const whole = forEngine(READ, target.engine)
      for (const [name, reads] of Object.entries(seen)) assert.deepEqual(reads, whole[name], name)
      // PostgreSQL shows its catalog to everybody; the others show the text of a view to those with a right to it.
      if (target.engine === 'postgres') assert.deepEqual(seen['above'], ABOVE)
      else if (isGenuine(server)) assert.deepEqual(seen, {})
    })
  })
}
