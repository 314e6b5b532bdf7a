import { catalogName, type LogicalType, type ValueType } from '../../core/schema-model.js'
import { type CatalogRow, textCell } from '../catalog/rows.js'

/** What the catalog says of a column's, parameter's or result's type. An alias type is described by the type it stands for. */
export interface CatalogType {
  /** The system's own name, such as `nvarchar`: its numbers are not asked for. Null for a type that is none of the system's. */
  readonly name: string | null
  /** How an operator knows a type that is none of the system's. */
  readonly otherwise: string
  /** In bytes; -1 for `max`. */
  readonly lengthBytes: number
  readonly precision: number
  readonly scale: number
  /** Of character types alone. */
  readonly collation: string | null
  /** The collation's code page, in which what is no `n` type is kept. */
  readonly codePage: string | null
  readonly alias: boolean
}

/** Cells of a `CatalogType` in every query that asks for one. */
export const TYPE_CELLS = 8

/** The type in a row's cells from `from` on. */
export function catalogType(row: CatalogRow, from: number): CatalogType {
  return {
    name: row[from] ?? null,
    otherwise: row[from + 1] ?? 'user-defined type',
    lengthBytes: Number(textCell(row, from + 2)),
    precision: Number(textCell(row, from + 3)),
    scale: Number(textCell(row, from + 4)),
    collation: row[from + 5] ?? null,
    codePage: row[from + 6] ?? null,
    alias: textCell(row, from + 7) === '1',
  }
}

/** A description without the parts that every type has; `inside` is what stands in the parentheses of its native name. */
type Description = Omit<ValueType, 'native' | 'typeRef' | 'domain'> & { readonly inside?: string }

const COMPARABLE = { equality: true, ordered: true }
const OPAQUE = { equality: false, ordered: false }

const DECIMAL_DIGITS_MAX = 38
const MONEY_FRACTION_DIGITS = 4
const EVERY_YEAR = [1, 9999] as const
const OFFSET_MINUTES_MAX = 14 * 60
const VECTOR_HEADER_BYTES = 8
const VECTOR_ELEMENT_BYTES = 4

const DESCRIBED: ReadonlyMap<string, (type: CatalogType) => Description> = new Map([
  ['bit', () => plain('boolean', COMPARABLE)],
  ['tinyint', () => whole(0, 255)],
  ['smallint', () => whole(-32_768, 32_767)],
  ['int', () => whole(-2_147_483_648, 2_147_483_647)],
  ['bigint', () => plain('bigint', COMPARABLE)],
  ['decimal', decimalType],
  ['numeric', decimalType],
  ['money', moneyType],
  ['smallmoney', moneyType],
  ['float', ({ precision }) => ({ ...floatType(), inside: String(precision) })],
  ['real', () => ({ ...floatType(), single: true })],
  ['char', (type) => lengthOf(narrowText(type), type.lengthBytes)],
  ['varchar', (type) => lengthOf(narrowText(type), type.lengthBytes)],
  // Two bytes are one unit of UTF-16; the server counts a character beyond the first 65,536 as two, and refuses it then.
  ['nchar', (type) => lengthOf(characters(type), type.lengthBytes / 2)],
  ['nvarchar', (type) => lengthOf(characters(type), type.lengthBytes < 0 ? -1 : type.lengthBytes / 2)],
  ['text', (type) => ({ ...narrowText(type), ...OPAQUE })],
  ['ntext', (type) => ({ ...characters(type), ...OPAQUE })],
  ['date', () => ({ logical: 'date', years: EVERY_YEAR, ...COMPARABLE })],
  ['time', timeType],
  ['datetime', () => ({ ...moment([1753, 9999], 3), steps: 'thirds' })],
  ['smalldatetime', () => ({ ...moment([1900, 2079], 0), steps: 'minutes' })],
  ['datetime2', ({ scale }) => ({ ...moment(EVERY_YEAR, scale), inside: String(scale) })],
  ['datetimeoffset', offsetType],
  ['uniqueidentifier', () => plain('uuid', COMPARABLE)],
  ['binary', ({ lengthBytes }) => ({ ...bytesType(), inside: lengthText(lengthBytes) })],
  ['varbinary', ({ lengthBytes }) => ({ ...bytesType(), inside: lengthText(lengthBytes) })],
  ['timestamp', bytesType],
  ['image', () => plain('bytes', OPAQUE)],
  ['json', () => plain('json', OPAQUE)],
  ['hierarchyid', () => plain('unknown', COMPARABLE)],
  ['xml', () => plain('unknown', OPAQUE)],
  ['sql_variant', () => ({ ...plain('unknown', OPAQUE), readOnly: true as const })],
  ['geometry', () => plain('unknown', OPAQUE)],
  ['geography', () => plain('unknown', OPAQUE)],
  ['vector', vectorType],
] as const satisfies readonly (readonly [string, (type: CatalogType) => Description])[])

/** The value type of a column, a parameter or a result. What is not known here can only be read. */
export function valueType(type: CatalogType): ValueType {
  const { name, alias } = type
  if (name === null) return { logical: 'unknown', native: type.otherwise, ...OPAQUE }
  const { inside, ...description } = DESCRIBED.get(name)?.(type) ?? plain('unknown', OPAQUE)
  return {
    ...description,
    native: inside === undefined ? name : `${name}(${inside})`,
    typeRef: { schema: catalogName('sys'), name: catalogName(name) },
    ...(alias ? { domain: true as const } : {}),
  }
}

/** A type that no plan can bind, under a name that says what it is. */
export function unsupportedType(native: string): ValueType {
  return { logical: 'unknown', native, ...OPAQUE }
}

function plain(logical: LogicalType, comparisons: Pick<ValueType, 'equality' | 'ordered'>): Description {
  return { logical, ...comparisons }
}

function whole(low: number, high: number): Description {
  return { logical: 'integer', range: [low, high], ...COMPARABLE }
}

function decimalType({ precision, scale }: CatalogType): Description {
  return { ...decimalOf(precision, scale), inside: `${precision},${scale}` }
}

function moneyType({ name }: CatalogType): Description {
  return decimalOf(name === 'money' ? 19 : 10, MONEY_FRACTION_DIGITS)
}

function decimalOf(precision: number, fractionDigitsMax: number): Description {
  return { logical: 'decimal', precision, fractionDigitsMax, digitsMax: DECIMAL_DIGITS_MAX, ...COMPARABLE }
}

function floatType(): Description {
  return { logical: 'float', finite: true, normal: true, ...COMPARABLE }
}

/** Every collation lets spaces follow a shorter text, the exact ones too, so that none compares exactly. */
function characters({ collation }: CatalogType): Description {
  return {
    logical: 'text',
    looseEquality: true,
    padsSpaces: true,
    extremesVary: true,
    ...(collation === null ? {} : { collation: catalogName(collation) }),
    ...(collation !== null && /_CI(?:_|$)/i.test(collation) ? { foldsCase: true } : {}),
    ...COMPARABLE,
  }
}

/** What is no `n` type is kept in its collation's code page, and every other character becomes a question mark. */
function narrowText(type: CatalogType): Description {
  const repertoire = repertoireOf(type.codePage)
  return { ...characters(type), ...(repertoire === undefined ? {} : { repertoire }) }
}

const UTF8 = '65001'
const WINDOWS_LATIN1 = '1252'

function repertoireOf(codePage: string | null): ValueType['repertoire'] {
  if (codePage === UTF8) return undefined
  return codePage === WINDOWS_LATIN1 ? 'latin1' : 'other'
}

function lengthOf(description: Description, charsMax: number): Description {
  return { ...description, ...(charsMax < 0 ? {} : { charsMax }), inside: lengthText(charsMax) }
}

function lengthText(length: number): string {
  return length < 0 ? 'max' : String(length)
}

function moment(years: readonly [number, number], fractionDigitsMax: number): Description {
  return { logical: 'timestamp', withZone: false, years, fractionDigitsMax, ...COMPARABLE }
}

/** Equal moments may have different offsets, and keep them. */
function offsetType({ scale }: CatalogType): Description {
  const bounds = { years: EVERY_YEAR, offsetMinutesMax: OFFSET_MINUTES_MAX, fractionDigitsMax: scale }
  return { logical: 'timestamp', withZone: true, ...bounds, looseEquality: true, ...COMPARABLE, inside: String(scale) }
}

function timeType({ scale }: CatalogType): Description {
  const bounds = { fractionDigitsMax: scale, endsBeforeMidnight: true as const }
  return { logical: 'time', withZone: false, ...bounds, ...COMPARABLE, inside: String(scale) }
}

/** Of two that differ in zeros at their ends alone, the server says that they are equal. */
function bytesType(): Description {
  return { logical: 'bytes', looseEquality: true, ...COMPARABLE }
}

function vectorType({ lengthBytes }: CatalogType): Description {
  const elements = (lengthBytes - VECTOR_HEADER_BYTES) / VECTOR_ELEMENT_BYTES
  return { ...plain('unknown', OPAQUE), inside: String(elements) }
}
