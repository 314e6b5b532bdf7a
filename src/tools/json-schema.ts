import type { Column, LogicalType, ValueType } from '../core/schema-model.js'
import { cutForm } from '../core/tool-grammar.js'
import { shownLabels, typeText } from './column-text.js'

/**
 * The part of JSON Schema that every client of the protocol digests: no `$ref`, no unions at the root, no type lists, no
 * `const`, no `format`. Inputs use no union at all; outputs may say `anyOf` with null.
 */
export interface JsonSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
}

type Properties = readonly (readonly [name: string, schema: JsonSchema])[]

/** An input object: nothing but its properties, of which some are required. */
export function closedObject(properties: Properties, required: readonly string[] = []): JsonSchema {
  return {
    type: 'object',
    // fromEntries makes own properties of whatever name, `constructor` included.
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

export function words(names: readonly string[]): JsonSchema {
  return { type: 'string', enum: names }
}

export function listOf(items: JsonSchema, description?: string): JsonSchema {
  return { type: 'array', ...(description === undefined ? {} : { description }), items }
}

/** What an argument's schema says beside its type. */
export interface ValueWords {
  readonly type: ValueType
  readonly comment?: string
  /** Longest text that may be sent, in characters. */
  readonly charsMax?: number
  /** Which characters may be sent, where not all. */
  readonly characters?: string
  /** Whether null may be sent: no client digests a schema that allows it, so it is said in words. */
  readonly nullable?: boolean
}

/**
 * A value's argument, of a key, a column or a parameter. What a client's JSON could round is a string: bigint and decimal travel as their digits. The
 * bounds of an integer are there only where they are within 32 bits, since some clients take no others.
 */
export function valueSchema(words: ValueWords): JsonSchema {
  const { type } = words
  switch (type.logical) {
    case 'integer':
      return { type: 'integer', ...described(words, gapText(type)), ...bounds(type) }
    case 'float':
      return { type: 'number', ...described(words) }
    case 'boolean':
      return { type: 'boolean', ...described(words, numbersText(type)) }
    case 'array':
      return { type: 'array', ...described(words), items: valueSchema({ type: type.element ?? TEXT }) }
    case 'json':
      // Any JSON is taken. A schema can say a string and be digested by every client, but not "anything".
      return { type: 'string', ...described(words, 'json, an object or list also as its JSON text') }
    default: {
      const labels = shownLabels(type)
      if (labels !== undefined) return { type: 'string', ...described(words), enum: labels }
      return { type: 'string', ...described(words, typeText(type)) }
    }
  }
}

/** A key column's argument, in the words of its column. */
export function keySchema({ type, comment }: Column): JsonSchema {
  return valueSchema({ type, ...(comment === undefined ? {} : { comment }) })
}

const TEXT: ValueType = { logical: 'text', native: 'text', equality: true, ordered: true }

/** What the type, its length and null come to in words, then the catalog's comment. */
function described(
  { comment, charsMax, characters, nullable }: ValueWords,
  word?: string,
): { readonly description?: string } {
  const facts = [
    ...(word === undefined ? [] : [word]),
    ...(charsMax === undefined ? [] : [`at most ${charsMax} characters`]),
    ...(characters === undefined ? [] : [characters]),
    ...(nullable === true ? ['or null'] : []),
  ].join(', ')
  const description = facts === '' || comment === undefined ? `${facts}${comment ?? ''}` : `${facts}: ${comment}`
  return description === '' ? {} : { description }
}

/** A number that stands in for a boolean takes others too: no client digests two types, so that is said in words. */
function numbersText({ range }: ValueType): string | undefined {
  return range === undefined ? undefined : `or a whole number from ${range[0]} to ${range[1]}`
}

/** Bounds cannot say that there is a gap between zero and the rest. */
function gapText({ range, alsoZero }: ValueType): string | undefined {
  return range === undefined || alsoZero !== true ? undefined : `${range[0]} to ${range[1]}, or 0`
}

const BOUND_MAX = 2 ** 31

function bounds({ range, alsoZero }: ValueType): { readonly minimum?: number; readonly maximum?: number } {
  if (range === undefined) return {}
  const [minimum, maximum] = alsoZero === true ? [Math.min(range[0], 0), Math.max(range[1], 0)] : range
  return { ...(minimum >= -BOUND_MAX ? { minimum } : {}), ...(maximum < BOUND_MAX ? { maximum } : {}) }
}

const STRING: JsonSchema = { type: 'string' }
const NULL: JsonSchema = { type: 'null' }
const NUMBER_OR_TEXT: readonly JsonSchema[] = [{ type: 'number' }, STRING]

/** What the JSON of a type can be, by the forms results are written in. An empty list: anything. */
const OUTPUT_FORMS: Readonly<Record<LogicalType, readonly JsonSchema[]>> = {
  integer: [{ type: 'integer' }],
  // Beyond what a double holds the digits are a string, and so are the float values that JSON has no number for.
  bigint: [{ type: 'integer' }, STRING],
  float: NUMBER_OR_TEXT,
  decimal: [STRING],
  boolean: [{ type: 'boolean' }],
  text: [STRING],
  timestamp: [STRING],
  date: [STRING],
  time: [STRING],
  interval: [STRING],
  uuid: [STRING],
  enum: [STRING],
  bytes: [STRING],
  unknown: [STRING],
  array: [{ type: 'array', items: {} }],
  json: [],
}

function outputForms(type: ValueType): readonly JsonSchema[] {
  if (type.logical === 'float' && type.finite === true) return [{ type: 'number' }]
  const [low = 0, high = 1] = type.logical === 'boolean' ? (type.range ?? []) : []
  return low < 0 || high > 1 ? [...OUTPUT_FORMS.boolean, { type: 'integer' }] : OUTPUT_FORMS[type.logical]
}

/** What a result can hold of the type. */
export function outputSchema({ type, nullable }: { readonly type: ValueType; readonly nullable: boolean }): JsonSchema {
  const forms = outputForms(type)
  if (forms.length === 0) return {}
  const anyOf = nullable || cutForm(type) === 'withheld' ? [...forms, NULL] : forms
  const [only] = anyOf
  return anyOf.length === 1 && only !== undefined ? only : { anyOf }
}
