import { randomBytes } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { type AuditWorkerStart, startAuditActor } from '../src/audit/audit-actor.js'
import { startShipper } from '../src/audit/ship/ship-thread.js'
import { openStdout } from '../src/audit/sinks.js'
import { monotonicMs } from '../src/core/clock.js'

// Typed by the only place that starts this thread, `spawnAuditWorker`.
void startAuditActor(workerData as AuditWorkerStart, {
  nowMs: Date.now,
  monotonicMs,
  randomBytes,
  openStdout,
  startShipper,
})
