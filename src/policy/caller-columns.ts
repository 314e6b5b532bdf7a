import {
  CELL_CHARS_MAX,
  MAX_AFFECTED_ROWS,
  MIN_GROUP_SIZE,
  PAGE_SIZE,
  QUERY_TIMEOUT_MS,
  REQUIRE_INDEX_ABOVE_ROWS,
  RESPONSE_CHARS_MAX,
  ROW_CAP,
} from '../core/limits.js'
import type { CallLimits } from '../core/plan.js'
import type { Column, Identifier } from '../core/schema-model.js'
import type { ColumnView, CompiledIdentity, CompiledPolicy, CompiledRole, CompiledTable } from './compiled-policy.js'
import type { PolicyLimits } from './policy-document.js'
import type { RowFilter } from './row-filter.js'

/** What several roles come to together, for one table and one operation: columns, row filters and limits. */

/** By position in `table.columns`. */
export type Visible = readonly boolean[]

/** Distinct views of one table that are kept; more than there are sensible combinations of masks. */
const VIEWS_KEPT_MAX = 64
export const EMPTY_VIEW: ColumnView = { byAgentName: new Map(), byName: new Map() }

/**
 * A column is usable when a granting role without a row filter shows it, or when every granting role shows it: otherwise
 * a role that shows it for some rows would show it for rows that came through another.
 */
export function visible(table: CompiledTable, base: Visible, granting: readonly CompiledRole[]): Visible {
  if (granting.length === 0) return []
  const shows = (role: CompiledRole, position: number) => role.masks.get(table)?.has(position) !== true
  if (granting.every((role) => !role.masks.has(table))) return base
  const unfiltered = granting.filter((role) => !role.filters.has(table))
  return base.map(
    (shown, position) =>
      shown && (unfiltered.some((role) => shows(role, position)) || granting.every((role) => shows(role, position))),
  )
}

export function columnAt(table: CompiledTable, position: number): Column {
  const column = table.bare[position]
  if (column === undefined) throw new Error(`no column at ${position} of ${table.toolBase}`)
  return column
}

/** One list of filters a role; undefined where a granting role sees all rows. */
export function groupsOf(
  table: CompiledTable,
  granting: readonly CompiledRole[],
): readonly (readonly RowFilter[])[] | undefined {
  const groups: (readonly RowFilter[])[] = []
  for (const role of granting) {
    const group = role.filters.get(table)
    if (group === undefined) return undefined
    groups.push(group)
  }
  return groups
}

/** Callers who see the same share one view, so that thousands of tables times many roles stay small. */
export function viewOf(table: CompiledTable, shown: Visible, commentShown: readonly boolean[]): ColumnView {
  if (!shown.includes(true)) return EMPTY_VIEW
  const key = shown.map((is, position) => (is ? (commentShown[position] === true ? '2' : '1') : '0')).join('')
  const known = table.views.get(key)
  if (known !== undefined) return known
  const byAgentName = new Map<string, Column>()
  const byName = new Map<Identifier, Column>()
  for (const [position, is] of shown.entries()) {
    const column = (commentShown[position] === true ? table.commented : table.bare)[position]
    if (!is || column === undefined) continue
    byAgentName.set(column.agentName, column)
    byName.set(column.name, column)
  }
  const view = { byAgentName, byName }
  if (table.views.size >= VIEWS_KEPT_MAX) table.views.clear()
  table.views.set(key, view)
  return view
}

/**
 * The most specific limit wins: the identity's, else its roles', else the table's or procedure's, else the policy's default, else the
 * gateway's own. With several granting roles the largest wins (of group sizes see `groupSize`), where a role that sets none counts with what it would have
 * alone: another role never takes away.
 */
export function callLimits(
  policy: CompiledPolicy,
  object: { readonly limits: PolicyLimits } | undefined,
  granting: readonly CompiledRole[],
  identity: CompiledIdentity | undefined,
): CallLimits {
  const limit = (name: keyof PolicyLimits, own: number): number => {
    const base = object?.limits[name] ?? policy.defaults[name] ?? own
    // A loop, because this runs for every table, operation and limit of a caller.
    let byRoles = granting.length === 0 ? base : 0
    for (const { limits } of granting) byRoles = Math.max(byRoles, limits[name] ?? base)
    return identity?.limits[name] ?? byRoles
  }
  const rowCap = limit('row_cap', ROW_CAP)
  return {
    rowCap,
    pageSize: Math.min(limit('page_size', PAGE_SIZE), rowCap),
    queryTimeoutMs: limit('query_timeout_ms', QUERY_TIMEOUT_MS),
    responseCharsMax: limit('response_chars_max', RESPONSE_CHARS_MAX),
    cellCharsMax: limit('cell_chars_max', CELL_CHARS_MAX),
    maxAffectedRows: limit('max_affected_rows', MAX_AFFECTED_ROWS),
    minGroupSize: limit('min_group_size', MIN_GROUP_SIZE),
    indexRequiredAboveRows: limit('require_index_above_rows', REQUIRE_INDEX_ABOVE_ROWS),
  }
}

/**
 * The smallest group that a caller is given of a table. Roles may differ in it, and another one never takes away: a role that
 * by itself gives all rows and every column that the caller aggregates would answer any call of the caller's with a size of
 * its own, so the smallest of those counts. Where no role does, the largest of all: smaller groups of rows or columns that
 * came through another role would be what neither gives.
 */
export function groupSize(
  policy: CompiledPolicy,
  table: CompiledTable,
  caller: { readonly granting: readonly CompiledRole[]; readonly visible: Visible },
  identity: CompiledIdentity | undefined,
): number {
  const base = table.limits.min_group_size ?? policy.defaults.min_group_size ?? MIN_GROUP_SIZE
  const own = identity?.limits.min_group_size
  if (own !== undefined || caller.granting.length === 0) return own ?? base
  const sizeOf = ({ limits }: CompiledRole) => limits.min_group_size ?? base
  const whole = caller.granting.filter((role) => givesAll(table, role, caller.visible))
  return whole.length > 0 ? Math.min(...whole.map(sizeOf)) : Math.max(...caller.granting.map(sizeOf))
}

function givesAll(table: CompiledTable, role: CompiledRole, visible: Visible): boolean {
  const masked = role.masks.get(table)
  return (
    !role.filters.has(table) && (masked === undefined || ![...masked].some((position) => visible[position] === true))
  )
}
