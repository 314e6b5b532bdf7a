import type { ClaimValue, Identity } from '../../src/core/identity.js'
import { agentColumnName } from '../../src/core/names.js'
import {
  type Column,
  catalogName,
  type ForeignKey,
  type Routine,
  type RoutineParameter,
  type RoutineResult,
  type SchemaModel,
  type Table,
  type TableKind,
  type TableRef,
  type ValueType,
} from '../../src/core/schema-model.js'
import { parsePolicy, policyFaultText } from '../../src/policy/policy-document.js'
import { compilePolicy, type PolicyEngine } from '../../src/policy/policy-engine.js'

/** Small catalogs for tests of the policy, written as data. */

const comparable = { equality: true, ordered: true } as const

export const TYPES = {
  integer: { logical: 'integer', native: 'integer', range: [-2147483648, 2147483647], ...comparable },
  bigint: { logical: 'bigint', native: 'bigint', ...comparable },
  decimal: { logical: 'decimal', native: 'numeric(10,2)', ...comparable },
  text: { logical: 'text', native: 'text', ...comparable },
  boolean: { logical: 'boolean', native: 'boolean', ...comparable },
  timestamp: { logical: 'timestamp', native: 'timestamptz', withZone: true, ...comparable },
  date: { logical: 'date', native: 'date', ...comparable },
  integers: {
    logical: 'array',
    native: 'integer[]',
    element: { logical: 'integer', native: 'integer', range: [-2147483648, 2147483647], ...comparable },
    ...comparable,
  },
  anyelement: { logical: 'unknown', native: 'anyelement', equality: false, ordered: false },
  uuid: { logical: 'uuid', native: 'uuid', ...comparable },
  json: { logical: 'json', native: 'json', equality: false, ordered: false },
  status: { logical: 'enum', native: 'status', labels: ['new', 'paid'], ...comparable },
} as const satisfies Record<string, ValueType>

export interface TableSketch {
  readonly columns: Readonly<Record<string, keyof typeof TYPES>>
  readonly kind?: TableKind
  readonly key?: readonly string[]
  /** Columns that are NOT NULL, those with a default, and those whose values the database generates. */
  readonly notNull?: readonly string[]
  readonly defaults?: readonly string[]
  readonly generated?: Readonly<Record<string, Exclude<Column['generated'], 'no'>>>
  readonly comment?: string
  readonly comments?: Readonly<Record<string, string>>
  readonly foreignKeys?: readonly {
    readonly columns: readonly string[]
    readonly references: readonly [schema: string, table: string]
    readonly referencedColumns: readonly string[]
  }[]
}

export function refOf(schema: string, name: string): TableRef {
  return { schema: catalogName(schema), name: catalogName(name) }
}

function columnOf(name: string, type: ValueType, position: number, sketch: TableSketch): Column {
  const comment = new Map(Object.entries(sketch.comments ?? {})).get(name)
  return {
    name: catalogName(name),
    agentName: agentColumnName(name),
    catalogId: position + 1,
    type,
    nullable: sketch.notNull?.includes(name) !== true,
    hasDefault: sketch.defaults?.includes(name) === true,
    generated: new Map(Object.entries(sketch.generated ?? {})).get(name) ?? 'no',
    ...(comment === undefined ? {} : { comment }),
  }
}

export function tableOf(schema: string, name: string, sketch: TableSketch): Table {
  const foreignKeys: readonly ForeignKey[] = (sketch.foreignKeys ?? []).map((key, index) => ({
    name: catalogName(`fk_${index}`),
    columns: key.columns.map(catalogName),
    references: refOf(...key.references),
    referencedColumns: key.referencedColumns.map(catalogName),
  }))
  return {
    ref: refOf(schema, name),
    catalogId: `${schema}/${name}`,
    kind: sketch.kind ?? 'table',
    ...(sketch.comment === undefined ? {} : { comment: sketch.comment }),
    columns: Object.entries(sketch.columns).map(([column, type], index) =>
      columnOf(column, TYPES[type], index, sketch),
    ),
    primaryKey: (sketch.key ?? []).map(catalogName),
    uniqueKeys: [],
    foreignKeys,
    indexes: [],
  }
}

export function schemaOf(...tables: readonly Table[]): SchemaModel {
  return {
    engine: 'postgres',
    serverVersion: '16.0',
    tables,
    routines: [],
    login: { superuser: false, owns: [], writes: [], ownsCount: 0, writesCount: 0 },
  }
}

export interface RoutineSketch {
  readonly kind?: Routine['kind']
  /** By name; an empty one stands for a parameter without. */
  readonly parameters?: readonly (readonly [name: string, type: keyof typeof TYPES, more?: Partial<RoutineParameter>])[]
  readonly result?: RoutineResult
  /** Columns of a set of records. */
  readonly fields?: Readonly<Record<string, keyof typeof TYPES>>
  readonly readOnly?: boolean
  readonly comment?: string
}

export function routineOf(schema: string, name: string, sketch: RoutineSketch = {}): Routine {
  const parameters = (sketch.parameters ?? []).map(
    ([parameter, type, more], index): RoutineParameter => ({
      ...(parameter === '' ? {} : { name: catalogName(parameter) }),
      agentName: parameter === '' ? `arg${index + 1}` : agentColumnName(parameter),
      mode: 'in',
      type: TYPES[type],
      hasDefault: false,
      ...more,
    }),
  )
  const fields = Object.entries(sketch.fields ?? {}).map(([field, type]) => ({
    name: catalogName(field),
    agentName: agentColumnName(field),
    type: TYPES[type],
  }))
  const signature = parameters.map((parameter) => `${parameter.name ?? ''} ${parameter.type.native}`.trim()).join(', ')
  return {
    ref: refOf(schema, name),
    catalogId: `${schema}/${name}(${signature})`,
    kind: sketch.kind ?? 'function',
    signature,
    ...(sketch.comment === undefined ? {} : { comment: sketch.comment }),
    declaredReadOnly: sketch.readOnly ?? true,
    securityDefiner: false,
    parameters,
    reads: [],
    result: sketch.result ?? (fields.length > 0 ? { kind: 'record', set: true, fields } : { kind: 'void' }),
  }
}

export function withRoutines(schema: SchemaModel, ...routines: readonly Routine[]): SchemaModel {
  return { ...schema, routines }
}

/** The shop that most tests use: customers, their orders, and a table that no policy here names. */
export const SHOP = schemaOf(
  tableOf('public', 'customers', {
    columns: { id: 'integer', name: 'text', email: 'text', ssn: 'text', tenant_id: 'integer', country: 'text' },
    key: ['id'],
  }),
  tableOf('public', 'orders', {
    columns: {
      id: 'bigint',
      customer_id: 'integer',
      total: 'decimal',
      status: 'status',
      paid: 'boolean',
      extra: 'json',
    },
    key: ['id'],
    foreignKeys: [{ columns: ['customer_id'], references: ['public', 'customers'], referencedColumns: ['id'] }],
  }),
  tableOf('public', 'payroll', { columns: { id: 'integer', salary: 'decimal' }, key: ['id'] }),
)

export const CUSTOMERS = refOf('public', 'customers')
export const ORDERS = refOf('public', 'orders')
export const PAYROLL = refOf('public', 'payroll')

/** The policy as its author would write it, met with a catalog. */
export function compiled(
  text: string,
  schema: SchemaModel = SHOP,
  schemas: readonly string[] = ['public'],
): ReturnType<typeof compilePolicy> {
  const document = parsePolicy(text)
  if (!document.ok) throw new Error(document.error.map(policyFaultText).join('\n'))
  return compilePolicy(document.value, schema, { schemas })
}

/** The engine of a policy that meets its catalog without a finding. */
export function engineOf(text: string, schema: SchemaModel = SHOP): PolicyEngine {
  const { engine, findings } = compiled(text, schema)
  if (findings.length > 0) throw new Error(findings.map((finding) => finding.text).join('\n'))
  return engine
}

export function caller(
  roles: readonly string[],
  claims: Readonly<Record<string, ClaimValue>> = {},
  name = 'ann',
): Identity {
  return { id: `id-${name}`, name, roles, claims: new Map(Object.entries(claims)) }
}
