import { randomBytes } from 'node:crypto'
import { type MessagePort, threadId } from 'node:worker_threads'
import { ConnectorRuntime } from '../src/connector/connector-runtime.js'
import { monotonicMs } from '../src/core/clock.js'
import type { ConnectorSettings } from '../src/threads/messages.js'

export interface ServeTask {
  readonly port: MessagePort
  readonly settings: ConnectorSettings
}

/** The thread's only task: settles when the runtime has stopped, and rejects when the thread fails. */
export function serve(task: ServeTask): Promise<void> {
  return new Promise((resolve) => {
    new ConnectorRuntime(task.port, task.settings, { threadId, nowMs: monotonicMs, randomBytes, onStopped: resolve })
  })
}
