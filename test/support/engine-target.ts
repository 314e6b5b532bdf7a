import { after } from 'node:test'
import type { EngineName } from '../../src/core/schema-model.js'
import type { EngineTarget, TestServer } from './test-server.js'

const servers: Promise<TestServer>[] = []
after(async () => {
  for (const server of await Promise.allSettled(servers)) {
    if (server.status === 'fulfilled') await server.value.stop()
  }
})

/** One server for the whole test process, started when first asked for and stopped when the process's tests are over. */
export function engineTarget<S extends TestServer>(
  engine: EngineName,
  label: string,
  startServer: (label: string) => Promise<S>,
): EngineTarget & { start(): Promise<S> } {
  let server: Promise<S> | undefined
  return {
    label,
    engine,
    start: () => {
      if (server === undefined) {
        server = startServer(label)
        servers.push(server)
      }
      return server
    },
  }
}
