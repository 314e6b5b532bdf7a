import type { ValueType } from '../../src/core/schema-model.js'

/** Value types as MySQL's catalog and MariaDB's describe them, by a short name. */

const COMPARABLE = { equality: true, ordered: true } as const
const OPAQUE = { equality: false, ordered: false } as const

function whole(native: string, range: readonly [number, number]): ValueType {
  return { logical: 'integer', native, range, ...COMPARABLE }
}

function decimal(native: string, fractionDigitsMax: number): ValueType {
  return { logical: 'decimal', native, fractionDigitsMax, digitsMax: 65, ...COMPARABLE }
}

function text(native: string, rest: Partial<ValueType> = {}): ValueType {
  return { logical: 'text', native, ...COMPARABLE, ...rest }
}

function timestamp(native: string, withZone: boolean, fractionDigitsMax: number): ValueType {
  return { logical: 'timestamp', native, withZone, zeroParts: true, fractionDigitsMax, ...COMPARABLE }
}

function bytes(native: string): ValueType {
  return { logical: 'bytes', native, ...COMPARABLE }
}

/** Collations that compare texts by less than all of their characters. */
const LOOSE = { looseEquality: true } as const
const FOLDED = { looseEquality: true, foldsCase: true } as const

export const MYSQL_TYPES = {
  tinyint: whole('tinyint(4)', [-128, 127]),
  utinyint: whole('tinyint(3) unsigned', [0, 255]),
  smallint: whole('smallint(6)', [-32_768, 32_767]),
  mediumint: whole('mediumint(8) unsigned', [0, 16_777_215]),
  int: whole('int(11)', [-2_147_483_648, 2_147_483_647]),
  uint: whole('int(10) unsigned', [0, 4_294_967_295]),
  year: { ...whole('year(4)', [1901, 2155]), alsoZero: true },
  bits10: whole('bit(10)', [0, 1023]),
  bigint: { logical: 'bigint', native: 'bigint(20)', ...COMPARABLE },
  ubigint: { logical: 'bigint', native: 'bigint(20) unsigned', unsigned: true, ...COMPARABLE },
  bits64: { logical: 'bigint', native: 'bit(64)', unsigned: true, ...COMPARABLE },
  decimal: decimal('decimal(20,4)', 4),
  longDecimal: decimal('decimal(65,30)', 30),
  float: { logical: 'float', native: 'float', finite: true, single: true, ...COMPARABLE },
  double: { logical: 'float', native: 'double', finite: true, ...COMPARABLE },
  flag: { logical: 'boolean', native: 'tinyint(1)', range: [-128, 127], ...COMPARABLE },
  bit: { logical: 'boolean', native: 'bit(1)', range: [0, 1], ...COMPARABLE },
  exact: text('varchar(40)', { charsMax: 40 }),
  binary: text('varchar(40)', { charsMax: 40, ...LOOSE }),
  folded: text('varchar(40)', { charsMax: 40, ...FOLDED }),
  fixed: text('char(5)', { charsMax: 5, ...LOOSE }),
  latin1: text('varchar(40)', { charsMax: 40, repertoire: 'latin1', ...FOLDED }),
  ascii: text('varchar(40)', { charsMax: 40, repertoire: 'ascii', ...FOLDED }),
  bmp: text('varchar(40)', { charsMax: 40, repertoire: 'bmp', ...FOLDED }),
  greek: text('varchar(40)', { charsMax: 40, repertoire: 'other', ...FOLDED }),
  longtext: text('longtext', FOLDED),
  wide: text('varchar(9000)', { charsMax: 9_000, ...LOOSE }),
  datetime: timestamp('datetime(6)', false, 6),
  datetime0: timestamp('datetime', false, 0),
  timestamp: timestamp('timestamp(6)', true, 6),
  date: { logical: 'date', native: 'date', zeroParts: true, ...COMPARABLE },
  time: { logical: 'time', native: 'time(6)', withZone: false, span: true, fractionDigitsMax: 6, ...COMPARABLE },
  uuid: { logical: 'uuid', native: 'uuid', ...COMPARABLE },
  json: { logical: 'json', native: 'json', ...OPAQUE },
  varbinary: bytes('varbinary(40)'),
  fixedBytes: bytes('binary(4)'),
  blob: bytes('longblob'),
  mood: { logical: 'enum', native: "enum('sad','ok','it''s')", labels: ['sad', 'ok', "it's"], ...COMPARABLE },
  set: {
    ...{ logical: 'unknown', native: "set('a','b')", equality: true, ordered: false },
    form: { kind: 'set', members: ['a', 'b'] },
  },
  inet6: { logical: 'unknown', native: 'inet6', form: { kind: 'inet6' }, ...COMPARABLE },
  point: { logical: 'unknown', native: 'point', form: { kind: 'geometry' }, ...OPAQUE },
} as const satisfies Readonly<Record<string, ValueType>>
