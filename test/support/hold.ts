import { Client } from 'pg'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { HOLD } from './notes.js'

/** Holds the lock that the view `held` waits for, until it is released. */
export interface Hold {
  release(): Promise<void>
}

/** Takes the lock in the database of these settings. */
export async function holdNotes({ connection }: ConnectorSettings): Promise<Hold> {
  const { host, port, user, password = '', database } = connection
  const client = new Client({ host, port, user, password, database, ssl: false, application_name: 'runku-test' })
  await client.connect()
  await client.query(`SELECT pg_advisory_lock(${HOLD})`)
  let released: Promise<void> | undefined
  return {
    release: () => {
      released ??= client.end()
      return released
    },
  }
}
