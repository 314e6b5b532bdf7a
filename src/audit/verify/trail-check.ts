import { type ChainHead, type ChainKeys, GENESIS, type HeadLine, isHeadLine, readHeadLine, readLink } from '../chain.js'
import { SeqHashes, type SeqRange } from './seq-hashes.js'

/** Where something was read. */
export interface Place {
  readonly source: string
  /** Its number in the source, from 0 on; of a buffer the row. */
  readonly position: number
}

/** What is wrong with the chain of one instance. */
export type TrailFault =
  /** The entry that stood here was changed. */
  | { readonly kind: 'edited'; readonly seq: number; readonly place: Place }
  /** A line too many: made without the key, or a copy where none may be, or no entry at all. */
  | { readonly kind: 'inserted'; readonly place: Place }
  | { readonly kind: 'removed'; readonly fromSeq: number; readonly toSeq: number }
  | { readonly kind: 'reordered'; readonly seq: number; readonly place: Place }
  /** Genuine, but not the successor of the entry before it, or not what a head says of it: two histories under one key. */
  | { readonly kind: 'unlinked'; readonly seq: number; readonly place?: Place }
  /** Missing at the end, as a head of the chain says. */
  | { readonly kind: 'truncated'; readonly fromSeq: number; readonly toSeq: number }
  /** A head or checkpoint that was not made with the key, or is missing where one must be. */
  | { readonly kind: 'head'; readonly place: Place }
  /** Something that a buffer keeps beside its chain was not made with the key, or is missing: `what` is a clause. */
  | { readonly kind: 'unsealed'; readonly what: string; readonly place: Place }

export interface ChainResult {
  readonly instance: string
  readonly entries: number
  /** Absent where there are none. */
  readonly range?: SeqRange
  /** What vouches for the beginning: entries before it were deleted by the gateway, or are not among what was read. */
  readonly begins: 'genesis' | 'checkpoint' | 'head'
  /** Entries that were there more than once, byte for byte. */
  readonly repeated: number
  readonly faults: readonly TrailFault[]
}

/** How a source delivers its lines. */
export interface SourceRules {
  readonly name: string
  /** Whether a line may come again: stdout and files are written at least once, a buffer exactly once. */
  readonly repeats: boolean
  /** Whether its lines may stand in another order than they were written in, as a collector that was ended may put them. Absent: no. */
  readonly anyOrder?: boolean
}

interface Suspect {
  readonly place: Place
  readonly claims: number | undefined
  /** The last genuine number before it in its source. */
  readonly after: number
}

class InstanceCheck {
  readonly hashes = new SeqHashes()
  readonly faults: TrailFault[] = []
  readonly suspects: Suspect[] = []
  readonly heads: { readonly head: ChainHead; readonly place: Place }[] = []
  checkpoint: ChainHead | undefined
  repeated = 0
}

/** A source while it is read. */
export interface SourceCheck {
  /** Takes its next line. */
  visit(line: string): void
}

/**
 * Checks the chains of whatever instances the lines are of, from sources in any order, which may overlap. What is in none of them is
 * missing; what is in one of them is there.
 */
export class TrailCheck {
  readonly #keys: ChainKeys
  readonly #instances = new Map<string, InstanceCheck>()
  readonly #strays: TrailFault[] = []

  constructor(keys: ChainKeys) {
    this.#keys = keys
  }

  /** Begins a source. `instance` is known of a buffer alone, whose lines are all of it. */
  source(rules: SourceRules, instance?: string): SourceCheck {
    const last = new Map<string, number>()
    let position = -1
    let current = instance
    return {
      visit: (line) => {
        position += 1
        const place = { source: rules.name, position }
        if (isHeadLine(line)) return this.#visitHead(line, place)
        const { link, claims } = readLink(this.#keys, line)
        if (link === undefined) {
          const suspect = { place, claims, after: last.get(current ?? '') ?? 0 }
          if (current === undefined) this.#strays.push({ kind: 'inserted', place })
          else this.#of(current).suspects.push(suspect)
          return
        }
        if (instance !== undefined && link.instance !== instance) {
          this.#of(instance).faults.push({ kind: 'inserted', place })
          return
        }
        current = link.instance
        const check = this.#of(current)
        const before = last.get(current) ?? 0
        const done = check.hashes.add(link.seq, link.hash, link.prevHash)
        if (done === 'added') {
          if (link.seq < before && rules.anyOrder !== true)
            check.faults.push({ kind: 'reordered', seq: link.seq, place })
          else last.set(current, Math.max(before, link.seq))
        } else if (done === 'other') check.faults.push({ kind: 'unlinked', seq: link.seq, place })
        else if (rules.repeats || link.seq > before) {
          // Another source had it already, or this one was written again after a crash.
          check.repeated += 1
          last.set(current, Math.max(before, link.seq))
        } else check.faults.push({ kind: 'inserted', place })
      },
    }
  }

  /** A head that was opened already, such as the sealed one of a buffer. */
  head(instance: string, head: ChainHead, place: Place): void {
    this.#of(instance).heads.push({ head, place })
  }

  /** Entries up to this one were deleted by the gateway itself. */
  checkpoint(instance: string, head: ChainHead): void {
    const check = this.#of(instance)
    if (check.checkpoint === undefined || check.checkpoint.seq < head.seq) check.checkpoint = head
  }

  /** A head or checkpoint that must be there and is not, or was not made with the key. */
  badHead(instance: string, place: Place): void {
    this.#of(instance).faults.push({ kind: 'head', place })
  }

  /** Something beside the chain was not made with the key, or is missing. */
  unsealed(instance: string, what: string, place: Place): void {
    this.#of(instance).faults.push({ kind: 'unsealed', what, place })
  }

  /** One result an instance, by name; lines that are of no instance are of the one without a name. */
  finish(): readonly ChainResult[] {
    const results = [...this.#instances].map(([instance, check]) => finishInstance(instance, check))
    results.sort((a, b) => (a.instance < b.instance ? -1 : 1))
    if (this.#strays.length === 0) return results
    return [...results, { instance: '', entries: 0, begins: 'genesis', repeated: 0, faults: this.#strays }]
  }

  #of(instance: string): InstanceCheck {
    let check = this.#instances.get(instance)
    if (check === undefined) {
      check = new InstanceCheck()
      this.#instances.set(instance, check)
    }
    return check
  }

  #visitHead(line: string, place: Place): void {
    const head: HeadLine | undefined = readHeadLine(this.#keys, line)
    if (head === undefined) this.#strays.push({ kind: 'head', place })
    else this.#of(head.instance).heads.push({ head, place })
  }
}

/** Who vouches for what comes before the first entry that must be there. */
interface Beginning {
  readonly kind: ChainResult['begins']
  readonly head: ChainHead
}

/**
 * The checkpoint where there is one. Else the head that comes right before the first entry: whoever gives a later part of a trail gives
 * the head that it begins with. Else the beginning of all.
 */
function beginningOf({ hashes, heads, checkpoint }: InstanceCheck): Beginning {
  if (checkpoint !== undefined) return { kind: 'checkpoint', head: checkpoint }
  const { range } = hashes
  const first = range?.from ?? Number.POSITIVE_INFINITY
  const joined = heads.find(({ head }) => head.seq === first - 1)
  if (first === 1 || joined === undefined) return { kind: 'genesis', head: GENESIS }
  return { kind: 'head', head: joined.head }
}

/** Gaps that shrink as what stood in them is found. */
class Gaps {
  #ranges: readonly SeqRange[]

  constructor(ranges: readonly SeqRange[]) {
    this.#ranges = ranges
  }

  get ranges(): readonly SeqRange[] {
    return this.#ranges
  }

  /** Takes a number out; false when it is in none. */
  take(seq: number): boolean {
    const gap = this.#ranges.find(({ from, to }) => from <= seq && seq <= to)
    if (gap === undefined) return false
    const rest = [
      { from: gap.from, to: seq - 1 },
      { from: seq + 1, to: gap.to },
    ].filter(({ from, to }) => from <= to)
    this.#ranges = this.#ranges.flatMap((other) => (other === gap ? rest : [other]))
    return true
  }

  /** Whether one begins here. */
  beginsAt(seq: number): boolean {
    return this.#ranges.some(({ from }) => from === seq)
  }
}

/** A line that is not genuine stands for a missing entry where there is one, and is one too many where there is none. */
function explain({ place, claims, after }: Suspect, gaps: Gaps): TrailFault {
  if (claims !== undefined && gaps.take(claims)) return { kind: 'edited', seq: claims, place }
  const next = after + 1
  if (gaps.beginsAt(next) && gaps.take(next)) return { kind: 'edited', seq: next, place }
  return { kind: 'inserted', place }
}

/** The last number that there must be: of the heads, and of a line at the end that claims to come next and is not genuine. */
function lastDue({ hashes, heads, suspects }: InstanceCheck): number {
  const last = hashes.range?.to ?? 0
  const attested = Math.max(last, ...heads.map(({ head }) => head.seq))
  if (attested > last) return attested
  const forged = suspects.some(({ claims, after }) => claims === last + 1 && after === last)
  return forged ? last + 1 : last
}

function unlinkedIn({ hashes, heads }: InstanceCheck, beginning: Beginning): readonly TrailFault[] {
  const faults: TrailFault[] = []
  const { range } = hashes
  const start = beginning.head.seq + 1
  if (hashes.prevHashIs(start, beginning.head.hash) === false) faults.push({ kind: 'unlinked', seq: start })
  // Entries from before a checkpoint may be there still, in files: they have to fit one another all the same.
  for (let seq = (range?.from ?? 0) + 1; range !== undefined && seq <= range.to; seq++) {
    if (hashes.linked(seq) === false) faults.push({ kind: 'unlinked', seq })
  }
  for (const { head, place } of heads) {
    const agrees = head.seq === 0 ? hashes.prevHashIs(1, head.hash) : hashes.hashIs(head.seq, head.hash)
    if (agrees === false) faults.push({ kind: 'unlinked', seq: head.seq, place })
  }
  return faults
}

function finishInstance(instance: string, check: InstanceCheck): ChainResult {
  const { hashes, faults, suspects, repeated } = check
  const { range, count } = hashes
  const beginning = beginningOf(check)
  const last = range?.to ?? beginning.head.seq
  const due = lastDue(check)
  const gaps = new Gaps(hashes.missing({ from: beginning.head.seq + 1, to: Math.max(last, due) }))
  const explained = suspects.map((suspect) => explain(suspect, gaps))
  const missing = gaps.ranges.map(
    ({ from, to }): TrailFault => ({ kind: from > last ? 'truncated' : 'removed', fromSeq: from, toSeq: to }),
  )
  return {
    instance,
    entries: count,
    ...(range === undefined ? {} : { range }),
    begins: beginning.kind,
    repeated,
    faults: [...faults, ...unlinkedIn(check, beginning), ...explained, ...missing],
  }
}
