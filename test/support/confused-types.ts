import type { EngineName, LogicalType } from '../../src/core/schema-model.js'
import { quotedName } from './corpus.js'
import { forEngine, type PerEngine } from './engines.js'
import { keyText, numbers, policyFor } from './security-sql.js'

const UUID = '"123e4567-e89b-12d3-a456-426614174000"'

/** Raw JSON as a client may send it in the place of a value. */
export const TOKENS = [
  '"1e309"',
  '"-1e309"',
  '"1e-400"',
  '"0x10"',
  '" 5"',
  '"5 "',
  '"+5"',
  '"05"',
  '"5."',
  '".5"',
  '"1_000"',
  '"1,5"',
  '"\u0665"',
  '"\uff15"',
  '"5\\u0000"',
  '"5\\n"',
  '"5abc"',
  '"5 abc"',
  '"1e1"',
  'true',
  'false',
  '"true"',
  '"TRUE"',
  '"t"',
  '"yes"',
  '5',
  '"5"',
  '0',
  '1',
  '"1"',
  '24',
  '"24"',
  '2024',
  '"2024"',
  '"101112"',
  '"20240531"',
  '"-1"',
  '-0',
  '-0.0',
  '"-0"',
  '1.5',
  '"1.5"',
  '1e400',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '"9007199254740993"',
  '9223372036854775808',
  '"9223372036854775808"',
  '18446744073709551615',
  '"18446744073709551615"',
  '"18446744073709551616"',
  '0.1000000000000000055511',
  '"NaN"',
  '"nan"',
  '"Infinity"',
  '"infinity"',
  '"inf"',
  'null',
  '"null"',
  '[]',
  '[5]',
  '[[5]]',
  '["5"]',
  '{}',
  '{"value":5}',
  '"2024-02-29"',
  '"2023-02-29"',
  '"2024-00-31"',
  '"0000-00-00"',
  '"24-05-31"',
  '"2024-5-31"',
  '"29.02.2024"',
  '"today"',
  '"2024-05-31T10:00:00Z"',
  '"2024-05-31T10:00:00"',
  '"2024-05-31T10:00:00.1234567Z"',
  '"2024-05-31T24:00:00Z"',
  '"0000-00-00T00:00:00"',
  '"now"',
  '"10:00:00"',
  '"25:00:00"',
  '"838:59:59"',
  '"839:00:00"',
  '"-00:00:01"',
  '"10:00"',
  '"1 10:00:00"',
  '"P1D"',
  '"1 day"',
  UUID,
  '"{123e4567-e89b-12d3-a456-426614174000}"',
  '"123e4567e89b12d3a456426614174000"',
  '"AAE="',
  '"AAE"',
  '"\\\\x0001"',
  '"b\'101\'"',
  '"red"',
  '"RED"',
  '"red,green"',
  '""',
] as const

/** `strings`: all of them that hold no NUL. `nothing`: a column that can only be asked whether it is NULL. */
export type Takes = readonly string[] | 'strings' | 'nothing'

/** A column of one type, and the tokens that its grammar takes. All others are refused before the database. */
export interface ConfusedColumn {
  readonly sql: string
  /** Where it is a key, when that needs another spelling. */
  readonly keySql?: string
  readonly takes: Takes
}

const NATURAL = ['5', '"5"', '1', '"1"', '24', '"24"', '2024', '"2024"', '"101112"', '"20240531"']
const WHOLE = [...NATURAL, '0', '"-1"']
const BIG = [...WHOLE, '9007199254740991', '"9007199254740993"']
/** JSON.parse makes 0.1 of the last one, and nothing shows that there was more: only a string carries all digits. */
const EXACT = [
  ...[...BIG, '1.5', '"1.5"', '"9223372036854775808"', '"18446744073709551615"', '"18446744073709551616"'],
  '0.1000000000000000055511',
]
const FLOATING = [
  // A float can be a negative zero; where one is read, it can be sent back.
  ...[...EXACT, '"-0"', '"1e1"'],
  ...['9007199254740992', '9007199254740993', '9223372036854775808', '18446744073709551615'],
]
const NOT_FINITE = ['"NaN"', '"Infinity"']
const BASE64 = [
  ...['"AAE="', '"0x10"', '"5abc"', '"true"', '"TRUE"', '"null"', '"2024"', '"20240531"', '"9007199254740993"'],
  ...['"18446744073709551615"', '"18446744073709551616"', '"Infinity"', '"infinity"', '""'],
  '"123e4567e89b12d3a456426614174000"',
]
/** A whole number that is above nothing, for limits. */
export const LIMITS: readonly string[] = [...NATURAL, '9007199254740991']

const POSTGRES = {
  integer: { sql: 'int', takes: WHOLE },
  bigint: { sql: 'bigint', takes: BIG },
  decimal: { sql: 'numeric', takes: [...EXACT, ...NOT_FINITE] },
  float: { sql: 'float8', takes: [...FLOATING, ...NOT_FINITE] },
  text: { sql: 'text', takes: 'strings' },
  boolean: { sql: 'boolean', takes: ['true', 'false', '"true"'] },
  timestamp: { sql: 'timestamptz', takes: ['"2024-05-31T10:00:00Z"', '"infinity"'] },
  date: { sql: 'date', takes: ['"2024-02-29"', '"infinity"'] },
  time: { sql: 'time', takes: ['"10:00:00"', '"10:00"'] },
  interval: { sql: 'interval', takes: ['"P1D"', '"infinity"'] },
  uuid: { sql: 'uuid', takes: [UUID] },
  json: { sql: 'jsonb', takes: 'nothing' },
  bytes: { sql: 'bytea', takes: BASE64 },
  enum: { sql: 'colour', takes: ['"red"'] },
  array: { sql: 'int[]', takes: 'nothing' },
  unknown: { sql: 'inet', takes: 'strings' },
} as const satisfies Readonly<Record<LogicalType, ConfusedColumn>>

const MYSQL = {
  integer: { sql: 'int', takes: WHOLE },
  unsigned: { sql: 'int unsigned', takes: [...NATURAL, '0'] },
  bigint: { sql: 'bigint', takes: BIG },
  big_unsigned: {
    sql: 'bigint unsigned',
    takes: [...BIG.filter((token) => token !== '"-1"'), '"9223372036854775808"', '"18446744073709551615"'],
  },
  decimal: { sql: 'decimal(65,30)', takes: EXACT },
  float: { sql: 'double', takes: FLOATING },
  text: { sql: 'longtext', keySql: 'varchar(191)', takes: 'strings' },
  boolean: { sql: 'boolean', takes: ['true', 'false', '"true"', '5', '"5"', '1', '"1"', '24', '"24"', '0', '"-1"'] },
  timestamp: { sql: 'timestamp(6) NULL', keySql: 'timestamp(6)', takes: ['"2024-05-31T10:00:00Z"'] },
  datetime: { sql: 'datetime(6)', takes: ['"2024-05-31T10:00:00"', '"0000-00-00T00:00:00"'] },
  date: { sql: 'date', takes: ['"2024-02-29"', '"2024-00-31"', '"0000-00-00"'] },
  time: { sql: 'time(6)', takes: ['"10:00:00"', '"10:00"', '"25:00:00"', '"838:59:59"', '"-00:00:01"'] },
  year: { sql: 'year', takes: ['2024', '"2024"', '0'] },
  bits: { sql: 'bit(8)', takes: ['5', '"5"', '1', '"1"', '24', '"24"', '0'] },
  bit: { sql: 'bit(1)', takes: ['true', 'false', '"true"', '1', '"1"', '0'] },
  json: { sql: 'json', takes: 'nothing' },
  bytes: { sql: 'varbinary(191)', takes: BASE64 },
  enum: { sql: "enum('red', 'green')", takes: ['"red"'] },
  unknown: { sql: "set('red', 'green')", takes: ['""', '"red"', '"red,green"'] },
} as const satisfies Readonly<Record<string, ConfusedColumn>>

const SQLSERVER = {
  integer: { sql: 'int', takes: WHOLE },
  small: { sql: 'tinyint', takes: ['5', '"5"', '1', '"1"', '24', '"24"', '0'] },
  bigint: { sql: 'bigint', takes: BIG },
  decimal: { sql: 'decimal(38,18)', takes: [...EXACT] },
  float: { sql: 'float', takes: FLOATING },
  text: { sql: 'nvarchar(191)', takes: 'strings' },
  boolean: { sql: 'bit', takes: ['true', 'false', '"true"'] },
  timestamp: { sql: 'datetimeoffset(6)', takes: ['"2024-05-31T10:00:00Z"'] },
  datetime: { sql: 'datetime2(6)', takes: ['"2024-05-31T10:00:00"'] },
  date: { sql: 'date', takes: ['"2024-02-29"'] },
  time: { sql: 'time(6)', takes: ['"10:00:00"', '"10:00"'] },
  uuid: { sql: 'uniqueidentifier', takes: [UUID] },
  bytes: { sql: 'varbinary(191)', takes: BASE64 },
} as const satisfies Readonly<Record<string, ConfusedColumn>>

export const COLUMNS: PerEngine<Readonly<Record<string, ConfusedColumn>>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  sqlserver: SQLSERVER,
}

/** One table with a column of each type, one table with a key of each type, and one for what the engine is lenient with. */
export function confusedSetup(engine: EngineName): string {
  const columns = Object.entries(forEngine(COLUMNS, engine)).map(([name, column]) => ({
    ...column,
    name,
    quoted: quotedName(engine, name),
  }))
  const text = quotedName(engine, 'text')
  return `
${forEngine({ postgres: "CREATE TYPE colour AS ENUM ('red', 'green');", mysql: '', sqlserver: '' }, engine)}
CREATE TABLE kinds (id int PRIMARY KEY, ${columns.map(({ quoted, sql }) => `${quoted} ${sql}`).join(', ')});
INSERT INTO kinds (id, ${text}) SELECT i, ${forEngine(
    { postgres: 'i::text', mysql: 'CAST(i AS char)', sqlserver: 'CONVERT(nvarchar(20), i)' },
    engine,
  )}
  FROM ${numbers(engine, 1, 8)};
${columns
  .filter(({ takes }) => takes !== 'nothing')
  .map(({ name, quoted, sql, keySql = sql }) => ({
    table: quotedName(engine, `by_${name}`),
    column: `${quoted} ${keySql}`,
  }))
  .map(({ table, column }) => `CREATE TABLE ${table} (${column} PRIMARY KEY, note ${keyText(engine)});`)
  .join('\n')}
CREATE TABLE lenient (id int PRIMARY KEY, ${Object.entries(forEngine(LENIENT, engine))
    .map(([name, { sql }]) => `${name} ${sql}`)
    .join(', ')});
INSERT INTO lenient VALUES (1, ${Object.values(forEngine(LENIENT, engine))
    .map(({ stored }) => stored)
    .join(', ')});
`
}

export function confusedPolicy(engine: EngineName): string {
  const columns = Object.entries(forEngine(COLUMNS, engine))
  const names = columns.map(([name]) => name)
  const lenient = Object.keys(forEngine(LENIENT, engine))
  const keyed = columns.flatMap(([name, { takes }]) => (takes === 'nothing' ? [] : [[`public.by_${name}`, {}]]))
  return policyFor(
    engine,
    JSON.stringify({
      version: 1,
      tables: {
        'public.kinds': { update: { columns: names }, create: { columns: ['id', ...names] } },
        'public.lenient': { update: { columns: lenient } },
        ...Object.fromEntries(keyed),
      },
      roles: {
        reader: { read: ['*'], create: ['public.kinds'], update: ['public.kinds', 'public.lenient'] },
      },
    }),
  )
}

/** What the engine itself finds by a value that is not the one stored. */
export interface LenientColumn {
  readonly sql: string
  /** As an SQL literal, and as the JSON that finds it. */
  readonly stored: string
  readonly exact: string
  /** Each as JSON; the engine is given the string, the digits or the truth that it stands for. */
  readonly lenient: readonly string[]
}

export const LENIENT: PerEngine<Readonly<Record<string, LenientColumn>>> = {
  postgres: {
    number: { sql: 'int', stored: '5', exact: '5', lenient: ['" 5 "', '"+5"', '"05"'] },
    amount: { sql: 'numeric(8,2)', stored: '1.5', exact: '"1.50"', lenient: ['"15e-1"', '" 1.5"', '"+1.5"'] },
    weight: { sql: 'float8', stored: '10', exact: '"1e1"', lenient: ['" 1e1"', '"10."'] },
    flag: { sql: 'boolean', stored: 'true', exact: 'true', lenient: ['"t"', '"YES"', '"on"', '"1"', '" true"'] },
    made: { sql: 'date', stored: "'2024-05-31'", exact: '"2024-05-31"', lenient: ['"20240531"', '"May 31 2024"'] },
    clock: { sql: 'time', stored: "'10:11:12'", exact: '"10:11:12"', lenient: ['"101112"', '"10:11:12 am"'] },
    span: { sql: 'interval', stored: "'1 day'", exact: '"P1D"', lenient: ['"1 day"', '"24 hours"', '"@ 1 day"'] },
    ref: {
      sql: 'uuid',
      stored: "'123e4567-e89b-12d3-a456-426614174000'",
      exact: UUID,
      lenient: ['"{123e4567-e89b-12d3-a456-426614174000}"', '"123e4567e89b12d3a456426614174000"'],
    },
  },
  mysql: {
    number: {
      sql: 'int',
      stored: '5',
      exact: '5',
      lenient: ['"5abc"', '" 5"', '"+5"', '"05"', '"5.0"', '"5e0"', '"5\\n"'],
    },
    nothing: { sql: 'int', stored: '0', exact: '0', lenient: ['""', '"abc"', '"0x10"', '"-0"', 'false', '"false"'] },
    single: { sql: 'int', stored: '1', exact: '1', lenient: ['true', '"1 OR 2"', '"1,5"', '"1.0"'] },
    amount: { sql: 'decimal(8,2)', stored: '1.5', exact: '"1.50"', lenient: ['"1.5x"', '"15e-1"', '" 1.5"', '"+1.5"'] },
    weight: { sql: 'double', stored: '10', exact: '"1e1"', lenient: ['"1e1x"', '" 10"', '"10."', '"+10"'] },
    big: {
      sql: 'bigint unsigned',
      stored: '18446744073709551615',
      exact: '"18446744073709551615"',
      lenient: ['1.8446744073709552e19'],
    },
    flag: { sql: 'boolean', stored: '1', exact: 'true', lenient: ['"1abc"', '"1.0"', '"+1"', '"01"'] },
    made: {
      sql: 'date',
      stored: "'2024-05-31'",
      exact: '"2024-05-31"',
      lenient: ['"20240531"', '20240531', '"240531"', '"24-05-31"', '"2024-5-31"', '"2024/05/31"', '"2024.05.31"'],
    },
    at: {
      sql: 'datetime',
      stored: "'2024-05-31 10:00:00'",
      exact: '"2024-05-31T10:00:00"',
      lenient: [
        '"20240531100000"',
        '20240531100000',
        '"2024-05-31 10:0:0"',
        '"2024/05/31 10:00:00"',
        '"24-05-31 10:00:00"',
      ],
    },
    clock: {
      sql: 'time',
      stored: "'34:11:12'",
      exact: '"34:11:12"',
      lenient: ['"341112"', '341112', '"1 10:11:12"', '"034:11:12"'],
    },
    made_in: { sql: 'year', stored: '2024', exact: '2024', lenient: ['24', '"24"', '"2024.0"'] },
    word: { sql: 'varchar(20)', stored: "'5abc'", exact: '"5abc"', lenient: ['5', '5.0'] },
    blank: { sql: 'varchar(20)', stored: "''", exact: '""', lenient: ['0', 'false'] },
    label: { sql: "enum('red', 'green')", stored: "'green'", exact: '"green"', lenient: ['2'] },
    bits: { sql: 'bit(8)', stored: "b'101'", exact: '5', lenient: ['"5.0"', '"+5"', '"5e0"'] },
  },
  sqlserver: {
    number: { sql: 'int', stored: '5', exact: '5', lenient: ['" 5"', '"5 "', '"+5"', '"05"'] },
    nothing: { sql: 'int', stored: '0', exact: '0', lenient: ['""', '" "', '"-0"'] },
    amount: { sql: 'decimal(8,2)', stored: '1.5', exact: '"1.50"', lenient: ['" 1.5"', '"+1.5"', '"01.50"'] },
    weight: { sql: 'float', stored: '10', exact: '"1e1"', lenient: ['" 1e1"', '"+10"', '"10."'] },
    flag: { sql: 'bit', stored: '1', exact: 'true', lenient: ['"TRUE"', '"7"', '"01"'] },
    made: {
      sql: 'date',
      stored: "'2024-05-31'",
      exact: '"2024-05-31"',
      lenient: ['"20240531"', '"2024-5-31"', '"2024/05/31"', '"May 31 2024"'],
    },
    at: {
      sql: 'datetime2(0)',
      stored: "'2024-05-31 10:00:00'",
      exact: '"2024-05-31T10:00:00"',
      lenient: ['"20240531 10:00"', '"2024-05-31 10:0:0"', '"May 31 2024 10AM"'],
    },
    clock: { sql: 'time(0)', stored: "'22:11:12'", exact: '"22:11:12"', lenient: ['"10:11:12 PM"', '" 22:11:12"'] },
    ref: {
      sql: 'uniqueidentifier',
      stored: "'123e4567-e89b-12d3-a456-426614174000'",
      exact: UUID,
      lenient: ['"{123e4567-e89b-12d3-a456-426614174000}"', '"123e4567-e89b-12d3-a456-426614174000 and more"'],
    },
    word: {
      sql: 'nvarchar(20) COLLATE Latin1_General_CI_AS',
      stored: "N'5abc'",
      exact: '"5abc"',
      lenient: [],
    },
  },
}
