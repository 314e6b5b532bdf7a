import type { ValueType } from '../../core/schema-model.js'
import { delimiterOf } from './array-text.js'

/** A one-dimensional array in PostgreSQL's own spelling, every element quoted. */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.map(quotedElement).join(',')}}`
}

function quotedElement(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/**
 * The JSON text of an array whose elements are canonical texts or null, nested as deep as it has dimensions, as PostgreSQL
 * reads it. `elementText` gives what the engine reads for one element.
 */
export function arrayOfJson(
  json: string,
  element: ValueType | undefined,
  elementText: (type: ValueType, text: string) => string,
): string {
  const type = element ?? TEXT
  const delimiter = String.fromCharCode(delimiterOf(type))
  const literal = (value: unknown): string => {
    if (value === null) return 'NULL'
    if (Array.isArray(value)) return `{${value.map(literal).join(delimiter)}}`
    return quotedElement(elementText(type, typeof value === 'string' ? value : JSON.stringify(value)))
  }
  return literal(JSON.parse(json))
}

const TEXT: ValueType = { logical: 'text', native: 'text', equality: true, ordered: true }
