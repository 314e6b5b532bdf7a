import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { RESERVED_ROLES } from '../../src/admin/names.js'
import { type AdminStoreSettings, openAdminStore } from '../../src/admin/open-admin-store.js'
import { loadConfig } from '../../src/config/config.js'
import type { AuditEntry } from '../../src/core/audit-entry.js'
import type { ClaimValue } from '../../src/core/identity.js'
import type { Result } from '../../src/core/result.js'
import { Gateway } from '../../src/gateway.js'
import type { Observation } from '../../src/observe/observation.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import type { ConnectorSettings } from '../../src/threads/messages.js'

/** One connector of a test gateway: a database, and the policy it is served under. */
export interface TestConnector {
  readonly id: string
  readonly settings: ConnectorSettings
  /** YAML; absent: no policy is applied. */
  readonly policy?: string
  /** More keys of the connector, YAML flow style without braces, such as `threads: { max: 2 }`. */
  readonly more?: string
}

export interface TestIdentity {
  readonly roles: readonly string[]
  readonly claims?: ReadonlyMap<string, ClaimValue>
}

export interface GatewayPlan {
  readonly connectors: readonly TestConnector[]
  readonly identities: Readonly<Record<string, TestIdentity>>
  /** More keys of `server:`, YAML flow style without braces. */
  readonly server?: string
  /** YAML of further top-level keys, such as `auth: { enabled: false }`. */
  readonly more?: string
  /** Where the store is; the default is a file in the folder. */
  readonly adminStore?: AdminStoreSettings
  /** Written to the file as `audit:`; the default keeps a buffer and writes nothing on stdout. */
  readonly audit?: string
}

/** A folder with everything a gateway needs: configuration, admin store, keys. */
export interface GatewayFolder {
  readonly folder: string
  readonly configFile: string
  readonly storeFile: string
  readonly bufferFile: string
  /** By identity name. */
  readonly keys: Readonly<Record<string, string>>
  /** Entries of calls, requests and administration in the buffer now, in order. */
  entries(): readonly AuditEntry[]
  /** Those of the gateway and the trail themselves as well. */
  trail(): readonly AuditEntry[]
  remove(): Promise<void>
}

export function must<T>(result: Result<T, unknown>): T {
  if (result.ok) return result.value
  throw new Error(typeof result.error === 'string' ? result.error : JSON.stringify(result.error))
}

function isReserved(role: string): boolean {
  return RESERVED_ROLES.some((reserved) => reserved === role)
}

function storeYaml(settings: AdminStoreSettings): string {
  return settings.type === 'sqlite'
    ? `{ type: sqlite, path: ${JSON.stringify(settings.path)} }`
    : `{ type: postgres, url: ${JSON.stringify(settings.url.reveal())} }`
}

/** As it stands under `connectors:`. */
export function connectorYaml({ id, settings, more }: Omit<TestConnector, 'policy'>): string {
  const { host, port, user, database } = settings.connection
  const { mode, max, acquireTimeoutMs } = settings.pool
  return [
    `  - id: ${id}`,
    `    type: ${settings.engine}`,
    `    host: ${JSON.stringify(host)}`,
    `    port: ${port}`,
    `    user: ${JSON.stringify(user)}`,
    `    ${passwordYaml(settings.connection)}`,
    `    database: ${JSON.stringify(database)}`,
    '    tls: disable',
    `    schemas: ${JSON.stringify(settings.schemas)}`,
    `    pool: { mode: ${mode}, max: ${max}, acquire_timeout_ms: ${acquireTimeoutMs} }`,
    `    session_context: ${settings.sessionContext}`,
    ...(more === undefined ? [] : [`    ${more}`]),
  ].join('\n')
}

function passwordYaml({ password = '', passwordFile, passwordCommand }: ConnectorSettings['connection']): string {
  if (passwordFile !== undefined) return `password_file: ${JSON.stringify(passwordFile)}`
  if (passwordCommand === undefined) return `password: ${JSON.stringify(password)}`
  const { argv, ttlMs } = passwordCommand
  return `password_command: { command: ${JSON.stringify(argv)}, ttl_seconds: ${ttlMs / 1_000} }`
}

/** Writes the folder. Nothing runs yet. */
export async function prepareGateway(plan: GatewayPlan): Promise<GatewayFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'runku-test-'))
  const configFile = join(folder, 'config.yaml')
  const storeFile = join(folder, 'runku.sqlite')
  const bufferFile = join(folder, 'audit.sqlite')
  const settings: AdminStoreSettings = plan.adminStore ?? { type: 'sqlite', path: storeFile }
  const text = [
    `server: { listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"${plan.server === undefined ? '' : `, ${plan.server}`} }`,
    `admin_store: ${storeYaml(settings)}`,
    `audit: ${plan.audit ?? `{ stdout: false, buffer: { path: ${JSON.stringify(bufferFile)}, durability: normal } }`}`,
    ...(plan.more === undefined ? [] : [plan.more]),
    'connectors:',
    ...plan.connectors.map(connectorYaml),
  ].join('\n')
  await writeFile(configFile, `${text}\n`, { mode: 0o600 })
  const store = must(await openAdminStore(settings, { clock: Date.now, randomBytes, busyTimeoutMs: 5_000 }))
  const keys: Record<string, string> = {}
  const roles = new Set(Object.values(plan.identities).flatMap((identity) => identity.roles))
  const changes = store.changes({ name: 'test' })
  for (const role of roles) if (!isReserved(role)) must(await changes.createRole(role))
  for (const [name, { roles: own, claims }] of Object.entries(plan.identities)) {
    must(await changes.createIdentity(name, own, claims ?? new Map()))
    keys[name] = must(await changes.createKey(name)).key
  }
  for (const { id, policy } of plan.connectors) {
    if (policy !== undefined) must(await changes.applyPolicy(id, JSON.stringify(must(parsePolicy(policy)))))
  }
  // What made the folder is no part of what a test looks at in the trail.
  const made = await store.claimPending('test', 100_000, 0)
  await store.settlePending(made.map(({ id }) => id))
  await store.close()
  return {
    folder,
    configFile,
    storeFile,
    bufferFile,
    keys,
    entries: () => readEntries(bufferFile).filter(({ operation }) => operation !== 'gateway' && operation !== 'audit'),
    trail: () => readEntries(bufferFile),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Entries of a buffer, in the order of `seq`; may be read while the gateway runs. */
export function readEntries(bufferFile: string): readonly AuditEntry[] {
  const db = new Database(bufferFile, { readonly: true })
  try {
    const bodies = db.prepare<[], string>('SELECT body FROM entries ORDER BY seq').pluck().all()
    // What the audit worker wrote is an entry; tests of the entries themselves check every field.
    return bodies.map((body) => JSON.parse(body) as AuditEntry)
  } finally {
    db.close()
  }
}

export interface RunningGateway {
  readonly gateway: Gateway
  readonly observations: readonly Observation[]
  endpoint(connector: string): string
  stop(): Promise<void>
}

/** Starts the prepared gateway in this process; every connector has been prepared once when it settles. */
export async function startGateway(prepared: GatewayFolder): Promise<RunningGateway> {
  const observations: Observation[] = []
  const loaded = must(loadConfig({ file: prepared.configFile, env: process.env }))
  const observe = (observation: Observation) => observations.push(observation)
  const gateway = must(await Gateway.start(loaded, observe, process.env))
  await gateway.whenSettled()
  return {
    gateway,
    observations,
    endpoint: (connector) => `${gateway.url}/mcp/${connector}`,
    stop: () => gateway.stop(),
  }
}

export interface SpawnedGateway {
  readonly child: ChildProcess
  readonly url: string
  readonly adminUrl: string
  /** The operator log so far, one object a line. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
  /** Audit lines on stdout so far. */
  readonly stdout: readonly string[]
  endpoint(connector: string): string
  /** Settles with the exit code, or the signal's name. */
  readonly exited: Promise<number | string>
}

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))

export interface SpawnOptions {
  /** A program with its arguments that becomes the gateway, such as `setpriv`. */
  readonly through?: readonly string[]
  /** Arguments of Node before the program's own. */
  readonly nodeArgs?: readonly string[]
}

/** Runs `runku serve` as a process of its own; settles when it listens and the named connectors are ready. */
export function spawnGateway(
  prepared: GatewayFolder,
  ready: readonly string[],
  { through = [], nodeArgs = [] }: SpawnOptions = {},
): Promise<SpawnedGateway> {
  const [command = '', ...args] = [...through, process.execPath, ...nodeArgs, MAIN, 'serve']
  const child = spawn(command, [...args, '--config', prepared.configFile], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: prepared.folder,
  })
  const log: Record<string, unknown>[] = []
  const stdout: string[] = []
  const waiting = new Set(ready)
  const urls = new Map<string, string>()
  const exited = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line))
  return new Promise((resolve, reject) => {
    exited.then((how) => reject(new Error(`the gateway ended (${how}): ${JSON.stringify(log)}`)))
    createInterface({ input: child.stderr }).on('line', (line) => {
      const entry = logLine(line)
      log.push(entry)
      if (entry['msg'] === 'gateway.listening') urls.set(String(entry['surface']), String(entry['url']))
      if (entry['msg'] === 'connector.ready') waiting.delete(String(entry['connector']))
      const url = urls.get('mcp')
      const adminUrl = urls.get('admin')
      if (waiting.size > 0 || url === undefined || adminUrl === undefined) return
      resolve({ child, url, adminUrl, log, stdout, exited, endpoint: (connector) => `${url}/mcp/${connector}` })
    })
  })
}

function logLine(line: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(line)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : { text: line }
  } catch {
    return { text: line }
  }
}

export interface RpcAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined when there is none. */
  readonly body: unknown
}

/** One POST as a client without an SDK makes it. */
export async function post(
  endpoint: string,
  key: string | undefined,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<RpcAnswer> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) }
}

/** The body of a tools/call. */
export function rpcCall(id: number | string, call: { readonly name: string; readonly arguments?: unknown }) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: call }
}

export interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  readonly structured: unknown
  /** Set when the call ended in a JSON-RPC error. */
  readonly rpcError?: { readonly code: number; readonly message: string }
}

/** Calls one tool and takes the answer apart. */
export async function callTool(
  endpoint: string,
  key: string | undefined,
  name: string,
  args: unknown,
  id: number | string = 1,
): Promise<ToolAnswer> {
  const answer = await post(endpoint, key, {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  })
  // The shape is the protocol's; a body of another shape fails the assertion that follows in the test.
  const body = answer.body as {
    readonly result?: {
      readonly isError?: boolean
      readonly content?: readonly { readonly text: string }[]
      readonly structuredContent?: unknown
    }
    readonly error?: { readonly code: number; readonly message: string }
  }
  return {
    isError: body.result?.isError === true || body.error !== undefined,
    text: body.result?.content?.[0]?.text ?? body.error?.message ?? answer.text,
    structured: body.result?.structuredContent,
    ...(body.error === undefined ? {} : { rpcError: body.error }),
  }
}

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, boolean>>
}

/** The caller's own tools. */
export async function listTools(endpoint: string, key: string | undefined): Promise<readonly ListedTool[]> {
  const answer = await post(endpoint, key, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const body = answer.body as { readonly result?: { readonly tools?: readonly ListedTool[] } }
  if (body.result?.tools === undefined) throw new Error(`no tool list: ${answer.text}`)
  return body.result.tools
}
