import { endianness } from 'node:os'
import { uint32Column } from './layout.js'

/**
 * Digests of one part of the trail, with the entries that hold them: pairs of 64 bits, sorted, each the first 48 bits of a digest
 * and the entry's place in that part. 48 bits find the entry; whether it is the one is read in the entry itself.
 */

/** Places in one part. */
export const PAIR_PLACES = 65_536

const HIGH = endianness() === 'LE' ? 1 : 0
const LOW = 1 - HIGH

/** The part of a digest that is kept: the first 8 and the next 4 of its hex digits. */
export interface DigestPrefix {
  readonly high: number
  readonly low: number
}

const SCHEME = 'hmac:'
const PREFIX_DIGITS = 12

/** The value of a lower-case hex digit, or −1. */
function digitOf(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48
  return unit >= 97 && unit <= 102 ? unit - 87 : -1
}

/** Undefined where the text is no digest. Runs for every row that was ever given, and so without a regular expression. */
export function digestPrefix(digest: string): DigestPrefix | undefined {
  if (!digest.startsWith(SCHEME) || digest.length < SCHEME.length + PREFIX_DIGITS) return undefined
  let high = 0
  let low = 0
  for (let i = 0; i < digest.length - SCHEME.length; i++) {
    const digit = digitOf(digest.charCodeAt(SCHEME.length + i))
    if (digit < 0) return undefined
    if (i < 8) high = high * 16 + digit
    else if (i < PREFIX_DIGITS) low = low * 16 + digit
  }
  return { high, low }
}

/** Pairs in the order in which they came, in a buffer that grows. */
export class PairDraft {
  #words = new Uint32Array(2_048)
  #pairs = 0

  get pairs(): number {
    return this.#pairs
  }

  #reserve(pairs: number): void {
    if (pairs * 2 <= this.#words.length) return
    const larger = new Uint32Array(Math.max(pairs * 2, this.#words.length * 2))
    larger.set(this.#words)
    this.#words = larger
  }

  add({ high, low }: DigestPrefix, place: number): void {
    this.#reserve(this.#pairs + 1)
    this.#words[this.#pairs * 2 + HIGH] = high
    this.#words[this.#pairs * 2 + LOW] = low * PAIR_PLACES + place
    this.#pairs += 1
  }

  /** Takes sorted pairs over. */
  addAll(stored: Uint8Array): void {
    const words = uint32Column(stored)
    this.#reserve(this.#pairs + words.length / 2)
    this.#words.set(words, this.#pairs * 2)
    this.#pairs += words.length / 2
  }

  /** All pairs in order: by digest, then by place. */
  sorted(): Uint32Array {
    const words = this.#words.subarray(0, this.#pairs * 2)
    // As numbers of 64 bits they are in that order, and are sorted without a comparison in JavaScript.
    new BigUint64Array(words.buffer, words.byteOffset, this.#pairs).sort()
    return words
  }
}

/** The upper half of the last pair: what a part is found by. */
export function lastHigh(words: Uint32Array): number {
  return words[words.length - 2 + HIGH] ?? 0
}

function isBefore(words: Uint32Array, pair: number, { high, low }: DigestPrefix): boolean {
  const found = words[pair * 2 + HIGH] ?? 0
  if (found !== high) return found < high
  return Math.floor((words[pair * 2 + LOW] ?? 0) / PAIR_PLACES) < low
}

/** Places of a digest among sorted pairs, lowest first. */
export function placesOf(words: Uint32Array, prefix: DigestPrefix): readonly number[] {
  let from = 0
  let to = words.length / 2
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isBefore(words, middle, prefix)) from = middle + 1
    else to = middle
  }
  const places: number[] = []
  for (let pair = from; pair < words.length / 2; pair++) {
    const word = words[pair * 2 + LOW] ?? 0
    if (words[pair * 2 + HIGH] !== prefix.high || Math.floor(word / PAIR_PLACES) !== prefix.low) break
    places.push(word % PAIR_PLACES)
  }
  return places
}
