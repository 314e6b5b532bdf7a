import { agentColumnName } from '../../src/core/names.js'
import { type Column, catalogName, type SchemaModel, type Table, type ValueType } from '../../src/core/schema-model.js'

/** A small catalog as introspection would give it, for tests that need no server. */

type TypeRest = Omit<ValueType, 'logical' | 'native'>
const COMPARABLE: TypeRest = { equality: true, ordered: true }

function type(logical: ValueType['logical'], native: string, rest: Partial<TypeRest> = {}): ValueType {
  return { logical, native, ...COMPARABLE, ...rest }
}

/** Value types as PostgreSQL's catalog describes them, by a short name. */
export const TYPES = {
  smallint: type('integer', 'smallint', { range: [-32768, 32767] }),
  integer: type('integer', 'integer', { range: [-2147483648, 2147483647] }),
  bigint: type('bigint', 'bigint'),
  decimal: type('decimal', 'numeric(20,4)'),
  float: type('float', 'double precision'),
  real: type('float', 'real'),
  text: type('text', 'text'),
  varchar40: type('text', 'character varying(40)', { charsMax: 40 }),
  varchar9000: type('text', 'character varying(9000)', { charsMax: 9000 }),
  char5: type('text', 'character(5)', { charsMax: 5 }),
  name: type('text', 'name'),
  citext: type('text', 'citext', { operatorSchema: catalogName('extensions') }),
  boolean: type('boolean', 'boolean'),
  timestamptz: type('timestamp', 'timestamp with time zone', { withZone: true }),
  timestamp: type('timestamp', 'timestamp without time zone', { withZone: false }),
  date: type('date', 'date'),
  time: type('time', 'time without time zone', { withZone: false }),
  timetz: type('time', 'time with time zone', { withZone: true }),
  interval: type('interval', 'interval'),
  uuid: type('uuid', 'uuid'),
  json: type('json', 'json', { equality: false, ordered: false }),
  jsonb: type('json', 'jsonb'),
  bytes: type('bytes', 'bytea'),
  mood: type('enum', 'mood', { labels: ['sad', 'ok', 'happy'] }),
  moodDomain: type('enum', 'public.daily_mood', { labels: ['sad', 'ok', 'happy'], domain: true }),
  textDomain: type('text', 'public.short_text', { domain: true }),
  integers: type('array', 'integer[]', { element: type('integer', 'integer') }),
  texts: type('array', 'text[]', { element: type('text', 'text') }),
  inet: type('unknown', 'inet'),
  regclass: type('unknown', 'regclass'),
  periodDomain: type('unknown', 'public.period', { domain: true }),
  xml: type('unknown', 'xml', { equality: false, ordered: false }),
  tsvector: type('unknown', 'tsvector'),
  point: type('unknown', 'point', { equality: false, ordered: false }),
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
