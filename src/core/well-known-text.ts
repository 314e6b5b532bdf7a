/**
 * Well-known text of a geometry in the plane, from its first character to its last. Servers stop reading where a geometry
 * ends, so that what follows would be lost without a word.
 */

/** Collections inside of collections. */
const NESTED_MAX = 16

const TOKEN = /\s*([(),]|[A-Za-z]+|[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)/y

class Tokens {
  readonly #text: string
  #at = 0
  #next: string | undefined

  constructor(text: string) {
    this.#text = text
    this.take()
  }

  /** Undefined at the end, and where no token stands. */
  get next(): string | undefined {
    return this.#next
  }

  get ended(): boolean {
    return this.#next === undefined && this.#text.slice(this.#at).trim() === ''
  }

  take(): string | undefined {
    const taken = this.#next
    TOKEN.lastIndex = this.#at
    this.#next = TOKEN.exec(this.#text)?.[1]
    if (this.#next !== undefined) this.#at = TOKEN.lastIndex
    return taken
  }

  takes(token: string): boolean {
    if (this.#next !== token) return false
    this.take()
    return true
  }
}

/** Reads one part, and tells whether it is one. */
type Part = (tokens: Tokens, depth: number) => boolean

function coordinate(tokens: Tokens): boolean {
  const token = tokens.take()
  return token !== undefined && /[0-9]/.test(token) && Number.isFinite(Number(token))
}

const point: Part = (tokens) => coordinate(tokens) && coordinate(tokens)

function inBrackets(part: Part): Part {
  return (tokens, depth) => tokens.takes('(') && part(tokens, depth) && tokens.takes(')')
}

function listOf(part: Part): Part {
  return inBrackets((tokens, depth) => {
    do {
      if (!part(tokens, depth)) return false
    } while (tokens.takes(','))
    return true
  })
}

const line = listOf(point)
const polygon = listOf(line)
/** Points of a set stand in brackets of their own or in none. */
const points = listOf((tokens, depth) => (tokens.next === '(' ? inBrackets(point) : point)(tokens, depth))

const collection: Part = (tokens, depth) => {
  if (tokens.next?.toUpperCase() !== 'EMPTY') return listOf(geometry)(tokens, depth + 1)
  tokens.take()
  return true
}

const GEOMETRIES: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['POINT', inBrackets(point)],
  ['LINESTRING', line],
  ['POLYGON', polygon],
  ['MULTIPOINT', points],
  ['MULTILINESTRING', polygon],
  ['MULTIPOLYGON', listOf(polygon)],
  ['GEOMETRYCOLLECTION', collection],
  ['GEOMCOLLECTION', collection],
])

function geometry(tokens: Tokens, depth: number): boolean {
  const part = depth > NESTED_MAX ? undefined : GEOMETRIES.get(tokens.take()?.toUpperCase() ?? '')
  return part?.(tokens, depth) === true
}

export function isWellKnownText(text: string): boolean {
  const tokens = new Tokens(text)
  return geometry(tokens, 0) && tokens.ended
}
