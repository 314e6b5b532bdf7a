import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAdminStore } from '../admin/open-admin-store.js'
import { faultText, loadConfig } from '../config/config.js'
import type { ClaimValue } from '../core/identity.js'
import { ADMIN_COMMAND_BUSY_TIMEOUT_MS } from '../core/limits.js'
import type { Result } from '../core/result.js'
import { fillShop } from '../demo/fill-shop.js'
import { SHOP_POLICY } from '../demo/shop.js'
import { embeddedBinaries, startThrowawayPostgres, type ThrowawayPostgres } from '../demo/throwaway-postgres.js'
import { Gateway } from '../gateway.js'
import { createLog } from '../observe/log.js'
import { parsePolicy } from '../policy/policy-document.js'
import { refusalText } from './command.js'
import { untilSignalled } from './signals.js'

export interface DemoOptions {
  readonly json: boolean
  /** The MCP port; a free one when it is taken or not given. */
  readonly port?: number
}

const PREFERRED_PORT = 8080

/** Everything the demo made, so that all of it can be taken away again. */
interface Demo {
  readonly gateway: Gateway
  readonly keys: { readonly analyst: string; readonly support: string }
  readonly buffer: string
}

/**
 * `runku demo`: a throw-away database with a shop in it, a gateway in front, two identities that may do different things.
 * Runs until it is told to stop, and leaves neither process nor file behind.
 */
export async function demo(options: DemoOptions): Promise<number> {
  // Listening from the first moment: an interrupt during the start must not leave a server behind either.
  const signalled = untilSignalled('end')
  const folder = await mkdtemp(join(tmpdir(), 'runku-demo-'))
  // Whoever will not wait for the orderly end is left no file either.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  let database: ThrowawayPostgres | undefined
  let gateway: Gateway | undefined
  try {
    database = await startThrowawayPostgres({ binaries: await embeddedBinaries() })
    const url = await fillShop(database)
    const started = await startDemo(folder, url, await choosePort(options.port))
    gateway = started.gateway
    process.stdout.write(options.json ? `${JSON.stringify(asJson(started))}\n` : asText(started))
    await signalled
    return 0
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(refusalText([`the demo did not start: ${reason}`], options.json))
    return 1
  } finally {
    await gateway?.stop()
    await database?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function must<T>(result: Result<T, { readonly message: string } | string>): T {
  if (result.ok) return result.value
  throw new Error(typeof result.error === 'string' ? result.error : result.error.message)
}

/** Everything through the same doors an operator uses: a configuration file, the admin store, a stored policy. */
async function startDemo(folder: string, databaseUrl: string, port: number): Promise<Demo> {
  const keys = await fillStore(join(folder, 'runku.sqlite'))
  const buffer = join(folder, 'audit.sqlite')
  const file = join(folder, 'config.yaml')
  const config = `
server: { listen: "127.0.0.1:${port}", admin_listen: "127.0.0.1:0" }
admin_store: { type: sqlite, path: runku.sqlite }
connectors:
  - { id: shop, type: postgres, url: "\${RUNKU_DEMO_DATABASE}" }
audit: { stdout: false, buffer: { path: audit.sqlite, durability: normal } }
`
  await writeFile(file, config, { mode: 0o600 })
  const env = { RUNKU_DEMO_DATABASE: databaseUrl }
  const loaded = loadConfig({ file, env })
  if (!loaded.ok) throw new Error(loaded.error.map(faultText).join('; '))
  const gateway = must(await Gateway.start(loaded.value, createLog('warn').observe, env))
  await gateway.whenSettled()
  return { gateway, keys, buffer }
}

async function fillStore(path: string): Promise<Demo['keys']> {
  const busyTimeoutMs = ADMIN_COMMAND_BUSY_TIMEOUT_MS
  const store = must(await openAdminStore({ type: 'sqlite', path }, { clock: Date.now, randomBytes, busyTimeoutMs }))
  const changes = store.changes({ name: 'demo' })
  const identity = async (name: string, claims: ReadonlyMap<string, ClaimValue>) => {
    must(await changes.createRole(name))
    must(await changes.createIdentity(name, [name], claims))
    return must(await changes.createKey(name)).key
  }
  const analyst = await identity('analyst', new Map())
  const support = await identity('support', new Map([['region', 'eu']]))
  const policy = parsePolicy(SHOP_POLICY)
  if (!policy.ok) throw new Error('the demo policy is malformed')
  must(await changes.applyPolicy('shop', JSON.stringify(policy.value)))
  await store.close()
  return { analyst, support }
}

function choosePort(wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) return Promise.resolve(wanted)
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen({ host: '127.0.0.1', port: PREFERRED_PORT, exclusive: true }, () => {
      probe.close(() => resolve(PREFERRED_PORT))
    })
  })
}

function endpointOf(demo: Demo): string {
  return `${demo.gateway.url}/mcp/shop`
}

function asJson(demo: Demo): unknown {
  return { endpoint: endpointOf(demo), admin: demo.gateway.adminUrl, keys: demo.keys, audit_buffer: demo.buffer }
}

function asText(demo: Demo): string {
  const endpoint = endpointOf(demo)
  const { analyst, support } = demo.keys
  const call = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search_orders', arguments: { columns: ['id', 'status', 'total'], limit: 3 } },
  })
  const curl = (body: string) =>
    `curl -s ${endpoint} -H 'authorization: Bearer ${analyst}' -H 'content-type: application/json' -d '${body}'`
  const cursor = JSON.stringify(
    { mcpServers: { shop: { url: endpoint, headers: { Authorization: `Bearer ${analyst}` } } } },
    null,
    2,
  )
  return `
Runku is serving a shop database.

  endpoint   ${endpoint}
  health     ${demo.gateway.adminUrl}/readyz
  audit      ${demo.buffer}

  analyst    ${analyst}
             reads every table, without names and contact details of customers
  support    ${support}
             reads customers and orders of its own region (eu), nothing else

List the tools:

  ${curl('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')}

Read rows:

  ${curl(call)}

Claude Code:

  claude mcp add --transport http shop ${endpoint} --header "Authorization: Bearer ${analyst}"

Cursor (.cursor/mcp.json):

${cursor.replace(/^/gm, '  ')}

Claude Desktop (claude_desktop_config.json, through mcp-remote):

${desktop(endpoint, analyst).replace(/^/gm, '  ')}

Ctrl-C ends the demo and leaves nothing behind.
`
}

function desktop(endpoint: string, key: string): string {
  const args = ['-y', 'mcp-remote', endpoint, '--header', `Authorization:\${RUNKU_KEY}`]
  const shop = { command: 'npx', args, env: { RUNKU_KEY: `Bearer ${key}` } }
  return JSON.stringify({ mcpServers: { shop } }, null, 2)
}
