import { randomBytes } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { type AuditWorkerStart, startAuditActor } from '../src/audit/audit-actor.js'
import { openStdout } from '../src/audit/sinks.js'

// Typed by the only place that starts this thread, `spawnAuditWorker`.
startAuditActor(workerData as AuditWorkerStart, { nowMs: Date.now, randomBytes, openStdout })
