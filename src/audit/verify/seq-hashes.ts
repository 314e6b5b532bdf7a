const CHUNK_ENTRIES = 65_536
/** Of an entry's own hash and of the one before it: enough to tell that two differ, since nobody without the key makes either. */
const HASH_BYTES = 8
const ENTRY_BYTES = 2 * HASH_BYTES

/** A run of numbers, both ends in it. */
export interface SeqRange {
  readonly from: number
  readonly to: number
}

/**
 * The links of one chain by number, in 16 bytes an entry, so that a trail of tens of millions of entries is held in memory whatever order
 * it is read in.
 */
export class SeqHashes {
  readonly #chunks = new Map<number, Buffer>()
  #first = Number.POSITIVE_INFINITY
  #last = 0
  #count = 0

  /** The lowest and the highest number; undefined while there are none. */
  get range(): SeqRange | undefined {
    return this.#count === 0 ? undefined : { from: this.#first, to: this.#last }
  }

  get count(): number {
    return this.#count
  }

  /** `added`, `same` when this very entry is there, `other` when another one has its number. */
  add(seq: number, hash: string, prevHash: string): 'added' | 'same' | 'other' {
    const key = Math.floor(seq / CHUNK_ENTRIES)
    let chunk = this.#chunks.get(key)
    if (chunk === undefined) {
      chunk = Buffer.alloc(CHUNK_ENTRIES * ENTRY_BYTES)
      this.#chunks.set(key, chunk)
    }
    const at = (seq % CHUNK_ENTRIES) * ENTRY_BYTES
    const link = Buffer.from(hash.slice(0, 2 * HASH_BYTES) + prevHash.slice(0, 2 * HASH_BYTES), 'hex')
    const there = chunk.subarray(at, at + ENTRY_BYTES)
    if (there.every((byte) => byte === 0)) {
      link.copy(chunk, at)
      this.#count += 1
      this.#first = Math.min(this.#first, seq)
      this.#last = Math.max(this.#last, seq)
      return 'added'
    }
    return there.equals(link) ? 'same' : 'other'
  }

  has(seq: number): boolean {
    return this.#link(seq) !== undefined
  }

  /** Whether the entry of this number has this hash; undefined where it is not there. */
  hashIs(seq: number, hash: string): boolean | undefined {
    return this.#link(seq)?.startsWith(hash.slice(0, 2 * HASH_BYTES))
  }

  /** Whether the entry of this number says that this was the hash before it; undefined where it is not there. */
  prevHashIs(seq: number, hash: string): boolean | undefined {
    return this.#link(seq)?.endsWith(hash.slice(0, 2 * HASH_BYTES))
  }

  /** Whether an entry follows the one before it; undefined unless both are there. */
  linked(seq: number): boolean | undefined {
    const before = this.#link(seq - 1)
    const own = this.#link(seq)
    if (before === undefined || own === undefined) return undefined
    return own.slice(2 * HASH_BYTES) === before.slice(0, 2 * HASH_BYTES)
  }

  /** Numbers within the range that have no entry. */
  missing({ from, to }: SeqRange): readonly SeqRange[] {
    const gaps: SeqRange[] = []
    let seq = from
    while (seq <= to) {
      if (this.has(seq)) {
        seq += 1
        continue
      }
      const begin = seq
      while (seq <= to && !this.has(seq)) seq = this.#nextCandidate(seq)
      gaps.push({ from: begin, to: Math.min(seq - 1, to) })
    }
    return gaps
  }

  /** The next number that may have an entry: whole chunks that do not exist are stepped over. */
  #nextCandidate(seq: number): number {
    const key = Math.floor(seq / CHUNK_ENTRIES)
    return this.#chunks.has(key) ? seq + 1 : (key + 1) * CHUNK_ENTRIES
  }

  /** Hex digits of the entry's hash, and then of the one before it. */
  #link(seq: number): string | undefined {
    const chunk = this.#chunks.get(Math.floor(seq / CHUNK_ENTRIES))
    if (chunk === undefined) return undefined
    const at = (seq % CHUNK_ENTRIES) * ENTRY_BYTES
    const link = chunk.toString('hex', at, at + ENTRY_BYTES)
    return /^0+$/.test(link) ? undefined : link
  }
}
