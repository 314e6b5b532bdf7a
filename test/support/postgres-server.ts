import { Client } from 'pg'
import {
  type PostgresBinaries,
  startThrowawayPostgres,
  type ThrowawayPostgres,
} from '../../src/demo/throwaway-postgres.js'
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

/** Databases with the same SQL are copies of one template. The superuser's `query` runs in the database `postgres`. */
export interface PostgresTestServer extends TestServer {
  /** As in `server_version_num`. */
  readonly version: number
  readonly process: ThrowawayPostgres
}

export async function startTestServer(label: string, binaries: PostgresBinaries): Promise<PostgresTestServer> {
  const process = await startThrowawayPostgres({ binaries, settings: { max_connections: '60' } })
  await runAs(
    process,
    'postgres',
    `CREATE ROLE ${READER} LOGIN PASSWORD '${LOGIN_PASSWORD}'; CREATE ROLE ${WRITER} LOGIN PASSWORD '${LOGIN_PASSWORD}'`,
  )
  const version = Number((await runAs(process, 'postgres', 'SHOW server_version_num'))[0]?.[0])
  const templates = new Map<string, Promise<string>>()
  let databases = 0
  return {
    label,
    engine: 'postgres',
    version,
    process,
    query: (text, params) => runAs(process, 'postgres', text, params),
    stop: () => process.stop(),
    createDatabase: async (setup = '', afterGrants = '') => {
      const key = `${setup}\0${afterGrants}`
      const template = templates.get(key) ?? makeTemplate(process, `template_${templates.size + 1}`, setup, afterGrants)
      templates.set(key, template)
      const name = `test_${++databases}`
      await runAs(process, 'postgres', `CREATE DATABASE ${name} TEMPLATE ${await template}`)
      return testDatabase(process, name)
    },
  }
}

async function makeTemplate(
  process: ThrowawayPostgres,
  name: string,
  setup: string,
  afterGrants: string,
): Promise<string> {
  await runAs(process, 'postgres', `CREATE DATABASE ${name}`)
  if (setup !== '') await runAs(process, name, setup)
  await runAs(process, name, GRANTS)
  if (afterGrants !== '') await runAs(process, name, afterGrants)
  return name
}

const GRANTS = `
DO $$
DECLARE s name;
BEGIN
  FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${READER}', s);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO ${READER}', s);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${WRITER}', s);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA %I TO ${WRITER}', s);
    EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO ${WRITER}', s);
  END LOOP;
END $$`

function testDatabase(process: ThrowawayPostgres, name: string): TestDatabase {
  const settings = (user: string, password: string, overrides: SettingsOverrides): ConnectorSettings => {
    const { host, port } = process
    return testSettings('postgres', 'public', { host, port, user, password, database: name }, overrides)
  }
  return {
    engine: 'postgres',
    name,
    schema: 'public',
    query: (text, params) => runAs(process, name, text, params),
    reader: (overrides = {}) => settings(READER, LOGIN_PASSWORD, overrides),
    writer: (overrides = {}) => settings(WRITER, LOGIN_PASSWORD, overrides),
    superuser: (overrides = {}) => settings(process.user, process.password, overrides),
    sessions: async () => {
      const rows = await runAs(
        process,
        'postgres',
        `SELECT pid, state, query FROM pg_stat_activity WHERE application_name = 'runku' AND datname = '${name}'`,
      )
      return rows.map(([pid, state, query]) => ({ pid: Number(pid), state: state ?? '', query: query ?? '' }))
    },
    drop: async () => {
      await runAs(process, 'postgres', `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/** One statement, or several without parameters, on a connection of its own, as the superuser. */
async function runAs(
  server: ThrowawayPostgres,
  database: string,
  text: string,
  params: readonly string[] = [],
): Promise<readonly TextRow[]> {
  const client = new Client({
    host: server.host,
    port: server.port,
    user: server.user,
    password: server.password,
    database,
    ssl: false,
    application_name: 'runku-test',
    types: { getTypeParser: () => (value: unknown) => value },
  })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<(string | null)[]>({ text, values: [...params], rowMode: 'array' })
    return rows
  } finally {
    await client.end()
  }
}
