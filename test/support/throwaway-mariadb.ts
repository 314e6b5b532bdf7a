import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
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
} from '../../src/demo/throwaway-server.js'
import { installedProgram, unpackedPackage } from './debian-packages.js'

export interface MariadbProgram {
  readonly path: string
  /** The folder of messages, character sets and the SQL that makes the system tables. */
  readonly share: string
  /** Shared libraries that the system does not have. */
  readonly libraries: readonly string[]
}

export interface MariadbOptions {
  readonly program: MariadbProgram
  /** Server options on top of those below, such as `{ 'max-connections': '20' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Files that the settings name, such as a certificate: `x` is written where the server finds it as `../x`. */
  readonly files?: Readonly<Record<string, string>>
}

const SUPERUSER = 'root'

/** Nothing here is worth a disk's time, and nothing may be reachable from elsewhere. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  'bind-address': HOST,
  'skip-name-resolve': 'ON',
  'local-infile': '0',
  'skip-log-bin': 'ON',
  'sync-binlog': '0',
  'performance-schema': 'OFF',
  'max-connections': '100',
  'character-set-server': 'utf8mb4',
  'collation-server': 'utf8mb4_bin',
  'innodb-flush-log-at-trx-commit': '0',
  'innodb-doublewrite': '0',
  'innodb-buffer-pool-size': '32M',
  'innodb-log-file-size': '16M',
  'aria-log-file-size': '8M',
  // Not every kernel, and no sandbox, lets a process make asynchronous requests of its own.
  'innodb-use-native-aio': '0',
}

/** Nothing of the data is kept, so the server need not be asked to write it before it ends. */
const WATCHDOG: WatchdogScript = {
  lines: ['program', 'share', 'libraries'],
  prepare: `
[ -z "$libraries" ] || export LD_LIBRARY_PATH="$libraries"
set -- --no-defaults --datadir="$folder/data" --lc-messages-dir="$share" --character-sets-dir="$share/charsets" "$@"
mkdir "$folder/data" || finish
"$program" "$@" --bootstrap <"$folder/bootstrap.sql" >"$folder/server.log" 2>&1 3<&- || finish
rm -f "$folder/bootstrap.sql"`,
  serve: '"$program" "$@"',
  signal: 'KILL',
}

/** MariaDB on this machine, else Debian's, unpacked. Rejects, naming the remedy, where there is none. */
export async function findMariadb(): Promise<MariadbProgram> {
  for (const name of ['mariadbd', 'mysqld']) {
    const path = installedProgram(name)
    const share = path === undefined ? undefined : shareOf(path)
    if (path !== undefined && share !== undefined && (await isMariadb(path))) return { path, share, libraries: [] }
  }
  const { root, libraries } = await unpackedPackage('mariadb-server-core')
  const path = join(root, 'usr', 'sbin', 'mariadbd')
  const share = shareOf(path)
  if (share === undefined) throw new Error(`${root} holds no SQL for MariaDB's system tables: delete it`)
  return { path, share, libraries }
}

/** Some systems call MySQL's own server by the same name. */
async function isMariadb(path: string): Promise<boolean> {
  try {
    return (await promisify(execFile)(path, ['--version'])).stdout.includes('MariaDB')
  } catch {
    return false
  }
}

/** Newer releases renamed the folder, and the files in it. */
function shareOf(program: string): string | undefined {
  const share = join(dirname(dirname(program)), 'share')
  return ['mariadb', 'mysql'].map((name) => join(share, name)).find((folder) => systemTables(folder) !== undefined)
}

function systemTables(share: string): readonly string[] | undefined {
  return ['mariadb', 'mysql']
    .map((name) => ['system_tables', 'performance_tables', 'system_tables_data'].map((part) => `${name}_${part}.sql`))
    .map((files) => files.map((file) => join(share, file)))
    .find((paths) => paths.every((path) => existsSync(path)))
}

/**
 * Starts a MariaDB server on a free port of the loopback interface, in a new folder, with a generated password. Rejects with
 * the end of the server's own log when it does not start. Does not outlive this process, however that ends.
 */
export function startThrowawayMariadb(options: MariadbOptions): Promise<ThrowawayServer> {
  return startInAttempts('MariaDB', () => startOnce(options, unprivileged()))
}

async function startOnce(
  options: MariadbOptions,
  runAs: RunAs,
): Promise<ThrowawayServer | { readonly failure: string }> {
  const password = randomBytes(18).toString('base64url')
  const folder = await ownedFolder('runku-mariadb-', runAs)
  const port = await freePort()
  // A server that starts deletes what it takes for its own in the folder for temporary files, others' included.
  const own = { port: String(port), socket: join(folder, 'socket'), tmpdir: folder }
  const settings = { ...SERVER_SETTINGS, ...options.settings, ...own }
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const watchdog = startWatchdog('runku-mariadb', WATCHDOG, folder, flags, runAs)
  try {
    const files = { ...options.files, 'bootstrap.sql': await bootstrapSql(options.program.share, password) }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { mode: 0o600 })
      await giveAway(join(folder, name), runAs)
    }
    const { path, share, libraries } = await runnableMariadb(options.program, folder, runAs)
    watchdog.begin([path, share, libraryPath(libraries)])
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

/** The system's tables, and one account: the release's own have no password. */
async function bootstrapSql(share: string, password: string): Promise<string> {
  const paths = systemTables(share)
  if (paths === undefined) throw new Error(`${share} holds no SQL for MariaDB's system tables`)
  const tables = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  const accounts = [
    "DELETE FROM global_priv WHERE User <> 'mariadb.sys';",
    'FLUSH PRIVILEGES;',
    `CREATE USER '${SUPERUSER}'@'%' IDENTIFIED BY '${password}';`,
    `GRANT ALL PRIVILEGES ON *.* TO '${SUPERUSER}'@'%' WITH GRANT OPTION;`,
  ]
  return ['CREATE DATABASE mysql;', 'USE mysql;', ...tables, ...accounts, ''].join('\n')
}

/**
 * The program as it is when the server's user can run it, else a copy of it all beside the data: a checkout may lie where
 * only root can read.
 */
async function runnableMariadb(program: MariadbProgram, folder: string, runAs: RunAs): Promise<MariadbProgram> {
  const found = await runsAs(program, folder, runAs)
  if (found.status === 0) return program
  const root = join(folder, 'native')
  const copy: MariadbProgram = {
    path: join(root, 'mariadbd'),
    share: join(root, 'share'),
    libraries: program.libraries.map((path) => join(root, basename(path))),
  }
  await mkdir(root)
  try {
    await copyFile(program.path, copy.path)
    await chmod(copy.path, 0o700)
    await cp(program.share, copy.share, { recursive: true })
    for (const path of program.libraries) await copyFile(path, join(root, basename(path)))
  } catch {
    throw new Error(`${program.path} does not run: ${found.output}`)
  }
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    await giveAway(join(entry.parentPath, entry.name), runAs)
  }
  await giveAway(root, runAs)
  const copied = await runsAs(copy, folder, runAs)
  if (copied.status === 0) return copy
  throw new Error(`${program.path} does not run, nor does a copy of it: ${copied.output}`)
}

/** Whether the server's user can start the program, and read what it reads. */
function runsAs({ path, share, libraries }: MariadbProgram, folder: string, runAs: RunAs): ReturnType<typeof run> {
  const test = ['-c', '[ -r "$2/charsets/Index.xml" ] && exec "$1" --no-defaults --version', 'sh', path, share]
  return run('sh', test, folder, runAs, { LD_LIBRARY_PATH: libraryPath(libraries) })
}

function libraryPath(libraries: readonly string[]): string {
  return [...new Set(libraries.map((path) => dirname(path)))].join(':')
}

/** Whether our own server answers: another one on that port would not know the password, or has another folder. */
async function answers(folder: string, port: number, password: string): Promise<boolean> {
  try {
    const connection = await createConnection({ host: HOST, port, user: SUPERUSER, password, rowsAsArray: true })
    try {
      const [rows] = await connection.query('SELECT @@datadir')
      return JSON.stringify(rows) === JSON.stringify([[`${join(folder, 'data')}/`]])
    } finally {
      await connection.end()
    }
  } catch {
    return false
  }
}
