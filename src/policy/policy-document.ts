import type { FilterOp } from '../core/plan.js'
import { ok, type Result } from '../core/result.js'
import { checkedPolicy } from './policy-json.js'
import { readPolicyText } from './policy-text.js'
import type { PolicyFault, PolicyTree } from './policy-tree.js'

export { EMPTY_POLICY } from './empty-policy.js'
export { policyFromJson } from './policy-json.js'
export { type PolicyFault, policyFaultText } from './policy-tree.js'

/**
 * A policy as its author wrote it, checked in itself but against no database. Plain data: `JSON.stringify` gives the text
 * that the admin store keeps, in the same grammar, and it crosses threads. Records by name hold names that an author
 * chose (`constructor` may be one): read them with `Object.entries`, never by a name from elsewhere.
 */
export interface PolicyDocument {
  readonly version: 1
  readonly defaults: PolicyLimits
  /** By `schema.table`, or the table alone for connectors of one schema. */
  readonly tables: Readonly<Record<string, TablePolicy>>
  /** By `schema.name`, or `schema.name(signature)` where several have the name; without the schema like a table. */
  readonly procedures: Readonly<Record<string, ProcedurePolicy>>
  readonly roles: Readonly<Record<string, RolePolicy>>
  readonly identities: Readonly<Record<string, IdentityPolicy>>
}

/** Limits in the policy's spelling; the unit is last in each name, characters and rows where there is none. */
export interface PolicyLimits {
  readonly row_cap?: number
  readonly page_size?: number
  readonly query_timeout_ms?: number
  readonly response_chars_max?: number
  readonly cell_chars_max?: number
  readonly max_affected_rows?: number
  readonly min_group_size?: number
  readonly require_index_above_rows?: number
}

export type PolicyLiteral = string | number | boolean
export interface ClaimSource {
  readonly claim: string
}

export type PolicyFilter =
  | {
      readonly column: string
      readonly op: Exclude<FilterOp, 'in' | 'is_null' | 'not_null'>
      readonly value: PolicyLiteral | ClaimSource
    }
  | { readonly column: string; readonly op: 'in'; readonly values: readonly PolicyLiteral[] | ClaimSource }
  | { readonly column: string; readonly op: 'is_null' | 'not_null' }
  | ParentFilter

/** That the row which the foreign key of exactly these columns references is in the caller's scope. */
export interface ParentFilter {
  readonly parent: readonly string[]
}

export interface RelationPolicy {
  readonly columns: readonly string[]
  /** Named like any table. */
  readonly references: string
  /** Default: the key of the table that is referenced. */
  readonly referenced_columns?: readonly string[]
}

/** What a mutation writes that is not the caller's. The text `now` is the database's clock, never a literal. */
export type PresetSource = PolicyLiteral | ClaimSource

export interface WritePolicy {
  /** What a caller may set. */
  readonly columns: readonly string[]
  readonly preset?: Readonly<Record<string, PresetSource>>
}

export interface SoftDeletePolicy {
  readonly column: string
  /** What marks a row as deleted; the text `now` is the database's clock. */
  readonly value: PolicyLiteral
  readonly reads_include_deleted?: boolean
}

export interface TablePolicy extends PolicyLimits {
  readonly tool_name?: string
  /** Never beside `columns`. */
  readonly mask?: readonly string[]
  readonly columns?: readonly string[]
  readonly key?: readonly string[]
  /** Foreign keys that the catalog does not declare, by a name for each. */
  readonly relations?: Readonly<Record<string, RelationPolicy>>
  readonly row_filter?: readonly PolicyFilter[]
  readonly aggregate?: boolean | { readonly columns: readonly string[] }
  readonly create?: WritePolicy
  readonly update?: WritePolicy
  readonly soft_delete?: SoftDeletePolicy
}

/** What a procedure changes is counted by no engine, so it has no limit of affected rows; groups and indexes are its own affair. */
export interface ProcedurePolicy
  extends Omit<PolicyLimits, 'max_affected_rows' | 'min_group_size' | 'require_index_above_rows'> {
  readonly tool_name?: string
  /** The author's own declaration: `read` runs where nothing can be written. */
  readonly effect: 'read' | 'write'
  /** The only columns of the result that anybody sees. */
  readonly result_columns?: readonly string[]
}

/** Tables and procedures are named as under `tables:` and `procedures:`; `*` stands for all of those. */
export interface RolePolicy extends PolicyLimits {
  readonly read?: readonly string[]
  readonly aggregate?: readonly string[]
  readonly create?: readonly string[]
  readonly update?: readonly string[]
  readonly soft_delete?: readonly string[]
  readonly call?: readonly string[]
  readonly deny?: readonly string[]
  readonly mask?: Readonly<Record<string, readonly string[]>>
  readonly row_filter?: Readonly<Record<string, readonly PolicyFilter[]>>
}

export interface IdentityPolicy extends PolicyLimits {
  readonly read_only?: boolean
}

/** YAML or JSON as an author writes it, to a document, or everything that is wrong with it. */
export function parsePolicy(text: string): Result<PolicyDocument, readonly PolicyFault[]> {
  const tree = readPolicyText(text)
  return tree.ok ? checkedPolicy(tree.value) : tree
}

/** The same, with the tree that tells the line of each of its places. */
export function parsePolicyText(
  text: string,
): Result<{ readonly document: PolicyDocument; readonly tree: PolicyTree }, readonly PolicyFault[]> {
  const tree = readPolicyText(text)
  if (!tree.ok) return tree
  const document = checkedPolicy(tree.value)
  return document.ok ? ok({ document: document.value, tree: tree.value }) : document
}
