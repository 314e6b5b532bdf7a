import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import {
  LOGIN_PASSWORD,
  READER,
  type SettingsOverrides,
  type TestDatabase,
  type TestServer,
  type TextRow,
  testSettings,
  WRITER,
} from './test-server.js'

/** The logins as GRANT and REVOKE name them. */
export const READER_ACCOUNT = `'${READER}'@'%'`
export const WRITER_ACCOUNT = `'${WRITER}'@'%'`

/** A server of MariaDB or MySQL, with an account that may make databases and logins. */
export interface MysqlAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

export interface MysqlTestServer extends TestServer {
  readonly engine: 'mysql'
  readonly product: 'mariadb' | 'mysql'
  /** As 101119 for 10.11.19. */
  readonly version: number
  readonly address: MysqlAddress
}

/** What every statement of a test runs on, and which of the server's sessions are those. */
interface Superuser {
  readonly address: MysqlAddress
  readonly sessions: Set<number>
}

/** A server that runs already, for tests. Its own `stop` drops the databases made here and then calls `stop`. */
export async function mysqlTestServer(
  label: string,
  address: MysqlAddress,
  stop: () => Promise<void>,
): Promise<MysqlTestServer> {
  const superuser: Superuser = { address, sessions: new Set() }
  for (const account of [READER_ACCOUNT, WRITER_ACCOUNT]) {
    await runOn(superuser, undefined, `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${LOGIN_PASSWORD}'`)
  }
  const text = (await runOn(superuser, undefined, 'SELECT VERSION()'))[0]?.[0] ?? ''
  const databases = new Set<TestDatabase>()
  let made = 0
  return {
    label,
    engine: 'mysql',
    product: text.includes('MariaDB') ? 'mariadb' : 'mysql',
    version: versionNumber(text),
    address,
    query: (sql, params) => runOn(superuser, undefined, sql, params),
    createDatabase: async (setup = '', afterGrants = '') => {
      const name = `test_${++made}_${randomBytes(4).toString('hex')}`
      await runOn(superuser, undefined, `CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`)
      const database = testDatabase(superuser, name, () => databases.delete(database))
      databases.add(database)
      if (setup !== '') await runOn(superuser, name, setup)
      await grant(superuser, name)
      if (afterGrants !== '') await runOn(superuser, name, afterGrants)
      return database
    },
    stop: async () => {
      try {
        for (const database of [...databases]) await database.drop()
      } finally {
        await stop()
      }
    },
  }
}

function versionNumber(text: string): number {
  const [major = 0, minor = 0, patch = 0] = (/\d+\.\d+\.\d+/.exec(text)?.[0] ?? '').split('.').map(Number)
  return major * 10_000 + minor * 100 + patch
}

/** Table by table, so that `afterGrants` can take one of them away; this product has no rights that all but one table give. */
async function grant(superuser: Superuser, name: string): Promise<void> {
  const tables = await runOn(
    superuser,
    name,
    'SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME',
  )
  const grants = tables
    .map(([table]) => quoted(table ?? ''))
    .flatMap((table) => [
      `GRANT SELECT ON ${table} TO ${READER_ACCOUNT}`,
      `GRANT SELECT, INSERT, UPDATE ON ${table} TO ${WRITER_ACCOUNT}`,
    ])
  await runOn(superuser, name, [...grants, `GRANT EXECUTE ON * TO ${READER_ACCOUNT}, ${WRITER_ACCOUNT}`].join(';\n'))
}

/** Rights outlive what they are rights on, and would hold for a later database of the same name. */
async function revoke(superuser: Superuser, name: string): Promise<void> {
  const found = async (columns: string, from: string): Promise<readonly TextRow[]> =>
    runOn(superuser, 'mysql', `SELECT DISTINCT User, Host, ${columns} FROM ${from} WHERE Db = ?`, [name])
  const tables = await found("'', Table_name", 'tables_priv')
  const routines = await found('Routine_type, Routine_name', 'procs_priv')
  const whole = await found("'', NULL", 'db')
  const revokes = [...tables, ...routines, ...whole].map(([user, host, kind, object]) => {
    const on = `${kind} ${quoted(name)}.${typeof object === 'string' ? quoted(object) : '*'}`
    return `REVOKE ALL PRIVILEGES ON ${on} FROM '${user}'@'${host}'`
  })
  if (revokes.length > 0) await runOn(superuser, undefined, revokes.join(';\n'))
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

function testDatabase(superuser: Superuser, name: string, dropped: () => void): TestDatabase {
  const { host, port, user: admin, password: adminPassword } = superuser.address
  const settings = (user: string, password: string, overrides: SettingsOverrides): ConnectorSettings =>
    testSettings('mysql', name, { host, port, user, password, database: name }, overrides)
  return {
    engine: 'mysql',
    name,
    schema: name,
    query: (text, params) => runOn(superuser, name, text, params),
    reader: (overrides = {}) => settings(READER, LOGIN_PASSWORD, overrides),
    writer: (overrides = {}) => settings(WRITER, LOGIN_PASSWORD, overrides),
    superuser: (overrides = {}) => settings(admin, adminPassword, overrides),
    sessions: async () => {
      const rows = await runOn(
        superuser,
        undefined,
        'SELECT ID, COMMAND, INFO FROM information_schema.PROCESSLIST WHERE DB = ? AND USER IN (?, ?, ?)',
        [name, READER, WRITER, admin],
      )
      return rows
        .map(([pid, state, query]) => ({ pid: Number(pid), state: state ?? '', query: query ?? '' }))
        .filter(({ pid }) => !superuser.sessions.has(pid))
    },
    drop: async () => {
      dropped()
      await runOn(superuser, undefined, `DROP DATABASE ${name}`)
      await revoke(superuser, name)
    },
  }
}

/** One statement, or several without parameters, on a connection of its own, as the superuser; the last rows, as text. */
async function runOn(
  { address: { host, port, user, password }, sessions }: Superuser,
  database: string | undefined,
  text: string,
  params: readonly string[] = [],
): Promise<readonly TextRow[]> {
  const connection = await createConnection({
    host,
    port,
    user,
    password,
    ...(database === undefined ? {} : { database }),
    charset: 'utf8mb4_bin',
    multipleStatements: true,
    rowsAsArray: true,
    typeCast: (field) => field.string(),
  })
  connection.on('error', () => {})
  const { threadId } = connection
  sessions.add(threadId)
  try {
    await connection.query("SET time_zone = '+00:00'")
    const [results, fields] = await connection.query({ sql: text, values: [...params] })
    return lastRows(results, fields)
  } finally {
    await connection.end()
    sessions.delete(threadId)
  }
}

/** Several statements give an array of results, and then what describes the columns is an array for each. */
function lastRows(results: unknown, fields: unknown): readonly TextRow[] {
  if (!Array.isArray(results)) return []
  const several = Array.isArray(fields) && fields.some((entry) => entry === undefined || Array.isArray(entry))
  const rows: unknown = several ? results.findLast((result) => Array.isArray(result)) : results
  // With these options the driver gives arrays of what `typeCast` returned, which its declarations do not say.
  return (rows ?? []) as readonly TextRow[]
}
