import type { EngineName } from '../../src/core/schema-model.js'
import { createEngine } from '../../src/engines/create-engine.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { confusedPolicy, confusedSetup } from './confused-types.js'
import { ENGINE_TARGETS, forEngine } from './engines.js'
import { oddSchema, plainPolicy, plainSetup } from './injection-sql.js'
import type { PathParts } from './recorded-path.js'
import { SHOWN } from './shown-tables.js'
import type { EngineTarget, SettingsOverrides, TestDatabase, TestServer } from './test-server.js'
import { twoDatabases } from './two-databases.js'

/** Every database server that the security tests run on. An engine that is served and has none of their SQL fails them. */
export const ENGINES: readonly EngineTarget[] = ENGINE_TARGETS

const ENGINE_NAMES: Readonly<Record<EngineName, true>> = { postgres: true, mysql: true, sqlserver: true }

/** The engines that the product serves: those it can make a driver for. Nothing connects. */
export async function servedEngines(): Promise<readonly EngineName[]> {
  const served: EngineName[] = []
  for (const engine of ['postgres', 'mysql', 'sqlserver'] as const satisfies readonly (keyof typeof ENGINE_NAMES)[]) {
    try {
      const { driver } = await createEngine(
        {
          id: 'probe',
          engine,
          connection: { host: '127.0.0.1', port: 1, user: 'nobody', database: 'none', tls: 'disable' },
          schemas: ['none'],
          threadsMin: 0,
          threadsMax: 1,
          sessionContext: false,
          pool: { mode: 'session', max: 1, acquireTimeoutMs: 1, idleTimeoutMs: 1, lifetimeMaxMs: 1 },
        },
        { observe: () => {}, nowMs: () => 0, randomBytes: (count) => new Uint8Array(count) },
      )
      await driver.close()
      served.push(engine)
    } catch {
      // An engine that is not served has no driver.
    }
  }
  return served
}

/** Whether every generated test has its SQL for the engine, and runs on it as soon as there is a server: none has to be at hand. */
export function hasTests(engine: EngineName): boolean {
  try {
    twoDatabases(engine)
    forEngine(SHOWN, engine)
    plainSetup(engine)
    plainPolicy(engine)
    oddSchema(engine)
    confusedSetup(engine)
    confusedPolicy(engine)
    return true
  } catch {
    return false
  }
}

/** Whether the server is the product that its engine is named for, and nothing that merely speaks its protocol. */
export function isGenuine(server: TestServer): boolean {
  return !('genuine' in server) || server.genuine === true
}

/**
 * What merely speaks SQL Server's protocol returns no expression over a row that a statement wrote. There every table is taken
 * for one with a trigger, whose rows are read back; on SQL Server itself the tables are what they are.
 */
export function readingBack(server: TestServer): Pick<PathParts, 'disguise'> {
  if (isGenuine(server)) return {}
  return {
    disguise: (dialect) => ({
      ...dialect,
      compileMutation: (mutation) => {
        const table = { ...mutation.table, insertReadBack: 'by_key', updateReadBack: 'by_key' } as const
        return dialect.compileMutation({ ...mutation, table })
      },
    }),
  }
}

export interface Writable {
  /** Follows what makes the tables. */
  readonly triggers: string
  /** Settings for a login that may read and write every table. */
  login(database: TestDatabase, overrides?: SettingsOverrides): ConnectorSettings
}

/**
 * The same for a whole gateway, whose dialect no test disguises: there, the tables that it changes have a trigger that does
 * nothing, and its login owns them, since no other is told of triggers.
 */
export function writable(server: TestServer, tables: readonly string[]): Writable {
  if (isGenuine(server)) return { triggers: '', login: (database, overrides) => database.writer(overrides) }
  return {
    triggers: tables
      .map((table) => `\nGO\nCREATE TRIGGER ${table}_seen ON ${table} AFTER INSERT, UPDATE AS RETURN`)
      .join(''),
    login: (database, overrides) => database.superuser(overrides),
  }
}

/**
 * What merely speaks SQL Server's protocol parts moments with an offset into groups by more than the moment and its offset,
 * and takes no variable for an output of any length. There, a column of moments has no offsets, and outputs have a length.
 */
export function spelledFor(server: TestServer, setup: string): string {
  if (isGenuine(server)) return setup
  return setup
    .replaceAll('datetimeoffset(0)', 'datetime2(0)')
    .replaceAll('nvarchar(max) OUTPUT', 'nvarchar(4000) OUTPUT')
}

/**
 * Tools that are not called where rows are read back: what is created in a table is found by its key, and without its hidden
 * columns this one has no key.
 */
export function withoutKey(server: TestServer): ReadonlySet<string> {
  return new Set(isGenuine(server) ? [] : ['create_ledger'])
}
