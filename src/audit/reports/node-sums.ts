import { fileFault } from './index-fault.js'
import { BLOCK_ENTRIES, type Block, bytesOf, float64Column } from './layout.js'

/**
 * What a node knows of each shape: `SUMS` numbers of 64 bits, one shape after the other, and apart from them how many entries are
 * in which step of latency, as triples of shape, step and count. Whoever asks for no latencies does not read those.
 */
export const SUMS = 8
export const [SHAPE, ENTRIES, CALLS, ROWS, AFFECTED, TOTAL_US, MAX_US, LAST_MS] = [0, 1, 2, 3, 4, 5, 6, 7] as const
export const STEP_NUMBERS = 3

export interface StoredNode {
  readonly sums: Uint8Array
  readonly steps: Uint8Array
}

/** The sums of a node, without copies. */
export function sumsOf(stored: Uint8Array): Float64Array {
  const numbers = float64Column(stored)
  if (numbers.length % SUMS !== 0) throw fileFault('a node of another size')
  return numbers
}

export function stepsOf(stored: Uint8Array): Float64Array {
  const numbers = float64Column(stored)
  if (numbers.length % STEP_NUMBERS !== 0) throw fileFault('latencies of another size')
  return numbers
}

/** Whether the node has entries of a shape that is wanted. */
export function nodeHas(sums: Float64Array, wanted: Uint8Array): boolean {
  for (let at = 0; at < sums.length; at += SUMS) if (wanted[sums[at + SHAPE] ?? 0] === 1) return true
  return false
}

interface ShapeDraft {
  readonly sums: Float64Array
  readonly steps: Map<number, number>
}

/** The sums of a node while its parts are added. */
export class NodeDraft {
  readonly #shapes = new Map<number, ShapeDraft>()
  #minMs = Number.POSITIVE_INFINITY
  #maxMs = Number.NEGATIVE_INFINITY

  get minMs(): number {
    return this.#minMs
  }

  get maxMs(): number {
    return this.#maxMs
  }

  #of(shape: number): ShapeDraft {
    const known = this.#shapes.get(shape)
    if (known !== undefined) return known
    const made = { sums: new Float64Array(SUMS), steps: new Map<number, number>() }
    made.sums[SHAPE] = shape
    this.#shapes.set(shape, made)
    return made
  }

  addBlock(block: Block): void {
    for (let i = 0; i < BLOCK_ENTRIES; i++) {
      const shape = block.shapes[i] ?? 0
      if (shape === 0) continue
      const { sums, steps } = this.#of(shape)
      const timeMs = block.times[i] ?? 0
      const us = block.totals[i] ?? 0
      addTo(sums, ENTRIES, 1)
      addTo(sums, CALLS, block.calls[i] ?? 0)
      addTo(sums, ROWS, block.rows[i] ?? 0)
      addTo(sums, AFFECTED, block.affected[i] ?? 0)
      addTo(sums, TOTAL_US, us)
      raiseTo(sums, MAX_US, us)
      raiseTo(sums, LAST_MS, timeMs)
      const step = block.steps[i] ?? 0
      steps.set(step, (steps.get(step) ?? 0) + 1)
      this.#minMs = Math.min(this.#minMs, timeMs)
      this.#maxMs = Math.max(this.#maxMs, timeMs)
    }
  }

  addNode(node: StoredNode, minMs: number, maxMs: number): void {
    this.#minMs = Math.min(this.#minMs, minMs)
    this.#maxMs = Math.max(this.#maxMs, maxMs)
    const added = sumsOf(node.sums)
    for (let at = 0; at < added.length; at += SUMS) {
      const { sums } = this.#of(added[at + SHAPE] ?? 0)
      for (const member of [ENTRIES, CALLS, ROWS, AFFECTED, TOTAL_US]) addTo(sums, member, added[at + member] ?? 0)
      for (const member of [MAX_US, LAST_MS]) raiseTo(sums, member, added[at + member] ?? 0)
    }
    const counts = stepsOf(node.steps)
    for (let at = 0; at < counts.length; at += STEP_NUMBERS) {
      const { steps } = this.#of(counts[at] ?? 0)
      const step = counts[at + 1] ?? 0
      steps.set(step, (steps.get(step) ?? 0) + (counts[at + 2] ?? 0))
    }
  }

  node(): StoredNode {
    const sums = new Float64Array(this.#shapes.size * SUMS)
    const counts: number[] = []
    let at = 0
    for (const [shape, draft] of this.#shapes) {
      sums.set(draft.sums, at)
      at += SUMS
      for (const [step, count] of draft.steps) counts.push(shape, step, count)
    }
    return { sums: bytesOf(sums), steps: bytesOf(Float64Array.from(counts)) }
  }
}

export function addTo(numbers: Float64Array, at: number, added: number): void {
  numbers[at] = (numbers[at] ?? 0) + added
}

export function raiseTo(numbers: Float64Array, at: number, least: number): void {
  if ((numbers[at] ?? 0) < least) numbers[at] = least
}
