import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { forEngine, oneOfEachKind, type PerEngine } from '../support/engines.js'
import {
  callTool,
  type GatewayFolder,
  prepareGateway,
  type SpawnedGateway,
  spawnGateway,
  type ToolAnswer,
} from '../support/gateway.js'
import { ENGINES, isGenuine } from '../support/security-engines.js'
import { numbers, policyFor } from '../support/security-sql.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'

const HUGE_BYTES = 50_000_000
const KEY_BYTES = 30_000_000
const WIDE_ROWS = 100_000
const WIDE_COLUMNS = 24
const RESPONSE_CHARS = 24_000
/** What the process may grow by while it answers: some reads of `RESULT_BYTES_MAX`, and far less than the cells asked for. */
const GROWTH_BYTES_MAX = 300_000_000

const columns = Array.from({ length: WIDE_COLUMNS }, (_, i) => `c${i}`)
/** Made of their digits. */
const BYTES = `CONVERT(varbinary(max), REPLICATE(CONVERT(varchar(max), 'ab'), ${HUGE_BYTES}), 2)`
const SETUP: PerEngine<string> = {
  postgres: `
CREATE TABLE huge (id int PRIMARY KEY, body text, raw bytea, doc jsonb, list text[]);
INSERT INTO huge SELECT i, repeat('é', ${HUGE_BYTES / 2}), decode(repeat('ab', ${HUGE_BYTES}), 'hex'),
  jsonb_build_object('a', repeat('x', ${HUGE_BYTES})), ARRAY[repeat('y', ${HUGE_BYTES})] FROM ${numbers('postgres', 1, 2)};
CREATE TABLE wide (id int PRIMARY KEY, ${columns.map((name) => `${name} text`).join(', ')});
INSERT INTO wide SELECT i, ${columns.map((name) => `repeat('${name} ', 50)`).join(', ')} FROM generate_series(1, ${WIDE_ROWS}) AS i;
CREATE TABLE keyed (body text, id int);
INSERT INTO keyed SELECT repeat('k', ${KEY_BYTES}) || i, i FROM ${numbers('postgres', 1, 2)};
CREATE FUNCTION bodies() RETURNS TABLE (body text) LANGUAGE sql STABLE AS $$ SELECT body FROM public.huge $$;
`,
  mysql: `
CREATE TABLE huge (id int PRIMARY KEY, body longtext, raw longblob, doc json, list json);
INSERT INTO huge SELECT i, REPEAT('é', ${HUGE_BYTES / 2}), REPEAT(x'ab', ${HUGE_BYTES}),
  CONCAT('{"a":"', REPEAT('x', ${HUGE_BYTES}), '"}'), CONCAT('["', REPEAT('y', ${HUGE_BYTES}), '"]')
  FROM ${numbers('mysql', 1, 2)};
CREATE TABLE wide (id int PRIMARY KEY, ${columns.map((name) => `${name} varchar(250)`).join(', ')});
INSERT INTO wide SELECT i + 1000 * thousands, ${columns.map((name) => `REPEAT('${name} ', 50)`).join(', ')}
  FROM ${numbers('mysql', 1, 1_000)}
  CROSS JOIN (SELECT i AS thousands FROM ${numbers('mysql', 0, WIDE_ROWS / 1_000 - 1)}) AS others;
CREATE TABLE keyed (body longtext, id int);
INSERT INTO keyed SELECT CONCAT(REPEAT('k', ${KEY_BYTES}), i), i FROM ${numbers('mysql', 1, 2)};
CREATE PROCEDURE bodies() READS SQL DATA SELECT body FROM huge;
`,
  sqlserver: `
CREATE TABLE huge (id int PRIMARY KEY, body nvarchar(max), raw varbinary(max), doc varbinary(max), list image);
INSERT INTO huge SELECT i, REPLICATE(CONVERT(nvarchar(max), N'é'), ${HUGE_BYTES / 2}), ${BYTES}, ${BYTES}, ${BYTES}
  FROM ${numbers('sqlserver', 1, 2)};
CREATE TABLE wide (id int PRIMARY KEY, ${columns.map((name) => `${name} varchar(250)`).join(', ')});
INSERT INTO wide SELECT i + 1000 * thousands, ${columns.map((name) => `REPLICATE('${name} ', 50)`).join(', ')}
  FROM ${numbers('sqlserver', 1, 1_000)}
  CROSS JOIN (SELECT i AS thousands FROM ${numbers('sqlserver', 0, WIDE_ROWS / 1_000 - 1)}) AS others;
CREATE TABLE keyed (body nvarchar(max), id int);
INSERT INTO keyed SELECT CONCAT(REPLICATE(CONVERT(nvarchar(max), N'k'), ${KEY_BYTES / 2}), i), i FROM ${numbers('sqlserver', 1, 2)}
GO
CREATE PROCEDURE bodies AS BEGIN SET NOCOUNT ON; SELECT body FROM huge; END
GO
`,
}
const POLICY = `
version: 1
defaults: { query_timeout_ms: 30000 }
tables:
  public.huge: {}
  public.wide: { row_cap: 10000, page_size: 10000 }
  public.keyed: { key: [body] }
procedures:
  public.bodies: { effect: read, result_columns: [body] }
roles: { reader: { read: ['*'], call: ['*'] } }
`

/** Resident bytes of the process now, and at most so far; from Linux alone. */
async function memoryOf(pid: number): Promise<{ readonly now: number; readonly peak: number } | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1])
    return { now: kilobytes('VmRSS') * 1024, peak: kilobytes('VmHWM') * 1024 }
  } catch {
    return undefined
  }
}

interface Result {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly truncated: boolean
  readonly cut?: readonly { readonly what: string; readonly where: string; readonly next: string }[]
}

function resultOf(answer: ToolAnswer): Result {
  assert.equal(answer.isError, false, answer.text.slice(0, 300))
  assert.ok(answer.text.length <= RESPONSE_CHARS, `${answer.text.length} characters`)
  assert.deepEqual(JSON.parse(answer.text), answer.structured)
  // The shape is the tool's own; a result of another fails what follows.
  const result = answer.structured as Result
  assert.equal(result.truncated, result.cut !== undefined)
  for (const item of result.cut ?? []) assert.ok(item.what !== '' && item.where !== '' && item.next.length > 10)
  return result
}

/** The longest cell that a server makes is a setting of its own, for the sessions that are opened from then on. */
const CELL_BYTES_MAX: PerEngine<{ readonly read: string; readonly write: (bytes: string) => string } | undefined> = {
  postgres: undefined,
  mysql: {
    read: 'SELECT @@GLOBAL.max_allowed_packet',
    write: (bytes) => `SET GLOBAL max_allowed_packet = ${bytes}`,
  },
  sqlserver: undefined,
}

/** No text of SQL Server has extremes. */
const EXTREMES: PerEngine<readonly { readonly fn: string; readonly column: string }[]> = {
  postgres: [{ fn: 'max', column: 'body' }],
  mysql: [{ fn: 'max', column: 'body' }],
  sqlserver: [],
}

const ENDED = /^(?:RESULT_TOO_LARGE|OVERLOADED|TIMEOUT)/
/**
 * What merely speaks the protocol of SQL Server does not end what it is told to. Its connections are cut off, and calls wait
 * for new ones, some for too long.
 */
const ENDED_ELSEWHERE = /^(?:RESULT_TOO_LARGE|OVERLOADED|TIMEOUT|CONNECTOR_UNAVAILABLE)/

// One server of each kind is enough: what is measured is the gateway.
for (const engine of oneOfEachKind(ENGINES)) {
  describe(`a database on ${engine.label} larger than the gateway`, () => {
    const cellBytesMax = forEngine(CELL_BYTES_MAX, engine.engine)
    let server: TestServer
    let was = ''
    let database: TestDatabase
    let folder: GatewayFolder
    let gateway: SpawnedGateway
    let idleBytes = 0
    before(async () => {
      server = await engine.start()
      if (cellBytesMax !== undefined) {
        const rows = await server.query(cellBytesMax.read)
        was = rows[0]?.[0] ?? ''
        await server.query(cellBytesMax.write(String(2 ** 30)))
      }
      database = await server.createDatabase(forEngine(SETUP, engine.engine))
      folder = await prepareGateway({
        connectors: [{ id: 'big', settings: database.reader(), policy: policyFor(engine.engine, POLICY) }],
        identities: { reader: { roles: ['reader'] } },
      })
      gateway = await spawnGateway(folder, ['big'])
      await call('search_wide', { limit: 1 })
      idleBytes = (await memoryOf(gateway.child.pid ?? 0))?.now ?? 0
    })
    after(async () => {
      gateway.child.kill('SIGTERM')
      await gateway.exited
      await folder.remove()
      await database.drop()
      if (cellBytesMax !== undefined) await server.query(cellBytesMax.write(was))
    })

    const call = (tool: string, args: unknown) => callTool(gateway.endpoint('big'), folder.keys['reader'], tool, args)

    async function assertSmall(): Promise<void> {
      const memory = await memoryOf(gateway.child.pid ?? 0)
      if (memory === undefined) return
      assert.ok(memory.peak - idleBytes < GROWTH_BYTES_MAX, `grew by ${Math.round((memory.peak - idleBytes) / 1e6)} MB`)
    }

    test('gives the first characters of a huge text, and null for what cannot be shortened, and says so', async (t) => {
      // What merely speaks the protocol of SQL Server lacks the collation that texts are cut by.
      if (!isGenuine(server)) return t.diagnostic('left out, since the server is not SQL Server itself: long texts')
      for (const [tool, args] of [
        ['get_huge_by_pk', { id: 1 }],
        ['search_huge', { filters: [{ column: 'id', op: 'eq', value: '1' }] }],
      ] as const) {
        const { rows, cut = [] } = resultOf(await call(tool, args))
        assert.equal(rows.length, 1)
        assert.match(String(rows[0]?.['body']), /^é+$/)
        for (const name of ['raw', 'doc', 'list']) assert.equal(rows[0]?.[name], null)
        assert.deepEqual(cut.map(({ where }) => where).sort(), [
          'rows[0].body',
          'rows[0].doc',
          'rows[0].list',
          'rows[0].raw',
        ])
      }
      await assertSmall()
    })

    test('does not gather huge cells for many callers at once', async (t) => {
      if (!isGenuine(server)) return t.diagnostic('left out, since the server is not SQL Server itself: long texts')
      const answers = await Promise.all(Array.from({ length: 12 }, () => call('search_huge', {})))
      // A database that is slow to cut what is huge may keep some waiting for too long, and they are told so.
      const served = answers.filter(({ text }) => !/^(?:OVERLOADED|TIMEOUT)/.test(text))
      assert.ok(served.length >= 4)
      for (const answer of served) assert.equal(resultOf(answer).rows.length, 2)
      await assertSmall()
    })

    test('counts, compares and finds the extremes of huge cells without reading them out', async () => {
      const extremes = forEngine(EXTREMES, engine.engine)
      const metrics = [{ fn: 'count' }, ...extremes, { fn: 'count_distinct', column: 'body' }]
      const { rows } = resultOf(await call('aggregate_huge', { metrics }))
      assert.equal(rows[0]?.['count'], 2)
      assert.equal(rows[0]?.['count_distinct_body'], 1)
      if (extremes.length > 0) assert.match(String(rows[0]?.['max_body']), /^é+$/)
      await assertSmall()
    })

    test('refuses a key or a group that is too large to be given whole', async () => {
      for (const [tool, args] of [
        ['search_keyed', {}],
        ['search_huge', { order_by: [{ column: 'body' }] }],
        ['aggregate_huge', { metrics: [{ fn: 'count' }], group_by: ['body'] }],
      ] as const) {
        const answer = await call(tool, args)
        assert.ok(answer.isError, tool)
        assert.match(answer.text, /^(?:RESULT_TOO_LARGE|DB_RESOURCES)/, tool)
        assert.ok(answer.text.length < 1_000)
      }
      await assertSmall()
    })

    test('gives the first characters of what a routine returns, or ends its call, and gathers it for nobody', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => call('bodies', {})))
      for (const answer of answers) {
        if (answer.isError) assert.match(answer.text, isGenuine(server) ? ENDED : ENDED_ELSEWHERE)
        else assert.match(String(resultOf(answer).rows[0]?.['body']), /^é+$/)
      }
      await assertSmall()
    })

    test('ends a read of very many rows, or gives the first and says how to go on', async () => {
      const whole = await call('search_wide', {})
      assert.match(whole.text, /^RESULT_TOO_LARGE/)
      const { rows, cut = [] } = resultOf(await call('search_wide', { limit: 2_000 }))
      assert.ok(rows.length > 0 && rows.length < 100)
      assert.equal(rows[0]?.['id'], 1)
      assert.match(cut[0]?.next ?? '', /columns|filters/)
      const narrow = resultOf(await call('search_wide', { columns: ['id'], limit: 10_000 }))
      assert.ok(narrow.rows.length > 1_000)
      await assertSmall()
    })

    test('still answers after all of it', async () => {
      assert.equal(resultOf(await call('get_wide_by_pk', { id: 77_777, columns: ['id'] })).rows[0]?.['id'], 77_777)
      const memory = await memoryOf(gateway.child.pid ?? 0)
      if (memory !== undefined) assert.ok(memory.now - idleBytes < GROWTH_BYTES_MAX)
    })
  })
}
