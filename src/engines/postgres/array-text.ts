import type { ValueType } from '../../core/schema-model.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d

/** Element types that separate by something else than a comma. Nothing in the value itself tells. */
const DELIMITERS: ReadonlyMap<string, number> = new Map([
  ['box', 0x3b],
  ['geometry', 0x3a],
  ['geography', 0x3a],
])

/** The character code between elements of the type. */
export function delimiterOf(element: ValueType): number {
  return DELIMITERS.get(element.native) ?? 0x2c
}

export type EncodeElement = (text: string, type: ValueType) => string

const TEXT: ValueType = { logical: 'text', native: 'text', equality: true, ordered: true }

/** Where reading stands in the text of one array, and what it reads. */
interface ArrayReader {
  readonly text: string
  readonly delimiter: number
  readonly element: ValueType
  readonly encode: EncodeElement
  at: number
}

/**
 * PostgreSQL's text of an array to a JSON array, nested as deep as it has dimensions. Lower bounds (`[0:1]={…}`) are left out:
 * JSON has no place for them. What does not read as an array becomes a string.
 */
export function encodeArray(text: string, element: ValueType | undefined, encode: EncodeElement): string {
  const type = element ?? TEXT
  const reader: ArrayReader = {
    text,
    delimiter: delimiterOf(type),
    element: type,
    encode,
    at: text.startsWith('[') ? text.indexOf('=') + 1 : 0,
  }
  const json = text.charCodeAt(reader.at) === OPEN ? readArray(reader) : undefined
  return json !== undefined && reader.at === text.length ? json : JSON.stringify(text)
}

/** Reads from an opening brace to beyond its closing one; undefined when the text ends or goes astray before. */
function readArray(reader: ArrayReader): string | undefined {
  const { text } = reader
  reader.at++
  if (text.charCodeAt(reader.at) === CLOSE) {
    reader.at++
    return '[]'
  }
  let json = '['
  for (;;) {
    const item = readItem(reader)
    if (item === undefined) return undefined
    json += item
    const unit = text.charCodeAt(reader.at++)
    if (unit === CLOSE) return `${json}]`
    if (unit !== reader.delimiter) return undefined
    json += ','
  }
}

function readItem(reader: ArrayReader): string | undefined {
  const unit = reader.text.charCodeAt(reader.at)
  if (unit === OPEN) return readArray(reader)
  if (unit === QUOTE) return readQuoted(reader)
  const from = reader.at
  while (reader.at < reader.text.length) {
    const next = reader.text.charCodeAt(reader.at)
    if (next === reader.delimiter || next === CLOSE) break
    reader.at++
  }
  const item = reader.text.slice(from, reader.at)
  return item === 'NULL' ? 'null' : reader.encode(item, reader.element)
}

/** Within quotes a backslash stands before any character that is meant as itself. */
function readQuoted(reader: ArrayReader): string | undefined {
  const { text } = reader
  let item = ''
  let keptFrom = ++reader.at
  while (reader.at < text.length) {
    const unit = text.charCodeAt(reader.at)
    if (unit === QUOTE) {
      item += text.slice(keptFrom, reader.at++)
      return reader.encode(item, reader.element)
    }
    if (unit === BACKSLASH) {
      item += text.slice(keptFrom, reader.at)
      keptFrom = ++reader.at
    }
    reader.at++
  }
  return undefined
}
