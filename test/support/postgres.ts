import { after } from 'node:test'
import { embeddedBinaries, type PostgresBinaries, systemBinaries } from '../../src/demo/throwaway-postgres.js'
import { startTestServer, type TestServer } from './postgres-server.js'

export {
  eventually,
  READER,
  type SettingsOverrides,
  statement,
  type TestDatabase,
  type TestServer,
  type TextRow,
  WRITER,
} from './postgres-server.js'

/**
 * PostgreSQL for tests: one server of each kind for the whole test process, started when first asked for and stopped when
 * the process's tests are over. A missing embedded server fails the tests that ask for it; a system server is used when the
 * machine has one.
 */
export interface PostgresTarget {
  readonly label: string
  start(): Promise<TestServer>
}

const servers: Promise<TestServer>[] = []
after(async () => {
  for (const server of await Promise.allSettled(servers)) {
    if (server.status === 'fulfilled') await server.value.process.stop()
  }
})

function target(label: string, binaries: () => Promise<PostgresBinaries>): PostgresTarget {
  let server: Promise<TestServer> | undefined
  return {
    label,
    start: () => {
      if (server === undefined) {
        server = binaries().then((found) => startTestServer(label, found))
        servers.push(server)
      }
      return server
    },
  }
}

export const EMBEDDED: PostgresTarget = target('embedded', embeddedBinaries)

const system = systemBinaries()
/** Every server this machine has: tests of the engine run on each. */
export const POSTGRES_TARGETS: readonly PostgresTarget[] =
  system === undefined ? [EMBEDDED] : [EMBEDDED, target('system', async () => system)]
