import {
  type IdempotencyClaim,
  type IdempotencyName,
  type IdempotencyStore,
  type IdempotentOutcome,
  type MaybePromise,
  StoreFailure,
} from './admin/admin-store.js'
import { unreachable } from './core/assert.js'
import { IDEMPOTENCY_CALL_LIFE_MAX_MS, OWED_MAX } from './core/limits.js'
import type { IntentVerdict } from './threads/messages.js'

export interface IdempotencySurroundings {
  readonly store: IdempotencyStore
  /** Names this gateway over its restarts: the instance of its audit buffer, which one process at a time can hold. */
  readonly gateway: string
  /** Names this run of it. */
  readonly run: string
  readonly wallMs: () => number
  readonly windowMs: number
  /** Told when the store fails. */
  readonly onFailed: (detail: string) => void
}

/** A started call with a key: `end` must follow, once. It settles when the store knows, or owes it; it never rejects for the store's sake. */
export interface StartedCall {
  readonly kind: 'started'
  end(end: CallEnd): MaybePromise<void>
}

/** `none`: nothing happened, so the key is free again. `unknown`: nobody knows, so it never runs again. */
export type CallEnd = ({ readonly kind: 'done' } & IdempotentOutcome) | { readonly kind: 'none' | 'unknown' }

/** A call that does not run: answered again, or refused. */
export type NotStarted = Exclude<IntentVerdict, { readonly kind: 'go' }>

/** The end of a call that the store could not take. */
interface OwedEnd {
  readonly claim: IdempotencyClaim
  readonly outcome: IdempotentOutcome | undefined
}

/**
 * Lets each idempotency key start one call. The store says what was started and how it ended; which of this run's calls
 * still live is known here, and what the store could not take is kept until it can.
 */
export class IdempotencyKeys {
  readonly #surroundings: IdempotencySurroundings
  /** What the claims of this run begin with. Each has a number too: what belongs to one call can never end another's. */
  readonly #run: string
  #claims = 0
  /** Claims that have not ended, by their instance. */
  readonly #living = new Set<string>()
  /** By the claim's instance. */
  readonly #owed = new Map<string, OwedEnd>()
  #settling: Promise<void> | undefined

  constructor(surroundings: IdempotencySurroundings) {
    this.#surroundings = surroundings
    this.#run = `${surroundings.gateway}/${surroundings.run}/`
  }

  /** Claims the key, durably, before anything else of the call is written. */
  async begin(name: IdempotencyName, planHash: string): Promise<StartedCall | NotStarted> {
    const claim: IdempotencyClaim = { ...name, planHash, instance: `${this.#run}${++this.#claims}` }
    // Before the store is asked: a second call that finds the row must find its call living, whoever hears first.
    this.#living.add(claim.instance)
    try {
      await this.#settleOwed()
      const begun = await this.#claim(claim)
      if (begun.kind !== 'started') this.#living.delete(claim.instance)
      return begun
    } catch (error) {
      this.#living.delete(claim.instance)
      const reason = this.#failed(error)
      // Nobody knows whether the claim was written before the store failed; nothing will run under it.
      this.#owe(claim, undefined)
      return { kind: 'refused', code: 'IDEMPOTENCY_UNAVAILABLE', reason }
    }
  }

  async #claim(claim: IdempotencyClaim, again = false): Promise<StartedCall | NotStarted> {
    const { store, windowMs } = this.#surroundings
    const found = await store.beginIdempotent(claim, windowMs)
    switch (found.kind) {
      case 'new':
        return { kind: 'started', end: (end) => this.#end(claim, end) }
      case 'done':
        return { kind: 'replay', affected: found.affected, keys: found.keys }
      case 'other_plan':
        return { kind: 'refused', code: 'IDEMPOTENCY_CONFLICT' }
      case 'started': {
        if (this.#mayLive(found)) return { kind: 'refused', code: 'IDEMPOTENCY_IN_PROGRESS' }
        // A call of this run may have ended between the store's answer and now; then the store knows how.
        if (!again && found.instance.startsWith(this.#run)) return this.#claim(claim, true)
        return { kind: 'refused', code: 'IDEMPOTENCY_UNKNOWN' }
      }
      default:
        return unreachable(found)
    }
  }

  /** Writes what the store could not take before, and forgets what is older than the window. */
  async tidy(): Promise<void> {
    try {
      await this.#settleOwed()
      await this.#surroundings.store.purgeIdempotent(this.#surroundings.windowMs)
    } catch (error) {
      this.#failed(error)
    }
  }

  /**
   * A call of this run lives while it has not ended here, and one of an earlier run of this gateway died with it. One of
   * another gateway may live for as long as a call can.
   */
  #mayLive({ instance, createdAt }: { readonly instance: string; readonly createdAt: number }): boolean {
    if (instance.startsWith(this.#run)) return this.#living.has(instance)
    const { gateway, wallMs } = this.#surroundings
    if (instance.startsWith(`${gateway}/`)) return false
    return wallMs() - createdAt < IDEMPOTENCY_CALL_LIFE_MAX_MS
  }

  /** The call lives until the store knows how it ended: in between, nobody may take it for one that is lost. */
  #end(claim: IdempotencyClaim, end: CallEnd): MaybePromise<void> {
    const done = () => void this.#living.delete(claim.instance)
    // The row stays as it is: started, and its call lives no more.
    if (end.kind === 'unknown') return done()
    const outcome = end.kind === 'done' ? { affected: end.affected, keys: end.keys } : undefined
    const failed = (error: unknown) => {
      this.#failed(error)
      this.#owe(claim, outcome)
      done()
    }
    try {
      const finished = this.#surroundings.store.finishIdempotent(claim, outcome)
      return finished instanceof Promise ? finished.then(done, failed) : done()
    } catch (error) {
      failed(error)
    }
  }

  /** Beyond the bound a key stays started, which answers that nobody knows: true, if less than could be said. */
  #owe(claim: IdempotencyClaim, outcome: IdempotentOutcome | undefined): void {
    if (this.#owed.size < OWED_MAX) this.#owed.set(claim.instance, { claim, outcome })
  }

  async #settleOwed(): Promise<void> {
    if (this.#owed.size === 0) return
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = undefined
    })
    await this.#settling
  }

  async #settle(): Promise<void> {
    for (const [instance, { claim, outcome }] of this.#owed) {
      await this.#surroundings.store.finishIdempotent(claim, outcome)
      this.#owed.delete(instance)
    }
  }

  #failed(error: unknown): string {
    if (!(error instanceof StoreFailure)) throw error
    this.#surroundings.onFailed(error.message)
    return error.message
  }
}
