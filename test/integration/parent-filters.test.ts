import assert from 'node:assert/strict'
import { afterEach, before, beforeEach, describe, test } from 'node:test'
import type { ClaimValue, Identity } from '../../src/core/identity.js'
import type { EngineName } from '../../src/core/schema-model.js'
import { ENGINE_TARGETS, forEngine } from '../support/engines.js'
import { leftOut } from '../support/left-out.js'
import { identity, openPath, type RecordedPath } from '../support/recorded-path.js'
import { keyText, policyFor } from '../support/security-sql.js'
import type { TestDatabase, TestServer } from '../support/test-server.js'

/** Rows whose scope is that of the row that they refer to, and of the row that that one refers to. */

interface Customer {
  readonly id: number
  readonly tenant: string
  readonly grade: number
  readonly gone: boolean
}
interface Order {
  readonly id: number
  readonly customer: number | null
  readonly gone: boolean
}
interface Line {
  readonly id: number
  readonly order: number
  readonly kind: string
}

const CUSTOMERS: readonly Customer[] = Array.from({ length: 12 }, (_, i) => ({
  id: i + 1,
  tenant: i % 2 === 0 ? 'acme' : 'beta',
  grade: i % 5,
  gone: i === 4 || i === 7,
}))
const ORDERS: readonly Order[] = Array.from({ length: 40 }, (_, i) => ({
  id: 100 + i,
  customer: i % 13 === 12 ? null : 1 + (i % 13),
  gone: i % 9 === 0,
}))
const LINES: readonly Line[] = Array.from({ length: 90 }, (_, i) => ({
  id: 1000 + i,
  order: 100 + (i % 40),
  kind: `kind ${i % 7}`,
}))

function setup(engine: EngineName): string {
  const text = keyText(engine)
  const flag = forEngine({ postgres: 'boolean', mysql: 'boolean', sqlserver: 'bit' }, engine)
  const bool = (value: boolean) => (engine === 'postgres' ? String(value) : value ? '1' : '0')
  const customers = CUSTOMERS.map(({ id, tenant, grade, gone }) => `(${id}, '${tenant}', ${grade}, ${bool(gone)})`)
  const orders = ORDERS.map(({ id, customer, gone }) => `(${id}, ${customer ?? 'NULL'}, 'note ${id}', ${bool(gone)})`)
  const lines = LINES.map(({ id, order, kind }) => `(${id}, ${order}, '${kind}', ${id % 10})`)
  return `
CREATE TABLE customers (id int PRIMARY KEY, tenant ${text} NOT NULL, grade int NOT NULL, gone ${flag} NOT NULL);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int, note ${text}, gone ${flag} NOT NULL DEFAULT ${bool(false)},
  CONSTRAINT orders_customer FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE TABLE order_lines (id int PRIMARY KEY, order_id int NOT NULL, kind ${text}, amount int,
  CONSTRAINT lines_order FOREIGN KEY (order_id) REFERENCES orders (id));
CREATE TABLE tallies (id int PRIMARY KEY, customer int, amount int);
INSERT INTO customers VALUES ${customers.join(', ')};
INSERT INTO orders VALUES ${orders.join(', ')};
INSERT INTO order_lines VALUES ${lines.join(', ')};
INSERT INTO tallies SELECT id, customer_id, id FROM orders;
`
}

const POLICY = `
version: 1
defaults: { row_cap: 200, page_size: 200 }
tables:
  public.customers:
    row_filter: [ { column: tenant, op: eq, value: { claim: tenant } } ]
    soft_delete: { column: gone, value: true }
  public.orders:
    row_filter: [ { parent: [customer_id] } ]
    create: { columns: [id, customer_id, note] }
    update: { columns: [customer_id, note] }
    soft_delete: { column: gone, value: true }
  public.order_lines:
    row_filter: [ { parent: [order_id] } ]
    create: { columns: [id, order_id, kind, amount] }
    update: { columns: [order_id, kind] }
  public.tallies:
    relations: { whose: { columns: [customer], references: public.customers } }
roles:
  agent:
    read: ['*']
    create: [public.orders, public.order_lines]
    update: [public.orders, public.order_lines]
    soft_delete: [public.orders]
  blind:
    read: [public.orders, public.tallies]
    row_filter: { public.tallies: [ { parent: [customer] } ] }
  low: { read: [public.customers, public.orders, public.order_lines], row_filter: { public.customers: [ { column: grade, op: lt, value: { claim: grade } } ] } }
  counter: { aggregate: [public.order_lines], min_group_size: 4 }
`

const who = (name: string, roles: readonly string[], claims: Readonly<Record<string, ClaimValue>>) =>
  identity(name, roles, claims)
const AGENT = who('agent', ['agent'], { tenant: 'acme' })
const BETA = who('beta', ['agent'], { tenant: 'beta' })
const LOW = who('low', ['low'], { tenant: 'acme', grade: 2 })
const BLIND = who('blind', ['blind'], { tenant: 'acme' })
const WIDE = who('wide', ['low', 'agent'], { tenant: 'acme', grade: 2 })
const LOST = who('lost', ['agent', 'blind'], {})
const UNGRADED = who('ungraded', ['low'], { tenant: 'acme' })
const COUNTER = who('counter', ['counter'], { tenant: 'acme' })

/** What a caller may see, by nothing but the data above: the customers by claims, and what hangs on them. */
function seenBy({ claims, roles }: Identity) {
  const filtered = roles.includes('low') && !roles.includes('agent')
  const customers = new Set(
    CUSTOMERS.filter(
      ({ tenant, grade, gone }) =>
        tenant === claims.get('tenant') && !gone && (!filtered || grade < Number(claims.get('grade'))),
    ).map(({ id }) => id),
  )
  const orders = new Set(
    ORDERS.filter(({ customer, gone }) => customer !== null && customers.has(customer) && !gone).map(({ id }) => id),
  )
  return { customers, orders, lines: new Set(LINES.filter(({ order }) => orders.has(order)).map(({ id }) => id)) }
}

for (const target of ENGINE_TARGETS) {
  describe(`row filters that lead to a parent, on ${target.label}`, () => {
    let server: TestServer
    let db: TestDatabase
    let path: RecordedPath
    before(async () => {
      server = await target.start()
    })
    beforeEach(async () => {
      db = await server.createDatabase(setup(target.engine))
      path = await openPath({ settings: db.writer(), policy: policyFor(target.engine, POLICY) })
    })
    afterEach(async () => {
      await path.close()
      await db.drop()
    })

    interface Answer {
      readonly row?: Readonly<Record<string, unknown>>
      readonly rows?: readonly Readonly<Record<string, unknown>>[]
    }
    async function answer(caller: Identity, tool: string, args: object): Promise<Answer> {
      const { code, body, reason } = await path.call(caller, tool, args)
      assert.equal(code, 'OK', `${caller.name} ${tool} ${JSON.stringify(args)}: ${reason} ${body}`)
      // The gateway's own making, whose shape its own tests hold.
      return (JSON.parse(`{${body}}`) as { structuredContent: Answer }).structuredContent
    }
    const codeOf = async (caller: Identity, tool: string, args: object) => (await path.call(caller, tool, args)).code
    const ids = async (caller: Identity, tool: string, args: object = {}) =>
      (await answer(caller, tool, { columns: ['id'], ...args })).rows?.map(({ id }) => id)
    const sorted = (set: ReadonlySet<number>) => [...set].sort((a, b) => a - b)
    const stored = async (sql: string) =>
      (await db.query(sql)).map((row) => row.map((cell) => (cell === null ? null : Number(cell))))

    test('reads give exactly the rows whose parents, and theirs, are in scope', async () => {
      assert.deepEqual(
        path.findings.map(({ kind }) => kind),
        [],
      )
      for (const caller of [AGENT, BETA, LOW, WIDE]) {
        const { orders, lines } = seenBy(caller)
        assert.ok(orders.size > 0 && lines.size > orders.size, caller.name)
        assert.deepEqual(await ids(caller, 'search_orders'), sorted(orders), caller.name)
        assert.deepEqual(await ids(caller, 'search_order_lines'), sorted(lines), caller.name)
        const counted = await answer(caller, 'aggregate_order_lines', { metrics: [{ fn: 'count' }] })
        assert.deepEqual(counted.rows, [{ count: lines.size }])
        for (const { id } of ORDERS) {
          assert.equal(await codeOf(caller, 'get_orders_by_pk', { id }), orders.has(id) ? 'OK' : 'ROW_NOT_FOUND')
        }
      }
    })

    test('who may not read the parent is held to what its table says of rows, by a relation of the policy as well', async () => {
      const { customers, orders } = seenBy(BLIND)
      assert.deepEqual(await ids(BLIND, 'search_orders'), sorted(orders))
      const tallies = ORDERS.filter(({ customer }) => customer !== null && customers.has(customer)).map(({ id }) => id)
      assert.deepEqual(await ids(BLIND, 'search_tallies'), tallies)
      assert.equal(await codeOf(BLIND, 'search_customers', {}), 'TOOL_UNKNOWN')
    })

    test('a claim that the parent needs, or its parent, refuses every call that hangs on it', async () => {
      for (const [caller, tool] of [
        [LOST, 'search_orders'],
        [LOST, 'search_order_lines'],
        [LOST, 'aggregate_order_lines'],
        [UNGRADED, 'search_order_lines'],
      ] as const) {
        const args = tool.startsWith('search') ? {} : { metrics: [{ fn: 'count' }] }
        const seen = await path.call(caller, tool, args)
        assert.equal(seen.code, 'POLICY_SCOPE')
        assert.match(seen.reason ?? '', /claim "(?:tenant|grade)" is missing/)
        assert.deepEqual(seen.statements, [])
      }
      for (const [tool, args] of [
        ['create_orders', { values: { id: 900, customer_id: 1 } }],
        ['update_orders_by_pk', { id: 101, values: { note: 'x' } }],
        ['soft_delete_orders_by_pk', { id: 101 }],
      ] as const) {
        assert.equal(await codeOf(LOST, tool, args), 'POLICY_SCOPE')
      }
    })

    test('small groups are those of the rows whose parents are in scope', async () => {
      const { lines } = seenBy(COUNTER)
      const sizes = new Map<string, number>()
      for (const { id, kind } of LINES) if (lines.has(id)) sizes.set(kind, (sizes.get(kind) ?? 0) + 1)
      const { rows = [] } = await answer(COUNTER, 'aggregate_order_lines', {
        metrics: [{ fn: 'count' }],
        group_by: ['kind'],
      })
      const small = [...sizes.values()].filter((size) => size < 4)
      const kept = [...sizes].filter(([, size]) => size >= 4)
      assert.ok(kept.length > 1 && lines.size < LINES.length, JSON.stringify([...sizes]))
      assert.ok(rows.length >= kept.length - (small.length === 1 ? 1 : 0) && rows.length <= kept.length)
      for (const { kind, count } of rows) assert.equal(Number(count), sizes.get(String(kind)))
    })

    test('a row is made only under a parent in scope', async () => {
      const { customers, orders } = seenBy(AGENT)
      let id = 900
      const made: number[] = []
      for (const customer of [...CUSTOMERS.map((each) => each.id), null]) {
        const inScope = customer !== null && customers.has(customer)
        id++
        const args = { values: { id, customer_id: customer, note: 'made' } }
        const dry = await codeOf(AGENT, 'create_orders', { ...args, dry_run: true })
        assert.equal(dry, inScope ? 'OK' : 'POLICY_WRITTEN_ROW', String(customer))
        const code = await codeOf(AGENT, 'create_orders', args)
        assert.equal(code, inScope ? 'OK' : 'POLICY_WRITTEN_ROW', String(customer))
        if (inScope) made.push(id)
      }
      assert.deepEqual(
        await stored('SELECT id FROM orders WHERE id > 900 ORDER BY id'),
        made.map((each) => [each]),
      )
      for (const order of ORDERS.slice(0, 15)) {
        id++
        const code = await codeOf(AGENT, 'create_order_lines', {
          values: { id: id + 1000, order_id: order.id, kind: 'k' },
        })
        assert.equal(code, orders.has(order.id) ? 'OK' : 'POLICY_WRITTEN_ROW', String(order.id))
      }
      assert.equal(await codeOf(AGENT, 'create_orders', { values: { id: 999, customer_id: 777 } }), 'DB_CONSTRAINT')
      const row = await answer(AGENT, 'create_orders', { values: { id: 998, customer_id: 1, note: 'whole' } })
      assert.match(JSON.stringify(row), /whole/)
    })

    test('a change finds rows in scope alone, and leaves none elsewhere', async () => {
      const { customers, orders } = seenBy(AGENT)
      for (const { id } of ORDERS) {
        const code = await codeOf(AGENT, 'update_orders_by_pk', { id, values: { note: `changed ${id}` } })
        assert.equal(code, orders.has(id) ? 'OK' : 'ROW_NOT_FOUND', String(id))
      }
      const changed = await stored("SELECT id FROM orders WHERE note LIKE 'changed%' ORDER BY id")
      assert.deepEqual(
        changed,
        sorted(orders).map((id) => [id]),
      )
      const [id = 0] = orders
      for (const customer of [...CUSTOMERS.map((each) => each.id), null]) {
        for (const dry_run of [true, false]) {
          const code = await codeOf(AGENT, 'update_orders_by_pk', { id, values: { customer_id: customer }, dry_run })
          const inScope = customer !== null && customers.has(customer)
          assert.equal(code, inScope ? 'OK' : 'POLICY_WRITTEN_ROW', String(customer))
        }
      }
      const [[customer] = []] = await stored(`SELECT customer_id FROM orders WHERE id = ${id}`)
      assert.ok(customers.has(Number(customer)))
      const [other = 0] = [...orders].slice(-1)
      const expected = { note: `changed ${other}` }
      assert.equal(
        await codeOf(AGENT, 'update_orders_by_pk', { id: other, values: { note: 'y' }, expected: { note: 'n' } }),
        'CONFLICT_EXPECTED',
      )
      assert.equal(await codeOf(AGENT, 'update_orders_by_pk', { id: other, values: { note: 'y' }, expected }), 'OK')
      const outside = ORDERS.find((order) => !orders.has(order.id))?.id ?? 0
      assert.equal(
        await codeOf(AGENT, 'update_orders_by_pk', { id: outside, values: { note: 'y' }, expected: { note: 'n' } }),
        'ROW_NOT_FOUND',
      )
    })

    test('a soft delete finds rows in scope alone, and what hangs on a deleted row goes with it', async () => {
      const { orders } = seenBy(AGENT)
      const [id = 0] = orders
      const held = LINES.filter(({ order }) => order === id).map((line) => line.id)
      assert.ok(held.length > 0)
      assert.deepEqual(
        await ids(AGENT, 'search_order_lines', { filters: [{ column: 'order_id', op: 'eq', value: id }] }),
        held,
      )
      for (const order of ORDERS) {
        if (orders.has(order.id)) continue
        assert.equal(await codeOf(AGENT, 'soft_delete_orders_by_pk', { id: order.id }), 'ROW_NOT_FOUND')
      }
      assert.equal(await codeOf(AGENT, 'soft_delete_orders_by_pk', { id, dry_run: true }), 'OK')
      assert.equal(await codeOf(AGENT, 'soft_delete_orders_by_pk', { id }), 'OK')
      assert.deepEqual(
        await ids(AGENT, 'search_order_lines', { filters: [{ column: 'order_id', op: 'eq', value: id }] }),
        [],
      )
      assert.equal(
        await codeOf(AGENT, 'update_order_lines_by_pk', { id: held[0], values: { kind: 'x' } }),
        'ROW_NOT_FOUND',
      )
    })

    test('a statement looks at the parent by names that it makes sure of, and refuses once they are others', async (t) => {
      if (leftOut(t, server, 'numbers of errors, which tell that a column is another')) return
      const column = forEngine(
        {
          postgres:
            'ALTER TABLE customers RENAME COLUMN tenant TO tenant_was; ALTER TABLE customers ADD COLUMN tenant text',
          mysql: 'ALTER TABLE customers RENAME COLUMN tenant TO tenant_was, ADD COLUMN tenant varchar(191)',
          sqlserver:
            "EXEC sp_rename 'customers.tenant', 'tenant_was', 'COLUMN'; ALTER TABLE customers ADD tenant nvarchar(191)",
        },
        target.engine,
      )
      assert.equal(await codeOf(AGENT, 'search_orders', {}), 'OK')
      await db.query(column)
      for (const [tool, args] of [
        ['search_orders', {}],
        ['search_order_lines', {}],
        ['aggregate_orders', { metrics: [{ fn: 'count' }] }],
        ['get_orders_by_pk', { id: 101 }],
        ['create_orders', { values: { id: 990, customer_id: 1 } }],
        ['update_orders_by_pk', { id: 101, values: { note: 'x' } }],
        ['soft_delete_orders_by_pk', { id: 101 }],
      ] as const) {
        assert.equal(await codeOf(AGENT, tool, args), 'SCHEMA_CHANGED', tool)
      }
      assert.deepEqual(await stored('SELECT id FROM orders WHERE id = 990'), [])
    })
  })
}
