import { type GatewayError, gatewayError } from './errors.js'
import { CHOICES_SHOWN_MAX, ECHO_CHARS_MAX } from './limits.js'
import { cleanText, nearest } from './names.js'
import { fail, ok, type Result } from './result.js'

/**
 * A call's arguments as JSON, read so that nothing is guessed or ignored: every name is one the reader knows, and every
 * refusal carries the path of what was refused. Maps instead of objects, so that `__proto__` is a name like any other.
 */
export type ArgumentObject = ReadonlyMap<string, unknown>

export function pathOf(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** A caller's own spelling, fit to be shown back. */
export function echo(text: string): string {
  const clean = cleanText(text, ECHO_CHARS_MAX)
  return clean === '' ? '(no readable name)' : clean
}

/** `one of a, b, c and 12 more` */
export function choices(names: readonly string[]): string {
  if (names.length === 0) return 'nothing, since there is none to name'
  const more = names.length - CHOICES_SHOWN_MAX
  return `one of ${names.slice(0, CHOICES_SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The suggestion member of an error, present only where a candidate is near. */
export function suggest(name: string, candidates: Iterable<string>): { readonly suggestion?: string } {
  const suggestion = nearest(name, candidates)
  return suggestion === undefined ? {} : { suggestion }
}

/** Some clients send nested arguments as JSON text; where it parses it is taken as what it says. */
function parsed(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

/** `raw` as an object whose names are all in `known`; `path` is empty for the arguments themselves. */
export function readObject(raw: unknown, path: string, known: readonly string[]): Result<ArgumentObject, GatewayError> {
  const value = parsed(raw)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const expected = `an object with ${known.join(', ')}`
    return fail(gatewayError('ARGUMENT_TYPE', { field: path === '' ? 'arguments' : path, expected }))
  }
  const entries = new Map<string, unknown>(Object.entries(value))
  for (const name of entries.keys()) {
    if (!known.includes(name)) return fail(unknownName(name, path, known))
  }
  return ok(entries)
}

function unknownName(name: string, path: string, known: readonly string[]): GatewayError {
  return gatewayError('ARGUMENT_UNKNOWN', {
    field: pathOf(path, echo(name)),
    expected: choices(known),
    ...suggest(name, known),
    refused: name,
  })
}

/** `raw` as a list of at most `max` items; absent means undefined. */
export function readList(
  raw: unknown,
  path: string,
  max: number,
): Result<readonly unknown[] | undefined, GatewayError> {
  if (raw === undefined) return ok(undefined)
  const value = parsed(raw)
  if (!Array.isArray(value)) return fail(gatewayError('ARGUMENT_TYPE', { field: path, expected: 'a list' }))
  if (value.length > max) {
    return fail(gatewayError('ARGUMENT_LIMIT', { field: path, expected: `at most ${max} items, not ${value.length}` }))
  }
  return ok(value)
}

/** `raw` as one of a few words. `code` says which kind of word was expected. */
export function readWord<W extends string>(
  raw: unknown,
  path: string,
  words: readonly W[],
  code: 'ARGUMENT_VALUE' | 'ARGUMENT_OPERATOR' = 'ARGUMENT_VALUE',
): Result<W, GatewayError> {
  const expected = choices(words)
  if (raw === undefined) return fail(gatewayError('ARGUMENT_MISSING', { field: path, expected }))
  const word = words.find((candidate) => candidate === raw)
  if (word !== undefined) return ok(word)
  if (typeof raw !== 'string') return fail(gatewayError('ARGUMENT_TYPE', { field: path, expected }))
  return fail(gatewayError(code, { field: path, expected, ...suggest(raw, words) }))
}

/** Every item through `read`, with its place in the list; the first refusal ends it. */
export function readEach<I, T>(
  items: readonly I[],
  path: string,
  read: (item: I, path: string) => Result<T, GatewayError>,
): Result<readonly T[], GatewayError> {
  const values: T[] = []
  for (const [i, item] of items.entries()) {
    const result = read(item, `${path}[${i}]`)
    if (!result.ok) return result
    values.push(result.value)
  }
  return ok(values)
}
