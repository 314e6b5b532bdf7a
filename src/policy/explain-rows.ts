import type { TableOperation } from '../core/access.js'
import type { CompiledRole, CompiledTable } from './compiled-policy.js'
import { filledWords } from './filter-words.js'
import { pathText } from './policy-tree.js'
import type { ScopeGround } from './row-filter.js'
import type { RulePlaces } from './rule-places.js'

/** One rule about rows, in words, with the caller's claims in it. */
export interface RowRule {
  readonly rule: string
  readonly rows: string
  /** Present for a rule of a role: it limits what this role grants, and no other. */
  readonly role?: string
  /** What is wrong with the claims that it needs: no row comes by it. */
  readonly fault?: string
}

export interface RowGround {
  readonly places: RulePlaces
  readonly table: CompiledTable
  readonly operation: TableOperation
  readonly granting: readonly CompiledRole[]
  readonly ground: ScopeGround
}

/** Every rule that decides which rows the operation may touch: the table's hold always, of the roles' any. */
export function rowRules({ places, table, operation, granting, ground }: RowGround): readonly RowRule[] {
  const { existing, created } = table.filters
  const filters = operation === 'create' ? created : existing
  const ofTable = filters.map((filter, index) => ({
    // The table's own come first; what tells that a row is not deleted is added to them.
    rule: index < created.length ? places.ofTable(table, 'row_filter', index) : places.ofTable(table, 'soft_delete'),
    ...filledWords(filter, ground),
  }))
  const { name } = places.table(table)
  const ofRoles = granting.flatMap((role) => {
    const own = role.filters.get(table)
    if (own === undefined) {
      return places.grants(role, table, operation).map((rule) => ({ rule, rows: 'all rows', role: role.name }))
    }
    return own.map((filter, index) => ({
      rule: pathText(['roles', role.name, 'row_filter', name, index]),
      ...filledWords(filter, ground),
      role: role.name,
    }))
  })
  return [...ofTable, ...ofRoles]
}
