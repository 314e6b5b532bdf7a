import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * Runs the compiled tests: all of them with the machine's clock in UTC, then those about values, time and paging once more
 * in a zone with daylight saving, where a shifted date would show. Arguments, when given, choose files by a part of the name.
 */
const root = fileURLToPath(new URL('.', import.meta.url))
const wanted = process.argv.slice(2)
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort()
const zoned = files.filter((name) => /value|cell|dialect|time|paging/.test(name))

function run(names: readonly string[], zone: string): number {
  if (names.length === 0) return 0
  const concurrency = Math.max(1, Math.min(2, availableParallelism()))
  const options = ['--test', '--test-reporter=spec', `--test-concurrency=${concurrency}`]
  const paths = names.map((name) => `${root}${name}`)
  const ended = spawnSync(process.execPath, [...options, ...paths], {
    stdio: 'inherit',
    env: { ...process.env, TZ: zone },
  })
  return ended.status ?? 1
}

const statuses = [run(zoned, 'America/New_York'), run(files, 'UTC')]
process.exitCode = statuses.some((status) => status !== 0) ? 1 : 0
