import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads'
import type { AuditWorkerStart } from '../audit/audit-actor.js'
import { unreachable } from '../core/assert.js'
import type { AuditRecord } from '../core/audit-entry.js'
import {
  AUDIT_ACK_TIMEOUT_MS,
  AUDIT_PROBE_INTERVAL_MS,
  AUDIT_STOP_TIMEOUT_MS,
  AUDIT_WAITING_RECORDS_MAX,
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  WORKER_START_TIMEOUT_MS,
} from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Observe } from '../observe/observation.js'
import { AuditBatches, type Batch, type BatchKind, newBatch, type OnDurable, type SentBatch } from './audit-batches.js'
import { makeStdoutNonBlocking, spawnAuditWorker, terminated } from './audit-worker.js'
import { DegradedTrail } from './degraded-trail.js'
import type { AuditSettings, AuditStatus, FromAudit, ToAudit } from './messages.js'

/** Before the audit thread has said anything. */
const NO_STATUS: AuditStatus = {
  bufferEntries: 0,
  fillRatio: 0,
  spaceLow: false,
  strangersFull: false,
  oldestUnshippedMs: 0,
  shipFailures: 0,
  failingSinks: [],
}

export interface AuditMailboxDeps {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Starts the audit thread; `spawnAuditWorker` outside tests. */
  readonly spawn?: (start: AuditWorkerStart) => Worker
  /** Unix milliseconds; `Date.now` by default. */
  readonly wallMs?: () => number
  /** How long a record may wait; `AUDIT_ACK_TIMEOUT_MS` outside tests. */
  readonly ackTimeoutMs?: number
}

/** `refusing`: the worker lives but the last batch was not kept in time. `down`: it does not live. */
type Mode = 'starting' | 'ready' | 'refusing' | 'down' | 'stopped'

interface AuditThread {
  readonly worker: Worker
  readonly port: MessagePort
  readonly startTimer: NodeJS.Timeout
}

/**
 * The front thread's end of the audit. Records of one turn travel as one message; each is answered exactly once: kept
 * (an acknowledgement covers all batches up to its number), refused, or out of time. A worker that dies is started again
 * and gets every unanswered batch again, which is safe because entries are known by their ids.
 */
export class AuditMailbox {
  readonly #settings: AuditSettings
  readonly #deps: AuditMailboxDeps
  readonly #ackTimeoutMs: number
  /** Present when calls that read are served while nothing is kept. */
  readonly #degraded: DegradedTrail | undefined
  #mode: Mode = 'starting'
  #thread: AuditThread | undefined
  #started: ((result: Result<void, string>) => void) | undefined
  #instance = ''
  #status = NO_STATUS
  /** Why the trail took nothing when that was last so. */
  #trouble = ''
  #spawns = 0
  #failedSpawns = 0
  #respawnTimer: NodeJS.Timeout | undefined
  readonly #batches = new AuditBatches()
  /** Ids of calls that were announced and whose outcome is not kept yet. */
  readonly #announced = new Set<string>()
  #waitingRecords = 0
  #deadlineTimer: NodeJS.Timeout | undefined
  #probeTimer: NodeJS.Timeout | undefined
  #stopping = false
  #stopped: Promise<void> | undefined
  #onStopped: (() => void) | undefined
  readonly #flush = () => this.#send()

  private constructor(settings: AuditSettings, deps: AuditMailboxDeps) {
    this.#settings = settings
    this.#deps = deps
    this.#ackTimeoutMs = deps.ackTimeoutMs ?? AUDIT_ACK_TIMEOUT_MS
    this.#degraded = settings.onFailure === 'degrade' ? this.#degradedTrail() : undefined
  }

  #degradedTrail(): DegradedTrail {
    const { buffer, file } = this.#settings
    const { observe, wallMs = Date.now } = this.#deps
    return new DegradedTrail({
      observe,
      wallMs,
      sink: buffer !== undefined ? 'buffer' : file !== undefined ? 'file' : 'stdout',
      markPath: buffer === undefined ? undefined : `${buffer.path}.gap`,
      append: (records, done) => this.#appendWaited(records, done),
    })
  }

  /** Starts the audit thread. Fails with one sentence for the operator when the trail cannot be kept as configured. */
  static async start(settings: AuditSettings, deps: AuditMailboxDeps): Promise<Result<AuditMailbox, string>> {
    if (settings.stdout) makeStdoutNonBlocking()
    const mailbox = new AuditMailbox(settings, deps)
    const started = await mailbox.#firstStart()
    if (started.ok) return ok(mailbox)
    await mailbox.#end()
    return started
  }

  /** Whether a record given now can be expected to be kept: the worker lives and kept what it was last given. */
  get available(): boolean {
    return this.#mode === 'ready'
  }

  /** Whether calls that read are served although their entries cannot be kept at the moment. */
  get degraded(): boolean {
    return this.#degraded !== undefined && !this.#stopping && (this.#mode === 'refusing' || this.#mode === 'down')
  }

  /** Names this gateway's chain; another one after each worker when there is no buffer. */
  get instance(): string {
    return this.#instance
  }

  /** How the trail stood when the audit thread last said so. */
  get status(): AuditStatus {
    return this.#status
  }

  /** Has the audit thread open files by their paths again, as whoever moved them away asks for. */
  reopen(): void {
    this.#post({ kind: 'reopen' })
  }

  /**
   * Takes a record; `onDurable` runs exactly once, later in this turn at the earliest: true when the entry is kept, false
   * when it was refused or its time (`AUDIT_ACK_TIMEOUT_MS`) passed. After false the entry may exist all the same.
   */
  append(record: AuditRecord, onDurable: OnDurable): void {
    if (!this.#announced.has(record.id)) {
      if (!this.#waitsInMemory) return this.#take(record, 'calls', onDurable)
      this.#degraded?.keep(record, this.#trouble)
      // Not in this turn: whoever calls again at once must not keep the thread from everything else.
      return void setImmediate(() => onDurable(true))
    }
    this.#take(record, 'outcomes', (durable) => {
      if (durable) this.#announced.delete(record.id)
      onDurable(durable)
    })
  }

  /** Whether to wait for a trail that takes nothing would be in vain: not when its thread has just died and comes back. */
  get #waitsInMemory(): boolean {
    return this.degraded && (this.#mode === 'refusing' || this.#failedSpawns > 1)
  }

  /**
   * Whether calls that write can be announced. Intents need the buffer; without one such calls are served as others are when the operator
   * chose to serve without a trail.
   */
  get keepsIntents(): boolean {
    return this.#settings.buffer !== undefined || this.#degraded !== undefined
  }

  /**
   * Takes the record that becomes the entry of a writing call whose outcome never comes; the outcome's record, under the
   * same id, takes its place. `onDurable` as for `append`; always false without a buffer.
   */
  intend(record: AuditRecord, onDurable: OnDurable): void {
    if (this.#settings.buffer === undefined || this.degraded) {
      const mayWrite = this.keepsIntents && this.available
      return queueMicrotask(() => onDurable(mayWrite))
    }
    this.#announced.add(record.id)
    this.#take(record, 'intents', (durable) => {
      if (!durable) this.#announced.delete(record.id)
      onDurable(durable)
    })
  }

  #take(record: AuditRecord, kind: BatchKind, onDurable: OnDurable): void {
    if (this.#stopping || this.#waitingRecords >= AUDIT_WAITING_RECORDS_MAX) {
      queueMicrotask(() => onDurable(false))
      return
    }
    const batch = this.#openBatch(kind)
    const intended = kind === 'intents'
    ;(intended ? batch.intents : batch.records).push(record)
    ;(intended ? batch.onIntents : batch.onRecords).push(onDurable)
    this.#waitingRecords += 1
  }

  /**
   * One message a turn rather than one a microtask: with many records answered in one turn it costs the front thread less,
   * and where few wait the difference is within noise.
   */
  #openBatch(kind: BatchKind): Batch {
    if (!this.#batches.filling) setImmediate(this.#flush)
    return this.#batches.openOf(kind, this.#deadlineMs)
  }

  get #deadlineMs(): number {
    return this.#deps.nowMs() + this.#ackTimeoutMs
  }

  #appendWaited(records: AuditRecord[], done: OnDurable): void {
    this.#waitingRecords += 1
    this.#sendBatch({ ...newBatch('waited', this.#deadlineMs), records, onRecords: [done] })
  }

  /** Keeps what was appended, ends the thread and settles: within `AUDIT_STOP_TIMEOUT_MS`, and a little more where it hangs. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#send()
    this.#stopping = true
    const stopped = new Promise<void>((resolve) => {
      this.#onStopped = resolve
    })
    const deadline = setTimeout(() => this.#onStopped?.(), AUDIT_STOP_TIMEOUT_MS)
    // Also where the trail took nothing a moment ago: this is the last time it is asked.
    if (this.#mode === 'ready' || this.#mode === 'refusing') await Promise.race([this.#degraded?.resume(), stopped])
    if (this.#mode === 'ready' || this.#mode === 'refusing') this.#post({ kind: 'stop' })
    else if (this.#batches.unanswered.length === 0) this.#onStopped?.()
    await stopped
    clearTimeout(deadline)
    await this.#end()
  }

  async #end(): Promise<void> {
    this.#mode = 'stopped'
    clearTimeout(this.#respawnTimer)
    clearTimeout(this.#deadlineTimer)
    clearInterval(this.#probeTimer)
    const thread = this.#thread
    this.#thread = undefined
    thread?.port.close()
    clearTimeout(thread?.startTimer)
    this.#settle(
      this.#batches.takeWhile(() => true),
      false,
    )
    await this.#degraded?.end()
    if (thread !== undefined) await terminated(thread.worker)
  }

  /** The one place that changes the mode; says when the trail stops and starts being kept. */
  #enter(mode: 'ready' | 'refusing' | 'down', detail = ''): void {
    const before = this.#mode
    if (before === mode || before === 'stopped') return
    this.#mode = mode
    if (mode === 'ready') {
      clearInterval(this.#probeTimer)
      this.#probeTimer = undefined
      if (before !== 'starting') this.#deps.observe({ kind: 'audit.available' })
      void this.#degraded?.resume()
      return
    }
    this.#trouble = detail
    if (before === 'ready') this.#deps.observe({ kind: 'audit.unavailable', detail })
    // Calls are refused at the door while nothing is kept, so nothing but a probe would ever find out that it is over.
    this.#probeTimer ??= setInterval(() => this.#probe(), AUDIT_PROBE_INTERVAL_MS)
  }

  #probe(): void {
    if (this.#mode === 'refusing' && this.#batches.idle) this.#openBatch('calls')
  }

  #send(): void {
    for (const batch of this.#batches.takeOpen()) this.#sendBatch(batch)
  }

  #sendBatch(batch: Batch): void {
    const sent = this.#batches.number(batch)
    this.#deadlineTimer ??= setTimeout(() => this.#expire(), this.#ackTimeoutMs)
    if (this.#mode === 'ready' || this.#mode === 'refusing') this.#postBatch(sent)
  }

  #post(message: ToAudit): void {
    this.#thread?.port.postMessage(message)
  }

  #postBatch({ number, records, intents }: SentBatch): void {
    this.#post({ kind: 'append', batch: number, records, intents })
  }

  #expire(): void {
    this.#deadlineTimer = undefined
    const nowMs = this.#deps.nowMs()
    const expired = this.#batches.takeWhile((batch) => batch.deadlineMs <= nowMs)
    if (expired.length > 0) {
      if (this.#mode === 'ready') this.#enter('refusing', `no acknowledgement within ${this.#ackTimeoutMs} ms`)
      this.#settle(expired, false)
    }
    const oldest = this.#batches.unanswered[0]
    // A timer may come a little early against the other clock; one more millisecond keeps it from spinning.
    if (oldest !== undefined) this.#deadlineTimer = setTimeout(() => this.#expire(), oldest.deadlineMs - nowMs + 1)
  }

  /** Answers every listener even where one of them throws, which is a bug and surfaces when all have been called. */
  #settle(batches: readonly Batch[], durable: boolean): void {
    const errors: unknown[] = []
    const answer = (listeners: readonly OnDurable[], kept: boolean) => {
      this.#waitingRecords -= listeners.length
      for (const onDurable of listeners) {
        try {
          onDurable(kept)
        } catch (error) {
          errors.push(error)
        }
      }
    }
    for (const batch of batches) {
      answer(batch.onRecords, durable || this.#spare(batch))
      answer(batch.onIntents, durable)
    }
    if (errors.length > 0) throw errors[0]
  }

  /** Calls whose entries the trail did not take are served from memory where the operator wants that; true when they are. */
  #spare({ kind, records }: Batch): boolean {
    if (kind !== 'calls' || this.#degraded === undefined || this.#mode === 'stopped') return false
    for (const record of records) this.#degraded.keep(record, this.#trouble)
    return true
  }

  #firstStart(): Promise<Result<void, string>> {
    return new Promise((resolve) => {
      this.#started = (result) => {
        this.#started = undefined
        resolve(result)
      }
      this.#spawn()
    })
  }

  #spawn(): void {
    const { port1, port2 } = new MessageChannel()
    const start: AuditWorkerStart = { port: port2, settings: this.#settings, respawned: this.#spawns > 0 }
    this.#spawns += 1
    const worker = (this.#deps.spawn ?? spawnAuditWorker)(start)
    let death = 'it ended'
    const startTimer = setTimeout(() => {
      death = `it did not start within ${WORKER_START_TIMEOUT_MS} ms`
      this.#started?.(fail(`the audit thread could not start: ${death}`))
      void worker.terminate()
    }, WORKER_START_TIMEOUT_MS)
    const thread = { worker, port: port1, startTimer }
    this.#thread = thread
    port1.on('message', (message: FromAudit) => this.#receive(message))
    worker.on('error', (error) => {
      death = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => this.#exited(thread, death))
  }

  #receive(message: FromAudit): void {
    switch (message.kind) {
      case 'started':
        return this.#onStarted(message.instance)
      case 'start_failed':
        return this.#started?.(fail(message.reason))
      case 'acked':
        return this.#acked(message.batch)
      case 'refused':
        return this.#refused(this.#batches.takeNumber(message.batch), message.reason)
      case 'observed':
        return this.#deps.observe(message.observation)
      case 'status':
        this.#status = message.status
        return
      case 'stopped':
        return this.#onStopped?.()
      default:
        return unreachable(message)
    }
  }

  #acked(number: number): void {
    const kept = this.#batches.takeWhile((batch) => batch.number <= number)
    // A full buffer that takes an outcome is full all the same.
    if (kept.length === 0 || kept.some(({ kind }) => kind === 'calls' || kind === 'waited')) this.#enter('ready')
    this.#failedSpawns = 0
    this.#settle(kept, true)
  }

  #refused(batches: readonly Batch[], reason: string): void {
    if (batches.some(({ kind }) => kind !== 'intents')) this.#enter('refusing', reason)
    this.#settle(batches, false)
  }

  #onStarted(instance: string): void {
    this.#instance = instance
    clearTimeout(this.#thread?.startTimer)
    this.#enter('ready')
    for (const batch of this.#batches.unanswered) this.#postBatch(batch)
    if (this.#stopping) this.#post({ kind: 'stop' })
    this.#started?.(ok(undefined))
  }

  #exited(thread: AuditThread, death: string): void {
    if (this.#thread !== thread) return
    // What it still had to say when it ended counts.
    for (let last = receiveMessageOnPort(thread.port); last !== undefined; last = receiveMessageOnPort(thread.port)) {
      // The port's other end is typed to post nothing else.
      this.#receive(last.message as FromAudit)
    }
    thread.port.close()
    clearTimeout(thread.startTimer)
    this.#thread = undefined
    if (this.#started !== undefined) return this.#started(fail(`the audit thread could not start: ${death}`))
    if (this.#stopping && this.#batches.unanswered.length === 0) return this.#onStopped?.()
    this.#enter('down', `the audit thread died: ${death}`)
    const backoffMs = Math.min(BACKOFF_MIN_MS * 2 ** (this.#failedSpawns - 1), BACKOFF_MAX_MS)
    this.#respawnTimer = setTimeout(() => this.#spawn(), this.#failedSpawns === 0 ? 0 : backoffMs)
    this.#failedSpawns += 1
  }
}
