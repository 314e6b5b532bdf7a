import assert from 'node:assert/strict'
import test from 'node:test'
import { WRITE_OPERATIONS, type WriteAccess, type WriteOperation } from '../../src/core/access.js'
import type { TableRef } from '../../src/core/schema-model.js'
import type { PolicyEngine } from '../../src/policy/policy-engine.js'
import { caller, compiled, engineOf, refOf, schemaOf, tableOf } from '../support/policy-schema.js'

const TASKS = refOf('public', 'tasks')
const NOTES = refOf('public', 'notes')

const SCHEMA = schemaOf(
  tableOf('public', 'tasks', {
    columns: {
      id: 'bigint',
      title: 'text',
      tenant_id: 'integer',
      status: 'status',
      secret: 'text',
      extra: 'json',
      created_at: 'timestamp',
      title_length: 'integer',
    },
    key: ['id'],
    notNull: ['id', 'title', 'tenant_id'],
    generated: { id: 'by_default', title_length: 'computed' },
  }),
  tableOf('public', 'notes', { columns: { id: 'integer', body: 'text' }, key: ['id'], notNull: ['id'] }),
  tableOf('public', 'log', { columns: { line: 'text' } }),
)

const CREATE = 'create: { columns: [title, status], preset: { tenant_id: { claim: tenant } } }'
const UPDATE = 'update: { columns: [title, status] }'

function engine(table: string, roles: string, more = ''): PolicyEngine {
  return engineOf(
    `version: 1\ntables: { public.tasks: { ${table} }, public.notes: }\nroles: { ${roles} }\n${more}`,
    SCHEMA,
  )
}

function operations(policy: PolicyEngine, roles: readonly string[], ref: TableRef = TASKS): readonly WriteOperation[] {
  return WRITE_OPERATIONS.filter((operation) => policy.identityAllowed(caller(roles), ref, operation))
}

function access(policy: PolicyEngine, roles: readonly string[], operation: WriteOperation): WriteAccess {
  const found = policy.rights(caller(roles)).byToolBase.get('tasks')?.writes[operation]
  assert.ok(found !== undefined, `${roles} may not ${operation}`)
  return found
}

const names = (columns: ReadonlyMap<string, unknown>) => [...columns.keys()]

test('a mutation exists only where the table has it and a role grants it', () => {
  const policy = engine(
    `${CREATE}, ${UPDATE}`,
    "reader: { read: ['*'] }, maker: { create: ['*'] }, both: { create: ['*'], update: ['*'] }",
  )
  assert.deepEqual(operations(policy, ['reader']), [])
  assert.deepEqual(operations(policy, ['maker']), ['create'])
  assert.deepEqual(operations(policy, ['both', 'reader']), ['create', 'update'])
  assert.deepEqual(operations(policy, ['both'], NOTES), [])
  assert.deepEqual([...policy.rights(caller(['both'])).byToolBase.keys()], ['tasks'])
  const silent = engine('', "all: { read: ['*'], create: ['*'], update: ['*'], soft_delete: ['*'] }")
  assert.deepEqual(operations(silent, ['all']), [])
})

test('a table that a caller may only change exists for it, with nothing to read', () => {
  const policy = engine(CREATE, "maker: { create: ['*'] }")
  const table = policy.rights(caller(['maker'])).byToolBase.get('tasks')
  assert.deepEqual([...(table?.operations ?? [])], ['create'])
  assert.deepEqual([table?.columns.get.size, table?.columns.search.size, table?.columns.aggregate.size], [0, 0, 0])
  assert.deepEqual(table?.key, [])
  assert.deepEqual(table?.relations, [])
  assert.equal(policy.identityAllowed(caller(['maker']), TASKS, 'get'), false)
})

test('a deny of the table takes mutations too, whatever other roles grant', () => {
  const policy = engine(UPDATE, "writer: { update: ['*'] }, no: { deny: [public.tasks] }")
  assert.deepEqual(operations(policy, ['writer']), ['update'])
  assert.deepEqual(operations(policy, ['writer', 'no']), [])
})

test('a read-only identity has no mutation at all', () => {
  const policy = engine(
    `${CREATE}, ${UPDATE}`,
    "all: { read: ['*'], create: ['*'], update: ['*'] }",
    'identities: { robot: { read_only: true } }',
  )
  const robot = caller(['all'], { tenant: 1 }, 'robot')
  assert.equal(policy.identityCanMutate(caller(['all']), TASKS), true)
  assert.equal(policy.identityCanMutate(robot, TASKS), false)
  const table = policy.rights(robot).byToolBase.get('tasks')
  assert.deepEqual([...(table?.operations ?? [])], ['get', 'search', 'aggregate'])
  assert.deepEqual(table?.writes, {})
})

test('identityCanMutate tells whether any mutation of that table is the identity’s', () => {
  const policy = engine(UPDATE, "writer: { update: ['*'] }, reader: { read: ['*'] }")
  assert.equal(policy.identityCanMutate(caller(['writer']), TASKS), true)
  assert.equal(policy.identityCanMutate(caller(['writer']), NOTES), false)
  assert.equal(policy.identityCanMutate(caller(['reader']), TASKS), false)
  assert.equal(policy.identityCanMutate(caller(['writer']), refOf('public', 'nowhere')), false)
})

test('a caller sets listed columns that no table mask hides, no preset takes, and the database does not generate', () => {
  const policy = engineOf(
    `version: 1
tables:
  public.tasks:
    mask: [secret]
    create: { columns: [id, title, tenant_id, secret, extra], preset: { tenant_id: 7 } }
    update: { columns: [id, title] }
roles: { a: { create: ['*'], update: ['*'] } }`,
    SCHEMA,
  )
  assert.deepEqual(names(access(policy, ['a'], 'create').columns), ['id', 'title', 'extra'])
  assert.deepEqual(names(access(policy, ['a'], 'update').columns), ['id', 'title'], 'a key column, since it is listed')
  const allowed = engine('columns: [id, title], update: { columns: [title, status] }', "a: { update: ['*'] }")
  assert.deepEqual(names(access(allowed, ['a'], 'update').columns), ['title'])
})

test('a column whose values have types of their own is never writable, nor preset', () => {
  const plain = tableOf('public', 'v', { columns: { id: 'integer', any: 'text' }, key: ['id'], notNull: ['id'] })
  const columns = plain.columns.map((column) =>
    column.name === 'any' ? { ...column, type: { ...column.type, readOnly: true as const } } : column,
  )
  const schema = schemaOf({ ...plain, columns })
  const judged = (create: string) =>
    compiled(
      `version: 1\ntables: { public.v: { create: ${create} } }\nroles: { a: { create: ['*'] } }`,
      schema,
    ).findings.map(({ kind }) => kind)
  assert.ok(judged('{ columns: [id, any] }').includes('column_not_writable'))
  assert.ok(judged("{ columns: [id], preset: { any: 'x' } }").includes('preset_unusable'))
})

test('a column that the database generates is never writable, and a policy that lists it is refused', () => {
  const { engine: policy, findings } = compiled(
    "version: 1\ntables: { public.tasks: { update: { columns: [title, title_length] } } }\nroles: { a: { update: ['*'] } }",
    SCHEMA,
  )
  assert.deepEqual(
    findings.map(({ kind, severity, column }) => [kind, severity, column]),
    [['column_not_writable', 'error', 'title_length']],
  )
  assert.deepEqual(names(access(policy, ['a'], 'update').columns), ['title'])
})

test('columns of a mutation are settled by the roles that grant that very mutation', () => {
  const own = 'row_filter: { public.tasks: [{ column: tenant_id, op: eq, value: 1 }] }'
  const policy = engine(
    UPDATE,
    `reader: { read: ['*'] }, masked: { update: ['*'], mask: { public.tasks: [status] } }, open: { update: ['*'] }, open_own: { update: ['*'], ${own} }, masked_own: { update: ['*'], mask: { public.tasks: [status] }, ${own} }`,
  )
  const settable = (...roles: string[]) => names(access(policy, roles, 'update').columns)
  assert.deepEqual(settable('masked'), ['title'])
  assert.deepEqual(settable('masked', 'reader'), ['title'], 'a role that only reads opens nothing to writing')
  assert.deepEqual(settable('masked', 'open'), ['title', 'status'])
  assert.deepEqual(settable('masked', 'open_own'), ['title'], 'shown for some rows only')
  assert.deepEqual(settable('masked_own', 'open'), ['title', 'status'])
  assert.deepEqual(settable('open_own'), ['title', 'status'])
})

test('a mutation of which nothing may be set does not exist', () => {
  const mask = 'mask: { public.tasks: [title, status] }'
  const policy = engine(UPDATE, `a: { update: ['*'], ${mask} }, b: { update: ['*'] }`)
  assert.deepEqual(operations(policy, ['a']), [])
  assert.deepEqual(operations(policy, ['b']), ['update'])
})

test('required are the columns that neither the catalog nor a preset fills', () => {
  const roles = "a: { create: ['*'] }"
  assert.deepEqual([...access(engine(CREATE, roles), ['a'], 'create').required], ['title'])
  const unset = engine('create: { columns: [title, tenant_id, status] }', roles)
  assert.deepEqual([...access(unset, ['a'], 'create').required], ['title', 'tenant_id'])
  const preset = engine('create: { columns: [status], preset: { title: new, tenant_id: 1 } }', roles)
  assert.deepEqual([...access(preset, ['a'], 'create').required], [])
  assert.deepEqual([...access(engine(UPDATE, "a: { update: ['*'] }"), ['a'], 'update').required], [])
})

test('create does not exist where a column that must have a value can come from nowhere', () => {
  const cases = [
    'create: { columns: [title] }',
    `mask: [title], ${CREATE}`,
    'columns: [id, status], create: { columns: [status] }',
  ]
  for (const table of cases) {
    const result = compiled(
      `version: 1\ntables: { public.tasks: { ${table} } }\nroles: { a: { read: ['*'], create: ['*'] } }`,
      SCHEMA,
    )
    assert.deepEqual(
      result.findings.map(({ kind, severity }) => [kind, severity]),
      [['create_incomplete', 'warning']],
      table,
    )
    assert.deepEqual(operations(result.engine, ['a']), [])
    assert.equal(result.engine.identityAllowed(caller(['a']), TASKS, 'search'), true)
  }
})

test('a role’s mask on a column that must be given takes create from it, and its author is told', () => {
  const { engine: policy, findings } = compiled(
    `version: 1\ntables: { public.tasks: { ${CREATE} } }\nroles: { a: { create: ['*'], mask: { public.tasks: [title] } }, b: { create: ['*'] } }`,
    SCHEMA,
  )
  assert.deepEqual(
    findings.map(({ kind, severity, column }) => [kind, severity, column]),
    [['create_incomplete', 'warning', 'title']],
  )
  assert.deepEqual(operations(policy, ['a']), [])
  assert.deepEqual(operations(policy, ['a', 'b']), ['create'])
})

test('update and soft_delete need every column of the key usable in that operation', () => {
  const table = `${UPDATE}, soft_delete: { column: created_at, value: now }`
  const policy = engine(
    table,
    "plain: { update: ['*'], soft_delete: ['*'] }, keyless: { update: ['*'], soft_delete: ['*'], mask: { public.tasks: [id] } }, reader: { read: ['*'] }",
  )
  assert.deepEqual(operations(policy, ['plain']), ['update', 'soft_delete'])
  assert.deepEqual(
    access(policy, ['plain'], 'update').key.map(({ name }) => name),
    ['id'],
  )
  assert.deepEqual(
    access(policy, ['plain'], 'soft_delete').key.map(({ name }) => name),
    ['id'],
  )
  assert.deepEqual(operations(policy, ['keyless', 'reader']), [])
})

test('a table without a key, or with one that everybody is denied, has create alone, and its author is told', () => {
  const cases = [
    ['public.log', 'create: { columns: [line] }, update: { columns: [line] }'],
    ['public.notes', 'mask: [id], create: { columns: [body], preset: { id: 1 } }, update: { columns: [body] }'],
  ] as const
  for (const [name, table] of cases) {
    const result = compiled(
      `version: 1\ntables: { ${name}: { ${table} } }\nroles: { a: { create: ['*'], update: ['*'] } }`,
      SCHEMA,
    )
    assert.deepEqual(
      result.findings.map(({ kind, severity }) => [kind, severity]),
      [['write_without_key', 'warning']],
    )
    assert.deepEqual(operations(result.engine, ['a'], refOf('public', name.slice(7))), ['create'])
  }
})

test('views, materialized views and foreign tables are read-only, and a policy that says otherwise is refused', () => {
  for (const kind of ['view', 'materialized_view', 'foreign_table', 'partitioned_table'] as const) {
    const schema = schemaOf(
      tableOf('public', 'v', {
        kind,
        columns: { id: 'integer', gone: 'boolean' },
        notNull: ['gone'],
        defaults: ['gone'],
      }),
    )
    const result = compiled(
      `version: 1
tables: { public.v: { key: [id], create: { columns: [id] }, update: { columns: [id] }, soft_delete: { column: gone, value: true } } }
roles: { a: { read: ['*'], create: ['*'], update: ['*'], soft_delete: ['*'] } }`,
      schema,
    )
    const writable = kind === 'partitioned_table'
    assert.deepEqual(
      result.findings.map((finding) => finding.kind),
      writable ? [] : ['table_not_writable'],
    )
    assert.equal(result.findings[0]?.severity, writable ? undefined : 'error')
    assert.deepEqual(operations(result.engine, ['a'], refOf('public', 'v')), writable ? [...WRITE_OPERATIONS] : [])
    const scope = result.engine.scope(caller(['a']), refOf('public', 'v'), 'search')
    assert.deepEqual(
      scope,
      { ok: true, value: { all: [{ column: 'gone', op: 'eq', value: 'false' }] } },
      'deleted rows stay hidden',
    )
  }
})

test('a role that is given a mutation the table does not have is a warning', () => {
  const { findings } = compiled(
    `version: 1\ntables: { public.tasks: { ${UPDATE} } }\nroles: { a: { create: [public.tasks], update: [public.tasks] } }`,
    SCHEMA,
  )
  assert.deepEqual(
    findings.map(({ kind, severity }) => [kind, severity]),
    [['grant_without_section', 'warning']],
  )
})

test('expected takes what get shows and can be compared; a mutation returns the key and what get shows', () => {
  const policy = engine(
    `mask: [secret], ${UPDATE}, ${CREATE}`,
    "writer: { update: ['*'], create: ['*'] }, all: { read: ['*'], update: ['*'], create: ['*'] }, reader: { read: ['*'], mask: { public.tasks: [status] } }, counter: { aggregate: ['*'] }",
  )
  const update = access(policy, ['all'], 'update')
  assert.deepEqual(names(update.expectable), ['id', 'title', 'tenant_id', 'status', 'created_at', 'title_length'])
  assert.deepEqual(
    update.returning.map(({ name }) => name),
    ['id', 'title', 'tenant_id', 'status', 'extra', 'created_at', 'title_length'],
  )
  assert.deepEqual(names(access(policy, ['all'], 'create').expectable), [])
  for (const roles of [['writer'], ['writer', 'counter']]) {
    assert.deepEqual(names(access(policy, roles, 'update').expectable), [], 'what only aggregates show is not read')
    assert.deepEqual(
      access(policy, roles, 'update').returning.map(({ name }) => name),
      ['id'],
    )
    assert.deepEqual(
      access(policy, roles, 'create').returning.map(({ name }) => name),
      ['id'],
    )
  }
  assert.equal(access(policy, ['writer', 'reader'], 'update').expectable.has('status'), false)
  assert.equal(access(policy, ['writer', 'reader'], 'update').expectable.has('title'), true)
})

test('a hidden key is not what a create returns', () => {
  const policy = engine(CREATE, "maker: { create: ['*'], mask: { public.tasks: [id] } }")
  assert.deepEqual(access(policy, ['maker'], 'create').returning, [])
})

test('a row that may be changed but not be read shows nothing of itself: neither expected nor result', () => {
  const own = 'row_filter: { public.tasks: [{ column: tenant_id, op: eq, value: 1 }] }'
  const policy = engine(
    UPDATE,
    `own: { read: ['*'], ${own} }, both: { read: ['*'], update: ['*'], ${own} }, any: { update: ['*'] }, reader: { read: ['*'] }, any_own: { update: ['*'], ${own} }`,
  )
  const sees = (...roles: string[]) => {
    const { expectable, returning } = access(policy, roles, 'update')
    return expectable.size > 0 && returning.length > 1
  }
  assert.equal(sees('any', 'own'), false)
  assert.equal(sees('any_own', 'own'), false, 'filters of different roles are not compared')
  assert.equal(sees('any', 'both'), false)
  assert.equal(sees('both'), true)
  assert.equal(sees('both', 'own'), true)
  assert.equal(sees('any', 'reader'), true)
})

test('row scope of a mutation comes from the roles that grant it, and always from the table', () => {
  const filter = (value: number) => `row_filter: { public.tasks: [{ column: tenant_id, op: eq, value: ${value} }] }`
  const policy = engine(
    `${UPDATE}, ${CREATE}, row_filter: [{ column: status, op: eq, value: new }]`,
    `one: { read: ['*'], update: ['*'], ${filter(1)} }, two: { create: ['*'], update: ['*'], ${filter(2)} }, reader: { read: ['*'] }`,
  )
  const identity = caller(['one', 'two', 'reader'])
  const all = [{ column: 'status', op: 'eq', value: 'new' }]
  const of = (value: string) => [{ column: 'tenant_id', op: 'eq', value }]
  assert.deepEqual(policy.scope(identity, TASKS, 'search'), { ok: true, value: { all } })
  assert.deepEqual(policy.scope(identity, TASKS, 'update'), { ok: true, value: { all, any: [of('1'), of('2')] } })
  assert.deepEqual(policy.scope(identity, TASKS, 'create'), { ok: true, value: { all, any: [of('2')] } })
  assert.deepEqual(policy.scope(identity, TASKS, 'soft_delete'), { ok: false, error: { code: 'TOOL_UNKNOWN' } })
})

test('affected rows go by the roles that grant changes, reads by those that grant reads', () => {
  const policy = engine(
    `${UPDATE}, ${CREATE}, row_cap: 100`,
    "reader: { read: ['*'], max_affected_rows: 50, row_cap: 10 }, writer: { update: ['*'], max_affected_rows: 5 }, maker: { create: ['*'], row_cap: 900 }",
  )
  const limits = (...roles: string[]) => policy.limits(caller(roles), TASKS)
  assert.equal(limits('reader', 'writer').maxAffectedRows, 5)
  assert.equal(limits('reader', 'writer').rowCap, 10)
  assert.equal(limits('reader', 'maker').rowCap, 10)
  assert.equal(limits('maker').rowCap, 900)
  assert.equal(limits('maker').maxAffectedRows, 1)
})

test('a preset that the column cannot hold withholds the table, and now fits times alone', () => {
  const cases = [
    'tenant_id: x',
    'status: lost',
    'title: now',
    'tenant_id: now',
    'id: 1.5',
    'title_length: 1',
    'title_length: { claim: n }',
  ]
  for (const preset of cases) {
    const result = compiled(
      `version: 1\ntables: { public.tasks: { update: { columns: [secret], preset: { ${preset} } } } }\nroles: { a: { read: ['*'], update: ['*'] } }`,
      SCHEMA,
    )
    assert.deepEqual(
      result.findings.map(({ kind, severity }) => [kind, severity]),
      [['preset_unusable', 'error']],
      preset,
    )
    assert.deepEqual(result.engine.rights(caller(['a'])).tables, [])
  }
})

test('a preset column that is gone, or is another one, withholds the table; a listed column that is gone is void', () => {
  const gone = compiled(
    "version: 1\ntables: { public.tasks: { update: { columns: [title], preset: { tenat_id: 1 } } } }\nroles: { a: { read: ['*'] } }",
    SCHEMA,
  )
  assert.deepEqual(
    gone.findings.map(({ kind, withholds }) => [kind, withholds]),
    [['column_unknown', true]],
  )
  assert.match(gone.findings[0]?.text ?? '', /Did you mean "tenant_id"\?/)
  assert.deepEqual(gone.engine.rights(caller(['a'])).tables, [])
  const listed = compiled(
    "version: 1\ntables: { public.tasks: { update: { columns: [title, stats] } } }\nroles: { a: { read: ['*'], update: ['*'] } }",
    SCHEMA,
  )
  assert.deepEqual(
    listed.findings.map(({ kind, severity, withholds }) => [kind, severity, withholds]),
    [['column_unknown', 'error', false]],
  )
  assert.deepEqual(names(access(listed.engine, ['a'], 'update').columns), ['title'])
})

test('a comment may name what the caller can set, and is withheld where it names more', () => {
  const schema = schemaOf(
    tableOf('public', 'tasks', {
      columns: { id: 'integer', title: 'text', secret: 'text' },
      key: ['id'],
      comments: { title: 'Not the id', secret: 'Beside title' },
      comment: 'Has a secret',
    }),
  )
  const policy = engineOf(
    "version: 1\ntables: { public.tasks: { update: { columns: [title] } } }\nroles: { a: { update: ['*'] } }",
    schema,
  )
  assert.equal(access(policy, ['a'], 'update').columns.get('title')?.comment, 'Not the id')
  assert.equal(policy.rights(caller(['a'])).byToolBase.get('tasks')?.comment, undefined)
})

test('whether a name that a mutation refused was hidden is told to the audit entry alone', () => {
  const policy = engine(`mask: [secret], ${UPDATE}`, "a: { read: ['*'], update: ['*'] }")
  const reason = (name: string) => policy.hiddenReason(caller(['a']), TASKS, 'update', name)
  assert.equal(reason('secret'), 'column_masked')
  assert.equal(reason('tenant_id'), 'column_masked', 'it may be read, and not be set')
  assert.equal(reason('nope'), 'column_unknown')
  assert.equal(reason('title'), 'column_unknown')
})
