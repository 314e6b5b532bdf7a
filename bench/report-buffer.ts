import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import {
  type ChainHead,
  type ChainKeys,
  chainKeys,
  digestRowKey,
  GENESIS,
  sealEntry,
  sealHead,
} from '../src/audit/chain.js'
import { Outbox } from '../src/audit/outbox.js'
import { must } from '../test/support/gateway.js'

/** A buffer of made-up calls: what `bench:reports` asks its questions of. */
export const BEGIN_MS = Date.parse('2026-06-01T00:00:00Z')
export const STEP_MS = 250
/** Holds few entries: one in a quarter of a million. */
export const RARE_TABLE = 'audit_notes'
/** The table whose rows can be searched for: digests of other rows are random, since making them takes longer than all the rest. */
export const SOUGHT = { connector: 'shop', table: 'public.customers' }
const SECRET = Buffer.alloc(32, 7)
export const BENCH_KEYS = chainKeys(SECRET)
const TABLES = ['customers', 'orders', 'order_items', 'products', 'invoices', 'payments', 'tickets', 'employees']
const CONNECTORS = ['shop', 'crm', 'billing', 'stock', 'hr', 'support']
const IDENTITIES = 60
const CHUNK = 20_000

/** A generator that gives the same numbers in every run, between 0 and 1. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

const random = randomOf(8)
/** Low numbers come much more often than high ones. */
const pick = (count: number) => Math.floor(random() ** 2.5 * count)

interface Act {
  readonly operation: string
  readonly tool: (table: string) => string
  readonly rows: number
  readonly changes: boolean
}

const ACTS: readonly (readonly [share: number, act: Act])[] = [
  [0.45, { operation: 'get', tool: (table) => `get_${table}_by_pk`, rows: 1, changes: false }],
  [0.38, { operation: 'search', tool: (table) => `search_${table}`, rows: 25, changes: false }],
  [0.1, { operation: 'aggregate', tool: (table) => `aggregate_${table}`, rows: 0, changes: false }],
  [0.05, { operation: 'update', tool: (table) => `update_${table}_by_pk`, rows: 1, changes: true }],
  [0.02, { operation: 'create', tool: (table) => `create_${table}`, rows: 1, changes: true }],
]

function act(): Act {
  let left = random()
  for (const [share, each] of ACTS) {
    left -= share
    if (left <= 0) return each
  }
  return act()
}

function outcome(): string {
  const drawn = random()
  if (drawn < 0.95) return '"decision":"allowed","code":"OK"'
  if (drawn < 0.985)
    return '"decision":"blocked","code":"ARGUMENT_COLUMN","reason":"column_masked at filters[0].column"'
  return '"decision":"errored","code":"TIMEOUT"'
}

function digestOf(keys: ChainKeys, connector: string, table: string): string {
  const row = Math.floor(random() ** 4 * 1_000_000)
  if (connector === SOUGHT.connector && table === SOUGHT.table) {
    return digestRowKey(keys, { connector, table }, String(row))
  }
  const half = () => (Math.floor(random() * 0x1_0000_0000) >>> 0).toString(16).padStart(8, '0')
  return `hmac:${half()}${half()}`
}

/** Members of one entry between `seq` and `prev_hash`. */
function members(keys: ChainKeys, instance: string, n: number): string {
  const identity = pick(IDENTITIES)
  // Most agents work with one database, every fifth with two.
  const second = identity % 5 === 0 && random() < 0.3 ? 1 : 0
  const connector = CONNECTORS[(identity + second) % CONNECTORS.length] ?? 'shop'
  const isRare = n % 250_000 === 1_234
  const table = isRare ? RARE_TABLE : (TABLES[pick(TABLES.length)] ?? 'orders')
  const { operation, tool, rows, changes } = act()
  const ended = outcome()
  const isOk = ended.includes('"OK"')
  const target = `public.${table}`
  const given = rows === 0 || !isOk ? 0 : 1 + Math.floor(random() * rows * 2)
  const texts = Array.from({ length: given }, () => `"${digestOf(keys, connector, target)}"`)
  const time = new Date(BEGIN_MS + n * STEP_MS).toISOString()
  const total = Math.round(1_000 + 20_000 * random() ** 6 * 50) / 1_000
  return [
    `"id":"mx3jhz49de678c4a73-${n.toString(36).padStart(8, '0')}","time":"${time}","instance":"${instance}"`,
    `"connector":"${connector}","epoch":3,"request_id":"${n}","identity":"agent-${identity}","key_id":"key${String(identity).padStart(9, '0')}"`,
    `"roles":["analyst"],"client":"claude-code/1.2.3","address":"10.0.0.${identity}","tool":"${tool(table)}","operation":"${operation}"`,
    `"target":"${target}","plan":{"columns":["id","name","country"],"filters":[{"column":"country","op":"eq","values":["hmac:5c4e2317a44c19553acdde40b247c9f6"]}],"page":{"limit":50}}`,
    ended,
    `"effect":"${changes && isOk ? 'committed' : 'none'}"`,
    changes ? `"affected":${given}` : `"rows":${given}`,
    ...(given === 0 ? [] : [`"result_keys":[{"table":"${target}","keys":[${texts.join(',')}]}]`]),
    `"duration_ms":{"total":${total},"queue":0.25,"db":${Math.round(total * 500) / 1_000}}`,
  ].join(',')
}

function fill(path: string, keys: ChainKeys, instance: string, entries: number): void {
  const db = new Database(path)
  db.pragma('journal_mode = OFF')
  db.pragma('synchronous = OFF')
  const insert = db.prepare('INSERT INTO entries (seq, id, time_ms, body) VALUES (?, ?, ?, ?)')
  let head: ChainHead = GENESIS
  const chunk = db.transaction((from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const entry = sealEntry(keys, head, members(keys, instance, n))
      insert.run(entry.seq, `id-${n.toString(36).padStart(9, '0')}`, BEGIN_MS + n * STEP_MS, entry.line)
      head = entry
    }
  })
  for (let n = 0; n < entries; n += CHUNK) chunk(n, Math.min(entries, n + CHUNK))
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('head', ?)").run(sealHead(keys, instance, head))
  db.pragma('journal_mode = WAL')
  db.close()
}

function entriesIn(path: string): number {
  if (!existsSync(path)) return 0
  const db = new Database(path, { readonly: true })
  const last = Number(db.prepare('SELECT max(seq) FROM entries').pluck().get())
  db.close()
  return last
}

export interface BenchBuffer {
  readonly path: string
  readonly made: boolean
}

/** The buffer in a folder, with its key beside it: made where there is none of this many entries or more. */
export function benchBuffer(folder: string, entries: number): BenchBuffer {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'audit.sqlite')
  const has = entriesIn(path)
  if (has >= entries) return { path, made: false }
  if (has > 0) throw new Error(`${path} has ${has} entries and not ${entries}: choose another folder, or remove it`)
  writeFileSync(`${path}.key`, `${SECRET.toString('hex')}\n`, { mode: 0o600 })
  const made = must(
    Outbox.open({
      path,
      durability: 'normal',
      retainMs: Number.MAX_SAFE_INTEGER,
      onFull: 'block',
      keys: BENCH_KEYS,
      keeping: { filters: 'hash', writes: 'hash', resultKeys: 'hash' },
      intentsAreLost: false,
      nowMs: Date.now,
      newInstance: () => '095b44a44361a001',
    }),
  )
  const { instance } = made
  made.close()
  fill(path, BENCH_KEYS, instance, entries)
  return { path, made: true }
}
