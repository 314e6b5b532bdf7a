import type { Param } from '../../core/statement.js'
import type { NamedUse } from './named-statements.js'

export type Row = readonly (string | null)[]

export type ReadOutcome =
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'too_large' }

/** The socket under a connection. */
export interface WireStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  off(event: 'data', listener: (chunk: Buffer) => void): unknown
  cork(): void
  uncork(): void
}

/** The part of `pg`'s connection that a read speaks through. The last argument of each call is unused by `pg`. */
export interface WireConnection {
  readonly stream: WireStream
  parse(query: { name: string; text: string; types: string[] }, more: boolean): void
  bind(config: { portal: string; statement: string; values: (string | null)[] }, more: boolean): void
  execute(config: { portal: string }, more: boolean): void
  close(message: { type: string; name: string }, more: boolean): void
  sync(): void
}

/** The bytes of a row on the wire that are not cells: its length, the count of cells, and a length for each cell. */
const ROW_BYTES = 6
const CELL_LENGTH_BYTES = 4

/** The chunk in which the last whole row ended counts in full, and a row has its own lengths: two chunks of a socket. */
const UNPARSED_SLACK_BYTES = 131_072

/**
 * One statement on one connection, in the shape `pg` wants of a query object. Rows stay the server's own text: `pg` hands
 * over each row as an array of strings, and nothing here parses them. No Describe is sent, because the compiler already
 * knows the columns.
 */
export class ReadQuery {
  readonly #text: string
  readonly #params: readonly Param[]
  readonly #named: NamedUse | undefined
  readonly #bytesMax: number
  readonly #settle: (outcome: ReadOutcome) => void
  readonly #rows: Row[] = []
  #bytes = 0
  /** Bytes that arrived since the last whole row: a single cell of a gigabyte must not be gathered first and judged then. */
  #unparsedBytes = 0
  #settled = false
  #stream: WireStream | undefined
  readonly #countChunk = (chunk: Buffer): void => {
    this.#unparsedBytes += chunk.length
    if (this.#unparsedBytes > this.#bytesMax + UNPARSED_SLACK_BYTES) this.#end({ kind: 'too_large' })
  }

  constructor(
    statement: { readonly text: string; readonly params: readonly Param[]; readonly named: NamedUse | undefined },
    bytesMax: number,
    settle: (outcome: ReadOutcome) => void,
  ) {
    this.#text = statement.text
    this.#params = statement.params
    this.#named = statement.named
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
      this.#send(connection)
    } finally {
      stream.uncork()
    }
  }

  #send(connection: WireConnection): void {
    const name = this.#named?.name ?? ''
    for (const old of this.#named?.deallocate ?? []) connection.close({ type: 'S', name: old }, true)
    if (this.#named?.parse !== false) connection.parse({ name, text: this.#text, types: [] }, true)
    connection.bind({ portal: '', statement: name, values: this.#params.map(paramText) }, true)
    connection.execute({ portal: '' }, true)
    connection.sync()
  }

  handleDataRow(message: { readonly fields: Row; readonly length: number }): void {
    if (this.#settled) return
    this.#unparsedBytes = 0
    this.#bytes += message.length - ROW_BYTES - CELL_LENGTH_BYTES * message.fields.length
    if (this.#bytes > this.#bytesMax) this.#end({ kind: 'too_large' })
    else this.#rows.push(message.fields)
  }

  handleError(error: unknown): void {
    this.#end({ kind: 'failed', error })
  }

  handleReadyForQuery(): void {
    this.#end({ kind: 'rows', rows: this.#rows })
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}

  #end(outcome: ReadOutcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#stream?.off('data', this.#countChunk)
    this.#settle(outcome)
  }
}

function paramText(param: Param): string | null {
  return param === null || typeof param === 'string' ? param : arrayLiteral(param)
}

/** A one-dimensional array in PostgreSQL's own spelling, every element quoted. */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
}
