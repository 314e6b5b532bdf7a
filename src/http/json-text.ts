import { isUtf8 } from 'node:buffer'
import { fail, ok, type Result } from '../core/result.js'

/** JSON as it comes from outside, before anything is known of what it says. */

/** Why bytes are no JSON that is taken: not UTF-8, brackets too deep, or not JSON. */
export type JsonFault = 'encoding' | 'depth' | 'syntax'

export interface ReadJson {
  readonly value: unknown
  readonly text: string
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d

/** Whether brackets outside strings nest deeper than allowed. Bytes that are not JSON are left to the parser. */
function nestsTooDeep(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) {
      inString = true
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1
      if (depth > depthMax) return true
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1
    }
  }
  return false
}

/** Reads one JSON text. The parser's own message is not kept: it quotes the text, which is nobody's business but the sender's. */
export function readJson(bytes: Uint8Array, depthMax: number): Result<ReadJson, JsonFault> {
  if (!isUtf8(bytes)) return fail('encoding')
  if (nestsTooDeep(bytes, depthMax)) return fail('depth')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  try {
    return ok({ value: JSON.parse(text), text })
  } catch {
    return fail('syntax')
  }
}

/**
 * A name that stands twice in one object of a text that is valid JSON, or undefined. The parser keeps the last of the two
 * without a word, where another reader of the same text may keep the first.
 */
export function repeatedMember(json: string): string | undefined {
  // A list has no names; the innermost is the last.
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case OPEN_OBJECT:
        open.push(new Set())
        break
      case OPEN_LIST:
        open.push(undefined)
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        open.pop()
        break
      case QUOTE: {
        const end = stringEnd(json, at)
        if (isName(json, end)) {
          const name: unknown = JSON.parse(json.slice(at, end))
          const names = open.at(-1)
          if (names !== undefined && typeof name === 'string') {
            if (names.has(name)) return name
            names.add(name)
          }
        }
        at = end - 1
        break
      }
      default:
    }
  }
  return undefined
}

/** The place after the closing quote. */
function stringEnd(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

function isName(json: string, end: number): boolean {
  let at = end
  while (' \t\n\r'.includes(json.charAt(at)) && at < json.length) at++
  return json.charCodeAt(at) === COLON
}
