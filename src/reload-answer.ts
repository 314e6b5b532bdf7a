import type { ReloadedConnectorShown, ReloadShown } from './admin/operation.js'
import { unreachable } from './core/assert.js'
import type { ReloadReport } from './reloads.js'
import type { ConnectorChange } from './threads/connector-fleet.js'
import type { ConnectorState } from './threads/fleet-report.js'

/**
 * What somebody who asked for a reload is told of it. After `maxMs` that it is not finished: one connector whose database hangs must not keep
 * the answer for ever. `report` gives the states as they are when it has ended.
 */
export async function awaitReload(
  reload: Promise<ReloadReport>,
  report: () => readonly ConnectorState[],
  maxMs: number,
): Promise<ReloadShown> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    // Whoever waits for an answer is no reason for the gateway not to end.
    timer = setTimeout(() => resolve(undefined), maxMs).unref()
  })
  try {
    const ended = await Promise.race([reload, late])
    if (ended === undefined) return { finished: false, faults: [], connectors: [], needs_restart: [] }
    return reloadShown(ended, report())
  } finally {
    clearTimeout(timer)
  }
}

/** `states`: as they are when it has ended. */
export function reloadShown(
  { connectors, faults, needsRestart }: ReloadReport,
  states: readonly ConnectorState[],
): ReloadShown {
  // A configuration that could not be read disabled nothing: what is disabled was so before.
  const disabled = faults.length > 0 ? [] : states.filter(({ mode }) => mode === 'disabled')
  const shown = [...connectors.map(changeShown), ...disabled.map(disabledShown)]
  return {
    finished: true,
    faults,
    connectors: shown.sort((a, b) => (a.id < b.id ? -1 : 1)),
    needs_restart: needsRestart,
  }
}

function changeShown(change: ConnectorChange): ReloadedConnectorShown {
  const { id, epoch, reason, drift } = change
  return {
    id,
    outcome: outcomeShown(change),
    ...(epoch === undefined ? {} : { epoch }),
    faults: reason === undefined ? [] : [reason],
    drift,
  }
}

function outcomeShown({ outcome, epoch }: ConnectorChange): ReloadedConnectorShown['outcome'] {
  switch (outcome) {
    case 'unchanged':
    case 'removed':
      return outcome
    case 'reloaded':
    case 'added':
    case 'replaced':
      return 'applied'
    case 'failed':
      return epoch === undefined ? 'unavailable' : 'kept'
    default:
      return unreachable(outcome)
  }
}

function disabledShown({ id, faults, drift }: ConnectorState): ReloadedConnectorShown {
  return { id, outcome: 'disabled', faults, drift }
}
