import type { Operation } from '../../core/audit-entry.js'
import type { Decision, OutcomeCode } from '../../core/errors.js'

/** What entries are counted by. Few for many entries: the index has each once and names it by a number. */
export interface Shape {
  readonly connector: string | undefined
  readonly identity: string | undefined
  readonly keyId: string | undefined
  readonly tool: string | undefined
  readonly operation: Operation
  readonly target: string | undefined
  readonly decision: Decision
  readonly code: OutcomeCode
}

/** Stands in place of names when there are too many shapes to keep every one. */
export const OTHER = '…'

/** One text for a shape. */
function keyOf(shape: Shape): string {
  const { connector, identity, keyId, tool, operation, target, decision, code } = shape
  return JSON.stringify([connector, identity, keyId, tool, operation, target, decision, code])
}

/** Who called is given up first, then what was called. What is left is bounded by the configuration. */
function folded(shape: Shape, times: 1 | 2): Shape {
  const nobody = { ...shape, identity: shape.identity && OTHER, keyId: undefined }
  return times === 1 ? nobody : { ...nobody, tool: shape.tool && OTHER, target: shape.target && OTHER }
}

/** The shapes of one index, numbered from 1. */
export class ShapeBook {
  readonly #max: number
  /** Of the first shapes: made when a number is asked for, which those who only read never do. */
  readonly #numbers = new Map<string, number>()
  readonly #shapes: Shape[] = []
  readonly #derived = new Map<unknown, unknown>()

  constructor(shapesMax: number) {
    this.#max = shapesMax
  }

  get size(): number {
    return this.#shapes.length
  }

  /** Whether names have been given up, so that a question about one may miss some of its entries. */
  get full(): boolean {
    return this.#shapes.length >= this.#max
  }

  /** The shape of a number that was given. */
  shape(number: number): Shape | undefined {
    return this.#shapes[number - 1]
  }

  /** What somebody has worked out of these shapes and keeps with them, under a key of its own. */
  derived<T>(key: (shape: Shape) => unknown, make: () => T): T {
    // One key is used with one type alone.
    const known = this.#derived.get(key) as T | undefined
    if (known !== undefined) return known
    const made = make()
    this.#derived.set(key, made)
    return made
  }

  /** Takes over the next shape, as the file has it. */
  learn(shape: Shape): void {
    this.#shapes.push(shape)
  }

  #known(shape: Shape): number | undefined {
    for (let at = this.#numbers.size; at < this.#shapes.length; at++) {
      const learned = this.#shapes[at]
      if (learned !== undefined) this.#numbers.set(keyOf(learned), at + 1)
    }
    return this.#numbers.get(keyOf(shape))
  }

  /** Forgets shapes whose transaction was undone. */
  shrink(size: number): void {
    const forgotten = this.#shapes.splice(size)
    if (forgotten.length === 0) return
    for (const shape of forgotten) this.#numbers.delete(keyOf(shape))
    // Other shapes will have their numbers.
    this.#derived.clear()
  }

  /** The number of a shape, and the shape to store where it is a new one. */
  numberOf(wanted: Shape): { readonly number: number; readonly added?: Shape } {
    let shape = wanted
    for (const times of [1, 2] as const) {
      const known = this.#known(shape)
      if (known !== undefined) return { number: known }
      if (this.#shapes.length < this.#max * times) break
      shape = folded(wanted, times)
    }
    const known = this.#known(shape)
    if (known !== undefined) return { number: known }
    this.learn(shape)
    return { number: this.#shapes.length, added: shape }
  }
}
