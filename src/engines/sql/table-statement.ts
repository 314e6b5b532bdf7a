import { invariant } from '../../core/assert.js'
import type { CallLimits, Filter, Guard, ParentTerm, Scope, ScopeTerm } from '../../core/plan.js'
import type { Column, Identifier, LogicalType, Table, ValueType } from '../../core/schema-model.js'
import type { ResultColumn } from '../../core/statement.js'
import { guardConditions } from './column-guard.js'
import type { SqlPieces } from './pieces.js'
import type { ParentName, SqlWriter, Write } from './sql-writer.js'

/** A statement about one table, known in it as `t`, on its way to SQL: with which engine's pieces, and into what. */
export interface TableStatement {
  readonly table: Table
  /** Columns by name that the caller may use; the table's others are found too, since a scope may rest on them. */
  readonly visible: ReadonlyMap<Identifier, Column>
  readonly limits: CallLimits
  readonly guard: Guard | undefined
  readonly pieces: SqlPieces
  readonly w: SqlWriter
}

/** Logical types whose values may be too long to leave the server whole. */
const MAY_BE_LONG: ReadonlySet<LogicalType> = new Set(['text', 'json', 'array', 'bytes', 'unknown'])

/** Any column of the table: a scope may rest on one that the caller does not see. */
export function columnOf({ visible, table }: TableStatement, name: Identifier): Column {
  const column = visible.get(name) ?? table.columns.find((candidate) => candidate.name === name)
  invariant(column !== undefined, 'a validated plan names columns of its table')
  return column
}

/** A column by its table's alias: a bare name could also mean a result column of the same statement. */
export function operand(column: Column): Write {
  return (w) => {
    w.column(column.name)
  }
}

/** Two columns that the engine compares by itself. */
export function writeEqual(w: SqlWriter, one: Write, other: Write): void {
  one(w)
  w.keyword(' = ')
  other(w)
}

/** What is known of how long values may get, and how long a caller may get them. */
export interface CellWriter {
  readonly limits: CallLimits
  readonly pieces: SqlPieces
  readonly w: SqlWriter
}

function mayBeLong({ limits, pieces }: CellWriter, type: ValueType): boolean {
  if (!MAY_BE_LONG.has(type.logical) || pieces.shortTypes.has(type.native)) return false
  return type.logical !== 'text' || type.charsMax === undefined || type.charsMax > limits.cellCharsMax
}

/** What a cell of this type is cut to by whoever reads it; absent where it never is. */
export function cutOf(c: CellWriter, type: ValueType): { readonly charsMax?: number } {
  return mayBeLong(c, type) ? { charsMax: c.limits.cellCharsMax } : {}
}

/** Writes the cell whole, or one character beyond the longest the caller may get, so that the cut can be told. */
export function writeCell(c: CellWriter, name: string, type: ValueType, write: Write): ResultColumn {
  const cut = cutOf(c, type)
  if (cut.charsMax === undefined) c.pieces.whole(c.w, write, type)
  else c.pieces.shortened(c.w, write, type, cut.charsMax + 1)
  return { name, type, ...cut }
}

export function writeWholeCell(c: CellWriter, column: Column): ResultColumn {
  c.pieces.whole(c.w, operand(column), column.type)
  return { name: column.agentName, type: column.type }
}

/** A list of cells, those of `uncut` whole. */
export function writeColumnCells(
  c: CellWriter,
  columns: readonly Column[],
  uncut: ReadonlySet<Identifier>,
): readonly ResultColumn[] {
  const cells: ResultColumn[] = []
  c.w.list(columns, ', ', (column) => {
    const { name, agentName, type } = column
    cells.push(uncut.has(name) ? writeWholeCell(c, column) : writeCell(c, agentName, type, operand(column)))
  })
  return cells
}

export function writeFrom(c: TableStatement): void {
  c.w.keyword(' FROM ').table(c.table.ref).keyword(' AS t')
}

/** ` WHERE` with filters, scope and guard together, or nothing. */
export function writeConditions(c: TableStatement, filters: readonly Filter[], scope: Scope): void {
  const wanted = filters.map((filter) => condition(c, filter))
  writeWhere(c.w, [...wanted, ...scopeConditions(c, scope), ...guardConditions(c)])
}

/** ` WHERE` all of them, or nothing. */
export function writeWhere(w: SqlWriter, conditions: readonly Write[]): void {
  if (conditions.length > 0) w.keyword(' WHERE ').list(conditions, ' AND ', (write) => write(w))
}

/** All must hold. A scope that offers no group at all lets no row through. */
export function scopeConditions(c: TableStatement, scope: Scope): readonly Write[] {
  return conditionsOf(c, scope, PARENT_NAMES)
}

/** What parents are called in subqueries that stand in each other; the policy has refused longer ways up. */
const PARENT_NAMES: readonly ParentName[] = ['p1', 'p2', 'p3']

/** `names`: those that are left for parents. */
function conditionsOf(c: TableStatement, scope: Scope, names: readonly ParentName[]): readonly Write[] {
  const conditions = scope.all.map((term) => condition(c, term, names))
  return scope.any === undefined ? conditions : [...conditions, anyOf(c, scope.any, names)]
}

function condition(c: TableStatement, term: ScopeTerm, names: readonly ParentName[] = []): Write {
  if (term.op === 'parent') return parentCondition(c, term, names)
  return (w) => c.pieces.filter(w, columnOf(c, term.column), term)
}

/** That the parent is there, and in scope: no row is compared with a NULL, so that one without a parent has none. */
function parentCondition(c: TableStatement, term: ParentTerm, [name, ...names]: readonly ParentName[]): Write {
  invariant(name !== undefined, 'a policy leads no further up than there are names')
  const { parent, columns, parentColumns } = term
  invariant(columns.length > 0 && columns.length === parentColumns.length, 'both sides of a key have columns')
  const ofParent: TableStatement = { ...c, table: parent, visible: new Map() }
  return (w) => {
    invariant(!w.readsInserted, 'no subquery stands beside the row that is being written')
    const child = w.row
    const keys = columns.map((column, index): Write => {
      const referenced = columnOf(ofParent, parentColumns[index] ?? column)
      const own: Write = (inner) => inner.about(child, operand(columnOf(c, column)))
      return (inner) => c.pieces.same(inner, operand(referenced), own, referenced.type)
    })
    w.keyword('EXISTS (SELECT 1 FROM ').table(parent.ref).keyword(' AS ').keyword(name)
    w.about({ name, table: parent }, (inner) =>
      writeWhere(inner, [...keys, ...conditionsOf(ofParent, term.scope, names)]),
    )
    w.keyword(')')
  }
}

function anyOf(c: TableStatement, groups: readonly (readonly ScopeTerm[])[], names: readonly ParentName[]): Write {
  return (w) => {
    if (groups.length === 0) {
      w.keyword('1 = 0')
      return
    }
    w.keyword('(').list(groups, ' OR ', (group) => {
      if (group.length === 0) w.keyword('1 = 1')
      else
        w.keyword('(')
          .list(group, ' AND ', (term) => condition(c, term, names)(w))
          .keyword(')')
    })
    w.keyword(')')
  }
}

/** Every table that a scope looks into. */
export function parentsIn({ all, any = [] }: Scope): readonly ParentTerm['parent'][] {
  return [all, ...any].flatMap((terms) =>
    terms.flatMap((term) => (term.op === 'parent' ? [term.parent, ...parentsIn(term.scope)] : [])),
  )
}
