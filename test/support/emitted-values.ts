import fc from 'fast-check'
import type { DialectUnderTest } from './dialects.js'
import type { MYSQL_TYPES } from './mysql-types.js'
import type { TYPES } from './schema.js'
import type { SQLSERVER_TYPES } from './sqlserver-types.js'

type Emitted<Types> = Readonly<Partial<Record<keyof Types, fc.Arbitrary<string>>>>

const pad = (value: number, width: number): string => String(value).padStart(width, '0')

const day = fc
  .record({
    year: fc.integer({ min: 1, max: 99_999 }),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 28 }),
  })
  .map((d) => `${pad(d.year, 4)}-${pad(d.month, 2)}-${pad(d.day, 2)}`)
const clock = fc
  .record({
    h: fc.integer({ min: 0, max: 23 }),
    m: fc.integer({ min: 0, max: 59 }),
    s: fc.integer({ min: 0, max: 59 }),
    f: fc.integer({ min: 0, max: 999_999 }),
  })
  .map(({ h, m, s, f }) => `${pad(h, 2)}:${pad(m, 2)}:${pad(s, 2)}${f === 0 ? '' : `.${pad(f, 6).replace(/0+$/, '')}`}`)
const offset = fc.constantFrom('+00', '-05', '+05:30', '-04:56:02')
const era = fc.constantFrom('', '', ' BC')

const anyText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'))

/** The texts PostgreSQL gives for values of each type, in the output settings of the gateway's sessions. */
const POSTGRES: Emitted<typeof TYPES> = {
  integer: fc.integer().map(String),
  bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  decimal: fc.oneof(
    fc
      .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat({ max: 9999 }))
      .map(([a, b]) => `${a}.${pad(b, 4)}`),
    fc.constantFrom('NaN', 'Infinity', '-Infinity', '0', '0.0000'),
  ),
  float: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? '-0' : String(value))),
    fc.constantFrom('NaN', 'Infinity', '-Infinity', '1e-07', '1e+20'),
  ),
  boolean: fc.constantFrom('t', 'f'),
  timestamptz: fc.tuple(day, clock, offset, era).map(([d, c, o, e]) => `${d} ${c}${o}${e}`),
  timestamp: fc.oneof(
    fc.tuple(day, clock, era).map(([d, c, e]) => `${d} ${c}${e}`),
    fc.constantFrom('infinity', '-infinity'),
  ),
  date: fc.oneof(
    fc.tuple(day, era).map(([d, e]) => d + e),
    fc.constantFrom('infinity', '-infinity'),
  ),
  time: fc.oneof(clock, fc.constant('24:00:00')),
  timetz: fc.tuple(clock, offset).map(([c, o]) => c + o),
  interval: fc
    .tuple(fc.integer({ min: -99, max: 99 }), fc.integer({ min: -999, max: 999 }), fc.integer({ min: -59, max: 59 }))
    .map(([y, h, s]) => (y === 0 && h === 0 && s === 0 ? 'PT0S' : `P${y}YT${h}H${s}.5S`)),
  uuid: fc.uuid(),
  bytes: fc.uint8Array({ maxLength: 40 }).map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`),
  mood: fc.constantFrom('sad', 'ok', 'happy'),
  text: anyText,
  inet: fc.constantFrom('10.0.0.0/8', '::1'),
}

/** Month and day may be zero each, and the year as well. */
const partialDay = fc.oneof(
  fc
    .record({
      year: fc.integer({ min: 0, max: 9_999 }),
      month: fc.integer({ min: 0, max: 12 }),
      day: fc.integer({ min: 0, max: 28 }),
    })
    .map((d) => `${pad(d.year, 4)}-${pad(d.month, 2)}-${pad(d.day, 2)}`),
  fc.constantFrom('0000-00-00', '2024-00-00', '2024-05-00', '0000-02-28', '2024-02-29', '2000-02-29', '9999-12-31'),
)

/** As many digits as declared, whatever they are. */
const microseconds = fc.integer({ min: 0, max: 999_999 }).map((digits) => pad(digits, 6))
const wholeClock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 59 }))
  .map(([h, m, s]) => `${pad(h, 2)}:${pad(m, 2)}:${pad(s, 2)}`)

function wholeNumber(min: bigint, max: bigint): fc.Arbitrary<string> {
  return fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max)).map(String)
}

function decimal(digitsMax: bigint, scale: number): fc.Arbitrary<string> {
  const largest = 10n ** digitsMax - 1n
  return fc
    .oneof(fc.bigInt({ min: -largest, max: largest }), fc.constantFrom(0n, 1n, -1n, largest, -largest))
    .map((n) => {
      const digits = String(n < 0n ? -n : n).padStart(scale + 1, '0')
      return `${n < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
    })
}

const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  fc.constantFrom('1.7976931348623157e+308', '5e-324', '0.1'),
)
const base64 = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'))

/** The texts that the driver makes of values of each type, as MySQL and MariaDB send them in the gateway's sessions. */
const MYSQL: Emitted<typeof MYSQL_TYPES> = {
  tinyint: wholeNumber(-128n, 127n),
  utinyint: wholeNumber(0n, 255n),
  smallint: wholeNumber(-32_768n, 32_767n),
  mediumint: wholeNumber(0n, 16_777_215n),
  int: wholeNumber(-(2n ** 31n), 2n ** 31n - 1n),
  uint: wholeNumber(0n, 2n ** 32n - 1n),
  year: fc.oneof(wholeNumber(1901n, 2155n), fc.constant('0')),
  bits10: wholeNumber(0n, 1023n),
  bigint: wholeNumber(-(2n ** 63n), 2n ** 63n - 1n),
  ubigint: wholeNumber(0n, 2n ** 64n - 1n),
  bits64: wholeNumber(0n, 2n ** 64n - 1n),
  decimal: decimal(20n, 4),
  longDecimal: decimal(65n, 30),
  float: fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  double,
  flag: wholeNumber(-128n, 127n),
  bit: fc.constantFrom('0', '1'),
  exact: anyText,
  binary: anyText,
  folded: anyText,
  // Spaces at the end are never given out.
  fixed: fc.string({ unit: 'binary', maxLength: 5 }).map((text) => text.replaceAll('\0', '').replace(/ +$/, '')),
  latin1: fc.string({ unit: fc.constantFrom('a', ' ', 'é', 'ÿ', '€', '\u0081', "'") }),
  longtext: anyText,
  datetime: fc.tuple(partialDay, wholeClock, microseconds).map(([d, c, f]) => `${d} ${c}.${f}`),
  datetime0: fc.tuple(partialDay, wholeClock).map(([d, c]) => `${d} ${c}`),
  timestamp: fc.oneof(
    fc.tuple(partialDay, wholeClock, microseconds).map(([d, c, f]) => `${d} ${c}.${f}`),
    fc.constantFrom('0000-00-00 00:00:00.000000', '1970-01-01 00:00:01.000000', '2038-01-19 03:14:07.999999'),
  ),
  date: partialDay,
  time: fc.oneof(
    fc
      .tuple(fc.boolean(), fc.integer({ min: 0, max: 837 }), wholeClock, microseconds)
      .map(([negative, hours, clock, f]) => `${negative ? '-' : ''}${pad(hours, 2)}${clock.slice(2)}.${f}`)
      .filter((text) => !text.startsWith('-') || /[1-9]/.test(text)),
    fc.constantFrom('838:59:59.000000', '-838:59:59.999999', '00:00:00.000000', '-00:00:00.000001'),
  ),
  uuid: fc.uuid(),
  varbinary: base64,
  fixedBytes: base64,
  blob: base64,
  mood: fc.constantFrom('sad', 'ok', "it's"),
  set: fc.constantFrom('', 'a', 'a,b'),
  inet6: fc.constantFrom('::1', '::ffff:10.0.0.1'),
}

function dayFrom(first: number, last: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer({ min: first, max: last }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
    .map(([year, month, day]) => `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`)
}

const anyDay = dayFrom(1, 9_999)
const ticks = fc.integer({ min: 0, max: 9_999_999 }).map((digits) => pad(digits, 7))
const hex = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('hex').toUpperCase())
const minutesAway = fc
  .tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 840 }))
  .map(([sign, minutes]) => `${sign}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`)
/** As the server writes one that is to be told from every other, which it does with three digits of a power. */
const seventeenDigits = (value: number): string =>
  value.toExponential(16).replace(/[0-9]+$/, (power) => power.padStart(3, '0'))

/** The texts that SQL Server makes of values of each type, in the forms that the dialect asks for. */
const SQLSERVER: Emitted<typeof SQLSERVER_TYPES> = {
  tinyint: wholeNumber(0n, 255n),
  smallint: wholeNumber(-32_768n, 32_767n),
  int: wholeNumber(-(2n ** 31n), 2n ** 31n - 1n),
  bigint: wholeNumber(-(2n ** 63n), 2n ** 63n - 1n),
  bit: fc.constantFrom('0', '1'),
  decimal: decimal(20n, 4),
  numeric: fc.bigInt({ min: 1n - 10n ** 38n, max: 10n ** 38n - 1n }).map(String),
  money: fc.oneof(decimal(18n, 4), fc.constantFrom('922337203685477.5807', '-922337203685477.5808')),
  smallmoney: decimal(9n, 4),
  // Nothing lies between zero and the least number that has all of its digits.
  float: fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => value === 0 || Math.abs(value) >= 2 ** -1022)
    .map(seventeenDigits),
  real: fc
    .float({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => value === 0 || Math.abs(value) >= 2 ** -126)
    .map(seventeenDigits),
  folded: anyText.filter((text) => text.length <= 40),
  long: anyText,
  latin1: fc.string({ unit: fc.constantFrom('a', ' ', 'é', 'ÿ', '€', '\u0081', "'"), maxLength: 40 }),
  date: anyDay,
  time: fc.tuple(wholeClock, ticks).map(([c, f]) => `${c}.${f}`),
  time0: wholeClock,
  datetime2: fc.tuple(anyDay, wholeClock, ticks).map(([d, c, f]) => `${d} ${c}.${f}`),
  datetime2of3: fc.tuple(anyDay, wholeClock, fc.nat({ max: 999 })).map(([d, c, f]) => `${d} ${c}.${pad(f, 3)}`),
  datetime: fc
    .tuple(dayFrom(1753, 9_999), wholeClock, fc.nat({ max: 99 }), fc.constantFrom('0', '3', '7'))
    .map(([d, c, f, last]) => `${d} ${c}.${pad(f, 2)}${last}`),
  smalldatetime: fc.tuple(dayFrom(1900, 2078), wholeClock).map(([d, c]) => `${d} ${c.slice(0, 5)}:00`),
  datetimeoffset: fc.tuple(anyDay, wholeClock, ticks, minutesAway).map(([d, c, f, o]) => `${d} ${c}.${f} ${o}`),
  datetimeoffset0: fc.tuple(anyDay, wholeClock, minutesAway).map(([d, c, o]) => `${d} ${c} ${o}`),
  uniqueidentifier: fc.uuid().map((text) => text.toUpperCase()),
  varbinary: hex,
  longBinary: hex,
  hierarchyid: fc.constantFrom('/', '/1/', '/1/-2.5/'),
}

export const EMITTED: Readonly<Record<DialectUnderTest['engine'], Readonly<Record<string, fc.Arbitrary<string>>>>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  sqlserver: SQLSERVER,
}
