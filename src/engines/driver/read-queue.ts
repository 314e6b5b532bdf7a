/**
 * Who may use a connection next: a fixed number of places, handed out strictly in the order they were asked for. It exists
 * beside the driver's pool because a wait must end at once when its call is cancelled, and because "waited for a place"
 * and "could not connect" are different answers. A place may be handed on together with the connection `C` in it.
 */
export class ReadQueue<C> {
  readonly #places: number
  #taken = 0
  readonly #waiting = new Set<{ readonly granted: (connection: C | undefined) => void }>()

  constructor(places: number) {
    this.#places = places
  }

  /**
   * Calls `granted` now or when it is this request's turn; the place is then held until `release`. Returns the way out of
   * the line, to be called only before the turn has come.
   */
  enter(granted: (connection: C | undefined) => void): () => void {
    if (this.#taken < this.#places && this.#waiting.size === 0) {
      this.#taken += 1
      granted(undefined)
      return () => {}
    }
    const turn = { granted }
    this.#waiting.add(turn)
    return () => {
      this.#waiting.delete(turn)
    }
  }

  /** Gives a place back: it goes to whoever has waited longest. A connection may be given with it only while some wait. */
  release(connection?: C): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      next.granted(connection)
      return
    }
    this.#taken -= 1
  }

  get waiting(): number {
    return this.#waiting.size
  }
}
