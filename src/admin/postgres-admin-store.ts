import { monotonicMs } from '../core/clock.js'
import {
  STORE_CHANGE_TIMEOUT_MS,
  STORE_MIGRATION_TIMEOUT_MS,
  STORE_STATEMENT_TIMEOUT_MS,
  STORE_WATCH_INTERVAL_MS,
} from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { type Tls, tlsOf } from '../storage/postgres-session.js'
import { type KeyRecord, StoreFailure, type StoreVersions } from './admin-store.js'
import { otherVersion } from './migrations.js'
import { OperatedStore, type Purpose, type StoreSurroundings } from './operated-store.js'
import {
  clientConfig,
  commitFailure,
  isAnswer,
  NoAnswer,
  type PooledClient,
  StoreClient,
  StorePool,
  storeFailure,
  within,
} from './postgres-connection.js'
import { PostgresKeys } from './postgres-keys.js'
import { CHANNEL, StoreListener } from './postgres-listener.js'
import { migratePostgres } from './postgres-migrate.js'
import { parseStoreAddress, placeOf, type StoreAddress } from './store-address.js'
import { first, run, type Steps, type StoreStatement } from './store-steps.js'
import { VersionWatch } from './version-watch.js'

export interface PostgresAdminStoreOptions extends StoreSurroundings {
  /** See `parseStoreAddress`. */
  readonly url: string
}

/** Opens the store, made or migrated as needed. The error is one sentence that names the place, and no secret. */
export async function openPostgresAdminStore(
  options: PostgresAdminStoreOptions,
): Promise<Result<PostgresAdminStore, string>> {
  const address = parseStoreAddress(options.url)
  if (!address.ok) return fail(`the url of the admin store: ${address.error}`)
  const tls = readTls(address.value)
  if (!tls.ok) return tls
  const pool = new StorePool(address.value, tls.value)
  const { whereNone = 'create', created } = options
  const prepared = await prepare(pool, address.value, whereNone)
  if (prepared.ok) {
    if (prepared.value.from === 0) created?.(placeOf(address.value))
    return ok(new PostgresAdminStore(address.value, tls.value, pool, options))
  }
  await pool.end()
  return prepared
}

function readTls(address: StoreAddress): Result<Tls, string> {
  try {
    return ok(tlsOf(address))
  } catch {
    return fail(`${placeOf(address)}: the file that sslrootcert names cannot be read`)
  }
}

async function prepare(
  pool: StorePool,
  address: StoreAddress,
  whereNone: 'create' | 'refuse',
): Promise<Result<{ readonly from: number }, string>> {
  try {
    const client = await pool.take()
    try {
      const migrate = () => migratePostgres(client, address, whereNone)
      const migrated = await within(client, STORE_MIGRATION_TIMEOUT_MS, migrate)
      return migrated.ok ? migrated : fail(`${placeOf(address)}: ${migrated.error}`)
    } finally {
      client.release(true)
    }
  } catch (error) {
    return fail(storeFailure(error, address).message)
  }
}

/** How each transaction begins. Behind a pooler every one may find another session, so that all it needs is set in it. */
function beginTexts({ schema }: StoreAddress): Readonly<Record<Purpose, string>> {
  const settings =
    `SET LOCAL search_path TO "${schema}", pg_temp; SET LOCAL statement_timeout = ${STORE_STATEMENT_TIMEOUT_MS}; ` +
    // An instance that is cut off in the middle must not keep the others from changing anything.
    `SET LOCAL idle_in_transaction_session_timeout = ${STORE_CHANGE_TIMEOUT_MS}`
  const write = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${settings}`
  // The last answer says whether this program knows what it is about to read or write.
  const schemaVersion = "SELECT value FROM settings WHERE name = 'schema'"
  return {
    read: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${settings}; ${schemaVersion}`,
    write: `${write}; ${schemaVersion}`,
    change: `${write}; SELECT 1 FROM settings WHERE name = 'version' FOR UPDATE; ${schemaVersion}`,
  }
}

/** Steps run with a pause for each answer, in one transaction; changes of all instances one after the other, by a row's lock. */
export class PostgresAdminStore extends OperatedStore {
  readonly kind = 'postgres'
  readonly place: string
  readonly #address: StoreAddress
  readonly #pool: StorePool
  readonly #begin: Readonly<Record<Purpose, string>>
  readonly #texts = new Map<string, string>()
  readonly #keys: PostgresKeys
  readonly #watch: VersionWatch
  readonly #listener: StoreListener
  #interruptions = 0
  #upgrade: Promise<void> | undefined
  #upgradeFault: string | undefined
  #closed: Promise<void> | undefined

  constructor(address: StoreAddress, tls: Tls, pool: StorePool, surroundings: StoreSurroundings) {
    super(surroundings)
    this.place = placeOf(address)
    this.#address = address
    this.#pool = pool
    this.#begin = beginTexts(address)
    const newClient = () => new StoreClient(clientConfig(address, tls))
    const failure = (error: unknown) => storeFailure(error, address)
    this.#keys = new PostgresKeys({
      newClient,
      place: this.place,
      schema: `"${address.schema}"`,
      failure,
      nowMs: monotonicMs,
      interrupted: () => this.#interrupted(),
      outdated: () => this.#bringUp(),
    })
    this.#watch = new VersionWatch(() => this.#keys.versions(), STORE_WATCH_INTERVAL_MS * 4)
    this.#listener = new StoreListener({ newClient, payload: address.schema, heard: () => this.#watch.look() })
  }

  override get interruptions(): number {
    return this.#interruptions
  }

  #interrupted(): void {
    this.#interruptions += 1
  }

  /** A backup of an older form was put in its place: it is brought up as at a start, and whoever asks meanwhile is refused. */
  #bringUp(): string | undefined {
    if (this.#closed === undefined) this.#upgrade ??= this.#upgraded()
    return this.#upgradeFault
  }

  async #upgraded(): Promise<void> {
    const prepared = await prepare(this.#pool, this.#address, 'refuse')
    this.#upgradeFault = prepared.ok ? undefined : prepared.error
    this.#upgrade = undefined
  }

  override findKey(keyId: string): Promise<KeyRecord | undefined> {
    return this.#keys.find(keyId)
  }

  override readVersions(): Promise<StoreVersions> {
    return this.#keys.versions()
  }

  protected override async run<T>(purpose: Purpose, steps: () => Steps<T>): Promise<T> {
    if (this.#closed !== undefined) throw new StoreFailure('unusable', `${this.place}: the admin store is closed`)
    try {
      return await this.#run(purpose, steps)
    } catch (error) {
      if (purpose === 'read') this.#interrupted()
      throw error
    }
  }

  async #run<T>(purpose: Purpose, steps: () => Steps<T>): Promise<T> {
    const client = await this.#enter(purpose)
    let done = false
    let committing = false
    try {
      const made = await within(client, STORE_CHANGE_TIMEOUT_MS, async () => {
        const driven = await this.#drive(client, steps())
        committing = true
        await client.query('COMMIT')
        return driven
      })
      done = true
      return made
    } catch (error) {
      if (committing && purpose !== 'read') throw commitFailure(error, this.#address)
      throw committing || error instanceof NoAnswer ? storeFailure(error, this.#address) : error
    } finally {
      // A connection on which something went wrong is closed, and the server undoes what was not committed.
      client.release(!done)
    }
  }

  /** A connection with its transaction begun. */
  async #enter(purpose: Purpose): Promise<PooledClient> {
    try {
      return await this.#tryEnter(purpose)
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw storeFailure(error, this.#address)
    }
    try {
      return await this.#tryEnter(purpose)
    } catch (error) {
      throw storeFailure(error instanceof StaleConnection ? error.cause : error, this.#address)
    }
  }

  async #tryEnter(purpose: Purpose): Promise<PooledClient> {
    const client = await this.#pool.take()
    try {
      const begun = await within(client, STORE_CHANGE_TIMEOUT_MS, () => client.query(this.#begin[purpose]))
      this.#requireSchema(begun)
      return client
    } catch (error) {
      client.release(true)
      // One that was lost while it lay idle says so only now, and nothing has been done on it.
      const final = isAnswer(error) || error instanceof NoAnswer || error instanceof StoreFailure
      throw final ? error : new StaleConnection('lost', { cause: error })
    }
  }

  /** `begun`: what the statements answered that a transaction begins with, which the type of a single one does not tell. */
  #requireSchema(begun: unknown): void {
    const answers = begun as readonly { readonly rows: readonly { readonly value?: string }[] }[]
    const version = answers.at(-1)?.rows[0]?.value
    if (version === undefined) throw new StoreFailure('corrupt', `${this.place}: the admin store has lost its version`)
    const other = otherVersion(Number(version))
    if (other !== undefined) throw new StoreFailure(other.kind, `${this.place}: ${other.text}`)
  }

  async #drive<T>(client: PooledClient, steps: Steps<T>): Promise<T> {
    let step = steps.next()
    while (step.done !== true) step = steps.next(await this.#query(client, step.value))
    return step.value
  }

  async #query(client: PooledClient, { sql, params }: StoreStatement): Promise<readonly unknown[]> {
    try {
      const { rows } = await client.query<Record<string, unknown>>({
        text: this.#numbered(sql),
        values: [...params],
        types: CELLS,
      })
      return rows
    } catch (error) {
      throw storeFailure(error, this.#address)
    }
  }

  /** `?` becomes `$1` and so on; the operations' texts hold no other question mark. */
  #numbered(sql: string): string {
    const known = this.#texts.get(sql)
    if (known !== undefined) return known
    let count = 0
    const text = sql.replaceAll('?', () => `$${++count}`)
    if (this.#texts.size >= TEXTS_MAX) this.#texts.clear()
    this.#texts.set(sql, text)
    return text
  }

  protected override *announce(): Steps<void> {
    yield* run(`SELECT pg_notify('${CHANNEL}', ?)`, this.#address.schema)
  }

  /** The server's: clocks of several machines are never quite the same. */
  protected override *storeClock(): Steps<number> {
    const row = yield* first<{ readonly now: number }>(
      'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now',
    )
    if (row === undefined) throw new Error('a server tells its time in one row')
    return row.now
  }

  protected override changed(): void {
    this.#watch.look()
  }

  override watch(changed: () => void): () => void {
    const end = this.#watch.add(changed)
    this.#listener.start()
    return () => {
      end()
      if (!this.#watch.watched) this.#listener.stop()
    }
  }

  override async healthy(): Promise<boolean> {
    try {
      await this.#keys.versions()
      return true
    } catch (error) {
      if (error instanceof StoreFailure) return false
      throw error
    }
  }

  override close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#watch.close()
    this.#listener.stop()
    try {
      await this.writeLastUsed()
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
    }
    await this.#upgrade
    await Promise.all([this.#keys.close(), this.#pool.end()])
  }
}

const TEXTS_MAX = 200
/** By the numbers that PostgreSQL gives its types: int2, int4 and int8 are safe integers here, everything else is text. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23])
const CELLS = {
  getTypeParser: (type: number) => (NUMBERS.has(type) ? Number : (value: unknown) => value),
}

/** A connection failed at the first word. */
class StaleConnection extends Error {}
