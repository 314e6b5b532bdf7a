import { fail, ok, type Result } from '../../core/result.js'
import { entriesCsv, entriesPage } from './calls-report.js'
import { type Cell, csvTable } from './csv.js'
import { GROUP_KEYS, GROUP_MEMBERS, type GroupReport, groupsPage, TOTALS_COLUMNS } from './group-reports.js'
import type { AuditIndex, Coverage, IndexView } from './index-file.js'
import { strangeSince } from './index-state.js'
import { countTotals } from './index-totals.js'
import type { SeqRange, TimeRange } from './index-walk.js'
import { cursorText, type ReportCursor, type ReportQuery } from './report-query.js'
import { groupShapes, wantedShapes } from './shape-groups.js'
import { SUMMARY_COLUMNS, summaryOf } from './summary-report.js'

/** A report as it is sent. */
export interface MadeReport {
  readonly contentType: string
  /** What a table has no place for, by name: `instance`, `from-seq`, `to-seq`, `behind`, `not-genuine`, `next`. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly text: string
}

/** What every report says of itself. */
function factsOf(
  view: IndexView,
  coverage: Coverage,
  query: ReportQuery,
  changed = 0,
): Readonly<Record<string, unknown>> {
  const { instance, fromSeq, toSeq, lastSeq } = coverage
  const { fromMs, toMs, scope } = query
  const notGenuine = strangeSince(view.store.state, fromSeq) + changed
  return {
    instance,
    ...(toSeq < fromSeq ? {} : { from_seq: fromSeq, to_seq: toSeq }),
    behind: Math.max(0, lastSeq - Math.max(toSeq, fromSeq - 1)),
    ...(notGenuine === 0 ? {} : { not_genuine: notGenuine }),
    ...(fromMs === undefined ? {} : { from: new Date(fromMs).toISOString() }),
    ...(toMs === undefined ? {} : { to: new Date(toMs).toISOString() }),
    ...(scope.connectors === undefined ? {} : { connectors: scope.connectors }),
    ...(view.store.shapes.full ? { names_folded: true } : {}),
  }
}

const CSV = 'text/csv; charset=utf-8; header=present'

function headerFacts(facts: Readonly<Record<string, unknown>>, next: string | undefined): MadeReport['facts'] {
  const named: [string, string][] = []
  for (const name of ['instance', 'from_seq', 'to_seq', 'behind', 'not_genuine']) {
    const value = facts[name]
    if (value !== undefined) named.push([name.replace('_', '-'), String(value)])
  }
  if (next !== undefined) named.push(['next', next])
  return named
}

/** One page, in either form. `json`: more members, as JSON texts. */
function made(
  query: ReportQuery,
  facts: Readonly<Record<string, unknown>>,
  members: readonly (readonly [name: string, json: string])[],
  csv: () => string,
  cursor?: ReportCursor,
): MadeReport {
  const next = cursor === undefined ? undefined : cursorText(cursor)
  if (query.format === 'csv') return { contentType: CSV, facts: headerFacts(facts, next), text: csv() }
  const parts = [
    ...Object.entries(facts).map(([name, value]) => [name, JSON.stringify(value)] as const),
    ...members,
    ...(next === undefined ? [] : [['next', JSON.stringify(next)] as const]),
  ]
  const text = `{${parts.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  return { contentType: 'application/json', facts: [], text }
}

function rangeOf({ fromSeq, toSeq }: Coverage, cursor: ReportCursor | undefined): SeqRange {
  if (cursor === undefined) return { fromSeq, toSeq }
  return { fromSeq, toSeq: Math.min(toSeq, cursor.kind === 'entry' ? cursor.beforeSeq - 1 : cursor.toSeq) }
}

function reportOf(view: IndexView, query: ReportQuery): MadeReport {
  const { store, coverage } = view
  const { report, filter, scope, limit, cursor } = query
  const range = rangeOf(coverage, cursor)
  const time: TimeRange = {
    fromMs: query.fromMs ?? Number.NEGATIVE_INFINITY,
    toMs: query.toMs ?? Number.POSITIVE_INFINITY,
  }
  if (report === 'summary') {
    const summary = summaryOf(store, query, range, time)
    const members = Object.entries(summary).map(([name, value]) => [name, JSON.stringify(value)] as const)
    const table = () =>
      summary.intervals === undefined
        ? csvTable<string>(SUMMARY_COLUMNS, summary.operations)
        : csvTable<string>(['from', ...SUMMARY_COLUMNS.slice(2)], summary.intervals)
    return made(query, factsOf(view, coverage, query), members, table)
  }
  if (report === 'calls') {
    const wanted = wantedShapes(store.shapes, filter, scope)
    const { lines, beforeSeq, changed } = entriesPage(view, { range, time, wanted, limit })
    const entries = `[${lines.map(({ line }) => line).join(',')}]`
    const next: ReportCursor | undefined = beforeSeq === undefined ? undefined : { kind: 'entry', beforeSeq }
    return made(query, factsOf(view, coverage, query, changed), [['entries', entries]], () => entriesCsv(lines), next)
  }
  // Later pages are of the entries that the first one was of.
  return groupsReport(view, query, report, range, time)
}

function groupsReport(
  view: IndexView,
  query: ReportQuery,
  report: GroupReport,
  range: SeqRange,
  time: TimeRange,
): MadeReport {
  const { store } = view
  const { filter, scope, limit, cursor } = query
  const { groupOf, keys } = groupShapes(store.shapes, filter, scope, GROUP_KEYS[report])
  const counted = countTotals(store, { range, time, groupOf, groups: keys.length, latency: false, nameless: false })
  const { rows, next } = groupsPage(report, keys, counted, { limit, toSeq: range.toSeq, cursor })
  const columns: readonly string[] = [...GROUP_MEMBERS[report], ...TOTALS_COLUMNS]
  const table = () => csvTable<string>(columns, rows satisfies readonly Readonly<Record<string, Cell>>[])
  const facts = factsOf(view, { ...view.coverage, toSeq: range.toSeq }, query)
  return made(query, facts, [[report, JSON.stringify(rows)]], table, next)
}

/** Makes one report of what the index covers now. The failure is a sentence for the operator. */
export function makeReport(index: AuditIndex, query: ReportQuery): Result<MadeReport, string> {
  const report = index.view((view) => reportOf(view, query))
  return report.ok ? ok(report.value) : fail(report.error)
}
