import { BACKOFF_MAX_MS, BACKOFF_MIN_MS, INTROSPECTION_TIMEOUT_MS, SCHEMA_REFRESH_INTERVAL_MS } from '../core/limits.js'
import type { Lane } from './connector-pool.js'
import type { AtGate, Gate } from './gate.js'
import type { FromConnector, PolicyToPrepare, PrepareReport, SnapshotHandle } from './messages.js'

/** A policy as stored, on its way to be judged for one connector. */
export interface StoredForConnector extends PolicyToPrepare {
  readonly name: string
  readonly version: number
  /** Differs between any two versions of any policies that were ever stored. */
  readonly mark: string
}

/** How a preparation ended. A failed one leaves the snapshot before it in force, where there is one. */
export type RefreshOutcome =
  | { readonly kind: 'reloaded' | 'unchanged'; readonly epoch: number; readonly drift: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string }

export interface PreparationSurroundings {
  readonly nowMs: () => number
  readonly random: () => number
  /** The policy as stored now, or undefined when none was applied. Rejects when the store fails. */
  readonly readPolicy: () => Promise<StoredForConnector | undefined>
  /** Keeps what the policy was confirmed to be about. Rejects when the store fails. */
  readonly confirm: (policy: StoredForConnector, known: string) => Promise<void>
  /** Shared by all connectors: how many may introspect at once. */
  readonly gate: Gate
  /** Numbers that only grow, whichever supervisor of the connector asks. */
  readonly nextEpoch: () => number
}

/** The connector as its preparations see it. */
export interface PreparedConnector {
  /** Whether it is in use: its preparation goes before those of connectors that nobody calls. */
  readonly busy: boolean
  /** A thread to introspect on; undefined when none can be had. */
  begin(): Lane | undefined
  kill(lane: Lane): void
  newRequestId(): number
  /** Of the snapshot in force. */
  readonly fingerprint: string | undefined
  /** Makes what is in use ready under the new snapshot, and puts it in force. */
  swap(snapshot: SnapshotHandle, report: PrepareReport, lane: Lane): Promise<RefreshOutcome>
  /** The snapshot in force is what a new one would be. */
  unchanged(report: PrepareReport): RefreshOutcome
  failed(reason: string, retryInMs: number): void
  /** Called when a preparation is over, whatever came of it. */
  ended(): void
}

type Prepared = Extract<FromConnector, { kind: 'prepared' }>

interface Asked {
  readonly requestId: number
  readonly lane: Lane
  readonly answer: (answer: Prepared | { readonly lost: string }) => void
}

type OutcomeListener = (outcome: RefreshOutcome) => void

/**
 * Prepares the snapshots of one connector, one after the other: reads the policy, has a thread introspect and judge it, has it confirmed,
 * and only then lets it serve. One that fails is tried again after a growing pause.
 */
export class Preparations {
  readonly #connector: PreparedConnector
  readonly #surroundings: PreparationSurroundings
  #stage: 'idle' | 'queued' | 'running' | 'closed' = 'idle'
  /** Who waits for the next preparation that begins: one under way may have read the policy already. */
  #waiting: OutcomeListener[] = []
  /** Who waits for one that begins from now on and goes well, however many fail before it. */
  #hoping: (() => void)[] = []
  #asked: Asked | undefined
  #failures = 0
  #retryTimer: NodeJS.Timeout | undefined
  #refreshTimer: NodeJS.Timeout | undefined
  #lastSchemaChangeMs = Number.NEGATIVE_INFINITY
  #policyMark: string | undefined
  #servedMark: string | undefined
  #atGate: AtGate | undefined

  constructor(connector: PreparedConnector, surroundings: PreparationSurroundings) {
    this.#connector = connector
    this.#surroundings = surroundings
  }

  /** The mark of the policy that was read last; undefined while none was, or none is stored. */
  get policyMark(): string | undefined {
    return this.#policyMark
  }

  /** The mark of the policy that the snapshot in force was judged by; undefined where there is none, or it was judged without one. */
  get servedMark(): string | undefined {
    return this.#servedMark
  }

  /** Settles when a preparation that began after the call has ended well, or none will begin any more. Asks for none. */
  whenWell(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stage === 'closed') resolve()
      else this.#hoping.push(resolve)
    })
  }

  /** Settles when a preparation that began after the call has ended, well or not. */
  refresh(): Promise<RefreshOutcome> {
    return new Promise((resolve) => {
      if (this.#stage === 'closed') return resolve(STOPPING)
      this.#waiting.push(resolve)
      if (this.#stage === 'idle') this.#queue()
    })
  }

  /** Somebody waits for the preparation that is under way, or for its turn. */
  hurry(): void {
    if (this.#stage === 'queued') this.#atGate?.hurry()
  }

  /** The catalog is not what the snapshot says: prepares again, but not all the time for one that stays broken. */
  schemaChanged(): void {
    if (this.#refreshTimer !== undefined || this.#stage === 'closed') return
    const dueMs = this.#lastSchemaChangeMs + SCHEMA_REFRESH_INTERVAL_MS - this.#surroundings.nowMs()
    const again = () => {
      this.#lastSchemaChangeMs = this.#surroundings.nowMs()
      void this.refresh()
    }
    if (dueMs <= 0) again()
    // Seen again too soon: not forgotten, only later.
    else this.#refreshTimer = setTimeout(again, dueMs)
  }

  answered(message: Prepared): void {
    if (this.#asked?.requestId === message.requestId) this.#asked.answer(message)
  }

  /** A thread is gone. One that never came up is a failure even when nothing was being prepared on it. */
  lost(lane: Lane, reason: string): void {
    const unable = `the worker thread failed to start: ${reason}`
    if (this.#asked?.lane === lane) {
      this.#asked.answer({ lost: lane.served ? 'the worker thread ended while it introspected' : unable })
    } else if (!lane.served && this.#stage === 'idle') this.#failed(unable)
  }

  close(): void {
    this.#stage = 'closed'
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#refreshTimer)
    this.#asked?.answer({ lost: STOPPING.reason })
    for (const listener of this.#waiting.splice(0)) listener(STOPPING)
    for (const tell of this.#hoping.splice(0)) tell()
  }

  #queue(): void {
    clearTimeout(this.#retryTimer)
    this.#stage = 'queued'
    this.#atGate = this.#surroundings.gate.enter((leave) => void this.#run(leave), this.#connector.busy)
  }

  async #run(leave: () => void): Promise<void> {
    if (this.#stage === 'closed') return leave()
    this.#stage = 'running'
    clearTimeout(this.#refreshTimer)
    this.#refreshTimer = undefined
    const listeners = this.#waiting.splice(0)
    const hoping = this.#hoping.splice(0)
    const outcome = await this.#attempt(leave)
    leave()
    if (!this.#closed) this.#stage = 'idle'
    if (!this.#closed && outcome.kind === 'failed') this.#failed(outcome.reason)
    if (outcome.kind !== 'failed') {
      this.#failures = 0
      this.#servedMark = this.#policyMark
    }
    this.#connector.ended()
    if (outcome.kind !== 'failed' || this.#closed) for (const tell of hoping) tell()
    else this.#hoping.unshift(...hoping)
    for (const listener of listeners) listener(outcome)
    if (this.#stage === 'idle' && this.#waiting.length > 0) this.#queue()
  }

  /** Read anew each time: the stage changes while something is awaited. */
  get #closed(): boolean {
    return this.#stage === 'closed'
  }

  async #attempt(leave: () => void): Promise<RefreshOutcome> {
    const { readPolicy, confirm, nextEpoch } = this.#surroundings
    let policy: StoredForConnector | undefined
    try {
      policy = await readPolicy()
    } catch (error) {
      return storeFailed(error)
    }
    if (this.#closed) return STOPPING
    this.#policyMark = policy?.mark
    const lane = this.#connector.begin()
    if (lane === undefined) return { kind: 'failed', reason: 'no thread can be started' }
    // An attempt that fails spends its number: two snapshots can never share one.
    const answer = await this.#ask(lane, nextEpoch(), policy)
    leave()
    if (this.#closed) return STOPPING
    if ('lost' in answer) return { kind: 'failed', reason: answer.lost }
    if (!answer.ok) return { kind: 'failed', reason: answer.reason }
    const { snapshot, report } = answer
    try {
      // Before anything is served under it: otherwise the next start would confirm whatever it then finds.
      if (policy !== undefined && report.confirmed !== undefined) await confirm(policy, report.confirmed)
    } catch (error) {
      return storeFailed(error)
    }
    if (this.#closed) return STOPPING
    return snapshot === undefined ? this.#connector.unchanged(report) : this.#connector.swap(snapshot, report, lane)
  }

  #ask(
    lane: Lane,
    epoch: number,
    policy: StoredForConnector | undefined,
  ): Promise<Prepared | { readonly lost: string }> {
    const requestId = this.#connector.newRequestId()
    const { fingerprint } = this.#connector
    return new Promise((resolve) => {
      const answer: Asked['answer'] = (message) => {
        clearTimeout(timer)
        this.#asked = undefined
        resolve(message)
      }
      const timer = setTimeout(() => {
        answer({ lost: 'introspection did not end in time' })
        this.#connector.kill(lane)
      }, INTROSPECTION_TIMEOUT_MS)
      this.#asked = { requestId, lane, answer }
      const current = fingerprint === undefined ? {} : { current: fingerprint }
      lane.ask({ kind: 'prepare', requestId, epoch, policy, ...current })
    })
  }

  #failed(reason: string): void {
    const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** this.#failures)
    this.#failures += 1
    const retryInMs = Math.round(ceiling * (0.5 + this.#surroundings.random() / 2))
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(() => {
      if (this.#stage === 'idle') this.#queue()
    }, retryInMs)
    this.#connector.failed(reason, retryInMs)
  }
}

const STOPPING = { kind: 'failed', reason: 'the connector is stopping' } as const

function storeFailed(error: unknown): RefreshOutcome {
  return {
    kind: 'failed',
    reason: `the admin store failed: ${error instanceof Error ? error.message : String(error)}`,
  }
}
