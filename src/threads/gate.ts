/** Somebody who waits at the gate. */
export interface AtGate {
  /** Goes before everybody who does not hurry. */
  hurry(): void
}

interface Waiting {
  readonly begin: (leave: () => void) => void
  hurried: boolean
}

/** Lets a few at a time through, in the order they came; those in a hurry first. */
export class Gate {
  readonly #max: number
  #inside = 0
  readonly #waiting: Waiting[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Whether somebody waits. */
  get crowded(): boolean {
    return this.#waiting.length > 0
  }

  /** `begin` runs now or when there is room, and gets the function that makes room for the next; calling it twice is one. */
  enter(begin: (leave: () => void) => void, hurried = false): AtGate {
    const waiting: Waiting = { begin, hurried }
    if (this.#inside >= this.#max) this.#line(waiting)
    else this.#pass(waiting)
    return { hurry: () => this.#hurry(waiting) }
  }

  #line(waiting: Waiting): void {
    const before = waiting.hurried ? this.#waiting.findIndex((other) => !other.hurried) : -1
    if (before < 0) this.#waiting.push(waiting)
    else this.#waiting.splice(before, 0, waiting)
  }

  #hurry(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting)
    if (at < 0 || waiting.hurried) return
    this.#waiting.splice(at, 1)
    waiting.hurried = true
    this.#line(waiting)
  }

  #pass({ begin }: Waiting): void {
    this.#inside += 1
    let left = false
    begin(() => {
      if (left) return
      left = true
      this.#inside -= 1
      const next = this.#waiting.shift()
      if (next !== undefined) this.#pass(next)
    })
  }
}
