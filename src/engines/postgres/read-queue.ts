/**
 * Who may use a connection next: a fixed number of places, handed out strictly in the order they were asked for. It exists
 * beside the driver's pool because a wait must end at once when its call is cancelled, and because "waited for a place"
 * and "could not connect" are different answers.
 */
export class ReadQueue {
  readonly #places: number
  #taken = 0
  readonly #waiting = new Set<() => void>()

  constructor(places: number) {
    this.#places = places
  }

  /**
   * Calls `granted` now or when it is this request's turn; the place is then held until `release`. Returns the way out of
   * the line, to be called only before the turn has come.
   */
  enter(granted: () => void): () => void {
    if (this.#taken < this.#places && this.#waiting.size === 0) {
      this.#taken += 1
      granted()
      return () => {}
    }
    // An own function for each request, since a set knows the same function only once.
    const turn = (): void => granted()
    this.#waiting.add(turn)
    return () => {
      this.#waiting.delete(turn)
    }
  }

  /** Gives a place back: it goes to whoever has waited longest. */
  release(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      next()
      return
    }
    this.#taken -= 1
  }

  get waiting(): number {
    return this.#waiting.size
  }
}
