import { execFile } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Contender, ID_MAX, type Workload } from './contenders.js'
import type { LoadPlan, LoadResult } from './load.js'

/** Several things under the same load in one run, in interleaved rounds: single numbers belong to the machine and its mood. */
const execute = promisify(execFile)
export const here = dirname(fileURLToPath(import.meta.url))

export type Measure = (
  workload: Workload,
  connections: number,
  seconds: number,
) => Promise<Pick<LoadResult, 'perSecond'> & Partial<LoadResult>>

/** One script of this folder as a process of its own, with its plan as its argument; what it prints is JSON. */
export async function runScript<Plan, Result>(script: string, plan: Plan): Promise<Result> {
  const { stdout } = await execute(process.execPath, [join(here, script), JSON.stringify(plan)])
  return JSON.parse(stdout)
}

export function loadOn(contender: Contender): Measure {
  return async (workload, connections, seconds) => {
    const { host, port, path, headers, bodies } = contender
    const plan: LoadPlan = { host, port, path, headers, connections, seconds, idMax: ID_MAX, ...bodies[workload] }
    const result = await runScript<LoadPlan, LoadResult>('load.js', plan)
    if (result.wrong > 0)
      throw new Error(`${contender.name}: ${result.wrong} wrong answers, such as ${result.firstWrong}`)
    return result
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

export interface Rounds {
  readonly rounds: number
  /** Of each measurement. */
  readonly seconds: number
}

export interface Median {
  readonly name: string
  /** Calls a second. */
  readonly rate: number
  /** Of a call, in milliseconds; undefined where it was not measured. */
  readonly p99Ms: number | undefined
}

/** The medians of all under one load, in the order given. Each is warmed up for a second. */
export async function medians(
  measures: ReadonlyMap<string, Measure>,
  workload: Workload,
  connections: number,
  { rounds, seconds }: Rounds,
): Promise<readonly Median[]> {
  const seen = [...measures].map(([name, measure]) => {
    const rates: number[] = []
    const slow: number[] = []
    return { name, measure, rates, slow }
  })
  for (const { measure } of seen) await measure(workload, connections, 1)
  for (let round = 0; round < rounds; round++) {
    for (const { measure, rates, slow } of seen) {
      const { perSecond, p99Ms } = await measure(workload, connections, seconds)
      rates.push(perSecond)
      if (p99Ms !== undefined) slow.push(p99Ms)
    }
  }
  return seen.map(({ name, rates, slow }) => ({
    name,
    rate: median(rates),
    p99Ms: slow.length === 0 ? undefined : median(slow),
  }))
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** What the figures below it were measured on. `version` is the server's number, such as 180000. */
export function printMachine(version: number, poolMax: number, { rounds, seconds }: Rounds): void {
  const memory = Math.round(totalmem() / 2 ** 30)
  print(`${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${memory} GiB, Node ${process.version}`)
  const date = new Date().toISOString().slice(0, 10)
  print(
    `PostgreSQL ${(version / 10_000) | 0}, ${poolMax} connections each, ${rounds} rounds of ${seconds} s, ${date}\n`,
  )
}

/** One line of a table; `ratio` as the last cell. */
export function printMedian(
  workload: Workload,
  connections: number,
  { name, rate, p99Ms }: Median,
  ratio: string,
): void {
  const p99 = p99Ms === undefined ? '' : `${p99Ms.toFixed(1)} ms`
  print(`| ${workload} | ${connections} | ${name} | ${Math.round(rate)} | ${p99} | ${ratio} |`)
}
