import type { LogicalType, TextForm, ValueType } from '../../core/schema-model.js'

/** What the catalog says of a column's, parameter's or result's type. */
export interface CatalogType {
  /** `COLUMN_TYPE` or `DTD_IDENTIFIER`, such as `decimal(10,2) unsigned`. */
  readonly columnType: string
  /** Of character types, enums and sets alone. */
  readonly characterSet: string | null
  readonly collation: string | null
  /** A `longtext` that may hold JSON alone: what MariaDB makes of the type `json`. */
  readonly onlyJson: boolean
}

/** A type taken apart: its name, what stands in its parentheses, and whether it begins at zero. */
interface Written {
  readonly name: string
  readonly inside: string
  readonly unsigned: boolean
}

type Description = Omit<ValueType, 'native'>

const COMPARABLE = { equality: true, ordered: true }
const OPAQUE = { equality: false, ordered: false }

/** Bits of the integer types. A number of MySQL stays a JSON number as long as a double holds it exactly. */
const INTEGER_BITS: ReadonlyMap<string, number> = new Map([
  ['tinyint', 8],
  ['smallint', 16],
  ['mediumint', 24],
  ['int', 32],
  ['integer', 32],
])
const EXACT_BITS_MAX = 53
const DECIMAL_DIGITS_MAX = 65
const YEARS = [1901, 2155] as const

const GEOMETRIES = [
  ...['geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon'],
  ...['geometrycollection', 'geomcollection'],
]

const DESCRIBED: ReadonlyMap<string, (written: Written, type: CatalogType) => Description> = new Map([
  ...[...INTEGER_BITS.keys()].map((name) => [name, integerType] as const),
  ['bigint', ({ unsigned }) => ({ logical: 'bigint', ...(unsigned ? { unsigned } : {}), ...COMPARABLE })],
  ['bit', bitType],
  ['decimal', ({ inside }) => decimalType(inside)],
  ['float', (written) => ({ ...floatType(written), single: true })],
  ['double', floatType],
  ['char', charType],
  ['varchar', varcharType],
  ['tinytext', textType],
  ['text', textType],
  ['mediumtext', textType],
  ['longtext', (written, type) => (type.onlyJson ? plain('json', OPAQUE) : textType(written, type))],
  ['date', () => ({ logical: 'date', zeroParts: true, ...COMPARABLE })],
  ['datetime', ({ inside }) => timestampType(inside, false)],
  ['timestamp', ({ inside }) => timestampType(inside, true)],
  ['time', ({ inside }) => ({ logical: 'time', withZone: false, span: true, ...fraction(inside), ...COMPARABLE })],
  ['year', () => ({ logical: 'integer', range: YEARS, alsoZero: true, ...COMPARABLE })],
  ['enum', enumType],
  ['set', setType],
  ['json', () => plain('json', OPAQUE)],
  ['uuid', () => plain('uuid', COMPARABLE)],
  ['inet4', () => ({ ...plain('unknown', COMPARABLE), form: { kind: 'inet4' } })],
  ['inet6', () => ({ ...plain('unknown', COMPARABLE), form: { kind: 'inet6' } })],
  ...GEOMETRIES.map((name) => [name, geometryType] as const),
  ...['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'].map(
    (name) => [name, () => plain('bytes', COMPARABLE)] as const,
  ),
] as const satisfies readonly (readonly [string, (written: Written, type: CatalogType) => Description])[])

/** The value type of a column, a parameter or a result. What is not known here can only be read. */
export function valueType(type: CatalogType): ValueType {
  const written = takenApart(type.columnType)
  const described = DESCRIBED.get(written.name)
  return { native: type.columnType, ...(described === undefined ? plain('unknown', OPAQUE) : described(written, type)) }
}

function takenApart(columnType: string): Written {
  const [, name = '', inside = '', rest = ''] = /^(\w+)(?:\((.*)\))?(.*)$/s.exec(columnType) ?? []
  // What is padded with zeros has no sign either.
  return { name: name.toLowerCase(), inside, unsigned: /\b(unsigned|zerofill)\b/i.test(rest) }
}

function plain(logical: LogicalType, comparisons: Pick<ValueType, 'equality' | 'ordered'>): Description {
  return { logical, ...comparisons }
}

/** `tinyint(1)` is what `boolean` stands for here, and holds every other small number as well. */
function integerType({ name, inside, unsigned }: Written): Description {
  const bits = INTEGER_BITS.get(name) ?? 0
  const range = unsigned ? ([0, 2 ** bits - 1] as const) : ([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] as const)
  return { logical: name === 'tinyint' && inside === '1' ? 'boolean' : 'integer', range, ...COMPARABLE }
}

function bitType({ inside }: Written): Description {
  const bits = Number(inside === '' ? '1' : inside)
  if (bits > EXACT_BITS_MAX) return { logical: 'bigint', unsigned: true, ...COMPARABLE }
  return { logical: bits === 1 ? 'boolean' : 'integer', range: [0, 2 ** bits - 1], ...COMPARABLE }
}

function decimalType(inside: string): Description {
  const [, scale = '0'] = inside.split(',')
  return { logical: 'decimal', fractionDigitsMax: Number(scale), digitsMax: DECIMAL_DIGITS_MAX, ...COMPARABLE }
}

/** Its values are bytes of the engine's own making: outside of it they are well-known text. */
function geometryType(): Description {
  return { ...plain('unknown', OPAQUE), form: { kind: 'geometry' } }
}

/** With digits declared, a number is rounded to them. */
function floatType({ inside }: Written): Description {
  const [, scale] = inside.split(',')
  return {
    ...{ logical: 'float', finite: true, ...COMPARABLE },
    ...(scale === undefined ? {} : { fractionDigitsMax: Number(scale) }),
  }
}

function timestampType(inside: string, withZone: boolean): Description {
  return { logical: 'timestamp', withZone, zeroParts: true, ...fraction(inside), ...COMPARABLE }
}

function fraction(inside: string): Pick<ValueType, 'fractionDigitsMax'> {
  return { fractionDigitsMax: Number(inside) }
}

/** Spaces at the end of a `char` are lost when it is read, so that even an exact collation compares it loosely. */
function charType({ inside }: Written, type: CatalogType): Description {
  return { ...characters(type), looseEquality: true, charsMax: Number(inside === '' ? '1' : inside) }
}

function varcharType({ inside }: Written, type: CatalogType): Description {
  return { ...characters(type), charsMax: Number(inside) }
}

/** The limits of these types are bytes. */
function textType(_: Written, type: CatalogType): Description {
  return characters(type)
}

function characters({ characterSet, collation }: CatalogType): Description {
  const repertoire = characterSet === null ? undefined : repertoireOf(characterSet)
  return {
    logical: 'text',
    ...(collation !== null && isByteExact(collation) ? {} : { looseEquality: true }),
    ...(collation !== null && padsSpaces(collation) ? { padsSpaces: true } : {}),
    ...(collation?.endsWith('_ci') === true ? { foldsCase: true } : {}),
    ...(repertoire === undefined ? {} : { repertoire }),
    ...COMPARABLE,
  }
}

/** All did once; those that do not say so in their names. */
function padsSpaces(collation: string): boolean {
  return collation !== 'binary' && !/_(?:nopad|0900)_/.test(collation)
}

/** Only these neither disregard anything nor pad with spaces: under `utf8mb4_bin`, `a` equals `a `. */
function isByteExact(collation: string): boolean {
  return collation === 'binary' || collation === 'utf8mb4_0900_bin' || collation.endsWith('_nopad_bin')
}

const REPERTOIRES: ReadonlyMap<string, ValueType['repertoire']> = new Map<string, ValueType['repertoire']>([
  ['utf8mb4', undefined],
  ['utf16', undefined],
  ['utf16le', undefined],
  ['utf32', undefined],
  ['binary', undefined],
  ['utf8', 'bmp'],
  ['utf8mb3', 'bmp'],
  ['ucs2', 'bmp'],
  ['latin1', 'latin1'],
  ['ascii', 'ascii'],
])

function repertoireOf(characterSet: string): ValueType['repertoire'] {
  return REPERTOIRES.has(characterSet) ? REPERTOIRES.get(characterSet) : 'other'
}

/**
 * The catalog is kept in three-byte UTF-8 and shows every other character as `?`. A label that may have lost one is not the
 * label, so such an enum is text that can be compared for equality, without labels to offer.
 */
function enumType({ inside }: Written, type: CatalogType): Description {
  const labels = wordsOf(inside)
  const shown = shownWhole(labels, type)
  if (shown.length === labels.length) return { logical: 'enum', labels, ...COMPARABLE }
  return ofWords({ kind: 'words', shown })
}

/** Of a result's column nobody says what the members are, and nothing is compared with it. */
function setType({ inside }: Written, type: CatalogType): Description {
  const members = wordsOf(inside)
  if (members.length === 0) return plain('unknown', { equality: true, ordered: false })
  const shown = shownWhole(members, type)
  return ofWords(shown.length === members.length ? { kind: 'set', members } : { kind: 'words', shown, several: true })
}

/** Compared as text but sorted by a number, so it has no one order. */
function ofWords(form: TextForm): Description {
  return { ...plain('unknown', { equality: true, ordered: false }), form }
}

function shownWhole(words: readonly string[], { characterSet }: CatalogType): readonly string[] {
  const repertoire = characterSet === null ? undefined : repertoireOf(characterSet)
  if (repertoire === 'ascii' || repertoire === 'latin1' || repertoire === 'bmp') return words
  return words.filter((word) => !word.includes('?'))
}

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['n', '\n'],
  ['r', '\r'],
])

/** Labels or members as both servers write them, whatever the SQL mode: quotes are doubled, and a backslash escapes these few. */
function wordsOf(inside: string): readonly string[] {
  return [...inside.matchAll(/'((?:[^'\\]|''|\\.)*)'/gs)].map(([, label = '']) =>
    label.replaceAll(/''|\\(.)/gs, (_, escaped?: string) =>
      escaped === undefined ? "'" : (ESCAPED.get(escaped) ?? escaped),
    ),
  )
}
