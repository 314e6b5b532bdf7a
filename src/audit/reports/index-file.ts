import { existsSync, realpathSync } from 'node:fs'
import { REPORT_SHAPES_MAX } from '../../core/limits.js'
import { fail, ok, type Result } from '../../core/result.js'
import { type ChainKeys, digestRowKey, type EntryLine } from '../chain.js'
import { BufferFault, BufferReader } from './buffer-reader.js'
import { digestsOf, ofEntry } from './entry-facts.js'
import { blockOf, Follower } from './follower.js'
import { isFileFault, isOutOfReach, sentenceOf } from './index-fault.js'
import { IndexStore, removeIndex } from './index-store.js'
import { NODE_FAN_OUT, spanOf, uint32Column } from './layout.js'
import { type DigestPrefix, digestPrefix, lastHigh, placesOf } from './row-pairs.js'

export interface IndexOptions {
  /** Path of the buffer. */
  readonly buffer: string
  /** Where the index lies; `<buffer>.index` where nothing is said. */
  readonly index?: string
  /** Those of the buffer: values that are kept in full are found by their digests too. */
  readonly keys: ChainKeys
  /** `REPORT_SHAPES_MAX` outside tests. */
  readonly shapesMax?: number
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
}

export interface DigestSearch {
  readonly limit: number
  /** Only entries before this one, so that a search can go on. */
  readonly beforeSeq?: number
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
      store.reading(() => work({ store, buffer, coverage: cover(store, buffer) })),
    )
  }

  /**
   * Entries that hold a digest (`hmac:` and hex digits; of a row, or of a value), the newest first: what an entry keeps in full is
   * found by the digest it would have had. Covers what was followed so far.
   */
  entriesOf(digest: string, search: DigestSearch): Result<readonly EntryLine[], string> {
    const prefix = digestPrefix(digest)
    if (prefix === undefined) return fail('expected a digest: hmac: and hex digits')
    return this.view((view) => this.#find(view, digest, prefix, search))
  }

  #find(view: IndexView, digest: string, prefix: DigestPrefix, { limit, beforeSeq }: DigestSearch): EntryLine[] {
    const found: EntryLine[] = []
    if (limit <= 0) return found
    for (const seq of seqsOf(view, prefix, beforeSeq ?? Number.MAX_SAFE_INTEGER)) {
      const line = view.buffer.line(seq)
      if (line === undefined || !this.#holds(line, digest)) continue
      if (found.push({ seq, line }) >= limit) break
    }
    return found
  }

  #holds(line: string, digest: string): boolean {
    // Within a text of the entry the quotes would be escaped.
    if (line.includes(`"${digest}"`)) return true
    return ofEntry(line, (entry) => digestsOf(entry, this.#options.keys).includes(digest)) ?? false
  }

  #attempt<T>(work: (opened: Opened) => T): Result<T, string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return ok(work(this.#open()))
      } catch (error) {
        this.close()
        if (error instanceof BufferFault) return fail(`the audit buffer "${this.#options.buffer}": ${error.message}`)
        if (attempt === 1 && isFileFault(error)) removeIndex(this.#path)
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
      const store = this.#openStore(
        `${buffer.instance} ${digestRowKey(this.#options.keys, { connector: '', table: '' }, '')}`,
      )
      this.#opened = { store, buffer, follower: new Follower(store, buffer, this.#options.keys) }
      return this.#opened
    } catch (error) {
      buffer.close()
      throw error
    }
  }

  /** `of`: the buffer and the key that it must have been made of. */
  #openStore(of: string): IndexStore {
    for (let attempt = 1; ; attempt++) {
      let store: IndexStore | undefined
      try {
        store = new IndexStore(this.#path, this.#options.shapesMax ?? REPORT_SHAPES_MAX)
        if (store.adopt(of)) return store
        store.close()
      } catch (error) {
        store?.close()
        if (attempt > 1 || !isFileFault(error)) throw error
      }
      removeIndex(this.#path)
    }
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
  const toSeq = store.position.seq
  // Of an empty buffer nothing is covered, whatever the index still has.
  return { instance: buffer.instance, fromSeq: lastSeq === 0 ? toSeq + 1 : firstSeq, toSeq, lastSeq }
}

/** Entries that may hold a digest, the newest first, each once. */
function* seqsOf({ store, coverage }: IndexView, prefix: DigestPrefix, beforeSeq: number): Generator<number> {
  const { statements } = store
  const { fromSeq } = coverage
  const digestSpan = spanOf(1)
  function* within(base: number, places: readonly number[]): Generator<number> {
    for (const place of [...new Set(places)].sort((a, b) => b - a)) {
      const seq = base + place
      if (seq >= fromSeq && seq < beforeSeq) yield seq
    }
  }
  // The blocks whose node is not over yet, and then node by node.
  for (const block of statements.pairsBelow.all(blockOf(beforeSeq) + 1)) {
    const stored = statements.pairs.get(block)
    if (stored === undefined) continue
    yield* within(Math.floor(block / NODE_FAN_OUT) * digestSpan, placesOf(uint32Column(stored), prefix))
  }
  let below = Math.floor(beforeSeq / digestSpan) + 1
  for (;;) {
    const node = statements.partsBelow.get(below)
    if (node === null || node === undefined) return
    const places: number[] = []
    for (const stored of statements.partsFrom.iterate(node, prefix.high)) {
      const words = uint32Column(stored)
      places.push(...placesOf(words, prefix))
      // One digest may go on in the next part.
      if (lastHigh(words) !== prefix.high) break
    }
    yield* within(node * digestSpan, places)
    below = node
  }
}
