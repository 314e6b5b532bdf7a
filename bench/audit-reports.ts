import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type ChainHead, type ChainKeys, chainKeys, digestRowKey, GENESIS, sealEntry } from '../src/audit/chain.js'
import { Outbox } from '../src/audit/outbox.js'
import { type AuditIndex, openIndex } from '../src/audit/reports/index-file.js'
import { makeReport } from '../src/audit/reports/make-report.js'
import { parseQuestion, REPORTS, type ReportName } from '../src/audit/reports/report-query.js'
import { monotonicMs } from '../src/core/clock.js'
import { must } from '../test/support/gateway.js'

/**
 * `npm run bench:reports [entries]`: makes a buffer of that many entries (a million where nothing is said), follows it, and prints
 * how long each report and the search for a row take. Needs about a kilobyte of disk for each entry, and removes its files.
 */
const ENTRIES = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 7
const BEGIN_MS = Date.parse('2026-06-01T00:00:00Z')
const STEP_MS = 250
const TABLES = ['customers', 'orders', 'order_items', 'products', 'invoices', 'payments', 'tickets', 'employees']
const CONNECTORS = ['shop', 'crm', 'billing', 'stock', 'hr', 'support']
const IDENTITIES = 60
const RARE_TABLE = 'audit_notes'

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
  if (drawn < 0.95) return '"decision":"allowed","code":"OK","effect":"none"'
  if (drawn < 0.985)
    return '"decision":"blocked","code":"ARGUMENT_COLUMN","reason":"column_masked at filters[0].column","effect":"none"'
  return '"decision":"errored","code":"TIMEOUT","effect":"none"'
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
  const texts = Array.from({ length: given }, () => {
    return `"${digestRowKey(keys, { connector, table: target }, String(Math.floor(random() ** 4 * 1_000_000)))}"`
  })
  const time = new Date(BEGIN_MS + n * STEP_MS).toISOString()
  const total = Math.round(1_000 + 20_000 * random() ** 6 * 50) / 1_000
  return [
    `"id":"mx3jhz49de678c4a73-${n.toString(36).padStart(8, '0')}","time":"${time}","instance":"${instance}"`,
    `"connector":"${connector}","epoch":3,"request_id":"${n}","identity":"agent-${identity}","key_id":"key${String(identity).padStart(9, '0')}"`,
    `"roles":["analyst"],"client":"claude-code/1.2.3","address":"10.0.0.${identity}","tool":"${tool(table)}","operation":"${operation}"`,
    `"target":"${target}","plan":{"columns":["id","name","country"],"filters":[{"column":"country","op":"eq","values":["hmac:5c4e2317a44c19553acdde40b247c9f6"]}],"page":{"limit":50}}`,
    ended,
    changes ? `"affected":${given}` : `"rows":${given}`,
    ...(given === 0 ? [] : [`"result_keys":[{"table":"${target}","keys":[${texts.join(',')}]}]`]),
    `"duration_ms":{"total":${total},"queue":0.25,"db":${Math.round(total * 500) / 1_000}}`,
  ].join(',')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function makeBuffer(path: string, keys: ChainKeys): void {
  const values = { filters: 'hash', writes: 'hash', resultKeys: 'hash' } as const
  const made = must(
    Outbox.open({
      path,
      durability: 'normal',
      retainMs: Number.MAX_SAFE_INTEGER,
      onFull: 'block',
      keys,
      keeping: values,
      intentsAreLost: false,
      nowMs: Date.now,
      newInstance: () => '095b44a44361a001',
    }),
  )
  const { instance } = made
  made.close()
  const db = new Database(path)
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
  for (let n = 0; n < ENTRIES; n += 20_000) chunk(n, Math.min(ENTRIES, n + 20_000))
  db.close()
}

function sizeMiB(path: string): string {
  const bytes = ['', '-wal'].reduce(
    (sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  return `${Math.round(bytes / 2 ** 20)} MiB`
}

/** Processor time is said too: on a machine with other work the clock alone says little. */
function timed(what: string, work: () => unknown): void {
  const times = Array.from({ length: ROUNDS }, () => {
    const beganMs = monotonicMs()
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return { wallMs: monotonicMs() - beganMs, cpuMs: (user + system) / 1_000 }
  })
  const median = (of: (time: (typeof times)[number]) => number) =>
    times.map(of).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
  const first = times[0]?.wallMs ?? 0
  const wall = `median ${median(({ wallMs }) => wallMs).toFixed(1)} ms, first ${first.toFixed(1)} ms`
  say(`${what}: ${wall}; ${median(({ cpuMs }) => cpuMs).toFixed(1)} ms of the processor`)
}

function report(index: AuditIndex, name: ReportName, query: string): void {
  const question = must(parseQuestion(name, query, '', Date.now()))
  timed(`${name}${query === '' ? '' : `?${query}`}`, () =>
    must(makeReport(index, { ...question, scope: { gateway: true } })),
  )
}

const folder = mkdtempSync(join(tmpdir(), 'runku-reports-'))
try {
  const path = join(folder, 'audit.sqlite')
  const keys = chainKeys(Buffer.alloc(32, 7))
  writeFileSync(`${path}.key`, `${'07'.repeat(32)}\n`, { mode: 0o600 })
  let beganMs = monotonicMs()
  makeBuffer(path, keys)
  say(`buffer: ${ENTRIES} entries, ${sizeMiB(path)}, made in ${Math.round((monotonicMs() - beganMs) / 1_000)} s`)
  const index = must(openIndex({ buffer: path, keys }))
  beganMs = monotonicMs()
  let longestMs = 0
  for (let done = false; !done; ) {
    const stepMs = monotonicMs()
    done = must(index.follow(0, monotonicMs))
    longestMs = Math.max(longestMs, monotonicMs() - stepMs)
  }
  const followMs = monotonicMs() - beganMs
  say(`followed: ${Math.round((ENTRIES / followMs) * 1_000)} entries/s, the longest step ${longestMs.toFixed(1)} ms`)
  say(`index: ${sizeMiB(`${path}.index`)}`)
  const at = (share: number) => new Date(BEGIN_MS + Math.floor(ENTRIES * share) * STEP_MS + 123).toISOString()
  const middle = `from=${at(0.21)}&to=${at(0.77)}`
  for (const name of REPORTS) report(index, name, '')
  for (const name of REPORTS) report(index, name, middle)
  const isLong = ENTRIES * STEP_MS > 86_400_000 * 10
  if (isLong) report(index, 'summary', `from=${at(0)}&to=${at(0.999)}&interval=day`)
  report(index, 'summary', `from=${at(0)}&to=${at(0.999)}&interval=hour`)
  report(index, 'summary', 'connector=shop&identity=agent-6')
  report(index, 'calls', 'limit=1000')
  report(index, 'calls', 'identity=agent-59&code=TIMEOUT&limit=1000')
  report(index, 'calls', `identity=agent-59&operation=create&limit=1000&${middle}`)
  report(index, 'calls', `target=public.${RARE_TABLE}&limit=1000`)
  report(index, 'calls', 'identity=nobody')
  report(index, 'denials', 'limit=1000')
  for (const row of ['4711', '31', '999999', 'no such row']) {
    const digest = digestRowKey(keys, { connector: 'shop', table: 'public.customers' }, row)
    const found = must(index.entriesOf(digest, { limit: 1_000 }))
    timed(`who saw row ${row} (${found.length} entries)`, () => must(index.entriesOf(digest, { limit: 1_000 })))
  }
  index.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
