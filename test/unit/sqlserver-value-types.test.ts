import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValueType } from '../../src/core/schema-model.js'
import { type CatalogType, unsupportedType, valueType } from '../../src/engines/sqlserver/value-types.js'
import { SQLSERVER_TYPES } from '../support/sqlserver-types.js'

const NUMBER = { lengthBytes: 8, precision: 0, scale: 0, collation: null, codePage: null, alias: false, otherwise: '' }

function described(name: string, rest: Partial<CatalogType> = {}): ValueType {
  return valueType({ ...NUMBER, name, ...rest })
}

const CI = { collation: 'SQL_Latin1_General_CP1_CI_AS', codePage: '1252' }
const BIN2 = { collation: 'Latin1_General_100_BIN2', codePage: '1252' }
const GREEK = { collation: 'Greek_CS_AS', codePage: '1253' }
const UTF8 = { collation: 'Latin1_General_100_CI_AS_SC_UTF8', codePage: '65001' }

/** What the catalog says of each type of the table: lengths in bytes, `max` as -1. */
const CATALOG: Readonly<Record<keyof typeof SQLSERVER_TYPES, ValueType>> = {
  tinyint: described('tinyint', { precision: 3 }),
  smallint: described('smallint', { precision: 5 }),
  int: described('int', { precision: 10 }),
  bigint: described('bigint', { precision: 19 }),
  bit: described('bit', { precision: 1 }),
  decimal: described('decimal', { precision: 20, scale: 4 }),
  numeric: described('numeric', { precision: 38 }),
  money: described('money', { precision: 19, scale: 4 }),
  smallmoney: described('smallmoney', { precision: 10, scale: 4 }),
  float: described('float', { precision: 53 }),
  real: described('real', { precision: 24 }),
  folded: described('nvarchar', { lengthBytes: 80, ...CI }),
  exact: described('nvarchar', { lengthBytes: 80, ...BIN2 }),
  fixed: described('nchar', { lengthBytes: 10, ...CI }),
  long: described('nvarchar', { lengthBytes: -1, ...CI }),
  latin1: described('varchar', { lengthBytes: 40, ...CI }),
  greek: described('varchar', { lengthBytes: 40, ...GREEK }),
  utf8: described('varchar', { lengthBytes: 40, ...UTF8 }),
  fixedLatin1: described('char', { lengthBytes: 5, ...CI }),
  longLatin1: described('varchar', { lengthBytes: -1, ...CI }),
  legacyText: described('text', { lengthBytes: 16, ...CI }),
  legacyNtext: described('ntext', { lengthBytes: 16, ...CI }),
  date: described('date', { precision: 10 }),
  time: described('time', { precision: 16, scale: 7 }),
  time0: described('time', { precision: 8 }),
  datetime2: described('datetime2', { precision: 27, scale: 7 }),
  datetime2of3: described('datetime2', { precision: 23, scale: 3 }),
  datetime: described('datetime', { precision: 23, scale: 3 }),
  smalldatetime: described('smalldatetime', { precision: 16 }),
  datetimeoffset: described('datetimeoffset', { precision: 34, scale: 7 }),
  datetimeoffset0: described('datetimeoffset', { precision: 26 }),
  uniqueidentifier: described('uniqueidentifier', { lengthBytes: 16 }),
  binary: described('binary', { lengthBytes: 4 }),
  varbinary: described('varbinary', { lengthBytes: 40 }),
  longBinary: described('varbinary', { lengthBytes: -1 }),
  image: described('image', { lengthBytes: 16 }),
  rowversion: described('timestamp'),
  xml: described('xml', { lengthBytes: -1 }),
  json: described('json', { lengthBytes: -1 }),
  variant: described('sql_variant', { lengthBytes: 8016 }),
  hierarchyid: described('hierarchyid', { lengthBytes: 892 }),
  geometry: described('geometry', { lengthBytes: -1 }),
  geography: described('geography', { lengthBytes: -1 }),
}

test('every type of SQL Server has its logical form, its bounds and its name in full', () => {
  for (const [short, expected] of Object.entries(SQLSERVER_TYPES)) {
    assert.deepEqual(CATALOG[short as keyof typeof SQLSERVER_TYPES], expected, short)
  }
})

test('an alias type is the type that it stands for, and a domain', () => {
  const { domain, ...type } = described('nvarchar', { lengthBytes: 80, ...CI, alias: true })
  assert.equal(domain, true)
  assert.deepEqual(type, SQLSERVER_TYPES.folded)
})

test('what is none of the system types, or not known yet, can only be read', () => {
  const opaque = { logical: 'unknown', equality: false, ordered: false }
  assert.deepEqual(valueType({ ...NUMBER, name: null, otherwise: 'Point' }), { ...opaque, native: 'Point' })
  assert.deepEqual(unsupportedType('table type'), { ...opaque, native: 'table type' })
  const { typeRef: _, ...vector } = described('vector', { lengthBytes: 8 + 4 * 3 })
  assert.deepEqual(vector, { ...opaque, native: 'vector(3)' })
  const { typeRef: __, ...later } = described('constructor')
  assert.deepEqual(later, { ...opaque, native: 'constructor' })
})

test('case is folded where the collation says so, and by no part of another word', () => {
  const folds = (collation: string): boolean => described('nvarchar', { collation }).foldsCase === true
  const names = ['Finnish_Swedish_CI_AI', 'sql_latin1_general_cp1_ci_as', 'X_100_CI_AS_KS_WS_SC', 'Y_CI']
  assert.deepEqual(names.map(folds), [true, true, true, true])
  const exact = ['Cyrillic_General_CS_AS', 'Latin1_General_BIN', 'Latin1_General_100_BIN2_UTF8', 'Local_CITY_CS']
  assert.deepEqual(exact.map(folds), [false, false, false, false])
})
