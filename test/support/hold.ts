import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { Connection, Request } from 'tedious'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { forEngine, type PerEngine } from './engines.js'
import { HOLD } from './notes.js'

/** A session that a test keeps open to hold locks in, beside those of the gateway and not counted among them. */
export interface HeldSession {
  /** One statement or several, which name tables with their schema. */
  query(text: string): Promise<void>
  /** Begins a transaction. */
  begin(): Promise<void>
  /** Gives up whatever it holds. Ending it again does nothing. */
  end(): Promise<void>
}

export async function heldSession({ engine, connection }: ConnectorSettings): Promise<HeldSession> {
  const { host, port, user, password = '', database } = connection
  const account = { host, port, user, password }
  const open: PerEngine<() => Promise<HeldSession>> = {
    postgres: () => postgresSession(account, database),
    mysql: () => mysqlSession(account),
    sqlserver: () => sqlserverSession(account, database),
  }
  return forEngine(open, engine)()
}

type Account = { readonly host: string; readonly port: number; readonly user: string; readonly password: string }

async function postgresSession(account: Account, database: string): Promise<HeldSession> {
  const client = new Client({ ...account, database, ssl: false, application_name: 'runku-test' })
  client.on('error', () => {})
  await client.connect()
  return session(
    (text) => client.query(text),
    () => client.end(),
  )
}

/** In no database: those of the gateway are the ones in a test's own. */
async function mysqlSession(account: Account): Promise<HeldSession> {
  const connection = await createConnection({ ...account, charset: 'utf8mb4_bin', multipleStatements: true })
  connection.on('error', () => {})
  return session(
    (text) => connection.query(text),
    () => connection.end(),
  )
}

async function sqlserverSession(account: Account, database: string): Promise<HeldSession> {
  const { host, port, user: userName, password } = account
  const connection = new Connection({
    server: host,
    authentication: { type: 'default', options: { userName, password } },
    options: { port, database, encrypt: false, requestTimeout: 0, appName: 'runku-test' },
  })
  connection.on('error', () => {})
  await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
  return session(
    (text) =>
      new Promise<void>((resolve, reject) => {
        connection.execSqlBatch(new Request(text, (error) => (error ? reject(error) : resolve())))
      }),
    () =>
      new Promise((resolve) => {
        connection.once('end', resolve)
        connection.close()
      }),
    'BEGIN TRANSACTION',
  )
}

function session(
  query: (text: string) => Promise<unknown>,
  end: () => Promise<void>,
  beginning = 'BEGIN',
): HeldSession {
  let ended: Promise<void> | undefined
  return {
    query: async (text) => {
      await query(text)
    },
    begin: async () => {
      await query(beginning)
    },
    end: () => {
      ended ??= end()
      return ended
    },
  }
}

/** Holds the lock that the view `held` waits for, until it is released. */
export interface Hold {
  release(): Promise<void>
}

/** Takes the lock in the database of these settings, whose login may do so. */
export async function holdNotes(settings: ConnectorSettings): Promise<Hold> {
  const { query, end } = await heldSession(settings)
  const taken: PerEngine<string> = {
    postgres: `SELECT pg_advisory_lock(${HOLD})`,
    mysql: `DO GET_LOCK('${settings.connection.database}.hold', 600)`,
    sqlserver: `BEGIN TRANSACTION; ${tableHeld('dbo.latch')}`,
  }
  await query(forEngine(taken, settings.engine))
  return { release: end }
}

/**
 * SQL Server's statement after which nobody else reads or writes the table until the transaction ends. What merely speaks the
 * protocol heeds no such hint, and holds a table that is being changed.
 */
export function tableHeld(table: string): string {
  return `SELECT COUNT(*) FROM ${table} WITH (TABLOCKX, HOLDLOCK);
    IF @@VERSION NOT LIKE 'Microsoft%' ALTER TABLE ${table} ADD held int;`
}
