import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { AdminStore } from './admin/admin-store.js'
import { openAdminStore } from './admin/open-admin-store.js'
import { PendingChanges } from './admin/pending-changes.js'
import { administration } from './administration.js'
import { createAuthenticator } from './auth/authenticate.js'
import { CallPath } from './call.js'
import { auditSettings } from './config/audit-config.js'
import { type Config, type LoadedConfig, loadConfig } from './config/config.js'
import type { Environment } from './config/source.js'
import type { AuditRecord } from './core/audit-entry.js'
import { monotonicMs } from './core/clock.js'
import { ADMIN_SERVE_BUSY_TIMEOUT_MS, DRAIN_DEADLINE_MS, PENDING_CHANGES_INTERVAL_MS } from './core/limits.js'
import { fail, ok, type Result } from './core/result.js'
import { type Listener, openListener } from './http/listener.js'
import { type Readiness, serveAdmin, serveMcp } from './http/routes.js'
import { IdempotencyKeys } from './idempotency.js'
import { type Judge, policyJudge } from './judge-policy.js'
import { LifecycleEntries } from './lifecycle-entries.js'
import { McpEndpoint } from './mcp/endpoint.js'
import { Metrics } from './observe/metrics.js'
import type { Observe } from './observe/observation.js'
import { Presence } from './presence.js'
import { auditReadiness } from './readiness.js'
import { type ReloadCause, type ReloadReport, Reloads } from './reloads.js'
import { AuditMailbox } from './threads/audit-mailbox.js'
import { ConnectorFleet } from './threads/connector-fleet.js'
import type { ConnectorSupervisor } from './threads/connector-supervisor.js'
import type { Service } from './threads/fleet-member.js'
import type { ConnectorState } from './threads/fleet-report.js'
import type { AuditSettings } from './threads/messages.js'
import { ReportsDesk } from './threads/reports-desk.js'
import { VERSION } from './version.js'

/** How often folded refusals and owed entries are looked over, and how often the store is written to for small things. */
const REFUSALS_INTERVAL_MS = 5_000
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

/** The parts that work behind the listeners, in the order they are started. */
interface InnerParts {
  readonly config: Config
  readonly env: Environment
  readonly observe: Observe
  readonly store: AdminStore
  readonly audit: AuditMailbox
  /** Absent where no buffer is kept. */
  readonly reports?: ReportsDesk
  readonly idempotency: IdempotencyKeys
  readonly metrics: Metrics
  readonly path: CallPath
  readonly lifecycle: LifecycleEntries
  /** Takes changes of the admin store into the trail. */
  readonly pending: PendingChanges
  readonly fleet: ConnectorFleet
  readonly reloads: Reloads
  /** Tells the store that this instance serves it, and what came of requests to reload. */
  readonly presence: Presence
  /** Settles when every connector has been prepared once, well or not. */
  readonly settled: Promise<unknown>
}

interface Parts extends InnerParts {
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
      setInterval(() => void this.#tidyStore(), STORE_INTERVAL_MS).unref(),
      setInterval(() => void parts.pending.take(), PENDING_CHANGES_INTERVAL_MS).unref(),
    ]
  }

  /** `http://host:port` of the MCP listener, without a path. */
  get url(): string {
    return this.#parts.mcp.url
  }

  get adminUrl(): string {
    return this.#parts.admin.url
  }

  /** The supervisors that serve now, by connector id. */
  get connectors(): ReadonlyMap<string, ConnectorSupervisor> {
    return this.#parts.fleet.supervisors
  }

  /** What there is to say of every configured connector, those with a fault too. */
  report(): readonly ConnectorState[] {
    return this.#parts.fleet.report()
  }

  /**
   * Starts every part or none: a fault of server, store or audit ends the start with one sentence; a fault inside a
   * connector is observed and the others serve. Connectors go on becoming ready after this settles. `env` fills `${NAME}` in
   * what is read later.
   */
  static async start(loaded: LoadedConfig, observe: Observe, env: Environment): Promise<Result<Gateway, string>> {
    const inner = await startInner(loaded, observe, env)
    if (!inner.ok) return inner
    const listening = await listen(inner.value)
    if (!listening.ok) {
      await stopInner(inner.value)
      return listening
    }
    const { mcp, admin, fallbackReason } = listening.value
    inner.value.metrics.describe({ version: VERSION, node: process.version, http: mcp.server.implementation })
    if (fallbackReason !== undefined) observe({ kind: 'http.fallback', reason: fallbackReason })
    observe({ kind: 'gateway.listening', surface: 'mcp', url: mcp.url })
    observe({ kind: 'gateway.listening', surface: 'admin', url: admin.url })
    return ok(new Gateway({ ...inner.value, ...listening.value }))
  }

  /** Settles when every connector has been prepared once, well or not. */
  async whenSettled(): Promise<void> {
    await this.#parts.settled
  }

  /**
   * Reads configuration and admin store again, introspects every connector and applies the policies as stored now. What cannot be
   * prepared goes on as it was. Settles when every connector has been prepared again, well or not; never rejects.
   */
  reload(cause: ReloadCause): Promise<ReloadReport> {
    return this.#parts.reloads.reload(cause)
  }

  /** Takes no new requests, lets those in flight end, writes every entry, and ends every thread. Safe to call twice. */
  stop(deadlineMs: number = DRAIN_DEADLINE_MS): Promise<void> {
    this.#stopped ??= this.#stop(deadlineMs)
    return this.#stopped
  }

  async #stop(deadlineMs: number): Promise<void> {
    const { mcp, admin, endpoint, fleet, reloads, reports, presence, audit, pending, lifecycle, store, observe } =
      this.#parts
    for (const timer of this.#timers) clearInterval(timer)
    reloads.stop()
    // It reloads no more, so nobody is to wait for it.
    const forgotten = presence.end()
    observe({ kind: 'gateway.draining', inFlight: endpoint.visits })
    mcp.server.stopAccepting()
    endpoint.drain()
    // One deadline for all of it: what one stage uses up is not there for the next.
    const endsAtMs = monotonicMs() + deadlineMs
    const left = () => Math.max(0, endsAtMs - monotonicMs())
    await endpoint.whenIdle(left())
    await fleet.stop(left())
    this.#flushEntries(true)
    await pending.take()
    lifecycle.stopping(endpoint.visits)
    await reports?.stop()
    await audit.stop()
    mcp.server.close()
    admin.server.close()
    await this.#tidyStore()
    await forgotten
    await store.close()
    observe({ kind: 'gateway.stopped' })
  }

  #flushEntries(all: boolean): void {
    this.#parts.path.flushRefusals(all)
    this.#parts.path.settleOwed()
  }

  async #tidyStore(): Promise<void> {
    const { idempotency, presence, store, observe } = this.#parts
    await presence.seen()
    await idempotency.tidy()
    await store.flushLastUsed().catch((error: unknown) => observe(storeFailed(error)))
  }
}

/** What a run was begun with, for its first entry: what a reader of the trail needs to know of it, and no address or secret. */
function startDetail({ auth, audit, connectors }: Config): NonNullable<AuditRecord['detail']> {
  return {
    version: VERSION,
    node: process.version,
    authentication: auth.enabled,
    connectors: connectors.length,
    on_failure: audit.onFailure,
    values: `filters ${audit.values.filters}, writes ${audit.values.writes}, result_keys ${audit.values.resultKeys}`,
  }
}

function storeFailed(error: unknown): { readonly kind: 'auth.store_failed'; readonly detail: string } {
  return { kind: 'auth.store_failed', detail: error instanceof Error ? error.message : String(error) }
}

/** Everything that works behind the listeners. The error is one sentence, and nothing runs then. */
async function startInner(
  loaded: LoadedConfig,
  observe: Observe,
  env: Environment,
): Promise<Result<InnerParts, string>> {
  const { config } = loaded
  const opened = await openAdminStore(config.adminStore, {
    clock: Date.now,
    randomBytes,
    busyTimeoutMs: ADMIN_SERVE_BUSY_TIMEOUT_MS,
    created: (place) => observe({ kind: 'store.created', place }),
  })
  if (!opened.ok) return opened
  const store = opened.value
  // The trail is there before what is told to it of the trail itself.
  const later: { lifecycle?: LifecycleEntries } = {}
  const observeTrail: Observe = (observation) => {
    observe(observation)
    later.lifecycle?.observe(observation)
  }
  const settings = auditSettings(config.audit)
  const started = await AuditMailbox.start(settings, { observe: observeTrail, nowMs: monotonicMs })
  if (!started.ok) {
    await store.close()
    return started
  }
  const audit = started.value
  const metrics = new Metrics(() => fleet.gauges, audit)
  const newId = entryIds(Date.now())
  const meter = (record: AuditRecord) => metrics.countEntry(record)
  const lifecycle = new LifecycleEntries({ audit, wallMs: Date.now, newId, meter })
  later.lifecycle = lifecycle
  lifecycle.started(startDetail(config))
  const observeAll: Observe = (observation) => {
    metrics.observe(observation)
    observe(observation)
    lifecycle.observe(observation)
  }
  const fleet = new ConnectorFleet({ observe: observeAll, nowMs: monotonicMs, random: Math.random, policies: store })
  const idempotency = idempotencyKeys(config, store, audit, observe)
  const path = new CallPath({
    audit,
    idempotency,
    nowMs: monotonicMs,
    wallMs: Date.now,
    newId,
    meter: (record, commitMs) => metrics.count(record, commitMs),
  })
  const pending = new PendingChanges({
    store,
    instance: audit.instance,
    available: () => audit.available,
    append: (record, onDurable) => audit.append(record, onDurable),
    onFailed: (error) => observe(storeFailed(error)),
  })
  const presence = new Presence({
    store,
    self: { run: randomBytes(12).toString('hex'), instance: audit.instance, host: hostname(), pid: process.pid },
    states: () => fleet.report(),
    onFailed: (error) => observe(storeFailed(error)),
  })
  const load = () => loadConfig({ file: config.file, env })
  try {
    // Before anything is read: whoever asks for a reload from now on waits for this instance too.
    await presence.seen()
    const ended = (report: ReloadReport) => presence.reloaded(report)
    const begun = await Reloads.begin({ fleet, store, observe: observeAll, env, load, ended }, loaded)
    const reports = reportsDesk(settings, observeAll)
    const kept = { config, env, observe, store, audit, idempotency, metrics, path, lifecycle, pending, fleet, presence }
    return ok({ ...kept, ...begun, ...(reports === undefined ? {} : { reports }) })
  } catch (error) {
    await presence.end()
    await audit.stop()
    await store.close()
    return fail(`the admin store failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** For a start that does not come to listening: nobody has called. */
async function stopInner({ reloads, presence, fleet, lifecycle, reports, audit, store }: InnerParts): Promise<void> {
  reloads.stop()
  await presence.end()
  await fleet.stop(0)
  lifecycle.stopping(0)
  await reports?.stop()
  await audit.stop()
  await store.close()
}

/** Reports are made of the buffer. */
function reportsDesk({ buffer, chainKeyFile }: AuditSettings, observe: Observe): ReportsDesk | undefined {
  if (buffer === undefined || chainKeyFile === undefined) return undefined
  return new ReportsDesk({ buffer: buffer.path, chainKeyFile }, { observe })
}

function idempotencyKeys(config: Config, store: AdminStore, audit: AuditMailbox, observe: Observe): IdempotencyKeys {
  return new IdempotencyKeys({
    store,
    gateway: audit.instance,
    run: randomBytes(8).toString('hex'),
    wallMs: Date.now,
    windowMs: config.idempotency.windowHours * HOUR_MS,
    onFailed: (detail) => observe({ kind: 'auth.store_failed', detail }),
  })
}

/** What keeps the gateway from serving. Databases do not count: they are each connector's own trouble. */
async function readiness({ audit, store }: InnerParts, endpoint: McpEndpoint): Promise<Readiness> {
  const healthy = await store.healthy()
  const trail = auditReadiness(audit)
  const failing = [...(endpoint.draining ? ['draining'] : []), ...trail.failing, ...(healthy ? [] : ['admin_store'])]
  return { ...trail, failing }
}

function judgeOf({ config, supervisor }: Service): Judge {
  return { config, judge: (text, vars) => supervisor.judge(text, vars) }
}

interface Listening {
  readonly endpoint: McpEndpoint
  readonly mcp: Listener
  readonly admin: Listener
  readonly fallbackReason?: string
}

async function listen(parts: InnerParts): Promise<Result<Listening, string>> {
  const { server, auth } = parts.config
  const admin = await openListener(server, server.adminListen)
  if (!admin.ok) return admin
  const mcp = await openListener(server, server.listen)
  if (!mcp.ok) {
    admin.value.server.close()
    return mcp
  }
  const authenticator = createAuthenticator({
    store: parts.store,
    authEnabled: auth.enabled,
    anonymousRoles: auth.anonymousRoles,
    clock: Date.now,
    observe: parts.observe,
    compared: () => parts.reloads.compared(),
  })
  const endpoint = new McpEndpoint({
    path: parts.path,
    frontDoor: mcp.value.frontDoor,
    authenticate: authenticator.authenticate,
    nowMs: monotonicMs,
    serverVersion: VERSION,
    bodyBytesMax: server.limits.bodyBytesMax,
    inFlightMax: server.limits.inFlightMax,
  })
  const { doors } = parts.fleet
  mcp.value.begin((exchange) => serveMcp(exchange, mcp.value.frontDoor, doors, endpoint))
  const surface = {
    ready: () => readiness(parts, endpoint),
    scrape: () => parts.metrics.scrape(),
    frontDoor: admin.value.frontDoor,
    ...administration({
      ...parts,
      authenticator,
      auditable: () => parts.audit.available,
      report: () => parts.fleet.report(),
      reload: () => parts.reloads.reload('api'),
      judge: (names) => policyJudge(() => parts.fleet.services.map(judgeOf), names),
      frontDoor: admin.value.frontDoor,
    }),
  }
  admin.value.begin((exchange) => serveAdmin(exchange, surface))
  const { fallbackReason } = mcp.value
  return ok({
    endpoint,
    mcp: mcp.value,
    admin: admin.value,
    ...(fallbackReason === undefined ? {} : { fallbackReason }),
  })
}
