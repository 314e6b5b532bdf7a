import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EffectiveRights, TableAccess } from '../../src/core/access.js'
import { type Column, catalogName } from '../../src/core/schema-model.js'
import { generateTools, type ToolDefinition } from '../../src/tools/generate-tools.js'
import { schemaOverview } from '../../src/tools/schema-overview.js'
import { parseToolName, toolName } from '../../src/tools/tool-names.js'
import { resolveTarget } from '../../src/tools/tool-target.js'
import { ALL_OPERATIONS, accessOf, fieldOf, procedureOf, rightsOf, withProcedures } from '../support/rights.js'
import { CUSTOMERS, ORDER_LINES, TYPES, tableOf } from '../support/schema.js'

const names = (rights: EffectiveRights) => generateTools(rights).map((tool) => tool.name)

function tool(rights: EffectiveRights, name: string): ToolDefinition {
  const found = generateTools(rights).find((candidate) => candidate.name === name)
  assert.ok(found, `no tool ${name}`)
  return found
}

const withColumn = (access: TableAccess, change: (column: Column) => Column): TableAccess =>
  accessOf({ ...access.table, columns: access.table.columns.map(change) }, { operations: ALL_OPERATIONS })

const lines = accessOf(ORDER_LINES, { operations: ALL_OPERATIONS })
const revenue = procedureOf('monthly_revenue', {
  effect: 'read',
  comment: 'What came in.',
  parameters: { since: TYPES.date, 'mood?': TYPES.mood },
  result: { kind: 'record', set: true, fields: [fieldOf('month', TYPES.date), fieldOf('revenue', TYPES.decimal)] },
  fields: [fieldOf('month', TYPES.date), fieldOf('revenue', TYPES.decimal)],
})

describe('names of writing tools', () => {
  test('lead back to what they were made of, within 40 characters', () => {
    for (const toolBase of ['a', 'x_by_pk', 'update_', 'create_create_', 'x'.repeat(22)]) {
      for (const operation of ALL_OPERATIONS) {
        const name = toolName(operation, toolBase)
        assert.deepEqual(parseToolName(name), { operation, toolBase })
        assert.ok(name.length <= 40, name)
      }
    }
    assert.equal(toolName('soft_delete', 'x'.repeat(22)).length, 40)
    for (const name of ['create_', 'update_x', 'soft_delete_x', 'update__by_pk', 'Create_x', 'delete_x_by_pk']) {
      assert.equal(parseToolName(name), undefined, name)
    }
  })
})

describe('the list of tools that write', () => {
  test('has them only where the policy gives the operation, after those that read', () => {
    assert.deepEqual(names(rightsOf(lines)), [
      'schema_overview',
      'get_order_lines_by_pk',
      'search_order_lines',
      'aggregate_order_lines',
      'create_order_lines',
      'update_order_lines_by_pk',
      'soft_delete_order_lines_by_pk',
    ])
    assert.deepEqual(names(rightsOf(accessOf(ORDER_LINES, { operations: ['create'] }))), [
      'schema_overview',
      'create_order_lines',
    ])
    const rights = rightsOf(accessOf(ORDER_LINES, { operations: ['search', 'update'] }))
    assert.equal(resolveTarget(rights, 'create_order_lines'), undefined)
    assert.equal(resolveTarget(rights, 'soft_delete_order_lines_by_pk'), undefined)
    const target = resolveTarget(rights, 'update_order_lines_by_pk')
    assert.ok(target?.operation === 'update' && target.write === target.access.writes.update)
  })

  test('has no tool whose key no call could spell, and no update without a column to set', () => {
    const columns = { id: TYPES.integer, tags: TYPES.texts }
    const odd = accessOf(tableOf('t', { columns, primaryKey: ['id', 'tags'] }), { operations: ALL_OPERATIONS })
    assert.deepEqual(names(rightsOf(odd)).slice(1), ['search_t', 'aggregate_t', 'create_t'])
    const keyless = accessOf(tableOf('t', { columns }), { operations: ['update', 'soft_delete', 'create'] })
    assert.deepEqual(names(rightsOf(keyless)).slice(1), ['create_t'])
    const fixed = accessOf(ORDER_LINES, { operations: ['update', 'soft_delete'], writable: [] })
    assert.deepEqual(names(rightsOf(fixed)).slice(1), ['soft_delete_order_lines_by_pk'])
  })

  test('has the procedures last, each once, and none under the name of another tool', () => {
    const rights = withProcedures(
      rightsOf(lines),
      revenue,
      { ...revenue, comment: 'again' },
      procedureOf('search_order_lines'),
      procedureOf('schema_overview'),
      procedureOf('search_other'),
    )
    assert.deepEqual(names(rights).slice(7), ['monthly_revenue', 'search_other'])
    assert.equal(resolveTarget(rights, 'search_order_lines')?.operation, 'search')
    assert.equal(resolveTarget(rights, 'schema_overview')?.operation, 'schema_overview')
    const target = resolveTarget(rights, 'monthly_revenue')
    assert.ok(target?.operation === 'call' && target.procedure === revenue)
    assert.equal(resolveTarget(rights, 'other'), undefined)
  })
})

describe('annotations', () => {
  test('say of every tool whether it only reads, takes away, and may be repeated', () => {
    const rights = withProcedures(rightsOf(lines), revenue, procedureOf('archive', { effect: 'write' }))
    const hints = Object.fromEntries(
      generateTools(rights).map(({ name, annotations }) => [
        name,
        [annotations.readOnlyHint, annotations.destructiveHint, annotations.idempotentHint, annotations.openWorldHint],
      ]),
    )
    const reads = [true, false, true, false]
    assert.deepEqual(hints, {
      schema_overview: reads,
      get_order_lines_by_pk: reads,
      search_order_lines: reads,
      aggregate_order_lines: reads,
      create_order_lines: [false, false, false, false],
      update_order_lines_by_pk: [false, true, true, false],
      soft_delete_order_lines_by_pk: [false, true, true, false],
      monthly_revenue: reads,
      archive: [false, true, false, false],
    })
  })
})

describe('what a writing tool takes', () => {
  const types = {
    id: TYPES.integer,
    'big?': TYPES.bigint,
    name: TYPES.varchar40,
    'bio?': TYPES.text,
    'price?': TYPES.decimal,
    'ok?': TYPES.boolean,
    mood: TYPES.mood,
    'doc?': TYPES.jsonb,
    'tags?': { ...TYPES.texts, element: TYPES.mood },
  }
  const access = accessOf(tableOf('t', { columns: types, primaryKey: ['id'] }), { operations: ALL_OPERATIONS })
  const rights = rightsOf(access)

  test('is a typed property for each writable column; length and null are said in words', () => {
    const { inputSchema } = tool(rights, 'create_t')
    assert.deepEqual(inputSchema.required, ['values'])
    assert.deepEqual(inputSchema.properties?.['values'], {
      type: 'object',
      properties: {
        id: { type: 'integer', minimum: -2147483648, maximum: 2147483647 },
        big: { type: 'string', description: 'bigint, or null' },
        name: { type: 'string', description: 'text, at most 40 characters' },
        bio: { type: 'string', description: 'text, or null' },
        price: { type: 'string', description: 'decimal, or null' },
        ok: { type: 'boolean', description: 'or null' },
        mood: { type: 'string', enum: ['sad', 'ok', 'happy'] },
        doc: { type: 'string', description: 'json, an object or list also as its JSON text, or null' },
        tags: {
          type: 'array',
          description: 'or null',
          items: { type: 'string', enum: ['sad', 'ok', 'happy'] },
        },
      },
      required: ['id', 'name', 'mood'],
      additionalProperties: false,
    })
    assert.deepEqual(Object.keys(inputSchema.properties ?? {}), ['values', 'dry_run', 'idempotency_key'])
  })

  test('is the key, values and expected of an update, where nothing but key and values is required', () => {
    const { inputSchema } = tool(rights, 'update_t_by_pk')
    const properties = inputSchema.properties ?? {}
    assert.deepEqual(Object.keys(properties), ['id', 'values', 'expected', 'dry_run', 'idempotency_key'])
    assert.deepEqual(inputSchema.required, ['id', 'values'])
    assert.equal(properties['values']?.required, undefined)
    // A document has no equality, so it cannot be expected.
    assert.deepEqual(
      Object.keys(properties['expected']?.properties ?? {}),
      Object.keys(types)
        .map((name) => name.replace('?', ''))
        .filter((name) => name !== 'doc' && name !== 'tags'),
    )
    assert.equal(properties['expected']?.required, undefined)
  })

  test('is the key and expected of a soft delete', () => {
    const { inputSchema } = tool(rights, 'soft_delete_t_by_pk')
    assert.deepEqual(Object.keys(inputSchema.properties ?? {}), ['id', 'expected', 'dry_run', 'idempotency_key'])
    assert.deepEqual(inputSchema.required, ['id'])
  })

  test('leaves out what could hold nothing, and asks for no values where none must be given', () => {
    const blind = accessOf(ORDER_LINES, { operations: ALL_OPERATIONS, writable: [] })
    assert.deepEqual(Object.keys(tool(rightsOf(blind), 'create_order_lines').inputSchema.properties ?? {}), [
      'dry_run',
      'idempotency_key',
    ])
    const loose = accessOf(tableOf('t', { columns: { 'a?': TYPES.text } }), { operations: ['create'] })
    assert.equal(tool(rightsOf(loose), 'create_t').inputSchema.required, undefined)
  })

  test('has generated columns only where they can be written, and required ones only where nothing fills them', () => {
    const made = withColumn(lines, (column) => {
      if (column.name === 'order_id') return { ...column, generated: 'always' }
      if (column.name === 'line') return { ...column, generated: 'by_default' }
      return column.name === 'quantity' ? { ...column, hasDefault: true } : column
    })
    const values = tool(rightsOf(made), 'create_order_lines').inputSchema.properties?.['values']
    assert.deepEqual(Object.keys(values?.properties ?? {}), ['line', 'quantity', 'note'])
    assert.equal(values?.required, undefined)
  })

  test('has comments where no reading tool of the table tells them', () => {
    const commented = {
      ...CUSTOMERS,
      columns: CUSTOMERS.columns.map((column) => ({ ...column, comment: `About ${column.name}.` })),
    }
    const email = (operations: TableAccess['operations']) => {
      const parts = { operations: [...operations], comment: 'People.' }
      const made = tool(rightsOf(accessOf(commented, parts)), 'create_customers')
      return [made.inputSchema.properties?.['values']?.properties?.['email']?.description, made.description]
    }
    const alone = email(new Set(['create']))
    assert.deepEqual(alone, ['text: About email.', 'Adds one row to customers and returns it as written. People.'])
    const beside = email(new Set(['search', 'create']))
    assert.deepEqual(beside, ['text', 'Adds one row to customers and returns it as written.'])
  })

  test('of a procedure is its parameters, required where they have no default', () => {
    const { inputSchema, description, title } = tool(withProcedures(rightsOf(), revenue), 'monthly_revenue')
    assert.equal(title, 'Call monthly_revenue')
    assert.equal(
      description,
      'A function of the database that only reads. What came in.\nAt most 200 rows a call.\nFields:\nmonth date\nrevenue decimal',
    )
    assert.deepEqual(inputSchema.required, ['since'])
    assert.deepEqual(inputSchema.properties?.['since'], { type: 'string', description: 'date' })
    assert.deepEqual(inputSchema.properties?.['mood'], { type: 'string', enum: ['sad', 'ok', 'happy'] })
    assert.deepEqual(Object.keys(inputSchema.properties ?? {}), ['since', 'mood', 'dry_run', 'idempotency_key'])
  })
})

describe('what a writing tool gives', () => {
  test('is the rows it wrote, how many, and whether anything changed', () => {
    const { outputSchema } = tool(rightsOf(lines), 'update_order_lines_by_pk')
    assert.deepEqual(outputSchema.required, ['rows', 'row_count', 'affected_rows', 'changed', 'truncated'])
    assert.deepEqual(Object.keys(outputSchema.properties ?? {}), [
      'rows',
      'row_count',
      'affected_rows',
      'changed',
      'dry_run',
      'replayed',
      'truncated',
      'cut',
    ])
    assert.deepEqual(Object.keys(outputSchema.properties?.['rows']?.items?.properties ?? {}), [
      'order_id',
      'line',
      'quantity',
      'note',
    ])
  })

  test('of a procedure is rows with fields, rows with one result, one result, or ok', () => {
    const output = (parts: Parameters<typeof procedureOf>[1]) =>
      tool(withProcedures(rightsOf(), procedureOf('p', parts)), 'p').outputSchema
    const rowsOf = (schema: ToolDefinition['outputSchema']) => schema.properties?.['rows']?.items?.properties
    const rows = tool(withProcedures(rightsOf(), revenue), 'monthly_revenue').outputSchema
    const text = { anyOf: [{ type: 'string' }, { type: 'null' }] }
    assert.deepEqual(rowsOf(rows), { month: text, revenue: text })
    assert.deepEqual(rows.required, ['rows', 'row_count', 'truncated'])
    const scalars = output({ result: { kind: 'scalar', set: true, type: TYPES.text } })
    assert.deepEqual(rowsOf(scalars), { result: text })
    const scalar = output({ result: { kind: 'scalar', set: false, type: TYPES.text } })
    assert.deepEqual([scalar.properties?.['result'], scalar.required], [text, ['result']])
    const nothing = output({ result: { kind: 'void' } })
    assert.deepEqual([nothing.properties?.['ok'], nothing.required], [{ type: 'boolean' }, ['ok']])
  })
})

describe('schema_overview of what writes', () => {
  const rights = withProcedures(
    rightsOf(accessOf(ORDER_LINES, { operations: ['search', 'create', 'update'], writable: ['quantity', 'note'] })),
    revenue,
    procedureOf('archive', { result: { kind: 'scalar', set: true, type: TYPES.text } }),
  )

  test('lists writing tools and procedures in short', () => {
    const overview = schemaOverview(rights, {})
    assert.ok(overview.ok)
    assert.deepEqual(overview.value.tables[0]?.tools, [
      'search_order_lines',
      'create_order_lines',
      'update_order_lines_by_pk',
    ])
    assert.deepEqual(overview.value.procedures, [
      {
        tool: 'monthly_revenue',
        comment: 'What came in.',
        effect: 'read',
        parameters: ['since date', 'mood enum sad|ok|happy optional'],
        fields: ['month date', 'revenue decimal'],
      },
      { tool: 'archive', effect: 'write', result: 'rows of text' },
    ])
    const one = schemaOverview(rights, { table: 'order_lines' })
    assert.ok(one.ok && one.value.procedures === undefined)
  })

  test('says of each column of one table where it can be set, and whether a new row must have it', () => {
    const overview = schemaOverview(rights, { table: 'order_lines' })
    assert.ok(overview.ok)
    assert.deepEqual(overview.value.tables[0]?.columns?.slice(1), [
      { name: 'line', type: 'integer', nullable: false },
      { name: 'quantity', type: 'integer', nullable: false, writable_in: ['create', 'update'], required: true },
      { name: 'note', type: 'text', nullable: true, writable_in: ['create', 'update'] },
    ])
  })

  test('shows the key and columns of a table that is only written', () => {
    const blind = accessOf(ORDER_LINES, { operations: ['update'], writable: ['quantity'] })
    const overview = schemaOverview(rightsOf({ ...blind, key: [] }), {})
    assert.ok(overview.ok)
    const [table] = overview.value.tables
    assert.deepEqual(table?.key, ['order_id', 'line'])
    assert.deepEqual(table?.columns, ['order_id bigint', 'line integer', 'quantity integer', 'note text'])
  })

  test('names fewer procedures when it would be too long, says so, and fits', () => {
    const many = withProcedures(
      rightsOf(lines),
      ...Array.from({ length: 400 }, (_, i) => ({ ...revenue, tool: `procedure_${i}` })),
    )
    for (const max of [100_000, 12_000, 4_000, 1_000]) {
      const overview = schemaOverview(many, {}, max)
      assert.ok(overview.ok)
      assert.ok(JSON.stringify(overview.value).length <= max, `${max}`)
      assert.equal(overview.value.truncated, max < 100_000)
      assert.equal((overview.value.procedures ?? []).length === 400, max >= 12_000)
    }
  })

  test('does not change by a byte when a hidden column changes', () => {
    const text = (table: typeof CUSTOMERS) => {
      const access = accessOf(table, { hide: ['ssn'], operations: ALL_OPERATIONS })
      return JSON.stringify([schemaOverview(rightsOf(access), { table: 'customers' }), generateTools(rightsOf(access))])
    }
    const before = text(CUSTOMERS)
    assert.doesNotMatch(before, /ssn/)
    const changed = CUSTOMERS.columns.map((column) =>
      column.name === 'ssn' ? { ...column, nullable: false, type: TYPES.bytes, comment: 'x' } : column,
    )
    assert.equal(text({ ...CUSTOMERS, columns: changed, comment: String(catalogName('ssn')) }), before)
  })
})
