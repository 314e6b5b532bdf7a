import assert from 'node:assert/strict'
import test from 'node:test'
import { VALUE_CHARS_MAX } from '../../src/core/limits.js'
import { type PolicyDocument, parsePolicy, policyFaultText } from '../../src/policy/policy-document.js'
import { compilePolicy } from '../../src/policy/policy-engine.js'
import { type PolicyVars, withVars } from '../../src/policy/vars.js'
import { CUSTOMERS, caller, SHOP } from '../support/policy-schema.js'

/** Written in parts, because it would be taken for a template of this file. */
const dollar = (text: string) => `$${text}`
const v = (name: string) => `$\{vars.${name}}`

function documentOf(text: string): PolicyDocument {
  const parsed = parsePolicy(text)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error.map(policyFaultText).join('\n'))
  return parsed.value
}

/** Literals of one table's row filter. */
const filtering = (filter: string) =>
  `version: 1\ntables: { public.customers: { row_filter: [ ${filter} ] } }\nroles: { r: { read: ['*'] } }`

function filled(literal: string, vars: PolicyVars, op = 'eq'): unknown {
  const { tables } = withVars(
    documentOf(filtering(`{ column: name, op: ${op}, value: ${JSON.stringify(literal)} }`)),
    vars,
  )
  const [filter] = tables['public.customers']?.row_filter ?? []
  assert.ok(filter !== undefined && 'value' in filter)
  return filter.value
}

test('a literal that is one variable takes its value with its type, and within text a variable is text', () => {
  const vars = { region: 'eu', tenant: 7, live: true, rate: 0.5, a_1: '' }
  assert.equal(filled(v('region'), vars), 'eu')
  assert.equal(filled(v('tenant'), vars), 7)
  assert.equal(filled(v('live'), vars), true)
  assert.equal(filled(v('a_1'), vars), '')
  assert.equal(filled(`<${v('tenant')}-${v('live')}-${v('rate')}-${v('region')}>`, vars), '<7-true-0.5-eu>')
  assert.equal(filled(`${v('tenant')}${v('tenant')}`, vars), '77')
  assert.equal(filled(`${v('region')} `, vars), 'eu ')
})

test('what a value holds is never filled in again', () => {
  assert.equal(filled(`${v('a')}!`, { a: v('b'), b: 'no' }), `${v('b')}!`)
  assert.equal(filled(`${v('a')}!`, { a: '$&$1$$' }), '$&$1$$!')
})

test('in a pattern a variable is a value: its wildcards and backslashes match themselves', () => {
  assert.equal(filled(`%${v('a')}_`, { a: '50%_\\' }, 'ilike'), '%50\\%\\_\\\\_')
  assert.equal(filled(v('a'), { a: '%' }, 'ilike'), '\\%')
  assert.equal(filled(v('n'), { n: 5 }, 'ilike'), '5')
  assert.equal(filled(`\\\\${v('a')}`, { a: '%' }, 'ilike'), '\\\\\\%')
})

test('variables stand in every literal of tables and roles, and nowhere else', () => {
  const x = JSON.stringify(v('x'))
  const text = `
version: 1
tables:
  public.customers:
    tool_name: ${x}
    row_filter: [ { column: name, op: in, values: [a, ${x}, 1] }, { column: ssn, op: eq, value: { claim: ${x} } } ]
    create: { columns: [${x}], preset: { tenant_id: ${x}, country: { claim: ${x} } } }
    update: { columns: [name], preset: { email: "<${v('x')}>" } }
    soft_delete: { column: country, value: ${x} }
roles:
  r: { row_filter: { public.customers: [ { column: name, op: neq, value: ${x} } ] } }
`
  const document = documentOf(text)
  const changed = JSON.parse(JSON.stringify(withVars(document, { x: 3 })))
  const whole = v('x')
  assert.deepEqual(changed.tables['public.customers'], {
    tool_name: whole,
    row_filter: [
      { column: 'name', op: 'in', values: ['a', 3, 1] },
      { column: 'ssn', op: 'eq', value: { claim: whole } },
    ],
    create: { columns: [whole], preset: { tenant_id: 3, country: { claim: whole } } },
    update: { columns: ['name'], preset: { email: '<3>' } },
    soft_delete: { column: 'country', value: 3 },
  })
  assert.deepEqual(changed.roles.r.row_filter['public.customers'], [{ column: 'name', op: 'neq', value: 3 }])
  assert.equal(withVars(documentOf(filtering('{ column: name, op: is_null }')), { x: 3 }).version, 1)
})

test('a variable that the connector does not have withholds the table, wherever it stands, with the nearest name', () => {
  const places: readonly (readonly [string, string, readonly (string | number)[]])[] = [
    [`row_filter: [ { column: name, op: eq, value: "a${v('regoin')}" } ]`, '', ['row_filter', 0, 'value']],
    [`row_filter: [ { column: name, op: in, values: [b, "${v('regoin')}"] } ]`, '', ['row_filter', 0, 'values', 1]],
    [`create: { columns: [id, name], preset: { country: "${v('regoin')}" } }`, '', ['create', 'preset', 'country']],
    [`update: { columns: [name], preset: { country: "${v('regoin')}" } }`, '', ['update', 'preset', 'country']],
    [`soft_delete: { column: country, value: "${v('regoin')}" }`, '', ['soft_delete', 'value']],
    [
      '',
      `[ { column: name, op: ilike, value: "${v('regoin')}%" } ]`,
      ['roles', 'r', 'row_filter', 'public.customers', 0, 'value'],
    ],
  ]
  for (const [table, role, place] of places) {
    const text = `version: 1\ntables: { public.customers: { ${table} } }\nroles: { r: { read: ['*']${role === '' ? '' : `, row_filter: { public.customers: ${role} }`} } }`
    const compile = (document: PolicyDocument, vars: PolicyVars) =>
      compilePolicy(document, SHOP, { schemas: ['public'], vars })
    const { engine, findings } = compile(documentOf(text), { region: 'eu' })
    const [finding] = findings.filter(({ kind }) => kind === 'variable_unknown')
    assert.ok(finding !== undefined, text)
    assert.deepEqual([finding.severity, finding.withholds, finding.table], ['error', true, 'public.customers'])
    assert.deepEqual(finding.path, place[0] === 'roles' ? place : ['tables', 'public.customers', ...place])
    assert.match(finding.text, /variable "regoin".* Did you mean "region"\?$/)
    assert.equal(engine.identityAllowed(caller(['r']), CUSTOMERS, 'search'), false)
    // A document that was filled in before, by whoever has the variables, is held to the same.
    const before = compilePolicy(withVars(documentOf(text), { region: 'eu' }), SHOP, { schemas: ['public'] })
    assert.equal(before.engine.identityAllowed(caller(['r']), CUSTOMERS, 'search'), false)
    const named = compile(documentOf(text), { regoin: 'eu' })
    assert.deepEqual(
      named.findings.filter(({ kind }) => kind === 'variable_unknown'),
      [],
    )
  }
})

test('names of objects are no variables', () => {
  for (const name of ['constructor', 'tostring', 'valueof']) {
    const document = documentOf(filtering(`{ column: name, op: eq, value: "${v(name)}" }`))
    const { findings } = compilePolicy(document, SHOP, { schemas: ['public'], vars: {} })
    assert.equal(
      findings.some(({ kind }) => kind === 'variable_unknown'),
      true,
      name,
    )
  }
})

test('a value is held to the column like any literal, and to the length of one', () => {
  const compile = (value: string | number) =>
    compilePolicy(documentOf(filtering(`{ column: tenant_id, op: eq, value: "${v('t')}" }`)), SHOP, {
      schemas: ['public'],
      vars: { t: value },
    })
  assert.deepEqual(compile(7).findings, [])
  assert.deepEqual(compile('7').findings, [])
  assert.equal(compile('seven').findings[0]?.kind, 'literal_unusable')
  const scope = compile(7).engine.scope(caller(['r']), CUSTOMERS, 'search')
  assert.deepEqual(scope.ok && scope.value.all, [{ column: 'tenant_id', op: 'eq', value: '7' }])
  const long = documentOf(filtering(`{ column: name, op: eq, value: "${v('t').repeat(2)}" }`))
  const { findings, engine } = compilePolicy(long, SHOP, {
    schemas: ['public'],
    vars: { t: 'x'.repeat(VALUE_CHARS_MAX) },
  })
  assert.match(findings[0]?.text ?? '', /longer than 65536 characters once its variables are filled in/)
  assert.equal(engine.identityAllowed(caller(['r']), CUSTOMERS, 'search'), false)
})

test('what begins like a variable and is none is refused, and other dollars are text', () => {
  const parse = (literal: string, op = 'eq') =>
    parsePolicy(filtering(`{ column: name, op: ${op}, value: ${JSON.stringify(literal)} }`))
  for (const odd of [
    dollar('{vars.}'),
    dollar('{vars.Region}'),
    dollar('{vars.a-b}'),
    dollar('{vars.a'),
    dollar('{vars. a}'),
    `${v('a')}$\{vars.`,
    dollar('{vars.1}'),
  ]) {
    const parsed = parse(odd)
    assert.ok(!parsed.ok, odd)
    assert.match(parsed.error[0]?.path ?? '', /^tables\.public\.customers\.row_filter\[0\]\.value$/)
    assert.match(parsed.error[0]?.expected ?? '', /begins a variable such as \$\{vars\.region\}/)
    assert.ok(!parse(odd, 'ilike').ok, odd)
  }
  for (const text of [
    '$',
    dollar('{'),
    dollar('{region}'),
    dollar('{var.a}'),
    '$vars.a',
    '{vars.a}',
    v('a'),
    `\\${v('a')}`,
  ]) {
    assert.ok(parse(text).ok, text)
  }
  // In a pattern the backslash would take the first character of the value.
  assert.ok(!parse(`\\${v('a')}`, 'ilike').ok)
  assert.ok(!parse(`\\\\\\${v('a')}`, 'ilike').ok)
  assert.ok(parse(`\\\\${v('a')}`, 'ilike').ok)
  assert.ok(!parse('x'.repeat(VALUE_CHARS_MAX + 1), 'ilike').ok)
})

test('what looks like a variable and is none is warned of, with what was meant, and stays text', () => {
  const cases: readonly (readonly [literal: string, meant: string])[] = [
    [dollar('{var.region}'), 'region'],
    [dollar('{ vars.region }'), 'region'],
    [dollar('{vars .region}'), 'region'],
    [dollar('{VARS.REGION}'), 'region'],
    [dollar('{vars:region}'), 'region'],
    [dollar('{region}'), 'region'],
    [dollar('(vars.region)'), 'region'],
    [dollar('vars.region'), 'region'],
    ['{{ vars.region }}', 'region'],
    [dollar('{ }'), 'name'],
    [`a ${dollar('{var.region}')} ${v('region')}`, 'region'],
  ]
  for (const [literal, meant] of cases) {
    const document = documentOf(filtering(`{ column: name, op: eq, value: ${JSON.stringify(literal)} }`))
    const { findings } = compilePolicy(document, SHOP, { schemas: ['public'], vars: { region: 'eu' } })
    assert.deepEqual(
      findings.map(({ kind, severity, withholds }) => [kind, severity, withholds]),
      [['variable_misspelt', 'warning', false]],
      literal,
    )
    assert.ok(findings[0]?.text.includes(`a variable is written ${JSON.stringify(v(meant))}`), findings[0]?.text)
  }
})

test('a slip in a preset, a role’s filter and a list is warned of at its place; a text that is none is not', () => {
  const slip = JSON.stringify(dollar('{var.a}'))
  const text = `version: 1
tables:
  public.customers: { update: { columns: [ssn], preset: { name: ${slip} } } }
roles:
  r: { read: ['*'], update: ['*'], row_filter: { public.customers: [ { column: name, op: in, values: [x, ${slip}] } ] } }`
  const { findings } = compilePolicy(documentOf(text), SHOP, { schemas: ['public'] })
  assert.deepEqual(
    findings.map(({ kind, path }) => [kind, path.join('.')]),
    [
      ['variable_misspelt', 'tables.public.customers.update.preset.name'],
      ['variable_misspelt', 'roles.r.row_filter.public.customers.0.values.1'],
    ],
  )
  for (const plain of [dollar('5'), dollar('{'), '{}', 'vars.region', '%{a}', 'variable: {x}', v('region')]) {
    const document = documentOf(filtering(`{ column: name, op: eq, value: ${JSON.stringify(plain)} }`))
    const met = compilePolicy(document, SHOP, { schemas: ['public'], vars: { region: 'eu' } })
    assert.deepEqual(met.findings, [], plain)
  }
})
