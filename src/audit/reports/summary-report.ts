import type { Cell } from './csv.js'
import { msOf, shownTotals, TOTALS_COLUMNS } from './group-reports.js'
import type { IndexStore } from './index-store.js'
import { addTotals, countTotals, type Totals } from './index-totals.js'
import type { SeqRange, TimeRange } from './index-walk.js'
import { percentileUs } from './latency.js'
import { INTERVALS, type ReportFilter, type ReportQuery } from './report-query.js'
import { type GroupKey, groupShapes } from './shape-groups.js'

type Row = Readonly<Record<string, Cell>>

export const SUMMARY_COLUMNS = ['connector', 'operation', ...TOTALS_COLUMNS, 'p50_ms', 'p95_ms', 'p99_ms']

export interface Summary {
  readonly totals: Row
  /** By connector and operation. */
  readonly operations: readonly Row[]
  readonly codes: readonly Row[]
  /** By interval, the oldest first; absent where no interval was asked for. Intervals without an entry are left out. */
  readonly intervals?: readonly Row[]
}

interface Part {
  readonly connector: string | null
  readonly operation: string
  readonly decision: string
  readonly code: string
}

const partKey: GroupKey = ({ connector, operation, decision, code }) =>
  JSON.stringify({ connector: connector ?? null, operation, decision, code } satisfies Part)

/** Whether the filter goes by nothing that is a name: what a caller chose, or what there are many of. */
function isNameless({ identity, keyId, tool, target }: ReportFilter): boolean {
  return identity === undefined && keyId === undefined && tool === undefined && target === undefined
}

/** All entries together. */
const oneKey: GroupKey = () => ''

function latencies({ steps, entries, maxUs }: Totals): Row {
  if (entries === 0) return {}
  const at = (share: number) => msOf(percentileUs(steps, entries, share, maxUs))
  return { p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99) }
}

function withLatencies(totals: Totals): Row {
  return { ...shownTotals(totals), ...latencies(totals) }
}

/** Parts that have these members in common, added up: the members of each, and its totals. */
function together(
  parts: ReadonlyMap<Part, Totals>,
  membersOf: (part: Part) => Row,
): readonly { readonly members: Row; readonly totals: Totals }[] {
  const sets = new Map<string, { readonly members: Row; readonly all: Totals[] }>()
  for (const [part, totals] of parts) {
    const members = membersOf(part)
    const key = JSON.stringify(members)
    const set = sets.get(key) ?? { members, all: [] }
    set.all.push(totals)
    sets.set(key, set)
  }
  return [...sets]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { members, all }]) => ({ members, totals: addTotals(all) }))
}

/** Calls, decisions, codes and latencies of all entries that fit. */
export function summaryOf(store: IndexStore, query: ReportQuery, range: SeqRange, time: TimeRange): Summary {
  const { filter, scope, interval } = query
  const { groupOf, keys } = groupShapes(store.shapes, filter, scope, partKey)
  const counted = countTotals(store, {
    range,
    time,
    groupOf,
    groups: keys.length,
    latency: true,
    nameless: isNameless(filter),
  })
  const parts = new Map<Part, Totals>()
  for (const [group, totals] of counted.get(0)?.counted() ?? []) {
    // Made by `partKey`.
    parts.set(JSON.parse(keys[group] ?? '') as Part, totals)
  }
  return {
    totals: withLatencies(addTotals(parts.values())),
    operations: together(parts, ({ connector, operation }) => ({
      ...(connector === null ? {} : { connector }),
      operation,
    })).map(({ members, totals }) => ({ ...members, ...withLatencies(totals) })),
    codes: together(parts, ({ decision, code }) => ({ decision, code })).map(({ members, totals }) => ({
      ...members,
      entries: totals.entries,
      calls: totals.calls,
    })),
    ...(interval === undefined ? {} : { intervals: intervalRows(store, query, range, time, INTERVALS[interval]) }),
  }
}

function intervalRows(
  store: IndexStore,
  { filter, scope }: ReportQuery,
  range: SeqRange,
  time: TimeRange,
  intervalMs: number,
): readonly Row[] {
  const { groupOf } = groupShapes(store.shapes, filter, scope, oneKey)
  const counted = countTotals(store, {
    range,
    time,
    groupOf,
    groups: 1,
    latency: true,
    nameless: isNameless(filter),
    intervalMs,
  })
  return [...counted]
    .filter(([, groups]) => groups.of(0).entries > 0)
    .sort(([a], [b]) => a - b)
    .map(([beginMs, groups]) => ({
      from: new Date(beginMs).toISOString(),
      ...withLatencies(groups.of(0)),
    }))
}
