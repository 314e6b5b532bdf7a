import { Client, type ClientConfig } from 'pg'
import { CANCEL_GRACE_MS } from '../../core/limits.js'
import { fail, ok } from '../../core/result.js'
import { type Tls, withoutOptions } from '../../storage/postgres-session.js'
import type { ConnectorSettings } from '../../threads/messages.js'
import type { MakerOf } from '../driver/pools.js'
import type { DriverSurroundings, PooledSession } from '../driver/session-pool.js'
import { type BackendKey, sendCancelRequest } from './cancel-request.js'
import { connectError, detailOf, isLoginRefused } from './errors.js'
import { NamedStatements } from './named-statements.js'
import type { WireSession } from './run-batch.js'
import { clientSettings } from './session.js'
import type { WireQuery } from './wire-query.js'

/** A client for behind a pooler: see `withoutOptions`. */
class PooledClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config)
    withoutOptions(this)
  }
}

/** One connection, with what the driver knows about it. */
export class Session implements WireSession, PooledSession {
  readonly names = new NamedStatements()
  readonly openedMs: number
  readonly client: Client
  readonly #cancel: (client: Client) => void
  #lost = false
  #ended: Promise<void> | undefined

  /** `lost` is called when the connection is, `cancel` to interrupt what the client runs. */
  constructor(client: Client, openedMs: number, lost: (error: unknown) => void, cancel: (client: Client) => void) {
    this.client = client
    this.openedMs = openedMs
    this.#cancel = cancel
    const lose = (error: unknown): void => {
      this.#lost = true
      lost(error)
    }
    // A statement that runs fails by itself. Without a listener, an error would end the process.
    client.on('error', lose)
    client.on('end', () => lose(new Error('the server closed the connection')))
  }

  get lost(): boolean {
    return this.#lost
  }

  submit(query: WireQuery): void {
    this.client.query(query)
  }

  cancel(): void {
    this.#cancel(this.client)
  }

  /** Says goodbye to the server, and closes the socket when the server does not answer in time. */
  end(): Promise<void> {
    this.#ended ??= endWithin(this.client, CANCEL_GRACE_MS)
    return this.#ended
  }
}

/** How the sessions of one use are made: with their constants in the startup, unless a pooler stands before the server. */
export function sessionMakers(
  settings: ConnectorSettings,
  tls: Tls,
  { observe, nowMs }: DriverSurroundings,
): MakerOf<Session> {
  const NewClient = clientClass(settings)
  const { host, port } = settings.connection
  const cancel = (client: Client): void => {
    const key = backendKeyOf(client)
    if (key === undefined) return
    sendCancelRequest({ host, port, tls, timeoutMs: CANCEL_GRACE_MS }, key).catch((error: unknown) => {
      const detail = detailOf('a cancel request failed', error)
      observe({ kind: 'driver.connection_lost', connector: settings.id, detail })
    })
  }
  return (use) => ({
    begin: (password, lost) =>
      new Session(new NewClient(clientSettings(settings, tls, use, password)), nowMs(), lost, cancel),
    open: async ({ client }) => {
      try {
        await client.connect()
        return ok(undefined)
      } catch (error) {
        return fail({ error: connectError(error), refused: isLoginRefused(error) })
      }
    },
    detailOf,
  })
}

function clientClass({ pool }: ConnectorSettings): typeof Client {
  return pool.mode === 'transaction' ? PooledClient : Client
}

function backendKeyOf(client: Client): BackendKey | undefined {
  // `pg` keeps the server's BackendKeyData on the client, and its type declarations leave the two members out.
  const { processID, secretKey } = client as Client & { readonly processID?: unknown; readonly secretKey?: unknown }
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return undefined
  return { processId: processID, secretKey }
}

async function endWithin(client: Client, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), timeoutMs)
  try {
    await client.end()
  } finally {
    clearTimeout(timer)
  }
}
