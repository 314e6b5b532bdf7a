import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type RowsOfCall, routineNamed, testDriver } from '../support/driver.js'
import { type CallParts, validatedCall } from '../support/plans.js'
import { POSTGRES_TARGETS } from '../support/postgres.js'

const SETUP = `
CREATE SCHEMA api;
CREATE TYPE api."Level" AS ENUM ('low', 'high');
CREATE DOMAIN api.small AS int CHECK (VALUE < 100);
CREATE TYPE api.pair AS (x integer, label text);
CREATE TABLE api.items (id integer PRIMARY KEY, name text, secret text);
INSERT INTO api.items SELECT n, 'item ' || n, 'secret ' || n FROM generate_series(1, 20) n;
CREATE TABLE api.notes (note text CHECK (note <> 'refused'));

CREATE FUNCTION api.add(a integer, b integer DEFAULT 1) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT a + b';
CREATE FUNCTION api.add(a text, b text) RETURNS text LANGUAGE sql STABLE AS $$SELECT a || '+' || b$$;
CREATE FUNCTION api.add(a bigint, b bigint) RETURNS text LANGUAGE sql STABLE AS $$SELECT 'big'$$;
CREATE FUNCTION api.middle(a int DEFAULT 1, b int DEFAULT 2, "Odd name" int DEFAULT 3) RETURNS text
  LANGUAGE sql AS $$SELECT a || ',' || b || ',' || "Odd name"$$;
CREATE FUNCTION api.unnamed(api."Level", integer[], integer DEFAULT 9) RETURNS text
  LANGUAGE sql AS $$SELECT $1 || ' ' || array_to_string($2, '|', 'none') || ' ' || $3$$;
CREATE FUNCTION api.many(prefix text, VARIADIC words text[] DEFAULT '{}') RETURNS text
  LANGUAGE sql AS $$SELECT prefix || array_to_string(words, '-')$$;
CREATE FUNCTION api.small(n api.small) RETURNS int LANGUAGE sql AS 'SELECT n::int';
CREATE FUNCTION api.same(v anyelement) RETURNS anyelement LANGUAGE sql AS 'SELECT v';
CREATE FUNCTION api.listed(since int) RETURNS TABLE (id integer, "the name" text, secret text)
  LANGUAGE sql STABLE AS 'SELECT id, name, secret FROM api.items WHERE id >= since ORDER BY id';
CREATE FUNCTION api.items_of() RETURNS SETOF api.items LANGUAGE sql STABLE AS 'SELECT * FROM api.items ORDER BY id';
CREATE FUNCTION api.one_pair() RETURNS api.pair LANGUAGE sql AS $$SELECT 1, 'a'$$;
CREATE FUNCTION api.no_pair() RETURNS api.pair LANGUAGE sql AS $$SELECT NULL::api.pair$$;
CREATE FUNCTION api.numbers() RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 9007199254740993::bigint UNION ALL SELECT NULL';
CREATE FUNCTION api.outs(INOUT n numeric, OUT doubled numeric) LANGUAGE sql AS 'SELECT n, n * 2';
CREATE FUNCTION api.one_out(OUT total int) LANGUAGE sql AS 'SELECT 7';
CREATE FUNCTION api.unnamed_outs(OUT int, OUT text) LANGUAGE sql AS $$SELECT 1, 'b'$$;
CREATE FUNCTION api.unnamed_out(OUT int) LANGUAGE sql AS 'SELECT 8';
CREATE FUNCTION api.long() RETURNS text LANGUAGE sql AS $$SELECT repeat('é', 100)$$;
CREATE FUNCTION api.jot(note text) RETURNS void LANGUAGE sql AS 'INSERT INTO api.notes VALUES (note)';
CREATE FUNCTION api.jot_all() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  FOR n IN 1..10 LOOP INSERT INTO api.notes VALUES ('n' || n); RETURN NEXT 'n' || n; END LOOP;
END $$;
CREATE FUNCTION api.break_out() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('transaction_read_only', 'off', true);
  INSERT INTO api.notes VALUES ('broke out');
END $$;
CREATE FUNCTION api.raise() RETURNS void LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'secret 4711'; END $$;
CREATE PROCEDURE api.work(job text, INOUT done boolean DEFAULT false, INOUT long text DEFAULT 'default')
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO api.notes VALUES (job);
  done := NOT done;
  long := long || repeat('y', 50);
END $$;
CREATE PROCEDURE api.quiet(job text) LANGUAGE sql AS 'INSERT INTO api.notes VALUES (job)';
CREATE PROCEDURE api.commits() LANGUAGE plpgsql AS $$BEGIN INSERT INTO api.notes VALUES ('half'); COMMIT; END $$;
GRANT INSERT ON api.notes TO PUBLIC;
`
const PROCEDURES_14 = `
CREATE PROCEDURE api.outs_of(IN n int, OUT twice int, INOUT m int, OUT label text) LANGUAGE plpgsql AS $$
BEGIN twice := n * 2; m := m + 1; label := 'l' || n; END $$;
CREATE PROCEDURE api.late_out(OUT first int, n int DEFAULT 5, m int DEFAULT 6) LANGUAGE plpgsql AS $$
BEGIN first := n * 10 + m; END $$;
`

function seen({ outcome, effect }: RowsOfCall) {
  return outcome.ok ? { effect, rows: outcome.value } : { effect, code: outcome.error.code }
}

for (const target of POSTGRES_TARGETS) {
  describe(`calls on the ${target.label} server`, () => {
    async function ground(t: TestContext) {
      const server = await target.start()
      const db = await server.createDatabase(SETUP + (server.version >= 140_000 ? PROCEDURES_14 : ''))
      const { call, schema } = testDriver(t, db.writer({ schemas: ['api'], pool: { max: 1 } }))
      const model = await schema()
      const run = (name: string, parts: CallParts = {}, signature?: string) =>
        call(validatedCall(routineNamed(model, name, signature), parts))
      const value = async (name: string, args: CallParts['args'] = {}, signature?: string) =>
        seen(await run(name, { args }, signature))
      const notes = async () => (await db.query('SELECT note FROM api.notes')).map(([note]) => note)
      return { server, db, run, value, notes }
    }
    const gives = (...rows: readonly (readonly (string | null)[])[]) => ({ effect: 'none', rows })

    test('a scalar is one row of one cell, a set as many as there are, NULL included', async (t) => {
      const { value } = await ground(t)
      assert.deepEqual(await value('numbers'), gives(['9007199254740993'], [null]))
      assert.deepEqual(await value('small', { 0: '5' }), gives(['5']))
      assert.deepEqual(await value('small', { 0: '500' }), { effect: 'none', code: 'DB_CONSTRAINT' })
      assert.deepEqual(await value('same', { 0: 'as text' }), gives(['as text']))
    })

    test('of several routines with one name the one that was meant is called', async (t) => {
      const { value } = await ground(t)
      assert.deepEqual(await value('add', { 0: '1', 1: '2' }, 'a integer, b integer'), gives(['3']))
      assert.deepEqual(await value('add', { 0: '1', 1: '2' }, 'a text, b text'), gives(['1+2']))
      assert.deepEqual(await value('add', { 0: '1', 1: '2' }, 'a bigint, b bigint'), gives(['big']))
      assert.deepEqual(await value('add', { 0: null, 1: '2' }, 'a integer, b integer'), gives([null]))
      assert.deepEqual(await value('add', { 0: '1' }, 'a integer, b integer'), gives(['2']))
    })

    test('what is left out takes its default, wherever it stands', async (t) => {
      const { value } = await ground(t)
      assert.deepEqual(await value('middle'), gives(['1,2,3']))
      assert.deepEqual(await value('middle', { 1: '20' }), gives(['1,20,3']))
      assert.deepEqual(await value('middle', { 0: '10', 2: '30' }), gives(['10,2,30']))
      assert.deepEqual(await value('unnamed', { 0: 'high', 1: '["1",null,"3"]' }), gives(['high 1|none|3 9']))
      assert.deepEqual(await value('unnamed', { 0: 'high', 1: '[]', 2: '4' }), gives(['high  4']))
    })

    test('a VARIADIC parameter takes one list', async (t) => {
      const { value } = await ground(t)
      assert.deepEqual(await value('many', { 0: 'p:', 1: '["a","b,c",""]' }), gives(['p:a-b,c-']))
      assert.deepEqual(await value('many', { 0: 'p:', 1: '[]' }), gives(['p:']))
      assert.deepEqual(await value('many', { 0: 'p:' }), gives(['p:']))
    })

    test('only the result columns that are let through leave the server, one row beyond the cap at most', async (t) => {
      const { run } = await ground(t)
      const listed = await run('listed', { args: { 0: '5' }, fields: ['the name', 'id'], limits: { rowCap: 2 } })
      assert.deepEqual(seen(listed), gives(['5', 'item 5'], ['6', 'item 6'], ['7', 'item 7']))
      assert.deepEqual(seen(await run('items_of', { fields: ['name'], limits: { rowCap: 1 } })), {
        effect: 'none',
        rows: [['item 1'], ['item 2']],
      })
    })

    test('composites and OUT parameters are columns by their names', async (t) => {
      const { value, run } = await ground(t)
      assert.deepEqual(await value('one_pair'), gives(['1', 'a']))
      assert.deepEqual(await value('no_pair'), gives([null, null]))
      assert.deepEqual(await value('outs', { 0: '1.50' }), gives(['1.50', '3.00']))
      assert.deepEqual(seen(await run('outs', { args: { 0: '1.50' }, fields: ['doubled'] })), gives(['3.00']))
      assert.deepEqual(await value('one_out'), gives(['7']))
      assert.deepEqual(await value('unnamed_outs'), gives(['1', 'b']))
      assert.deepEqual(await value('unnamed_out'), gives(['8']))
    })

    test('a routine that has changed its columns gives nothing out under a former name', async (t) => {
      const { db, run } = await ground(t)
      await db.query(`
        DROP FUNCTION api.listed(int);
        CREATE FUNCTION api.listed(since int) RETURNS TABLE (secret text, id integer)
          LANGUAGE sql STABLE AS 'SELECT secret, id FROM api.items WHERE id = since'`)
      assert.deepEqual(seen(await run('listed', { args: { 0: '5' }, fields: ['id'] })), gives(['5']))
      assert.deepEqual(seen(await run('listed', { args: { 0: '5' }, fields: ['the name'] })), {
        effect: 'none',
        code: 'SCHEMA_CHANGED',
      })
    })

    test('a long result comes one character longer than allowed', async (t) => {
      const { run } = await ground(t)
      assert.deepEqual(seen(await run('long', { limits: { cellCharsMax: 16 } })), gives(['é'.repeat(17)]))
    })

    test('a routine that is declared to read cannot write, not even when it tries to switch', async (t) => {
      const { run, notes } = await ground(t)
      const jotted = await run('jot', { args: { 0: 'x' }, effect: 'read' })
      assert.deepEqual(seen(jotted), { effect: 'none', code: 'DB_PERMISSION' })
      assert.deepEqual(seen(await run('quiet', { args: { 0: 'x' } })), { effect: 'none', code: 'DB_PERMISSION' })
      assert.ok(!(await run('break_out')).outcome.ok)
      assert.deepEqual(await notes(), [])
    })

    test('a routine that writes is committed, refused or only tried', async (t) => {
      const { run, notes } = await ground(t)
      const write = (name: string, parts: CallParts) => run(name, { effect: 'write', ...parts })
      assert.deepEqual(seen(await write('jot', { args: { 0: 'dry' }, dryRun: true })), gives())
      assert.deepEqual(seen(await write('jot', { args: { 0: 'x' } })), { effect: 'committed', rows: [] })
      assert.deepEqual(seen(await write('jot', { args: { 0: 'refused' } })), { effect: 'none', code: 'DB_CONSTRAINT' })
      assert.deepEqual(seen(await write('raise', {})), { effect: 'none', code: 'DB_CONSTRAINT' })
      assert.deepEqual(seen(await run('raise')), { effect: 'none', code: 'DB_ERROR' })
      assert.deepEqual(await notes(), ['x'])
    })

    test('a cap on rows does not stop half of what a routine does', async (t) => {
      const { run, notes } = await ground(t)
      const all = await run('jot_all', { effect: 'write', limits: { rowCap: 1 } })
      assert.deepEqual(seen(all), { effect: 'committed', rows: [['n1'], ['n2']] })
      assert.equal((await notes()).length, 10)
    })

    test('a procedure gives its outputs, those that are let through, and takes the defaults of the others', async (t) => {
      const { run, notes } = await ground(t)
      const work = (parts: CallParts) => run('work', { effect: 'write', ...parts })
      assert.deepEqual(seen(await work({ args: { 0: 'a', 1: 'true', 2: 'x' } })), {
        effect: 'committed',
        rows: [['f', `x${'y'.repeat(50)}`]],
      })
      assert.deepEqual(seen(await work({ args: { 0: 'b', 2: 'x' }, fields: ['long'] })), {
        effect: 'committed',
        rows: [[`x${'y'.repeat(50)}`]],
      })
      assert.deepEqual(seen(await work({ args: { 0: 'c' }, fields: ['done'] })), { effect: 'committed', rows: [['t']] })
      assert.deepEqual(seen(await run('quiet', { args: { 0: 'd' }, effect: 'write' })), {
        effect: 'committed',
        rows: [],
      })
      assert.deepEqual(await notes(), ['a', 'b', 'c', 'd'])
    })

    test('a procedure that would commit for itself is refused, and nothing of it stays', async (t) => {
      const { run, notes } = await ground(t)
      assert.deepEqual(seen(await run('commits', { effect: 'write' })), { effect: 'none', code: 'DB_ERROR' })
      assert.deepEqual(await notes(), [])
    })

    test('a procedure with outputs among its parameters has them in their order', async (t) => {
      const { server, value, run } = await ground(t)
      // Only INOUT exists before version 14.
      if (server.version < 140_000) return
      assert.deepEqual(await value('outs_of', { 0: '5', 1: '1' }), gives(['10', '2', 'l5']))
      const some = await run('outs_of', { args: { 0: '5', 1: '1' }, fields: ['label', 'twice'] })
      assert.deepEqual(seen(some), gives(['10', 'l5']))
      assert.deepEqual(await value('late_out', { 1: '7' }), gives(['57']))
      assert.deepEqual(await value('late_out', {}), gives(['56']))
    })

    test('a routine that is gone is a changed schema', async (t) => {
      const { db, value } = await ground(t)
      await db.query('DROP FUNCTION api.numbers')
      assert.deepEqual(await value('numbers'), { effect: 'none', code: 'SCHEMA_CHANGED' })
    })
  })
}
