import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import Database from 'better-sqlite3'
import type { AdminStore, StoreVersions } from '../../src/admin/admin-store.js'
import { type AdminStoreSettings, openAdminStore } from '../../src/admin/open-admin-store.js'
import { Secret } from '../../src/config/secret.js'
import { must } from './gateway.js'
import { EMBEDDED } from './postgres.js'
import type { TestDatabase } from './test-server.js'

/** One place where a store can be, made new for a test. */
export interface StorePlace {
  readonly settings: AdminStoreSettings
  /** Rows of one statement as the database itself has them, cells as text or null; names without schema are the store's tables. */
  rows(sql: string): Promise<readonly (readonly (string | null)[])[]>
}

export interface StoreKind {
  readonly kind: AdminStore['kind']
  fresh(): Promise<StorePlace>
}

/** The clock of every store that tests open. */
export const time = { now: 1_700_000_000_000 }

export function openStore(place: Pick<StorePlace, 'settings'>, clock: () => number = () => time.now) {
  return openAdminStore(place.settings, { clock, randomBytes, busyTimeoutMs: 2_000 })
}

export async function openedStore(place: Pick<StorePlace, 'settings'>): Promise<AdminStore> {
  return must(await openStore(place))
}

/** The store's numbers that count something. */
export async function numbersOf(store: Pick<AdminStore, 'readVersions'>): Promise<Omit<StoreVersions, 'mark'>> {
  const { change, reload } = await store.readVersions()
  return { change, reload }
}

const root = mkdtempSync(join(tmpdir(), 'runku-stores-'))
after(() => rmSync(root, { recursive: true, force: true }))
let places = 0

export const SQLITE_STORES: StoreKind = {
  kind: 'sqlite',
  fresh: async () => {
    places += 1
    const folder = join(root, String(places))
    mkdirSync(folder)
    const path = join(folder, 'store.sqlite')
    return { settings: { type: 'sqlite', path }, rows: async (sql) => sqliteRows(path, sql) }
  },
}

function sqliteRows(path: string, sql: string): readonly (readonly (string | null)[])[] {
  const db = new Database(path)
  try {
    const statement = db.prepare<[], unknown[]>(sql)
    if (statement.reader) return statement.raw().all().map(cellsOf)
    statement.run()
    return []
  } finally {
    db.close()
  }
}

function cellsOf(row: readonly unknown[]): readonly (string | null)[] {
  return row.map((cell) => (cell === null ? null : String(cell)))
}

let database: Promise<TestDatabase> | undefined

/** The address of a database for the server's superuser, at its own port or at that of a gate in front of it. */
export async function postgresUrl(name: string, port?: number): Promise<string> {
  const { process } = await EMBEDDED.start()
  const login = `${process.user}:${encodeURIComponent(process.password)}`
  return `postgres://${login}@127.0.0.1:${port ?? process.port}/${name}`
}

/** Each in a schema of its own, in one database. */
export const POSTGRES_STORES: StoreKind = {
  kind: 'postgres',
  fresh: async () => {
    database ??= EMBEDDED.start().then((server) => server.createDatabase())
    const db = await database
    places += 1
    const schema = `store_${places}`
    return {
      settings: { type: 'postgres', url: new Secret(`${await postgresUrl(db.name)}?search_path=${schema}`) },
      rows: (sql) => db.query(sql.replaceAll(/\b(FROM|INTO|UPDATE|TABLE) (\w+)/g, `$1 ${schema}.$2`)),
    }
  },
}

export const STORE_KINDS: readonly StoreKind[] = [SQLITE_STORES, POSTGRES_STORES]
