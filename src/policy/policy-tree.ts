import { cleanText } from '../core/names.js'

/** One thing wrong with a policy's text, for the person who wrote it. */
export interface PolicyFault {
  /** From 1. Always 1 for stored JSON, which is one line. */
  readonly line: number
  /** Where in the document, such as `tables.public.customers.mask[0]`; empty for the document as a whole. */
  readonly path: string
  readonly problem: string
  readonly expected: string
  readonly suggestion?: string
}

export type PolicyPath = readonly PropertyKey[]

/** A document as plain values, mappings without a prototype, and the line that each of them stands on. */
export interface PolicyTree {
  readonly value: unknown
  lineOf(path: PolicyPath): number
}

const PLAIN_PART = /^[\p{L}\p{N}_.*-]+$/u
/** Of a part of a path, or another piece of a document's text, in a sentence. */
export const PART_CHARS_MAX = 128

/** The path as people read it. Parts with unusual characters are quoted. */
export function pathText(path: PolicyPath): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') {
      text += `[${part}]`
      continue
    }
    const name = cleanText(String(part), PART_CHARS_MAX)
    const shown = PLAIN_PART.test(name) ? name : JSON.stringify(name)
    text += text === '' ? shown : `.${shown}`
  }
  return text
}

/** One line for a terminal or a log. */
export function policyFaultText(fault: PolicyFault): string {
  const at = fault.path === '' ? `line ${fault.line}` : `line ${fault.line}, ${fault.path}`
  const hint = fault.suggestion === undefined ? '' : `; did you mean "${cleanText(fault.suggestion, PART_CHARS_MAX)}"?`
  return `${at}: ${fault.problem}; expected ${fault.expected}${hint}`
}

/** Own keys only, `__proto__` included: without a prototype it is a name like any other. */
export function bareRecord<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record: Record<string, T> = Object.create(null)
  for (const [key, value] of entries) record[key] = value
  return record
}

/** About the document as a whole. */
export function documentFault(problem: string, expected: string): PolicyFault {
  return { line: 1, path: '', problem, expected }
}
