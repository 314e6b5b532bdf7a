import { unreachable } from '../core/assert.js'
import { CUT_ITEMS_MAX } from '../core/limits.js'
import type { ResultColumn } from '../core/statement.js'
import { cutForm, type ProcedureResult, RESULT_NAME } from '../core/tool-grammar.js'
import type { Dialect, ResultSet } from '../engines/engine.js'
import {
  bodyOf,
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
  NOT_CUT,
  NULL_CELL,
} from './encode-cells.js'
import { encodeSets } from './encode-sets.js'

export type { EncodedRows } from './encode-cells.js'

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

/** What a mutation did, with the rows it returns. */
export interface MutationToEncode extends Omit<RowsToEncode, 'limit'> {
  /** Rows changed by the statement on the table itself; 0 where `changed` is false. */
  readonly affected: number
  /** False where the row already held what was to be written. */
  readonly changed: boolean
  readonly dryRun: boolean
  /** The call had ended before under its idempotency key: the rows are the keys that were kept of it. */
  readonly replayed?: boolean
}

/** What a procedure gave. */
export interface CallToEncode extends Omit<RowsToEncode, 'keyColumns'> {
  readonly result: ProcedureResult
  /** Of a `sets` result; its `rows` are then at most one, which holds the outputs. */
  readonly sets?: readonly ResultSet[]
  readonly dryRun: boolean
  /** The call had ended before under its idempotency key: what it gave is not kept, and `rows` is empty. */
  readonly replayed?: boolean
}

type Encoding = RowsToEncode & { readonly frame: Frame }

const READ: Frame = {
  members: '',
  moreRows: 'More rows match: add filters, or raise limit where it is not at its maximum.',
  tooLong: (max) => `The answer holds ${max} characters: name fewer columns, or add filters.`,
  cellTooLong: (max) => `Cut so that the row fits ${max} characters: ask for this column with fewer others.`,
  cut: [],
}

const MUTATION: Frame = {
  members: '',
  moreRows: 'More rows were written than are shown.',
  tooLong: (max) => `The answer holds ${max} characters: read the other rows by their keys.`,
  cellTooLong: (max) => `Cut so that the row fits ${max} characters: the whole value was written.`,
  cut: [],
}

const CALL: Frame = {
  members: '',
  moreRows: 'The procedure gave more rows than a call may return: narrow it by its parameters.',
  tooLong: (max) => `The answer holds ${max} characters: narrow the call by its parameters.`,
  cellTooLong: (max) => `Cut so that the answer fits ${max} characters.`,
  cut: [],
}

const HEAD = '{"rows":['
/**
 * Rows to `{ rows, row_count, truncated, cut? }`, the same JSON as structure and as text. Longer than `responseCharsMax`
 * characters it never is where whole rows, or the long cells of a single row, can be left out; `cut` says what was.
 * Built by concatenation and encoded once, since this runs for every call.
 */
export function encodeRows(input: RowsToEncode): EncodedRows {
  return encode({ ...input, frame: READ })
}

/** As JSON members, those that are true. */
function runMembers({ dryRun, replayed }: Pick<MutationToEncode, 'dryRun' | 'replayed'>): string {
  return `${dryRun ? ',"dry_run":true' : ''}${replayed === true ? ',"replayed":true' : ''}`
}

/**
 * The rows a mutation returns, to `{ rows, row_count, affected_rows, changed, dry_run?, replayed?, truncated, cut? }`, no
 * longer than a read would be.
 */
export function encodeMutation(input: MutationToEncode): EncodedRows {
  const members = `,"affected_rows":${input.affected},"changed":${input.changed}${runMembers(input)}`
  return encode({ ...input, frame: { ...MUTATION, members } })
}

/**
 * What a procedure gave: rows as a read gives them, several results as `encodeSets` describes, `{ result }` for one value,
 * or `{ ok: true }`, each with `dry_run` and `replayed` where they hold.
 */
export function encodeCall(input: CallToEncode): EncodedRows {
  const where = input.result === 'value' ? RESULT_NAME : 'rows'
  const cut = input.replayed === true ? [{ what: 'rows', where, next: NOT_KEPT } as const] : []
  const frame: Frame = { ...CALL, members: runMembers(input), cut }
  switch (input.result) {
    case 'rows':
      return encode({ ...input, keyColumns: NO_KEYS, frame })
    case 'sets':
      return encodeSets({ ...input, sets: input.sets ?? [], frame })
    case 'value':
      return encodeValue(input, frame)
    case 'nothing':
      return encodeJson(`{"ok":true${frame.members}}`, 0)
    default:
      return unreachable(input.result)
  }
}

const NO_KEYS: ReadonlySet<string> = new Set()

const NOT_KEPT = 'The call ended before and was not run again: what it gave is not kept.'

/** `{ result }`, and where it was cut `truncated` and `cut`; no longer than an answer may be where the value can be cut. */
function encodeValue({ columns, rows, dialect, responseCharsMax }: CallToEncode, frame: Frame): EncodedRows {
  const [column] = columns
  const text = rows[0]?.[0] ?? null
  const cell = text === null || column === undefined ? NULL_CELL : dialect.encodeCell(column, text)
  const whole = (json: string, cut: readonly CutItem[]): string => {
    const words = cut.length === 0 ? '' : `,"truncated":true,"cut":${JSON.stringify(cut)}`
    return `{"${RESULT_NAME}":${json}${frame.members}${words}}`
  }
  const json = whole(
    cell.json,
    cell.cut && column !== undefined ? [...frame.cut, cellCut(RESULT_NAME, column)] : frame.cut,
  )
  if (json.length <= responseCharsMax || column === undefined || cutForm(column.type) === 'whole') {
    return encodeJson(json, rows.length)
  }
  const cut: readonly CutItem[] = [{ what: 'cell', where: RESULT_NAME, next: frame.cellTooLong(responseCharsMax) }]
  const room = cell.json.length - (whole(cell.json, cut).length - responseCharsMax)
  return encodeJson(whole(cutCell(column, cell.json, room), cut), rows.length)
}

function encode(input: Encoding): EncodedRows {
  const { rows, limit = rows.length, responseCharsMax } = input
  const wanted = Math.min(rows.length, limit)
  const members = memberNames(input.columns)
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

/** Drops rows from the end until the words about what was cut fit as well; a single row loses its longest cells instead. */
function finish(input: Encoding, kept: readonly EncodedRow[], wanted: number, members: readonly string[]): EncodedRows {
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

function tailOf(input: Encoding, kept: readonly EncodedRow[], count: number, wanted: number): string {
  const cells: CutItem[] = []
  let total = 0
  for (let i = 0; i < count; i++) {
    for (const place of kept[i]?.cut ?? NOT_CUT) {
      total++
      const column = input.columns[place]
      if (total <= CUT_ITEMS_MAX && column !== undefined) cells.push(cellCut(`rows[${i}].${column.name}`, column))
    }
  }
  return tailText(input.frame, count, [...rowsCut(input, count, wanted), ...capped(cells, total)])
}

function tailText({ members }: Frame, count: number, items: readonly CutItem[]): string {
  const cut = items.length === 0 ? '' : `,"cut":${JSON.stringify(items)}`
  return `],"row_count":${count}${members},"truncated":${items.length > 0}${cut}}`
}

/** Why there are fewer rows than match, if there are. */
function rowsCut({ frame, rows, responseCharsMax }: Encoding, count: number, wanted: number): readonly CutItem[] {
  if (count < wanted) return [{ what: 'chars', where: 'rows', next: frame.tooLong(responseCharsMax) }]
  return rows.length <= wanted ? frame.cut : [{ what: 'rows', where: 'rows', next: frame.moreRows }]
}

/**
 * The one row that is longer than the whole answer may be: its longest cells that are no keys are cut, the longest first,
 * until it fits. What then still is too long is keys, which are never cut.
 */
function shortenedRow(input: Encoding, first: EncodedRow, wanted: number, members: readonly string[]): string {
  const { columns, dialect, frame, rows, responseCharsMax } = input
  const cells = columns.map((column, i) => {
    const text = rows[0]?.[i] ?? null
    return text === null ? 'null' : dialect.encodeCell(column, text).json
  })
  const cuts = new Map<number, CutItem>()
  for (const place of first.cut) {
    const column = columns[place]
    if (column !== undefined) cuts.set(place, cellCut(`rows[0].${column.name}`, column))
  }
  const whole = (): string => {
    const row = cells.map((cell, i) => `${members[i]}${cell}`).join('')
    return `${HEAD}${row}}${tailText(frame, 1, [...rowsCut(input, 1, wanted), ...capped([...cuts.values()], cuts.size)])}`
  }
  for (const i of longestFirst(input, cells)) {
    const column = columns[i]
    const cell = cells[i]
    if (column === undefined || cell === undefined || whole().length <= responseCharsMax) continue
    cuts.set(i, { what: 'cell', where: `rows[0].${column.name}`, next: frame.cellTooLong(responseCharsMax) })
    // Measured with the words about this cut already in place.
    const room = cell.length - (whole().length - responseCharsMax)
    cells[i] = cutCell(column, cell, room)
  }
  return whole()
}

/** The places of cells that may be cut and are worth it. */
function longestFirst({ columns, keyColumns }: RowsToEncode, cells: readonly string[]): readonly number[] {
  const length = (i: number): number => cells[i]?.length ?? 0
  return [...columns.entries()]
    .filter(([i, column]) => !keyColumns.has(column.name) && mayCut(column, cells[i] ?? ''))
    .map(([i]) => i)
    .sort((a, b) => length(b) - length(a))
}

/** An object of the gateway's own making as a tool result, in the same two forms. */
export function encodeObject(value: object): Uint8Array {
  return bodyOf(JSON.stringify(value))
}
