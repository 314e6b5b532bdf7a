import { catalogName, type ValueType } from '../../src/core/schema-model.js'

/**
 * Value types as SQL Server's catalog describes them, by a short name. `typeRef` names the system's own type, which an alias
 * type stands for; precision, scale, length and collation are the column's.
 */

const COMPARABLE = { equality: true, ordered: true } as const
const OPAQUE = { equality: false, ordered: false } as const

function type(logical: ValueType['logical'], native: string, rest: Partial<ValueType> = {}): ValueType {
  const [name = ''] = native.split('(')
  const typeRef = { schema: catalogName('sys'), name: catalogName(name) }
  return { logical, native, ...COMPARABLE, ...rest, typeRef }
}

function whole(native: string, range: readonly [number, number]): ValueType {
  return type('integer', native, { range })
}

/** The engine's most digits are 38; `precision` and `fractionDigitsMax` are the column's. */
function decimal(native: string, precision: number, fractionDigitsMax: number): ValueType {
  return type('decimal', native, { precision, fractionDigitsMax, digitsMax: 38 })
}

/** Every collation lets spaces follow a shorter text, so that none compares exactly. */
function text(native: string, collation: string, rest: Partial<ValueType> = {}): ValueType {
  const collated = {
    collation: catalogName(collation),
    looseEquality: true,
    padsSpaces: true,
    extremesVary: true,
  } as const
  return type('text', native, { ...collated, ...rest })
}

function moment(native: string, years: readonly [number, number], fractionDigitsMax: number): ValueType {
  return type('timestamp', native, { withZone: false, years, fractionDigitsMax })
}

/** Equal moments may have different offsets. */
function offset(native: string, fractionDigitsMax: number): ValueType {
  const rest = { years: [1, 9999], offsetMinutesMax: 840, looseEquality: true } as const
  return type('timestamp', native, { withZone: true, fractionDigitsMax, ...rest })
}

function time(native: string, fractionDigitsMax: number): ValueType {
  return type('time', native, { withZone: false, fractionDigitsMax, endsBeforeMidnight: true })
}

/** Of two that differ in zeros at their ends alone, the engine says that they are equal. */
function bytes(native: string): ValueType {
  return type('bytes', native, { looseEquality: true })
}

const FOLDED = { foldsCase: true } as const
const CI = 'SQL_Latin1_General_CP1_CI_AS'

export const SQLSERVER_TYPES = {
  tinyint: whole('tinyint', [0, 255]),
  smallint: whole('smallint', [-32_768, 32_767]),
  int: whole('int', [-2_147_483_648, 2_147_483_647]),
  bigint: type('bigint', 'bigint'),
  bit: type('boolean', 'bit'),
  decimal: decimal('decimal(20,4)', 20, 4),
  numeric: decimal('numeric(38,0)', 38, 0),
  money: decimal('money', 19, 4),
  smallmoney: decimal('smallmoney', 10, 4),
  float: type('float', 'float(53)', { finite: true, normal: true }),
  real: type('float', 'real', { finite: true, normal: true, single: true }),
  folded: text('nvarchar(40)', CI, { charsMax: 40, ...FOLDED }),
  exact: text('nvarchar(40)', 'Latin1_General_100_BIN2', { charsMax: 40 }),
  fixed: text('nchar(5)', CI, { charsMax: 5, ...FOLDED }),
  long: text('nvarchar(max)', CI, FOLDED),
  latin1: text('varchar(40)', CI, { charsMax: 40, repertoire: 'latin1', ...FOLDED }),
  greek: text('varchar(40)', 'Greek_CS_AS', { charsMax: 40, repertoire: 'other' }),
  utf8: text('varchar(40)', 'Latin1_General_100_CI_AS_SC_UTF8', { charsMax: 40, ...FOLDED }),
  fixedLatin1: text('char(5)', CI, { charsMax: 5, repertoire: 'latin1', ...FOLDED }),
  longLatin1: text('varchar(max)', CI, { repertoire: 'latin1', ...FOLDED }),
  legacyText: text('text', CI, { repertoire: 'latin1', ...FOLDED, ...OPAQUE }),
  legacyNtext: text('ntext', CI, { ...FOLDED, ...OPAQUE }),
  date: type('date', 'date', { years: [1, 9999] }),
  time: time('time(7)', 7),
  time0: time('time(0)', 0),
  datetime2: moment('datetime2(7)', [1, 9999], 7),
  datetime2of3: moment('datetime2(3)', [1, 9999], 3),
  /** Its milliseconds end in 0, 3 or 7. */
  datetime: { ...moment('datetime', [1753, 9999], 3), steps: 'thirds' },
  /** Its last day is 2079-06-06. */
  smalldatetime: { ...moment('smalldatetime', [1900, 2079], 0), steps: 'minutes' },
  datetimeoffset: offset('datetimeoffset(7)', 7),
  datetimeoffset0: offset('datetimeoffset(0)', 0),
  uniqueidentifier: type('uuid', 'uniqueidentifier'),
  binary: bytes('binary(4)'),
  varbinary: bytes('varbinary(40)'),
  longBinary: bytes('varbinary(max)'),
  image: type('bytes', 'image', OPAQUE),
  /** The catalog calls it `timestamp`. */
  rowversion: bytes('timestamp'),
  xml: type('unknown', 'xml', OPAQUE),
  json: type('json', 'json', OPAQUE),
  variant: type('unknown', 'sql_variant', { ...OPAQUE, readOnly: true }),
  hierarchyid: type('unknown', 'hierarchyid'),
  geometry: type('unknown', 'geometry', OPAQUE),
  geography: type('unknown', 'geography', OPAQUE),
} as const satisfies Readonly<Record<string, ValueType>>
