import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { unreachable } from '../../core/assert.js'
import {
  SHIP_END_TIMEOUT_MS,
  SHIP_FLUSH_TIMEOUT_MS,
  SHIP_NOTICE_INTERVAL_MS,
  SHIP_RESTART_INTERVAL_MS,
} from '../../core/limits.js'
import type { Observation } from '../../observe/observation.js'
import type { ShipperSettings } from '../../threads/messages.js'
import { type ChainKeys, writeHeadLine } from '../chain.js'
import { shownUrl, unprotected } from './deliver.js'
import type { FromShipper, NewBatch, ShipBatch, ShipLedger, ShipWorkerStart, ToShipper } from './ship-messages.js'

/**
 * The audit thread's end of the shipper. For whoever owns the buffer:
 *
 *   const shipper = startShipper({ settings, bufferPath, ledger: outbox.shipBook(), keys, lastSeq, nowMs, observe })
 *   shipper.appended(lastSeq)      after each commit; costs nothing while a notice is under way
 *   await shipper.stop()           before the buffer is closed; never longer than SHIP_FLUSH_TIMEOUT_MS and a little
 */
export interface ShipperStart {
  readonly settings: ShipperSettings
  readonly bufferPath: string
  readonly ledger: ShipLedger
  readonly keys: ChainKeys
  /** The last entry that is there. */
  readonly lastSeq: number
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly observe: (observation: Observation) => void
  /** Starts the thread; `spawnShipWorker` outside tests. */
  readonly spawn?: (start: ShipWorkerStart) => Worker
}

export interface Shipper {
  /** There are entries up to `lastSeq`. */
  appended(lastSeq: number): void
  /** Every entry up to it is delivered, or refused for good. */
  readonly position: number
  /** Attempts that failed since `startShipper`. */
  readonly failures: number
  /** Nothing gets through at the moment. */
  readonly failing: boolean
  /** Tries what is there once more, within SHIP_FLUSH_TIMEOUT_MS, and ends the thread. Settles always. */
  stop(): Promise<void>
}

/** Starts the thread that ships, with its end of the port. */
export function spawnShipWorker(start: ShipWorkerStart): Worker {
  return new Worker(new URL('../../../workers/ship.worker.js', import.meta.url), {
    name: 'runku-ship',
    workerData: start,
    transferList: [start.port],
  })
}

/** What the ledger is to keep as the batch under way. A new one gets its head, which only a holder of the chain key can make. */
export function sealBatch(
  batch: NewBatch | ShipBatch | undefined,
  seal: { readonly keys: ChainKeys; readonly instance: string; readonly nowMs: () => number },
): ShipBatch | undefined {
  if (batch === undefined || 'head' in batch) return batch
  const { from, to, hash } = batch
  const time = new Date(seal.nowMs()).toISOString()
  const head = writeHeadLine(seal.keys, { instance: seal.instance, seq: to, hash, time })
  return { from, to, head, round: 0, settled: [] }
}

interface Thread {
  readonly worker: Worker
  readonly port: MessagePort
}

/** Keeps a shipping thread alive, writes what it asks to be written, and tells of outages once. */
class ShipperThread implements Shipper {
  readonly #start: ShipperStart
  readonly #shownUrl: string
  #thread: Thread | undefined
  #lastSeq: number
  #position: number
  /** Failures of threads that ended, and of the one that runs. */
  #failuresBefore = 0
  #failuresNow = 0
  #failing = false
  #noticeTimer: NodeJS.Timeout | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #stopping: Promise<void> | undefined
  #onEnded: () => void = () => {}

  constructor(start: ShipperStart) {
    this.#start = start
    this.#shownUrl = shownUrl(start.settings.url)
    this.#lastSeq = start.lastSeq
    this.#position = start.ledger.state().position
    const risk = unprotected(start.settings.url, process.env)
    if (risk !== undefined) start.observe({ kind: 'audit.ship_unprotected', url: this.#shownUrl, detail: risk })
    this.#spawn()
  }

  get position(): number {
    return this.#position
  }

  get failures(): number {
    return this.#failuresBefore + this.#failuresNow
  }

  get failing(): boolean {
    return this.#failing
  }

  #spawn(): void {
    const { settings, bufferPath, ledger, spawn = spawnShipWorker } = this.#start
    const { port1, port2 } = new MessageChannel()
    const start = { port: port2, settings, bufferPath, instance: ledger.instance, state: ledger.state() }
    const worker = spawn(start)
    this.#thread = { worker, port: port1 }
    let reason = 'it ended by itself'
    port1.on('message', (message: FromShipper) => this.#receive(message))
    worker.on('error', (error) => {
      reason = error.message
    })
    worker.on('exit', () => this.#ended(port1, reason))
    this.#notice()
  }

  #post(message: ToShipper): void {
    this.#thread?.port.postMessage(message)
  }

  appended(lastSeq: number): void {
    this.#lastSeq = lastSeq
    // Entries come in thousands of groups a second, and the shipper waits for more than one of them anyway.
    this.#noticeTimer ??= setTimeout(() => this.#notice(), SHIP_NOTICE_INTERVAL_MS)
  }

  #notice(): void {
    clearTimeout(this.#noticeTimer)
    this.#noticeTimer = undefined
    this.#post({ kind: 'appended', lastSeq: this.#lastSeq })
  }

  #receive(message: FromShipper): void {
    switch (message.kind) {
      case 'keep':
        return this.#keep(message)
      case 'observed':
        return this.#start.observe(message.observation)
      case 'status':
        this.#failuresNow = message.failures
        return this.#tell(message.failing)
      case 'stopped':
        return this.#onEnded()
      default:
        return unreachable(message)
    }
  }

  #keep({ request, change, batch }: Extract<FromShipper, { kind: 'keep' }>): void {
    const { ledger, keys, nowMs } = this.#start
    const sealed = sealBatch(batch, { keys, instance: ledger.instance, nowMs })
    const kept = ledger.change({ ...change, batch: sealed })
    if (!kept.ok) return this.#post({ kind: 'not_kept', request, reason: kept.error })
    this.#position = change.position ?? this.#position
    this.#post({ kind: 'kept', request, batch: sealed })
  }

  /** Once an outage, and once when it is over. */
  #tell(failing: string | undefined): void {
    if ((failing !== undefined) === this.#failing) return
    this.#failing = failing !== undefined
    if (failing === undefined) this.#start.observe({ kind: 'audit.sink_recovered', sink: 'shipper' })
    else this.#start.observe({ kind: 'audit.sink_failing', sink: 'shipper', detail: `${this.#shownUrl}: ${failing}` })
  }

  #ended(port: MessagePort, reason: string): void {
    port.close()
    this.#thread = undefined
    this.#failuresBefore += this.#failuresNow
    this.#failuresNow = 0
    this.#onEnded()
    if (this.#stopping !== undefined) return
    this.#failuresBefore += 1
    this.#tell(`the thread that ships ended: ${reason}`)
    this.#restartTimer = setTimeout(() => this.#spawn(), SHIP_RESTART_INTERVAL_MS)
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end()
    return this.#stopping
  }

  async #end(): Promise<void> {
    clearTimeout(this.#restartTimer)
    this.#notice()
    const thread = this.#thread
    if (thread === undefined) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, SHIP_FLUSH_TIMEOUT_MS + SHIP_END_TIMEOUT_MS)
      this.#onEnded = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#post({ kind: 'stop', withinMs: SHIP_FLUSH_TIMEOUT_MS })
    })
    // A request that hangs does not keep the thread any longer.
    await thread.worker.terminate()
  }
}

/** Begins to ship what is in the buffer and was not shipped yet. */
export function startShipper(start: ShipperStart): Shipper {
  return new ShipperThread(start)
}
