import { unreachable } from '../core/assert.js'
import type { Identity } from '../core/identity.js'
import { AUDIT_ACK_TIMEOUT_MS, CALL_DEADLINE_GRACE_MS, QUERY_TIMEOUT_MAX_MS } from '../core/limits.js'
import type { ConnectorGauges } from '../observe/metrics.js'
import type { Observe } from '../observe/observation.js'
import { type CallListener, type CallRequest, type Connector, lostOutcome } from './connector.js'
import type { Lane } from './connector-pool.js'
import { HeldCalls } from './held-calls.js'
import { type Judgement, Judgements } from './judgements.js'
import { Lanes } from './lanes.js'
import type {
  ConnectorSettings,
  ConnectorVars,
  FromConnector,
  OutcomeMessage,
  PrepareReport,
  SnapshotHandle,
} from './messages.js'
import { type PreparationSurroundings, Preparations, type RefreshOutcome } from './preparations.js'
import { SentCalls } from './sent-calls.js'
import { callersUnder, type ListCaller, type ListListener, type MadeList, NOBODY, ToolLists } from './tool-lists.js'

export type ConnectorMode = 'starting' | 'ready' | 'unavailable' | 'draining' | 'stopped'

export interface SupervisorSurroundings extends PreparationSurroundings {
  readonly observe: Observe
  /** Numbers of calls, no two alike among supervisors that may stand in for each other. */
  readonly nextCallId: () => number
  /** Whose tool lists to make before the first snapshot serves: those of the supervisor that this one takes the place of. */
  readonly callers?: () => readonly ListCaller[]
  /** Called at once when the first snapshot is in force. */
  readonly onReady?: () => void
  /** Calls that come before the first snapshot wait for it, rather than being refused. */
  readonly held?: boolean
}

/** Threads that are idle stop in less; it is not worth ending them by force because calls used up the deadline. */
const STOP_LANES_MIN_MS = 500
/** How often calls in flight and idle threads are looked over. */
const SWEEP_INTERVAL_MS = 250

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
  readonly #preparations: Preparations
  readonly #judgements = new Judgements()
  readonly #calls = new SentCalls(() => this.#drained?.())
  /** Calls that came when it was to be prepared again and had no thread, or must not serve what it has. */
  readonly #held: HeldCalls
  readonly #sweepTimer: NodeJS.Timeout
  readonly #first: Promise<RefreshOutcome>
  #mode: ConnectorMode = 'starting'
  /** While true no thread is opened: the last one failed to start, and the next attempt has its time. */
  #coolingDown = false
  #snapshot: SnapshotHandle | undefined
  #report: PrepareReport | undefined
  #lastError: string | undefined
  #nextId = 1
  /** Calls since a preparation opened a thread for itself alone; undefined when it did not. */
  #callsSinceOpened: number | undefined
  #stopping: Promise<void> | undefined
  #endsAtMs = Number.POSITIVE_INFINITY
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
    this.#held = new HeldCalls(acquireTimeoutMs, {
      ended: (callId, held, code, reason) => {
        held.ended(lostOutcome(callId, code, reason), this.epoch)
        if (this.inFlight === 0) this.#drained?.()
      },
      released: (...call) => this.#send(...call),
    })
    this.#lanes = new Lanes(settings, listener, surroundings.nowMs)
    this.#lanes.fill()
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref()
    this.#preparations = this.#prepareWith(surroundings)
    if (surroundings.held === true) this.hold()
    this.#first = this.#preparations.refresh()
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

  /** Why the last preparation failed; undefined after one that did not. */
  get lastError(): string | undefined {
    return this.#lastError
  }

  /** The mark of the stored policy that was read last. */
  get policyMark(): string | undefined {
    return this.#preparations.policyMark
  }

  /** The mark of the stored policy that is in force. */
  get servedMark(): string | undefined {
    return this.#preparations.servedMark
  }

  /** One caller for each tool list in use. */
  get callers(): readonly ListCaller[] {
    return this.#lists.callers
  }

  get inFlight(): number {
    return this.#calls.size + this.#held.size
  }

  /** What a scrape shows of this connector. */
  get gauges(): ConnectorGauges {
    const drift = this.#report?.drift.length ?? 0
    return {
      connector: this.id,
      inFlight: this.inFlight,
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
  whenSettled(): Promise<RefreshOutcome> {
    return this.#first
  }

  /** Sends a call on its way; `ended` follows, whatever becomes of the thread. */
  call(request: CallRequest, listener: CallListener): number {
    const callId = this.#surroundings.nextCallId()
    if (!this.#held.waiting) this.#send(callId, request, listener)
    else if (this.#stuck !== undefined) {
      listener.ended(lostOutcome(callId, 'CONNECTOR_UNAVAILABLE', this.#stuck), this.epoch)
    } else {
      this.#held.hold(callId, request, listener)
      this.#preparations.hurry()
    }
    return callId
  }

  #send(callId: number, request: CallRequest, listener: CallListener): void {
    const snapshot = this.#snapshot
    const lane = snapshot === undefined ? undefined : this.#takeLane()
    if (lane === undefined || snapshot === undefined) {
      return listener.ended(lostOutcome(callId, 'CONNECTOR_UNAVAILABLE', `connector ${this.#mode}`), this.epoch)
    }
    if (this.#callsSinceOpened !== undefined) this.#callsSinceOpened += 1
    const sentAtMs = this.#surroundings.nowMs()
    this.#calls.add(callId, { lane, epoch: snapshot.epoch, sentAtMs, listener })
    lane.ask({ kind: 'call', callId, snapshot, sentAtMs, ...request })
  }

  /** Stops the database work of a call; its outcome still comes. Unknown ids are calls that have ended. */
  cancel(callId: number): void {
    if (!this.#held.cancel(callId)) this.#calls.cancel(callId)
  }

  /** The caller's tool list, from the cache or made by the connector's thread. */
  list(identity: Identity, listener: ListListener): void {
    if (this.#stuck !== undefined) return listener(undefined)
    if (this.#held.stale) return void this.#listLater(identity, listener)
    const snapshot = this.#snapshot
    if (snapshot === undefined) return listener(undefined)
    if (this.#lists.find(identity, listener)) return
    const lane = this.#takeLane()
    if (lane === undefined) return listener(undefined)
    if (this.#callsSinceOpened !== undefined) this.#callsSinceOpened += 1
    this.#askList(lane, snapshot, identity, listener)
  }

  async #listLater(identity: Identity, listener: ListListener): Promise<void> {
    this.#preparations.hurry()
    if (await this.#held.whenFresh()) this.list(identity, listener)
    else listener(undefined)
  }

  #askList(lane: Lane, snapshot: SnapshotHandle, identity: Identity, listener: ListListener): void {
    const requestId = this.#nextId++
    const sent = { lane, sentAtMs: this.#surroundings.nowMs(), epoch: snapshot.epoch }
    this.#lists.expect(requestId, sent, identity, listener)
    lane.ask({ kind: 'list', requestId, snapshot, identity })
  }

  /**
   * Introspects and judges the policy again; the snapshot is swapped only when all of it is well, and differs. Settles when a
   * preparation that began after the call has ended.
   */
  refresh(): Promise<RefreshOutcome> {
    const { starting, serving } = this.#lanes.counts
    const cold = this.#snapshot !== undefined && starting + serving === 0
    const outcome = this.#preparations.refresh()
    // Nobody has called it since its policy or catalog may have become another one, so nobody waits longer than for a start. One that
    // failed leaves the snapshot in force, for these calls as for every other.
    if (cold) this.#held.waitFor(outcome)
    return outcome
  }

  /**
   * What is in force must not serve any more: calls and lists wait until a preparation that begins from now on has ended well. Whoever
   * waits too long is refused, and so is everybody once one has failed. To ask for the preparation is up to the caller.
   */
  hold(): void {
    this.#held.waitForOther(this.#preparations.whenWell())
  }

  /** Why it is not worth waiting: the last preparation failed, and the next one may take long. */
  get #stuck(): string | undefined {
    return this.#held.stale && this.#lastError !== undefined ? `not prepared: ${this.#lastError}` : undefined
  }

  /** Says what a policy would be here, and changes nothing: its findings and what it is about, or why nobody can tell. */
  judge(text: string, vars: ConnectorVars): Promise<Judgement> {
    const lane = this.#takeLane()
    if (lane === undefined) return Promise.resolve({ ok: false, reason: `connector ${this.#mode}` })
    const requestId = this.#nextId++
    const judged = this.#judgements.expect(requestId, lane)
    lane.ask({ kind: 'judge', requestId, text, vars })
    return judged
  }

  /** Gives the snapshot in force a number of its own, above those of the supervisor that this one takes the place of. */
  renumber(): void {
    if (this.#snapshot === undefined) return
    const epoch = this.#surroundings.nextEpoch()
    this.#snapshot = { ...this.#snapshot, epoch }
    this.#lists.renumber(epoch)
  }

  /** Stops when every call has ended, which each does within its own deadline. */
  retire(): Promise<void> {
    return this.stop(this.#callDeadlineMs)
  }

  /** Takes no more calls, waits for those in flight until the deadline, then ends the threads. A later call may shorten the wait. */
  stop(deadlineMs: number): Promise<void> {
    this.#endsAtMs = Math.min(this.#endsAtMs, this.#surroundings.nowMs() + deadlineMs)
    const timer = setTimeout(() => this.#drained?.(), deadlineMs)
    this.#stopping ??= this.#stop()
    return this.#stopping.finally(() => clearTimeout(timer))
  }

  async #stop(): Promise<void> {
    this.#mode = 'draining'
    this.#preparations.close()
    this.#held.release()
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve
      })
    }
    clearInterval(this.#sweepTimer)
    await this.#lanes.close(Math.max(STOP_LANES_MIN_MS, this.#endsAtMs - this.#surroundings.nowMs()))
    this.#mode = 'stopped'
    this.#calls.lose('all', 'the gateway is stopping')
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
        return this.#calls.announced(lane, message)
      case 'listed':
        lane.answered(this.#surroundings.nowMs())
        return this.#lists.made(message.requestId, message.body)
      case 'prepared':
        lane.answered(this.#surroundings.nowMs())
        return this.#preparations.answered(message)
      case 'judged':
        lane.answered(this.#surroundings.nowMs())
        return this.#judgements.answered(message)
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

  #outcome(message: OutcomeMessage): void {
    if (!this.#calls.ended(message)) return
    if (message.code === 'SCHEMA_CHANGED') this.#preparations.schemaChanged()
    this.#calls.tellEmpty()
  }
  #prepareWith(surroundings: SupervisorSurroundings): Preparations {
    const { settings } = this
    const fingerprint = () => this.#report?.fingerprint
    const busy = () => this.inFlight > 0 || this.#lanes.counts.serving > 0
    return new Preparations(
      {
        get busy() {
          return busy()
        },
        begin: () => this.#beginPreparation(),
        kill: (lane) => this.#lanes.kill(lane),
        newRequestId: () => this.#nextId++,
        get fingerprint() {
          return fingerprint()
        },
        swap: (snapshot, report, lane) => this.#swap(snapshot, report, lane),
        unchanged: (report) => this.#unchanged(report),
        failed: (reason, retryInMs) => {
          this.#lastError = reason
          if (this.#mode === 'starting') this.#mode = 'unavailable'
          surroundings.observe({ kind: 'connector.unavailable', connector: settings.id, reason, retryInMs })
        },
        ended: () => this.#makeRoom(),
      },
      surroundings,
    )
  }

  #beginPreparation(): Lane | undefined {
    this.#coolingDown = false
    const { starting, serving } = this.#lanes.counts
    this.#lanes.fill()
    this.#callsSinceOpened = starting + serving === 0 ? 0 : undefined
    return this.#takeLane()
  }

  /** A thread that was opened to introspect, and that nobody called: while other connectors wait for their turn it goes at once. */
  #makeRoom(): void {
    if (this.#callsSinceOpened === 0 && this.#surroundings.gate.crowded) this.#lanes.stopIdle(0)
    this.#callsSinceOpened = undefined
  }

  async #swap(snapshot: SnapshotHandle, report: PrepareReport, lane: Lane): Promise<RefreshOutcome> {
    const made = await this.#makeLists(snapshot, report, lane)
    if (this.#mode === 'draining' || this.#mode === 'stopped')
      return { kind: 'failed', reason: `connector ${this.#mode}` }
    this.#well()
    this.#snapshot = snapshot
    this.#report = report
    this.#lists.begin(snapshot.epoch, report.overrides, made)
    const first = this.#mode !== 'ready'
    this.#mode = 'ready'
    if (first) this.#surroundings.onReady?.()
    const { tables, warnings, drift } = report
    const connector = this.settings.id
    // Whoever was told that it is ready may have given the snapshot another number.
    const epoch = this.#snapshot.epoch
    this.#surroundings.observe({ kind: 'connector.ready', connector, epoch, tables, warnings })
    if (drift.length > 0) this.#surroundings.observe({ kind: 'connector.drift', connector, objects: drift })
    return { kind: 'reloaded', epoch, drift }
  }

  #well(): void {
    this.#lastError = undefined
    this.#coolingDown = false
  }

  /** What decides a call is the same; what is said of the login may be new. */
  #unchanged(report: PrepareReport): RefreshOutcome {
    this.#well()
    this.#report = report
    const epoch = this.#snapshot?.epoch ?? 0
    this.#surroundings.observe({ kind: 'connector.unchanged', connector: this.settings.id, epoch })
    return { kind: 'unchanged', epoch, drift: report.drift }
  }

  /**
   * Has every thread decode the snapshot before it serves, and the lists made that are in use, so that the first requests under it find
   * everything done. One list at a time: calls pass in between.
   */
  async #makeLists(snapshot: SnapshotHandle, report: PrepareReport, preparing: Lane): Promise<readonly MadeList[]> {
    const ask = (lane: Lane, identity: Identity) =>
      new Promise<Uint8Array | undefined>((resolve) => this.#askList(lane, snapshot, identity, resolve))
    const others = this.#lanes.serving.filter((lane) => lane !== preparing)
    const decoded = Promise.all(others.map((lane) => ask(lane, NOBODY)))
    const callers = this.#snapshot === undefined ? (this.#surroundings.callers?.() ?? []) : this.#lists.callers
    const made: MadeList[] = []
    for (const { identity, unaskedFor } of callersUnder(callers, report.overrides)) {
      // The thread may have gone in the meantime; what is not made now is made when somebody asks.
      const lane = this.#lanes.serving.includes(preparing) ? preparing : this.#takeLane()
      const body = lane === undefined ? undefined : await ask(lane, identity)
      if (body !== undefined) made.push({ identity, body, unaskedFor: unaskedFor + 1 })
    }
    await decoded
    return made
  }

  /**
   * A thread is gone: its calls are answered as lost, and the next call opens a new one. Only when a thread dies before it
   * ever serves does a pause come first.
   */
  #laneLost(lane: Lane, reason: string): void {
    const lost = this.#calls.lose(lane, 'worker thread exited')
    this.#lists.lost(lane)
    this.#judgements.lost(lane)
    if (this.#mode === 'draining' || this.#mode === 'stopped') return
    const connector = this.settings.id
    this.#surroundings.observe({ kind: 'connector.worker_exited', connector, reason, callsLost: lost })
    if (!lane.served) this.#coolingDown = true
    else this.#lanes.fill()
    this.#preparations.lost(lane, reason)
  }

  #sweep(): void {
    this.#lanes.stopIdle(this.settings.pool.idleTimeoutMs)
    const now = this.#surroundings.nowMs()
    const stuck = this.#lists.unansweredSince(now - this.#callDeadlineMs)
    if (stuck !== undefined) this.#lanes.kill(stuck)
    // A worker cancels every query well before this deadline: it answers nothing any more.
    for (const lane of this.#calls.lanesSentBefore(now - this.#callDeadlineMs)) this.#lanes.kill(lane)
  }
}
