import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { forEngine } from './engines.js'
import { HOLD } from './notes.js'

/** A session that a test keeps open to hold locks in, beside those of the gateway and not counted among them. */
export interface HeldSession {
  /** One statement or several, which name tables with their schema. */
  query(text: string): Promise<void>
  /** Gives up whatever it holds. Ending it again does nothing. */
  end(): Promise<void>
}

export async function heldSession({ engine, connection }: ConnectorSettings): Promise<HeldSession> {
  const { host, port, user, password = '', database } = connection
  const account = { host, port, user, password }
  return forEngine({ postgres: () => postgresSession(account, database), mysql: () => mysqlSession(account) }, engine)()
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

function session(query: (text: string) => Promise<unknown>, end: () => Promise<void>): HeldSession {
  let ended: Promise<void> | undefined
  return {
    query: async (text) => {
      await query(text)
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

/** Takes the lock in the database of these settings. */
export async function holdNotes(settings: ConnectorSettings): Promise<Hold> {
  const { query, end } = await heldSession(settings)
  const taken = {
    postgres: `SELECT pg_advisory_lock(${HOLD})`,
    mysql: `DO GET_LOCK('${settings.connection.database}.hold', 600)`,
  }
  await query(forEngine(taken, settings.engine))
  return { release: end }
}
