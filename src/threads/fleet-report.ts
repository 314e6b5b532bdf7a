import { type ConnectorFault, type ConnectorOrigin, faultText, originText } from '../config/config.js'
import type { ConnectorGauges } from '../observe/metrics.js'
import type { ConnectorMode, ConnectorSupervisor } from './connector-supervisor.js'
import { type Member, type Service, supervisorsOf } from './fleet-member.js'

/** What there is to say of one configured connector. Names no secret; `lastError` and `faults` are for operators. */
export interface ConnectorState {
  readonly id: string
  /** Absent when another connector has its id or path, or its file cannot be read. */
  readonly path?: string
  readonly policy: string
  readonly source: ConnectorOrigin['kind']
  /** Where it is configured, such as `config.yaml:12`. */
  readonly origin: string
  readonly mode: ConnectorMode | 'disabled'
  /** Of the snapshot in force. */
  readonly epoch?: number
  readonly serverVersion?: string
  readonly tables?: number
  readonly drift: readonly string[]
  readonly warnings: readonly string[]
  /** Why the last preparation failed; it is tried again. */
  readonly lastError?: string
  /** What is wrong with its configuration. One that serves in spite of them serves by the configuration before. */
  readonly faults: readonly string[]
  /** With new settings, and not ready to take its place yet. */
  readonly replacement?: { readonly mode: ConnectorMode; readonly lastError?: string }
}

function lastErrorOf({ lastError }: ConnectorSupervisor): { readonly lastError?: string } {
  return lastError === undefined ? {} : { lastError }
}

function replacementOf(next: Service | undefined): Pick<ConnectorState, 'replacement'> {
  return next === undefined ? {} : { replacement: { mode: next.supervisor.mode, ...lastErrorOf(next.supervisor) } }
}

export function stateOf({ service, next, faults }: Member): ConnectorState {
  const { config, supervisor } = service
  const { mode, epoch, report } = supervisor
  return {
    id: config.id,
    path: config.path,
    policy: config.policy,
    source: config.origin.kind,
    origin: originText(config.origin),
    mode,
    ...(epoch === undefined ? {} : { epoch }),
    ...(report === undefined ? {} : { serverVersion: report.serverVersion, tables: report.tables }),
    drift: report?.drift ?? [],
    warnings: report?.warnings ?? [],
    ...lastErrorOf(supervisor),
    faults,
    ...replacementOf(next),
  }
}

export function disabledState({ id, path, policy, origin, faults }: ConnectorFault): ConnectorState {
  return {
    id,
    ...(path === undefined ? {} : { path }),
    policy,
    source: origin.kind,
    origin: originText(origin),
    mode: 'disabled',
    drift: [],
    warnings: [],
    faults: faults.map(faultText),
  }
}

/** What a scrape shows: of each connector the snapshot of the one that serves, with the calls and threads of all that still have some. */
export function gaugesOf(
  members: readonly Member[],
  retiring: ReadonlySet<ConnectorSupervisor>,
): readonly ConnectorGauges[] {
  const byId = new Map<string, ConnectorGauges>()
  const add = (supervisor: ConnectorSupervisor) => {
    const { gauges } = supervisor
    const before = byId.get(gauges.connector)
    byId.set(gauges.connector, before === undefined ? gauges : sum(before, gauges))
  }
  for (const member of members) for (const supervisor of supervisorsOf(member)) add(supervisor)
  for (const supervisor of retiring) add(supervisor)
  return [...byId.values()]
}

/** The first is the one that serves. */
function sum(first: ConnectorGauges, other: ConnectorGauges): ConnectorGauges {
  return {
    ...first,
    inFlight: first.inFlight + other.inFlight,
    threads: {
      starting: first.threads.starting + other.threads.starting,
      serving: first.threads.serving + other.threads.serving,
    },
    connections: {
      idle: first.connections.idle + other.connections.idle,
      busy: first.connections.busy + other.connections.busy,
    },
  }
}
