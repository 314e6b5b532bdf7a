import type { GatewayError } from '../core/errors.js'
import type { ValidatedCall, ValidatedMutation, ValidatedPlan } from '../core/plan.js'
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
  compileMutation(plan: ValidatedMutation): CompiledMutation
  compileCall(plan: ValidatedCall): CompiledCall
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
  /** Present when the connector hands its callers to the database. */
  readonly context?: SessionContext
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

/**
 * A writing transaction, in steps that every engine runs the same way: `lock` (update, soft delete: reads the row under
 * lock), `write` (its rows are the result). The driver judges nothing but counts and flags.
 */
export interface CompiledMutation {
  /** Present where an engine has it run before, for all of the others: as described for `CompiledStatement.guard`. */
  readonly guard?: CompiledStatement
  /**
   * One row `[expected holds: t/f, nothing would change: t/f, …result columns]`; no row: it does not exist or is out of
   * scope. Several where only the policy says that the key is one: as many as may be written, and one more to tell. Absent
   * for `create`.
   */
  readonly lock?: CompiledStatement
  /** Its rows: result columns, then one more: whether the written row is in scope (t/f). No rows where `readBack` has them. */
  readonly write: CompiledStatement
  /** Present where the engine cannot return what it wrote: reads the written rows, in the shape described for `write`. */
  readonly readBack?: CompiledStatement
  readonly maxAffectedRows: number
  readonly dryRun: boolean
}

/** `unchanged`: the row already held what was to be written, and nothing was. */
export type MutationEnd =
  | { readonly kind: 'written'; readonly rows: Rows; readonly affected: number }
  | { readonly kind: 'unchanged'; readonly rows: Rows }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'expected_failed' }
  | { readonly kind: 'too_many'; readonly affected: number }
  | { readonly kind: 'out_of_scope' }

/** `effect` is `unknown` when the connection was lost between sending COMMIT and its answer. */
export interface WriteExecution {
  readonly outcome: Result<MutationEnd, GatewayError>
  readonly effect: 'none' | 'committed' | 'unknown'
  readonly queueMs: number
  readonly dbMs: number
}

/** A call of a routine as one transaction; `effect: read` runs it where nothing can be written. */
export interface CompiledCall {
  readonly statement: CompiledStatement
  readonly effect: 'read' | 'write'
  readonly dryRun: boolean
  readonly rowCap: number
  /** Present where the routine gives result sets that only the call itself describes: what is let through of them. */
  readonly sets?: CompiledSets
  /** Which cells of the statement's rows are its columns, in order, where the engine gives more than was asked for. */
  readonly cells?: readonly number[]
}

/** Of every result set, the columns of these names, as the catalog spells them; a longer cell is cut when it is encoded. */
export interface CompiledSets {
  readonly names: readonly string[]
  readonly cellCharsMax: number
}

/** One result set, with the columns that are let through: `rowCap` rows, and one more where more exist. */
export interface ResultSet {
  readonly columns: readonly ResultColumn[]
  readonly rows: Rows
}

/** `rows` are those of the statement's columns; `sets` are present where `CompiledCall.sets` is. */
export interface CallResult {
  readonly rows: Rows
  readonly sets?: readonly ResultSet[]
}

export interface CallExecution {
  readonly outcome: Result<CallResult, GatewayError>
  readonly effect: 'none' | 'committed' | 'unknown'
  readonly queueMs: number
  readonly dbMs: number
}

/** Set for one transaction alone, as text: identity, roles (JSON list), claims (JSON object). */
export interface SessionContext {
  readonly identity: string
  readonly roles: string
  readonly claims: string
}

export interface Mutator {
  mutate(mutation: CompiledMutation, options: ExecuteOptions): Promise<WriteExecution>
}

export interface ProcedureCaller {
  call(call: CompiledCall, options: ExecuteOptions): Promise<CallExecution>
}

export interface Executor {
  /** Runs on a connection that cannot write. A driver's message goes to `detail`, never to a public field or an entry. */
  execute(statement: CompiledStatement, options: ExecuteOptions): Promise<Execution>
}

export interface Driver extends Introspector, Executor, Mutator, ProcedureCaller {
  /** Open connections now: those that wait for a statement, and those that run one or are being opened. */
  readonly connections: { readonly idle: number; readonly busy: number }
  /** Ends every connection; settles within the drain deadline. */
  close(): Promise<void>
}
