import type { Column, Identifier, SchemaModel, Table, TableRef } from '../core/schema-model.js'
import type { Comment } from './comment-mentions.js'
import type { PolicyLimits } from './policy-document.js'
import type { RowFilter } from './row-filter.js'

/** A policy once it has met its database: every name resolved, what could not be resolved withheld. */
export interface CompiledPolicy {
  readonly schema: SchemaModel
  readonly defaults: PolicyLimits
  /** Ordered by tool base. */
  readonly tables: readonly CompiledTable[]
  readonly tableOf: ReadonlyMap<Table, CompiledTable>
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
  readonly filters: readonly RowFilter[]
  readonly limits: PolicyLimits
  readonly comment: Comment | undefined
  readonly columnComments: readonly (Comment | undefined)[]
  /** The columns with their comments cleaned, and without any. */
  readonly commented: readonly Column[]
  readonly bare: readonly Column[]
  /** Column views made so far, shared by all callers who see the same; bounded where it is filled. */
  readonly views: Map<string, ColumnView>
}

export interface ColumnView {
  readonly byAgentName: ReadonlyMap<string, Column>
  readonly byName: ReadonlyMap<Identifier, Column>
}

export interface CompiledRole {
  readonly name: string
  readonly reads: Grant
  readonly aggregates: Grant
  readonly denies: Grant
  readonly masks: ReadonlyMap<CompiledTable, ReadonlySet<number>>
  readonly filters: ReadonlyMap<CompiledTable, readonly RowFilter[]>
  readonly limits: PolicyLimits
}

export type Grant = 'all' | ReadonlySet<CompiledTable>

export interface CompiledIdentity {
  readonly name: string
  readonly readOnly: boolean
  readonly limits: PolicyLimits
}

export function includes(grant: Grant, table: CompiledTable): boolean {
  return grant === 'all' || grant.has(table)
}
