import assert from 'node:assert/strict'
import type { Filter, Scope, ScopeTerm } from '../../src/core/plan.js'
import { qualifiedName } from '../../src/core/schema-model.js'
import type { ModelContents, ModelRow } from './policy-model.js'

/** What the database would keep: the meaning of a scope over canonical values. `contents`: the rows of tables that it leads to. */
export function keeps(scope: Scope, row: ModelRow, contents: ModelContents = {}): boolean {
  const holds = (term: ScopeTerm) => termHolds(term, row, contents)
  return scope.all.every(holds) && (scope.any?.some((group) => group.every(holds)) ?? true)
}

function termHolds(term: ScopeTerm, row: ModelRow, contents: ModelContents): boolean {
  if (term.op !== 'parent') return filterHolds(term, row)
  const rows = contents[qualifiedName(term.parent.ref)]
  assert.ok(rows !== undefined, 'the rows of every parent are given')
  return rows.some(
    (parent) =>
      term.columns.every((column, index) => {
        const cell = row[column] ?? null
        return cell !== null && cell === (parent[term.parentColumns[index] ?? ''] ?? null)
      }) && keeps(term.scope, parent, contents),
  )
}

function filterHolds(filter: Filter, row: ModelRow): boolean {
  const value = row[filter.column] ?? null
  if (!('value' in filter || 'values' in filter)) return (value === null) === (filter.op === 'is_null')
  if (value === null) return false
  if (filter.op === 'in') return filter.values.includes(String(value))
  const bound = typeof value === 'number' ? Number(filter.value) : filter.value
  const compared: Readonly<Record<string, boolean>> = {
    eq: value === bound,
    neq: value !== bound,
    gt: value > bound,
    gte: value >= bound,
    lt: value < bound,
    lte: value <= bound,
  }
  const held = compared[filter.op]
  assert.ok(held !== undefined, filter.op)
  return held
}
