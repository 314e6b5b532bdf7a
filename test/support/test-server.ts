import type { EngineName } from '../../src/core/schema-model.js'
import type { CompiledStatement, Param, ResultColumn } from '../../src/core/statement.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'

/** A kind of database server that tests run on: one server for the whole test process, started when first asked for. */
export interface EngineTarget {
  readonly label: string
  readonly engine: EngineName
  start(): Promise<TestServer>
}

export interface TestServer {
  readonly label: string
  readonly engine: EngineName
  /** A new database made by `setup`, whose tables the logins may then use, and then by `afterGrants`. */
  createDatabase(setup?: string, afterGrants?: string): Promise<TestDatabase>
  /** Runs SQL as the superuser in no test's database; cells are text. */
  query(text: string, params?: readonly string[]): Promise<readonly TextRow[]>
  /** Ends what was started, and takes away what was made on a server that goes on. */
  stop(): Promise<void>
}

export interface TestDatabase {
  readonly engine: EngineName
  readonly name: string
  /** The schema that `setup` makes its tables in, as policies name it. */
  readonly schema: string
  /** Runs SQL as the superuser; cells are text. */
  query(text: string, params?: readonly string[]): Promise<readonly TextRow[]>
  /** Settings for the login that may only SELECT. */
  reader(overrides?: SettingsOverrides): ConnectorSettings
  /** Settings for a login that may read and write every table, and owns none. */
  writer(overrides?: SettingsOverrides): ConnectorSettings
  /** Settings for the superuser, to see what holds even for a login that may do everything. */
  superuser(overrides?: SettingsOverrides): ConnectorSettings
  /** Sessions of the gateway in this database, by the server's own account. */
  sessions(): Promise<readonly SessionRow[]>
  drop(): Promise<void>
}

export interface SessionRow {
  readonly pid: number
  readonly state: string
  readonly query: string
}

/** Whether the session is at a statement: it neither waits for one, nor sits idle in a transaction. */
export function isActive({ state }: SessionRow): boolean {
  return ['active', 'Query', 'Execute', 'Prepare'].includes(state)
}

/**
 * The sessions that are at a statement like this one. A session that is only being prepared runs statements too, and a test that
 * takes those for its own goes on before its own has begun. A server that tells no texts is taken to run it.
 */
export async function atStatement(
  db: Pick<TestDatabase, 'sessions'>,
  statement: RegExp,
): Promise<readonly SessionRow[]> {
  return (await db.sessions()).filter((row) => isActive(row) && (statement.test(row.query) || row.query === ''))
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
export const LOGIN_PASSWORD = 'only-for-tests'

/** How the gateway reaches a database of a test, with what a test changes about it. */
export function testSettings(
  engine: EngineName,
  schema: string,
  connection: Omit<ConnectorSettings['connection'], 'tls'>,
  overrides: SettingsOverrides,
): ConnectorSettings {
  return {
    id: connection.database,
    engine,
    connection: { ...connection, tls: 'disable', ...overrides.connection },
    schemas: overrides.schemas ?? [schema],
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
  const deadline = Date.now() + 60_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`did not come to hold: ${rule}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
