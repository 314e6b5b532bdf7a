import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { type Random, seeded } from '../support/arguments.js'
import { aggregateCall, type EqualCall, getCall, searchCall, writeCall } from '../support/equal-plans.js'
import {
  type EqualRow,
  type EqualTable,
  equalRows,
  equalTableSql,
  equalTables,
  insertRows,
} from '../support/equal-tables.js'
import { readBack, writerOn } from '../support/left-out.js'
import { MYSQL_TARGETS, type MysqlTarget } from '../support/mariadb.js'
import { EMBEDDED } from '../support/postgres.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { policyFor } from '../support/security-sql.js'
import { SQLSERVER_TARGETS, type SqlserverTarget } from '../support/sqlserver.js'
import type { TestDatabase } from '../support/test-server.js'

const SEED = 20_250_309

/** A server whose answers are compared with PostgreSQL's. */
interface Other {
  readonly label: string
  readonly engine: 'mysql' | 'sqlserver'
  start(): Promise<Started>
}

interface Started {
  createDatabase(): Promise<TestDatabase>
  login(db: TestDatabase): ConnectorSettings
  /** Why the server cannot answer the call, where it is not the product itself. */
  lacks(call: EqualCall): string | undefined
  /** Columns whose cells it does not show, where it is not the product itself: their rows are compared without. */
  readonly unshown: readonly string[]
}

function onMysql({ label, start }: MysqlTarget): Other {
  return {
    label,
    engine: 'mysql',
    start: async () => {
      const server = await start()
      const noPad = server.product === 'mariadb' ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
      const createDatabase = () => server.createDatabase(equalTableSql('mysql', noPad))
      return { createDatabase, login: (db) => db.writer(), lacks: () => undefined, unshown: [] }
    },
  }
}

function onSqlserver({ label, start }: SqlserverTarget): Other {
  return {
    label,
    engine: 'sqlserver',
    start: async () => {
      const server = await start()
      return {
        createDatabase: () =>
          server.createDatabase(equalTableSql('sqlserver', '') + readBack(server, ['items', 'parts'])),
        login: (db) => writerOn(server, db),
        lacks: (call) => (server.collates ? undefined : lackingCollations(call)),
        unshown: server.writesBytes ? [] : ['bin'],
      }
    },
  }
}

/** The patterns, and the only column with cells so long that they are cut. */
function lackingCollations({ tool, args }: EqualCall): string | undefined {
  if (JSON.stringify(args).includes('"op":"ilike"')) return 'a collation to find patterns by'
  const columns = args['columns']
  const shown = columns === undefined || (Array.isArray(columns) && columns.includes('body'))
  return tool === 'search_events' && shown ? 'a collation to cut text by' : undefined
}

const OTHERS: readonly Other[] = [...MYSQL_TARGETS.map(onMysql), ...SQLSERVER_TARGETS.map(onSqlserver)]

const [ITEMS, PARTS] = keyedTables(equalTables('postgres'))

function keyedTables(tables: readonly EqualTable[]): readonly [items: EqualTable, parts: EqualTable] {
  const [items, parts] = tables.filter(({ key }) => key.length > 0)
  assert.ok(items !== undefined && parts !== undefined)
  return [items, parts]
}

const columnsOf = ({ columns }: EqualTable) => columns.map(({ name }) => name).join(', ')
const freeOf = ({ columns, key }: EqualTable) =>
  columns.flatMap(({ name }) => (key.includes(name) || name === 'gone' ? [] : [name])).join(', ')

const POLICY = `
version: 1
defaults: { row_cap: 2000, page_size: 50, response_chars_max: 1000000 }
tables:
  public.items:
    create: { columns: [${columnsOf(ITEMS)}] }
    update: { columns: [${freeOf(ITEMS)}] }
    soft_delete: { column: gone, value: true }
  public.parts:
    create: { columns: [${columnsOf(PARTS)}] }
    update: { columns: [${freeOf(PARTS)}] }
  public.events: {}
roles:
  whole: { read: ['*'], create: [public.items, public.parts], update: [public.items, public.parts], soft_delete: [public.items] }
  positive: { read: ['*'], row_filter: { public.items: [{ column: n, op: gte, value: 0 }, { column: word, op: not_null }] } }
  near:
    read: ['*']
    row_filter:
      public.items: [{ column: day, op: in, values: ['1999-12-31', '2024-02-29'] }]
      public.parts: [{ column: code, op: neq, value: a }]
      public.events: [{ column: level, op: is_null }]
`

const WHOLE = identity('whole', ['whole'])
/** A row is in scope for one of the two roles or the other. */
const SCOPED = identity('scoped', ['positive', 'near'])

/** One database, served. */
interface Side {
  readonly db: TestDatabase
  readonly path: RecordedPath
}

interface Pair {
  readonly postgres: Side
  readonly other: Side
  readonly tables: readonly EqualTable[]
  readonly rows: ReadonlyMap<EqualTable, readonly EqualRow[]>
  readonly lacks: Started['lacks']
  readonly unshown: Started['unshown']
}

async function openSide(db: TestDatabase, settings: ConnectorSettings, rows: Pair['rows']): Promise<Side> {
  for (const [table, each] of rows) await insertRows(db, table, each)
  const path = await openPath({ settings, policy: policyFor(db.engine, POLICY) })
  assert.deepEqual(path.findings, [])
  return { db, path }
}

async function openPair(target: Other): Promise<Pair> {
  const random = seeded(SEED)
  const tables = equalTables(target.engine)
  const rows = new Map(tables.map((table) => [table, equalRows(table, random)]))
  const [postgres, other] = await Promise.all([EMBEDDED.start(), target.start()])
  const [left, right] = await Promise.all([
    postgres.createDatabase(equalTableSql('postgres', '')),
    other.createDatabase(),
  ])
  const sides = {
    postgres: await openSide(left, left.writer(), rows),
    other: await openSide(right, other.login(right), rows),
  }
  return { ...sides, tables, rows, lacks: (call) => other.lacks(call), unshown: other.unshown }
}

const closePair = ({ postgres, other }: Pair) => Promise.all([postgres.path.close(), other.path.close()])

/** What of an answer the two servers can be held to. */
type Sight = Pick<Pair, 'unshown' | 'other'>

/** What a caller sees, with averages at the digits that the engines agree on. */
interface Answer {
  readonly code: string
  readonly content: unknown
  readonly rowCount: number
}

async function ask({ path }: Side, who: typeof WHOLE, { tool, args }: EqualCall, sight: Sight): Promise<Answer> {
  const { code, body } = await path.call(who, tool, args)
  if (code !== 'OK') return { code, content: undefined, rowCount: 0 }
  // The gateway's own making: text and structured content are the same, as its own tests hold.
  const { structuredContent } = JSON.parse(`{${body}}`) as {
    readonly structuredContent: { readonly rows?: readonly Record<string, unknown>[]; readonly row?: unknown }
  }
  const rows = structuredContent.rows?.map((row) => seen(row, averages(args), sight))
  const content = rows === undefined ? structuredContent : { ...structuredContent, rows }
  return { code, content, rowCount: rows?.length ?? (structuredContent.row === undefined ? 0 : 1) }
}

function averages({ metrics }: EqualCall['args']): readonly string[] {
  // Made by this test's own generator.
  const list = (metrics ?? []) as readonly { readonly fn: string; readonly as: string }[]
  return list.flatMap(({ fn, as }) => (fn === 'avg' ? [as] : []))
}

function seen(
  row: Readonly<Record<string, unknown>>,
  rounded: readonly string[],
  { unshown, other }: Sight,
): Readonly<Record<string, unknown>> {
  // SQL Server gives ten digits after the point of the average of a bigint, and the others sixteen.
  const digits = (value: number) => (other.db.engine === 'sqlserver' ? Number(value.toFixed(9)) : value)
  const round = (value: unknown) => (value === null ? null : digits(Number(value)).toPrecision(12))
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => !unshown.includes(name))
      .map(([name, value]) => [name, rounded.includes(name) ? round(value) : value]),
  )
}

interface Compared {
  readonly asked: number
  /** How many of the answers had rows. */
  readonly filled: number
}

/** Asks both sides the same. What the other server lacks is left out, and said. */
async function compare(t: TestContext, pair: Pair, who: typeof WHOLE, calls: readonly EqualCall[]): Promise<Compared> {
  const { postgres, other, lacks, unshown } = pair
  const left = new Map<string, number>()
  let asked = 0
  let filled = 0
  for (const call of calls) {
    const lack = lacks(call)
    if (lack !== undefined) {
      left.set(lack, (left.get(lack) ?? 0) + 1)
      continue
    }
    asked++
    const [expected, answer] = await Promise.all([ask(postgres, who, call, pair), ask(other, who, call, pair)])
    assert.deepEqual(answer, expected, `${who.name} ${call.tool} ${JSON.stringify(call.args)}`)
    if (expected.rowCount > 0) filled++
  }
  for (const [lack, count] of left) t.diagnostic(`${count} calls of ${who.name} not made: the server lacks ${lack}`)
  if (unshown.length > 0) t.diagnostic(`the server shows no cells of ${unshown.join(', ')}`)
  return { asked, filled }
}

const DELETED = {
  postgres: 'SELECT id FROM items WHERE gone ORDER BY id',
  mysql: 'SELECT id FROM items WHERE gone ORDER BY id',
  sqlserver: 'SELECT id FROM items WHERE gone = 1 ORDER BY id',
} as const

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))

for (const target of OTHERS) {
  describe(`the same plans on PostgreSQL and on the ${target.label} server`, () => {
    let pair: Pair
    before(async () => {
      pair = await openPair(target)
    })
    after(() => closePair(pair))

    const tableAt = (index: number): EqualTable => {
      const table = pair.tables[index]
      assert.ok(table)
      return table
    }

    /** Most of the calls must find something, or the comparison says nothing. */
    async function alike(
      t: TestContext,
      seed: number,
      count: number,
      make: (random: Random, index: number) => EqualCall,
    ): Promise<void> {
      const random = seeded(SEED + seed)
      const calls = times(count, (index) => make(random, index))
      for (const who of [WHOLE, SCOPED]) {
        const { asked, filled } = await compare(t, pair, who, calls)
        assert.ok(filled > asked / 4, `only ${filled} of ${asked} calls of ${who.name} found rows`)
      }
    }

    test('a row by its key', async (t) => {
      await alike(t, 1, 120, (random, i) => {
        const keyed = pair.tables.filter(({ key }) => key.length > 0)
        const table = keyed[i % keyed.length] ?? tableAt(0)
        return getCall(table, pair.rows.get(table) ?? [], random)
      })
    })

    for (const [i, { name, columns }] of equalTables(target.engine).entries()) {
      test(`searches of ${name}`, (t) => alike(t, 10 + i, 250, (random) => searchCall(tableAt(i), random)))
      test(`aggregates of ${name}`, (t) => alike(t, 20 + i, 200, (random) => aggregateCall(tableAt(i), random)))

      test(`${name} in the order of each column alone, both ways, and in pages of every length`, async (t) => {
        const calls = columns.flatMap(({ name: column }) =>
          ['asc', 'desc'].flatMap((direction) =>
            [1, 2, 7, 2000].map((limit) => ({
              tool: `search_${name}`,
              args: { order_by: [{ column, direction }], limit },
            })),
          ),
        )
        const { asked, filled } = await compare(t, pair, WHOLE, calls)
        assert.equal(filled, asked)
      })
    }
  })

  test(`the same changes lead to the same rows on PostgreSQL and on the ${target.label} server`, async (t) => {
    const pair = await openPair(target)
    t.after(() => closePair(pair))
    const keyed = pair.tables.filter(({ key }) => key.length > 0)
    const random = seeded(SEED + 100)
    const codes = new Map<string, number>()
    for (let i = 0; i < 300; i++) {
      const table = keyed[i % 2] ?? ITEMS
      const call = writeCall(table, pair.rows.get(table) ?? [], random)
      const [left, right] = await Promise.all([pair.postgres, pair.other].map((side) => ask(side, WHOLE, call, pair)))
      assert.deepEqual(right, left, `${call.tool} ${JSON.stringify(call.args)}`)
      const ended = `${call.tool} ${left?.code}`
      codes.set(ended, (codes.get(ended) ?? 0) + 1)
    }
    for (const tool of [
      'create_items',
      'update_items_by_pk',
      'soft_delete_items_by_pk',
      'create_parts',
      'update_parts_by_pk',
    ]) {
      assert.ok((codes.get(`${tool} OK`) ?? 0) > 5, JSON.stringify([...codes]))
    }
    assert.ok((codes.get('create_items DB_CONSTRAINT') ?? 0) > 0, JSON.stringify([...codes]))
    const all = pair.tables.map(({ name }) => ({ tool: `search_${name}`, args: { limit: 2000 } }))
    const { asked, filled } = await compare(t, pair, WHOLE, all)
    assert.equal(filled, asked)
    const deleted = async ({ db }: Side) => (await db.query(DELETED[db.engine])).flat()
    assert.deepEqual(await deleted(pair.other), await deleted(pair.postgres))
  })
}
