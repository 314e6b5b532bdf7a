import type { ErrorCode } from './core/errors.js'
import { ADDRESSES_TRACKED_MAX, FOLD_AFTER_PER_MINUTE } from './core/limits.js'

const WINDOW_MS = 60_000

/** What a refusal before authentication is counted by. */
export interface RefusalKey {
  /** Absent where refusals of all addresses are counted together. */
  readonly address: string | undefined
  readonly code: ErrorCode
  readonly connector: string | undefined
}

export interface FoldedRefusals extends RefusalKey {
  readonly count: number
}

interface Window {
  readonly key: RefusalKey
  readonly startMs: number
  /** How many have entries of their own. */
  readonly entriesMax: number
  seen: number
}

/**
 * Keeps nobody without a key from filling the audit trail: the first ten refusals of an address and code in a minute are
 * entries of their own, the rest of that minute becomes one entry with a count. Once such entries have taken what they may, whoever
 * asks is told so as `crowded`: then all refusals of one code and connector are one entry a minute, whatever address they come from.
 */
export class RefusalFolder {
  readonly #windows = new Map<string, Window>()
  readonly #onFolded: (folded: FoldedRefusals) => void

  constructor(onFolded: (folded: FoldedRefusals) => void) {
    this.#onFolded = onFolded
  }

  /** True when this refusal deserves an entry of its own; otherwise it is counted towards the folded one. */
  admit(key: RefusalKey, nowMs: number, crowded: boolean): boolean {
    const window = this.#windowOf(crowded ? { ...key, address: undefined } : key, nowMs, crowded)
    window.seen += 1
    return window.seen <= window.entriesMax
  }

  /** Writes the folded entries of windows that have ended; of all windows when the gateway stops. */
  flush(nowMs: number, all: boolean, crowded: boolean): void {
    const ended = (window: Window) => all || nowMs - window.startMs >= WINDOW_MS
    // Those of single addresses first: what they counted may go into a window that ends as well.
    for (const shared of [false, true]) {
      for (const [id, window] of [...this.#windows]) {
        if (isShared(window) === shared && ended(window)) this.#close(id, window, nowMs, crowded)
      }
    }
  }

  #windowOf(key: RefusalKey, nowMs: number, crowded: boolean): Window {
    const id = idOf(key)
    const found = this.#windows.get(id)
    if (found !== undefined && nowMs - found.startMs < WINDOW_MS) return found
    if (found !== undefined) this.#close(id, found, nowMs, crowded)
    if (this.#windows.size >= ADDRESSES_TRACKED_MAX) this.#closeOldest(nowMs, crowded)
    return this.#open(key, nowMs)
  }

  #open(key: RefusalKey, nowMs: number): Window {
    const entriesMax = key.address === undefined ? 0 : FOLD_AFTER_PER_MINUTE
    const window = { key, startMs: nowMs, entriesMax, seen: 0 }
    this.#windows.set(idOf(key), window)
    return window
  }

  #closeOldest(nowMs: number, crowded: boolean): void {
    const oldest = this.#windows.entries().next()
    if (oldest.done !== true) this.#close(oldest.value[0], oldest.value[1], nowMs, crowded)
  }

  #close(id: string, window: Window, nowMs: number, crowded: boolean): void {
    this.#windows.delete(id)
    const count = window.seen - window.entriesMax
    if (count <= 0) return
    if (!crowded || isShared(window)) return this.#onFolded({ ...window.key, count })
    const shared = { ...window.key, address: undefined }
    const all = this.#windows.get(idOf(shared)) ?? this.#open(shared, nowMs)
    all.seen += count
  }
}

function idOf({ address, code, connector }: RefusalKey): string {
  return JSON.stringify([address, code, connector])
}

function isShared({ key }: Window): boolean {
  return key.address === undefined
}
