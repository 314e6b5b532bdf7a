import { NAMED_STATEMENTS_MAX, STATEMENT_SHAPES_MAX } from '../../core/limits.js'

/** Statement texts seen once, over all connections: a text used a second time is worth a name on the server. */
export class ShapesSeen {
  readonly #texts = new Set<string>()

  /** Whether the text was seen before; remembers it. */
  seen(text: string): boolean {
    if (this.#texts.delete(text)) {
      // Moved to the end, so that the oldest unused text is the one forgotten.
      this.#texts.add(text)
      return true
    }
    this.#texts.add(text)
    if (this.#texts.size > STATEMENT_SHAPES_MAX) {
      for (const oldest of this.#texts) {
        this.#texts.delete(oldest)
        break
      }
    }
    return false
  }
}

/** How one submission uses a name: `parse` when the server does not know it yet, and names to deallocate before. */
export interface NamedUse {
  readonly name: string
  readonly parse: boolean
  readonly deallocate: readonly string[]
}

/** The prepared statements of one connection, least recently used first. Names are never used twice. */
export class NamedStatements {
  readonly #names = new Map<string, string>()
  #deallocate: string[] = []
  #next = 1

  use(text: string): NamedUse {
    const known = this.#names.get(text)
    if (known !== undefined) {
      this.#names.delete(text)
      this.#names.set(text, known)
      return { name: known, parse: false, deallocate: this.#takeDeallocations() }
    }
    const name = `r${this.#next++}`
    this.#names.set(text, name)
    if (this.#names.size > NAMED_STATEMENTS_MAX) {
      for (const oldest of this.#names.keys()) {
        this.forget(oldest)
        break
      }
    }
    return { name, parse: true, deallocate: this.#takeDeallocations() }
  }

  /** After a failure it is unknown whether the server has the statement; deallocating one that it has not is no error. */
  forget(text: string): void {
    const name = this.#names.get(text)
    if (name === undefined) return
    this.#names.delete(text)
    this.#deallocate.push(name)
  }

  /** Something else took statements away, and which ones is unknown. */
  forgetAll(): void {
    this.#deallocate.push(...this.#names.values())
    this.#names.clear()
  }

  #takeDeallocations(): readonly string[] {
    const names = this.#deallocate
    if (names.length > 0) this.#deallocate = []
    return names
  }
}
