import { REPORT_CHARS_MAX } from '../../core/limits.js'
import type { EntryLine } from '../chain.js'
import { ENTRY_CSV_HEADING, entryCsvLine } from './entry-csv.js'
import { ofEntry } from './entry-facts.js'
import { ofGenuine } from './genuine.js'
import type { IndexView } from './index-file.js'
import { isInside, type SeqRange, type TimeRange, walkIndex } from './index-walk.js'
import { BLOCK_ENTRIES, emptyBlock, spanOf } from './layout.js'
import { partsWith } from './node-sums.js'
import type { Runs } from './runs.js'

export interface EntriesQuestion {
  readonly range: SeqRange
  readonly time: TimeRange
  /** By number of a shape: 1 where its entries are wanted. */
  readonly wanted: Uint8Array
  readonly limit: number
}

/** Numbers of the newest entries that are wanted, the newest first. */
export function newestSeqs({ store }: IndexView, { range, time, wanted, limit }: EntriesQuestion): readonly number[] {
  const seqs: number[] = []
  const isIn = (timeMs: number) => timeMs >= time.fromMs && timeMs < time.toMs
  const block = emptyBlock()
  // A filter that nothing fits is not looked for.
  if (!wanted.includes(1)) return seqs
  walkIndex(store, range, time, {
    node: (node) => partsWith(store.marks(node), wanted),
    runs: (node, { fromSeq, toSeq }) => {
      const marks = store.marks(node)
      if (!marks.small(0).some((shape) => wanted[shape] === 1)) return false
      const found = placesIn(store.runs(node, marks, 'places'), wanted, isInside(node, time) ? () => true : isIn)
      const first = node.number * spanOf(1)
      for (const place of found.sort().reverse()) {
        const seq = first + place
        if (seq < fromSeq || seq > toSeq) continue
        seqs.push(seq)
        if (seqs.length >= limit) return true
      }
      return false
    },
    block: (piece, { fromSeq, toSeq }) => {
      const { shapes, times } = store.readBlock(piece, block)
      for (let at = toSeq % BLOCK_ENTRIES; at >= fromSeq % BLOCK_ENTRIES; at--) {
        if (wanted[shapes[at] ?? 0] !== 1 || !isIn(times[at] ?? 0)) continue
        seqs.push(piece.number * BLOCK_ENTRIES + at)
        if (seqs.length >= limit) return true
      }
      return false
    },
  })
  return seqs
}

/** Places of the entries that are wanted, in no order. */
function placesIn(runs: Runs, wanted: Uint8Array, isIn: (timeMs: number) => boolean): Uint32Array {
  const places = new Uint32Array(runs.entries)
  let found = 0
  let at = 0
  for (const [run, shape] of runs.shapes.entries()) {
    const end = at + (runs.counts[run] ?? 0)
    for (; wanted[shape] === 1 && at < end; at++) {
      if (!isIn(runs.times[at] ?? 0)) continue
      places[found] = runs.places[at] ?? 0
      found += 1
    }
    at = end
  }
  return places.subarray(0, found)
}

export interface EntriesPage {
  readonly lines: readonly EntryLine[]
  /** Where the next page begins; absent where there is none. */
  readonly beforeSeq?: number
  /** Entries that are left out since they are not what they were when the index read them. */
  readonly changed: number
}

/** One page of entries as the buffer has them. It may be shorter than asked for, where the entries are long. */
export function entriesPage(view: IndexView, question: EntriesQuestion): EntriesPage {
  const seqs = newestSeqs(view, { ...question, limit: question.limit + 1 })
  const lines: EntryLine[] = []
  let chars = 0
  let taken = 0
  let changed = 0
  for (const seq of seqs.slice(0, question.limit)) {
    if (chars >= REPORT_CHARS_MAX) break
    taken += 1
    // It may have been deleted since the index said that it is there.
    const line = view.buffer.line(seq)
    if (line === undefined) continue
    if (ofGenuine(view.keys, view.buffer.instance, { seq, line }, () => true) === undefined) {
      changed += 1
      continue
    }
    lines.push({ seq, line })
    chars += line.length
  }
  const last = seqs[taken - 1]
  return { lines, changed, ...(last === undefined || taken === seqs.length ? {} : { beforeSeq: last }) }
}

/** Entries as a table. */
export function entriesCsv(lines: readonly EntryLine[]): string {
  return ENTRY_CSV_HEADING + lines.map(({ line }) => ofEntry(line, entryCsvLine) ?? '').join('')
}
