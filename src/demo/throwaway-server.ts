import { type ChildProcess, spawn } from 'node:child_process'
import { lchown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * What a throw-away server of any product needs: a folder that is deleted with it, a port, a user that is not root, and a
 * watchdog that ends it when this process ends, however that happens.
 */
export interface ThrowawayServer {
  readonly host: string
  readonly port: number
  /** A superuser. */
  readonly user: string
  readonly password: string
  /** Where everything of the server lives; gone after `stop`. */
  readonly folder: string
  /** Ends the server and deletes its folder. May be called more than once. */
  stop(): Promise<void>
}

/** Who runs the server: another user when this process is root. */
export interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

/** Database servers refuse to run as root: this is `nobody` on Linux, who owns nothing and is in the list of users everywhere. */
const UNPRIVILEGED_ID = 65_534
export const HOST = '127.0.0.1'
const START_ATTEMPTS_MAX = 3
const READY_TIMEOUT_MS = 60_000
const READY_POLL_MS = 25

/** `nobody` when this process is root, else whoever runs this process. */
export function unprivileged(): RunAs {
  return process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}
}

/** Starts a server, on another port when it ends early. Rejects with the end of its log when it does not start. */
export async function startInAttempts(
  product: string,
  startOnce: () => Promise<ThrowawayServer | { readonly failure: string }>,
): Promise<ThrowawayServer> {
  if (process.platform === 'win32') throw new Error(`a throw-away ${product} needs a Unix; on Windows use WSL`)
  let failure = ''
  for (let attempt = 1; attempt <= START_ATTEMPTS_MAX; attempt++) {
    // The port was free a moment ago and may be taken by now, so a server that ends early gets another one.
    const started = await startOnce()
    if ('stop' in started) return started
    failure = started.failure
  }
  throw new Error(`${product} did not start in ${START_ATTEMPTS_MAX} attempts; its last words: ${failure}`)
}

/** A new folder that only the server's user may look into. */
export async function ownedFolder(prefix: string, runAs: RunAs): Promise<string> {
  const folder = await mkdtemp(join(await parentFolder(runAs), prefix))
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

export async function giveAway(path: string, { uid, gid }: RunAs): Promise<void> {
  if (uid !== undefined && gid !== undefined) await lchown(path, uid, gid)
}

/** Shell text of one product's watchdog; `$folder` is the server's folder and `"$@"` the server's flags. */
export interface WatchdogScript {
  /** Names of the variables that the lines given to `begin` are read into. */
  readonly lines: readonly string[]
  /** Makes what the server serves; `|| finish` ends everything. Must not hold the standard input, nor descriptor 3. */
  readonly prepare: string
  /** The command that is the server. */
  readonly serve: string
  /** What asks the server to end. */
  readonly signal: 'INT' | 'TERM' | 'KILL'
}

/**
 * Owns the folder from its first moment, and runs the server in it. Its standard input is a pipe from this process: when
 * that closes, because it was asked to stop or because this process died in whatever way, the server is ended and the
 * folder deleted. First it reads where the programs are; its last words are the end of the log. `$1` is the folder, the rest
 * the server's flags. The preparation is waited for: it ends by itself, and what follows it notices the end. The server is
 * asked to end again and again, because one that has just been started does not listen yet.
 */
function watchdogText({ lines, prepare, serve, signal }: WatchdogScript): string {
  return `
folder=$1; shift
trap : HUP INT TERM
finish() { tail -c 2000 "$folder/server.log" 2>/dev/null; rm -rf "$folder"; exit 0; }
{ ${lines.map((name) => `read -r ${name}`).join(' && ')}; } || finish
exec 3<&0
${prepare}
${serve} </dev/null >>"$folder/server.log" 2>&1 3<&- &
server=$!
(
  cat <&3 >/dev/null
  tries=0
  while kill -${signal} "$server" 2>/dev/null && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL "$server" 2>/dev/null
) 3<&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&-
while kill -0 "$server" 2>/dev/null; do wait "$server"; done
kill "$watcher" 2>/dev/null
finish
`
}

export interface Watchdog {
  /** What the server said last, once it has ended. */
  readonly ended: Promise<string>
  /** Prepares and starts the server, with one line for each name in the script. */
  begin(lines: readonly string[]): void
  stop(): Promise<void>
}

export function startWatchdog(
  name: string,
  script: WatchdogScript,
  folder: string,
  flags: readonly string[],
  runAs: RunAs,
): Watchdog {
  // Detached: a Ctrl-C meant for this process must not reach the server before its own orderly end.
  const child = spawn('/bin/sh', ['-c', watchdogText(script), name, folder, ...flags], {
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
    begin: (lines) => {
      child.stdin.write(`${lines.join('\n')}\n`)
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
export async function failureToStart(
  watchdog: Watchdog,
  answers: () => Promise<boolean>,
  timeoutMs = READY_TIMEOUT_MS,
): Promise<string | undefined> {
  let lastWords: string | undefined
  watchdog.ended.then((said) => {
    lastWords = said
  })
  const deadline = Date.now() + timeoutMs
  while (lastWords === undefined) {
    if (Date.now() > deadline) return `no answer within ${timeoutMs} ms`
    if (await answers()) return undefined
    await delay(READY_POLL_MS)
  }
  return lastWords
}

/** A port that the system hands out as free. */
export function freePort(): Promise<number> {
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

/** Nothing of this process's environment but the path: variables of the product and locales would change the server. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}

/** Runs a program to its end; `output` is the end of all it said. A program that cannot be started has no status. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  runAs: RunAs,
  variables: NodeJS.ProcessEnv = {},
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const env = { ...environment(), ...variables }
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...runAs })
    const output = Promise.all([readText(child.stdout), readText(child.stderr)]).then((parts) => parts.join('').trim())
    child.once('error', (error) => resolve({ status: null, output: error.message }))
    child.once('close', async (status) => resolve({ status, output: (await output).slice(-2_000) }))
  })
}
