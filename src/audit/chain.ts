import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/**
 * The keyed hash chain. An entry's `hash` is HMAC-SHA256 under the chain key, in lower-case hex, over the entry's text
 * without the member `hash`; that text holds `prev_hash`, the hash of the entry before it. Who has no key can neither
 * change an entry nor make one, and what is missing shows as a gap in `seq`.
 */

/** `prev_hash` of an instance's first entry (`seq` 1). */
export const GENESIS_HASH = '0'.repeat(64)

/** Keys for one secret: the chain's own, and two derived from it, so that no digest of one kind can pass for another. */
export interface ChainKeys {
  readonly chain: KeyObject
  readonly values: KeyObject
  readonly head: KeyObject
}

export function chainKeys(secret: Uint8Array): ChainKeys {
  const derived = (label: string) => createSecretKey(new Uint8Array(hkdfSync('sha256', secret, '', label, 32)))
  return {
    chain: createSecretKey(secret),
    values: derived('runku audit filter values v1'),
    head: derived('runku audit chain head v1'),
  }
}

function hmac(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

export interface ColumnName {
  readonly connector: string | undefined
  /** The entry's `target`: two tables may have a column of one name. */
  readonly target: string | undefined
  readonly column: string
}

/** Equal values of one column have one digest; without the key, and from another column, nothing can be compared. */
export function digestFilterValue(keys: ChainKeys, name: ColumnName, value: string): string {
  const text = JSON.stringify([name.connector ?? '', name.target ?? '', name.column, value])
  return `hmac:${hmac(keys.values, text).slice(0, 32)}`
}

/** The last entry of a chain, and the place where the next one joins. */
export interface ChainHead {
  readonly seq: number
  readonly hash: string
}

export const GENESIS: ChainHead = { seq: 0, hash: GENESIS_HASH }

/** An entry as text: its line (without a line end) is what is stored and written. */
export interface EntryLine {
  readonly seq: number
  readonly line: string
}

export interface SealedEntry extends ChainHead, EntryLine {}

/** Appends to the chain. `members` comes from `recordMembers`. */
export function sealEntry(keys: ChainKeys, head: ChainHead, members: string): SealedEntry {
  const seq = head.seq + 1
  const open = `{"seq":${seq},${members},"prev_hash":"${head.hash}"`
  const hash = hmac(keys.chain, `${open}}`)
  return { seq, hash, line: `${open},"hash":"${hash}"}` }
}

/** A head that only a holder of the key can make: kept beside the entries, it shows that the last of them were removed. */
export function sealHead(keys: ChainKeys, instance: string, head: ChainHead): string {
  return `${head.seq}:${head.hash}:${hmac(keys.head, JSON.stringify([instance, head.seq, head.hash]))}`
}

/** The head in a sealed text, or undefined when the text was not made with these keys for this instance. */
export function openHead(keys: ChainKeys, instance: string, sealed: string): ChainHead | undefined {
  const [seq, hash] = sealed.split(':')
  const head = { seq: Number(seq), hash: hash ?? '' }
  return sealHead(keys, instance, head) === sealed ? head : undefined
}

export type ChainFault =
  /** The entry that stood here was changed. */
  | { readonly kind: 'edited'; readonly seq: number; readonly position: number }
  /** A line too many: made without the key, or a copy, or of another instance. */
  | { readonly kind: 'inserted'; readonly position: number }
  | { readonly kind: 'removed'; readonly fromSeq: number; readonly toSeq: number }
  | { readonly kind: 'reordered'; readonly seq: number; readonly position: number }
  /** Genuine, but not the successor of the entry before it: two histories under one key. */
  | { readonly kind: 'unlinked'; readonly seq: number; readonly position: number }
  | { readonly kind: 'truncated'; readonly fromSeq: number; readonly toSeq: number }

export interface ChainReport {
  readonly lines: number
  readonly faults: readonly ChainFault[]
}

interface Link extends ChainHead {
  readonly instance: string
  readonly prevHash: string
}

const LINE = /^(\{"seq":(\d{1,15}),.*,"prev_hash":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"\}$/
const INSTANCE = /^\{"seq":\d+,"id":"(?:[^"\\]|\\.)*","time":"(?:[^"\\]|\\.)*","instance":"((?:[^"\\]|\\.)*)"/

/** The link in a line that was made with the key, else undefined with the `seq` it claims. */
function readLink(keys: ChainKeys, line: string): { readonly link?: Link; readonly claims: number | undefined } {
  const match = LINE.exec(line)
  const [, open = '', seq = '', prevHash = '', hash = ''] = match ?? []
  const claims = Number(/^\{"seq":(\d{1,15}),/.exec(line)?.[1] ?? Number.NaN)
  if (match === null || hmac(keys.chain, `${open}}`) !== hash)
    return { claims: Number.isNaN(claims) ? undefined : claims }
  return { link: { seq: Number(seq), hash, prevHash, instance: INSTANCE.exec(line)?.[1] ?? '' }, claims }
}

interface Suspect {
  readonly position: number
  readonly claims: number | undefined
  /** The last genuine `seq` before it. */
  readonly after: number
}

interface Gap {
  readonly from: number
  readonly to: number
}

class ChainWalk {
  readonly #keys: ChainKeys
  readonly #faults: ChainFault[] = []
  readonly #suspects: Suspect[] = []
  #gaps: Gap[] = []
  #last: ChainHead = GENESIS
  #instance: string | undefined

  constructor(keys: ChainKeys) {
    this.#keys = keys
  }

  visit(line: string, position: number): void {
    const { link, claims } = readLink(this.#keys, line)
    if (link === undefined) {
      this.#suspects.push({ position, claims, after: this.#last.seq })
      return
    }
    this.#instance ??= link.instance
    if (link.instance !== this.#instance) this.#faults.push({ kind: 'inserted', position })
    else if (link.seq > this.#last.seq) this.#advance(link, position)
    else if (this.#fill(link.seq)) this.#faults.push({ kind: 'reordered', seq: link.seq, position })
    else this.#faults.push({ kind: 'inserted', position })
  }

  #advance(link: Link, position: number): void {
    if (link.seq > this.#last.seq + 1) this.#gaps.push({ from: this.#last.seq + 1, to: link.seq - 1 })
    else if (link.prevHash !== this.#last.hash) this.#faults.push({ kind: 'unlinked', seq: link.seq, position })
    this.#last = link
  }

  /** Takes a number out of the gaps; false when it is in none. */
  #fill(seq: number): boolean {
    const gap = this.#gaps.find(({ from, to }) => from <= seq && seq <= to)
    if (gap === undefined) return false
    const rest = [
      { from: gap.from, to: seq - 1 },
      { from: seq + 1, to: gap.to },
    ].filter(({ from, to }) => from <= to)
    this.#gaps = [...this.#gaps.filter((other) => other !== gap), ...rest]
    return true
  }

  /** A line that is not genuine stands for a missing entry where there is one, and is one too many where there is none. */
  #explain({ position, claims, after }: Suspect): ChainFault {
    if (claims !== undefined && this.#fill(claims)) return { kind: 'edited', seq: claims, position }
    const gap = this.#gaps.find(({ from }) => from > after)
    if (gap !== undefined && gap.from === after + 1 && this.#fill(gap.from))
      return { kind: 'edited', seq: gap.from, position }
    return { kind: 'inserted', position }
  }

  finish(head: ChainHead | undefined, lines: number): ChainReport {
    const tail = this.#last.seq + 1
    // Beyond the last genuine entry nothing but the sealed head, or the line's own claim, tells what stood there.
    const tailTo =
      head?.seq ?? (this.#suspects.some(({ claims, after }) => claims === tail && after === tail - 1) ? tail : 0)
    if (tailTo >= tail) this.#gaps.push({ from: tail, to: tailTo })
    const faults = [...this.#faults, ...this.#suspects.map((suspect) => this.#explain(suspect))]
    for (const { from, to } of this.#gaps) {
      faults.push({ kind: from >= tail ? 'truncated' : 'removed', fromSeq: from, toSeq: to })
    }
    return { lines, faults }
  }
}

/**
 * Checks one instance's entries, given as lines in the order they are kept, from the first (`seq` 1) on. With the opened
 * head it also finds entries missing at the end; without it a shortened chain is a whole, shorter one.
 */
export function verifyChain(lines: Iterable<string>, keys: ChainKeys, head?: ChainHead): ChainReport {
  const walk = new ChainWalk(keys)
  let position = 0
  for (const line of lines) walk.visit(line, position++)
  return walk.finish(head, position)
}
