import { invariant, unreachable } from '../../core/assert.js'
import { metricType } from '../../core/metric-type.js'
import type { AggregatePlan, GetPlan, Metric, SearchPlan, ValidatedPlan } from '../../core/plan.js'
import type { Column, Identifier } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import { addressKey, areUnique } from '../../core/table-keys.js'
import { guardStatement } from './column-guard.js'
import type { RowLimit, SqlPieces } from './pieces.js'
import { SqlWriter, type Write } from './sql-writer.js'
import { writeSizeCondition, writeSuppressed } from './suppression.js'
import {
  columnOf,
  operand,
  parentsIn,
  type TableStatement,
  writeCell,
  writeColumnCells,
  writeConditions,
  writeFrom,
  writeWholeCell,
} from './table-statement.js'
import { equalMayLookDifferent, type SortKey, sortKey, totalOrder, visibleKey } from './total-order.js'

/** A read on its way to SQL. */
interface Compilation extends TableStatement {
  readonly validated: ValidatedPlan
}

/** ValidatedPlan → CompiledStatement, for any engine. Throws only where the plan breaks what validation promises. */
export function compilePlan(validated: ValidatedPlan, pieces: SqlPieces): CompiledStatement {
  const { plan, table, visible, limits, guard } = validated
  const compilation = { validated, table, visible, limits, guard, pieces, w: new SqlWriter(pieces.style) }
  switch (plan.kind) {
    case 'get':
      return compileGet(compilation, plan)
    case 'search':
      return compileSearch(compilation, plan)
    case 'aggregate':
      return compileAggregate(compilation, plan)
    default:
      return unreachable(plan)
  }
}

function compileGet(c: Compilation, plan: GetPlan): CompiledStatement {
  const { table, visible } = c.validated
  const key = new Set(plan.key.map((filter) => filter.column))
  const limit: RowLimit = { kind: 'one' }
  const { columns, ...told } = writeSelect(c, plan.columns, key, limit)
  writeFrom(c)
  writeConditions(c, plan.key, c.validated.scope)
  // A key that only the policy declares may match several rows: then the first in a total order is the row.
  if (!areUnique(table, key)) writeOrder(c, totalOrder(table, visible, []))
  c.pieces.limitAtEnd(c.w, limit)
  return c.w.finish(columns, { ...marksOf(c), ...told })
}

function compileSearch(c: Compilation, plan: SearchPlan): CompiledStatement {
  const { table, visible } = c.validated
  const uncut = new Set(plan.order.map((order) => order.column))
  for (const column of visibleKey(table, visible) ?? []) uncut.add(column.name)
  // One row more than asked for tells whether more exist.
  const limit: RowLimit = { kind: 'rows', rows: plan.limit + 1 }
  const { columns, ...told } = writeSelect(c, plan.columns, uncut, limit)
  writeFrom(c)
  writeConditions(c, plan.filters, c.validated.scope)
  writeOrder(c, totalOrder(table, visible, plan.order))
  c.pieces.limitAtEnd(c.w, limit)
  return c.w.finish(columns, { ...marksOf(c), ...told })
}

function compileAggregate(c: Compilation, plan: AggregatePlan): CompiledStatement {
  const { w, pieces } = c
  invariant(plan.metrics.length + plan.groupBy.length > 0, 'an aggregate has a metric or a group')
  const groups = plan.groupBy.map((name) => columnOf(c, name))
  const limit: RowLimit = { kind: 'rows', rows: plan.limit + 1 }
  const { minGroupSize } = c.limits
  const columns: ResultColumn[] = []
  // Groups are what rows of an aggregate are told apart and sorted by, so they are never cut.
  const cells = [...groups, ...plan.metrics].map(
    (item): Write =>
      () => {
        columns.push('fn' in item ? writeMetricCell(c, item) : writeGroupCell(c, item))
      },
  )
  const source: Write = () => {
    writeFrom(c)
    writeConditions(c, plan.filters, c.validated.scope)
    if (groups.length > 0) w.keyword(' GROUP BY ').list(groups, ', ', (column) => operand(column)(w))
  }
  const order = aggregateOrder(c, plan, groups)
  if (groups.length > 0 && minGroupSize > 1) {
    const identity = groups.map((group) => sortTerm(c, sortKey(group, 'asc')))
    writeSuppressed(w, { pieces, minGroupSize, limit, cells, source, identity, order })
    return w.finish(columns, marksOf(c))
  }
  w.keyword('SELECT ')
  pieces.limitAtStart(w, limit)
  w.list(cells, ', ', (cell) => cell(w))
  source(w)
  if (groups.length === 0) writeSizeCondition(w, pieces, minGroupSize)
  writeTerms(w, order)
  pieces.limitAtEnd(w, limit)
  return w.finish(columns, marksOf(c))
}

/** Whatever a view is made of may call functions; what a materialized one holds was computed before. */
function marksOf(c: Compilation): Pick<CompiledStatement, 'runsCode' | 'guard'> {
  const tables = [c.table, ...parentsIn(c.validated.scope)]
  return { ...(tables.some(({ kind }) => kind === 'view') ? { runsCode: true } : {}), ...guardStatement(c, [c.w]) }
}

/** The caller's order, then every group not in it yet: groups differ, so the order is total. */
function aggregateOrder(c: Compilation, plan: AggregatePlan, groups: readonly Column[]): readonly Write[] {
  const terms: Write[] = []
  const sorted = new Set<string>()
  const add = (id: string, term: Write) => {
    if (sorted.has(id)) return
    sorted.add(id)
    terms.push(term)
  }
  for (const { by, direction } of plan.order) {
    if (by.kind === 'group') {
      const group = groups[by.index]
      invariant(group !== undefined, 'an order by group names a group of the plan')
      add(`group ${group.name}`, sortTerm(c, sortKey(group, direction)))
    } else {
      const metric = plan.metrics[by.index]
      invariant(metric !== undefined, 'an order by metric names a metric of the plan')
      // Of no rows at all there is no sum, no average and no extreme.
      const nullable = metric.fn !== 'count' && metric.fn !== 'count_distinct'
      // Two metrics may be the same one by two names; some engines refuse a term that they have already.
      add(`metric ${metric.fn} ${metric.column ?? ''}`, (w) =>
        c.pieces.sortKey(w, metricOperand(c, metric), direction, nullable),
      )
    }
  }
  for (const group of groups) add(`group ${group.name}`, sortTerm(c, sortKey(group, 'asc')))
  return terms
}

function writeGroupCell(c: Compilation, column: Column): ResultColumn {
  if (!equalMayLookDifferent(column.type)) return writeWholeCell(c, column)
  c.pieces.representative(c.w, operand(column), column.type)
  return { name: column.agentName, type: column.type }
}

function writeMetricCell(c: Compilation, metric: Metric): ResultColumn {
  const column = metric.column === undefined ? undefined : columnOf(c, metric.column)
  const type = metricType(metric.fn, column?.type)
  invariant(type !== undefined, 'a metric fits its column')
  return writeCell(c, metric.as, type, extremeOf(c, metric) ?? metricOperand(c, metric))
}

/** The cell of an extreme of which equal values may be written differently. */
function extremeOf(c: Compilation, { fn, column: name }: Metric): Write | undefined {
  if ((fn !== 'min' && fn !== 'max') || name === undefined) return undefined
  const column = columnOf(c, name)
  if (!equalMayLookDifferent(column.type)) return undefined
  return (w) => c.pieces.extreme(w, fn, operand(column), column.type)
}

function metricOperand(c: Compilation, metric: Metric): Write {
  const column = metric.column === undefined ? undefined : columnOf(c, metric.column)
  return (w) => c.pieces.metric(w, metric.fn, column && operand(column), column?.type)
}

type Selected = Pick<CompiledStatement, 'columns' | 'shown' | 'keyCells'>

/** The columns that were asked for, and behind them what is missing of the row's key: the entry says which rows were given. */
function writeSelect(
  c: Compilation,
  names: readonly Identifier[],
  uncut: ReadonlySet<Identifier>,
  limit: RowLimit,
): Selected {
  invariant(names.length > 0, 'a read returns at least one column')
  c.w.keyword('SELECT ')
  c.pieces.limitAtStart(c.w, limit)
  const { table, visible } = c.validated
  const key = addressKey(table, visible)
  if (key === undefined) {
    const asked = names.map((name) => columnOf(c, name))
    return { columns: writeColumnCells(c, asked, uncut) }
  }
  const selected = [...names]
  for (const { name } of key) if (!names.includes(name)) selected.push(name)
  const whole = new Set([...uncut, ...key.map(({ name }) => name)])
  const columns = writeColumnCells(
    c,
    selected.map((name) => columnOf(c, name)),
    whole,
  )
  const keyCells = key.map(({ name }) => selected.indexOf(name))
  return selected.length === names.length ? { columns, keyCells } : { columns, keyCells, shown: names.length }
}

function sortTerm(c: Compilation, key: SortKey): Write {
  const column = operand(key.column)
  const sorted: Write = key.form === 'native' ? column : (w) => c.pieces.textForm(w, column, key.column.type)
  return (w) => c.pieces.sortKey(w, sorted, key.direction, key.column.nullable)
}

function writeTerms(w: SqlWriter, terms: readonly Write[]): void {
  if (terms.length > 0) w.keyword(' ORDER BY ').list(terms, ', ', (term) => term(w))
}

function writeOrder(c: Compilation, keys: readonly SortKey[]): void {
  writeTerms(
    c.w,
    keys.map((key) => sortTerm(c, key)),
  )
}
