import { invariant } from '../../core/assert.js'
import type { Filter, MutationPlan, ValidatedMutation } from '../../core/plan.js'
import type { Column, Identifier, Table } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import { areUnique, insertKey, isCountedUp } from '../../core/table-keys.js'
import type { CompiledMutation } from '../engine.js'
import { guardConditions, guardStatement } from './column-guard.js'
import type { RowLimit, SqlPieces, WritePieces } from './pieces.js'
import { SqlWriter, type Write } from './sql-writer.js'
import {
  parentsIn,
  scopeConditions,
  type TableStatement,
  writeColumnCells,
  writeConditions,
  writeFrom,
  writeWhere,
} from './table-statement.js'

/** What an engine writes its own way. */
export type MutationPieces = SqlPieces & { readonly writing: WritePieces }

/** One statement of a mutation on its way to SQL. */
interface Writing extends TableStatement {
  readonly mutation: ValidatedMutation
  readonly writing: WritePieces
}

type KeyedPlan = Extract<MutationPlan, { key: unknown }>

/**
 * ValidatedMutation → CompiledMutation. Rows are judged as the statement leaves them: what a BEFORE trigger makes of a row
 * counts, what an AFTER trigger does to it later is the database's own.
 */
export function compileMutation(mutation: ValidatedMutation, pieces: MutationPieces): CompiledMutation {
  const { plan, table, limits, guard } = mutation
  const writers: SqlWriter[] = []
  const writing = (): Writing => {
    const w = new SqlWriter(pieces.style)
    writers.push(w)
    const visible = new Map(table.columns.map((column) => [column.name, column]))
    return { mutation, table, visible, limits, guard, pieces, writing: pieces.writing, w }
  }
  const statements = compileStatements(mutation, pieces, writing)
  const ground = guardStatement({ table, guard, pieces }, writers)
  return { maxAffectedRows: limits.maxAffectedRows, dryRun: plan.dryRun, ...ground, ...statements }
}

function compileStatements(
  { plan, table }: ValidatedMutation,
  pieces: MutationPieces,
  writing: () => Writing,
): Pick<CompiledMutation, 'lock' | 'write' | 'readBack'> {
  if (plan.kind === 'create') {
    return written(writing, pieces.writing.returns(table, 'insert'), compileInsert, readInserted)
  }
  const returned = pieces.writing.returns(table, 'update')
  const write = (c: Writing, returning: boolean) => compileUpdate(c, plan, returning)
  return { lock: compileLock(writing(), plan), ...written(writing, returned, write, (c) => readUpdated(c, plan)) }
}

/** The statement that writes, and the one that reads back what it does not return, which may stand in the same batch. */
function written(
  writing: () => Writing,
  returned: boolean,
  write: (c: Writing, returning: boolean) => readonly ResultColumn[],
  read: (c: Writing) => readonly ResultColumn[],
): Pick<CompiledMutation, 'write' | 'readBack'> {
  const c = writing()
  const columns = write(c, returned)
  const marked = (how: 'rows' | 'counted') => (c.writing.mark === undefined ? {} : { marked: how })
  if (returned) return { write: c.w.finish(columns, marked('rows')) }
  if (c.writing.batched) {
    c.w.keyword('; ').rowIs('t')
    return { write: c.w.finish(read(c), marked('counted')) }
  }
  const back = writing()
  const backColumns = read(back)
  return { write: c.w.finish(backColumns), readBack: back.w.finish(backColumns) }
}

/** Gives the columns that the statement returns: none where it does not. */
function compileInsert(c: Writing, returning: boolean): readonly ResultColumn[] {
  const { writes } = c.mutation
  const middle = returning && c.writing.returning === 'middle'
  c.writing.insertInto(c.w, c.table)
  if (writes.length === 0) {
    const columns = middle ? writeOutput(c) : []
    c.writing.noValues(c.w)
    return middle ? columns : writeReturning(c, returning)
  }
  c.w.keyword('(').list(writes, ', ', ({ column }) => c.w.target(column.name))
  c.w.keyword(')')
  const columns = middle ? writeOutput(c) : []
  const values = () => c.w.list(writes, ', ', ({ column, value }) => c.writing.newValue(c.w, column, value))
  const guards = guardConditions(c)
  if (guards.length === 0) {
    c.w.keyword(' VALUES (')
    values()
    c.w.keyword(')')
  } else {
    // Before anything is written: what a constraint says of a value would tell what another column holds.
    c.w.keyword(' SELECT ')
    values()
    writeWhere(c.w, guards)
  }
  return middle ? columns : writeReturning(c, returning)
}

function compileUpdate(c: Writing, plan: KeyedPlan, returning: boolean): readonly ResultColumn[] {
  const { writes, scope } = c.mutation
  invariant(writes.length > 0, 'an update writes at least one column')
  const middle = returning && c.writing.returning === 'middle'
  c.writing.update(c.w, c.table)
  c.w.keyword(' SET ').list(writes, ', ', ({ column, value }) => {
    c.w.target(column.name).keyword(' = ')
    c.writing.newValue(c.w, column, value)
  })
  const columns = middle ? writeOutput(c) : []
  c.writing.updateFrom(c.w, c.table)
  writeConditions(c, plan.key, scope)
  return middle ? columns : writeReturning(c, returning)
}

function writeOutput(c: Writing): readonly ResultColumn[] {
  c.w.keyword(' OUTPUT ').rowIs('inserted')
  c.writing.mark?.(c.w, false)
  const columns = writeJudged(c)
  c.w.rowIs('t')
  return columns
}

function writeReturning(c: Writing, returning: boolean): readonly ResultColumn[] {
  if (!returning) return []
  c.w.keyword(' RETURNING ')
  return writeJudged(c)
}

/** The result columns as the row is now written, then whether it is in scope: a predicate that is NULL does not hold. */
function writeJudged(c: Writing): readonly ResultColumn[] {
  const columns = writeResult(c)
  if (columns.length > 0) c.w.keyword(', ')
  // A row without values of the caller's is written in any case, and takes no condition but this one.
  const guards = c.mutation.writes.length === 0 ? guardConditions(c) : []
  c.writing.truth(c.w, [...guards, ...scopeConditions(c, c.mutation.writtenScope)], false)
  return columns
}

/** Reads the row that was inserted: by what was written into its key, and by what the database counted up. */
function readInserted(c: Writing): readonly ResultColumn[] {
  const key = insertKey(c.table)
  invariant(key !== undefined, 'a row that is not returned is created only where a key tells it')
  return readWritten(
    c,
    key.map((column) => keyCondition(c, column, undefined)),
  )
}

/**
 * Reads the rows that were updated, by their key as it is now. A key that rows can share finds others as well, and those out
 * of scope may decide nothing; where the key itself stays, the rows in scope that have it are the updated ones and no more.
 */
function readUpdated(c: Writing, plan: KeyedPlan): readonly ResultColumn[] {
  const { writes, writtenScope } = c.mutation
  const conditions = plan.key.map((filter) => {
    const column = c.table.columns.find(({ name }) => name === filter.column)
    invariant(column !== undefined, 'a key names columns of its table')
    return keyCondition(c, column, filter)
  })
  const keyStays = !writes.some(({ column }) => plan.key.some((filter) => filter.column === column.name))
  const shared = keyStays && !isOneRow(c.table, plan.key)
  return readWritten(c, shared ? [...conditions, ...scopeConditions(c, writtenScope)] : conditions)
}

/** `unwritten`: what the column is found by when the mutation does not write it. A key stamped with the time is not found. */
function keyCondition(c: Writing, column: Column, unwritten: Filter | undefined): Write {
  const written = c.mutation.writes.find((write) => write.column.name === column.name)?.value
  if (written !== undefined) {
    if (written.kind === 'now' || written.value === null) return (w) => w.keyword('1 = 0')
    const { value } = written
    return (w) => c.pieces.filter(w, column, { column: column.name, op: 'eq', value })
  }
  if (unwritten !== undefined) return (w) => c.pieces.filter(w, column, unwritten)
  if (!isCountedUp(column)) return (w) => w.keyword('1 = 0')
  return (w) => {
    w.column(column.name).keyword(' = ')
    c.writing.countedUp(w)
  }
}

function readWritten(c: Writing, conditions: readonly Write[]): readonly ResultColumn[] {
  const limit: RowLimit = { kind: 'rows', rows: c.limits.maxAffectedRows + 1 }
  c.w.keyword('SELECT ')
  c.pieces.limitAtStart(c.w, limit)
  c.writing.mark?.(c.w, true)
  const columns = writeJudged(c)
  writeFrom(c)
  // The write before has locked its own table's names, and not those of tables that only its scope looks into.
  const guards = parentsIn(c.mutation.writtenScope).length > 0 ? guardConditions(c) : []
  writeWhere(c.w, [...conditions, ...guards])
  c.pieces.limitAtEnd(c.w, limit)
  return columns
}

function keyOf({ key }: ValidatedMutation): ReadonlySet<Identifier> {
  return new Set(key.map(({ name }) => name))
}

function writeResult(c: Writing): readonly ResultColumn[] {
  return writeColumnCells(c, c.mutation.returning, keyOf(c.mutation))
}

function compileLock(c: Writing, plan: KeyedPlan): CompiledStatement {
  const { w } = c
  const { expected, scope, returning } = c.mutation
  const limit: RowLimit | undefined = isOneRow(c.table, plan.key)
    ? undefined
    : { kind: 'rows', rows: c.limits.maxAffectedRows + 1 }
  w.keyword('SELECT ')
  if (limit !== undefined) c.pieces.limitAtStart(w, limit)
  c.writing.truth(
    w,
    expected.map(
      ({ column, value }) =>
        (inner: SqlWriter) =>
          c.writing.expectation(inner, column, value),
    ),
    false,
  )
  w.keyword(', ')
  writeUnchanged(c)
  if (returning.length > 0) w.keyword(', ')
  const columns = writeResult(c)
  writeFrom(c)
  c.writing.lockHint(w, writesKey(c.mutation))
  writeConditions(c, plan.key, scope)
  if (limit !== undefined) c.pieces.limitAtEnd(w, limit)
  c.writing.lockRows(w, writesKey(c.mutation))
  return w.finish(columns)
}

/**
 * Whether the row holds what is to be written. Where the caller may not read all of that, presets included, the answer
 * would tell what hidden columns hold, so the row counts as changed; one to be stamped with the time always is.
 */
function writeUnchanged({ w, writing, mutation: { writes, returning } }: Writing): void {
  const readable = new Set(returning.map(({ name }) => name))
  if (writes.some(({ column, value }) => value.kind === 'now' || !readable.has(column.name))) {
    writing.truth(w, 'never', true)
    return
  }
  const held = writes.flatMap(({ column, value }) =>
    value.kind === 'value' ? [(inner: SqlWriter) => writing.holds(inner, column, value.value)] : [],
  )
  writing.truth(w, held, true)
}

function isOneRow(table: Table, key: readonly Filter[]): boolean {
  return areUnique(table, new Set(key.map(({ column }) => column)))
}

/** Whether a column is written that other rows may refer to. */
function writesKey({ table, writes }: ValidatedMutation): boolean {
  const keys: readonly (readonly Identifier[])[] = [
    table.primaryKey,
    ...table.uniqueKeys,
    ...table.indexes.filter(({ unique, partial }) => unique && !partial).map(({ columns }) => columns),
  ]
  return writes.some(({ column }) => keys.some((key) => key.includes(column.name)))
}
