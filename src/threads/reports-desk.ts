import { MessageChannel, Worker } from 'node:worker_threads'
import type { ReportQuery } from '../audit/reports/report-query.js'
import type { ReportsWorkerStart } from '../audit/reports/reports-actor.js'
import { unreachable } from '../core/assert.js'
import {
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  REPORT_STOP_TIMEOUT_MS,
  REPORT_TIMEOUT_MS,
  REPORTS_WAITING_MAX,
  WORKER_START_TIMEOUT_MS,
} from '../core/limits.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Observe } from '../observe/observation.js'
import { Mailbox } from './mailbox.js'
import type { FromReports, MadeReportMessage, ReportsSettings, ToReports } from './messages.js'

export interface ReportsDeskDeps {
  readonly observe: Observe
  /** Starts the reports thread; `spawnReportsWorker` outside tests. */
  readonly spawn?: (start: ReportsWorkerStart) => Worker
  /** How long a report may take; `REPORT_TIMEOUT_MS` outside tests. */
  readonly timeoutMs?: number
}

/** Starts the reports thread with its end of the mailbox. */
export function spawnReportsWorker(start: ReportsWorkerStart): Worker {
  return new Worker(new URL('../../workers/reports.worker.js', import.meta.url), {
    name: 'runku-reports',
    workerData: start,
    transferList: [start.port],
  })
}

type Asked = (answer: Result<MadeReportMessage, string>) => void

interface ReportsThread {
  readonly worker: Worker
  readonly mailbox: Mailbox<ToReports, FromReports>
  readonly startTimer: NodeJS.Timeout
  /** Whether it has been told to end by force. */
  killed: boolean
}

/**
 * The front thread's end of the reports. Whatever happens to their thread, no call and no entry depends on it: it is started
 * again, and a question that it did not answer gets an error.
 */
export class ReportsDesk {
  readonly #settings: ReportsSettings
  readonly #deps: ReportsDeskDeps
  #thread: ReportsThread | undefined
  #asked = new Map<number, Asked>()
  #requests = 0
  #deaths = 0
  #respawnTimer: NodeJS.Timeout | undefined
  #stopped: Promise<void> | undefined
  #onGone: (() => void) | undefined

  /** Starts the thread; questions may come at once. */
  constructor(settings: ReportsSettings, deps: ReportsDeskDeps) {
    this.#settings = settings
    this.#deps = deps
    this.#spawn()
  }

  /** Has a report made. Settles within `REPORT_TIMEOUT_MS`, and fails with one sentence for the operator. */
  ask(query: ReportQuery): Promise<Result<MadeReportMessage, string>> {
    const thread = this.#thread
    if (thread === undefined || this.#stopped !== undefined) {
      return Promise.resolve(fail('the reports thread does not run'))
    }
    if (this.#asked.size >= REPORTS_WAITING_MAX) return Promise.resolve(fail('too many reports are waiting'))
    this.#requests += 1
    const requestId = this.#requests
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#answer(requestId, fail('the report took too long'))
        // A question that never ends would hold up all that come after it.
        this.#kill(thread)
      }, this.#deps.timeoutMs ?? REPORT_TIMEOUT_MS)
      this.#asked.set(requestId, (answer) => {
        clearTimeout(timer)
        resolve(answer)
      })
      thread.mailbox.send({ kind: 'ask', requestId, query })
    })
  }

  #kill(thread: ReportsThread): void {
    if (!thread.killed) void thread.worker.terminate()
    thread.killed = true
  }

  #answer(requestId: number, answer: Result<MadeReportMessage, string>): void {
    const asked = this.#asked.get(requestId)
    this.#asked.delete(requestId)
    asked?.(answer)
  }

  #spawn(): void {
    const { port1, port2 } = new MessageChannel()
    const worker = (this.#deps.spawn ?? spawnReportsWorker)({ port: port2, settings: this.#settings })
    let death = 'it ended'
    const startTimer = setTimeout(() => {
      death = `it did not start within ${WORKER_START_TIMEOUT_MS} ms`
      void worker.terminate()
    }, WORKER_START_TIMEOUT_MS)
    const mailbox = new Mailbox<ToReports, FromReports>(
      port1,
      (message) => this.#receive(message),
      () => {},
    )
    const thread: ReportsThread = { worker, mailbox, startTimer, killed: false }
    this.#thread = thread
    worker.on('error', (error) => {
      death = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => this.#exited(thread, death))
  }

  #receive(message: FromReports): void {
    switch (message.kind) {
      case 'started':
        return clearTimeout(this.#thread?.startTimer)
      case 'made':
        this.#deaths = 0
        return this.#answer(message.requestId, ok(message))
      case 'not_made':
        return this.#answer(message.requestId, fail(message.reason))
      case 'observed':
        return this.#deps.observe(message.observation)
      default:
        return unreachable(message)
    }
  }

  #exited(thread: ReportsThread, reason: string): void {
    clearTimeout(thread.startTimer)
    thread.mailbox.close()
    this.#thread = undefined
    for (const requestId of [...this.#asked.keys()]) this.#answer(requestId, fail('the reports thread ended'))
    if (this.#stopped !== undefined) return this.#onGone?.()
    const retryInMs = Math.min(BACKOFF_MIN_MS * 2 ** this.#deaths, BACKOFF_MAX_MS)
    this.#deaths += 1
    this.#deps.observe({ kind: 'reports.worker_exited', reason, retryInMs })
    this.#respawnTimer = setTimeout(() => this.#spawn(), retryInMs)
  }

  /** Ends the thread. Questions that wait get an error. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#respawnTimer)
    const thread = this.#thread
    if (thread === undefined) return
    const gone = new Promise<void>((resolve) => {
      this.#onGone = resolve
    })
    thread.mailbox.send({ kind: 'stop' })
    // A thread in the middle of a long question, or on a dead disk, is not waited for.
    const timer = setTimeout(() => {
      this.#kill(thread)
      this.#onGone?.()
    }, REPORT_STOP_TIMEOUT_MS)
    await gone
    clearTimeout(timer)
  }
}
