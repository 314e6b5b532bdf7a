import type { MessagePort } from 'node:worker_threads'
import { unreachable } from '../../core/assert.js'
import {
  REPORT_CATCH_UP_MS,
  REPORT_FOLLOW_INTERVAL_MS,
  REPORT_FOLLOW_PAUSES,
  REPORT_TROUBLE_RETRY_MS,
} from '../../core/limits.js'
import { ok, type Result } from '../../core/result.js'
import type { Observation } from '../../observe/observation.js'
import { Mailbox } from '../../threads/mailbox.js'
import type { FromReports, ReportsSettings, ToReports } from '../../threads/messages.js'
import { chainKeys } from '../chain.js'
import { loadChainKey } from '../chain-key.js'
import { AuditIndex } from './index-file.js'
import { makeReport } from './make-report.js'
import type { ReportQuery } from './report-query.js'

export interface ReportsWorkerStart {
  readonly port: MessagePort
  readonly settings: ReportsSettings
}

export interface ReportsActorDeps {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/**
 * The reports thread's work: it reads the buffer as entries come, in small steps with pauses between them, and answers what it is
 * asked. It writes its own index alone.
 */
class ReportsActor {
  readonly #settings: ReportsSettings
  readonly #deps: ReportsActorDeps
  readonly #mailbox: Mailbox<FromReports, ToReports>
  #index: AuditIndex | undefined
  #timer: NodeJS.Timeout | undefined
  #inTrouble = false

  constructor({ port, settings }: ReportsWorkerStart, deps: ReportsActorDeps) {
    this.#settings = settings
    this.#deps = deps
    this.#mailbox = new Mailbox(
      port,
      (message) => this.#receive(message),
      () => this.#end(),
    )
    this.#mailbox.send({ kind: 'started' })
    this.#timer = setTimeout(() => this.#follow(), 0)
  }

  #receive(message: ToReports): void {
    switch (message.kind) {
      case 'ask':
        return this.#answer(message.requestId, message.query)
      case 'stop':
        this.#end()
        return this.#mailbox.close()
      default:
        return unreachable(message)
    }
  }

  #open(): Result<AuditIndex, string> {
    if (this.#index !== undefined) return ok(this.#index)
    const { buffer, chainKeyFile } = this.#settings
    const secret = loadChainKey({ path: chainKeyFile, mayCreate: false, randomBytes: () => new Uint8Array() })
    if (!secret.ok) return secret
    const onRemade = (detail: string) => this.#observed({ kind: 'reports.index_remade', detail })
    this.#index = new AuditIndex({ buffer, keys: chainKeys(secret.value), onRemade })
    return ok(this.#index)
  }

  #observed(observation: Observation): void {
    this.#mailbox.send({ kind: 'observed', observation })
  }

  /** True when nothing was left to read. */
  #catchUp(forMs: number): Result<boolean, string> {
    const index = this.#open()
    const { nowMs } = this.#deps
    const followed = index.ok ? index.value.follow(nowMs() + forMs, nowMs) : index
    if (followed.ok === this.#inTrouble) {
      this.#inTrouble = !followed.ok
      this.#observed(
        followed.ok ? { kind: 'reports.available' } : { kind: 'reports.unavailable', detail: followed.error },
      )
    }
    return followed
  }

  /** One step, and a pause in proportion, so that calls have the machine to themselves for most of the time. */
  #follow(): void {
    const beganMs = this.#deps.nowMs()
    const followed = this.#catchUp(0)
    const tookMs = this.#deps.nowMs() - beganMs
    const pauseMs = !followed.ok
      ? REPORT_TROUBLE_RETRY_MS
      : followed.value
        ? REPORT_FOLLOW_INTERVAL_MS
        : Math.max(1, tookMs * REPORT_FOLLOW_PAUSES)
    this.#timer = setTimeout(() => this.#follow(), pauseMs)
  }

  #answer(requestId: number, query: ReportQuery): void {
    const followed = this.#catchUp(REPORT_CATCH_UP_MS)
    const index = this.#open()
    const report = !followed.ok ? followed : index.ok ? makeReport(index.value, query) : index
    if (!report.ok) return this.#mailbox.send({ kind: 'not_made', requestId, reason: report.error })
    const { contentType, facts, text } = report.value
    this.#mailbox.send({ kind: 'made', requestId, contentType, facts, body: Buffer.from(text) })
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#index?.close()
    this.#index = undefined
  }
}

export function startReportsActor(start: ReportsWorkerStart, deps: ReportsActorDeps): void {
  new ReportsActor(start, deps)
}
