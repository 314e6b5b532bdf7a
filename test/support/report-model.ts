import type { AuditEntry } from '../../src/core/audit-entry.js'

/** Reports the slow way: every entry is looked at. It knows nothing of how the index is laid out. */

export interface ModelFilter {
  readonly connector?: string
  readonly identity?: string
  readonly key_id?: string
  readonly tool?: string
  readonly operation?: string
  readonly target?: string
  readonly decision?: string
  readonly code?: string
  readonly from?: string
  readonly to?: string
}

/** What counts as an entry's tool: names that callers made up are not told apart. */
function toolOf(entry: AuditEntry): string | undefined {
  return entry.operation === 'unknown' ? undefined : entry.tool
}

export function modelFits(entry: AuditEntry, filter: ModelFilter): boolean {
  const { from, to, tool, ...equal } = filter
  if (tool !== undefined && toolOf(entry) !== tool) return false
  if (from !== undefined && Date.parse(entry.time) < Date.parse(from)) return false
  if (to !== undefined && Date.parse(entry.time) >= Date.parse(to)) return false
  return Object.entries(equal).every(([member, value]) => Reflect.get(entry, member) === value)
}

/** As a report shows it. */
export interface ModelTotals {
  readonly entries: number
  readonly calls: number
  readonly allowed: number
  readonly blocked: number
  readonly errored: number
  readonly rows: number
  readonly affected: number
  readonly mean_ms?: number
  readonly max_ms?: number
  readonly last_seen?: string
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

export function modelTotals(entries: readonly AuditEntry[]): ModelTotals {
  const sum = (of: (entry: AuditEntry) => number) => entries.reduce((total, entry) => total + of(entry), 0)
  const calls = (decision: string) => sum((entry) => (entry.decision === decision ? (entry.count ?? 1) : 0))
  const us = (entry: AuditEntry) => Math.round(entry.duration_ms.total * 1_000)
  const counted = {
    entries: entries.length,
    calls: sum((entry) => entry.count ?? 1),
    allowed: calls('allowed'),
    blocked: calls('blocked'),
    errored: calls('errored'),
    rows: sum((entry) => entry.rows ?? 0),
    affected: sum((entry) => entry.affected ?? 0),
  }
  if (entries.length === 0) return counted
  return {
    ...counted,
    mean_ms: rounded(Math.round(sum(us) / entries.length) / 1_000),
    max_ms: rounded(Math.max(...entries.map(us)) / 1_000),
    last_seen: entries.map(({ time }) => time).sort()[entries.length - 1] ?? '',
  }
}

/** The duration that this share of the entries did not pass, in milliseconds. */
export function modelPercentile(entries: readonly AuditEntry[], share: number): number {
  const sorted = entries.map((entry) => entry.duration_ms.total).sort((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0
}

const NO_TOOL_CALL = ['request', 'admin', 'gateway', 'audit']

interface ModelGroup {
  readonly members: readonly string[]
  readonly belongs: (entry: AuditEntry) => boolean
}

type GroupReport = 'denials' | 'identities' | 'tools'

const GROUPS: Readonly<Record<GroupReport, ModelGroup>> = {
  denials: {
    members: ['connector', 'identity', 'tool', 'operation', 'decision', 'code'],
    belongs: ({ decision }) => decision !== 'allowed',
  },
  identities: { members: ['identity'], belongs: ({ identity }) => identity !== undefined },
  tools: {
    members: ['connector', 'tool', 'operation'],
    belongs: ({ operation }: AuditEntry) => !NO_TOOL_CALL.includes(operation),
  },
}

/** The rows of a report of groups, by the members that name the group. */
export function modelGroups(report: GroupReport, entries: readonly AuditEntry[]): ReadonlyMap<string, unknown> {
  const { members, belongs } = GROUPS[report]
  interface Counted {
    readonly named: object
    readonly entries: AuditEntry[]
  }
  const groups = new Map<string, Counted>()
  for (const entry of entries) {
    if (!belongs(entry)) continue
    const values = members.map((member) => [member, member === 'tool' ? toolOf(entry) : Reflect.get(entry, member)])
    const named = Object.fromEntries(values.filter(([, value]) => value !== undefined))
    const key = JSON.stringify(named)
    const group: Counted = groups.get(key) ?? { named, entries: [] }
    group.entries.push(entry)
    groups.set(key, group)
  }
  return new Map([...groups].map(([key, group]) => [key, { ...group.named, ...modelTotals(group.entries) }]))
}

/** The same key for a row that a report showed. */
export function groupOfRow(report: GroupReport, row: unknown): string {
  const { members } = GROUPS[report]
  const shown = Object.entries(row as object)
  return JSON.stringify(Object.fromEntries(shown.filter(([member]) => members.includes(member))))
}
