import { engineTarget } from './engine-target.js'
import { type MysqlTestServer, mysqlTestServer } from './mariadb-server.js'
import { startMysqlContainer } from './mysql-container.js'
import type { EngineTarget } from './test-server.js'
import { findMariadb, startThrowawayMariadb } from './throwaway-mariadb.js'

export { type MysqlTestServer, READER_ACCOUNT, WRITER_ACCOUNT } from './mariadb-server.js'
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

export interface MysqlTarget extends EngineTarget {
  start(): Promise<MysqlTestServer>
}

/** A server that cannot be had fails the tests that ask for it. */
export const MARIADB: MysqlTarget = engineTarget('mysql', 'mariadb', async (label) => {
  const server = await startThrowawayMariadb({ program: await findMariadb() })
  return mysqlTestServer(label, server, () => server.stop())
})

/**
 * MySQL's own server, where the environment names one: `mysql://user:password@host:port` of an account that may make
 * databases and logins, or `docker` for a container of MySQL 8.4 that lives as long as the test process.
 */
export function mysqlTarget(wanted: string): MysqlTarget {
  return engineTarget('mysql', 'mysql', async (label) => {
    if (wanted === 'docker') {
      const container = await startMysqlContainer()
      return mysqlTestServer(label, container, () => container.stop())
    }
    const url = URL.canParse(wanted) ? new URL(wanted) : undefined
    if (url?.protocol !== 'mysql:' || url.hostname === '' || url.username === '') {
      throw new Error('RUNKU_TEST_MYSQL_URL is not mysql://user:password@host:port, nor the word docker')
    }
    const address = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 3306 : Number(url.port),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    }
    return mysqlTestServer(label, address, async () => {})
  })
}

const wanted = process.env['RUNKU_TEST_MYSQL_URL'] ?? ''
/** Every server of this engine that there is to test on: tests of the engine run on each. */
export const MYSQL_TARGETS: readonly MysqlTarget[] = wanted === '' ? [MARIADB] : [MARIADB, mysqlTarget(wanted)]
