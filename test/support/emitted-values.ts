import fc from 'fast-check'

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

/** The texts PostgreSQL gives for values of each type, in the output settings of the gateway's sessions. */
export const EMITTED: Readonly<Record<string, fc.Arbitrary<string>>> = {
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
  text: fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
  inet: fc.constantFrom('10.0.0.0/8', '::1'),
}
