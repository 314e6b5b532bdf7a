import { PROPERTY_KEY } from '../../src/core/names.js'
import type { JsonSchema } from '../../src/tools/json-schema.js'

/** Says where a JSON Schema uses what some client of the protocol cannot digest; empty when it is fine for all of them. */

const INPUT_KEYWORDS = new Set([
  'type',
  'description',
  'enum',
  'minimum',
  'maximum',
  'items',
  'minItems',
  'properties',
  'required',
  'additionalProperties',
])
const OUTPUT_KEYWORDS = new Set([...INPUT_KEYWORDS, 'anyOf'])
const TYPES = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean'])
const BOUND_MAX = 2 ** 31

type Json = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function inputFaults(schema: unknown): readonly string[] {
  const faults = walk(schema, '$', 'input')
  if (isObject(schema) && schema['type'] !== 'object') faults.push('$: the root is no object')
  return faults
}

export function outputFaults(schema: unknown): readonly string[] {
  const faults = walk(schema, '$', 'output')
  if (isObject(schema) && (schema['type'] !== 'object' || 'anyOf' in schema)) faults.push('$: the root is no object')
  return faults
}

function walk(schema: unknown, path: string, side: 'input' | 'output'): string[] {
  if (!isObject(schema)) return [`${path}: not a schema object`]
  const allowed = side === 'input' ? INPUT_KEYWORDS : OUTPUT_KEYWORDS
  const faults = Object.keys(schema)
    .filter((keyword) => !allowed.has(keyword))
    .map((keyword) => `${path}: ${keyword}`)
  const { type, description } = schema
  const named = typeof type === 'string' && (TYPES.has(type) || (side === 'output' && type === 'null'))
  // An output may leave the type of a json column open, or name alternatives.
  if (!named && !(side === 'output' && type === undefined)) faults.push(`${path}: type ${JSON.stringify(type)}`)
  if (description !== undefined && (typeof description !== 'string' || description === '')) {
    faults.push(`${path}: description`)
  }
  faults.push(...wordFaults(schema, path), ...boundFaults(schema, path))
  if (type === 'array') faults.push(...walk(schema['items'], `${path}[]`, side))
  if (type === 'object') faults.push(...objectFaults(schema, path, side))
  const { anyOf } = schema
  if (anyOf !== undefined) {
    if (!Array.isArray(anyOf) || anyOf.length < 2) faults.push(`${path}: anyOf of fewer than two`)
    else faults.push(...anyOf.flatMap((member, i) => walk(member, `${path}|${i}`, side)))
  }
  return faults
}

function wordFaults(schema: Json, path: string): string[] {
  const words = schema['enum']
  if (words === undefined) return []
  const fine = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string')
  return fine && new Set(words).size === words.length && schema['type'] === 'string' ? [] : [`${path}: enum`]
}

function boundFaults(schema: Json, path: string): string[] {
  return ['minimum', 'maximum', 'minItems']
    .filter((keyword) => keyword in schema)
    .filter((keyword) => {
      const bound = schema[keyword]
      return typeof bound !== 'number' || !Number.isInteger(bound) || Math.abs(bound) > BOUND_MAX
    })
    .map((keyword) => `${path}: ${keyword}`)
}

function objectFaults(schema: Json, path: string, side: 'input' | 'output'): string[] {
  const { properties, required, additionalProperties } = schema
  if (side === 'output' && properties === undefined) return []
  if (!isObject(properties)) return [`${path}: no properties`]
  const faults = Object.entries(properties).flatMap(([name, member]) => [
    ...(PROPERTY_KEY.test(name) ? [] : [`${path}: key ${name}`]),
    ...walk(member, `${path}.${name}`, side),
  ])
  if (side === 'input' && additionalProperties !== false) faults.push(`${path}: open`)
  if (required !== undefined) {
    const known = Array.isArray(required) && required.every((name) => Object.hasOwn(properties, String(name)))
    if (!known) faults.push(`${path}: required`)
  }
  return faults
}

/** Whether a JSON value is valid by a schema of the kind that tools use for their input. */
export function fits(schema: JsonSchema, value: unknown): boolean {
  switch (schema.type) {
    case 'object':
      return isObject(value) && objectFits(schema, value)
    case 'array': {
      const { items } = schema
      if (!Array.isArray(value) || items === undefined || value.length < (schema.minItems ?? 0)) return false
      return value.every((item) => fits(items, item))
    }
    case 'string':
      return typeof value === 'string' && (schema.enum?.includes(value) ?? true)
    case 'integer':
      return Number.isInteger(value) && withinBounds(schema, value)
    case 'number':
      return typeof value === 'number' && withinBounds(schema, value)
    case 'boolean':
      return typeof value === 'boolean'
    default:
      return false
  }
}

function withinBounds({ minimum, maximum }: JsonSchema, value: unknown): boolean {
  return typeof value === 'number' && value >= (minimum ?? value) && value <= (maximum ?? value)
}

function objectFits(schema: JsonSchema, value: Json): boolean {
  const properties = new Map(Object.entries(schema.properties ?? {}))
  const complete = (schema.required ?? []).every((name) => Object.hasOwn(value, name))
  return (
    complete &&
    Object.entries(value).every(([name, member]) => {
      const property = properties.get(name)
      return property !== undefined && fits(property, member)
    })
  )
}
