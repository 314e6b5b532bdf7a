import type { EngineName } from '../../src/core/schema-model.js'
import type { Random } from './arguments.js'
import { forEngine, type PerEngine } from './engines.js'
import type { TestDatabase } from './test-server.js'

/**
 * Tables that hold the same rows on every engine, in columns that every engine compares alike: text by its code points,
 * decimals with a scale, floats that add up exactly in any order.
 */

export type Kind =
  | 'int'
  | 'small'
  | 'big'
  | 'decimal'
  | 'float'
  | 'extreme'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'instant'
  | 'time'
  | 'padded'
  | 'text'
  | 'code'
  | 'long'
  | 'bytes'

/**
 * What each column type is on each engine. `padded` is compared as if spaces stood at its end, on MySQL, so that its values
 * have no such ends; the other texts are compared without. SQL Server pads every text and all bytes: see `comparable`. Values
 * of `long` differ after what some sorting looks at.
 */
const NATIVE: Readonly<Record<Kind, PerEngine<string>>> = {
  int: { postgres: 'integer', mysql: 'int', sqlserver: 'int' },
  small: { postgres: 'smallint', mysql: 'smallint', sqlserver: 'smallint' },
  big: { postgres: 'bigint', mysql: 'bigint', sqlserver: 'bigint' },
  decimal: { postgres: 'numeric(14,3)', mysql: 'decimal(14,3)', sqlserver: 'decimal(14,3)' },
  float: { postgres: 'double precision', mysql: 'double', sqlserver: 'float' },
  extreme: { postgres: 'double precision', mysql: 'double', sqlserver: 'float' },
  boolean: { postgres: 'boolean', mysql: 'tinyint(1)', sqlserver: 'bit' },
  date: { postgres: 'date', mysql: 'date', sqlserver: 'date' },
  timestamp: { postgres: 'timestamp(6)', mysql: 'datetime(6)', sqlserver: 'datetime2(6)' },
  instant: { postgres: 'timestamptz(6)', mysql: 'timestamp(6)', sqlserver: 'datetimeoffset(6)' },
  time: { postgres: 'time(6)', mysql: 'time(6)', sqlserver: 'time(6)' },
  padded: {
    postgres: 'varchar(60) COLLATE "C"',
    mysql: 'varchar(60) COLLATE utf8mb4_bin',
    sqlserver: 'nvarchar(60) COLLATE Latin1_General_BIN2',
  },
  text: {
    postgres: 'varchar(60) COLLATE "C"',
    mysql: 'varchar(60) COLLATE no_pad',
    sqlserver: 'nvarchar(60) COLLATE Latin1_General_BIN2',
  },
  code: {
    postgres: 'varchar(20) COLLATE "C"',
    mysql: 'varchar(20) COLLATE no_pad',
    sqlserver: 'nvarchar(20) COLLATE Latin1_General_BIN2',
  },
  long: {
    postgres: 'text COLLATE "C"',
    mysql: 'text COLLATE no_pad',
    sqlserver: 'nvarchar(max) COLLATE Latin1_General_BIN2',
  },
  bytes: { postgres: 'bytea', mysql: 'varbinary(20)', sqlserver: 'varbinary(20)' },
}

export const NUMBERS: ReadonlySet<Kind> = new Set(['int', 'small', 'big', 'decimal', 'float'])
export const TEXTS: ReadonlySet<Kind> = new Set(['padded', 'text', 'code', 'long'])
/** Kinds whose extremes the product finds. SQL Server's texts have none. */
const EXTREMES: ReadonlySet<Kind> = new Set([
  ...NUMBERS,
  ...TEXTS,
  ...(['extreme', 'date', 'timestamp', 'instant', 'time'] as const),
])

const CODES = ['', 'a', 'A', 'aa', 'ab', 'b', 'é', 'z', '9', '10', '-1', '日本', '😀']
const WORDS = [
  ...CODES,
  ...[
    '100%',
    '1_0',
    '%',
    '_',
    '\\',
    '\\\\',
    'a\\b',
    "o'brien",
    "''",
    'a"b',
    '`t`',
    '[x]',
    '$1',
    '?',
    ':a',
    '#',
    '--',
    ';',
  ],
  ...['NULL', 'null', '\uffee', '\u{1d4b3}', 'e\u0301', '\u200b', 'x'.repeat(60)],
]
/** What a comparison that adds or drops spaces would take for something else. */
const SPACED = [' ', '  ', 'a ', 'a  ', ' a', 'a\t', 'a\n', 'a\u0001', '\u0001', 'b ']

/** The values of each kind as a caller sends them and is shown them: few enough for many rows to share one. */
const VALUES: Readonly<Record<Kind, readonly (string | number | boolean)[]>> = {
  int: [-2_147_483_648, -3, -1, 0, 1, 2, 3, 4, 2_147_483_647],
  small: [-32_768, -1, 0, 1, 2, 32_767],
  big: ['-9223372036854775808', '-9007199254740993', -1, 0, 7, '9007199254740993', '9223372036854775807'],
  decimal: ['-99999999999.999', '-1.500', '-0.001', '0.000', '0.001', '2.250', '2.500', '99999999999.999'],
  float: [-1024, -0.25, 0, 0.5, 0.75, 3.125, 65_536],
  extreme: [-1.7976931348623157e308, -5e-324, 0, 5e-324, 1e-7, 0.1, 1e20, 1.7976931348623157e308],
  boolean: [true, false],
  date: ['0001-01-01', '1000-01-01', '1999-12-31', '2024-02-29', '2024-03-10', '9999-12-31'],
  timestamp: [
    '1000-01-01T00:00:00.000001',
    '2024-03-10T02:30:00.123456',
    '2024-11-03T01:30:00.123456',
    '2024-11-03T01:30:00.123457',
    '9999-12-31T23:59:59.999999',
  ],
  instant: [
    '1970-01-01T00:00:01.000001Z',
    '2024-03-10T07:30:00.123456Z',
    '2024-11-03T05:30:00.123456Z',
    '2024-11-03T06:30:00.123456Z',
    '2038-01-19T03:14:07.999999Z',
  ],
  time: ['00:00:00.000001', '02:30:00.123456', '12:00:00.123456', '23:59:59.999999'],
  padded: WORDS,
  text: [...WORDS, ...SPACED],
  code: [...CODES, ...SPACED],
  long: ['', 'x', ...['a', 'b', '\u{1f600}'].map((end) => 'x'.repeat(1_500) + end)],
  bytes: ['', 'AA==', 'AAA=', 'YQ==', 'QQ==', 'gA==', '/w==', 'YSA=', 'w6k='],
}

/** The least that SQL Server's floats hold apart from zero. */
const FLOAT_NORMAL_MIN = 2.2250738585072014e-308
/** What SQL Server's collations that disregard case do not see, or see as other characters: patterns are compared by one. */
const UNSEEN = /\u0001|\u0301|\u200b|\u{1d4b3}/u

/**
 * Whether the engine compares the value as PostgreSQL does. To SQL Server spaces at the end of a text and zeros at the end of
 * bytes are nothing, so that a character before the space comes before the end; and its texts are sorted by units of UTF-16.
 */
function comparable(engine: EngineName, kind: Kind, value: string | number | boolean): boolean {
  if (engine !== 'sqlserver') return true
  switch (kind) {
    case 'extreme':
      return value === 0 || Math.abs(Number(value)) >= FLOAT_NORMAL_MIN
    case 'bytes':
      return !Buffer.from(String(value), 'base64').toString('latin1').endsWith('\0')
    case 'padded':
    case 'text':
    case 'code':
      return typeof value === 'string' && !/[\0-\x20]$|\uffee/.test(value) && !UNSEEN.test(value)
    default:
      return true
  }
}

/** One of the items, which are never none. */
export function oneOf<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to choose from')
  return item
}

export interface EqualColumn {
  readonly name: string
  readonly kind: Kind
  readonly nullable: boolean
  /** Values that both engines compare alike. */
  readonly values: readonly (string | number | boolean)[]
  /** Whether both engines find its `min` and `max`. */
  readonly extremes: boolean
}

export interface EqualTable {
  readonly name: string
  readonly columns: readonly EqualColumn[]
  /** Empty: rows may be there twice. */
  readonly key: readonly string[]
  readonly rows: number
}

function column(name: string, kind: Kind, nullable = true): EqualColumn {
  return { name, kind, nullable, values: VALUES[kind], extremes: EXTREMES.has(kind) }
}

const ITEMS: EqualTable = {
  name: 'items',
  columns: [
    column('id', 'int', false),
    column('n', 'int', false),
    column('small', 'small'),
    column('big', 'big'),
    column('price', 'decimal'),
    column('cost', 'decimal', false),
    column('ratio', 'float'),
    column('weight', 'float', false),
    column('extreme', 'extreme'),
    column('flag', 'boolean'),
    column('sure', 'boolean', false),
    column('day', 'date'),
    column('at', 'timestamp'),
    column('seen', 'instant'),
    column('clock', 'time'),
    column('word', 'padded'),
    column('note', 'text'),
    column('label', 'text', false),
    column('bin', 'bytes'),
    column('gone', 'boolean', false),
  ],
  key: ['id'],
  rows: 60,
}

const PARTS: EqualTable = {
  name: 'parts',
  columns: [
    column('item', 'small', false),
    column('code', 'code', false),
    column('day', 'date', false),
    column('amount', 'decimal'),
    column('note', 'padded'),
  ],
  key: ['item', 'code', 'day'],
  rows: 80,
}

/** No key, and many rows twice: only an order over everything tells what comes first. */
const EVENTS: EqualTable = {
  name: 'events',
  columns: [
    column('at', 'timestamp'),
    column('kind', 'code'),
    column('level', 'small'),
    column('bin', 'bytes'),
    column('ratio', 'float'),
    column('body', 'long'),
  ],
  key: [],
  rows: 80,
}

const ALL_TABLES: readonly EqualTable[] = [ITEMS, PARTS, EVENTS]

/** The tables with the values that the engine and PostgreSQL compare alike. */
export function equalTables(engine: EngineName): readonly EqualTable[] {
  return ALL_TABLES.map((table) => ({
    ...table,
    columns: table.columns.map((each) => ({
      ...each,
      values: each.values.filter((value) => comparable(engine, each.kind, value)),
      extremes: each.extremes && !(engine === 'sqlserver' && TEXTS.has(each.kind)),
    })),
  }))
}

export type Cell = string | number | boolean | null
export type EqualRow = Readonly<Record<string, Cell>>

/** Rows of the table, by their key once each. */
export function equalRows(table: EqualTable, random: Random): readonly EqualRow[] {
  const rows = new Map<string, EqualRow>()
  for (let at = 0; rows.size < table.rows; at++) {
    const cells = table.columns.map(({ name, nullable, values }): readonly [string, Cell] => {
      if (name === 'id') return [name, at + 1]
      if (name === 'gone') return [name, random() < 0.1]
      return [name, nullable && random() < 0.25 ? null : oneOf(random, values)]
    })
    const row: EqualRow = Object.fromEntries(cells)
    const key = table.key.length === 0 ? String(at) : JSON.stringify(table.key.map((name) => row[name]))
    rows.set(key, row)
  }
  return [...rows.values()]
}

/** A value as a literal of the engine, for setting a table up: not by the way that is under test. */
function literal(engine: EngineName, kind: Kind, value: Cell): string {
  if (value === null) return 'NULL'
  if (typeof value === 'boolean') return truth(engine, value)
  if (typeof value === 'number' || kind === 'big' || kind === 'decimal') return String(value)
  if (kind === 'bytes') {
    const hex = Buffer.from(value, 'base64').toString('hex')
    return forEngine({ postgres: `'\\x${hex}'`, mysql: `X'${hex}'`, sqlserver: `0x${hex}` }, engine)
  }
  const quoted = value.replaceAll("'", "''")
  // MySQL's session that sets tables up is in UTC, and not every server of its kind takes an offset.
  const escaped = (kind === 'instant' ? quoted.replace(/Z$/, '') : quoted).replaceAll('\\', '\\\\')
  const wide = kind === 'instant' ? `CAST(N'${quoted}' AS datetimeoffset(6))` : `N'${quoted}'`
  return forEngine({ postgres: `'${quoted}'`, mysql: `'${escaped}'`, sqlserver: wide }, engine)
}

function truth(engine: EngineName, value: boolean): string {
  if (engine === 'sqlserver') return value ? '1' : '0'
  return value ? 'TRUE' : 'FALSE'
}

/** `noPad`: the name of a collation by code points in which spaces at the end count, which the products of MySQL call differently. */
export function equalTableSql(engine: EngineName, noPad: string): string {
  const tables = ALL_TABLES.map(({ name, columns, key }) => {
    const lines = columns.map((each) => {
      const native = forEngine(NATIVE[each.kind], engine).replace('no_pad', noPad)
      // A TIMESTAMP is not nullable, and stamps itself, unless it says otherwise.
      return `${each.name} ${native} ${each.nullable ? 'NULL' : 'NOT NULL'}${each.name === 'gone' ? ` DEFAULT ${truth(engine, false)}` : ''}`
    })
    const primary = key.length === 0 ? [] : [`PRIMARY KEY (${key.join(', ')})`]
    return `CREATE TABLE ${name} (${[...lines, ...primary].join(', ')})`
  })
  return tables.join(';\n')
}

export async function insertRows(db: TestDatabase, table: EqualTable, rows: readonly EqualRow[]): Promise<void> {
  const names = table.columns.map(({ name }) => name).join(', ')
  const tuples = rows.map(
    (row) => `(${table.columns.map(({ name, kind }) => literal(db.engine, kind, row[name] ?? null)).join(', ')})`,
  )
  await db.query(`INSERT INTO ${table.name} (${names}) VALUES ${tuples.join(',\n')}`)
}
