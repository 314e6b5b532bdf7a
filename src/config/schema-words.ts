import { z } from 'zod'
import type { NameRule } from '../admin/names.js'

/** The kinds of values in the configuration, each with the words for what was expected. */

export function text(expected: string) {
  return z.string({ error: `expected ${expected}` }).min(1, { error: `expected ${expected}, not an empty text` })
}

export function matching(pattern: RegExp, expected: string) {
  return z.string({ error: `expected ${expected}` }).regex(pattern, { error: `expected ${expected}` })
}

export function named(rule: NameRule) {
  return matching(rule.pattern, rule.expected)
}

export function checked(holds: (value: string) => boolean, expected: string) {
  return z.string({ error: `expected ${expected}` }).refine(holds, { error: `expected ${expected}` })
}

export function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

export function truth() {
  return z.boolean({ error: 'expected true or false' })
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `expected ${values.join(' or ')}` })
}
