import type { PlanValue } from './plan.js'
import type { ValueType } from './schema-model.js'

/** What the server calls latin1 is Windows' code page 1252: these, beside the characters up to U+00FF that it has. */
const LATIN1_BEYOND: ReadonlySet<string> = new Set('€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ')
/** Controls that keep their place, because the code page has no character there. */
const LATIN1_CONTROLS: ReadonlySet<string> = new Set('\u0081\u008d\u008f\u0090\u009d')

function isLatin1(character: string): boolean {
  if (character <= '\u007f' || LATIN1_BEYOND.has(character) || LATIN1_CONTROLS.has(character)) return true
  return character >= '\u00a0' && character <= '\u00ff'
}

const HOLDS: Readonly<Record<NonNullable<ValueType['repertoire']>, (character: string) => boolean>> = {
  ascii: (character) => character <= '\u007f',
  latin1: isLatin1,
  bmp: (character) => character.length === 1,
  // Some other character set: all of them have the ASCII characters, and of the rest nothing is known here.
  other: (character) => character <= '\u007f',
}

/** What a column takes of text, for whoever is to write it. */
export const REPERTOIRE_PHRASES: Readonly<Record<NonNullable<ValueType['repertoire']>, string>> = {
  ascii: 'of ASCII characters',
  latin1: 'of the characters of Latin-1 (Windows-1252)',
  bmp: 'without characters beyond U+FFFF, such as emoji',
  other: "of characters that the column's character set has",
}

/**
 * Whether a column surely holds every character of the value. `no`: it surely cannot; `unsure`: a character set that
 * the gateway does not know. Comparing a column with a character it cannot hold is an error to the server.
 */
export function canHold(type: ValueType, value: PlanValue): 'yes' | 'no' | 'unsure' {
  // A set of words has a character set as well, of which the catalog's description says nothing.
  const repertoire = type.logical === 'unknown' ? 'other' : type.repertoire
  if (repertoire === undefined) return 'yes'
  const holds = HOLDS[repertoire]
  for (const character of value) if (!holds(character)) return repertoire === 'other' ? 'unsure' : 'no'
  return 'yes'
}
