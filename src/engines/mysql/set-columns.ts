import { agentColumnName } from '../../core/names.js'
import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import { BINARY_CHARSET, WIRE, type WireField } from './cell-text.js'
import { valueType } from './value-types.js'

const UNSIGNED_FLAG = 32
const ENUM_FLAG = 256
const SET_FLAG = 2_048
/** What a type without a fixed count of digits has in the place of the count. */
const DECIMALS_NOT_FIXED = 31
/** The sign and the point that a decimal's length counts beside its digits. */
const SIGN_AND_POINT_CHARS = 2

const LONG_TYPES: ReadonlySet<LogicalType> = new Set<LogicalType>(['text', 'json', 'bytes', 'enum', 'unknown'])

/** Types by their number, as the catalog would write them. */
const NATIVE: ReadonlyMap<number, (field: WireField) => string> = new Map<number, (field: WireField) => string>([
  // The length is how many characters are shown, and 1 is how `boolean` is declared.
  [WIRE.tiny, (field) => withSign(field.columnLength === 1 ? 'tinyint(1)' : 'tinyint', field)],
  [WIRE.short, (field) => withSign('smallint', field)],
  [WIRE.int24, (field) => withSign('mediumint', field)],
  [WIRE.long, (field) => withSign('int', field)],
  [WIRE.longlong, (field) => withSign('bigint', field)],
  [WIRE.float, (field) => withSign('float', field)],
  [WIRE.double, (field) => withSign('double', field)],
  [WIRE.decimal, decimal],
  [WIRE.bit, ({ columnLength }) => `bit(${columnLength})`],
  [WIRE.year, () => 'year'],
  [WIRE.date, () => 'date'],
  [WIRE.time, (field) => withFraction('time', field)],
  [WIRE.datetime, (field) => withFraction('datetime', field)],
  [WIRE.timestamp, (field) => withFraction('timestamp', field)],
  [WIRE.json, () => 'json'],
  [WIRE.enum, () => 'text'],
  [WIRE.set, () => 'set'],
  [WIRE.geometry, () => 'geometry'],
  [WIRE.vector, () => 'vector'],
  ...[WIRE.varchar, WIRE.varString, WIRE.string].map((type) => [type, characters] as const),
  ...[WIRE.tinyBlob, WIRE.mediumBlob, WIRE.longBlob, WIRE.blob].map((type) => [type, characters] as const),
])

/** A column of a result set that only the answer describes. A longer cell than `cellCharsMax` is cut when it is encoded. */
export function setColumn(field: WireField, cellCharsMax: number): ResultColumn {
  const type = typeOfField(field)
  return {
    name: agentColumnName(field.name),
    type,
    ...(LONG_TYPES.has(type.logical) ? { charsMax: cellCharsMax } : {}),
  }
}

/** What introspection says of a column of this type, as far as the protocol tells: labels it does not. */
export function typeOfField(field: WireField): ValueType {
  const columnType = NATIVE.get(field.columnType)?.(field) ?? `type ${field.columnType}`
  return valueType({ columnType, characterSet: 'utf8mb4', collation: null, onlyJson: false })
}

/** Enums and sets come as texts with a flag; MariaDB names the types that it has beside the protocol's. */
function characters({ flags, characterSet, extendedTypeName, extendedFormat }: WireField): string {
  if (extendedFormat === 'json') return 'json'
  if (extendedTypeName !== undefined) return extendedTypeName
  if ((flags & SET_FLAG) !== 0) return 'set'
  if ((flags & ENUM_FLAG) !== 0) return 'text'
  return characterSet === BINARY_CHARSET ? 'blob' : 'text'
}

function decimal(field: WireField): string {
  const scale = field.decimals === DECIMALS_NOT_FIXED ? 0 : field.decimals
  const beside = (isUnsigned(field) ? 0 : 1) + (scale === 0 ? 0 : SIGN_AND_POINT_CHARS - 1)
  return withSign(`decimal(${field.columnLength - beside},${scale})`, field)
}

function withFraction(name: string, { decimals }: WireField): string {
  return decimals === 0 || decimals === DECIMALS_NOT_FIXED ? name : `${name}(${decimals})`
}

function withSign(name: string, field: WireField): string {
  return isUnsigned(field) ? `${name} unsigned` : name
}

function isUnsigned({ flags }: WireField): boolean {
  return (flags & UNSIGNED_FLAG) !== 0
}
