import type { Table, ValueType } from '../../src/core/schema-model.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { ACTIVITY, CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'

/** What the cases of one engine are about: the same tables everywhere, of each engine's own types. */
export interface GoldenCatalog {
  readonly customers: Table
  readonly orderLines: Table
  readonly activity: Table
  /** Columns of which equal values may look different. */
  readonly prices: Table
  /** A flag for what is deleted. */
  readonly flagged: Table
  /** Its columns are named `c_` and the short name of their type. */
  readonly samples: Table
  readonly types: readonly string[]
  /** A value to compare a sample with, by the short name of its type. */
  readonly compared: (type: string) => string
  /** One to write into it. */
  readonly written: (type: string) => string
}

type Values = ReadonlyMap<string, string>

const POSTGRES_VALUES: Values = new Map([
  ['bytes', 'AAH/'],
  ['boolean', 'true'],
])
const POSTGRES_WRITTEN: Values = new Map([
  ...POSTGRES_VALUES,
  ['json', '{"a":1}'],
  ['jsonb', '{"a":1}'],
  ['integers', '["1",null]'],
  ['texts', '[["a\\"b"],["c"]]'],
])

export const POSTGRES_CATALOG: GoldenCatalog = {
  customers: CUSTOMERS,
  orderLines: ORDER_LINES,
  activity: ACTIVITY,
  prices: tableOf('prices', {
    columns: { 'email?': TYPES.citext, 'price?': { ...TYPES.decimal, native: 'numeric' } },
  }),
  flagged: tableOf('flagged', { columns: { id: TYPES.integer, deleted: TYPES.boolean }, primaryKey: ['id'] }),
  samples: SAMPLES,
  types: Object.keys(TYPES),
  compared: (type) => POSTGRES_VALUES.get(type) ?? '1',
  written: (type) => POSTGRES_WRITTEN.get(type) ?? '1',
}

const MYSQL_VALUES: Values = new Map([
  ['ubigint', '18446744073709551615'],
  ['bits64', '18446744073709551615'],
  ['decimal', '1.5'],
  ['float', '0.1'],
  ['double', '0.1'],
  ['flag', '2'],
  ['bit', 'true'],
  ['exact', 'a'],
  // What the column cannot hold, surely or for all that is known.
  ['ascii', 'é'],
  ['latin1', '€'],
  ['bmp', '😀'],
  ['greek', 'ά'],
  ['datetime', '2024-02-29T10:00:00.25'],
  ['datetime0', '2024-02-29T10:00:00'],
  ['timestamp', '2024-02-29T00:30:00.5+02:00'],
  ['date', '2024-02-29'],
  ['time', '-100:00:01.5'],
  ['uuid', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  ['json', '{"a":1}'],
  ['varbinary', 'AAH/'],
  ['fixedBytes', 'AAH/AA=='],
  ['blob', 'AAH/'],
  ['mood', "it's"],
  ['set', 'a,b'],
  ['inet6', '::1'],
  ['point', 'POINT(1 2)'],
])
const mysqlValue = (type: string) => MYSQL_VALUES.get(type) ?? '1'

function optional(types: Readonly<Record<string, ValueType>>): Readonly<Record<string, ValueType>> {
  return Object.fromEntries(Object.entries(types).map(([key, type]) => [`c_${key}?`, type]))
}

export const MYSQL_CATALOG: GoldenCatalog = {
  customers: tableOf('customers', {
    columns: {
      id: MYSQL_TYPES.int,
      tenant_id: MYSQL_TYPES.uuid,
      email: MYSQL_TYPES.folded,
      name: MYSQL_TYPES.binary,
      'bio?': MYSQL_TYPES.longtext,
      'balance?': MYSQL_TYPES.decimal,
      'created_at?': MYSQL_TYPES.timestamp,
      'ssn?': MYSQL_TYPES.exact,
    },
    primaryKey: ['id'],
    uniqueKeys: [['email'], ['ssn']],
  }),
  orderLines: tableOf('order_lines', {
    columns: {
      order_id: MYSQL_TYPES.bigint,
      line: MYSQL_TYPES.smallint,
      quantity: MYSQL_TYPES.int,
      'note?': MYSQL_TYPES.longtext,
    },
    primaryKey: ['order_id', 'line'],
  }),
  activity: tableOf('activity', {
    kind: 'view',
    columns: {
      'at?': MYSQL_TYPES.datetime,
      'actor?': MYSQL_TYPES.folded,
      'amount?': MYSQL_TYPES.decimal,
      'detail?': MYSQL_TYPES.json,
    },
  }),
  prices: tableOf('prices', { columns: { 'email?': MYSQL_TYPES.folded, 'price?': MYSQL_TYPES.decimal } }),
  flagged: tableOf('flagged', { columns: { id: MYSQL_TYPES.int, deleted: MYSQL_TYPES.flag }, primaryKey: ['id'] }),
  samples: tableOf('samples', { columns: { id: MYSQL_TYPES.int, ...optional(MYSQL_TYPES) }, primaryKey: ['id'] }),
  types: Object.keys(MYSQL_TYPES),
  compared: mysqlValue,
  written: mysqlValue,
}
