import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Random, seeded } from '../support/arguments.js'
import { aggregateCall, type EqualCall, getCall, searchCall, writeCall } from '../support/equal-plans.js'
import {
  EQUAL_TABLES,
  type EqualRow,
  type EqualTable,
  equalRows,
  equalTableSql,
  ITEMS,
  insertRows,
  PARTS,
} from '../support/equal-tables.js'
import { MYSQL_TARGETS, type MysqlTarget } from '../support/mariadb.js'
import { EMBEDDED } from '../support/postgres.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { policyFor } from '../support/security-sql.js'
import type { TestDatabase } from '../support/test-server.js'

const SEED = 20_250_309
const KEYED: readonly EqualTable[] = [ITEMS, PARTS]

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
  readonly mysql: Side
  readonly rows: ReadonlyMap<EqualTable, readonly EqualRow[]>
}

async function openSide(db: TestDatabase, rows: Pair['rows']): Promise<Side> {
  for (const [table, each] of rows) await insertRows(db, table, each)
  const path = await openPath({ settings: db.writer(), policy: policyFor(db.engine, POLICY) })
  assert.deepEqual(path.findings, [])
  return { db, path }
}

async function openPair(target: MysqlTarget): Promise<Pair> {
  const random = seeded(SEED)
  const rows = new Map(EQUAL_TABLES.map((table) => [table, equalRows(table, random)]))
  const [postgres, mysql] = await Promise.all([EMBEDDED.start(), target.start()])
  const noPad = mysql.product === 'mariadb' ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
  const [left, right] = await Promise.all([
    postgres.createDatabase(equalTableSql('postgres', noPad)),
    mysql.createDatabase(equalTableSql('mysql', noPad)),
  ])
  return { postgres: await openSide(left, rows), mysql: await openSide(right, rows), rows }
}

/** What a caller sees, with averages at the twelve digits that the engines agree on. */
interface Answer {
  readonly code: string
  readonly content: unknown
  readonly rowCount: number
}

async function ask({ path }: Side, who: typeof WHOLE, { tool, args }: EqualCall): Promise<Answer> {
  const { code, body } = await path.call(who, tool, args)
  if (code !== 'OK') return { code, content: undefined, rowCount: 0 }
  // The gateway's own making: text and structured content are the same, as its own tests hold.
  const { structuredContent } = JSON.parse(`{${body}}`) as {
    readonly structuredContent: { readonly rows?: readonly Record<string, unknown>[]; readonly row?: unknown }
  }
  const rows = structuredContent.rows?.map((row) => rounded(row, averages(args)))
  const content = rows === undefined ? structuredContent : { ...structuredContent, rows }
  return { code, content, rowCount: rows?.length ?? (structuredContent.row === undefined ? 0 : 1) }
}

function averages({ metrics }: EqualCall['args']): readonly string[] {
  // Made by this test's own generator.
  const list = (metrics ?? []) as readonly { readonly fn: string; readonly as: string }[]
  return list.flatMap(({ fn, as }) => (fn === 'avg' ? [as] : []))
}

function rounded(row: Readonly<Record<string, unknown>>, names: readonly string[]): Readonly<Record<string, unknown>> {
  const round = (value: unknown) => (value === null ? null : Number(value).toPrecision(12))
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, names.includes(name) ? round(value) : value]),
  )
}

/** Asks both sides the same, and gives how many of the answers had rows. */
async function compare({ postgres, mysql }: Pair, who: typeof WHOLE, calls: readonly EqualCall[]): Promise<number> {
  let filled = 0
  for (const call of calls) {
    const [left, right] = await Promise.all([ask(postgres, who, call), ask(mysql, who, call)])
    assert.deepEqual(right, left, `${who.name} ${call.tool} ${JSON.stringify(call.args)}`)
    if (left.rowCount > 0) filled++
  }
  return filled
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))

for (const target of MYSQL_TARGETS) {
  describe(`the same plans on PostgreSQL and on the ${target.label} server`, () => {
    let pair: Pair
    before(async () => {
      pair = await openPair(target)
    })
    after(() => Promise.all([pair.postgres.path.close(), pair.mysql.path.close()]))

    const rowsOf = (table: EqualTable): readonly EqualRow[] => pair.rows.get(table) ?? []

    /** Most of the calls must find something, or the comparison says nothing. */
    async function alike(
      seed: number,
      count: number,
      make: (random: Random, index: number) => EqualCall,
    ): Promise<void> {
      const random = seeded(SEED + seed)
      const calls = times(count, (index) => make(random, index))
      for (const who of [WHOLE, SCOPED]) {
        const filled = await compare(pair, who, calls)
        assert.ok(filled > count / 4, `only ${filled} of ${count} calls of ${who.name} found rows`)
      }
    }

    test('a row by its key', async () => {
      await alike(1, 120, (random, i) => {
        const table = KEYED[i % KEYED.length] ?? ITEMS
        return getCall(table, rowsOf(table), random)
      })
    })

    for (const [i, table] of EQUAL_TABLES.entries()) {
      test(`searches of ${table.name}`, () => alike(10 + i, 250, (random) => searchCall(table, random)))
      test(`aggregates of ${table.name}`, () => alike(20 + i, 200, (random) => aggregateCall(table, random)))
    }

    for (const table of EQUAL_TABLES) {
      test(`${table.name} in the order of each column alone, both ways, and in pages of every length`, async () => {
        const calls = table.columns.flatMap(({ name: column }) =>
          ['asc', 'desc'].flatMap((direction) =>
            [1, 2, 7, 2000].map((limit) => ({
              tool: `search_${table.name}`,
              args: { order_by: [{ column, direction }], limit },
            })),
          ),
        )
        assert.equal(await compare(pair, WHOLE, calls), calls.length)
      })
    }
  })

  test(`the same changes lead to the same rows on PostgreSQL and on the ${target.label} server`, async (t) => {
    const pair = await openPair(target)
    t.after(() => Promise.all([pair.postgres.path.close(), pair.mysql.path.close()]))
    const random = seeded(SEED + 100)
    const codes = new Map<string, number>()
    for (let i = 0; i < 300; i++) {
      const table = KEYED[i % 2] ?? ITEMS
      const call = writeCall(table, pair.rows.get(table) ?? [], random)
      const [left, right] = await Promise.all([ask(pair.postgres, WHOLE, call), ask(pair.mysql, WHOLE, call)])
      assert.deepEqual(right, left, `${call.tool} ${JSON.stringify(call.args)}`)
      const seen = `${call.tool} ${left.code}`
      codes.set(seen, (codes.get(seen) ?? 0) + 1)
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
    const all = EQUAL_TABLES.map(({ name }) => ({ tool: `search_${name}`, args: { limit: 2000 } }))
    assert.equal(await compare(pair, WHOLE, all), all.length)
    const deleted = async ({ db }: Side) => (await db.query('SELECT id FROM items WHERE gone ORDER BY id')).flat()
    assert.deepEqual(await deleted(pair.mysql), await deleted(pair.postgres))
  })
}
