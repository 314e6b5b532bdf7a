import { invariant, unreachable } from '../../core/assert.js'
import { metricType } from '../../core/metric-type.js'
import type { AggregatePlan, Filter, GetPlan, Metric, Scope, SearchPlan, ValidatedPlan } from '../../core/plan.js'
import type { Column, Identifier, LogicalType, ValueType } from '../../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../../core/statement.js'
import type { RowLimit, SqlPieces } from './pieces.js'
import { SqlWriter, type Write } from './sql-writer.js'
import { areUnique, equalMayLookDifferent, type SortKey, sortKey, totalOrder, visibleKey } from './total-order.js'

/** Logical types whose values may be too long to leave the server whole. */
const MAY_BE_LONG: ReadonlySet<LogicalType> = new Set(['text', 'json', 'array', 'bytes', 'unknown'])

/** A plan on its way to SQL: what is compiled, with which engine's pieces, into what. */
interface Compilation {
  readonly validated: ValidatedPlan
  readonly pieces: SqlPieces
  readonly w: SqlWriter
}

/** ValidatedPlan → CompiledStatement, for any engine. Throws only where the plan breaks what validation promises. */
export function compilePlan(validated: ValidatedPlan, pieces: SqlPieces): CompiledStatement {
  const compilation = { validated, pieces, w: new SqlWriter(pieces.style) }
  const { plan } = validated
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
  const columns = writeSelect(c, plan.columns, key, limit)
  writeFrom(c)
  writeWhere(c, plan.key, c.validated.scope)
  // A key that only the policy declares may match several rows: then the first in a total order is the row.
  if (!areUnique(table, key)) writeOrder(c, totalOrder(table, visible, []))
  c.pieces.limitAtEnd(c.w, limit)
  return c.w.finish(columns)
}

function compileSearch(c: Compilation, plan: SearchPlan): CompiledStatement {
  const { table, visible } = c.validated
  const uncut = new Set(plan.order.map((order) => order.column))
  for (const column of visibleKey(table, visible) ?? []) uncut.add(column.name)
  // One row more than asked for tells whether more exist.
  const limit: RowLimit = { kind: 'rows', rows: plan.limit + 1 }
  const columns = writeSelect(c, plan.columns, uncut, limit)
  writeFrom(c)
  writeWhere(c, plan.filters, c.validated.scope)
  writeOrder(c, totalOrder(table, visible, plan.order))
  c.pieces.limitAtEnd(c.w, limit)
  return c.w.finish(columns)
}

function compileAggregate(c: Compilation, plan: AggregatePlan): CompiledStatement {
  const { w, pieces } = c
  invariant(plan.metrics.length + plan.groupBy.length > 0, 'an aggregate has a metric or a group')
  const groups = plan.groupBy.map((name) => columnOf(c, name))
  const limit: RowLimit = { kind: 'rows', rows: plan.limit + 1 }
  const columns: ResultColumn[] = []
  w.keyword('SELECT ')
  pieces.limitAtStart(w, limit)
  // Groups are what rows of an aggregate are told apart and sorted by, so they are never cut.
  w.list([...groups, ...plan.metrics], ', ', (item) => {
    columns.push('fn' in item ? writeMetricCell(c, item) : writeGroupCell(c, item))
  })
  writeFrom(c)
  writeWhere(c, plan.filters, c.validated.scope)
  if (groups.length > 0) {
    w.keyword(' GROUP BY ').list(groups, ', ', (column) => operand(column)(w))
  }
  writeAggregateOrder(c, plan, groups)
  pieces.limitAtEnd(w, limit)
  return w.finish(columns)
}

/** The caller's order, then every group not in it yet: groups differ, so the order is total. */
function writeAggregateOrder(c: Compilation, plan: AggregatePlan, groups: readonly Column[]): void {
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
      add(`metric ${by.index}`, (w) => c.pieces.sortKey(w, metricOperand(c, metric), direction))
    }
  }
  for (const group of groups) add(`group ${group.name}`, sortTerm(c, sortKey(group, 'asc')))
  writeTerms(c.w, terms)
}

/** Any column of the table: a scope may rest on one that the caller does not see. */
function columnOf(c: Compilation, name: Identifier): Column {
  const { visible, table } = c.validated
  const column = visible.get(name) ?? table.columns.find((candidate) => candidate.name === name)
  invariant(column !== undefined, 'a validated plan names columns of its table')
  return column
}

/** A column by its table's alias: a bare name could also mean a result column of the same statement. */
function operand(column: Column): Write {
  return (w) => {
    w.keyword('t.').identifier(column.name)
  }
}

function mayBeLong(c: Compilation, type: ValueType): boolean {
  if (!MAY_BE_LONG.has(type.logical) || c.pieces.shortTypes.has(type.native)) return false
  return type.logical !== 'text' || type.charsMax === undefined || type.charsMax > c.validated.limits.cellCharsMax
}

/** Writes the cell whole, or one character beyond the longest the caller may get, so that the cut can be told. */
function writeCell(c: Compilation, name: string, type: ValueType, write: Write): ResultColumn {
  if (!mayBeLong(c, type)) {
    write(c.w)
    return { name, type }
  }
  const charsMax = c.validated.limits.cellCharsMax
  c.pieces.shortened(c.w, write, type, charsMax + 1)
  return { name, type, charsMax }
}

function writeWholeCell(c: Compilation, column: Column): ResultColumn {
  operand(column)(c.w)
  return { name: column.agentName, type: column.type }
}

function writeGroupCell(c: Compilation, column: Column): ResultColumn {
  if (!equalMayLookDifferent(column.type)) return writeWholeCell(c, column)
  c.pieces.representative(c.w, operand(column))
  return { name: column.agentName, type: column.type }
}

function writeMetricCell(c: Compilation, metric: Metric): ResultColumn {
  const column = metric.column === undefined ? undefined : columnOf(c, metric.column)
  const type = metricType(metric.fn, column?.type)
  invariant(type !== undefined, 'a metric fits its column')
  const write = metricOperand(c, metric)
  const picksOne = (metric.fn === 'min' || metric.fn === 'max') && equalMayLookDifferent(type)
  return writeCell(c, metric.as, type, picksOne ? (w) => c.pieces.plainest(w, write, type) : write)
}

function metricOperand(c: Compilation, metric: Metric): Write {
  const column = metric.column === undefined ? undefined : operand(columnOf(c, metric.column))
  return (w) => c.pieces.metric(w, metric.fn, column)
}

function writeSelect(
  c: Compilation,
  names: readonly Identifier[],
  uncut: ReadonlySet<Identifier>,
  limit: RowLimit,
): readonly ResultColumn[] {
  invariant(names.length > 0, 'a read returns at least one column')
  const columns: ResultColumn[] = []
  c.w.keyword('SELECT ')
  c.pieces.limitAtStart(c.w, limit)
  c.w.list(names, ', ', (name) => {
    const column = columnOf(c, name)
    columns.push(
      uncut.has(name) ? writeWholeCell(c, column) : writeCell(c, column.agentName, column.type, operand(column)),
    )
  })
  return columns
}

function writeFrom(c: Compilation): void {
  c.w.keyword(' FROM ').table(c.validated.table.ref).keyword(' AS t')
}

/** Filters and scope together. A scope that offers no group at all lets no row through. */
function writeWhere(c: Compilation, filters: readonly Filter[], scope: Scope): void {
  const conditions: Write[] = [...filters, ...scope.all].map((filter) => condition(c, filter))
  if (scope.any !== undefined) conditions.push(anyOf(c, scope.any))
  if (conditions.length === 0) return
  c.w.keyword(' WHERE ').list(conditions, ' AND ', (write) => write(c.w))
}

function condition(c: Compilation, filter: Filter): Write {
  return (w) => c.pieces.filter(w, columnOf(c, filter.column), filter)
}

function anyOf(c: Compilation, groups: readonly (readonly Filter[])[]): Write {
  return (w) => {
    if (groups.length === 0) {
      w.keyword('1 = 0')
      return
    }
    w.keyword('(').list(groups, ' OR ', (group) => {
      if (group.length === 0) w.keyword('1 = 1')
      else
        w.keyword('(')
          .list(group, ' AND ', (filter) => condition(c, filter)(w))
          .keyword(')')
    })
    w.keyword(')')
  }
}

function sortTerm(c: Compilation, key: SortKey): Write {
  const column = operand(key.column)
  const sorted: Write = key.form === 'native' ? column : (w) => c.pieces.textForm(w, column)
  return (w) => c.pieces.sortKey(w, sorted, key.direction)
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
