import { isDeepStrictEqual } from 'node:util'
import type { AdminStore, ListedPolicy, StoredConnector, StoreVersions } from './admin/admin-store.js'
import { sameVersions } from './admin/store-reads.js'
import {
  allConnectors,
  type Config,
  type ConnectorSet,
  type Fault,
  faultText,
  type LoadedConfig,
} from './config/config.js'
import type { Environment } from './config/source.js'
import { BACKOFF_MAX_MS, RELOAD_RETRY_MIN_MS } from './core/limits.js'
import type { Result } from './core/result.js'
import type { Observe } from './observe/observation.js'
import { type Again, type ConnectorChange, type ConnectorFleet, policyMark } from './threads/connector-fleet.js'

/** `signal`: a hang-up. `command`: somebody asked every instance. `store`: the admin store changed. */
export type ReloadCause = 'signal' | 'command' | 'api' | 'store'

export interface ReloadReport {
  /** Every connector that was prepared again or is new, gone or faulty; when the configuration cannot be read, none. */
  readonly connectors: readonly ConnectorChange[]
  /** Why nothing was changed: what is wrong with the configuration, or with the admin store. */
  readonly faults: readonly string[]
  /** Keys of the configuration that changed and that take effect with the next start alone. */
  readonly needsRestart: readonly string[]
  /** Requests of the admin store up to this number are answered by it: everything was read after they were made. Absent: it could not be read. */
  readonly request?: number
}

export interface ReloadSurroundings {
  readonly fleet: ConnectorFleet
  readonly store: Pick<AdminStore, 'readVersions' | 'listConnectors' | 'listPolicies' | 'interruptions' | 'watch'>
  readonly observe: Observe
  readonly env: Environment
  /** Reads the configuration again. */
  readonly load: () => Result<LoadedConfig, readonly Fault[]>
  /** Told what came of the start and of each reload, when all of its connectors have been prepared, well or not. */
  readonly ended: (report: ReloadReport) => void
}

/** What all sources had at one moment, and what follows from it. */
interface Sources {
  readonly loaded: LoadedConfig
  readonly stored: readonly StoredConnector[]
  readonly set: ConnectorSet
}

/** What was applied, with the promise of what became of it. */
interface Applied {
  readonly report: Promise<ReloadReport>
}

/**
 * Brings what is served to what is configured: at the start, when somebody asks, and when the admin store changes. Sources are read and
 * applied one after the other; the connectors that this touches are prepared on their own, so that none waits for another's database.
 */
export class Reloads {
  readonly #surroundings: ReloadSurroundings
  #sources: Sources
  /** As of the last time that the store was read. */
  #seen: StoreVersions
  /** The store's interruptions up to which everything served was compared with it. */
  #comparedAt: number
  /** A comparison that was asked for and has not begun. */
  #comparing: Promise<void> | undefined
  #turn: Promise<unknown> = Promise.resolve()
  /** A reload that was asked for and has not begun: whoever asks now is answered by it too. */
  #waiting: Promise<ReloadReport> | undefined
  #looking = false
  #lookAgain = false
  #failures = 0
  /** Each kind has its own: a look at the store must not take the place of a reload that somebody asked for. */
  readonly #retryTimers = new Map<'reload' | 'look', NodeJS.Timeout>()
  #endWatch: (() => void) | undefined
  #stopped = false

  private constructor(surroundings: ReloadSurroundings, sources: Sources, seen: StoreVersions, comparedAt: number) {
    this.#surroundings = surroundings
    this.#sources = sources
    this.#seen = seen
    this.#comparedAt = comparedAt
  }

  /** Applies the first set and goes on watching the store. Rejects when the store cannot be read. */
  static async begin(
    surroundings: ReloadSurroundings,
    loaded: LoadedConfig,
  ): Promise<{ readonly reloads: Reloads; readonly settled: Promise<unknown> }> {
    const { store, fleet, env, ended } = surroundings
    // Read first: what changes after it is seen as a change.
    const seen = await store.readVersions()
    const { interruptions } = store
    const stored = await store.listConnectors()
    const set = allConnectors(loaded, stored, env)
    const reloads = new Reloads(surroundings, { loaded, stored, set }, seen, interruptions)
    const settled = fleet.apply(set, 'all').then((connectors) => {
      // Whatever was asked before has been read just now.
      ended({ connectors, faults: [], needsRestart: [], request: seen.reload })
    })
    reloads.#endWatch = store.watch(() => void reloads.#look())
    return { reloads, settled }
  }

  /**
   * Reads the configuration and the store again, and introspects every connector. Settles when all of them have been prepared again, well
   * or not: a call that is admitted afterwards is judged by the policy as it was then.
   */
  reload(cause: ReloadCause): Promise<ReloadReport> {
    this.#waiting ??= this.#inTurn(() => {
      this.#waiting = undefined
      return this.#reload(cause)
    }).then(async (applied) => {
      const report = await applied.report
      this.#surroundings.ended(report)
      return report
    })
    return this.#waiting
  }

  /**
   * Undefined while the store could be read all the time. After an interruption it settles when what is served was compared with the store:
   * what changed serves no call from then on until it has been prepared. Rejects with `StoreFailure` while that cannot be done.
   */
  compared(): Promise<void> | undefined {
    if (this.#surroundings.store.interruptions === this.#comparedAt || this.#stopped) return undefined
    this.#comparing ??= this.#inTurn(() => {
      this.#comparing = undefined
      return this.#compare()
    })
    return this.#comparing
  }

  stop(): void {
    this.#stopped = true
    this.#endWatch?.()
    for (const timer of this.#retryTimers.values()) clearTimeout(timer)
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(act)
    this.#turn = mine.catch(() => {})
    return mine
  }

  async #reload(cause: ReloadCause): Promise<Applied> {
    const { store, observe, load, env } = this.#surroundings
    observe({ kind: 'reload.started', cause })
    let seen: StoreVersions
    let stored: readonly StoredConnector[]
    try {
      // First, so that everything else is read after the request that this answers was made.
      seen = await store.readVersions()
      stored = await store.listConnectors()
    } catch (error) {
      this.#retryLater('reload', () => void this.reload(cause))
      return this.#refused(cause, [storeFailed(error)])
    }
    this.#seen = { ...this.#seen, reload: seen.reload }
    const loaded = load()
    if (!loaded.ok) return this.#refused(cause, loaded.error.map(faultText), seen.reload)
    const needsRestart = changedHead(this.#sources.loaded.config, loaded.value.config)
    if (needsRestart.length > 0) observe({ kind: 'reload.needs_restart', keys: needsRestart })
    this.#failures = 0
    this.#seen = seen
    this.#sources = { loaded: loaded.value, stored, set: allConnectors(loaded.value, stored, env) }
    const applying = this.#apply(cause, 'all', needsRestart)
    return { report: applying.then((report) => ({ ...report, request: seen.reload })) }
  }

  #refused(cause: ReloadCause, faults: readonly string[], request?: number): Applied {
    this.#surroundings.observe({ kind: 'reload.refused', cause, faults })
    const report = { connectors: [], faults, needsRestart: [], ...(request === undefined ? {} : { request }) }
    return { report: Promise.resolve(report) }
  }

  /** What is served is changed when this returns; connectors are prepared afterwards. */
  async #apply(cause: ReloadCause, again: Again, needsRestart: readonly string[]): Promise<ReloadReport> {
    const { fleet, observe } = this.#surroundings
    const connectors = await fleet.apply(this.#sources.set, again)
    if (connectors.length === 0 && cause === 'store') return { connectors, faults: [], needsRestart }
    const ids = (outcome: ConnectorChange['outcome']) =>
      connectors.filter((change) => change.outcome === outcome).map(({ id }) => id)
    observe({
      kind: 'reload.ended',
      cause,
      reloaded: ids('reloaded'),
      added: ids('added'),
      removed: ids('removed'),
      replaced: ids('replaced'),
      failed: ids('failed'),
      unchanged: ids('unchanged').length,
    })
    return { connectors, faults: [], needsRestart }
  }

  /** The store says that something changed. One look at a time; what changes during one is seen by the next. */
  async #look(): Promise<void> {
    this.#lookAgain = true
    if (this.#looking) return
    this.#looking = true
    while (this.#lookAgain && !this.#stopped) {
      this.#lookAgain = false
      await this.#inTurn(() => this.#followStore())
    }
    this.#looking = false
  }

  async #followStore(): Promise<void> {
    const { observe } = this.#surroundings
    try {
      await this.#compare()
    } catch (error) {
      observe({ kind: 'reload.refused', cause: 'store', faults: [storeFailed(error)] })
      this.#retryLater('look', () => void this.#look())
    }
  }

  /** Prepares what the store has otherwise than it was seen last. */
  async #compare(): Promise<void> {
    const { store, env } = this.#surroundings
    const versions = await store.readVersions()
    if (this.#stopped) return
    if (versions.reload !== this.#seen.reload) {
      this.#seen = { ...this.#seen, reload: versions.reload }
      // In a turn of its own, after this one; what else changed counts even when the configuration turns out to be broken.
      void this.reload('command')
    }
    // Whatever happened to the store until now is seen by what is read of it from here on.
    const { interruptions } = store
    const hold = interruptions !== this.#comparedAt
    if (!hold && sameVersions(versions, this.#seen)) return
    const [policies, stored] = [await store.listPolicies(), await store.listConnectors()]
    if (this.#stopped) return
    this.#failures = 0
    this.#seen = versions
    this.#comparedAt = interruptions
    const { loaded } = this.#sources
    if (!isDeepStrictEqual(stored, this.#sources.stored)) {
      this.#sources = { loaded, stored, set: allConnectors(loaded, stored, env) }
    }
    // Not awaited: a connector whose database hangs must not keep the next change from the others.
    void this.#apply('store', { marks: marksOf(policies), hold }, [])
  }

  /** The store failed: what is served goes on, and the store is asked again after a growing pause. */
  #retryLater(kind: 'reload' | 'look', again: () => void): void {
    if (this.#stopped) return
    const pauseMs = Math.min(BACKOFF_MAX_MS, RELOAD_RETRY_MIN_MS * 2 ** this.#failures)
    this.#failures += 1
    clearTimeout(this.#retryTimers.get(kind))
    this.#retryTimers.set(kind, setTimeout(again, pauseMs))
  }
}

/** By policy name, of the newest versions. */
function marksOf(policies: readonly ListedPolicy[]): ReadonlyMap<string, string> {
  return new Map(policies.map((policy) => [policy.name, policyMark(policy.name, policy)]))
}

function changedHead(before: Config, now: Config): readonly string[] {
  const keys = [
    ['server', before.server, now.server],
    ['auth', before.auth, now.auth],
    ['admin_store', plainStore(before), plainStore(now)],
    ['audit', before.audit, now.audit],
    ['idempotency', before.idempotency, now.idempotency],
  ] as const
  return keys.filter(([, was, is]) => !isDeepStrictEqual(was, is)).map(([key]) => key)
}

/** With its address in clear, to be compared and nothing else. */
function plainStore({ adminStore }: Config): unknown {
  return adminStore.type === 'postgres' ? adminStore.url.reveal() : adminStore
}

function storeFailed(error: unknown): string {
  return `the admin store failed: ${error instanceof Error ? error.message : String(error)}`
}
