import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareGateway, spawnGateway } from '../test/support/gateway.js'
import type { TestDatabase } from '../test/support/postgres-server.js'

/** Something that answers MCP calls over HTTP, running. */
export interface Contender {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body of a call, with `%d` for the id, and what every answer must contain. */
  readonly bodies: Readonly<Record<Workload, { readonly body: string; readonly expect: string }>>
  stop(): Promise<void>
}

export type Workload = 'get' | 'search'

export const ROWS = 100_000
/** The highest id a workload asks for, so that every search finds its twenty rows. */
export const ID_MAX = ROWS - 100

export const SETUP = `
CREATE TABLE items (
  id integer PRIMARY KEY,
  name text NOT NULL,
  price numeric(10,2) NOT NULL,
  in_stock boolean NOT NULL,
  added_at timestamptz NOT NULL
);
INSERT INTO items
SELECT n, 'item number ' || n, n % 1000 + 0.99, n % 3 = 0, timestamptz '2024-01-01 00:00:00+00' + n * interval '1 minute'
FROM generate_series(1, ${ROWS}) AS n;
ANALYZE items;
`

const POLICY = `
version: 1
tables: { public.items: { row_filter: [ { column: id, op: gt, value: 0 } ] } }
roles: { reader: { read: ['*'] } }
`

/** The body of a call with `%d` for what differs from call to call. */
export function callBody(name: string, args: unknown): string {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } })
  // The id is a number in the call, and stands in quotes only while it is a mark.
  return text.replaceAll('"%d"', '%d')
}

export interface RunkuOptions {
  readonly name: string
  /** The configuration's `audit`, as YAML on one line. */
  readonly audit: string
  readonly poolMax: number
  /** Where its standard output goes; by default to the process that measures. */
  readonly stdout?: '/dev/null'
}

/** The gateway as a process of its own, with authentication, a policy and its audit trail. */
export async function runku(database: TestDatabase, options: RunkuOptions): Promise<Contender> {
  const { audit, poolMax, stdout } = options
  const settings = database.reader({ pool: { max: poolMax } })
  const prepared = await prepareGateway({
    connectors: [{ id: 'bench', settings, policy: POLICY, more: 'threads: { min: 1, max: 1 }' }],
    identities: { load: { roles: ['reader'] } },
    audit,
  })
  const through = stdout === undefined ? [] : ['sh', '-c', `exec "$@" >${stdout}`, 'sh']
  const gateway = await spawnGateway(prepared, ['bench'], { through })
  const url = new URL(gateway.url)
  const filter = { column: 'id', op: 'gte', value: '%d' }
  const search = callBody('search_items', {
    filters: [filter],
    order_by: [{ column: 'id', direction: 'asc' }],
    limit: 20,
  })
  return {
    name: options.name,
    host: url.hostname,
    port: Number(url.port),
    path: '/mcp/bench',
    headers: { authorization: `Bearer ${prepared.keys['load']}` },
    bodies: {
      get: { body: callBody('get_items_by_pk', { id: '%d' }), expect: 'item number' },
      search: { body: search.replace('"value":%d', '"value":"%d"'), expect: '"row_count":20' },
    },
    stop: async () => {
      gateway.child.kill('SIGTERM')
      await gateway.exited
      await prepared.remove()
    },
  }
}

/** Google's MCP Toolbox, fetched from the npm registry into a folder of its own when it is not there yet. */
export async function toolbox(database: TestDatabase, cache: string, poolMax: number): Promise<Contender> {
  const folder = join(cache, 'toolbox')
  const binary = join(
    folder,
    'node_modules',
    '@toolbox-sdk',
    `server-${process.platform}-${process.arch}`,
    'bin',
    'toolbox',
  )
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true })
    execFileSync('npm', ['install', '--prefix', folder, '--no-save', '@toolbox-sdk/server@1.12.0'], { stdio: 'ignore' })
  }
  const { host, port, user, password, database: name } = database.reader().connection
  const scratch = await mkdtemp(join(tmpdir(), 'runku-bench-'))
  const file = join(scratch, 'tools.yaml')
  const columns = 'id, name, price, in_stock, added_at'
  await writeFile(
    file,
    `
sources:
  bench:
    kind: postgres
    host: ${host}
    port: ${port}
    database: ${name}
    user: ${user}
    password: ${password}
    queryParams: { pool_max_conns: "${poolMax}" }
tools:
  get_items_by_pk:
    kind: postgres-sql
    source: bench
    description: One item.
    parameters: [ { name: id, type: integer, description: The id. } ]
    statement: SELECT ${columns} FROM items WHERE id = $1
  search_items:
    kind: postgres-sql
    source: bench
    description: Items from an id on.
    parameters: [ { name: id, type: integer, description: The first id. } ]
    statement: SELECT ${columns} FROM items WHERE id >= $1 ORDER BY id LIMIT 20
`,
  )
  const listen = await freePort()
  const flags = [
    '--config',
    file,
    '--port',
    String(listen),
    '--log-level',
    'ERROR',
    '--disable-reload',
    '--disable-version-check',
  ]
  const child = spawn(binary, flags, { stdio: ['ignore', 'ignore', 'inherit'] })
  await answers(listen, child)
  return {
    name: 'MCP Toolbox',
    host: '127.0.0.1',
    port: listen,
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    bodies: {
      get: { body: callBody('get_items_by_pk', { id: '%d' }), expect: 'item number' },
      search: { body: callBody('search_items', { id: '%d' }), expect: 'item number' },
    },
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await gone
      await rm(scratch, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error()),
      )
    })
  })
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (child.exitCode !== null) throw new Error(`the contender ended with ${child.exitCode}`)
    const up = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the contender does not answer')
}
