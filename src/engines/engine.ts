import type { GatewayError } from '../core/errors.js'
import type { ValidatedPlan } from '../core/plan.js'
import type { Result } from '../core/result.js'
import type { EngineName, SchemaModel } from '../core/schema-model.js'
import type { CompiledStatement, ResultColumn } from '../core/statement.js'

/** One cell as JSON text. `cut`: the value was longer than allowed; text is shortened, other types become `null`. */
export interface EncodedCell {
  readonly json: string
  readonly cut: boolean
}

/** The pure half of an engine: plans to SQL, and the engine's text of a value to exact JSON. Imports no driver. */
export interface Dialect {
  readonly engine: EngineName
  compile(plan: ValidatedPlan): CompiledStatement
  /** `text` is the engine's own text of a value that is not NULL. */
  encodeCell(column: ResultColumn, text: string): EncodedCell
}

/** Raised by the caller's side to stop a call: the driver cancels on the server. Setting it twice does nothing. */
export class Cancellation {
  #reason: 'CANCELLED' | 'TIMEOUT' | undefined
  #listener: (() => void) | undefined

  get reason(): 'CANCELLED' | 'TIMEOUT' | undefined {
    return this.#reason
  }

  request(reason: 'CANCELLED' | 'TIMEOUT'): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#listener?.()
  }

  /** At most one listener at a time; called at once when the cancellation was already requested. */
  listen(listener: (() => void) | undefined): void {
    this.#listener = listener
    if (this.#reason !== undefined) listener?.()
  }
}

export interface ExecuteOptions {
  /** From the start of the statement on the server; the wait for a connection has a limit of its own. */
  readonly timeoutMs: number
  readonly acquireTimeoutMs: number
  /** The read ends with RESULT_TOO_LARGE beyond this many bytes of cells. */
  readonly bytesMax: number
  readonly cancellation: Cancellation
}

/** Cells are the engine's own text, or null for NULL. */
export type Rows = readonly (readonly (string | null)[])[]

/** How a statement ended, and how long it waited and ran, whatever the end. */
export interface Execution {
  readonly outcome: Result<Rows, GatewayError>
  /** Until it had a connection. */
  readonly queueMs: number
  /** From then on; 0 when it never had one. */
  readonly dbMs: number
}

export interface Introspector {
  /** Reads the catalog of the connector's database, these schemas only. */
  introspect(schemas: readonly string[]): Promise<Result<SchemaModel, GatewayError>>
}

export interface Executor {
  /** Runs on a connection that cannot write. A driver's message goes to `detail`, never to a public field or an entry. */
  execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution>
}

export interface Driver extends Introspector, Executor {
  /** Open connections now: those that wait for a statement, and those that run one or are being opened. */
  readonly connections: { readonly idle: number; readonly busy: number }
  /** Ends every connection; settles within the drain deadline. */
  close(): Promise<void>
}
