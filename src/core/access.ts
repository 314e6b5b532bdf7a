import type { CallLimits } from './plan.js'
import type { Column, ResultField, Routine, RoutineParameter, Table } from './schema-model.js'

export const READ_OPERATIONS = ['get', 'search', 'aggregate'] as const
export type ReadOperation = (typeof READ_OPERATIONS)[number]

export const WRITE_OPERATIONS = ['create', 'update', 'soft_delete'] as const
export type WriteOperation = (typeof WRITE_OPERATIONS)[number]
export type TableOperation = ReadOperation | WriteOperation

/** What one mutation of a table takes from one caller, and gives back. By agent name, in table order. */
export interface WriteAccess {
  /** Columns the caller may set: listed by the policy, writable, visible in this operation, and not preset. */
  readonly columns: ReadonlyMap<string, Column>
  /** `create`: those of `columns` that must be given, since neither the catalog nor a preset fills them. */
  readonly required: ReadonlySet<string>
  /** `update`, `soft_delete`: the key's columns, as `<key columns>` arguments. Empty for `create`. */
  readonly key: readonly Column[]
  /** `update`, `soft_delete`: columns that `expected` may name: those the caller may read by `get`. */
  readonly expectable: ReadonlyMap<string, Column>
  /** What a mutation returns: the key and the columns the caller may read by `get`. */
  readonly returning: readonly Column[]
}

/** One exposed function or procedure as one caller may call it. */
export interface ProcedureAccess {
  readonly routine: Routine
  readonly tool: string
  /** The operator's declaration. `read` runs where nothing can be written. */
  readonly effect: 'read' | 'write'
  /** Cleaned and capped. */
  readonly comment?: string
  /** Those that take a value, in order. */
  readonly parameters: readonly RoutineParameter[]
  /** Columns of the result that the policy lets through; undefined for a scalar or nothing. */
  readonly fields?: readonly ResultField[]
  /** Columns let through of result sets that only the call describes; undefined: no set is. */
  readonly setColumns?: readonly string[]
  /** Whether a call can be undone: `dry_run` is offered. */
  readonly dryRun: boolean
  readonly limits: CallLimits
}

/** A to-one or to-many link that the caller may know of: every column on both sides is visible to it. */
export interface Relation {
  readonly columns: readonly string[]
  /** The other table's `toolBase`, and its columns' agent names. */
  readonly references: string
  readonly referencedColumns: readonly string[]
}

/** One table as one caller may use it. Nothing the caller may not see is reachable from the members shown to it. */
export interface TableAccess {
  /** The whole table, hidden columns included: for validation and compilation, never for schemas, texts or suggestions. */
  readonly table: Table
  /** The `<t>` of the tool names. */
  readonly toolBase: string
  /** Cleaned and capped; absent where it names a hidden column. */
  readonly comment?: string
  /** Columns of the key that `get` takes; empty when there is no key or a part of it is hidden. */
  readonly key: readonly Column[]
  readonly operations: ReadonlySet<TableOperation>
  /** By agent name, in table order. Comments are cleaned, and absent where they name a hidden column. */
  readonly columns: Readonly<Record<ReadOperation, ReadonlyMap<string, Column>>>
  /** One for each mutation in `operations`. */
  readonly writes: Readonly<Partial<Record<WriteOperation, WriteAccess>>>
  readonly relations: readonly Relation[]
  readonly limits: CallLimits
}

/** Everything one caller may do on a connector. */
export interface EffectiveRights {
  /** Equal for callers whose tool lists are equal. */
  readonly key: string
  /** Ordered by `toolBase`. */
  readonly tables: readonly TableAccess[]
  readonly byToolBase: ReadonlyMap<string, TableAccess>
  /** Ordered by tool. */
  readonly procedures: readonly ProcedureAccess[]
}
