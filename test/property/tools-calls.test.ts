import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { READ_OPERATIONS, type ReadOperation, type TableAccess } from '../../src/core/access.js'
import { publicText } from '../../src/core/errors.js'
import { ECHO_CHARS_MAX } from '../../src/core/limits.js'
import { toolBaseName } from '../../src/core/names.js'
import type { Table } from '../../src/core/schema-model.js'
import {
  aggregateFnsFor,
  defaultMetricName,
  filterOpsFor,
  keyArguments,
  type ToolTarget,
} from '../../src/core/tool-grammar.js'
import { buildPlan } from '../../src/plan/build-plan.js'
import { summarize } from '../../src/plan/plan-summary.js'
import { encodeTools, generateTools } from '../../src/tools/generate-tools.js'
import { schemaOverview } from '../../src/tools/schema-overview.js'
import { resolveTarget, tableTarget } from '../../src/tools/tool-target.js'
import { columnName, table, valueText } from '../support/generated-tables.js'
import { accessOf, rightsOf, targetOf } from '../support/rights.js'
import { fits, inputFaults, outputFaults } from '../support/schema-check.js'

const operation = fc.constantFrom(...READ_OPERATIONS)

describe('schemas', () => {
  test('are digestible by every client for every table, and complete', () => {
    fc.assert(
      fc.property(fc.uniqueArray(table, { maxLength: 3, selector: ({ ref }) => toolBaseName(ref.name) }), (tables) => {
        const rights = rightsOf(...tables.map((each) => accessOf(each)))
        const tools = generateTools(rights)
        for (const tool of tools) {
          assert.match(tool.name, /^[a-z0-9_]{1,40}$/)
          assert.deepEqual(inputFaults(JSON.parse(JSON.stringify(tool.inputSchema))), [], tool.name)
          assert.deepEqual(outputFaults(JSON.parse(JSON.stringify(tool.outputSchema))), [], tool.name)
          assert.ok(tool.title !== '' && tool.description !== '')
          assert.notEqual(resolveTarget(rights, tool.name), undefined)
        }
        assert.equal(encodeTools(rights).tools, tools.length)
      }),
      { numRuns: 300 },
    )
  })
})

/** A call that is valid by the tool's schema, with values that fit their columns and names that do not repeat. */
function validCall(access: TableAccess, of: ReadOperation): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const columns = [...access.columns[of].values()]
  const names = columns.map((column) => column.agentName)
  const optional = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>, required: readonly string[] = []) =>
    fc.record(members, { requiredKeys: [...required] })
  const some = fc.subarray(names, { minLength: 1 })
  const filter = fc.constantFrom(...columns).chain((column) =>
    fc.constantFrom(...filterOpsFor(column.type)).chain((op) => {
      const base = { column: fc.constant(column.agentName), op: fc.constant(op) }
      if (op === 'is_null' || op === 'not_null') return fc.record(base)
      const value = valueText(column.type)
      return op === 'in'
        ? fc.record({ ...base, values: fc.array(value, { maxLength: 3 }) })
        : fc.record({ ...base, value })
    }),
  )
  const filters = fc.array(filter, { maxLength: 3 })
  const limit = fc.integer({ min: 1, max: access.limits.rowCap })
  const direction = fc.constantFrom('asc', 'desc')
  const ordered = columns.filter(({ type }) => type.ordered).map((column) => column.agentName)
  if (of === 'get') {
    const key = keyArguments(access.key).map(({ argument, column }) => {
      const text = valueText(column.type)
      const typed = ['integer', 'float', 'boolean'].includes(column.type.logical)
      // A number in JSON cannot carry the sign of a zero through a client.
      return [argument, typed ? text.map((value) => JSON.parse(JSON.stringify(JSON.parse(value)))) : text] as const
    })
    return optional(
      { ...Object.fromEntries(key), columns: some },
      key.map(([argument]) => argument),
    )
  }
  if (of === 'search') {
    const order = fc
      .subarray(ordered)
      .chain((by) => fc.tuple(...by.map((column) => fc.record({ column: fc.constant(column), direction }))))
    return optional({ filters, columns: some, limit, ...(ordered.length === 0 ? {} : { order_by: order }) })
  }
  const metric = fc
    .constantFrom(...columns)
    .chain((column) => fc.constantFrom(...aggregateFnsFor(column.type)).map((fn) => ({ fn, column: column.agentName })))
  const metrics = fc
    .uniqueArray(metric, { selector: ({ fn, column }) => defaultMetricName(fn, column), minLength: 1, maxLength: 3 })
    .filter((list) => list.every(({ fn, column }) => !names.includes(defaultMetricName(fn, column))))
  const groups = columns.filter(({ type }) => type.equality && type.ordered).map((column) => column.agentName)
  return fc.tuple(metrics, fc.subarray(groups)).chain(([chosen, grouped]) => {
    const by = [...chosen.map(({ fn, column }) => defaultMetricName(fn, column)), ...grouped]
    const order = fc.subarray(by).map((list) => list.map((name) => ({ by: name, direction: 'desc' })))
    const fixed = { metrics: fc.constant(chosen), ...(groups.length === 0 ? {} : { group_by: fc.constant(grouped) }) }
    return optional({ ...fixed, filters, limit, order_by: order }, Object.keys(fixed))
  })
}

const anyCall = table.chain((each) => {
  const access = accessOf(each)
  const offered = READ_OPERATIONS.filter((of) => tableTarget(access, of) !== undefined)
  return fc
    .constantFrom(...offered)
    .chain((of) => fc.record({ access: fc.constant(access), of: fc.constant(of), args: validCall(access, of) }))
})

describe('calls', () => {
  test('a call that is valid by its schema, and whose values fit their columns, is accepted', () => {
    fc.assert(
      fc.property(anyCall, ({ access, of, args }) => {
        const rights = rightsOf(access)
        const tool = generateTools(rights).find(({ name }) => {
          const target = resolveTarget(rights, name)
          return target !== undefined && target.operation === of
        })
        assert.ok(tool !== undefined && fits(tool.inputSchema, args), 'the call is valid by the schema')
        const plan = buildPlan(targetOf(of, access), args)
        assert.ok(plan.ok, plan.ok ? '' : publicText(plan.error))
        // Every way a client may send the same call leads to the same plan.
        const nested = Object.fromEntries(
          Object.entries(args).map(([name, value]) => [
            name,
            typeof value === 'object' ? JSON.stringify(value) : value,
          ]),
        )
        assert.deepEqual(buildPlan(targetOf(of, access), nested), plan)
        const { filters = [], columns } = summarize(targetOf(of, access), plan.value)
        for (const name of [...(columns ?? []), ...filters.map((filter) => filter.column)]) {
          assert.ok(access.columns[of].has(name))
        }
      }),
      { numRuns: 400 },
    )
  })

  test('any JSON gives a plan or a refusal that names its field, and nothing throws', () => {
    const member = fc.constantFrom(
      'filters',
      'columns',
      'order_by',
      'limit',
      'metrics',
      'group_by',
      'table',
      '__proto__',
    )
    const args = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.dictionary(member, fc.jsonValue({ maxDepth: 4 })),
      fc.dictionary(
        member,
        fc.array(fc.dictionary(fc.constantFrom('column', 'op', 'value', 'values', 'fn', 'as', 'by'), fc.jsonValue())),
      ),
    )
    fc.assert(
      fc.property(table, operation, args, (each, of, given) => {
        const access = accessOf(each)
        const result = buildPlan(targetOf(of, access), given)
        const overview = schemaOverview(rightsOf(access), given)
        for (const refusal of [result, overview]) {
          if (refusal.ok) continue
          assert.match(refusal.error.code, /^ARGUMENT_/)
          assert.ok(refusal.error.field !== undefined && refusal.error.field !== '')
          assert.ok(refusal.error.field.length < ECHO_CHARS_MAX * 2 + 40)
          assert.ok(refusal.error.expected !== undefined && refusal.error.expected !== '')
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Every place of a call where a column's name can stand, each with the name put there. */
function positions(
  name: string,
  key: Readonly<Record<string, unknown>>,
): readonly (readonly [ReadOperation, unknown])[] {
  const count = [{ fn: 'count' }]
  return [
    ['get', { ...key, columns: [name] }],
    ['get', { ...key, [name]: 'x' }],
    ['get', { [name]: 'x' }],
    ['search', { columns: [name] }],
    ['search', { filters: [{ column: name, op: 'eq', value: 'x' }] }],
    ['search', { filters: [{ column: name, op: 'is_null' }] }],
    ['search', { filters: [{ column: name, op: 'nonsense', value: {} }] }],
    ['search', { order_by: [{ column: name, direction: 'desc' }] }],
    ['search', { [name]: 1 }],
    ['aggregate', { metrics: [{ fn: 'count', column: name }] }],
    ['aggregate', { metrics: [{ fn: 'sum', column: name }] }],
    ['aggregate', { metrics: count, group_by: [name] }],
    ['aggregate', { metrics: count, filters: [{ column: name, op: 'in', values: [] }] }],
    ['aggregate', { metrics: count, order_by: [{ by: name }] }],
    ['aggregate', { metrics: [{ fn: 'count', as: name }], order_by: [{ by: name }] }],
  ]
}

function without(each: Table, name: string): Table {
  return { ...each, columns: each.columns.filter((column) => column.name !== name) }
}

describe('a masked column', () => {
  const masked = table
    .filter((each) => each.columns.length > 1)
    .chain((each) => fc.record({ each: fc.constant(each), hidden: fc.constantFrom(...each.columns) }))

  test('is refused exactly like a missing one in every position, and so is a near miss of its name', () => {
    fc.assert(
      fc.property(masked, columnName, (generated, other) => {
        const { each, hidden } = generated
        const hiding = accessOf(each, { hide: [hidden.name] })
        const lacking = accessOf(without(each, hidden.name))
        const key = Object.fromEntries(keyArguments(hiding.key).map(({ argument }) => [argument, 'x']))
        const spellings = [hidden.agentName, hidden.name, `${hidden.agentName}x`, hidden.agentName.slice(1), other]
        for (const [of, args] of spellings.flatMap((name) => positions(name, key))) {
          const answer = buildPlan(targetOf(of, hiding), args)
          assert.deepEqual(answer, buildPlan(targetOf(of, lacking), args))
        }
        for (const [of, args] of positions(hidden.agentName, key)) {
          const answer = buildPlan(targetOf(of, hiding), args)
          // Letters that name a metric or a control argument say nothing of a column.
          if (answer.ok && hidden.agentName !== 'limit')
            assert.ok(answer.value.plan.kind === 'aggregate' && answer.value.plan.metrics[0]?.as === hidden.agentName)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('changes no byte of the tool list or the overview, and what resolves', () => {
    fc.assert(
      fc.property(masked, ({ each, hidden }) => {
        const hiding = rightsOf(accessOf(each, { hide: [hidden.name] }))
        const lacking = rightsOf(accessOf(without(each, hidden.name)))
        assert.deepEqual(encodeTools(hiding), encodeTools(lacking))
        assert.deepEqual(schemaOverview(hiding, {}), schemaOverview(lacking, {}))
        for (const { name } of generateTools(hiding)) {
          const kinds = [hiding, lacking].map(
            (rights): ToolTarget['operation'] | undefined => resolveTarget(rights, name)?.operation,
          )
          assert.equal(kinds[0], kinds[1])
        }
      }),
      { numRuns: 300 },
    )
  })
})
