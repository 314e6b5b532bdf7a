import assert from 'node:assert/strict'
import test from 'node:test'
import type { ProcedureAccess } from '../../src/core/access.js'
import { catalogName, type SchemaModel, type ValueType } from '../../src/core/schema-model.js'
import { caller, compiled, routineOf, SHOP, schemaOf, withRoutines } from '../support/policy-schema.js'
import { TYPES } from '../support/schema.js'

const CATALOG = withRoutines(
  SHOP,
  routineOf('public', 'revenue', { fields: { month: 'timestamp', revenue: 'decimal', margin: 'decimal' } }),
  routineOf('public', 'pay', { kind: 'procedure', readOnly: false, parameters: [['order_id', 'bigint']] }),
  routineOf('public', 'tally', {
    parameters: [['a', 'integer']],
    result: {
      kind: 'scalar',
      set: false,
      type: SHOP.tables[0]?.columns[0]?.type ?? { logical: 'unknown', native: 'x', equality: false, ordered: false },
    },
  }),
  routineOf('public', 'tally', {
    parameters: [
      ['a', 'integer'],
      ['b', 'text'],
    ],
  }),
  routineOf('public', 'anything', { result: { kind: 'unknown' } }),
  routineOf('public', 'echo', { parameters: [['value', 'anyelement']] }),
  routineOf('public', 'twins', {
    parameters: [
      ['arg2', 'integer'],
      ['', 'integer'],
    ],
  }),
  routineOf('public', 'search_customers', {}),
  routineOf('public', 'Größte Bestellung im ganzen letzten Jahr', {}),
  routineOf('public', 'create_order', { readOnly: false }),
  routineOf('public', 'split', {
    parameters: [
      ['given', 'integer'],
      ['found', 'integer', { mode: 'out' }],
      ['both', 'integer', { mode: 'inout' }],
    ],
  }),
)

function judged(
  procedures: string,
  roles = "a: { call: ['*'] }",
  schemas: readonly string[] = ['public'],
  schema: SchemaModel = CATALOG,
) {
  return compiled(
    `version: 1\ntables: { public.customers: { mask: [ssn] } }\nprocedures: { ${procedures} }\nroles: { ${roles} }`,
    schema,
    schemas,
  )
}

function exposed(result: ReturnType<typeof judged>, roles: readonly string[] = ['a']): readonly ProcedureAccess[] {
  return result.engine.rights(caller(roles)).procedures
}

const tools = (result: ReturnType<typeof judged>, roles?: readonly string[]) =>
  exposed(result, roles).map(({ tool }) => tool)
const kinds = (result: ReturnType<typeof judged>) => result.findings.map(({ kind, severity }) => [kind, severity])

test('a procedure exists only where the policy exposes it and a role calls it, in order of their tools', () => {
  const result = judged(
    'public.revenue: { effect: read }, public.pay: { effect: write }',
    "a: { call: ['*'] }, b: { call: [public.revenue] }, c: { read: ['*'] }",
  )
  assert.deepEqual(result.findings, [])
  assert.deepEqual(tools(result), ['pay', 'revenue'])
  assert.deepEqual(tools(result, ['b']), ['revenue'])
  assert.deepEqual(tools(result, ['c']), [])
  assert.deepEqual(tools(result, ['b', 'a']), ['pay', 'revenue'])
  assert.deepEqual(
    exposed(result).map(({ effect }) => effect),
    ['write', 'read'],
  )
})

test('a read-only identity has the reading procedures alone', () => {
  const { engine } = compiled(
    "version: 1\nprocedures: { public.revenue: { effect: read }, public.pay: { effect: write } }\nroles: { a: { call: ['*'] } }\nidentities: { robot: { read_only: true } }",
    CATALOG,
  )
  assert.deepEqual(
    engine.rights(caller(['a'], {}, 'robot')).procedures.map(({ tool }) => tool),
    ['revenue'],
  )
})

test('a procedure that the database does not have is an error with a suggestion, and withholds no table of that name', () => {
  const result = judged(
    'public.revenu: { effect: read }, public.customers: { effect: read }',
    "a: { read: ['*'], call: ['*'] }",
  )
  assert.deepEqual(kinds(result), [
    ['procedure_unknown', 'error'],
    ['procedure_unknown', 'error'],
  ])
  assert.match(result.findings[0]?.text ?? '', /Did you mean "public\.revenue"\?/)
  assert.deepEqual(
    result.findings.map(({ section }) => section),
    ['procedures', 'procedures'],
  )
  assert.deepEqual(tools(result), [])
  assert.equal(result.engine.rights(caller(['a'])).byToolBase.has('customers'), true)
})

test('of several routines with one name each needs its signature', () => {
  const bare = judged('public.tally: { effect: read }')
  assert.deepEqual(kinds(bare), [['procedure_ambiguous', 'error']])
  assert.match(bare.findings[0]?.text ?? '', /"public\.tally\(a integer\)" or "public\.tally\(a integer, b text\)"/)
  assert.deepEqual(tools(bare), [])
  for (const name of ['public.tally(a integer)', 'public.tally(integer)', 'public.tally( integer )']) {
    const result = judged(`"${name}": { effect: read }`)
    assert.deepEqual(result.findings, [], name)
    assert.deepEqual(
      exposed(result).map(({ parameters }) => parameters.length),
      [1],
    )
  }
  const both = judged(
    'public.tally(integer): { effect: read }, "public.tally(integer,text)": { effect: read, tool_name: tally_two }',
  )
  assert.deepEqual(both.findings, [])
  assert.deepEqual(
    exposed(both).map(({ tool, parameters }) => [tool, parameters.length]),
    [
      ['tally', 1],
      ['tally_two', 2],
    ],
  )
})

test('a tool is named after its procedure, with the schema among several, unless tool_name says otherwise', () => {
  const one = 'public.revenue: { effect: read }'
  assert.deepEqual(tools(judged(one, undefined, ['public', 'crm'])), ['public_revenue'])
  assert.deepEqual(
    tools(judged('public.revenue: { effect: read, tool_name: monthly }', undefined, ['public', 'crm'])),
    ['monthly'],
  )
  const [odd] = tools(judged('"public.Größte Bestellung im ganzen letzten Jahr": { effect: read }'))
  assert.match(odd ?? '', /^[a-z0-9_]{1,40}$/)
  assert.match(odd ?? '', /^gro/)
})

test('no procedure takes the name of a tool that some table could have', () => {
  const reserved = [
    'get_x_by_pk',
    'search_x',
    'aggregate_x',
    'create_x',
    'update_x_by_pk',
    'soft_delete_x_by_pk',
    'schema_overview',
    'get_row',
    'search_rows',
    'aggregate_rows',
    'create_row',
    'update_row',
    'soft_delete_row',
    'call_procedure',
  ]
  for (const name of reserved) {
    const result = judged(`public.revenue: { effect: read, tool_name: ${name} }`)
    assert.deepEqual(kinds(result), [['procedure_unusable', 'error']], name)
    assert.deepEqual(tools(result), [])
  }
  for (const name of ['public.search_customers', 'public.create_order']) {
    assert.match(judged(`${name}: { effect: write }`).findings[0]?.text ?? '', /give it a tool_name/)
  }
  for (const name of ['get_x', 'update_x', 'soft_delete_x', 'createx', 'search']) {
    assert.deepEqual(tools(judged(`public.revenue: { effect: read, tool_name: ${name} }`)), [name])
  }
})

test('procedures with one tool are all withheld, and others are served', () => {
  const result = judged(
    'public.revenue: { effect: read, tool_name: same }, public.pay: { effect: write, tool_name: same }, public.split: { effect: read }',
  )
  assert.deepEqual(kinds(result), [
    ['tool_name_clash', 'error'],
    ['tool_name_clash', 'error'],
  ])
  assert.deepEqual(tools(result), ['split'])
})

test('what no tool can stand for is withheld: an open record, a type that no value has, two names alike', () => {
  for (const name of ['anything', 'echo', 'twins']) {
    const result = judged(`public.${name}: { effect: read }`)
    assert.deepEqual(kinds(result), [['procedure_unusable', 'error']], name)
    assert.deepEqual(tools(result), [])
  }
})

test('a geometry can be passed, and only a function can give one', () => {
  const type: ValueType = { ...TYPES.text, logical: 'unknown', native: 'point', form: { kind: 'geometry' } }
  const modes = { takes: 'in', changes: 'inout', gives: 'out' } as const
  const routines = Object.entries(modes).map(([name, mode]) =>
    routineOf('public', name, { kind: 'procedure', parameters: [['place', 'text', { mode, type }]] }),
  )
  const document = `version: 1
procedures: { public.takes: { effect: read }, public.changes: { effect: read }, public.gives: { effect: read } }
roles: { all: { call: ['*'] } }`
  const { findings } = compiled(document, withRoutines(schemaOf(), ...routines))
  assert.deepEqual(
    findings.map(({ kind, table }) => [kind, table]),
    [
      ['procedure_unusable', 'public.changes'],
      ['procedure_unusable', 'public.gives'],
    ],
  )
  assert.match(findings[0]?.text ?? '', /"place" gives a geometry, which only a function can/)
})

test('a procedure takes its in, inout and variadic parameters, in order', () => {
  const [split] = exposed(judged('public.split: { effect: read }'))
  assert.deepEqual(
    split?.parameters.map(({ agentName }) => agentName),
    ['given', 'both'],
  )
})

test('result_columns lets through what it names, in the order of the result, and is refused where it names more', () => {
  const whole = exposed(judged('public.revenue: { effect: read }'))[0]
  assert.deepEqual(
    whole?.fields?.map(({ name }) => name),
    ['month', 'revenue', 'margin'],
  )
  const some = exposed(judged('public.revenue: { effect: read, result_columns: [revenue, month] }'))[0]
  assert.deepEqual(
    some?.fields?.map(({ name }) => name),
    ['month', 'revenue'],
  )
  const more = judged('public.revenue: { effect: read, result_columns: [month, revenu] }')
  assert.deepEqual(kinds(more), [['result_column_unknown', 'error']])
  assert.match(more.findings[0]?.text ?? '', /Did you mean "revenue"\?/)
  assert.deepEqual(
    exposed(more)[0]?.fields?.map(({ name }) => name),
    ['month'],
  )
  const none = judged('public.revenue: { effect: read, result_columns: [nope] }')
  assert.deepEqual(tools(none), [])
  const scalar = judged('public.tally(integer): { effect: read, result_columns: [a] }')
  assert.equal(
    scalar.findings.every(({ severity }) => severity === 'error'),
    true,
  )
  assert.deepEqual(tools(scalar), [], 'a limit that the result cannot have is not taken for no limit')
  assert.equal(exposed(judged('public.tally(integer): { effect: read }'))[0]?.fields, undefined)
})

const REPORT = routineOf('shop', 'report', {
  kind: 'procedure',
  readOnly: false,
  parameters: [
    ['since', 'date'],
    ['total', 'decimal', { mode: 'out' }],
    ['secret', 'text', { mode: 'out' }],
  ],
  comment: 'Sums what is secret.',
  result: {
    kind: 'sets',
    fields: [
      { name: catalogName('total'), agentName: 'total', type: TYPES.decimal },
      { name: catalogName('secret'), agentName: 'secret', type: TYPES.text },
    ],
  },
})

function reporting(rules: string) {
  const schema: SchemaModel = { ...withRoutines(SHOP, REPORT), engine: 'mysql' }
  const result = compiled(`version: 1\nprocedures: { report: { ${rules} } }\nroles: { a: { call: ['*'] } }`, schema, [
    'shop',
  ])
  return { ...result, report: exposed(result)[0] }
}

test('of result sets that only the call describes nothing is given unless their columns are named; outputs are', () => {
  const { report, findings } = reporting('effect: write')
  assert.deepEqual(findings, [])
  assert.deepEqual(
    report?.fields?.map(({ name }) => name),
    ['total', 'secret'],
  )
  assert.equal(report?.setColumns, undefined)
  assert.equal(report?.comment, 'Sums what is secret.')
})

test('result_columns names outputs, and columns of result sets that no catalog could confirm', () => {
  const { report, findings } = reporting('effect: write, result_columns: [month, total, "gross sum"]')
  assert.deepEqual(findings, [])
  assert.deepEqual(
    report?.fields?.map(({ name }) => name),
    ['total'],
  )
  assert.deepEqual(report?.setColumns, ['month', 'gross sum'])
  assert.equal(report?.comment, undefined, 'it names an output that is not let through')
  const outputs = reporting('effect: write, result_columns: [total]').report
  assert.deepEqual([outputs?.fields?.length, outputs?.setColumns], [1, undefined])
  const sets = reporting('effect: write, result_columns: [month]').report
  assert.deepEqual([sets?.fields, sets?.setColumns], [[], ['month']])
})

test('a name that result_columns repeats is refused, and counts once', () => {
  const result = reporting('effect: write, result_columns: [month, total, month]')
  assert.deepEqual(kinds(result), [['result_column_repeated', 'error']])
  assert.match(result.findings[0]?.text ?? '', /names "month" more than once/)
  assert.deepEqual(result.report?.setColumns, ['month'])
})

test('a procedure can be undone where the engine can undo it, a function everywhere', () => {
  assert.equal(reporting('effect: write').report?.dryRun, false)
  assert.equal(exposed(judged('public.pay: { effect: write }'))[0]?.dryRun, true)
  const { result: _, ...plain } = REPORT
  const tally = { ...plain, kind: 'function', result: { kind: 'scalar', set: false, type: TYPES.decimal } } as const
  const schema: SchemaModel = { ...withRoutines(SHOP, tally), engine: 'mysql' }
  const policy = "version: 1\nprocedures: { report: { effect: read } }\nroles: { a: { call: ['*'] } }"
  assert.equal(exposed(compiled(policy, schema, ['shop']))[0]?.dryRun, true)
})

test('a read that its author did not promise is served with a warning', () => {
  const result = judged('public.pay: { effect: read }')
  assert.deepEqual(kinds(result), [['effect_unproven', 'warning']])
  assert.deepEqual(
    exposed(result).map(({ effect }) => effect),
    ['read'],
  )
})

test('limits of a procedure are its own, else the policy’s, and those of the roles that call it', () => {
  const { engine } = compiled(
    `version: 1
defaults: { row_cap: 11, query_timeout_ms: 70 }
procedures: { public.revenue: { effect: read, row_cap: 22 }, public.pay: { effect: write } }
roles: { a: { call: ['*'] }, b: { call: [public.pay], row_cap: 33 }, c: { row_cap: 44 } }
identities: { robot: { row_cap: 5 } }`,
    CATALOG,
  )
  const caps = (roles: readonly string[], name?: string) =>
    engine.rights(caller(roles, {}, name)).procedures.map(({ limits }) => limits.rowCap)
  assert.deepEqual(caps(['a']), [11, 22])
  assert.deepEqual(caps(['a', 'b', 'c']), [33, 22])
  assert.deepEqual(caps(['a'], 'robot'), [5, 5])
  assert.equal(engine.rights(caller(['a'])).procedures[0]?.limits.queryTimeoutMs, 70)
})

test('a comment is shown cleaned, and withheld where it names what the caller does not see', () => {
  const shown = (comment: string, more = '', roles = "a: { read: ['*'], call: ['*'] }") => {
    const schema = withRoutines(
      SHOP,
      routineOf('public', 'f', { fields: { month: 'timestamp', margin: 'decimal' }, comment }),
    )
    return exposed(judged(`public.f: { effect: read${more} }`, roles, ['public'], schema))[0]?.comment
  }
  assert.equal(shown('Revenue \u200b of\n a month'), 'Revenue of a month')
  assert.equal(shown('Sums customers.country'), 'Sums customers.country')
  assert.equal(shown('Sums customers.country', '', "a: { call: ['*'] }"), undefined)
  assert.equal(shown('Reads customers.ssn'), undefined)
  assert.equal(shown('Reads payroll.salary'), undefined)
  assert.equal(shown('The margin, by month'), 'The margin, by month')
  assert.equal(shown('The margin, by month', ', result_columns: [month]'), undefined)
})
