import { type GuardPieces, tableNumber } from '../sql/column-guard.js'

/**
 * A statement that runs holds its tables' definitions, and a cached plan is made anew when one has changed: the functions
 * that ask for names answer what the names meant. What they are asked depends on no row, so the plan starts with it. A date
 * in the year 0 cannot be made, by an error of its own.
 */
export const guarding: GuardPieces = {
  kind: 'condition',
  write: (w, { table, columns }) => {
    const number = tableNumber(table)
    w.keyword('DATEFROMPARTS(CASE WHEN OBJECT_ID(').tableText(table.ref).keyword(') = ').wholeNumber(number)
    for (const { name, catalogId } of columns) {
      w.keyword(' AND COL_NAME(')
        .wholeNumber(number)
        .keyword(', ')
        .wholeNumber(catalogId)
        .keyword(') = ')
        .nameText(name)
    }
    w.keyword(' THEN 2000 ELSE 0 END, 1, 1) = DATEFROMPARTS(2000, 1, 1)')
  },
}
