import { agentColumnName } from '../../src/core/names.js'
import { type Column, catalogName, type SchemaModel, type Table, type ValueType } from '../../src/core/schema-model.js'

/** A small catalog as introspection would give it, for tests that need no server. */

type TypeRest = Omit<ValueType, 'logical' | 'native'>
const COMPARABLE: TypeRest = { equality: true, ordered: true }

/** `name` is the catalog's own, with its schema where that is not the engine's. */
function type(logical: ValueType['logical'], native: string, name: string, rest: Partial<TypeRest> = {}): ValueType {
  const [schema, ...own] = name.includes('.') ? name.split('.') : ['pg_catalog', name]
  const typeRef = { schema: catalogName(schema ?? ''), name: catalogName(own.join('.')) }
  return { logical, native, ...COMPARABLE, ...rest, typeRef }
}

/** Value types as PostgreSQL's catalog describes them, by a short name. */
export const TYPES = {
  smallint: type('integer', 'smallint', 'int2', { range: [-32768, 32767] }),
  integer: type('integer', 'integer', 'int4', { range: [-2147483648, 2147483647] }),
  bigint: type('bigint', 'bigint', 'int8'),
  decimal: type('decimal', 'numeric(20,4)', 'numeric'),
  float: type('float', 'double precision', 'float8'),
  real: type('float', 'real', 'float4'),
  text: type('text', 'text', 'text'),
  varchar40: type('text', 'character varying(40)', 'varchar', { charsMax: 40 }),
  varchar9000: type('text', 'character varying(9000)', 'varchar', { charsMax: 9000 }),
  char5: type('text', 'character(5)', 'bpchar', { charsMax: 5 }),
  name: type('text', 'name', 'name'),
  citext: type('text', 'citext', 'extensions.citext', { operatorSchema: catalogName('extensions') }),
  boolean: type('boolean', 'boolean', 'bool'),
  timestamptz: type('timestamp', 'timestamp with time zone', 'timestamptz', { withZone: true }),
  timestamp: type('timestamp', 'timestamp without time zone', 'timestamp', { withZone: false }),
  date: type('date', 'date', 'date'),
  time: type('time', 'time without time zone', 'time', { withZone: false }),
  timetz: type('time', 'time with time zone', 'timetz', { withZone: true }),
  interval: type('interval', 'interval', 'interval'),
  uuid: type('uuid', 'uuid', 'uuid'),
  json: type('json', 'json', 'json', { equality: false, ordered: false }),
  jsonb: type('json', 'jsonb', 'jsonb'),
  bytes: type('bytes', 'bytea', 'bytea'),
  mood: type('enum', 'mood', 'public.mood', { labels: ['sad', 'ok', 'happy'] }),
  moodDomain: type('enum', 'public.daily_mood', 'public.daily_mood', { labels: ['sad', 'ok', 'happy'], domain: true }),
  textDomain: type('text', 'public.short_text', 'public.short_text', { domain: true }),
  integers: type('array', 'integer[]', '_int4', { element: type('integer', 'integer', 'int4') }),
  texts: type('array', 'text[]', '_text', { element: type('text', 'text', 'text') }),
  inet: type('unknown', 'inet', 'inet'),
  regclass: type('unknown', 'regclass', 'regclass'),
  periodDomain: type('unknown', 'public.period', 'public.period', { domain: true }),
  xml: type('unknown', 'xml', 'xml', { equality: false, ordered: false }),
  tsvector: type('unknown', 'tsvector', 'tsvector'),
  point: type('unknown', 'point', 'point', { equality: false, ordered: false }),
} as const satisfies Record<string, ValueType>

/** Columns in order; a `?` after the name makes one nullable. */
function columns(types: Readonly<Record<string, ValueType>>): readonly Column[] {
  return Object.entries(types).map(([key, columnType], index) => {
    const name = key.replace(/\?$/, '')
    return {
      name: catalogName(name),
      agentName: agentColumnName(name),
      catalogId: index + 1,
      type: columnType,
      nullable: key.endsWith('?'),
      hasDefault: false,
      generated: 'no',
    }
  })
}

interface TableParts {
  readonly columns: Readonly<Record<string, ValueType>>
  readonly kind?: Table['kind']
  readonly primaryKey?: readonly string[]
  readonly uniqueKeys?: readonly (readonly string[])[]
  readonly foreignKeys?: Table['foreignKeys']
}

/** A table of the schema `public`. */
export function tableOf(name: string, parts: TableParts): Table {
  return {
    ref: { schema: catalogName('public'), name: catalogName(name) },
    catalogId: name,
    kind: parts.kind ?? 'table',
    columns: columns(parts.columns),
    primaryKey: (parts.primaryKey ?? []).map(catalogName),
    uniqueKeys: (parts.uniqueKeys ?? []).map((key) => key.map(catalogName)),
    foreignKeys: parts.foreignKeys ?? [],
    indexes: [],
  }
}

export const CUSTOMERS = tableOf('customers', {
  columns: {
    id: TYPES.integer,
    tenant_id: TYPES.uuid,
    email: TYPES.citext,
    name: TYPES.varchar40,
    'bio?': TYPES.text,
    'balance?': TYPES.decimal,
    'created_at?': TYPES.timestamptz,
    'ssn?': TYPES.text,
  },
  primaryKey: ['id'],
  uniqueKeys: [['email'], ['ssn']],
})

export const ORDER_LINES = tableOf('order_lines', {
  columns: { order_id: TYPES.bigint, line: TYPES.smallint, quantity: TYPES.integer, 'note?': TYPES.text },
  primaryKey: ['order_id', 'line'],
})

/** A view: no key, and columns that cannot be told apart by equality alone. */
export const ACTIVITY = tableOf('activity', {
  kind: 'view',
  columns: { 'at?': TYPES.timestamptz, 'actor?': TYPES.text, 'amount?': TYPES.decimal, 'detail?': TYPES.json },
})

/** One column of each type. */
export const SAMPLES = tableOf('samples', {
  columns: { id: TYPES.integer, ...Object.fromEntries(Object.entries(TYPES).map(([key, t]) => [`c_${key}?`, t])) },
  primaryKey: ['id'],
})

export const SHOP: SchemaModel = {
  engine: 'postgres',
  serverVersion: '15.0',
  tables: [ACTIVITY, CUSTOMERS, ORDER_LINES, SAMPLES],
  routines: [],
  login: { superuser: false, owns: [], writes: [], ownsCount: 0, writesCount: 0 },
}
