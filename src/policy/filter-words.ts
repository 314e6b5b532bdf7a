import { unreachable } from '../core/assert.js'
import { cleanText } from '../core/names.js'
import type { FilterOp, Scope, ScopeTerm } from '../core/plan.js'
import { qualifiedName, type TableRef } from '../core/schema-model.js'
import { type ColumnRule, type RowFilter, resolveRule, type ScopeGround } from './row-filter.js'

/** Row filters as an operator reads them. Never for a caller: they name columns and values that it may not know of. */

const VALUE_CHARS_MAX = 64
const VALUES_SHOWN_MAX = 8

const OPERATORS: Readonly<Record<FilterOp, string>> = {
  eq: '=',
  neq: '<>',
  in: 'in',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  ilike: 'ilike',
  is_null: 'is null',
  not_null: 'is not null',
}

function valueWords(value: string): string {
  return JSON.stringify(cleanText(value, VALUE_CHARS_MAX))
}

/** Such as `status in ("paid", "shipped")`. */
export function filterWords(term: ScopeTerm): string {
  if (term.op === 'parent') return `${parentWords(term.columns, term.parent.ref)}, ${scopeWords(term.scope)}`
  const operator = OPERATORS[term.op]
  if ('values' in term) {
    const shown = term.values.slice(0, VALUES_SHOWN_MAX).map(valueWords)
    const more = term.values.length - shown.length
    return `${term.column} ${operator} (${[...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')})`
  }
  return 'value' in term ? `${term.column} ${operator} ${valueWords(term.value)}` : `${term.column} ${operator}`
}

/** Such as `(customer_id) leads to public.customers`. */
export function parentWords(columns: readonly string[], references: TableRef): string {
  return `(${columns.join(', ')}) leads to ${qualifiedName(references)}`
}

/** A scope as the statement will have it. */
export function scopeWords({ all, any }: Scope): string {
  const always = all.map(filterWords)
  const groups = any?.map((group) => (group.length === 0 ? 'all rows' : group.map(filterWords).join(' and ')))
  const either = groups === undefined || groups.includes('all rows') ? [] : [alternatives(groups)]
  const parts = [...always, ...either]
  return parts.length === 0 ? 'all rows' : `rows where ${parts.join(' and ')}`
}

function alternatives(groups: readonly string[]): string {
  const [only = '', ...others] = groups
  return others.length === 0 ? only : `(${groups.map((group) => `(${group})`).join(' or ')})`
}

/** A rule about the row itself as the policy has it, a claim by its name. */
export function ruleWords(rule: ColumnRule): string {
  switch (rule.kind) {
    case 'fixed':
      return filterWords(rule.filter)
    case 'claim':
      return `${rule.column.name} ${OPERATORS[rule.op]} claim ${valueWords(rule.claim)}`
    default:
      return unreachable(rule)
  }
}

/** A rule with the claims of one caller in it, and of parents the rows that it may see, or with what is wrong with its claims. */
export function filledWords(rule: RowFilter, ground: ScopeGround): { readonly rows: string; readonly fault?: string } {
  if (rule.kind === 'fixed') return { rows: ruleWords(rule) }
  const filled = resolveRule(rule, ground)
  if (rule.kind === 'parent') {
    if (filled.ok) return { rows: filterWords(filled.value) }
    return { rows: `${parentWords(rule.columns, rule.references)}, rows in scope`, fault: filled.error }
  }
  return filled.ok
    ? { rows: `${filterWords(filled.value)} (claim ${valueWords(rule.claim)})` }
    : { rows: ruleWords(rule), fault: filled.error }
}
