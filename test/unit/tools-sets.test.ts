import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EffectiveRights } from '../../src/core/access.js'
import { agentColumnName } from '../../src/core/names.js'
import { generateTools, type ToolDefinition } from '../../src/tools/generate-tools.js'
import { schemaOverview } from '../../src/tools/schema-overview.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { ALL_OPERATIONS, accessOf, fieldOf, procedureOf, rightsOf, withProcedures } from '../support/rights.js'
import { TYPES, tableOf } from '../support/schema.js'
import { outputFaults } from '../support/schema-check.js'

function tool(rights: EffectiveRights, name: string): ToolDefinition {
  const found = generateTools(rights).find((candidate) => candidate.name === name)
  assert.ok(found, `no tool ${name}`)
  return found
}

describe('a procedure with result sets', () => {
  const fields = [fieldOf('total', TYPES.decimal)]
  const sets = procedureOf('report', { result: { kind: 'sets', fields }, fields })
  const report = { ...sets, setColumns: ['month', 'gross sum'], dryRun: false }
  const gross = agentColumnName('gross sum')

  test('says which columns of several results it may give, and what out holds', () => {
    const { description } = tool(withProcedures(rightsOf(), report), 'report')
    assert.equal(
      description,
      `A function of the database that may change data.
It may give several results: rows holds the first, more_results the others, at most 200 rows each. Of each these columns are given, where it has them: month, ${gross}.
out holds:
total decimal`,
    )
  })

  test('gives rows of unknown types, more results of the same kind, and outputs', () => {
    const { outputSchema } = tool(withProcedures(rightsOf(), report), 'report')
    assert.deepEqual(outputFaults(outputSchema), [])
    const { properties = {}, required } = outputSchema
    assert.deepEqual(required, ['rows', 'row_count', 'truncated'])
    const row = { type: 'object', properties: { month: {}, [gross]: {} } }
    assert.deepEqual(properties['rows']?.items, row)
    assert.deepEqual(properties['more_results']?.items?.properties?.['rows']?.items, row)
    assert.deepEqual(properties['out']?.properties, { total: { anyOf: [{ type: 'string' }, { type: 'null' }] } })
  })

  test('names no outputs, or no further results, where it gives none', () => {
    const members = (procedure: typeof report | typeof sets) =>
      Object.keys(tool(withProcedures(rightsOf(), procedure), 'report').outputSchema.properties ?? {})
    assert.deepEqual(members({ ...report, fields: [] }), [
      'rows',
      'row_count',
      'more_results',
      'dry_run',
      'replayed',
      'truncated',
      'cut',
    ])
    assert.ok(!members(sets).includes('more_results'))
    const silent = { ...sets, fields: [] }
    assert.deepEqual(members(silent), ['ok', 'dry_run', 'replayed'])
  })

  test('is in the overview with its outputs and the columns of its results', () => {
    const overview = schemaOverview(withProcedures(rightsOf(), report), {})
    assert.ok(overview.ok)
    assert.deepEqual(overview.value.procedures, [
      { tool: 'report', effect: 'write', fields: ['total decimal'], result: `results with month, ${gross}` },
    ])
  })

  test('that cannot be undone offers no dry_run', () => {
    const taken = (procedure: typeof report | typeof sets) =>
      Object.keys(tool(withProcedures(rightsOf(), procedure), 'report').inputSchema.properties ?? {})
    assert.deepEqual(taken(report), ['idempotency_key'])
    assert.deepEqual(taken(sets), ['dry_run', 'idempotency_key'])
  })
})

describe('types with bounds of their own', () => {
  const bounded = tableOf('bounded', { columns: MYSQL_TYPES, primaryKey: ['int'] })
  const rights = rightsOf(accessOf(bounded, { operations: ALL_OPERATIONS }))
  const input = tool(rights, 'create_bounded').inputSchema.properties?.['values']?.properties ?? {}
  const output = tool(rights, 'create_bounded').outputSchema.properties?.['rows']?.items?.properties ?? {}

  test('are taken as schemas can say it, and else in words', () => {
    assert.deepEqual(input['flag'], { type: 'boolean', description: 'or a whole number from -128 to 127' })
    assert.deepEqual(input['year'], { type: 'integer', description: '1901 to 2155, or 0', minimum: 0, maximum: 2155 })
    assert.deepEqual(input['ubigint'], { type: 'string', description: 'unsigned bigint' })
    assert.deepEqual(input['time'], { type: 'string', description: 'time span' })
    assert.deepEqual(input['double'], { type: 'number' })
    assert.deepEqual(input['int'], { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 })
    // Bounds of more than 32 bits are left out.
    assert.deepEqual(input['uint'], { type: 'integer', minimum: 0 })
  })

  test('are given as a boolean or a number where both can be, and as a number alone where nothing else can', () => {
    assert.deepEqual(output['flag'], { anyOf: [{ type: 'boolean' }, { type: 'integer' }] })
    assert.deepEqual(output['bit'], { type: 'boolean' })
    assert.deepEqual(output['double'], { type: 'number' })
    assert.deepEqual(output['ubigint'], { anyOf: [{ type: 'integer' }, { type: 'string' }] })
  })
})
