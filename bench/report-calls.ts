import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { monotonicMs } from '../src/core/clock.js'
import { embeddedBinaries } from '../src/demo/throwaway-postgres.js'
import { prepareGateway, spawnGateway } from '../test/support/gateway.js'
import { startTestServer } from '../test/support/postgres-server.js'
import { callBody, ID_MAX, SETUP } from './contenders.js'
import type { LoadPlan, LoadResult } from './load.js'

/** Calls through a gateway with a long buffer, in rounds that have reports asked for all the time, and rounds that have none. */
const execute = promisify(execFile)
const here = dirname(fileURLToPath(import.meta.url))
const ROUNDS = 7
const SECONDS = 3
const CONNECTIONS = 2
const POLICY = "version: 1\ntables: { public.items: {} }\nroles: { reader: { read: ['*'] } }\n"
const QUESTIONS = [
  'summary',
  'summary?connector=shop&from=2026-06-01&to=2026-06-29&interval=hour',
  'summary?identity=agent-6&from=2026-06-01&to=2026-06-29&interval=day',
  'calls?identity=agent-59&code=TIMEOUT&limit=1000',
  'denials?connector=shop',
  'identities?from=2026-06-03T07:00:00Z',
  'tools?identity=agent-7',
]

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** Asks one report after the other until `stop` is called, which gives their times in milliseconds. */
function askAlways(url: string, key: string): () => Promise<readonly number[]> {
  const times: number[] = []
  let asking = true
  const run = async () => {
    for (let n = 0; asking; n++) {
      const beganMs = monotonicMs()
      const answer = await fetch(`${url}/reports/${QUESTIONS[n % QUESTIONS.length]}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`a report was answered ${answer.status}: ${text}`)
      times.push(monotonicMs() - beganMs)
    }
    return times
  }
  const running = run()
  return () => {
    asking = false
    return running
  }
}

/** Prints the p99 of calls beside reports and without them, their ratio, and how long the reports took. */
export async function callsBesideReports(buffer: string, say: (text: string) => void): Promise<void> {
  const server = await startTestServer('embedded', await embeddedBinaries())
  let end = async () => {}
  try {
    const database = await server.createDatabase(SETUP)
    const path = JSON.stringify(buffer)
    const prepared = await prepareGateway({
      connectors: [{ id: 'bench', settings: database.reader({ pool: { max: 4 } }), policy: POLICY }],
      identities: { load: { roles: ['reader'] }, eyes: { roles: ['auditor'] } },
      audit: `{ stdout: false, buffer: { path: ${path}, durability: normal, retain_hours: 876000 } }`,
    })
    const gateway = await spawnGateway(prepared, ['bench'])
    end = async () => {
      gateway.child.kill('SIGTERM')
      await gateway.exited
      await prepared.remove()
    }
    const { hostname, port } = new URL(gateway.url)
    const load = async (seconds: number): Promise<LoadResult> => {
      const plan: LoadPlan = {
        ...{ host: hostname, port: Number(port), path: '/mcp/bench', connections: CONNECTIONS, seconds, idMax: ID_MAX },
        headers: { authorization: `Bearer ${prepared.keys['load']}` },
        body: callBody('get_items_by_pk', { id: '%d' }),
        expect: 'item number',
      }
      const { stdout } = await execute(process.execPath, [join(here, 'load.js'), JSON.stringify(plan)])
      const result: LoadResult = JSON.parse(stdout)
      if (result.wrong > 0) throw new Error(`${result.wrong} wrong answers, such as ${result.firstWrong}`)
      return result
    }
    await load(2)
    const alone: LoadResult[] = []
    const beside: LoadResult[] = []
    const reports: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await load(SECONDS))
      const stop = askAlways(gateway.adminUrl, prepared.keys['eyes'] ?? '')
      beside.push(await load(SECONDS))
      reports.push(...(await stop()))
    }
    const of = (results: readonly LoadResult[], member: 'perSecond' | 'p50Ms' | 'p99Ms') =>
      median(results.map((result) => result[member]))
    const line = (name: string, results: readonly LoadResult[]) =>
      say(
        `| ${name} | ${Math.round(of(results, 'perSecond'))} | ${of(results, 'p50Ms').toFixed(1)} | ${of(results, 'p99Ms').toFixed(1)} |`,
      )
    say('')
    say(`| ${CONNECTIONS} clients | calls/s | p50 ms | p99 ms |`)
    say('| --- | --- | --- | --- |')
    line('without reports', alone)
    line('beside reports', beside)
    const sorted = [...reports].sort((a, b) => a - b)
    const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0)
    say('')
    say(`p99 beside reports is ${(of(beside, 'p99Ms') / of(alone, 'p99Ms')).toFixed(2)} × that without them`)
    say(
      `${reports.length} reports beside the calls: median ${at(0.5)} ms, nine of ten within ${at(0.9)} ms, the longest ${at(0.9999)} ms`,
    )
  } finally {
    await end()
    await server.process.stop()
  }
}
