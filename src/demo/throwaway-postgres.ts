import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { Client } from 'pg'
import type { PostgresBinaries } from './postgres-binaries.js'
import {
  failureToStart,
  freePort,
  giveAway,
  HOST,
  ownedFolder,
  type RunAs,
  run,
  startInAttempts,
  startWatchdog,
  type ThrowawayServer,
  unprivileged,
  type WatchdogScript,
} from './throwaway-server.js'

export { embeddedBinaries, type PostgresBinaries, systemBinaries } from './postgres-binaries.js'

export type ThrowawayPostgres = ThrowawayServer

export interface ThrowawayOptions {
  readonly binaries: PostgresBinaries
  /** Server settings on top of those below, such as `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

const SUPERUSER = 'postgres'

/** Nothing here is worth a disk's time, and nothing may be reachable from elsewhere. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  // Kept in the cluster's folder, where it cannot be left behind.
  dynamic_shared_memory_type: 'mmap',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The log is for failed starts; a failing statement must not make it grow.
  log_min_messages: 'log',
}

/** The locale may be refused by the operating system, and then is plain C. An initdb is given the superuser's password. */
const WATCHDOG: WatchdogScript = {
  lines: ['bin', 'locale'],
  prepare: `
init() {
  "$bin/initdb" -D "$folder/cluster" -U ${SUPERUSER} --auth=scram-sha-256 --pwfile="$folder/password" \
    --encoding=UTF8 --no-sync "$@" </dev/null >"$folder/server.log" 2>&1 3<&-
}
init $locale || { rm -rf "$folder/cluster"; init --locale=C; } || finish
rm -f "$folder/password"`,
  serve: '"$bin/postgres" -D "$folder/cluster" "$@"',
  signal: 'INT',
}

/**
 * Starts a PostgreSQL server on a free port of the loopback interface, in a new folder, with a generated password. Rejects
 * with the end of the server's own log when it does not start. Changes nothing else on the machine, and does not outlive
 * this process, however that ends.
 */
export function startThrowawayPostgres(options: ThrowawayOptions): Promise<ThrowawayPostgres> {
  return startInAttempts('PostgreSQL', () => startOnce(options, unprivileged()))
}

async function startOnce(
  options: ThrowawayOptions,
  runAs: RunAs,
): Promise<ThrowawayPostgres | { readonly failure: string }> {
  const password = randomBytes(18).toString('base64url')
  const folder = await ownedFolder('runku-postgres-', runAs)
  const port = await freePort()
  const settings = Object.entries({ ...SERVER_SETTINGS, ...options.settings })
  const flags = ['-p', String(port), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const watchdog = startWatchdog('runku-postgres', WATCHDOG, folder, flags, runAs)
  try {
    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, password, { mode: 0o600 })
    await giveAway(passwordFile, runAs)
    const postgres = await runnablePostgres(options.binaries, folder, runAs)
    watchdog.begin([dirname(postgres.path), localeOf(postgres.version)])
    const failure = await failureToStart(watchdog, () => answers(folder, port, password))
    if (failure === undefined) {
      return { host: HOST, port, user: SUPERUSER, password, folder, stop: () => watchdog.stop() }
    }
    await watchdog.stop()
    return { failure }
  } catch (error) {
    await watchdog.stop()
    throw error
  }
}

/**
 * The server's program as it is when the server's user can run it, else a copy of it all beside the cluster: a checkout may
 * lie where only root can read, and an installation that ran no package scripts lacks the links between the libraries.
 */
async function runnablePostgres(
  binaries: PostgresBinaries,
  folder: string,
  runAs: RunAs,
): Promise<{ readonly path: string; readonly version: string }> {
  const found = await run(binaries.postgres, ['--version'], folder, runAs)
  if (found.status === 0) return { path: binaries.postgres, version: found.output }
  if (binaries.root === undefined) throw new Error(`${binaries.postgres} does not run: ${found.output}`)
  const root = join(folder, 'native')
  await cp(binaries.root, root, { recursive: true, verbatimSymlinks: true })
  await restoreLinks(root)
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    await giveAway(join(entry.parentPath, entry.name), runAs)
  }
  await giveAway(root, runAs)
  const path = join(root, relative(binaries.root, binaries.postgres))
  const copied = await run(path, ['--version'], folder, runAs)
  if (copied.status === 0) return { path, version: copied.output }
  throw new Error(`${binaries.postgres} does not run, nor does a copy of it: ${copied.output}`)
}

/** npm packages cannot hold symbolic links: the package lists its own in a file, with paths that start at its root. */
async function restoreLinks(root: string): Promise<void> {
  const list = join(root, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: unknown = JSON.parse(await readFile(list, 'utf8'))
  if (!Array.isArray(links)) return
  for (const link of links) {
    const { source, target } = link
    if (typeof source !== 'string' || typeof target !== 'string' || dirname(source) !== dirname(target)) continue
    const path = join(dirname(root), target)
    if (!existsSync(path)) await symlink(basename(source), path)
  }
}

/** Unicode rules by code point on every machine: built in from 17 on, the operating system's before. */
function localeOf(version: string): string {
  const major = Number(/\d+/.exec(version)?.[0])
  return major >= 17 ? '--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8' : '--locale=C.UTF-8'
}

function cluster(folder: string): string {
  return join(folder, 'cluster')
}

/** Whether our own server answers: another one on that port would not know the password, or has another folder. */
async function answers(folder: string, port: number, password: string): Promise<boolean> {
  const client = new Client({ host: HOST, port, user: SUPERUSER, password, database: 'postgres', ssl: false })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<[string]>({ text: 'SHOW data_directory', rowMode: 'array' })
    return rows[0]?.[0] === cluster(folder)
  } catch {
    return false
  } finally {
    await client.end()
  }
}
