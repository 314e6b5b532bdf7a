import { engineTarget } from './engine-target.js'
import { startSqlserverContainer } from './sqlserver-container.js'
import { type SqlserverTestServer, sqlserverTestServer } from './sqlserver-server.js'
import type { EngineTarget } from './test-server.js'

export { batchesOf, type SqlserverTestServer } from './sqlserver-server.js'
export {
  eventually,
  READER,
  type SettingsOverrides,
  statement,
  type TestDatabase,
  type TestServer,
  type TextRow,
  WRITER,
} from './test-server.js'

export interface SqlserverTarget extends EngineTarget {
  start(): Promise<SqlserverTestServer>
}

/**
 * The server that the environment names: `sqlserver://user:password@host:port` of a login that may make databases and logins,
 * or `docker` for a container that lives as long as the test process. There is none that could be had otherwise.
 */
export function sqlserverTarget(wanted: string): SqlserverTarget {
  return engineTarget('sqlserver', 'sqlserver', async (label) => {
    if (wanted === 'docker') {
      const container = await startSqlserverContainer()
      return sqlserverTestServer(label, container, () => container.stop())
    }
    const url = URL.canParse(wanted) ? new URL(wanted) : undefined
    if (
      url === undefined ||
      !/^(?:sqlserver|mssql):$/.test(url.protocol) ||
      url.hostname === '' ||
      url.username === ''
    ) {
      throw new Error('RUNKU_TEST_SQLSERVER_URL is not sqlserver://user:password@host:port, nor the word docker')
    }
    const address = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 1433 : Number(url.port),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    }
    return sqlserverTestServer(label, address, async () => {})
  })
}

const wanted = process.env['RUNKU_TEST_SQLSERVER_URL'] ?? ''
/** Every server of this engine that there is to test on; empty where the environment names none. */
export const SQLSERVER_TARGETS: readonly SqlserverTarget[] = wanted === '' ? [] : [sqlserverTarget(wanted)]
