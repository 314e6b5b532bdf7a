import type { CallLimits } from './plan.js'
import type { Column, Table } from './schema-model.js'

export const READ_OPERATIONS = ['get', 'search', 'aggregate'] as const
export type ReadOperation = (typeof READ_OPERATIONS)[number]

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
  readonly operations: ReadonlySet<ReadOperation>
  /** By agent name, in table order. Comments are cleaned, and absent where they name a hidden column. */
  readonly columns: Readonly<Record<ReadOperation, ReadonlyMap<string, Column>>>
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
}
