import type { Cell } from './csv.js'
import type { IntervalTotals, Totals } from './index-totals.js'
import type { ReportCursor, ReportName } from './report-query.js'
import type { GroupKey } from './shape-groups.js'
import type { Shape } from './shapes.js'

/** The reports that count entries in groups, page by page. */
export type GroupReport = Exclude<ReportName, 'summary' | 'calls'>

/** What the members of a group have in common, in order. */
export const GROUP_MEMBERS = {
  denials: ['connector', 'identity', 'tool', 'operation', 'decision', 'code'],
  identities: ['identity'],
  tools: ['connector', 'tool', 'operation'],
} as const satisfies Readonly<Record<GroupReport, readonly (keyof Shape)[]>>

const NO_TOOL_CALL: readonly string[] = ['request', 'admin', 'gateway', 'audit']

function belongs(report: GroupReport, { identity, decision, operation }: Shape): boolean {
  switch (report) {
    case 'denials':
      return decision !== 'allowed'
    case 'identities':
      return identity !== undefined
    case 'tools':
      return !NO_TOOL_CALL.includes(operation)
  }
}

function keyOf(report: GroupReport, shape: Shape): string | undefined {
  if (!belongs(report, shape)) return undefined
  return JSON.stringify(GROUP_MEMBERS[report].map((member) => shape[member] ?? null))
}

/** The group of a shape as one text; undefined where the report does not count it. */
export const GROUP_KEYS: Readonly<Record<GroupReport, GroupKey>> = {
  denials: (shape) => keyOf('denials', shape),
  identities: (shape) => keyOf('identities', shape),
  tools: (shape) => keyOf('tools', shape),
}

/** Members of a group and their values; those without one are left out. */
function membersOf(report: GroupReport, key: string): Readonly<Record<string, string>> {
  // Made by `keyOf`.
  const values = JSON.parse(key) as readonly (string | null)[]
  const named: [string, string][] = []
  for (const [i, member] of GROUP_MEMBERS[report].entries()) {
    const value = values[i]
    if (value !== undefined && value !== null) named.push([member, value])
  }
  return Object.fromEntries(named)
}

export const TOTALS_COLUMNS = [
  'entries',
  'calls',
  'allowed',
  'blocked',
  'errored',
  'rows',
  'affected',
  'mean_ms',
  'max_ms',
  'last_seen',
]

export function msOf(us: number): number {
  return Math.round(us) / 1_000
}

export function shownTotals(totals: Totals): Readonly<Record<string, Cell>> {
  const { entries, calls, allowed, blocked, errored, rows, affected, totalUs, maxUs, lastMs } = totals
  return {
    ...{ entries, calls, allowed, blocked, errored, rows, affected },
    ...(entries === 0
      ? {}
      : { mean_ms: msOf(totalUs / entries), max_ms: msOf(maxUs), last_seen: new Date(lastMs).toISOString() }),
  }
}

interface Group {
  readonly key: string
  readonly totals: Totals
}

/** The groups with most calls first; those with equally many by their names. */
function inOrder(a: Group, b: Group): number {
  if (a.totals.calls !== b.totals.calls) return b.totals.calls - a.totals.calls
  return a.key < b.key ? -1 : 1
}

export interface GroupsPage {
  readonly rows: readonly Readonly<Record<string, Cell>>[]
  readonly next?: Extract<ReportCursor, { kind: 'group' }>
}

/** One page of groups. A cursor keeps the last entry that was counted, so that what comes meanwhile moves nothing. */
export function groupsPage(
  report: GroupReport,
  keys: readonly string[],
  counted: IntervalTotals,
  page: { readonly limit: number; readonly toSeq: number; readonly cursor: ReportCursor | undefined },
): GroupsPage {
  const { limit, toSeq, cursor } = page
  const groups: Group[] = []
  for (const [group, totals] of counted.get(0)?.counted() ?? []) groups.push({ key: keys[group] ?? '', totals })
  const after = groups.sort(inOrder).filter(({ key, totals }) => {
    if (cursor?.kind !== 'group') return true
    return totals.calls < cursor.calls || (totals.calls === cursor.calls && key > cursor.group)
  })
  const shown = after.slice(0, limit)
  const last = after.length > limit ? shown[shown.length - 1] : undefined
  return {
    rows: shown.map(({ key, totals }) => ({ ...membersOf(report, key), ...shownTotals(totals) })),
    ...(last === undefined ? {} : { next: { kind: 'group', toSeq, calls: last.totals.calls, group: last.key } }),
  }
}
