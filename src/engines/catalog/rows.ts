import { invariant } from '../../core/assert.js'
import { LOGIN_TABLES_LISTED_MAX } from '../../core/limits.js'
import type { LoginFacts } from '../../core/schema-model.js'

/** What introspectors do with the rows of their catalog queries, whichever engine gave them. */

/** A cell that the query cannot leave NULL: anything but text is a bug in it. */
export function textCell(row: readonly unknown[], cell: number): string {
  const value = row[cell]
  invariant(typeof value === 'string', `catalog cell ${cell} is not NULL`)
  return value
}

/** Rows by one cell, the object they belong to, each in the order of the query. */
export function groupedRows<R extends readonly unknown[]>(
  rows: readonly R[],
  cell: number,
): ReadonlyMap<string, readonly R[]> {
  const groups = new Map<string, R[]>()
  for (const row of rows) {
    const key = textCell(row, cell)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

/** What a login owns and can write: the lists are capped, the counts beside them are exact. */
export function tablesHeld(
  owns: readonly string[],
  writes: readonly string[],
): Pick<LoginFacts, 'owns' | 'writes' | 'ownsCount' | 'writesCount'> {
  return {
    owns: owns.slice(0, LOGIN_TABLES_LISTED_MAX),
    writes: writes.slice(0, LOGIN_TABLES_LISTED_MAX),
    ownsCount: owns.length,
    writesCount: writes.length,
  }
}
