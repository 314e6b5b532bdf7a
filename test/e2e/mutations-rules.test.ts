import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entryOf } from '../support/changes.js'
import { forEngine, WHOLE_PATH_TARGETS } from '../support/engines.js'
import { type ServedShop, serveTriggerShop } from '../support/served-shop.js'

const MINUTES_AGO = {
  postgres: `now() - interval '5' minute`,
  mysql: `now() - interval '5' minute`,
  sqlserver: 'DATEADD(minute, -5, SYSDATETIMEOFFSET())',
}

for (const target of WHOLE_PATH_TARGETS)
  describe(`mutations under policy on the ${target.label} server`, () => {
    let shop: ServedShop

    before(async () => {
      shop = await serveTriggerShop(target)
    })

    after(() => shop?.stop())

    test('presets from claim, literal and clock are written, whatever the caller says, and hidden columns stay hidden', async () => {
      const made = await shop.clerk.change('create_customers', {
        values: { code: 'N1', name: 'New', email: 'new@acme.test' },
      })
      assert.deepEqual([made.row_count, made.affected_rows, made.changed], [1, 1, true])
      const [row = {}] = made.rows
      assert.deepEqual(
        [row['tenant'], row['source'], row['credit'], row['revision'], row['deleted_at'], 'secret' in row],
        ['acme', 'agent', 10, 1, null, false],
      )
      const stamped = await shop.database.query(
        `SELECT source FROM customers WHERE code = 'N1' AND created_at > ${forEngine(MINUTES_AGO, target.engine)}`,
      )
      assert.deepEqual(stamped, [['agent']])
      for (const column of ['tenant', 'source', 'created_at', 'secret', 'id', 'revision']) {
        const values = { code: 'N2', name: 'New', [column]: 'x' }
        const { text } = await shop.assertRefused('ARGUMENT_COLUMN', 'create_customers', { values })
        const unknown = await shop.clerk.refusal('create_customers', {
          values: { code: 'N2', name: 'New', nothing: 'x' },
        })
        assert.equal(text.replaceAll(column, 'nothing'), unknown.text)
      }
      await shop.assertRefused(
        'POLICY_SCOPE',
        'create_customers',
        { values: { code: 'N3', name: 'New' } },
        shop.caller('stranger'),
      )
    })

    test('a masked column is refused exactly like a missing one in values and in expected', async () => {
      const same = async (args: (column: string) => unknown) => {
        const hidden = await shop.assertRefused('ARGUMENT_COLUMN', 'update_customers_by_pk', args('secret'))
        const missing = await shop.assertRefused('ARGUMENT_COLUMN', 'update_customers_by_pk', args('sacret'))
        assert.equal(hidden.text.replaceAll('secret', '?'), missing.text.replaceAll('sacret', '?'))
      }
      await same((column) => ({ id: 1, values: { [column]: 'pin 0000' } }))
      await same((column) => ({ id: 1, values: { name: 'Ann' }, expected: { [column]: 'pin 1111' } }))
    })

    test('an update that a cascade and triggers carry further counts its own row alone, and all of it stays', async () => {
      const { rows, affected_rows, changed } = await shop.clerk.change('update_customers_by_pk', {
        id: 1,
        values: { code: 'X1', name: 'sweeps' },
      })
      assert.deepEqual([affected_rows, changed, rows[0]?.['code'], rows[0]?.['revision']], [1, true, 'X1', 2])
      const state = await shop.database.query(`SELECT (SELECT count(*) FROM orders WHERE customer_code = 'X1'),
      (SELECT count(*) FROM swept), (SELECT count(*) FROM journal WHERE what LIKE 'X1%')`)
      assert.deepEqual(state, [['4', '4', '3']])
    })

    test('a dry run reports what would be, triggers included, and changes nothing', async () => {
      const before = await shop.world()
      const update = await shop.clerk.change('update_customers_by_pk', {
        id: 2,
        values: { code: 'D2', name: 'sweeps' },
        dry_run: true,
      })
      assert.deepEqual([update.dry_run, update.changed, update.affected_rows], [true, true, 1])
      assert.deepEqual([update.rows[0]?.['code'], update.rows[0]?.['name']], ['D2', 'sweeps'])
      const create = await shop.clerk.change('create_customers', { values: { code: 'D3', name: 'Dry' }, dry_run: true })
      assert.deepEqual([create.dry_run, create.rows[0]?.['tenant']], [true, 'acme'])
      const deletion = await shop.clerk.change('soft_delete_customers_by_pk', { id: 2, dry_run: true })
      assert.equal(deletion.dry_run, true)
      await shop.assertRefused('DB_CONSTRAINT', 'update_customers_by_pk', {
        id: 2,
        values: { name: 'forbidden' },
        dry_run: true,
      })
      assert.deepEqual(await shop.world(), before)
      const dry = shop.folder.entries().filter(({ plan }) => plan?.dry_run === true)
      assert.equal(dry.length, 4)
      assert.ok(dry.every(({ effect }) => effect === 'none'))
    })

    test('an update that changes nothing succeeds, says so, and wakes no trigger', async () => {
      const before = await shop.world()
      const same = { id: 4, values: { name: 'Amy', email: null, credit: 10 } }
      const { affected_rows, changed, rows } = await shop.clerk.change('update_customers_by_pk', same)
      assert.deepEqual([affected_rows, changed, rows[0]?.['name']], [0, false, 'Amy'])
      assert.deepEqual(await shop.world(), before)
      const entry = shop.folder.entries().at(-1)
      assert.deepEqual([entry?.code, entry?.effect, entry?.affected ?? 0], ['OK', 'none', 0])
    })

    test('a row of another tenant cannot be changed, and answers like one that does not exist', async () => {
      for (const [tool, more] of [
        ['update_customers_by_pk', { values: { name: 'Mine' } }],
        ['update_customers_by_pk', { values: { name: 'Mine' }, expected: { name: 'Bea' } }],
        ['soft_delete_customers_by_pk', {}],
      ] as const) {
        const foreign = await shop.assertRefused('ROW_NOT_FOUND', tool, { id: 3, ...more })
        const absent = await shop.assertRefused('ROW_NOT_FOUND', tool, { id: 3333, ...more })
        assert.equal(foreign.text, absent.text)
      }
    })

    test('scope is each operation’s own: what may be read and made need not be what may be changed', async () => {
      assert.equal((await shop.clerk.result('search_tasks', {}))['row_count'], 2)
      await shop.assertRefused('ROW_NOT_FOUND', 'update_tasks_by_pk', { id: 2, values: { title: 'taken' } })
      await shop.assertRefused('POLICY_WRITTEN_ROW', 'update_tasks_by_pk', { id: 1, values: { region: 'us' } })
      assert.equal((await shop.clerk.change('update_tasks_by_pk', { id: 1, values: { title: 'mine' } })).changed, true)
      const made = await shop.clerk.change('create_tasks', { values: { id: 3, region: 'us', title: 'made' } })
      assert.equal(made.affected_rows, 1)
    })

    test('a row that a trigger moves out of scope, or keeps from being written, undoes the whole change', async () => {
      await shop.assertRefused('POLICY_WRITTEN_ROW', 'update_customers_by_pk', {
        id: 2,
        values: { name: 'moves', code: 'M2' },
      })
      await shop.assertRefused('POLICY_WRITTEN_ROW', 'create_customers', { values: { name: 'moves', code: 'M3' } })
      await shop.assertRefused('DB_CONSTRAINT', 'update_customers_by_pk', { id: 2, values: { name: 'vanishes' } })
      // No trigger of MySQL keeps a row from being made without an error.
      if (target.engine === 'mysql') return
      await shop.assertRefused('DB_CONSTRAINT', 'create_tasks', { values: { id: 4, region: 'eu', title: 'vanishes' } })
    })

    test('a row whose key a trigger gave is answered as it is, or refused, and never as one that was counted up before', async () => {
      await shop.clerk.change('create_customers', { values: { code: 'K1', name: 'counted' } })
      const numbered = { values: { code: 'K2', name: 'numbered' } }
      // MySQL's own server tells of no key that it did not count up itself, and SQL Server of none that a trigger's insert did.
      if (target.label === 'mysql' || target.engine === 'sqlserver') {
        await shop.assertRefused('DB_CONSTRAINT', 'create_customers', numbered)
        return
      }
      const made = await shop.clerk.change('create_customers', numbered)
      assert.deepEqual([made.rows[0]?.['id'], made.rows[0]?.['code']], [5000, 'K2'])
    })

    test('a change of more rows than allowed is undone with what its triggers did, and one of as many goes through', async () => {
      const close = (batch: number) => ({ batch, values: { state: 'closed' } })
      await shop.assertRefused('AFFECTED_LIMIT', 'update_lines_by_pk', close(3))
      await shop.assertRefused('AFFECTED_LIMIT', 'update_lines_by_pk', close(4), shop.caller('foreman'))
      const two = await shop.clerk.change('update_lines_by_pk', close(2))
      const three = await shop.caller('foreman').change('update_lines_by_pk', close(3))
      assert.deepEqual([two.affected_rows, two.row_count, three.affected_rows, three.row_count], [2, 2, 3, 3])
      const closed = await shop.database.query(
        `SELECT batch, count(*) FROM ${shop.named('lines')} WHERE state = 'closed' GROUP BY batch ORDER BY batch`,
      )
      assert.deepEqual(closed, [
        ['2', '2'],
        ['3', '3'],
      ])
    })

    test('a soft-deleted row stays in the database and is gone for every tool', async () => {
      const gone = await shop.clerk.change('soft_delete_customers_by_pk', { id: 5 })
      assert.deepEqual([gone.affected_rows, gone.changed, gone.rows[0]?.['id']], [1, true, 5])
      const marked = await shop.database.query('SELECT id FROM customers WHERE deleted_at IS NOT NULL')
      assert.deepEqual(marked, [['5']])
      const absent = await shop.clerk.refusal('get_customers_by_pk', { id: 5555 })
      assert.equal((await shop.clerk.refusal('get_customers_by_pk', { id: 5 })).text, absent.text)
      const found = await shop.clerk.result('search_customers', {
        filters: [{ column: 'code', op: 'eq', value: 'C5' }],
      })
      assert.equal(found['row_count'], 0)
      await shop.assertRefused('ROW_NOT_FOUND', 'update_customers_by_pk', { id: 5, values: { name: 'Back' } })
      await shop.assertRefused('ROW_NOT_FOUND', 'soft_delete_customers_by_pk', { id: 5 })
    })

    test('a committed change has an entry with its target, its columns and its effect, and no value', async () => {
      const { id } = await shop.clerk.call('update_customers_by_pk', {
        id: 4,
        values: { email: 'amy@acme.test' },
        expected: { name: 'Amy' },
      })
      const entry = entryOf(shop.folder, id)
      assert.deepEqual(
        [entry.operation, entry.target, entry.code, entry.decision, entry.effect, entry.affected, entry.identity],
        ['update', shop.named('customers'), 'OK', 'allowed', 'committed', 1, 'clerk'],
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
