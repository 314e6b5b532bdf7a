import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { tcpGate } from './tcp-gate.js'

/**
 * PgBouncer in transaction mode, for tests: the one on this machine, else Debian's packages unpacked into a cache folder of
 * the repository. Nothing is installed, and nothing runs beyond the tests.
 */
export interface RunningPgBouncer {
  readonly port: number
  /** Its log so far. */
  log(): Promise<string>
  stop(): Promise<void>
}

interface Program {
  readonly path: string
  /** Shared libraries that the system does not have. */
  readonly libraries: readonly string[]
}

const run = promisify(execFile)
const REMEDY =
  'install pgbouncer (apt-get install pgbouncer), or let this machine reach its Debian registry, from which the tests unpack it without installing it'
const CACHE = join(rootFolder(), '.cache', 'pgbouncer')
/** `nobody`: PgBouncer refuses to run as root. */
const UNPRIVILEGED_ID = 65_534

/** The folder of the repository, however deep the compiled tests lie in it. */
function rootFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

async function findProgram(): Promise<Program> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const installed = folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path))
  if (installed !== undefined) return { path: installed, libraries: [] }
  try {
    if (!existsSync(join(CACHE, 'usr', 'sbin', 'pgbouncer'))) await unpack()
    return { path: join(CACHE, 'usr', 'sbin', 'pgbouncer'), libraries: await librariesIn(join(CACHE, 'usr', 'lib')) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`There is no PgBouncer for the tests: ${REMEDY}. Unpacking it failed: ${why}`)
  }
}

/** Into a folder of its own first, so that another test process never finds a half. */
async function unpack(): Promise<void> {
  await mkdir(dirname(CACHE), { recursive: true })
  const folder = await mkdtemp(`${CACHE}-`)
  try {
    const own = await download(folder, 'pgbouncer')
    const { stdout } = await run('dpkg-deb', ['--field', own, 'Depends'])
    const needed = stdout.split(',').map((entry) => entry.trim().split(/[\s:|(]/)[0] ?? '')
    for (const name of needed.filter((entry) => entry.startsWith('lib'))) {
      if (!(await isInstalled(name))) await download(folder, name)
    }
    for (const file of await readdir(folder)) {
      if (file.endsWith('.deb')) await run('dpkg-deb', ['--extract', join(folder, file), folder])
    }
    await rename(folder, CACHE)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    if (!existsSync(CACHE)) throw error
  }
}

/** The path of the downloaded package. */
async function download(folder: string, name: string): Promise<string> {
  await run('apt-get', ['download', '-q', name], { cwd: folder, timeout: 60_000 })
  const file = (await readdir(folder)).find((entry) => entry.startsWith(`${name}_`))
  if (file === undefined) throw new Error(`apt-get gave no package ${name}`)
  return join(folder, file)
}

async function isInstalled(name: string): Promise<boolean> {
  try {
    const { stdout } = await run('dpkg-query', ['--status', name])
    return stdout.includes('Status: install ok installed')
  } catch {
    return false
  }
}

async function librariesIn(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return []
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => /\.so(\.|$)/.test(name)).map((name) => join(folder, name))
}

/** Starts it in front of the database of `settings`, with so many sessions of the server for all its clients. */
export async function startPgBouncer(settings: ConnectorSettings, sessions: number): Promise<RunningPgBouncer> {
  const program = await findProgram()
  const { host, port: serverPort, user, password, database } = settings.connection
  const free = await tcpGate(1)
  await free.shut()
  const folder = await mkdtemp(join(tmpdir(), 'runku-pgbouncer-'))
  const logFile = join(folder, 'log')
  // The repository may lie where an unprivileged user cannot read.
  const binary = join(folder, 'pgbouncer')
  await copyFile(program.path, binary)
  await chmod(binary, 0o700)
  const libraries = join(folder, 'lib')
  await mkdir(libraries)
  for (const path of program.libraries) await copyFile(path, join(libraries, path.slice(path.lastIndexOf('/') + 1)))
  await writeFile(join(folder, 'users'), `"${user}" "${password ?? ''}"\n`, { mode: 0o600 })
  const ini = [
    '[databases]',
    `${database} = host=${host} port=${serverPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${free.port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(folder, 'users')}`,
    'pool_mode = transaction',
    `default_pool_size = ${sessions}`,
    'server_round_robin = 1',
    `logfile = ${logFile}`,
  ]
  await writeFile(join(folder, 'ini'), `${ini.join('\n')}\n`, { mode: 0o600 })
  const unprivileged = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}
  if (unprivileged.uid !== undefined) {
    const inside = (await readdir(folder, { recursive: true })).map((name) => join(folder, name))
    for (const path of [folder, ...inside]) await chown(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
  }
  const child = spawn(binary, ['-q', join(folder, 'ini')], {
    stdio: 'ignore',
    env: { LD_LIBRARY_PATH: libraries },
    ...unprivileged,
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const log = () => readFile(logFile, 'utf8').catch(() => '')
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await reachable({ ...settings.connection, port: free.port }, child)
  } catch (error) {
    const text = await log()
    await stop()
    throw new Error(`PgBouncer does not serve: ${error instanceof Error ? error.message : error}\n${text}`)
  }
  return { port: free.port, log, stop }
}

async function reachable(
  { host, port, user, password, database }: ConnectorSettings['connection'],
  child: ChildProcess,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new Client({ host, port, user, password: password ?? '', database })
    client.on('error', () => {})
    try {
      await client.connect()
      return
    } catch (error) {
      if (attempt === 200 || child.exitCode !== null) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    } finally {
      await client.end()
    }
  }
}
