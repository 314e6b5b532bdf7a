import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { digestRowKey } from '../src/audit/chain.js'
import { type AuditIndex, openIndex } from '../src/audit/reports/index-file.js'
import { makeReport } from '../src/audit/reports/make-report.js'
import { parseQuestion, REPORTS, type ReportName } from '../src/audit/reports/report-query.js'
import { monotonicMs } from '../src/core/clock.js'
import { must } from '../test/support/gateway.js'
import { BEGIN_MS, BENCH_KEYS, benchBuffer, RARE_TABLE, SOUGHT, STEP_MS } from './report-buffer.js'
import { callsBesideReports } from './report-calls.js'

/**
 * `npm run bench:reports -- [entries] [--keep <folder>] [--check] [--calls]`: makes a buffer of that many entries (a million where
 * nothing is said), follows it, and prints how long each report and the search for a row take, also when nothing of buffer and
 * index is in memory. `--keep` leaves the files in a folder and uses them again. `--check` looks for the rows in every entry, too.
 * `--calls` then puts calls on a gateway with this buffer, with and without reports beside them. An entry takes 1.4 kB of disk.
 */
const execute = promisify(execFile)
const MAIN = join(dirname(fileURLToPath(import.meta.url)), '..', 'src', 'main.js')
const args = process.argv.slice(2)
const keepAt = args.indexOf('--keep')
const kept = keepAt === -1 ? undefined : args[keepAt + 1]
const ENTRIES = Number(args.find((text, at) => /^\d+$/.test(text) && (keepAt === -1 || at !== keepAt + 1)) ?? 1_000_000)
const ROUNDS = 5

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function sizeMiB(path: string): string {
  const size = (suffix: string) => statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0
  return `${Math.round((size('') + size('-wal')) / 2 ** 20)} MiB`
}

/** Has the system forget what it holds of these files in memory; false where it cannot be told to. */
function forget(path: string): boolean {
  if (process.platform !== 'linux') return false
  for (const file of [path, `${path}-wal`, `${path}.index`, `${path}.index-wal`]) {
    if (!existsSync(file)) continue
    execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
  }
  return true
}

interface Timing {
  readonly coldMs: number | undefined
  readonly medianMs: number
  readonly longestMs: number
  readonly cpuMs: number
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

const shown = (ms: number | undefined) => (ms === undefined ? '' : ms.toFixed(ms < 10 ? 1 : 0))

function row(what: string, found: string, { coldMs, medianMs, longestMs, cpuMs }: Timing): void {
  say(`| ${what} | ${found} | ${shown(coldMs)} | ${shown(medianMs)} | ${shown(longestMs)} | ${shown(cpuMs)} |`)
}

/** `cold` is the first time with an index that was just opened. Processor time is said too: on a machine with other work the clock alone says little. */
function timed(path: string, work: (index: AuditIndex) => unknown): Timing {
  const isCold = forget(path)
  const once = (index: () => AuditIndex) => {
    const beganMs = monotonicMs()
    const before = process.cpuUsage()
    const used = index()
    work(used)
    const { user, system } = process.cpuUsage(before)
    return { index: used, wallMs: monotonicMs() - beganMs, cpuMs: (user + system) / 1_000 }
  }
  const first = once(() => must(openIndex({ buffer: path, keys: BENCH_KEYS })))
  const times = Array.from({ length: ROUNDS }, () => once(() => first.index))
  first.index.close()
  return {
    coldMs: isCold ? first.wallMs : undefined,
    medianMs: median(times.map(({ wallMs }) => wallMs)),
    longestMs: Math.max(...times.map(({ wallMs }) => wallMs)),
    cpuMs: median(times.map(({ cpuMs }) => cpuMs)),
  }
}

function followAll(path: string): void {
  const index = must(openIndex({ buffer: path, keys: BENCH_KEYS }))
  const beganMs = monotonicMs()
  const before = process.cpuUsage()
  const began = must(index.view(({ coverage }) => coverage.toSeq))
  let longestMs = 0
  for (let done = false; !done; ) {
    const stepMs = monotonicMs()
    done = must(index.follow(0, monotonicMs))
    longestMs = Math.max(longestMs, monotonicMs() - stepMs)
  }
  const followed = must(index.view(({ coverage }) => coverage.toSeq)) - began
  const { user, system } = process.cpuUsage(before)
  index.close()
  if (followed === 0) return
  const perSecond = Math.round((followed / (monotonicMs() - beganMs)) * 1_000)
  const cpuUs = ((user + system) / followed).toFixed(1)
  say(
    `followed ${followed} entries: ${perSecond} a second, ${cpuUs} µs of the processor each, the longest step ${shown(longestMs)} ms`,
  )
}

function reportQueries(): readonly (readonly [ReportName, string])[] {
  const at = (share: number) => new Date(BEGIN_MS + Math.floor(ENTRIES * share) * STEP_MS + 123).toISOString()
  const middle = `from=${at(0.21)}&to=${at(0.77)}`
  const all = `from=${at(0)}&to=${at(0.999)}`
  const day = `from=${at(0.5)}&to=${new Date(BEGIN_MS + Math.floor(ENTRIES * 0.5) * STEP_MS + 86_400_000).toISOString()}`
  return [
    ...REPORTS.flatMap((name) => [[name, ''] as const, [name, middle] as const]),
    ...REPORTS.map((name) => [name, `connector=shop&${middle}`] as const),
    ['summary', `${all}&interval=day`],
    ['summary', `${all}&interval=hour`],
    ['summary', `${day}&interval=minute`],
    ['summary', `${all}&interval=hour&connector=shop&decision=blocked`],
    ['summary', `${all}&interval=hour&identity=agent-6`],
    ['summary', `${all}&interval=hour&identity=agent-0`],
    ['summary', `${all}&interval=day&target=public.customers`],
    ['summary', `${all}&interval=hour&target=public.customers`],
    ['summary', `target=public.customers&${middle}`],
    ['summary', 'connector=shop&identity=agent-6'],
    ['calls', 'limit=1000'],
    ['calls', 'identity=agent-59&code=TIMEOUT&limit=1000'],
    ['calls', `identity=agent-59&operation=create&limit=1000&${middle}`],
    ['calls', `target=public.${RARE_TABLE}&limit=1000`],
    ['calls', 'tool=create_employees&code=TIMEOUT&limit=1000'],
    ['calls', 'identity=nobody'],
    ['denials', 'limit=1000'],
    ['denials', `code=TIMEOUT&tool=search_orders&${middle}`],
    ['tools', `identity=agent-7&${middle}`],
    ['identities', `target=public.employees&operation=update&${middle}`],
  ]
}

function countOf(text: string): string {
  const report = JSON.parse(text) as Readonly<Record<string, unknown>>
  for (const member of ['entries', 'denials', 'identities', 'tools', 'intervals']) {
    const rows = report[member]
    if (Array.isArray(rows)) return String(rows.length)
  }
  return '1'
}

function reports(path: string): void {
  for (const [name, query] of reportQueries()) {
    const question = must(parseQuestion(name, query, '', Date.now()))
    let text = ''
    const timing = timed(path, (index) => {
      text = must(makeReport(index, { ...question, scope: { gateway: true } })).text
    })
    const named = query.replaceAll(/T[0-9:.]{12}Z/g, '').replaceAll('&', ' ')
    row(`${name} ${named}`, countOf(text), timing)
  }
}

const ROWS = ['4711', '31', '999999', '0', 'no such row']
const FOUND_MAX = 1_000

/** Entries that hold each of the digests, the newest first, by a look at every entry. */
function seqsHolding(path: string, digests: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const held = new Map<string, number[]>(digests.map((digest) => [digest, []]))
  const db = new Database(path, { readonly: true })
  const conditions = digests.map(() => 'instr(body, ?) > 0').join(' OR ')
  const rows = db.prepare<string[], { readonly seq: number; readonly body: string }>(
    `SELECT seq, body FROM entries WHERE ${conditions} ORDER BY seq`,
  )
  for (const { seq, body } of rows.iterate(...digests)) {
    for (const [digest, seqs] of held) if (body.includes(digest)) seqs.unshift(seq)
  }
  db.close()
  return held
}

const digestOf = (key: string) => digestRowKey(BENCH_KEYS, SOUGHT, key)

async function searches(path: string): Promise<void> {
  const held = args.includes('--check') ? seqsHolding(path, ROWS.map(digestOf)) : undefined
  for (const key of ROWS) {
    const digest = digestOf(key)
    let found: readonly number[] = []
    const timing = timed(path, (index) => {
      found = must(index.entriesOf(digest, { limit: FOUND_MAX })).map(({ seq }) => seq)
    })
    row(`who: row ${key}`, String(found.length), timing)
    const expected = held?.get(digest)?.slice(0, FOUND_MAX)
    if (expected !== undefined && expected.join() !== found.join()) {
      throw new Error(`row ${key}: found ${found.length}, there are ${expected.length}`)
    }
  }
  const flags = ['--buffer', path, '--key-file', `${path}.key`, '--limit', '1000']
  for (const key of ['4711', '31']) {
    const run = async () => {
      const beganMs = monotonicMs()
      await execute(process.execPath, [MAIN, 'audit', 'who', SOUGHT.connector, SOUGHT.table, key, ...flags])
      return monotonicMs() - beganMs
    }
    const coldMs = forget(path) ? await run() : undefined
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) times.push(await run())
    const timing = { coldMs, medianMs: median(times), longestMs: Math.max(...times), cpuMs: 0 }
    row(`runku audit who ${SOUGHT.connector} ${SOUGHT.table} ${key}, a process`, '', timing)
  }
}

const folder = kept ?? mkdtempSync(join(tmpdir(), 'runku-reports-'))
try {
  const beganMs = monotonicMs()
  const { path, made } = benchBuffer(folder, ENTRIES)
  const took = made ? `, made in ${Math.round((monotonicMs() - beganMs) / 1_000)} s` : ''
  say(
    `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  )
  say(`buffer: ${ENTRIES} entries, ${sizeMiB(path)}${took}`)
  followAll(path)
  say(`index: ${sizeMiB(`${path}.index`)}`)
  say('')
  say('| what | found | cold ms | median ms | longest ms | processor ms |')
  say('| --- | --- | --- | --- | --- | --- |')
  reports(path)
  await searches(path)
  if (args.includes('--calls')) await callsBesideReports(path, say)
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true })
}
