import { invariant } from '../../core/assert.js'
import type { Identifier, TableRef } from '../../core/schema-model.js'
import { type SqlStyle, SqlWriter } from '../sql/sql-writer.js'

/** A table, and its columns that hold JSON or any other long text: the catalog calls both `longtext`. */
export interface LongTexts {
  readonly ref: TableRef
  readonly columns: readonly Identifier[]
}

const STYLE: SqlStyle = { quoting: 'backtick', placeholders: 'question', paramsMax: 0 }

/**
 * MariaDB takes a `longtext` with the right check for JSON, but shows checks to those alone who hold rights on the whole
 * database. So it is asked what it takes each column for: JSON becomes part of an array as it is, and a text as a quoted
 * text. No row is read; the tables must be there. A row for each table: its place in the list, and that array,
 * as text so that no client takes it apart.
 */
export function longTextsQuery(tables: readonly LongTexts[]): string {
  const w = new SqlWriter(STYLE)
  w.list(
    tables.map((table, place) => ({ table, place })),
    ' UNION ALL ',
    ({ table, place }) => {
      w.keyword('SELECT ').wholeNumber(place).keyword(', CAST(JSON_ARRAY(')
      w.list(table.columns, ', ', (name) => w.keyword('COALESCE(').column(name).keyword(', JSON_COMPACT(\'"json"\'))'))
      w.keyword(') AS CHAR) FROM (SELECT 1) AS one LEFT JOIN ').table(table.ref).keyword(' AS t ON FALSE')
    },
  )
  return w.finish([]).text
}

/** Names of the JSON columns by the table they are in. */
export function jsonColumns(
  tables: readonly LongTexts[],
  rows: readonly (readonly (string | null)[])[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>()
  for (const [place, cell] of rows) {
    const table = tables[Number(place)]
    const members: unknown = JSON.parse(cell ?? 'null')
    invariant(table !== undefined && Array.isArray(members), 'a table answers for itself with an array')
    found.set(table.ref.name, new Set(table.columns.filter((_, index) => members[index] === 'json')))
  }
  return found
}
