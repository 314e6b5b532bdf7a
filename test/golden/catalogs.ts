import type { Table, ValueType } from '../../src/core/schema-model.js'
import { MYSQL_TYPES } from '../support/mysql-types.js'
import { ACTIVITY, CUSTOMERS, ORDER_LINES, SAMPLES, TYPES, tableOf } from '../support/schema.js'
import { SQLSERVER_TYPES } from '../support/sqlserver-types.js'

/** What the cases of one engine are about: the same tables everywhere, of each engine's own types. */
export interface GoldenCatalog {
  readonly customers: Table
  readonly orderLines: Table
  readonly activity: Table
  /** Columns of which equal values may look different. */
  readonly prices: Table
  /** The customers' column whose greatest value is asked for. */
  readonly greatest: string
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
  greatest: 'bio',
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
  greatest: 'bio',
  flagged: tableOf('flagged', { columns: { id: MYSQL_TYPES.int, deleted: MYSQL_TYPES.flag }, primaryKey: ['id'] }),
  samples: tableOf('samples', { columns: { id: MYSQL_TYPES.int, ...optional(MYSQL_TYPES) }, primaryKey: ['id'] }),
  types: Object.keys(MYSQL_TYPES),
  compared: mysqlValue,
  written: mysqlValue,
}

const SQLSERVER_VALUES: Values = new Map([
  ['bit', 'true'],
  ['decimal', '1.5'],
  // Finer than the column keeps, and greater than all that it holds.
  ['numeric', '-1.5'],
  ['smallmoney', '1000000'],
  ['float', '0.1'],
  ['real', '0.1'],
  ['latin1', '€'],
  // What the column cannot hold, for all that is known.
  ['greek', 'ά'],
  ['utf8', '😀'],
  ['date', '2024-02-29'],
  ['time', '10:00:00.1234567'],
  ['time0', '10:00:00.5'],
  ['datetime2', '2024-02-29T10:00:00.1234567'],
  ['datetime2of3', '2024-02-29T10:00:00.1234567'],
  ['datetime', '2024-02-29T10:00:00.002'],
  ['smalldatetime', '2024-02-29T10:00:00'],
  ['datetimeoffset', '2024-02-29T00:30:00.5+02:00'],
  ['datetimeoffset0', '2024-02-29T00:30:00Z'],
  ['uniqueidentifier', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  ['binary', 'AAH/AA=='],
  ['varbinary', 'AAH/'],
  ['longBinary', 'AAH/'],
  ['image', 'AAH/'],
  ['rowversion', 'AAAAAAAAB9E='],
  ['xml', '<a/>'],
  ['json', '{"a":1}'],
  ['hierarchyid', '/1/'],
  ['geometry', 'POINT (1 2)'],
  ['geography', 'POINT (1 2)'],
])
/** What is written was refused before where the column would round it. */
const SQLSERVER_WRITTEN: Values = new Map([
  ...SQLSERVER_VALUES,
  ['numeric', '-1'],
  ['smallmoney', '1'],
  ['time0', '10:00:00'],
  ['datetime2of3', '2024-02-29T10:00:00.123'],
  ['datetime', '2024-02-29T10:00:00.003'],
])

export const SQLSERVER_CATALOG: GoldenCatalog = {
  customers: tableOf('customers', {
    columns: {
      id: SQLSERVER_TYPES.int,
      tenant_id: SQLSERVER_TYPES.uniqueidentifier,
      email: SQLSERVER_TYPES.folded,
      name: SQLSERVER_TYPES.latin1,
      'bio?': SQLSERVER_TYPES.long,
      'balance?': SQLSERVER_TYPES.decimal,
      'created_at?': SQLSERVER_TYPES.datetimeoffset,
      'ssn?': SQLSERVER_TYPES.exact,
    },
    primaryKey: ['id'],
    uniqueKeys: [['email'], ['ssn']],
  }),
  orderLines: tableOf('order_lines', {
    columns: {
      order_id: SQLSERVER_TYPES.bigint,
      line: SQLSERVER_TYPES.smallint,
      quantity: SQLSERVER_TYPES.int,
      'note?': SQLSERVER_TYPES.long,
    },
    primaryKey: ['order_id', 'line'],
  }),
  activity: tableOf('activity', {
    kind: 'view',
    columns: {
      'at?': SQLSERVER_TYPES.datetime2,
      'actor?': SQLSERVER_TYPES.folded,
      'amount?': SQLSERVER_TYPES.money,
      'detail?': SQLSERVER_TYPES.xml,
    },
  }),
  // Texts have no extremes here.
  prices: tableOf('prices', {
    columns: { 'email?': SQLSERVER_TYPES.datetimeoffset, 'price?': SQLSERVER_TYPES.decimal },
  }),
  greatest: 'created_at',
  flagged: tableOf('flagged', {
    columns: { id: SQLSERVER_TYPES.int, deleted: SQLSERVER_TYPES.bit },
    primaryKey: ['id'],
  }),
  samples: tableOf('samples', {
    columns: { id: SQLSERVER_TYPES.int, ...optional(SQLSERVER_TYPES) },
    primaryKey: ['id'],
  }),
  types: Object.keys(SQLSERVER_TYPES),
  compared: (type) => SQLSERVER_VALUES.get(type) ?? '1',
  written: (type) => SQLSERVER_WRITTEN.get(type) ?? '1',
}
