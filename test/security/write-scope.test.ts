import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { forEngine, type PerEngine } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  prepareGateway,
  type RunningGateway,
  startGateway,
  type ToolAnswer,
} from '../support/gateway.js'
import { ENGINES, writable } from '../support/security-engines.js'
import { numbers, policyFor } from '../support/security-sql.js'
import type { TestDatabase } from '../support/test-server.js'

const SETUP: PerEngine<string> = {
  postgres: `
CREATE TABLE notes (
  id int PRIMARY KEY, tenant text NOT NULL, body text, level int, gone boolean NOT NULL DEFAULT false, stamp text, hidden text);
INSERT INTO notes SELECT i, CASE WHEN i <= 20 THEN 'acme' ELSE 'beta' END, 'note ' || i, i % 5, i % 10 = 0, 'old', 'SENTINEL ' || i
FROM generate_series(1, 40) AS i;
CREATE TABLE lines (page text, tenant text, body text);
INSERT INTO lines SELECT 'page ' || i % 2, CASE WHEN i <= 6 THEN 'acme' ELSE 'beta' END, 'line' FROM generate_series(1, 12) AS i;
`,
  mysql: `
CREATE TABLE notes (
  id int PRIMARY KEY, tenant varchar(40) NOT NULL, body text, level int, gone tinyint(1) NOT NULL DEFAULT 0, stamp text, hidden text);
INSERT INTO notes SELECT i, IF(i <= 20, 'acme', 'beta'), CONCAT('note ', i), i % 5, i % 10 = 0, 'old', CONCAT('SENTINEL ', i)
FROM ${numbers('mysql', 1, 40)};
CREATE TABLE \`lines\` (page varchar(40), tenant varchar(40), body text);
INSERT INTO \`lines\` SELECT CONCAT('page ', i % 2), IF(i <= 6, 'acme', 'beta'), 'line' FROM ${numbers('mysql', 1, 12)};
`,
  sqlserver: `
CREATE TABLE notes (
  id int PRIMARY KEY, tenant nvarchar(40) NOT NULL, body nvarchar(200), level int, gone bit NOT NULL DEFAULT 0,
  stamp nvarchar(40), hidden nvarchar(40));
INSERT INTO notes SELECT i, IIF(i <= 20, 'acme', 'beta'), CONCAT('note ', i), i % 5, IIF(i % 10 = 0, 1, 0), 'old',
  CONCAT('SENTINEL ', i)
FROM ${numbers('sqlserver', 1, 40)};
CREATE TABLE lines (page nvarchar(40), tenant nvarchar(40), body nvarchar(200));
INSERT INTO lines SELECT CONCAT('page ', i % 2), IIF(i <= 6, 'acme', 'beta'), 'line' FROM ${numbers('sqlserver', 1, 12)};
`,
}
/** How the same is asked of either engine, past the gateway. */
const ROW_OF: PerEngine<string> = {
  postgres: 'SELECT tenant, body, level, gone, stamp, hidden FROM notes WHERE id = $1',
  mysql: 'SELECT tenant, body, level, gone, stamp, hidden FROM notes WHERE id = ?',
  sqlserver: 'SELECT tenant, body, level, gone, stamp, hidden FROM notes WHERE id = @p1',
}
const LINES_CHANGED: PerEngine<string> = {
  postgres: "SELECT count(*) FROM lines WHERE body <> 'line'",
  mysql: "SELECT COUNT(*) FROM `lines` WHERE body <> 'line'",
  sqlserver: "SELECT COUNT(*) FROM lines WHERE body <> 'line'",
}
const ONE_LINE_LESS: PerEngine<string> = {
  postgres: "DELETE FROM lines WHERE ctid = (SELECT min(ctid) FROM lines WHERE tenant = 'acme' AND page = 'page 1')",
  mysql: "DELETE FROM `lines` WHERE tenant = 'acme' AND page = 'page 1' LIMIT 1",
  sqlserver: "DELETE TOP (1) FROM lines WHERE tenant = 'acme' AND page = 'page 1'",
}
const FALSE: PerEngine<string> = { postgres: 'f', mysql: '0', sqlserver: 'false' }
const POLICY = `
version: 1
tables:
  public.notes:
    mask: [hidden]
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
    create: { columns: [id, tenant, body, level, hidden], preset: { stamp: { claim: stamp }, hidden: SENTINELPRESET } }
    update: { columns: [tenant, body, level, stamp, hidden], preset: { stamp: { claim: stamp } } }
    soft_delete: { column: gone, value: true }
  public.lines:
    key: [page]
    max_affected_rows: 2
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
    update: { columns: [body] }
roles:
  writer: { read: ['*'], create: [public.notes], update: ['*'], soft_delete: [public.notes] }
identities: { held: { read_only: true } }
`
const CLAIMS = (tenant: string) => new Map(Object.entries({ tenant, stamp: `by ${tenant}` }))

for (const engine of ENGINES) {
  describe(`changes and row scope on ${engine.label}`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let gateway: RunningGateway
    before(async () => {
      const server = await engine.start()
      const { triggers, login } = writable(server, ['notes', 'lines'])
      database = await server.createDatabase(`${forEngine(SETUP, engine.engine)}${triggers}`)
      folder = await prepareGateway({
        connectors: [
          { id: 'notes', settings: login(database, { pool: { max: 1 } }), policy: policyFor(engine.engine, POLICY) },
        ],
        identities: {
          acme: { roles: ['writer'], claims: CLAIMS('acme') },
          beta: { roles: ['writer'], claims: CLAIMS('beta') },
          held: { roles: ['writer'], claims: CLAIMS('acme') },
          stampless: { roles: ['writer'], claims: new Map([['tenant', 'acme']]) },
          lost: { roles: ['writer'] },
        },
      })
      gateway = await startGateway(folder)
    })
    after(async () => {
      await gateway.stop()
      await folder.remove()
      await database.drop()
    })

    const call = (name: string, tool: string, args: unknown): Promise<ToolAnswer> =>
      callTool(gateway.endpoint('notes'), folder.keys[name], tool, args)
    const rowOf = async (id: number) => (await database.query(forEngine(ROW_OF, engine.engine), [String(id)]))[0]
    const contents = async () => JSON.stringify(await database.query('SELECT * FROM notes ORDER BY id'))

    test('a row out of scope, a deleted one and one that does not exist are one answer and one entry', async () => {
      const before = await contents()
      for (const [tool, more] of [
        ['update_notes_by_pk', { values: { body: 'taken' } }],
        ['update_notes_by_pk', { values: { body: 'taken' }, expected: { body: 'note 25' } }],
        ['update_notes_by_pk', { values: { body: 'taken' }, dry_run: true }],
        ['soft_delete_notes_by_pk', {}],
        ['soft_delete_notes_by_pk', { expected: { level: 0 } }],
        ['soft_delete_notes_by_pk', { dry_run: true }],
      ] as const) {
        const first = folder.entries().length
        const missing = await call('acme', tool, { id: 987_654, ...more })
        assert.match(missing.text, /^ROW_NOT_FOUND/)
        for (const id of [25, 30, 40, 10, 20, -1]) {
          assert.deepEqual(await call('acme', tool, { id, ...more }), missing, `${tool} ${id}`)
        }
        const entries = folder.entries().slice(first)
        const told = entries.map(({ decision, code, reason, effect, rows, affected, target, plan }) =>
          JSON.stringify({ decision, code, reason, effect, rows, affected, target, columns: plan?.columns }),
        )
        assert.equal(entries.length, 7)
        assert.equal(new Set(told).size, 1, told.join('\n'))
      }
      assert.equal(await contents(), before)
    })

    test('a written row must be in scope, or nothing is written', async () => {
      const before = await contents()
      for (const [tool, args] of [
        ['update_notes_by_pk', { id: 3, values: { tenant: 'beta' } }],
        ['update_notes_by_pk', { id: 3, values: { tenant: 'beta', body: 'moved' }, dry_run: true }],
        ['create_notes', { values: { id: 501, tenant: 'beta', body: 'planted' } }],
        ['create_notes', { values: { id: 501, tenant: '', body: 'planted' }, dry_run: true }],
      ] as const) {
        assert.match((await call('acme', tool, args)).text, /^POLICY_WRITTEN_ROW/, JSON.stringify(args))
      }
      assert.equal(await contents(), before)
      assert.equal((await call('acme', 'create_notes', { values: { id: 501, tenant: 'acme' } })).isError, false)
    })

    test('presets win, and what is preset, masked or unlisted is no argument', async () => {
      const made = await call('acme', 'create_notes', { values: { id: 502, tenant: 'acme', body: 'mine' } })
      assert.equal(made.isError, false, made.text)
      assert.deepEqual(await rowOf(502), [
        'acme',
        'mine',
        null,
        forEngine(FALSE, engine.engine),
        'by acme',
        'SENTINELPRESET',
      ])
      assert.doesNotMatch(JSON.stringify(made), /SENTINEL|hidden/)
      const before = await contents()
      const nothing = await call('acme', 'update_notes_by_pk', { id: 4, values: { nothing: 'x' } })
      for (const name of ['stamp', 'hidden', 'gone', 'id', 'HIDDEN', 'ctid', '__proto__']) {
        const args = JSON.parse(`{"id":4,"values":{"body":"y","${name}":"x"}}`)
        const { isError, text } = await call('acme', 'update_notes_by_pk', args)
        assert.ok(isError, name)
        assert.match(text, /^ARGUMENT_COLUMN/)
        assert.equal(text.replaceAll(name, 'nothing'), nothing.text)
      }
      for (const name of ['hidden', 'nothing']) {
        const { text } = await call('acme', 'update_notes_by_pk', {
          id: 4,
          values: { body: 'y' },
          expected: { [name]: 'SENTINEL 4' },
        })
        assert.match(text, /^ARGUMENT_COLUMN/)
      }
      assert.equal(await contents(), before)
    })

    test('a claim that is missing fails closed on every change, and a read-only identity has none', async () => {
      const before = await contents()
      const asked: readonly (readonly [string, object])[] = [
        ['update_notes_by_pk', { id: 5, values: { body: 'x' } }],
        ['create_notes', { values: { id: 601, tenant: 'acme' } }],
        ['soft_delete_notes_by_pk', { id: 5 }],
        ['update_lines_by_pk', { page: 'page 1', values: { body: 'x' } }],
      ]
      const writing = (await listTools(gateway.endpoint('notes'), folder.keys['lost'])).filter(({ name }) =>
        /^(?:create|update|soft_delete)_/.test(name),
      )
      assert.deepEqual(writing.map(({ name }) => name).sort(), asked.map(([name]) => name).sort())
      for (const [tool, args] of asked) {
        const { text } = await call('lost', tool, args)
        assert.match(text, /^POLICY_SCOPE/, tool)
        assert.doesNotMatch(text, /tenant|stamp/)
        assert.equal((await call('held', tool, args)).rpcError?.code, -32602)
      }
      for (const [tool, args] of asked.slice(0, 2))
        assert.match((await call('stampless', tool, args)).text, /^POLICY_SCOPE/)
      assert.equal(await contents(), before)
    })

    test('a change of more rows than allowed changes none, whatever lies out of scope', async () => {
      const lines = () => database.query(forEngine(LINES_CHANGED, engine.engine))
      for (const dry_run of [true, false]) {
        const { text } = await call('acme', 'update_lines_by_pk', { page: 'page 1', values: { body: 'x' }, dry_run })
        assert.match(text, /^AFFECTED_LIMIT/)
        assert.doesNotMatch(text, /\d/)
      }
      assert.deepEqual(await lines(), [['0']])
      await database.query(forEngine(ONE_LINE_LESS, engine.engine))
      assert.equal((await call('acme', 'update_lines_by_pk', { page: 'page 1', values: { body: 'x' } })).isError, false)
      assert.deepEqual(await lines(), [['2']])
    })

    test('an idempotency key is one identity’s own, and keeps nothing of a row', async () => {
      const args = { id: 7, values: { body: 'SENTINELBODY' }, idempotency_key: 'one' }
      const first = await call('acme', 'update_notes_by_pk', args)
      assert.equal(first.isError, false, first.text)
      const again = await call('acme', 'update_notes_by_pk', args)
      assert.match(again.text, /"replayed":true/)
      assert.doesNotMatch(again.text, /SENTINELBODY|note 7/)
      assert.match((await call('acme', 'update_notes_by_pk', { ...args, id: 8 })).text, /^IDEMPOTENCY_CONFLICT/)
      // To another identity the key is new, and the row is none of its own.
      assert.match((await call('beta', 'update_notes_by_pk', args)).text, /^ROW_NOT_FOUND/)
      assert.match((await call('beta', 'update_notes_by_pk', { ...args, id: 27 })).text, /^(?:\{|IDEMPOTENCY_CONFLICT)/)
      for (const file of [folder.storeFile, folder.bufferFile]) {
        assert.doesNotMatch(contentsOf(file), /SENTINELBODY|SENTINEL \d|note 7/, file)
      }
    })
  })
}

/** Every cell of every table of a SQLite file, as text. */
function contentsOf(file: string): string {
  const db = new Database(file, { readonly: true })
  try {
    const tables = db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all()
    return tables.map((name) => JSON.stringify([name, db.prepare(`SELECT * FROM "${name}"`).all()])).join('\n')
  } finally {
    db.close()
  }
}
