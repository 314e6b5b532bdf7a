import { createRequire, syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into a gateway before its own modules: a signal ends its threads, as a fault of theirs would. SIGUSR2 ends those of the
 * connectors, SIGPWR that of the audit.
 */
type Kind = 'audit' | 'connector' | 'other'

function kindOf(file: string): Kind {
  if (file.includes('audit.worker')) return 'audit'
  // The pool starts its threads from a file of its own.
  return file.includes('piscina') ? 'connector' : 'other'
}

if (isMainThread) {
  // The module object itself, whose members may be replaced.
  const threads = createRequire(import.meta.url)('node:worker_threads') as {
    Worker: typeof import('node:worker_threads').Worker
  }
  const running = new Map<InstanceType<typeof threads.Worker>, Kind>()
  threads.Worker = class extends threads.Worker {
    constructor(...args: ConstructorParameters<typeof threads.Worker>) {
      super(...args)
      running.set(this, kindOf(String(args[0])))
      this.once('exit', () => running.delete(this))
    }
  }
  syncBuiltinESMExports()
  const killAll = (wanted: Kind) => {
    for (const [worker, kind] of running) if (kind === wanted) void worker.terminate()
  }
  process.on('SIGUSR2', () => killAll('connector'))
  process.on('SIGPWR', () => killAll('audit'))
}
