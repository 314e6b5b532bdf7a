import { CUT_ITEMS_MAX } from '../core/limits.js'
import { agentColumnName } from '../core/names.js'
import type { ResultColumn } from '../core/statement.js'
import type { Dialect, ResultSet, Rows } from '../engines/engine.js'
import {
  type CutItem,
  capped,
  cellCut,
  cutCell,
  type EncodedRow,
  type EncodedRows,
  encodeJson,
  encodeRow,
  type Frame,
  mayCut,
  memberNames,
} from './encode-cells.js'

export interface SetsToEncode {
  /** The outputs let through, and the one row that holds them; none, or no row, and nothing is said of outputs. */
  readonly columns: readonly ResultColumn[]
  readonly rows: Rows
  /** As the driver gave them: one row more than `limit` says that more exist. */
  readonly sets: readonly ResultSet[]
  readonly dialect: Pick<Dialect, 'encodeCell'>
  /** Rows of one set to give at most; absent: all. */
  readonly limit?: number
  readonly responseCharsMax: number
  readonly frame: Frame
}

interface EncodedSet {
  readonly columns: readonly ResultColumn[]
  /** Those that an answer has room for. */
  readonly rows: readonly EncodedRow[]
  readonly wanted: number
  /** Whether there are more than a call may return. */
  readonly more: boolean
}

interface Encoding {
  readonly sets: readonly EncodedSet[]
  /** Sets that there was no room for. */
  readonly left: number
  readonly out: EncodedRow | undefined
  readonly input: SetsToEncode
}

/** How much of an encoding is given: the first sets, and so many rows of the last of them. */
interface Kept {
  readonly sets: number
  readonly last: number
}

/** What a set takes at least beside its rows. */
const SET_CHARS = 40

/**
 * Several results, to `{ rows, row_count, truncated, cut?, more_results?: [{ rows, row_count, truncated }], out? }`: the
 * rows of the first one, the others, and the outputs. A result with no column that is let through is not there. What is too
 * long loses rows from the end of the last result, then whole results; one row alone, and outputs, lose their longest cells.
 */
export function encodeSets(input: SetsToEncode): EncodedRows {
  const encoding = encoded(input)
  const { sets, out } = encoding
  let kept: Kept | undefined = { sets: sets.length, last: sets.at(-1)?.rows.length ?? 0 }
  let fitting = kept
  for (; kept !== undefined; kept = fewer(encoding, kept)) {
    fitting = kept
    const chars = compose(encoding, kept, plainTexts(encoding, kept, false)).length + rowChars(encoding, kept)
    if (chars + (out?.text.length ?? 0) <= input.responseCharsMax) break
  }
  const json =
    kept === undefined ? shortened(encoding, fitting) : compose(encoding, kept, plainTexts(encoding, kept, true))
  return encodeJson(json, rowCount(encoding, fitting))
}

/** Rows are encoded only as far as they may fit; the first of all always is. */
function encoded(input: SetsToEncode): Encoding {
  const { dialect, responseCharsMax } = input
  const [outputs] = input.rows
  const out =
    outputs === undefined || input.columns.length === 0
      ? undefined
      : encodeRow(input, memberNames(input.columns), outputs)
  const given = input.sets.flatMap(visibleSet)
  const sets: EncodedSet[] = []
  let chars = out?.text.length ?? 0
  for (const { columns, rows } of given) {
    const wanted = Math.min(rows.length, input.limit ?? rows.length)
    const members = memberNames(columns)
    const fitting: EncodedRow[] = []
    chars += SET_CHARS
    for (const row of rows.slice(0, wanted)) {
      const text = encodeRow({ columns, dialect }, members, row)
      chars += separated(text, fitting.length)
      if (chars > responseCharsMax && sets.length + fitting.length > 0) break
      fitting.push(text)
    }
    const full = chars > responseCharsMax && sets.length > 0
    if (full && fitting.length === 0) break
    sets.push({ columns, rows: fitting, wanted, more: rows.length > wanted })
    if (fitting.length < wanted) break
  }
  return { sets, left: given.length - sets.length, out, input }
}

/** The set under names that agents can be given, each once: a result may have two columns of one name. */
function visibleSet({ columns, rows }: ResultSet): readonly ResultSet[] {
  const named = columns.map((column) => ({ ...column, name: agentColumnName(column.name) }))
  const places = named.flatMap(({ name }, i) => (named.findIndex((other) => other.name === name) === i ? [i] : []))
  if (places.length === 0) return []
  if (places.length === columns.length) return [{ columns: named, rows }]
  const distinct = named.filter((_, i) => places.includes(i))
  return [{ columns: distinct, rows: rows.map((row) => places.map((i) => row[i] ?? null)) }]
}

/** One row less, or the last set less where it has no other. Undefined where no more than one row is left. */
function fewer({ sets }: Encoding, { sets: count, last }: Kept): Kept | undefined {
  if (last > 1) return { sets: count, last: last - 1 }
  return count > 1 ? { sets: count - 1, last: sets[count - 2]?.rows.length ?? 0 } : undefined
}

function keptOf({ sets }: Encoding, kept: Kept, index: number): number {
  return index === kept.sets - 1 ? kept.last : (sets[index]?.rows.length ?? 0)
}

function rowCount(encoding: Encoding, kept: Kept): number {
  let count = 0
  for (let i = 0; i < kept.sets; i++) count += keptOf(encoding, kept, i)
  return count
}

function rowChars(encoding: Encoding, kept: Kept): number {
  let chars = 0
  for (let i = 0; i < kept.sets; i++) {
    const { rows } = encoding.sets[i] ?? NO_SET
    for (let at = 0; at < keptOf(encoding, kept, i); at++) chars += separated(rows[at], at)
  }
  return chars
}

/** What a row takes in its place, with the comma before it. */
function separated(row: EncodedRow | undefined, at: number): number {
  return (row?.text.length ?? 0) + (at === 0 ? 0 : 1)
}

const NO_SET: Pick<EncodedSet, 'rows'> = { rows: [] }

/** The text of what is given, and of the cells that were cut. */
interface Texts {
  /** By set. */
  readonly rows: readonly string[]
  readonly out: string | undefined
  readonly cells: readonly CutItem[]
}

/** `withText`: false to measure what stands around rows and outputs, which need not be joined for that. */
function plainTexts(encoding: Encoding, kept: Kept, withText: boolean): Texts {
  const { sets, out, input } = encoding
  const cells: CutItem[] = []
  let total = 0
  const note = (row: EncodedRow | undefined, columns: readonly ResultColumn[], where: string): void => {
    for (const place of row?.cut ?? []) {
      const column = columns[place]
      total++
      if (total <= CUT_ITEMS_MAX && column !== undefined) cells.push(cellCut(`${where}.${column.name}`, column))
    }
  }
  note(out, input.columns, 'out')
  const rows = sets.slice(0, kept.sets).map(({ columns, rows: all }, i) => {
    const given = all.slice(0, keptOf(encoding, kept, i))
    for (const [at, row] of given.entries()) note(row, columns, `${rowsAt(i)}[${at}]`)
    return withText ? given.map(({ text }) => text).join(',') : ''
  })
  return { rows, out: withText ? out?.text : out && '', cells: capped(cells, total) }
}

function rowsAt(index: number): string {
  return index === 0 ? 'rows' : `more_results[${index - 1}].rows`
}

function compose(encoding: Encoding, kept: Kept, { rows, out, cells }: Texts): string {
  const { frame } = encoding.input
  const cut = [...frame.cut, ...rowsCut(encoding, kept), ...cells]
  const [first = '', ...others] = rows
  const more = others.map((text, i) => {
    const truncated = isCut(encoding, kept, i + 1)
    return `{"rows":[${text}],"row_count":${keptOf(encoding, kept, i + 1)},"truncated":${truncated}}`
  })
  const words = cut.length === 0 ? '' : `,"cut":${JSON.stringify(cut)}`
  return (
    `{"rows":[${first}],"row_count":${kept.sets === 0 ? 0 : keptOf(encoding, kept, 0)}${frame.members}` +
    `,"truncated":${cut.length > 0}${words}${more.length === 0 ? '' : `,"more_results":[${more.join(',')}]`}` +
    `${out === undefined ? '' : `,"out":${out}`}}`
  )
}

/** Whether the set lacks rows, or cells of rows, that it would have. */
function isCut(encoding: Encoding, kept: Kept, index: number): boolean {
  const set = encoding.sets[index]
  if (set === undefined) return false
  const count = keptOf(encoding, kept, index)
  return count < set.wanted || set.more || set.rows.slice(0, count).some(({ cut }) => cut.length > 0)
}

/** Which sets have fewer rows than they were to have, and how many are left out. */
function rowsCut(encoding: Encoding, kept: Kept): readonly CutItem[] {
  const { sets, input } = encoding
  const { frame, responseCharsMax } = input
  const next = frame.tooLong(responseCharsMax)
  const items = sets.slice(0, kept.sets).flatMap(({ wanted, more }, i): readonly CutItem[] => {
    const where = rowsAt(i)
    if (keptOf(encoding, kept, i) < wanted) return [{ what: 'chars', where, next }]
    return more ? [{ what: 'rows', where, next: frame.moreRows }] : []
  })
  const left = encoding.left + sets.length - kept.sets
  if (left === 0) return items
  return [...items, { what: 'chars', where: 'more_results', next: `${left} more left out. ${next}` }]
}

/** A cell that may have to be shortened where it stands. */
interface Cell {
  readonly where: string
  readonly column: ResultColumn
  json: string
  cut: CutItem | undefined
}

/** What is left is one row at most, and outputs: their longest cells are cut, the longest first, until all of it fits. */
function shortened(encoding: Encoding, kept: Kept): string {
  const { input } = encoding
  const [outputs] = input.rows
  const [set] = input.sets.flatMap(visibleSet)
  const first = kept.last === 0 || set === undefined ? [] : cellsOf(input, set.columns, set.rows[0] ?? [], 'rows[0]')
  const out = outputs === undefined ? [] : cellsOf(input, input.columns, outputs, 'out')
  const all = [...out, ...first]
  const whole = (): string => {
    const cuts = all.flatMap(({ cut }) => cut ?? [])
    return compose(encoding, kept, {
      rows: kept.sets === 0 ? [] : [joined(first)],
      out: out.length === 0 ? undefined : joined(out),
      cells: capped(cuts, cuts.length),
    })
  }
  const longest = all.filter(({ column, json }) => mayCut(column, json)).sort((a, b) => b.json.length - a.json.length)
  for (const cell of longest) {
    if (whole().length <= input.responseCharsMax) break
    cell.cut = { what: 'cell', where: cell.where, next: input.frame.cellTooLong(input.responseCharsMax) }
    // Measured with the words about this cut already in place.
    cell.json = cutCell(cell.column, cell.json, cell.json.length - (whole().length - input.responseCharsMax))
  }
  return whole()
}

function cellsOf(
  { dialect }: SetsToEncode,
  columns: readonly ResultColumn[],
  row: readonly (string | null)[],
  where: string,
): readonly Cell[] {
  return columns.map((column, i) => {
    const text = row[i] ?? null
    const encodedCell = text === null ? { json: 'null', cut: false } : dialect.encodeCell(column, text)
    const at = `${where}.${column.name}`
    return { where: at, column, json: encodedCell.json, cut: encodedCell.cut ? cellCut(at, column) : undefined }
  })
}

function joined(cells: readonly Cell[]): string {
  if (cells.length === 0) return ''
  const members = memberNames(cells.map(({ column }) => column))
  return `${cells.map(({ json }, i) => `${members[i]}${json}`).join('')}}`
}
