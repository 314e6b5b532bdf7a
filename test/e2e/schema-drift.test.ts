import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ENGINE_CAPABILITIES } from '../../src/core/engine-capabilities.js'
import { type Caller, callerOf, entryOf } from '../support/changes.js'
import { forEngine, type PerEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  prepareGateway,
  type RunningGateway,
  type SpawnedGateway,
  spawnGateway,
  startGateway,
} from '../support/gateway.js'
import { leftOut, writerOn } from '../support/left-out.js'
import { NOTES_POLICY, notesSetup } from '../support/notes.js'
import { RENAMES_POLICY, renameColumns, renamesSetup } from '../support/renames.js'
import { policyFor } from '../support/security-sql.js'
import { eventually, type TestDatabase, type TestServer } from '../support/test-server.js'

/** The new type's values would be more than one value, were they still taken for numbers. */
const OTHER_TYPE = {
  postgres: `ALTER TABLE notes ALTER COLUMN weight TYPE text USING '0,"secret":' || id`,
  mysql: `ALTER TABLE notes MODIFY weight varchar(40); UPDATE notes SET weight = CONCAT('0,"secret":', id)`,
  sqlserver: `ALTER TABLE notes ALTER COLUMN weight nvarchar(40)\nGO\nUPDATE notes SET weight = CONCAT('0,"secret":', id)`,
}

for (const target of WHOLE_PATH_TARGETS)
  describe(`a schema that changes while the ${target.label} server serves it`, () => {
    let server: TestServer
    let database: TestDatabase
    let folder: GatewayFolder
    let running: RunningGateway
    let endpoint: string
    let key: string

    before(async () => {
      server = await target.start()
      database = await server.createDatabase(notesSetup(server))
      folder = await prepareGateway({
        connectors: [{ id: 'notes', settings: database.reader(), policy: policyFor(target.engine, NOTES_POLICY) }],
        identities: { reader: { roles: ['reader'] } },
      })
      running = await startGateway(folder)
      endpoint = running.endpoint('notes')
      key = folder.keys['reader'] ?? ''
    })

    after(async () => {
      await running?.stop()
      await folder?.remove()
    })

    const tools = async () => JSON.stringify(await listTools(endpoint, key))
    const search = (args: unknown) => callTool(endpoint, key, 'search_notes', args)

    test('a dropped column is SCHEMA_CHANGED once; then it is gone from the list and refused like any missing one', async (t) => {
      if (leftOut(t, server, 'numbers of errors, which tell that a column is missing')) return
      assert.ok((await tools()).includes('"attributes"'))
      // Prepared and used on the connection, as a statement in real use would be.
      for (let n = 0; n < 4; n++)
        assert.equal((await search({ columns: ['id', 'attributes'], limit: 1 })).isError, false)
      await database.query('ALTER TABLE notes DROP COLUMN attributes')
      const changed = await search({ columns: ['id', 'attributes'], limit: 1 })
      assert.match(changed.text, /^SCHEMA_CHANGED: /)
      assert.doesNotMatch(changed.text, /attributes|42703|1054|207|nvalid column|does not exist|nknown column/)
      await eventually('it has introspected again', () => running.gateway.connectors.get('notes')?.epoch === 2)
      assert.ok(!(await tools()).includes('"attributes"'))
      // MySQL knows columns by their places alone, so those behind it are others until the policy is applied again.
      assert.equal((await tools()).includes('"raw"'), target.engine !== 'mysql')
      assert.equal((await search({ limit: 1 })).isError, false)
      const missing = await search({ columns: ['id', 'attributes'] })
      const never = await search({ columns: ['id', 'attribtues'] })
      assert.match(missing.text, /^ARGUMENT_COLUMN: /)
      assert.match(never.text, /^ARGUMENT_COLUMN: /)
      const { code, reason } = folder.entries().find((entry) => entry.code === 'SCHEMA_CHANGED') ?? {}
      assert.equal(code, 'SCHEMA_CHANGED')
      assert.match(
        reason ?? '',
        forEngine({ postgres: /42703/, mysql: /no longer the one/, sqlserver: /\[(?:207|289) / }, target.engine),
      )
    })

    test('a changed type is found by a statement that was prepared before it, forges nothing in others, and a reload serves the rest', async () => {
      const args = { columns: ['id', 'weight'], limit: 1 }
      for (let n = 0; n < 4; n++) assert.equal((await search(args)).isError, false)
      const before = running.gateway.connectors.get('notes')?.epoch ?? 0
      await database.query(forEngine(OTHER_TYPE, target.engine))
      const changed = await search(args)
      assert.match(changed.text, /^SCHEMA_CHANGED: /)
      const first = await search({ columns: ['weight', 'id'], limit: 3 })
      assert.doesNotMatch(first.text, /"secret":/)
      // The refusal has made it introspect again, which may be over by now: then there is nothing left to swap.
      assert.match((await running.gateway.reload('signal')).connectors[0]?.outcome ?? '', /^(?:reloaded|unchanged)$/)
      assert.ok((running.gateway.connectors.get('notes')?.epoch ?? 0) > before, 'a new snapshot serves')
      assert.equal((await search({ columns: ['id'], limit: 1 })).isError, false)
    })

    test('a dropped table takes its tools with it and no others', async (t) => {
      const before = running.gateway.connectors.get('notes')?.epoch ?? 0
      await database.query('DROP TABLE links')
      const { text } = await callTool(endpoint, key, 'search_links', {})
      if (!leftOut(t, server, 'numbers of errors, which tell that a table is missing'))
        assert.match(text, /^SCHEMA_CHANGED: /)
      // The refusal has made it introspect again, which may be over by now: then there is nothing left to swap.
      assert.match((await running.gateway.reload('signal')).connectors[0]?.outcome ?? '', /^(?:reloaded|unchanged)$/)
      assert.ok((running.gateway.connectors.get('notes')?.epoch ?? 0) > before, 'a new snapshot serves')
      assert.ok(!(await tools()).includes('links'))
      assert.match((await callTool(endpoint, key, 'search_links', {})).text, /^TOOL_UNKNOWN: /)
      assert.ok((await tools()).includes('search_notes'))
    })
  })

/** Orders in shops: keys of two columns, a key that leads into another schema where there are several, a view, a trigger, a routine. */
const PARTS_SETUPS: PerEngine<string> = {
  postgres: `
CREATE SCHEMA stock;
CREATE TABLE stock.items (sku text PRIMARY KEY, stocked integer NOT NULL, on_hand integer NOT NULL);
INSERT INTO stock.items VALUES ('a', 10, 10), ('b', 5, 5);
CREATE TABLE orders (shop integer, number integer, placed date NOT NULL, PRIMARY KEY (shop, number));
INSERT INTO orders VALUES (1, 1, '2024-01-01'), (1, 2, '2024-01-02'), (2, 1, '2024-01-03');
CREATE TABLE lines (
  shop integer, number integer, place integer, sku text NOT NULL REFERENCES stock.items (sku), quantity integer NOT NULL,
  PRIMARY KEY (shop, number, place),
  FOREIGN KEY (shop, number) REFERENCES orders (shop, number)
);
CREATE VIEW sold AS SELECT l.sku, sum(l.quantity)::integer AS quantity FROM lines l GROUP BY l.sku;
CREATE FUNCTION count_stock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE stock.items i SET on_hand = stocked - coalesce((SELECT sum(quantity) FROM public.lines l WHERE l.sku = i.sku), 0);
  RETURN NULL;
END $$;
CREATE TRIGGER count_stock AFTER INSERT OR UPDATE ON lines FOR EACH ROW EXECUTE FUNCTION count_stock();
CREATE PROCEDURE stock.restock(of_sku text, by_count integer) LANGUAGE sql AS
  'UPDATE stock.items SET stocked = stocked + by_count, on_hand = on_hand + by_count WHERE sku = of_sku';
`,
  mysql: `
CREATE TABLE items (sku varchar(20) PRIMARY KEY, stocked int NOT NULL, on_hand int NOT NULL);
INSERT INTO items VALUES ('a', 10, 10), ('b', 5, 5);
CREATE TABLE orders (shop int, number int, placed date NOT NULL, PRIMARY KEY (shop, number));
INSERT INTO orders VALUES (1, 1, '2024-01-01'), (1, 2, '2024-01-02'), (2, 1, '2024-01-03');
CREATE TABLE \`lines\` (
  shop int, number int, place int, sku varchar(20) NOT NULL, quantity int NOT NULL,
  PRIMARY KEY (shop, number, place),
  FOREIGN KEY (shop, number) REFERENCES orders (shop, number), FOREIGN KEY (sku) REFERENCES items (sku)
);
CREATE VIEW sold AS SELECT sku, CAST(SUM(quantity) AS SIGNED) AS quantity FROM \`lines\` GROUP BY sku;
CREATE PROCEDURE count_stock()
  UPDATE items i SET on_hand = stocked - COALESCE((SELECT SUM(quantity) FROM \`lines\` l WHERE l.sku = i.sku), 0);
CREATE TRIGGER lines_made AFTER INSERT ON \`lines\` FOR EACH ROW CALL count_stock();
CREATE TRIGGER lines_changed AFTER UPDATE ON \`lines\` FOR EACH ROW CALL count_stock();
CREATE PROCEDURE restock(of_sku varchar(20), by_count int)
  UPDATE items SET stocked = stocked + by_count, on_hand = on_hand + by_count WHERE sku = of_sku;
`,
  sqlserver: `
CREATE SCHEMA stock
GO
CREATE TABLE stock.items (sku nvarchar(20) PRIMARY KEY, stocked int NOT NULL, on_hand int NOT NULL);
INSERT INTO stock.items VALUES ('a', 10, 10), ('b', 5, 5);
CREATE TABLE orders (shop int, number int, placed date NOT NULL, PRIMARY KEY (shop, number));
INSERT INTO orders VALUES (1, 1, '2024-01-01'), (1, 2, '2024-01-02'), (2, 1, '2024-01-03');
CREATE TABLE lines (
  shop int, number int, place int, sku nvarchar(20) NOT NULL REFERENCES stock.items (sku), quantity int NOT NULL,
  PRIMARY KEY (shop, number, place),
  FOREIGN KEY (shop, number) REFERENCES orders (shop, number)
)
GO
CREATE VIEW sold AS SELECT sku, SUM(quantity) AS quantity FROM lines GROUP BY sku
GO
CREATE TRIGGER count_stock ON lines AFTER INSERT, UPDATE AS
BEGIN
  SET NOCOUNT ON;
  UPDATE stock.items SET on_hand = stocked - COALESCE((SELECT SUM(quantity) FROM dbo.lines l WHERE l.sku = items.sku), 0);
END
GO
CREATE PROCEDURE stock.restock @of_sku nvarchar(20), @by_count int AS
  UPDATE stock.items SET stocked = stocked + @by_count, on_hand = on_hand + @by_count WHERE sku = @of_sku
`,
}
const PARTS_POLICY = `
version: 1
defaults: { query_timeout_ms: 30000 }
tables:
  main.orders: {}
  main.lines: { create: { columns: [shop, number, place, sku, quantity] }, update: { columns: [quantity] } }
  main.sold: { key: [sku] }
  stock.items: {}
procedures: { stock.restock: { effect: write } }
roles: { clerk: { read: ['*'], create: ['*'], update: ['*'], call: ['*'] } }
`

for (const target of WHOLE_PATH_TARGETS)
  describe(`a schema of many parts on the ${target.label} server`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let gateway: SpawnedGateway
    let clerk: Caller

    before(async () => {
      const server = await target.start()
      database = await server.createDatabase(forEngine(PARTS_SETUPS, target.engine))
      const several = ENGINE_CAPABILITIES[target.engine].schemas
      const schemas = several ? [database.schema, 'stock'] : [database.schema]
      const policy = several
        ? PARTS_POLICY.replaceAll('main.', `${database.schema}.`)
        : PARTS_POLICY.replace(/\b(?:main|stock)\./g, '')
      folder = await prepareGateway({
        connectors: [{ id: 'shop', settings: writerOn(server, database, { schemas }), policy }],
        identities: { clerk: { roles: ['clerk'] } },
      })
      gateway = await spawnGateway(folder, ['shop'])
      clerk = callerOf(gateway.endpoint('shop'), folder.keys['clerk'])
    })

    after(async () => {
      gateway?.child.kill('SIGTERM')
      await gateway?.exited
      await folder?.remove()
      await database?.drop()
    })

    /** As tools call it: with its schema, where there are several. */
    const named = (name: string, schema = database.schema) =>
      ENGINE_CAPABILITIES[target.engine].schemas ? `${schema}_${name}` : name
    const items = async () =>
      (await clerk.result(`search_${named('items', 'stock')}`, { columns: ['sku', 'stocked', 'on_hand'] }))['rows']

    test('keys of several columns and into another schema are relations, with every column in its place', async () => {
      const { tables } = (await clerk.result('schema_overview', { table: named('lines') })) as {
        readonly tables?: readonly { readonly relations?: readonly { readonly columns: readonly string[] }[] }[]
      }
      const relations = tables?.[0]?.relations ?? []
      assert.deepEqual(
        relations.toSorted((a, b) => a.columns.length - b.columns.length),
        [
          { columns: ['sku'], references: named('items', 'stock'), referenced_columns: ['sku'] },
          { columns: ['shop', 'number'], references: named('orders'), referenced_columns: ['shop', 'number'] },
        ],
      )
    })

    test('rows are made, found and changed by a key of several columns, and what triggers and routines did is there', async () => {
      const line = { shop: 1, number: 2, place: 1 }
      const made = await clerk.change(`create_${named('lines')}`, { values: { ...line, sku: 'a', quantity: 4 } })
      assert.deepEqual(made.rows, [{ ...line, sku: 'a', quantity: 4 }])
      const changed = await clerk.change(`update_${named('lines')}_by_pk`, { ...line, values: { quantity: 3 } })
      assert.deepEqual([changed.affected_rows, changed.rows[0]?.['quantity']], [1, 3])
      assert.deepEqual((await clerk.result(`get_${named('lines')}_by_pk`, line))['rows'], [
        { ...line, sku: 'a', quantity: 3 },
      ])
      assert.deepEqual((await clerk.result(`search_${named('sold')}`, {}))['rows'], [{ sku: 'a', quantity: 3 }])
      await clerk.result(named('restock', 'stock'), { of_sku: 'b', by_count: 2 })
      assert.deepEqual(await items(), [
        { sku: 'a', stocked: 10, on_hand: 7 },
        { sku: 'b', stocked: 7, on_hand: 7 },
      ])
    })

    test('what leads nowhere is refused, in one schema as into another, and leaves nothing behind', async () => {
      const before = await items()
      const values = { shop: 2, number: 1, place: 1, sku: 'a', quantity: 1 }
      for (const wrong of [{ number: 2 }, { sku: 'c' }, { shop: 1, number: 2 }]) {
        const { code, id } = await clerk.refusal(`create_${named('lines')}`, { values: { ...values, ...wrong } })
        assert.equal(code, 'DB_CONSTRAINT')
        assert.equal(entryOf(folder, id).effect, 'none')
      }
      assert.deepEqual(await items(), before)
      const dry = await clerk.change(`create_${named('lines')}`, { values, dry_run: true })
      assert.deepEqual([dry.dry_run, dry.affected_rows], [true, 1])
      assert.deepEqual(await items(), before)
    })
  })

for (const target of WHOLE_PATH_TARGETS)
  describe(`columns that swap their names while the ${target.label} server serves them`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let running: RunningGateway
    let endpoint: string
    let key: string

    before(async () => {
      database = await (await target.start()).createDatabase(renamesSetup(target.engine))
      const policy = policyFor(target.engine, RENAMES_POLICY)
      folder = await prepareGateway({
        connectors: [{ id: 'people', settings: database.reader(), policy }],
        identities: { reader: { roles: ['reader'] } },
      })
      running = await startGateway(folder)
      endpoint = running.endpoint('people')
      key = folder.keys['reader'] ?? ''
    })

    after(async () => {
      await running?.stop()
      await folder?.remove()
    })

    test('no call in flight gets a hidden cell; then the drift says what happened, and other tables never notice', async (t) => {
      if (leftOut(t, await target.start(), 'numbers of errors, which tell that a column is another')) return
      const everything = { columns: ['id', 'note'], limit: 50 }
      const staff = await callTool(endpoint, key, 'search_staff', everything)
      assert.equal(staff.isError, false)
      let done = false
      const refusals: string[] = []
      const caller = async (n: number): Promise<void> => {
        while (!done) {
          const others = n % 8 === 0
          const answer = await callTool(endpoint, key, others ? 'search_staff' : 'search_people', everything)
          assert.doesNotMatch(answer.text, /secret/)
          if (others) assert.equal(answer.text, staff.text)
          else if (answer.isError) refusals.push(answer.text)
        }
      }
      const callers = Promise.all(Array.from({ length: 64 }, (_, n) => caller(n)))
      try {
        await database.query(renameColumns(target.engine, { note: 'ssn', ssn: 'note' }))
        await eventually('it has introspected again', () => (running.gateway.connectors.get('people')?.epoch ?? 0) > 1)
        await eventually('the column is refused like one that is not there', () =>
          refusals.some((text) => text.startsWith('ARGUMENT_COLUMN: ')),
        )
      } finally {
        done = true
        await callers
      }
      assert.match(refusals[0] ?? '', /^SCHEMA_CHANGED: /)
      assert.match(JSON.stringify(running.observations), /have changed places/)
      const rest = await callTool(endpoint, key, 'search_people', { columns: ['id', 'spare'], limit: 50 })
      assert.equal(rest.isError, false)
      assert.doesNotMatch(rest.text, /secret/)
      const reasons = folder.entries().filter((entry) => entry.code === 'SCHEMA_CHANGED')
      assert.ok(reasons.length > 0)
    })
  })
