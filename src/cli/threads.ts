import type { Worker } from 'node:worker_threads'
import { THREADS_END_TIMEOUT_MS } from '../core/limits.js'
import type { Observe } from '../observe/observation.js'

/** Keeps in sight which threads run. To be called before the first of them is started. */
export function watchThreads(): ReadonlySet<Worker> {
  const running = new Set<Worker>()
  process.on('worker', (worker) => {
    running.add(worker)
    worker.once('exit', () => running.delete(worker))
  })
  return running
}

/** Ends threads, and settles once they have ended or `THREADS_END_TIMEOUT_MS` is over. */
async function ended(threads: readonly Worker[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, THREADS_END_TIMEOUT_MS)
  })
  await Promise.race([Promise.all(threads.map((worker) => worker.terminate())), patience])
  clearTimeout(timer)
}

/**
 * Ends the process: with an exit code, or by SIGTERM where a thread hangs in a system call, such as a write to a mount that is gone. An
 * orderly exit waits for every thread and for every call in the pool, so that it would never come.
 */
export async function endProcess(running: ReadonlySet<Worker>, exitCode: number, observe: Observe): Promise<void> {
  // Those that are there now: one that is started in the place of one that ends hangs in nothing.
  const threads = [...running]
  await ended(threads)
  if (!threads.some((thread) => running.has(thread))) process.exit(exitCode)
  observe({
    kind: 'gateway.stuck',
    detail: 'a thread hangs in a system call, such as a write that does not end: the process ends by SIGTERM',
  })
  // Without a listener the kernel ends the process itself, with all its threads.
  process.removeAllListeners('SIGTERM')
  process.kill(process.pid, 'SIGTERM')
  // The first process of a container is spared by the signals that it sends itself; a fault ends that one too.
  setTimeout(() => process.abort(), THREADS_END_TIMEOUT_MS)
}
