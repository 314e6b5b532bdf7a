import { Client } from 'pg'
import type { CompiledStatement, Param, ResultColumn } from '../../src/core/statement.js'
import {
  type PostgresBinaries,
  startThrowawayPostgres,
  type ThrowawayPostgres,
} from '../../src/demo/throwaway-postgres.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'

export interface TestServer {
  readonly label: string
  /** As in `server_version_num`. */
  readonly version: number
  readonly process: ThrowawayPostgres
  /**
   * A new database made by `setup`, whose tables the reader may then SELECT, and then by `afterGrants`. Databases with the
   * same SQL are copies of one template.
   */
  createDatabase(setup?: string, afterGrants?: string): Promise<TestDatabase>
  /** Runs SQL as the superuser in the database `postgres`. */
  query(text: string, params?: readonly string[]): Promise<readonly TextRow[]>
}

export interface TestDatabase {
  readonly name: string
  /** Runs SQL as the superuser; cells are text. */
  query(text: string, params?: readonly string[]): Promise<readonly TextRow[]>
  /** Settings for the login that may only SELECT. */
  reader(overrides?: SettingsOverrides): ConnectorSettings
  /** Settings for a login that may read and write every table, and owns none. */
  writer(overrides?: SettingsOverrides): ConnectorSettings
  /** Settings for the superuser, to see what holds even for a login that may do everything. */
  superuser(overrides?: SettingsOverrides): ConnectorSettings
  /** Sessions of the gateway in this database, by the server's own account. */
  sessions(): Promise<readonly { readonly pid: number; readonly state: string; readonly query: string }[]>
  drop(): Promise<void>
}

export interface SettingsOverrides {
  readonly schemas?: readonly string[]
  readonly connection?: Partial<ConnectorSettings['connection']>
  readonly pool?: Partial<ConnectorSettings['pool']>
  readonly sessionContext?: boolean
}

export type TextRow = readonly (string | null)[]

/** The login that mutations run as. */
export const WRITER = 'runku_writer'

/** The login that tests connect with; setup SQL may grant to it and revoke from it by this name. */
export const READER = 'runku_reader'
const READER_PASSWORD = 'only-for-tests'

export async function startTestServer(label: string, binaries: PostgresBinaries): Promise<TestServer> {
  const process = await startThrowawayPostgres({ binaries, settings: { max_connections: '60' } })
  await runAs(
    process,
    'postgres',
    `CREATE ROLE ${READER} LOGIN PASSWORD '${READER_PASSWORD}'; CREATE ROLE ${WRITER} LOGIN PASSWORD '${READER_PASSWORD}'`,
  )
  const version = Number((await runAs(process, 'postgres', 'SHOW server_version_num'))[0]?.[0])
  const templates = new Map<string, Promise<string>>()
  let databases = 0
  return {
    label,
    version,
    process,
    query: (text, params) => runAs(process, 'postgres', text, params),
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
  const settings = (user: string, password: string, overrides: SettingsOverrides): ConnectorSettings => ({
    id: name,
    engine: 'postgres',
    connection: {
      host: process.host,
      port: process.port,
      user,
      password,
      database: name,
      tls: 'disable',
      ...overrides.connection,
    },
    schemas: overrides.schemas ?? ['public'],
    threadsMin: 0,
    threadsMax: 1,
    sessionContext: overrides.sessionContext ?? false,
    pool: {
      mode: 'session',
      max: 4,
      acquireTimeoutMs: 5_000,
      idleTimeoutMs: 60_000,
      lifetimeMaxMs: 3_600_000,
      ...overrides.pool,
    },
  })
  return {
    name,
    query: (text, params) => runAs(process, name, text, params),
    reader: (overrides = {}) => settings(READER, READER_PASSWORD, overrides),
    writer: (overrides = {}) => settings(WRITER, READER_PASSWORD, overrides),
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

/** SQL made by a test in the place of the compiler. */
export function statement(
  text: string,
  params: readonly Param[] = [],
  columns: readonly ResultColumn[] = [],
): CompiledStatement {
  // Only SqlWriter makes compiled statements; tests of the driver must run SQL that it would never write.
  return { text, params, columns } as unknown as CompiledStatement
}

/** Waits until `check` holds. The deadline only ends a test that would otherwise never end. */
export async function eventually(rule: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`did not come to hold: ${rule}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
