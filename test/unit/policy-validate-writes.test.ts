import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { GatewayError } from '../../src/core/errors.js'
import type { ClaimValue } from '../../src/core/identity.js'
import { WRITE_VALUE_CHARS_MAX } from '../../src/core/limits.js'
import type {
  CreatePlan,
  MutationPlan,
  ProcedureCallPlan,
  SoftDeletePlan,
  UpdatePlan,
  ValidatedCall,
  ValidatedMutation,
} from '../../src/core/plan.js'
import { catalogName, type EngineName } from '../../src/core/schema-model.js'
import {
  caller,
  compiled,
  engineOf,
  refOf,
  routineOf,
  schemaOf,
  tableOf,
  withRoutines,
} from '../support/policy-schema.js'

const id = catalogName
const TASKS = refOf('public', 'tasks')

const SCHEMA = withRoutines(
  schemaOf(
    tableOf('public', 'tasks', {
      columns: {
        id: 'bigint',
        title: 'text',
        tenant_id: 'integer',
        secret: 'text',
        created_at: 'timestamp',
        day: 'date',
        extra: 'json',
        tags: 'integers',
      },
      key: ['id'],
      notNull: ['id', 'title', 'tenant_id'],
      generated: { id: 'by_default' },
    }),
    tableOf('public', 'pairs', { columns: { a: 'integer', b: 'integer', c: 'text' }, key: ['b', 'a'] }),
    tableOf('public', 'other', { columns: { id: 'integer' }, key: ['id'] }),
  ),
  routineOf('public', 'pay', {
    readOnly: false,
    parameters: [
      ['order_id', 'bigint'],
      ['note', 'text', { hasDefault: true }],
    ],
  }),
  routineOf('public', 'revenue', { fields: { month: 'timestamp', revenue: 'decimal' } }),
)

const engine = engineOf(
  `version: 1
tables:
  public.tasks:
    mask: [secret]
    row_filter: [ { column: tenant_id, op: eq, value: { claim: tenant } } ]
    create: { columns: [title, day, extra, tags], preset: { tenant_id: { claim: tenant }, created_at: now, secret: made } }
    update: { columns: [title, day, extra], preset: { created_at: now } }
    soft_delete: { column: created_at, value: now, reads_include_deleted: true }
  public.pairs: { update: { columns: [c] } }
  public.other:
procedures:
  public.pay: { effect: write }
  public.revenue: { effect: read, result_columns: [revenue] }
roles:
  all: { read: ['*'], create: ['*'], update: ['*'], soft_delete: ['*'], call: ['*'], max_affected_rows: 7 }
  reader: { read: ['*'] }
identities: { robot: { read_only: true } }
`,
  SCHEMA,
)
const ANN = caller(['all'], { tenant: 4 })

const KEY: UpdatePlan['key'] = [{ column: id('id'), op: 'eq', value: '1' }]
const CREATE: CreatePlan = {
  kind: 'create',
  table: TASKS,
  values: [{ column: id('title'), value: 't' }],
  dryRun: false,
}
const UPDATE: UpdatePlan = {
  kind: 'update',
  table: TASKS,
  key: KEY,
  values: [{ column: id('title'), value: 't' }],
  expected: [],
  dryRun: false,
}
const DELETE: SoftDeletePlan = { kind: 'soft_delete', table: TASKS, key: KEY, expected: [], dryRun: true }
const CALL: ProcedureCallPlan = {
  kind: 'call',
  routine: refOf('public', 'pay'),
  catalogId: SCHEMA.routines[0]?.catalogId ?? '',
  args: [{ position: 0, value: '1' }],
  dryRun: false,
}

function accepted<P extends MutationPlan>(plan: P, identity = ANN): ValidatedMutation<P> {
  const result = engine.validateMutation(plan, identity)
  assert.ok(result.ok, result.ok ? '' : JSON.stringify(result.error))
  return result.value
}

function refused(plan: MutationPlan, identity = ANN): GatewayError {
  const result = engine.validateMutation(plan, identity)
  assert.ok(!result.ok, 'the plan was accepted')
  return result.error
}

function refusedCall(plan: ProcedureCallPlan, identity = ANN): GatewayError {
  const result = engine.validateCall(plan, identity)
  assert.ok(!result.ok, 'the call was accepted')
  return result.error
}

const written = (mutation: ValidatedMutation) =>
  mutation.writes.map(({ column, value }) => [column.name, value.kind === 'now' ? 'now' : value.value])

test('an accepted create carries the caller’s values, then the presets, and what the written row must satisfy', () => {
  const create = accepted(CREATE)
  assert.deepEqual(written(create), [
    ['title', 't'],
    ['tenant_id', '4'],
    ['created_at', 'now'],
    ['secret', 'made'],
  ])
  const all = [{ column: 'tenant_id', op: 'eq', value: '4' }]
  assert.deepEqual(create.scope, { all })
  assert.deepEqual(create.writtenScope, { all })
  assert.deepEqual(create.expected, [])
  assert.deepEqual(
    create.key.map(({ name }) => name),
    ['id'],
  )
  assert.deepEqual(
    create.returning.map(({ name }) => name),
    ['id', 'title', 'tenant_id', 'created_at', 'day', 'extra', 'tags'],
  )
  assert.equal(create.limits.maxAffectedRows, 7)
  assert.equal(create.table, SCHEMA.tables[0])
})

test('an accepted update carries its values, presets and expectations; a soft delete its mark alone', () => {
  const update = accepted({
    ...UPDATE,
    expected: [
      { column: id('day'), value: null },
      { column: id('tenant_id'), value: '4' },
    ],
  })
  assert.deepEqual(written(update), [
    ['title', 't'],
    ['created_at', 'now'],
  ])
  assert.deepEqual(
    update.expected.map(({ column, value }) => [column.name, value]),
    [
      ['day', null],
      ['tenant_id', '4'],
    ],
  )
  const removed = accepted(DELETE)
  assert.deepEqual(written(removed), [['created_at', 'now']])
  assert.equal(removed.plan.dryRun, true)
})

test('each column is written once', () => {
  for (const plan of [CREATE, UPDATE, DELETE]) {
    const names = accepted(plan).writes.map(({ column }) => column.name)
    assert.equal(new Set(names).size, names.length)
  }
})

test('a mutation that is not the caller’s is no more than an unknown tool, before any name is looked at', () => {
  const unknown = { code: 'TOOL_UNKNOWN' }
  const nonsense = { ...UPDATE, values: [{ column: id('nope'), value: 'x' }] }
  assert.deepEqual(refused(nonsense, caller(['reader'], { tenant: 4 })), unknown)
  assert.deepEqual(refused(nonsense, caller(['all'], { tenant: 4 }, 'robot')), unknown)
  assert.deepEqual(refused({ ...nonsense, table: refOf('public', 'other') }), unknown)
  assert.deepEqual(refused({ ...nonsense, table: refOf('public', 'nowhere') }), unknown)
  assert.deepEqual(refused({ ...CREATE, table: refOf('public', 'pairs') }), unknown)
})

test('a claim that a preset or the scope needs fails closed, before names are resolved, and is named in the reason alone', () => {
  const without = (claims: Readonly<Record<string, ClaimValue>>) =>
    refused({ ...CREATE, values: [{ column: id('nope'), value: null }] }, caller(['all'], claims))
  for (const claims of [{}, { tenant: 'x' }, { tenant: [4] }, { tenant: 1.5 }]) {
    const error = without(claims)
    assert.equal(error.code, 'POLICY_SCOPE')
    assert.match(error.reason ?? '', /"tenant"/)
    assert.equal(error.field, undefined)
  }
  const preset = engineOf(
    "version: 1\ntables: { public.tasks: { create: { columns: [title], preset: { tenant_id: { claim: tenant } } } } }\nroles: { a: { create: ['*'] } }",
    SCHEMA,
  )
  for (const claims of [{}, { tenant: [1] }, { tenant: 'x' }]) {
    const result = preset.validateMutation(CREATE, caller(['a'], claims))
    assert.equal(result.ok ? 'OK' : result.error.code, 'POLICY_SCOPE')
  }
})

test('a masked, preset or unlisted column is refused exactly like a missing one, in values and in expected', () => {
  const value = (name: string): MutationPlan => ({ ...UPDATE, values: [{ column: id(name), value: 'x' }] })
  const created = (name: string): MutationPlan => ({
    ...CREATE,
    values: [...CREATE.values, { column: id(name), value: 'x' }],
  })
  const expected = (name: string): MutationPlan => ({ ...UPDATE, expected: [{ column: id(name), value: 'x' }] })
  const cases: readonly (readonly [(name: string) => MutationPlan, readonly string[]])[] = [
    [value, ['secret', 'created_at', 'tenant_id', 'id']],
    [created, ['secret', 'created_at', 'tenant_id', 'id']],
    [expected, ['secret']],
  ]
  for (const [planWith, names] of cases) {
    const missing = refused(planWith('qqqqqqqqqq'))
    assert.equal(missing.code, 'ARGUMENT_COLUMN')
    for (const name of names) {
      const hidden = refused(planWith(name))
      assert.deepEqual(
        { ...hidden, refused: '', suggestion: undefined },
        { ...missing, refused: '', suggestion: undefined },
        name,
      )
      assert.equal(JSON.stringify({ ...hidden, refused: '' }).includes('secret'), false)
      assert.equal(hidden.refused, name)
    }
  }
  assert.equal(refused(value('titel')).suggestion, 'title')
  assert.equal(refused(expected('titel')).field, 'expected[0]')
})

test('expected takes only what has an equality', () => {
  for (const name of ['extra', 'tags']) {
    const error = refused({ ...UPDATE, expected: [{ column: id(name), value: '{}' }] })
    assert.deepEqual([error.code, error.field], ['ARGUMENT_COLUMN', 'expected[0]'])
  }
})

test('update and soft_delete take one equality for each key column, in key order, and nothing else', () => {
  const keys: readonly UpdatePlan['key'][] = [
    [],
    [...KEY, ...KEY],
    [{ column: id('title'), op: 'eq', value: '1' }],
    [{ column: id('id'), op: 'neq', value: '1' }],
  ]
  for (const key of keys) {
    assert.equal(refused({ ...UPDATE, key }).code, 'ARGUMENT_MISSING')
    assert.equal(refused({ ...DELETE, key }).code, 'ARGUMENT_MISSING')
  }
  const part = (name: string) => ({ column: id(name), op: 'eq', value: '1' }) as const
  const pairs = { ...UPDATE, table: refOf('public', 'pairs'), values: [{ column: id('c'), value: null }] }
  assert.ok(accepted({ ...pairs, key: [part('b'), part('a')] }))
  assert.equal(refused({ ...pairs, key: [part('a'), part('b')] }).expected, 'one value for each of b, a')
})

test('a create without a column that must be given is refused by its name', () => {
  const error = refused({ ...CREATE, values: [{ column: id('day'), value: '2024-01-01' }] })
  assert.deepEqual([error.code, error.field], ['ARGUMENT_MISSING', 'values.title'])
})

test('null is refused for a column that cannot be NULL', () => {
  for (const plan of [CREATE, UPDATE]) {
    const error = refused({ ...plan, values: [{ column: id('title'), value: null }] })
    assert.deepEqual([error.code, error.field], ['ARGUMENT_VALUE', 'values.title'])
  }
  accepted({ ...UPDATE, values: [{ column: id('day'), value: null }] })
})

test('an update changes something, and names each column once; values have a longest length', () => {
  assert.deepEqual(
    [refused({ ...UPDATE, values: [] }).code, refused({ ...UPDATE, values: [] }).field],
    ['ARGUMENT_MISSING', 'values'],
  )
  const twice = [...UPDATE.values, ...UPDATE.values]
  assert.equal(refused({ ...UPDATE, values: twice }).code, 'ARGUMENT_VALUE')
  assert.equal(refused({ ...UPDATE, expected: twice }).field, 'expected.title')
  const long = [{ column: id('title'), value: 'x'.repeat(WRITE_VALUE_CHARS_MAX + 1) }]
  assert.equal(refused({ ...UPDATE, values: long }).code, 'ARGUMENT_VALUE')
})

test('an accepted call carries its routine, its effect, and the columns let through', () => {
  const call = engine.validateCall(CALL, ANN)
  assert.ok(call.ok)
  assert.equal(call.value.effect, 'write')
  assert.equal(call.value.routine, SCHEMA.routines[0])
  assert.equal(call.value.fields, undefined)
  const revenue = engine.validateCall(
    { ...CALL, routine: refOf('public', 'revenue'), catalogId: SCHEMA.routines[1]?.catalogId ?? '', args: [] },
    ANN,
  )
  assert.ok(revenue.ok)
  assert.equal(revenue.value.effect, 'read')
  assert.deepEqual(
    revenue.value.fields?.map(({ name }) => name),
    ['revenue'],
  )
})

test('a call that is not the caller’s, of a writing procedure by a read-only identity, or of two names that disagree is an unknown tool', () => {
  const unknown = { code: 'TOOL_UNKNOWN' }
  assert.deepEqual(refusedCall(CALL, caller(['reader'])), unknown)
  assert.deepEqual(refusedCall(CALL, caller(['all'], {}, 'robot')), unknown)
  assert.deepEqual(refusedCall({ ...CALL, catalogId: '1' }), unknown)
  assert.deepEqual(refusedCall({ ...CALL, routine: refOf('public', 'revenue') }), unknown)
})

test('a call gives every parameter without a default, once, and no other', () => {
  const args = (...positions: number[]) => positions.map((position) => ({ position, value: '1' }))
  assert.ok(engine.validateCall({ ...CALL, args: args(1, 0) }, ANN).ok)
  assert.ok(engine.validateCall({ ...CALL, args: [{ position: 0, value: null }] }, ANN).ok)
  const missing = refusedCall({ ...CALL, args: args(1) })
  assert.deepEqual([missing.code, missing.field], ['ARGUMENT_MISSING', 'order_id'])
  assert.equal(refusedCall({ ...CALL, args: args(0, 0) }).code, 'ARGUMENT_VALUE')
  for (const position of [2, -1, 0.5])
    assert.equal(refusedCall({ ...CALL, args: args(0, position) }).code, 'ARGUMENT_UNKNOWN')
  const long = [{ position: 0, value: 'x'.repeat(WRITE_VALUE_CHARS_MAX + 1) }]
  assert.equal(refusedCall({ ...CALL, args: long }).code, 'ARGUMENT_VALUE')
})

test('a call that is to be undone is refused where the engine cannot undo it, whoever built it', () => {
  const settle = routineOf('public', 'settle', { kind: 'procedure', readOnly: false })
  const text = "version: 1\nprocedures: { settle: { effect: write } }\nroles: { all: { call: ['*'] } }"
  const on = (name: EngineName) => compiled(text, { ...SCHEMA, routines: [settle], engine: name }).engine
  const plan = { ...CALL, routine: settle.ref, catalogId: settle.catalogId, args: [] }
  assert.ok(on('postgres').validateCall({ ...plan, dryRun: true }, ANN).ok)
  assert.ok(on('mysql').validateCall(plan, ANN).ok)
  const undone = on('mysql').validateCall({ ...plan, dryRun: true }, ANN)
  assert.ok(!undone.ok)
  const { code, field, expected } = undone.error
  assert.deepEqual([code, field], ['ARGUMENT_UNKNOWN', 'dry_run'])
  assert.match(expected ?? '', /a call of this procedure cannot be undone/)
})

test('an accepted call carries the columns let through of result sets that only the call describes', () => {
  const sets = routineOf('public', 'report', { kind: 'procedure', result: { kind: 'sets', fields: [] } })
  const text =
    "version: 1\nprocedures: { report: { effect: write, result_columns: [month] } }\nroles: { all: { call: ['*'] } }"
  const reporting = compiled(text, { ...SCHEMA, routines: [sets] }).engine
  const plan = { ...CALL, routine: sets.ref, catalogId: sets.catalogId, args: [] }
  const call = reporting.validateCall(plan, ANN)
  assert.ok(call.ok)
  assert.deepEqual([call.value.fields, call.value.setColumns], [[], ['month']])
})

test('a validated mutation or call cannot be written down, only be made by the policy', () => {
  const { plan, table, writes, expected, scope, writtenScope, returning, key, limits } = accepted(UPDATE)
  // @ts-expect-error: the brand is a symbol that no other module can name.
  const forged: ValidatedMutation = { plan, table, writes, expected, scope, writtenScope, returning, key, limits }
  // @ts-expect-error: a plan alone is not a validated one.
  const bare: ValidatedCall = CALL
  assert.ok(forged && bare)
})

test('no source file but the policy engine casts to a validated mutation or call', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const casting = files.filter((name) =>
    /\bas (unknown as )?Validated(Mutation|Call)\b/.test(readFileSync(join('src', name), 'utf8')),
  )
  assert.deepEqual(casting, [join('policy', 'policy-engine.ts')])
})
