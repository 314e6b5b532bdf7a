import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValueType } from '../../src/core/schema-model.js'
import { type CatalogType, valueType } from '../../src/engines/mysql/value-types.js'

const COMPARABLE = { equality: true, ordered: true }
const OPAQUE = { equality: false, ordered: false }

function described(columnType: string, rest: Partial<CatalogType> = {}): Omit<ValueType, 'native'> {
  const { native, ...type } = valueType({ columnType, characterSet: null, collation: null, onlyJson: false, ...rest })
  assert.equal(native, columnType, 'the type as the catalog writes it')
  return type
}

function text(columnType: string, characterSet: string, collation: string): Omit<ValueType, 'native'> {
  return described(columnType, { characterSet, collation })
}

function labels(columnType: string, characterSet = 'utf8mb4'): readonly string[] | undefined {
  return text(columnType, characterSet, `${characterSet}_bin`).labels
}

test('numbers have the range of their type, and none of the width that they are shown in', () => {
  const integer = (columnType: string, ...range: readonly number[]): void =>
    assert.deepEqual(described(columnType), { logical: 'integer', range, ...COMPARABLE }, columnType)
  integer('tinyint(4)', -128, 127)
  integer('tinyint', -128, 127)
  integer('tinyint(3) unsigned', 0, 255)
  integer('smallint(6)', -32_768, 32_767)
  integer('smallint unsigned', 0, 65_535)
  integer('mediumint(9)', -8_388_608, 8_388_607)
  integer('mediumint(8) unsigned zerofill', 0, 16_777_215)
  integer('int', -2_147_483_648, 2_147_483_647)
  integer('int(3)', -2_147_483_648, 2_147_483_647)
  integer('int(1)', -2_147_483_648, 2_147_483_647)
  integer('int(10) unsigned', 0, 4_294_967_295)
  integer('int(5) zerofill', 0, 4_294_967_295)
  integer('bit(2)', 0, 3)
  integer('bit(53)', 0, Number.MAX_SAFE_INTEGER)
  assert.deepEqual(described('bigint(20)'), { logical: 'bigint', ...COMPARABLE })
  assert.deepEqual(described('bigint unsigned'), { logical: 'bigint', unsigned: true, ...COMPARABLE })
  assert.deepEqual(described('bit(54)'), { logical: 'bigint', unsigned: true, ...COMPARABLE })
  assert.deepEqual(described('year(4)'), { logical: 'integer', range: [1901, 2155], alsoZero: true, ...COMPARABLE })
})

test('the smallest numbers stand for booleans, and say which other values they hold', () => {
  const boolean = (columnType: string, ...range: readonly number[]): void =>
    assert.deepEqual(described(columnType), { logical: 'boolean', range, ...COMPARABLE }, columnType)
  boolean('tinyint(1)', -128, 127)
  boolean('tinyint(1) unsigned', 0, 255)
  boolean('bit(1)', 0, 1)
})

test('decimals keep the digits that they declare; floats are finite', () => {
  const decimal = { logical: 'decimal', digitsMax: 65, ...COMPARABLE }
  assert.deepEqual(described('decimal(10,2)'), { ...decimal, fractionDigitsMax: 2 })
  assert.deepEqual(described('decimal(65,38) unsigned zerofill'), { ...decimal, fractionDigitsMax: 38 })
  assert.deepEqual(described('decimal(5,0)'), { ...decimal, fractionDigitsMax: 0 })
  const double = { logical: 'float', finite: true, ...COMPARABLE }
  assert.deepEqual(described('double'), double)
  assert.deepEqual(described('float'), { ...double, single: true })
  assert.deepEqual(described('float(7,3)'), { ...double, single: true, fractionDigitsMax: 3 })
  assert.deepEqual(described('double(8,2) unsigned'), { ...double, fractionDigitsMax: 2 })
})

test('dates may have parts that are zero, a time is a span, and only `timestamp` is a moment', () => {
  assert.deepEqual(described('date'), { logical: 'date', zeroParts: true, ...COMPARABLE })
  const timestamp = { logical: 'timestamp', zeroParts: true, ...COMPARABLE }
  assert.deepEqual(described('datetime'), { ...timestamp, withZone: false, fractionDigitsMax: 0 })
  assert.deepEqual(described('datetime(6)'), { ...timestamp, withZone: false, fractionDigitsMax: 6 })
  assert.deepEqual(described('timestamp(3)'), { ...timestamp, withZone: true, fractionDigitsMax: 3 })
  const time = { logical: 'time', withZone: false, span: true, ...COMPARABLE }
  assert.deepEqual(described('time'), { ...time, fractionDigitsMax: 0 })
  assert.deepEqual(described('time(2)'), { ...time, fractionDigitsMax: 2 })
})

test('text is exact only where its collation disregards nothing and pads nothing', () => {
  const exact = { logical: 'text', ...COMPARABLE }
  assert.deepEqual(text('varchar(9)', 'utf8mb4', 'utf8mb4_nopad_bin'), { ...exact, charsMax: 9 })
  assert.deepEqual(text('varchar(9)', 'utf8mb4', 'utf8mb4_0900_bin'), { ...exact, charsMax: 9 })
  assert.deepEqual(text('longtext', 'utf8mb4', 'utf8mb4_0900_bin'), exact)
  const loose = { ...exact, looseEquality: true }
  assert.deepEqual(
    text('varchar(9)', 'utf8mb4', 'utf8mb4_bin'),
    { ...loose, padsSpaces: true, charsMax: 9 },
    'spaces at the end',
  )
  assert.deepEqual(text('text', 'utf8mb4', 'utf8mb4_0900_as_cs'), loose)
  assert.deepEqual(text('tinytext', 'utf8mb4', 'utf8mb4_general_nopad_ci'), { ...loose, foldsCase: true })
  assert.deepEqual(text('mediumtext', 'utf8mb4', 'utf8mb4_uca1400_ai_ci'), {
    ...loose,
    padsSpaces: true,
    foldsCase: true,
  })
  assert.deepEqual(text('char(5)', 'utf8mb4', 'utf8mb4_nopad_bin'), { ...loose, charsMax: 5 })
})

test('text tells which characters its character set has', () => {
  const repertoire = (characterSet: string): string | undefined =>
    text('varchar(9)', characterSet, `${characterSet}_bin`).repertoire
  assert.deepEqual(['utf8mb4', 'utf16', 'utf16le', 'utf32'].map(repertoire), [
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  assert.deepEqual(['utf8', 'utf8mb3', 'ucs2'].map(repertoire), ['bmp', 'bmp', 'bmp'])
  assert.deepEqual(['latin1', 'ascii', 'sjis', 'cp1251', 'gb18030'].map(repertoire), [
    'latin1',
    'ascii',
    'other',
    'other',
    'other',
  ])
})

test('labels arrive as they were written, whatever they hold', () => {
  assert.deepEqual(text("enum('b','a')", 'utf8mb4', 'utf8mb4_bin'), {
    logical: 'enum',
    labels: ['b', 'a'],
    ...COMPARABLE,
  })
  assert.deepEqual(
    labels(
      String.raw`enum('a,b','c''d','','e\\f','\\','''','g"h','(i)','j),(''k','\\''','l\nm','n\ro','p\0q','r	s',' t')`,
    ),
    ['a,b', "c'd", '', 'e\\f', '\\', "'", 'g"h', '(i)', "j),('k", "\\'", 'l\nm', 'n\ro', 'p\0q', 'r\ts', ' t'],
  )
})

test('an enum whose labels the catalog may have lost characters of offers none', () => {
  const lost = (...shown: readonly string[]) => ({
    ...{ logical: 'unknown', equality: true, ordered: false },
    form: { kind: 'words', shown },
  })
  assert.deepEqual(text("enum('a','?')", 'utf8mb4', 'utf8mb4_bin'), lost('a'))
  assert.deepEqual(text("enum('why?')", 'gb18030', 'gb18030_bin'), lost())
  assert.deepEqual(labels("enum('why?')", 'latin1'), ['why?'], 'the catalog has every character of this one')
  assert.deepEqual(labels("enum('why?')", 'utf8mb3'), ['why?'])
})

test('json is never compared, bytes are, and what is not known is only read', () => {
  assert.deepEqual(described('json'), { logical: 'json', ...OPAQUE })
  const longtext = { characterSet: 'utf8mb4', collation: 'utf8mb4_bin' }
  assert.deepEqual(described('longtext', { ...longtext, onlyJson: true }), { logical: 'json', ...OPAQUE })
  assert.equal(described('longtext', longtext).logical, 'text')
  assert.equal(described('varchar(20)', { ...longtext, onlyJson: true }).logical, 'text')
  for (const columnType of ['binary(4)', 'varbinary(9)', 'tinyblob', 'blob', 'mediumblob', 'longblob']) {
    assert.deepEqual(described(columnType), { logical: 'bytes', ...COMPARABLE })
  }
  assert.deepEqual(described('blob /*M!100301 COMPRESSED*/'), { logical: 'bytes', ...COMPARABLE })
  assert.deepEqual(described('uuid'), { logical: 'uuid', ...COMPARABLE })
  for (const kind of ['inet4', 'inet6']) {
    assert.deepEqual(described(kind), { logical: 'unknown', form: { kind }, ...COMPARABLE })
  }
  for (const columnType of ['geometry', 'point', 'multipolygon', 'geomcollection']) {
    assert.deepEqual(described(columnType), { logical: 'unknown', form: { kind: 'geometry' }, ...OPAQUE })
  }
  for (const columnType of ['vector(3)', 'xmltype', '']) {
    assert.deepEqual(described(columnType), { logical: 'unknown', ...OPAQUE })
  }
})

test('a set has its members in their order, unless the catalog may have lost characters of one', () => {
  const set = { logical: 'unknown', equality: true, ordered: false }
  assert.deepEqual(text("set('b','a','it''s')", 'utf8mb4', 'utf8mb4_bin'), {
    ...set,
    form: { kind: 'set', members: ['b', 'a', "it's"] },
  })
  assert.deepEqual(text("set('a','?')", 'utf8mb4', 'utf8mb4_bin'), {
    ...set,
    form: { kind: 'words', shown: ['a'], several: true },
  })
  assert.deepEqual(described('set'), set, 'of a result nobody says what they are')
})
