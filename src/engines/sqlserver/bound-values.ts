import { floatPlace, type Place } from '../../core/float-value.js'
import type { PlanValue } from '../../core/plan.js'
import type { LogicalType, ValueType } from '../../core/schema-model.js'
import type { Param } from '../../core/statement.js'
import { tooFine } from '../../core/value.js'
import type { SqlWriter } from '../sql/sql-writer.js'
import { baseName, writeType } from './native-types.js'

/**
 * How a plan's value is bound, and where it lies among those that a column can hold. Every value but a text is cast to the
 * column's own type, so that the column is not converted and its index is used. Whatever the cast would round or refuse is
 * settled here: the server never sees a value that the column cannot hold.
 */

/** Where a value lies among those of a type that is compared by itself. What is no value of it is the server's to refuse. */
export function placeOf(type: ValueType, value: PlanValue): Place {
  switch (type.logical) {
    case 'decimal':
      return decimalPlace(type, value)
    case 'float':
      return floatPlace(type, value)
    case 'timestamp':
    case 'time':
      return momentPlace(type, value)
    default:
      return { kind: 'at', value }
  }
}

/** The numbers of the scale's smallest unit between which a decimal of the type lies. */
function unitRange(type: ValueType, precision: number): readonly [bigint, bigint] {
  switch (baseName(type)) {
    case 'money':
      return [-(2n ** 63n), 2n ** 63n - 1n]
    case 'smallmoney':
      return [-(2n ** 31n), 2n ** 31n - 1n]
    default:
      return [1n - 10n ** BigInt(precision), 10n ** BigInt(precision) - 1n]
  }
}

const DECIMAL_DIGITS_MAX = 38

const DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?$/

function decimalPlace(type: ValueType, value: PlanValue): Place {
  if (!DECIMAL.test(value)) return { kind: 'at', value }
  const { precision = DECIMAL_DIGITS_MAX, fractionDigitsMax: scale = 0 } = type
  const negative = value.startsWith('-')
  const [whole = '', fraction = ''] = value.replace('-', '').split('.')
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0')) * (negative ? -1n : 1n)
  const rounded = /[1-9]/.test(fraction.slice(scale))
  const units = rounded && negative ? kept - 1n : kept
  const [least, greatest] = unitRange(type, precision)
  if (units > greatest) return { kind: 'over' }
  if (units < least) return { kind: 'under' }
  // Above the greatest there is no next one, but what is greater than it is greater than all all the same.
  return { kind: rounded ? 'above' : 'at', value: decimalText(units, scale) }
}

function decimalText(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const point = digits.length - scale
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
  return units < 0n ? `-${text}` : text
}

const CLOCK = /^(.*?[0-9]{2}:[0-9]{2}:)([0-9]{2})(?:\.([0-9]+))?((?:Z|[+-][0-9:]+)?)$/

/** The last that a `smalldatetime` holds, as text: all its years have four digits. */
const LAST_SMALL = '2079-06-06T23:59:59.9999999'

/** Earlier digits of a time are earlier times, so that what is cut off leaves the one before. */
function momentPlace(type: ValueType, value: PlanValue): Place {
  const match = CLOCK.exec(value)
  if (match === null) return { kind: 'at', value }
  const [, start = '', seconds = '', fraction = '', offset = ''] = match
  if (type.steps === 'minutes' && value > LAST_SMALL) return { kind: 'over' }
  const digits = heldDigits(type, seconds, fraction)
  const held = `${start}${digits}${offset}`
  return { kind: tooFine(type, value) ? 'above' : 'at', value: held }
}

function heldDigits({ steps, fractionDigitsMax = 0 }: ValueType, seconds: string, fraction: string): string {
  if (steps === 'minutes') return '00'
  const kept = fraction.slice(0, fractionDigitsMax)
  if (steps === 'thirds') return `${seconds}.${lastThird(kept.padEnd(3, '0'))}`
  return kept === '' ? seconds : `${seconds}.${kept}`
}

/** Milliseconds are held as thirds of ten: those that end in 0, 3 and 7. */
function lastThird(milliseconds: string): string {
  const last = Number(milliseconds[2])
  return `${milliseconds.slice(0, 2)}${last < 3 ? 0 : last < 7 ? 3 : 7}`
}

type Bind = (value: PlanValue, type: ValueType) => Param

const text: Bind = (value) => value
const integer: Bind = (value) => ({ type: 'integer', value })

const BINDINGS: Readonly<Record<LogicalType, Bind>> = {
  integer,
  bigint: integer,
  decimal: (value) => ({ type: 'decimal', value }),
  float: (value) => ({ type: 'float', value }),
  bytes: (value) => ({ type: 'bytes', value }),
  boolean: (value) => ({ type: 'integer', value: value === 'true' ? '1' : '0' }),
  timestamp: text,
  text,
  date: text,
  time: text,
  interval: text,
  uuid: text,
  json: text,
  enum: text,
  array: text,
  unknown: text,
}

/** Types whose values are bound as just what they are. */
const BOUND_AS_THEY_ARE: ReadonlySet<string> = new Set(['bigint', 'float'])

/** A parameter for a value that the column can hold, as a value of the column's type. A cast would cut texts and bytes. */
export function writeBound(w: SqlWriter, type: ValueType, value: PlanValue): void {
  const param = BINDINGS[type.logical](value, type)
  if (BOUND_AS_THEY_ARE.has(baseName(type)) || type.logical === 'bytes' || type.logical === 'text') {
    w.param(param)
    return
  }
  w.keyword('CAST(').param(param).keyword(' AS ')
  writeType(w, type)
  w.keyword(')')
}

/** Digits that tell a double from every other, so that its text is read back as the same one. */
const DOUBLE_DIGITS = 17

/** A value as a member of a JSON list, from which the server casts it. */
export function listed(type: ValueType, value: PlanValue): string {
  switch (type.logical) {
    case 'float':
      return Number(value).toExponential(DOUBLE_DIGITS - 1)
    case 'boolean':
      return value === 'true' ? '1' : '0'
    case 'bytes':
      return Buffer.from(value, 'base64').toString('hex')
    default:
      return value
  }
}
