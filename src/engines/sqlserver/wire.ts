import { CANCEL_GRACE_MS } from '../../core/limits.js'
import type { Param } from '../../core/statement.js'
import { runStoppable, type Stopped } from '../driver/stoppable.js'
import { Cancellation } from '../engine.js'
import { cellText, type WireField } from './cell-text.js'

export type Row = readonly (string | null)[]

/** `control`: a fixed batch of the gateway's own. `statement`: run with its parameters, and its plan is kept by its text. */
export type WireStatement =
  | { readonly kind: 'statement'; readonly text: string; readonly params: readonly Param[] }
  | { readonly kind: 'control'; readonly text: string }
  /** Gives the session back as it was when it was opened, and then runs this batch. */
  | { readonly kind: 'reset'; readonly text: string }

/** One result set. Counts of rows are not kept: those of triggers come between a statement's own. */
export interface WireSet {
  readonly fields: readonly WireField[]
  readonly rows: readonly Row[]
}

/** What the server told of the end of the outermost transaction while a statement ran. Once committed, it stays that. */
export type TransactionNews = 'none' | 'rolled_back' | 'committed'

/** What one statement answered. */
export interface Answer {
  readonly sets: readonly WireSet[]
  readonly news: TransactionNews
}

export type WireOutcome =
  | { readonly kind: 'done'; readonly answer: Answer }
  /** `sets`: what came before the error. */
  | {
      readonly kind: 'failed'
      readonly error: unknown
      readonly news: TransactionNews
      readonly sets: readonly WireSet[]
    }
  | { readonly kind: 'too_large' }

/** How a statement ended. After `stopped` and `too_large` an attention may still be on its way, so the session must not be reused. */
export type WireEnd = WireOutcome | Stopped<WireOutcome>

export interface WireLimits {
  readonly timeoutMs: number
  /** The statement ends beyond this many bytes of cells. */
  readonly bytesMax: number
  /** Rows of each set that are kept; the others are read and dropped. */
  readonly rowsMax?: number
}

/** Listens to what the server answers to one statement. */
export interface Receiver {
  /** Bytes that came over the socket. */
  arrived(bytes: number): void
  fields(fields: readonly WireField[]): void
  row(cells: readonly unknown[]): void
  /** The outermost transaction ended. */
  transactionEnded(how: 'committed' | 'rolled_back'): void
  failed(error: unknown): void
  done(): void
}

export interface WireSession {
  submit(statement: WireStatement, receiver: Receiver): void
  /** Asks the server to interrupt what this session runs. Returns at once and never throws. */
  cancel(): void
  /** Closes the socket, at which the server ends the session and what it runs. Returns at once and never throws. */
  abandon(): void
}

/** The chunk in which the last whole row ended counts in full, and a row has its own lengths: two chunks of a socket. */
const UNPARSED_SLACK_BYTES = 131_072
/** Text comes as UTF-16, which takes twice the bytes that it is counted by. */
const WIRE_BYTES_A_BYTE = 2

/** Gathers the answer to one statement, within its limits. */
export class Collector implements Receiver {
  readonly #limits: WireLimits
  readonly #settle: (outcome: WireOutcome) => void
  readonly #sets: { readonly fields: readonly WireField[]; readonly rows: Row[] }[] = []
  #news: TransactionNews = 'none'
  #bytes = 0
  /** Bytes that arrived since the last whole row: a single cell of a gigabyte must not be gathered first and judged then. */
  #unparsedBytes = 0
  #settled = false

  /** `settle` is called once. */
  constructor(limits: WireLimits, settle: (outcome: WireOutcome) => void) {
    this.#limits = limits
    this.#settle = settle
  }

  arrived(bytes: number): void {
    this.#unparsedBytes += bytes
    const bytesMax = this.#limits.bytesMax * WIRE_BYTES_A_BYTE + UNPARSED_SLACK_BYTES
    if (this.#unparsedBytes > bytesMax) this.#end({ kind: 'too_large' })
  }

  fields(fields: readonly WireField[]): void {
    this.#sets.push({ fields, rows: [] })
  }

  row(cells: readonly unknown[]): void {
    const set = this.#sets.at(-1)
    if (this.#settled || set === undefined) return
    this.#unparsedBytes = 0
    const row = set.fields.map((field, i) => cellText(cells[i] ?? null, field))
    for (const cell of row) this.#bytes += cell === null ? 0 : Buffer.byteLength(cell)
    if (this.#bytes > this.#limits.bytesMax) this.#end({ kind: 'too_large' })
    else if (set.rows.length < (this.#limits.rowsMax ?? Number.POSITIVE_INFINITY)) set.rows.push(row)
  }

  transactionEnded(how: 'committed' | 'rolled_back'): void {
    if (this.#news !== 'committed') this.#news = how
  }

  failed(error: unknown): void {
    this.#end({ kind: 'failed', error, news: this.#news, sets: this.#sets })
  }

  done(): void {
    this.#end({ kind: 'done', answer: { sets: this.#sets, news: this.#news } })
  }

  #end(outcome: WireOutcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#settle(outcome)
  }
}

/**
 * Runs a statement and settles when the server is done with it, or was told to stop it. What an interrupted statement
 * answers does not count.
 */
export function runStatement(
  session: WireSession,
  statement: WireStatement,
  limits: WireLimits,
  cancellation: Cancellation,
): Promise<WireEnd> {
  return runStoppable<WireOutcome>(
    {
      timeoutMs: limits.timeoutMs,
      start: (settle) => {
        const collector = new Collector(limits, (outcome) => {
          // The server streams on until it is told to stop or the socket is closed.
          if (outcome.kind === 'too_large') {
            session.cancel()
            session.abandon()
          }
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

/** None of the statements that tidy up returns more than a few numbers. */
const TIDY_BYTES_MAX = 10_000

/** Runs one statement that tidies up. Nobody can call it off, and it has little time. */
export function tidyUp(session: WireSession, statement: WireStatement): Promise<WireEnd> {
  return runStatement(session, statement, { timeoutMs: CANCEL_GRACE_MS, bytesMax: TIDY_BYTES_MAX }, new Cancellation())
}
