import { embeddedBinaries, type PostgresBinaries, systemBinaries } from '../../src/demo/throwaway-postgres.js'
import { engineTarget } from './engine-target.js'
import { type PostgresTestServer, startTestServer } from './postgres-server.js'
import type { EngineTarget } from './test-server.js'

export {
  eventually,
  type PostgresTestServer,
  READER,
  type SettingsOverrides,
  statement,
  type TestDatabase,
  type TestServer,
  type TextRow,
  WRITER,
} from './postgres-server.js'

/**
 * PostgreSQL for tests. A missing embedded server fails the tests that ask for it; a system server is used when the machine
 * has one.
 */
export interface PostgresTarget extends EngineTarget {
  start(): Promise<PostgresTestServer>
}

function target(label: string, binaries: () => Promise<PostgresBinaries>): PostgresTarget {
  return engineTarget('postgres', label, async () => startTestServer(label, await binaries()))
}

export const EMBEDDED: PostgresTarget = target('embedded', embeddedBinaries)

const system = systemBinaries()
/** Every server this machine has: tests of the engine run on each. */
export const POSTGRES_TARGETS: readonly PostgresTarget[] =
  system === undefined ? [EMBEDDED] : [EMBEDDED, target('system', async () => system)]
