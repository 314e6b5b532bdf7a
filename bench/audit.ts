import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { embeddedBinaries } from '../src/demo/throwaway-postgres.js'
import { startTestServer } from '../test/support/postgres-server.js'
import { runku, SETUP, type Workload } from './contenders.js'
import { here, loadOn, type Measure, medians, print, printMachine, printMedian } from './rounds.js'

/**
 * `npm run bench:audit [-- --quick]`: the same load on gateways that differ in their audit trail alone. A trail there always is:
 * without a buffer it is lines on a standard output that nobody reads. The figure is the share of that throughput that is left.
 */
const quick = process.argv.includes('--quick')
const ROUNDS = { rounds: quick ? 2 : 7, seconds: quick ? 1 : 3 }
const POOL_MAX = 4
const WORKLOADS: readonly Workload[] = ['get', 'search']
const CONNECTIONS = [32, 256]
const OFF = 'no buffer, stdout to /dev/null'

async function startReceiver() {
  const child = spawn(process.execPath, [join(here, 'receiver.js')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const said = async () => Number((await lines.next()).value)
  const port = await said()
  return {
    url: `http://127.0.0.1:${port}/`,
    /** Ends it. Returns how many lines it was sent. */
    stop: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      const sent = await said()
      await gone
      return sent
    },
  }
}

const server = await startTestServer('embedded', await embeddedBinaries())
const database = await server.createDatabase(SETUP)
const receiver = await startReceiver()
const buffer = (durability: string, more = '') =>
  `{ stdout: false, buffer: { path: audit.sqlite, durability: ${durability} }${more} }`
const shipper = `, shipper: { url: "${receiver.url}", format: ndjson }`
const contenders = [
  await runku(database, { name: OFF, audit: '{ stdout: true }', poolMax: POOL_MAX, stdout: '/dev/null' }),
  await runku(database, { name: 'normal', audit: buffer('normal'), poolMax: POOL_MAX }),
  await runku(database, { name: 'full', audit: buffer('full'), poolMax: POOL_MAX }),
  await runku(database, { name: 'normal, shipped', audit: buffer('normal', shipper), poolMax: POOL_MAX }),
  await runku(database, {
    name: 'normal, no row keys',
    audit: buffer('normal', ', values: { result_keys: none }'),
    poolMax: POOL_MAX,
  }),
]
const measures = new Map<string, Measure>(contenders.map((contender) => [contender.name, loadOn(contender)]))
try {
  printMachine(server.version, POOL_MAX, ROUNDS)
  print('| workload | clients | buffer | calls/s (median) | p99 | of no buffer |')
  print('| --- | --- | --- | --- | --- | --- |')
  for (const workload of WORKLOADS) {
    for (const connections of CONNECTIONS) {
      const all = await medians(measures, workload, connections, ROUNDS)
      const off = all.find(({ name }) => name === OFF)?.rate ?? 0
      for (const each of all)
        printMedian(workload, connections, each, each.name === OFF ? '' : (each.rate / off).toFixed(2))
    }
  }
} finally {
  for (const contender of contenders) await contender.stop()
  print(`\n${await receiver.stop()} lines were shipped.`)
  await server.process.stop()
}
