import { existsSync, realpathSync } from 'node:fs'
import { REPORT_SHAPES_MAX } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import type { ChainKeys, EntryLine } from '../chain.js'
import { BufferFault, BufferReader } from './buffer-reader.js'
import { digestsOf } from './entry-facts.js'
import { DIGEST_SPAN, Follower } from './follower.js'
import { ofGenuine } from './genuine.js'
import { removeIndex } from './index-db.js'
import { isFileFault, isOutOfReach, sentenceOf } from './index-fault.js'
import { blockOf, isHole, isOver, strangeSince } from './index-state.js'
import { IndexStore } from './index-store.js'
import { NODE_FAN_OUT, uint32Column } from './layout.js'
import { type DigestPrefix, digestPrefix, placesOf } from './row-pairs.js'

export interface IndexOptions {
  /** Path of the buffer. */
  readonly buffer: string
  /** Where the index lies; `<buffer>.index` where nothing is said. */
  readonly index?: string
  /** Those of the buffer: values that are kept in full are found by their digests too. */
  readonly keys: ChainKeys
  /** `REPORT_SHAPES_MAX` outside tests. */
  readonly shapesMax?: number
  /** Is told each time that an index which was there is made anew, and why: a part of a sentence. */
  readonly onRemade?: (why: string) => void
}

/** What an index covers at one moment. */
export interface Coverage {
  readonly instance: string
  /** The first entry that the buffer still has; above `toSeq` where nothing is covered. */
  readonly fromSeq: number
  /** The last entry that was read. */
  readonly toSeq: number
  /** The last entry that the buffer has. */
  readonly lastSeq: number
}

/** One state of index and buffer, for as long as one question takes. */
export interface IndexView {
  readonly store: IndexStore
  readonly buffer: BufferReader
  readonly coverage: Coverage
  readonly keys: ChainKeys
}

export interface DigestSearch {
  readonly limit: number
  /** Only entries before this one, so that a search can go on. */
  readonly beforeSeq?: number
}

export interface FoundEntries {
  /** The newest first. */
  readonly entries: readonly EntryLine[]
  /** Entries of the buffer that the gateway did not make, and that were found and are not what they were: none of them is among these. */
  readonly notGenuine: number
}

interface Opened {
  readonly store: IndexStore
  readonly buffer: BufferReader
  readonly follower: Follower
}

/**
 * What reports and searches are answered from: derived from the buffer, in a file beside it, made anew whenever it does not fit.
 * It is never written by the thread that keeps entries.
 */
export class AuditIndex {
  readonly #options: IndexOptions
  readonly #path: string
  #opened: Opened | undefined

  constructor(options: IndexOptions) {
    this.#options = options
    this.#path = options.index ?? `${options.buffer}.index`
  }

  /**
   * Reads what is new in the buffer until nothing is, or until `deadlineMs` on the clock `nowMs`. True when nothing was left.
   * Fails with one sentence when buffer or index cannot be used.
   */
  follow(deadlineMs: number, nowMs: () => number): Result<boolean, string> {
    return this.#attempt(({ follower }) => {
      do {
        if (!follower.step()) return true
      } while (nowMs() < deadlineMs)
      return false
    })
  }

  /** Answers one question from one state of index and buffer. */
  view<T>(work: (view: IndexView) => T): Result<T, string> {
    return this.#attempt(({ store, buffer }) =>
      store.reading(() => work({ store, buffer, coverage: cover(store, buffer), keys: this.#options.keys })),
    )
  }

  /**
   * Entries that hold a digest (`hmac:` and hex digits; of a row, or of a value), the newest first: what an entry keeps in full is
   * found by the digest it would have had. Covers what was followed so far.
   */
  search(digest: string, search: DigestSearch): Result<FoundEntries, string> {
    const prefix = digestPrefix(digest)
    if (prefix === undefined) return fail('expected a digest: hmac: and hex digits')
    return this.view((view) => this.#find(view, digest, prefix, search))
  }

  /** The entries that `search` finds. */
  entriesOf(digest: string, search: DigestSearch): Result<readonly EntryLine[], string> {
    const found = this.search(digest, search)
    return found.ok ? ok(found.value.entries) : found
  }

  #find(view: IndexView, digest: string, prefix: DigestPrefix, { limit, beforeSeq }: DigestSearch): FoundEntries {
    const { buffer, store, coverage, keys } = view
    const entries: EntryLine[] = []
    let notGenuine = strangeSince(store.state, coverage.fromSeq)
    for (const seq of limit <= 0 ? [] : seqsOf(view, prefix, beforeSeq ?? Number.MAX_SAFE_INTEGER)) {
      const line = buffer.line(seq)
      if (line === undefined) continue
      const holds = ofGenuine(keys, buffer.instance, { seq, line }, (entry) => digestsOf(entry, keys).includes(digest))
      if (holds === undefined) notGenuine += 1
      if (holds === true && entries.push({ seq, line }) >= limit) break
    }
    return { entries, notGenuine }
  }

  #attempt<T>(work: (opened: Opened) => T): Result<T, string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return ok(work(this.#open()))
      } catch (error) {
        this.close()
        if (error instanceof BufferFault) return fail(`the audit buffer "${this.#options.buffer}": ${error.message}`)
        if (attempt === 1 && isFileFault(error)) this.#remove(error)
        else if (isFileFault(error) || isOutOfReach(error))
          return fail(`the index "${this.#path}": ${sentenceOf(error)}`)
        else throw error
      }
    }
  }

  #open(): Opened {
    if (this.#opened !== undefined && (this.#opened.buffer.disturbed || this.#opened.store.disturbed)) this.close()
    if (this.#opened !== undefined) return this.#opened
    const path = this.#options.buffer
    if (!existsSync(path)) throw new BufferFault('there is no such file')
    const buffer = new BufferReader(realpathSync(path))
    try {
      const store = this.#openStore(buffer.instance)
      this.#opened = { store, buffer, follower: new Follower(store, buffer, this.#options.keys) }
      return this.#opened
    } catch (error) {
      buffer.close()
      throw error
    }
  }

  #openStore(instance: string): IndexStore {
    const { keys, shapesMax = REPORT_SHAPES_MAX } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return new IndexStore(this.#path, { keys, instance, shapesMax })
      } catch (error) {
        if (attempt > 1 || !isFileFault(error)) throw error
        this.#remove(error)
      }
    }
  }

  #remove(why: unknown): void {
    removeIndex(this.#path)
    this.#options.onRemade?.(sentenceOf(why))
  }

  close(): void {
    this.#opened?.store.close()
    this.#opened?.buffer.close()
    this.#opened = undefined
  }
}

/** Opens an index, or makes it, and looks whether buffer and index can be used. Nothing has been followed yet. */
export function openIndex(options: IndexOptions): Result<AuditIndex, string> {
  const index = new AuditIndex(options)
  const tried = index.view(() => undefined)
  return tried.ok ? ok(index) : tried
}

function cover(store: IndexStore, buffer: BufferReader): Coverage {
  const { firstSeq, lastSeq } = buffer.range()
  const toSeq = store.state.seq
  // Of an empty buffer nothing is covered, whatever the index still has.
  return { instance: buffer.instance, fromSeq: lastSeq === 0 ? toSeq + 1 : firstSeq, toSeq, lastSeq }
}

/** Entries that may hold a digest, the newest first, each once. */
function* seqsOf({ store, coverage }: IndexView, prefix: DigestPrefix, beforeSeq: number): Generator<number> {
  const { state } = store
  const { fromSeq } = coverage
  function* within(base: number, places: readonly number[]): Generator<number> {
    for (const place of [...new Set(places)].sort((a, b) => b - a)) {
      const seq = base + place
      if (seq >= fromSeq && seq < beforeSeq) yield seq
    }
  }
  // The blocks whose node is not over yet, and then node by node.
  const blocks = state.open.map(([block]) => block).filter((block) => block <= blockOf(beforeSeq))
  for (const block of blocks.sort((a, b) => b - a)) {
    const words = uint32Column(store.pairs(block) ?? new Uint8Array(0))
    yield* within(Math.floor(block / NODE_FAN_OUT) * DIGEST_SPAN, placesOf(words, prefix))
  }
  const newest = Math.floor(Math.min(beforeSeq, state.seq) / DIGEST_SPAN)
  for (let node = newest; node >= Math.floor(fromSeq / DIGEST_SPAN); node--) {
    const first = node * NODE_FAN_OUT
    if (!isOver(state, 1, node) || isHole(state, first, first + NODE_FAN_OUT - 1)) continue
    yield* within(node * DIGEST_SPAN, store.placesIn(node, prefix))
  }
}
