import { execFile } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { embeddedBinaries } from '../src/demo/throwaway-postgres.js'
import { startTestServer, type TestDatabase } from '../test/support/postgres-server.js'
import { type Contender, ID_MAX, runku, SETUP, toolbox, type Workload } from './contenders.js'
import type { LoadPlan, LoadResult } from './load.js'
import type { PgLoopPlan } from './pg-loop.js'

/**
 * `npm run bench [-- --quick]`: load over loopback on the gateway and on what people would use in its place, in one run,
 * in interleaved rounds. The figure is the ratio of medians: single numbers belong to the machine and its mood.
 */
const execute = promisify(execFile)
const here = dirname(fileURLToPath(import.meta.url))
const quick = process.argv.includes('--quick')
const ROUNDS = quick ? 2 : 5
const SECONDS = quick ? 1 : 3
const POOL_MAX = 4
const CONNECTIONS = [32, 256]
const WORKLOADS: readonly Workload[] = ['get', 'search']

type Measure = (
  workload: Workload,
  connections: number,
  seconds: number,
) => Promise<Pick<LoadResult, 'perSecond'> & Partial<LoadResult>>

function loadOn(contender: Contender): Measure {
  return async (workload, connections, seconds) => {
    const { host, port, path, headers, bodies } = contender
    const plan: LoadPlan = { host, port, path, headers, connections, seconds, idMax: ID_MAX, ...bodies[workload] }
    const { stdout } = await execute(process.execPath, [join(here, 'load.js'), JSON.stringify(plan)])
    const result: LoadResult = JSON.parse(stdout)
    if (result.wrong > 0)
      throw new Error(`${contender.name}: ${result.wrong} wrong answers, such as ${result.firstWrong}`)
    return result
  }
}

function pgLoop(database: TestDatabase): Measure {
  const { host, port, user, password, database: name } = database.reader().connection
  const url = `postgres://${user}:${password}@${host}:${port}/${name}`
  return async (workload, concurrency, seconds) => {
    const plan: PgLoopPlan = { url, workload, concurrency, poolMax: POOL_MAX, seconds, idMax: ID_MAX }
    const { stdout } = await execute(process.execPath, [join(here, 'pg-loop.js'), JSON.stringify(plan)])
    return JSON.parse(stdout)
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function compare(measures: ReadonlyMap<string, Measure>, workload: Workload, connections: number): Promise<void> {
  const rates = new Map<string, number[]>()
  const slow = new Map<string, number[]>()
  for (const [, measure] of measures) await measure(workload, connections, 1)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, measure] of measures) {
      const { perSecond, p99Ms } = await measure(workload, connections, SECONDS)
      rates.set(name, [...(rates.get(name) ?? []), perSecond])
      if (p99Ms !== undefined) slow.set(name, [...(slow.get(name) ?? []), p99Ms])
    }
  }
  const own = median(rates.get('runku') ?? [])
  for (const [name, values] of rates) {
    const rate = median(values)
    const p99 = slow.has(name) ? `${median(slow.get(name) ?? []).toFixed(1)} ms` : ''
    const ratio = name === 'runku' ? '' : `${(own / rate).toFixed(2)} ×`
    print(`| ${workload} | ${connections} | ${name} | ${Math.round(rate)} | ${p99} | ${ratio} |`)
  }
}

const server = await startTestServer('embedded', await embeddedBinaries())
const database = await server.createDatabase(SETUP)
const cache = join(here, '..', '..', '.cache')
const contenders = [
  await runku(database, { name: 'runku', durability: 'normal', poolMax: POOL_MAX }),
  await runku(database, { name: 'runku, durability full', durability: 'full', poolMax: POOL_MAX }),
  await toolbox(database, cache, POOL_MAX),
]
const measures = new Map<string, Measure>([
  ...contenders.map((contender) => [contender.name, loadOn(contender)] as const),
  ['one pg query a call', pgLoop(database)],
])
try {
  print(
    `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  )
  print(
    `PostgreSQL ${(server.version / 10_000) | 0}, ${POOL_MAX} connections each, ${ROUNDS} rounds of ${SECONDS} s, ${new Date().toISOString().slice(0, 10)}`,
  )
  print('')
  print('| workload | clients | what | calls/s (median) | p99 | runku is |')
  print('| --- | --- | --- | --- | --- | --- |')
  for (const workload of WORKLOADS)
    for (const connections of CONNECTIONS) await compare(measures, workload, connections)
} finally {
  for (const contender of contenders) await contender.stop()
  await server.process.stop()
}
