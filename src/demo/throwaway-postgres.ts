import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, lchown, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { PostgresBinaries } from './postgres-binaries.js'

export { embeddedBinaries, type PostgresBinaries, systemBinaries } from './postgres-binaries.js'

export interface ThrowawayPostgres {
  readonly host: string
  readonly port: number
  /** A superuser. */
  readonly user: string
  readonly password: string
  /** Where the cluster lives; gone after `stop`. */
  readonly folder: string
  /** Ends the server and deletes its folder. May be called more than once. */
  stop(): Promise<void>
}

export interface ThrowawayOptions {
  readonly binaries: PostgresBinaries
  /** Server settings on top of those below, such as `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** The server refuses to run as root: this is `nobody` on Linux, who owns nothing and is in the list of users everywhere. */
const UNPRIVILEGED_ID = 65_534
const HOST = '127.0.0.1'
const SUPERUSER = 'postgres'
const START_ATTEMPTS_MAX = 3
const READY_TIMEOUT_MS = 60_000
const READY_POLL_MS = 25

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

/**
 * Owns the folder from its first moment, and runs the server in it. Its standard input is a pipe from this process: when
 * that closes, because it was asked to stop or because this process died in whatever way, the server is ended and the
 * folder deleted. First it reads where the programs are and the locale to use; its last words are the end of the log. `$1` is
 * the folder, the rest the server's flags. An initdb is waited for: it ends by itself, and what follows it notices the end.
 * The server is asked to end again and again, because one that has just been started does not listen yet.
 */
const WATCHDOG = `
folder=$1; shift
trap : HUP INT TERM
finish() { tail -c 2000 "$folder/server.log" 2>/dev/null; rm -rf "$folder"; exit 0; }
{ read -r bin && read -r locale; } || finish
exec 3<&0
init() {
  "$bin/initdb" -D "$folder/cluster" -U ${SUPERUSER} --auth=scram-sha-256 --pwfile="$folder/password" \
    --encoding=UTF8 --no-sync "$@" </dev/null >"$folder/server.log" 2>&1 3<&-
}
init $locale || { rm -rf "$folder/cluster"; init --locale=C; } || finish
rm -f "$folder/password"
"$bin/postgres" -D "$folder/cluster" "$@" </dev/null >>"$folder/server.log" 2>&1 3<&- &
server=$!
(
  cat <&3 >/dev/null
  tries=0
  while kill -INT "$server" 2>/dev/null && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL "$server" 2>/dev/null
) 3<&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&-
while kill -0 "$server" 2>/dev/null; do wait "$server"; done
kill "$watcher" 2>/dev/null
finish
`

/** Who runs the server: another user when this process is root. */
interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

/**
 * Starts a PostgreSQL server on a free port of the loopback interface, in a new folder, with a generated password. Rejects
 * with the end of the server's own log when it does not start. Changes nothing else on the machine, and does not outlive
 * this process, however that ends.
 */
export async function startThrowawayPostgres(options: ThrowawayOptions): Promise<ThrowawayPostgres> {
  if (process.platform === 'win32') throw new Error('a throw-away PostgreSQL needs a Unix; on Windows use WSL')
  const runAs: RunAs = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}
  let failure = ''
  for (let attempt = 1; attempt <= START_ATTEMPTS_MAX; attempt++) {
    // The port was free a moment ago and may be taken by now, so a server that ends early gets another one.
    const started = await startOnce(options, runAs)
    if ('stop' in started) return started
    failure = started.failure
  }
  throw new Error(`PostgreSQL did not start in ${START_ATTEMPTS_MAX} attempts; its last words: ${failure}`)
}

async function startOnce(
  options: ThrowawayOptions,
  runAs: RunAs,
): Promise<ThrowawayPostgres | { readonly failure: string }> {
  const password = randomBytes(18).toString('base64url')
  const folder = await ownedFolder(runAs)
  const port = await freePort()
  const watchdog = startWatchdog(folder, port, options.settings ?? {}, runAs)
  try {
    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, password, { mode: 0o600 })
    await giveAway(passwordFile, runAs)
    const postgres = await runnablePostgres(options.binaries, folder, runAs)
    watchdog.begin(dirname(postgres.path), localeOf(postgres.version))
    const failure = await failureToStart(watchdog, folder, port, password)
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

async function ownedFolder(runAs: RunAs): Promise<string> {
  const folder = await mkdtemp(join(await parentFolder(runAs), 'runku-postgres-'))
  await giveAway(folder, runAs)
  return folder
}

/** The temporary folder, unless the server's user may not look into it, or not take anything out of it again. */
async function parentFolder(runAs: RunAs): Promise<string> {
  const wanted = tmpdir()
  if (runAs.uid === undefined) return wanted
  const entered = await run('sh', ['-c', 'cd "$1" && [ -w . ]', 'sh', wanted], '/', runAs)
  return entered.status === 0 ? wanted : '/tmp'
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

async function giveAway(path: string, { uid, gid }: RunAs): Promise<void> {
  if (uid !== undefined && gid !== undefined) await lchown(path, uid, gid)
}

/** Unicode rules by code point on every machine: built in from 17 on, the operating system's before. */
function localeOf(version: string): string {
  const major = Number(/\d+/.exec(version)?.[0])
  return major >= 17 ? '--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8' : '--locale=C.UTF-8'
}

function cluster(folder: string): string {
  return join(folder, 'cluster')
}

interface Watchdog {
  /** What the server said last, once it has ended. */
  readonly ended: Promise<string>
  /** Makes the cluster and starts the server. */
  begin(programs: string, locale: string): void
  stop(): Promise<void>
}

function startWatchdog(
  folder: string,
  port: number,
  settings: Readonly<Record<string, string>>,
  runAs: RunAs,
): Watchdog {
  const flags = Object.entries({ ...SERVER_SETTINGS, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  // Detached: a Ctrl-C meant for this process must not reach the server before its own orderly end.
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'runku-postgres', folder, '-p', String(port), ...flags], {
    cwd: folder,
    env: environment(),
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    ...runAs,
  })
  const ended = childEnd(child)
  // Neither the server nor its pipes keep this process alive; `stop` waits for it by itself.
  child.unref()
  unref(child.stdin)
  unref(child.stdout)
  return {
    ended,
    begin: (programs, locale) => {
      child.stdin.write(`${programs}\n${locale}\n`)
    },
    stop: async () => {
      child.ref()
      child.stdin.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function childEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const said = child.stdout === null ? Promise.resolve('') : readText(child.stdout).catch(() => '')
    child.once('error', (error) => resolve(error.message))
    child.once('exit', () => resolve(said))
    child.stdin?.on('error', () => {})
  })
}

function unref(stream: unknown): void {
  // The pipes of a child are sockets, which the declarations of `ChildProcess` do not say.
  if (typeof stream === 'object' && stream !== null && 'unref' in stream && typeof stream.unref === 'function') {
    stream.unref()
  }
}

/** Waits until the server answers, and says why when it does not. */
async function failureToStart(
  watchdog: Watchdog,
  folder: string,
  port: number,
  password: string,
): Promise<string | undefined> {
  let lastWords: string | undefined
  watchdog.ended.then((said) => {
    lastWords = said
  })
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (lastWords === undefined) {
    if (Date.now() > deadline) return `no answer within ${READY_TIMEOUT_MS} ms`
    if (await answers(folder, port, password)) return undefined
    await delay(READY_POLL_MS)
  }
  return lastWords
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

/** A port that the system hands out as free. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host: HOST, port: 0, exclusive: true }, () => {
      const address = server.address()
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('the system gave no port'))
        else resolve(address.port)
      })
    })
  })
}

/** Nothing of this process's environment but the path: `PG…` variables and locales would change the server. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  runAs: RunAs,
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], ...runAs })
    const output = Promise.all([readText(child.stdout), readText(child.stderr)]).then((parts) => parts.join('').trim())
    child.once('error', (error) => resolve({ status: null, output: error.message }))
    child.once('close', async (status) => resolve({ status, output: (await output).slice(-2_000) }))
  })
}
