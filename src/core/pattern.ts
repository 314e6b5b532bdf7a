import { ENGINE_CAPABILITIES } from './engine-capabilities.js'
import type { EngineName } from './schema-model.js'

/**
 * A pattern of `LIKE` in which every backslash escapes something. Engines disagree on a lone one at the end, which may be an
 * error; here it means the backslash itself.
 */
export function safePattern(pattern: string): string {
  let backslashes = 0
  while (pattern.charCodeAt(pattern.length - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1 ? `${pattern}\\` : pattern
}

/** For an engine where a bracket opens a set of characters, which no caller means. Every backslash of the pattern escapes something. */
export function bracketFree(pattern: string): string {
  return pattern.replace(/\\.|\[/gs, (found) => (found === '[' ? '\\[' : found))
}

/** What the engine takes in place of a pattern that is too long for it; undefined for one that it takes. */
export function patternTooLong(engine: EngineName, pattern: string): string | undefined {
  const { patternCharsMax } = ENGINE_CAPABILITIES[engine]
  if (patternCharsMax === undefined || bracketFree(safePattern(pattern)).length <= patternCharsMax) return undefined
  return `an ilike pattern of at most ${patternCharsMax} characters, an emoji and each [ counted as two`
}
