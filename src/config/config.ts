import { basename, dirname, resolve } from 'node:path'
import { z } from 'zod'
import { fail, ok, type Result } from '../core/result.js'
import type { AuditSettings } from '../threads/messages.js'
import { type HostPort, isLoopback, parseListen } from './addresses.js'
import { type ConnectorConfig, defaultPath, resolveConnector } from './connector-config.js'
import { type Complaint, type ConfigPath, complaints, type Fault, pathText, unknownKey } from './faults.js'
import { readableFault } from './files.js'
import { type ConnectorInput, configSchema, connectorSchema, type HeadInput, headSchema } from './schema.js'
import { REDACTED } from './secret.js'
import { type Environment, readSource, type Source } from './source.js'

export type { ConnectorConfig } from './connector-config.js'
export { connectorSettings } from './connector-config.js'
export { type Fault, faultText } from './faults.js'

/** The whole configuration, resolved: paths are absolute, defaults are in, secrets show in no dump. */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string
  readonly server: {
    readonly listen: HostPort
    readonly adminListen: HostPort
    /** Without a slash at its end. */
    readonly publicUrl?: string
    readonly tls?: 'external' | { readonly certFile: string; readonly keyFile: string }
    readonly allowedHosts: readonly string[]
    readonly allowedOrigins: readonly string[]
    /** IP addresses and `address/prefix` ranges. */
    readonly trustedProxies: readonly string[]
    readonly limits: { readonly bodyBytesMax: number; readonly inFlightMax: number; readonly connectionsMax: number }
  }
  readonly auth: { readonly enabled: boolean; readonly anonymousRoles: readonly string[] }
  readonly adminStore: { readonly type: 'sqlite'; readonly path: string }
  /** Those without a fault, in the order of the file. */
  readonly connectors: readonly ConnectorConfig[]
  readonly audit: {
    readonly stdout: boolean
    readonly buffer?: { readonly path: string; readonly durability: 'full' | 'normal' }
    readonly onFailure: 'block'
    readonly values: AuditSettings['values']
    readonly chainKeyFile?: string
  }
  readonly idempotency: { readonly windowHours: number }
}

/** A connector that is configured but cannot be used. Its id and path are known, so that calls to it can be answered. */
export interface ConnectorFault {
  readonly id: string
  readonly path: string
  /** The name of its policy, where that much could be read. */
  readonly policy: string
  readonly faults: readonly Fault[]
}

export interface LoadedConfig {
  readonly config: Config
  readonly connectorFaults: readonly ConnectorFault[]
}

/**
 * Reads `config.yaml`. The error lists every fault that ends the start, those of server, auth, admin_store, audit,
 * idempotency and of the connectors' ids and paths; a fault inside one connector is reported beside the configuration and disables it alone.
 */
export function loadConfig(options: {
  readonly file: string
  readonly env: Environment
}): Result<LoadedConfig, readonly Fault[]> {
  const read = readSource(options.file, options.env, configSchema)
  if (!read.ok) return read
  const source = read.value
  const folder = dirname(resolve(options.file))
  const { connectors: listed = [], ...rest } = source.value
  const head = headSchema.safeParse(rest)
  const ending: Complaint[] = [...headComplaints(rest)]
  if (head.success) ending.push(...headRules(head.data, folder))

  const sorted = sortConnectors(listed, source)
  ending.push(...sorted.ending)
  const faults = withoutRepeats([
    ...source.faults.filter((fault) => !sorted.inside(fault.path)),
    ...ending.map((item) => source.locate(item)),
  ])
  if (faults.length > 0 || !head.success) return fail(faults)

  const connectors: ConnectorConfig[] = []
  const connectorFaults: ConnectorFault[] = []
  for (const entry of sorted.entries) {
    const outcome = loadConnector(entry, source, folder)
    if (outcome.ok) connectors.push(outcome.value)
    else connectorFaults.push({ id: entry.id, path: entry.path, policy: entry.policy, faults: outcome.error })
  }
  return ok({ config: resolveHead(head.data, options.file, folder, connectors), connectorFaults })
}

function headComplaints(rest: unknown): readonly Complaint[] {
  const candidates = Object.keys(configSchema.shape)
  return complaints(headSchema, rest, []).map((item) => {
    const [key, ...deeper] = item.path
    // At the top level `connectors` is a candidate too, which the head's own schema does not know.
    const unknown = typeof key === 'string' && deeper.length === 0 && !candidates.includes(key)
    return unknown ? unknownKey(item.path, key, candidates) : item
  })
}

interface ConnectorEntry {
  readonly index: number
  readonly id: string
  readonly path: string
  readonly policy: string
  readonly raw: unknown
}

interface SortedConnectors {
  readonly entries: readonly ConnectorEntry[]
  /** What ends the start: no list, no usable id, an id or a path twice. */
  readonly ending: readonly Complaint[]
  /** Whether a fault at this path is one connector's own. */
  inside(path: ConfigPath): boolean
}

function sortConnectors(listed: unknown, source: Source): SortedConnectors {
  if (!Array.isArray(listed)) {
    const ending = [{ path: ['connectors'], message: 'expected a list of connectors, each beginning with "- id:"' }]
    return { entries: [], ending, inside: () => false }
  }
  const entries: ConnectorEntry[] = []
  const ending: Complaint[] = []
  const ids = new Set<string>()
  const paths = new Set<string>()
  listed.forEach((raw: unknown, index) => {
    const at: ConfigPath = ['connectors', index]
    const unusable = complaints(connectorSchema.pick({ id: true }).loose(), raw, at)
    if (unusable.length > 0) {
      ending.push(...unusable)
      return
    }
    const entry = readEntry(raw, index)
    if (ids.has(entry.id)) ending.push({ path: [...at, 'id'], message: 'another connector has this id' })
    else if (paths.has(entry.path)) ending.push({ path: [...at, 'path'], message: 'another connector has this path' })
    ids.add(entry.id)
    paths.add(entry.path)
    entries.push(entry)
  })
  const inside = (path: ConfigPath) => path[0] === 'connectors' && path.length > 2 && path[2] !== 'id'
  return { entries, ending, inside: (path) => inside(path) && source.value['connectors'] === listed }
}

/** `raw` is a mapping with a valid id. What else it holds is read as far as it is usable. */
function readEntry(raw: unknown, index: number): ConnectorEntry {
  const { shape } = connectorSchema
  const loose = z.looseObject({
    id: shape.id,
    path: shape.path.catch(undefined),
    policy: shape.policy.catch(undefined),
  })
  const { id, path, policy } = loose.parse(raw)
  return { index, id, path: path ?? defaultPath(id), policy: policy ?? id, raw }
}

function loadConnector(
  entry: ConnectorEntry,
  source: Source,
  folder: string,
): Result<ConnectorConfig, readonly Fault[]> {
  const at: ConfigPath = ['connectors', entry.index]
  const own = source.faults.filter((fault) => fault.path[0] === at[0] && fault.path[1] === at[1])
  const wrong = complaints(connectorSchema, entry.raw, at).map((item) => source.locate(item))
  if (own.length + wrong.length > 0) return fail(withoutRepeats([...own, ...wrong]))
  const input: ConnectorInput = connectorSchema.parse(entry.raw)
  const resolved = resolveConnector(input, folder)
  if (resolved.ok) return resolved
  return fail(resolved.error.map(({ path, message }) => source.locate({ path: [...at, ...path], message })))
}

/** The first fault at a path says it: an unset variable is not also a malformed address. */
function withoutRepeats(faults: readonly Fault[]): readonly Fault[] {
  const seen = new Set<string>()
  return faults.filter((fault) => {
    const key = pathText(fault.path)
    return seen.has(key) ? false : seen.add(key)
  })
}

/** Rules that hold between keys of the head. */
function headRules(head: HeadInput, folder: string): readonly Complaint[] {
  const { server, auth, audit } = head
  const out: Complaint[] = []
  const beyond = (['listen', 'admin_listen'] as const).filter(
    (key) => !isLoopback(parseListen(server[key])?.host ?? ''),
  )
  for (const key of beyond) {
    const path = ['server', key]
    if (!auth.enabled)
      out.push({ path, message: 'auth.enabled is false: expected a loopback address such as 127.0.0.1' })
    else if (server.tls === undefined) {
      out.push({ path, message: 'beyond loopback expected server.tls with cert_file and key_file, or "tls: external"' })
    }
  }
  if (server.listen === server.admin_listen && parseListen(server.listen)?.port !== 0) {
    out.push({ path: ['server', 'admin_listen'], message: 'expected another port than server.listen' })
  }
  if (auth.enabled && auth.anonymous_roles.length > 0) {
    out.push({ path: ['auth', 'anonymous_roles'], message: 'used with auth.enabled: false only' })
  }
  if (!audit.stdout && audit.buffer === undefined) {
    out.push({ path: ['audit', 'stdout'], message: 'without stdout expected audit.buffer: entries must go somewhere' })
  }
  if (audit.buffer !== undefined && resolve(folder, audit.buffer.path) === resolve(folder, head.admin_store.path)) {
    out.push({ path: ['audit', 'buffer', 'path'], message: 'expected another file than admin_store.path' })
  }
  if (typeof server.tls === 'object') out.push(...tlsComplaints(server.tls, folder))
  return out
}

function tlsComplaints(tls: { cert_file: string; key_file: string }, folder: string): readonly Complaint[] {
  return (['cert_file', 'key_file'] as const).flatMap((key) => {
    const message = readableFault(resolve(folder, tls[key]))
    return message === undefined ? [] : [{ path: ['server', 'tls', key], message }]
  })
}

function resolveHead(head: HeadInput, file: string, folder: string, connectors: readonly ConnectorConfig[]): Config {
  return {
    file: resolve(folder, basename(file)),
    server: resolveServer(head.server, folder),
    auth: { enabled: head.auth.enabled, anonymousRoles: head.auth.anonymous_roles },
    adminStore: { type: head.admin_store.type, path: resolve(folder, head.admin_store.path) },
    connectors,
    audit: resolveAudit(head.audit, folder),
    idempotency: { windowHours: head.idempotency.window_hours },
  }
}

function resolveServer(server: HeadInput['server'], folder: string): Config['server'] {
  const { tls, limits } = server
  return {
    listen: listenAddress(server.listen),
    adminListen: listenAddress(server.admin_listen),
    ...(server.public_url === undefined ? {} : { publicUrl: server.public_url.replace(/\/+$/, '') }),
    ...(tls === undefined
      ? {}
      : {
          tls:
            tls === 'external'
              ? tls
              : { certFile: resolve(folder, tls.cert_file), keyFile: resolve(folder, tls.key_file) },
        }),
    allowedHosts: server.allowed_hosts,
    allowedOrigins: server.allowed_origins,
    trustedProxies: server.trusted_proxies,
    limits: {
      bodyBytesMax: limits.body_bytes_max,
      inFlightMax: limits.in_flight_max,
      connectionsMax: limits.connections_max,
    },
  }
}

function listenAddress(text: string): HostPort {
  const address = parseListen(text)
  if (address === undefined) throw new Error('the schema let a malformed listen address through')
  return address
}

function resolveAudit(audit: HeadInput['audit'], folder: string): Config['audit'] {
  const buffer = audit.buffer === undefined ? undefined : { ...audit.buffer, path: resolve(folder, audit.buffer.path) }
  const keyFile = audit.chain_key_file ?? (audit.buffer === undefined ? undefined : `${audit.buffer.path}.key`)
  return {
    stdout: audit.stdout,
    ...(buffer === undefined ? {} : { buffer }),
    onFailure: audit.on_failure,
    values: audit.values,
    ...(keyFile === undefined ? {} : { chainKeyFile: resolve(folder, keyFile) }),
  }
}

/** What the audit worker needs. */
export function auditSettings(config: Config): AuditSettings {
  const { stdout, buffer, values, chainKeyFile } = config.audit
  return {
    stdout,
    ...(buffer === undefined ? {} : { buffer }),
    values,
    ...(chainKeyFile === undefined ? {} : { chainKeyFile }),
  }
}

/** The configuration as plain data that may be shown: every secret is a mark. */
export function redactedConfig(config: Config): unknown {
  return JSON.parse(
    JSON.stringify(config, (key, value: unknown) => (key === 'password' && value !== undefined ? REDACTED : value)),
  )
}

/** The JSON Schema of `config.yaml`. */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(configSchema, { io: 'input' })
}
