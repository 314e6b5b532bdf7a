/**
 * What the product promises of groups that are too small, sentence by sentence. It shares no code with the statements that
 * suppress them.
 */

/** A group as it would be given to whoever may see all of them, and how many rows it stands for. */
export interface Group<R = Readonly<Record<string, unknown>>> {
  readonly members: number
  readonly row: R
}

export interface Suppression<R> {
  readonly size: number
  /** Whether the call names groups: without any, all rows together are one that is there in any case. */
  readonly grouped: boolean
  readonly limit: number
  /** What tells the groups apart, in the ascending order of the groups. */
  readonly identity: readonly string[]
  readonly identityOf: (row: R) => string
}

export interface Left<R> {
  readonly rows: readonly R[]
  /** Groups smaller than the size. */
  readonly small: number
  /** Whether another group fell with the only small one. */
  readonly complementary: boolean
}

/** `groups`: all of them, in the order that the call wants. */
export function suppressed<R>(groups: readonly Group<R>[], suppression: Suppression<R>): Left<R> {
  const { size, grouped, limit, identity, identityOf } = suppression
  const small = groups.filter(({ members }) => members < size)
  let left = groups.filter(({ members }) => members >= size)
  // "When one group alone falls, the next smallest falls too": of several next smallest the first by what it is.
  const complementary = grouped && small.length === 1 && left.length > 0
  if (complementary) {
    const least = Math.min(...left.map(({ members }) => members))
    const places = new Map(identity.map((key, place) => [key, place]))
    const placeOf = ({ row }: Group<R>) => places.get(identityOf(row)) ?? Number.POSITIVE_INFINITY
    const [next] = left.filter(({ members }) => members === least).sort((a, b) => placeOf(a) - placeOf(b))
    left = left.filter((group) => group !== next)
  }
  return { rows: left.slice(0, limit).map(({ row }) => row), small: small.length, complementary }
}
