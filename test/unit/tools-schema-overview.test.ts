import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { publicText } from '../../src/core/errors.js'
import { type SchemaOverview, schemaOverview } from '../../src/tools/schema-overview.js'
import { accessOf, rightsOf } from '../support/rights.js'
import { CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'

const customers = accessOf(CUSTOMERS, {
  hide: ['ssn'],
  comment: 'People who buy.',
  relations: [{ columns: ['tenant_id'], references: 'tenants', referencedColumns: ['id'] }],
})
const rights = rightsOf(customers, accessOf(ORDER_LINES, { operations: ['search', 'aggregate'] }))

function overview(args?: unknown, charsMax?: number, of = rights): SchemaOverview {
  const result = schemaOverview(of, args, charsMax)
  assert.ok(result.ok, result.ok ? '' : publicText(result.error))
  return result.value
}

describe('schema_overview', () => {
  test('lists all tables in short: tools, comment, key, columns with types, relations', () => {
    assert.deepEqual(overview(), {
      tables: [
        {
          name: 'customers',
          comment: 'People who buy.',
          tools: ['get_customers_by_pk', 'search_customers', 'aggregate_customers'],
          key: ['id'],
          columns: [
            'id integer',
            'tenant_id uuid',
            'email text',
            'name text',
            'bio text',
            'balance decimal',
            'created_at timestamp with offset',
          ],
          relations: [{ columns: ['tenant_id'], references: 'tenants', referenced_columns: ['id'] }],
        },
        {
          name: 'order_lines',
          tools: ['search_order_lines', 'aggregate_order_lines'],
          key: ['order_id', 'line'],
          columns: ['order_id bigint', 'line integer', 'quantity integer', 'note text'],
        },
      ],
      truncated: false,
    })
    assert.deepEqual(overview({}), overview())
    assert.deepEqual(overview({}, undefined, rightsOf()), { tables: [], truncated: false })
  })

  test('one table in full has labels, nullability, comments, and where a column is usable', () => {
    const moods = tableOf('moods', { columns: { id: TYPES.integer, 'mood?': TYPES.mood } })
    const access = accessOf({
      ...moods,
      columns: moods.columns.map((column) =>
        column.name === 'mood' ? { ...column, comment: 'How it felt.' } : column,
      ),
    })
    const narrow = {
      ...access,
      columns: { ...access.columns, aggregate: new Map([...access.columns.aggregate].slice(1)) },
    }
    const [table] = overview({ table: 'moods' }, undefined, rightsOf(narrow)).tables
    assert.deepEqual(table?.columns, [
      { name: 'id', type: 'integer', nullable: false, usable_in: ['get', 'search'] },
      { name: 'mood', type: 'enum', nullable: true, comment: 'How it felt.', labels: ['sad', 'ok', 'happy'] },
    ])
  })

  test('a table that is not the caller’s is unknown, with the nearest of its own', () => {
    const result = schemaOverview(rights, { table: 'custmers' })
    assert.ok(!result.ok)
    assert.deepEqual(result.error, {
      code: 'ARGUMENT_VALUE',
      field: 'table',
      expected: 'one of customers, order_lines',
      suggestion: 'customers',
      refused: 'custmers',
    })
    for (const [args, code] of [
      [{ table: '__proto__' }, 'ARGUMENT_VALUE'],
      [{ table: 'samples' }, 'ARGUMENT_VALUE'],
      [{ table: 5 }, 'ARGUMENT_TYPE'],
      [{ table: null }, 'ARGUMENT_TYPE'],
      [{ tables: 'x' }, 'ARGUMENT_UNKNOWN'],
      [null, 'ARGUMENT_TYPE'],
    ] as const) {
      const refusal = schemaOverview(rights, args)
      assert.equal(refusal.ok ? '' : refusal.error.code, code)
    }
    assert.match(publicText({ code: 'ARGUMENT_VALUE', ...schemaError(rightsOf(), 'x') }), /you may use no table/)
  })

  test('an answer that would be too long says less, says so, and fits', () => {
    const many = rightsOf(
      ...Array.from({ length: 400 }, (_, i) => accessOf({ ...SAMPLES, ref: tableOf(`t_${i}`, { columns: {} }).ref })),
    )
    const sizes = [200_000, 60_000, 14_000, 4_000].map((max) => {
      const result = overview({}, max, many)
      assert.ok(JSON.stringify(result).length <= max, `${max}`)
      return {
        tables: result.tables.length,
        columns: 'columns' in (result.tables[0] ?? {}),
        cut: result.cut?.length ?? 0,
      }
    })
    assert.deepEqual(sizes.slice(0, 3), [
      { tables: 400, columns: false, cut: 1 },
      { tables: 400, columns: false, cut: 1 },
      { tables: 400, columns: false, cut: 1 },
    ])
    assert.ok((sizes[3]?.tables ?? 0) > 100 && (sizes[3]?.tables ?? 0) < 400)
    assert.equal(overview({}, 4_000, many).truncated, true)
    const wide = overview({ table: 't_1' }, 1_500, many)
    assert.ok(JSON.stringify(wide).length <= 1_500)
    assert.match(wide.cut?.[0]?.next ?? '', /too wide/)
  })

  test('nothing hidden is in it, and a hidden column does not change it', () => {
    const text = JSON.stringify([overview(), overview({ table: 'customers' })])
    assert.doesNotMatch(text, /ssn/)
    const without = {
      ...customers,
      table: { ...CUSTOMERS, columns: CUSTOMERS.columns.filter(({ name }) => name !== 'ssn') },
    }
    const lines = accessOf(ORDER_LINES, { operations: ['search', 'aggregate'] })
    const changed = rightsOf(without, lines)
    assert.equal(
      JSON.stringify([overview({}, undefined, changed), overview({ table: 'customers' }, undefined, changed)]),
      text,
    )
  })
})

function schemaError(of: typeof rights, table: string): { expected?: string } {
  const result = schemaOverview(of, { table })
  return !result.ok && result.error.expected !== undefined ? { expected: result.error.expected } : {}
}
