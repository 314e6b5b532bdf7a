import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type ProcedureAccess, WRITE_OPERATIONS, type WriteOperation } from '../../src/core/access.js'
import { publicText } from '../../src/core/errors.js'
import { ECHO_CHARS_MAX } from '../../src/core/limits.js'
import { agentColumnName } from '../../src/core/names.js'
import type { Table } from '../../src/core/schema-model.js'
import { keyArguments, type PlanTarget, parameterArguments } from '../../src/core/tool-grammar.js'
import { buildPlan } from '../../src/plan/build-plan.js'
import { planHash } from '../../src/plan/plan-hash.js'
import { summarize } from '../../src/plan/plan-summary.js'
import { encodeTools, generateTools } from '../../src/tools/generate-tools.js'
import type { JsonSchema } from '../../src/tools/json-schema.js'
import { schemaOverview } from '../../src/tools/schema-overview.js'
import { toolName } from '../../src/tools/tool-names.js'
import { resolveTarget, tableTarget } from '../../src/tools/tool-target.js'
import { columnName, table, valueType, writeValue } from '../support/generated-tables.js'
import {
  ALL_OPERATIONS,
  accessOf,
  callTarget,
  fieldOf,
  procedureOf,
  rightsOf,
  withProcedures,
  writeTarget,
} from '../support/rights.js'
import { fits, inputFaults, outputFaults } from '../support/schema-check.js'

type Args = Readonly<Record<string, unknown>>

type Members = Readonly<Record<string, fc.Arbitrary<unknown>>>

const controls: Members = {
  dry_run: fc.boolean(),
  idempotency_key: fc.stringMatching(/^[ -~]{1,128}$/),
}

/** A call that is valid by the tool's schema, with values that fit their columns. */
function validWrite(target: ReturnType<typeof writeTarget>): fc.Arbitrary<Args> {
  const { write } = target
  const key = keyArguments(write.key).map(({ argument, column }) => [argument, writeValue(column.type)] as const)
  const members = (columns: typeof write.columns) =>
    Object.fromEntries([...columns].map(([name, column]) => [name, writeValue(column.type)]))
  const required = [...write.required]
  const values = fc
    .record(members(write.columns), { requiredKeys: required })
    .filter((given) => target.operation !== 'update' || Object.keys(given).length > 0)
  const expected = fc.record(members(write.expectable), { requiredKeys: [] })
  const needed = [...key.map(([argument]) => argument), ...(target.operation === 'soft_delete' ? [] : ['values'])]
  const all: Members = {
    ...Object.fromEntries(key),
    ...(write.columns.size === 0 ? {} : { values }),
    ...(write.expectable.size === 0 ? {} : { expected }),
    ...controls,
  }
  return fc.record(all, {
    requiredKeys: write.columns.size === 0 ? needed.filter((name) => name !== 'values') : needed,
  })
}

const anyProcedure: fc.Arbitrary<ProcedureAccess> = fc
  .record({
    parameters: fc.uniqueArray(fc.tuple(columnName, valueType, fc.boolean()), {
      selector: ([name]) => agentColumnName(name),
      maxLength: 4,
    }),
    fields: fc.uniqueArray(fc.tuple(columnName, valueType), {
      selector: ([name]) => agentColumnName(name),
      minLength: 1,
      maxLength: 3,
    }),
    result: fc.constantFrom('void', 'scalar', 'scalars', 'record'),
    type: valueType,
    effect: fc.constantFrom('read', 'write'),
  })
  .map(({ parameters, fields, result, type, effect }) => {
    // A name that ends in the mark of an optional one would lose it.
    const own = parameters.filter(([name]) => !name.endsWith('?'))
    const shown = fields.map(([name, fieldType]) => fieldOf(name, fieldType))
    const base = {
      effect,
      parameters: Object.fromEntries(own.map(([name, each, optional]) => [optional ? `${name}?` : name, each])),
    }
    if (result === 'void') return procedureOf('run_it', { ...base, result: { kind: 'void' } })
    if (result === 'record') {
      return procedureOf('run_it', { ...base, result: { kind: 'record', set: true, fields: shown }, fields: shown })
    }
    return procedureOf('run_it', { ...base, result: { kind: 'scalar', set: result === 'scalars', type } })
  })

function validCall(procedure: ProcedureAccess): fc.Arbitrary<Args> {
  const parameters = parameterArguments(procedure)
  const all: Members = {
    ...Object.fromEntries(parameters.map((each) => [each.argument, writeValue(each.parameter.type)])),
    ...controls,
  }
  const required = parameters.filter(({ parameter }) => !parameter.hasDefault)
  return fc.record(all, { requiredKeys: required.map(({ argument }) => argument) })
}

interface Case {
  readonly target: PlanTarget
  readonly schema: JsonSchema
  readonly args: Args
}

const writable = table.map((each) => accessOf(each, { operations: ALL_OPERATIONS }))

const anyWrite: fc.Arbitrary<Case> = writable
  .filter((access) => WRITE_OPERATIONS.some((operation) => tableTarget(access, operation) !== undefined))
  .chain((access) => {
    const offered = WRITE_OPERATIONS.filter((operation) => tableTarget(access, operation) !== undefined)
    return fc.constantFrom(...offered).chain((operation) => {
      const target = writeTarget(operation, access)
      const schema = inputOf(generateTools(rightsOf(access)), toolName(operation, access.toolBase))
      return validWrite(target).map((args) => ({ target, schema, args }))
    })
  })

const anyCall: fc.Arbitrary<Case> = anyProcedure.chain((procedure) => {
  const target = callTarget(procedure)
  const schema = inputOf(generateTools(withProcedures(rightsOf(), procedure)), procedure.tool)
  return validCall(procedure).map((args) => ({ target, schema, args }))
})

function inputOf(tools: ReturnType<typeof generateTools>, name: string): JsonSchema {
  const found = tools.find((tool) => tool.name === name)
  assert.ok(found, `no tool ${name}`)
  return found.inputSchema
}

describe('schemas of what writes', () => {
  test('are digestible by every client for every table and procedure', () => {
    fc.assert(
      fc.property(writable, anyProcedure, (access, procedure) => {
        const rights = withProcedures(rightsOf(access), procedure)
        const tools = generateTools(rights)
        for (const tool of tools) {
          assert.match(tool.name, /^[a-z0-9_]{1,40}$/)
          assert.deepEqual(inputFaults(JSON.parse(JSON.stringify(tool.inputSchema))), [], tool.name)
          assert.deepEqual(outputFaults(JSON.parse(JSON.stringify(tool.outputSchema))), [], tool.name)
          assert.notEqual(resolveTarget(rights, tool.name), undefined)
        }
        assert.equal(encodeTools(rights).tools, tools.length)
        const listed = new Set(tools.map((tool) => tool.name))
        const overview = schemaOverview(rights, {}, 1_000_000)
        assert.ok(overview.ok)
        const told = [
          ...overview.value.tables.flatMap((each) => each.tools ?? []),
          ...(overview.value.procedures ?? []).map((each) => each.tool),
          'schema_overview',
        ]
        assert.deepEqual(new Set(told), listed)
      }),
      { numRuns: 300 },
    )
  })
})

describe('calls of what writes', () => {
  test('a call that is valid by its schema, and whose values fit their columns, is accepted', () => {
    fc.assert(
      fc.property(fc.oneof(anyWrite, anyCall), ({ target, schema, args }) => {
        assert.ok(fits(schema, args), JSON.stringify(args))
        const built = buildPlan(target, args)
        assert.ok(built.ok, built.ok ? '' : publicText(built.error))
        const { plan, idempotencyKey } = built.value
        assert.equal(idempotencyKey, args['dry_run'] === true ? undefined : args['idempotency_key'])
        const summary = summarize(target, built.value)
        assert.equal(summary.dry_run, args['dry_run'] === true ? true : undefined)
        assert.equal(summary.idempotency_key, idempotencyKey)
        // Every way a client may send the same call leads to the same plan, and to the same text to be hashed.
        const turned = Object.fromEntries(
          Object.entries(args)
            .reverse()
            .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : value]),
        )
        const again = buildPlan(target, turned)
        assert.deepEqual(again, built)
        assert.ok(again.ok && plan.kind !== 'get' && plan.kind !== 'search' && plan.kind !== 'aggregate')
        const other = again.value.plan
        assert.ok(other.kind !== 'get' && other.kind !== 'search' && other.kind !== 'aggregate')
        assert.equal(planHash('t', other), planHash('t', plan))
      }),
      { numRuns: 600 },
    )
  })

  test('any JSON gives a plan or a refusal that names its field, and nothing throws', () => {
    const name = fc.constantFrom('values', 'expected', 'dry_run', 'idempotency_key', 'a', 'id', '__proto__')
    const args = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.dictionary(name, fc.jsonValue({ maxDepth: 4 })),
      fc.dictionary(name, fc.dictionary(columnName, fc.jsonValue({ maxDepth: 3 }))),
    )
    const spoilt = fc
      .oneof(anyWrite, anyCall)
      .chain((valid) =>
        fc.tuple(fc.constant(valid), fc.constantFrom('', ...Object.keys(valid.args)), fc.jsonValue(), args),
      )
      .map(([valid, spoiltName, value, other]) => ({
        target: valid.target,
        args: spoiltName === '' ? other : { ...valid.args, [spoiltName]: value },
      }))
    fc.assert(
      fc.property(spoilt, ({ target, args: given }) => {
        const result = buildPlan(target, given)
        if (result.ok) return
        assert.match(result.error.code, /^ARGUMENT_/)
        assert.ok(result.error.field !== undefined && result.error.field !== '')
        assert.ok(result.error.field.length < ECHO_CHARS_MAX * 2 + 40, result.error.field)
        assert.ok(result.error.expected !== undefined && result.error.expected !== '')
      }),
      { numRuns: 1_500 },
    )
  })
})

/** Every place of a writing call where a column's name can stand, each with the name put there. */
function positions(name: string, valid: Args): readonly (readonly [WriteOperation, Args])[] {
  return [
    ['create', { values: { [name]: 'x' } }],
    ['create', { values: { ...(valid['values'] ?? {}), [name]: null } }],
    ['create', { ...valid, [name]: 'x' }],
    ['update', { ...valid, values: { [name]: 'x' } }],
    ['update', { ...valid, values: { ...(valid['values'] ?? {}), [name]: 1 } }],
    ['update', { ...valid, expected: { [name]: 'x' } }],
    ['update', { ...valid, expected: { [name]: null } }],
    ['update', { ...valid, [name]: 'x' }],
    ['update', { [name]: 'x', values: { [name]: 'x' } }],
    ['soft_delete', { ...valid, expected: { [name]: 'x' } }],
    ['soft_delete', { ...valid, [name]: 'x' }],
    ['soft_delete', { [name]: 'x' }],
  ]
}

function without(each: Table, name: string): Table {
  return { ...each, columns: each.columns.filter((column) => column.name !== name) }
}

describe('a masked column of what writes', () => {
  const masked = table
    .filter((each) => each.columns.length > 1)
    .chain((each) => fc.record({ each: fc.constant(each), hidden: fc.constantFrom(...each.columns) }))
    // A key that is partly hidden gives no tool; which one is left is tested with the rights.
    .filter(({ each, hidden }) => !each.primaryKey.includes(hidden.name))
    .chain(({ each, hidden }) => {
      const access = accessOf(each, { hide: [hidden.name], operations: ALL_OPERATIONS })
      const offered = WRITE_OPERATIONS.filter((operation) => tableTarget(access, operation) !== undefined)
      const valid = offered.includes('update') ? validWrite(writeTarget('update', access)) : fc.constant({})
      return valid.map((args) => ({ each, hidden, args }))
    })

  test('is refused exactly like a missing one in every position, and so is a near miss of its name', () => {
    fc.assert(
      fc.property(masked, columnName, ({ each, hidden, args }, other) => {
        const hiding = accessOf(each, { hide: [hidden.name], operations: ALL_OPERATIONS })
        const lacking = accessOf(without(each, hidden.name), { operations: ALL_OPERATIONS })
        const spellings = [hidden.agentName, hidden.name, `${hidden.agentName}x`, hidden.agentName.slice(1), other]
        for (const [of, given] of spellings.flatMap((name) => positions(name, args))) {
          const answer = buildPlan(writeTarget(of, hiding), given)
          assert.deepEqual(answer, buildPlan(writeTarget(of, lacking), given))
        }
        for (const [of, given] of positions(hidden.agentName, args)) {
          // A key column that is named like an argument has one that may be named like the hidden column.
          const controlArgument = ['values', 'expected', 'dry_run', ...Object.keys(args)].includes(hidden.agentName)
          assert.ok(controlArgument || !buildPlan(writeTarget(of, hiding), given).ok)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('one that may be read and not set is refused in values exactly like a missing one', () => {
    fc.assert(
      fc.property(masked, ({ each, hidden, args }) => {
        const settable = each.columns.filter(({ name }) => name !== hidden.name).map(({ name }) => name)
        const fixed = accessOf(each, { writable: settable, operations: ALL_OPERATIONS })
        const lacking = accessOf(without(each, hidden.name), { operations: ALL_OPERATIONS })
        for (const of of ['create', 'update'] as const) {
          if (tableTarget(fixed, of) === undefined) continue
          const given = { ...args, values: { [hidden.agentName]: 'x' } }
          const answer = buildPlan(writeTarget(of, fixed), given)
          assert.equal(answer.ok, false)
          assert.deepEqual(answer, buildPlan(writeTarget(of, lacking), given))
        }
      }),
      { numRuns: 200 },
    )
  })

  test('changes no byte of the tool list or the overview', () => {
    fc.assert(
      fc.property(masked, ({ each, hidden }) => {
        const hiding = rightsOf(accessOf(each, { hide: [hidden.name], operations: ALL_OPERATIONS }))
        const lacking = rightsOf(accessOf(without(each, hidden.name), { operations: ALL_OPERATIONS }))
        assert.deepEqual(encodeTools(hiding), encodeTools(lacking))
        assert.deepEqual(schemaOverview(hiding, {}), schemaOverview(lacking, {}))
        const [access] = hiding.tables
        const full = { table: access?.toolBase }
        assert.deepEqual(schemaOverview(hiding, full), schemaOverview(lacking, full))
      }),
      { numRuns: 200 },
    )
  })
})
