import type { WriteOperation } from '../core/access.js'
import type {
  Column,
  Identifier,
  ResultField,
  Routine,
  RoutineParameter,
  SchemaModel,
  Table,
  TableRef,
} from '../core/schema-model.js'
import type { Comment } from './comment-mentions.js'
import type { PolicyLimits } from './policy-document.js'
import type { Preset } from './preset.js'
import type { RowFilter } from './row-filter.js'

/** A policy once it has met its database: every name resolved, what could not be resolved withheld. */
export interface CompiledPolicy {
  readonly schema: SchemaModel
  readonly defaults: PolicyLimits
  /** Ordered by tool base. */
  readonly tables: readonly CompiledTable[]
  readonly tableOf: ReadonlyMap<Table, CompiledTable>
  /** Ordered by tool. */
  readonly procedures: readonly CompiledProcedure[]
  readonly roles: ReadonlyMap<string, CompiledRole>
  readonly identities: ReadonlyMap<string, CompiledIdentity>
  find(ref: TableRef): CompiledTable | undefined
}

/** Lists by column are by position in `table.columns`. */
export interface CompiledTable {
  readonly table: Table
  readonly toolBase: string
  readonly positions: ReadonlyMap<string, number>
  /** What the table itself shows, before any role hides more. */
  readonly shown: readonly boolean[]
  /** The same for aggregates; absent where the table refuses them. */
  readonly aggregable: readonly boolean[] | undefined
  /** Positions of the key, policy-given or primary; empty without one, or where a part cannot be compared. */
  readonly key: readonly number[]
  readonly filters: TableFilters
  /** What can be changed, before any role grants it. */
  readonly writes: Readonly<Partial<Record<WriteOperation, CompiledWrite>>>
  /** Marks a row as deleted; what a written row satisfies says nothing of it. */
  readonly softDeleteColumn: Identifier | undefined
  readonly limits: PolicyLimits
  readonly comment: Comment | undefined
  readonly columnComments: readonly (Comment | undefined)[]
  /** The columns with their comments cleaned, and without any. */
  readonly commented: readonly Column[]
  readonly bare: readonly Column[]
  /** Column views made so far, shared by all callers who see the same; bounded where it is filled. */
  readonly views: Map<string, ColumnView>
}

/** The table's own row filters: every one holds for every caller. */
export interface TableFilters {
  /** Of rows that are there: not being marked as deleted is one more. */
  readonly existing: readonly RowFilter[]
  readonly created: readonly RowFilter[]
}

/** One mutation of a table. A soft delete is one whose every column is preset. */
export interface CompiledWrite {
  /** What a caller may set, before any role hides more. */
  readonly columns: readonly boolean[]
  /** `create`: positions that only the caller can fill. */
  readonly required: readonly number[]
  readonly presets: readonly Preset[]
}

export interface CompiledProcedure {
  readonly routine: Routine
  readonly tool: string
  readonly effect: 'read' | 'write'
  readonly comment: Comment | undefined
  /** Those that take a value, in order. */
  readonly parameters: readonly RoutineParameter[]
  /** Columns of the result that the policy lets through; undefined for a scalar or nothing. */
  readonly fields: readonly ResultField[] | undefined
  /** Columns let through of result sets that only the call describes; undefined: no set is given. */
  readonly setColumns: readonly string[] | undefined
  readonly limits: PolicyLimits
}

export interface ColumnView {
  readonly byAgentName: ReadonlyMap<string, Column>
  readonly byName: ReadonlyMap<Identifier, Column>
}

export interface CompiledRole {
  readonly name: string
  readonly reads: Grant
  readonly aggregates: Grant
  readonly writes: Readonly<Record<WriteOperation, Grant>>
  readonly calls: Grant<CompiledProcedure>
  readonly denies: Grant
  readonly masks: ReadonlyMap<CompiledTable, ReadonlySet<number>>
  readonly filters: ReadonlyMap<CompiledTable, readonly RowFilter[]>
  readonly limits: PolicyLimits
}

export type Grant<T = CompiledTable> = 'all' | ReadonlySet<T>

export interface CompiledIdentity {
  readonly name: string
  readonly readOnly: boolean
  readonly limits: PolicyLimits
}

export function includes<T>(grant: Grant<T>, member: T): boolean {
  return grant === 'all' || grant.has(member)
}
