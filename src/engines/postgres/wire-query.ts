import { invariant } from '../../core/assert.js'
import type { Param } from '../../core/statement.js'
import { arrayLiteral } from './array-literal.js'
import type { NamedUse } from './named-statements.js'

export type Row = readonly (string | null)[]

/** One statement on its way to the server. */
export interface WireStatement {
  readonly text: string
  readonly params: readonly Param[]
  /** Absent: an unnamed statement. */
  readonly named?: NamedUse
  /** The server sends the answer at once instead of with that of the whole batch. */
  readonly flush?: true
}

/** What the server answered to one statement; `tag` is its command tag, such as `COMMIT`. */
export interface Answer {
  readonly rows: readonly Row[]
  readonly tag: string
}

/** `answers` are those that came, in order: all of the batch's when it is `done`. */
export type BatchOutcome =
  | { readonly kind: 'done'; readonly answers: readonly Answer[] }
  | { readonly kind: 'failed'; readonly error: unknown; readonly answers: readonly Answer[] }
  | { readonly kind: 'too_large'; readonly answers: readonly Answer[] }

/** The socket under a connection. */
export interface WireStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  off(event: 'data', listener: (chunk: Buffer) => void): unknown
  cork(): void
  uncork(): void
}

/** The part of `pg`'s connection that a batch speaks through. The last argument of each call is unused by `pg`. */
export interface WireConnection {
  readonly stream: WireStream
  parse(query: { name: string; text: string; types: string[] }, more: boolean): void
  bind(config: { portal: string; statement: string; values: (string | null)[] }, more: boolean): void
  execute(config: { portal: string }, more: boolean): void
  close(message: { type: string; name: string }, more: boolean): void
  flush(): void
  sync(): void
}

/** The bytes of a row on the wire that are not cells: its length, the count of cells, and a length for each cell. */
const ROW_BYTES = 6
const CELL_LENGTH_BYTES = 4

/** The chunk in which the last whole row ended counts in full, and a row has its own lengths: two chunks of a socket. */
const UNPARSED_SLACK_BYTES = 131_072

/**
 * Statements that leave together, on one connection, in the shape `pg` wants of a query object: the first failure ends the
 * batch, and the server skips the rest. Rows stay the server's own text: `pg` hands over each row as an array of strings,
 * and nothing here parses them. No Describe is sent, because the compiler already knows the columns.
 */
export class WireQuery {
  readonly #statements: readonly WireStatement[]
  readonly #bytesMax: number
  readonly #settle: (outcome: BatchOutcome) => void
  readonly #answers: Answer[] = []
  #rows: Row[] = []
  #bytes = 0
  /** Bytes that arrived since the last whole row: a single cell of a gigabyte must not be gathered first and judged then. */
  #unparsedBytes = 0
  #settled = false
  #stream: WireStream | undefined
  readonly #countChunk = (chunk: Buffer): void => {
    this.#unparsedBytes += chunk.length
    if (this.#unparsedBytes > this.#bytesMax + UNPARSED_SLACK_BYTES) this.#tooLarge()
  }

  constructor(statements: readonly WireStatement[], bytesMax: number, settle: (outcome: BatchOutcome) => void) {
    this.#statements = statements
    this.#bytesMax = bytesMax
    this.#settle = settle
  }

  submit(connection: WireConnection): void {
    const { stream } = connection
    this.#stream = stream
    stream.on('data', this.#countChunk)
    // The messages leave in one write: each on its own would be a system call and a packet.
    stream.cork()
    try {
      for (const statement of this.#statements) send(connection, statement)
      connection.sync()
    } finally {
      stream.uncork()
    }
  }

  handleDataRow(message: { readonly fields: Row; readonly length: number }): void {
    if (this.#settled) return
    this.#unparsedBytes = 0
    this.#bytes += message.length - ROW_BYTES - CELL_LENGTH_BYTES * message.fields.length
    if (this.#bytes > this.#bytesMax) this.#tooLarge()
    else this.#rows.push(message.fields)
  }

  handleCommandComplete(message: { readonly text: string }): void {
    if (this.#settled) return
    this.#answers.push({ rows: this.#rows, tag: message.text })
    this.#rows = []
  }

  handleError(error: unknown): void {
    this.#end({ kind: 'failed', error, answers: this.#answers })
  }

  handleReadyForQuery(): void {
    this.#end({ kind: 'done', answers: this.#answers })
  }

  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}

  #tooLarge(): void {
    this.#end({ kind: 'too_large', answers: this.#answers })
  }

  #end(outcome: BatchOutcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#stream?.off('data', this.#countChunk)
    this.#settle(outcome)
  }
}

function send(connection: WireConnection, { text, params, named, flush }: WireStatement): void {
  const name = named?.name ?? ''
  for (const old of named?.deallocate ?? []) connection.close({ type: 'S', name: old }, true)
  if (named?.parse !== false) connection.parse({ name, text, types: [] }, true)
  connection.bind({ portal: '', statement: name, values: params.map(paramText) }, true)
  connection.execute({ portal: '' }, true)
  if (flush === true) connection.flush()
}

function paramText(param: Param): string | null {
  if (param === null || typeof param === 'string') return param
  invariant(!('type' in param), 'parameters of PostgreSQL take their types from where they stand')
  return arrayLiteral(param)
}
