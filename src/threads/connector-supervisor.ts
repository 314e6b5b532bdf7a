import { unreachable } from '../core/assert.js'
import type { Identity } from '../core/identity.js'
import {
  AUDIT_ACK_TIMEOUT_MS,
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  CALL_DEADLINE_GRACE_MS,
  INTROSPECTION_TIMEOUT_MS,
  QUERY_TIMEOUT_MAX_MS,
} from '../core/limits.js'
import type { ConnectorGauges } from '../observe/metrics.js'
import type { Observe } from '../observe/observation.js'
import { type CallListener, type CallRequest, type Connector, lostOutcome } from './connector.js'
import type { Lane } from './connector-pool.js'
import type { Gate } from './gate.js'
import { Lanes } from './lanes.js'
import type {
  ConnectorSettings,
  FromConnector,
  IntentMessage,
  OutcomeMessage,
  PolicyToPrepare,
  PrepareReport,
  SnapshotHandle,
} from './messages.js'
import { type ListListener, ToolLists } from './tool-lists.js'

export type ConnectorMode = 'starting' | 'ready' | 'unavailable' | 'draining' | 'stopped'

interface PendingCall {
  readonly lane: Lane
  readonly epoch: number
  readonly sentAtMs: number
  readonly listener: CallListener
  /** Set when the call was announced. */
  intent?: IntentMessage
  /** Whether it was told to go: from then on it may take effect. */
  released?: true
}

interface Preparation {
  readonly requestId: number
  readonly lane: Lane
  /** The version of the policy that is being judged. */
  readonly version: number
  readonly timer: NodeJS.Timeout
  readonly leave: () => void
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
  /** Shared by all connectors: how many may introspect at once. */
  readonly gate: Gate
}

/** Threads that are idle stop in less; it is not worth ending them by force because calls used up the deadline. */
const STOP_LANES_MIN_MS = 500
/** How often calls in flight and idle threads are looked over. */
const SWEEP_INTERVAL_MS = 250
/** A changed schema makes the connector introspect again, but a broken one must not make it do so all the time. */
const SCHEMA_REFRESH_INTERVAL_MS = 30_000

/**
 * Owns one connector on the front thread: its threads, its current snapshot, its cached tool lists and its calls in flight.
 * A fault of this connector stays here: the others never notice.
 */
export class ConnectorSupervisor implements Connector {
  readonly settings: ConnectorSettings
  readonly #surroundings: SupervisorSurroundings
  readonly #callDeadlineMs: number
  readonly #lanes: Lanes
  readonly #lists = new ToolLists()
  readonly #calls = new Map<number, PendingCall>()
  readonly #sweepTimer: NodeJS.Timeout
  readonly #settled: ((report: PrepareReport | undefined) => void)[] = []
  #mode: ConnectorMode = 'starting'
  /** While true no thread is opened: the last one failed to start, and the next attempt has its time. */
  #coolingDown = false
  #snapshot: SnapshotHandle | undefined
  #report: PrepareReport | undefined
  #lastEpoch = 0
  #nextId = 1
  #preparation: 'none' | 'queued' | Preparation = 'none'
  #prepareAgain = false
  #failures = 0
  #retryTimer: NodeJS.Timeout | undefined
  #lastRefreshMs = Number.NEGATIVE_INFINITY
  #refreshTimer: NodeJS.Timeout | undefined
  #drained: (() => void) | undefined

  constructor(settings: ConnectorSettings, surroundings: SupervisorSurroundings) {
    this.settings = settings
    this.#surroundings = surroundings
    const { acquireTimeoutMs } = settings.pool
    // A call that writes also waits for its intent.
    this.#callDeadlineMs = QUERY_TIMEOUT_MAX_MS + acquireTimeoutMs + AUDIT_ACK_TIMEOUT_MS + CALL_DEADLINE_GRACE_MS
    const listener = {
      onMessage: (lane: Lane, message: FromConnector) => this.#receive(lane, message),
      onLost: (lane: Lane, reason: string) => this.#laneLost(lane, reason),
    }
    this.#lanes = new Lanes(settings, listener, surroundings.nowMs)
    this.#lanes.fill()
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref()
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

  get inFlight(): number {
    return this.#calls.size
  }

  /** What a scrape shows of this connector. */
  get gauges(): ConnectorGauges {
    const drift = this.#report?.drift.length ?? 0
    return {
      connector: this.id,
      inFlight: this.#calls.size,
      epoch: this.epoch,
      drift,
      threads: this.#lanes.counts,
      connections: this.#lanes.connections,
    }
  }

  /** The threads, for tests that end one. */
  get lanes(): Lanes {
    return this.#lanes
  }

  /** Settles when the first preparation has ended, well or not. */
  whenSettled(): Promise<PrepareReport | undefined> {
    if (this.#mode !== 'starting') return Promise.resolve(this.#report)
    return new Promise((resolve) => this.#settled.push(resolve))
  }

  /** Sends a call on its way; `ended` follows, whatever becomes of the thread. */
  call(request: CallRequest, listener: CallListener): number {
    const callId = this.#nextId++
    const snapshot = this.#snapshot
    const lane = snapshot === undefined ? undefined : this.#takeLane()
    if (lane === undefined || snapshot === undefined) {
      listener.ended(lostOutcome(callId, 'CONNECTOR_UNAVAILABLE', `connector ${this.#mode}`), this.epoch)
      return callId
    }
    const sentAtMs = this.#surroundings.nowMs()
    this.#calls.set(callId, { lane, epoch: snapshot.epoch, sentAtMs, listener })
    lane.ask({ kind: 'call', callId, snapshot, sentAtMs, ...request })
    return callId
  }

  /** Stops the database work of a call; its outcome still comes. Unknown ids are calls that have ended. */
  cancel(callId: number): void {
    this.#calls.get(callId)?.lane.tell({ kind: 'cancel', callId })
  }

  /** The caller's tool list, from the cache or made by the connector's thread. */
  list(identity: Identity, listener: ListListener): void {
    const snapshot = this.#snapshot
    if (snapshot === undefined) return listener(undefined)
    if (this.#lists.find(identity, listener)) return
    const lane = this.#takeLane()
    if (lane === undefined) return listener(undefined)
    const requestId = this.#nextId++
    this.#lists.expect(requestId, { lane, sentAtMs: this.#surroundings.nowMs() }, identity, listener)
    lane.ask({ kind: 'list', requestId, snapshot, identity })
  }

  /** Introspects and judges the policy again; the snapshot is swapped only when all of it is well. */
  refresh(): void {
    this.#lastRefreshMs = this.#surroundings.nowMs()
    clearTimeout(this.#refreshTimer)
    this.#refreshTimer = undefined
    // What is under way may have read the policy already: another preparation follows it.
    if (typeof this.#preparation === 'object') this.#prepareAgain = true
    else if (this.#preparation === 'none') this.#prepare()
  }

  /** Takes no more calls, waits for those in flight until the deadline, then ends the threads. */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#mode === 'stopped') return
    this.#mode = 'draining'
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#refreshTimer)
    clearInterval(this.#sweepTimer)
    const endsAtMs = this.#surroundings.nowMs() + deadlineMs
    if (this.#calls.size > 0) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#drained = resolve
        timer = setTimeout(resolve, deadlineMs)
      })
      clearTimeout(timer)
    }
    this.#endPreparation()
    await this.#lanes.close(Math.max(STOP_LANES_MIN_MS, endsAtMs - this.#surroundings.nowMs()))
    this.#mode = 'stopped'
    this.#answerLost(() => true, 'the gateway is stopping')
    this.#settle()
  }

  #takeLane(): Lane | undefined {
    const refusing = this.#coolingDown || this.#mode === 'draining' || this.#mode === 'stopped'
    return refusing ? undefined : this.#lanes.take()
  }

  #receive(lane: Lane, message: FromConnector): void {
    switch (message.kind) {
      case 'outcome':
        lane.answered(this.#surroundings.nowMs())
        return this.#outcome(message)
      case 'intent':
        return this.#announced(lane, message)
      case 'listed':
        lane.answered(this.#surroundings.nowMs())
        return this.#lists.made(message.requestId, message.body)
      case 'prepared':
        lane.answered(this.#surroundings.nowMs())
        return this.#prepared(message)
      case 'observed':
        return this.#surroundings.observe(message.observation)
      case 'connections':
        lane.connections = { idle: message.idle, busy: message.busy }
        return
      case 'serving':
      case 'stopped':
        return
      default:
        unreachable(message)
    }
  }

  #announced(lane: Lane, intent: IntentMessage): void {
    const { callId } = intent
    const pending = this.#calls.get(callId)
    if (pending === undefined) return
    pending.intent = intent
    pending.listener.announced(intent, pending.epoch, (verdict) => {
      // Whoever waited for it is gone when the call has been answered as lost.
      if (this.#calls.get(callId) !== pending) return
      if (verdict.kind === 'go') pending.released = true
      lane.tell({ kind: 'proceed', callId, verdict })
    })
  }

  #outcome(message: OutcomeMessage): void {
    const pending = this.#calls.get(message.callId)
    if (pending === undefined) return
    this.#calls.delete(message.callId)
    pending.listener.ended(message, pending.epoch)
    if (message.code === 'SCHEMA_CHANGED') this.#schemaChanged()
    if (this.#calls.size === 0) this.#drained?.()
  }

  #schemaChanged(): void {
    if (this.#refreshTimer !== undefined) return
    const dueMs = this.#lastRefreshMs + SCHEMA_REFRESH_INTERVAL_MS - this.#surroundings.nowMs()
    if (dueMs <= 0) return this.refresh()
    // Seen again too soon: not forgotten, only later.
    this.#refreshTimer = setTimeout(() => this.refresh(), dueMs)
  }

  #prepare(): void {
    clearTimeout(this.#retryTimer)
    this.#preparation = 'queued'
    this.#surroundings.gate.enter((leave) => this.#beginPreparation(leave))
  }

  #beginPreparation(leave: () => void): void {
    const lane = this.#takeLane()
    if (lane === undefined) {
      leave()
      this.#preparation = 'none'
      return this.#unavailable('no thread can be started')
    }
    let policy: StoredForConnector | undefined
    try {
      policy = this.#surroundings.readPolicy()
    } catch (error) {
      leave()
      this.#preparation = 'none'
      return this.#unavailable(storeFailed(error))
    }
    const requestId = this.#nextId++
    const timer = setTimeout(() => {
      this.#endPreparation()
      this.#unavailable('introspection did not end in time')
      this.#lanes.kill(lane)
    }, INTROSPECTION_TIMEOUT_MS)
    this.#preparation = { requestId, lane, version: policy?.version ?? 0, timer, leave }
    // An attempt that fails spends its number: two snapshots can never share one.
    this.#lastEpoch += 1
    lane.ask({ kind: 'prepare', requestId, epoch: this.#lastEpoch, policy })
  }

  #endPreparation(): Preparation | undefined {
    const preparation = this.#preparation
    if (typeof preparation !== 'object') return undefined
    clearTimeout(preparation.timer)
    this.#preparation = 'none'
    preparation.leave()
    return preparation
  }

  #prepared(message: Extract<FromConnector, { kind: 'prepared' }>): void {
    if (typeof this.#preparation !== 'object' || this.#preparation.requestId !== message.requestId) return
    const preparation = this.#endPreparation()
    if (!message.ok) return this.#unavailable(message.reason)
    const { confirmed } = message.report
    try {
      // Before anything is served under it: otherwise the next start would confirm whatever it then finds.
      if (confirmed !== undefined) this.#surroundings.confirm(preparation?.version ?? 0, confirmed)
    } catch (error) {
      return this.#unavailable(storeFailed(error))
    }
    this.#swap(message.snapshot, message.report)
    if (this.#prepareAgain) {
      this.#prepareAgain = false
      this.#prepare()
    }
  }

  #swap(snapshot: SnapshotHandle, report: PrepareReport): void {
    this.#failures = 0
    this.#snapshot = snapshot
    this.#report = report
    this.#lists.begin(report.epoch, report.overrides)
    if (this.#mode === 'starting' || this.#mode === 'unavailable') this.#mode = 'ready'
    const { epoch, tables, warnings, drift } = report
    const connector = this.settings.id
    this.#surroundings.observe({ kind: 'connector.ready', connector, epoch, tables, warnings })
    if (drift.length > 0) this.#surroundings.observe({ kind: 'connector.drift', connector, objects: drift })
    this.#settle()
    // Opened to introspect, and nobody calls: while other connectors wait for their turn it makes room at once.
    if (this.#surroundings.gate.crowded) this.#lanes.stopIdle(0)
  }

  /** A failed preparation keeps the old snapshot where there is one, and tries again after a growing pause. */
  #unavailable(reason: string): void {
    if (this.#mode === 'draining' || this.#mode === 'stopped') return
    this.#mode = this.#snapshot === undefined ? 'unavailable' : 'ready'
    this.#prepareAgain = false
    const retryInMs = this.#backoffMs()
    this.#surroundings.observe({ kind: 'connector.unavailable', connector: this.settings.id, reason, retryInMs })
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(() => this.#retry(), retryInMs)
    this.#settle()
  }

  #retry(): void {
    this.#coolingDown = false
    this.#lanes.fill()
    if (this.#preparation === 'none') this.#prepare()
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
   * A thread is gone: its calls are answered as lost, and the next call opens a new one. Only when a thread dies before it
   * ever serves does a pause come first.
   */
  #laneLost(lane: Lane, reason: string): void {
    const lost = this.#answerLost((pending) => pending.lane === lane, 'worker thread exited')
    this.#lists.lost(lane)
    if (this.#mode === 'draining' || this.#mode === 'stopped') return
    const connector = this.settings.id
    this.#surroundings.observe({ kind: 'connector.worker_exited', connector, reason, callsLost: lost })
    const preparing = typeof this.#preparation === 'object' && this.#preparation.lane === lane
    if (preparing) this.#endPreparation()
    if (!lane.served) {
      this.#coolingDown = true
      return this.#unavailable(`the worker thread failed to start: ${reason}`)
    }
    this.#lanes.fill()
    if (preparing) this.#unavailable('the worker thread ended while it introspected')
  }

  #answerLost(which: (pending: PendingCall) => boolean, reason: string): number {
    let lost = 0
    for (const [callId, pending] of this.#calls) {
      if (!which(pending)) continue
      this.#calls.delete(callId)
      pending.listener.ended(lostOutcome(callId, 'CONNECTOR_UNAVAILABLE', reason, pending), pending.epoch)
      lost += 1
    }
    if (this.#calls.size === 0) this.#drained?.()
    return lost
  }

  /** Calls are in the map in the order they were sent, so the first that is young enough ends the look-over. */
  #sweep(): void {
    this.#lanes.stopIdle(this.settings.pool.idleTimeoutMs)
    const now = this.#surroundings.nowMs()
    const stuck = this.#lists.unansweredSince(now - this.#callDeadlineMs)
    if (stuck !== undefined) this.#lanes.kill(stuck)
    for (const pending of this.#calls.values()) {
      if (now - pending.sentAtMs < this.#callDeadlineMs) return
      // The worker cancels every query well before this deadline: it answers nothing any more.
      this.#lanes.kill(pending.lane)
    }
  }
}

function storeFailed(error: unknown): string {
  return `the admin store failed: ${error instanceof Error ? error.message : String(error)}`
}
