import { REPORT_CHARS_MAX } from '../../core/limits.js'
import type { EntryLine } from '../chain.js'
import { ENTRY_CSV_HEADING, entryCsvLine } from './entry-csv.js'
import { ofEntry } from './entry-facts.js'
import type { IndexView } from './index-file.js'
import { isInside, isOutside, type SeqRange, type TimeRange, walkIndex } from './index-walk.js'
import { BLOCK_ENTRIES, uint32Column } from './layout.js'
import { nodeHas, sumsOf } from './node-sums.js'

export interface EntriesQuestion {
  readonly range: SeqRange
  readonly time: TimeRange
  /** By number of a shape: 1 where its entries are wanted. */
  readonly wanted: Uint8Array
  readonly limit: number
}

/** Numbers of the newest entries that are wanted, the newest first. */
export function newestSeqs({ store }: IndexView, { range, time, wanted, limit }: EntriesQuestion): readonly number[] {
  const { statements } = store
  const seqs: number[] = []
  walkIndex(store, range, {
    node: (node) => {
      if (isOutside(node, time)) return true
      const sums = statements.nodeSums.get(node.level, node.number)
      return sums !== undefined && !nodeHas(sumsOf(sums), wanted)
    },
    block: (piece, { fromSeq, toSeq }) => {
      if (isOutside(piece, time)) return false
      // Most blocks of a rare kind of entry are passed over by this column alone.
      const stored = statements.shapesOf.get(piece.number)
      if (stored === undefined) return false
      const shapes = uint32Column(stored)
      const isWanted = (at: number) => wanted[shapes[at] ?? 0] === 1
      const times = isInside(piece, time) ? undefined : store.block(piece.number)?.times
      for (let at = toSeq % BLOCK_ENTRIES; at >= fromSeq % BLOCK_ENTRIES; at--) {
        if (!isWanted(at)) continue
        const timeMs = times?.[at]
        if (timeMs !== undefined && (timeMs < time.fromMs || timeMs >= time.toMs)) continue
        seqs.push(piece.number * BLOCK_ENTRIES + at)
        if (seqs.length >= limit) return true
      }
      return false
    },
  })
  return seqs
}

export interface EntriesPage {
  readonly lines: readonly EntryLine[]
  /** Where the next page begins; absent where there is none. */
  readonly beforeSeq?: number
}

/** One page of entries as the buffer has them. It may be shorter than asked for, where the entries are long. */
export function entriesPage(view: IndexView, question: EntriesQuestion): EntriesPage {
  const seqs = newestSeqs(view, { ...question, limit: question.limit + 1 })
  const lines: EntryLine[] = []
  let chars = 0
  let taken = 0
  for (const seq of seqs.slice(0, question.limit)) {
    if (chars >= REPORT_CHARS_MAX) break
    taken += 1
    // It may have been deleted since the index said that it is there.
    const line = view.buffer.line(seq)
    if (line === undefined || ofEntry(line, () => true) === undefined) continue
    lines.push({ seq, line })
    chars += line.length
  }
  const last = seqs[taken - 1]
  return { lines, ...(last === undefined || taken === seqs.length ? {} : { beforeSeq: last }) }
}

/** Entries as a table. */
export function entriesCsv(lines: readonly EntryLine[]): string {
  return ENTRY_CSV_HEADING + lines.map(({ line }) => ofEntry(line, entryCsvLine) ?? '').join('')
}
