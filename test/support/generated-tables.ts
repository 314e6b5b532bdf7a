import fc from 'fast-check'
import { unreachable } from '../../src/core/assert.js'
import { agentColumnName, cleanText } from '../../src/core/names.js'
import { canHold } from '../../src/core/repertoire.js'
import { type Column, catalogName, type Table, type TextForm, type ValueType } from '../../src/core/schema-model.js'
import { MYSQL_TYPES } from './mysql-types.js'
import { TYPES, tableOf } from './schema.js'

/** Tables with names and types of every kind that a catalog may hold, and values of those types. */

const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'columns',
  'columns_key',
  'limit',
  'filters',
  'select',
  'a b',
  'a.b',
  '"; DROP TABLE x; --',
  '1',
  '$ref',
  'Ünïcode',
  '\u{1f600}',
  'count',
  'x'.repeat(128),
]

export const columnName = fc.oneof(
  fc.constantFrom(...ODD_NAMES),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 70 }).filter((name) => !name.includes('\0')),
  fc.stringMatching(/^[a-z]{1,8}$/),
)

const comment = fc.option(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => cleanText(text, 300)),
  { nil: undefined },
)

/** Of every engine: what is made of a type depends on its description, wherever it came from. */
export const valueType: fc.Arbitrary<ValueType> = fc.constantFrom<ValueType>(
  ...Object.values(TYPES),
  ...Object.values(MYSQL_TYPES),
  { ...TYPES.mood, labels: ['', 'with "quotes"', 'O\u2019Brien', '__proto__'] },
)

/** What the database puts into a column that is not given: mostly nothing. */
const fill = fc.constantFrom('no', 'no', 'no', 'default', 'always', 'by_default', 'computed')

function keyed(type: ValueType): boolean {
  return type.equality && type.logical !== 'json' && type.logical !== 'array' && type.logical !== 'unknown'
}

/** A table of one to eight columns, keyed by some of those that can be. */
export const table: fc.Arbitrary<Table> = fc
  .record({
    name: columnName,
    columns: fc.uniqueArray(fc.record({ name: columnName, type: valueType, nullable: fc.boolean(), fill, comment }), {
      selector: (column) => agentColumnName(column.name),
      minLength: 1,
      maxLength: 8,
    }),
    keyLength: fc.nat({ max: 3 }),
  })
  .map(({ name, columns, keyLength }) => {
    const made: readonly Column[] = columns.map((column, i) => ({
      name: catalogName(column.name),
      agentName: agentColumnName(column.name),
      catalogId: i + 1,
      type: column.type,
      nullable: column.nullable,
      hasDefault: column.fill === 'default',
      generated: column.fill === 'default' ? 'no' : column.fill,
      ...(column.comment === undefined || column.comment === '' ? {} : { comment: column.comment }),
    }))
    const primaryKey = made.filter(({ type }) => keyed(type)).map((column) => column.name)
    return { ...tableOf(name, { columns: {} }), columns: made, primaryKey: primaryKey.slice(0, keyLength) }
  })

/** Texts of values that fit the type, for the types that can be compared. */
export function valueText(type: ValueType): fc.Arbitrary<string> {
  switch (type.logical) {
    case 'integer': {
      const [min, max] = type.range ?? [-1_000, 1_000]
      return fc.integer({ min, max }).map(String)
    }
    case 'bigint':
      return type.unsigned === true
        ? fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
        : fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
    case 'decimal':
      return type.digitsMax === undefined
        ? fc.constantFrom('0', '-12.50', '12345678901234567890.1', 'NaN')
        : fc.constantFrom('0', '-12.50', '1234567890123456.1')
    case 'float':
      return (type.single === true ? fc.float : fc.double)({ noNaN: true, noDefaultInfinity: true }).map(String)
    case 'boolean':
      // A number that stands in for it takes others, which schemas can say in words alone.
      return fc.constantFrom('true', 'false')
    case 'timestamp':
      return fc
        .constantFrom('2024-02-29T23:59:59', '0001-01-01T00:00:00', ...(type.zeroParts ? ['2024-00-00T00:00:00'] : []))
        .map((t) => t + (type.fractionDigitsMax === 0 ? '' : '.5') + (type.withZone ? 'Z' : ''))
    case 'date':
      return fc.constantFrom('2024-02-29', type.zeroParts ? '0000-00-00' : '0044-03-15 BC')
    case 'time':
      if (type.span === true) return fc.constantFrom('838:59:59', '-838:59:59', '13:45:00.25')
      return fc.constantFrom('24:00:00', '13:45:00.25').map((t) => t + (type.withZone ? '-05:30' : ''))
    case 'interval':
      return fc.constantFrom('PT0S', 'P1Y-2M3DT4H')
    case 'uuid':
      return fc.uuid()
    case 'bytes':
      return fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('base64'))
    case 'enum':
      return fc.constantFrom(...(type.labels ?? []))
    case 'unknown':
      return type.form === undefined ? plainText : formedText(type.form)
    default:
      return plainText
  }
}

const plainText = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map((text) => text.replaceAll('\0', '').replaceAll('\\', ''))

function formedText(form: TextForm): fc.Arbitrary<string> {
  switch (form.kind) {
    case 'set':
      return fc.subarray([...form.members]).map((members) => members.join(','))
    case 'words':
      return fc.constantFrom(...form.shown, 'any')
    case 'geometry':
      return fc.tuple(fc.integer(), fc.integer()).map(([x, y]) => `POINT(${x} ${y})`)
    case 'inet4':
      return fc.ipV4()
    case 'inet6':
      return fc.constantFrom('::1', '::ffff:10.0.0.1', 'fe80::1:2', '1:2:3:4:5:6:7:8')
    default:
      return unreachable(form)
  }
}

/** Values to be written as a tool's schema has them for the type. */
export function writeValue(type: ValueType): fc.Arbitrary<unknown> {
  switch (type.logical) {
    case 'integer':
    case 'float':
    case 'boolean':
      // A number in JSON cannot carry the sign of a zero through a client.
      return valueText(type).map((text) => JSON.parse(JSON.stringify(JSON.parse(text))))
    case 'array':
      return fc.array(writeValue(type.element ?? TYPES.text), { maxLength: 3 })
    case 'json':
      return fc.oneof(
        fc.string(),
        fc.jsonValue().map((value) => JSON.stringify(value)),
      )
    case 'text':
      return valueText(type).map((text) => {
        const held = [...text].filter((character) => canHold(type, character) !== 'no')
        return held.slice(0, type.charsMax).join('')
      })
    default:
      return valueText(type)
  }
}
