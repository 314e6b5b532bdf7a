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

/**
 * A key column's argument. What a client's JSON could round is a string: bigint and decimal travel as their digits. The
 * bounds of an integer are there only where they are within 32 bits, since some clients take no others.
 */
export function keySchema(column: Column): JsonSchema {
  const { type, comment } = column
  const commented = comment === undefined ? {} : { description: comment }
  switch (type.logical) {
    case 'integer':
      return { type: 'integer', ...commented, ...bounds(type) }
    case 'float':
      return { type: 'number', ...commented }
    case 'boolean':
      return { type: 'boolean', ...commented }
    default: {
      const labels = shownLabels(type)
      if (labels !== undefined) return { type: 'string', ...commented, enum: labels }
      return { type: 'string', description: comment === undefined ? typeText(type) : `${typeText(type)}: ${comment}` }
    }
  }
}

const BOUND_MAX = 2 ** 31

function bounds(type: ValueType): { readonly minimum?: number; readonly maximum?: number } {
  if (type.range === undefined) return {}
  const [minimum, maximum] = type.range
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

/** What a result can hold for the column. */
export function outputSchema(column: Column): JsonSchema {
  const forms = OUTPUT_FORMS[column.type.logical]
  if (forms.length === 0) return {}
  const anyOf = column.nullable || cutForm(column.type) === 'withheld' ? [...forms, NULL] : forms
  const [only] = anyOf
  return anyOf.length === 1 && only !== undefined ? only : { anyOf }
}
