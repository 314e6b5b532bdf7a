import { join } from 'node:path'
import { embeddedBinaries } from '../src/demo/throwaway-postgres.js'
import { startTestServer, type TestDatabase } from '../test/support/postgres-server.js'
import { ID_MAX, runku, SETUP, toolbox, type Workload } from './contenders.js'
import type { LoadResult } from './load.js'
import type { PgLoopPlan } from './pg-loop.js'
import { here, loadOn, type Measure, medians, print, printMachine, printMedian, runScript } from './rounds.js'

/**
 * `npm run bench [-- --quick]`: load over loopback on the gateway and on what people would use in its place. The figure is
 * the ratio of medians.
 */
const quick = process.argv.includes('--quick')
const ROUNDS = { rounds: quick ? 2 : 5, seconds: quick ? 1 : 3 }
const POOL_MAX = 4
const CONNECTIONS = [32, 256]
const WORKLOADS: readonly Workload[] = ['get', 'search']

function pgLoop(database: TestDatabase): Measure {
  const { host, port, user, password, database: name } = database.reader().connection
  const url = `postgres://${user}:${password}@${host}:${port}/${name}`
  return (workload, concurrency, seconds) =>
    runScript<PgLoopPlan, Pick<LoadResult, 'perSecond'>>('pg-loop.js', {
      url,
      workload,
      concurrency,
      poolMax: POOL_MAX,
      seconds,
      idMax: ID_MAX,
    })
}

const server = await startTestServer('embedded', await embeddedBinaries())
const database = await server.createDatabase(SETUP)
const cache = join(here, '..', '..', '.cache')
const audit = (durability: 'normal' | 'full') =>
  `{ stdout: false, buffer: { path: audit.sqlite, durability: ${durability} } }`
const contenders = [
  await runku(database, { name: 'runku', audit: audit('normal'), poolMax: POOL_MAX }),
  await runku(database, { name: 'runku, durability full', audit: audit('full'), poolMax: POOL_MAX }),
  await toolbox(database, cache, POOL_MAX),
]
const measures = new Map<string, Measure>([
  ...contenders.map((contender) => [contender.name, loadOn(contender)] as const),
  ['one pg query a call', pgLoop(database)],
])
try {
  printMachine(server.version, POOL_MAX, ROUNDS)
  print('| workload | clients | what | calls/s (median) | p99 | runku is |')
  print('| --- | --- | --- | --- | --- | --- |')
  for (const workload of WORKLOADS) {
    for (const connections of CONNECTIONS) {
      const all = await medians(measures, workload, connections, ROUNDS)
      const own = all.find(({ name }) => name === 'runku')?.rate ?? 0
      for (const each of all)
        printMedian(workload, connections, each, each.name === 'runku' ? '' : `${(own / each.rate).toFixed(2)} ×`)
    }
  }
} finally {
  for (const contender of contenders) await contender.stop()
  await server.process.stop()
}
