import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { WORKER_START_TIMEOUT_MS } from '../core/limits.js'
import { Mailbox } from './mailbox.js'
import type { Connections, ConnectorSettings, FromConnector, ToConnector } from './messages.js'

const WORKER_FILE = fileURLToPath(new URL('../../workers/connector.worker.js', import.meta.url))

export interface LaneListener {
  onMessage(lane: Lane, message: FromConnector): void
  /** Called once a lane: it stopped by agreement, or its thread is gone and nothing more will come from it. */
  onExit(lane: Lane, reason: string): void
}

/** One serving thread as the front sees it: a mailbox, what it was asked and has not answered, and a notice when it ends. */
export class Lane {
  readonly #mailbox: Mailbox<ToConnector, FromConnector>
  readonly #listener: LaneListener
  readonly #startTimer: NodeJS.Timeout
  #threadId: number | undefined
  #mode: 'starting' | 'serving' | 'stopping' | 'ended' = 'starting'
  #unanswered = 0
  /** As the thread last told. */
  connections: Connections = { idle: 0, busy: 0 }
  #idleSinceMs: number

  constructor(pool: Piscina, settings: ConnectorSettings, listener: LaneListener, nowMs: number) {
    this.#listener = listener
    this.#idleSinceMs = nowMs
    const { port1, port2 } = new MessageChannel()
    this.#mailbox = new Mailbox(
      port1,
      (message) => this.#receive(message),
      () => {},
    )
    // A module that throws while it loads leaves a task that never settles, hence the deadline.
    this.#startTimer = setTimeout(() => this.#end('the thread did not start in time'), WORKER_START_TIMEOUT_MS)
    pool.run({ port: port2, settings }, { name: 'serve', transferList: [port2] }).then(
      () => this.#end('stopped'),
      (error: unknown) => this.#end(error instanceof Error ? error.message : String(error)),
    )
  }

  get threadId(): number | undefined {
    return this.#threadId
  }

  /** Whether the thread ever came up, ended or not. */
  get served(): boolean {
    return this.#threadId !== undefined
  }

  get serving(): boolean {
    return this.#mode === 'serving'
  }

  /** Questions it has not answered. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** Sends a question; messages sent before the thread is up wait in the port. `answered` must follow. */
  ask(message: ToConnector): void {
    this.#unanswered += 1
    this.#mailbox.send(message)
  }

  answered(nowMs: number): void {
    this.#unanswered -= 1
    this.#idleSinceMs = nowMs
  }

  /** Sends what has no answer. */
  tell(message: ToConnector): void {
    this.#mailbox.send(message)
  }

  idleForMs(nowMs: number): number {
    return this.#unanswered > 0 ? 0 : nowMs - this.#idleSinceMs
  }

  /**
   * Ends the thread by agreement. Nothing is asked of it afterwards, and the port keeps order, so whatever was sent before
   * is answered before the thread ends.
   */
  stop(): void {
    if (this.#mode === 'stopping' || this.#mode === 'ended') return
    this.#mode = 'stopping'
    this.#mailbox.send({ kind: 'stop' })
  }

  #receive(message: FromConnector): void {
    if (message.kind === 'serving') {
      this.#threadId = message.threadId
      if (this.#mode === 'starting') this.#mode = 'serving'
      clearTimeout(this.#startTimer)
    }
    this.#listener.onMessage(this, message)
  }

  #end(reason: string): void {
    if (this.#mode === 'ended') return
    this.#mode = 'ended'
    clearTimeout(this.#startTimer)
    this.#mailbox.close()
    this.#listener.onExit(this, reason)
  }
}

/**
 * The threads of one connector. Piscina owns their life (start, resource limits, exit detection); each runs `serve` as its
 * only task, and that task's settling is the death notice. Calls never travel as Piscina tasks.
 */
export class ConnectorPool {
  readonly #pool: Piscina
  readonly #settings: ConnectorSettings
  readonly #listener: LaneListener

  constructor(settings: ConnectorSettings, listener: LaneListener) {
    this.#settings = settings
    this.#listener = listener
    this.#pool = new Piscina({
      filename: WORKER_FILE,
      name: 'serve',
      // A thread exists while its task runs: it starts with the task and goes right after it.
      minThreads: 0,
      // One more than may serve, so that a thread can start while another, stopping, still answers its last calls.
      maxThreads: settings.threadsMax + 1,
      concurrentTasksPerWorker: 1,
      idleTimeout: 0,
      // With the default, an idle worker's event loop stands still and its connections' keep-alives die.
      atomics: 'disabled',
      recordTiming: false,
      workerHistogram: false,
    })
    // Failures reach each lane through its own task; without a listener here the process would end.
    this.#pool.on('error', () => {})
  }

  openLane(nowMs: number): Lane {
    return new Lane(this.#pool, this.#settings, this.#listener, nowMs)
  }

  /** Ends one thread at once, whatever it is doing; its lane's exit notice follows. */
  kill(lane: Lane): void {
    void this.#pool.threads.find((thread) => thread.threadId === lane.threadId)?.terminate()
  }

  /** Ends every thread. Lanes that have not stopped by agreement get their exit notice. */
  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}
