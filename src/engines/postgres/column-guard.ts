import type { Column } from '../../core/schema-model.js'
import { type GuardPieces, tableNumber } from '../sql/column-guard.js'
import type { SqlWriter } from '../sql/sql-writer.js'

/**
 * Names are found under the table's lock, which lasts until the transaction ends, and in READ COMMITTED the snapshot that the
 * catalog is read in is taken after it: what is read there is what the names meant. A condition without a row is a filter that
 * the plan evaluates once, before anything below it. The table's name becomes its number when the statement is parsed, and is
 * parsed again when a table of the statement was altered, so that comparing it costs nothing where nothing else is.
 *
 * Only a name that the catalog can never hold makes the server say that a relation does not exist, by an error that means
 * SCHEMA_CHANGED wherever it comes from.
 */
export const guarding: GuardPieces = {
  kind: 'condition',
  write: (w, { table, columns }) => {
    w.keyword('CAST(CASE WHEN ').tableText(table.ref).keyword('::regclass = ').wholeNumber(tableNumber(table))
    w.keyword('::oid')
    if (columns.length > 0) {
      w.keyword(' AND (SELECT count(*) FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = ')
      w.wholeNumber(tableNumber(table)).keyword('::oid AND a.attnum IN (')
      w.list(columns, ', ', ({ catalogId }) => w.wholeNumber(catalogId))
      w.keyword(') AND CASE a.attnum')
      for (const column of columns) writeSame(w, column)
      w.keyword(' END) = ').wholeNumber(columns.length)
    }
    w.keyword(" THEN 'pg_catalog.pg_class' ELSE 'pg_catalog.runku_columns_changed' END AS regclass)")
    w.keyword(" = 'pg_catalog.pg_class'::regclass")
  },
}

function writeSame(w: SqlWriter, { name, catalogId, catalogType }: Column): void {
  w.keyword(' WHEN ').wholeNumber(catalogId).keyword(' THEN a.attname = ').nameText(name)
  if (catalogType !== undefined) w.keyword(' AND a.atttypid = ').nameText(catalogType)
}
