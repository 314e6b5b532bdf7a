import type { TestContext } from 'node:test'
import { isGenuine } from './security-engines.js'
import type { SqlserverTestServer } from './sqlserver.js'
import type { SettingsOverrides, TestDatabase, TestServer } from './test-server.js'

/** Whether the server merely speaks the protocol of its engine and cannot do what the test is about, which is then said. */
export function leftOut(t: TestContext, server: TestServer, what: string): boolean {
  if (isGenuine(server)) return false
  t.diagnostic(`left out, since the server is not SQL Server itself: ${what}`)
  return true
}

/** Whether a statement that writes tells of what it wrote. Every server of the other engines does. */
function tellsWritten(server: TestServer | SqlserverTestServer): boolean {
  return !('tellsWritten' in server) || server.tellsWritten
}

/**
 * SQL behind a setup for servers that tell nothing of the rows a statement wrote: those of a table with triggers are read back.
 * Empty for all others.
 */
export function readBack(server: TestServer, tables: readonly string[]): string {
  if (tellsWritten(server)) return ''
  return tables.map((name) => `\nGO\nCREATE TRIGGER ${name}_seen ON ${name} AFTER INSERT, UPDATE AS RETURN`).join('')
}

/** The login that changes are made with. A server that tells nothing of written rows tells the owner alone of triggers. */
export function writerOn(server: TestServer, database: TestDatabase, overrides: SettingsOverrides = {}) {
  return tellsWritten(server) ? database.writer(overrides) : database.superuser(overrides)
}
