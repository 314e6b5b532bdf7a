import type { Identity } from '../core/identity.js'
import { TOOL_LISTS_CACHED_MAX } from '../core/limits.js'
import type { Lane } from './connector-pool.js'

/** `"tools":[…]` in UTF-8; undefined when no thread could make it. */
export type ListListener = (body: Uint8Array | undefined) => void

interface Pending {
  readonly lane: Lane
  readonly sentAtMs: number
  readonly key: string
  readonly epoch: number
  readonly listeners: ListListener[]
}

/**
 * Tool lists as bytes, made by the connector's thread and kept by who may see them: callers with equal roles share one,
 * and those for whom the policy has settings of their own get their own. Bounded, and void when the snapshot changes.
 */
export class ToolLists {
  readonly #cached = new Map<string, Uint8Array>()
  readonly #pending = new Map<number, Pending>()
  #epoch = 0
  #overrides: ReadonlySet<string> = new Set()

  /** Everything made so far belongs to the past. */
  begin(epoch: number, overrides: readonly string[]): void {
    this.#epoch = epoch
    this.#overrides = new Set(overrides)
    this.#cached.clear()
  }

  /** Answers from the cache or joins a request under way; false when one has to be sent, with `expect` following. */
  find(identity: Identity, listener: ListListener): boolean {
    const key = this.#keyOf(identity)
    const cached = this.#cached.get(key)
    if (cached !== undefined) {
      listener(cached)
      return true
    }
    for (const pending of this.#pending.values()) {
      if (pending.key !== key) continue
      pending.listeners.push(listener)
      return true
    }
    return false
  }

  expect(
    requestId: number,
    sent: { readonly lane: Lane; readonly sentAtMs: number },
    identity: Identity,
    listener: ListListener,
  ): void {
    this.#pending.set(requestId, { ...sent, key: this.#keyOf(identity), epoch: this.#epoch, listeners: [listener] })
  }

  /** A lane that was asked before `momentMs` and has not answered. */
  unansweredSince(momentMs: number): Lane | undefined {
    for (const pending of this.#pending.values()) if (pending.sentAtMs < momentMs) return pending.lane
    return undefined
  }

  made(requestId: number, body: Uint8Array): void {
    const pending = this.#pending.get(requestId)
    if (pending === undefined) return
    this.#pending.delete(requestId)
    if (pending.epoch === this.#epoch) {
      const oldest = this.#cached.keys().next()
      if (this.#cached.size >= TOOL_LISTS_CACHED_MAX && oldest.done !== true) this.#cached.delete(oldest.value)
      // The received bytes are a view into the post they came in, which the cache must not keep alive.
      this.#cached.set(pending.key, body.slice())
    }
    for (const listener of pending.listeners) listener(body)
  }

  /** The thread that should have made them is gone. */
  lost(lane: Lane): void {
    for (const [requestId, pending] of this.#pending) {
      if (pending.lane !== lane) continue
      this.#pending.delete(requestId)
      for (const listener of pending.listeners) listener(undefined)
    }
  }

  #keyOf(identity: Identity): string {
    const override = this.#overrides.has(identity.name) ? identity.name : ''
    return JSON.stringify([this.#epoch, override, [...identity.roles].sort()])
  }
}
