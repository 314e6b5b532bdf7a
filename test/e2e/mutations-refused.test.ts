import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entryOf } from '../support/changes.js'
import { forEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import { heldSession, tableHeld } from '../support/hold.js'
import { leftOut } from '../support/left-out.js'
import { runRunku } from '../support/runku-process.js'
import { type ServedShop, serveTriggerShop } from '../support/served-shop.js'
import { eventually } from '../support/test-server.js'

/** The last cell is how many statements wait for a lock of another. */
const WAITING = {
  postgres: `SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'runku' AND wait_event_type = 'Lock' AND datname = current_database()`,
  // The tables that list such waits keep what they show for as long as they are looked at often.
  mysql: `SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'`,
  sqlserver: 'SELECT COUNT(*) FROM sys.sysprocesses WHERE blocked <> 0 AND dbid = DB_ID()',
}
const READ_ONLY = {
  postgres: {
    order_totals: 'is a view, which is read-only',
    old_totals: 'is a materialized view, which is read-only',
    far_orders: 'is a foreign table, which is read-only',
  },
  mysql: {
    order_totals: 'is a view, which is read-only',
    old_totals: 'is read-only, because its storage engine cannot undo a change',
    far_orders: 'is read-only, because its storage engine cannot undo a change',
  },
  sqlserver: {
    order_totals: 'is a view, which is read-only',
    old_totals: 'is a view, which is read-only',
    far_orders: 'is a view, which is read-only',
  },
}
const EXCLUSIVE = {
  postgres: 'BEGIN; LOCK TABLE public.customers, public.orders IN ACCESS EXCLUSIVE MODE',
  mysql: 'LOCK TABLES test.customers WRITE, test.orders WRITE',
  sqlserver: `BEGIN TRANSACTION; ${tableHeld('test.customers')} ${tableHeld('test.orders')}`,
}
/** It is never the one to give way: it takes longer to look for deadlocks, is worth more, or has changed more. */
const STRONGER = {
  postgres: `SET deadlock_timeout = '1min'`,
  mysql: 'DO 0',
  sqlserver: 'SET DEADLOCK_PRIORITY HIGH',
}

for (const target of WHOLE_PATH_TARGETS)
  describe(`mutations that cannot be on the ${target.label} server`, () => {
    let shop: ServedShop

    before(async () => {
      shop = await serveTriggerShop(target)
    })

    after(() => shop?.stop())

    test('what cannot be right is refused before the database is asked, with the field named', async () => {
      const locker = await heldSession(shop.database.superuser())
      try {
        // Whoever asks the database now waits until the call's time is up.
        await locker.query(forEngine(EXCLUSIVE, target.engine).replaceAll('test.', `${shop.database.schema}.`))
        const cases: readonly (readonly [code: string, field: string, tool: string, args: unknown])[] = [
          ['ARGUMENT_MISSING', 'values.name', 'create_customers', { values: { code: 'B1' } }],
          ['ARGUMENT_MISSING', 'values.code', 'create_customers', {}],
          ['ARGUMENT_MISSING', 'values', 'update_customers_by_pk', { id: 1 }],
          ['ARGUMENT_MISSING', 'id', 'update_customers_by_pk', { values: { name: 'x' } }],
          ['ARGUMENT_MISSING', 'id', 'soft_delete_customers_by_pk', {}],
          ['ARGUMENT_VALUE', 'values', 'update_customers_by_pk', { id: 1, values: {} }],
          ['ARGUMENT_VALUE', 'values.credit', 'update_customers_by_pk', { id: 1, values: { credit: 'much' } }],
          ['ARGUMENT_VALUE', 'values.credit', 'update_customers_by_pk', { id: 1, values: { credit: 3000000000 } }],
          ['ARGUMENT_VALUE', 'values.name', 'update_customers_by_pk', { id: 1, values: { name: null } }],
          [
            'ARGUMENT_VALUE',
            'values.placed',
            'create_orders',
            { values: { id: 99, customer_code: 'C2', placed: '2024-02-30' } },
          ],
          ['ARGUMENT_VALUE', 'values.total', 'update_orders_by_pk', { id: 1, values: { total: '1.005' } }],
          ['ARGUMENT_VALUE', 'id', 'update_customers_by_pk', { id: 'one', values: { name: 'x' } }],
          ['ARGUMENT_COLUMN', 'values.emial', 'update_customers_by_pk', { id: 1, values: { emial: 'x' } }],
          ['ARGUMENT_COLUMN', 'expected.nmae', 'soft_delete_customers_by_pk', { id: 1, expected: { nmae: 'x' } }],
          ['ARGUMENT_UNKNOWN', 'ids', 'update_customers_by_pk', { id: 1, ids: 2, values: { name: 'x' } }],
          ['ARGUMENT_UNKNOWN', 'filters', 'update_customers_by_pk', { id: 1, filters: [], values: { name: 'x' } }],
          ['ARGUMENT_TYPE', 'values', 'create_customers', { values: [1] }],
          ['ARGUMENT_TYPE', 'dry_run', 'soft_delete_customers_by_pk', { id: 1, dry_run: 'maybe' }],
          ['ARGUMENT_VALUE', 'idempotency_key', 'soft_delete_customers_by_pk', { id: 1, idempotency_key: '' }],
        ]
        for (const [code, field, tool, args] of cases) {
          const refusal = await shop.clerk.refusal(tool, args)
          const what = `${tool} ${JSON.stringify(args)}: ${refusal.text}`
          assert.equal(refusal.code, code, what)
          assert.ok(refusal.text.includes(`Field: ${field}.`), what)
          const entry = entryOf(shop.folder, refusal.id)
          assert.deepEqual([entry.decision, entry.effect, entry.duration_ms.db ?? 0], ['blocked', 'none', 0])
        }
      } finally {
        await locker.end()
      }
      await shop.assertRefused('ROW_NOT_FOUND', 'update_orders_by_pk', { id: 4711, values: { note: 'x' } })
    })

    test('views, and tables whose rows are kept elsewhere or cannot be undone, have no tool that writes', async () => {
      const names = (await shop.toolsOf('clerk')).map(({ name }) => name)
      for (const table of ['order_totals', 'old_totals', 'far_orders']) {
        assert.ok(names.includes(`search_${table}`), table)
        assert.deepEqual(
          names.filter((name) => name.includes(table) && /^(create|update|soft_delete)_/.test(name)),
          [],
        )
        const answer = await shop.clerk.call(`update_${table}_by_pk`, { id: 1, values: { total: 1 } })
        assert.equal(answer.rpcError?.code, -32602)
      }
    })

    test('the operator is told why a table is not written', async () => {
      const { out } = await runRunku(shop.folder.folder, ['check', '--config', shop.folder.configFile, '--json'])
      const reasons = forEngine(READ_ONLY, target.engine)
      for (const [table, reason] of Object.entries(reasons)) {
        assert.ok(
          out.includes(`${JSON.stringify(JSON.stringify(shop.named(table))).slice(1, -1)} ${reason}`),
          `${table}: ${out}`,
        )
      }
    })

    test('a read-only identity has every reading tool and no other, whatever its roles grant', async () => {
      const reads = (name: string) => /^(get|search|aggregate)_|^schema_overview$/.test(name)
      const all = (await shop.toolsOf('clerk')).map(({ name }) => name)
      assert.deepEqual(
        (await shop.toolsOf('viewer')).map(({ name }) => name),
        all.filter(reads),
      )
      const before = await shop.world()
      for (const tool of all.filter((name) => !reads(name))) {
        const answer = await shop.caller('viewer').call(tool, { id: 1, values: { name: 'x' } })
        assert.equal(answer.rpcError?.code, -32602, tool)
        assert.deepEqual(
          [entryOf(shop.folder, answer.id).code, entryOf(shop.folder, answer.id).effect],
          ['TOOL_UNKNOWN', 'none'],
        )
      }
      assert.deepEqual(await shop.world(), before)
    })

    test('every tool says rightly whether it reads, destroys and may be repeated', async () => {
      const kinds = new Set<string>()
      for (const { name, annotations } of await shop.toolsOf('clerk')) {
        const [kind = ''] = /^(get|search|aggregate|create|update|soft_delete|schema)_/.exec(name) ?? []
        kinds.add(kind)
        const adds = kind === 'create_'
        const changes = kind === 'update_' || kind === 'soft_delete_'
        const expected = {
          readOnlyHint: !adds && !changes,
          destructiveHint: changes,
          idempotentHint: !adds,
          openWorldHint: false,
        }
        assert.deepEqual(annotations, expected, name)
      }
      assert.equal(kinds.size, 7)
    })

    test('what the database refuses is told without a value, a row or a constraint’s name, to caller and trail alike', async (t) => {
      const cases: readonly (readonly [code: string, tool: string, args: unknown])[] = [
        ['DB_CONSTRAINT', 'create_customers', { values: { code: 'E1', name: 'Eve', email: 'bea@bolt.test' } }],
        ['DB_CONSTRAINT', 'update_customers_by_pk', { id: 2, values: { code: 'C3' } }],
        ['DB_CONSTRAINT', 'create_orders', { values: { id: 77, customer_code: 'NOPE' } }],
        ['DB_CONSTRAINT', 'create_orders', { values: { id: 1, customer_code: 'C2' } }],
        // Not before the commit does the database look at these.
        ['DB_CONSTRAINT', 'create_orders', { values: { id: 78, customer_code: 'C2', parent: 4242 } }],
        ['DB_CONSTRAINT', 'create_orders', { values: { id: 78, customer_code: 'C2', parent: 4242 }, dry_run: true }],
        ['DB_CONSTRAINT', 'update_customers_by_pk', { id: 2, values: { name: 'forbidden' } }],
        ['DB_CONSTRAINT', 'update_customers_by_pk', { id: 2, values: { name: 'empties' } }],
        ['DB_CONSTRAINT', 'update_customers_by_pk', { id: 2, values: { name: 'raises' } }],
      ]
      const conflict = ['DB_CONFLICT', 'update_customers_by_pk', { id: 2, values: { name: 'conflicts' } }] as const
      const numbered = !leftOut(t, shop.server, 'what a trigger raises has a number of the server’s own')
      const texts = new Map<string, Set<string>>()
      for (const [code, tool, args] of numbered ? [...cases, conflict] : cases) {
        const refusal = await shop.assertRefused(code, tool, args)
        texts.set(code, (texts.get(code) ?? new Set()).add(refusal.text))
        assertSaysNothing(refusal.text, JSON.stringify(entryOf(shop.folder, refusal.id)))
      }
      assert.deepEqual([...texts.keys()], numbered ? ['DB_CONSTRAINT', 'DB_CONFLICT'] : ['DB_CONSTRAINT'])
      for (const [code, distinct] of texts) assert.equal(distinct.size, 1, code)
    })

    test('a deadlock is a conflict that may be tried again: nothing was changed', async (t) => {
      if (leftOut(t, shop.server, 'of two sessions in a deadlock the one of less worth gives way')) return
      const change = { id: 7, values: { note: 'touches a task' } }
      const other = await heldSession(shop.database.superuser())
      try {
        await other.query(forEngine(STRONGER, target.engine))
        await other.begin()
        await other.query(`UPDATE ${shop.named('lines')} SET n = n + 100`)
        await other.query(`UPDATE ${shop.named('tasks')} SET title = title WHERE id = 2`)
        const refused = shop.clerk.refusal('update_orders_by_pk', change)
        await eventually('the change waits for the other', async () => {
          return Number((await shop.database.query(forEngine(WAITING, target.engine)))[0]?.at(-1)) > 0
        })
        await other.query(`UPDATE ${shop.named('orders')} SET total = total WHERE id = 7`)
        const { code, text, id } = await refused
        assert.equal(code, 'DB_CONFLICT', text)
        const entry = entryOf(shop.folder, id)
        assert.deepEqual([entry.effect, entry.decision], ['none', 'errored'])
        assertSaysNothing(text, JSON.stringify(entry))
        await other.query('ROLLBACK')
        assert.equal((await shop.clerk.change('update_orders_by_pk', change)).changed, true)
      } finally {
        await other.end()
      }
    })
  })

/** Nothing of the rows, of what was sent, of the constraints or of the triggers' words. */
function assertSaysNothing(text: string, entry: string): void {
  const words =
    /hidden_|_rule|pin \d|bea@|ann@|C3|NOPE|forbidden|empties|raises|conflicts|touches|since|customer_before|customer_written|DETAIL/
  assert.doesNotMatch(text, words)
  assert.doesNotMatch(entry, words)
}
