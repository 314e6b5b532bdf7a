import { embeddedBinaries } from '../src/demo/throwaway-postgres.js'
import { callTool, listTools, post, prepareGateway, spawnGateway } from '../test/support/gateway.js'
import { startTestServer } from '../test/support/postgres-server.js'

/**
 * `npm run bench:scale`: a thousand generated tables over three schemas behind one connector. Prints how long the catalog
 * takes, how long and how large the tool list is, how slow a call gets while it is made, and the memory of the process.
 */
const TABLES = 1_000
const SCHEMAS = ['sales', 'stock', 'staff']

function schemaSql(): string {
  const statements = SCHEMAS.map((schema) => `CREATE SCHEMA ${schema};`)
  for (let n = 0; n < TABLES; n++) {
    const schema = SCHEMAS[n % SCHEMAS.length]
    const parent = n < SCHEMAS.length ? '' : `, parent_id bigint REFERENCES ${schema}.table_${n - SCHEMAS.length}`
    statements.push(
      `CREATE TABLE ${schema}.table_${n} (id bigint PRIMARY KEY, name text NOT NULL, state text, amount numeric(12,2),
         active boolean NOT NULL DEFAULT true, created_at timestamptz NOT NULL DEFAULT now(), notes jsonb${parent});
       COMMENT ON TABLE ${schema}.table_${n} IS 'Generated table number ${n}.';
       INSERT INTO ${schema}.table_${n} (id, name) VALUES (1, 'one'), (2, 'two');`,
    )
  }
  return statements.join('\n')
}

function policy(): string {
  const names = Array.from({ length: TABLES }, (_, n) => `${SCHEMAS[n % SCHEMAS.length]}.table_${n}`)
  return `version: 1\ntables:\n${names.map((name) => `  ${name}: {}`).join('\n')}\nroles:\n  reader: { read: ['*'] }\n  narrow: { read: [${names.slice(0, 10).join(', ')}] }\n`
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now()
  const result = await work()
  process.stdout.write(`${what}: ${Math.round(performance.now() - startMs)} ms\n`)
  return result
}

async function residentMiB(pid: number | undefined): Promise<number> {
  const { readFile } = await import('node:fs/promises')
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024)
}

const server = await startTestServer('embedded', await embeddedBinaries())
const database = await server.createDatabase(schemaSql())
const prepared = await prepareGateway({
  connectors: [{ id: 'wide', settings: database.reader({ schemas: SCHEMAS }), policy: policy() }],
  identities: { all: { roles: ['reader'] }, few: { roles: ['narrow'] } },
})
const gateway = await timed('start, with introspection and the first snapshot', () => spawnGateway(prepared, ['wide']))
const endpoint = gateway.endpoint('wide')
const { all, few } = prepared.keys
try {
  await callTool(endpoint, few, 'get_sales_table_0_by_pk', { id: '1' })
  // While the long list is made on the connector's thread, the front still answers: health checks do not wait for it.
  const list = post(endpoint, all, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  let slowestMs = 0
  let answered = 0
  let done = false
  const settled = timed('tools/list of every table, first time', () => list).then((answer) => {
    done = true
    return answer
  })
  while (!done) {
    const startMs = performance.now()
    await fetch(`${gateway.adminUrl}/healthz`)
    slowestMs = Math.max(slowestMs, performance.now() - startMs)
    answered += 1
  }
  const { text } = await settled
  const tools = await timed('tools/list of every table, again', () => listTools(endpoint, all))
  process.stdout.write(`tools: ${tools.length}, ${(text.length / 2 ** 20).toFixed(1)} MiB\n`)
  process.stdout.write(`health checks meanwhile: ${answered}, the slowest ${slowestMs.toFixed(1)} ms\n`)
  await timed('tools/list of ten tables', () => listTools(endpoint, few))
  process.stdout.write(`memory of the gateway: ${await residentMiB(gateway.child.pid)} MiB\n`)
} finally {
  gateway.child.kill('SIGTERM')
  await gateway.exited
  await prepared.remove()
  await server.process.stop()
}
