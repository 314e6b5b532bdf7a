import type { z } from 'zod'
import { nearest } from '../core/names.js'
import type { FilterOp } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import { documentSchema, keysAt, wordsAt } from './policy-grammar.js'
import {
  bareRecord,
  type PolicyFault,
  type PolicyPath,
  type PolicyTree,
  pathText,
  readPolicyJson,
  readPolicyText,
} from './policy-text.js'

export { type PolicyFault, policyFaultText } from './policy-text.js'

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

/** What a connector without a policy serves: nothing, to nobody. */
export const EMPTY_POLICY: PolicyDocument = {
  version: 1,
  defaults: {},
  tables: bareRecord<TablePolicy>([]),
  procedures: bareRecord<ProcedurePolicy>([]),
  roles: bareRecord<RolePolicy>([]),
  identities: bareRecord<IdentityPolicy>([]),
}

/** YAML or JSON as an author writes it, to a document, or everything that is wrong with it. */
export function parsePolicy(text: string): Result<PolicyDocument, readonly PolicyFault[]> {
  const tree = readPolicyText(text)
  return tree.ok ? checked(tree.value) : tree
}

/** The same, with the tree that tells the line of each of its places. */
export function parsePolicyText(
  text: string,
): Result<{ readonly document: PolicyDocument; readonly tree: PolicyTree }, readonly PolicyFault[]> {
  const tree = readPolicyText(text)
  if (!tree.ok) return tree
  const document = checked(tree.value)
  return document.ok ? ok({ document: document.value, tree: tree.value }) : document
}

/** The document back from the JSON text that the admin store keeps; the same checks, without the cost of YAML. */
export function policyFromJson(text: string): Result<PolicyDocument, readonly PolicyFault[]> {
  const tree = readPolicyJson(text)
  return tree.ok ? checked(tree.value) : tree
}

function checked(tree: PolicyTree): Result<PolicyDocument, readonly PolicyFault[]> {
  const parsed = documentSchema.safeParse(tree.value)
  if (!parsed.success) return fail(parsed.error.issues.flatMap((issue) => faultsOf(issue, tree)))
  const document: PolicyDocument = parsed.data
  const faults = [...tableFaults(document, tree), ...procedureFaults(document, tree), ...roleFaults(document, tree)]
  return faults.length > 0 ? fail(faults) : ok(document)
}

function valueAt(root: unknown, path: PolicyPath): unknown {
  let value = root
  for (const part of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined
  return value
}

function faultsOf(issue: z.core.$ZodIssue, tree: PolicyTree): readonly PolicyFault[] {
  const { path } = issue
  const at = (where: PolicyPath) => ({ line: tree.lineOf(where), path: pathText(where) })
  const value = valueAt(tree.value, path)
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, tree))
  // Of alternatives none fits, and which was meant the keys may tell. An operator that is missing is told at its own place.
  const mapping = value === undefined ? path.slice(0, -1) : path
  const unknown = issue.code === 'invalid_union' ? unknownKeys(mapping, tree) : []
  if (unknown.length > 0) return unknown
  const suggestion = typeof value === 'string' ? nearest(value, wordsAt(path)) : undefined
  const problem = value === undefined ? 'missing' : 'does not fit'
  return [{ ...at(path), problem, expected: issue.message, ...hint(suggestion) }]
}

function unknownKey(key: string, path: PolicyPath, tree: PolicyTree): PolicyFault {
  const keys = keysAt(path, valueAt(tree.value, path))
  const where = [...path, key]
  const expected = `one of ${keys.join(', ')}`
  const place = { line: tree.lineOf(where), path: pathText(where) }
  return { ...place, problem: 'unknown key', expected, ...hint(nearest(key, keys)) }
}

function unknownKeys(path: PolicyPath, tree: PolicyTree): readonly PolicyFault[] {
  const value = valueAt(tree.value, path)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const keys = keysAt(path, value)
  return Object.keys(value).flatMap((key) => (keys.includes(key) ? [] : [unknownKey(key, path, tree)]))
}

function hint(suggestion: string | undefined): { readonly suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion }
}

function tableFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  const faults: PolicyFault[] = []
  for (const [tableName, policy] of Object.entries(document.tables)) {
    const path = ['tables', tableName]
    const fault = (problem: string, expected: string, where: PolicyPath = path) =>
      faults.push({ line: tree.lineOf(where), path: pathText(where), problem, expected })
    if (!isName(tableName)) fault('no name of a table', 'schema.table, such as public.customers, or the table alone')
    if (policy.mask !== undefined && policy.columns !== undefined) {
      fault('both mask and columns', 'mask (what to hide) or columns (all that is shown), not both', [...path, 'mask'])
    }
  }
  return faults
}

/** With its schema, or without one: then it is that of a connector which has no other. */
function isName(name: string): boolean {
  return name !== '' && name !== '*' && (!name.includes('.') || /^.+\..+$/s.test(name))
}

function procedureFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  return Object.keys(document.procedures).flatMap((procedure) => {
    if (isName(procedure)) return []
    const path = ['procedures', procedure]
    const expected = 'schema.name, such as public.monthly_revenue, or the name alone'
    return [{ line: tree.lineOf(path), path: pathText(path), problem: 'no name of a procedure', expected }]
  })
}

/** Every table that a role names must stand under `tables:`, or a slip of the pen would grant nothing, or deny nothing. */
function roleFaults(document: PolicyDocument, tree: PolicyTree): readonly PolicyFault[] {
  const faults: PolicyFault[] = []
  const checkIn = (section: 'tables' | 'procedures') => {
    const known = Object.keys(document[section])
    const knownSet = new Set(known)
    return (named: string, where: PolicyPath) => {
      if (knownSet.has(named)) return
      faults.push({
        line: tree.lineOf(where),
        path: pathText(where),
        problem: `no such ${section === 'tables' ? 'table' : 'procedure'} under ${section}: ${JSON.stringify(named)}`,
        expected: `a ${section === 'tables' ? 'table' : 'procedure'} that stands under ${section}`,
        ...hint(nearest(named, known)),
      })
    }
  }
  const checkTable = checkIn('tables')
  const checkProcedure = checkIn('procedures')
  for (const [roleName, role] of Object.entries(document.roles)) {
    for (const grant of ROLE_LISTS) {
      const check = grant === 'call' ? checkProcedure : checkTable
      for (const [index, named] of (role[grant] ?? []).entries()) {
        if (named !== '*') check(named, ['roles', roleName, grant, index])
      }
    }
    for (const part of ['mask', 'row_filter'] as const) {
      for (const named of Object.keys(role[part] ?? {})) checkTable(named, ['roles', roleName, part, named])
    }
  }
  return faults
}

const ROLE_LISTS = ['read', 'aggregate', 'create', 'update', 'soft_delete', 'call', 'deny'] as const
