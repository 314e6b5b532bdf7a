import type { ErrorCode } from './core/errors.js'
import { ADDRESSES_TRACKED_MAX, FOLD_AFTER_PER_MINUTE } from './core/limits.js'

const WINDOW_MS = 60_000

/** What a refusal before authentication is counted by. */
export interface RefusalKey {
  readonly address: string
  readonly code: ErrorCode
  readonly connector: string | undefined
}

export interface FoldedRefusals extends RefusalKey {
  readonly count: number
}

interface Window {
  readonly key: RefusalKey
  readonly startMs: number
  seen: number
}

/**
 * Keeps nobody without a key from filling the audit trail: the first ten refusals of an address and code in a minute are
 * entries of their own, the rest of that minute becomes one entry with a count.
 */
export class RefusalFolder {
  readonly #windows = new Map<string, Window>()
  readonly #onFolded: (folded: FoldedRefusals) => void

  constructor(onFolded: (folded: FoldedRefusals) => void) {
    this.#onFolded = onFolded
  }

  /** True when this refusal deserves an entry of its own; otherwise it is counted towards the folded one. */
  admit(key: RefusalKey, nowMs: number): boolean {
    const id = JSON.stringify([key.address, key.code, key.connector])
    let window = this.#windows.get(id)
    if (window !== undefined && nowMs - window.startMs >= WINDOW_MS) {
      this.#close(id, window)
      window = undefined
    }
    if (window === undefined) {
      if (this.#windows.size >= ADDRESSES_TRACKED_MAX) this.#closeOldest()
      window = { key, startMs: nowMs, seen: 0 }
      this.#windows.set(id, window)
    }
    window.seen += 1
    return window.seen <= FOLD_AFTER_PER_MINUTE
  }

  /** Writes the folded entries of windows that have ended; of all windows when the gateway stops. */
  flush(nowMs: number, all: boolean): void {
    for (const [id, window] of this.#windows) {
      if (all || nowMs - window.startMs >= WINDOW_MS) this.#close(id, window)
    }
  }

  #closeOldest(): void {
    const oldest = this.#windows.entries().next()
    if (oldest.done !== true) this.#close(oldest.value[0], oldest.value[1])
  }

  #close(id: string, window: Window): void {
    this.#windows.delete(id)
    const count = window.seen - FOLD_AFTER_PER_MINUTE
    if (count > 0) this.#onFolded({ ...window.key, count })
  }
}
