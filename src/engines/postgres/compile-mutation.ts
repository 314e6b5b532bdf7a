import { invariant } from '../../core/assert.js'
import type { Filter, MutationPlan, ValidatedMutation } from '../../core/plan.js'
import type { Identifier, Table } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import type { CompiledMutation } from '../engine.js'
import type { SqlPieces } from '../sql/pieces.js'
import { SqlWriter, type Write } from '../sql/sql-writer.js'
import {
  scopeConditions,
  type TableStatement,
  writeColumnCells,
  writeConditions,
  writeFrom,
} from '../sql/table-statement.js'
import { areUnique } from '../sql/total-order.js'
import { writeExpectation, writeHolds, writeNewValue } from './written-values.js'

/** One statement of a mutation on its way to SQL. */
interface Writing extends TableStatement {
  readonly mutation: ValidatedMutation
}

type KeyedPlan = Extract<MutationPlan, { key: unknown }>

/**
 * ValidatedMutation → CompiledMutation. Rows are judged as the statement leaves them: what a BEFORE trigger makes of a row
 * counts, what an AFTER trigger does to it later is the database's own.
 */
export function compileMutation(mutation: ValidatedMutation, pieces: SqlPieces): CompiledMutation {
  const { plan, table, limits } = mutation
  const writing = (): Writing => ({
    mutation,
    table,
    visible: new Map(table.columns.map((column) => [column.name, column])),
    limits,
    pieces,
    w: new SqlWriter(pieces.style),
  })
  const common = { maxAffectedRows: limits.maxAffectedRows, dryRun: plan.dryRun }
  if (plan.kind === 'create') return { ...common, write: compileInsert(writing()) }
  return { ...common, lock: compileLock(writing(), plan), write: compileUpdate(writing(), plan) }
}

function compileInsert(c: Writing): CompiledStatement {
  const { writes } = c.mutation
  c.w.keyword('INSERT INTO ').table(c.table.ref).keyword(' AS t ')
  if (writes.length === 0) {
    c.w.keyword('DEFAULT VALUES')
  } else {
    c.w.keyword('(').list(writes, ', ', ({ column }) => c.w.identifier(column.name))
    c.w.keyword(') VALUES (').list(writes, ', ', ({ column, value }) => writeNewValue(c.w, column, value))
    c.w.keyword(')')
  }
  return writeReturning(c)
}

function compileUpdate(c: Writing, plan: KeyedPlan): CompiledStatement {
  const { writes, scope } = c.mutation
  invariant(writes.length > 0, 'an update writes at least one column')
  c.w.keyword('UPDATE ').table(c.table.ref).keyword(' AS t SET ')
  c.w.list(writes, ', ', ({ column, value }) => {
    c.w.identifier(column.name).keyword(' = ')
    writeNewValue(c.w, column, value)
  })
  writeConditions(c, plan.key, scope)
  return writeReturning(c)
}

/** The result columns as the row is now written, then whether it is in scope: a predicate that is NULL does not hold. */
function writeReturning(c: Writing): CompiledStatement {
  c.w.keyword(' RETURNING ')
  const columns = writeResult(c)
  if (columns.length > 0) c.w.keyword(', ')
  writeHolding(c.w, scopeConditions(c, c.mutation.writtenScope))
  return c.w.finish(columns)
}

function writeResult(c: Writing): readonly ResultColumn[] {
  const { returning, key } = c.mutation
  return writeColumnCells(c, returning, new Set(key.map(({ name }) => name)))
}

/** Whether all hold, where NULL is no. */
function writeHolding(w: SqlWriter, conditions: readonly Write[]): void {
  if (conditions.length === 0) {
    w.keyword('true')
    return
  }
  w.keyword('coalesce(')
  writeAll(w, conditions)
  w.keyword(', false)')
}

function writeAll(w: SqlWriter, conditions: readonly Write[]): void {
  w.list(conditions, ' AND ', (write) => write(w))
}

function compileLock(c: Writing, plan: KeyedPlan): CompiledStatement {
  const { w } = c
  const { expected, scope, returning } = c.mutation
  w.keyword('SELECT ')
  writeHolding(
    w,
    expected.map(({ column, value }) => writeExpectation(column, value)),
  )
  w.keyword(', ')
  writeUnchanged(c)
  if (returning.length > 0) w.keyword(', ')
  const columns = writeResult(c)
  writeFrom(c)
  writeConditions(c, plan.key, scope)
  if (!isOneRow(c.table, plan.key)) {
    c.pieces.limitAtEnd(w, { kind: 'rows', rows: c.limits.maxAffectedRows + 1 })
  }
  // The lock that the update itself will take: a stronger one would wait for rows that only refer to this one.
  w.keyword(writesKey(c.mutation) ? ' FOR UPDATE OF t' : ' FOR NO KEY UPDATE OF t')
  return w.finish(columns)
}

/**
 * Whether the row holds what is to be written. Where the caller may not read all of that, presets included, the answer
 * would tell what hidden columns hold, so the row counts as changed; one to be stamped with the time always is.
 */
function writeUnchanged({ w, mutation: { writes, returning } }: Writing): void {
  const readable = new Set(returning.map(({ name }) => name))
  if (writes.some(({ column, value }) => value.kind === 'now' || !readable.has(column.name))) {
    w.keyword('false')
    return
  }
  writeAll(
    w,
    writes.flatMap(({ column, value }) =>
      value.kind === 'value' ? [(inner: SqlWriter) => writeHolds(inner, column, value.value)] : [],
    ),
  )
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
