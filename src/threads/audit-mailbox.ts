import { fstatSync } from 'node:fs'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { AuditWorkerStart } from '../audit/audit-actor.js'
import { unreachable } from '../core/assert.js'
import type { AuditRecord } from '../core/audit-entry.js'
import {
  AUDIT_ACK_TIMEOUT_MS,
  AUDIT_FLUSH_TIMEOUT_MS,
  AUDIT_PROBE_INTERVAL_MS,
  AUDIT_STOP_TIMEOUT_MS,
  AUDIT_WAITING_RECORDS_MAX,
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  WORKER_START_TIMEOUT_MS,
} from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Observe } from '../observe/observation.js'
import type { AuditSettings, FromAudit, ToAudit } from './messages.js'

export type OnDurable = (durable: boolean) => void

export interface AuditMailboxDeps {
  readonly observe: Observe
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Starts the audit thread; `spawnAuditWorker` outside tests. */
  readonly spawn?: (start: AuditWorkerStart) => Worker
  /** How long a record may wait; `AUDIT_ACK_TIMEOUT_MS` outside tests. */
  readonly ackTimeoutMs?: number
}

/** Starts the audit thread with its end of the mailbox. */
export function spawnAuditWorker(start: AuditWorkerStart): Worker {
  return new Worker(new URL('../../workers/audit.worker.js', import.meta.url), {
    name: 'runku-audit',
    workerData: start,
    transferList: [start.port],
  })
}

/** Records of one event-loop turn with their listeners, which stay on this thread. */
interface Batch {
  readonly number: number
  readonly records: AuditRecord[]
  readonly intents: AuditRecord[]
  readonly listeners: OnDurable[]
  readonly deadlineMs: number
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
  #mode: Mode = 'starting'
  #thread: AuditThread | undefined
  #started: ((result: Result<void, string>) => void) | undefined
  #instance = ''
  #spawns = 0
  #failedSpawns = 0
  #respawnTimer: NodeJS.Timeout | undefined
  /** The batch being filled in this turn. */
  #open: Batch | undefined
  /** Sent or to be sent, oldest first. */
  #unanswered: Batch[] = []
  #waitingRecords = 0
  #batches = 0
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

  /** Names this gateway's chain; another one after each worker when there is no buffer. */
  get instance(): string {
    return this.#instance
  }

  /**
   * Takes a record; `onDurable` runs exactly once, later in this turn at the earliest: true when the entry is kept, false
   * when it was refused or its time (`AUDIT_ACK_TIMEOUT_MS`) passed. After false the entry may exist all the same.
   */
  append(record: AuditRecord, onDurable: OnDurable): void {
    this.#take(record, 'records', onDurable)
  }

  /** Whether intents can be kept, and so whether anything may be written: they need the buffer. */
  get keepsIntents(): boolean {
    return this.#settings.buffer !== undefined
  }

  /**
   * Takes the record that becomes the entry of a writing call whose outcome never comes; the outcome's record, under the
   * same id, takes its place. `onDurable` as for `append`; always false without a buffer.
   */
  intend(record: AuditRecord, onDurable: OnDurable): void {
    if (this.keepsIntents) this.#take(record, 'intents', onDurable)
    else queueMicrotask(() => onDurable(false))
  }

  #take(record: AuditRecord, list: 'records' | 'intents', onDurable: OnDurable): void {
    if (this.#stopping || this.#waitingRecords >= AUDIT_WAITING_RECORDS_MAX) {
      queueMicrotask(() => onDurable(false))
      return
    }
    this.#open ??= this.#newBatch()
    this.#open[list].push(record)
    this.#open.listeners.push(onDurable)
    this.#waitingRecords += 1
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
    if (this.#mode === 'ready' || this.#mode === 'refusing') this.#post({ kind: 'stop' })
    else if (this.#unanswered.length === 0) this.#onStopped?.()
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
    this.#settle(this.#unanswered.splice(0), false)
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
      return
    }
    if (before === 'ready') this.#deps.observe({ kind: 'audit.unavailable', detail })
    // Calls are refused at the door while nothing is kept, so nothing but a probe would ever find out that it is over.
    this.#probeTimer ??= setInterval(() => this.#probe(), AUDIT_PROBE_INTERVAL_MS)
  }

  #probe(): void {
    if (this.#mode === 'refusing' && this.#open === undefined && this.#unanswered.length === 0)
      this.#open = this.#newBatch()
  }

  /**
   * One message a turn rather than one a microtask: with many records answered in one turn it costs the front thread less,
   * and where few wait the difference is within noise.
   */
  #newBatch(): Batch {
    setImmediate(this.#flush)
    this.#batches += 1
    const deadlineMs = this.#deps.nowMs() + this.#ackTimeoutMs
    return { number: this.#batches, records: [], intents: [], listeners: [], deadlineMs }
  }

  #send(): void {
    const batch = this.#open
    if (batch === undefined) return
    this.#open = undefined
    this.#unanswered.push(batch)
    this.#deadlineTimer ??= setTimeout(() => this.#expire(), this.#ackTimeoutMs)
    if (this.#mode === 'ready' || this.#mode === 'refusing') this.#postBatch(batch)
  }

  #post(message: ToAudit): void {
    this.#thread?.port.postMessage(message)
  }

  #postBatch({ number, records, intents }: Batch): void {
    this.#post({ kind: 'append', batch: number, records, intents })
  }

  #expire(): void {
    this.#deadlineTimer = undefined
    const nowMs = this.#deps.nowMs()
    const expired = this.#takeWhile((batch) => batch.deadlineMs <= nowMs)
    if (expired.length > 0) {
      if (this.#mode === 'ready') this.#enter('refusing', `no acknowledgement within ${this.#ackTimeoutMs} ms`)
      this.#settle(expired, false)
    }
    const oldest = this.#unanswered[0]
    // A timer may come a little early against the other clock; one more millisecond keeps it from spinning.
    if (oldest !== undefined) this.#deadlineTimer = setTimeout(() => this.#expire(), oldest.deadlineMs - nowMs + 1)
  }

  #takeWhile(belongs: (batch: Batch) => boolean): readonly Batch[] {
    const end = this.#unanswered.findIndex((batch) => !belongs(batch))
    return this.#unanswered.splice(0, end === -1 ? this.#unanswered.length : end)
  }

  #takeNumber(number: number): readonly Batch[] {
    const index = this.#unanswered.findIndex((batch) => batch.number === number)
    return index === -1 ? [] : this.#unanswered.splice(index, 1)
  }

  /** Answers every listener even where one of them throws, which is a bug and surfaces when all have been called. */
  #settle(batches: readonly Batch[], durable: boolean): void {
    const errors: unknown[] = []
    for (const { listeners } of batches) {
      this.#waitingRecords -= listeners.length
      for (const onDurable of listeners) {
        try {
          onDurable(durable)
        } catch (error) {
          errors.push(error)
        }
      }
    }
    if (errors.length > 0) throw errors[0]
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
        this.#enter('ready')
        this.#failedSpawns = 0
        return this.#settle(
          this.#takeWhile((batch) => batch.number <= message.batch),
          true,
        )
      case 'refused':
        this.#enter('refusing', message.reason)
        return this.#settle(this.#takeNumber(message.batch), false)
      case 'observed':
        return this.#deps.observe(message.observation)
      case 'stopped':
        return this.#onStopped?.()
      default:
        return unreachable(message)
    }
  }

  #onStarted(instance: string): void {
    this.#instance = instance
    clearTimeout(this.#thread?.startTimer)
    this.#enter('ready')
    for (const batch of this.#unanswered) this.#postBatch(batch)
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
    if (this.#stopping && this.#unanswered.length === 0) return this.#onStopped?.()
    this.#enter('down', `the audit thread died: ${death}`)
    const backoffMs = Math.min(BACKOFF_MIN_MS * 2 ** (this.#failedSpawns - 1), BACKOFF_MAX_MS)
    this.#respawnTimer = setTimeout(() => this.#spawn(), this.#failedSpawns === 0 ? 0 : backoffMs)
    this.#failedSpawns += 1
  }
}

/** Ends a thread. One that hangs in a system call (a dead disk) ends when that returns, and is not waited for. */
async function terminated(worker: Worker): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, AUDIT_FLUSH_TIMEOUT_MS)
  })
  await Promise.race([worker.terminate(), patience])
  clearTimeout(timer)
}

/**
 * Reading `process.stdout` puts a pipe or socket into non-blocking mode. The audit thread writes to the same descriptor
 * and must meet EAGAIN there, not a write that waits for a reader which may never read again.
 */
function makeStdoutNonBlocking(): void {
  if (!fstatSync(1).isFile()) void process.stdout
}
