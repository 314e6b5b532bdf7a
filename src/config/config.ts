import { basename, dirname, resolve } from 'node:path'
import { z } from 'zod'
import type { StoredConnector } from '../admin/admin-store.js'
import type { AdminStoreSettings } from '../admin/open-admin-store.js'
import { parseStoreAddress } from '../admin/store-address.js'
import { SECRET_FILE_BYTES_MAX } from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import { type HostPort, isLoopback, parseListen } from './addresses.js'
import { type AuditConfig, auditComplaints, resolveAudit } from './audit-config.js'
import type { ConnectorConfig } from './connector-config.js'
import {
  type ConnectorCandidate,
  type ConnectorFault,
  type ConnectorSet,
  folderCandidates,
  listedCandidates,
  settleConnectors,
  storedCandidate,
} from './connector-set.js'
import { type Complaint, type ConfigPath, complaints, type Fault, unknownKey, withoutRepeats } from './faults.js'
import { placeFault, readableFault, readSmallFile } from './files.js'
import { configSchema, type HeadInput, headSchema } from './schema.js'
import { REDACTED, Secret } from './secret.js'
import { type Environment, readSource } from './source.js'

export type { ConnectorConfig, ConnectorOrigin } from './connector-config.js'
export { connectorSettings } from './connector-config.js'
export { type ConnectorFault, type ConnectorSet, originText, storedCandidate } from './connector-set.js'
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
  /** The path is absolute; the address has been found well-formed. */
  readonly adminStore: AdminStoreSettings
  /** Those without a fault, in the order of the file, then of `connectors_dir`. */
  readonly connectors: readonly ConnectorConfig[]
  readonly audit: AuditConfig
  readonly idempotency: { readonly windowHours: number }
}

export interface LoadedConfig {
  /** With the connectors of the files; `allConnectors` adds those of the admin store. */
  readonly config: Config
  readonly connectorFaults: readonly ConnectorFault[]
}

const EXPECTED = 'keys such as server, auth, connectors; "runku init" writes an example'
const SQLITE_STORE_FILE = 'runku.sqlite'

/**
 * Reads `config.yaml` and the files of `connectors_dir`. The error lists every fault that ends the start, those of server, auth,
 * admin_store, audit, idempotency, and connectors without a name; a fault inside one connector is reported beside the configuration
 * and disables it alone.
 */
export function loadConfig(options: {
  readonly file: string
  readonly env: Environment
}): Result<LoadedConfig, readonly Fault[]> {
  const { file, env } = options
  const read = readSource({ file, env, schema: configSchema, expected: EXPECTED })
  if (!read.ok) return read
  const source = read.value
  const folder = dirname(resolve(file))
  const { connectors: written = [], ...rest } = source.value
  const head = headSchema.safeParse(rest)
  const ending: Complaint[] = [...headComplaints(rest)]
  if (head.success) ending.push(...headRules(head.data, folder))
  const adminStore = head.success ? readAdminStore(head.data.admin_store, folder) : undefined
  if (adminStore?.ok === false) ending.push(...adminStore.error)
  const inFolder = readConnectorsDir(head.data?.connectors_dir, { file, folder }, env)
  if (!inFolder.ok) ending.push({ path: ['connectors_dir'], message: inFolder.error })

  const listed = listedCandidates(written, source, folder)
  ending.push(...listed.ending)
  const inside = (path: ConfigPath) =>
    Array.isArray(written) && path[0] === 'connectors' && path.length > 2 && path[2] !== 'id'
  const faults = withoutRepeats([
    ...source.faults.filter((fault) => !inside(fault.path)),
    ...ending.map((item) => source.locate(item)),
  ])
  if (faults.length > 0 || !head.success || !adminStore?.ok || !inFolder.ok) return fail(faults)

  const { connectors, faults: connectorFaults } = settleConnectors([...listed.candidates, ...inFolder.value])
  return ok({ config: resolveHead(head.data, adminStore.value, file, connectors), connectorFaults })
}

/** The whole set of connectors: those of the files come first, then those of the admin store. */
export function allConnectors(
  { config, connectorFaults }: LoadedConfig,
  stored: readonly StoredConnector[],
  env: Environment,
): ConnectorSet {
  const folder = dirname(config.file)
  const candidates = stored.map((connector) => storedCandidate(connector, env, folder))
  return settleConnectors(candidates, { connectors: config.connectors, faults: connectorFaults })
}

function readConnectorsDir(
  directory: string | undefined,
  base: { readonly file: string; readonly folder: string },
  env: Environment,
): Result<readonly ConnectorCandidate[], string> {
  return directory === undefined ? ok([]) : folderCandidates(directory, base, env)
}

function readAdminStore(
  { type, path, url, url_file: urlFile }: HeadInput['admin_store'],
  folder: string,
): Result<AdminStoreSettings, readonly Complaint[]> {
  const at = (key: string, message: string) => fail([{ path: ['admin_store', key], message }])
  if (type === 'sqlite') {
    const foreign = url !== undefined ? 'url' : urlFile !== undefined ? 'url_file' : undefined
    if (foreign !== undefined) return at(foreign, 'used with type: postgres only')
    return ok({ type, path: resolve(folder, path ?? SQLITE_STORE_FILE) })
  }
  if (path !== undefined) return at('path', 'used with type: sqlite only')
  if (url !== undefined && urlFile !== undefined) return at('url_file', 'expected url or url_file, not both')
  const key = url === undefined ? 'url_file' : 'url'
  if (url === undefined && urlFile === undefined) return at('url', 'missing: expected url or url_file')
  const text = urlFile === undefined ? ok(url ?? '') : readSmallFile(resolve(folder, urlFile), SECRET_FILE_BYTES_MAX)
  if (!text.ok) return at(key, text.error)
  const parsed = parseStoreAddress(text.value)
  return parsed.ok ? ok({ type, url: new Secret(text.value) }) : at(key, parsed.error)
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
  const storeFile = head.admin_store.type === 'sqlite' ? (head.admin_store.path ?? SQLITE_STORE_FILE) : undefined
  const misplaced = storeFile === undefined ? undefined : placeFault(resolve(folder, storeFile))
  if (misplaced !== undefined) out.push({ path: ['admin_store', 'path'], message: misplaced })
  out.push(...auditComplaints(audit, folder, storeFile))
  if (typeof server.tls === 'object') out.push(...tlsComplaints(server.tls, folder))
  return out
}

function tlsComplaints(tls: { cert_file: string; key_file: string }, folder: string): readonly Complaint[] {
  return (['cert_file', 'key_file'] as const).flatMap((key) => {
    const message = readableFault(resolve(folder, tls[key]))
    return message === undefined ? [] : [{ path: ['server', 'tls', key], message }]
  })
}

function resolveHead(
  head: HeadInput,
  adminStore: AdminStoreSettings,
  file: string,
  connectors: readonly ConnectorConfig[],
): Config {
  const folder = dirname(resolve(file))
  return {
    file: resolve(folder, basename(file)),
    server: resolveServer(head.server, folder),
    auth: { enabled: head.auth.enabled, anonymousRoles: head.auth.anonymous_roles },
    adminStore,
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
