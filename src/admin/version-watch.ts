import { type MaybePromise, StoreFailure, type StoreVersions } from './admin-store.js'
import { sameVersions } from './store-reads.js'

/** Looks at the store's numbers again and again while somebody watches, and tells all of them when one has moved. */
export class VersionWatch {
  readonly #read: () => MaybePromise<StoreVersions>
  readonly #intervalMs: number
  /** With the numbers that each was told of. Nothing is assumed to be known at the beginning: the first look tells. */
  readonly #watchers = new Map<() => void, StoreVersions | undefined>()
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #lookAgain = false

  constructor(read: () => MaybePromise<StoreVersions>, intervalMs: number) {
    this.#read = read
    this.#intervalMs = intervalMs
  }

  get watched(): boolean {
    return this.#watchers.size > 0
  }

  /** Returns the function that ends it. */
  add(changed: () => void): () => void {
    // One function may watch twice, and each end is its own.
    const watcher = () => changed()
    this.#watchers.set(watcher, undefined)
    this.#timer ??= setInterval(() => this.look(), this.#intervalMs).unref()
    this.look()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.#stop()
    }
  }

  /** Looks at once; when a look is under way, once more after it. */
  look(): void {
    if (!this.watched) return
    if (this.#looking) this.#lookAgain = true
    else void this.#look()
  }

  close(): void {
    this.#watchers.clear()
    this.#stop()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    this.#looking = true
    try {
      do {
        this.#lookAgain = false
        this.#tell(await this.#read())
      } while (this.#lookAgain && this.watched)
    } catch (error) {
      // A store that cannot be read now is looked at again: what moved meanwhile shows then.
      if (!(error instanceof StoreFailure)) throw error
    } finally {
      this.#looking = false
    }
  }

  #tell(now: StoreVersions): void {
    for (const [watcher, told] of [...this.#watchers]) {
      if (told !== undefined && sameVersions(told, now)) continue
      this.#watchers.set(watcher, now)
      watcher()
    }
  }
}
