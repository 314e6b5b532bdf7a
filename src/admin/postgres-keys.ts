import { KEYS_CACHED_MAX, STORE_READ_TIMEOUT_MS } from '../core/limits.js'
import { type KeyRecord, StoreFailure, type StoreVersions } from './admin-store.js'
import { otherVersion, STORE_VERSION } from './migrations.js'
import { isAnswer, NoAnswer, type StoreClient, within } from './postgres-connection.js'
import { sameVersions, versionsOf, wentBack } from './store-reads.js'
import { type KeyRow, keyRecord } from './store-rows.js'

export interface PostgresKeysSurroundings {
  /** A client that is not connected yet. */
  readonly newClient: () => StoreClient
  /** For messages. */
  readonly place: string
  /** The schema as an identifier, in quotes. */
  readonly schema: string
  readonly failure: (error: unknown) => StoreFailure
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Told, before anybody is answered, that a read failed, that the store was reached anew, or that it was restored. */
  readonly interrupted: () => void
  /** Told that the store is of an older form than this program's. Gives why it could not be brought up before, if so. */
  readonly outdated: () => string | undefined
}

interface Waiter {
  /** Absent: the versions are what is asked for. */
  readonly keyId?: string
  readonly answer: (found: Found) => void
  readonly fail: (error: unknown) => void
}

/** What one round read. A key that is not there was looked for and does not exist. */
interface Found {
  readonly versions: StoreVersions
  readonly records: ReadonlyMap<string, KeyRecord>
}

/** bytea as hexadecimal digits and numbers as text, whatever the session's settings are. */
interface Row {
  readonly name: string
  readonly value: string
  readonly key_id: string | null
  readonly record: string | null
}

type KeyRowJson = Omit<KeyRow, 'secret_hash' | 'bindings'> & {
  readonly secret_hash: string
  readonly bindings: readonly (readonly [string, string])[]
}

/**
 * Reads keys as they are after the question came. The questions of one turn of the event loop share one read, and so do those that come
 * while a read is under way: theirs is the next one, since the current one may have seen the store before they came. Records are kept
 * under the versions they were read at; those are read every time, on a connection that does nothing else. Nobody waits longer than one
 * timeout, whatever the read before theirs takes, and whether theirs takes a second attempt.
 */
export class PostgresKeys {
  readonly #surroundings: PostgresKeysSurroundings
  readonly #versionsSql: string
  readonly #keysSql: string
  #client: StoreClient | undefined
  #waiting: Waiter[] = []
  /** When the first of those who wait came. */
  #waitingSinceMs = 0
  #mode: 'idle' | 'scheduled' | 'reading' | 'closed' = 'idle'
  readonly #records = new Map<string, KeyRecord>()
  #versions: StoreVersions | undefined
  #connectedBefore = false

  constructor(surroundings: PostgresKeysSurroundings) {
    this.#surroundings = surroundings
    const { schema } = surroundings
    const versions = `${schema}.settings s WHERE s.name IN ${SETTINGS}`
    this.#versionsSql = `SELECT s.name, s.value::text AS value, NULL AS key_id, NULL AS record FROM ${versions}`
    this.#keysSql = keysSql(schema)
  }

  async find(keyId: string): Promise<KeyRecord | undefined> {
    const { records } = await this.#ask(keyId)
    return records.get(keyId)
  }

  async versions(): Promise<StoreVersions> {
    return (await this.#ask()).versions
  }

  async close(): Promise<void> {
    this.#mode = 'closed'
    this.#failAll(this.#waiting, this.#closed())
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) await within(client, STORE_READ_TIMEOUT_MS, () => client.end()).catch(() => {})
  }

  #closed(): StoreFailure {
    return new StoreFailure('unusable', `${this.#surroundings.place}: the admin store is closed`)
  }

  #ask(keyId?: string): Promise<Found> {
    return new Promise((answer, fail) => {
      if (this.#mode === 'closed') return fail(this.#closed())
      if (this.#waiting.length === 0) this.#waitingSinceMs = this.#surroundings.nowMs()
      this.#waiting.push({ ...(keyId === undefined ? {} : { keyId }), answer, fail })
      if (this.#mode !== 'idle') return
      this.#mode = 'scheduled'
      // Behind everything that this turn brought in.
      setImmediate(() => void this.#readOn())
    })
  }

  /** One round after the other, for as long as somebody waits. */
  async #readOn(): Promise<void> {
    if (this.#mode === 'closed') return
    this.#mode = 'reading'
    while (this.#waiting.length > 0) {
      const round = this.#waiting
      this.#waiting = []
      await this.#serve(round, this.#waitingSinceMs + STORE_READ_TIMEOUT_MS)
    }
    this.#ended()
  }

  #ended(): void {
    if (this.#mode === 'reading') this.#mode = 'idle'
  }

  async #serve(round: readonly Waiter[], endsAtMs: number): Promise<void> {
    const ids = new Set<string>()
    for (const { keyId } of round) if (keyId !== undefined) ids.add(keyId)
    let found: Found
    try {
      found = await this.#find(ids, endsAtMs)
    } catch (error) {
      this.#surroundings.interrupted()
      return this.#failAll(round, error)
    }
    for (const { answer } of round) answer(found)
  }

  #failAll(round: readonly Waiter[], error: unknown): void {
    for (const { fail } of round) fail(error)
  }

  async #find(ids: ReadonlySet<string>, endsAtMs: number): Promise<Found> {
    const records = new Map<string, KeyRecord>()
    const unknown = [...ids].filter((id) => !this.#records.has(id))
    const versions = await this.#read(unknown, records, endsAtMs)
    // Records that the version's move has dropped are read again, and those alone.
    const dropped = [...ids].filter((id) => !unknown.includes(id) && !this.#take(id, records))
    if (dropped.length === 0) return { versions, records }
    return { versions: await this.#read(dropped, records, endsAtMs), records }
  }

  #take(id: string, records: Map<string, KeyRecord>): boolean {
    const record = this.#records.get(id)
    if (record !== undefined) records.set(id, record)
    return record !== undefined
  }

  /** Reads the versions and, with them in one state, these keys. */
  async #read(ids: readonly string[], records: Map<string, KeyRecord>, endsAtMs: number): Promise<StoreVersions> {
    const rows = await this.#query(ids, endsAtMs)
    const settings = rows.map(({ name, value }) => ({ name, value: Number(value) }))
    this.#requireSchema(settings.find(({ name }) => name === 'schema')?.value)
    const versions = versionsOf(settings)
    if (versions === undefined) throw this.#versionLost()
    const before = this.#versions
    const same = before !== undefined && sameVersions(before, versions)
    if (!same || this.#records.size + ids.length > KEYS_CACHED_MAX) this.#records.clear()
    this.#versions = versions
    if (before !== undefined && wentBack(before, versions)) this.#surroundings.interrupted()
    for (const { key_id, record } of rows) {
      if (key_id === null || record === null || records.has(key_id)) continue
      const read = toRecord(record)
      records.set(key_id, read)
      this.#records.set(key_id, read)
    }
    return versions
  }

  #versionLost(): StoreFailure {
    return new StoreFailure('corrupt', `${this.#surroundings.place}: the admin store has lost its version`)
  }

  #requireSchema(version: number | undefined): void {
    if (version === undefined) throw this.#versionLost()
    const other = otherVersion(version)
    if (other === undefined) return
    const fault = version < STORE_VERSION ? this.#surroundings.outdated() : undefined
    const failed = fault === undefined ? '' : `, which failed: ${fault}`
    throw new StoreFailure(other.kind, `${this.#surroundings.place}: ${other.text}${failed}`)
  }

  async #query(ids: readonly string[], endsAtMs: number): Promise<readonly Row[]> {
    const reused = this.#client !== undefined
    try {
      try {
        return await this.#queryOnce(ids, endsAtMs)
      } catch (error) {
        // A connection that was lost since it was last used says so only now; a new one may do better.
        if (!reused || this.#mode === 'closed' || isAnswer(error) || error instanceof NoAnswer) throw error
        return await this.#queryOnce(ids, endsAtMs)
      }
    } catch (error) {
      throw this.#surroundings.failure(error)
    }
  }

  async #queryOnce(ids: readonly string[], endsAtMs: number): Promise<readonly Row[]> {
    const leftMs = endsAtMs - this.#surroundings.nowMs()
    if (leftMs <= 0) throw new NoAnswer(`no answer within ${STORE_READ_TIMEOUT_MS} ms`)
    const fresh = this.#client === undefined
    const client = this.#client ?? this.#surroundings.newClient()
    this.#client = client
    try {
      return await within(client, leftMs, async () => {
        if (fresh) await client.connect()
        const { rows } =
          ids.length === 0
            ? await client.query<Row>(this.#versionsSql)
            : await client.query<Row>(this.#keysSql, [[...ids]])
        if (fresh) this.#connected()
        return rows
      })
    } catch (error) {
      if (this.#client === client) this.#client = undefined
      client.cut()
      throw error
    }
  }

  /** Nobody knows what happened to the store between two connections. */
  #connected(): void {
    if (this.#connectedBefore) this.#surroundings.interrupted()
    this.#connectedBefore = true
  }
}

const SETTINGS = "('version', 'reload', 'mark', 'schema')"

function keysSql(schema: string): string {
  return `
    SELECT s.name, s.value::text AS value, r.key_id, r.record
    FROM ${schema}.settings s LEFT JOIN (
      SELECT k.key_id, json_build_object(
        'key_id', k.key_id, 'secret_hash', encode(k.secret_hash, 'hex'), 'expires_at', k.expires_at, 'revoked_at', k.revoked_at,
        'identity_id', i.id, 'identity_name', i.name, 'disabled', i.disabled, 'claims', i.claims,
        'bindings', (SELECT coalesce(json_agg(json_build_array(b.role, b.connector)), '[]'::json)
                     FROM ${schema}.role_bindings b WHERE b.identity_id = i.id))::text AS record
      FROM ${schema}.api_keys k JOIN ${schema}.identities i ON i.id = k.identity_id
      WHERE k.key_id = ANY($1::text[])
    ) r ON s.name = 'version'
    WHERE s.name IN ${SETTINGS}`
}

function toRecord(text: string): KeyRecord {
  // Built by the statement that read it.
  const row = JSON.parse(text) as KeyRowJson
  return keyRecord({
    ...row,
    secret_hash: Buffer.from(row.secret_hash, 'hex'),
    bindings: JSON.stringify(row.bindings),
  })
}
