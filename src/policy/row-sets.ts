import { unreachable } from '../core/assert.js'
import type { Filter } from '../core/plan.js'
import { parentWords, ruleWords } from './filter-words.js'
import type { ColumnRule, ParentRule, RowFilter, ScopeGround } from './row-filter.js'

/**
 * The rows that an operation may touch, as alternatives of rules that all hold: enough to say of two of them which has more,
 * without a database. Where that cannot be told they count as different.
 */
export type RowSet = readonly (readonly SetRule[])[]

/** A rule about the row itself, or that its parent is one of these rows. */
type SetRule = ColumnRule | (ParentRule & { readonly rows: RowSet })

/** `all`: rules of the table; `groups`: one list a role, undefined where some role has none. */
export function rowSet(
  all: readonly RowFilter[],
  groups: readonly (readonly RowFilter[])[] | undefined,
  parentOf: ScopeGround['parentOf'],
): RowSet {
  const rules = (list: readonly RowFilter[]) => list.map((rule) => setRule(rule, parentOf))
  return groups === undefined ? [rules(all)] : groups.map((group) => rules([...all, ...group]))
}

function setRule(rule: RowFilter, parentOf: ScopeGround['parentOf']): SetRule {
  if (rule.kind !== 'parent') return rule
  const parent = parentOf(rule.references)
  return { ...rule, rows: parent === undefined ? [] : rowSet(parent.filters, parent.groups, parentOf) }
}

export function rowSetWords(rows: RowSet): string {
  const alternatives = rows.map((rules) => [...new Set(rules.map(setRuleWords))].join(' and '))
  if (alternatives.includes('')) return 'all rows'
  const distinct = [...new Set(alternatives)]
  if (distinct.length === 1) return `rows where ${distinct[0]}`
  return `rows where ${distinct.map((words) => `(${words})`).join(' or ')}`
}

function setRuleWords(rule: SetRule): string {
  return rule.kind === 'parent'
    ? `${parentWords(rule.columns, rule.references)}, ${rowSetWords(rule.rows)}`
    : ruleWords(rule)
}

export type RowsCompared = 'same' | 'more' | 'fewer' | 'other'

export function compareRows(before: RowSet, after: RowSet): RowsCompared {
  const grows = covers(after, before)
  const shrinks = covers(before, after)
  if (grows && shrinks) return 'same'
  return grows ? 'more' : shrinks ? 'fewer' : 'other'
}

/** Whether every row of `inner` is surely one of `outer`: each of its alternatives is at least as strict as one of those. */
function covers(outer: RowSet, inner: RowSet): boolean {
  return inner.every((strict) =>
    outer.some((loose) => loose.every((rule) => strict.some((each) => implies(each, rule)))),
  )
}

/** Whether a row for which `a` holds is surely one for which `b` does. */
function implies(a: SetRule, b: SetRule): boolean {
  if (identity(a) === identity(b)) return true
  if (a.kind === 'parent') {
    // A row with a parent has a whole key.
    if (b.kind === 'fixed') return a.columns.some((column) => isNotNull(b.filter, column))
    return b.kind === 'parent' && keyIdentity(a) === keyIdentity(b) && covers(b.rows, a.rows)
  }
  if (a.kind === 'claim') return b.kind === 'fixed' && isNotNull(b.filter, a.column.name)
  if (a.kind !== 'fixed' || b.kind !== 'fixed' || a.filter.column !== b.filter.column) return false
  if (b.filter.op === 'not_null') return a.filter.op !== 'is_null'
  const [given, allowed] = [valuesOf(a.filter), valuesOf(b.filter)]
  return given !== undefined && allowed !== undefined && given.every((value) => allowed.includes(value))
}

/** The values that the column can have, where the filter lists them. */
function valuesOf(filter: Filter): readonly string[] | undefined {
  if ('values' in filter) return filter.values
  return filter.op === 'eq' && 'value' in filter ? [filter.value] : undefined
}

function isNotNull(filter: Filter, column: string): boolean {
  return filter.op === 'not_null' && filter.column === column
}

/** Equal for rules that say the same. */
function identity(rule: SetRule): string {
  switch (rule.kind) {
    case 'fixed':
      return JSON.stringify([rule.kind, rule.filter])
    case 'claim':
      return JSON.stringify([rule.kind, rule.column.name, rule.op, rule.claim])
    case 'parent':
      return JSON.stringify([keyIdentity(rule), rule.rows.map((rules) => rules.map(identity))])
    default:
      return unreachable(rule)
  }
}

/** Equal for rules that lead to the same table by the same key, whatever order its columns are named in. */
function keyIdentity({ kind, columns, references, referencedColumns }: ParentRule): string {
  const pairs = columns.map((column, index) => [column, referencedColumns[index] ?? ''])
  return JSON.stringify([kind, references.schema, references.name, pairs.map((pair) => JSON.stringify(pair)).sort()])
}
