import type { AuditStatus } from '../threads/messages.js'
import type { Outbox } from './outbox.js'
import type { Shipper } from './ship/ship-thread.js'
import type { SinkSet } from './sink-set.js'

export interface TrailParts {
  readonly outbox: Outbox | undefined
  readonly sinks: SinkSet | undefined
  readonly shipper: Shipper | undefined
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** How the trail stands, for metrics and health. */
export function statusOf({ outbox, sinks, shipper, nowMs }: TrailParts): AuditStatus {
  return {
    bufferEntries: outbox?.entries ?? 0,
    fillRatio: outbox?.fillRatio ?? 0,
    spaceLow: outbox?.spaceLow ?? false,
    strangersFull: outbox?.strangersFull ?? false,
    oldestUnshippedMs: outbox === undefined || shipper === undefined ? 0 : waitingMs(outbox, shipper, nowMs),
    shipFailures: shipper?.failures ?? 0,
    failingSinks: [...(sinks?.failing ?? []), ...(shipper?.failing === true ? ['shipper'] : [])],
  }
}

function waitingMs(outbox: Outbox, shipper: Shipper, nowMs: number): number {
  const timeMs = outbox.timeAfter(shipper.position)
  return timeMs === undefined ? 0 : Math.max(0, nowMs - timeMs)
}
