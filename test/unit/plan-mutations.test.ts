import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TableAccess, WriteOperation } from '../../src/core/access.js'
import { type GatewayError, publicText } from '../../src/core/errors.js'
import type { MutationPlan } from '../../src/core/plan.js'
import { type BuiltPlan, buildPlan } from '../../src/plan/build-plan.js'
import { planHash } from '../../src/plan/plan-hash.js'
import { summarize, withoutValues } from '../../src/plan/plan-summary.js'
import { ALL_OPERATIONS, accessOf, writeTarget } from '../support/rights.js'
import { CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'

const customers = accessOf(CUSTOMERS, {
  hide: ['ssn'],
  operations: ALL_OPERATIONS,
  writable: ['email', 'name', 'bio', 'balance'],
})
const lines = accessOf(ORDER_LINES, { operations: ALL_OPERATIONS })
const samples = accessOf(SAMPLES, { operations: ALL_OPERATIONS })

function built(operation: WriteOperation, access: TableAccess, args: unknown): BuiltPlan<MutationPlan> {
  const result = buildPlan(writeTarget(operation, access), args)
  assert.ok(result.ok, result.ok ? '' : publicText(result.error))
  return result.value
}

function refused(operation: WriteOperation, access: TableAccess, args: unknown): GatewayError {
  const result = buildPlan(writeTarget(operation, access), args)
  assert.ok(!result.ok, 'the call was accepted')
  return result.error
}

/** The code and the field of a refusal, and what it suggests. */
function seen(operation: WriteOperation, access: TableAccess, args: unknown): readonly (string | undefined)[] {
  const { code, field, suggestion } = refused(operation, access, args)
  return suggestion === undefined ? [code, field] : [code, field, suggestion]
}

const create = (values: unknown) => seen('create', customers, { values })
const update = (rest: object) => seen('update', customers, { id: 1, ...rest })

describe('create', () => {
  test('takes values of the caller’s writable columns, in table order whatever their own', () => {
    const { plan, ...rest } = built('create', customers, {
      values: { bio: null, balance: '12.50', name: 'Ann', email: 'ann@example.com' },
    })
    assert.deepEqual(plan, {
      kind: 'create',
      table: CUSTOMERS.ref,
      values: [
        { column: 'email', value: 'ann@example.com' },
        { column: 'name', value: 'Ann' },
        { column: 'bio', value: null },
        { column: 'balance', value: '12.50' },
      ],
      dryRun: false,
    })
    assert.deepEqual(rest, {})
  })

  test('names a required column that is missing, one at a time, before the database is asked', () => {
    assert.deepEqual(seen('create', customers, {}), ['ARGUMENT_MISSING', 'values.email'])
    assert.deepEqual(seen('create', customers, undefined), ['ARGUMENT_MISSING', 'values.email'])
    assert.deepEqual(create({ email: 'a' }), ['ARGUMENT_MISSING', 'values.name'])
    const error = refused('create', customers, { values: { email: 'a', bio: 'x' } })
    assert.equal(error.field, 'values.name')
    assert.match(error.expected ?? '', /^a string .*at most 40 characters/)
    assert.deepEqual(create({ email: 'a', name: null }), ['ARGUMENT_VALUE', 'values.name'])
  })

  test('may be given nothing where nothing must be', () => {
    const loose = accessOf(tableOf('t', { columns: { 'a?': TYPES.text } }), { operations: ALL_OPERATIONS })
    for (const args of [{}, undefined, { values: {} }]) {
      const { plan } = built('create', loose, args)
      assert.deepEqual(plan.kind === 'create' && plan.values, [])
    }
    const preset = accessOf(tableOf('t', { columns: { a: TYPES.text } }), { operations: ALL_OPERATIONS, writable: [] })
    assert.equal(built('create', preset, {}).plan.kind, 'create')
    assert.deepEqual(seen('create', preset, { values: {} }), ['ARGUMENT_UNKNOWN', 'values'])
  })

  test('a value of the wrong type is refused with its field and what was expected', () => {
    assert.deepEqual(create({ email: 5, name: 'x' }), ['ARGUMENT_VALUE', 'values.email'])
    assert.deepEqual(create({ email: 'a', name: 'x'.repeat(41) }), ['ARGUMENT_VALUE', 'values.name'])
    assert.deepEqual(create({ email: 'a', name: 'x', balance: 'much' }), ['ARGUMENT_VALUE', 'values.balance'])
    assert.match(
      refused('create', customers, { values: { email: 'a', name: 'x', balance: true } }).expected ?? '',
      /decimal/,
    )
    assert.deepEqual(create([]), ['ARGUMENT_TYPE', 'values'])
    assert.deepEqual(create(null), ['ARGUMENT_TYPE', 'values'])
    assert.deepEqual(create('x'), ['ARGUMENT_TYPE', 'values'])
    const moods = accessOf(tableOf('t', { columns: { mood: TYPES.mood } }), { operations: ALL_OPERATIONS })
    assert.deepEqual(seen('create', moods, { values: { mood: 'happi' } }), ['ARGUMENT_VALUE', 'values.mood', 'happy'])
  })

  test('values may come as JSON text', () => {
    const values = { email: 'a', name: 'b' }
    assert.deepEqual(
      built('create', customers, { values: JSON.stringify(values) }),
      built('create', customers, { values }),
    )
  })

  test('documents and arrays become their JSON text', () => {
    const { plan } = built('create', samples, {
      values: { id: 1, c_jsonb: { a: 1 }, c_json: 'x', c_integers: [1, null], c_texts: [] },
    })
    assert.ok(plan.kind === 'create')
    assert.deepEqual(
      plan.values.map(({ column, value }) => `${column} ${value}`),
      ['id 1', 'c_json "x"', 'c_jsonb {"a":1}', 'c_integers ["1",null]', 'c_texts []'],
    )
  })

  test('takes no key and no expectation', () => {
    assert.deepEqual(seen('create', customers, { id: 1, values: {} }), ['ARGUMENT_UNKNOWN', 'id'])
    assert.deepEqual(seen('create', customers, { expected: {}, values: {} })[0], 'ARGUMENT_UNKNOWN')
  })
})

describe('columns that are not the caller’s to write', () => {
  test('are refused exactly like those that do not exist, with the nearest writable name', () => {
    assert.deepEqual(create({ emial: 'a', name: 'b' }), ['ARGUMENT_COLUMN', 'values.emial', 'email'])
    // `ssn` is hidden, `tenant_id` is read alone, `zzz` does not exist.
    for (const name of ['ssn', 'tenant_id', 'zzz', '__proto__', 'constructor']) {
      const {
        field,
        refused: spelling,
        ...rest
      } = refused('create', customers, {
        values: JSON.parse(`{"${name}": "x"}`),
      })
      assert.deepEqual([field, spelling], [`values.${name}`, name])
      assert.deepEqual(rest, { code: 'ARGUMENT_COLUMN', expected: 'one of email, name, bio, balance' })
    }
    assert.doesNotMatch(publicText(refused('create', customers, { values: { ssm: 1 } })), /ssn/)
    assert.deepEqual(update({ values: { tenant: 'x' } }), ['ARGUMENT_COLUMN', 'values.tenant'])
    assert.deepEqual(update({ values: { bio: 'x' }, expected: { ssn: 'x' } }), ['ARGUMENT_COLUMN', 'expected.ssn'])
  })

  test('a spelling comes back short and clean', () => {
    const error = refused('create', customers, { values: { [`\u001b[31m${'x\u202e'.repeat(500)}`]: 1 } })
    assert.match(error.field ?? '', /^values\.\[31mx+…$/)
  })
})

describe('update', () => {
  test('takes the key, the values to set, and what the row must hold', () => {
    const { plan } = built('update', lines, {
      line: 2,
      order_id: '9007199254740993',
      values: { note: null, quantity: 3 },
      expected: { quantity: '2', note: null },
    })
    assert.deepEqual(plan, {
      kind: 'update',
      table: ORDER_LINES.ref,
      key: [
        { column: 'order_id', op: 'eq', value: '9007199254740993' },
        { column: 'line', op: 'eq', value: '2' },
      ],
      values: [
        { column: 'quantity', value: '3' },
        { column: 'note', value: null },
      ],
      expected: [
        { column: 'quantity', value: '2' },
        { column: 'note', value: null },
      ],
      dryRun: false,
    })
  })

  test('needs its whole key and at least one value', () => {
    assert.deepEqual(seen('update', lines, { order_id: '1', values: { note: 'x' } }), ['ARGUMENT_MISSING', 'line'])
    assert.deepEqual(seen('update', lines, { order_id: '1', line: null, values: { note: 'x' } }), [
      'ARGUMENT_VALUE',
      'line',
    ])
    assert.deepEqual(update({}), ['ARGUMENT_MISSING', 'values'])
    assert.deepEqual(update({ values: {} }), ['ARGUMENT_VALUE', 'values'])
    assert.match(
      refused('update', customers, { id: 1, values: {} }).expected ?? '',
      /at least one .*one of email, name/,
    )
  })

  test('null is refused for a column that takes none, naming it, in values and in expected', () => {
    assert.deepEqual(update({ values: { email: null } }), ['ARGUMENT_VALUE', 'values.email'])
    assert.match(refused('update', customers, { id: 1, values: { email: null } }).expected ?? '', /takes no null/)
    assert.deepEqual(update({ values: { bio: null }, expected: { email: null } }), ['ARGUMENT_VALUE', 'expected.email'])
  })

  test('what cannot be compared cannot be expected', () => {
    assert.deepEqual(seen('update', samples, { id: 1, values: { c_json: 1 }, expected: { c_json: 1 } }).slice(0, 2), [
      'ARGUMENT_COLUMN',
      'expected.c_json',
    ])
  })

  test('a key column named like a control argument is addressed as <name>_key, and by its own name in values', () => {
    const columns = { values: TYPES.integer, expected: TYPES.integer, dry_run: TYPES.boolean, n: TYPES.integer }
    const odd = accessOf(tableOf('odd', { columns, primaryKey: ['values', 'expected', 'dry_run'] }), {
      operations: ALL_OPERATIONS,
    })
    const { plan } = built('update', odd, {
      values_key: 1,
      expected_key: 2,
      dry_run_key: true,
      dry_run: true,
      values: { values: 5, n: 6 },
      expected: { expected: 2 },
    })
    assert.ok(plan.kind === 'update')
    assert.deepEqual(
      plan.key.map(({ column, value }) => `${column}=${value}`),
      ['values=1', 'expected=2', 'dry_run=true'],
    )
    assert.deepEqual(
      plan.values.map(({ column }) => column),
      ['values', 'n'],
    )
    assert.equal(plan.dryRun, true)
  })
})

describe('soft_delete', () => {
  test('takes the key and what the row must hold, and no values', () => {
    assert.deepEqual(built('soft_delete', customers, { id: '7', expected: { name: 'Ann' } }).plan, {
      kind: 'soft_delete',
      table: CUSTOMERS.ref,
      key: [{ column: 'id', op: 'eq', value: '7' }],
      expected: [{ column: 'name', value: 'Ann' }],
      dryRun: false,
    })
    assert.deepEqual(seen('soft_delete', customers, { id: 7, values: { bio: 'x' } }), ['ARGUMENT_UNKNOWN', 'values'])
    assert.deepEqual(seen('soft_delete', customers, {}), ['ARGUMENT_MISSING', 'id'])
  })
})

describe('dry_run and idempotency_key', () => {
  test('dry_run is a boolean, and false where it is left out', () => {
    const dryRun = (given: object) => built('soft_delete', customers, { id: 1, ...given }).plan.dryRun
    assert.deepEqual([dryRun({}), dryRun({ dry_run: false }), dryRun({ dry_run: true })], [false, false, true])
    assert.equal(dryRun({ dry_run: 'true' }), true)
    for (const raw of [null, 1, 0, 'yes', '', [], {}]) {
      assert.deepEqual(seen('soft_delete', customers, { id: 1, dry_run: raw }), ['ARGUMENT_TYPE', 'dry_run'])
    }
  })

  test('idempotency_key is 1 to 128 printable ASCII characters, and given beside the plan', () => {
    const keyOf = (key: unknown) => built('soft_delete', customers, { id: 1, idempotency_key: key })
    for (const key of ['a', ' ~', 'x'.repeat(128)]) {
      assert.equal(keyOf(key).idempotencyKey, key)
      assert.deepEqual(Object.keys(keyOf(key).plan), ['kind', 'table', 'key', 'expected', 'dryRun'])
    }
    for (const key of ['', 'x'.repeat(129), 'é', 'a\n', '\u007f', '\u{1f600}']) {
      const call = { id: 1, idempotency_key: key }
      assert.deepEqual(seen('soft_delete', customers, call), ['ARGUMENT_VALUE', 'idempotency_key'])
    }
    for (const key of [5, null, true, {}, []]) {
      const call = { id: 1, idempotency_key: key }
      assert.deepEqual(seen('soft_delete', customers, call), ['ARGUMENT_TYPE', 'idempotency_key'])
    }
  })

  test('a dry run uses no key up, but refuses one that is none', () => {
    const call = { id: 1, dry_run: true, idempotency_key: 'k' }
    assert.deepEqual(Object.keys(built('soft_delete', customers, call)), ['plan'])
    assert.equal(seen('soft_delete', customers, { ...call, idempotency_key: '' })[1], 'idempotency_key')
  })
})

describe('the text of a plan to be hashed', () => {
  const hash = (operation: WriteOperation, args: unknown, tool = 't') =>
    planHash(tool, built(operation, customers, args).plan)

  test('is equal for calls that ask the same, however they are spelt', () => {
    assert.equal(
      hash('update', { id: 1, values: { name: 'a', balance: 1 } }),
      hash('update', { values: '{"balance":"1","name":"a"}', id: '1', idempotency_key: 'k', dry_run: false }),
    )
  })

  test('differs by tool, key, value, null, expectation and dry run', () => {
    const base = { id: 1, values: { bio: 'a' } }
    const texts = [
      hash('update', base),
      hash('update', base, 'u'),
      hash('update', { ...base, id: 2 }),
      hash('update', { ...base, values: { bio: 'b' } }),
      hash('update', { ...base, values: { bio: null } }),
      hash('update', { ...base, values: { bio: 'null' } }),
      hash('update', { ...base, expected: { bio: 'a' } }),
      hash('update', { ...base, dry_run: true }),
      hash('soft_delete', { id: 1 }),
    ]
    assert.equal(new Set(texts).size, texts.length)
    assert.equal(
      hash('soft_delete', { id: 1 }),
      '["t",{"dryRun":false,"expected":[],"key":[{"column":"id","op":"eq","value":"1"}],"kind":"soft_delete",' +
        '"table":{"name":"customers","schema":"public"}}]',
    )
  })
})

describe('the summary of a mutation', () => {
  const odd = accessOf(tableOf('odd', { columns: { n: TYPES.integer, 'a b?': TYPES.text }, primaryKey: ['n'] }), {
    operations: ALL_OPERATIONS,
  })
  const [, alias = ''] = odd.columns.get.keys()

  test('has the key, values and expectations by agent name; NULL is a column without values', () => {
    const plan = built('update', odd, {
      n: 1,
      values: { n: 2, [alias]: null },
      expected: { [alias]: 'x' },
      idempotency_key: 'k',
    })
    assert.deepEqual(summarize(writeTarget('update', odd), plan), {
      columns: ['n', alias],
      filters: [{ column: 'n', op: 'eq', values: ['1'] }],
      values: [{ column: 'n', values: ['2'] }, { column: alias }],
      expected: [{ column: alias, values: ['x'] }],
      idempotency_key: 'k',
    })
  })

  test('leaves out what is empty, and tells a dry run', () => {
    const plan = built('create', odd, { values: { n: 5 }, dry_run: true })
    assert.deepEqual(summarize(writeTarget('create', odd), plan), {
      columns: ['n', alias],
      values: [{ column: 'n', values: ['5'] }],
      dry_run: true,
    })
  })

  test('of a refused call keeps what was named and no value', () => {
    const plan = built('update', odd, { n: 1, values: { n: 2 }, expected: { [alias]: 'x' }, idempotency_key: 'k' })
    assert.deepEqual(withoutValues(summarize(writeTarget('update', odd), plan)), {
      columns: ['n', alias],
      filters: [{ column: 'n', op: 'eq' }],
      values: [{ column: 'n' }],
      expected: [{ column: alias }],
      idempotency_key: 'k',
    })
  })
})
