import { CUT_ITEMS_MAX } from '../core/limits.js'
import type { ResultColumn } from '../core/statement.js'
import { cutForm } from '../core/tool-grammar.js'
import type { Dialect } from '../engines/engine.js'

export interface RowsToEncode {
  /** Names are the result's own: agent names, or the names of metrics. */
  readonly columns: readonly ResultColumn[]
  /** As the driver gave them: with a `limit`, one more than that says that more exist. */
  readonly rows: readonly (readonly (string | null)[])[]
  readonly dialect: Pick<Dialect, 'encodeCell'>
  /** Rows to give at most; absent: all. */
  readonly limit?: number
  readonly responseCharsMax: number
  /** Names of keys, sort keys and groups: their cells are given whole or their row is not given. */
  readonly keyColumns: ReadonlySet<string>
}

export interface EncodedRows {
  /** The members of an MCP tool result without the outer braces, UTF-8. */
  readonly body: Uint8Array
  /** Rows given. */
  readonly rows: number
}

/** Something left out of a result: what, where, and how a caller goes on. */
interface CutItem {
  readonly what: 'rows' | 'chars' | 'cell'
  readonly where: string
  readonly next: string
}

/** One row as JSON, and the places among its cells where a value was cut. */
interface EncodedRow {
  readonly text: string
  readonly cut: readonly number[]
}

const NOT_CUT: readonly number[] = []
const HEAD = '{"rows":['
/** Below this a cell is not worth cutting: the words about the cut would be longer. */
const CUT_CELL_CHARS_MIN = 32

/**
 * Rows to `{ rows, row_count, truncated, cut? }`, the same JSON as structure and as text. Longer than `responseCharsMax`
 * characters it never is where whole rows, or the long cells of a single row, can be left out; `cut` says what was.
 * Built by concatenation and encoded once, since this runs for every call.
 */
export function encodeRows(input: RowsToEncode): EncodedRows {
  const { rows, limit = rows.length, responseCharsMax } = input
  const wanted = Math.min(rows.length, limit)
  const members = input.columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const kept: EncodedRow[] = []
  let chars = HEAD.length
  for (const row of rows.slice(0, wanted)) {
    const encoded = encodeRow(input, members, row)
    chars += encoded.text.length + 1
    if (chars > responseCharsMax && kept.length > 0) break
    kept.push(encoded)
  }
  return finish(input, kept, wanted, members)
}

function encodeRow(
  { columns, dialect }: RowsToEncode,
  members: readonly string[],
  row: readonly (string | null)[],
): EncodedRow {
  let text = ''
  let cut: number[] | undefined
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]
    const cell = row[i] ?? null
    text += members[i]
    if (cell === null || column === undefined) {
      text += 'null'
      continue
    }
    const encoded = dialect.encodeCell(column, cell)
    text += encoded.json
    if (encoded.cut) {
      cut ??= []
      cut.push(i)
    }
  }
  return { text: text === '' ? '{}' : `${text}}`, cut: cut ?? NOT_CUT }
}

/** Drops rows from the end until the words about what was cut fit as well; a single row loses its longest cells instead. */
function finish(
  input: RowsToEncode,
  kept: readonly EncodedRow[],
  wanted: number,
  members: readonly string[],
): EncodedRows {
  const max = input.responseCharsMax
  let count = kept.length
  let tail = tailOf(input, kept, count, wanted)
  let chars = kept.reduce((sum, row) => sum + row.text.length + 1, HEAD.length)
  while (count > 1 && chars + tail.length > max) {
    count--
    chars -= (kept[count]?.text.length ?? 0) + 1
    tail = tailOf(input, kept, count, wanted)
  }
  const [first] = kept
  if (count === 1 && first !== undefined && chars + tail.length > max) {
    return encodeJson(shortenedRow(input, first, wanted, members), 1)
  }
  let json = HEAD
  for (let i = 0; i < count; i++) json += i === 0 ? kept[i]?.text : `,${kept[i]?.text}`
  return encodeJson(json + tail, count)
}

function tailOf(input: RowsToEncode, kept: readonly EncodedRow[], count: number, wanted: number): string {
  const cells: CutItem[] = []
  let total = 0
  for (let i = 0; i < count; i++) {
    for (const place of kept[i]?.cut ?? NOT_CUT) {
      total++
      const column = input.columns[place]
      if (total <= CUT_ITEMS_MAX && column !== undefined) cells.push(cellCut(i, column))
    }
  }
  return tailText(count, [...rowsCut(input, count, wanted), ...capped(cells, total)])
}

/** The first items one by one, and how many more there are. */
function capped(items: readonly CutItem[], total: number): readonly CutItem[] {
  if (total <= CUT_ITEMS_MAX) return items
  const next = `${total - CUT_ITEMS_MAX} more cells are cut in the same way.`
  return [...items.slice(0, CUT_ITEMS_MAX), { what: 'cell', where: 'rows', next }]
}

function tailText(count: number, items: readonly CutItem[]): string {
  const cut = items.length === 0 ? '' : `,"cut":${JSON.stringify(items)}`
  return `],"row_count":${count},"truncated":${items.length > 0}${cut}}`
}

/** Why there are fewer rows than match, if there are. */
function rowsCut(input: RowsToEncode, count: number, wanted: number): readonly CutItem[] {
  if (count < wanted) {
    const next = `The answer holds ${input.responseCharsMax} characters: name fewer columns, or add filters.`
    return [{ what: 'chars', where: 'rows', next }]
  }
  if (input.rows.length <= wanted) return []
  return [
    {
      what: 'rows',
      where: 'rows',
      next: 'More rows match: add filters, or raise limit where it is not at its maximum.',
    },
  ]
}

function cellCut(row: number, column: ResultColumn): CutItem {
  const size = `${column.charsMax ?? 'the allowed'} ${column.type.logical === 'bytes' ? 'bytes' : 'characters'}`
  const next =
    cutForm(column.type) === 'shortened'
      ? `The first ${size} are shown; filters see the whole value.`
      : `Null stands for a value of more than ${size}.`
  return { what: 'cell', where: `rows[${row}].${column.name}`, next }
}

/**
 * The one row that is longer than the whole answer may be: its longest cells that are no keys are cut, the longest first,
 * until it fits. What then still is too long is keys, which are never cut.
 */
function shortenedRow(input: RowsToEncode, first: EncodedRow, wanted: number, members: readonly string[]): string {
  const { columns, dialect, rows, responseCharsMax } = input
  const cells = columns.map((column, i) => {
    const text = rows[0]?.[i] ?? null
    return text === null ? 'null' : dialect.encodeCell(column, text).json
  })
  const cuts = new Map<number, CutItem>()
  for (const place of first.cut) {
    const column = columns[place]
    if (column !== undefined) cuts.set(place, cellCut(0, column))
  }
  const whole = (): string => {
    const row = cells.map((cell, i) => `${members[i]}${cell}`).join('')
    return `${HEAD}${row}}${tailText(1, [...rowsCut(input, 1, wanted), ...capped([...cuts.values()], cuts.size)])}`
  }
  for (const i of longestFirst(input, cells)) {
    const column = columns[i]
    const cell = cells[i]
    if (column === undefined || cell === undefined || whole().length <= responseCharsMax) continue
    const next = `Cut so that the row fits ${responseCharsMax} characters: ask for this column with fewer others.`
    cuts.set(i, { what: 'cell', where: `rows[0].${column.name}`, next })
    // Measured with the words about this cut already in place.
    const room = cell.length - (whole().length - responseCharsMax)
    cells[i] = cutForm(column.type) === 'shortened' ? shortenedText(cell, room) : 'null'
  }
  return whole()
}

/** The places of cells that may be cut and are worth it. */
function longestFirst({ columns, keyColumns }: RowsToEncode, cells: readonly string[]): readonly number[] {
  const length = (i: number): number => cells[i]?.length ?? 0
  return [...columns.entries()]
    .filter(([, column]) => cutForm(column.type) !== 'whole' && !keyColumns.has(column.name))
    .map(([i]) => i)
    .filter((i) => length(i) > CUT_CELL_CHARS_MIN)
    .sort((a, b) => length(b) - length(a))
}

/** A JSON string cut to at most `charsMax` characters of JSON, or to its first few where that is less. */
function shortenedText(json: string, charsMax: number): string {
  // The cell came out of encodeCell for a text column, so it is a JSON string.
  const text = JSON.parse(json) as string
  let units = Math.min(text.length, Math.max(charsMax - 2, CUT_CELL_CHARS_MIN - 2))
  for (;;) {
    const shorter = JSON.stringify(wholeCharacters(text, units))
    if (shorter.length <= Math.max(charsMax, CUT_CELL_CHARS_MIN) || units === 0) return shorter
    units = Math.floor(units * 0.8)
  }
}

/** The first `units` UTF-16 units, without half of a surrogate pair at the end. */
function wholeCharacters(text: string, units: number): string {
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}

function encodeJson(json: string, rows: number): EncodedRows {
  return { body: bodyOf(json), rows }
}

function bodyOf(json: string): Uint8Array {
  return Buffer.from(`"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}`)
}

/** An object of the gateway's own making as a tool result, in the same two forms. */
export function encodeObject(value: object): Uint8Array {
  return bodyOf(JSON.stringify(value))
}
