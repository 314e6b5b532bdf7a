import { randomBytes } from 'node:crypto'
import { Connection, Request, TYPES } from 'tedious'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import {
  eventually,
  READER,
  type SettingsOverrides,
  type TestDatabase,
  type TestServer,
  type TextRow,
  testSettings,
  WRITER,
} from './test-server.js'

/** A password that the server's own rules take. */
const SQLSERVER_LOGIN_PASSWORD = 'Only-for-tests-1'
/** Characters have their own numbers, and case and accents count, unless a test says otherwise. */
const COLLATION = 'Latin1_General_100_BIN2'

/** What the dialect writes everywhere and not every server that speaks the protocol takes: each gives `A1`. */
const COLLATED = `SELECT LEFT(N'A1' COLLATE Latin1_General_100_CI_AS_SC, 2)
  WHERE N'a' COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE N'A'`
const BYTES_WRITTEN = 'SELECT CONVERT(varchar(max), 0xA1, 2)'
const WRITTEN_TOLD = `CREATE TABLE #told (id int);
  INSERT INTO #told (id) OUTPUT 'A' + CONVERT(varchar(50), inserted.id) VALUES (1)`

/** A server of SQL Server, with a login that may make databases and logins. */
export interface SqlserverAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

export interface SqlserverTestServer extends TestServer {
  readonly engine: 'sqlserver'
  /** Whether it is the product itself, and nothing that merely speaks its protocol. */
  readonly genuine: boolean
  /** Whether it has the collations that the dialect names, without which it finds no pattern and cuts no cell. */
  readonly collates: boolean
  /** Whether it writes bytes as their digits, without which none of a cell is seen. */
  readonly writesBytes: boolean
  /** Whether a statement that writes tells values made of those that it wrote, without which nothing is created. */
  readonly tellsWritten: boolean
  readonly address: SqlserverAddress
}

/** A server that runs already, for tests. Its own `stop` drops the databases made here and then calls `stop`. */
export async function sqlserverTestServer(
  label: string,
  address: SqlserverAddress,
  stop: () => Promise<void>,
): Promise<SqlserverTestServer> {
  for (const login of [READER, WRITER]) {
    await runOn(
      address,
      'master',
      `IF SUSER_ID(N'${login}') IS NULL CREATE LOGIN ${login} WITH PASSWORD = N'${SQLSERVER_LOGIN_PASSWORD}'`,
    )
  }
  const text = (await runOn(address, 'master', 'SELECT CONVERT(nvarchar(400), @@VERSION)'))[0]?.[0] ?? ''
  const genuine = !text.includes('Babelfish')
  const takes = (batch: string) =>
    runOn(address, 'tempdb', batch).then(
      (rows) => rows[0]?.[0] === 'A1',
      () => false,
    )
  const [collates, writesBytes, tellsWritten] = await Promise.all([COLLATED, BYTES_WRITTEN, WRITTEN_TOLD].map(takes))
  const databases = new Set<TestDatabase>()
  let made = 0
  return {
    label,
    engine: 'sqlserver',
    genuine,
    collates: collates === true,
    writesBytes: writesBytes === true,
    tellsWritten: tellsWritten === true,
    address,
    query: (sql, params) => runOn(address, 'master', sql, params),
    createDatabase: async (setup = '', afterGrants = '') => {
      const name = `test_${++made}_${randomBytes(4).toString('hex')}`
      await runOn(
        address,
        'master',
        genuine ? `CREATE DATABASE ${name} COLLATE ${COLLATION}` : `CREATE DATABASE ${name}`,
      )
      const database = testDatabase({ address, genuine }, name, () => databases.delete(database))
      databases.add(database)
      await runOn(address, name, setup)
      await grant(address, name)
      await runOn(address, name, afterGrants)
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

/** Table by table, so that `afterGrants` can take one of them away; a denial of a column would outlive a grant of the whole. */
async function grant(address: SqlserverAddress, name: string): Promise<void> {
  const logins = [READER, WRITER].map((login) => `CREATE USER ${login} FOR LOGIN ${login}`)
  await runOn(address, name, logins.join('\nGO\n'))
  const found = (where: string) =>
    runOn(
      address,
      name,
      `SELECT QUOTENAME(s.name) + '.' + QUOTENAME(o.name) FROM sys.objects o
         JOIN sys.schemas s ON s.schema_id = o.schema_id WHERE o.is_ms_shipped = 0 AND o.type IN (${where})`,
    )
  const tables = (await found("'U', 'V'")).flatMap(([object]) => [
    `GRANT SELECT ON ${object} TO ${READER}`,
    `GRANT SELECT, INSERT, UPDATE ON ${object} TO ${WRITER}`,
  ])
  const routines = (await found("'P', 'FN'")).flatMap(([object]) => [
    `GRANT EXECUTE ON ${object} TO ${READER}`,
    `GRANT EXECUTE ON ${object} TO ${WRITER}`,
  ])
  const functions = (await found("'IF', 'TF'")).flatMap(([object]) => [
    `GRANT SELECT ON ${object} TO ${READER}`,
    `GRANT SELECT ON ${object} TO ${WRITER}`,
  ])
  await runOn(address, name, [...tables, ...routines, ...functions].join('\n'))
}

/** What the sessions of the gateway run: those tell their program's name. */
const STATEMENTS = `SELECT CONVERT(varchar(10), s.session_id), s.status, COALESCE(t.text, N'') FROM sys.dm_exec_sessions s
    LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id
    OUTER APPLY sys.dm_exec_sql_text(r.sql_handle) t
  WHERE s.program_name = N'runku' AND s.database_id = DB_ID(@p1)`
/** What merely speaks the protocol does not tell the statements, and has a word of its own for a session that waits. */
const SESSIONS = `SELECT CONVERT(varchar(10), session_id), CASE status WHEN 'idle' THEN 'sleeping' ELSE status END, '' FROM sys.dm_exec_sessions
  WHERE program_name = N'runku' AND database_id = DB_ID(@p1)`

function testDatabase(
  { address, genuine }: Pick<SqlserverTestServer, 'address' | 'genuine'>,
  name: string,
  dropped: () => void,
): TestDatabase {
  const { host, port, user: admin, password: adminPassword } = address
  const settings = (user: string, password: string, overrides: SettingsOverrides): ConnectorSettings =>
    testSettings('sqlserver', 'dbo', { host, port, user, password, database: name }, overrides)
  const sessions = async () => {
    const rows = await runOn(address, 'master', genuine ? STATEMENTS : SESSIONS, [name])
    return rows.map(([pid, state, query]) => ({
      pid: Number(pid),
      state: state === 'running' ? 'active' : (state ?? ''),
      query: query ?? '',
    }))
  }
  return {
    engine: 'sqlserver',
    name,
    schema: 'dbo',
    query: (text, params) => runOn(address, name, text, params),
    reader: (overrides = {}) => settings(READER, SQLSERVER_LOGIN_PASSWORD, overrides),
    writer: (overrides = {}) => settings(WRITER, SQLSERVER_LOGIN_PASSWORD, overrides),
    superuser: (overrides = {}) => settings(admin, adminPassword, overrides),
    sessions,
    drop: async () => {
      dropped()
      if (genuine) {
        await runOn(address, 'master', `ALTER DATABASE ${name} SET SINGLE_USER WITH ROLLBACK IMMEDIATE`).catch(() => {})
      } else {
        // What merely speaks the protocol runs on what it was told to stop, whoever has gone meanwhile.
        for (const { pid } of await sessions()) await runOn(address, 'master', `KILL ${pid}`).catch(() => {})
      }
      // Sessions that were closed on this side may still be on their way out of it.
      await eventually(`${name} is dropped`, async () => {
        await runOn(address, 'master', `DROP DATABASE ${name}`).catch(() => {})
        return (await runOn(address, 'master', 'SELECT DB_ID(@p1)', [name]))[0]?.[0] === null
      })
    },
  }
}

/** A line of its own ends a batch, as in the server's own tools: some statements must be the first of theirs. */
export function batchesOf(text: string): readonly string[] {
  return text.split(/^[ \t]*GO[ \t]*\r?$/im).filter((batch) => batch.trim() !== '')
}

/** Batches one after the other, or one statement with parameters, on a connection of its own, as the superuser; the last rows, as text. */
async function runOn(
  { host, port, user, password }: SqlserverAddress,
  database: string,
  text: string,
  params: readonly string[] = [],
): Promise<readonly TextRow[]> {
  const batches = batchesOf(text)
  if (batches.length === 0) return []
  const connection = new Connection({
    server: host,
    authentication: { type: 'default', options: { userName: user, password } },
    options: { port, database, encrypt: false, requestTimeout: 0, appName: 'tests', useUTC: true },
  })
  connection.on('error', () => {})
  await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
  try {
    let rows: readonly TextRow[] = []
    for (const batch of batches) rows = await runBatch(connection, batch, params)
    return rows
  } finally {
    connection.close()
  }
}

/** The rows of the last set. Tests convert what is no text and no whole number themselves. */
function runBatch(connection: Connection, text: string, params: readonly string[]): Promise<readonly TextRow[]> {
  return new Promise((resolve, reject) => {
    let rows: TextRow[] = []
    const request = new Request(text, (error) => (error ? reject(error) : resolve(rows)))
    request.on('columnMetadata', () => {
      rows = []
    })
    request.on('row', (cells: readonly { readonly value: unknown }[]) => {
      rows.push(cells.map(({ value }) => (value === null ? null : String(value))))
    })
    for (const [i, param] of params.entries()) request.addParameter(`p${i + 1}`, TYPES.NVarChar, param)
    if (params.length > 0) connection.execSql(request)
    else connection.execSqlBatch(request)
  })
}
