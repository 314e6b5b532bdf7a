import type { ListedInstance } from '../admin/admin-store.js'
import { CONNECTOR_OPERATIONS } from '../admin/operations-connectors.js'
import { isTrouble, type StoredReload } from '../admin/reload-report.js'
import { INSTANCE_LIVE_MS, RELOAD_STORE_AWAY_MAX_MS } from '../core/limits.js'
import { ok } from '../core/result.js'
import { contextOf } from './administer.js'
import { type Awaited, awaitInstances, type InstanceReload } from './await-instances.js'
import { type CommandResult, refused, type Surroundings, table, withStore } from './command.js'

/** Every instance answered, and on some of them what is new is not in force as it was meant. */
export const EXIT_NOT_APPLIED = 4
const EXIT_LATE = 1

export interface ReloadArguments {
  readonly wait: boolean
  readonly timeoutMs: number
}

/** `runku reload [--no-wait] [--timeout seconds]`: what came of it on every instance that serves this store. */
export function reload(surroundings: Surroundings, { wait, timeoutMs }: ReloadArguments): Promise<CommandResult> {
  return withStore(surroundings, 'reads', async (store, loaded) => {
    const operation = CONNECTOR_OPERATIONS['reload.request']
    const requested = await operation.run(contextOf(surroundings, store, loaded), { wait: false })
    if (!requested.ok) return refused(requested.error.message)
    const { request } = requested.value
    if (!wait) {
      const line = 'Asked every gateway of this store to read its configuration and its catalogs again.'
      return ok({ lines: [line], json: requested.value })
    }
    return outcome(surroundings, request, await awaitInstances(store, request, timeoutMs), timeoutMs)
  })
}

function outcome({ note }: Surroundings, request: number, awaited: Awaited, timeoutMs: number): CommandResult {
  if (awaited.kind === 'away') {
    const then = 'every gateway reloads as soon as it can read the store'
    return refused(
      `the request to reload was made, and then the admin store could not be read, for ${RELOAD_STORE_AWAY_MAX_MS / 1_000} s or until the time to wait was over: ${awaited.reason}; ${then}`,
    )
  }
  const { reported, waiting, gone } = awaited
  const ended = gone.map(
    (one) => `${nameOf(one)} ended or has not been seen for ${INSTANCE_LIVE_MS / 1_000} s: it is not waited for`,
  )
  if (reported.length === 0 && waiting.length === 0) {
    return refused(
      `no gateway of this store runs: none was seen in the last ${INSTANCE_LIVE_MS / 1_000} s; one that starts reads everything by itself`,
      ...ended,
    )
  }
  for (const line of ended) note(line)
  for (const one of waiting) note(`${nameOf(one)} has not reported within ${timeoutMs / 1_000} s; it goes on`)
  const code = waiting.length > 0 ? EXIT_LATE : reported.some(({ report }) => isTroubled(report)) ? EXIT_NOT_APPLIED : 0
  return ok({
    lines: reportLines(reported),
    json: {
      request,
      instances: reported.map(({ instance, report }) => ({ ...shown(instance), report: report ?? null })),
      waiting: waiting.map(shown),
      gone: gone.map(shown),
    },
    exitCode: code,
  })
}

function nameOf({ host, pid }: ListedInstance): string {
  return `${host}:${pid}`
}

function shown({ instance, host, pid }: ListedInstance) {
  return { instance, host, pid }
}

function isTroubled(report: StoredReload | undefined): boolean {
  return report === undefined || report.faults.length > 0 || report.connectors.some(isTrouble)
}

function reportLines(reported: readonly InstanceReload[]): readonly string[] {
  const rows = reported.flatMap(({ instance, report }) => rowsOf(nameOf(instance), report))
  const more = reported.flatMap(({ instance, report }) => {
    if (report === undefined) return []
    const { omitted, needs_restart } = report
    return [
      ...(omitted === 0 ? [] : [`${nameOf(instance)}: ${omitted} more connectors`]),
      ...(needs_restart.length === 0
        ? []
        : [`${nameOf(instance)}: takes effect with the next start alone: ${needs_restart.join(', ')}`]),
    ]
  })
  return [...table(['INSTANCE', 'CONNECTOR', 'OUTCOME', 'EPOCH', 'FAULT'], rows, 'No gateway has reported.'), ...more]
}

function rowsOf(name: string, report: StoredReload | undefined): readonly (readonly string[])[] {
  if (report === undefined) return [[name, '', 'unknown', '', 'its report cannot be read by this program']]
  const { faults, connectors } = report
  if (faults.length > 0) return faults.map((fault) => [name, '', 'refused', '', fault])
  if (connectors.length === 0) return [[name, '', 'no connectors', '', '']]
  return connectors.map(({ id, outcome, epoch, fault = '' }) => [
    name,
    id,
    outcome,
    epoch === undefined ? '' : String(epoch),
    fault,
  ])
}
