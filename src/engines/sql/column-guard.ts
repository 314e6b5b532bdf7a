import { invariant } from '../../core/assert.js'
import type { Guard } from '../../core/plan.js'
import type { Column, Identifier, Table } from '../../core/schema-model.js'
import type { CompiledStatement } from '../../core/statement.js'
import { type SqlStyle, SqlWriter, type Write } from './sql-writer.js'

/**
 * A statement finds its table and columns by their names. Once two columns have swapped theirs, what the policy hides would
 * come back, or decide what comes back, under the name of what it shows, until the catalog is read again. So the server
 * itself compares names with the catalog's own numbers, under the locks that the statement holds: whoever renames has to
 * wait for it, or is seen.
 */

/** What a statement rests on. The columns are those that it names; none where only the table has to be the same. */
export interface Guarded {
  readonly table: Table
  readonly columns: readonly Column[]
}

/**
 * How an engine does it. `condition`: a condition of the statement's own that depends on no row, and is evaluated before any
 * is read or written; where it does not hold, the statement ends in an error that means SCHEMA_CHANGED. `statement`: one to
 * be run first in the same transaction, as described for `CompiledStatement.guard`; it must open the tables, whose definitions
 * then cannot change until the transaction ends, and it cannot tell one table from another.
 */
export type GuardPieces =
  | { readonly kind: 'condition'; write(w: SqlWriter, guarded: Guarded): void }
  | { readonly kind: 'statement'; write(w: SqlWriter, guarded: readonly Guarded[]): void }

/** What stands around a guard: a statement about one table, or several that run in one transaction. */
export interface GuardGround {
  readonly table: Table
  readonly guard?: Guard | undefined
  readonly pieces: { readonly style: SqlStyle; readonly guarding: GuardPieces }
}

/** The condition of a statement that has to stand among its others; none where it needs none, or the engine takes none. */
export function guardConditions({ table, guard, pieces }: GuardGround): readonly Write[] {
  const { guarding } = pieces
  if (guard === undefined || guarding.kind !== 'condition') return []
  // Columns named further behind count as well: the condition is written when the rest of the statement is.
  return [
    (w) =>
      w.later((inner) =>
        inner.list(guardedBy(table, guard, [inner]), ' AND ', (guarded) => guarding.write(inner, guarded)),
      ),
  ]
}

/** The statement to be run before those that these have written; none where the engine takes a condition. */
export function guardStatement(
  { table, guard, pieces }: GuardGround,
  writers: readonly SqlWriter[],
): { readonly guard?: CompiledStatement } {
  const { guarding, style } = pieces
  if (guard !== 'columns' || guarding.kind !== 'statement') return {}
  // Rows that are counted whatever is in them are the table's, and which table that is such an engine cannot tell.
  const guarded = guardedBy(table, guard, writers).filter(({ columns }) => columns.length > 0)
  if (guarded.length === 0) return {}
  const w = new SqlWriter(style)
  // Every column, so that a table has one guard: a session that made sure of it once need not for the next statement.
  guarding.write(
    w,
    guarded.map((each) => ({ table: each.table, columns: each.table.columns })),
  )
  return { guard: w.finish([]) }
}

/** The statement's own table, then those that its scope looks into. */
function guardedBy(table: Table, guard: Guard, writers: readonly SqlWriter[]): readonly Guarded[] {
  if (guard === 'table') return [{ table, columns: [] }]
  const others = new Set(writers.flatMap((w) => [...w.namedElsewhere.keys()]))
  return [
    namedOf(table, writers, (w) => w.named),
    ...[...others].map((other) => namedOf(other, writers, (w) => w.namedElsewhere.get(other) ?? [])),
  ]
}

function namedOf(
  table: Table,
  writers: readonly SqlWriter[],
  namedBy: (w: SqlWriter) => Iterable<Identifier>,
): Guarded {
  const named = new Set(writers.flatMap((w) => [...namedBy(w)]))
  const columns = table.columns.filter(({ name }) => named.has(name))
  invariant(columns.length === named.size, 'a statement names columns of its tables')
  return { table, columns }
}

/** The catalog's own number of a table, where its engine has one. */
export function tableNumber({ catalogId }: Table): number {
  const number = Number(catalogId)
  invariant(/^[0-9]+$/.test(catalogId) && Number.isSafeInteger(number), 'the catalog has a number for every table')
  return number
}
