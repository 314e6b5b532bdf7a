import { shortestSingle } from '../../core/float-value.js'

/** What the protocol says of one column, as `tedious` reads it. */
export interface WireField {
  readonly colName: string
  readonly type: { readonly name: string }
  /** The type that a client should take the column for, where that is another than the one on the wire. */
  readonly userType: number
  readonly precision: number | undefined
  readonly scale: number | undefined
  /** Bytes, of types of a length. */
  readonly dataLength: number | undefined
  readonly udtInfo: { readonly typeName: string } | undefined
}

/** What has to be known of a value to read its bytes. */
export type ByteField = Pick<WireField, 'type' | 'precision' | 'scale'>

/** Days from the first of January of the year 1, which dates are counted from, to 1970. */
const DAYS_TO_1970 = 719_162
/** Days from 1900, which the older types count from, to 1970. */
const DAYS_1900_TO_1970 = 25_567
const DAY_MS = 86_400_000
const MONEY_DIGITS = 4
/** What the older type of a time counts in. */
const TICKS_A_SECOND = 300

/**
 * The exact text of a value of a type that `tedious` makes a rounded number or a date without its offset of. `bytes` are
 * those of the value itself, without its length. Undefined for a type whose value `tedious` keeps exactly.
 */
export function exactText(bytes: Buffer, { type, scale = 0 }: ByteField): string | undefined {
  switch (type.name) {
    case 'NumericN':
    case 'DecimalN':
      return decimalText(bytes, scale)
    case 'Money':
    case 'SmallMoney':
    case 'MoneyN':
      return moneyText(bytes)
    case 'Real':
      return shortestSingle(bytes.readFloatLE(0))
    case 'Date':
      return dateText(bytes.readUIntLE(0, 3) - DAYS_TO_1970)
    case 'Time':
      return timeText(bytes, scale)
    case 'DateTime2':
      return dateTimeText(bytes, scale)
    case 'DateTimeOffset':
      return offsetText(bytes, scale)
    case 'DateTime':
    case 'SmallDateTime':
    case 'DateTimeN':
      return oldDateTimeText(bytes)
    default:
      return undefined
  }
}

/** How many bytes stand before those of a value of these types: nothing, or its length. */
export function lengthBytes(type: string): number {
  return ['Money', 'SmallMoney', 'DateTime', 'SmallDateTime', 'Real'].includes(type) ? 0 : 1
}

/** A sign, then the digits as one number, least significant byte first. */
function decimalText(bytes: Buffer, scale: number): string {
  let digits = 0n
  for (let at = bytes.length - 1; at > 0; at--) digits = digits * 256n + BigInt(bytes[at] ?? 0)
  return withPoint(bytes[0] === 0 ? -digits : digits, scale)
}

/** The eight bytes are two numbers of four, the higher one first. */
function moneyText(bytes: Buffer): string {
  if (bytes.length === 4) return withPoint(BigInt(bytes.readInt32LE(0)), MONEY_DIGITS)
  const high = BigInt(bytes.readInt32LE(0))
  return withPoint(high * 4_294_967_296n + BigInt(bytes.readUInt32LE(4)), MONEY_DIGITS)
}

function withPoint(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : ''
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** The first day of the type to the last of the year 9999, of the calendar that JavaScript counts in as well. */
function dateText(daysFrom1970: number): string {
  return new Date(daysFrom1970 * DAY_MS).toISOString().slice(0, 10)
}

function timeText(bytes: Buffer, scale: number): string {
  return clockText(BigInt(bytes.readUIntLE(0, bytes.length)), scale)
}

/** `units` of a second with so many digits, from midnight. */
function clockText(units: bigint, digits: number): string {
  const second = 10n ** BigInt(digits)
  const seconds = units / second
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => String(part).padStart(2, '0'))
  return digits === 0 ? clock.join(':') : `${clock.join(':')}.${String(units % second).padStart(digits, '0')}`
}

function dateTimeText(bytes: Buffer, scale: number): string {
  const time = bytes.subarray(0, -3)
  return `${dateText(bytes.readUIntLE(time.length, 3) - DAYS_TO_1970)} ${timeText(time, scale)}`
}

/** The protocol gives the instant in UTC and how many minutes the value's own clock is ahead of it. */
function offsetText(bytes: Buffer, scale: number): string {
  const time = bytes.subarray(0, -5)
  const second = 10n ** BigInt(scale)
  const day = 86_400n * second
  const offset = bytes.readInt16LE(bytes.length - 2)
  const units =
    BigInt(bytes.readUIntLE(time.length, 3)) * day +
    BigInt(time.readUIntLE(0, time.length)) +
    BigInt(offset) * 60n * second
  const ahead = Math.abs(offset)
  const zone = [Math.trunc(ahead / 60), ahead % 60].map((part) => String(part).padStart(2, '0')).join(':')
  return `${dateText(Number(units / day) - DAYS_TO_1970)} ${clockText(units % day, scale)} ${offset < 0 ? '-' : '+'}${zone}`
}

/** Eight bytes: days and three-hundredths of a second. Four: days and minutes. */
function oldDateTimeText(bytes: Buffer): string {
  if (bytes.length === 4) {
    const seconds = BigInt(bytes.readUInt16LE(2)) * 60n
    return `${dateText(bytes.readUInt16LE(0) - DAYS_1900_TO_1970)} ${clockText(seconds, 0)}`
  }
  const ticks = bytes.readUInt32LE(4)
  // A tick is shown as the nearest thousandth, as the server itself shows it.
  const ms = BigInt(Math.round((ticks * 1_000) / TICKS_A_SECOND))
  return `${dateText(bytes.readInt32LE(0) - DAYS_1900_TO_1970)} ${clockText(ms, 3)}`
}

/** Types whose values reach `cellText` as numbers only when their exact bytes were not read. */
const EXACT_TYPES: ReadonlySet<string> = new Set(['NumericN', 'DecimalN', 'Money', 'SmallMoney', 'MoneyN'])

/**
 * The text that the engine itself would write of a cell: no digit is lost, and nothing depends on this process's zone. Bytes
 * are hexadecimal digits, a bit is 1 or 0, a float is the shortest text that reads back as the same value.
 */
export function cellText(value: unknown, field: WireField): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'number' && !EXACT_TYPES.has(field.type.name)) {
    return isSinglePrecision(field) ? shortestSingle(value) : String(value)
  }
  if (Buffer.isBuffer(value)) return value.toString('hex').toUpperCase()
  throw new Error(`a cell of the wire type ${field.type.name} came as ${typeof value}`)
}

function isSinglePrecision({ type, dataLength }: WireField): boolean {
  return type.name === 'FloatN' && dataLength === 4
}

/** Types of a cell that a statement of the dialect returns: it makes text or a whole number of everything in SQL. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...['NVarChar', 'VarChar', 'NChar', 'Char', 'NText', 'Text'],
  ...['TinyInt', 'SmallInt', 'Int', 'BigInt', 'IntN', 'Null'],
])

export function isConverted({ type }: WireField): boolean {
  return CONVERTED.has(type.name)
}
