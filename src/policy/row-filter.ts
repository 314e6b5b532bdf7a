import { unreachable } from '../core/assert.js'
import type { ClaimValue } from '../core/identity.js'
import { IN_VALUES_MAX } from '../core/limits.js'
import { patternTooLong } from '../core/pattern.js'
import type { Filter, FilterOp, ParentTerm, PlanValue, Scope, ScopeTerm } from '../core/plan.js'
import { fail, ok, type Result } from '../core/result.js'
import type { Column, EngineName, Identifier, Table, TableRef } from '../core/schema-model.js'
import { filterOpsFor } from '../core/tool-grammar.js'
import { coerceValue } from '../core/value.js'
import type { ClaimSource, ParentFilter, PolicyFilter, PolicyLiteral } from './policy-document.js'

export type Claims = ReadonlyMap<string, ClaimValue>

type ClaimOp = Exclude<FilterOp, 'is_null' | 'not_null'>

/** A row filter whose literals are already values; claims, and the scope of parents, are filled in call by call. */
export type RowFilter = ColumnRule | ParentRule

export type ColumnRule =
  | { readonly kind: 'fixed'; readonly filter: Filter }
  | { readonly kind: 'claim'; readonly column: Column; readonly op: ClaimOp; readonly claim: string }

/** That the row which a foreign key references is in scope. Columns on both sides are in the key's order. */
export interface ParentRule {
  readonly kind: 'parent'
  readonly columns: readonly Identifier[]
  readonly references: TableRef
  readonly referencedColumns: readonly Identifier[]
}

/** The rows of another table that count as in scope for one caller: every filter of the table, and one of the groups. */
export interface ParentRows {
  readonly table: Table
  readonly filters: readonly RowFilter[]
  readonly groups: readonly (readonly RowFilter[])[] | undefined
}

/** What a caller's row filters are filled in with. */
export interface ScopeGround {
  readonly claims: Claims
  /** Undefined for a table that nobody is served, to which no compiled filter leads. */
  readonly parentOf: (references: TableRef) => ParentRows | undefined
}

export interface FilterFault {
  readonly kind: 'filter_unusable' | 'literal_unusable'
  readonly text: string
}

/** An odd run of backslashes at the end, on which engines disagree. */
const LONE_ESCAPE = /(?<!\\)(?:\\\\)*\\$/

/** Fails with a phrase for the operator when the operator or a literal does not fit the column. */
export function compileFilter(
  filter: Exclude<PolicyFilter, ParentFilter>,
  column: Column,
  engine: EngineName,
): Result<RowFilter, FilterFault> {
  const { type, name } = column
  if (!filterOpsFor(type).includes(filter.op)) {
    return fail({ kind: 'filter_unusable', text: `${filter.op} does not fit its type ${type.native}` })
  }
  if (!('value' in filter || 'values' in filter)) return ok({ kind: 'fixed', filter: { column: name, op: filter.op } })
  const source = filter.op === 'in' ? filter.values : filter.value
  if (isClaim(source)) return ok({ kind: 'claim', column, op: filter.op, claim: source.claim })
  const values = coerceAll(column, literals(source))
  if (!values.ok) return fail({ kind: 'literal_unusable', text: `a literal does not fit: expected ${values.error}` })
  if (filter.op === 'ilike' && values.value.some((pattern) => LONE_ESCAPE.test(pattern))) {
    return fail({ kind: 'literal_unusable', text: 'its pattern ends in a \\ that escapes nothing' })
  }
  const tooLong = filter.op === 'ilike' ? firstTooLong(engine, values.value) : undefined
  if (tooLong !== undefined) {
    return fail({ kind: 'literal_unusable', text: `its pattern is too long: the engine takes ${tooLong}` })
  }
  return ok({ kind: 'fixed', filter: comparison(column, filter.op, values.value) })
}

/** Of a pattern that every call with it would be refused for. */
function firstTooLong(engine: EngineName, patterns: readonly PlanValue[]): string | undefined {
  return patterns.map((pattern) => patternTooLong(engine, pattern)).find((tooLong) => tooLong !== undefined)
}

function isClaim(source: PolicyLiteral | ClaimSource | readonly PolicyLiteral[]): source is ClaimSource {
  return typeof source === 'object' && 'claim' in source
}

function literals(source: PolicyLiteral | readonly PolicyLiteral[]): readonly PolicyLiteral[] {
  return typeof source === 'object' ? source : [source]
}

/** For every operator but `in` there is exactly one value. */
function comparison(column: Column, op: ClaimOp, values: readonly PlanValue[]): Filter {
  return op === 'in' ? { column: column.name, op, values } : { column: column.name, op, value: values[0] ?? '' }
}

function coerceAll(column: Column, raws: readonly unknown[]): Result<readonly PlanValue[], string> {
  const values: PlanValue[] = []
  for (const raw of raws) {
    const value = coerceValue(column.type, raw)
    if (!value.ok) return value
    values.push(value.value)
  }
  return ok(values)
}

/**
 * The scope of one call: every filter of the table, and one of the roles' groups (`groups` absent: some granting role sees
 * all rows). A claim that is missing or does not fit drops its group, and the call when nothing is left: an absent filter
 * would mean more rows, never fewer. Fails with the reason, which names a claim and is for the audit entry alone.
 */
export function resolveScope(
  table: readonly RowFilter[],
  groups: readonly (readonly RowFilter[])[] | undefined,
  ground: ScopeGround,
): Result<Scope, string> {
  const all = resolveGroup(table, ground)
  if (!all.ok) return all
  if (groups === undefined) return ok({ all: all.value })
  const any: (readonly ScopeTerm[])[] = []
  let reason = 'no role gives a row filter'
  for (const group of groups) {
    const resolved = resolveGroup(group, ground)
    if (resolved.ok) any.push(resolved.value)
    else reason = resolved.error
  }
  return any.length === 0 ? fail(reason) : ok({ all: all.value, any })
}

function resolveGroup(group: readonly RowFilter[], ground: ScopeGround): Result<readonly ScopeTerm[], string> {
  const terms: ScopeTerm[] = []
  for (const part of group) {
    const term = resolveRule(part, ground)
    if (!term.ok) return term
    terms.push(term.value)
  }
  return ok(terms)
}

export function resolveRule(rule: RowFilter, ground: ScopeGround): Result<ScopeTerm, string> {
  switch (rule.kind) {
    case 'fixed':
      return ok(rule.filter)
    case 'claim':
      return fillIn(rule, ground.claims)
    case 'parent':
      return resolveParent(rule, ground)
    default:
      return unreachable(rule)
  }
}

/** Ends, since the policy withholds tables whose filters lead back to them. */
function resolveParent(rule: ParentRule, ground: ScopeGround): Result<ParentTerm, string> {
  const parent = ground.parentOf(rule.references)
  if (parent === undefined) return fail('a table that a row filter leads to is withheld')
  const scope = resolveScope(parent.filters, parent.groups, ground)
  if (!scope.ok) return scope
  const { columns, referencedColumns } = rule
  return ok({ op: 'parent', columns, parent: parent.table, parentColumns: referencedColumns, scope: scope.value })
}

function fillIn(part: Extract<RowFilter, { kind: 'claim' }>, claims: Claims): Result<Filter, string> {
  const name = JSON.stringify(part.claim)
  const claim = claims.get(part.claim)
  if (claim === undefined) return fail(`claim ${name} is missing`)
  const raws = typeof claim === 'object' ? claim : [claim]
  if (typeof claim === 'object' && part.op !== 'in') return fail(`claim ${name} is a list, which fits "in" alone`)
  if (raws.length > IN_VALUES_MAX) return fail(`claim ${name} has more than ${IN_VALUES_MAX} values`)
  const values = coerceAll(part.column, raws)
  return values.ok ? ok(comparison(part.column, part.op, values.value)) : fail(`claim ${name} does not fit its column`)
}

/**
 * What a written row must satisfy: the scope without what it says of the column that marks deleted rows, or marking one
 * would be refused. It is taken from the scope as resolved, so a group that a missing claim dropped does not come back.
 */
export function scopeAside(scope: Scope, column: Identifier | undefined): Scope {
  if (column === undefined) return scope
  // A parent is another row, whose own mark counts, and a key that holds the mark would lead to another parent.
  const without = (terms: readonly ScopeTerm[]) =>
    terms.filter((term) => term.op === 'parent' || term.column !== column)
  const all = without(scope.all)
  const any = scope.any?.map(without)
  return any === undefined || any.some((group) => group.length === 0) ? { all } : { all, any }
}
