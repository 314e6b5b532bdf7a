import type { AuditEntry } from '../../core/audit-entry.js'
import { type Cell, csvLine } from './csv.js'

/** Members of an entry that are one column each; the others are named behind them. */
const MEMBERS = [
  ...(['seq', 'id', 'time', 'instance', 'connector', 'epoch', 'request_id', 'trace_id', 'identity', 'key_id'] as const),
  ...(['client', 'address', 'tool', 'operation', 'target', 'decision', 'code', 'reason', 'effect'] as const),
  ...(['rows', 'affected', 'count'] as const),
] as const

/** Entries as a table: every member is a column, durations are three, and lists and objects are JSON. */
export const ENTRY_CSV_HEADING = csvLine([
  ...MEMBERS,
  ...['roles', 'plan', 'result_keys', 'detail', 'total_ms', 'queue_ms', 'db_ms', 'prev_hash', 'hash'],
])

function json(part: unknown): Cell {
  return part === undefined ? undefined : JSON.stringify(part)
}

export function entryCsvLine(entry: AuditEntry): string {
  const { roles, plan, result_keys, detail, duration_ms, prev_hash, hash } = entry
  const { total, queue, db } = duration_ms
  return csvLine([
    ...MEMBERS.map((member) => entry[member]),
    ...[roles?.join(' '), json(plan), json(result_keys), json(detail), total, queue, db, prev_hash, hash],
  ])
}
