import type { Column } from '../../core/schema-model.js'
import type { Guarded, GuardPieces } from '../sql/column-guard.js'
import type { SqlWriter } from '../sql/sql-writer.js'

/**
 * A statement of its own: both servers may answer that there is no such row before they evaluate a condition that depends on
 * none. Opening the tables keeps their definitions until the transaction ends. Schema and table are constants, which lets the
 * server look at this one alone; names are compared by their bytes, since the catalog's own comparison disregards accents.
 */
export const guarding: GuardPieces = {
  kind: 'statement',
  write: (w, guarded) => {
    w.keyword('SELECT IF(').list(guarded, ' AND ', (each) => writeAllSame(w, each))
    w.keyword(", 't', 'f')")
    for (const { table } of guarded) w.keyword(', EXISTS (SELECT 1 FROM ').table(table.ref).keyword(' AS t LIMIT 0)')
  },
}

function writeAllSame(w: SqlWriter, { table: { ref }, columns }: Guarded): void {
  w.keyword('(SELECT COUNT(*) FROM information_schema.COLUMNS AS c WHERE c.TABLE_SCHEMA = ')
  w.nameText(ref.schema).keyword(' AND c.TABLE_NAME = ').nameText(ref.name).keyword(' AND CASE c.ORDINAL_POSITION')
  for (const column of columns) writeSame(w, column)
  w.keyword(' ELSE FALSE END) = ').wholeNumber(columns.length)
}

function writeSame(w: SqlWriter, { name, catalogId, catalogType }: Column): void {
  w.keyword(' WHEN ').wholeNumber(catalogId).keyword(' THEN CAST(c.COLUMN_NAME AS BINARY) = CAST(').nameText(name)
  w.keyword(' AS BINARY)')
  if (catalogType !== undefined) w.keyword(' AND c.DATA_TYPE = ').nameText(catalogType)
}
