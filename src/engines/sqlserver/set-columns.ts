import { agentColumnName } from '../../core/names.js'
import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import type { WireField } from './cell-text.js'
import { valueType } from './value-types.js'

const LONG_TYPES: ReadonlySet<LogicalType> = new Set<LogicalType>(['text', 'json', 'bytes', 'enum', 'unknown'])

/** The protocol's own number of a type that it sends as bytes. */
const ROWVERSION_USER_TYPE = 80
/** The length of a type that has none. */
const LENGTH_OF_MAX = 65_535

/** Types by the protocol's name, as the catalog would write them. */
const NATIVE: ReadonlyMap<string, string | ((field: WireField) => string)> = new Map<
  string,
  string | ((field: WireField) => string)
>([
  ['TinyInt', 'tinyint'],
  ['SmallInt', 'smallint'],
  ['Int', 'int'],
  ['BigInt', 'bigint'],
  ['IntN', byLength({ 1: 'tinyint', 2: 'smallint', 4: 'int', 8: 'bigint' })],
  ['Bit', 'bit'],
  ['BitN', 'bit'],
  ['Real', 'real'],
  ['Float', 'float'],
  ['FloatN', byLength({ 4: 'real', 8: 'float' })],
  ['DecimalN', 'decimal'],
  ['NumericN', 'numeric'],
  ['SmallMoney', 'smallmoney'],
  ['Money', 'money'],
  ['MoneyN', byLength({ 4: 'smallmoney', 8: 'money' })],
  ['Date', 'date'],
  ['Time', 'time'],
  ['DateTime2', 'datetime2'],
  ['DateTimeOffset', 'datetimeoffset'],
  ['SmallDateTime', 'smalldatetime'],
  ['DateTime', 'datetime'],
  ['DateTimeN', byLength({ 4: 'smalldatetime', 8: 'datetime' })],
  ['Char', 'char'],
  ['VarChar', 'varchar'],
  ['Text', 'text'],
  ['NChar', 'nchar'],
  ['NVarChar', 'nvarchar'],
  ['NText', 'ntext'],
  ['Binary', ({ userType }) => (userType === ROWVERSION_USER_TYPE ? 'timestamp' : 'binary')],
  ['VarBinary', 'varbinary'],
  ['Image', 'image'],
  ['UniqueIdentifier', 'uniqueidentifier'],
  ['Xml', 'xml'],
  ['Variant', 'sql_variant'],
  ['UDT', ({ udtInfo }) => udtInfo?.typeName ?? 'user-defined type'],
])

const FLOAT_DIGITS = 53

/** A column of a result set that only the answer describes. A longer cell than `cellCharsMax` is cut when it is encoded. */
export function setColumn(field: WireField, cellCharsMax: number): ResultColumn {
  const type = typeOfField(field)
  return {
    name: agentColumnName(field.colName),
    type,
    ...(LONG_TYPES.has(type.logical) ? { charsMax: cellCharsMax } : {}),
  }
}

/** What introspection says of a column of this type, as far as the protocol tells: a collation's name and labels it does not. */
export function typeOfField(field: WireField): ValueType {
  const native = NATIVE.get(field.type.name)
  const name = typeof native === 'function' ? native(field) : native
  return valueType({
    name: name ?? null,
    otherwise: field.type.name,
    lengthBytes: field.dataLength === undefined || field.dataLength >= LENGTH_OF_MAX ? -1 : field.dataLength,
    precision: field.precision ?? FLOAT_DIGITS,
    scale: field.scale ?? 0,
    collation: null,
    codePage: null,
    alias: false,
  })
}

/** One type of the protocol stands for several, which their lengths in bytes tell apart. */
function byLength(names: Readonly<Record<number, string>>): (field: WireField) => string {
  return ({ dataLength = 0 }) => names[dataLength] ?? 'user-defined type'
}
