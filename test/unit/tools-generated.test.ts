import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EffectiveRights, TableAccess } from '../../src/core/access.js'
import { COLUMN_LIST_CHARS_MAX, ENUM_LABELS_SHOWN_MAX } from '../../src/core/limits.js'
import { catalogName } from '../../src/core/schema-model.js'
import { encodeTools, generateTools, type ToolDefinition } from '../../src/tools/generate-tools.js'
import { parseToolName, toolName } from '../../src/tools/tool-names.js'
import { resolveTarget } from '../../src/tools/tool-target.js'
import { accessOf, rightsOf } from '../support/rights.js'
import { ACTIVITY, CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'
import { inputFaults, outputFaults } from '../support/schema-check.js'

const names = (rights: EffectiveRights) => generateTools(rights).map((tool) => tool.name)

function tool(access: TableAccess, name: string): ToolDefinition {
  const found = generateTools(rightsOf(access)).find((candidate) => candidate.name === name)
  assert.ok(found, `no tool ${name}`)
  return found
}

const properties = (definition: ToolDefinition) => Object.keys(definition.inputSchema.properties ?? {})

describe('tool names', () => {
  test('the start of a name decides its operation, whatever the table is called', () => {
    assert.deepEqual(parseToolName('get_customers_by_pk'), { operation: 'get', toolBase: 'customers' })
    assert.deepEqual(parseToolName('get_x_by_pk_by_pk'), { operation: 'get', toolBase: 'x_by_pk' })
    assert.deepEqual(parseToolName('search_x_by_pk'), { operation: 'search', toolBase: 'x_by_pk' })
    assert.deepEqual(parseToolName('search_get_x_by_pk'), { operation: 'search', toolBase: 'get_x_by_pk' })
    assert.deepEqual(parseToolName('aggregate_search_x'), { operation: 'aggregate', toolBase: 'search_x' })
    for (const name of ['', 'get_x', 'get__by_pk', 'get_by_pk', 'search_', 'Search_x', 'schema_overview', 'drop_x']) {
      assert.equal(parseToolName(name), undefined, name)
    }
  })

  test('every name leads back to what it was made of', () => {
    for (const toolBase of ['a', 'x_by_pk', 'by_pk', '_by_pk', 'get_', 'search_search_', 'schema_overview']) {
      for (const operation of ['get', 'search', 'aggregate'] as const) {
        assert.deepEqual(parseToolName(toolName(operation, toolBase)), { operation, toolBase })
      }
    }
  })

  test('names stay within 40 characters of [a-z0-9_]', () => {
    const long = accessOf(
      tableOf('An Extraordinarily Long Name — of a Table', { columns: { id: TYPES.integer }, primaryKey: ['id'] }),
    )
    for (const name of names(rightsOf(long))) assert.match(name, /^[a-z0-9_]{1,40}$/)
  })
})

describe('the tool list', () => {
  test('has schema_overview first, then each table in order with the operations it allows', () => {
    const rights = rightsOf(
      accessOf(CUSTOMERS),
      accessOf(ACTIVITY),
      accessOf(ORDER_LINES, { operations: ['aggregate'] }),
      accessOf(SAMPLES, { operations: ['get'] }),
    )
    assert.deepEqual(names(rights), [
      'schema_overview',
      'search_activity',
      'aggregate_activity',
      'get_customers_by_pk',
      'search_customers',
      'aggregate_customers',
      'aggregate_order_lines',
      'get_samples_by_pk',
    ])
    assert.deepEqual(names(rightsOf()), ['schema_overview'])
  })

  test('what is listed is what can be called', () => {
    const rights = rightsOf(
      accessOf(CUSTOMERS, { hide: ['id'] }),
      accessOf(ACTIVITY),
      accessOf(SAMPLES, { operations: ['get'] }),
    )
    const listed = new Set(names(rights))
    for (const base of ['customers', 'activity', 'samples', 'order_lines', '__proto__', 'constructor']) {
      for (const operation of ['get', 'search', 'aggregate'] as const) {
        const name = toolName(operation, base)
        assert.equal(resolveTarget(rights, name) !== undefined, listed.has(name), name)
      }
    }
    assert.equal(resolveTarget(rights, 'schema_overview')?.operation, 'schema_overview')
  })

  test('a key that no call could spell gives no get', () => {
    const table = tableOf('t', { columns: { id: TYPES.integer, tags: TYPES.texts }, primaryKey: ['id', 'tags'] })
    assert.deepEqual(names(rightsOf(accessOf(table))), ['schema_overview', 'search_t', 'aggregate_t'])
  })

  test('a key that is partly hidden gives no get', () => {
    assert.ok(!names(rightsOf(accessOf(ORDER_LINES, { hide: ['line'] }))).includes('get_order_lines_by_pk'))
  })

  test('does not change by a byte when a hidden object changes', () => {
    const bytes = (access: TableAccess) => Buffer.from(encodeTools(rightsOf(access)).body).toString()
    const hide = ['ssn', 'secret']
    const before = bytes(accessOf(CUSTOMERS, { hide }))
    assert.doesNotMatch(before, /ssn/)
    const [first, ...others] = CUSTOMERS.columns
    assert.ok(first)
    const secret = { ...first, name: catalogName('secret'), agentName: 'secret', comment: 'x', type: TYPES.bytes }
    const columns = [secret, first, ...others.filter((column) => column.name !== 'ssn')]
    const changed = { ...CUSTOMERS, columns, rowEstimate: 5, comment: 'secret', uniqueKeys: [], indexes: [] }
    assert.equal(bytes(accessOf(changed, { hide })), before)
  })

  test('is encoded as the tools member of a result, with the number of tools', () => {
    const rights = rightsOf(accessOf(CUSTOMERS), accessOf(ACTIVITY))
    const { body, tools } = encodeTools(rights)
    const parsed: unknown = JSON.parse(`{${Buffer.from(body).toString('utf8')}}`)
    assert.deepEqual(parsed, { tools: JSON.parse(JSON.stringify(generateTools(rights))) })
    assert.equal(tools, 6)
  })

  test('every tool has a title, a description and the four annotations', () => {
    for (const definition of generateTools(rightsOf(accessOf(CUSTOMERS), accessOf(SAMPLES)))) {
      assert.ok(definition.title !== '' && definition.description !== '')
      assert.deepEqual(definition.annotations, {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      })
      assert.equal(definition._meta['anthropic/maxResultSizeChars'], 24_000)
    }
  })

  test('every schema is one that all clients digest', () => {
    const tables = [CUSTOMERS, ORDER_LINES, ACTIVITY, SAMPLES].map((table) => accessOf(table))
    for (const definition of generateTools(rightsOf(...tables))) {
      assert.deepEqual(inputFaults(definition.inputSchema), [], definition.name)
      assert.deepEqual(outputFaults(definition.outputSchema), [], definition.name)
    }
  })
})

describe('what a tool says', () => {
  test('the comment, the row cap, and every column with type, labels and comment, once a table', () => {
    const [id, ...others] = CUSTOMERS.columns
    assert.ok(id)
    const mood = { ...id, name: catalogName('mood'), agentName: 'mood', type: TYPES.mood }
    const table = { ...CUSTOMERS, columns: [{ ...id, comment: 'Number on the card.' }, mood, ...others] }
    const access = accessOf(table, { comment: 'People who buy.', limits: { rowCap: 77 } })
    const { description } = tool(access, 'search_customers')
    assert.match(description, /People who buy\./)
    assert.match(description, /at most 77/)
    assert.match(description, /^id integer: Number on the card\.$/m)
    assert.match(description, /^mood enum sad\|ok\|happy$/m)
    assert.match(description, /^created_at timestamp with offset$/m)
    const { description: secondary } = tool(access, 'aggregate_customers')
    assert.match(secondary, /^id integer$/m)
    assert.doesNotMatch(secondary, /card|People/)
    // The only tool of a table is the one that tells all.
    const alone = tool(accessOf(table, { operations: ['aggregate'], comment: 'People.' }), 'aggregate_customers')
    assert.match(alone.description, /card/)
    assert.match(alone.description, /People/)
  })

  test('a column list that is too long leaves comments and labels out', () => {
    const columns = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`column_${i}`, TYPES.text]))
    const table = tableOf('wide', { columns })
    const commented = { ...table, columns: table.columns.map((column) => ({ ...column, comment: 'c'.repeat(300) })) }
    const { description } = tool(accessOf(commented), 'search_wide')
    assert.doesNotMatch(description, /ccc/)
    assert.match(description, /^column_299 text$/m)
    assert.ok(description.length < COLUMN_LIST_CHARS_MAX + 200)
  })

  test('labels that are too many or unfit to be shown are in no enum', () => {
    const key = (labels: readonly string[]) => {
      const table = tableOf('t', { columns: { k: { ...TYPES.mood, labels } }, primaryKey: ['k'] })
      return tool(accessOf(table), 'get_t_by_pk').inputSchema.properties?.['k']
    }
    assert.deepEqual(key(['a', 'b c']), { type: 'string', enum: ['a', 'b c'] })
    const many = key(Array.from({ length: ENUM_LABELS_SHOWN_MAX + 1 }, (_, i) => `l${i}`))
    assert.equal(many?.enum, undefined)
    assert.match(many?.description ?? '', /^enum l0\|l1.*\|l199\|…$/)
    assert.deepEqual(key(['a', 'b\u202e\u200b\n']), { type: 'string', description: 'enum a|b' })
  })

  test('a caller with few rights is offered few words', () => {
    const access = accessOf(tableOf('flat', { columns: { tag: TYPES.text, doc: TYPES.json } }))
    const { inputSchema } = tool(access, 'aggregate_flat')
    assert.deepEqual(inputSchema.properties?.['metrics']?.items?.properties?.['fn']?.enum, [
      'count',
      'count_distinct',
      'min',
      'max',
    ])
    assert.deepEqual(inputSchema.properties?.['group_by']?.items?.enum, ['tag'])
    const filters = tool(access, 'search_flat').inputSchema.properties?.['filters']?.items?.properties
    assert.deepEqual(filters?.['column']?.enum, ['tag', 'doc'])
    assert.ok(filters?.['op']?.enum?.includes('ilike'))
    const documents = accessOf(tableOf('docs', { columns: { doc: TYPES.json } }))
    assert.deepEqual(properties(tool(documents, 'search_docs')), ['filters', 'columns', 'limit'])
    const filter = tool(documents, 'search_docs').inputSchema.properties?.['filters']?.items
    assert.deepEqual(Object.keys(filter?.properties ?? {}), ['column', 'op'])
    assert.deepEqual(filter?.properties?.['op']?.enum, ['is_null', 'not_null'])
    const uncounted = accessOf(tableOf('none', { columns: { doc: TYPES.json } }), { hide: ['doc'] })
    assert.deepEqual(names(rightsOf(uncounted)), ['schema_overview', 'aggregate_none'])
    assert.deepEqual(properties(tool(uncounted, 'aggregate_none')), ['metrics', 'order_by', 'limit'])
  })

  test('keys that JSON could round are strings, and integers carry their range only within 32 bits', () => {
    const columns = {
      a: TYPES.integer,
      b: TYPES.bigint,
      c: TYPES.decimal,
      d: TYPES.float,
      e: TYPES.boolean,
      f: { ...TYPES.integer, range: [0, 4294967295] as const },
      g: TYPES.uuid,
    }
    const { inputSchema } = tool(accessOf(tableOf('t', { columns, primaryKey: Object.keys(columns) })), 'get_t_by_pk')
    assert.deepEqual(inputSchema.properties, {
      a: { type: 'integer', minimum: -2147483648, maximum: 2147483647 },
      b: { type: 'string', description: 'bigint' },
      c: { type: 'string', description: 'decimal' },
      d: { type: 'number' },
      e: { type: 'boolean' },
      f: { type: 'integer', minimum: 0 },
      g: { type: 'string', description: 'uuid' },
      columns: {
        type: 'array',
        description: 'Default: all.',
        items: { type: 'string', enum: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
        minItems: 1,
      },
    })
    assert.deepEqual(inputSchema.required, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  })

  test('an output says null where a cell can be null', () => {
    const row = tool(accessOf(SAMPLES), 'search_samples').outputSchema.properties?.['rows']?.items?.properties
    assert.deepEqual(row?.['id'], { type: 'integer' })
    assert.deepEqual(row?.['c_bigint'], { anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] })
    assert.deepEqual(row?.['c_jsonb'], {})
    const bytes = accessOf(tableOf('t', { columns: { b: TYPES.bytes, t: TYPES.text } }))
    const strict = tool(bytes, 'search_t').outputSchema.properties?.['rows']?.items?.properties
    assert.deepEqual(strict, { b: { anyOf: [{ type: 'string' }, { type: 'null' }] }, t: { type: 'string' } })
  })

  test('a small table costs few characters of what models read', () => {
    const tools = generateTools(rightsOf(accessOf(ORDER_LINES)))
    const read = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
    const chars = read.join('').length
    assert.ok(chars < 4_000, `${chars} characters`)
  })
})
