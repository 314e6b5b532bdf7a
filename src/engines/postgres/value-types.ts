import { catalogName, type LogicalType, type ValueType } from '../../core/schema-model.js'

/** One row of `pg_type` with what introspection needs of it. */
export interface CatalogType {
  readonly schema: string
  readonly name: string
  /** `pg_type.typtype`: b(ase) c(omposite) d(omain) e(num) p(seudo) r(ange) m(ultirange). */
  readonly kind: string
  /** A domain's base type, its type modifier, and both as PostgreSQL writes them. */
  readonly base: string
  readonly baseModifier: number
  readonly baseNative: string
  /** A domain's own NOT NULL and DEFAULT. */
  readonly notNull: boolean
  readonly hasDefault: boolean
  /** Element type, for a true array alone. */
  readonly element: string | undefined
  readonly labels: readonly string[]
  /** The default operator class that serves the type, and the schema of its operators. */
  readonly operators: { readonly method: 'btree' | 'hash'; readonly schema: string } | undefined
  /** Not for a polymorphic type, which is whatever it is called with, nor for one in a schema that the login may not use. */
  readonly castable: boolean
}

/** Types by object id. */
export type CatalogTypes = ReadonlyMap<string, CatalogType>

interface Shape {
  readonly logical: LogicalType
  readonly withZone?: boolean
  readonly range?: readonly [number, number]
  readonly single?: true
}

const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['int2', { logical: 'integer', range: [-32_768, 32_767] }],
  ['int4', { logical: 'integer', range: [-2_147_483_648, 2_147_483_647] }],
  ['int8', { logical: 'bigint' }],
  ['numeric', { logical: 'decimal' }],
  ['float4', { logical: 'float', single: true }],
  ['float8', { logical: 'float' }],
  ['text', { logical: 'text' }],
  ['varchar', { logical: 'text' }],
  ['bpchar', { logical: 'text' }],
  ['name', { logical: 'text' }],
  ['bool', { logical: 'boolean' }],
  ['timestamp', { logical: 'timestamp', withZone: false }],
  ['timestamptz', { logical: 'timestamp', withZone: true }],
  ['date', { logical: 'date' }],
  ['time', { logical: 'time', withZone: false }],
  ['timetz', { logical: 'time', withZone: true }],
  ['interval', { logical: 'interval' }],
  ['uuid', { logical: 'uuid' }],
  ['json', { logical: 'json' }],
  ['jsonb', { logical: 'json' }],
  ['bytea', { logical: 'bytes' }],
])

const UNKNOWN: Shape = { logical: 'unknown' }
const NO_MODIFIER = -1
/** The modifiers of character types and of numeric count the length word of the value as well. */
const MODIFIER_LENGTH_WORD = 4

/** The value type of a column or an element: `native` is how the catalog writes it, modifier included. */
export function valueType(types: CatalogTypes, oid: string, modifier: number, native: string): ValueType {
  const type = types.get(oid)
  if (type === undefined) return { logical: 'unknown', native, equality: false, ordered: false }
  const ref = type.castable ? { typeRef: { schema: catalogName(type.schema), name: catalogName(type.name) } } : {}
  // A domain's base, an array's element: each has its own name.
  const { typeRef: _, ...description } = described(types, type, modifier, native)
  return { ...description, ...ref }
}

function described(types: CatalogTypes, type: CatalogType, modifier: number, native: string): ValueType {
  if (type.kind === 'd') {
    return { ...valueType(types, type.base, type.baseModifier, type.baseNative), native, domain: true }
  }
  if (type.element !== undefined) return arrayType(types, type.element, modifier, native)
  if (type.kind === 'e') return { logical: 'enum', native, labels: type.labels, equality: true, ordered: true }
  const shape = shapeOf(type)
  return {
    ...shape,
    native,
    ...(modifier === NO_MODIFIER ? {} : modified(type, shape, modifier)),
    ...comparisons(type, shape),
  }
}

/** Whether a domain somewhere in the chain refuses NULL, or brings a default of its own. */
export function domainRules(types: CatalogTypes, oid: string): { notNull: boolean; hasDefault: boolean } {
  let notNull = false
  let hasDefault = false
  for (let type = types.get(oid); type?.kind === 'd'; type = types.get(type.base)) {
    notNull ||= type.notNull
    hasDefault ||= type.hasDefault
  }
  return { notNull, hasDefault }
}

/** Arrays of any depth are one type in PostgreSQL, and a modifier belongs to the elements. */
function arrayType(types: CatalogTypes, elementOid: string, modifier: number, native: string): ValueType {
  const elementNative = native.endsWith('[]') ? native.slice(0, -2) : native
  const element = valueType(types, elementOid, modifier, elementNative)
  return { logical: 'array', native, element, equality: element.equality, ordered: element.ordered }
}

function shapeOf(type: CatalogType): Shape {
  if (type.kind !== 'b') return UNKNOWN
  // An extension's type lives in whichever schema it was installed into.
  if (type.name === 'citext') return { logical: 'text' }
  return type.schema === 'pg_catalog' ? (SHAPES.get(type.name) ?? UNKNOWN) : UNKNOWN
}

/** What a declared length, scale or precision says, as each type packs it into its modifier. */
function modified(
  type: CatalogType,
  { logical }: Shape,
  modifier: number,
): Pick<ValueType, 'charsMax' | 'fractionDigitsMax'> {
  if (type.schema !== 'pg_catalog') return {}
  if (type.name === 'varchar' || type.name === 'bpchar') return { charsMax: modifier - MODIFIER_LENGTH_WORD }
  if (logical === 'timestamp' || logical === 'time') return { fractionDigitsMax: modifier }
  if (logical !== 'decimal') return {}
  // Eleven bits with a sign: a negative scale rounds before the point.
  const scale = (((modifier - MODIFIER_LENGTH_WORD) & 0x7ff) ^ 0x400) - 0x400
  return { fractionDigitsMax: Math.max(0, scale) }
}

/**
 * JSON is never compared, although the engine can compare jsonb: text that reads back equal need not be equal as written.
 * A composite's operators fail at run time when a member has none, so it is not compared either.
 */
function comparisons(type: CatalogType, shape: Shape): Pick<ValueType, 'equality' | 'ordered' | 'operatorSchema'> {
  if (shape.logical === 'json' || type.kind === 'c' || type.kind === 'p') return { equality: false, ordered: false }
  if (type.kind === 'r' || type.kind === 'm') return { equality: true, ordered: true }
  if (type.operators === undefined) return { equality: false, ordered: false }
  const { method, schema } = type.operators
  return {
    equality: true,
    ordered: method === 'btree',
    ...(schema === 'pg_catalog' ? {} : { operatorSchema: catalogName(schema) }),
  }
}
