import { type GatewayError, gatewayError } from '../../core/errors.js'
import { CANCEL_GRACE_MS, FIELD_BYTES, RESULT_SETS_MAX } from '../../core/limits.js'
import type { Param, ResultColumn } from '../../core/statement.js'
import { runStoppable, type Stopped, tooLargeError } from '../driver/stoppable.js'
import { Cancellation } from '../engine.js'
import { cellText, isNumberNoMore, outputText, type WireField } from './cell-text.js'

export type Row = readonly (string | null)[]

/** `control`: a fixed text of the gateway's own, sent at once. `prepared`: prepared on the server, then run; `once`: not
 * kept there for another time. */
export type WireStatement =
  | { readonly kind: 'prepared'; readonly text: string; readonly params: readonly Param[]; readonly once?: true }
  | { readonly kind: 'control'; readonly text: string }
  /** Gives the session back as it was when it was opened. */
  | { readonly kind: 'reset' }

/** One result set. `outs`: the one row of a procedure's outputs. */
export interface WireSet {
  readonly fields: readonly WireField[]
  readonly rows: readonly Row[]
  readonly outs: boolean
}

/** What one statement did. `affected`: rows that it matched or made. */
export interface Answer {
  readonly sets: readonly WireSet[]
  readonly affected: number
  readonly warnings: number
}

/** `sets`: there were too many of them, rather than too many bytes. */
export interface TooLarge {
  readonly kind: 'too_large'
  readonly sets?: true
}

export type WireOutcome =
  | { readonly kind: 'done'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown }
  | TooLarge

/** How a statement ended. After `stopped` and `too_large` a kill may still be on its way, so the session must not be reused. */
export type WireEnd = WireOutcome | Stopped<WireOutcome>

export interface WireLimits {
  readonly timeoutMs: number
  /** The statement ends beyond this many bytes of cells. */
  readonly bytesMax: number
  /** Rows of each set that are kept; the others are read and dropped. */
  readonly rowsMax?: number
  /** Whether anything is kept of a set with these columns; absent: of all. The row of outputs always is. */
  readonly keeps?: (fields: readonly WireField[]) => boolean
}

/** Listens to what the server answers to one statement. */
export interface Receiver {
  /** Bytes that came over the socket. */
  arrived(bytes: number): void
  fields(fields: readonly WireField[]): void
  row(cells: readonly unknown[]): void
  /** The status that stands at the begin and at the end of the rows of a set, and the count of warnings until then. */
  status(flags: number, warnings: number): void
  completed(affected: number, warnings: number): void
  failed(error: unknown): void
  done(): void
}

export interface WireSession {
  submit(statement: WireStatement, receiver: Receiver): void
  /** Asks the server to interrupt what this session runs. Returns at once and never throws. */
  cancel(): void
  /** What has to be run first so that the server itself stops a statement about then; nothing where that is set already. */
  limited(timeoutMs: number): readonly WireStatement[]
  /** Closes the socket and ends the session on the server. Returns at once and never throws. */
  abandon(): void
}

/** SERVER_PS_OUT_PARAMS */
const OUT_PARAMS_FLAG = 0x1000
/** The chunk in which the last whole row ended counts in full, and a row has its own lengths: two chunks of a socket. */
const UNPARSED_SLACK_BYTES = 131_072

interface OpenSet {
  readonly fields: readonly WireField[]
  readonly rows: Row[]
  outs: boolean
  kept: boolean
}

/** Gathers the answer to one statement, within its limits. */
export class Collector implements Receiver {
  readonly #limits: WireLimits
  readonly #columns: readonly ResultColumn[]
  readonly #settle: (outcome: WireOutcome) => void
  readonly #sets: OpenSet[] = []
  /** The set whose rows come now, kept or not. */
  #set: OpenSet | undefined
  #setCount = 0
  #fieldBytes = 0
  #affected = 0
  #warnings = 0
  #bytes = 0
  /** Bytes that arrived since the last whole row: a single cell of a gigabyte must not be gathered first and judged then. */
  #unparsedBytes = 0
  #settled = false

  /** `columns` describe the cells where a set has as many; `settle` is called once. */
  constructor(limits: WireLimits, columns: readonly ResultColumn[], settle: (outcome: WireOutcome) => void) {
    this.#limits = limits
    this.#columns = columns
    this.#settle = settle
  }

  arrived(bytes: number): void {
    this.#unparsedBytes += bytes
    if (this.#unparsedBytes > this.#limits.bytesMax + UNPARSED_SLACK_BYTES) this.#end({ kind: 'too_large' })
  }

  fields(fields: readonly WireField[]): void {
    if (this.#settled) return
    for (const { name } of fields) this.#fieldBytes += Buffer.byteLength(name) + FIELD_BYTES
    if (++this.#setCount > RESULT_SETS_MAX) return this.#end({ kind: 'too_large', sets: true })
    if (this.#fieldBytes > this.#limits.bytesMax + UNPARSED_SLACK_BYTES) return this.#end({ kind: 'too_large' })
    const kept = this.#limits.keeps?.(fields) ?? true
    this.#set = { fields, rows: [], outs: false, kept }
    if (kept) this.#sets.push(this.#set)
  }

  status(flags: number, warnings: number): void {
    this.#warnings = warnings
    const set = this.#set
    if (set === undefined || (flags & OUT_PARAMS_FLAG) === 0) return
    set.outs = true
    if (!set.kept) this.#sets.push(set)
    set.kept = true
  }

  row(cells: readonly unknown[]): void {
    const set = this.#set
    if (this.#settled || set === undefined) return
    this.#unparsedBytes = 0
    const row = this.#texts(set, cells)
    for (const cell of row) this.#bytes += cell === null ? 0 : Buffer.byteLength(cell)
    if (this.#bytes > this.#limits.bytesMax) return this.#end({ kind: 'too_large' })
    if (set.kept && set.rows.length < (this.#limits.rowsMax ?? Number.POSITIVE_INFINITY)) set.rows.push(row)
  }

  #texts({ fields, outs }: OpenSet, cells: readonly unknown[]): Row {
    if (outs) return fields.map((field, i) => outputText(cells[i] ?? null, field))
    const columns = this.#columns.length === fields.length ? this.#columns : []
    return fields.map((field, i) => cellText(cells[i] ?? null, field, columns[i]))
  }

  completed(affected: number, warnings: number): void {
    this.#affected = affected
    this.#warnings = warnings
  }

  failed(error: unknown): void {
    this.#end({ kind: 'failed', error })
  }

  done(): void {
    this.#end({ kind: 'done', answer: { sets: this.#sets, affected: this.#affected, warnings: this.#warnings } })
  }

  #end(outcome: WireOutcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#settle(outcome)
  }
}

/**
 * Runs a statement and settles when the server is done with it, or was told to stop it. What a killed statement answers
 * does not count: some end as if nothing had happened.
 */
export function runStatement(
  session: WireSession,
  statement: WireStatement,
  limits: WireLimits,
  cancellation: Cancellation,
  columns: readonly ResultColumn[] = [],
): Promise<WireEnd> {
  return runStoppable<WireOutcome>(
    {
      timeoutMs: limits.timeoutMs,
      start: (settle) => {
        const collector = new Collector(limits, columns, (outcome) => {
          // The server streams on until the socket is closed, and a statement that has yet to compute would not notice that.
          if (outcome.kind === 'too_large') session.abandon()
          settle(outcome)
        })
        session.submit(statement, collector)
      },
      cancel: () => session.cancel(),
      giveUp: () => session.abandon(),
    },
    cancellation,
  )
}

/** What was too large about an answer. */
export function tooLarge({ sets }: TooLarge, bytesMax: number): GatewayError {
  if (sets !== true) return tooLargeError(bytesMax)
  return gatewayError('RESULT_TOO_LARGE', { reason: `the procedure gave more than ${RESULT_SETS_MAX} result sets` })
}

/** An error where a column that was a number when the catalog was read has come to be text. */
export function otherTypes({ sets }: Answer, columns: readonly ResultColumn[]): GatewayError | undefined {
  const fields = sets[0]?.fields ?? []
  if (fields.length !== columns.length) return undefined
  if (!fields.some((field, i) => isNumberNoMore(field, columns[i]))) return undefined
  return gatewayError('SCHEMA_CHANGED', { reason: 'a column is no longer of the type that it had in the catalog' })
}

/** None of the statements that tidy up returns more than a few warnings. */
const TIDY_BYTES_MAX = 100_000

/** Runs statements one after the other, up to the first that fails. Nobody can call them off, and each has little time. */
export async function tidyUp(session: WireSession, statements: readonly WireStatement[]): Promise<WireEnd> {
  let end: WireEnd = { kind: 'done', answer: { sets: [], affected: 0, warnings: 0 } }
  for (const statement of statements) {
    const limits = { timeoutMs: CANCEL_GRACE_MS, bytesMax: TIDY_BYTES_MAX }
    end = await runStatement(session, statement, limits, new Cancellation())
    if (end.kind !== 'done') return end
  }
  return end
}
