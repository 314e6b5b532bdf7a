import { isHole } from './index-state.js'
import type { IndexStore, Piece } from './index-store.js'
import { NODE_FAN_OUT, NODE_LEVELS, spanOf } from './layout.js'
import { MarksDraft, SumsDraft } from './node-sums.js'
import { sliceNodes } from './slices.js'

/** Nodes of a level whose last block is over with a step. Where numbers are missing, a node has what there is. */
export function endingNodes(level: number, before: number, now: number): readonly number[] {
  const span = spanOf(level)
  return [...new Set([Math.floor(before / span), Math.floor(now / span)])].filter((node) => {
    const last = (node + 1) * span - 1
    return last <= now && last > before
  })
}

interface UpperDraft {
  readonly level: number
  readonly number: number
  readonly parts: Piece[]
  readonly sums: SumsDraft
  readonly marks: MarksDraft
  /** The part that is added next, by its number on its level. */
  next: number
}

/**
 * Makes the nodes above level 1 when they are over, a part with each step, so that no report waits for a million entries to be
 * added up. Until one is made, its parts answer for it.
 */
export class UpperNodes {
  readonly #store: IndexStore
  #due: UpperDraft[] | undefined

  constructor(store: IndexStore) {
    this.#store = store
  }

  /** Is told that entries up to `now` were read after those up to `before`. */
  passed(before: number, now: number): void {
    for (let level = 2; level <= NODE_LEVELS; level++) {
      for (const number of endingNodes(level, before, now)) this.#due?.push(draftOf(level, number))
    }
  }

  /** Does some milliseconds' work; false when there was nothing to do. `firstSeq`: the first entry that the buffer still has. */
  step(firstSeq: number): boolean {
    this.#due ??= this.#left(firstSeq)
    const [draft] = this.#due
    if (draft === undefined) return false
    if (this.#add(draft, firstSeq)) this.#due.shift()
    return true
  }

  /** Those that another process, or this one before it ended, did not come to. */
  #left(firstSeq: number): UpperDraft[] {
    const store = this.#store
    return store.reading(() => {
      const drafts: UpperDraft[] = []
      for (let level = 2; level <= NODE_LEVELS; level++) {
        const number = Math.floor((store.state.seq + 1) / spanOf(level)) - 1
        const isLeft =
          number >= 0 && (number + 1) * spanOf(level) > firstSeq && store.piece(level, number) === undefined
        if (isLeft && !isHoleOf(store, level, number)) drafts.push(draftOf(level, number))
      }
      return drafts
    })
  }

  /** True when the node is made, or given up. */
  #add(draft: UpperDraft, firstSeq: number): boolean {
    const store = this.#store
    const { level, number, parts } = draft
    const first = number * spanOf(level)
    // A node that has lost entries is not asked for as a whole.
    if (first < firstSeq && !(first === 0 && firstSeq === 1)) return true
    if (draft.next < (number + 1) * NODE_FAN_OUT) return !store.reading(() => this.#addPart(draft))
    if (parts.length === 0) return true
    store.writing(() => {
      // Forgotten meanwhile.
      if (parts.some((part) => store.found(part.level, part.number) === undefined)) return
      const minMs = Math.min(...parts.map((piece) => piece.minMs))
      const maxMs = Math.max(...parts.map((piece) => piece.maxMs))
      const slices = sliceNodes(store, parts, minMs)
      store.putNode({ level, number, minMs, maxMs }, { marks: draft.marks.packed(), ...draft.sums.packed(), slices })
    })
    return true
  }

  /** False where a part is not there that has entries. */
  #addPart(draft: UpperDraft): boolean {
    const { level, next, sums, marks, parts } = draft
    const store = this.#store
    draft.next += 1
    if (isHoleOf(store, level - 1, next)) return true
    const piece = store.piece(level - 1, next)
    if (piece === undefined) return false
    parts.push(piece)
    for (const shape of store.marks(piece).small(0)) marks.add(shape, next % NODE_FAN_OUT)
    const keyOf = (shape: number) => shape
    if (level === 2) {
      const runSums = store.runSums(piece)
      sums.addSums(runSums, keyOf)
      sums.addRunSteps(runSums, store.runSteps(piece))
    } else {
      sums.addSums(store.sums(piece), keyOf)
      sums.addSteps(store.steps(piece), keyOf)
    }
    return true
  }
}

function draftOf(level: number, number: number): UpperDraft {
  const next = number * NODE_FAN_OUT
  return { level, number, parts: [], sums: new SumsDraft(), marks: new MarksDraft(), next }
}

function isHoleOf({ state }: IndexStore, level: number, number: number): boolean {
  const blocks = NODE_FAN_OUT ** level
  return isHole(state, number * blocks, number * blocks + blocks - 1)
}
