import { invariant } from '../../core/assert.js'
import { type GatewayError, gatewayError } from '../../core/errors.js'
import { LOGIN_TABLES_LISTED_MAX, REASON_CHARS_MAX } from '../../core/limits.js'
import { cleanText } from '../../core/names.js'
import type { Result } from '../../core/result.js'
import type { LoginFacts } from '../../core/schema-model.js'

/** What introspectors do with the rows of their catalog queries, whichever engine gave them. */

/** A row of a catalog query: every cell is text. */
export type CatalogRow = readonly (string | null)[]

/** Runs one catalog query on one connection; cells come back as text. */
export type CatalogReader = (
  text: string,
  params: readonly string[],
) => Promise<Result<readonly CatalogRow[], GatewayError>>

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The parts of one index, or of one foreign key, in order. */
export interface Parts {
  readonly name: string
  readonly parts: readonly CatalogRow[]
}

/** By the second cell, in the order of the names' code units: a catalog's own order may disregard case. */
export function byName(rows: readonly CatalogRow[]): readonly Parts[] {
  return [...groupedRows(rows, 1)].map(([name, parts]) => ({ name, parts })).sort((a, b) => byCodeUnits(a.name, b.name))
}

/** The comment in a cell, where there is one. */
export function commentOf(cell: unknown): { readonly comment?: string } {
  return typeof cell === 'string' && cell !== '' ? { comment: cell } : {}
}

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

/** `otherwise`: what else could be the reason, of the login. */
export function missingSchemas(missing: readonly string[], otherwise: string): GatewayError {
  const names = missing.map((schema) => `"${schema}"`).join(', ')
  const reason = `schemas: the database has no schema ${names}, or the login ${otherwise}`
  return gatewayError('CONNECTOR_UNAVAILABLE', { reason: cleanText(reason, REASON_CHARS_MAX) })
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
