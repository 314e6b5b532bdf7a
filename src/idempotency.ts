import {
  type IdempotencyClaim,
  type IdempotencyName,
  type IdempotencyStore,
  type IdempotentOutcome,
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

/** A started call with a key: `end` must follow, once. */
export interface StartedCall {
  readonly kind: 'started'
  end(end: CallEnd): void
}

/** `none`: nothing happened, so the key is free again. `unknown`: nobody knows, so it never runs again. */
export type CallEnd = ({ readonly kind: 'done' } & IdempotentOutcome) | { readonly kind: 'none' | 'unknown' }

/** A call that does not run: answered again, or refused. */
export type NotStarted = Exclude<IntentVerdict, { readonly kind: 'go' }>

function textOf({ identity, connector, tool, key }: IdempotencyName): string {
  return JSON.stringify([identity, connector, tool, key])
}

/**
 * Lets each idempotency key start one call. The store says what was started and how it ended; which of this run's calls
 * still live is known here, and what the store could not take is kept until it can.
 */
export class IdempotencyKeys {
  readonly #surroundings: IdempotencySurroundings
  readonly #instance: string
  readonly #living = new Set<string>()
  /** Ends that are not in the store yet, by key. */
  readonly #owed = new Map<
    string,
    { readonly claim: IdempotencyClaim; readonly outcome: IdempotentOutcome | undefined }
  >()

  constructor(surroundings: IdempotencySurroundings) {
    this.#surroundings = surroundings
    this.#instance = `${surroundings.gateway}/${surroundings.run}`
  }

  /** Claims the key, durably, before anything else of the call is written. */
  begin(name: IdempotencyName, planHash: string): StartedCall | NotStarted {
    const text = textOf(name)
    const claim: IdempotencyClaim = { ...name, planHash, instance: this.#instance }
    try {
      this.#settleOwed()
      const found = this.#surroundings.store.beginIdempotent(claim, this.#surroundings.windowMs)
      switch (found.kind) {
        case 'new':
          this.#living.add(text)
          return { kind: 'started', end: (end) => this.#end(text, claim, end) }
        case 'done':
          return { kind: 'replay', affected: found.affected, keys: found.keys }
        case 'other_plan':
          return { kind: 'refused', code: 'IDEMPOTENCY_CONFLICT' }
        case 'started':
          return this.#mayLive(text, found)
            ? { kind: 'refused', code: 'IDEMPOTENCY_IN_PROGRESS' }
            : { kind: 'refused', code: 'IDEMPOTENCY_UNKNOWN' }
        default:
          return unreachable(found)
      }
    } catch (error) {
      return { kind: 'refused', code: 'IDEMPOTENCY_UNAVAILABLE', reason: this.#failed(error) }
    }
  }

  /** Writes what the store could not take before, and forgets what is older than the window. */
  tidy(): void {
    try {
      this.#settleOwed()
      this.#surroundings.store.purgeIdempotent(this.#surroundings.windowMs)
    } catch (error) {
      this.#failed(error)
    }
  }

  /**
   * A call of this run lives while it has not ended here, and one of an earlier run of this gateway died with it. One of
   * another gateway may live for as long as a call can.
   */
  #mayLive(text: string, { instance, createdAt }: { readonly instance: string; readonly createdAt: number }): boolean {
    if (instance === this.#instance) return this.#living.has(text)
    const { gateway, wallMs } = this.#surroundings
    if (instance.startsWith(`${gateway}/`)) return false
    return wallMs() - createdAt < IDEMPOTENCY_CALL_LIFE_MAX_MS
  }

  #end(text: string, claim: IdempotencyClaim, end: CallEnd): void {
    this.#living.delete(text)
    // The row stays as it is: started, and its call lives no more.
    if (end.kind === 'unknown') return
    const outcome = end.kind === 'done' ? { affected: end.affected, keys: end.keys } : undefined
    try {
      this.#surroundings.store.finishIdempotent(claim, outcome)
    } catch (error) {
      this.#failed(error)
      // Beyond the bound a key stays started, which answers that nobody knows: true, if less than could be said.
      if (this.#owed.size < OWED_MAX) this.#owed.set(text, { claim, outcome })
    }
  }

  #settleOwed(): void {
    for (const [text, { claim, outcome }] of this.#owed) {
      this.#surroundings.store.finishIdempotent(claim, outcome)
      this.#owed.delete(text)
    }
  }

  #failed(error: unknown): string {
    if (!(error instanceof StoreFailure)) throw error
    this.#surroundings.onFailed(error.message)
    return error.message
  }
}
