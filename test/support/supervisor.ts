import { monotonicMs } from '../../src/core/clock.js'
import { ConnectorSupervisor } from '../../src/threads/connector-supervisor.js'
import type { Gate } from '../../src/threads/gate.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'

/** A connector without a gateway around it, under one policy, given as JSON, or under whichever there is when it is read. */
export function superviseAlone(
  settings: ConnectorSettings,
  document: string | (() => string),
  gate: Gate,
): ConnectorSupervisor {
  let epochs = 0
  let calls = 0
  return new ConnectorSupervisor(settings, {
    observe: () => {},
    nowMs: monotonicMs,
    random: Math.random,
    readPolicy: async () => {
      const text = typeof document === 'string' ? document : document()
      return { name: 'alone', document: text, version: 1, mark: 'alone 1' }
    },
    confirm: async () => {},
    gate,
    nextEpoch: () => {
      epochs += 1
      return epochs
    },
    nextCallId: () => {
      calls += 1
      return calls
    },
  })
}
