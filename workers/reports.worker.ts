import { workerData } from 'node:worker_threads'
import { lowerOwnPriority } from '../src/audit/reports/low-priority.js'
import { type ReportsWorkerStart, startReportsActor } from '../src/audit/reports/reports-actor.js'
import { monotonicMs } from '../src/core/clock.js'

lowerOwnPriority()
// Typed by the only place that starts this thread, `spawnReportsWorker`.
startReportsActor(workerData as ReportsWorkerStart, { nowMs: monotonicMs })
