import { setTimeout as pause } from 'node:timers/promises'
import { type AdminStore, type ListedInstance, StoreFailure } from '../admin/admin-store.js'
import { readReloadReport, type StoredReload } from '../admin/reload-report.js'
import { monotonicMs } from '../core/clock.js'
import { RELOAD_POLL_INTERVAL_MS, RELOAD_STORE_AWAY_MAX_MS } from '../core/limits.js'

/** An instance with what it says of a request. */
export interface InstanceReload {
  readonly instance: ListedInstance
  /** Undefined: it reported, and this program cannot read it. */
  readonly report: StoredReload | undefined
}

/** What became of a request to reload, over all instances of a store. */
export type Awaited =
  | {
      readonly kind: 'asked'
      readonly reported: readonly InstanceReload[]
      /** Live, and without a report when the time was over. */
      readonly waiting: readonly ListedInstance[]
      /** Live at some time since, and ended or not seen any more before they reported. */
      readonly gone: readonly ListedInstance[]
    }
  /** The store could not be read, and for how long nobody knows. */
  | { readonly kind: 'away'; readonly reason: string }

/**
 * Waits until every live instance has reported on the request, at most `timeoutMs`. An instance that stops, or that is not seen any more, is
 * not waited for; one that starts is. A store that fails is asked again for `RELOAD_STORE_AWAY_MAX_MS`.
 */
export async function awaitInstances(
  store: Pick<AdminStore, 'listInstances' | 'reloadReports'>,
  request: number,
  timeoutMs: number,
): Promise<Awaited> {
  const endsAtMs = monotonicMs() + timeoutMs
  const met = new Map<string, ListedInstance>()
  let awaySinceMs: number | undefined
  for (;;) {
    const late = monotonicMs() >= endsAtMs
    try {
      const live = (await store.listInstances()).filter((instance) => instance.live)
      awaySinceMs = undefined
      for (const instance of live) met.set(instance.run, instance)
      const waiting = live.filter(({ answered }) => answered < request)
      if (waiting.length === 0 || late) return await asked(store, request, { met, live, waiting })
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      awaySinceMs ??= monotonicMs()
      if (late || monotonicMs() - awaySinceMs >= RELOAD_STORE_AWAY_MAX_MS)
        return { kind: 'away', reason: error.message }
    }
    await pause(Math.max(0, Math.min(RELOAD_POLL_INTERVAL_MS, endsAtMs - monotonicMs())))
  }
}

interface Seen {
  readonly met: ReadonlyMap<string, ListedInstance>
  readonly live: readonly ListedInstance[]
  readonly waiting: readonly ListedInstance[]
}

async function asked(
  store: Pick<AdminStore, 'reloadReports'>,
  request: number,
  { met, live, waiting }: Seen,
): Promise<Awaited> {
  const reports = await store.reloadReports(request)
  const reported = live
    .filter((instance) => !waiting.includes(instance))
    .map((instance) => ({ instance, report: readReloadReport(reports.get(instance.run) ?? '') }))
  const now = new Set(live.map(({ run }) => run))
  const gone = [...met.values()].filter(({ run, answered }) => !now.has(run) && answered < request)
  return { kind: 'asked', reported, waiting, gone }
}
