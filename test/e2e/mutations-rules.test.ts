import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Caller, callerOf, entryOf } from '../support/changes.js'
import { forEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import { type GatewayFolder, listTools, prepareGateway, type RunningGateway, startGateway } from '../support/gateway.js'
import { heldSession } from '../support/hold.js'
import { runRunku } from '../support/runku-process.js'
import { policyFor } from '../support/security-sql.js'
import { eventually, type TestDatabase } from '../support/test-server.js'
import { TRIGGER_SHOP_POLICY, TRIGGER_SHOP_SETUPS } from '../support/trigger-shop.js'

const TENANT = new Map([['tenant', 'acme']])
/** Everything that a change could have touched, and in which order it is read. */
const WORLD = {
  customers: 'id',
  orders: 'id',
  lines: 'batch, n',
  tasks: 'id',
  journal: 'what',
  swept: 'id',
  old_totals: 'id',
}
/** The last cell is how many statements wait for a lock of another. */
const WAITING = {
  postgres: `SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'runku' AND wait_event_type = 'Lock' AND datname = current_database()`,
  // The tables that list such waits keep what they show for as long as they are looked at often.
  mysql: `SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'`,
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
}
const EXCLUSIVE = {
  postgres: 'BEGIN; LOCK TABLE public.customers, public.orders IN ACCESS EXCLUSIVE MODE',
  mysql: 'LOCK TABLES test.customers WRITE, test.orders WRITE',
}

for (const target of WHOLE_PATH_TARGETS)
  describe(`mutations under policy on the ${target.label} server`, () => {
    let database: TestDatabase
    let folder: GatewayFolder
    let running: RunningGateway
    let clerk: Caller

    before(async () => {
      database = await (await target.start()).createDatabase(forEngine(TRIGGER_SHOP_SETUPS, target.engine))
      folder = await prepareGateway({
        connectors: [
          { id: 'shop', settings: database.writer(), policy: policyFor(target.engine, TRIGGER_SHOP_POLICY) },
        ],
        identities: {
          clerk: { roles: ['clerk', 'european'], claims: TENANT },
          foreman: { roles: ['clerk'], claims: TENANT },
          viewer: { roles: ['clerk', 'european'], claims: TENANT },
          stranger: { roles: ['clerk'] },
        },
      })
      running = await startGateway(folder)
      clerk = caller('clerk')
    })

    after(async () => {
      await running?.stop()
      await folder?.remove()
      await database?.drop()
    })

    const caller = (who: string) => callerOf(running.endpoint('shop'), folder.keys[who])
    const toolsOf = (who: string) => listTools(running.endpoint('shop'), folder.keys[who])

    /** With its schema, under which every name is a table's, a reserved word as well. */
    const named = (table: string) => `${database.schema}.${table}`

    const world = () =>
      Promise.all(
        Object.entries(WORLD).map(([table, order]) =>
          database.query(`SELECT * FROM ${named(table)} ORDER BY ${order}`),
        ),
      )

    /** Each of these calls is refused with the code, and leaves the database, triggers' work included, as it was. */
    const assertRefused = async (code: string, tool: string, args: unknown, by: Caller = clerk) => {
      const before = await world()
      const refusal = await by.refusal(tool, args)
      assert.equal(refusal.code, code, `${tool} ${JSON.stringify(args)}: ${refusal.text}`)
      assert.deepEqual(await world(), before)
      assert.equal(entryOf(folder, refusal.id).effect, 'none')
      assert.equal(entryOf(folder, refusal.id).code, code)
      return refusal
    }

    test('presets from claim, literal and clock are written, whatever the caller says, and hidden columns stay hidden', async () => {
      const made = await clerk.change('create_customers', {
        values: { code: 'N1', name: 'New', email: 'new@acme.test' },
      })
      assert.deepEqual([made.row_count, made.affected_rows, made.changed], [1, 1, true])
      const [row = {}] = made.rows
      assert.deepEqual(
        [row['tenant'], row['source'], row['credit'], row['revision'], row['deleted_at'], 'secret' in row],
        ['acme', 'agent', 10, 1, null, false],
      )
      const stamped = await database.query(
        `SELECT source FROM customers WHERE code = 'N1' AND created_at > now() - interval '5' minute`,
      )
      assert.deepEqual(stamped, [['agent']])
      for (const column of ['tenant', 'source', 'created_at', 'secret', 'id', 'revision']) {
        const values = { code: 'N2', name: 'New', [column]: 'x' }
        const { text } = await assertRefused('ARGUMENT_COLUMN', 'create_customers', { values })
        const unknown = await clerk.refusal('create_customers', { values: { code: 'N2', name: 'New', nothing: 'x' } })
        assert.equal(text.replaceAll(column, 'nothing'), unknown.text)
      }
      await assertRefused(
        'POLICY_SCOPE',
        'create_customers',
        { values: { code: 'N3', name: 'New' } },
        caller('stranger'),
      )
    })

    test('a masked column is refused exactly like a missing one in values and in expected', async () => {
      const same = async (args: (column: string) => unknown) => {
        const hidden = await assertRefused('ARGUMENT_COLUMN', 'update_customers_by_pk', args('secret'))
        const missing = await assertRefused('ARGUMENT_COLUMN', 'update_customers_by_pk', args('sacret'))
        assert.equal(hidden.text.replaceAll('secret', '?'), missing.text.replaceAll('sacret', '?'))
      }
      await same((column) => ({ id: 1, values: { [column]: 'pin 0000' } }))
      await same((column) => ({ id: 1, values: { name: 'Ann' }, expected: { [column]: 'pin 1111' } }))
    })

    test('an update that a cascade and triggers carry further counts its own row alone, and all of it stays', async () => {
      const { rows, affected_rows, changed } = await clerk.change('update_customers_by_pk', {
        id: 1,
        values: { code: 'X1', name: 'sweeps' },
      })
      assert.deepEqual([affected_rows, changed, rows[0]?.['code'], rows[0]?.['revision']], [1, true, 'X1', 2])
      const state = await database.query(`SELECT (SELECT count(*) FROM orders WHERE customer_code = 'X1'),
      (SELECT count(*) FROM swept), (SELECT count(*) FROM journal WHERE what LIKE 'X1%')`)
      assert.deepEqual(state, [['4', '4', '3']])
    })

    test('a dry run reports what would be, triggers included, and changes nothing', async () => {
      const before = await world()
      const update = await clerk.change('update_customers_by_pk', {
        id: 2,
        values: { code: 'D2', name: 'sweeps' },
        dry_run: true,
      })
      assert.deepEqual([update.dry_run, update.changed, update.affected_rows], [true, true, 1])
      assert.deepEqual([update.rows[0]?.['code'], update.rows[0]?.['name']], ['D2', 'sweeps'])
      const create = await clerk.change('create_customers', { values: { code: 'D3', name: 'Dry' }, dry_run: true })
      assert.deepEqual([create.dry_run, create.rows[0]?.['tenant']], [true, 'acme'])
      const deletion = await clerk.change('soft_delete_customers_by_pk', { id: 2, dry_run: true })
      assert.equal(deletion.dry_run, true)
      await assertRefused('DB_CONSTRAINT', 'update_customers_by_pk', {
        id: 2,
        values: { name: 'forbidden' },
        dry_run: true,
      })
      assert.deepEqual(await world(), before)
      const dry = folder.entries().filter(({ plan }) => plan?.dry_run === true)
      assert.equal(dry.length, 4)
      assert.ok(dry.every(({ effect }) => effect === 'none'))
    })

    test('an update that changes nothing succeeds, says so, and wakes no trigger', async () => {
      const before = await world()
      const same = { id: 4, values: { name: 'Amy', email: null, credit: 10 } }
      const { affected_rows, changed, rows } = await clerk.change('update_customers_by_pk', same)
      assert.deepEqual([affected_rows, changed, rows[0]?.['name']], [0, false, 'Amy'])
      assert.deepEqual(await world(), before)
      const entry = folder.entries().at(-1)
      assert.deepEqual([entry?.code, entry?.effect, entry?.affected ?? 0], ['OK', 'none', 0])
    })

    test('a row of another tenant cannot be changed, and answers like one that does not exist', async () => {
      for (const [tool, more] of [
        ['update_customers_by_pk', { values: { name: 'Mine' } }],
        ['update_customers_by_pk', { values: { name: 'Mine' }, expected: { name: 'Bea' } }],
        ['soft_delete_customers_by_pk', {}],
      ] as const) {
        const foreign = await assertRefused('ROW_NOT_FOUND', tool, { id: 3, ...more })
        const absent = await assertRefused('ROW_NOT_FOUND', tool, { id: 3333, ...more })
        assert.equal(foreign.text, absent.text)
      }
    })

    test('scope is each operation’s own: what may be read and made need not be what may be changed', async () => {
      assert.equal((await clerk.result('search_tasks', {}))['row_count'], 2)
      await assertRefused('ROW_NOT_FOUND', 'update_tasks_by_pk', { id: 2, values: { title: 'taken' } })
      await assertRefused('POLICY_WRITTEN_ROW', 'update_tasks_by_pk', { id: 1, values: { region: 'us' } })
      assert.equal((await clerk.change('update_tasks_by_pk', { id: 1, values: { title: 'mine' } })).changed, true)
      const made = await clerk.change('create_tasks', { values: { id: 3, region: 'us', title: 'made' } })
      assert.equal(made.affected_rows, 1)
    })

    test('a row that a trigger moves out of scope, or keeps from being written, undoes the whole change', async () => {
      await assertRefused('POLICY_WRITTEN_ROW', 'update_customers_by_pk', {
        id: 2,
        values: { name: 'moves', code: 'M2' },
      })
      await assertRefused('POLICY_WRITTEN_ROW', 'create_customers', { values: { name: 'moves', code: 'M3' } })
      await assertRefused('DB_CONSTRAINT', 'update_customers_by_pk', { id: 2, values: { name: 'vanishes' } })
      // No trigger of MySQL keeps a row from being made without an error.
      if (target.engine === 'mysql') return
      await assertRefused('DB_CONSTRAINT', 'create_tasks', { values: { id: 4, region: 'eu', title: 'vanishes' } })
    })

    test('a row whose key a trigger gave is answered as it is, or refused, and never as one that was counted up before', async () => {
      await clerk.change('create_customers', { values: { code: 'K1', name: 'counted' } })
      const numbered = { values: { code: 'K2', name: 'numbered' } }
      // MySQL's own server tells of no key that it did not count up itself.
      if (target.label === 'mysql') {
        await assertRefused('DB_CONSTRAINT', 'create_customers', numbered)
        return
      }
      const made = await clerk.change('create_customers', numbered)
      assert.deepEqual([made.rows[0]?.['id'], made.rows[0]?.['code']], [5000, 'K2'])
    })

    test('a change of more rows than allowed is undone with what its triggers did, and one of as many goes through', async () => {
      const close = (batch: number) => ({ batch, values: { state: 'closed' } })
      await assertRefused('AFFECTED_LIMIT', 'update_lines_by_pk', close(3))
      await assertRefused('AFFECTED_LIMIT', 'update_lines_by_pk', close(4), caller('foreman'))
      const two = await clerk.change('update_lines_by_pk', close(2))
      const three = await caller('foreman').change('update_lines_by_pk', close(3))
      assert.deepEqual([two.affected_rows, two.row_count, three.affected_rows, three.row_count], [2, 2, 3, 3])
      const closed = await database.query(
        `SELECT batch, count(*) FROM ${named('lines')} WHERE state = 'closed' GROUP BY batch ORDER BY batch`,
      )
      assert.deepEqual(closed, [
        ['2', '2'],
        ['3', '3'],
      ])
    })

    test('a soft-deleted row stays in the database and is gone for every tool', async () => {
      const gone = await clerk.change('soft_delete_customers_by_pk', { id: 5 })
      assert.deepEqual([gone.affected_rows, gone.changed, gone.rows[0]?.['id']], [1, true, 5])
      const marked = await database.query('SELECT id FROM customers WHERE deleted_at IS NOT NULL')
      assert.deepEqual(marked, [['5']])
      const absent = await clerk.refusal('get_customers_by_pk', { id: 5555 })
      assert.equal((await clerk.refusal('get_customers_by_pk', { id: 5 })).text, absent.text)
      const found = await clerk.result('search_customers', { filters: [{ column: 'code', op: 'eq', value: 'C5' }] })
      assert.equal(found['row_count'], 0)
      await assertRefused('ROW_NOT_FOUND', 'update_customers_by_pk', { id: 5, values: { name: 'Back' } })
      await assertRefused('ROW_NOT_FOUND', 'soft_delete_customers_by_pk', { id: 5 })
    })

    test('what cannot be right is refused before the database is asked, with the field named', async () => {
      const locker = await heldSession(database.superuser())
      try {
        // Whoever asks the database now waits until the call's time is up.
        await locker.query(forEngine(EXCLUSIVE, target.engine).replaceAll('test.', `${database.schema}.`))
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
          const refusal = await clerk.refusal(tool, args)
          const what = `${tool} ${JSON.stringify(args)}: ${refusal.text}`
          assert.equal(refusal.code, code, what)
          assert.ok(refusal.text.includes(`Field: ${field}.`), what)
          const entry = entryOf(folder, refusal.id)
          assert.deepEqual([entry.decision, entry.effect, entry.duration_ms.db ?? 0], ['blocked', 'none', 0])
        }
      } finally {
        await locker.end()
      }
      await assertRefused('ROW_NOT_FOUND', 'update_orders_by_pk', { id: 4711, values: { note: 'x' } })
    })

    test('views, and tables whose rows are kept elsewhere or cannot be undone, have no tool that writes', async () => {
      const names = (await toolsOf('clerk')).map(({ name }) => name)
      for (const table of ['order_totals', 'old_totals', 'far_orders']) {
        assert.ok(names.includes(`search_${table}`), table)
        assert.deepEqual(
          names.filter((name) => name.includes(table) && /^(create|update|soft_delete)_/.test(name)),
          [],
        )
        const answer = await clerk.call(`update_${table}_by_pk`, { id: 1, values: { total: 1 } })
        assert.equal(answer.rpcError?.code, -32602)
      }
    })

    test('the operator is told why a table is not written', async () => {
      const { out } = await runRunku(folder.folder, ['check', '--config', folder.configFile, '--json'])
      const reasons = forEngine(READ_ONLY, target.engine)
      for (const [table, reason] of Object.entries(reasons)) {
        assert.ok(
          out.includes(`${JSON.stringify(JSON.stringify(named(table))).slice(1, -1)} ${reason}`),
          `${table}: ${out}`,
        )
      }
    })

    test('a read-only identity has every reading tool and no other, whatever its roles grant', async () => {
      const reads = (name: string) => /^(get|search|aggregate)_|^schema_overview$/.test(name)
      const all = (await toolsOf('clerk')).map(({ name }) => name)
      assert.deepEqual(
        (await toolsOf('viewer')).map(({ name }) => name),
        all.filter(reads),
      )
      const before = await world()
      for (const tool of all.filter((name) => !reads(name))) {
        const answer = await caller('viewer').call(tool, { id: 1, values: { name: 'x' } })
        assert.equal(answer.rpcError?.code, -32602, tool)
        assert.deepEqual([entryOf(folder, answer.id).code, entryOf(folder, answer.id).effect], ['TOOL_UNKNOWN', 'none'])
      }
      assert.deepEqual(await world(), before)
    })

    test('every tool says rightly whether it reads, destroys and may be repeated', async () => {
      const kinds = new Set<string>()
      for (const { name, annotations } of await toolsOf('clerk')) {
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

    test('what the database refuses is told without a value, a row or a constraint’s name, to caller and trail alike', async () => {
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
        ['DB_CONFLICT', 'update_customers_by_pk', { id: 2, values: { name: 'conflicts' } }],
      ]
      const texts = new Map<string, Set<string>>()
      for (const [code, tool, args] of cases) {
        const refusal = await assertRefused(code, tool, args)
        texts.set(code, (texts.get(code) ?? new Set()).add(refusal.text))
        assertSaysNothing(refusal.text, JSON.stringify(entryOf(folder, refusal.id)))
      }
      assert.deepEqual(
        [...texts].map(([code, distinct]) => [code, distinct.size]),
        [
          ['DB_CONSTRAINT', 1],
          ['DB_CONFLICT', 1],
        ],
      )
    })

    test('a deadlock is a conflict that may be tried again: nothing was changed', async () => {
      const change = { id: 7, values: { note: 'touches a task' } }
      const other = await heldSession(database.superuser())
      try {
        // It is never the one to give way: it takes longer to look for deadlocks, or has changed more.
        if (target.engine === 'postgres') await other.query(`SET deadlock_timeout = '1min'`)
        await other.query(`BEGIN; UPDATE ${named('lines')} SET n = n + 100`)
        await other.query(`UPDATE ${named('tasks')} SET title = title WHERE id = 2`)
        const refused = clerk.refusal('update_orders_by_pk', change)
        await eventually('the change waits for the other', async () => {
          return Number((await database.query(forEngine(WAITING, target.engine)))[0]?.at(-1)) > 0
        })
        await other.query(`UPDATE ${named('orders')} SET total = total WHERE id = 7`)
        const { code, text, id } = await refused
        assert.equal(code, 'DB_CONFLICT', text)
        const entry = entryOf(folder, id)
        assert.deepEqual([entry.effect, entry.decision], ['none', 'errored'])
        assertSaysNothing(text, JSON.stringify(entry))
        await other.query('ROLLBACK')
        assert.equal((await clerk.change('update_orders_by_pk', change)).changed, true)
      } finally {
        await other.end()
      }
    })

    test('a committed change has an entry with its target, its columns and its effect, and no value', async () => {
      const { id } = await clerk.call('update_customers_by_pk', {
        id: 4,
        values: { email: 'amy@acme.test' },
        expected: { name: 'Amy' },
      })
      const entry = entryOf(folder, id)
      assert.deepEqual(
        [entry.operation, entry.target, entry.code, entry.decision, entry.effect, entry.affected, entry.identity],
        ['update', named('customers'), 'OK', 'allowed', 'committed', 1, 'clerk'],
      )
      assert.deepEqual(
        entry.plan?.values?.map(({ column }) => column),
        ['email'],
      )
      assert.deepEqual(
        entry.plan?.expected?.map(({ column }) => column),
        ['name'],
      )
      assert.ok(!JSON.stringify(entry).includes('amy@acme.test'))
    })
  })

/** Nothing of the rows, of what was sent, of the constraints or of the triggers' words. */
function assertSaysNothing(text: string, entry: string): void {
  const words =
    /hidden_|_rule|pin \d|bea@|ann@|C3|NOPE|forbidden|empties|raises|conflicts|touches|since|customer_before|DETAIL/
  assert.doesNotMatch(text, words)
  assert.doesNotMatch(entry, words)
}
