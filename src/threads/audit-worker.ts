import { fstatSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { AuditWorkerStart } from '../audit/audit-actor.js'
import { AUDIT_FLUSH_TIMEOUT_MS } from '../core/limits.js'

/** Starts the audit thread with its end of the mailbox. */
export function spawnAuditWorker(start: AuditWorkerStart): Worker {
  return new Worker(new URL('../../workers/audit.worker.js', import.meta.url), {
    name: 'runku-audit',
    workerData: start,
    transferList: [start.port],
  })
}

/** Ends a thread. One that hangs in a system call (a dead disk) ends when that returns, and is not waited for. */
export async function terminated(worker: Worker): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, AUDIT_FLUSH_TIMEOUT_MS)
  })
  await Promise.race([worker.terminate(), patience])
  clearTimeout(timer)
}

/**
 * Reading `process.stdout` puts a pipe or socket into non-blocking mode. The audit thread writes to the same descriptor
 * and must meet EAGAIN there, not a write that waits for a reader which may never read again.
 */
export function makeStdoutNonBlocking(): void {
  if (!fstatSync(1).isFile()) void process.stdout
}
