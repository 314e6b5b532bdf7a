import type { TableRef } from '../core/schema-model.js'
import { groupsOf } from './caller-columns.js'
import { type CompiledPolicy, type CompiledRole, type CompiledTable, includes } from './compiled-policy.js'
import type { ParentRows, ScopeGround } from './row-filter.js'

/**
 * The rows of other tables that count as in scope for a caller with these roles, where a row filter asks for the row that a
 * foreign key references. The table's own filters hold in any case, not being marked as deleted with them; those of roles
 * where the caller may read the table.
 */
export function parentLookup(policy: CompiledPolicy, roles: readonly CompiledRole[]): ScopeGround['parentOf'] {
  const known = new Map<CompiledTable, ParentRows>()
  return (references: TableRef) => {
    const table = policy.find(references)
    if (table === undefined) return undefined
    const rows = known.get(table) ?? rowsOf(table, roles)
    known.set(table, rows)
    return rows
  }
}

function rowsOf(table: CompiledTable, roles: readonly CompiledRole[]): ParentRows {
  const denied = roles.some((role) => includes(role.denies, table))
  const readers = denied ? [] : roles.filter((role) => includes(role.reads, table))
  return {
    table: table.table,
    filters: table.filters.existing,
    groups: readers.length === 0 ? undefined : groupsOf(table, readers),
  }
}
