import { workerData } from 'node:worker_threads'
import { deliver } from '../src/audit/ship/deliver.js'
import { runShipActor } from '../src/audit/ship/ship-actor.js'
import type { ShipWorkerStart } from '../src/audit/ship/ship-messages.js'
import { monotonicMs } from '../src/core/clock.js'

// Typed by the only place that starts this thread, `spawnShipWorker`.
await runShipActor(workerData as ShipWorkerStart, { deliver, nowMs: Date.now, monotonicMs, random: Math.random })
