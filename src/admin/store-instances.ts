import { INSTANCE_KEPT_MS, INSTANCE_LIVE_MS, RELOAD_REPORTS_KEPT } from '../core/limits.js'
import type { InstanceRun, ListedInstance } from './admin-store.js'
import { all, run as execute, type Steps } from './store-steps.js'

/** Which gateways serve the store, and what they say of requests to reload: see `InstanceStore`. `nowMs` is of the store's own clock. */

export function* noteInstance({ run, instance, host, pid }: InstanceRun, nowMs: number): Steps<void> {
  // An earlier run of the same gateway has ended, whether it could say so or not: one process at a time has its audit buffer.
  yield* execute('DELETE FROM instances WHERE instance = ? AND host = ? AND run <> ?', instance, host, run)
  yield* execute(
    `INSERT INTO instances (run, instance, host, pid, seen_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (run) DO UPDATE SET seen_at = excluded.seen_at`,
    run,
    instance,
    host,
    pid,
    nowMs,
  )
  yield* execute('DELETE FROM instances WHERE seen_at <= ?', nowMs - INSTANCE_KEPT_MS)
  yield* execute('DELETE FROM reload_reports WHERE run NOT IN (SELECT run FROM instances)')
}

export function* forgetInstance(run: string): Steps<void> {
  yield* execute('DELETE FROM instances WHERE run = ?', run)
  yield* execute('DELETE FROM reload_reports WHERE run = ?', run)
}

export function* reportReload(self: InstanceRun, request: number, report: string, nowMs: number): Steps<void> {
  yield* noteInstance(self, nowMs)
  // Where an earlier state of the store was put in its place meanwhile, the number will be that of another request.
  yield* execute(
    `INSERT INTO reload_reports (run, request, report)
     SELECT CAST(? AS text), CAST(? AS bigint), CAST(? AS text) FROM settings WHERE name = 'reload' AND value >= ?
     ON CONFLICT (run, request) DO UPDATE SET report = excluded.report`,
    self.run,
    request,
    report,
    request,
  )
  yield* execute('DELETE FROM reload_reports WHERE run = ? AND request <= ?', self.run, request - RELOAD_REPORTS_KEPT)
}

interface InstanceRow extends InstanceRun {
  readonly seen_at: number
  readonly answered: number
}

export function* listInstances(nowMs: number): Steps<readonly ListedInstance[]> {
  const rows = yield* all<InstanceRow>(
    `SELECT i.run, i.instance, i.host, i.pid, i.seen_at,
            coalesce((SELECT max(r.request) FROM reload_reports r WHERE r.run = i.run), -1) AS answered
     FROM instances i ORDER BY i.host, i.pid, i.run`,
  )
  return rows.map(({ seen_at, ...row }) => ({ ...row, live: nowMs - seen_at < INSTANCE_LIVE_MS }))
}

export function* reloadReports(request: number): Steps<ReadonlyMap<string, string>> {
  const rows = yield* all<{ readonly run: string; readonly report: string }>(
    `SELECT r.run, r.report FROM reload_reports r
     WHERE r.request = (SELECT min(o.request) FROM reload_reports o WHERE o.run = r.run AND o.request >= ?)`,
    request,
  )
  return new Map(rows.map(({ run, report }) => [run, report]))
}
