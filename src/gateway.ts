import { randomBytes } from 'node:crypto'
import { openSqliteAdminStore, type SqliteAdminStore } from './admin/sqlite-admin-store.js'
import { createAuthenticator } from './auth/authenticate.js'
import { CallPath } from './call.js'
import { auditSettings, type Config, connectorSettings, faultText, type LoadedConfig } from './config/config.js'
import { monotonicMs } from './core/clock.js'
import { ADMIN_SERVE_BUSY_TIMEOUT_MS, DRAIN_DEADLINE_MS } from './core/limits.js'
import { fail, ok, type Result } from './core/result.js'
import { createHttpServer } from './http/create-server.js'
import { createFrontDoor, type FrontDoor } from './http/front-door.js'
import type { Exchange, ExchangeListener, HttpServer, ListenAddress } from './http/http-server.js'
import { serveAdmin, serveMcp } from './http/routes.js'
import { IdempotencyKeys } from './idempotency.js'
import { McpEndpoint } from './mcp/endpoint.js'
import { Metrics } from './observe/metrics.js'
import type { Observe } from './observe/observation.js'
import { AuditMailbox } from './threads/audit-mailbox.js'
import { type Connector, disabledConnector } from './threads/connector.js'
import { ConnectorSupervisor } from './threads/connector-supervisor.js'
import { Gate } from './threads/gate.js'
import { VERSION } from './version.js'

/** How often folded refusals and owed entries are looked over, and how often the store is written to for small things. */
const REFUSALS_INTERVAL_MS = 5_000
/** A start with hundreds of connectors must not open hundreds of threads and connections in one moment. */
const INTROSPECTIONS_AT_ONCE = 4
const STORE_INTERVAL_MS = 15_000
const HOUR_MS = 3_600_000

/** Every entry's id is unique over restarts and grows with time, so that it lies at the end of the index it goes into. */
function entryIds(wallMs: number): () => string {
  const boot = `${wallMs.toString(36)}${randomBytes(5).toString('hex')}`
  let count = 0
  return () => {
    count += 1
    return `${boot}-${count.toString(36).padStart(8, '0')}`
  }
}

interface Listener {
  readonly server: HttpServer
  readonly url: string
}

/** The parts of a running gateway, in the order they were started. */
interface Parts {
  readonly config: Config
  readonly observe: Observe
  readonly store: SqliteAdminStore
  readonly audit: AuditMailbox
  readonly idempotency: IdempotencyKeys
  readonly path: CallPath
  readonly supervisors: ReadonlyMap<string, ConnectorSupervisor>
  readonly endpoint: McpEndpoint
  readonly mcp: Listener
  readonly admin: Listener
}

/** A running gateway. Composition and order live here; nothing else starts or stops a part. */
export class Gateway {
  readonly #parts: Parts
  readonly #timers: readonly NodeJS.Timeout[]
  #stopped: Promise<void> | undefined

  private constructor(parts: Parts) {
    this.#parts = parts
    this.#timers = [
      setInterval(() => this.#flushEntries(false), REFUSALS_INTERVAL_MS).unref(),
      setInterval(() => this.#tidyStore(), STORE_INTERVAL_MS).unref(),
    ]
  }

  /** `http://host:port` of the MCP listener, without a path. */
  get url(): string {
    return this.#parts.mcp.url
  }

  get adminUrl(): string {
    return this.#parts.admin.url
  }

  get connectors(): ReadonlyMap<string, ConnectorSupervisor> {
    return this.#parts.supervisors
  }

  /**
   * Starts every part or none: a fault of server, store or audit ends the start with one sentence; a fault inside a
   * connector is observed and the others serve. Connectors go on becoming ready after this settles.
   */
  static async start(loaded: LoadedConfig, observe: Observe): Promise<Result<Gateway, string>> {
    const { config } = loaded
    const store = openSqliteAdminStore({
      path: config.adminStore.path,
      clock: Date.now,
      randomBytes,
      busyTimeoutMs: ADMIN_SERVE_BUSY_TIMEOUT_MS,
    })
    if (!store.ok) return store
    const audit = await AuditMailbox.start(auditSettings(config), { observe, nowMs: monotonicMs })
    if (!audit.ok) {
      store.value.close()
      return audit
    }
    const supervisors = new Map<string, ConnectorSupervisor>()
    const metrics = new Metrics(
      () => [...supervisors.values()].map((supervisor) => supervisor.gauges),
      () => audit.value.available,
    )
    const idempotency = idempotencyKeys(config, store.value, audit.value, observe)
    const path = new CallPath({
      audit: audit.value,
      idempotency,
      nowMs: monotonicMs,
      wallMs: Date.now,
      newId: entryIds(Date.now()),
      meter: (record, commitMs) => metrics.count(record, commitMs),
    })
    const observeAll: Observe = (observation) => {
      metrics.observe(observation)
      observe(observation)
    }
    for (const supervisor of superviseConnectors(config, store.value, observeAll)) {
      supervisors.set(supervisor.id, supervisor)
    }
    const connectors = doors(loaded, supervisors, observe)
    const listening = await listen(config, {
      observe,
      store: store.value,
      audit: audit.value,
      path,
      metrics,
      connectors,
    })
    if (!listening.ok) {
      await Promise.all([...supervisors.values()].map((supervisor) => supervisor.stop(0)))
      await audit.value.stop()
      store.value.close()
      return listening
    }
    const { mcp, admin, fallbackReason } = listening.value
    metrics.describe({ version: VERSION, node: process.version, http: mcp.server.implementation })
    if (fallbackReason !== undefined) observe({ kind: 'http.fallback', reason: fallbackReason })
    observe({ kind: 'gateway.listening', surface: 'mcp', url: mcp.url })
    observe({ kind: 'gateway.listening', surface: 'admin', url: admin.url })
    const running = { config, observe, store: store.value, audit: audit.value, idempotency, path, supervisors }
    const parts = { ...running, ...listening.value }
    return ok(new Gateway(parts))
  }

  /** Settles when every connector has been prepared once, well or not. */
  async whenSettled(): Promise<void> {
    await Promise.all([...this.connectors.values()].map((supervisor) => supervisor.whenSettled()))
  }

  /** Introspects every connector again and applies the policies as stored now. Each keeps its old snapshot on a failure. */
  reload(): void {
    for (const supervisor of this.connectors.values()) supervisor.refresh()
  }

  /** Takes no new requests, lets those in flight end, writes every entry, and ends every thread. Safe to call twice. */
  stop(deadlineMs: number = DRAIN_DEADLINE_MS): Promise<void> {
    this.#stopped ??= this.#stop(deadlineMs)
    return this.#stopped
  }

  async #stop(deadlineMs: number): Promise<void> {
    const { mcp, admin, endpoint, audit, store, supervisors, observe } = this.#parts
    for (const timer of this.#timers) clearInterval(timer)
    observe({ kind: 'gateway.draining', inFlight: endpoint.visits })
    mcp.server.stopAccepting()
    endpoint.drain()
    // One deadline for all of it: what one stage uses up is not there for the next.
    const endsAtMs = monotonicMs() + deadlineMs
    const left = () => Math.max(0, endsAtMs - monotonicMs())
    await endpoint.whenIdle(left())
    await Promise.all([...supervisors.values()].map((supervisor) => supervisor.stop(left())))
    this.#flushEntries(true)
    await audit.stop()
    mcp.server.close()
    admin.server.close()
    this.#tidyStore()
    store.close()
    observe({ kind: 'gateway.stopped' })
  }

  #flushEntries(all: boolean): void {
    this.#parts.path.flushRefusals(all)
    this.#parts.path.settleOwed()
  }

  #tidyStore(): void {
    this.#parts.idempotency.tidy()
    try {
      this.#parts.store.flushLastUsed()
    } catch (error) {
      this.#parts.observe({ kind: 'auth.store_failed', detail: error instanceof Error ? error.message : String(error) })
    }
  }
}

function idempotencyKeys(
  config: Config,
  store: SqliteAdminStore,
  audit: AuditMailbox,
  observe: Observe,
): IdempotencyKeys {
  return new IdempotencyKeys({
    store,
    gateway: audit.instance,
    run: randomBytes(8).toString('hex'),
    wallMs: Date.now,
    windowMs: config.idempotency.windowHours * HOUR_MS,
    onFailed: (detail) => observe({ kind: 'auth.store_failed', detail }),
  })
}

function superviseConnectors(
  config: Config,
  store: SqliteAdminStore,
  observe: Observe,
): readonly ConnectorSupervisor[] {
  const gate = new Gate(INTROSPECTIONS_AT_ONCE)
  return config.connectors.map((connector) => {
    const surroundings = {
      observe,
      nowMs: monotonicMs,
      random: Math.random,
      gate,
      readPolicy: () => {
        const stored = store.findPolicy(connector.policy)
        if (stored === undefined) return undefined
        const { document, version } = stored
        const known = store.findKnownObjects(connector.policy, version, connector.id)
        return { document, version, ...(known === undefined ? {} : { known }) }
      },
      confirm: (version: number, known: string) => {
        store.recordKnownObjects(connector.policy, version, connector.id, known)
      },
    }
    return new ConnectorSupervisor(connectorSettings(connector), surroundings)
  })
}

/** Every configured path with what answers there. */
function doors(
  loaded: LoadedConfig,
  supervisors: ReadonlyMap<string, ConnectorSupervisor>,
  observe: Observe,
): ReadonlyMap<string, Connector> {
  const byPath = new Map<string, Connector>()
  for (const connector of loaded.config.connectors) {
    const supervisor = supervisors.get(connector.id)
    if (supervisor !== undefined) byPath.set(connector.path, supervisor)
  }
  for (const { id, path, faults } of loaded.connectorFaults) {
    byPath.set(path, disabledConnector(id))
    observe({ kind: 'connector.disabled', connector: id, faults: faults.map(faultText) })
  }
  return byPath
}

interface FrontParts {
  readonly observe: Observe
  readonly store: SqliteAdminStore
  readonly audit: AuditMailbox
  readonly path: CallPath
  readonly metrics: Metrics
  readonly connectors: ReadonlyMap<string, Connector>
}

interface Listening {
  readonly endpoint: McpEndpoint
  readonly mcp: Listener
  readonly admin: Listener
  readonly fallbackReason?: string
}

async function listen(config: Config, parts: FrontParts): Promise<Result<Listening, string>> {
  const admin = await openListener(config, config.server.adminListen)
  if (!admin.ok) return admin
  const mcp = await openListener(config, config.server.listen)
  if (!mcp.ok) {
    admin.value.server.close()
    return mcp
  }
  const endpoint = new McpEndpoint({
    path: parts.path,
    frontDoor: mcp.value.frontDoor,
    authenticate: createAuthenticator({
      store: parts.store,
      authEnabled: config.auth.enabled,
      anonymousRoles: config.auth.anonymousRoles,
      clock: Date.now,
      observe: parts.observe,
    }).authenticate,
    nowMs: monotonicMs,
    serverVersion: VERSION,
    bodyBytesMax: config.server.limits.bodyBytesMax,
    inFlightMax: config.server.limits.inFlightMax,
  })
  const ready = () => !endpoint.draining && parts.audit.available && readable(parts.store)
  mcp.value.begin((exchange) => serveMcp(exchange, mcp.value.frontDoor, parts.connectors, endpoint))
  admin.value.begin((exchange) => serveAdmin(exchange, { ready, scrape: () => parts.metrics.scrape() }))
  const { fallbackReason } = mcp.value
  return ok({
    endpoint,
    mcp: mcp.value,
    admin: admin.value,
    ...(fallbackReason === undefined ? {} : { fallbackReason }),
  })
}

/** Whether the store answers now; the id is one that no key can have. */
function readable(store: SqliteAdminStore): boolean {
  try {
    store.findKey('')
    return true
  } catch {
    return false
  }
}

interface OpenListener extends Listener {
  readonly frontDoor: FrontDoor
  readonly fallbackReason?: string
  /** From now on exchanges go to this listener; those before it are closed. */
  begin(listener: ExchangeListener): void
}

/** Binds first and serves afterwards: what the front door allows depends on the port that was really bound. */
async function openListener(config: Config, address: ListenAddress): Promise<Result<OpenListener, string>> {
  const { tls, limits, publicUrl, allowedHosts, allowedOrigins, trustedProxies } = config.server
  let serve: ExchangeListener = (exchange: Exchange) => exchange.close()
  const own = typeof tls === 'object' ? tls : undefined
  const { server, fallbackReason } = await createHttpServer({
    ...(own === undefined ? {} : { tls: own }),
    connectionsMax: limits.connectionsMax,
    onExchange: (exchange) => serve(exchange),
  })
  const bound = await server.listen(address)
  if (!bound.ok) return bound
  const { port } = bound.value
  const frontDoor = createFrontDoor({
    listen: { host: address.host, port },
    tls: own !== undefined,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    allowedHosts,
    allowedOrigins,
    trustedProxies,
  })
  if (!frontDoor.ok) {
    server.close()
    return fail(frontDoor.error)
  }
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return ok({
    server,
    url: `${own === undefined ? 'http' : 'https'}://${host}:${port}`,
    frontDoor: frontDoor.value,
    ...(fallbackReason === undefined ? {} : { fallbackReason }),
    begin: (listener) => {
      serve = listener
    },
  })
}
