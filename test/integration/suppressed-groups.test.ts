import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seeded } from '../support/arguments.js'
import { WHOLE_PATH_TARGETS } from '../support/engines.js'
import { aggregateCall, type EqualCall } from '../support/equal-plans.js'
import {
  type EqualRow,
  type EqualTable,
  equalRows,
  equalTableSql,
  equalTables,
  insertRows,
  oneOf,
} from '../support/equal-tables.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { policyFor } from '../support/security-sql.js'
import { type Group, suppressed } from '../support/suppression-model.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'

/** Groups that are suppressed by statements, against a model that suppresses the same groups when it is given all of them. */

const SEED = 20_261_130
const CALLS = 120
const SIZES = Array.from({ length: 30 }, (_, i) => i + 2)

const POLICY = `
version: 1
defaults: { row_cap: 2000, page_size: 2000, response_chars_max: 1000000 }
tables: { public.items: {}, public.parts: {}, public.events: {} }
roles:
  whole: { read: ['*'] }
${SIZES.map((size) => `  of_${size}: { aggregate: ['*'], min_group_size: ${size} }`).join('\n')}
`

const WHOLE = identity('whole', ['whole'])
const asking = (size: number) => identity(`of ${size}`, [`of_${size}`])

type Row = Readonly<Record<string, unknown>>

async function rowsOf(path: RecordedPath, who: typeof WHOLE, { tool, args }: EqualCall): Promise<readonly Row[]> {
  const { code, body } = await path.call(who, tool, args)
  assert.equal(code, 'OK', `${who.name} ${tool} ${JSON.stringify(args)}: ${body}`)
  // The gateway's own making, whose shape its own tests hold.
  return (JSON.parse(`{${body}}`) as { structuredContent: { rows: readonly Row[] } }).structuredContent.rows
}

/** A name that no metric of a generated call has. */
const MEMBERS = 'members_of_the_group'

/** Every group with its rows counted, in the order of the call. */
async function groupsOf(path: RecordedPath, { tool, args }: EqualCall): Promise<readonly Group[]> {
  const { limit, ...unlimited } = args
  const metrics = [...metricsOf(args), { fn: 'count', as: MEMBERS }]
  const rows = await rowsOf(path, WHOLE, { tool, args: { ...unlimited, metrics } })
  return rows.map(({ [MEMBERS]: members, ...row }) => ({ members: Number(members), row }))
}

/** Some of the patterns that are generated are none. */
async function isServed(path: RecordedPath, { tool, args }: EqualCall): Promise<boolean> {
  return (await path.call(WHOLE, tool, args)).code === 'OK'
}

function metricsOf(args: EqualCall['args']): readonly { readonly fn: string; readonly as: string }[] {
  // Made by the generator of these calls.
  return args['metrics'] as readonly { readonly fn: string; readonly as: string }[]
}

function groupNames(args: EqualCall['args']): readonly string[] {
  return (args['group_by'] ?? []) as readonly string[]
}

/** The call without what small groups leave nobody: extremes, and orders by them. */
function withoutExtremes({ tool, args }: EqualCall): EqualCall | undefined {
  const metrics = metricsOf(args).filter(({ fn }) => fn !== 'min' && fn !== 'max')
  if (metrics.length === 0) return undefined
  const named = new Set([...metrics.map(({ as }) => as), ...groupNames(args)])
  const order = ((args['order_by'] ?? []) as readonly { readonly by: string }[]).filter(({ by }) => named.has(by))
  const { order_by, ...rest } = args
  return { tool, args: { ...rest, metrics, ...(order.length === 0 ? {} : { order_by: order }) } }
}

/** The size that one group alone does not have, where there is such a size. */
function sizeOfOne(groups: readonly Group[]): number {
  const [least = 1, next = 0] = groups.map(({ members }) => members).sort((a, b) => a - b)
  return least < next && SIZES.includes(least + 1) ? least + 1 : 2
}

for (const target of WHOLE_PATH_TARGETS) {
  describe(`groups that are too small, on ${target.label}`, () => {
    let server: TestServer
    let db: TestDatabase
    let path: RecordedPath
    const tables: readonly EqualTable[] = equalTables(target.engine)
    const rows = new Map<EqualTable, readonly EqualRow[]>()

    before(async () => {
      server = await target.start()
      const noPad = 'product' in server && server.product !== 'mariadb' ? 'utf8mb4_0900_bin' : 'utf8mb4_nopad_bin'
      db = await server.createDatabase(equalTableSql(target.engine, noPad))
      const random = seeded(SEED)
      for (const table of tables) {
        rows.set(table, equalRows(table, random))
        await insertRows(db, table, rows.get(table) ?? [])
      }
      path = await openPath({ settings: db.reader(), policy: policyFor(target.engine, POLICY) })
      assert.deepEqual(path.findings, [])
    })
    after(async () => {
      await path.close()
      await db.drop()
    })

    for (const [i, table] of tables.entries()) {
      test(`of ${table.name}: exactly those are left that the model leaves, in the same order and up to the limit`, async (t) => {
        const random = seeded(SEED + i)
        const told = { calls: 0, groups: 0, fallen: 0, complementary: 0 }
        while (told.calls < CALLS) {
          const call = withoutExtremes(aggregateCall(table, random))
          if (call === undefined || !(await isServed(path, call))) continue
          told.calls++
          const names = groupNames(call.args)
          const all = await groupsOf(path, call)
          const size = told.calls % 2 === 0 ? sizeOfOne(all) : oneOf(random, SIZES.slice(0, 4))
          const inOrder = await groupsOf(path, {
            ...call,
            args: { ...call.args, order_by: names.map((by) => ({ by })) },
          })
          const expected = suppressed(all, {
            size,
            grouped: names.length > 0,
            limit: Number(call.args['limit'] ?? 2000),
            identity: inOrder.map(({ row }) => JSON.stringify(names.map((name) => row[name]))),
            identityOf: (row) => JSON.stringify(names.map((name) => row[name])),
          })
          const answered = await rowsOf(path, asking(size), call)
          assert.deepEqual(answered, expected.rows, `${size} ${call.tool} ${JSON.stringify(call.args)}`)
          told.groups += all.length
          told.fallen += expected.small
          if (expected.complementary) told.complementary++
        }
        t.diagnostic(JSON.stringify(told))
        assert.ok(told.fallen > 20 && told.fallen < told.groups && told.complementary > 10, JSON.stringify(told))
      })
    }

    test('of no rows, and of fewer than the size, comes the same answer: no row', async () => {
      const counting = (filter: object) => ({
        tool: 'aggregate_items',
        args: { metrics: [{ fn: 'count' }], filters: [filter] },
      })
      const none = counting({ column: 'id', op: 'lt', value: 0 })
      const few = counting({ column: 'id', op: 'in', values: [1, 2, 3, 4] })
      const enough = counting({ column: 'id', op: 'in', values: [1, 2, 3, 4, 5] })
      const [a, b] = [await path.call(asking(5), none.tool, none.args), await path.call(asking(5), few.tool, few.args)]
      assert.equal(a.body, b.body)
      assert.deepEqual(await rowsOf(path, asking(5), none), [])
      assert.deepEqual(await rowsOf(path, asking(5), enough), [{ count: 5 }])
    })

    test('no sum or average of whole numbers and decimals fails for what a group that falls holds', async () => {
      const answers: unknown[] = []
      for (const [i, n, d] of [
        ['0', '0', '0'],
        ['2147483647', '9223372036854775807', '99999999999999.9999'],
      ]) {
        const row = (id: number, group: number, values: string) =>
          `INSERT INTO big VALUES (${id}, ${group}, ${values});`
        const rows = [
          ...Array.from({ length: 6 }, (_, id) => row(id, 1, '1, 2, 3')),
          ...Array.from({ length: 6 }, (_, id) => row(id + 10, 2, '4, 5, 6')),
          ...Array.from({ length: 4 }, (_, id) => row(id + 20, 3, `${i}, ${n}, ${d}`)),
          ...Array.from({ length: 3 }, (_, id) => row(id + 30, 4, `${i}, ${n}, ${d}`)),
        ]
        const made = await server.createDatabase(
          `CREATE TABLE big (id int PRIMARY KEY, g int, i int, n bigint, d decimal(18, 4));\n${rows.join('\n')}`,
        )
        const policy =
          "version: 1\ntables: { public.big: {} }\nroles: { of_5: { aggregate: ['*'], min_group_size: 5 } }"
        const own = await openPath({ settings: made.reader(), policy: policyFor(target.engine, policy) })
        const metrics = ['i', 'n', 'd'].flatMap((column) => [
          { fn: 'sum', column, as: `sum_${column}` },
          { fn: 'avg', column, as: `avg_${column}` },
        ])
        const small = [{ column: 'g', op: 'eq', value: 4 }]
        for (const args of [
          { metrics, group_by: ['g'] },
          { metrics, filters: small },
        ]) {
          const { code, body } = await own.call(asking(5), 'aggregate_big', args)
          assert.equal(code, 'OK', body)
          answers.push(body)
        }
        await own.close()
        await made.drop()
      }
      const [before, none, after, still] = answers
      assert.equal(before, after)
      assert.equal(none, still)
      assert.match(String(before), /"g":2/)
      assert.doesNotMatch(String(before), /"g":[34]/)
    })

    test('min and max are refused, and are not in the list of whoever has a group size', async () => {
      for (const fn of ['min', 'max']) {
        const { code, body, reason, statements } = await path.call(asking(3), 'aggregate_items', {
          metrics: [{ fn, column: 'n' }],
        })
        assert.equal(code, 'POLICY_DENIED')
        assert.match(body, /count, count_distinct, sum, avg/)
        assert.equal(reason, `min_group_size 3 leaves no ${fn}`)
        assert.deepEqual(statements, [])
      }
      assert.doesNotMatch(path.list(asking(3)), /"(?:min|max)"/)
      assert.match(path.list(WHOLE), /"max"/)
    })
  })
}
