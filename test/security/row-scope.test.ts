import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ClaimValue } from '../../src/core/identity.js'
import type { EngineName } from '../../src/core/schema-model.js'
import { forEngine, type PerEngine } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  listTools,
  prepareGateway,
  type RunningGateway,
  startGateway,
  type TestIdentity,
} from '../support/gateway.js'
import { ENGINES } from '../support/security-engines.js'
import { exactText, keyText, longText, numbers, policyFor } from '../support/security-sql.js'
import type { TestDatabase } from '../support/test-server.js'

const TENANTS = ['acme', 'beta', 'gamma', 'delta'] as const
const ROWS_PER_TENANT = 25

function setup(engine: EngineName): string {
  const word = keyText(engine)
  const labelled = (text: string): string =>
    forEngine(
      {
        postgres: `'${text} ' || i`,
        mysql: `CONCAT('${text} ', i)`,
        sqlserver: `CONCAT('${text} ', i)`,
      },
      engine,
    )
  return `
CREATE TABLE notes (id int PRIMARY KEY, tenant ${exactText(engine)} NOT NULL, level int, body ${word}, hidden ${longText(engine)});
CREATE INDEX notes_tenant ON notes (tenant);
${TENANTS.map(
  (tenant, t) => `INSERT INTO notes
  SELECT ${t * 1000} + i, '${tenant}', i % 5, ${labelled(`${tenant} note`)}, ${labelled(`${tenant} secret`)}
  FROM ${numbers(engine, 1, ROWS_PER_TENANT)};`,
).join('\n')}
CREATE TABLE marks (id int PRIMARY KEY, tenant ${exactText(engine)}, level int);
INSERT INTO marks SELECT id, tenant, level FROM notes;
INSERT INTO marks VALUES (9001, NULL, 1);
CREATE TABLE replies (id int PRIMARY KEY, note_id int, CONSTRAINT replies_note FOREIGN KEY (note_id) REFERENCES notes (id));
INSERT INTO replies SELECT id, id FROM notes;
INSERT INTO replies SELECT id + 10000, id FROM notes;
INSERT INTO replies VALUES (99001, NULL);
${forEngine({ postgres: 'ANALYZE notes, marks', mysql: 'ANALYZE TABLE notes, marks', sqlserver: 'EXEC sp_updatestats' }, engine)};
`
}

const POLICY = `
version: 1
tables:
  public.notes:
    mask: [hidden]
    row_filter: [{ column: tenant, op: eq, value: { claim: tenant } }]
  public.marks: {}
  public.replies: { row_filter: [{ parent: [note_id] }] }
roles:
  reader: { read: ['*'], row_filter: { public.marks: [{ column: tenant, op: in, values: { claim: tenants } }] } }
  low: { read: [public.marks], row_filter: { public.marks: [{ column: level, op: lt, value: { claim: level } }] } }
  counter: { aggregate: [public.notes] }
`

/** A session that waits for a statement, outside of any transaction. */
const IDLE: PerEngine<string> = { postgres: 'idle', mysql: 'Sleep', sqlserver: 'sleeping' }
/** Transactions that the session of a number has open. */
const OPEN_TRANSACTIONS: PerEngine<string> = {
  postgres: "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND state LIKE 'idle in transaction%'",
  mysql: 'SELECT count(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = ?',
  sqlserver: 'SELECT open_transaction_count FROM sys.dm_exec_sessions WHERE session_id = @p1',
}
/** A column that has extremes: no text of SQL Server does. */
const LEAST_AND_MOST: PerEngine<'tenant' | 'id'> = { postgres: 'tenant', mysql: 'tenant', sqlserver: 'id' }
const GREATEST: PerEngine<string> = { postgres: 'body', mysql: 'body', sqlserver: 'id' }
/** Rows of a tenant that a claim with a space behind its name gets: to SQL Server the two are one text, in every collation. */
const ROWS_OF_SPACED: PerEngine<number> = { postgres: 0, mysql: 0, sqlserver: ROWS_PER_TENANT }

function holder(roles: readonly string[], claims: Readonly<Record<string, ClaimValue>> = {}): TestIdentity {
  return { roles, claims: new Map(Object.entries(claims)) }
}

const IDENTITIES: Readonly<Record<string, TestIdentity>> = {
  ...Object.fromEntries(TENANTS.map((tenant) => [tenant, holder(['reader'], { tenant, tenants: [tenant] })])),
  lost: holder(['reader', 'low', 'counter']),
  listed: holder(['reader'], { tenant: ['acme', 'beta'], tenants: ['acme', 'beta'] }),
  single: holder(['reader'], { tenant: 'acme', tenants: 'acme' }),
  empty: holder(['reader'], { tenant: '', tenants: [] }),
  numbered: holder(['reader'], { tenant: 7, tenants: [7] }),
  wild: holder(['reader'], { tenant: '%', tenants: ['%', "' OR '1'='1"] }),
  loud: holder(['reader'], { tenant: 'ACME', tenants: ['ACME', 'Beta'] }),
  spaced: holder(['reader'], { tenant: 'acme ', tenants: ['acme ', ' beta'] }),
  low: holder(['low'], { level: 2 }),
  low_wrong: holder(['low'], { level: 'two' }),
  low_half: holder(['low', 'reader'], { tenants: ['beta'] }),
  both: holder(['low', 'reader'], { tenants: ['beta'], level: 1 }),
}

interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly row_count: number
}

for (const engine of ENGINES) {
  describe(`row scope on ${engine.label}`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let gateway: RunningGateway
    before(async () => {
      database = await (await engine.start()).createDatabase(setup(engine.engine))
      folder = await prepareGateway({
        connectors: [
          { id: 'notes', settings: database.reader({ pool: { max: 1 } }), policy: policyFor(engine.engine, POLICY) },
        ],
        identities: IDENTITIES,
      })
      gateway = await startGateway(folder)
    })
    after(async () => {
      await gateway.stop()
      await folder.remove()
      await database.drop()
    })

    const call = (name: string, tool: string, args: unknown) =>
      callTool(gateway.endpoint('notes'), folder.keys[name], tool, args)

    async function rows(name: string, tool: string, args: unknown): Promise<Rows> {
      const answer = await call(name, tool, args)
      assert.equal(answer.isError, false, answer.text)
      // The shape is the tool's own; a result of another fails what follows.
      return answer.structured as Rows
    }

    async function count(name: string, tool: string, args: object = {}): Promise<unknown> {
      return (await rows(name, tool, { metrics: [{ fn: 'count' }], ...args })).rows[0]?.['count']
    }

    test('a row out of scope and a row that does not exist are one answer, and one entry but for the key', async () => {
      const own = await call('acme', 'get_notes_by_pk', { id: 3 })
      assert.match(own.text, /acme note 3/)
      for (const id of [1003, 2003, 999_999, -1, 0]) {
        const answer = await call('acme', 'get_notes_by_pk', { id })
        assert.deepEqual(answer, await call('acme', 'get_notes_by_pk', { id: 123_456 }))
        assert.match(answer.text, /^ROW_NOT_FOUND/)
      }
      const entries = folder.entries().filter((entry) => entry.code === 'ROW_NOT_FOUND')
      const seen = new Set(
        entries.map(({ decision, target, plan, rows: given }) =>
          JSON.stringify([
            decision,
            target,
            plan?.columns,
            plan?.filters?.map(({ column, op }) => [column, op]),
            given,
          ]),
        ),
      )
      assert.equal(seen.size, 1)
    })

    test('no call reaches past the scope, and no count includes what lies there', async () => {
      for (const tenant of TENANTS) {
        for (const other of TENANTS) {
          const filters = [{ column: 'tenant', op: 'eq', value: other }]
          const expected = other === tenant ? ROWS_PER_TENANT : 0
          assert.equal((await rows(tenant, 'search_notes', { filters })).row_count, expected)
          assert.equal(await count(tenant, 'aggregate_notes', { filters }), expected)
        }
        for (const filters of [
          [{ column: 'tenant', op: 'neq', value: tenant }],
          [{ column: 'tenant', op: 'is_null' }],
          [
            { column: 'body', op: 'ilike', value: 'gamma%' },
            { column: 'tenant', op: 'neq', value: tenant },
          ],
        ]) {
          assert.equal((await rows(tenant, 'search_notes', { filters })).row_count, 0)
          assert.equal(await count(tenant, 'aggregate_notes', { filters }), 0)
        }
        assert.equal(await count(tenant, 'aggregate_notes'), ROWS_PER_TENANT)
        const grouped = await rows(tenant, 'aggregate_notes', { metrics: [{ fn: 'count' }], group_by: ['tenant'] })
        assert.deepEqual(grouped.rows, [{ tenant, count: ROWS_PER_TENANT }])
        const column = forEngine(LEAST_AND_MOST, engine.engine)
        const extremes = await rows(tenant, 'aggregate_notes', {
          metrics: [
            { fn: 'min', column },
            { fn: 'max', column },
            { fn: 'count_distinct', column: 'tenant' },
          ],
        })
        const first = TENANTS.indexOf(tenant) * 1_000 + 1
        const own = column === 'id' ? [first, first + ROWS_PER_TENANT - 1] : [tenant, tenant]
        assert.deepEqual(Object.values(extremes.rows[0] ?? {}), [...own, 1])
        const listed = await rows(tenant, 'search_notes', {
          limit: 100,
          order_by: [{ column: 'id', direction: 'desc' }],
        })
        assert.ok(listed.rows.every((row) => row['tenant'] === tenant))
      }
    })

    test('a row hangs on another whatever is asked of it: without one in scope it does not exist', async () => {
      for (const tenant of TENANTS) {
        const first = TENANTS.indexOf(tenant) * 1_000 + 1
        assert.equal(await count(tenant, 'aggregate_replies'), ROWS_PER_TENANT * 2)
        assert.equal((await rows(tenant, 'search_replies', { limit: 100 })).row_count, ROWS_PER_TENANT * 2)
        const least = await rows(tenant, 'aggregate_replies', { metrics: [{ fn: 'min', column: 'note_id' }] })
        assert.deepEqual(Object.values(least.rows[0] ?? {}), [first])
        for (const filters of [
          [{ column: 'note_id', op: 'is_null' }],
          [{ column: 'note_id', op: 'gte', value: first + 1_000 - 1 }],
          [{ column: 'note_id', op: 'lt', value: first }],
        ]) {
          assert.equal(await count(tenant, 'aggregate_replies', { filters }), 0)
          assert.equal((await rows(tenant, 'search_replies', { filters })).row_count, 0)
        }
        const strange = (first + 1_000) % (TENANTS.length * 1_000)
        const answer = await call(tenant, 'get_replies_by_pk', { id: strange })
        assert.match(answer.text, /^ROW_NOT_FOUND/)
        assert.deepEqual(answer, await call(tenant, 'get_replies_by_pk', { id: 123_456 }))
        assert.deepEqual(answer, await call(tenant, 'get_replies_by_pk', { id: 99_001 }))
      }
    })

    test('a claim that is missing fails closed, on every tool', async () => {
      const tools = await listTools(gateway.endpoint('notes'), folder.keys['lost'])
      const asked: Readonly<Record<string, unknown>> = {
        get_notes_by_pk: { id: 3 },
        get_marks_by_pk: { id: 3 },
        search_notes: {},
        search_marks: {},
        aggregate_notes: { metrics: [{ fn: 'count' }] },
        get_replies_by_pk: { id: 3 },
        search_replies: {},
        aggregate_replies: { metrics: [{ fn: 'count' }] },
        aggregate_marks: { metrics: [{ fn: 'count' }] },
      }
      for (const { name } of tools) {
        if (name === 'schema_overview') continue
        assert.ok(name in asked, `the test does not know ${name}`)
        const answer = await call('lost', name, asked[name])
        assert.match(answer.text, /^POLICY_SCOPE/, name)
        assert.doesNotMatch(answer.text, /tenant|level/)
      }
    })

    test('a list fits `in` alone, and a single value fits both', async () => {
      assert.match((await call('listed', 'search_notes', {})).text, /^POLICY_SCOPE/)
      assert.equal(await count('listed', 'aggregate_marks'), ROWS_PER_TENANT * 2)
      assert.equal(await count('single', 'aggregate_notes'), ROWS_PER_TENANT)
      assert.equal(await count('single', 'aggregate_marks'), ROWS_PER_TENANT)
    })

    test('a claim is a value: an empty, numeric or wild one matches itself and nothing more', async () => {
      for (const name of ['empty', 'wild', 'loud', 'spaced']) {
        const own = name === 'spaced' ? forEngine(ROWS_OF_SPACED, engine.engine) : 0
        assert.equal(await count(name, 'aggregate_notes'), own, name)
        assert.equal(await count(name, 'aggregate_marks'), own, name)
        assert.equal(await count(name, 'aggregate_replies'), own * 2, name)
      }
      for (const tool of ['search_notes', 'search_marks']) {
        // Text that is no text is refused rather than turned into some.
        assert.match((await call('numbered', tool, {})).text, /^POLICY_SCOPE/)
      }
      assert.match((await call('low_wrong', 'search_marks', {})).text, /^POLICY_SCOPE/)
    })

    test('several roles give the rows of any of them, and a role without its claim gives none', async () => {
      // Levels 0 and 1 are two fifths of each tenant, and one row of no tenant is of level 1.
      assert.equal(await count('low', 'aggregate_marks'), (ROWS_PER_TENANT * TENANTS.length * 2) / 5 + 1)
      assert.equal(await count('low_half', 'aggregate_marks'), ROWS_PER_TENANT)
      assert.equal(
        await count('both', 'aggregate_marks'),
        ROWS_PER_TENANT + ((TENANTS.length - 1) * ROWS_PER_TENANT) / 5,
      )
    })

    test('identities that take turns on one connection get their own answers', async () => {
      const asked = (tenant: (typeof TENANTS)[number], i: number): [string, unknown] => {
        const at = TENANTS.indexOf(tenant) * 1_000
        switch (i % 4) {
          case 0:
            return [
              'search_notes',
              { limit: 5, order_by: [{ column: 'body', direction: i % 8 === 0 ? 'asc' : 'desc' }] },
            ]
          case 1:
            return ['get_notes_by_pk', { id: at + 1 + (i % ROWS_PER_TENANT) }]
          case 2:
            return [
              'aggregate_notes',
              {
                metrics: [{ fn: 'count' }, { fn: 'max', column: forEngine(GREATEST, engine.engine) }],
                group_by: ['tenant'],
              },
            ]
          default:
            return ['get_notes_by_pk', { id: 1 + (i % ROWS_PER_TENANT) }]
        }
      }
      const turns = Array.from({ length: 400 }, (_, i) => ({ name: TENANTS[i % TENANTS.length] ?? 'acme', i }))
      const alone = new Map<string, string>()
      for (const { name, i } of turns.slice(0, 200))
        alone.set(`${name} ${i % 200}`, (await call(name, ...asked(name, i))).text)
      const together = await Promise.all(
        turns.map(async ({ name, i }) => ({ name, i, text: (await call(name, ...asked(name, i % 200))).text })),
      )
      for (const { name, i, text } of together) {
        assert.equal(text, alone.get(`${name} ${i % 200}`))
        for (const other of TENANTS) if (other !== name) assert.ok(!text.includes(`${other} note`), `${name}: ${text}`)
      }
      const sessions = await database.sessions()
      assert.equal(sessions.length, 1, 'all of it went over one connection')
    })

    test('nothing that one caller did is left on the connection for the next', async () => {
      const sessions = await database.sessions()
      const [before] = sessions
      assert.ok(before !== undefined)
      for (const tenant of TENANTS) {
        await call(tenant, 'search_notes', { filters: [{ column: 'level', op: 'eq', value: '99999999999' }] })
        await call(tenant, 'search_notes', { filters: [{ column: 'tenant', op: 'eq', value: tenant }] })
        const [now] = await database.sessions()
        assert.equal(now?.pid, before.pid)
        assert.equal(now?.state, forEngine(IDLE, engine.engine), 'the connection waits')
        const open = await database.query(forEngine(OPEN_TRANSACTIONS, engine.engine), [String(before.pid)])
        assert.deepEqual(open, [['0']], 'no transaction is left open')
      }
    })
  })
}
