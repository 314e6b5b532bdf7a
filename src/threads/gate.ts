/** Lets a few at a time through, in the order they came. */
export class Gate {
  readonly #max: number
  #inside = 0
  readonly #waiting: ((leave: () => void) => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Whether somebody waits. */
  get crowded(): boolean {
    return this.#waiting.length > 0
  }

  /** `begin` runs now or when there is room, and gets the function that makes room for the next; calling it twice is one. */
  enter(begin: (leave: () => void) => void): void {
    if (this.#inside >= this.#max) {
      this.#waiting.push(begin)
      return
    }
    this.#inside += 1
    let left = false
    begin(() => {
      if (left) return
      left = true
      this.#inside -= 1
      const next = this.#waiting.shift()
      if (next !== undefined) this.enter(next)
    })
  }
}
