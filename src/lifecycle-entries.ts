import type { AuditTrail } from './call.js'
import type { AuditRecord } from './core/audit-entry.js'
import type { OutcomeCode } from './core/errors.js'
import type { Observation, Observe } from './observe/observation.js'

export interface LifecycleSurroundings {
  readonly audit: Pick<AuditTrail, 'available' | 'append'>
  /** Unix milliseconds. */
  readonly wallMs: () => number
  /** As for calls. */
  readonly newId: () => string
  /** Told of every entry that was handed to the trail. */
  readonly meter: (record: AuditRecord) => void
}

/** What an entry of the gateway's own says beyond who, where and when. */
interface Act {
  readonly tool: string
  readonly connector?: string
  readonly epoch?: number
  readonly code?: OutcomeCode
  readonly reason?: string
  readonly detail?: NonNullable<AuditRecord['detail']>
}

/** Most lists are empty: those that are not are what happened. */
function listed(lists: Readonly<Record<string, readonly string[]>>): Record<string, string | number> {
  const detail: Record<string, string | number> = {}
  for (const [name, ids] of Object.entries(lists)) {
    if (ids.length === 0) continue
    detail[name] = ids.join(', ')
    detail[`${name}_count`] = ids.length
  }
  return detail
}

/**
 * What the gateway does of itself, for the trail: what decides calls from then on, and what ended without having been asked to. The rest
 * of what it observes is the operator log's alone.
 */
function actOf(observation: Observation): Act | undefined {
  switch (observation.kind) {
    case 'connector.ready': {
      const { connector, epoch, tables } = observation
      return { tool: 'connector_ready', connector, epoch, detail: { tables } }
    }
    case 'connector.replaced': {
      const { connector, epoch } = observation
      return { tool: 'connector_replaced', connector, epoch }
    }
    case 'connector.removed':
      return { tool: 'connector_removed', connector: observation.connector }
    case 'connector.disabled':
    case 'connector.kept': {
      const { connector, faults, kind } = observation
      const tool = kind === 'connector.kept' ? 'connector_kept' : 'connector_disabled'
      return { tool, connector, code: 'CONNECTOR_UNAVAILABLE', reason: faults.join('; ') }
    }
    case 'connector.worker_exited': {
      const { connector, reason, callsLost } = observation
      const detail = { calls_lost: callsLost }
      return { tool: 'worker_exited', connector, code: 'CONNECTOR_UNAVAILABLE', reason, detail }
    }
    case 'reload.ended': {
      const { cause, reloaded, added, removed, replaced, failed, unchanged } = observation
      return { tool: 'reload', detail: { cause, unchanged, ...listed({ reloaded, added, removed, replaced, failed }) } }
    }
    case 'reload.refused': {
      const { cause, faults } = observation
      return { tool: 'reload', code: 'INTERNAL', reason: faults.join('; '), detail: { cause } }
    }
    default:
      return undefined
  }
}

/**
 * Puts the gateway's own acts into the trail, beside those of callers and administrators. They hold up nothing: what the trail
 * does not take is in the operator log.
 */
export class LifecycleEntries {
  readonly #surroundings: LifecycleSurroundings
  /** Since when the trail takes nothing, and why. */
  #outage: { readonly from: string; readonly reason: string } | undefined

  constructor(surroundings: LifecycleSurroundings) {
    this.#surroundings = surroundings
  }

  readonly observe: Observe = (observation) => {
    if (observation.kind === 'audit.unavailable') {
      this.#outage ??= { from: this.#time(), reason: observation.detail }
      return
    }
    if (observation.kind === 'audit.available') return this.#outageEnded()
    const act = actOf(observation)
    if (act !== undefined) this.#append(act)
  }

  /** The gateway serves. `detail`: with what. */
  started(detail: NonNullable<AuditRecord['detail']>): void {
    this.#append({ tool: 'start', detail })
  }

  /** The last entry of a run that ended as it was meant to: a start that follows none tells of a crash. */
  stopping(inFlight: number): void {
    this.#append({ tool: 'stop', detail: { in_flight: inFlight } })
  }

  #outageEnded(): void {
    const outage = this.#outage
    this.#outage = undefined
    if (outage === undefined) return
    const { from, reason } = outage
    this.#append({ tool: 'audit_restored', code: 'AUDIT_UNAVAILABLE', reason, detail: { from, to: this.#time() } })
  }

  #time(): string {
    return new Date(this.#surroundings.wallMs()).toISOString()
  }

  #append({ tool, connector, epoch, code = 'OK', reason, detail }: Act): void {
    const { audit, newId, meter } = this.#surroundings
    if (!audit.available) return
    const record: AuditRecord = {
      id: newId(),
      time: this.#time(),
      ...(connector === undefined ? {} : { connector }),
      ...(epoch === undefined ? {} : { epoch }),
      tool,
      operation: 'gateway',
      decision: code === 'OK' ? 'allowed' : 'errored',
      code,
      ...(reason === undefined || reason === '' ? {} : { reason }),
      effect: 'none',
      ...(detail === undefined ? {} : { detail }),
      duration_ms: { total: 0 },
    }
    audit.append(record, () => meter(record))
  }
}
