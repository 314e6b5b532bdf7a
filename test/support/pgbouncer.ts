import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { ConnectorSettings } from '../../src/threads/messages.js'
import { installedProgram, unpackedPackage } from './debian-packages.js'
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

/** `nobody`: PgBouncer refuses to run as root. */
const UNPRIVILEGED_ID = 65_534

async function findProgram(): Promise<Program> {
  const installed = installedProgram('pgbouncer')
  if (installed !== undefined) return { path: installed, libraries: [] }
  const { root, libraries } = await unpackedPackage('pgbouncer')
  return { path: join(root, 'usr', 'sbin', 'pgbouncer'), libraries }
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
