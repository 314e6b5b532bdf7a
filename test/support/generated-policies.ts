import fc from 'fast-check'
import type { Identity } from '../../src/core/identity.js'
import type {
  ModelCaller,
  ModelCatalogTable,
  ModelFilter,
  ModelPolicy,
  ModelRole,
  ModelSection,
  ModelTable,
} from './policy-model.js'
import { refOf, routineOf, schemaOf, tableOf, withRoutines } from './policy-schema.js'

/** Policies over two small tables and a procedure, so that generated rules meet each other; callers and calls for them. */

export const GENERATED_CATALOG: Readonly<Record<'s.a' | 's.b', ModelCatalogTable>> = {
  's.a': { columns: { id: 'integer', kind: 'text', owner: 'integer', note: 'text' }, key: ['id'], required: ['owner'] },
  's.b': {
    columns: { x: 'integer', y: 'integer', z: 'text' },
    key: ['x', 'y'],
    references: [{ columns: ['x'], table: 's.a', referencedColumns: ['id'] }],
  },
}
export const GENERATED_TABLES = ['s.a', 's.b'] as const
export type GeneratedTable = (typeof GENERATED_TABLES)[number]

export const GENERATED_SCHEMA = withRoutines(
  schemaOf(
    ...GENERATED_TABLES.map((name, index) => {
      const { columns, key, required = [], references = [] } = GENERATED_CATALOG[name]
      const foreignKeys = references.map((reference) => ({
        columns: reference.columns,
        references: ['s', reference.table.slice(2)] as const,
        referencedColumns: reference.referencedColumns,
      }))
      const table = tableOf('s', name.slice(2), { columns, key, notNull: required, foreignKeys })
      return { ...table, catalogId: String(16_384 + index) }
    }),
  ),
  routineOf('s', 'report', { parameters: [['since', 'integer']], fields: { n: 'integer', total: 'integer' } }),
)

export const refTo = (table: GeneratedTable) => refOf('s', table.slice(2))

export const GENERATED_ROLES = ['r1', 'r2', 'r3'] as const
const TEXTS = ['p', 'q', 'r'] as const
const NUMBERS = [0, 1, 2, 3] as const

const columnsOf = (table: GeneratedTable) => Object.keys(GENERATED_CATALOG[table].columns)
const someColumns = (table: GeneratedTable) => fc.subarray(columnsOf(table), { minLength: 1 })
const literalFor = (type: 'integer' | 'text'): fc.Arbitrary<string | number> =>
  type === 'text' ? fc.constantFrom(...TEXTS) : fc.constantFrom(...NUMBERS)

/** Leaves some keys out, never present without a value. */
function partly<T extends object>(record: fc.Arbitrary<Required<T>>): fc.Arbitrary<Partial<T>> {
  return fc.tuple(record, fc.infiniteStream(fc.boolean())).map(([whole, keep]) => {
    const kept = Object.entries(whole).filter(() => keep.next().value === true)
    // The members kept are those of T, each with its own type.
    return Object.fromEntries(kept) as Partial<T>
  })
}

function filterOn(table: GeneratedTable): fc.Arbitrary<ModelFilter> {
  return fc.constantFrom(...Object.entries(GENERATED_CATALOG[table].columns)).chain(([column, type]) => {
    const literal = literalFor(type)
    const claim = fc.constantFrom('c1', 'c2').map((name) => ({ claim: name }))
    const compared = fc.record({
      column: fc.constant(column),
      op: fc.constantFrom('eq', 'neq', 'gt'),
      value: fc.oneof(literal, claim),
    })
    const listed = fc.record({
      column: fc.constant(column),
      op: fc.constant('in'),
      values: fc.oneof(fc.array(literal, { minLength: 1, maxLength: 3 }), claim),
    })
    const nulls = fc.record({ column: fc.constant(column), op: fc.constantFrom('is_null', 'not_null') })
    return fc.oneof({ weight: 3, arbitrary: compared }, listed, nulls)
  })
}

function filtersOn(table: GeneratedTable): fc.Arbitrary<readonly ModelFilter[]> {
  const [reference] = GENERATED_CATALOG[table].references ?? []
  const own = filterOn(table)
  const any =
    reference === undefined
      ? own
      : fc.oneof({ weight: 2, arbitrary: own }, fc.constant<ModelFilter>({ parent: reference.columns }))
  return fc.array(any, { minLength: 1, maxLength: 2 })
}
const cap = fc.integer({ min: 1, max: 500 })

function sectionOn(table: GeneratedTable): fc.Arbitrary<ModelSection> {
  const [number, text] = table === 's.a' ? ['owner', 'note'] : ['y', 'z']
  const ofNumber = fc.option(fc.oneof(literalFor('integer'), fc.constant({ claim: 'c1' })), { nil: undefined })
  const ofText = fc.option(fc.oneof(literalFor('text'), fc.constant({ claim: 'c2' })), { nil: undefined })
  const preset = fc
    .tuple(ofNumber, ofText)
    .map(([a, b]) =>
      Object.fromEntries([
        ...(a === undefined ? [] : [[number, a] as const]),
        ...(b === undefined ? [] : [[text, b] as const]),
      ]),
    )
  return fc.record({ columns: someColumns(table), preset })
}

function tablePolicy(table: GeneratedTable): fc.Arbitrary<ModelTable> {
  const hidden = fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    someColumns(table).map((mask) => ({ mask })),
    someColumns(table).map((columns) => ({ columns })),
  )
  const aggregate: fc.Arbitrary<NonNullable<ModelTable['aggregate']>> = fc.oneof(
    fc.boolean(),
    someColumns(table).map((columns) => ({ columns })),
  )
  const rest = fc.record(
    {
      aggregate,
      row_filter: filtersOn(table),
      row_cap: cap,
      create: sectionOn(table),
      update: sectionOn(table),
      soft_delete: fc.constant(table === 's.a' ? { column: 'note', value: 'r' } : { column: 'z', value: 'r' }),
    },
    { requiredKeys: [] },
  )
  return fc.tuple(hidden, rest).map(([some, others]) => ({ ...some, ...others }))
}

const grant = fc.subarray(['*', ...GENERATED_TABLES], { minLength: 1, maxLength: 2 })
const EVERY = ['*']
const GENEROUS = { read: EVERY, create: EVERY, update: EVERY, soft_delete: EVERY, call: EVERY }
const role: fc.Arbitrary<ModelRole & { readonly call?: readonly string[] }> = fc
  .tuple(
    partly(
      fc.record({
        read: grant,
        aggregate: grant,
        create: grant,
        update: grant,
        soft_delete: grant,
        row_cap: cap,
        call: fc.constantFrom(['*'], ['s.report']),
      }),
    ),
    // Without these most callers could do nothing, and all their calls would end alike.
    fc.boolean().map((generous) => (generous ? GENEROUS : {})),
    fc.boolean().chain((denies) => (denies ? fc.option(grant, { freq: 4, nil: undefined }) : fc.constant(undefined))),
    partly(fc.record({ 's.a': someColumns('s.a'), 's.b': someColumns('s.b') })),
    partly(fc.record({ 's.a': filtersOn('s.a'), 's.b': filtersOn('s.b') })),
  )
  .map(([grants, generous, deny, mask, row_filter]) => ({
    ...generous,
    ...grants,
    ...(deny === undefined || deny.includes('*') ? {} : { deny }),
    mask,
    row_filter,
  }))

/** The model's policy, and what else the document says. */
export type GeneratedPolicy = ModelPolicy & {
  readonly procedures: Readonly<
    Record<string, { readonly effect: 'read' | 'write'; readonly result_columns?: string[] }>
  >
}

export const generatedPolicy: fc.Arbitrary<GeneratedPolicy> = fc.record({
  version: fc.constant(1 as const),
  defaults: partly(fc.record({ row_cap: cap })),
  tables: fc.record({ 's.a': tablePolicy('s.a'), 's.b': tablePolicy('s.b') }),
  procedures: fc.record({
    's.report': fc.constantFrom({ effect: 'read' as const }, { effect: 'write' as const, result_columns: ['n'] }),
  }),
  roles: fc.record({ r1: role, r2: role, r3: role }),
  identities: partly(fc.record({ ann: partly(fc.record({ row_cap: cap, read_only: fc.boolean() })) })),
})

type Claim = ModelCaller['claims'][string]
const claimValue: fc.Arbitrary<Claim> = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...TEXTS),
  fc.array(fc.constantFrom(...NUMBERS), { maxLength: 3 }),
)
export const generatedCaller: fc.Arbitrary<ModelCaller> = fc.record({
  name: fc.constantFrom('ann', 'bob'),
  roles: fc.oneof(fc.subarray([...GENERATED_ROLES, 'unknown']), {
    weight: 3,
    arbitrary: fc.subarray([...GENERATED_ROLES], { minLength: 1 }),
  }),
  claims: partly<{ c1: Claim; c2: Claim }>(fc.record({ c1: claimValue, c2: claimValue })),
})

export function identityOf({ name, roles, claims }: ModelCaller): Identity {
  return { id: name, name, roles, claims: new Map(Object.entries(claims)) }
}

export interface GeneratedCall {
  readonly tool: string
  readonly args: unknown
}

function callOn(table: GeneratedTable): fc.Arbitrary<GeneratedCall> {
  const t = table.slice(2)
  const column = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...columnsOf(table)) }, fc.constant('nothing'))
  const filters = fc.array(fc.record({ column, op: fc.constantFrom('eq', 'is_null'), value: fc.constant('1') }), {
    maxLength: 1,
  })
  const fitting = filters.map((list) =>
    list.map(({ value, ...rest }) => (rest.op === 'eq' ? { ...rest, value } : rest)),
  )
  const key = table === 's.a' ? { id: 1 } : { x: 1, y: 2 }
  const values = fc
    .subarray(columnsOf(table), { minLength: 1 })
    .map((names) =>
      Object.fromEntries(names.map((name) => [name, GENERATED_CATALOG[table].columns[name] === 'text' ? 'p' : 1])),
    )
  const reads = fc.record({ columns: fc.array(column, { minLength: 1, maxLength: 2 }), filters: fitting })
  return fc.oneof(
    reads.map(({ columns }) => ({ tool: `get_${t}_by_pk`, args: { ...key, columns: [...new Set(columns)] } })),
    fc.constant({ tool: `get_${t}_by_pk`, args: key }),
    reads.map(({ filters: list }) => ({ tool: `search_${t}`, args: { filters: list, limit: 2 } })),
    column.map((name) => ({ tool: `aggregate_${t}`, args: { metrics: [{ fn: 'count' }], group_by: [name] } })),
    fc.constant({ tool: `aggregate_${t}`, args: { metrics: [{ fn: 'count' }] } }),
    values.map((given) => ({ tool: `create_${t}`, args: { values: given } })),
    fc.tuple(values, fc.option(column)).map(([given, expected]) => ({
      tool: `update_${t}_by_pk`,
      args: { ...key, values: given, ...(expected === null ? {} : { expected: { [expected]: 1 } }) },
    })),
    fc.constant({ tool: `soft_delete_${t}_by_pk`, args: key }),
  )
}

export const generatedCall: fc.Arbitrary<GeneratedCall> = fc.oneof(
  { weight: 5, arbitrary: callOn('s.a') },
  { weight: 5, arbitrary: callOn('s.b') },
  fc.constantFrom<GeneratedCall>(
    { tool: 'report', args: { since: 1 } },
    { tool: 'report', args: {} },
    { tool: 'schema_overview', args: {} },
    { tool: 'schema_overview', args: { table: 'a' } },
    { tool: 'search_payroll', args: {} },
  ),
)
