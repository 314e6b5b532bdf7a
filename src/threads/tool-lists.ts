import type { Identity } from '../core/identity.js'
import { TOOL_LIST_EPOCHS_CARRIED, TOOL_LISTS_CACHED_MAX } from '../core/limits.js'
import type { Lane } from './connector-pool.js'

/** `"tools":[…]` in UTF-8; undefined when no thread could make it. */
export type ListListener = (body: Uint8Array | undefined) => void

interface Pending {
  readonly lane: Lane
  readonly sentAtMs: number
  readonly key: string
  readonly epoch: number
  readonly identity: Identity
  readonly listeners: ListListener[]
}

/** A list with one of those who may see it. */
export interface MadeList {
  readonly identity: Identity
  readonly body: Uint8Array
  /** Snapshots that came and went since somebody asked for it. */
  readonly unaskedFor: number
}

/** Nobody's list is empty, and making it has a thread decode and compile the snapshot it is made under. */
export const NOBODY: Identity = { id: '', name: '', roles: [], claims: new Map() }

/** One who asked for a list under a snapshot, and how many snapshots ago that was. */
export interface ListCaller {
  readonly identity: Identity
  readonly unaskedFor: number
}

/**
 * Tool lists as bytes, made by the connector's thread and kept by who may see them: callers with equal roles share one,
 * and those for whom the policy has settings of their own get their own. Bounded, and void when the snapshot changes.
 */
export class ToolLists {
  readonly #cached = new Map<string, MadeList>()
  readonly #pending = new Map<number, Pending>()
  #epoch = 0
  #overrides: ReadonlySet<string> = new Set()

  /** Everything made so far belongs to the past, but for what was made under this snapshot before it came into force. */
  begin(epoch: number, overrides: readonly string[], made: readonly MadeList[]): void {
    this.#epoch = epoch
    this.#overrides = new Set(overrides)
    this.#cached.clear()
    for (const list of made) this.#keep(keyOf(list.identity, this.#overrides), list)
  }

  /** The same snapshot under another number. */
  renumber(epoch: number): void {
    this.#epoch = epoch
  }

  /** One caller for each list that somebody asked for not long ago: the lists that are worth making before the next snapshot serves. */
  get callers(): readonly ListCaller[] {
    return [...this.#cached.values()].filter(({ unaskedFor }) => unaskedFor < TOOL_LIST_EPOCHS_CARRIED)
  }

  /** Answers from the cache or joins a request under way; false when one has to be sent, with `expect` following. */
  find(identity: Identity, listener: ListListener): boolean {
    const key = keyOf(identity, this.#overrides)
    const cached = this.#cached.get(key)
    if (cached !== undefined) {
      if (cached.unaskedFor > 0) this.#cached.set(key, { ...cached, unaskedFor: 0 })
      listener(cached.body)
      return true
    }
    for (const pending of this.#pending.values()) {
      if (pending.key !== key || pending.epoch !== this.#epoch) continue
      pending.listeners.push(listener)
      return true
    }
    return false
  }

  /** `epoch`: of the snapshot under which it is made; what is made under another than the one in force is not kept. */
  expect(
    requestId: number,
    sent: { readonly lane: Lane; readonly sentAtMs: number; readonly epoch: number },
    identity: Identity,
    listener: ListListener,
  ): void {
    const key = keyOf(identity, this.#overrides)
    this.#pending.set(requestId, { ...sent, key, identity, listeners: [listener] })
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
    // The received bytes are a view into the post they came in, which nothing that is kept may keep alive.
    const own = body.slice()
    if (pending.epoch === this.#epoch) this.#keep(pending.key, { identity: pending.identity, body: own, unaskedFor: 0 })
    for (const listener of pending.listeners) listener(own)
  }

  /** The thread that should have made them is gone. */
  lost(lane: Lane): void {
    for (const [requestId, pending] of this.#pending) {
      if (pending.lane !== lane) continue
      this.#pending.delete(requestId)
      for (const listener of pending.listeners) listener(undefined)
    }
  }

  #keep(key: string, list: MadeList): void {
    const oldest = this.#cached.keys().next()
    if (this.#cached.size >= TOOL_LISTS_CACHED_MAX && oldest.done !== true) this.#cached.delete(oldest.value)
    this.#cached.set(key, list)
  }
}

function keyOf(identity: Identity, overrides: ReadonlySet<string>): string {
  const override = overrides.has(identity.name) ? identity.name : ''
  return JSON.stringify([override, [...identity.roles].sort()])
}

/**
 * Whose lists to make under the next snapshot, so that those who had one under this have one then: a caller that the policy has settings for
 * now stands for itself, and no longer for those with its roles.
 */
export function callersUnder(callers: readonly ListCaller[], overrides: readonly string[]): readonly ListCaller[] {
  return callers.flatMap((caller) => {
    if (!overrides.includes(caller.identity.name)) return [caller]
    return [caller, { ...caller, identity: { ...caller.identity, name: '' } }]
  })
}
