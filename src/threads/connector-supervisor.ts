import { unreachable } from '../core/assert.js'
import { ERRORS, type ErrorCode } from '../core/errors.js'
import type { Identity } from '../core/identity.js'
import {
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  CALL_DEADLINE_GRACE_MS,
  INTROSPECTION_TIMEOUT_MS,
  QUERY_TIMEOUT_MAX_MS,
  TOOL_LISTS_CACHED_MAX,
} from '../core/limits.js'
import { encodeError } from '../core/tool-result.js'
import type { ConnectorGauges } from '../observe/metrics.js'
import type { Observe } from '../observe/observation.js'
import { ConnectorPool, type Lane } from './connector-pool.js'
import type {
  ConnectorSettings,
  FromConnector,
  OutcomeMessage,
  PolicyToPrepare,
  PrepareReport,
  SnapshotHandle,
} from './messages.js'

export type ConnectorMode = 'starting' | 'ready' | 'unavailable' | 'draining' | 'stopped'

export interface CallRequest {
  readonly auditId: string
  readonly identity: Identity
  readonly tool: string
  readonly args: unknown
}

/** The outcome with the epoch that judged it; the epoch is absent when no snapshot existed. */
export type OutcomeListener = (outcome: OutcomeMessage, epoch: number | undefined) => void
export type ListListener = (body: Uint8Array | undefined) => void

/** A connector as the front's path sees it, whether it works or not. */
export interface Connector {
  readonly id: string
  call(request: CallRequest, listener: OutcomeListener): number
  cancel(callId: number): void
  list(identity: Identity, listener: ListListener): void
}

function lostOutcome(callId: number, code: ErrorCode, reason: string): OutcomeMessage {
  return {
    kind: 'outcome',
    callId,
    decision: ERRORS[code].decision,
    code,
    reason,
    effect: 'none',
    operation: 'unknown',
    queueMs: 0,
    dbMs: 0,
    body: encodeError({ code }),
  }
}

/** A connector whose configuration has a fault: every call to it is answered, and has its entry. */
export function disabledConnector(id: string): Connector {
  return {
    id,
    call: (_request, listener) => {
      listener(lostOutcome(0, 'CONNECTOR_UNAVAILABLE', 'the configuration of the connector has a fault'), undefined)
      return 0
    },
    cancel: () => {},
    list: (_identity, listener) => listener(undefined),
  }
}

interface PendingCall {
  readonly lane: Lane
  readonly epoch: number
  readonly sentAtMs: number
  readonly listener: OutcomeListener
}

interface PendingList {
  readonly lane: Lane
  readonly key: string
  readonly epoch: number
  readonly listeners: ListListener[]
}

export interface StoredForConnector extends PolicyToPrepare {
  readonly version: number
}

export interface SupervisorSurroundings {
  readonly observe: Observe
  readonly nowMs: () => number
  readonly random: () => number
  /** The policy as stored now, or undefined when none was applied. May throw when the store fails. */
  readonly readPolicy: () => StoredForConnector | undefined
  /** Keeps what a version was confirmed to be about. May throw when the store fails. */
  readonly confirm: (version: number, known: string) => void
}

/** How often calls in flight are looked over for a worker that no longer answers. */
const SWEEP_INTERVAL_MS = 500
/** A changed schema makes the connector introspect again, but a broken one must not make it do so all the time. */
const SCHEMA_REFRESH_INTERVAL_MS = 30_000

/**
 * Owns one connector on the front thread: its threads, its current snapshot, its cached tool lists and its calls in flight.
 * A fault of this connector stays here: the others never notice.
 */
export class ConnectorSupervisor implements Connector {
  readonly settings: ConnectorSettings
  readonly #surroundings: SupervisorSurroundings
  readonly #threads: number
  readonly #callDeadlineMs: number
  #pool: ConnectorPool
  #mode: ConnectorMode = 'starting'
  #lanes: Lane[] = []
  #nextLane = 0
  #snapshot: SnapshotHandle | undefined
  #report: PrepareReport | undefined
  #overrides: ReadonlySet<string> = new Set()
  #lastEpoch = 0
  #nextId = 1
  readonly #calls = new Map<number, PendingCall>()
  readonly #lists = new Map<string, Uint8Array>()
  readonly #pendingLists = new Map<number, PendingList>()
  #preparing:
    | { readonly requestId: number; readonly lane: Lane; readonly version: number; readonly timer: NodeJS.Timeout }
    | undefined
  #failures = 0
  #retryTimer: NodeJS.Timeout | undefined
  #lastRefreshMs = Number.NEGATIVE_INFINITY
  readonly #sweepTimer: NodeJS.Timeout
  readonly #settled: ((report: PrepareReport | undefined) => void)[] = []
  #drained: (() => void) | undefined
  readonly #laneExits = new Map<Lane, () => void>()

  constructor(settings: ConnectorSettings, threads: number, surroundings: SupervisorSurroundings) {
    this.settings = settings
    this.#threads = threads
    this.#surroundings = surroundings
    this.#callDeadlineMs = QUERY_TIMEOUT_MAX_MS + settings.pool.acquireTimeoutMs + CALL_DEADLINE_GRACE_MS
    this.#pool = this.#openPool()
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS)
    this.#sweepTimer.unref()
    this.#prepare()
  }

  get id(): string {
    return this.settings.id
  }

  get mode(): ConnectorMode {
    return this.#mode
  }

  get epoch(): number | undefined {
    return this.#snapshot?.epoch
  }

  get report(): PrepareReport | undefined {
    return this.#report
  }

  /** What a scrape shows of this connector. */
  get gauges(): ConnectorGauges {
    const serving = this.#lanes.filter((lane) => lane.serving).length
    return {
      connector: this.id,
      inFlight: this.#calls.size,
      epoch: this.epoch,
      drift: this.#report?.drift.length ?? 0,
      threads: { starting: this.#lanes.length - serving, serving },
    }
  }

  get inFlight(): number {
    return this.#calls.size
  }

  /** Settles when the first preparation has ended, well or not. */
  whenSettled(): Promise<PrepareReport | undefined> {
    if (this.#mode !== 'starting') return Promise.resolve(this.#report)
    return new Promise((resolve) => this.#settled.push(resolve))
  }

  /** Sends a call on its way; the listener is called exactly once, whatever becomes of the thread. */
  call(request: CallRequest, listener: OutcomeListener): number {
    const callId = this.#nextId++
    const lane = this.#pickLane()
    const snapshot = this.#snapshot
    if (lane === undefined || snapshot === undefined || this.#mode === 'draining' || this.#mode === 'stopped') {
      listener(lostOutcome(callId, 'CONNECTOR_UNAVAILABLE', `connector ${this.#mode}`), this.epoch)
      return callId
    }
    const sentAtMs = this.#surroundings.nowMs()
    this.#calls.set(callId, { lane, epoch: snapshot.epoch, sentAtMs, listener })
    lane.send({ kind: 'call', callId, snapshot, sentAtMs, ...request })
    return callId
  }

  /** Stops the database work of a call; its outcome still comes. Unknown ids are calls that have ended. */
  cancel(callId: number): void {
    this.#calls.get(callId)?.lane.send({ kind: 'cancel', callId })
  }

  /** The caller's tool list (`"tools":[…]`), from the cache or made by the connector's thread. */
  list(identity: Identity, listener: ListListener): void {
    const snapshot = this.#snapshot
    const lane = this.#pickLane()
    if (snapshot === undefined || lane === undefined) return listener(undefined)
    const override = this.#overrides.has(identity.name) ? identity.name : ''
    const key = JSON.stringify([snapshot.epoch, override, [...identity.roles].sort()])
    const cached = this.#lists.get(key)
    if (cached !== undefined) return listener(cached)
    for (const pending of this.#pendingLists.values()) {
      if (pending.key === key) {
        pending.listeners.push(listener)
        return
      }
    }
    const requestId = this.#nextId++
    this.#pendingLists.set(requestId, { lane, key, epoch: snapshot.epoch, listeners: [listener] })
    lane.send({ kind: 'list', requestId, snapshot, identity })
  }

  /** Introspects and judges the policy again; the snapshot is swapped only when all of it is well. */
  refresh(): void {
    this.#lastRefreshMs = this.#surroundings.nowMs()
    if (this.#preparing === undefined) this.#prepare()
  }

  /** Takes no more calls, waits for those in flight until the deadline, then ends the threads. */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#mode === 'stopped') return
    this.#mode = 'draining'
    clearTimeout(this.#retryTimer)
    let timer: NodeJS.Timeout | undefined
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve
        timer = setTimeout(resolve, deadlineMs)
      })
      clearTimeout(timer)
    }
    await this.#end(deadlineMs)
  }

  async #end(deadlineMs: number): Promise<void> {
    const agreed = Promise.all(this.#lanes.map((lane) => this.#stopLane(lane)))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([
      agreed,
      new Promise((resolve) => {
        timer = setTimeout(resolve, deadlineMs)
      }),
    ])
    clearTimeout(timer)
    this.#mode = 'stopped'
    clearInterval(this.#sweepTimer)
    if (this.#preparing !== undefined) clearTimeout(this.#preparing.timer)
    await this.#pool.close()
    this.#answerAllLost(() => true, 'CONNECTOR_UNAVAILABLE', 'the gateway is stopping')
    this.#settle()
  }

  #stopLane(lane: Lane): Promise<void> {
    return new Promise((resolve) => {
      this.#laneExits.set(lane, resolve)
      lane.send({ kind: 'stop' })
    })
  }

  #openPool(): ConnectorPool {
    const pool = new ConnectorPool(this.settings, this.#threads, {
      onMessage: (lane, message) => this.#receive(lane, message),
      onExit: (lane, reason) => this.#laneExited(lane, reason),
    })
    this.#lanes = Array.from({ length: this.#threads }, () => pool.openLane())
    return pool
  }

  #pickLane(): Lane | undefined {
    const lane = this.#lanes[this.#nextLane % this.#lanes.length]
    this.#nextLane = (this.#nextLane + 1) % Math.max(1, this.#lanes.length)
    return lane
  }

  #receive(lane: Lane, message: FromConnector): void {
    switch (message.kind) {
      case 'outcome':
        return this.#outcome(message)
      case 'listed':
        return this.#listed(message.requestId, message.body)
      case 'prepared':
        return this.#prepared(message)
      case 'observed':
        return this.#surroundings.observe(message.observation)
      case 'serving':
        return
      case 'stopped':
        this.#laneExits.get(lane)?.()
        return
      default:
        unreachable(message)
    }
  }

  #outcome(message: OutcomeMessage): void {
    const pending = this.#calls.get(message.callId)
    if (pending === undefined) return
    this.#calls.delete(message.callId)
    pending.listener(message, pending.epoch)
    if (message.code === 'SCHEMA_CHANGED') this.#schemaChanged()
    if (this.#calls.size === 0) this.#drained?.()
  }

  #schemaChanged(): void {
    const sinceMs = this.#surroundings.nowMs() - this.#lastRefreshMs
    if (sinceMs >= SCHEMA_REFRESH_INTERVAL_MS) this.refresh()
  }

  #listed(requestId: number, body: Uint8Array): void {
    const pending = this.#pendingLists.get(requestId)
    if (pending === undefined) return
    this.#pendingLists.delete(requestId)
    if (pending.epoch === this.epoch) {
      const oldest = this.#lists.keys().next()
      if (this.#lists.size >= TOOL_LISTS_CACHED_MAX && oldest.done !== true) this.#lists.delete(oldest.value)
      // The received bytes are a view into the post they came in, which the cache must not keep alive.
      this.#lists.set(pending.key, body.slice())
    }
    for (const listener of pending.listeners) listener(body)
  }

  #prepare(): void {
    clearTimeout(this.#retryTimer)
    const lane = this.#pickLane()
    if (lane === undefined) return this.#unavailable('no thread is running')
    let policy: StoredForConnector | undefined
    try {
      policy = this.#surroundings.readPolicy()
    } catch (error) {
      return this.#unavailable(`the admin store failed: ${error instanceof Error ? error.message : String(error)}`)
    }
    const requestId = this.#nextId++
    const timer = setTimeout(() => {
      this.#preparing = undefined
      this.#unavailable('introspection did not end in time')
      this.#pool.kill(lane)
    }, INTROSPECTION_TIMEOUT_MS)
    this.#preparing = { requestId, lane, timer, version: policy?.version ?? 0 }
    // An attempt that fails spends its number: two snapshots can never share one.
    this.#lastEpoch += 1
    lane.send({ kind: 'prepare', requestId, epoch: this.#lastEpoch, policy })
  }

  #prepared(message: Extract<FromConnector, { kind: 'prepared' }>): void {
    if (this.#preparing?.requestId !== message.requestId) return
    clearTimeout(this.#preparing.timer)
    const { version } = this.#preparing
    this.#preparing = undefined
    if (!message.ok) return this.#unavailable(message.reason)
    const { confirmed } = message.report
    try {
      // Before anything is served under it: otherwise the next start would confirm whatever it then finds.
      if (confirmed !== undefined) this.#surroundings.confirm(version, confirmed)
    } catch (error) {
      return this.#unavailable(`the admin store failed: ${error instanceof Error ? error.message : String(error)}`)
    }
    this.#failures = 0
    this.#snapshot = message.snapshot
    this.#report = message.report
    this.#overrides = new Set(message.report.overrides)
    this.#lists.clear()
    if (this.#mode === 'starting' || this.#mode === 'unavailable') this.#mode = 'ready'
    const { epoch, tables, warnings, drift } = message.report
    const connector = this.settings.id
    this.#surroundings.observe({ kind: 'connector.ready', connector, epoch, tables, warnings })
    if (drift.length > 0) this.#surroundings.observe({ kind: 'connector.drift', connector, objects: drift })
    this.#settle()
  }

  /** A failed preparation keeps the old snapshot where there is one, and tries again after a growing pause. */
  #unavailable(reason: string): void {
    if (this.#mode === 'draining' || this.#mode === 'stopped') return
    this.#mode = this.#snapshot === undefined ? 'unavailable' : 'ready'
    const retryInMs = this.#backoffMs()
    this.#surroundings.observe({ kind: 'connector.unavailable', connector: this.settings.id, reason, retryInMs })
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(() => this.#recover(), retryInMs)
    this.#settle()
  }

  #recover(): void {
    if (this.#lanes.length < this.#threads) this.#reopen()
    if (this.#preparing === undefined) this.#prepare()
  }

  #backoffMs(): number {
    const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** this.#failures)
    this.#failures += 1
    return Math.round(ceiling * (0.5 + this.#surroundings.random() / 2))
  }

  #settle(): void {
    for (const resolve of this.#settled.splice(0)) resolve(this.#report)
  }

  /**
   * A thread is gone: its calls are answered as lost, and a new one takes its place at once. Calls for it wait in its
   * port. Only when threads die before they ever serve does a pause come between the attempts.
   */
  #laneExited(lane: Lane, reason: string): void {
    this.#laneExits.get(lane)?.()
    this.#laneExits.delete(lane)
    this.#lanes = this.#lanes.filter((other) => other !== lane)
    const lost = this.#answerAllLost(
      (pending) => pending.lane === lane,
      'CONNECTOR_UNAVAILABLE',
      'worker thread exited',
    )
    for (const [requestId, pending] of this.#pendingLists) {
      if (pending.lane !== lane) continue
      this.#pendingLists.delete(requestId)
      for (const listener of pending.listeners) listener(undefined)
    }
    if (this.#mode === 'draining' || this.#mode === 'stopped') return
    const connector = this.settings.id
    this.#surroundings.observe({ kind: 'connector.worker_exited', connector, reason, callsLost: lost })
    const wasPreparing = this.#preparing?.lane === lane
    if (wasPreparing && this.#preparing !== undefined) {
      clearTimeout(this.#preparing.timer)
      this.#preparing = undefined
    }
    if (!lane.served) return this.#unavailable(`the worker thread failed to start: ${reason}`)
    this.#lanes.push(this.#pool.openLane())
    if (wasPreparing) this.#prepare()
  }

  /** After a thread that never served, the pool itself may be unusable: a fresh one replaces it. */
  #reopen(): void {
    const old = this.#pool
    this.#pool = this.#openPool()
    void old.close()
  }

  #answerAllLost(which: (pending: PendingCall) => boolean, code: ErrorCode, reason: string): number {
    let lost = 0
    for (const [callId, pending] of this.#calls) {
      if (!which(pending)) continue
      this.#calls.delete(callId)
      pending.listener(lostOutcome(callId, code, reason), pending.epoch)
      lost += 1
    }
    if (this.#calls.size === 0) this.#drained?.()
    return lost
  }

  /** Calls are in the map in the order they were sent, so the first that is young enough ends the look-over. */
  #sweep(): void {
    const now = this.#surroundings.nowMs()
    for (const pending of this.#calls.values()) {
      if (now - pending.sentAtMs < this.#callDeadlineMs) return
      // The worker cancels every query well before this deadline: it answers nothing any more.
      this.#pool.kill(pending.lane)
    }
  }
}
