import type { RowLimit, SqlPieces } from './pieces.js'
import type { SqlWriter, Write } from './sql-writer.js'

/**
 * Aggregates whose groups must have a size. Small groups fall within the statement, before order and limit, so that neither
 * what is left nor how much there is tells of them.
 */

/** A statement of groups, in the parts that it is put together from. */
export interface GroupedStatement {
  readonly pieces: SqlPieces
  readonly minGroupSize: number
  readonly limit: RowLimit
  readonly cells: readonly Write[]
  /** From ` FROM` to the end of ` GROUP BY`. */
  readonly source: Write
  /** Terms that sort the groups by what they are; no two groups are the same in all of them. */
  readonly identity: readonly Write[]
  /** Terms of the order that is wanted, which is total as well. */
  readonly order: readonly Write[]
}

/** ` HAVING`, for an aggregate without groups: of too few rows comes no row, so that one is not told from none. */
export function writeSizeCondition(w: SqlWriter, pieces: SqlPieces, minGroupSize: number): void {
  if (minGroupSize <= 1) return
  w.keyword(' HAVING ')
  writeCount(w, pieces)
  w.keyword(' >= ').wholeNumber(minGroupSize)
}

/**
 * The groups of at least `minGroupSize` rows. Where one group alone is smaller, the next smallest falls with it: what it counts
 * would otherwise be the difference between the whole and the others. Of several next smallest it is the first by what it is.
 */
export function writeSuppressed(w: SqlWriter, grouped: GroupedStatement): void {
  const { pieces, minGroupSize, limit, cells } = grouped
  w.keyword('SELECT ')
  pieces.limitAtStart(w, limit)
  w.list([...cells.keys()], ', ', (place) => w.keyword('g.c').wholeNumber(place))
  w.keyword(' FROM (SELECT ')
  for (const [place, cell] of cells.entries()) {
    cell(w)
    w.keyword(' AS c').wholeNumber(place).keyword(', ')
  }
  writeCount(w, pieces)
  w.keyword(' AS members, ')
  writePlace(w, [(inner) => writeCount(inner, pieces), ...grouped.identity])
  w.keyword(' AS place, SUM(CASE WHEN ')
  writeCount(w, pieces)
  w.keyword(' < ').wholeNumber(minGroupSize).keyword(' THEN 1 ELSE 0 END) OVER () AS fallen, ')
  writePlace(w, grouped.order)
  w.keyword(' AS turn')
  grouped.source(w)
  w.keyword(') AS g WHERE g.members >= ').wholeNumber(minGroupSize)
  w.keyword(' AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn')
  pieces.limitAtEnd(w, limit)
}

function writeCount(w: SqlWriter, pieces: SqlPieces): void {
  pieces.metric(w, 'count', undefined, undefined)
}

/** Where each group stands among all, from one. */
function writePlace(w: SqlWriter, terms: readonly Write[]): void {
  w.keyword('ROW_NUMBER() OVER (ORDER BY ')
    .list(terms, ', ', (term) => term(w))
    .keyword(')')
}
