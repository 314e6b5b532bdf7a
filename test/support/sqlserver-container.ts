import { randomBytes } from 'node:crypto'
import { Connection } from 'tedious'
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

const IMAGE = 'mcr.microsoft.com/mssql/server:2022-latest'
/** The image may have to be fetched first. */
const READY_TIMEOUT_MS = 600_000

/** In the foreground: what ends the program ends the container, and `--rm` takes it away. */
const WATCHDOG: WatchdogScript = { lines: ['docker'], prepare: '', serve: '"$docker" "$@"', signal: 'TERM' }

/** SQL Server in a container, ended and deleted with this process. Rejects where there is no Docker, or it does not run. */
export function startSqlserverContainer(): Promise<ThrowawayServer> {
  const docker = installedProgram('docker')
  if (docker === undefined) throw new Error('there is no docker on this machine to run SQL Server with')
  return startInAttempts('SQL Server', () => startOnce(docker))
}

async function startOnce(docker: string): Promise<ThrowawayServer | { readonly failure: string }> {
  const user = 'sa'
  // The server wants characters of several kinds.
  const password = `Aa1-${randomBytes(18).toString('base64url')}`
  const folder = await ownedFolder('runku-sqlserver-', {})
  const port = await freePort()
  const remote = process.env['DOCKER_HOST']
  const flags = [
    ...(remote === undefined ? [] : ['--host', remote]),
    ...['run', '--rm', `--publish=${HOST}:${port}:1433`, '--env=ACCEPT_EULA=Y', `--env=MSSQL_SA_PASSWORD=${password}`],
    ...['--env=MSSQL_PID=Developer', IMAGE],
  ]
  const watchdog = startWatchdog('runku-sqlserver', WATCHDOG, folder, flags, {})
  watchdog.begin([docker])
  const failure = await failureToStart(watchdog, () => answers({ port, user, password }), READY_TIMEOUT_MS)
  if (failure === undefined) return { host: HOST, port, user, password, folder, stop: () => watchdog.stop() }
  await watchdog.stop()
  return { failure }
}

function answers({ port, user, password }: { port: number; user: string; password: string }): Promise<boolean> {
  const connection = new Connection({
    server: HOST,
    authentication: { type: 'default', options: { userName: user, password } },
    options: { port, database: 'master', encrypt: false, connectTimeout: 5_000, maxRetriesOnTransientErrors: 0 },
  })
  connection.on('error', () => {})
  return new Promise((resolve) => {
    connection.connect((error) => {
      resolve(!error)
      connection.close()
    })
  })
}
