import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import {
  failureToStart,
  freePort,
  HOST,
  ownedFolder,
  startInAttempts,
  startWatchdog,
  type ThrowawayServer,
  type WatchdogScript,
} from '../../src/demo/throwaway-server.js'
import { installedProgram } from './debian-packages.js'

const IMAGE = 'mysql:8.4'
/** The image may have to be fetched first. */
const READY_TIMEOUT_MS = 300_000

/** In the foreground: what ends the program ends the container, and `--rm` takes it away. */
const WATCHDOG: WatchdogScript = { lines: ['docker'], prepare: '', serve: '"$docker" "$@"', signal: 'TERM' }

/** MySQL in a container, ended and deleted with this process. Rejects where there is no Docker, or it does not run. */
export function startMysqlContainer(): Promise<ThrowawayServer> {
  const docker = installedProgram('docker')
  if (docker === undefined) throw new Error('there is no docker on this machine to run MySQL with')
  return startInAttempts('MySQL', () => startOnce(docker))
}

async function startOnce(docker: string): Promise<ThrowawayServer | { readonly failure: string }> {
  const user = 'root'
  const password = randomBytes(18).toString('base64url')
  const folder = await ownedFolder('runku-mysql-', {})
  const port = await freePort()
  const remote = process.env['DOCKER_HOST']
  const flags = [
    ...(remote === undefined ? [] : ['--host', remote]),
    ...['run', '--rm', `--publish=${HOST}:${port}:3306`, `--env=MYSQL_ROOT_PASSWORD=${password}`, IMAGE],
    ...['--character-set-server=utf8mb4', '--collation-server=utf8mb4_bin', '--local-infile=0'],
  ]
  const watchdog = startWatchdog('runku-mysql', WATCHDOG, folder, flags, {})
  watchdog.begin([docker])
  const failure = await failureToStart(watchdog, () => answers({ port, user, password }), READY_TIMEOUT_MS)
  if (failure === undefined) return { host: HOST, port, user, password, folder, stop: () => watchdog.stop() }
  await watchdog.stop()
  return { failure }
}

async function answers(account: { port: number; user: string; password: string }): Promise<boolean> {
  try {
    const connection = await createConnection({ host: HOST, ...account })
    await connection.end()
    return true
  } catch {
    return false
  }
}
