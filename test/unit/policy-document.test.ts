import assert from 'node:assert/strict'
import test from 'node:test'
import { POLICY_ALIASES_MAX, POLICY_TEXT_CHARS_MAX, QUERY_TIMEOUT_MAX_MS } from '../../src/core/limits.js'
import {
  type PolicyDocument,
  type PolicyFault,
  parsePolicy,
  policyFaultText,
  policyFromJson,
} from '../../src/policy/policy-document.js'

function accepted(text: string): PolicyDocument {
  const result = parsePolicy(text)
  assert.ok(result.ok, result.ok ? '' : result.error.map(policyFaultText).join('\n'))
  return result.value
}

function refused(text: string): readonly PolicyFault[] {
  const result = parsePolicy(text)
  assert.ok(!result.ok, 'the policy was accepted')
  return result.error
}

function only(text: string): PolicyFault {
  const faults = refused(text)
  assert.equal(faults.length, 1, faults.map(policyFaultText).join('\n'))
  const [fault] = faults
  assert.ok(fault !== undefined)
  return fault
}

const FULL = `
version: 1
defaults: { row_cap: 100, page_size: 20, query_timeout_ms: 1000, response_chars_max: 9000, cell_chars_max: 500, max_affected_rows: 3 }
tables:
  public.customers:
    tool_name: clients
    mask: [ssn]
    key: [id]
    row_filter:
      - { column: tenant_id, op: eq, value: { claim: tenant } }
      - { column: country, op: in, values: [de, 1, true, 1.5] }
      - { column: region, op: in, values: { claim: regions } }
      - { column: deleted_at, op: is_null }
    aggregate: { columns: [country] }
    create: { columns: [name, email], preset: { tenant_id: { claim: tenant }, created_at: now, tier: 1 } }
    update: { columns: [name] }
    soft_delete: { column: deleted_at, value: now, reads_include_deleted: false }
  public.orders:
    columns: [id, total]
    aggregate: false
    row_cap: 10
  public.plain:
procedures:
  public.monthly_revenue: { effect: read, result_columns: [month, revenue], row_cap: 24 }
  public.pay(integer): { effect: write, tool_name: pay_order }
roles:
  analyst:
    read: ['*']
    aggregate: [public.customers]
    create: [public.customers]
    update: ['*']
    soft_delete: [public.customers]
    call: [public.monthly_revenue]
    deny: [public.orders]
    mask: { public.customers: [email] }
    row_filter: { public.customers: [ { column: name, op: ilike, value: 'a%' } ] }
    page_size: 5
identities:
  batch-7: { read_only: true, row_cap: 1000 }
`

test('every key of the grammar is kept as it was written', () => {
  const document = accepted(FULL)
  assert.deepEqual(JSON.parse(JSON.stringify(document)), {
    version: 1,
    defaults: {
      row_cap: 100,
      page_size: 20,
      query_timeout_ms: 1000,
      response_chars_max: 9000,
      cell_chars_max: 500,
      max_affected_rows: 3,
    },
    tables: {
      'public.customers': {
        tool_name: 'clients',
        mask: ['ssn'],
        key: ['id'],
        row_filter: [
          { column: 'tenant_id', op: 'eq', value: { claim: 'tenant' } },
          { column: 'country', op: 'in', values: ['de', 1, true, 1.5] },
          { column: 'region', op: 'in', values: { claim: 'regions' } },
          { column: 'deleted_at', op: 'is_null' },
        ],
        aggregate: { columns: ['country'] },
        create: {
          columns: ['name', 'email'],
          preset: { tenant_id: { claim: 'tenant' }, created_at: 'now', tier: 1 },
        },
        update: { columns: ['name'] },
        soft_delete: { column: 'deleted_at', value: 'now', reads_include_deleted: false },
      },
      'public.orders': { columns: ['id', 'total'], aggregate: false, row_cap: 10 },
      'public.plain': {},
    },
    procedures: {
      'public.monthly_revenue': { effect: 'read', result_columns: ['month', 'revenue'], row_cap: 24 },
      'public.pay(integer)': { effect: 'write', tool_name: 'pay_order' },
    },
    roles: {
      analyst: {
        read: ['*'],
        aggregate: ['public.customers'],
        create: ['public.customers'],
        update: ['*'],
        soft_delete: ['public.customers'],
        call: ['public.monthly_revenue'],
        deny: ['public.orders'],
        mask: { 'public.customers': ['email'] },
        row_filter: { 'public.customers': [{ column: 'name', op: 'ilike', value: 'a%' }] },
        page_size: 5,
      },
    },
    identities: { 'batch-7': { read_only: true, row_cap: 1000 } },
  })
})

test('a document comes back unchanged from its JSON text, through both readers, and across a structured clone', () => {
  const document = accepted(FULL)
  const json = JSON.stringify(document)
  const stored = policyFromJson(json)
  assert.ok(stored.ok)
  assert.equal(JSON.stringify(stored.value), json)
  assert.equal(JSON.stringify(accepted(json)), json)
  assert.equal(JSON.stringify(structuredClone(document)), json)
})

test('sections may be left out, and stand for nothing granted', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(accepted('version: 1'))), {
    version: 1,
    defaults: {},
    tables: {},
    procedures: {},
    roles: {},
    identities: {},
  })
})

test('an unknown key names its line, its path and the nearest valid key', () => {
  const cases: readonly (readonly [string, number, string, string | undefined])[] = [
    ['version: 1\ntable: {}', 2, 'table', 'tables'],
    ['version: 1\ndefaults:\n  row_cpa: 1', 3, 'defaults.row_cpa', 'row_cap'],
    ['version: 1\ntables:\n  a.b:\n    maks: [x]', 4, 'tables.a.b.maks', 'mask'],
    ['version: 1\nroles:\n  r:\n    raed: []', 4, 'roles.r.raed', 'read'],
    ['version: 1\nidentities:\n  i:\n    readonly: true', 4, 'identities.i.readonly', 'read_only'],
    [
      'version: 1\ntables:\n  a.b:\n    row_filter:\n      - column: x\n        op: eq\n        value: 1\n        vlaue: 2',
      8,
      'tables.a.b.row_filter[0].vlaue',
      'value',
    ],
    [
      'version: 1\ntables:\n  a.b:\n    aggregate:\n      columns: [x]\n      colums: [x]',
      6,
      'tables.a.b.aggregate.colums',
      'columns',
    ],
    ['version: 1\ntables:\n  a.b:\n    expand: {}', 4, 'tables.a.b.expand', undefined],
    ['version: 1\ntables:\n  a.b:\n    create:\n      colums: [x]', 5, 'tables.a.b.create.colums', 'columns'],
    ['version: 1\ntables:\n  a.b:\n    update:\n      presets: {}', 5, 'tables.a.b.update.presets', 'preset'],
    ['version: 1\ntables:\n  a.b:\n    soft_delete:\n      colum: x', 5, 'tables.a.b.soft_delete.colum', 'column'],
    ['version: 1\nprocedures:\n  a.b:\n    efect: read', 4, 'procedures.a.b.efect', 'effect'],
    ['version: 1\nroles:\n  r:\n    calls: [a.b]', 4, 'roles.r.calls', 'call'],
  ]
  for (const [text, line, path, suggestion] of cases) {
    const [fault] = refused(text).filter(({ problem }) => problem === 'unknown key')
    assert.ok(fault !== undefined, text)
    assert.deepEqual([fault.line, fault.path, fault.suggestion], [line, path, suggestion])
  }
})

test('keys of later grammars, which nothing would enforce yet, are refused', () => {
  assert.equal(only('version: 1\ntables: { a.b: { expand: 1 } }').path, 'tables.a.b.expand')
})

test('a filter that leads to a parent names columns and nothing else, and is told apart by that key', () => {
  accepted(filterIn('{ parent: [customer_id] }'))
  accepted(filterIn('{ parent: [a, b] }'))
  const wrong: readonly (readonly [string, string, string])[] = [
    ['{ column: a, parent: [b] }', 'column', 'one of parent'],
    ['{ parent: [b], op: eq }', 'op', 'one of parent'],
    ['{ parent: [] }', 'parent', 'a list of column names, at least one'],
    ['{ parent: customer_id }', 'parent', 'a list of column names, at least one'],
    ['{ parent: [1] }', 'parent[0]', 'a column name of 1 to 512 characters'],
  ]
  for (const [filter, part, expected] of wrong) {
    const [fault] = refused(filterIn(filter))
    assert.deepEqual([fault?.path, fault?.expected], [`tables.a.b.row_filter[0].${part}`, expected], filter)
  }
  const [misspelt] = refused(filterIn('{ parnt: [customer_id] }'))
  assert.deepEqual([misspelt?.path, misspelt?.suggestion], ['tables.a.b.row_filter[0].parnt', 'parent'])
})

test('a mutation names its columns, and each preset is a literal, a claim or now', () => {
  const within = (part: string) => `version: 1\ntables: { a.b: { ${part} } }`
  const wrong: readonly (readonly [string, string])[] = [
    ['create: {}', 'tables.a.b.create.columns'],
    ['create: true', 'tables.a.b.create'],
    ['create: { columns: [] }', 'tables.a.b.create.columns'],
    ['update: { columns: ["*", ""] }', 'tables.a.b.update.columns[1]'],
    ['create: { columns: [x], preset: { y: null } }', 'tables.a.b.create.preset.y'],
    ['create: { columns: [x], preset: { y: [1] } }', 'tables.a.b.create.preset.y'],
    ['create: { columns: [x], preset: { y: { clam: z } } }', 'tables.a.b.create.preset.y.clam'],
    ['create: { columns: [x], preset: { y: "${' + 'vars.R}" } }', 'tables.a.b.create.preset.y'],
    ['create: { columns: [x], preset: [y] }', 'tables.a.b.create.preset'],
    ['soft_delete: {}', 'tables.a.b.soft_delete.column'],
    ['soft_delete: { column: x }', 'tables.a.b.soft_delete.value'],
    ['soft_delete: { column: x, value: { claim: y } }', 'tables.a.b.soft_delete.value'],
    [
      'soft_delete: { column: x, value: now, reads_include_deleted: 1 }',
      'tables.a.b.soft_delete.reads_include_deleted',
    ],
  ]
  for (const [part, path] of wrong) assert.equal(refused(within(part))[0]?.path, path, part)
  for (const value of ['now', 'true', 'false', 'gone', '1'])
    accepted(within(`soft_delete: { column: x, value: ${value} }`))
})

test('a procedure declares its effect, and no limit of affected rows, which nothing counts', () => {
  const exposing = (part: string) => `version: 1\nprocedures: { a.f: { ${part} } }`
  assert.equal(only(exposing('')).path, 'procedures.a.f.effect')
  const effect = only(exposing('effect: wrte'))
  assert.deepEqual([effect.path, effect.suggestion], ['procedures.a.f.effect', 'write'])
  assert.equal(only(exposing('effect: read, max_affected_rows: 1')).path, 'procedures.a.f.max_affected_rows')
  assert.equal(only(exposing('effect: read, result_columns: []')).path, 'procedures.a.f.result_columns')
  accepted('version: 1\nprocedures: { f: { effect: read } }')
  for (const odd of ['f.', '.f', "''", "'*'"]) {
    assert.match(only(`version: 1\nprocedures: { ${odd}: { effect: read } }`).expected, /^schema\.name/, odd)
  }
  accepted(exposing('effect: write, row_cap: 5, page_size: 5, query_timeout_ms: 5'))
})

test('max_affected_rows is a limit like any other, at every level', () => {
  const limit = 'max_affected_rows: 20'
  accepted(
    `version: 1\ndefaults: { ${limit} }\ntables: { a.b: { ${limit} } }\nroles: { r: { ${limit} } }\nidentities: { i: { ${limit} } }`,
  )
  for (const value of ['0', '10001', 'all']) {
    assert.equal(only(`version: 1\ndefaults: { max_affected_rows: ${value} }`).path, 'defaults.max_affected_rows')
  }
})

test('every fault of a document is reported at once', () => {
  const faults = refused(
    'version: 1\ndefaults: { row_cap: 0 }\ntables: { a.b: { mask: x } }\nidentities: { i: { read_only: yes } }',
  )
  assert.deepEqual(
    faults.map((fault) => fault.path),
    ['defaults.row_cap', 'tables.a.b.mask', 'identities.i.read_only'],
  )
})

test('the version must be 1', () => {
  for (const text of ['{}', 'version: 2', 'version: "1"']) assert.equal(only(text).path, 'version')
})

test('limits are whole numbers within their ranges', () => {
  for (const value of ['0', '-1', '1.5', '"5"', 'true', '10001']) {
    assert.equal(only(`version: 1\ndefaults: { row_cap: ${value} }`).path, 'defaults.row_cap')
  }
  accepted(`version: 1\ndefaults: { query_timeout_ms: ${QUERY_TIMEOUT_MAX_MS} }`)
  const fault = only(`version: 1\ndefaults: { query_timeout_ms: ${QUERY_TIMEOUT_MAX_MS + 1} }`)
  assert.equal(fault.expected, `a whole number from 1 to ${QUERY_TIMEOUT_MAX_MS}`)
})

const filterIn = (filter: string) => `version: 1\ntables: { a.b: { row_filter: [${filter}] } }`

test('an operator outside the grammar is refused with the nearest one', () => {
  const fault = only(filterIn('{ column: x, op: like, value: a }'))
  assert.deepEqual([fault.path, fault.suggestion], ['tables.a.b.row_filter[0].op', 'ilike'])
  assert.match(fault.expected, /^one of eq, neq, in/)
})

test('each operator takes exactly the operand it needs', () => {
  const wrong = [
    '{ column: x, op: eq }',
    '{ column: x, op: eq, values: [1] }',
    '{ column: x, op: eq, value: [1] }',
    '{ column: x, op: eq, value: null }',
    '{ column: x, op: in, value: 1 }',
    '{ column: x, op: in, values: 1 }',
    '{ column: x, op: in, values: [] }',
    '{ column: x, op: in, values: [{ claim: a }] }',
    '{ column: x, op: is_null, value: 1 }',
    '{ column: x, op: not_null, values: [1] }',
    '{ column: x, op: eq, value: { clam: a } }',
    '{ column: x, op: eq, value: { claim: a, other: b } }',
    '{ op: eq, value: 1 }',
    '{ column: x, value: 1 }',
    'x',
  ]
  for (const filter of wrong) assert.match(refused(filterIn(filter))[0]?.path ?? '', /^tables\.a\.b\.row_filter\[0\]/)
})

test('a claim is never a pattern', () => {
  const fault = refused(filterIn('{ column: x, op: ilike, value: { claim: a } }'))[0]
  assert.match(fault?.path ?? '', /^tables\.a\.b\.row_filter\[0\]/)
  accepted(filterIn("{ column: x, op: ilike, value: 'A%' }"))
})

test('a relation names its columns and the table it references', () => {
  const of = (relation: string) => `version: 1\ntables: { a.b: { relations: { region: ${relation} } } }`
  const given = accepted(of('{ columns: [region_id], references: a.regions, referenced_columns: [id] }'))
  assert.deepEqual(JSON.parse(JSON.stringify(given.tables['a.b']?.relations)), {
    region: { columns: ['region_id'], references: 'a.regions', referenced_columns: ['id'] },
  })
  assert.equal(only(of('{ columns: [region_id] }')).path, 'tables.a.b.relations.region.references')
  assert.equal(only(of('{ columns: [x], references: a.r, column: y }')).suggestion, 'columns')
})

test('an empty filter list is refused, since it would read as a restriction and be none', () => {
  assert.equal(only('version: 1\ntables: { a.b: { row_filter: [] } }').path, 'tables.a.b.row_filter')
  const role = 'version: 1\ntables: { a.b: }\nroles: { r: { row_filter: { a.b: [] } } }'
  assert.equal(only(role).path, 'roles.r.row_filter.a.b')
})

test('half a variable in a literal is refused, since nothing would fill it in', () => {
  const fault = only(filterIn('{ column: x, op: eq, value: "${' + 'vars.region" }'))
  assert.match(fault.expected, /\$\{vars\. begins a variable/)
})

test('numbers that a double would round, or that are not decimal, must be quoted', () => {
  for (const number of ['0x10', '0o7', '007', '.nan', '.inf', '12345678901234567890', '0.1234567890123456789', '-0']) {
    const fault = only(filterIn(`{ column: x, op: eq, value: ${number} }`))
    assert.equal(fault.path, 'tables.a.b.row_filter[0].value')
    accepted(filterIn(`{ column: x, op: eq, value: "${number}" }`))
  }
  accepted(filterIn('{ column: x, op: in, values: [0, -5, 1.25, 1e3, 9007199254740991] }'))
})

test('mask and columns exclude each other', () => {
  const fault = only('version: 1\ntables:\n  a.b:\n    mask: [x]\n    columns: [y]')
  assert.deepEqual([fault.line, fault.path], [4, 'tables.a.b.mask'])
})

test('a table is named with its schema or, for a connector of one, alone', () => {
  accepted('version: 1\ntables: { customers: }\nroles: { r: { read: [customers] } }')
  for (const odd of ['customers.', '.customers', "''", "'*'"]) {
    assert.match(only(`version: 1\ntables: { ${odd}: }`).expected, /^schema\.table/, odd)
  }
  // A role names a table as it stands under tables.
  const fault = only('version: 1\ntables: { customers: }\nroles: { r: { read: [a.customers] } }')
  assert.equal(fault.path, 'roles.r.read[0]')
})

test('a role that names a table not under tables is refused with the nearest one, wherever it names it', () => {
  const tables = 'version: 1\ntables:\n  public.customers:\nroles:\n  r:\n'
  const cases: readonly (readonly [string, string])[] = [
    ['read: [public.custmers]', 'roles.r.read[0]'],
    ['aggregate: ["*", public.custmers]', 'roles.r.aggregate[1]'],
    ['deny: [public.custmers]', 'roles.r.deny[0]'],
    ['mask: { public.custmers: [x] }', 'roles.r.mask.public.custmers'],
    ['row_filter: { public.custmers: [{ column: x, op: is_null }] }', 'roles.r.row_filter.public.custmers'],
  ]
  for (const [rule, path] of cases) {
    const fault = only(`${tables}    ${rule}`)
    assert.deepEqual([fault.line, fault.path, fault.suggestion], [6, path, 'public.customers'])
  }
})

test('a role grants mutations of tables under tables, and calls of procedures under procedures', () => {
  const base =
    'version: 1\ntables: { public.customers: }\nprocedures: { public.revenue: { effect: read } }\nroles:\n  r:\n'
  const cases: readonly (readonly [string, string, string])[] = [
    ['create: [public.custmers]', 'roles.r.create[0]', 'public.customers'],
    ['update: ["*", public.custmers]', 'roles.r.update[1]', 'public.customers'],
    ['soft_delete: [public.custmers]', 'roles.r.soft_delete[0]', 'public.customers'],
    ['call: [public.revenu]', 'roles.r.call[0]', 'public.revenue'],
  ]
  for (const [rule, path, suggestion] of cases) {
    const fault = only(`${base}    ${rule}`)
    assert.deepEqual([fault.line, fault.path, fault.suggestion], [6, path, suggestion])
  }
  assert.equal(only(`${base}    call: [public.customers]`).path, 'roles.r.call[0]')
  assert.equal(only(`${base}    update: [public.revenue]`).path, 'roles.r.update[0]')
})

test('a key that stands twice is refused, in every mapping', () => {
  for (const text of [
    'version: 1\nversion: 1',
    'version: 1\ntables: { a.b: {}, a.b: {} }',
    '{"version":1,"version":1}',
  ]) {
    assert.equal(only(text).problem, 'this key stands here twice')
  }
})

test('names that JavaScript gives a meaning to are names like any other', () => {
  const document = accepted(`
version: 1
tables: { __proto__.constructor: { mask: [__proto__] }, a.toString: }
roles: { __proto__: { read: [a.toString], mask: { __proto__.constructor: [constructor] } }, constructor: { read: ['*'] } }
identities: { __proto__: { read_only: true } }
`)
  assert.deepEqual(Object.keys(document.tables), ['__proto__.constructor', 'a.toString'])
  assert.deepEqual(Object.keys(document.roles), ['__proto__', 'constructor'])
  assert.deepEqual(Object.keys(document.identities), ['__proto__'])
  const json = JSON.stringify(document)
  const back = policyFromJson(json)
  assert.ok(back.ok)
  assert.equal(JSON.stringify(back.value), json)
  assert.equal(only('version: 1\n__proto__: { tables: 1 }').problem, 'unknown key')
})

test('a key written as a number is the text that was written', () => {
  assert.deepEqual(Object.keys(accepted('version: 1\nidentities: { 0042: { read_only: true } }').identities), ['0042'])
})

test('aliases may share a value, and a bomb of them ends early', () => {
  const shared = accepted('version: 1\ntables:\n  a.b: &t { mask: [x] }\n  a.c: *t')
  assert.deepEqual(JSON.parse(JSON.stringify(shared.tables)), { 'a.b': { mask: ['x'] }, 'a.c': { mask: ['x'] } })
  let bomb = 'version: 1\nx0: &a0 [1,1,1,1,1,1,1,1,1,1]\n'
  for (let i = 1; i < 30; i++)
    bomb += `x${i}: &a${i} [${Array(10)
      .fill(`*a${i - 1}`)
      .join(',')}]\n`
  assert.match(refused(bomb)[0]?.expected ?? '', new RegExp(`${POLICY_ALIASES_MAX} aliases`))
  assert.match(refused('version: 1\nx: &a [*a]')[0]?.problem ?? '', /without an anchor/)
})

test('text that is not one YAML document without tags is refused with its line', () => {
  for (const text of [
    'version: 1\ntables: [',
    'version: 1\ntables: !custom {}',
    'version: 1\n---\nversion: 1',
    '\t- x',
  ]) {
    const [fault] = refused(text)
    assert.ok(fault !== undefined && fault.line >= 1)
    assert.match(fault.expected, /one YAML 1\.2 or JSON document/)
  }
  assert.equal(refused(`version: 1\nx: ${'['.repeat(40)}1${']'.repeat(40)}`)[0]?.problem, 'nested too deeply')
  assert.ok(refused(`version: 1\nx: ${'['.repeat(50_000)}`).length <= 10)
  // Here the parser itself gives up, in words of its own.
  assert.equal(refused(`version: 1\nx: ${'['.repeat(5_000)}${']'.repeat(5_000)}`)[0]?.problem, 'nested too deeply')
  assert.equal(only('version: 1\n---\nversion: 1').problem, 'a second document')
  const star = only('version: 1\ntables: { a.b: {} }\nroles: { r: { read: * } }')
  assert.equal(star.line, 3)
  assert.match(star.expected, /quotes around it: '\*'/)
  assert.equal(only(' '.repeat(POLICY_TEXT_CHARS_MAX + 1)).problem, 'too long')
})

test('a tag that YAML knows is refused like any other, wherever it stands', () => {
  for (const [text, path] of [
    ["version: !!int '1'", 'version'],
    ['version: 1\ntables: !!map {}', 'tables'],
    ['version: 1\ntables: { a.b: { mask: !!seq [c] } }', 'tables.a.b.mask'],
  ]) {
    const [fault] = refused(text ?? '')
    assert.equal(fault?.path, path)
    assert.match(fault?.problem ?? '', /^the tag !!(?:int|map|seq)$/)
  }
})

test('YAML 1.1 words are not read as booleans, whatever the document declares', () => {
  assert.equal(only('%YAML 1.1\n---\nversion: 1\nidentities: { i: { read_only: yes } }').path, 'identities.i.read_only')
})

test('stored text that is no policy is refused, not thrown', () => {
  for (const text of ['', '{', '[]', 'null', '{"version":2}', '{"version":1,"extra":1}']) {
    assert.equal(policyFromJson(text).ok, false, text)
  }
})

test('a fault reads as one line with place, problem, expectation and suggestion', () => {
  const fault = only('version: 1\ntables:\n  a.b:\n    maks: [x]')
  assert.match(
    policyFaultText(fault),
    /^line 4, tables\.a\.b\.maks: unknown key; expected one of tool_name, mask, .*; did you mean "mask"\?$/,
  )
})
