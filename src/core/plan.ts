import type { Column, Identifier, ResultField, Routine, Table, TableRef } from './schema-model.js'

/** The whole of what a caller can ask of a column's value. No other comparison exists anywhere in the gateway. */
export const FILTER_OPS = ['eq', 'neq', 'in', 'gt', 'gte', 'lt', 'lte', 'ilike', 'is_null', 'not_null'] as const
export type FilterOp = (typeof FILTER_OPS)[number]

export const AGGREGATE_FNS = ['count', 'count_distinct', 'sum', 'avg', 'min', 'max'] as const
export type AggregateFn = (typeof AGGREGATE_FNS)[number]

export type Direction = 'asc' | 'desc'

/**
 * A value as canonical text for its column's logical type (digits, ISO 8601, `true`/`false`, base64 for bytes). It is
 * always bound as a parameter.
 */
export type PlanValue = string

export type Filter =
  | {
      readonly column: Identifier
      readonly op: 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'ilike'
      readonly value: PlanValue
    }
  | { readonly column: Identifier; readonly op: 'in'; readonly values: readonly PlanValue[] }
  | { readonly column: Identifier; readonly op: 'is_null' | 'not_null' }

export interface Order {
  readonly column: Identifier
  readonly direction: Direction
}

export interface GetPlan {
  readonly kind: 'get'
  readonly table: TableRef
  /** One equality per key column, in key order. */
  readonly key: readonly Extract<Filter, { value: PlanValue }>[]
  readonly columns: readonly Identifier[]
}

export interface SearchPlan {
  readonly kind: 'search'
  readonly table: TableRef
  readonly columns: readonly Identifier[]
  readonly filters: readonly Filter[]
  /** What the caller asked for; the engine adds tie-breaks over visible columns. */
  readonly order: readonly Order[]
  readonly limit: number
}

export interface Metric {
  readonly fn: AggregateFn
  /** Absent for a plain `count` of rows. */
  readonly column?: Identifier
  /** The caller's name for the result; matches the property-key rule and is unique in the plan. */
  readonly as: string
}

export interface AggregatePlan {
  readonly kind: 'aggregate'
  readonly table: TableRef
  readonly metrics: readonly Metric[]
  readonly groupBy: readonly Identifier[]
  readonly filters: readonly Filter[]
  /** `metric` and `group` are positions in the lists above. */
  readonly order: readonly {
    readonly by: { readonly kind: 'metric' | 'group'; readonly index: number }
    readonly direction: Direction
  }[]
  readonly limit: number
}

export type QueryPlan = GetPlan | SearchPlan | AggregatePlan

/** One column and what the caller wants in it. Arrays and JSON are their JSON text; the dialect writes them its way. */
export interface Assignment {
  readonly column: Identifier
  readonly value: PlanValue | null
}

type KeyFilter = Extract<Filter, { value: PlanValue }>

export interface CreatePlan {
  readonly kind: 'create'
  readonly table: TableRef
  readonly values: readonly Assignment[]
  readonly dryRun: boolean
}

export interface UpdatePlan {
  readonly kind: 'update'
  readonly table: TableRef
  readonly key: readonly KeyFilter[]
  readonly values: readonly Assignment[]
  /** What the row must hold now for the change to happen; empty: anything. */
  readonly expected: readonly Assignment[]
  readonly dryRun: boolean
}

export interface SoftDeletePlan {
  readonly kind: 'soft_delete'
  readonly table: TableRef
  readonly key: readonly KeyFilter[]
  readonly expected: readonly Assignment[]
  readonly dryRun: boolean
}

export type MutationPlan = CreatePlan | UpdatePlan | SoftDeletePlan

export interface ProcedureCallPlan {
  readonly kind: 'call'
  readonly routine: TableRef
  /** The catalog's own id: tells overloads apart. */
  readonly catalogId: string
  /** By position among the parameters that take a value; what is absent takes its default. */
  readonly args: readonly { readonly position: number; readonly value: PlanValue | null }[]
  readonly dryRun: boolean
}

export type Plan = QueryPlan | MutationPlan | ProcedureCallPlan

/**
 * That the row which a foreign key references is there, and in a scope of its own. A NULL in the key references none. `columns`
 * are of the table that the scope is about, `parentColumns` the parent's in the same order.
 */
export interface ParentTerm {
  readonly op: 'parent'
  readonly columns: readonly Identifier[]
  readonly parent: Table
  readonly parentColumns: readonly Identifier[]
  readonly scope: Scope
}

export type ScopeTerm = Filter | ParentTerm

/** The rows an operation may touch: every term of `all`, and, when `any` is present, at least one of its groups. */
export interface Scope {
  readonly all: readonly ScopeTerm[]
  readonly any?: readonly (readonly ScopeTerm[])[]
}

/** Limits in force for one identity on one table, already the most specific that the policy gives. */
export interface CallLimits {
  readonly rowCap: number
  readonly pageSize: number
  readonly queryTimeoutMs: number
  readonly responseCharsMax: number
  readonly cellCharsMax: number
  readonly maxAffectedRows: number
  /** Groups of fewer rows are not given by an aggregate; above one there is no `min` and no `max` either. */
  readonly minGroupSize: number
  /** A table of more rows is searched and aggregated by an indexed column only. */
  readonly indexRequiredAboveRows: number
}

/**
 * What a statement must not take for granted, since everything in it is found by its name, and names can be given to others
 * at any time. `table`: that the table is the one that the catalog had under its name. `columns`: nor that every column it
 * names is, where the caller may not see them all or not all rows.
 */
export type Guard = 'table' | 'columns'

declare const validated: unique symbol
/** A plan that the policy has accepted for one identity. Made by `PolicyEngine.validate` and nowhere else. */
export interface ValidatedPlan<P extends QueryPlan = QueryPlan> {
  readonly plan: P
  readonly table: Table
  /** Columns by name that the caller may use in this operation, in table order. */
  readonly visible: ReadonlyMap<Identifier, Column>
  readonly scope: Scope
  readonly limits: CallLimits
  /** Absent: whatever has the names is what was meant. */
  readonly guard?: Guard
  readonly [validated]: true
}

/** A value for a column that the policy decides: the database's own clock, or a value already coerced. */
export type WriteValue = { readonly kind: 'value'; readonly value: PlanValue | null } | { readonly kind: 'now' }

/** A mutation that the policy has accepted for one identity. Made by `PolicyEngine.validateMutation` and nowhere else. */
export interface ValidatedMutation<P extends MutationPlan = MutationPlan> {
  readonly plan: P
  readonly table: Table
  /** Every column that is written, each once: the caller's, then presets, which win. */
  readonly writes: readonly { readonly column: Column; readonly value: WriteValue }[]
  readonly expected: readonly { readonly column: Column; readonly value: PlanValue | null }[]
  /** Rows that the operation may touch: part of the `WHERE` of update and soft delete. */
  readonly scope: Scope
  /** What the row must satisfy once it is written: the scope without predicates on the soft-delete column. */
  readonly writtenScope: Scope
  readonly returning: readonly Column[]
  /** Columns of `returning` that are the key: never cut. */
  readonly key: readonly Column[]
  readonly limits: CallLimits
  /** As for a query. */
  readonly guard?: Guard
  readonly [validated]: true
}

/** A call of a function or procedure that the policy has accepted. Made by `PolicyEngine.validateCall` and nowhere else. */
export interface ValidatedCall {
  readonly plan: ProcedureCallPlan
  readonly routine: Routine
  readonly effect: 'read' | 'write'
  /** Result columns let through; undefined for a scalar or nothing. */
  readonly fields?: readonly ResultField[]
  /** Columns let through of every result set that only the call describes, as the catalog spells them; undefined: no set is. */
  readonly setColumns?: readonly string[]
  readonly limits: CallLimits
  readonly [validated]: true
}
