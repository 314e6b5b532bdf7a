import { BACKOFF_MAX_MS, BACKOFF_MIN_MS, STORE_CONNECT_TIMEOUT_MS } from '../core/limits.js'
import { type StoreClient, within } from './postgres-connection.js'

export const CHANNEL = 'runku'

export interface ListenerSurroundings {
  /** A client that is not connected yet. */
  readonly newClient: () => StoreClient
  /** What notifications of this store carry. */
  readonly payload: string
  /** Also called when the connection stands: what was said while it did not was missed. */
  readonly heard: () => void
}

/**
 * Hears of changes as they are committed. It only hurries: whoever needs to know also looks, so that a connection that stands and says
 * nothing, or one that cannot be made, delays nothing for long.
 */
export class StoreListener {
  readonly #surroundings: ListenerSurroundings
  #client: StoreClient | undefined
  #retry: NodeJS.Timeout | undefined
  #pauseMs = BACKOFF_MIN_MS
  #mode: 'stopped' | 'listening' = 'stopped'

  constructor(surroundings: ListenerSurroundings) {
    this.#surroundings = surroundings
  }

  start(): void {
    if (this.#mode === 'listening') return
    this.#mode = 'listening'
    this.#pauseMs = BACKOFF_MIN_MS
    void this.#connect()
  }

  stop(): void {
    this.#mode = 'stopped'
    clearTimeout(this.#retry)
    // Nothing is under way on it that would need a goodbye.
    this.#client?.cut()
    this.#client = undefined
  }

  async #connect(): Promise<void> {
    const { newClient, payload, heard } = this.#surroundings
    const client = newClient()
    this.#client = client
    client.on('notification', (message) => {
      if (message.channel === CHANNEL && message.payload === payload) heard()
    })
    client.once('end', () => this.#lost(client))
    try {
      await within(client, STORE_CONNECT_TIMEOUT_MS, async () => {
        await client.connect()
        await client.query(`LISTEN ${CHANNEL}`)
      })
    } catch {
      client.cut()
      return this.#lost(client)
    }
    if (this.#client !== client) return client.cut()
    this.#pauseMs = BACKOFF_MIN_MS
    heard()
  }

  #lost(client: StoreClient): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#retry = setTimeout(() => void this.#connect(), this.#pauseMs).unref()
    this.#pauseMs = Math.min(this.#pauseMs * 2, BACKOFF_MAX_MS)
  }
}
