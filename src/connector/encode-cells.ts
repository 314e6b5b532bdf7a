import { CUT_ITEMS_MAX } from '../core/limits.js'
import type { ResultColumn } from '../core/statement.js'
import { cutForm } from '../core/tool-grammar.js'
import type { Dialect, EncodedCell } from '../engines/engine.js'

/** The parts of a result that every shape of one is put together from: cells, rows, and the words about what was cut. */

export interface EncodedRows {
  /** The members of an MCP tool result without the outer braces, UTF-8. */
  readonly body: Uint8Array
  /** Rows given. */
  readonly rows: number
}

/** Something left out of a result: what, where, and how a caller goes on. */
export interface CutItem {
  readonly what: 'rows' | 'chars' | 'cell'
  readonly where: string
  readonly next: string
}

/** One row as JSON, and the places among its cells where a value was cut. */
export interface EncodedRow {
  readonly text: string
  readonly cut: readonly number[]
}

/** Members that a kind of result has beside its rows, and how a caller goes on where something is left out. */
export interface Frame {
  /** Starts with a comma where it is not empty. */
  readonly members: string
  readonly moreRows: string
  /** Given the longest an answer may be. */
  readonly tooLong: (charsMax: number) => string
  readonly cellTooLong: (charsMax: number) => string
  /** What was left out whatever the rows hold. */
  readonly cut: readonly CutItem[]
}

export const NOT_CUT: readonly number[] = []
/** Below this a cell is not worth cutting: the words about the cut would be longer. */
const CUT_CELL_CHARS_MIN = 32

export const NULL_CELL: EncodedCell = { json: 'null', cut: false }

/** What stands before each cell of a row: `{"first":`, `,"second":`. */
export function memberNames(columns: readonly ResultColumn[]): readonly string[] {
  return columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`)
}

export function encodeRow(
  { columns, dialect }: { readonly columns: readonly ResultColumn[]; readonly dialect: Pick<Dialect, 'encodeCell'> },
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

/** The first items one by one, and how many more there are. */
export function capped(items: readonly CutItem[], total: number): readonly CutItem[] {
  if (total <= CUT_ITEMS_MAX) return items
  const next = `${total - CUT_ITEMS_MAX} more cells are cut in the same way.`
  return [...items.slice(0, CUT_ITEMS_MAX), { what: 'cell', where: 'rows', next }]
}

export function cellCut(where: string, column: ResultColumn): CutItem {
  const size = `${column.charsMax ?? 'the allowed'} ${column.type.logical === 'bytes' ? 'bytes' : 'characters'}`
  const next =
    cutForm(column.type) === 'shortened'
      ? `The first ${size} are shown; filters see the whole value.`
      : `Null stands for a value of more than ${size}.`
  return { what: 'cell', where, next }
}

/** Whether a cell may be cut where an answer is too long, and is worth it. `json`: the cell as it stands. */
export function mayCut(column: ResultColumn, json: string): boolean {
  return cutForm(column.type) !== 'whole' && json.length > CUT_CELL_CHARS_MIN
}

/** The cell in at most about `room` characters of JSON: its beginning, or null where it has none. */
export function cutCell(column: ResultColumn, json: string, room: number): string {
  return cutForm(column.type) === 'shortened' ? shortenedText(json, room) : 'null'
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

export function encodeJson(json: string, rows: number): EncodedRows {
  return { body: bodyOf(json), rows }
}

export function bodyOf(json: string): Uint8Array {
  return Buffer.from(`"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}`)
}
